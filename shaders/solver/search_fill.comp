// search_fill.comp - fill_neighbours, a cell at a time.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "search.glsl"

void search(uint cell)
{
    const uint end = view.cell_starts.data[cell + 1u], runs = view.cell_run_counts.data[cell];
    for (uint first = view.cell_starts.data[cell]; first < end; first += gl_SubgroupSize) {
        const uint i = min(first + gl_SubgroupInvocationID, end - 1u);
        const bool listed = first + gl_SubgroupInvocationID < end;
        const vec3 position = LOAD(predicted, i).xyz;
        const uint unlisted = unlisted_group(i);
        const uvec4 kept = floatBitsToUint(LOAD(estimates, i));
        uint slot = neighbour_slot(view.neighbour_starts.data[i], 0u); // of the next neighbour
        uint at = 0u;
        for (uint r = 0u; r < runs; r++) {
            const uvec2 run = view.cell_runs.data[cell * CELL_RUN_LIMIT + r];
            for (uint from = run.x; from < run.y; from += SEARCH_BITS) {
                const uint candidates = min(run.y - from, SEARCH_BITS);
                uint bits = 0u;
                if (at + candidates <= KEPT_BITS) {
                    bits = kept_bits(kept, at, candidates);
                } else {
                    bits = neighbour_bits(i, position, unlisted, from, run.y);
                }
                at += candidates;
                bits = listed ? bits : 0u;
                for (; bits != 0u; bits &= bits - 1u) {
                    view.neighbours.data[slot++] = from + uint(findLSB(bits));
                }
            }
        }
        if (listed) {
            for (; slot % NEIGHBOUR_BLOCK != 0u; slot++) {
                view.neighbours.data[slot] = i;
            }
        }
    }
}
