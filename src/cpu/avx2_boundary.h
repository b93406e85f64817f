// SPDX-License-Identifier: MIT
// avx2_boundary.h - walls in the AVX2 forms of density_lambda, density_delta and measure_density: they do the work of
// add_boundary_density and add_boundary_pressure in the same loop over neighbours, whose loads take most of the time.
//
// Few particles are at a wall: eight at a time are tested, and only those near one look for walls. Nearly all of these
// are at a single one. Its image of a neighbour at the offset o is at o + 2 n (D - n.o), for the normal n and the
// distance D from the mirror to the particle, so that
//
//     |o'|^2 = |o|^2 + 4 D (D - n.o),    sum_b f_b o'_b = S + 2 n (D F - n.S),    S = sum_b f_b o_b,  F = sum_b f_b
//
// In edges and corners, beside solids and where liquids differ, images have loops of their own (avx2_boundary.c).
#ifndef MOTE_AVX2_BOUNDARY_H
#define MOTE_AVX2_BOUNDARY_H

#include "cpu/avx2_kernels.h"
#include "kernels/kernels.h"

static inline bool fuses_boundary_density(const SolverData *view)
{
    return view->boundary_weight > 0.0f && view->collider_count > 0u && !solids_weighted(view);
}

// With dynamic colliders, add_boundary_pressure has to give every particle its impulses. Isotropic pressure has
// portable kernels alone.
static inline bool fuses_boundary_pressure(const SolverData *view)
{
    return fuses_boundary_density(view) && view->dynamic_count == 0u && view->isotropy <= 0.0f;
}

#if defined(__AVX2__)
// The tank that all of a world's liquid is in, or NULL: the usual case has a short way to its walls.
const Collider *avx2_only_tank(const SolverData *view);

// Which of the particles from i on, eight at most and before `end`, may be within reach of a wall.
uint avx2_near_walls(const SolverData *view, const vec4 *points, uint i, uint end);

// Whether all neighbours of a particle are of its own phase.
bool avx2_neighbours_are_alike(const SolverData *view, uint i);

// Whether a particle is among its own liquid: the AVX2 loops handle nothing else.
static inline bool is_plain(const SolverData *view, uint i)
{
    return (view->has_solids == 0u && !liquids_differ(view)) || avx2_neighbours_are_alike(view, i);
}

// What images behind several walls add to a particle's density, over rest density.
float avx2_image_density(const SolverData *view, uint i, const Walls *walls);

// The particle's position p after the corrections by images behind several walls.
vec3 avx2_image_pressure(const SolverData *view, uint i, const Walls *walls, vec3 p, float inverse_mass);

// The wall of a particle in an upright tank, if there is a single one. Without branches: which wall it is changes from
// particle to particle.
static inline bool find_only_wall(const SolverData *view, const Collider *tank, vec4 p, Wall *wall)
{
    const __m128 away = _mm_sub_ps(_mm_setr_ps(p.x, p.y, p.z, 0.0f), load_vec3(tank->position));
    const __m128 room = _mm_sub_ps(load_vec3(tank->half_size), _mm_set1_ps(view->margin));
    const __m128 gap = _mm_sub_ps(room, _mm_andnot_ps(_mm_set1_ps(-0.0f), away));
    const __m128 reach = _mm_set1_ps(view->boundary_reach), upper = _mm_cmpgt_ps(away, _mm_setzero_ps());
    const __m128 near = _mm_cmplt_ps(gap, reach);
    const int walls = _mm_movemask_ps(near) & 7, both = _mm_movemask_ps(_mm_cmplt_ps(room, reach)) & walls;
    const __m128 side = _mm_blendv_ps(_mm_set1_ps(1.0f), _mm_set1_ps(-1.0f), upper);
    const vec4 normal = vec4_from(_mm_and_ps(side, near)), gaps = vec4_from(_mm_and_ps(gap, near));
    wall->normal = v3(normal.x, normal.y, normal.z);
    wall->distance = gaps.x + gaps.y + gaps.z + 0.5f * view->spacing;
    wall->weight = 1.0f;
    wall->collider = 0u;
    return walls != 0 && (walls & (walls - 1)) == 0 && both == 0;
}

// The walls around a point, as walls_around finds them. False if there is none.
static inline bool find_walls(const SolverData *view, const Collider *tank, vec4 p, Walls *walls)
{
    if (tank != NULL && find_only_wall(view, tank, p, &walls->a)) {
        walls->b.distance = walls->c.distance = NO_FIELD;
        return true;
    }
    *walls = walls_around(view, v3(p.x, p.y, p.z));
    return is_wall(walls->a);
}

// Whether a particle is before a single wall, and among its own liquid. So the result is the same to the bit in a world
// that has other things elsewhere.
static inline bool has_one_mirror(const SolverData *view, uint i, const Walls *walls)
{
    return walls->b.distance >= NO_FIELD && walls->a.distance > 0.0f && is_plain(view, i);
}

// A single wall, for eight neighbours at a time.
typedef struct Mirror {
    __m256 x, y, z, add; // |o'|^2 - |o|^2 = x o.x + y o.y + z o.z + add
    vec3 normal;
    float distance;
} Mirror;

static inline Mirror make_mirror(Wall wall)
{
    const vec3 n = v3_scale(wall.normal, -4.0f * wall.distance);
    return (Mirror){_mm256_set1_ps(n.x), _mm256_set1_ps(n.y),
                    _mm256_set1_ps(n.z), _mm256_set1_ps(4.0f * wall.distance * wall.distance),
                    wall.normal,         wall.distance};
}

// Squared lengths of the offsets of images, from offsets and their squared lengths; positive, so that it may be divided
// by their roots. A neighbour behind the wall has no image (is_mirrored): that of one before it is farther away than
// the neighbour itself, and all others are taken out of reach.
static inline __m256 mirrored_x8(const Mirror *mirror, __m256 x, __m256 y, __m256 z, __m256 squared)
{
    const __m256 rest = _mm256_fmadd_ps(mirror->z, z, _mm256_add_ps(squared, mirror->add));
    const __m256 image = _mm256_fmadd_ps(mirror->x, x, _mm256_fmadd_ps(mirror->y, y, rest));
    const __m256 before = _mm256_cmp_ps(image, squared, _CMP_GT_OQ);
    return _mm256_blendv_ps(_mm256_set1_ps(1e30f), _mm256_max_ps(image, _mm256_set1_ps(1e-24f)), before);
}

// The offset of the particle's own image.
static inline vec3 own_image(const Mirror *mirror)
{
    return v3_scale(mirror->normal, 2.0f * mirror->distance);
}

// Lists are padded with the particle itself, whose own image counts once.
static inline float own_images(uint count)
{
    return 1.0f - (float)((0u - count) & 7u);
}
#endif

#endif
