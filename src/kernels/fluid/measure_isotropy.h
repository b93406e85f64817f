// SPDX-License-Identifier: MIT
// measure_isotropy.h - the matrices L of isotropy.h, once a step.
#ifndef MOTE_KERNELS_MEASURE_ISOTROPY_H
#define MOTE_KERNELS_MEASURE_ISOTROPY_H

#include "data.h"
#include "fluid/boundary_density.h"
#include "fluid/isotropy.h"

// A sum of f x x^T.
STRUCT(GradientMatrix)
{
    vec3 diagonal; // xx, yy, zz
    float unused;
    vec3 offdiagonal; // xy, xz, yz
    float unused_too;
};

FUNCTION GradientMatrix add_gradient(VIEW_COMMA GradientMatrix sum, vec3 offset, float weight)
{
    const float factor = weight * spiky_factor(v3_dot(offset, offset), PARAMETER(smoothing_radius));
    const vec3 scaled = v3_scale(offset, factor);
    sum.diagonal = v3_add(sum.diagonal, v3_mul(offset, scaled));
    sum.offdiagonal = v3_add(sum.offdiagonal, v3(offset.x * scaled.y, offset.x * scaled.z, offset.y * scaled.z));
    return sum;
}

// Adds the images of a particle and its neighbours that density_delta counts.
FUNCTION GradientMatrix add_image_gradients(VIEW_COMMA GradientMatrix sum, uint i, Walls walls, uint image)
{
    const vec3 p = v3_from_v4(LOAD(predicted, i));
    const uint count = LOAD(neighbour_counts, i);
    const uint start = LOAD(neighbour_starts, i);
    const bool solids = has_solid_neighbours(VIEW_HERE);
    const float weight = PARAMETER(boundary_weight) * image_weight(walls, image);
    sum = add_gradient(VIEW_HERE_COMMA sum, image_offset(walls, image, v3(0.0f, 0.0f, 0.0f)), weight);
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        const vec3 offset = v3_sub(p, v3_from_v4(LOAD(predicted, j)));
        if (is_mirrored(walls, image, offset) && (!solids || has_density(LOAD(phases, j)))) {
            sum = add_gradient(VIEW_HERE_COMMA sum, image_offset(walls, image, offset), weight);
        }
    }
    return sum;
}

// Stores L for M. What M over its mean differs from the unit matrix by is limited in its length: a particle with
// neighbours on one side of it, or in a line, would have pressure of any strength along a direction without them.
FUNCTION void store_isotropy(VIEW_COMMA uint i, GradientMatrix sum)
{
    const bool planar = PARAMETER(motion_mask).z <= 0.0f;
    const float trace = sum.diagonal.x + sum.diagonal.y + sum.diagonal.z;
    const float scale = trace > 0.0f ? (planar ? 2.0f : 3.0f) / trace : 0.0f;
    vec3 d = v3_scale(sum.diagonal, scale);
    d = v3_sub(d, v3(1.0f, 1.0f, planar ? 0.0f : 1.0f));
    vec3 o = v3_scale(sum.offdiagonal, scale);
    const float length = sqrtf(v3_dot(d, d) + 2.0f * v3_dot(o, o));
    const float limit = PARAMETER(isotropy);
    const float share = trace > 0.0f ? (length > limit ? limit / length : 1.0f) : 0.0f;
    d = v3_add(v3(1.0f, 1.0f, 1.0f), v3_scale(d, share));
    o = v3_scale(o, share);
    // The inverse by cofactors; with a limit below 1 no eigenvalue is below 1 - limit.
    const vec3 first = v3(d.y * d.z - o.z * o.z, o.y * o.z - o.x * d.z, o.x * o.z - o.y * d.y);
    const float determinant = d.x * first.x + o.x * first.y + o.y * first.z;
    const vec3 diagonal = v3(first.x, d.x * d.z - o.y * o.y, d.x * d.y - o.x * o.x);
    const vec3 offdiagonal = v3(first.y, first.z, o.x * o.y - d.x * o.z);
    STORE(isotropy_diagonals, i, v4_from_v3(v3_scale(diagonal, 1.0f / determinant), 0.0f));
    STORE(isotropy_offdiagonals, i, v4_from_v3(v3_scale(offdiagonal, 1.0f / determinant), 0.0f));
}

// Neighbourhoods change little within a step, so that all its iterations use the same matrices.
KERNEL(measure_isotropy)
{
    const vec3 p = v3_from_v4(LOAD(predicted, i));
    const uint count = LOAD(neighbour_counts, i);
    const uint start = LOAD(neighbour_starts, i);
    GradientMatrix sum = {v3(0.0f, 0.0f, 0.0f), 0.0f, v3(0.0f, 0.0f, 0.0f), 0.0f};
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        const float weight = solids_weighted(VIEW_HERE) ? density_weight(VIEW_HERE_COMMA LOAD(phases, j)) : 1.0f;
        sum = add_gradient(VIEW_HERE_COMMA sum, v3_sub(p, v3_from_v4(LOAD(predicted, j))), weight);
    }
    if (PARAMETER(boundary_weight) > 0.0f && PARAMETER(collider_count) > 0u && has_density(LOAD(phases, i))) {
        const Walls walls = walls_around(VIEW_HERE_COMMA p);
        for (uint image = 1u; image < IMAGES && is_wall(walls.a); image++) {
            if (has_image(walls, image)) {
                sum = add_image_gradients(VIEW_HERE_COMMA sum, i, walls, image);
            }
        }
    }
    store_isotropy(VIEW_HERE_COMMA i, sum);
}

#endif
