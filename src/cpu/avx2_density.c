// SPDX-License-Identifier: MIT
// avx2_density.c - AVX2 forms of density_lambda, density_delta and measure_density.
#if defined(__x86_64__)
#include "cpu/avx2_idle.h"
#include "cpu/avx2_kernels.h"
#include "cpu/avx2_pressure.h"
#include "kernels/kernels.h"

// What a sum of Poly6 over a padded list lacks: the particle's own share, less that of each padding entry.
static inline float own_share(uint count, float smoothing_radius_squared)
{
    const float padding = (float)((0u - count) & 7u);
    return (1.0f - padding) * (smoothing_radius_squared * smoothing_radius_squared * smoothing_radius_squared);
}

// Sum of Poly6 over a padded list and the particle itself, without the norm.
static inline float density_sum(const vec4 *points, vec4 p, const uint *list, uint count,
                                float smoothing_radius_squared)
{
    const __m256 x = _mm256_set1_ps(p.x), y = _mm256_set1_ps(p.y), z = _mm256_set1_ps(p.z);
    const __m256 h2 = _mm256_set1_ps(smoothing_radius_squared);
    __m256 sum = _mm256_setzero_ps();
    for (uint k = 0; k < count; k += 8) {
        const vec4x8 other = load_vec4x8(points, list + k);
        const __m256 squared = dot_x8(_mm256_sub_ps(x, other.x), _mm256_sub_ps(y, other.y), _mm256_sub_ps(z, other.z));
        sum = add_poly6_x8(sum, squared, h2);
    }
    return sum_x8(sum) + own_share(count, smoothing_radius_squared);
}

typedef struct DensityAndGradients {
    float density;   // Poly6, without the norm
    float gradients; // the denominator of PBF eq. 11, without norm and epsilon
} DensityAndGradients;

static inline DensityAndGradients density_and_gradients(const SolverData *view, uint i, const uint *list, uint count)
{
    const vec4 p = view->predicted[i];
    const __m256 x = _mm256_set1_ps(p.x), y = _mm256_set1_ps(p.y), z = _mm256_set1_ps(p.z);
    const __m256 h = _mm256_set1_ps(view->smoothing_radius), h2 = _mm256_set1_ps(view->smoothing_radius_squared);
    __m256 density = _mm256_setzero_ps(), others = _mm256_setzero_ps();
    __m256 own_x = _mm256_setzero_ps(), own_y = _mm256_setzero_ps(), own_z = _mm256_setzero_ps();
    for (uint k = 0; k < count; k += 8) {
        const vec4x8 other = load_vec4x8(view->predicted, list + k);
        const __m256 dx = _mm256_sub_ps(x, other.x), dy = _mm256_sub_ps(y, other.y), dz = _mm256_sub_ps(z, other.z);
        const __m256 squared = dot_x8(dx, dy, dz);
        density = add_poly6_x8(density, squared, h2);
        const __m256 distance = _mm256_sqrt_ps(_mm256_add_ps(squared, _mm256_set1_ps(1e-24f)));
        const __m256 inside = inside_x8(distance, h);
        const __m256 factor = _mm256_div_ps(_mm256_mul_ps(inside, inside), distance);
        own_x = _mm256_fmadd_ps(dx, factor, own_x);
        own_y = _mm256_fmadd_ps(dy, factor, own_y);
        own_z = _mm256_fmadd_ps(dz, factor, own_z);
        // From the offset, not as (h - r)^4: padding and coincident particles have no gradient.
        const __m256 squared_gradient = _mm256_mul_ps(_mm256_mul_ps(factor, factor), squared);
        others = _mm256_fmadd_ps(other.w, squared_gradient, others);
    }
    const vec4 sums = vec4_from(sum_four(own_x, own_y, own_z, others));
    const float own = sums.x * sums.x + sums.y * sums.y + sums.z * sums.z;
    return (DensityAndGradients){sum_x8(density) + own_share(count, view->smoothing_radius_squared),
                                 sums.w + p.w * own};
}

// lightest_around, eight neighbours at a time; padding is the particle itself.
static inline float lightest_of(const SolverData *view, vec4 p, const uint *list, uint count)
{
    const float scale = 2.0f / view->smoothing_radius_squared;
    const __m256 x = _mm256_set1_ps(p.x), y = _mm256_set1_ps(p.y), z = _mm256_set1_ps(p.z);
    const __m256 own = _mm256_set1_ps(p.w);
    const __m256 two = _mm256_set1_ps(2.0f), one = _mm256_set1_ps(1.0f);
    __m256 lightest = own;
    for (uint k = 0; k < count; k += 8) {
        const vec4x8 other = load_vec4x8(view->predicted, list + k);
        const __m256 squared = dot_x8(_mm256_sub_ps(x, other.x), _mm256_sub_ps(y, other.y), _mm256_sub_ps(z, other.z));
        const __m256 near = _mm256_fnmadd_ps(squared, _mm256_set1_ps(scale), two);
        const __m256 share = _mm256_min_ps(_mm256_max_ps(near, _mm256_setzero_ps()), one);
        lightest = _mm256_max_ps(lightest, _mm256_fmadd_ps(share, _mm256_sub_ps(other.w, own), own));
    }
    __m128 most = _mm_max_ps(_mm256_castps256_ps128(lightest), _mm256_extractf128_ps(lightest, 1));
    most = _mm_max_ps(most, _mm_movehl_ps(most, most));
    return _mm_cvtss_f32(_mm_max_ss(most, _mm_shuffle_ps(most, most, 1)));
}

// True if some lambda is not zero.
static bool lambda_range(const SolverData *view, uint begin, uint end)
{
    const float gradient_scale = view->gradient_scale * view->gradient_scale;
    const bool with_gradients = view->unilateral == 0u && view->iteration == 0u;
    bool pressed = false;
    for (uint i = begin; i < end; i++) {
        const vec4 p = view->predicted[i];
        const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
        const uint count = view->neighbour_counts[i];
        float density, lightest = p.w;
        if (masses_mix(view) && view->iteration == 0u) {
            lightest = lightest_of(view, p, list, count);
            view->lambda_scales[i] = lightest > 0.0f ? view->rest_lambda / lightest : 0.0f;
        }
        if (with_gradients) {
            const DensityAndGradients sums = density_and_gradients(view, i, list, count);
            const float denominator = sums.gradients * gradient_scale + view->relaxation * lightest;
            view->lambda_scales[i] = denominator > 0.0f ? 1.0f / denominator : 0.0f;
            density = sums.density * view->density_scale;
        } else {
            density =
                density_sum(view->predicted, p, list, count, view->smoothing_radius_squared) * view->density_scale;
        }
        const uint phase = view->phases[i];
        const bool fluid = has_density(phase);
        const float error = density_error(density, view->velocities[i].w, tension_of(view, phase), view->tension_scale);
        const float compliance = has_lambda_scales(view) ? view->lambda_scales[i] : view->rest_lambda / p.w;
        const float lambda = fluid ? -error * compliance : 0.0f;
        pressed |= lambda != 0.0f;
        view->densities[i] = density;
        const __m128 at = _mm_load_ps(&view->predicted[i].x);
        _mm_store_ps(&view->position_estimates[i].x, with_w(at, _mm_set1_ps(lambda)));
    }
    return pressed;
}

// Solids that weigh less than liquid in its density (UPP eq. 27) need every neighbour's phase: portable kernels do
// that.
void avx2_density_lambda(const SolverData *view, uint begin, uint end)
{
    if (solids_weighted(view)) {
        cpu_kernels[KERNEL_ID_density_lambda](view, begin, end);
        return;
    }
    if (!idle_possible(view)) {
        lambda_range(view, begin, end);
        return;
    }
    for (uint from = begin; from < end; from += IDLE_CHUNK) {
        const uint to = from + IDLE_CHUNK < end ? from + IDLE_CHUNK : end;
        if (view->iteration == 0u || !idle_around(view, NOTE_MOVED, from, to)) {
            idle_set(view, NOTE_PRESSED, from, lambda_range(view, from, to));
        }
    }
}

void avx2_measure_density(const SolverData *view, uint begin, uint end)
{
    if (solids_weighted(view)) {
        cpu_kernels[KERNEL_ID_measure_density](view, begin, end);
        return;
    }
    for (uint i = begin; i < end; i++) {
        const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
        view->densities[i] =
            view->density_scale * density_sum(view->predicted, view->predicted[i], list, view->neighbour_counts[i],
                                              view->smoothing_radius_squared);
    }
}

// mean_pressure of a liquid particle with eight others, negative.
static inline __m256 mean_pressures(const SolverData *view, float own, const uint *list)
{
    float means[8];
    for (int lane = 0; lane < 8; lane++) {
        means[lane] = -mean_pressure(view, own, false, view->phases[list[lane]]);
    }
    return _mm256_loadu_ps(means);
}

// PBF eq. 14 for particle i, a liquid one, without the scale. The power of the artificial pressure is known where this
// is inlined, for the usual ones: 0 is none. `mixed`: masses are, `differ`: liquids do.
static inline __attribute__((always_inline)) __m128 delta_sum(const SolverData *view, Pressure pressure, uint i,
                                                              uint pressure_power, bool mixed, bool differ)
{
    const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
    const uint count = view->neighbour_counts[i];
    const vec4 p = view->position_estimates[i];
    const float own = own_pressure(view, view->phases[i]);
    const __m256 x = _mm256_set1_ps(p.x), y = _mm256_set1_ps(p.y), z = _mm256_set1_ps(p.z);
    const __m256 h = _mm256_set1_ps(view->smoothing_radius), own_lambda = _mm256_set1_ps(p.w);
    __m256 sum_x = _mm256_setzero_ps(), sum_y = _mm256_setzero_ps(), sum_z = _mm256_setzero_ps();
    for (uint k = 0; k < count; k += 8) {
        const vec4x8 other = load_vec4x8(view->position_estimates, list + k);
        const __m256 dx = _mm256_sub_ps(x, other.x), dy = _mm256_sub_ps(y, other.y), dz = _mm256_sub_ps(z, other.z);
        const __m256 squared = positive_dot_x8(dx, dy, dz);
        const __m256 distance = _mm256_sqrt_ps(squared);
        const __m256 inside = inside_x8(distance, h);
        __m256 lambda = _mm256_add_ps(own_lambda, other.w);
        if (pressure_power > 0) {
            const __m256 power = repulsion_x8(pressure, squared, pressure_power);
            __m256 scale = differ ? mean_pressures(view, own, list + k) : _mm256_set1_ps(-own);
            if (mixed) { // pair_pressure; of two that are pinned it does not matter
                const __m256 lightest =
                    _mm256_max_ps(load_w(view->positions, list + k), _mm256_set1_ps(view->predicted[i].w));
                scale = _mm256_div_ps(scale, _mm256_max_ps(lightest, _mm256_set1_ps(1e-30f)));
            }
            lambda = _mm256_fmadd_ps(scale, power, lambda);
        }
        const __m256 factor = _mm256_div_ps(_mm256_mul_ps(lambda, _mm256_mul_ps(inside, inside)), distance);
        sum_x = _mm256_fmadd_ps(dx, factor, sum_x);
        sum_y = _mm256_fmadd_ps(dy, factor, sum_y);
        sum_z = _mm256_fmadd_ps(dz, factor, sum_z);
    }
    return sum_four(sum_x, sum_y, sum_z, sum_z);
}

// True if some particle was moved.
static inline __attribute__((always_inline)) bool delta_range(const SolverData *view, uint begin, uint end,
                                                              uint pressure_power, bool mixed, bool differ)
{
    const __m128 scale =
        _mm_mul_ps(_mm_set1_ps(view->gradient_scale * view->over_relaxation), load_vec3(view->motion_mask));
    const __m128 longest = _mm_set_ss(view->max_correction * view->max_correction);
    const Pressure pressure = make_pressure(view);
    __m128 moves = _mm_setzero_ps(); // lanes that are not zero
    for (uint i = begin; i < end; i++) {
        if (!has_density(view->phases[i])) {
            density_delta(view, i); // looks at phases
            continue;
        }
        const __m128 p = _mm_load_ps(&view->predicted[i].x);
        __m128 delta = delta_sum(view, pressure, i, pressure_power, mixed, differ);
        delta = _mm_mul_ps(delta, _mm_mul_ps(scale, broadcast_w(p)));
        if (view->averaging != 0u) {
            delta = _mm_div_ps(delta, _mm_set1_ps((float)(view->neighbour_counts[i] + 1u)));
        }
        const __m128 squared = squared_length_xyz(delta);
        if (_mm_comigt_ss(squared, longest)) {
            delta = _mm_mul_ps(delta, _mm_set1_ps(view->max_correction / sqrtf(_mm_cvtss_f32(squared))));
        }
        moves = _mm_or_ps(moves, _mm_cmpneq_ps(delta, _mm_setzero_ps()));
        _mm_store_ps(&view->predicted[i].x, with_w(_mm_add_ps(p, delta), p));
    }
    return (_mm_movemask_ps(moves) & 7) != 0;
}

void avx2_density_delta(const SolverData *view, uint begin, uint end)
{
    if (solids_weighted(view)) {
        cpu_kernels[KERNEL_ID_density_delta](view, begin, end);
        return;
    }
    if (idle_possible(view)) {
        for (uint from = begin; from < end; from += IDLE_CHUNK) {
            const uint to = from + IDLE_CHUNK < end ? from + IDLE_CHUNK : end;
            const bool moved =
                !idle_around(view, NOTE_PRESSED, from, to) && delta_range(view, from, to, 0, false, false);
            idle_set(view, NOTE_MOVED, from, moved);
        }
    } else if (view->has_pressure == 0u) {
        delta_range(view, begin, end, 0, false, false);
    } else if (liquids_differ(view)) {
        delta_range(view, begin, end, view->pressure_power, masses_mix(view), true);
    } else if (masses_mix(view)) {
        delta_range(view, begin, end, view->pressure_power, true, false);
    } else if (view->pressure_power == 4) { // PBF's choice
        delta_range(view, begin, end, 4, false, false);
    } else {
        delta_range(view, begin, end, view->pressure_power, false, false);
    }
}
#else
typedef int avx2_density_needs_x86_64;
#endif
