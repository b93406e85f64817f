// SPDX-License-Identifier: MIT
// lines.frag - a line with a soft edge; fainter where a solid, a particle or the liquid is in front of it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "passes/lines.h"
PUSH_CONSTANTS(LinesPush)
layout(location = 0) in vec4 line_color;
layout(location = 1) in float pixels_across;
layout(location = 0) out vec4 color; // premultiplied

void main()
{
    const ivec2 texel = ivec2(gl_FragCoord.xy);
    const float z = frame.near_plane / gl_FragCoord.z;
    const float in_front = min(scene_view_z(texel), texelFetch(smooth_depth_image, texel, 0).x);
    const float cover = clamp(push.half_width + 0.5 - abs(pixels_across), 0.0, 1.0);
    // Lines lie on the surfaces of what they outline, and those must not hide them.
    const float seen = z > 1.003 * in_front ? 0.2 : 1.0;
    const float opacity = line_color.a * cover * seen;
    color = vec4(line_color.rgb * opacity, opacity);
}
