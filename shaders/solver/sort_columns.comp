// SPDX-License-Identifier: MIT
// sort_columns.comp - one workgroup: for each digit, tile by tile, how many elements go before the tile's. All smaller
// digits do, and those of the same digit in earlier tiles: that is what keeps the sort stable.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sort.glsl"

shared uint totals[DIGIT_VALUES];

void main()
{
    const uint me = gl_LocalInvocationID.x;
    for (uint d = me; d < DIGIT_VALUES; d += GROUP) {
        uint sum = 0u;
        for (uint t = 0u; t < arguments.tiles; t++) {
            sum += arguments.counts.data[t * DIGIT_VALUES + d];
        }
        totals[d] = sum;
    }
    barrier();
    if (me == 0u) {
        uint before = 0u;
        for (uint d = 0u; d < DIGIT_VALUES; d++) {
            const uint here = totals[d];
            totals[d] = before;
            before += here;
        }
    }
    barrier();
    for (uint d = me; d < DIGIT_VALUES; d += GROUP) {
        uint next = totals[d];
        for (uint t = 0u; t < arguments.tiles; t++) {
            const uint here = arguments.counts.data[t * DIGIT_VALUES + d];
            arguments.counts.data[t * DIGIT_VALUES + d] = next;
            next += here;
        }
    }
}
