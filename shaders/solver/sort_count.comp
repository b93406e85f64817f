// SPDX-License-Identifier: MIT
// sort_count.comp - how often each value of the digit occurs in each tile.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sort.glsl"

shared uint counts[DIGIT_VALUES];

void main()
{
    const uint me = gl_LocalInvocationID.x, tile = gl_WorkGroupID.x;
    const uint begin = tile * arguments.tile, end = min(begin + arguments.tile, arguments.count);
    const bool other = from_other();
    for (uint d = me; d < DIGIT_VALUES; d += GROUP) {
        counts[d] = 0u;
    }
    barrier();
    for (uint i = begin + me; i < end; i += GROUP) {
        atomicAdd(counts[digit_of(load_key(other, i))], 1u);
    }
    barrier();
    for (uint d = me; d < DIGIT_VALUES; d += GROUP) {
        arguments.counts.data[tile * DIGIT_VALUES + d] = counts[d];
    }
}
