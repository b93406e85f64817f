// SPDX-License-Identifier: MIT
// boundary_density.h - what colliders count in the density of a liquid, as if they were filled with its rest lattice.
//
// UPP eq. 27 counts the particles of solids; colliders have none. A particle at a wall lacks the neighbours that it
// would have behind it, and the density constraint makes up for them with others: the first layer on a floor held 1.55
// times the particles that it should, and water stood too low and was too heavy for what floats in it. Behind the
// surface, a spacing from where particles touch it, lie the layers that the lattice would have there; along the surface
// they are smeared out, so that walls are smooth. No push comes with that: what is pressed against a collider is
// stopped by its contact.
#ifndef MOTE_KERNELS_BOUNDARY_DENSITY_H
#define MOTE_KERNELS_BOUNDARY_DENSITY_H

#include "data.h"
#include "collider/distance.h"
#include "contact/collider_contacts.h"
#include "fluid/density.h"

// What the layers behind a surface add to the density over rest density of a particle that is `gap` away from touching
// it. The integral of Poly6 over a plane at distance z goes with (h^2 - z^2)^4, over a line with the power 3.5; over a
// sphere about a point at distance D it is that of the plane times 1 - z / D, to which each direction in which the
// surface is curved gives a square root. `curvature` is 1 / D, negative where a surface bends around the particle.
FUNCTION float boundary_layers(VIEW_COMMA float gap, float curvature, uint curved_directions)
{
    const bool planar = PARAMETER(motion_mask).z <= 0.0f;
    float sum = 0.0f;
    for (float z = max_f32(gap, 0.0f) + PARAMETER(boundary_spacing); z < PARAMETER(smoothing_radius);
         z += PARAMETER(boundary_spacing)) {
        const float t = PARAMETER(smoothing_radius_squared) - z * z;
        const float round = clamp_f32(1.0f - curvature * z, 0.0f, 2.0f);
        const float layer = planar ? t * t * t * sqrtf(t) : t * t * t * t;
        sum += layer * (curved_directions > 1u ? round : curved_directions == 1u ? sqrtf(round) : 1.0f);
    }
    return sum * PARAMETER(boundary_scale);
}

// 1 less what a pair of opposite walls adds. `p` is where the particle is between them, `room` how far it can go.
FUNCTION float share_left_by_walls(VIEW_COMMA float p, float room)
{
    return (1.0f - boundary_layers(VIEW_HERE_COMMA room - p, 0.0f, 0u)) *
           (1.0f - boundary_layers(VIEW_HERE_COMMA room + p, 0.0f, 0u));
}

// 1 less what a collider adds. `p` is in its frame. Of walls that meet in a corner the product counts: what lies behind
// both is counted once.
FUNCTION float share_left_by_collider(VIEW_COMMA Collider collider, vec3 p)
{
    const float margin = PARAMETER(margin);
    const bool planar = PARAMETER(motion_mask).z <= 0.0f;
    if (collider.kind == COLLIDER_BOX && collider.inside_out != 0u) {
        const float left = share_left_by_walls(VIEW_HERE_COMMA p.x, collider.half_size.x - margin) *
                           share_left_by_walls(VIEW_HERE_COMMA p.y, collider.half_size.y - margin);
        return planar ? left : left * share_left_by_walls(VIEW_HERE_COMMA p.z, collider.half_size.z - margin);
    }
    const float distance = collider_distance(VIEW_HERE_COMMA collider, p).w;
    if (HAS_FEATURE(FIELDS) && collider.kind == COLLIDER_FIELD) {
        const Field field = LOAD(fields, collider.data);
        if (field.slope > 0.0f && distance >= field.outside) {
            return 1.0f; // farther than distances are known
        }
    }
    float curvature = 0.0f;
    uint curved_directions = 0u;
    if (collider.kind == COLLIDER_SPHERE || collider.kind == COLLIDER_CAPSULE) {
        const float half_length = collider.kind == COLLIDER_CAPSULE ? collider.half_size.y : 0.0f;
        const float beyond = p.y - clamp_f32(p.y, -half_length, half_length);
        const float from_axis = v3_length(v3(p.x, beyond, p.z));
        curvature = (collider.inside_out != 0u ? -1.0f : 1.0f) / max_f32(from_axis, 1e-12f);
        curved_directions = (collider.kind == COLLIDER_SPHERE || beyond != 0.0f ? 2u : 1u) - (planar ? 1u : 0u);
    }
    return 1.0f - boundary_layers(VIEW_HERE_COMMA distance - margin, curvature, curved_directions);
}

// After density_lambda or measure_density: adds what colliders count, and the lambda that follows from it.
KERNEL(add_boundary_density)
{
    const vec3 p = v3_from_v4(LOAD(predicted, i));
    const uint phase = LOAD(phases, i);
    if (!has_density(phase)) {
        return;
    }
    const float reach = PARAMETER(smoothing_radius) - PARAMETER(boundary_spacing) + PARAMETER(margin);
    float left = 1.0f;
    for (uint s = 0u; s < PARAMETER(collider_count); s++) {
        if (is_inside_container(VIEW_HERE_COMMA s, p, reach)) {
            continue;
        }
        const Collider collider = LOAD(colliders, s);
        if (HAS_FEATURE(OBSTACLES) && collider_is_solid(collider)) {
            const vec3 apart = v3_sub(p, collider.position);
            const float farthest = collider.bounding_radius + reach;
            if (v3_dot(apart, apart) > farthest * farthest) {
                continue;
            }
        }
        left *= share_left_by_collider(VIEW_HERE_COMMA collider, to_collider(collider, p));
    }
    if (left >= 1.0f) {
        return;
    }
    const float density = LOAD(densities, i) + (1.0f - left);
    STORE(densities, i, density);
    if (PARAMETER(measuring) == 0u) {
        const vec4 estimate = LOAD(position_estimates, i);
        const float error = density_error(density, LOAD(velocities, i).w, tension_of(VIEW_HERE_COMMA phase));
        const float scale =
            has_lambda_scales(VIEW_HERE) ? LOAD(lambda_scales, i) : PARAMETER(rest_lambda) / LOAD(predicted, i).w;
        STORE(position_estimates, i, v4_from_v3(v3_from_v4(estimate), -error * scale));
    }
}

#endif
