// SPDX-License-Identifier: MIT
// avx2_watch.c - AVX2 forms of watch_begin and watch_end: a chunk's sums, eight particles at a time. The portable
// kernels do what is rare: the last chunk if it is not full, worlds in which grains begin a step without their weight,
// and damping that leaves no velocity.
#if defined(__x86_64__)
#include "cpu/avx2_kernels.h"
#include "kernels/kernels.h"

_Static_assert(WATCH_CHUNK % 8u == 0u, "a chunk is a number of registers");

// What the energy of eight particles needs that is the same for all.
typedef struct EnergyFrame {
    __m256 gravity_x, gravity_y, gravity_z;
    __m256 at_deepest; // g . (the lowest corner of the box around all particles)
} EnergyFrame;

static EnergyFrame make_energy_frame(const SolverData *view)
{
    const vec3 g = view->gravity;
    const vec4 low = view->bounds[0], high = view->bounds[1];
    const vec3 deepest = v3(g.x > 0.0f ? high.x : low.x, g.y > 0.0f ? high.y : low.y, g.z > 0.0f ? high.z : low.z);
    return (EnergyFrame){_mm256_set1_ps(g.x), _mm256_set1_ps(g.y), _mm256_set1_ps(g.z),
                         _mm256_set1_ps(v3_dot(g, deepest))};
}

// Masses of eight particles, 0 for pinned ones.
static inline __m256 masses_x8(__m256 inverse)
{
    const __m256 free = _mm256_cmp_ps(inverse, _mm256_setzero_ps(), _CMP_GT_OQ);
    return _mm256_and_ps(_mm256_div_ps(_mm256_set1_ps(1.0f), inverse), free);
}

// energy_at of eight particles, over their masses.
static inline __m256 energies_x8(const EnergyFrame *frame, vec4x8 p, __m256 squared_speed)
{
    const __m256 z = _mm256_fmsub_ps(frame->gravity_z, p.z, frame->at_deepest);
    const __m256 fall = _mm256_fmadd_ps(frame->gravity_x, p.x, _mm256_fmadd_ps(frame->gravity_y, p.y, z));
    return _mm256_fmsub_ps(_mm256_set1_ps(0.5f), squared_speed, fall);
}

// sum + mass * energy; what is pinned counts nothing, not even if it is not a number.
static inline __m256 add_energy(__m256 sum, __m256 mass, __m256 energy)
{
    const __m256 counts = _mm256_cmp_ps(mass, _mm256_setzero_ps(), _CMP_NEQ_UQ);
    return _mm256_add_ps(sum, _mm256_and_ps(_mm256_mul_ps(mass, energy), counts));
}

static void begin_chunk(const SolverData *view, const EnergyFrame *frame, uint chunk)
{
    const float decay = 1.0f / view->velocity_decay;
    const vec3 fall = v3_mul(v3_scale(view->gravity, view->time_step), view->motion_mask);
    const __m256 fall_x = _mm256_set1_ps(fall.x), fall_y = _mm256_set1_ps(fall.y), fall_z = _mm256_set1_ps(fall.z);
    __m256 energy = _mm256_setzero_ps(), weight = _mm256_setzero_ps();
    for (uint k = chunk * WATCH_CHUNK; k < (chunk + 1u) * WATCH_CHUNK; k += 8u) {
        const vec4x8 p = load_consecutive(view->positions + k), v = load_consecutive(view->velocities + k);
        const __m256 x = _mm256_fmsub_ps(v.x, _mm256_set1_ps(decay), fall_x);
        const __m256 y = _mm256_fmsub_ps(v.y, _mm256_set1_ps(decay), fall_y);
        const __m256 z = _mm256_fmsub_ps(v.z, _mm256_set1_ps(decay), fall_z);
        const __m256 mass = masses_x8(p.w);
        energy = add_energy(energy, mass, energies_x8(frame, p, dot_x8(x, y, z)));
        weight = _mm256_add_ps(weight, mass);
        _mm256_storeu_ps(view->collider_work + k, _mm256_setzero_ps());
    }
    const float sum = sum_x8(energy);
    view->watch_sums[chunk] = v4(sum, sum + sum_x8(weight) * view->watch_floor, 0.0f, 0.0f);
}

static inline __m256 outside_x8(__m256 at, float lower, float upper)
{
    return _mm256_or_ps(_mm256_cmp_ps(at, _mm256_set1_ps(lower), _CMP_LT_OQ),
                        _mm256_cmp_ps(at, _mm256_set1_ps(upper), _CMP_GT_OQ));
}

static void count_escaped(const SolverData *view, uint first, vec4x8 p)
{
    const vec3 lower = view->bounds_lower, upper = view->bounds_upper;
    const __m256 outside =
        _mm256_or_ps(outside_x8(p.x, lower.x, upper.x),
                     _mm256_or_ps(outside_x8(p.y, lower.y, upper.y), outside_x8(p.z, lower.z, upper.z)));
    for (uint left = (uint)_mm256_movemask_ps(outside); left != 0u; left &= left - 1u) {
        ATOMIC_ADD(counters, COUNTER_ESCAPED, 1u);
        ATOMIC_MAX(counters, COUNTER_ESCAPED_ID, view->ids[first + (uint)__builtin_ctz(left)] + 1u);
    }
}

// The first of the fastest particles, of the fastest in each lane.
static uint fastest_lane(__m256 speeds, __m256i slots)
{
    float speed[8];
    uint slot[8];
    _mm256_storeu_ps(speed, speeds);
    _mm256_storeu_si256((__m256i *)slot, slots);
    float highest = -1.0f;
    uint fastest = NONE;
    for (int lane = 0; lane < 8; lane++) {
        if (speed[lane] > highest || (speed[lane] == highest && slot[lane] < fastest)) {
            highest = speed[lane];
            fastest = slot[lane];
        }
    }
    return fastest;
}

static void end_chunk(const SolverData *view, const EnergyFrame *frame, uint chunk)
{
    __m256 energy = _mm256_setzero_ps(), work = _mm256_setzero_ps(), speeds = _mm256_set1_ps(-1.0f);
    __m256i fastest = _mm256_set1_epi32(-1);
    __m256i slots =
        _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32((int)(chunk * WATCH_CHUNK)));
    for (uint k = chunk * WATCH_CHUNK; k < (chunk + 1u) * WATCH_CHUNK; k += 8u) {
        const vec4x8 p = load_consecutive(view->positions + k), v = load_consecutive(view->velocities + k);
        const __m256 squared_speed = dot_x8(v.x, v.y, v.z), mass = masses_x8(p.w);
        energy = add_energy(energy, mass, energies_x8(frame, p, squared_speed));
        const __m256 free = _mm256_cmp_ps(p.w, _mm256_setzero_ps(), _CMP_GT_OQ);
        work = _mm256_add_ps(work, _mm256_and_ps(_mm256_loadu_ps(view->collider_work + k), free));
        const __m256 faster = _mm256_cmp_ps(squared_speed, speeds, _CMP_GT_OQ);
        speeds = _mm256_blendv_ps(speeds, squared_speed, faster);
        fastest = _mm256_blendv_epi8(fastest, slots, _mm256_castps_si256(faster));
        slots = _mm256_add_epi32(slots, _mm256_set1_epi32(8));
        count_escaped(view, k, p);
    }
    const vec4 begun = view->watch_sums[chunk];
    const uint slot = fastest_lane(speeds, fastest);
    view->watch_sums[chunk] = v4(sum_x8(energy) - begun.x - sum_x8(work), begun.y, 0.0f, 0.0f);
    view->watch_ids[chunk] = slot != NONE ? view->ids[slot] : NONE;
}

static bool is_full(const SolverData *view, uint chunk)
{
    return (chunk + 1u) * WATCH_CHUNK <= particles_left(view);
}

void avx2_watch_begin(const SolverData *view, uint begin, uint end)
{
    const bool plain = view->velocity_decay >= SLOWEST_DECAY && view->gravity_warm_start <= 0.0f;
    const EnergyFrame frame = make_energy_frame(view);
    for (uint chunk = begin; chunk < end; chunk++) {
        if (plain && is_full(view, chunk)) {
            begin_chunk(view, &frame, chunk);
        } else {
            watch_begin(view, chunk);
        }
    }
}

void avx2_watch_end(const SolverData *view, uint begin, uint end)
{
    const EnergyFrame frame = make_energy_frame(view);
    for (uint chunk = begin; chunk < end; chunk++) {
        if (is_full(view, chunk)) {
            end_chunk(view, &frame, chunk);
        } else {
            watch_end(view, chunk);
        }
    }
}
#else
typedef int avx2_watch_needs_x86_64;
#endif
