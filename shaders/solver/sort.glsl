// SPDX-License-Identifier: MIT
// sort.glsl - the arguments of the sort's passes (src/vulkan/vulkan_primitives.c: SortArguments).
//
// A stable radix sort, least significant digit first: for each digit that varies, sort_count makes a histogram of each
// tile, sort_columns turns those into where each tile's elements of each digit go, and sort_scatter takes them there.
// Nothing waits for another workgroup: each pass is a dispatch of its own.
#include "primitives.glsl"

#define DIGIT_BITS   8
#define DIGIT_VALUES 256u
#define DIGITS       8u

// A digit's pass, written by sort_plan and read as the arguments of two indirect dispatches: by tiles, and by one
// workgroup. A digit that is the same in all keys has no workgroups. The row after the last digit's copies back.
struct PassRow {
    uint tiles, tiles_y, tiles_z;
    uint from_other; // 1: the elements are in the other arrays before this pass
    uint once, once_y, once_z;
    uint unused;
};

layout(buffer_reference, scalar, buffer_reference_align = 16) buffer SortState {
    uint differing[2]; // bits that are not the same in all keys, low and high
    uint unused[2];
    PassRow rows[DIGITS + 1u];
};

layout(push_constant, scalar) uniform Arguments {
    uint64_t_array keys;
    uint_array values;
    uint64_t_array other_keys;
    uint_array other_values;
    SortState state;
    uint_array counts; // DIGIT_VALUES a tile
    uint count, tile /* elements */, tiles, digit;
} arguments;

uint digit_of(uint64_t key)
{
    return uint(key >> (DIGIT_BITS * arguments.digit)) & (DIGIT_VALUES - 1u);
}

bool from_other()
{
    return arguments.state.rows[arguments.digit].from_other != 0u;
}

uint64_t load_key(bool other, uint i)
{
    return other ? arguments.other_keys.data[i] : arguments.keys.data[i];
}
