// SPDX-License-Identifier: MIT
// boundary_density.h - the density that colliders add to a liquid, as if they were filled with its rest lattice.
//
// UPP eq. 27 includes the particles of solids in the density; colliders have none. A particle at a wall has no
// neighbours behind the wall, and the density constraint compensates with too many on its own side: the first layer on
// a floor held 1.55 times the particles that it should, and water stood too low and was too heavy for floating bodies.
// Here, layers of the rest lattice are assumed behind the surface, the first one a spacing from where particles touch
// it. They are averaged along the surface, so that walls are smooth. They exert no pressure: contacts stop particles at
// a collider.
#ifndef MOTE_KERNELS_BOUNDARY_DENSITY_H
#define MOTE_KERNELS_BOUNDARY_DENSITY_H

#include "data.h"
#include "collider/distance.h"
#include "contact/collider_contacts.h"
#include "fluid/density.h"

// The density over rest density that the layers behind a surface add to a particle at distance `gap` from contact. The
// integral of Poly6 over a plane at distance z is proportional to (h^2 - z^2)^4, over a line to the power 3.5. Over a
// sphere about a point at distance D it is that of the plane times 1 - z / D; each direction in which the surface is
// curved contributes the square root of this factor. `curvature` is 1 / D, negative where the surface bends around the
// particle.
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

// 1 minus the density of a pair of opposite walls. `p` is the particle's coordinate between them, `room` its range.
FUNCTION float share_left_by_walls(VIEW_COMMA float p, float room)
{
    return (1.0f - boundary_layers(VIEW_HERE_COMMA room - p, 0.0f, 0u)) *
           (1.0f - boundary_layers(VIEW_HERE_COMMA room + p, 0.0f, 0u));
}

// 1 minus the density of a collider. `p` is in its frame. For walls that meet in a corner, these numbers are
// multiplied, so that the region behind both is counted once.
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

// After density_lambda or measure_density: adds the density of colliders, and updates lambda.
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
