// SPDX-License-Identifier: MIT
// velocity.h - velocities from positions, XSPH viscosity and vorticity confinement (PBF section 5; UPP
// Algorithm 1, lines 23-28). Sums over neighbours carry volume weights, so strengths do not depend on resolution.
#ifndef MOTE_KERNELS_VELOCITY_H
#define MOTE_KERNELS_VELOCITY_H

#include "data.h"
#include "collider/coupling.h"
#include "contact/gravity_warm_start.h"
#include "contact/restitution.h"
#include "fluid/liquid.h"
#include "fluid/sph_kernels.h"
#include "particle/integrate.h"
#include "particle/neighbours.h"
#include "rigid/bodies.h"
#include "rigid/shape_matching.h"

// Whether constraints support a liquid particle: they have cancelled at least half of the velocity that gravity added
// in the step. A drop at the top of its flight is slow, too, but not supported.
FUNCTION bool is_carried(VIEW_COMMA vec3 change)
{
    const float fall = 0.5f * PARAMETER(restitution_threshold); // of a step
    return fall <= 0.0f || v3_dot(change, PARAMETER(up)) >= 0.5f * fall;
}

KERNEL(update_velocity)
{
    const vec4 start = LOAD(positions, i);
    const vec3 before = v3_from_v4(LOAD(velocities, i));
    const float dt = PARAMETER(time_step);

    if (HAS_FEATURE(DYNAMICS) && PARAMETER(dynamic_bounce) != 0u) {
        clear_impulses(VIEW_HERE_COMMA i); // bounce_off_colliders makes new ones
    }
    vec4 end = LOAD(predicted, i);
    vec3 moved = v3_sub(v3_from_v4(end), v3_from_v4(start));
    if (!v3_is_finite(moved)) {
        report_unhealthy(VIEW_HERE_COMMA i);
        end = start;
        moved = v3(0.0f, 0.0f, 0.0f);
    }
    vec3 velocity = v3_scale(moved, 1.0f / dt);
    const uint cluster = rigid_cluster_of(VIEW_HERE_COMMA i);
    bool asleep = v3_dot(moved, moved) < PARAMETER(sleep_distance) * PARAMETER(sleep_distance); // UPP eq. 14
    if (asleep) { // what is at the top of its flight is slow as well
        asleep = HAS_FEATURE(SOLIDS) && !has_density(LOAD(phases, i))
                     ? LOAD(corrections, i).w > 0.0f || LOAD(predicted, i).w <= 0.0f ||
                           (PARAMETER(touching) != 0u && LOAD(touch_weights, i) > 0.0f)
                     : is_carried(VIEW_HERE_COMMA v3_sub(velocity, before));
    }
    if (cluster != NONE) { // a body sleeps as a whole
        asleep = LOAD(motions, cluster).asleep != 0u;
        velocity = velocity_in_cluster(VIEW_HERE_COMMA cluster, v3_from_v4(end));
    } else {
        const vec3 change = v3_sub(velocity, before);
        const float limit = PARAMETER(max_velocity_change);
        if (v3_dot(change, change) > limit * limit) {
            velocity = v3_add(before, v3_limit(change, limit));
        }
    }
    if (asleep) {
        end = start;
        velocity = v3(0.0f, 0.0f, 0.0f);
    } else if (HAS_FEATURE(BOUNCES) && cluster == NONE) { // bodies have bounced in bounce_clusters
        velocity = bounce_off_colliders(VIEW_HERE_COMMA i, v3_from_v4(end), before, velocity);
        if (has_velocity_changes(VIEW_HERE)) {
            velocity = v3_add(velocity, v3_from_v4(LOAD(velocity_changes, i)));
        }
    }
    store_gravity_warm_start(VIEW_HERE_COMMA i, v3_sub(velocity, before));
    STORE(predicted, i, end);
    STORE(positions, i, end);
    STORE(velocities, i, v4_from_v3(velocity, LOAD(densities, i)));
}

// XSPH viscosity (PBF eq. 17), and the vorticity of the velocities before it: eq. 15 with the sign of
// a curl, sum of grad W x (v_j - v_i); as printed, with v_ij = v_j - v_i, it has the other one and would damp. The
// weight of a pair is symmetric in its densities and shares by mass, so that viscosity conserves momentum.
KERNEL(smooth_velocity)
{
    const vec4 position = LOAD(positions, i);
    const vec4 velocity = LOAD(velocities, i);
    const uint count = LOAD(neighbour_counts, i);
    const uint start = LOAD(neighbour_starts, i);
    const float smoothing_radius = PARAMETER(smoothing_radius);
    const float smoothing_radius_squared = PARAMETER(smoothing_radius_squared);
    const bool with_vorticity = PARAMETER(has_vorticity) != 0u;
    const uint phase = LOAD(phases, i);
    const bool solid = HAS_FEATURE(SOLIDS) && !has_density(phase);
    const bool differ = liquids_differ(VIEW_HERE);
    const float viscosity = differ && solid ? 1.0f : viscosity_of(VIEW_HERE_COMMA phase);

    vec3 drift = v3(0.0f, 0.0f, 0.0f);
    vec3 vorticity = v3(0.0f, 0.0f, 0.0f);
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        const vec4 other = LOAD(positions, j);
        const vec4 other_velocity = LOAD(velocities, j);
        const vec3 offset = v3_sub(v3_from_v4(position), v3_from_v4(other));
        const vec3 relative = v3_sub(v3_from_v4(other_velocity), v3_from_v4(velocity));
        const float squared_distance = v3_dot(offset, offset);
        if (solid && !has_density(LOAD(phases, j))) {
            continue; // two solids: none of them flows
        }
        const float pair = (velocity.w + other_velocity.w) * (position.w + other.w) + 1e-30f;
        float weight = poly6(squared_distance, smoothing_radius_squared) / pair;
        if (differ) {
            weight *= viscosity_share(VIEW_HERE_COMMA viscosity, solid, LOAD(phases, j));
        }
        drift = v3_add_scaled(drift, relative, weight);
        if (with_vorticity) {
            const float factor = spiky_factor(squared_distance, smoothing_radius) / other_velocity.w;
            vorticity = v3_add_scaled(vorticity, v3_cross(offset, relative), factor);
        }
    }
    // Twice the mean density and twice the mean inverse mass were summed: hence 4.
    const float scale = 4.0f * position.w * viscosity * PARAMETER(poly6_scale) * PARAMETER(rest_volume);
    STORE(smoothed_velocities, i, v4_from_v3(v3_add_scaled(v3_from_v4(velocity), drift, scale), velocity.w));
    if (with_vorticity) {
        vorticity = v3_scale(vorticity, PARAMETER(spiky_scale) * PARAMETER(rest_volume));
        STORE(vorticities, i, v4_from_v3(vorticity, 0.0f));
        STORE(vorticity_points, i, v4_from_v3(v3_from_v4(position), v3_length(vorticity)));
    }
}

// Adds the force of PBF eq. 16 to a particle's velocity. Where the gradient eta is small against the vorticity over h
// there is no clear direction to confine towards: the force fades out there instead of turning with the last bits.
FUNCTION void push_by_vorticity(VIEW_COMMA uint i, vec3 eta, float magnitude)
{
    const float unclear = 0.05f * magnitude / PARAMETER(smoothing_radius);
    const uint phase = LOAD(phases, i);
    if (LOAD(positions, i).w > 0.0f && magnitude > 0.0f && has_density(phase)) {
        const vec3 direction = v3_scale(eta, 1.0f / (v3_length(eta) + unclear));
        const vec3 force = v3_mul(v3_cross(direction, v3_from_v4(LOAD(vorticities, i))), PARAMETER(motion_mask));
        const vec4 velocity = LOAD(velocities, i);
        const vec3 pushed = v3_add_scaled(v3_from_v4(velocity), force, confinement_of(VIEW_HERE_COMMA phase));
        STORE(velocities, i, v4_from_v3(pushed, velocity.w));
    }
}

// Vorticity confinement (PBF eq. 16): spins fluid around where its vorticity is largest. Only the direction of the
// magnitude's gradient counts, so all neighbours may have the same volume. Position and magnitude are one load a
// neighbour.
KERNEL(confine_vorticity)
{
    const vec4 here = LOAD(vorticity_points, i);
    const uint count = LOAD(neighbour_counts, i);
    const uint start = LOAD(neighbour_starts, i);
    const float smoothing_radius = PARAMETER(smoothing_radius);

    vec3 eta = v3(0.0f, 0.0f, 0.0f); // gradient of the vorticity's magnitude
    for (uint k = 0u; k < count; k++) {
        const vec4 other = LOAD(vorticity_points, LOAD(neighbours, neighbour_slot(start, k)));
        const vec3 offset = v3_sub(v3_from_v4(here), v3_from_v4(other));
        const float weight = (other.w - here.w) * spiky_factor(v3_dot(offset, offset), smoothing_radius);
        eta = v3_add_scaled(eta, offset, weight);
    }
    eta = v3_scale(eta, PARAMETER(spiky_scale) * PARAMETER(rest_volume));
    push_by_vorticity(VIEW_HERE_COMMA i, eta, here.w);
}

#endif
