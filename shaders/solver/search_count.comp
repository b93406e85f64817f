// search_count.comp - count_neighbours, a cell at a time.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "search.glsl"

void search(uint cell)
{
    const uint end = view.cell_starts.data[cell + 1u], runs = view.cell_run_counts.data[cell];
    for (uint first = view.cell_starts.data[cell]; first < end; first += gl_SubgroupSize) {
        const uint i = min(first + gl_SubgroupInvocationID, end - 1u); // the last one, where there are no more
        const vec3 position = LOAD(predicted, i).xyz;
        const uint unlisted = unlisted_group(i);
        uint count = 0u, at = 0u;
        uvec4 kept = uvec4(0u);
        for (uint r = 0u; r < runs; r++) {
            const uvec2 run = view.cell_runs.data[cell * CELL_RUN_LIMIT + r];
            for (uint from = run.x; from < run.y; from += SEARCH_BITS) {
                const uint bits = neighbour_bits(i, position, unlisted, from, run.y);
                count += bitCount(bits);
                kept = keep_bits(kept, at, bits);
                at += min(run.y - from, SEARCH_BITS);
            }
        }
        if (first + gl_SubgroupInvocationID < end) {
            STORE(estimates, i, uintBitsToFloat(kept));
            view.neighbour_counts.data[i] = count;
            view.neighbour_starts.data[i] = (count + NEIGHBOUR_BLOCK - 1u) / NEIGHBOUR_BLOCK;
            if (count > view.counters.data[COUNTER_NEIGHBOURS_MAX]) {
                atomicMax(view.counters.data[COUNTER_NEIGHBOURS_MAX], count);
            }
        }
    }
}
