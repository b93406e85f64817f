// SPDX-License-Identifier: MIT
// avx2_boundary.c - AVX2 forms of add_boundary_density and add_boundary_pressure. Few particles are at a wall: eight at
// a time are tested, and only those near one look for walls. Sums over images are made eight neighbours at a time.
#if defined(__x86_64__)
#include "cpu/avx2_colliders.h"
#include "cpu/avx2_idle.h"
#include "cpu/avx2_kernels.h"
#include "cpu/avx2_pressure.h"

// Offsets from images of neighbours to a particle, of the neighbours' positions: a matrix and what is added. For walls
// across the axes, as most are, only the diagonal is not 0.
typedef struct ImageMap {
    vec3 x, y, z; // columns
    vec3 add;
    bool diagonal;
} ImageMap;

static inline vec3 image_column(Walls walls, uint image, vec3 axis, vec3 own)
{
    return v3_sub(own, image_offset(walls, image, axis)); // a neighbour's offset is p minus its position
}

static inline ImageMap make_map(Walls walls, uint image, vec4 p)
{
    const vec3 own = image_offset(walls, image, v3(0.0f, 0.0f, 0.0f));
    const vec3 x = image_column(walls, image, v3(1.0f, 0.0f, 0.0f), own);
    const vec3 y = image_column(walls, image, v3(0.0f, 1.0f, 0.0f), own);
    const vec3 z = image_column(walls, image, v3(0.0f, 0.0f, 1.0f), own);
    return (ImageMap){x, y, z, image_offset(walls, image, v3(p.x, p.y, p.z)), false};
}

// The same of an image behind a single wall across the axis with this number, to which the particle has this distance;
// `side` is 1 where the particle is on the wall's upper side, else -1.
static inline ImageMap make_axis_map(int axis, float side, float distance, vec4 p)
{
    const float shift = 2.0f * side * distance;
    const vec3 add = {axis == 0 ? shift - p.x : p.x, axis == 1 ? shift - p.y : p.y, axis == 2 ? shift - p.z : p.z};
    const vec3 signs = {axis == 0 ? 1.0f : -1.0f, axis == 1 ? 1.0f : -1.0f, axis == 2 ? 1.0f : -1.0f};
    return (ImageMap){v3(signs.x, 0.0f, 0.0f), v3(0.0f, signs.y, 0.0f), v3(0.0f, 0.0f, signs.z), add, true};
}

static inline __m256 map_row(float x, float y, float z, float add, vec4x8 at)
{
    const __m256 sum = _mm256_fmadd_ps(_mm256_set1_ps(x), at.x, _mm256_set1_ps(add));
    return _mm256_fmadd_ps(_mm256_set1_ps(z), at.z, _mm256_fmadd_ps(_mm256_set1_ps(y), at.y, sum));
}

// Offsets from the images of eight neighbours; w is the neighbours' own.
static inline __attribute__((always_inline)) vec4x8 image_offsets(const ImageMap *map, bool diagonal,
                                                                  const vec4 *points, const uint *list)
{
    const vec4x8 other = load_vec4x8(points, list);
    if (diagonal) {
        return (vec4x8){_mm256_fmadd_ps(_mm256_set1_ps(map->x.x), other.x, _mm256_set1_ps(map->add.x)),
                        _mm256_fmadd_ps(_mm256_set1_ps(map->y.y), other.y, _mm256_set1_ps(map->add.y)),
                        _mm256_fmadd_ps(_mm256_set1_ps(map->z.z), other.z, _mm256_set1_ps(map->add.z)), other.w};
    }
    return (vec4x8){map_row(map->x.x, map->y.x, map->z.x, map->add.x, other),
                    map_row(map->x.y, map->y.y, map->z.y, map->add.y, other),
                    map_row(map->x.z, map->y.z, map->z.z, map->add.z, other), other.w};
}

// The offset from the particle's own image.
static inline vec3 own_offset(const ImageMap *map, vec4 p)
{
    return v3(map->x.x * p.x + map->y.x * p.y + map->z.x * p.z + map->add.x,
              map->x.y * p.x + map->y.y * p.y + map->z.y * p.z + map->add.y,
              map->x.z * p.x + map->y.z * p.y + map->z.z * p.z + map->add.z);
}

// Lists are padded with the particle itself, whose own image counts once.
static inline float own_images(uint count)
{
    return 1.0f - (float)((0u - count) & 7u);
}

// Sum of Poly6 over images, without the norm.
static inline __attribute__((always_inline)) float image_density_sum(const SolverData *view, uint i,
                                                                     const ImageMap *map, bool diagonal)
{
    const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
    const uint count = view->neighbour_counts[i];
    const __m256 h2 = _mm256_set1_ps(view->smoothing_radius_squared);
    const vec3 own = own_offset(map, view->predicted[i]);
    __m256 sum = _mm256_setzero_ps();
    for (uint k = 0; k < count; k += 8) {
        const vec4x8 offset = image_offsets(map, diagonal, view->predicted, list + k);
        sum = add_poly6_x8(sum, dot_x8(offset.x, offset.y, offset.z), h2);
    }
    return sum_x8(sum) + own_images(count) * poly6(v3_dot(own, own), view->smoothing_radius_squared);
}

static float image_density_of(const SolverData *view, uint i, const ImageMap *map)
{
    return map->diagonal ? image_density_sum(view, i, map, true) : image_density_sum(view, i, map, false);
}

// image_corrections without the common factors. The power of the artificial pressure is known where this is inlined.
static inline __attribute__((always_inline)) vec3 correction_sum(const SolverData *view, uint i, const ImageMap *map,
                                                                 bool diagonal, Pressure pressure, uint power)
{
    const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
    const uint count = view->neighbour_counts[i];
    const vec4 p = view->position_estimates[i];
    const float pressure_of_own = own_pressure(view, view->phases[i]);
    const bool mixed = masses_mix(view);
    const __m256 h = _mm256_set1_ps(view->smoothing_radius);
    __m256 sum_x = _mm256_setzero_ps(), sum_y = _mm256_setzero_ps(), sum_z = _mm256_setzero_ps();
    for (uint k = 0; k < count; k += 8) {
        const vec4x8 offset = image_offsets(map, diagonal, view->position_estimates, list + k);
        const __m256 squared = positive_dot_x8(offset.x, offset.y, offset.z);
        const __m256 distance = _mm256_sqrt_ps(squared);
        const __m256 inside = inside_x8(distance, h);
        __m256 lambda = _mm256_min_ps(_mm256_add_ps(_mm256_set1_ps(p.w), offset.w), _mm256_setzero_ps());
        if (power > 0) {
            __m256 scale = _mm256_set1_ps(pressure_of_own);
            if (mixed) { // pair_pressure; of two that are pinned it does not matter
                const __m256 lightest =
                    _mm256_max_ps(load_w(view->positions, list + k), _mm256_set1_ps(view->predicted[i].w));
                scale = _mm256_div_ps(scale, _mm256_max_ps(lightest, _mm256_set1_ps(1e-30f)));
            }
            lambda = _mm256_fnmadd_ps(scale, repulsion_x8(pressure, squared, power), lambda);
        }
        const __m256 factor = _mm256_div_ps(_mm256_mul_ps(lambda, _mm256_mul_ps(inside, inside)), distance);
        sum_x = _mm256_fmadd_ps(offset.x, factor, sum_x);
        sum_y = _mm256_fmadd_ps(offset.y, factor, sum_y);
        sum_z = _mm256_fmadd_ps(offset.z, factor, sum_z);
    }
    const vec4 sum = vec4_from(sum_four(sum_x, sum_y, sum_z, sum_z));
    const float between = pair_pressure(view, pressure_of_own, view->predicted[i].w, false, i);
    const vec3 self = image_term(view, own_offset(map, p), 2.0f * p.w, between);
    return v3_add_scaled(v3(sum.x, sum.y, sum.z), self, own_images(count));
}

static vec3 correction_of(const SolverData *view, uint i, const ImageMap *map, Pressure pressure)
{
    const uint power = view->has_pressure != 0u ? view->pressure_power : 0u;
    if (!map->diagonal) {
        return correction_sum(view, i, map, false, pressure, power);
    }
    return power == 4   ? correction_sum(view, i, map, true, pressure, 4)
           : power == 0 ? correction_sum(view, i, map, true, pressure, 0)
                        : correction_sum(view, i, map, true, pressure, power);
}

// ---- Particles at walls ----

// The wall of a particle that has a single one, across an axis: the number of the axis, or -1 if it is not so.
typedef struct AxisWall {
    int axis;
    float side, distance;
} AxisWall;

// The tank that all of a world's liquid is in, or NULL.
static const Collider *only_tank(const SolverData *view)
{
    const Collider *collider = &view->colliders[0];
    const vec4 q = collider->rotation;
    const bool upright = q.x == 0.0f && q.y == 0.0f && q.z == 0.0f && q.w == 1.0f && view->motion_mask.z > 0.0f;
    return view->collider_count == 1u && collider->kind == COLLIDER_BOX && collider->inside_out != 0u && upright
               ? collider
               : NULL;
}

static inline AxisWall find_axis_wall(const SolverData *view, const Collider *tank, vec4 p)
{
    const float at[3] = {p.x - tank->position.x, p.y - tank->position.y, p.z - tank->position.z};
    const float half[3] = {tank->half_size.x, tank->half_size.y, tank->half_size.z};
    AxisWall wall = {-1, 0.0f, 0.0f};
    int walls = 0;
    for (int axis = 0; axis < 3; axis++) {
        const float room = half[axis] - view->margin, gap = room - fabsf(at[axis]);
        if (gap < view->boundary_reach) {
            walls += room < view->boundary_reach ? 2 : 1; // the opposite one, too
            wall = (AxisWall){axis, at[axis] > 0.0f ? -1.0f : 1.0f, gap + 0.5f * view->spacing};
        }
    }
    wall.axis = walls == 1 ? wall.axis : -1;
    return wall;
}

static float image_densities(const SolverData *view, const Collider *tank, uint i)
{
    const vec4 p = view->predicted[i];
    const AxisWall wall = tank != NULL ? find_axis_wall(view, tank, p) : (AxisWall){-1, 0.0f, 0.0f};
    if (wall.axis >= 0) {
        const ImageMap map = make_axis_map(wall.axis, wall.side, wall.distance, p);
        return image_density_of(view, i, &map);
    }
    const Walls walls = walls_around(view, v3(p.x, p.y, p.z));
    float sum = 0.0f;
    for (uint image = 1u; image < IMAGES && is_wall(walls.a); image++) {
        if (has_image(walls, image)) {
            const ImageMap map = make_map(walls, image, p);
            sum += image_weight(walls, image) * image_density_of(view, i, &map);
        }
    }
    return sum;
}

static void add_density(const SolverData *view, const Collider *tank, uint i)
{
    const float sum = image_densities(view, tank, i);
    if (sum > 0.0f) {
        store_boundary_density(view, i, view->densities[i] + view->boundary_weight * view->density_scale * sum);
    }
}

static void add_pressure(const SolverData *view, const Collider *tank, uint i, Pressure pressure)
{
    const vec4 particle = view->predicted[i], at = view->position_estimates[i];
    const AxisWall wall = tank != NULL ? find_axis_wall(view, tank, at) : (AxisWall){-1, 0.0f, 0.0f};
    vec3 p = v3(particle.x, particle.y, particle.z);
    if (particle.w <= 0.0f) {
        return;
    }
    if (wall.axis >= 0) {
        const ImageMap map = make_axis_map(wall.axis, wall.side, wall.distance, at);
        const vec3 correction = limit_image_correction(view, i, correction_of(view, i, &map, pressure), particle.w);
        p = push_off_wall(view, i, 0u, p, correction, particle.w);
    } else {
        const Walls walls = walls_around(view, v3(at.x, at.y, at.z));
        for (uint image = 1u; image < IMAGES && is_wall(walls.a); image++) {
            if (has_image(walls, image)) {
                const ImageMap map = make_map(walls, image, at);
                const vec3 sum = v3_scale(correction_of(view, i, &map, pressure), image_weight(walls, image));
                const vec3 correction = limit_image_correction(view, i, sum, particle.w);
                p = push_off_wall(view, i, image_collider(walls, image), p, correction, particle.w);
            }
        }
    }
    view->predicted[i] = v4_from_v3(p, particle.w);
}

// Which of eight particles may be within reach of a wall.
static inline int near_walls(const SolverData *view, vec4x8 p)
{
    const float reach = view->boundary_reach + view->margin;
    __m256 marks = _mm256_setzero_ps();
    for (uint s = 0; s < view->collider_count; s++) {
        const Collider *collider = &view->colliders[s];
        const __m256 near = _mm256_add_ps(_mm256_set1_ps(1.001f * reach), rounding(p, collider->position));
        marks = _mm256_or_ps(marks, may_touch(collider, collider->rotation, collider->position, p, near));
    }
    return _mm256_movemask_ps(marks);
}

// Whether all neighbours of a particle are of its own liquid: the AVX2 loops handle nothing else. The result is the
// same to the bit in a world that has other things elsewhere.
static inline bool is_plain(const SolverData *view, uint i)
{
    if (view->has_solids == 0u && !liquids_differ(view)) {
        return true;
    }
    const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
    const uint phase = view->phases[i];
    bool plain = has_density(phase);
    for (uint k = 0; k < view->neighbour_counts[i] && plain; k++) {
        plain = view->phases[list[k]] == phase;
    }
    return plain;
}

// Whether a chunk is as the last iteration left it, or has nothing to do: see avx2_idle.h.
static bool is_idle(const SolverData *view, IdleNote note, uint begin, uint end)
{
    return idle_possible(view) && idle_around(view, note, begin, end);
}

void avx2_add_boundary_density(const SolverData *view, uint begin, uint end)
{
    RangeFunction *const kernel = cpu_kernels[KERNEL_ID_add_boundary_density];
    const Collider *tank = only_tank(view);
    uint i = begin;
    for (; i + 8 <= end; i += 8) {
        int marks = near_walls(view, load_consecutive(view->predicted + i));
        if (marks == 0) {
            continue;
        }
        const uint chunk = i - i % IDLE_CHUNK, chunk_end = chunk + IDLE_CHUNK < end ? chunk + IDLE_CHUNK : end;
        if (view->measuring == 0u && view->iteration != 0u && is_idle(view, NOTE_MOVED, chunk, chunk_end)) {
            continue; // density_lambda has left it out, too
        }
        for (; marks != 0; marks &= marks - 1) {
            const uint at_wall = i + (uint)__builtin_ctz((uint)marks);
            if (is_plain(view, at_wall)) {
                add_density(view, tank, at_wall);
            } else {
                kernel(view, at_wall, at_wall + 1u);
            }
        }
        if (view->measuring == 0u && idle_possible(view)) {
            idle_set(view, NOTE_PRESSED, i, true);
        }
    }
    kernel(view, i, end);
    if (i < end && view->measuring == 0u && idle_possible(view)) {
        idle_set(view, NOTE_PRESSED, i, true);
    }
}

void avx2_add_boundary_pressure(const SolverData *view, uint begin, uint end)
{
    RangeFunction *const kernel = cpu_kernels[KERNEL_ID_add_boundary_pressure];
    if (view->dynamic_count > 0) { // every particle begins with no impulses
        kernel(view, begin, end);
        return;
    }
    const Pressure pressure = make_pressure(view);
    const Collider *tank = only_tank(view);
    uint i = begin;
    for (; i + 8 <= end; i += 8) {
        int marks = near_walls(view, load_consecutive(view->position_estimates + i));
        if (marks == 0) {
            continue;
        }
        const uint chunk = i - i % IDLE_CHUNK, chunk_end = chunk + IDLE_CHUNK < end ? chunk + IDLE_CHUNK : end;
        if (is_idle(view, NOTE_PRESSED, chunk, chunk_end)) {
            continue;
        }
        for (; marks != 0; marks &= marks - 1) {
            const uint at_wall = i + (uint)__builtin_ctz((uint)marks);
            if (is_plain(view, at_wall)) {
                add_pressure(view, tank, at_wall, pressure);
            } else {
                kernel(view, at_wall, at_wall + 1u);
            }
        }
        if (idle_possible(view)) {
            idle_set(view, NOTE_MOVED, i, true);
        }
    }
    kernel(view, i, end);
    if (i < end && idle_possible(view)) {
        idle_set(view, NOTE_MOVED, i, true);
    }
}
#else
typedef int avx2_boundary_needs_x86_64;
#endif
