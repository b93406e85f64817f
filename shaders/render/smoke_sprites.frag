// SPDX-License-Identifier: MIT
// smoke_sprites.frag - a puff's light and what it hides, softer the closer what is behind it is.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(location = 0) in vec2 place;
layout(location = 1) flat in vec4 light;
layout(location = 2) flat in vec2 depth;
layout(location = 0) out vec4 color;

void main()
{
    const ivec2 full = min(2 * ivec2(gl_FragCoord.xy), ivec2(frame.width, frame.height) - 1);
    const float behind = min(scene_view_z(full), texelFetch(smooth_depth_image, full, 0).x);
    const float inside = max(1.0 - dot(place, place), 0.0);
    const float before = clamp((behind - depth.x) / depth.y, 0.0, 1.0);
    const float opacity = 1.0 - exp(-light.w * inside * inside * before);
    color = vec4(light.rgb * opacity, opacity);
}
