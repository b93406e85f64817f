// SPDX-License-Identifier: MIT
// avx2_pairs.c - AVX2 forms of solve_pairs, count_contacts and split_particle_masses. Eight neighbours at a time are
// tested for their distance and phase. Grains of one group, which sand consists of, are then solved eight at a time;
// any other contact goes through the portable functions, in the portable order.
#if defined(__x86_64__)
#include "cpu/avx2_kernels.h"
#include "kernels/kernels.h"

// Bits of those among eight neighbours that are nearer than the root of `squared_reach` and may touch; padding, which
// is the particle itself, may not.
static inline int near_and_touching(const SolverData *view, uint i, uint phase, const uint *list, __m256 squared,
                                    __m256 squared_reach)
{
    int near = _mm256_movemask_ps(_mm256_cmp_ps(squared, squared_reach, _CMP_LT_OQ));
    for (int left = near; left != 0; left &= left - 1) {
        const int k = __builtin_ctz((unsigned)left);
        if (list[k] == i || !can_touch(phase, view->phases[list[k]])) {
            near &= ~(1 << k);
        }
    }
    return near;
}

static inline __m256 squared_distances(const vec4 *points, vec4 here, const uint *list)
{
    const vec4x8 there = load_vec4x8(points, list);
    return dot_x8(_mm256_sub_ps(_mm256_set1_ps(here.x), there.x), _mm256_sub_ps(_mm256_set1_ps(here.y), there.y),
                  _mm256_sub_ps(_mm256_set1_ps(here.z), there.z));
}

// ---- Grains ------------------------------------------------------------------------------------------------

// As `exponential`, of a number that is within its limits.
static inline __m256 exponential_x8(__m256 x)
{
    const __m256 y = _mm256_mul_ps(x, _mm256_set1_ps(1.0f / 64.0f));
    __m256 e = _mm256_fmadd_ps(y, _mm256_set1_ps(1.0f / 24.0f), _mm256_set1_ps(1.0f / 6.0f));
    e = _mm256_fmadd_ps(y, e, _mm256_set1_ps(0.5f));
    e = _mm256_fmadd_ps(y, e, _mm256_set1_ps(1.0f));
    e = _mm256_fmadd_ps(y, e, _mm256_set1_ps(1.0f));
    for (int n = 0; n < 6; n++) {
        e = _mm256_mul_ps(e, e);
    }
    return e;
}

// What `stack_factor` takes the exponential of, with heights above the ground.
static inline float stack_power(const SolverData *view, vec4 p)
{
    const float height = p.x * view->up.x + p.y * view->up.y + p.z * view->up.z - view->stack_ground;
    return min_f32(max_f32(height, 0.0f) * view->stack_scaling, 40.0f);
}

static inline __m256 stack_powers(const SolverData *view, vec4x8 p)
{
    const __m256 height = _mm256_fmadd_ps(
        p.x, _mm256_set1_ps(view->up.x),
        _mm256_fmadd_ps(p.y, _mm256_set1_ps(view->up.y),
                        _mm256_fmsub_ps(p.z, _mm256_set1_ps(view->up.z), _mm256_set1_ps(view->stack_ground))));
    return _mm256_min_ps(_mm256_mul_ps(_mm256_max_ps(height, _mm256_setzero_ps()), _mm256_set1_ps(view->stack_scaling)),
                         _mm256_set1_ps(40.0f));
}

// What all contacts of grain i have in common.
typedef struct Grain {
    const vec4 *starts; // as contact_starts; in stabilization no mass is split
    vec4 here, start;
    float reach;   // m
    float power;   // of the stack's height
    uint phase;    // of it and its like
    Material pair; // friction with its like
    bool rubs, scaled;
} Grain;

typedef struct GrainSums {
    __m256 x, y, z, contacts;
} GrainSums;

// friction_share of eight contacts (kernels/contact/coulomb.h).
static inline __m256 friction_shares(const Material *pair, __m256 sliding, __m256 load)
{
    const __m256 one = _mm256_set1_ps(1.0f), tiny = _mm256_set1_ps(1e-30f);
    const __m256 sticks =
        _mm256_cmp_ps(sliding, _mm256_mul_ps(_mm256_set1_ps(pair->static_friction), load), _CMP_LT_OQ);
    const __m256 kinetic = _mm256_mul_ps(_mm256_set1_ps(pair->kinetic_friction), load);
    const __m256 limited = _mm256_min_ps(_mm256_div_ps(kinetic, _mm256_max_ps(sliding, tiny)), one);
    return _mm256_blendv_ps(limited, one, sticks);
}

// pair_correction for eight neighbours that are grains like this one.
static inline void add_grains(const SolverData *view, const Grain *grain, const uint *list, uint i, GrainSums *sums)
{
    const __m256 one = _mm256_set1_ps(1.0f), tiny = _mm256_set1_ps(1e-30f);
    const vec4x8 there = load_vec4x8(view->contact_points, list);
    const __m256 x = _mm256_set1_ps(grain->here.x), y = _mm256_set1_ps(grain->here.y),
                 z = _mm256_set1_ps(grain->here.z);
    const __m256 dx = _mm256_sub_ps(x, there.x), dy = _mm256_sub_ps(y, there.y), dz = _mm256_sub_ps(z, there.z);
    const __m256 reach = _mm256_set1_ps(grain->reach);
    const __m256 distance = _mm256_sqrt_ps(dot_x8(dx, dy, dz));
    const __m256i index = _mm256_loadu_si256((const __m256i *)list);
    const __m256 self = _mm256_castsi256_ps(_mm256_cmpeq_epi32(index, _mm256_set1_epi32((int)i)));
    const __m256 touching = _mm256_andnot_ps(self, _mm256_cmp_ps(distance, reach, _CMP_LT_OQ));
    if (_mm256_movemask_ps(touching) == 0) {
        return;
    }
    const __m256 inverse = _mm256_div_ps(one, _mm256_max_ps(distance, tiny));
    const __m256 nx = _mm256_mul_ps(dx, inverse), ny = _mm256_mul_ps(dy, inverse), nz = _mm256_mul_ps(dz, inverse);
    const __m256 depth = _mm256_sub_ps(reach, distance);
    // Of two factors of stacks only the ratio counts.
    const vec4x8 start = load_vec4x8(grain->starts, list);
    __m256 other = start.w; // inverse effective masses
    if (grain->scaled) {
        const __m256 higher = _mm256_sub_ps(stack_powers(view, there), _mm256_set1_ps(grain->power));
        other = _mm256_mul_ps(other, exponential_x8(higher));
    }
    const __m256 resistance = _mm256_add_ps(_mm256_set1_ps(grain->start.w), other);
    const __m256 share =
        _mm256_and_ps(touching, _mm256_div_ps(_mm256_set1_ps(grain->here.w), _mm256_max_ps(resistance, tiny)));
    const __m256 push = _mm256_mul_ps(depth, share);
    sums->x = _mm256_fmadd_ps(nx, push, sums->x);
    sums->y = _mm256_fmadd_ps(ny, push, sums->y);
    sums->z = _mm256_fmadd_ps(nz, push, sums->z);
    sums->contacts = _mm256_add_ps(sums->contacts, _mm256_and_ps(touching, one));
    if (!grain->rubs) {
        return;
    }
    const float mx = grain->here.x - grain->start.x, my = grain->here.y - grain->start.y,
                mz = grain->here.z - grain->start.z;
    const __m256 rx = _mm256_sub_ps(_mm256_set1_ps(mx), _mm256_sub_ps(there.x, start.x));
    const __m256 ry = _mm256_sub_ps(_mm256_set1_ps(my), _mm256_sub_ps(there.y, start.y));
    const __m256 rz = _mm256_sub_ps(_mm256_set1_ps(mz), _mm256_sub_ps(there.z, start.z));
    const __m256 along = _mm256_fmadd_ps(rx, nx, _mm256_fmadd_ps(ry, ny, _mm256_mul_ps(rz, nz)));
    const __m256 tx = _mm256_fnmadd_ps(nx, along, rx), ty = _mm256_fnmadd_ps(ny, along, ry),
                 tz = _mm256_fnmadd_ps(nz, along, rz);
    const __m256 sliding = _mm256_sqrt_ps(dot_x8(tx, ty, tz));
    const __m256 held = _mm256_mul_ps(friction_shares(&grain->pair, sliding, depth), share);
    sums->x = _mm256_fnmadd_ps(tx, held, sums->x);
    sums->y = _mm256_fnmadd_ps(ty, held, sums->y);
    sums->z = _mm256_fnmadd_ps(tz, held, sums->z);
}

// Whether all neighbours of a list are of the same phase as the particle.
static inline bool all_alike(const SolverData *view, uint phase, const uint *list, uint count)
{
    const __m256i own = _mm256_set1_epi32((int)phase);
    __m256i same = _mm256_set1_epi32(-1);
    for (uint k = 0; k < count; k += 8) {
        const __m256i index = _mm256_loadu_si256((const __m256i *)(list + k));
        const __m256i phases = _mm256_i32gather_epi32((const int *)view->phases, index, 4);
        same = _mm256_and_si256(same, _mm256_cmpeq_epi32(phases, own));
    }
    return _mm256_movemask_epi8(same) == -1;
}

// Whether particles of this phase touch each other, all at the same distance.
static inline bool has_one_reach(const SolverData *view, uint phase)
{
    return has_trait(phase, TRAIT_SELF) && !(view->cloth_reach > 0.0f && has_trait(phase, TRAIT_SHEET));
}

// What all grains of a phase have in common.
static Grain grains_of(const SolverData *view, uint phase)
{
    Grain grain = {
        .reach = view->contact_distance,
        .phase = phase,
        .pair = pair_material(view, phase, phase),
        .scaled = view->stack_scaling > 0.0f,
        .starts = view->stabilizing != 0u ? view->contact_points : view->contact_starts,
    };
    grain.rubs = view->stabilizing == 0u && view->velocity_friction == 0u && has_friction(grain.pair);
    return grain;
}

static inline vec4 correct_grain(const SolverData *view, uint i, const Grain *grain, const uint *list, uint count)
{
    const __m256 zero = _mm256_setzero_ps();
    GrainSums sums = {zero, zero, zero, zero};
    for (uint k = 0; k < count; k += 8) {
        add_grains(view, grain, list + k, i, &sums);
    }
    return vec4_from(sum_four(sums.x, sums.y, sums.z, sums.contacts));
}

// Whether all particles there are have one phase: then no list needs to be looked at.
static bool one_phase(const SolverData *view)
{
    const __m256i first = _mm256_set1_epi32((int)view->phases[0]);
    const uint whole = view->particle_count / 8u * 8u;
    bool same = true;
    for (uint k = 0; k < whole && same; k += 8) {
        const __m256i phases = _mm256_loadu_si256((const __m256i *)(view->phases + k));
        same = _mm256_movemask_epi8(_mm256_cmpeq_epi32(phases, first)) == -1;
    }
    for (uint k = whole; k < view->particle_count && same; k++) {
        same = view->phases[k] == view->phases[0];
    }
    return same;
}

// From `i` on, the first particle that some of its block of eight has a neighbour beside, or the last few: cloth that
// is spread out has none for most of them. What is left out has no contacts, and no body.
static inline uint skip_lonely(const SolverData *view, uint i, uint end, const vec4 *from, vec4 *to, bool clears)
{
    const __m256i zero = _mm256_setzero_si256();
    for (; view->member_count == 0u && i + 8u <= end; i += 8u) {
        const __m256i counts = _mm256_loadu_si256((const __m256i *)(view->neighbour_counts + i));
        if (_mm256_testz_si256(counts, counts) == 0) {
            return i;
        }
        for (uint k = i; k < i + 8u; k += 2u) {
            _mm256_storeu_ps(&to[k].x, _mm256_loadu_ps(&from[k].x));
            if (clears) {
                _mm256_storeu_si256((__m256i *)&view->corrections[k], zero);
            }
        }
    }
    return i;
}

// ---- The AVX2 kernels ---------------------------------------------------------------------------------------------

void avx2_solve_pairs(const SolverData *view, uint begin, uint end)
{
    begin = skip_lonely(view, begin, end, view->contact_points, view->corrected_positions, true);
    if (begin >= end) {
        return;
    }
    const float reach = longest_reach(view);
    const __m256 squared_reach = _mm256_set1_ps(reach * reach);
    const bool plain = view->member_count == 0u && view->adhesion_range <= 0.0f && view->stack_by_contacts == 0u &&
                       view->rolling == 0u;
    const bool uniform = plain && one_phase(view);
    Grain grain = grains_of(view, view->phases[begin]);
    for (uint i = begin; i < end; i++) {
        if ((i - begin) % 8u == 0u) {
            i = skip_lonely(view, i, end, view->contact_points, view->corrected_positions, true);
            begin = i;
            if (i >= end) {
                break;
            }
        }
        const vec4 here = view->contact_points[i];
        if (here.w <= 0.0f) {
            view->corrected_positions[i] = here;
            continue;
        }
        const uint phase = view->phases[i];
        const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
        const uint count = view->neighbour_counts[i];
        const uint cluster = rigid_cluster_of(view, i);
        vec4 sum = v4(0.0f, 0.0f, 0.0f, 0.0f);
        if (plain && has_one_reach(view, phase) && (uniform || all_alike(view, phase, list, count))) {
            if (phase != grain.phase) {
                grain = grains_of(view, phase);
            }
            grain.here = here;
            grain.start = grain.starts[i];
            grain.power = stack_power(view, here);
            sum = correct_grain(view, i, &grain, list, count);
        } else {
            for (uint k = 0; k < count; k += 8) {
                const __m256 squared = squared_distances(view->contact_points, here, list + k);
                for (int left = near_and_touching(view, i, phase, list + k, squared, squared_reach); left != 0;
                     left &= left - 1) {
                    const uint j = list[k + (uint)__builtin_ctz((unsigned)left)];
                    const vec4 part = pair_correction(view, i, j, here, view->contact_points[j], cluster);
                    sum = v4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
                }
            }
        }
        apply_corrections(view, i, here, cluster, sum);
    }
}

// How many of a grain's neighbours, which are like it, it touches. Padding is the grain itself, and always near.
static inline uint count_grains(const SolverData *view, vec4 here, const uint *list, uint count)
{
    const __m256 squared_reach = _mm256_set1_ps(view->contact_distance * view->contact_distance);
    uint near = 0, listed = 0;
    for (; listed < count; listed += 8) {
        const __m256 squared = squared_distances(view->predicted, here, list + listed);
        near += (uint)__builtin_popcount((uint)_mm256_movemask_ps(_mm256_cmp_ps(squared, squared_reach, _CMP_LT_OQ)));
    }
    return near - (listed - count);
}

static inline uint count_touching(const SolverData *view, uint i, vec4 here, const uint *list, uint count, float reach)
{
    const __m256 squared_reach = _mm256_set1_ps(reach * reach);
    uint contacts = 0;
    for (uint k = 0; k < count; k += 8) {
        const __m256 squared = squared_distances(view->predicted, here, list + k);
        for (int left = near_and_touching(view, i, view->phases[i], list + k, squared, squared_reach); left != 0;
             left &= left - 1) {
            const uint j = list[k + (uint)__builtin_ctz((unsigned)left)];
            contacts += shares_masses(view, i, j, here, view->predicted[j]) ? 1u : 0u;
        }
    }
    return contacts;
}

void avx2_split_particle_masses(const SolverData *view, uint begin, uint end)
{
    begin = skip_lonely(view, begin, end, view->positions, view->contact_starts, false);
    const float reach = longest_reach(view);
    const bool plain = view->member_count == 0u && view->adhesion_range <= 0.0f;
    const bool uniform = plain && begin < end && one_phase(view);
    for (uint i = begin; i < end; i++) {
        if ((i - begin) % 8u == 0u) {
            i = skip_lonely(view, i, end, view->positions, view->contact_starts, false);
            begin = i;
            if (i >= end) {
                break;
            }
        }
        const vec4 here = view->predicted[i];
        const uint phase = view->phases[i];
        const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
        const uint count = splits_mass(view, i) ? view->neighbour_counts[i] : 0u;
        const bool alike = plain && has_one_reach(view, phase) && (uniform || all_alike(view, phase, list, count));
        store_split_mass(
            view, i, alike ? count_grains(view, here, list, count) : count_touching(view, i, here, list, count, reach));
    }
}

void avx2_count_contacts(const SolverData *view, uint begin, uint end)
{
    const float reach = longest_reach(view);
    const __m256 squared_reach = _mm256_set1_ps(reach * reach);
    for (uint i = begin; i < end; i++) {
        const uint cluster = rigid_cluster_of(view, i);
        if (cluster == NONE) {
            continue;
        }
        const vec4 here = view->contact_points[i];
        const uint phase = view->phases[i];
        const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
        const uint count = view->neighbour_counts[i];
        ContactMatrix contact_matrix = {v3(0.0f, 0.0f, 0.0f), 0.0f, v3(0.0f, 0.0f, 0.0f), 0.0f};
        for (uint k = 0; k < count; k += 8) {
            const __m256 squared = squared_distances(view->contact_points, here, list + k);
            for (int left = near_and_touching(view, i, phase, list + k, squared, squared_reach); left != 0;
                 left &= left - 1) {
                contact_matrix =
                    add_contact(view, contact_matrix, i, list[k + (uint)__builtin_ctz((unsigned)left)], here, cluster);
            }
        }
        store_contact_matrix(view, i, contact_matrix);
    }
}
#else
typedef int avx2_pairs_needs_x86_64;
#endif
