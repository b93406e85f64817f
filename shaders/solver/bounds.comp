// SPDX-License-Identifier: MIT
// bounds.comp - smallest and largest corner of each tile of points, or of the pairs of corners that this made before.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "primitives.glsl"

layout(push_constant, scalar) uniform Arguments { // src/vulkan/vulkan_primitives.c: BoundsArguments
    vec4_array points;
    vec4_array corners; // two a tile
    uint count, tile /* elements */;
    uint pairs; // 1: `points` are pairs of corners
} arguments;

shared vec3 lows[GROUP], highs[GROUP];

// A comparison, not min(): like the CPU's, it passes over what is not a number.
vec3 smaller(vec3 a, vec3 b)
{
    return vec3(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}

vec3 larger(vec3 a, vec3 b)
{
    return vec3(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}

void main()
{
    const uint me = gl_LocalInvocationID.x;
    const uint begin = gl_WorkGroupID.x * arguments.tile, end = min(begin + arguments.tile, arguments.count);
    const float infinity = uintBitsToFloat(0x7f800000u);
    vec3 low = vec3(infinity), high = vec3(-infinity);
    for (uint i = begin + me; i < end; i += GROUP) {
        const uint first = arguments.pairs != 0u ? 2u * i : i;
        const vec4 below = arguments.points.data[first], above = arguments.points.data[first + arguments.pairs];
        if (!(below.w < 0.0)) { // else a dead slot
            low = smaller(below.xyz, low);
            high = larger(above.xyz, high);
        }
    }
    lows[me] = low;
    highs[me] = high;
    barrier();
    for (uint reach = GROUP / 2u; reach > 0u; reach /= 2u) {
        if (me < reach) {
            lows[me] = smaller(lows[me], lows[me + reach]);
            highs[me] = larger(highs[me], highs[me + reach]);
        }
        barrier();
    }
    if (me == 0u) {
        arguments.corners.data[2u * gl_WorkGroupID.x] = vec4(lows[0], 0.0);
        arguments.corners.data[2u * gl_WorkGroupID.x + 1u] = vec4(highs[0], 0.0);
    }
}
