// SPDX-License-Identifier: MIT
// search_count.comp - count_neighbours, a cell at a time: each invocation of a subgroup has one of the cell's particles,
// and loads one candidate for all of them.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_ballot : require
#include "search.glsl"
#include "groups.glsl"

#define SEARCH_CELLS 8u // of a workgroup: src/vulkan/vulkan_backend.h

// Which of the candidates from `from` on, a bit each, are within reach of `position`. What lies beyond `end` is
// compared too.
uint near_bits(vec3 position, uint from, uint end)
{
    const float reach = view.search_radius_squared;
    uint bits = 0u;
    for (uint part = 0u; part < SEARCH_BITS && from + part < end; part += gl_SubgroupSize) {
        const vec3 mine = LOAD(predicted, min(from + part + gl_SubgroupInvocationID, end - 1u)).xyz;
        uint found = 0u;
        for (uint c = 0u; c < min(gl_SubgroupSize, SEARCH_BITS); c++) {
            const vec3 offset = v3_sub(position, subgroupBroadcast(mine, c));
            found |= v3_dot(offset, offset) < reach ? 1u << c : 0u;
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
    if (HAS_FEATURE(SOLIDS) && view.skip_same_group != 0u) {
        bits &= unlisted != NONE ? ~group_bits(unlisted, from, end) : ~0u;
    }
    const uint beyond = end - from, own = i - from;
    bits &= bits_below(beyond);
    return own < SEARCH_BITS ? bits & ~(1u << own) : bits;
}

void search(uint cell)
{
    const uint end = view.cell_starts.data[cell + 1u], runs = view.cell_run_counts.data[cell];
    for (uint first = view.cell_starts.data[cell]; first < end; first += gl_SubgroupSize) {
        const uint i = min(first + gl_SubgroupInvocationID, end - 1u); // the last one, where there are no more
        const vec3 position = LOAD(predicted, i).xyz;
        uint unlisted = NONE;
        if (HAS_FEATURE(SOLIDS)) {
            unlisted = unlisted_group(i);
        }
        uint count = 0u, at = 0u;
        Kept kept;
        for (uint w = 0u; w < KEPT_WORDS; w++) {
            kept.words[w] = 0u;
        }
        for (uint r = 0u; r < runs; r++) {
            const uvec2 run = LOAD(cell_runs, cell * CELL_RUN_LIMIT + r);
            for (uint from = run.x; from < run.y; from += SEARCH_BITS) {
                const uint bits = neighbour_bits(i, position, unlisted, from, run.y);
                count += bitCount(bits);
                kept = keep_bits(kept, at, bits);
                at += min(run.y - from, SEARCH_BITS);
            }
        }
        if (first + gl_SubgroupInvocationID < end) {
            store_kept(i, kept);
            view.neighbour_counts.data[i] = count;
            view.neighbour_starts.data[i] = (count + NEIGHBOUR_BLOCK - 1u) / NEIGHBOUR_BLOCK;
            if (count > view.counters.data[COUNTER_NEIGHBOURS_MAX]) {
                atomicMax(view.counters.data[COUNTER_NEIGHBOURS_MAX], count);
            }
        }
    }
}

void main()
{
    if (kernels_aborted()) {
        return;
    }
    const uint group = workgroup_number(), cells = cells_in_use();
    for (uint c = gl_SubgroupID; c < SEARCH_CELLS; c += gl_NumSubgroups) {
        const uint cell = group * SEARCH_CELLS + c;
        if (cell < cells) {
            search(cell);
        }
    }
}
