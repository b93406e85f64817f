// SPDX-License-Identifier: MIT
// stacking.h - how high above the collider they stand on solids are, along their contacts (UPP section 5.2): for stacks
// that do not stand on one ground. Each step takes the heights of the last one further by one contact, or one body.
#ifndef MOTE_KERNELS_STACKING_H
#define MOTE_KERNELS_STACKING_H

#include "data.h"
#include "collider/distance.h"
#include "contact/collider_contacts.h"
#include "contact/particle_contacts.h"
#include "particle/neighbours.h"
#include "rigid/bodies.h"

#define NO_HEIGHT     1e30f
#define STACK_TOUCH   0.1f // of the contact distance: a gap up to this still supports
#define STACK_UPRIGHT 0.3f // of the contact distance: a supporting particle is at least this much lower

// Height of a particle: bodies have one for all of theirs, at the centre.
FUNCTION float height_of(VIEW_COMMA uint i, vec3 position)
{
    const uint cluster = rigid_cluster_of(VIEW_HERE_COMMA i);
    if (cluster == NONE) {
        return LOAD(stack_heights, i);
    }
    const vec3 arm = v3_sub(position, v3_from_v4(LOAD(cluster_centres, cluster)));
    return LOAD(stack_heights, i) + v3_dot(arm, PARAMETER(up));
}

// The height a particle has by what supports it, or NO_HEIGHT.
KERNEL(propagate_stack_heights)
{
    const vec3 here = v3_from_v4(LOAD(positions, i));
    const uint phase = LOAD(phases, i);
    const float touch = STACK_TOUCH * PARAMETER(contact_distance);
    float height = NO_HEIGHT;
    if (!has_density(phase)) {
        for (uint s = 0u; s < PARAMETER(collider_count); s++) {
            const Collider collider = LOAD(colliders, s);
            const vec4 way_out =
                penetration(VIEW_HERE_COMMA collider, to_collider_at_start(collider, here), PARAMETER(margin) + touch);
            const vec3 normal = rotate(collider.start_rotation, v3_from_v4(way_out));
            if (way_out.w > 0.0f && v3_dot(normal, PARAMETER(up)) > 0.0f) {
                height = 0.0f;
            }
        }
    }
    const uint count = height > 0.0f && !has_density(phase) ? LOAD(neighbour_counts, i) : 0u;
    const uint start = LOAD(neighbour_starts, i);
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        const vec3 there = v3_from_v4(LOAD(positions, j));
        const vec3 offset = v3_sub(here, there);
        const float rise = v3_dot(offset, PARAMETER(up));
        const uint other_phase = LOAD(phases, j);
        if (rise < STACK_UPRIGHT * PARAMETER(contact_distance) || has_density(other_phase) ||
            !can_touch(phase, other_phase)) {
            continue;
        }
        if (pair_contact(VIEW_HERE_COMMA i, j, offset, PARAMETER(contact_distance)).w > -touch) {
            height = min_f32(height, height_of(VIEW_HERE_COMMA j, there) + rise);
        }
    }
    STORE(supported_heights, i, height);
}

// What nothing supports keeps the height it had.
KERNEL(store_stack_heights)
{
    const uint cluster = rigid_cluster_of(VIEW_HERE_COMMA i);
    const float height = LOAD(supported_heights, i);
    if (cluster == NONE && height < NO_HEIGHT) {
        STORE(stack_heights, i, height);
    }
}

// A rigid body stands on the lowest of its supports.
KERNEL(propagate_cluster_heights)
{
    const Cluster cluster = LOAD(clusters, i);
    if ((cluster.flags & CLUSTER_RIGID) == 0u) {
        return;
    }
    const vec3 centre = v3_from_v4(LOAD(cluster_centres, i));
    float height = NO_HEIGHT;
    for (uint e = cluster.first_entry; e < cluster.first_entry + cluster.entry_count; e++) {
        const uint slot = LOAD(handle_slots, LOAD(entry_members, e));
        if (slot != NONE && LOAD(supported_heights, slot) < NO_HEIGHT) {
            const vec3 arm = v3_sub(centre, v3_from_v4(LOAD(positions, slot)));
            height = min_f32(height, LOAD(supported_heights, slot) + v3_dot(arm, PARAMETER(up)));
        }
    }
    for (uint e = cluster.first_entry; e < cluster.first_entry + cluster.entry_count && height < NO_HEIGHT; e++) {
        const uint slot = LOAD(handle_slots, LOAD(entry_members, e));
        if (slot != NONE) {
            STORE(stack_heights, slot, max_f32(height, 0.0f));
        }
    }
}

#endif
