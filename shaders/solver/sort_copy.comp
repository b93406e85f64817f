// SPDX-License-Identifier: MIT
// sort_copy.comp - brings the elements back, where the number of passes was odd.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "sort.glsl"

void main()
{
    const uint begin = gl_WorkGroupID.x * arguments.tile, end = min(begin + arguments.tile, arguments.count);
    for (uint i = begin + gl_LocalInvocationID.x; i < end; i += GROUP) {
        arguments.keys.data[i] = arguments.other_keys.data[i];
        arguments.values.data[i] = arguments.other_values.data[i];
    }
}
