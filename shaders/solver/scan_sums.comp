// SPDX-License-Identifier: MIT
// scan_sums.comp - the sum of each tile.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "scan.glsl"

shared uint total;

void main()
{
    if (gl_LocalInvocationID.x == 0u) {
        total = 0u;
    }
    barrier();
    atomicAdd(total, sum_elements(first_element()));
    barrier();
    if (gl_LocalInvocationID.x == 0u) {
        arguments.sums.data[gl_WorkGroupID.x] = total;
    }
}
