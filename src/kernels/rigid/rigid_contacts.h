// SPDX-License-Identifier: MIT
// rigid_contacts.h - contacts of rigid bodies with colliders: accumulated, warm-started impulses with Coulomb friction,
// by Gauss-Seidel over the particles of a body.
#ifndef MOTE_KERNELS_RIGID_CONTACTS_H
#define MOTE_KERNELS_RIGID_CONTACTS_H

#include "data.h"
#include "collider/coupling.h"
#include "collider/distance.h"
#include "contact/collider_contacts.h"
#include "contact/coulomb.h"
#include "contact/material.h"
#include "rigid/bodies.h"

#define ROTATION_LIMIT  0.5f  // rad that one group of contacts may turn a body
#define SLIP_SLACK      0.2f  // of what gravity moves in a step
#define COLLIDER_SWEEPS 2u    // over a rigid body's particles, there and back
#define SQUEEZE_REACH   1.05f // margins from a collider at which a body is in contact with it

STRUCT(Pose)
{
    vec4 rotation;
    vec3 centre; // m
    float unused;
};

FUNCTION Pose pose_after_impulse(Cluster cluster, Pose pose, vec3 arm, vec3 momentum)
{
    const vec3 angle = inverse_inertia_times(cluster, pose.rotation, v3_cross(arm, momentum));
    pose.centre = v3_add_scaled(pose.centre, momentum, 1.0f / cluster.mass);
    pose.rotation = quat_integrate(pose.rotation, v3_limit(angle, ROTATION_LIMIT));
    return pose;
}

// Records the force of colliders on a rigid body's particle, and subtracts it from that of shape matching.
FUNCTION void add_recorded_force(VIEW_COMMA uint slot, vec3 momentum)
{
    if (PARAMETER(recording) != 0u && PARAMETER(stabilizing) == 0u) {
        const float scale = 1.0f / (PARAMETER(time_step) * PARAMETER(time_step));
        const uint by_colliders = FORCE_COLLIDERS * PARAMETER(force_stride) + slot;
        const uint by_bodies = FORCE_BODIES * PARAMETER(force_stride) + slot;
        const vec3 given = v3_add_scaled(v3_from_v4(LOAD(forces, by_colliders)), momentum, scale);
        const vec3 taken = v3_add_scaled(v3_from_v4(LOAD(forces, by_bodies)), momentum, -scale);
        STORE(forces, by_colliders, v4_from_v3(given, 0.0f));
        STORE(forces, by_bodies, v4_from_v3(taken, 0.0f));
    }
}

// The friction coefficient, static or kinetic, for a rigid body's particle and a collider. Particles are visited one
// after the other, and the first one would have to hold the whole body, so their impulses do not tell whether the body
// slips. The predicted motion of the step decides instead, as in UPP eq. 24: the particle slips if its tangential
// displacement exceeds static friction times its penetration, plus a tolerance, because a few iterations leave a body
// at rest some velocity.
FUNCTION float friction_limit(VIEW_COMMA Collider collider, Material pair, uint member, vec3 rest)
{
    if (pair.static_friction <= pair.kinetic_friction) {
        return pair.kinetic_friction;
    }
    const Motion target = LOAD(motions, LOAD(member_clusters, member));
    const vec3 p = v3_add(target.predicted_centre, rotate(target.predicted_rotation, rest));
    const vec4 way_out = penetration(VIEW_HERE_COMMA collider, to_collider(collider, p), PARAMETER(margin));
    const vec3 normal = rotate(collider.rotation, v3_from_v4(way_out));
    const vec3 start = v3_from_v4(LOAD(positions, LOAD(handle_slots, member)));
    const vec3 motion = v3_sub(p, carried_along(VIEW_HERE_COMMA collider, p, start));
    const vec3 sliding = v3_mul(tangential(motion, normal), PARAMETER(motion_mask));
    const float slack = SLIP_SLACK * v3_length(PARAMETER(gravity)) * PARAMETER(time_step) * PARAMETER(time_step);
    const bool holds = v3_length(sliding) < pair.static_friction * way_out.w + slack;
    return holds ? pair.static_friction : pair.kinetic_friction;
}

// Solves the contact of one particle of a rigid body with one collider: a normal impulse that resolves the penetration,
// and a friction impulse against sliding, clamped by Coulomb's law (UPP eq. 24 uses displacements, which is the same
// for a single particle). `contact_impulses` has the sums over the step.
FUNCTION Pose solve_rigid_contact(VIEW_COMMA Cluster cluster, Pose pose, uint index, uint member, vec3 rest)
{
    const Collider collider = LOAD(colliders, index);
    const uint slot = LOAD(handle_slots, member);
    const bool stabilizing = PARAMETER(stabilizing) != 0u;
    const uint row = stabilizing ? NONE : dynamic_row_of(VIEW_HERE_COMMA index);
    if (row != NONE && !has_impulse_slot(VIEW_HERE_COMMA slot, row)) {
        return pose;
    }
    const float margin = PARAMETER(margin);
    const vec3 start = v3_from_v4(LOAD(positions, slot));
    vec3 arm = rotate(pose.rotation, rest);
    const vec3 p = v3_add(pose.centre, arm);
    vec3 local = to_collider(collider, p);
    if (stabilizing) {
        local = start_in_collider(VIEW_HERE_COMMA collider, p);
    }
    vec3 normal = v3(0.0f, 1.0f, 0.0f);
    float depth = 0.0f;
    if (!stabilizing && collider_is_solid(collider)) {
        const vec4 swept =
            sweep(VIEW_HERE_COMMA collider, start_in_collider(VIEW_HERE_COMMA collider, start), local, margin);
        if (swept.w > 0.0f) { // back to where it entered
            const vec3 way = v3_sub(from_collider(collider, v3_from_v4(swept)), p);
            depth = v3_length(way);
            normal = v3_scale(way, 1.0f / max_f32(depth, 1e-30f));
        }
    }
    if (depth <= 0.0f) {
        const vec4 way_out = penetration(VIEW_HERE_COMMA collider, local, margin);
        depth = way_out.w;
        normal = rotate(stabilizing ? collider.start_rotation : collider.rotation, v3_from_v4(way_out));
    }
    if (depth > 0.0f && !stabilizing) {
        const vec3 motion = v3_sub(carried_along(VIEW_HERE_COMMA collider, p, start), p);
        depth = overlap_by_motion(VIEW_HERE_COMMA depth, v3_dot(motion, normal), normal);
    }
    // The accumulated impulse may become smaller again: an earlier iteration may have applied too much. Sums are kept
    // for the first collider in contact only.
    const vec4 before = LOAD(contact_impulses, member);
    const bool pressing = !stabilizing && before.w > 0.0f && LOAD(contact_impulse_colliders, member) == index;
    if (depth <= 0.0f && !pressing) {
        return pose;
    }
    const bool kept = pressing || (!stabilizing && before.w <= 0.0f);
    const float load_before = kept ? before.w : 0.0f;
    const vec3 friction_before = kept ? v3_from_v4(before) : v3(0.0f, 0.0f, 0.0f);
    normal = v3_mul(normal, PARAMETER(motion_mask));
    float inverse_mass_sum = inverse_effective_mass(cluster, pose.rotation, arm, normal);
    inverse_mass_sum += row != NONE ? split_inverse_effective_mass(VIEW_HERE_COMMA row, collider, p, normal) : 0.0f;
    const float load = normal_load(load_before, depth, inverse_mass_sum);
    vec3 momentum = v3_scale(normal, load - load_before);
    pose = pose_after_impulse(cluster, pose, arm, momentum);

    const Material pair = collider_material(VIEW_HERE_COMMA collider, LOAD(phases, slot));
    vec3 held = friction_before;
    if (has_friction(pair) && !stabilizing) {
        arm = rotate(pose.rotation, rest);
        const vec3 now = v3_add(pose.centre, arm);
        const vec3 motion = v3_sub(now, carried_along(VIEW_HERE_COMMA collider, now, start));
        const float rough = load * surface_roughness(VIEW_HERE_COMMA collider, to_collider(collider, now));
        const vec3 sliding = v3_mul(tangential(motion, normal), PARAMETER(motion_mask));
        const float distance = v3_length(sliding);
        if (distance > NO_SLIDING) {
            const vec3 direction = v3_scale(sliding, -1.0f / distance);
            inverse_mass_sum = inverse_effective_mass(cluster, pose.rotation, arm, direction);
            inverse_mass_sum +=
                row != NONE ? split_inverse_effective_mass(VIEW_HERE_COMMA row, collider, now, direction) : 0.0f;
            held = v3_add_scaled(held, direction, distance / inverse_mass_sum);
        }
        const float wanted = v3_length(held);
        if (wanted > pair.static_friction * rough) {
            const float limit = friction_limit(VIEW_HERE_COMMA collider, pair, member, rest);
            held = v3_scale(held, limited_share(limit, wanted, rough));
        }
        const vec3 rubbed = v3_sub(held, friction_before);
        pose = pose_after_impulse(cluster, pose, arm, rubbed);
        momentum = v3_add(momentum, rubbed);
    }
    if (kept) {
        STORE(contact_impulses, member, v4_from_v3(held, load));
        STORE(contact_impulse_colliders, member, index);
    }
    if (row != NONE) {
        add_impulse(VIEW_HERE_COMMA slot, row, momentum);
    } else {
        add_collider_work(VIEW_HERE_COMMA slot, collider, momentum, p, start);
    }
    add_recorded_force(VIEW_HERE_COMMA slot, momentum);
    return pose;
}

// Warm start: begins with the last step's contact impulses, so that a body at rest stays at rest.
FUNCTION Pose warm_start_contacts(VIEW_COMMA Cluster cluster, Pose pose, vec3 origin)
{
    const Pose target = pose;
    for (uint entry = cluster.first_entry; entry < cluster.first_entry + cluster.entry_count; entry++) {
        const uint member = LOAD(entry_members, entry);
        const vec4 last_impulse = LOAD(contact_impulses, member);
        if (last_impulse.w <= 0.0f) {
            continue;
        }
        const uint index = LOAD(contact_impulse_colliders, member);
        const uint slot = LOAD(handle_slots, member);
        vec4 resumed = v4(0.0f, 0.0f, 0.0f, 0.0f);
        if (slot != NONE && index < PARAMETER(collider_count)) {
            const Collider collider = LOAD(colliders, index);
            const vec3 rest = v3_sub(v3_from_v4(LOAD(entry_rests, entry)), origin);
            const vec3 p = v3_add(target.centre, rotate(target.rotation, rest));
            const vec4 way_out = penetration(VIEW_HERE_COMMA collider, to_collider(collider, p), PARAMETER(margin));
            const uint row = dynamic_row_of(VIEW_HERE_COMMA index);
            if (way_out.w > 0.0f && (row == NONE || has_impulse_slot(VIEW_HERE_COMMA slot, row))) {
                const float scale = PARAMETER(warm_start_scale);
                resumed =
                    v4(last_impulse.x * scale, last_impulse.y * scale, last_impulse.z * scale, last_impulse.w * scale);
                const vec3 normal = rotate(collider.rotation, v3_from_v4(way_out));
                const vec3 momentum =
                    v3_mul(v3_add_scaled(v3_from_v4(resumed), normal, resumed.w), PARAMETER(motion_mask));
                pose = pose_after_impulse(cluster, pose, rotate(pose.rotation, rest), momentum);
                add_recorded_force(VIEW_HERE_COMMA slot, momentum);
                if (row != NONE) {
                    add_impulse(VIEW_HERE_COMMA slot, row, momentum);
                } else {
                    add_collider_work(VIEW_HERE_COMMA slot, collider, momentum, p, v3_from_v4(LOAD(positions, slot)));
                }
            }
        }
        STORE(contact_impulses, member, resumed);
    }
    return pose;
}

// Counts the particles of a rigid body that are still inside a collider after all contacts were solved, if the body is
// between two colliders, or between the walls of a container.
FUNCTION void count_squeezed(VIEW_COMMA Cluster cluster, Pose pose, vec3 origin)
{
    const float margin = PARAMETER(margin);
    const float reach = SQUEEZE_REACH * margin;
    uint pressing = 0u;
    uint caught = 0u;
    uint caught_id = 0u;
    for (uint s = 0u; s < PARAMETER(collider_count); s++) {
        const Collider collider = LOAD(colliders, s);
        bool touches = false;
        for (uint e = cluster.first_entry; e < cluster.first_entry + cluster.entry_count; e++) {
            const uint slot = LOAD(handle_slots, LOAD(entry_members, e));
            if (slot == NONE || dynamic_row_of(VIEW_HERE_COMMA s) != NONE) {
                continue;
            }
            const vec3 rest = v3_sub(v3_from_v4(LOAD(entry_rests, e)), origin);
            const vec3 p = v3_add(pose.centre, rotate(pose.rotation, rest));
            const float depth = penetration(VIEW_HERE_COMMA collider, to_collider(collider, p), reach).w;
            touches = touches || depth > 0.0f;
            if (depth > reach) { // its centre is
                caught++;
                caught_id = LOAD(ids, slot) + 1u > caught_id ? LOAD(ids, slot) + 1u : caught_id;
            }
        }
        pressing += touches ? (collider.inside_out != 0u ? 2u : 1u) : 0u;
    }
    if (caught > 0u && pressing > 1u) {
        ATOMIC_ADD(counters, COUNTER_SQUEEZED, caught);
        ATOMIC_MAX(counters, COUNTER_SQUEEZED_ID, caught_id);
    }
}

// Solves the contacts of a rigid body with colliders by Gauss-Seidel over its particles, which converges fastest for
// the few particles in contact. Bodies run in parallel.
FUNCTION Pose solve_rigid_contacts(VIEW_COMMA Cluster cluster, uint index, Pose pose)
{
    const vec3 origin = v3_from_v4(LOAD(cluster_origins, index));
    const float reach = cluster.radius * 1.01f + PARAMETER(margin);
    if (PARAMETER(stabilizing) == 0u && PARAMETER(iteration) == 0u) {
        pose = warm_start_contacts(VIEW_HERE_COMMA cluster, pose, origin);
    }
    uint walls = 0u; // that it is between, perhaps
    for (uint s = 0u; s < PARAMETER(collider_count); s++) {
        const Collider collider = LOAD(colliders, s);
        const vec3 place = PARAMETER(stabilizing) != 0u ? to_collider_at_start(collider, pose.centre)
                                                        : to_collider(collider, pose.centre);
        const float moved =
            PARAMETER(stabilizing) != 0u ? 0.0f : v3_length(v3_sub(pose.centre, LOAD(motions, index).start_centre));
        if (collider_distance(VIEW_HERE_COMMA collider, place).w > reach + moved) {
            continue; // none of its particles can touch
        }
        walls += collider.inside_out != 0u ? 2u : 1u;
        for (uint n = 0u; n < COLLIDER_SWEEPS * cluster.entry_count; n++) {
            const uint turn_back = n >= cluster.entry_count ? 2u * cluster.entry_count - 1u - n : n;
            const uint entry = cluster.first_entry + turn_back;
            const uint member = LOAD(entry_members, entry);
            if (LOAD(handle_slots, member) != NONE) {
                const vec3 rest = v3_sub(v3_from_v4(LOAD(entry_rests, entry)), origin);
                pose = solve_rigid_contact(VIEW_HERE_COMMA cluster, pose, s, member, rest);
            }
        }
    }
    if (walls > 1u && PARAMETER(stabilizing) == 0u && PARAMETER(iteration) + 1u == PARAMETER(iteration_count)) {
        count_squeezed(VIEW_HERE_COMMA cluster, pose, origin);
    }
    return pose;
}

#endif
