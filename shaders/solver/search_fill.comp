// SPDX-License-Identifier: MIT
// search_fill.comp - fill_neighbours, of the bits that search_count.comp has kept.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "search.glsl"
#include "groups.glsl"

// The same bits once more, for candidates of which none were kept.
uint compare_again(uint i, uint from, uint count)
{
    const vec3 position = LOAD(predicted, i).xyz;
    uint unlisted = NONE;
    if (HAS_FEATURE(SOLIDS)) {
        unlisted = unlisted_group(i);
    }
    uint bits = 0u;
    for (uint c = 0u; c < count; c++) {
        const uint j = from + c;
        const vec3 offset = v3_sub(position, LOAD(predicted, j).xyz);
        if (v3_dot(offset, offset) < view.search_radius_squared && j != i &&
            (unlisted == NONE || (LOAD(phases, j) & PHASE_GROUP) != unlisted)) {
            bits |= 1u << c;
        }
    }
    return bits;
}

// Two entries from an even slot on.
void store_two(uint slot, uint first, uint second)
{
    uint_pairs(view.neighbours).data[slot >> 1] = packUint2x32(uvec2(first, second));
}

void fill(uint i)
{
    const uint cell = LOAD(cell_scan, i + 1u) - 1u, runs = LOAD(cell_run_counts, cell);
    const Kept kept = load_kept(i);
    uint slot = neighbour_slot(LOAD(neighbour_starts, i), 0u); // of the next two neighbours
    uint held = NONE;                                          // the first of them, if it is known
    uint at = 0u;
    for (uint r = 0u; r < runs; r++) {
        const uvec2 run = LOAD(cell_runs, cell * CELL_RUN_LIMIT + r);
        for (uint from = run.x; from < run.y; from += SEARCH_BITS) {
            const uint candidates = min(run.y - from, SEARCH_BITS);
            uint bits = kept_bits(kept, at, candidates);
            at += candidates;
            if (at > KEPT_BITS) {
                bits = compare_again(i, from, candidates);
            }
            while (bits != 0u) {
                uint first = held;
                if (first == NONE) {
                    first = from + uint(findLSB(bits));
                    bits &= bits - 1u;
                }
                held = first;
                if (bits != 0u) {
                    store_two(slot, first, from + uint(findLSB(bits)));
                    bits &= bits - 1u;
                    slot += 2u;
                    held = NONE;
                }
            }
        }
    }
    if (held != NONE) {
        store_two(slot, held, i);
        slot += 2u;
    }
    for (; slot % NEIGHBOUR_BLOCK != 0u; slot += 2u) {
        store_two(slot, i, i);
    }
}

void main()
{
    const uint i = workgroup_number() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (i < particles_left() && !kernels_aborted()) {
        fill(i);
    }
}
