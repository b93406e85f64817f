// SPDX-License-Identifier: MIT
// sort_differ.comp - which bits differ between keys.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sort.glsl"

shared uint low, high;

void main()
{
    const uint me = gl_LocalInvocationID.x;
    const uint begin = gl_WorkGroupID.x * arguments.tile, end = min(begin + arguments.tile, arguments.count);
    if (me == 0u) {
        low = 0u;
        high = 0u;
    }
    barrier();
    const uint64_t first = arguments.keys.data[0];
    uint64_t bits = 0ul;
    for (uint i = begin + me; i < end; i += GROUP) {
        bits |= arguments.keys.data[i] ^ first;
    }
    atomicOr(low, uint(bits));
    atomicOr(high, uint(bits >> 32));
    barrier();
    if (me == 0u) {
        atomicOr(arguments.state.differing[0], low);
        atomicOr(arguments.state.differing[1], high);
    }
}
