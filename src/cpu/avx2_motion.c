// SPDX-License-Identifier: MIT
// avx2_motion.c - AVX2 forms of predict, assign_keys and update_velocity, eight consecutive particles at a time. What
// is rare (speed limits, sleep of solids, bounces, kill volumes) goes through the portable kernels. Results are theirs
// to the bit: no multiplication and addition is made one operation here.
#if defined(__x86_64__)
#include "cpu/avx2_kernels.h"
#include "kernels/kernels.h"

// Squares of numbers up to this are floats; what is beyond, or no number, is left to the portable kernels.
#define FARTHEST 1e18f

static inline __m256 squared_length(vec4x8 v)
{
    const __m256 xy = _mm256_add_ps(_mm256_mul_ps(v.x, v.x), _mm256_mul_ps(v.y, v.y));
    return _mm256_add_ps(xy, _mm256_mul_ps(v.z, v.z));
}

// a + b * scale, as v3_add_scaled; w is a's.
static inline vec4x8 add_scaled(vec4x8 a, vec4x8 b, __m256 scale)
{
    return (vec4x8){_mm256_add_ps(a.x, _mm256_mul_ps(b.x, scale)), _mm256_add_ps(a.y, _mm256_mul_ps(b.y, scale)),
                    _mm256_add_ps(a.z, _mm256_mul_ps(b.z, scale)), a.w};
}

// Whether no vector is longer than `limit`, and none has a NaN.
static inline bool all_within(vec4x8 v, float limit)
{
    const __m256 squared_limit = _mm256_set1_ps(limit * limit);
    return _mm256_movemask_ps(_mm256_cmp_ps(squared_length(v), squared_limit, _CMP_LE_OQ)) == 0xff;
}

void avx2_predict(const SolverData *view, uint begin, uint end)
{
    RangeFunction *const kernel = cpu_kernels[KERNEL_ID_predict];
    const __m256 dt = _mm256_set1_ps(view->time_step), decay = _mm256_set1_ps(view->velocity_decay);
    const vec3 mask = view->motion_mask;
    const float fastest = view->max_step / view->time_step;
    const vec4x8 gravity = {_mm256_set1_ps(view->gravity.x), _mm256_set1_ps(view->gravity.y),
                            _mm256_set1_ps(view->gravity.z), _mm256_setzero_ps()};
    uint i = begin;
    for (; view->gravity_warm_start <= 0.0f && i + 8u <= end; i += 8u) {
        const vec4x8 position = load_consecutive(view->positions + i);
        const vec4x8 falling = add_scaled(load_consecutive(view->velocities + i), gravity, dt);
        vec4x8 velocity = {_mm256_mul_ps(_mm256_mul_ps(falling.x, decay), _mm256_set1_ps(mask.x)),
                           _mm256_mul_ps(_mm256_mul_ps(falling.y, decay), _mm256_set1_ps(mask.y)),
                           _mm256_mul_ps(_mm256_mul_ps(falling.z, decay), _mm256_set1_ps(mask.z)), falling.w};
        const __m256 free = _mm256_cmp_ps(position.w, _mm256_setzero_ps(), _CMP_GT_OQ); // pinned particles stay
        velocity = (vec4x8){_mm256_and_ps(velocity.x, free), _mm256_and_ps(velocity.y, free),
                            _mm256_and_ps(velocity.z, free), velocity.w};
        const vec4x8 moved = add_scaled(position, velocity, dt);
        if (!all_within(velocity, fastest) || !all_within(moved, FARTHEST)) {
            kernel(view, i, i + 8u);
            continue;
        }
        store_consecutive(view->velocities + i, velocity);
        store_consecutive(view->predicted + i, moved);
    }
    kernel(view, i, end);
}

// ---- Keys --------------------------------------------------------------------------------------------------

// cell_coordinate of eight positions.
static inline __m256i cell_coordinates(__m256 position, float origin, float size)
{
    const __m256 cells = _mm256_div_ps(_mm256_sub_ps(position, _mm256_set1_ps(origin)), _mm256_set1_ps(size));
    const __m256 least = _mm256_max_ps(_mm256_floor_ps(cells), _mm256_setzero_ps());
    return _mm256_cvttps_epi32(_mm256_min_ps(least, _mm256_set1_ps(CELL_COORDINATE_MAX)));
}

static inline __m256i spread_step(__m256i bits, int shift, u64 mask)
{
    const __m256i both = _mm256_or_si256(bits, _mm256_slli_epi64(bits, shift));
    return _mm256_and_si256(both, _mm256_set1_epi64x((long long)mask));
}

// spread_bits of four coordinates.
static inline __m256i spread_four(__m128i coordinates)
{
    __m256i bits = _mm256_cvtepu32_epi64(coordinates);
    bits = spread_step(bits, 32, 0x001f00000000ffffUL);
    bits = spread_step(bits, 16, 0x001f0000ff0000ffUL);
    bits = spread_step(bits, 8, 0x100f00f00f00f00fUL);
    bits = spread_step(bits, 4, 0x10c30c30c30c30c3UL);
    return spread_step(bits, 2, 0x1249249249249249UL);
}

static inline void store_keys(u64 *to, __m128i x, __m128i y, __m128i z)
{
    const __m256i xy = _mm256_or_si256(spread_four(x), _mm256_slli_epi64(spread_four(y), 1));
    _mm256_storeu_si256((__m256i *)to, _mm256_or_si256(xy, _mm256_slli_epi64(spread_four(z), 2)));
}

void avx2_assign_keys(const SolverData *view, uint begin, uint end)
{
    RangeFunction *const kernel = cpu_kernels[KERNEL_ID_assign_keys];
    const vec4 lower = view->bounds[0], upper = view->bounds[1];
    const float extent = max_f32(max_f32(upper.x - lower.x, upper.y - lower.y), upper.z - lower.z);
    const float size = cell_size(view->search_radius, extent);
    const __m256i removed = _mm256_set1_epi32((int)PHASE_REMOVED);
    const __m256i step = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    uint i = begin;
    for (; view->kill_volume_count == 0u && view->gas_ends == 0u && i + 8u <= end; i += 8u) {
        const vec4x8 p = load_consecutive(view->predicted + i);
        if (_mm256_testz_si256(_mm256_loadu_si256((const __m256i *)(view->phases + i)), removed) == 0 ||
            _mm256_movemask_ps(p.w) != 0) {
            kernel(view, i, i + 8u);
            continue;
        }
        const __m256i x = cell_coordinates(p.x, lower.x, size), y = cell_coordinates(p.y, lower.y, size),
                      z = cell_coordinates(p.z, lower.z, size);
        store_keys(view->keys + i, _mm256_castsi256_si128(x), _mm256_castsi256_si128(y), _mm256_castsi256_si128(z));
        store_keys(view->keys + i + 4u, _mm256_extracti128_si256(x, 1), _mm256_extracti128_si256(y, 1),
                   _mm256_extracti128_si256(z, 1));
        _mm256_storeu_si256((__m256i *)(view->order + i), _mm256_add_epi32(_mm256_set1_epi32((int)i), step));
    }
    kernel(view, i, end);
}

// ---- Velocities --------------------------------------------------------------------------------------------

void avx2_update_velocity(const SolverData *view, uint begin, uint end)
{
    RangeFunction *const kernel = cpu_kernels[KERNEL_ID_update_velocity];
    const uint needed = LACKS_BOUNCES | LACKS_DYNAMICS;
    const bool solids = (view->lacked_features & LACKS_SOLIDS) == 0u; // which fall asleep in another way, or in bodies
    const bool plain = (view->lacked_features & needed) == needed && view->gravity_warm_start <= 0.0f &&
                       (!solids || (view->member_count == 0u && view->sleep_distance <= 0.0f));
    const __m256 rate = _mm256_set1_ps(1.0f / view->time_step), zero = _mm256_setzero_ps();
    const __m256 sleepy = _mm256_set1_ps(view->sleep_distance * view->sleep_distance);
    const vec4x8 up = {_mm256_set1_ps(view->up.x), _mm256_set1_ps(view->up.y), _mm256_set1_ps(view->up.z), zero};
    const __m256 carried = _mm256_set1_ps(
        view->restitution_threshold > 0.0f ? 0.5f * (0.5f * view->restitution_threshold) : -FARTHEST); // is_carried
    uint i = begin;
    for (; plain && i + 8u <= end; i += 8u) {
        const vec4x8 start = load_consecutive(view->positions + i), before = load_consecutive(view->velocities + i);
        vec4x8 last = load_consecutive(view->predicted + i);
        const vec4x8 moved = {_mm256_sub_ps(last.x, start.x), _mm256_sub_ps(last.y, start.y),
                              _mm256_sub_ps(last.z, start.z), zero};
        vec4x8 velocity = {_mm256_mul_ps(moved.x, rate), _mm256_mul_ps(moved.y, rate), _mm256_mul_ps(moved.z, rate),
                           _mm256_loadu_ps(view->densities + i)};
        const vec4x8 change = {_mm256_sub_ps(velocity.x, before.x), _mm256_sub_ps(velocity.y, before.y),
                               _mm256_sub_ps(velocity.z, before.z), zero};
        if (!all_within(moved, FARTHEST) || !all_within(change, view->max_velocity_change)) {
            kernel(view, i, i + 8u);
            continue;
        }
        const __m256 along = _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(change.x, up.x), _mm256_mul_ps(change.y, up.y)),
                                           _mm256_mul_ps(change.z, up.z));
        const __m256 asleep = _mm256_and_ps(_mm256_cmp_ps(squared_length(moved), sleepy, _CMP_LT_OQ), // UPP eq. 14
                                            _mm256_cmp_ps(along, carried, _CMP_GE_OQ));
        last = select_vec4x8(last, start, asleep);
        velocity = select_vec4x8(velocity, (vec4x8){zero, zero, zero, velocity.w}, asleep);
        store_consecutive(view->predicted + i, last);
        store_consecutive(view->positions + i, last);
        store_consecutive(view->velocities + i, velocity);
    }
    kernel(view, i, end);
}
#else
typedef int avx2_motion_needs_x86_64;
#endif
