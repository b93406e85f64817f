// SPDX-License-Identifier: MIT
// overlay.frag - colours are display-referred (sRGB) and stay so: blending in them is what interfaces are designed for.
#version 460
layout(location = 0) in vec2 uv;
layout(location = 1) in vec4 color;
layout(set = 0, binding = 0) uniform sampler2D picture;
layout(location = 0) out vec4 out_color;

void main()
{
    out_color = color * textureLod(picture, uv, 0.0);
}
