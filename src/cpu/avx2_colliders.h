// SPDX-License-Identifier: MIT
// avx2_colliders.h - which of eight particles may be near a collider, so that only those go through a kernel.
#ifndef MOTE_AVX2_COLLIDERS_H
#define MOTE_AVX2_COLLIDERS_H

#include "cpu/avx2_kernels.h"
#include "kernels/kernels.h"

static inline vec4x8 rotate_x8(vec4 q, vec4x8 v)
{
    const __m256 qx = _mm256_set1_ps(q.x), qy = _mm256_set1_ps(q.y), qz = _mm256_set1_ps(q.z), qw = _mm256_set1_ps(q.w);
    const __m256 two = _mm256_set1_ps(2.0f);
    const __m256 tx = _mm256_mul_ps(two, _mm256_fmsub_ps(qy, v.z, _mm256_mul_ps(qz, v.y)));
    const __m256 ty = _mm256_mul_ps(two, _mm256_fmsub_ps(qz, v.x, _mm256_mul_ps(qx, v.z)));
    const __m256 tz = _mm256_mul_ps(two, _mm256_fmsub_ps(qx, v.y, _mm256_mul_ps(qy, v.x)));
    return (vec4x8){
        _mm256_add_ps(_mm256_fmadd_ps(qw, tx, v.x), _mm256_fmsub_ps(qy, tz, _mm256_mul_ps(qz, ty))),
        _mm256_add_ps(_mm256_fmadd_ps(qw, ty, v.y), _mm256_fmsub_ps(qz, tx, _mm256_mul_ps(qx, tz))),
        _mm256_add_ps(_mm256_fmadd_ps(qw, tz, v.z), _mm256_fmsub_ps(qx, ty, _mm256_mul_ps(qy, tx))),
        v.w,
    };
}

static inline __m256 magnitude(__m256 v)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v);
}

// Which of eight points may be closer to the collider than `reach`; rotation and position are the pose to test.
static inline __m256 may_touch(const Collider *collider, vec4 rotation, vec3 position, vec4x8 p, __m256 reach)
{
    vec4x8 local = {_mm256_sub_ps(p.x, _mm256_set1_ps(position.x)), _mm256_sub_ps(p.y, _mm256_set1_ps(position.y)),
                    _mm256_sub_ps(p.z, _mm256_set1_ps(position.z)), p.w};
    if (collider_is_solid(*collider)) { // the bounding sphere decides
        const __m256 radius = _mm256_add_ps(_mm256_set1_ps(collider->bounding_radius), reach);
        return _mm256_cmp_ps(dot_x8(local.x, local.y, local.z), _mm256_mul_ps(radius, radius), _CMP_NGT_UQ);
    }
    if (rotation.x != 0.0f || rotation.y != 0.0f || rotation.z != 0.0f) {
        local = rotate_x8(v4(-rotation.x, -rotation.y, -rotation.z, rotation.w), local);
    }
    if (collider->kind == COLLIDER_PLANE) {
        const __m256 height = collider->inside_out != 0u ? _mm256_sub_ps(_mm256_setzero_ps(), local.y) : local.y;
        return _mm256_cmp_ps(height, reach, _CMP_NGT_UQ);
    }
    if (collider->kind == COLLIDER_BOX) {
        const __m256 x = _mm256_sub_ps(magnitude(local.x), _mm256_set1_ps(collider->half_size.x));
        const __m256 y = _mm256_sub_ps(magnitude(local.y), _mm256_set1_ps(collider->half_size.y));
        const __m256 z = _mm256_sub_ps(magnitude(local.z), _mm256_set1_ps(collider->half_size.z));
        const __m256 nearest = _mm256_max_ps(x, _mm256_max_ps(y, z));
        return _mm256_cmp_ps(_mm256_add_ps(nearest, reach), _mm256_setzero_ps(), _CMP_NLT_UQ);
    }
    // A spherical container, or the sphere around the middle of a capsule: inside it nothing can touch. A hull has
    // radius 0.
    const __m256 room = _mm256_max_ps(_mm256_sub_ps(_mm256_set1_ps(collider->radius), reach), _mm256_setzero_ps());
    return _mm256_cmp_ps(dot_x8(local.x, local.y, local.z), _mm256_mul_ps(room, room), _CMP_NLT_UQ);
}

// How far rounding may be off: a few units in the last place of the largest coordinates involved.
static inline __m256 rounding(vec4x8 p, vec3 position)
{
    const float offset = fabsf(position.x) + fabsf(position.y) + fabsf(position.z);
    const __m256 size = _mm256_add_ps(_mm256_add_ps(magnitude(p.x), magnitude(p.y)),
                                      _mm256_add_ps(magnitude(p.z), _mm256_set1_ps(offset)));
    return _mm256_mul_ps(size, _mm256_set1_ps(4e-6f));
}

static inline void run_marked(RangeFunction *kernel, const SolverData *view, uint first, int marks)
{
    for (; marks != 0; marks &= marks - 1) {
        const uint i = first + (uint)__builtin_ctz((uint)marks);
        kernel(view, i, i + 1u);
    }
}

#endif
