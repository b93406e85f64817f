// SPDX-License-Identifier: MIT
// overlay.vert - the window's triangles, in pixels: the scene's picture and the panel over it.
#version 460
layout(location = 0) in vec2 position;
layout(location = 1) in vec2 uv;
layout(location = 2) in vec4 color;
layout(push_constant) uniform Constants
{
    vec2 scale, shift;
}
constants;
layout(location = 0) out vec2 out_uv;
layout(location = 1) out vec4 out_color;

void main()
{
    out_uv = uv;
    out_color = color;
    gl_Position = vec4(position * constants.scale + constants.shift, 0.0, 1.0);
}
