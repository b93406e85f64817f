// SPDX-License-Identifier: MIT
// avx2_diffuse.c - advect_diffuse (kernels/diffuse/passive.h): eight particles of a run of cells at once. Cells that
// follow each other in memory are one run.
#if defined(__x86_64__)
#include "cpu/avx2_kernels.h"
#include "kernels/kernels.h"

typedef struct FlowSums {
    __m256 x, y, z, weight;
    uint count;
} FlowSums;

// The point and velocity of a passive particle, a value in all lanes.
typedef struct Sought {
    __m256 px, py, pz, vx, vy, vz, inverse_reach; // 1/m^2
} Sought;

static Sought sought_at(vec3 p, vec3 own, float reach)
{
    return (Sought){_mm256_set1_ps(p.x),
                    _mm256_set1_ps(p.y),
                    _mm256_set1_ps(p.z),
                    _mm256_set1_ps(own.x),
                    _mm256_set1_ps(own.y),
                    _mm256_set1_ps(own.z),
                    _mm256_set1_ps(1.0f / (reach * reach))};
}

// Adds data[0] to data[count - 1], at most 8, of which 8 can be read. Returns a bit for each that counts.
static inline int add_flow_x8(const vec4 *positions, const vec4 *velocities, uint count, const Sought *sought,
                              FlowSums *sums)
{
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256 wanted = _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), lanes));
    const vec4x8 p = load_consecutive(positions);
    const __m256 squared =
        dot_x8(_mm256_sub_ps(sought->px, p.x), _mm256_sub_ps(sought->py, p.y), _mm256_sub_ps(sought->pz, p.z));
    const __m256 t = _mm256_fnmadd_ps(squared, sought->inverse_reach, _mm256_set1_ps(1.0f));
    const __m256 inside = _mm256_and_ps(wanted, _mm256_cmp_ps(t, _mm256_setzero_ps(), _CMP_GT_OQ));
    const int bits = _mm256_movemask_ps(inside);
    if (bits == 0) {
        return 0;
    }
    const vec4x8 v = load_consecutive(velocities);
    const __m256 weight = _mm256_and_ps(inside, _mm256_mul_ps(_mm256_mul_ps(t, t), t));
    sums->x = _mm256_fmadd_ps(_mm256_sub_ps(v.x, sought->vx), weight, sums->x);
    sums->y = _mm256_fmadd_ps(_mm256_sub_ps(v.y, sought->vy), weight, sums->y);
    sums->z = _mm256_fmadd_ps(_mm256_sub_ps(v.z, sought->vz), weight, sums->z);
    sums->weight = _mm256_add_ps(sums->weight, weight);
    sums->count += (uint)__builtin_popcount((unsigned)bits);
    return bits;
}

// Particles begin to end - 1. Near the end of the arrays they are copied, so that nothing beyond is read.
static void add_run(const SolverData *view, uint begin, uint end, const Sought *sought, FlowSums *sums)
{
    const bool marks = view->has_gas != 0u && view->gas_linger > 0.0f;
    for (uint j = begin; j < end; j += 8) {
        const uint count = end - j < 8 ? end - j : 8;
        int bits;
        if (j + 8 <= view->particle_count) {
            bits = add_flow_x8(view->positions + j, view->velocities + j, count, sought, sums);
        } else {
            vec4 positions[8] = {{0}}, velocities[8] = {{0}};
            memcpy(positions, view->positions + j, count * sizeof(vec4));
            memcpy(velocities, view->velocities + j, count * sizeof(vec4));
            bits = add_flow_x8(positions, velocities, count, sought, sums);
        }
        for (; marks && bits != 0; bits &= bits - 1) {
            mark_gas(view, j + (uint)__builtin_ctz((unsigned)bits));
        }
    }
}

static Flow flow_near(const SolverData *view, vec3 p, vec3 own)
{
    const CellPlace place = cell_place(view, p);
    const Sought sought = sought_at(p, own, view->smoothing_radius);
    const uint cells = cells_in_use(view);
    FlowSums sums = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), 0};
    uint begin = 0, end = 0;
    for (int b = 0; b < 8; b++) {
        uint cell = first_cell_near(view, place, b);
        const u64 block = cell < cells ? block_of_key(key_of_cell(view, cell)) : 0;
        for (; cell < cells; cell++) {
            const u64 key = key_of_cell(view, cell);
            if (block_of_key(key) != block) {
                break;
            }
            if (cell_is_near(place, key)) {
                const uint first = view->cell_starts[cell];
                if (first != end) {
                    add_run(view, begin, end, &sought, &sums);
                    begin = first;
                }
                end = view->cell_starts[cell + 1];
            }
        }
    }
    add_run(view, begin, end, &sought, &sums);
    const vec4 sum = vec4_from(sum_four(sums.x, sums.y, sums.z, sums.weight));
    return flow_of((FlowSum){v3(sum.x, sum.y, sum.z), sum.w, sums.count}, own);
}

void avx2_advect_diffuse(const SolverData *view, uint begin, uint end)
{
    for (uint i = begin; i < end; i++) {
        if (!is_in_use(view, i)) {
            continue;
        }
        const vec3 own = v3_from_v4(view->diffuse_velocities[i]);
        const vec3 p = v3_add_scaled(v3_from_v4(view->diffuse_positions[i]), own, view->time_step);
        const bool smoke = is_smoke(view->diffuse_velocities[i].w);
        const bool near = view->particle_count != 0 && view->has_solids == 0 && (view->has_gas == 0 || smoke) &&
                          is_near_liquid(view, p, view->smoothing_radius);
        advance_passive(view, i, near ? flow_near(view, p, own) : flow_at(view, p, own, smoke));
    }
}
#endif
