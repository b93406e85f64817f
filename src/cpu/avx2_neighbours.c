// SPDX-License-Identifier: MIT
// avx2_neighbours.c - AVX2 forms of count_neighbours and fill_neighbours. A cell's candidates are transposed once into
// arrays of x, y and z that all its particles then scan; hits are packed to the left by a permutation table. The
// distance is computed as the portable kernels do, without FMA: the lists are the same to the bit. avx2_build_lists
// does the work of both in one search.
#if defined(__x86_64__)
#include "cpu/avx2_kernels.h"
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

_Alignas(32) uint avx2_pack_table[256][8];

__attribute__((constructor)) static void make_pack_table(void)
{
    for (uint mask = 0; mask < 256; mask++) {
        uint count = 0;
        for (uint lane = 0; lane < 8; lane++) {
            if ((mask >> lane & 1u) != 0u) {
                avx2_pack_table[mask][count++] = lane;
            }
        }
    }
}

// The box around a cell's particles.
typedef struct Box {
    __m256 lower_x, lower_y, lower_z, upper_x, upper_y, upper_z;
} Box;

static Box box_around(const vec4 *points, uint count)
{
    __m128 lower = _mm_load_ps(&points[0].x), upper = lower;
    for (uint j = 1; j < count; j++) {
        lower = _mm_min_ps(lower, _mm_load_ps(&points[j].x));
        upper = _mm_max_ps(upper, _mm_load_ps(&points[j].x));
    }
    vec4 l, u;
    _mm_store_ps(&l.x, lower);
    _mm_store_ps(&u.x, upper);
    return (Box){_mm256_set1_ps(l.x), _mm256_set1_ps(l.y), _mm256_set1_ps(l.z),
                 _mm256_set1_ps(u.x), _mm256_set1_ps(u.y), _mm256_set1_ps(u.z)};
}

// How far v is outside of lower to upper.
static inline __m256 outside(__m256 v, __m256 lower, __m256 upper)
{
    return _mm256_max_ps(_mm256_max_ps(_mm256_sub_ps(lower, v), _mm256_sub_ps(v, upper)), _mm256_setzero_ps());
}

// x^2 + y^2 + z^2 < limit, rounded as the portable kernels do.
static inline __m256 shorter(__m256 x, __m256 y, __m256 z, __m256 squared_limit)
{
    const __m256 xy = _mm256_add_ps(_mm256_mul_ps(x, x), _mm256_mul_ps(y, y));
    return _mm256_cmp_ps(_mm256_add_ps(xy, _mm256_mul_ps(z, z)), squared_limit, _CMP_LT_OQ);
}

// Which of eight points some particle in the box may be near to. Rounding is monotonic: a point that is as far as the
// smoothing radius from the box is so from each particle in it, to the bit.
static inline uint near_box(const Box *box, vec4x8 p, __m256 search_radius_squared)
{
    return (uint)_mm256_movemask_ps(shorter(outside(p.x, box->lower_x, box->upper_x),
                                            outside(p.y, box->lower_y, box->upper_y),
                                            outside(p.z, box->lower_z, box->upper_z), search_radius_squared));
}

static inline void pack_words(uint *to, __m256i words, __m256i order)
{
    _mm256_storeu_si256((__m256i *)to, _mm256_permutevar8x32_epi32(words, order));
}

// The predicted positions by coordinate, with room for a whole register behind the last one. They are made for all
// cells at once, where all cells are searched: transposing each cell's candidates anew took half of the search.
typedef struct Columns {
    const float *x, *y, *z;
} Columns;

static Columns columns_in(const SolverData *view)
{
    const float *const x = view->candidate_columns;
    const size_t stride = view->particle_count + 8u;
    return (Columns){x, x + stride, x + 2 * stride};
}

void avx2_make_columns(const SolverData *view, uint begin, uint end)
{
    const Columns columns = columns_in(view);
    float *const x = (float *)columns.x, *const y = (float *)columns.y, *const z = (float *)columns.z;
    for (uint i = begin; i < end; i++) {
        const vec4 p = view->predicted[i];
        x[i] = p.x;
        y[i] = p.y;
        z[i] = p.z;
    }
}

// The positions of eight consecutive particles, as far as there are so many. `columns` may be NULL.
static inline vec4x8 positions_from(const SolverData *view, const Columns *columns, uint first)
{
    if (columns != NULL) {
        return (vec4x8){_mm256_loadu_ps(columns->x + first), _mm256_loadu_ps(columns->y + first),
                        _mm256_loadu_ps(columns->z + first), _mm256_setzero_ps()};
    }
    if (first + 8u <= view->particle_count) {
        return load_consecutive(view->predicted + first);
    }
    uint offsets[8];
    for (uint lane = 0; lane < 8; lane++) {
        offsets[lane] = first + lane < view->particle_count ? lane : view->particle_count - 1u - first;
    }
    return load_vec4x8(view->predicted + first, offsets);
}

// Adds eight consecutive particles from `first` on as far as they are marked.
static inline void add_candidates(const SolverData *view, Candidates *to, vec4x8 p, uint first, uint marks)
{
    const __m256i order = _mm256_load_si256((const __m256i *)avx2_pack_table[marks]);
    const __m256i step = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    pack_words((uint *)(to->x + to->count), _mm256_castps_si256(p.x), order);
    pack_words((uint *)(to->y + to->count), _mm256_castps_si256(p.y), order);
    pack_words((uint *)(to->z + to->count), _mm256_castps_si256(p.z), order);
    pack_words(to->index + to->count, _mm256_add_epi32(_mm256_set1_epi32((int)first), step), order);
    if (to->grouped) {
        for (uint left = marks, at = to->count; left != 0u; left &= left - 1u, at++) {
            to->group[at] = view->phases[first + (uint)__builtin_ctz(left)] & PHASE_GROUP;
        }
    }
    to->count += (uint)__builtin_popcount(marks);
}

// The candidates of a cell: particles of its 3x3x3 neighbourhood that are near the box around its own, about half of
// them. False if there are more than fit.
static bool collect(const SolverData *view, const Columns *columns, uint cell, Candidates *to)
{
    const uvec2 *runs = view->cell_runs + (size_t)cell * CELL_RUN_LIMIT;
    const uint run_count = view->cell_run_counts[cell];
    const uint cell_first = view->cell_starts[cell];
    uint total = 0;
    for (uint r = 0; r < run_count; r++) {
        total += runs[r].y - runs[r].x;
    }
    if (total > CANDIDATE_LIMIT || view->ignoring != 0u) { // candidates have groups here, but no materials
        return false;
    }
    const Box box = box_around(view->predicted + cell_first, view->cell_starts[cell + 1] - cell_first);
    const __m256 search_radius_squared = _mm256_set1_ps(view->search_radius_squared);
    to->grouped = view->skip_same_group != 0u;
    to->count = 0;
    for (uint r = 0; r < run_count; r++) {
        for (uint first = runs[r].x; first < runs[r].y; first += 8) {
            const uint left = runs[r].y - first < 8u ? runs[r].y - first : 8u;
            const vec4x8 p = positions_from(view, columns, first);
            const uint marks = near_box(&box, p, search_radius_squared) & ((1u << left) - 1u);
            if (cell_first - first < left) { // its own are all kept, and in order
                to->own = to->count + (uint)__builtin_popcount(marks & ((1u << (cell_first - first)) - 1u));
            }
            add_candidates(view, to, p, first, marks);
        }
    }
    for (; to->count % 8 != 0; to->count++) {
        to->x[to->count] = INFINITY; // as is its distance: particles are at finite positions
        to->index[to->count] = 0;
    }
    return true;
}

// Those within reach that are of another group than `unlisted`.
static inline __m256 near_x8(const Candidates *c, uint k, __m256 x, __m256 y, __m256 z, __m256 search_radius_squared,
                             __m256i unlisted)
{
    const __m256 dx = _mm256_sub_ps(x, _mm256_load_ps(c->x + k));
    const __m256 dy = _mm256_sub_ps(y, _mm256_load_ps(c->y + k));
    const __m256 dz = _mm256_sub_ps(z, _mm256_load_ps(c->z + k));
    const __m256 near = shorter(dx, dy, dz, search_radius_squared);
    if (!c->grouped) {
        return near;
    }
    const __m256i same = _mm256_cmpeq_epi32(_mm256_load_si256((const __m256i *)(c->group + k)), unlisted);
    return _mm256_andnot_ps(_mm256_castsi256_ps(same), near);
}

static uint count_one(const Candidates *c, vec4 p, __m256 search_radius_squared, uint unlisted)
{
    const __m256i group = _mm256_set1_epi32((int)unlisted);
    const __m256 x = _mm256_set1_ps(p.x), y = _mm256_set1_ps(p.y), z = _mm256_set1_ps(p.z);
    __m256i hits = _mm256_setzero_si256();
    for (uint k = 0; k < c->count; k += 8) {
        hits = _mm256_sub_epi32(hits, _mm256_castps_si256(near_x8(c, k, x, y, z, search_radius_squared, group)));
    }
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(hits), _mm256_extracti128_si256(hits, 1));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, _MM_SHUFFLE(1, 0, 3, 2)));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, _MM_SHUFFLE(2, 3, 0, 1)));
    return (uint)_mm_cvtsi128_si32(four) - (unlisted == NONE ? 1u : 0u); // less itself
}

void avx2_count_neighbours(const SolverData *view, uint begin, uint end)
{
    Candidates candidates;
    const __m256 search_radius_squared = _mm256_set1_ps(view->search_radius_squared);
    uint most = 0;
    for (uint i = begin; i < end;) {
        const uint cell = view->cell_scan[i + 1] - 1u;
        const uint cell_end = view->cell_starts[cell + 1] < end ? view->cell_starts[cell + 1] : end;
        if (!collect(view, NULL, cell, &candidates)) {
            cpu_kernels[KERNEL_ID_count_neighbours](view, i, cell_end);
            i = cell_end;
            continue;
        }
        for (; i < cell_end; i++) {
            const uint count =
                count_one(&candidates, view->predicted[i], search_radius_squared, unlisted_group(view, i));
            view->neighbour_counts[i] = count;
            view->neighbour_starts[i] = (count + NEIGHBOUR_BLOCK - 1u) / NEIGHBOUR_BLOCK;
            most = count > most ? count : most;
        }
    }
    atomic_max_u32(&view->counters[COUNTER_NEIGHBOURS_MAX], most);
}

// The neighbours of the particle at `self` of the candidates, into `list`; returns how many.
static uint fill_one(Candidates *c, uint self, __m256 search_radius_squared, uint unlisted, uint *list)
{
    const __m256i group = _mm256_set1_epi32((int)unlisted);
    const __m256 x = _mm256_set1_ps(c->x[self]), y = _mm256_set1_ps(c->y[self]), z = _mm256_set1_ps(c->z[self]);
    const float own_x = c->x[self];
    c->x[self] = INFINITY; // out of its own reach for the moment
    uint count = 0;
    for (uint k = 0; k < c->count; k += 8) {
        const uint mask = (uint)_mm256_movemask_ps(near_x8(c, k, x, y, z, search_radius_squared, group));
        const __m256i order = _mm256_load_si256((const __m256i *)avx2_pack_table[mask]);
        const __m256i indices = _mm256_load_si256((const __m256i *)(c->index + k));
        _mm256_storeu_si256((__m256i *)(list + count), _mm256_permutevar8x32_epi32(indices, order));
        count += (uint)__builtin_popcount(mask);
    }
    c->x[self] = own_x;
    return count;
}

static inline void pad_list(uint *list, uint count, uint i)
{
    _mm256_storeu_si256((__m256i *)(list + count), _mm256_set1_epi32((int)i));
}

// Copies a list with its padding to its place.
static inline void store_list(uint *to, uint *list, uint count, uint i)
{
    pad_list(list, count, i);
    for (uint k = 0; k < count; k += 8) {
        _mm256_storeu_si256((__m256i *)(to + k), _mm256_load_si256((const __m256i *)(list + k)));
    }
}

void avx2_fill_neighbours(const SolverData *view, uint begin, uint end)
{
    Candidates candidates;
    _Alignas(32) uint list[CANDIDATE_LIMIT + 16];
    const __m256 search_radius_squared = _mm256_set1_ps(view->search_radius_squared);
    for (uint i = begin; i < end;) {
        const uint cell = view->cell_scan[i + 1] - 1u;
        const uint cell_first = view->cell_starts[cell];
        const uint cell_end = view->cell_starts[cell + 1] < end ? view->cell_starts[cell + 1] : end;
        if (!collect(view, NULL, cell, &candidates)) {
            cpu_kernels[KERNEL_ID_fill_neighbours](view, i, cell_end);
            i = cell_end;
            continue;
        }
        for (; i < cell_end; i++) {
            const uint count = fill_one(&candidates, candidates.own + (i - cell_first), search_radius_squared,
                                        unlisted_group(view, i), list);
            store_list(view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK, list, count, i);
        }
    }
}

bool avx2_build_lists(const SolverData *view, uint begin, uint end, ListArena *arena, ListChunk *chunk)
{
    Candidates candidates;
    _Alignas(32) uint list[CANDIDATE_LIMIT + 16];
    const __m256 search_radius_squared = _mm256_set1_ps(view->search_radius_squared);
    const Columns columns = columns_in(view);
    uint next = chunk->next, chunk_end = chunk->end, most = 0;
    for (uint i = begin; i < end;) {
        const uint cell = view->cell_scan[i + 1] - 1u;
        const uint cell_first = view->cell_starts[cell];
        const uint cell_end = view->cell_starts[cell + 1] < end ? view->cell_starts[cell + 1] : end;
        if (!collect(view, &columns, cell, &candidates)) {
            return false;
        }
        for (; i < cell_end; i++) {
            // In its place, where that has room for whatever may be found and a register more; else aside.
            const bool in_place = (chunk_end - next) * NEIGHBOUR_BLOCK >= candidates.count + 8u;
            uint *const to = in_place ? view->neighbours + (size_t)next * NEIGHBOUR_BLOCK : list;
            const uint count = fill_one(&candidates, candidates.own + (i - cell_first), search_radius_squared,
                                        unlisted_group(view, i), to);
            const uint blocks = (count + NEIGHBOUR_BLOCK - 1u) / NEIGHBOUR_BLOCK;
            if (!in_place && next + blocks > chunk_end) {
                next = __atomic_fetch_add(&arena->next, arena->chunk, __ATOMIC_RELAXED);
                chunk_end = next + arena->chunk;
                if (chunk_end > arena->end || blocks > arena->chunk) {
                    return false;
                }
            }
            view->neighbour_counts[i] = count;
            view->neighbour_starts[i] = next;
            if (in_place) {
                pad_list(to, count, i);
            } else {
                store_list(view->neighbours + (size_t)next * NEIGHBOUR_BLOCK, list, count, i);
            }
            next += blocks;
            most = count > most ? count : most;
        }
    }
    *chunk = (ListChunk){next, chunk_end};
    atomic_max_u32(&view->counters[COUNTER_NEIGHBOURS_MAX], most);
    return true;
}
#else
typedef int avx2_neighbours_needs_x86_64;
#endif
