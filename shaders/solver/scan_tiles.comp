// SPDX-License-Identifier: MIT
// scan_tiles.comp - each element becomes the sum of those before it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "scan.glsl"

shared uint sums[2u * GROUP];

void main()
{
    const uint me = gl_LocalInvocationID.x, begin = first_element();
    const uint own = sum_elements(begin);
    uint at = 0u; // the half of `sums` that is read
    sums[me] = own;
    barrier();
    for (uint reach = 1u; reach < GROUP; reach *= 2u) {
        sums[GROUP - at + me] = sums[at + me] + (me >= reach ? sums[at + me - reach] : 0u);
        at = GROUP - at;
        barrier();
    }
    uint before = sums[at + me] - own;
    if (arguments.single == 0u) {
        before += arguments.sums.data[gl_WorkGroupID.x];
    }
    const uint end = min(begin + arguments.elements, arguments.written);
    for (uint i = begin; i < end; i++) {
        const uint value = i < arguments.count ? arguments.values.data[i] : 0u;
        arguments.values.data[i] = before;
        before += value;
    }
}
