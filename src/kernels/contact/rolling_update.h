// SPDX-License-Identifier: MIT
// rolling_update.h - the spins of rolling grains at the end of a step: what they slip against their neighbours and
// colliders is turned into spin, and rolling friction takes its share.
#ifndef MOTE_KERNELS_ROLLING_UPDATE_H
#define MOTE_KERNELS_ROLLING_UPDATE_H

#include "data.h"
#include "collider/distance.h"
#include "contact/collider_contacts.h"
#include "contact/coulomb.h"
#include "contact/material.h"
#include "contact/particle_contacts.h"
#include "contact/rolling.h"
#include "particle/neighbours.h"
#include "rigid/bodies.h"

// Adds to the sum of changes of spin (xyz) and the number of contacts (w). `slip` is the velocity of the grain's
// surface against what it touches.
FUNCTION vec4 add_grip(vec4 sum, vec3 normal, vec3 slip, float radius, float share)
{
    const vec3 change = v3_scale(v3_cross(normal, slip), share / radius);
    return v4(sum.x + change.x, sum.y + change.y, sum.z + change.z, sum.w + 1.0f);
}

KERNEL(roll_grains)
{
    const vec4 angular_velocity = LOAD(angular_velocities, i);
    if (!can_roll(VIEW_HERE_COMMA i)) {
        STORE(rolled_angular_velocities, i, v4(0.0f, 0.0f, 0.0f, 0.0f));
        return;
    }
    const vec3 here = v3_from_v4(LOAD(positions, i));
    const vec3 velocity = v3_from_v4(LOAD(velocities, i));
    const uint phase = LOAD(phases, i);
    const float radius = 0.5f * PARAMETER(contact_distance);
    const uint count = LOAD(neighbour_counts, i);
    const uint start = LOAD(neighbour_starts, i);
    vec4 sum = v4(0.0f, 0.0f, 0.0f, 0.0f);
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        const uint other_phase = LOAD(phases, j);
        const vec3 offset = v3_sub(here, v3_from_v4(LOAD(positions, j)));
        if (has_density(other_phase) || !can_touch(phase, other_phase)) {
            continue;
        }
        const float reach = pair_reach(VIEW_HERE_COMMA i, j, phase, other_phase);
        const vec4 contact = pair_contact(VIEW_HERE_COMMA i, j, offset, reach);
        if (contact.w < -0.02f * reach) {
            continue;
        }
        const vec3 normal = v3_from_v4(contact);
        const bool both = can_roll(VIEW_HERE_COMMA j);
        vec3 slip = v3_add(v3_sub(velocity, v3_from_v4(LOAD(velocities, j))),
                           rolling_velocity(VIEW_HERE_COMMA i, normal, radius));
        if (both) {
            slip = v3_add(slip, rolling_velocity(VIEW_HERE_COMMA j, normal, radius));
        }
        sum = add_grip(sum, normal, slip, radius, both ? 0.5f : 1.0f);
    }
    for (uint s = 0u; s < PARAMETER(collider_count); s++) {
        const Collider collider = LOAD(colliders, s);
        const vec3 local = to_collider(collider, here);
        const float margin = max_f32(PARAMETER(margin), 1e-6f);
        const vec4 contact = penetration(VIEW_HERE_COMMA collider, local, 1.02f * margin + 1e-6f);
        const Material pair = collider_material(VIEW_HERE_COMMA collider, phase);
        if (contact.w <= 0.0f || !has_friction(pair)) {
            continue;
        }
        const vec3 normal = rotate(collider.rotation, v3_from_v4(contact));
        const vec3 surface = pose_velocity(VIEW_HERE_COMMA collider, local, here);
        const vec3 slip = v3_add(v3_sub(velocity, surface), rolling_velocity(VIEW_HERE_COMMA i, normal, margin));
        sum = add_grip(sum, normal, slip, margin, 1.0f);
    }
    vec3 turned = v3_from_v4(angular_velocity);
    if (sum.w > 0.0f) {
        const float rate = material_of(VIEW_HERE_COMMA phase).rolling_rate;
        turned = v3_add_scaled(turned, v3_from_v4(sum), 1.0f / sum.w);
        turned = v3_scale(turned, exponential(-rate * PARAMETER(time_step)));
    }
    STORE(rolled_angular_velocities, i, v4_from_v3(turned, 0.0f));
}

#endif
