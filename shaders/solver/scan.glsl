// SPDX-License-Identifier: MIT
// scan.glsl - the arguments of the scan's passes (src/vulkan/vulkan_primitives.c: ScanArguments).
//
// Tiles are summed (scan_sums), their sums are scanned in the same way, and each tile is scanned from its sum on
// (scan_tiles). An invocation has consecutive elements of its tile.
#include "primitives.glsl"

layout(push_constant, scalar) uniform Arguments {
    uint_array values;
    uint_array sums;   // one a tile
    uint count;        // values that are read
    uint written;      // values that are written: count, or one more for the sum of all
    uint elements;     // an invocation
    uint single;       // 1: there is one tile, and no sums
} arguments;

// Where this invocation's elements begin.
uint first_element()
{
    return (gl_WorkGroupID.x * GROUP + gl_LocalInvocationID.x) * arguments.elements;
}

uint sum_elements(uint begin)
{
    const uint end = min(begin + arguments.elements, arguments.count);
    uint sum = 0u;
    for (uint i = begin; i < end; i++) {
        sum += arguments.values.data[i];
    }
    return sum;
}
