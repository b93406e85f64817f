// search.glsl - what count_neighbours and fill_neighbours of src/kernels/neighbours.h do, for a cell at a time: each
// invocation of a subgroup has one of the cell's particles, and loads one candidate for all of them. The arithmetic is
// the kernels', and lists are in the same order.
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#include "kernels.h"

layout(local_size_x_id = 0) in;

#define SEARCH_CELLS 8u  // of a workgroup: src/vulkan/vulkan_backend.h
#define SEARCH_BITS  32u // candidates that are compared before anything is done about them

// The lowest `count` bits.
uint bits_below(uint count)
{
    return count < 32u ? (1u << count) - 1u : ~0u;
}

// Which of the candidates from `from` on, a bit each, are within reach of `position`. What lies beyond `end` is
// compared too.
uint near_bits(vec3 position, uint from, uint end)
{
    uint bits = 0u;
    for (uint part = 0u; part < SEARCH_BITS && from + part < end; part += gl_SubgroupSize) {
        const vec3 mine = LOAD(predicted, min(from + part + gl_SubgroupInvocationID, end - 1u)).xyz;
        uint found = 0u;
        for (uint c = 0u; c < min(gl_SubgroupSize, SEARCH_BITS); c++) {
            const vec3 offset = v3_sub(position, subgroupBroadcast(mine, c));
            found |= v3_dot(offset, offset) < view.support_squared ? 1u << c : 0u;
        }
        bits |= found << part;
    }
    return bits;
}

// Which of them are of group `group`.
uint group_bits(uint group, uint from, uint end)
{
    uint bits = 0u;
    for (uint c = 0u; c < SEARCH_BITS && from + c < end; c++) {
        bits |= (LOAD(phases, from + c) & PHASE_GROUP) == group ? 1u << c : 0u;
    }
    return bits;
}

// The neighbours of particle i among the candidates from `from` up to `end`, at most SEARCH_BITS.
uint neighbour_bits(uint i, vec3 position, uint unlisted, uint from, uint end)
{
    uint bits = near_bits(position, from, end);
    if (view.apart_only != 0u) {
        bits &= unlisted != NONE ? ~group_bits(unlisted, from, end) : ~0u;
    }
    const uint beyond = end - from, own = i - from;
    bits &= bits_below(beyond);
    return own < SEARCH_BITS ? bits & ~(1u << own) : bits;
}

// ---- What counting leaves for filling ------------------------------------------------------------------------

// Of the first KEPT_BITS candidates of a particle, counting keeps the bits in `estimates`, which hold nothing at this
// point of a step: filling need not compare those again. `at` is the same for all particles of a cell.
#define KEPT_BITS 128u

// Adds the bits of up to SEARCH_BITS candidates.
uvec4 keep_bits(uvec4 kept, uint at, uint bits)
{
    const uint word = at / 32u, shift = at % 32u;
    const uint low = bits << shift, high = shift > 0u ? bits >> (32u - shift) : 0u;
    for (uint w = 0u; w < 4u; w++) {
        kept[w] |= (w == word ? low : 0u) | (w == word + 1u ? high : 0u);
    }
    return kept;
}

uint kept_bits(uvec4 kept, uint at, uint count)
{
    const uint word = at / 32u, shift = at % 32u;
    uint low = 0u, high = 0u;
    for (uint w = 0u; w < 4u; w++) {
        low |= w == word ? kept[w] : 0u;
        high |= w == word + 1u ? kept[w] : 0u;
    }
    return (low >> shift | (shift > 0u ? high << (32u - shift) : 0u)) & bits_below(count);
}

void search(uint cell);

void main()
{
    if (kernels_halted()) {
        return;
    }
    const uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x, cells = cells_in_use();
    for (uint c = gl_SubgroupID; c < SEARCH_CELLS; c += gl_NumSubgroups) {
        const uint cell = group * SEARCH_CELLS + c;
        if (cell < cells) {
            search(cell);
        }
    }
}
