// SPDX-License-Identifier: MIT
// accumulate.comp - the sum of a picture's samples.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "render_views.h"
layout(local_size_x = 8, local_size_y = 8) in;
layout(constant_id = 0) const uint FIRST = 1u; // whatever was there is overwritten

void add_sample(ivec2 texel)
{
    vec4 sum = imageLoad(color_store, texel);
    if (FIRST == 0u) {
        sum += imageLoad(accumulated_store, texel);
    }
    imageStore(accumulated_store, texel, sum);
}

void main()
{
    for (uint row = 0u; row < INVOCATION_ROWS; row++) {
        const ivec2 texel = ivec2(gl_GlobalInvocationID.xy) * ivec2(1, INVOCATION_ROWS) + ivec2(0, row);
        if (all(lessThan(texel, ivec2(frame.width, frame.height)))) {
            add_sample(texel);
        }
    }
}
