// SPDX-License-Identifier: MIT
// avx2_boundary.c - where the walls around particles are, and sums over images behind several walls, eight neighbours
// at a time.
#if defined(__x86_64__)
#include "cpu/avx2_boundary.h"
#include "cpu/avx2_colliders.h"

// Offsets from images of neighbours to a particle, of the neighbours' positions: a matrix and what is added.
typedef struct ImageMap {
    vec3 x, y, z; // columns
    vec3 add;
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
    return (ImageMap){x, y, z, image_offset(walls, image, v3(p.x, p.y, p.z))};
}

static inline __m256 map_row(float x, float y, float z, float add, vec4x8 at)
{
    const __m256 sum = _mm256_fmadd_ps(_mm256_set1_ps(x), at.x, _mm256_set1_ps(add));
    return _mm256_fmadd_ps(_mm256_set1_ps(z), at.z, _mm256_fmadd_ps(_mm256_set1_ps(y), at.y, sum));
}

// Offsets from the images of eight neighbours; w is the neighbours' own.
static inline vec4x8 image_offsets(const ImageMap *map, vec4x8 other)
{
    return (vec4x8){map_row(map->x.x, map->y.x, map->z.x, map->add.x, other),
                    map_row(map->x.y, map->y.y, map->z.y, map->add.y, other),
                    map_row(map->x.z, map->y.z, map->z.z, map->add.z, other), other.w};
}

// Which of eight neighbours a wall mirrors: is_before.
static inline __m256 before_wall(Wall wall, vec4 p, vec4x8 other)
{
    const vec3 n = wall.normal;
    const float at_wall = v3_dot(n, v3(p.x, p.y, p.z)) - wall.distance;
    const __m256 along =
        _mm256_fmadd_ps(_mm256_set1_ps(n.x), other.x,
                        _mm256_fmadd_ps(_mm256_set1_ps(n.y), other.y, _mm256_mul_ps(_mm256_set1_ps(n.z), other.z)));
    return _mm256_cmp_ps(along, _mm256_set1_ps(at_wall), _CMP_GT_OQ);
}

// Which of eight neighbours have an image: is_mirrored.
static inline __m256 mirrored_mask(const Walls *walls, uint image, vec4 p, vec4x8 other)
{
    __m256 mask = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
    mask = (image & 1u) != 0u ? before_wall(walls->a, p, other) : mask;
    mask = (image & 2u) != 0u ? _mm256_and_ps(mask, before_wall(walls->b, p, other)) : mask;
    return (image & 4u) != 0u ? _mm256_and_ps(mask, before_wall(walls->c, p, other)) : mask;
}

// The offset from the particle's own image.
static inline vec3 own_offset(const ImageMap *map, vec4 p)
{
    return v3(map->x.x * p.x + map->y.x * p.y + map->z.x * p.z + map->add.x,
              map->x.y * p.x + map->y.y * p.y + map->z.y * p.z + map->add.y,
              map->x.z * p.x + map->y.z * p.y + map->z.z * p.z + map->add.z);
}

// How often the particle's own image is to be added to a sum over a padded list. What is behind a wall has no image as
// a neighbour, as padding is one, but always has its own.
static inline float own_share_of(const Walls *walls, uint image, uint count)
{
    return is_mirrored(*walls, image, v3(0.0f, 0.0f, 0.0f)) ? own_images(count) : 1.0f;
}

// image_density of a particle among its own liquid.
static float plain_image_density(const SolverData *view, uint i, Walls walls, uint image)
{
    const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
    const uint count = view->neighbour_counts[i];
    const __m256 h2 = _mm256_set1_ps(view->smoothing_radius_squared);
    const ImageMap map = make_map(walls, image, view->predicted[i]);
    const vec3 own = own_offset(&map, view->predicted[i]);
    __m256 sum = _mm256_setzero_ps();
    for (uint k = 0; k < count; k += 8) {
        const vec4x8 other = load_vec4x8(view->predicted, list + k), offset = image_offsets(&map, other);
        const __m256 share = add_poly6_x8(_mm256_setzero_ps(), dot_x8(offset.x, offset.y, offset.z), h2);
        sum = _mm256_add_ps(sum, _mm256_and_ps(share, mirrored_mask(&walls, image, view->predicted[i], other)));
    }
    const float all =
        sum_x8(sum) + own_share_of(&walls, image, count) * poly6(v3_dot(own, own), view->smoothing_radius_squared);
    return all * view->boundary_weight * image_weight(walls, image) * view->density_scale;
}

// image_corrections of a particle among its own liquid.
static vec3 plain_image_corrections(const SolverData *view, uint i, Walls walls, uint image, float inverse_mass)
{
    const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
    const uint count = view->neighbour_counts[i];
    const vec4 p = view->position_estimates[i];
    const ImageMap map = make_map(walls, image, p);
    const __m256 h = _mm256_set1_ps(view->smoothing_radius);
    __m256 sum_x = _mm256_setzero_ps(), sum_y = _mm256_setzero_ps(), sum_z = _mm256_setzero_ps();
    for (uint k = 0; k < count; k += 8) {
        const vec4x8 other = load_vec4x8(view->position_estimates, list + k), offset = image_offsets(&map, other);
        const __m256 squared = positive_dot_x8(offset.x, offset.y, offset.z);
        const __m256 distance = _mm256_sqrt_ps(squared);
        const __m256 inside = inside_x8(distance, h);
        const __m256 lambda = _mm256_min_ps(_mm256_add_ps(_mm256_set1_ps(p.w), offset.w), _mm256_setzero_ps());
        const __m256 all = _mm256_div_ps(_mm256_mul_ps(lambda, _mm256_mul_ps(inside, inside)), distance);
        const __m256 factor = _mm256_and_ps(all, mirrored_mask(&walls, image, p, other));
        sum_x = _mm256_fmadd_ps(offset.x, factor, sum_x);
        sum_y = _mm256_fmadd_ps(offset.y, factor, sum_y);
        sum_z = _mm256_fmadd_ps(offset.z, factor, sum_z);
    }
    const vec4 sum = vec4_from(sum_four(sum_x, sum_y, sum_z, sum_z));
    const vec3 self = image_term(view, own_offset(&map, p), 2.0f * p.w);
    const vec3 all = v3_add_scaled(v3(sum.x, sum.y, sum.z), self, own_share_of(&walls, image, count));
    return limit_image_correction(view, i, v3_scale(all, image_weight(walls, image)), inverse_mass);
}

bool avx2_neighbours_are_alike(const SolverData *view, uint i)
{
    const uint *list = view->neighbours + (size_t)view->neighbour_starts[i] * NEIGHBOUR_BLOCK;
    const uint phase = view->phases[i];
    bool plain = has_density(phase);
    for (uint k = 0; k < view->neighbour_counts[i] && plain; k++) {
        plain = view->phases[list[k]] == phase;
    }
    return plain;
}

// ---- Particles at walls ----

float avx2_image_density(const SolverData *view, uint i, const Walls *walls)
{
    const bool plain = is_plain(view, i);
    float density = 0.0f;
    for (uint image = 1u; image < IMAGES; image++) {
        if (has_image(*walls, image)) {
            density += plain ? plain_image_density(view, i, *walls, image) : image_density(view, i, *walls, image);
        }
    }
    return density;
}

vec3 avx2_image_pressure(const SolverData *view, uint i, const Walls *walls, vec3 p, float inverse_mass)
{
    const bool plain = is_plain(view, i);
    for (uint image = 1u; image < IMAGES; image++) {
        if (has_image(*walls, image)) {
            const vec3 correction = plain ? plain_image_corrections(view, i, *walls, image, inverse_mass)
                                          : image_corrections(view, i, *walls, image, inverse_mass);
            p = push_off_wall(view, i, image_collider(*walls, image), p, correction, inverse_mass);
        }
    }
    return p;
}

const Collider *avx2_only_tank(const SolverData *view)
{
    const Collider *collider = &view->colliders[0];
    const bool box = view->collider_count == 1u && collider->kind == COLLIDER_BOX && collider->inside_out != 0u;
    const vec4 q = view->collider_count == 1u ? collider->rotation : v4(0.0f, 0.0f, 0.0f, 0.0f);
    const bool upright = q.x == 0.0f && q.y == 0.0f && q.z == 0.0f && q.w == 1.0f && view->motion_mask.z > 0.0f;
    return box && upright ? collider : NULL;
}

uint avx2_near_walls(const SolverData *view, const vec4 *points, uint i, uint end)
{
    if (i + 8u > end) {
        return (1u << (end - i)) - 1u;
    }
    const vec4x8 p = load_consecutive(points + i);
    const float reach = view->boundary_reach + view->margin;
    __m256 marks = _mm256_setzero_ps();
    for (uint s = 0; s < view->collider_count; s++) {
        const Collider *collider = &view->colliders[s];
        const __m256 near = _mm256_add_ps(_mm256_set1_ps(1.001f * reach), rounding(p, collider->position));
        marks = _mm256_or_ps(marks, may_touch(collider, collider->rotation, collider->position, p, near));
    }
    return (uint)_mm256_movemask_ps(marks);
}
#else
typedef int avx2_boundary_needs_x86_64;
#endif
