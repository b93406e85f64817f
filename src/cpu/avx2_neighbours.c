// avx2_neighbours.c - twins of count_neighbours and fill_neighbours. A cell's candidates are transposed once into
// arrays of x, y and z that all its particles then scan; hits are packed to the left by a permutation table. The
// distance is computed as the portable kernels do, without FMA: the lists are the same to the bit. avx2_build_lists
// does the work of both in one search.
#if defined(__x86_64__)
#include "cpu/avx2_twins.h"
#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

enum { CANDIDATE_LIMIT = 4096 }; // of one cell; fuller neighbourhoods take the portable kernel

typedef struct Candidates {
    _Alignas(32) float x[CANDIDATE_LIMIT + 8];
    _Alignas(32) float y[CANDIDATE_LIMIT + 8];
    _Alignas(32) float z[CANDIDATE_LIMIT + 8];
    _Alignas(32) uint index[CANDIDATE_LIMIT + 8];
    _Alignas(32) uint group[CANDIDATE_LIMIT + 8]; // where some groups are not listed
    bool grouped;
    uint count; // a multiple of 8: padded with points out of reach
    uint own;   // where the cell's own first particle stands
} Candidates;

// False if there are more than fit.
static bool collect(const MoteView *view, uint cell, Candidates *to)
{
    const uvec2 *runs = view->cell_runs + (size_t)cell * CELL_RUN_LIMIT;
    const uint run_count = view->cell_run_counts[cell];
    const uint cell_first = view->cell_starts[cell];
    uint total = 0;
    for (uint r = 0; r < run_count; r++) {
        total += runs[r].y - runs[r].x;
    }
    if (total > CANDIDATE_LIMIT) {
        return false;
    }
    uint at = 0;
    to->grouped = view->apart_only != 0u;
    const __m256i step = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (uint r = 0; r < run_count; r++) {
        const uint begin = runs[r].x, end = runs[r].y;
        if (cell_first >= begin && cell_first < end) {
            to->own = at + (cell_first - begin);
        }
        if (to->grouped) {
            for (uint j = begin; j < end; j++) {
                to->group[at + (j - begin)] = view->phases[j] & PHASE_GROUP;
            }
        }
        const vec4 *p = view->predicted + begin;
        uint j = begin;
        // Whole eights may run past the end of the run, never past the array: the next run overwrites them.
        for (; j + 8 <= end; j += 8, p += 8, at += 8) {
            const Eight eight =
                transpose_eight(_mm_load_ps(&p[0].x), _mm_load_ps(&p[1].x), _mm_load_ps(&p[2].x), _mm_load_ps(&p[3].x),
                                _mm_load_ps(&p[4].x), _mm_load_ps(&p[5].x), _mm_load_ps(&p[6].x), _mm_load_ps(&p[7].x));
            _mm256_storeu_ps(to->x + at, eight.x);
            _mm256_storeu_ps(to->y + at, eight.y);
            _mm256_storeu_ps(to->z + at, eight.z);
            _mm256_storeu_si256((__m256i *)(to->index + at), _mm256_add_epi32(_mm256_set1_epi32((int)j), step));
        }
        for (; j < end; j++, p++, at++) {
            to->x[at] = p->x;
            to->y[at] = p->y;
            to->z[at] = p->z;
            to->index[at] = j;
        }
    }
    for (; at % 8 != 0; at++) {
        to->x[at] = to->y[at] = to->z[at] = INFINITY; // as is its distance: particles are at finite positions
        to->index[at] = 0;
    }
    to->count = at;
    return true;
}

// Those within reach that are of another group than `unlisted`.
static inline __m256 near_eight(const Candidates *c, uint k, __m256 x, __m256 y, __m256 z, __m256 squared_support,
                                __m256i unlisted)
{
    const __m256 dx = _mm256_sub_ps(x, _mm256_load_ps(c->x + k));
    const __m256 dy = _mm256_sub_ps(y, _mm256_load_ps(c->y + k));
    const __m256 dz = _mm256_sub_ps(z, _mm256_load_ps(c->z + k));
    const __m256 xy = _mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy));
    const __m256 near = _mm256_cmp_ps(_mm256_add_ps(xy, _mm256_mul_ps(dz, dz)), squared_support, _CMP_LT_OQ);
    if (!c->grouped) {
        return near;
    }
    const __m256i same = _mm256_cmpeq_epi32(_mm256_load_si256((const __m256i *)(c->group + k)), unlisted);
    return _mm256_andnot_ps(_mm256_castsi256_ps(same), near);
}

static uint count_one(const Candidates *c, vec4 p, __m256 squared_support, uint unlisted)
{
    const __m256i group = _mm256_set1_epi32((int)unlisted);
    const __m256 x = _mm256_set1_ps(p.x), y = _mm256_set1_ps(p.y), z = _mm256_set1_ps(p.z);
    __m256i hits = _mm256_setzero_si256();
    for (uint k = 0; k < c->count; k += 8) {
        hits = _mm256_sub_epi32(hits, _mm256_castps_si256(near_eight(c, k, x, y, z, squared_support, group)));
    }
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(hits), _mm256_extracti128_si256(hits, 1));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, _MM_SHUFFLE(1, 0, 3, 2)));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, _MM_SHUFFLE(2, 3, 0, 1)));
    return (uint)_mm_cvtsi128_si32(four) - (unlisted == NONE ? 1u : 0u); // less itself
}

void avx2_count_neighbours(const MoteView *view, uint begin, uint end)
{
    Candidates candidates;
    const __m256 squared_support = _mm256_set1_ps(view->support_squared);
    uint most = 0;
    for (uint i = begin; i < end;) {
        const uint cell = view->cell_scan[i + 1] - 1u;
        const uint cell_end = view->cell_starts[cell + 1] < end ? view->cell_starts[cell + 1] : end;
        if (!collect(view, cell, &candidates)) {
            cpu_kernels[KERNEL_ID_count_neighbours](view, i, cell_end);
            i = cell_end;
            continue;
        }
        for (; i < cell_end; i++) {
            const uint count = count_one(&candidates, view->predicted[i], squared_support, unlisted_group(view, i));
            view->neighbour_counts[i] = count;
            view->neighbour_starts[i] = (count + NEIGHBOUR_BLOCK - 1u) / NEIGHBOUR_BLOCK;
            most = count > most ? count : most;
        }
    }
    atomic_max_u32(&view->counters[COUNTER_NEIGHBOURS_MAX], most);
}

// Row m moves the lanes whose bit is set in m to the front.
static _Alignas(32) uint pack_table[256][8];

__attribute__((constructor)) static void make_pack_table(void)
{
    for (uint mask = 0; mask < 256; mask++) {
        uint count = 0;
        for (uint lane = 0; lane < 8; lane++) {
            if ((mask >> lane & 1u) != 0u) {
                pack_table[mask][count++] = lane;
            }
        }
    }
}

// The neighbours of the particle at `self` of the candidates, into `list`; returns how many.
static uint fill_one(Candidates *c, uint self, __m256 squared_support, uint unlisted, uint *list)
{
    const __m256i group = _mm256_set1_epi32((int)unlisted);
    const __m256 x = _mm256_set1_ps(c->x[self]), y = _mm256_set1_ps(c->y[self]), z = _mm256_set1_ps(c->z[self]);
    const float own_x = c->x[self];
    c->x[self] = INFINITY; // out of its own reach for the moment
    uint count = 0;
    for (uint k = 0; k < c->count; k += 8) {
        const uint mask = (uint)_mm256_movemask_ps(near_eight(c, k, x, y, z, squared_support, group));
        const __m256i order = _mm256_load_si256((const __m256i *)pack_table[mask]);
        const __m256i indices = _mm256_load_si256((const __m256i *)(c->index + k));
        _mm256_storeu_si256((__m256i *)(list + count), _mm256_permutevar8x32_epi32(indices, order));
        count += (uint)__builtin_popcount(mask);
    }
    c->x[self] = own_x;
    return count;
}

// Copies a list with its padding to its place.
static inline void store_list(uint *to, uint *list, uint count, uint i)
{
    _mm256_storeu_si256((__m256i *)(list + count), _mm256_set1_epi32((int)i)); // the padding
    for (uint k = 0; k < count; k += 8) {
        _mm256_storeu_si256((__m256i *)(to + k), _mm256_load_si256((const __m256i *)(list + k)));
    }
}

void avx2_fill_neighbours(const MoteView *view, uint begin, uint end)
{
    Candidates candidates;
    _Alignas(32) uint list[CANDIDATE_LIMIT + 16];
    const __m256 squared_support = _mm256_set1_ps(view->support_squared);
    for (uint i = begin; i < end;) {
        const uint cell = view->cell_scan[i + 1] - 1u;
        const uint cell_first = view->cell_starts[cell];
        const uint cell_end = view->cell_starts[cell + 1] < end ? view->cell_starts[cell + 1] : end;
        if (!collect(view, cell, &candidates)) {
            cpu_kernels[KERNEL_ID_fill_neighbours](view, i, cell_end);
            i = cell_end;
            continue;
        }
        for (; i < cell_end; i++) {
            const uint count = fill_one(&candidates, candidates.own + (i - cell_first), squared_support,
                                        unlisted_group(view, i), list);
            store_list(view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK, list, count, i);
        }
    }
}

bool avx2_build_lists(const MoteView *view, uint begin, uint end, ListArena *arena)
{
    Candidates candidates;
    _Alignas(32) uint list[CANDIDATE_LIMIT + 16];
    const __m256 squared_support = _mm256_set1_ps(view->support_squared);
    uint next = 0, chunk_end = 0, most = 0; // of the chunk this thread fills, in blocks
    for (uint i = begin; i < end;) {
        const uint cell = view->cell_scan[i + 1] - 1u;
        const uint cell_first = view->cell_starts[cell];
        const uint cell_end = view->cell_starts[cell + 1] < end ? view->cell_starts[cell + 1] : end;
        if (!collect(view, cell, &candidates)) {
            return false;
        }
        for (; i < cell_end; i++) {
            const uint count = fill_one(&candidates, candidates.own + (i - cell_first), squared_support,
                                        unlisted_group(view, i), list);
            const uint blocks = (count + NEIGHBOUR_BLOCK - 1u) / NEIGHBOUR_BLOCK;
            if (next + blocks > chunk_end) {
                next = __atomic_fetch_add(&arena->next, arena->chunk, __ATOMIC_RELAXED);
                chunk_end = next + arena->chunk;
                if (chunk_end > arena->end || blocks > arena->chunk) {
                    return false;
                }
            }
            view->neighbour_counts[i] = count;
            view->neighbour_starts[i] = next;
            store_list(view->neighbours + (size_t)next * NEIGHBOUR_BLOCK, list, count, i);
            next += blocks;
            most = count > most ? count : most;
        }
    }
    atomic_max_u32(&view->counters[COUNTER_NEIGHBOURS_MAX], most);
    return true;
}
#else
typedef int avx2_neighbours_needs_x86_64;
#endif
