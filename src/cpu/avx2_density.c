// SPDX-License-Identifier: MIT
// avx2_density.c - AVX2 forms of density_lambda, density_delta and measure_density, and with them of
// add_boundary_density and add_boundary_pressure (avx2_boundary.h).
#if defined(__x86_64__)
#include "cpu/avx2_boundary.h"
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

typedef struct DensitySums {
    float density;   // Poly6, without the norm
    float gradients; // the denominator of PBF eq. 11, without norm and epsilon
    float images;    // what images behind walls add to the density, over rest density
} DensitySums;

// The density of images, from the sums of Poly6 that the loop over a padded list has made.
static inline float mirror_density(const SolverData *view, const Mirror *mirror, __m256 images, uint count)
{
    const vec3 own = own_image(mirror);
    const float sum = sum_x8(images) + own_images(count) * poly6(v3_dot(own, own), view->smoothing_radius_squared);
    return view->boundary_weight * view->density_scale * sum;
}

// Sums over a padded list and the particle itself. Without a wall, `mirror` is NULL, and known to be where this is
// inlined.
static inline __attribute__((always_inline)) DensitySums density_sums(const SolverData *view, vec4 p, const uint *list,
                                                                      uint count, const Mirror *mirror)
{
    const __m256 x = _mm256_set1_ps(p.x), y = _mm256_set1_ps(p.y), z = _mm256_set1_ps(p.z);
    const __m256 h2 = _mm256_set1_ps(view->smoothing_radius_squared);
    __m256 density = _mm256_setzero_ps(), images = _mm256_setzero_ps();
    for (uint k = 0; k < count; k += 8) {
        const vec4x8 other = load_vec4x8(view->predicted, list + k);
        const __m256 dx = _mm256_sub_ps(x, other.x), dy = _mm256_sub_ps(y, other.y), dz = _mm256_sub_ps(z, other.z);
        const __m256 squared = dot_x8(dx, dy, dz);
        density = add_poly6_x8(density, squared, h2);
        if (mirror != NULL) {
            images = add_poly6_x8(images, mirrored_x8(mirror, dx, dy, dz, squared), h2);
        }
    }
    return (DensitySums){sum_x8(density) + own_share(count, view->smoothing_radius_squared), 0.0f,
                         mirror != NULL ? mirror_density(view, mirror, images, count) : 0.0f};
}

static inline __attribute__((always_inline)) DensitySums
density_and_gradients(const SolverData *view, vec4 p, const uint *list, uint count, const Mirror *mirror)
{
    const __m256 x = _mm256_set1_ps(p.x), y = _mm256_set1_ps(p.y), z = _mm256_set1_ps(p.z);
    const __m256 h = _mm256_set1_ps(view->smoothing_radius), h2 = _mm256_set1_ps(view->smoothing_radius_squared);
    __m256 density = _mm256_setzero_ps(), others = _mm256_setzero_ps(), images = _mm256_setzero_ps();
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
        if (mirror != NULL) {
            images = add_poly6_x8(images, mirrored_x8(mirror, dx, dy, dz, squared), h2);
        }
    }
    const vec4 sums = vec4_from(sum_four(own_x, own_y, own_z, others));
    const float own = sums.x * sums.x + sums.y * sums.y + sums.z * sums.z;
    return (DensitySums){sum_x8(density) + own_share(count, view->smoothing_radius_squared), sums.w + p.w * own,
                         mirror != NULL ? mirror_density(view, mirror, images, count) : 0.0f};
}

// The sums of a particle, with those of images if it is at walls.
static inline __attribute__((always_inline)) DensitySums sums_of(const SolverData *view, uint i, bool with_gradients,
                                                                 const Mirror *mirror)
{
    const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
    const uint count = view->neighbour_counts[i];
    return with_gradients ? density_and_gradients(view, view->predicted[i], list, count, mirror)
                          : density_sums(view, view->predicted[i], list, count, mirror);
}

static DensitySums sums_at_walls(const SolverData *view, const Collider *tank, uint i, bool with_gradients)
{
    Walls walls;
    if (!has_density(view->phases[i]) || !find_walls(view, tank, view->predicted[i], &walls)) {
        return sums_of(view, i, with_gradients, NULL);
    }
    if (has_one_mirror(view, i, &walls)) {
        const Mirror mirror = make_mirror(walls.a);
        return sums_of(view, i, with_gradients, &mirror);
    }
    DensitySums sums = sums_of(view, i, with_gradients, NULL);
    sums.images = avx2_image_density(view, i, &walls);
    return sums;
}

// Calls a function for each particle of a range, of eight first for those that are far from walls. Most eights have no
// others: a counted loop is predicted better than one over the bits that are left.
#define FOR_EACH_BY_WALLS(points, fuses, away, at_walls)                                                               \
    for (uint first = begin; first < end; first += 8u) {                                                               \
        const uint last = first + 8u < end ? first + 8u : end;                                                         \
        const uint near = (fuses) ? avx2_near_walls(view, points, first, end) : 0u;                                    \
        for (uint i = first; i < last; i++) {                                                                          \
            if ((near >> (i - first) & 1u) == 0u) {                                                                    \
                away;                                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        for (uint left = near; left != 0u; left &= left - 1u) {                                                        \
            const uint i = first + (uint)__builtin_ctz(left);                                                          \
            at_walls;                                                                                                  \
        }                                                                                                              \
    }

// ---- Lambda ------------------------------------------------------------------------------------------------

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

// Stores density and lambda of a particle; true if lambda is not zero.
static inline __attribute__((always_inline)) bool store_lambda(const SolverData *view, uint i, bool with_gradients,
                                                               DensitySums sums)
{
    const vec4 p = view->predicted[i];
    float lightest = p.w;
    if (masses_mix(view) && view->iteration == 0u) {
        const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
        lightest = lightest_of(view, p, list, view->neighbour_counts[i]);
        view->lambda_scales[i] = lightest > 0.0f ? view->rest_lambda / lightest : 0.0f;
    }
    if (with_gradients) {
        const float gradient_scale = view->gradient_scale * view->gradient_scale;
        const float denominator = sums.gradients * gradient_scale + view->relaxation * lightest;
        view->lambda_scales[i] = denominator > 0.0f ? 1.0f / denominator : 0.0f;
    }
    const float density = sums.density * view->density_scale + sums.images;
    const uint phase = view->phases[i];
    const float error = density_error(density, view->velocities[i].w, tension_of(view, phase), view->tension_scale);
    const float compliance = has_lambda_scales(view) ? view->lambda_scales[i] : view->rest_lambda / p.w;
    const float lambda = has_density(phase) ? -error * compliance : 0.0f;
    view->densities[i] = density;
    const __m128 at = _mm_load_ps(&view->predicted[i].x);
    _mm_store_ps(&view->position_estimates[i].x, with_w(at, _mm_set1_ps(lambda)));
    return lambda != 0.0f;
}

// True if some lambda is not zero.
static bool lambda_range(const SolverData *view, uint begin, uint end)
{
    const bool with_gradients = view->unilateral == 0u && view->iteration == 0u;
    const bool fuses = fuses_boundary_density(view);
    const Collider *tank = fuses ? avx2_only_tank(view) : NULL;
    bool pressed = false;
    FOR_EACH_BY_WALLS(view->predicted, fuses,
                      pressed |= store_lambda(view, i, with_gradients, sums_of(view, i, with_gradients, NULL)),
                      pressed |= store_lambda(view, i, with_gradients, sums_at_walls(view, tank, i, with_gradients)))
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

static inline void store_density(const SolverData *view, uint i, DensitySums sums)
{
    view->densities[i] = sums.density * view->density_scale + sums.images;
}

void avx2_measure_density(const SolverData *view, uint begin, uint end)
{
    if (solids_weighted(view)) {
        cpu_kernels[KERNEL_ID_measure_density](view, begin, end);
        return;
    }
    const bool fuses = fuses_boundary_density(view);
    const Collider *tank = fuses ? avx2_only_tank(view) : NULL;
    FOR_EACH_BY_WALLS(view->predicted, fuses, store_density(view, i, sums_of(view, i, false, NULL)),
                      store_density(view, i, sums_at_walls(view, tank, i, false)))
}

// density_lambda and measure_density have done it, unless they were the portable ones.
void avx2_add_boundary_density(const SolverData *view, uint begin, uint end)
{
    if (!fuses_boundary_density(view)) {
        cpu_kernels[KERNEL_ID_add_boundary_density](view, begin, end);
    }
}

// ---- Delta -------------------------------------------------------------------------------------------------

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
// is inlined, for the usual ones: 0 is none. `mixed`: masses are, `differ`: liquids do. At a single wall, images get
// what factors and offsets sum up to; else `mirror` is NULL.
static inline __attribute__((always_inline)) __m128 delta_sum(const SolverData *view, Pressure pressure, uint i,
                                                              uint pressure_power, bool mixed, bool differ,
                                                              const Mirror *mirror, vec4 *images)
{
    const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
    const uint count = view->neighbour_counts[i];
    const vec4 p = view->position_estimates[i];
    const float own = own_pressure(view, view->phases[i]);
    const __m256 x = _mm256_set1_ps(p.x), y = _mm256_set1_ps(p.y), z = _mm256_set1_ps(p.z);
    const __m256 h = _mm256_set1_ps(view->smoothing_radius), own_lambda = _mm256_set1_ps(p.w);
    __m256 sum_x = _mm256_setzero_ps(), sum_y = _mm256_setzero_ps(), sum_z = _mm256_setzero_ps();
    vec4x8 behind = {sum_x, sum_x, sum_x, sum_x};
    for (uint k = 0; k < count; k += 8) {
        const vec4x8 other = load_vec4x8(view->position_estimates, list + k);
        const __m256 dx = _mm256_sub_ps(x, other.x), dy = _mm256_sub_ps(y, other.y), dz = _mm256_sub_ps(z, other.z);
        const __m256 squared = positive_dot_x8(dx, dy, dz);
        const __m256 distance = _mm256_sqrt_ps(squared);
        const __m256 inside = inside_x8(distance, h);
        __m256 lambda = _mm256_add_ps(own_lambda, other.w);
        const __m256 push = _mm256_min_ps(lambda, _mm256_setzero_ps()); // walls do not pull
        if (pressure_power > 0) {
            __m256 scale = differ ? mean_pressures(view, own, list + k) : _mm256_set1_ps(-own);
            if (mixed) { // pair_pressure; of two that are pinned it does not matter
                const __m256 lightest =
                    _mm256_max_ps(load_w(view->positions, list + k), _mm256_set1_ps(view->predicted[i].w));
                scale = _mm256_div_ps(scale, _mm256_max_ps(lightest, _mm256_set1_ps(1e-30f)));
            }
            lambda = _mm256_fmadd_ps(scale, repulsion_x8(pressure, squared, pressure_power), lambda);
        }
        __m256 factor = _mm256_mul_ps(lambda, _mm256_mul_ps(inside, inside));
        if (mirror != NULL) { // one division for both: dividers are busiest here
            const __m256 away = _mm256_sqrt_ps(mirrored_x8(mirror, dx, dy, dz, squared)), within = inside_x8(away, h);
            const __m256 inverse = _mm256_div_ps(_mm256_set1_ps(1.0f), _mm256_mul_ps(distance, away));
            const __m256 mirrored =
                _mm256_mul_ps(_mm256_mul_ps(push, _mm256_mul_ps(within, within)), _mm256_mul_ps(distance, inverse));
            factor = _mm256_mul_ps(factor, _mm256_mul_ps(away, inverse));
            behind = (vec4x8){_mm256_fmadd_ps(dx, mirrored, behind.x), _mm256_fmadd_ps(dy, mirrored, behind.y),
                              _mm256_fmadd_ps(dz, mirrored, behind.z), _mm256_add_ps(behind.w, mirrored)};
        } else {
            factor = _mm256_div_ps(factor, distance);
        }
        sum_x = _mm256_fmadd_ps(dx, factor, sum_x);
        sum_y = _mm256_fmadd_ps(dy, factor, sum_y);
        sum_z = _mm256_fmadd_ps(dz, factor, sum_z);
    }
    if (mirror != NULL) {
        *images = vec4_from(sum_four(behind.x, behind.y, behind.z, behind.w));
    }
    return sum_four(sum_x, sum_y, sum_z, sum_z);
}

// The correction of a particle by images behind a single wall, from the sums that delta_sum has made.
static vec3 mirror_correction(const SolverData *view, uint i, const Mirror *mirror, vec4 images, float inverse_mass)
{
    const vec3 offsets = v3(images.x, images.y, images.z);
    const float along = mirror->distance * images.w - v3_dot(mirror->normal, offsets);
    const vec3 self = image_term(view, own_image(mirror), 2.0f * view->position_estimates[i].w);
    const vec3 others = v3_add_scaled(offsets, mirror->normal, 2.0f * along);
    const vec3 sum = v3_add_scaled(others, self, own_images(view->neighbour_counts[i]));
    return limit_image_correction(view, i, sum, inverse_mass);
}

// The correction of a liquid particle by its neighbours, of its sum.
static inline __m128 limit_delta(const SolverData *view, uint i, __m128 delta, __m128 scale)
{
    delta = _mm_mul_ps(delta, scale);
    if (view->averaging != 0u) {
        delta = _mm_div_ps(delta, _mm_set1_ps((float)(view->neighbour_counts[i] + 1u)));
    }
    const __m128 squared = squared_length_xyz(delta);
    if (_mm_comigt_ss(squared, _mm_set_ss(view->max_correction * view->max_correction))) {
        delta = _mm_mul_ps(delta, _mm_set1_ps(view->max_correction / sqrtf(_mm_cvtss_f32(squared))));
    }
    return delta;
}

// The factors of a sum of corrections.
static inline __m128 delta_scale(const SolverData *view, __m128 particle)
{
    const __m128 factor =
        _mm_mul_ps(_mm_set1_ps(view->gradient_scale * view->over_relaxation), load_vec3(view->motion_mask));
    return _mm_mul_ps(factor, broadcast_w(particle));
}

// Where a liquid particle's neighbours move it.
static inline __attribute__((always_inline)) __m128 end_of_move(const SolverData *view, Pressure pressure, uint i,
                                                                uint pressure_power, bool mixed, bool differ,
                                                                const Mirror *mirror, vec4 *images)
{
    const __m128 p = _mm_load_ps(&view->predicted[i].x);
    const __m128 sum = delta_sum(view, pressure, i, pressure_power, mixed, differ, mirror, images);
    return with_w(_mm_add_ps(p, limit_delta(view, i, sum, delta_scale(view, p))), p);
}

// Where a liquid particle's neighbours and then images behind walls move it.
static inline __attribute__((always_inline)) __m128 end_at_walls(const SolverData *view, const Collider *tank,
                                                                 Pressure pressure, uint i, uint pressure_power,
                                                                 bool mixed, bool differ)
{
    const float inverse_mass = view->predicted[i].w;
    Walls walls;
    if (inverse_mass <= 0.0f || !find_walls(view, tank, view->position_estimates[i], &walls)) {
        return end_of_move(view, pressure, i, pressure_power, mixed, differ, NULL, NULL);
    }
    vec3 p;
    if (has_one_mirror(view, i, &walls)) {
        const Mirror mirror = make_mirror(walls.a);
        vec4 images;
        p = v3_from_v4(vec4_from(end_of_move(view, pressure, i, pressure_power, mixed, differ, &mirror, &images)));
        const vec3 correction = mirror_correction(view, i, &mirror, images, inverse_mass);
        p = push_off_wall(view, i, walls.a.collider, p, correction, inverse_mass);
    } else {
        p = v3_from_v4(vec4_from(end_of_move(view, pressure, i, pressure_power, mixed, differ, NULL, NULL)));
        p = avx2_image_pressure(view, i, &walls, p, inverse_mass);
    }
    return _mm_setr_ps(p.x, p.y, p.z, inverse_mass);
}

// Moves a particle; true if its position has changed.
static inline __attribute__((always_inline)) bool move_particle(const SolverData *view, const Collider *tank,
                                                                Pressure pressure, uint i, uint pressure_power,
                                                                bool mixed, bool differ, bool at_walls)
{
    if (!has_density(view->phases[i])) {
        density_delta(view, i); // looks at phases
        return true;
    }
    const __m128 p = _mm_load_ps(&view->predicted[i].x);
    const __m128 end = at_walls ? end_at_walls(view, tank, pressure, i, pressure_power, mixed, differ)
                                : end_of_move(view, pressure, i, pressure_power, mixed, differ, NULL, NULL);
    _mm_store_ps(&view->predicted[i].x, end);
    return _mm_movemask_ps(_mm_cmpneq_ps(end, p)) != 0;
}

// True if some particle was moved.
static inline __attribute__((always_inline)) bool delta_range(const SolverData *view, uint begin, uint end,
                                                              uint pressure_power, bool mixed, bool differ)
{
    const Pressure pressure = make_pressure(view);
    const bool fuses = fuses_boundary_pressure(view);
    const Collider *tank = fuses ? avx2_only_tank(view) : NULL;
    bool moved = false;
    FOR_EACH_BY_WALLS(view->position_estimates, fuses,
                      moved |= move_particle(view, tank, pressure, i, pressure_power, mixed, differ, false),
                      moved |= move_particle(view, tank, pressure, i, pressure_power, mixed, differ, true))
    return moved;
}

void avx2_density_delta(const SolverData *view, uint begin, uint end)
{
    if (solids_weighted(view) || view->isotropy > 0.0f) {
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

// density_delta has done it, unless it was the portable one.
void avx2_add_boundary_pressure(const SolverData *view, uint begin, uint end)
{
    if (!fuses_boundary_pressure(view)) {
        cpu_kernels[KERNEL_ID_add_boundary_pressure](view, begin, end);
    }
}
#else
typedef int avx2_density_needs_x86_64;
#endif
