// SPDX-License-Identifier: MIT
// avx2_velocity.c - AVX2 forms of smooth_velocity and confine_vorticity.
#if defined(__x86_64__)
#include "cpu/avx2_kernels.h"
#include "kernels/kernels.h"

typedef struct SmoothSums {
    __m128 drift;     // PBF eq. 17, without the scale
    __m128 vorticity; // PBF eq. 15, without the scale; w is zero
} SmoothSums;

// viscosity_share of a liquid particle with eight others.
static inline __m256 viscosity_shares(const SolverData *view, float own, const uint *list)
{
    float shares[8];
    for (int lane = 0; lane < 8; lane++) {
        shares[lane] = viscosity_share(view, own, false, view->phases[list[lane]]);
    }
    return _mm256_loadu_ps(shares);
}

// Of particle i, a liquid one whose own viscosity is `viscosity`. `with_vorticity` and `differ` (liquids do) are known
// where this is inlined.
static inline __attribute__((always_inline)) SmoothSums smooth_sums(const SolverData *view, uint i, float viscosity,
                                                                    bool with_vorticity, bool differ)
{
    const vec4 p = view->positions[i], v = view->velocities[i];
    const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
    const uint count = view->neighbour_counts[i];
    const __m256 x = _mm256_set1_ps(p.x), y = _mm256_set1_ps(p.y), z = _mm256_set1_ps(p.z), w = _mm256_set1_ps(p.w);
    const __m256 vx = _mm256_set1_ps(v.x), vy = _mm256_set1_ps(v.y), vz = _mm256_set1_ps(v.z),
                 rho = _mm256_set1_ps(v.w);
    const __m256 h = _mm256_set1_ps(view->smoothing_radius), h2 = _mm256_set1_ps(view->smoothing_radius_squared);
    const __m256 zero = _mm256_setzero_ps(), tiny = _mm256_set1_ps(1e-30f);
    __m256 drift_x = zero, drift_y = zero, drift_z = zero, spin_x = zero, spin_y = zero, spin_z = zero;
    for (uint k = 0; k < count; k += 8) {
        const vec4x8 other = load_vec4x8(view->positions, list + k);
        const vec4x8 velocity = load_vec4x8(view->velocities, list + k);
        const __m256 dx = _mm256_sub_ps(x, other.x), dy = _mm256_sub_ps(y, other.y), dz = _mm256_sub_ps(z, other.z);
        const __m256 ux = _mm256_sub_ps(velocity.x, vx), uy = _mm256_sub_ps(velocity.y, vy),
                     uz = _mm256_sub_ps(velocity.z, vz);
        const __m256 squared = positive_dot_x8(dx, dy, dz);
        const __m256 pair = _mm256_fmadd_ps(_mm256_add_ps(rho, velocity.w), _mm256_add_ps(w, other.w), tiny);
        __m256 weight = _mm256_div_ps(add_poly6_x8(zero, squared, h2), pair);
        if (differ) {
            weight = _mm256_mul_ps(weight, viscosity_shares(view, viscosity, list + k));
        }
        drift_x = _mm256_fmadd_ps(ux, weight, drift_x);
        drift_y = _mm256_fmadd_ps(uy, weight, drift_y);
        drift_z = _mm256_fmadd_ps(uz, weight, drift_z);
        if (with_vorticity) {
            const __m256 distance = _mm256_sqrt_ps(squared);
            const __m256 inside = inside_x8(distance, h);
            const __m256 factor = _mm256_div_ps(_mm256_mul_ps(inside, inside), _mm256_mul_ps(distance, velocity.w));
            spin_x = _mm256_fmadd_ps(_mm256_fmsub_ps(dy, uz, _mm256_mul_ps(dz, uy)), factor, spin_x);
            spin_y = _mm256_fmadd_ps(_mm256_fmsub_ps(dz, ux, _mm256_mul_ps(dx, uz)), factor, spin_y);
            spin_z = _mm256_fmadd_ps(_mm256_fmsub_ps(dx, uy, _mm256_mul_ps(dy, ux)), factor, spin_z);
        }
    }
    return (SmoothSums){sum_four(drift_x, drift_y, drift_z, zero), sum_four(spin_x, spin_y, spin_z, zero)};
}

static inline __attribute__((always_inline)) void smooth_range(const SolverData *view, uint begin, uint end,
                                                               bool with_vorticity, bool differ)
{
    const float vorticity_scale = view->spiky_scale * view->rest_volume;
    for (uint i = begin; i < end; i++) {
        if (!has_density(view->phases[i])) {
            smooth_velocity(view, i); // looks at phases
            continue;
        }
        const float viscosity = differ ? viscosity_of(view, view->phases[i]) : view->viscosity;
        const float drift_scale = 4.0f * viscosity * view->poly6_scale * view->rest_volume;
        const SmoothSums sums = smooth_sums(view, i, viscosity, with_vorticity, differ);
        const __m128 at = _mm_load_ps(&view->positions[i].x), velocity = _mm_load_ps(&view->velocities[i].x);
        const __m128 scale = _mm_mul_ps(_mm_set1_ps(drift_scale), broadcast_w(at));
        _mm_store_ps(&view->smoothed_velocities[i].x, with_w(_mm_fmadd_ps(sums.drift, scale, velocity), velocity));
        if (with_vorticity) {
            const __m128 vorticity = _mm_mul_ps(sums.vorticity, _mm_set1_ps(vorticity_scale));
            const __m128 magnitude = _mm_sqrt_ss(squared_length_xyz(vorticity));
            _mm_store_ps(&view->vorticities[i].x, vorticity);
            _mm_store_ps(&view->vorticity_points[i].x, _mm_insert_ps(at, magnitude, 0x30));
        }
    }
}

void avx2_smooth_velocity(const SolverData *view, uint begin, uint end)
{
    if (liquids_differ(view)) {
        smooth_range(view, begin, end, view->has_vorticity != 0u, true);
    } else if (view->has_vorticity != 0u) {
        smooth_range(view, begin, end, true, false);
    } else {
        smooth_range(view, begin, end, false, false);
    }
}

void avx2_confine_vorticity(const SolverData *view, uint begin, uint end)
{
    const __m256 h = _mm256_set1_ps(view->smoothing_radius), zero = _mm256_setzero_ps();
    for (uint i = begin; i < end; i++) {
        const vec4 here = view->vorticity_points[i];
        const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
        const uint count = view->neighbour_counts[i];
        const __m256 x = _mm256_set1_ps(here.x), y = _mm256_set1_ps(here.y), z = _mm256_set1_ps(here.z);
        const __m256 own = _mm256_set1_ps(here.w);
        __m256 eta_x = zero, eta_y = zero, eta_z = zero;
        for (uint k = 0; k < count; k += 8) {
            const vec4x8 other = load_vec4x8(view->vorticity_points, list + k);
            const __m256 dx = _mm256_sub_ps(x, other.x), dy = _mm256_sub_ps(y, other.y), dz = _mm256_sub_ps(z, other.z);
            const __m256 squared = positive_dot_x8(dx, dy, dz);
            const __m256 distance = _mm256_sqrt_ps(squared);
            const __m256 inside = inside_x8(distance, h);
            const __m256 factor = _mm256_div_ps(_mm256_mul_ps(inside, inside), distance);
            const __m256 weight = _mm256_mul_ps(factor, _mm256_sub_ps(other.w, own));
            eta_x = _mm256_fmadd_ps(dx, weight, eta_x);
            eta_y = _mm256_fmadd_ps(dy, weight, eta_y);
            eta_z = _mm256_fmadd_ps(dz, weight, eta_z);
        }
        const vec3 eta = v3_from_v4(vec4_from(sum_four(eta_x, eta_y, eta_z, zero)));
        push_by_vorticity(view, i, v3_scale(eta, view->spiky_scale * view->rest_volume), here.w);
    }
}
#else
typedef int avx2_velocity_needs_x86_64;
#endif
