// SPDX-License-Identifier: MIT
// legend.comp - lays the panel of a legend over the finished picture.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "display.glsl"
#include "passes/antialias.h"
PASS_CONSTANTS(AntialiasConstants)
layout(local_size_x = 8, local_size_y = 8) in;

void main()
{
    const uvec2 in_panel = gl_GlobalInvocationID.xy / pass.scale;
    if (in_panel.x >= pass.width || in_panel.y >= pass.height) {
        return;
    }
    const uvec2 pixel = uvec2(pass.left, pass.top) + gl_GlobalInvocationID.xy;
    const uint place = 2u * (pixel.y * frame.width + pixel.x);
    const vec4 over = unpackUnorm4x8(pass.panel.at[in_panel.y * pass.width + in_panel.x]);
    const vec4 under = load_display(frame.pixels, place);
    store_display(frame.pixels, place, vec4(mix(under.rgb, over.rgb, over.a), 1.0));
}
