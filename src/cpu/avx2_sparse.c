// SPDX-License-Identifier: MIT
// avx2_sparse.c - the inner loops of cpu_sparse.c: boxes, what is near to them, and neighbour lists. Distances are
// computed as the portable kernels do, without FMA, and lists come in the order that cells give them: they are the same
// to the bit.
#if defined(__x86_64__)
#include "cpu/avx2_kernels.h"
#include "cpu/cpu_sparse.h"
#include "kernels/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEAR_LIMIT = 256 }; // candidates that are looked up together

// ---- Boxes -------------------------------------------------------------------------------------------------

static void clear_boxes(SparseBoxes *boxes)
{
    for (int lane = 0; lane < SPARSE_GROUP; lane++) {
        boxes->lower_x[lane] = boxes->lower_y[lane] = boxes->lower_z[lane] = INFINITY;
        boxes->upper_x[lane] = boxes->upper_y[lane] = boxes->upper_z[lane] = -INFINITY;
    }
}

void avx2_sparse_lowest(const SolverData *view, const SparseTree *tree, uint begin, uint end)
{
    for (uint e = begin; e < end; e++) {
        SparseBoxes *boxes = &tree->levels[0][e];
        clear_boxes(boxes);
        for (uint lane = 0; lane < SPARSE_GROUP; lane++) {
            const uint first = SPARSE_GROUP * (SPARSE_GROUP * e + lane);
            const uint last = first + SPARSE_GROUP < view->particle_count ? first + SPARSE_GROUP : view->particle_count;
            __m128 lower = _mm_set1_ps(INFINITY), upper = _mm_set1_ps(-INFINITY);
            for (uint i = first; i < last; i++) {
                const __m128 p = load_one(view->predicted, i);
                lower = _mm_min_ps(lower, p);
                upper = _mm_max_ps(upper, p);
            }
            const vec4 low = vec4_from(lower), high = vec4_from(upper);
            boxes->lower_x[lane] = low.x;
            boxes->lower_y[lane] = low.y;
            boxes->lower_z[lane] = low.z;
            boxes->upper_x[lane] = high.x;
            boxes->upper_y[lane] = high.y;
            boxes->upper_z[lane] = high.z;
        }
    }
}

static float least_of(const float values[8])
{
    float least = values[0];
    for (int lane = 1; lane < SPARSE_GROUP; lane++) {
        least = values[lane] < least ? values[lane] : least;
    }
    return least;
}

static float largest_of(const float values[8])
{
    float largest = values[0];
    for (int lane = 1; lane < SPARSE_GROUP; lane++) {
        largest = values[lane] > largest ? values[lane] : largest;
    }
    return largest;
}

typedef struct SparseBox {
    float lower_x, lower_y, lower_z, upper_x, upper_y, upper_z;
} SparseBox;

static SparseBox box_of_lane(const SparseBoxes *b, uint lane)
{
    return (SparseBox){b->lower_x[lane], b->lower_y[lane], b->lower_z[lane],
                       b->upper_x[lane], b->upper_y[lane], b->upper_z[lane]};
}

static SparseBox box_around_all(const SparseBoxes *b)
{
    return (SparseBox){least_of(b->lower_x),   least_of(b->lower_y),   least_of(b->lower_z),
                       largest_of(b->upper_x), largest_of(b->upper_y), largest_of(b->upper_z)};
}

void avx2_sparse_level(const SparseTree *tree, int level, uint begin, uint end)
{
    for (uint e = begin; e < end; e++) {
        SparseBoxes *boxes = &tree->levels[level][e];
        clear_boxes(boxes);
        for (uint lane = 0; lane < SPARSE_GROUP && SPARSE_GROUP * e + lane < tree->boxes[level]; lane++) {
            const SparseBox all = box_around_all(&tree->levels[level - 1][SPARSE_GROUP * e + lane]);
            boxes->lower_x[lane] = all.lower_x;
            boxes->lower_y[lane] = all.lower_y;
            boxes->lower_z[lane] = all.lower_z;
            boxes->upper_x[lane] = all.upper_x;
            boxes->upper_y[lane] = all.upper_y;
            boxes->upper_z[lane] = all.upper_z;
        }
    }
}

// ---- What is near ------------------------------------------------------------------------------------------

typedef struct Box {
    __m256 lower_x, lower_y, lower_z, upper_x, upper_y, upper_z;
} Box;

static inline Box broadcast(const SparseBox *b)
{
    return (Box){_mm256_set1_ps(b->lower_x), _mm256_set1_ps(b->lower_y), _mm256_set1_ps(b->lower_z),
                 _mm256_set1_ps(b->upper_x), _mm256_set1_ps(b->upper_y), _mm256_set1_ps(b->upper_z)};
}

// x^2 + y^2 + z^2 < limit, rounded as the portable kernels do.
static inline uint shorter(__m256 x, __m256 y, __m256 z, __m256 squared_limit)
{
    const __m256 xy = _mm256_add_ps(_mm256_mul_ps(x, x), _mm256_mul_ps(y, y));
    const __m256 squared = _mm256_add_ps(xy, _mm256_mul_ps(z, z));
    return (uint)_mm256_movemask_ps(_mm256_cmp_ps(squared, squared_limit, _CMP_LT_OQ));
}

// How far what begins at `lower` and ends at `upper` is from the interval.
static inline __m256 gap(__m256 lower, __m256 upper, __m256 box_lower, __m256 box_upper)
{
    return _mm256_max_ps(_mm256_max_ps(_mm256_sub_ps(box_lower, upper), _mm256_sub_ps(lower, box_upper)),
                         _mm256_setzero_ps());
}

// Rounding is monotonic: boxes that are as far apart as the search radius have no particles that are nearer, to the
// bit.
static inline uint near_boxes(const Box *box, const SparseBoxes *b, __m256 search_radius_squared)
{
    return shorter(gap(_mm256_load_ps(b->lower_x), _mm256_load_ps(b->upper_x), box->lower_x, box->upper_x),
                   gap(_mm256_load_ps(b->lower_y), _mm256_load_ps(b->upper_y), box->lower_y, box->upper_y),
                   gap(_mm256_load_ps(b->lower_z), _mm256_load_ps(b->upper_z), box->lower_z, box->upper_z),
                   search_radius_squared);
}

static inline uint near_points(const Box *box, __m256 x, __m256 y, __m256 z, __m256 search_radius_squared)
{
    return shorter(gap(x, x, box->lower_x, box->upper_x), gap(y, y, box->lower_y, box->upper_y),
                   gap(z, z, box->lower_z, box->upper_z), search_radius_squared);
}

// Particles in the order of their slots, filled up to whole registers by some that are out of reach.
typedef struct Nearby {
    _Alignas(32) float x[NEAR_LIMIT + 8];
    _Alignas(32) float y[NEAR_LIMIT + 8];
    _Alignas(32) float z[NEAR_LIMIT + 8];
    _Alignas(32) uint index[NEAR_LIMIT + 8];
    uint count;
} Nearby;

static inline void add_near(Nearby *to, vec4x8 p, __m256i index, uint marks)
{
    const __m256i order = _mm256_load_si256((const __m256i *)avx2_pack_table[marks]);
    _mm256_storeu_ps(to->x + to->count, _mm256_permutevar8x32_ps(p.x, order));
    _mm256_storeu_ps(to->y + to->count, _mm256_permutevar8x32_ps(p.y, order));
    _mm256_storeu_ps(to->z + to->count, _mm256_permutevar8x32_ps(p.z, order));
    _mm256_storeu_si256((__m256i *)(to->index + to->count), _mm256_permutevar8x32_epi32(index, order));
    to->count += (uint)__builtin_popcount(marks);
}

static inline void fill_up(Nearby *to)
{
    _mm256_storeu_ps(to->x + to->count, _mm256_set1_ps(INFINITY)); // as is its distance
    _mm256_storeu_si256((__m256i *)(to->index + to->count), _mm256_setzero_si256());
}

typedef struct Descent {
    const SolverData *view;
    const SparseTree *tree;
    Box box;
    __m256 search_radius_squared;
    Nearby *near;
} Descent;

// The particles of a group of the lowest level that are near to the box.
static void take_group(const Descent *d, uint group)
{
    const uint first = SPARSE_GROUP * group, left = d->view->particle_count - first;
    const __m256i step = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    vec4x8 p;
    uint room = 0xffu;
    if (left >= SPARSE_GROUP) {
        p = load_consecutive(d->view->predicted + first);
    } else {
        uint offsets[SPARSE_GROUP];
        for (uint lane = 0; lane < SPARSE_GROUP; lane++) {
            offsets[lane] = lane < left ? lane : 0u;
        }
        p = load_vec4x8(d->view->predicted + first, offsets);
        room = (1u << left) - 1u;
    }
    add_near(d->near, p, _mm256_add_epi32(_mm256_set1_epi32((int)first), step),
             near_points(&d->box, p.x, p.y, p.z, d->search_radius_squared) & room);
}

// False if there are too many.
static bool descend(const Descent *d, int level, uint element)
{
    uint near = near_boxes(&d->box, &d->tree->levels[level][element], d->search_radius_squared);
    bool fits = true;
    for (; near != 0u && fits; near &= near - 1u) {
        const uint child = SPARSE_GROUP * element + (uint)__builtin_ctz(near);
        if (level > 0) {
            fits = descend(d, level - 1, child);
        } else {
            fits = d->near->count + SPARSE_GROUP <= NEAR_LIMIT;
            if (fits) {
                take_group(d, child);
            }
        }
    }
    return fits;
}

static void narrow(const Nearby *from, const Box *box, __m256 search_radius_squared, Nearby *to)
{
    to->count = 0;
    for (uint k = 0; k < from->count; k += 8u) {
        const vec4x8 p = {_mm256_load_ps(from->x + k), _mm256_load_ps(from->y + k), _mm256_load_ps(from->z + k),
                          _mm256_setzero_ps()};
        const uint near = near_points(box, p.x, p.y, p.z, search_radius_squared);
        add_near(to, p, _mm256_load_si256((const __m256i *)(from->index + k)), near);
    }
    fill_up(to);
}

// ---- Lists -------------------------------------------------------------------------------------------------

// A bit for each axis along which two cells are in different 2x2x2 blocks, as link_cells goes through them.
static inline uint blocks_across(u64 key, u64 other)
{
    const u64 every_third = 0x1249249249249249UL, differing = (key ^ other) >> 3;
    return ((differing & every_third) != 0u ? 1u : 0u) | ((differing >> 1 & every_third) != 0u ? 2u : 0u) |
           ((differing >> 2 & every_third) != 0u ? 4u : 0u);
}

static bool make_room(SparseLists *to, size_t entries)
{
    if (to->count + entries > to->capacity) {
        const size_t capacity = 2 * to->capacity + entries + 1024u;
        uint *grown = realloc(to->entries, capacity * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        to->entries = grown;
        to->capacity = capacity;
    }
    return true;
}

// Lists neighbours, which come in the order of their slots, in that of the cells' runs.
static bool append_list(const SolverData *view, uint i, const uint *found, uint count, SparseLists *to)
{
    const uint padded = (count + NEIGHBOUR_BLOCK - 1u) / NEIGHBOUR_BLOCK * NEIGHBOUR_BLOCK;
    if (!make_room(to, padded)) {
        return false;
    }
    uint *list = to->entries + to->count, next[9] = {0};
    for (uint k = 0; k < count; k++) {
        next[blocks_across(view->keys[i], view->keys[found[k]]) + 1u]++;
    }
    for (uint across = 0; across < 8u; across++) {
        next[across + 1u] += next[across];
    }
    for (uint k = 0; k < count; k++) {
        list[next[blocks_across(view->keys[i], view->keys[found[k]])]++] = found[k];
    }
    for (uint k = count; k < padded; k++) {
        list[k] = i;
    }
    to->count += padded;
    to->longest = count > to->longest ? count : to->longest;
    return true;
}

// The neighbours of particle i among those nearby; returns how many.
static uint find_one(const SolverData *view, const Nearby *near, uint i, __m256 search_radius_squared, uint *found)
{
    const vec4 here = view->predicted[i];
    const __m256 x = _mm256_set1_ps(here.x), y = _mm256_set1_ps(here.y), z = _mm256_set1_ps(here.z);
    const __m256i self = _mm256_set1_epi32((int)i);
    uint count = 0;
    for (uint k = 0; k < near->count; k += 8u) {
        uint hits =
            shorter(_mm256_sub_ps(x, _mm256_load_ps(near->x + k)), _mm256_sub_ps(y, _mm256_load_ps(near->y + k)),
                    _mm256_sub_ps(z, _mm256_load_ps(near->z + k)), search_radius_squared);
        const __m256i index = _mm256_load_si256((const __m256i *)(near->index + k));
        hits &= ~(uint)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(index, self)));
        for (; hits != 0u; hits &= hits - 1u) {
            found[count++] = near->index[k + (uint)__builtin_ctz(hits)];
        }
    }
    return count;
}

static uint keep_listed(const SolverData *view, uint i, uint *found, uint count)
{
    const uint unlisted = unlisted_group(view, i), ignored = ignored_materials(view, view->phases[i]);
    uint kept = 0;
    for (uint k = 0; k < count; k++) {
        if (is_listed(view, found[k], unlisted, ignored)) {
            found[kept++] = found[k];
        }
    }
    return kept;
}

static bool list_one(const SolverData *view, const Nearby *near, uint i, SparseLists *to)
{
    uint found[NEAR_LIMIT + 8];
    uint count = find_one(view, near, i, _mm256_set1_ps(view->search_radius_squared), found);
    if (count > 0u) {
        count = keep_listed(view, i, found, count);
        if (!append_list(view, i, found, count, to)) {
            return false;
        }
    }
    view->neighbour_counts[i] = count;
    view->neighbour_starts[i] = (count + NEIGHBOUR_BLOCK - 1u) / NEIGHBOUR_BLOCK;
    return true;
}

// What is near to a box; false if it is too much.
static bool look_up(Descent *d, const SparseBox *box)
{
    d->box = broadcast(box);
    d->near->count = 0;
    const bool fits = descend(d, d->tree->level_count - 1, 0);
    fill_up(d->near);
    return fits;
}

// Particles that follow one another may lie at two ends of the world: if too much is near to the box around them, they
// are looked up one by one.
static bool list_group(Descent *d, const Nearby *of_batch, const SparseBox *box, uint first, SparseLists *to)
{
    const uint count = d->view->particle_count, last = first + SPARSE_GROUP < count ? first + SPARSE_GROUP : count;
    bool together = true, made = true;
    if (of_batch != NULL) {
        const Box around = broadcast(box);
        narrow(of_batch, &around, d->search_radius_squared, d->near);
    } else {
        together = look_up(d, box);
    }
    for (uint i = first; i < last && made; i++) {
        const vec4 p = d->view->predicted[i];
        const SparseBox point = {p.x, p.y, p.z, p.x, p.y, p.z};
        made = (together || look_up(d, &point)) && list_one(d->view, d->near, i, to);
    }
    return made;
}

void avx2_sparse_lists(const SolverData *view, const SparseTree *tree, uint begin, uint end, SparseLists *to)
{
    Nearby of_batch, near;
    Descent d = {.view = view, .tree = tree, .search_radius_squared = _mm256_set1_ps(view->search_radius_squared)};
    for (uint e = begin; e < end && !to->failed; e++) {
        const SparseBoxes *groups = &tree->levels[0][e];
        const SparseBox around = box_around_all(groups);
        d.near = &of_batch;
        const bool together = look_up(&d, &around);
        d.near = &near;
        for (uint lane = 0; lane < SPARSE_GROUP && !to->failed; lane++) {
            const uint first = SPARSE_GROUP * (SPARSE_GROUP * e + lane);
            const SparseBox box = box_of_lane(groups, lane);
            to->failed = first < view->particle_count && !list_group(&d, together ? &of_batch : NULL, &box, first, to);
        }
    }
}
#else
typedef int avx2_sparse_needs_x86_64;
#endif
