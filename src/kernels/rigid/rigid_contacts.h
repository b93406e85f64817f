// SPDX-License-Identifier: MIT
// rigid_contacts.h - contacts of rigid bodies with shapes: forces that last, and obey Coulomb's law over a step. A
// body's particles are visited one after the other, each seeing what those before it did.
#ifndef MOTE_KERNELS_RIGID_CONTACTS_H
#define MOTE_KERNELS_RIGID_CONTACTS_H

#include "data.h"
#include "collider/coupling.h"
#include "collider/distance.h"
#include "contact/collider_contacts.h"
#include "contact/coulomb.h"
#include "contact/material.h"
#include "rigid/bodies.h"

#define TURN_LIMIT    0.5f  // rad that one group of contacts may turn a body
#define SLIP_SLACK    0.2f  // of what gravity moves in a step
#define SHAPE_SWEEPS  2u    // over a rigid body's particles, there and back
#define SQUEEZE_REACH 1.05f // margins from a shape at which a body leans on it

STRUCT(Pose)
{
    vec4 rotation;
    vec3 centre; // m
    float unused;
};

FUNCTION Pose push_pose(Cluster cluster, Pose pose, vec3 arm, vec3 momentum)
{
    const vec3 angle = inverse_inertia_times(cluster, pose.rotation, v3_cross(arm, momentum));
    pose.centre = v3_add_scaled(pose.centre, momentum, 1.0f / cluster.mass);
    pose.rotation = turn_by(pose.rotation, v3_limit(angle, TURN_LIMIT));
    return pose;
}

// What shapes gave a rigid body's particle, for users to read; the body's own constraint did not.
FUNCTION void note_force(VIEW_COMMA uint slot, vec3 momentum)
{
    if (PARAMETER(recording) != 0u && PARAMETER(stabilizing) == 0u) {
        const float scale = 1.0f / (PARAMETER(time_step) * PARAMETER(time_step));
        const uint by_shapes = FORCE_SHAPES * PARAMETER(force_stride) + slot;
        const uint by_bodies = FORCE_BODIES * PARAMETER(force_stride) + slot;
        const vec3 given = v3_add_scaled(v3_from_v4(LOAD(forces, by_shapes)), momentum, scale);
        const vec3 taken = v3_add_scaled(v3_from_v4(LOAD(forces, by_bodies)), momentum, -scale);
        STORE(forces, by_shapes, v4_from_v3(given, 0.0f));
        STORE(forces, by_bodies, v4_from_v3(taken, 0.0f));
    }
}

// The limit of friction over pressure for a rigid body's particle and a shape. Within a step particle after particle is
// visited, and the first one would have to hold the whole body: what each of them holds says nothing of whether the
// body slips. So that is asked of the step as it would be without constraints, as UPP eq. 24 does: the particle slips
// if it goes farther along the shape than static friction allows for how far it goes in, and a little more, for a few
// iterations leave a body at rest some speed.
FUNCTION float friction_limit(VIEW_COMMA Shape shape, Material pair, uint member, vec3 rest)
{
    if (pair.static_friction <= pair.kinetic_friction) {
        return pair.kinetic_friction;
    }
    const Motion aim = LOAD(motions, LOAD(member_clusters, member));
    const vec3 p = v3_add(aim.aim_centre, rotate(aim.aim_rotation, rest));
    const vec4 way_out = penetration(VIEW_HERE_COMMA shape, to_shape(shape, p), PARAMETER(margin));
    const vec3 normal = rotate(shape.rotation, v3_from_v4(way_out));
    const vec3 start = v3_from_v4(LOAD(positions, LOAD(handle_slots, member)));
    const vec3 motion = v3_sub(p, carried_along(VIEW_HERE_COMMA shape, p, start));
    const vec3 sliding = v3_mul(tangential(motion, normal), PARAMETER(motion_mask));
    const float slack = SLIP_SLACK * v3_length(PARAMETER(gravity)) * PARAMETER(time_step) * PARAMETER(time_step);
    const bool holds = v3_length(sliding) < pair.static_friction * way_out.w + slack;
    return holds ? pair.static_friction : pair.kinetic_friction;
}

// One particle of a rigid body and one shape: momentum that takes it out, and what friction allows of the momentum that
// would stop its sliding (Coulomb's law between momenta; UPP eq. 24 has displacements, which for a single particle are
// the same). `holds` has the sums over the step.
FUNCTION Pose leave_shape(VIEW_COMMA Cluster cluster, Pose pose, uint index, uint member, vec3 rest)
{
    const Shape shape = LOAD(shapes, index);
    const uint slot = LOAD(handle_slots, member);
    const bool stabilizing = PARAMETER(stabilizing) != 0u;
    const uint row = stabilizing ? NONE : dynamic_row_of(VIEW_HERE_COMMA index);
    if (row != NONE && !has_push_slot(VIEW_HERE_COMMA slot, row)) {
        return pose;
    }
    const float margin = PARAMETER(margin);
    const vec3 start = v3_from_v4(LOAD(positions, slot));
    vec3 arm = rotate(pose.rotation, rest);
    const vec3 p = v3_add(pose.centre, arm);
    vec3 local = to_shape(shape, p);
    if (stabilizing) {
        local = start_in_shape(VIEW_HERE_COMMA shape, p);
    }
    vec3 normal = v3(0.0f, 1.0f, 0.0f);
    float depth = 0.0f;
    if (!stabilizing && shape_is_solid(shape)) {
        const vec4 swept = sweep(VIEW_HERE_COMMA shape, start_in_shape(VIEW_HERE_COMMA shape, start), local, margin);
        if (swept.w > 0.0f) { // back to where it entered
            const vec3 way = v3_sub(from_shape(shape, v3_from_v4(swept)), p);
            depth = v3_length(way);
            normal = v3_scale(way, 1.0f / max_f32(depth, 1e-30f));
        }
    }
    if (depth <= 0.0f) {
        const vec4 way_out = penetration(VIEW_HERE_COMMA shape, local, margin);
        depth = way_out.w;
        normal = rotate(stabilizing ? shape.start_rotation : shape.rotation, v3_from_v4(way_out));
    }
    if (depth > 0.0f && !stabilizing) {
        const vec3 motion = v3_sub(carried_along(VIEW_HERE_COMMA shape, p, start), p);
        depth = overlap_by_motion(VIEW_HERE_COMMA depth, v3_dot(motion, normal), normal);
    }
    // A shape that pressed earlier in the step may have pressed too much. Sums are kept for the first shape that does.
    const vec4 before = LOAD(holds, member);
    const bool pressing = !stabilizing && before.w > 0.0f && LOAD(hold_shapes, member) == index;
    if (depth <= 0.0f && !pressing) {
        return pose;
    }
    const bool kept = pressing || (!stabilizing && before.w <= 0.0f);
    const float load_before = kept ? before.w : 0.0f;
    const vec3 held_before = kept ? v3_from_v4(before) : v3(0.0f, 0.0f, 0.0f);
    normal = v3_mul(normal, PARAMETER(motion_mask));
    float give = inverse_effective_mass(cluster, pose.rotation, arm, normal);
    give += row != NONE ? contact_softness(VIEW_HERE_COMMA row, shape, p, normal) : 0.0f;
    const float load = normal_load(load_before, depth, give);
    vec3 momentum = v3_scale(normal, load - load_before);
    pose = push_pose(cluster, pose, arm, momentum);

    const Material pair = shape_material(VIEW_HERE_COMMA shape, LOAD(phases, slot));
    vec3 held = held_before;
    if (has_friction(pair) && !stabilizing) {
        arm = rotate(pose.rotation, rest);
        const vec3 now = v3_add(pose.centre, arm);
        const vec3 motion = v3_sub(now, carried_along(VIEW_HERE_COMMA shape, now, start));
        const float rough = load * surface_roughness(VIEW_HERE_COMMA shape, to_shape(shape, now));
        const vec3 sliding = v3_mul(tangential(motion, normal), PARAMETER(motion_mask));
        const float distance = v3_length(sliding);
        if (distance > NO_SLIDING) {
            const vec3 direction = v3_scale(sliding, -1.0f / distance);
            give = inverse_effective_mass(cluster, pose.rotation, arm, direction);
            give += row != NONE ? contact_softness(VIEW_HERE_COMMA row, shape, now, direction) : 0.0f;
            held = v3_add_scaled(held, direction, distance / give);
        }
        const float wanted = v3_length(held);
        if (wanted > pair.static_friction * rough) {
            const float limit = friction_limit(VIEW_HERE_COMMA shape, pair, member, rest);
            held = v3_scale(held, limited_share(limit, wanted, rough));
        }
        const vec3 rubbed = v3_sub(held, held_before);
        pose = push_pose(cluster, pose, arm, rubbed);
        momentum = v3_add(momentum, rubbed);
    }
    if (kept) {
        STORE(holds, member, v4_from_v3(held, load));
        STORE(hold_shapes, member, index);
    }
    if (row != NONE) {
        note_shape_push(VIEW_HERE_COMMA slot, row, momentum);
    } else {
        note_collider_work(VIEW_HERE_COMMA slot, shape, momentum, p, start);
    }
    note_force(VIEW_HERE_COMMA slot, momentum);
    return pose;
}

// Begins with what shapes held the body with in the last step: what rests, rests on the same forces again.
FUNCTION Pose resume_holds(VIEW_COMMA Cluster cluster, Pose pose, vec3 origin)
{
    const Pose aim = pose;
    for (uint entry = cluster.first_entry; entry < cluster.first_entry + cluster.entry_count; entry++) {
        const uint member = LOAD(entry_members, entry);
        const vec4 hold = LOAD(holds, member);
        if (hold.w <= 0.0f) {
            continue;
        }
        const uint index = LOAD(hold_shapes, member);
        const uint slot = LOAD(handle_slots, member);
        vec4 resumed = v4(0.0f, 0.0f, 0.0f, 0.0f);
        if (slot != NONE && index < PARAMETER(shape_count)) {
            const Shape shape = LOAD(shapes, index);
            const vec3 rest = v3_sub(v3_from_v4(LOAD(entry_rests, entry)), origin);
            const vec3 p = v3_add(aim.centre, rotate(aim.rotation, rest));
            const vec4 way_out = penetration(VIEW_HERE_COMMA shape, to_shape(shape, p), PARAMETER(margin));
            const uint row = dynamic_row_of(VIEW_HERE_COMMA index);
            if (way_out.w > 0.0f && (row == NONE || has_push_slot(VIEW_HERE_COMMA slot, row))) {
                const float scale = PARAMETER(hold_scale);
                resumed = v4(hold.x * scale, hold.y * scale, hold.z * scale, hold.w * scale);
                const vec3 normal = rotate(shape.rotation, v3_from_v4(way_out));
                const vec3 momentum =
                    v3_mul(v3_add_scaled(v3_from_v4(resumed), normal, resumed.w), PARAMETER(motion_mask));
                pose = push_pose(cluster, pose, rotate(pose.rotation, rest), momentum);
                note_force(VIEW_HERE_COMMA slot, momentum);
                if (row != NONE) {
                    note_shape_push(VIEW_HERE_COMMA slot, row, momentum);
                } else {
                    note_collider_work(VIEW_HERE_COMMA slot, shape, momentum, p, v3_from_v4(LOAD(positions, slot)));
                }
            }
        }
        STORE(holds, member, resumed);
    }
    return pose;
}

// Counts the particles of a rigid body that are inside a shape when all shapes have had their turns, if the body is
// between two of them, or between the walls of a container.
FUNCTION void count_squeezed(VIEW_COMMA Cluster cluster, Pose pose, vec3 origin)
{
    const float margin = PARAMETER(margin);
    const float reach = SQUEEZE_REACH * margin;
    uint pressing = 0u;
    uint caught = 0u;
    uint caught_id = 0u;
    for (uint s = 0u; s < PARAMETER(shape_count); s++) {
        const Shape shape = LOAD(shapes, s);
        bool touches = false;
        for (uint e = cluster.first_entry; e < cluster.first_entry + cluster.entry_count; e++) {
            const uint slot = LOAD(handle_slots, LOAD(entry_members, e));
            if (slot == NONE || dynamic_row_of(VIEW_HERE_COMMA s) != NONE) {
                continue;
            }
            const vec3 rest = v3_sub(v3_from_v4(LOAD(entry_rests, e)), origin);
            const vec3 p = v3_add(pose.centre, rotate(pose.rotation, rest));
            const float depth = penetration(VIEW_HERE_COMMA shape, to_shape(shape, p), reach).w;
            touches = touches || depth > 0.0f;
            if (depth > reach) { // its centre is
                caught++;
                caught_id = LOAD(ids, slot) + 1u > caught_id ? LOAD(ids, slot) + 1u : caught_id;
            }
        }
        pressing += touches ? (shape.inside_out != 0u ? 2u : 1u) : 0u;
    }
    if (caught > 0u && pressing > 1u) {
        ATOMIC_ADD(counters, COUNTER_SQUEEZED, caught);
        ATOMIC_MAX(counters, COUNTER_SQUEEZED_ID, caught_id);
    }
}

// Takes a rigid body out of the shapes, a particle after the other, each seeing what those before it did: the fastest
// way to rest for the few particles that touch, and bodies run in parallel.
FUNCTION Pose leave_shapes(VIEW_COMMA Cluster cluster, uint index, Pose pose)
{
    const vec3 origin = v3_from_v4(LOAD(cluster_origins, index));
    const float reach = cluster.radius * 1.01f + PARAMETER(margin);
    if (PARAMETER(stabilizing) == 0u && PARAMETER(iteration) == 0u) {
        pose = resume_holds(VIEW_HERE_COMMA cluster, pose, origin);
    }
    uint walls = 0u; // that it is between, perhaps
    for (uint s = 0u; s < PARAMETER(shape_count); s++) {
        const Shape shape = LOAD(shapes, s);
        const vec3 place =
            PARAMETER(stabilizing) != 0u ? to_shape_at_start(shape, pose.centre) : to_shape(shape, pose.centre);
        const float moved =
            PARAMETER(stabilizing) != 0u ? 0.0f : v3_length(v3_sub(pose.centre, LOAD(motions, index).start_centre));
        if (shape_distance(VIEW_HERE_COMMA shape, place).w > reach + moved) {
            continue; // none of its particles can touch
        }
        walls += shape.inside_out != 0u ? 2u : 1u;
        for (uint n = 0u; n < SHAPE_SWEEPS * cluster.entry_count; n++) {
            const uint turn_back = n >= cluster.entry_count ? 2u * cluster.entry_count - 1u - n : n;
            const uint entry = cluster.first_entry + turn_back;
            const uint member = LOAD(entry_members, entry);
            if (LOAD(handle_slots, member) != NONE) {
                const vec3 rest = v3_sub(v3_from_v4(LOAD(entry_rests, entry)), origin);
                pose = leave_shape(VIEW_HERE_COMMA cluster, pose, s, member, rest);
            }
        }
    }
    if (walls > 1u && PARAMETER(stabilizing) == 0u && PARAMETER(iteration) + 1u == PARAMETER(iteration_count)) {
        count_squeezed(VIEW_HERE_COMMA cluster, pose, origin);
    }
    return pose;
}

#endif
