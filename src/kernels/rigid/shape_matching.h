// SPDX-License-Identifier: MIT
// shape_matching.h - an iteration of shape matching and the end of a body's step (UPP sections 4.5, 5 and 5.3).
#ifndef MOTE_KERNELS_SHAPE_MATCHING_H
#define MOTE_KERNELS_SHAPE_MATCHING_H

#include "data.h"
#include "collider/coupling.h"
#include "collider/distance.h"
#include "contact/collider_contacts.h"
#include "contact/material.h"
#include "rigid/bodies.h"

#define ROTATION_ITERATIONS 8u     // at most; one or two are usual from the last step's rotation
#define ROTATION_TOLERANCE  1e-14f // squared, rad^2
#define SINE_LIMIT          0.7f   // rad, nearly: what a soft body may turn in a step without losing spin
#define TURN_LIMIT          0.5f   // rad that one group of contacts may turn a body
#define SLIP_SLACK          0.2f   // of what gravity moves in a step
#define SHAPE_SWEEPS        2u     // over a rigid body's particles, there and back
#define SQUEEZE_REACH       1.05f  // margins from a shape at which a body leans on it

// ---- An iteration ------------------------------------------------------------------------------------------

// Sums of a chunk at the points that contacts are solved at. Rigid: momentum of the pushes and its moment. Soft: the
// columns of UPP eq. 16 for where the step began, the moment of where its particles are now about there, and what is
// needed to take them about the centres of mass.
KERNEL(sum_members)
{
    const uvec2 chunk = LOAD(chunks, i);
    const uint cluster = LOAD(entry_clusters, chunk.x);
    const bool rigid = (LOAD(clusters, cluster).flags & CLUSTER_RIGID) != 0u;
    const vec3 centre = v3_from_v4(LOAD(cluster_centres, cluster));
    vec4 offsets = v4(0.0f, 0.0f, 0.0f, 0.0f);
    vec4 x = v4(0.0f, 0.0f, 0.0f, 0.0f);
    vec4 y = v4(0.0f, 0.0f, 0.0f, 0.0f);
    vec4 z = v4(0.0f, 0.0f, 0.0f, 0.0f);
    vec3 starts = v3(0.0f, 0.0f, 0.0f);
    vec3 moments = v3(0.0f, 0.0f, 0.0f);
    for (uint e = chunk.x; e < chunk.y; e++) {
        const uint slot = LOAD(member_slots, LOAD(entry_members, e));
        if (slot == NONE) {
            continue;
        }
        const vec4 rest = LOAD(entry_rests, e);
        const vec3 arm = v3_sub(v3_from_v4(LOAD(contact_points, slot)), centre);
        const vec4 push = LOAD(pushes, slot);
        if (rigid) {
            const vec3 momentum = v3_scale(v3_from_v4(push), rest.w);
            const vec3 moment = v3_cross(arm, momentum);
            offsets = v4(offsets.x + momentum.x, offsets.y + momentum.y, offsets.z + momentum.z, offsets.w + rest.w);
            x = v4(x.x + moment.x, x.y + moment.y, x.z + moment.z, x.w + push.w);
        } else {
            const vec3 offset = v3_scale(arm, rest.w);
            const vec3 start = v3_scale(v3_sub(v3_from_v4(LOAD(positions, slot)), centre), rest.w);
            offsets = v4(offsets.x + offset.x, offsets.y + offset.y, offsets.z + offset.z, offsets.w + rest.w);
            x = v4(x.x + start.x * rest.x, x.y + start.y * rest.x, x.z + start.z * rest.x, x.w + rest.w * rest.x);
            y = v4(y.x + start.x * rest.y, y.y + start.y * rest.y, y.z + start.z * rest.y, y.w + rest.w * rest.y);
            z = v4(z.x + start.x * rest.z, z.y + start.y * rest.z, z.z + start.z * rest.z, z.w + rest.w * rest.z);
            starts = v3_add(starts, start);
            moments = v3_add(moments, v3_cross(start, arm));
        }
    }
    STORE(chunk_sums, i * CHUNK_SUMS, offsets);
    STORE(chunk_sums, i * CHUNK_SUMS + 1u, x);
    STORE(chunk_sums, i * CHUNK_SUMS + 2u, y);
    STORE(chunk_sums, i * CHUNK_SUMS + 3u, z);
    STORE(chunk_sums, i * CHUNK_SUMS + 4u, v4_from_v3(starts, 0.0f));
    STORE(chunk_sums, i * CHUNK_SUMS + 5u, v4_from_v3(moments, 0.0f));
}

// The rotation R, from `q` on, with which no turning moment remains about where the step began: sum of
// m x0 x (R r - x) = 0, where r is the rest pose and x0 has the columns x, y, z with it. A step from x0 to x + d
// changes angular momentum by sum of m x0 x d / dt, to all orders; the nearest rotation (UPP eq. 16) balances moments
// about x instead, and a body that spins at w would lose the share (w dt)^2 / 2 of its momentum in each step. Where
// nothing moves the two are the same. As in Mueller et al. 2016 there is no decomposition, and no trouble with flat,
// thin or collapsed shapes; their step is the torque over the trace, and with the inertia of the rest pose in its place
// the last digits come in one or two steps.
FUNCTION vec4 balanced_rotation(Cluster cluster, vec3 x, vec3 y, vec3 z, vec3 moment, vec4 q)
{
    const vec3 inertia = cluster.inertia_diagonal;
    const float rest_trace = 0.5f * (inertia.x + inertia.y + inertia.z); // sum of m r^2
    // No rotation has a larger moment than the sine of a right angle gives; a body that spins faster than its steps can
    // tell is slowed down.
    const vec3 turn = v3_limit(inverse_inertia_times(cluster, q, moment), SINE_LIMIT);
    const vec3 wanted = inertia_times(cluster, q, turn);
    for (uint n = 0u; n < ROTATION_ITERATIONS; n++) {
        const vec3 own_x = rotate(q, v3(1.0f, 0.0f, 0.0f));
        const vec3 own_y = rotate(q, v3(0.0f, 1.0f, 0.0f));
        const vec3 own_z = rotate(q, v3(0.0f, 0.0f, 1.0f));
        const vec3 present = v3_add(v3_add(v3_cross(x, own_x), v3_cross(y, own_y)), v3_cross(z, own_z));
        const float trace = fabsf(v3_dot(own_x, x) + v3_dot(own_y, y) + v3_dot(own_z, z));
        const float stretch = rest_trace / max_f32(trace, 1e-3f * rest_trace + 1e-30f);
        const vec3 lacking = inverse_inertia_times(cluster, q, v3_sub(wanted, present));
        const vec3 angle = v3_limit(v3_scale(lacking, stretch), 1.0f); // rad, far from the answer
        q = turn_by(q, angle);
        if (v3_dot(angle, angle) < ROTATION_TOLERANCE) {
            return q;
        }
    }
    return q;
}

// ---- Rigid bodies and shapes -------------------------------------------------------------------------------

STRUCT(Pose)
{
    vec4 rotation;
    vec3 centre; // m
    float unused;
};

// By how much a body's point gives way to a unit of momentum along `direction`.
FUNCTION float softness(Cluster cluster, Pose pose, vec3 arm, vec3 direction)
{
    const vec3 turning = v3_cross(arm, direction);
    return 1.0f / cluster.mass + v3_dot(turning, inverse_inertia_times(cluster, pose.rotation, turning));
}

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
    const vec3 start = v3_from_v4(LOAD(positions, LOAD(member_slots, member)));
    const vec3 motion = v3_sub(p, carried_along(VIEW_HERE_COMMA shape, p, start));
    const vec3 sliding = v3_mul(v3_add_scaled(motion, normal, -v3_dot(motion, normal)), PARAMETER(motion_mask));
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
    const uint slot = LOAD(member_slots, member);
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
    float give = softness(cluster, pose, arm, normal);
    give += row != NONE ? contact_softness(VIEW_HERE_COMMA row, shape, p, normal) : 0.0f;
    const float load = max_f32(load_before + depth / give, 0.0f);
    vec3 momentum = v3_scale(normal, load - load_before);
    pose = push_pose(cluster, pose, arm, momentum);

    const Material pair = shape_material(VIEW_HERE_COMMA shape, LOAD(phases, slot));
    vec3 held = held_before;
    const bool rubs = pair.static_friction > 0.0f || pair.kinetic_friction > 0.0f;
    if (rubs && !stabilizing) {
        arm = rotate(pose.rotation, rest);
        const vec3 now = v3_add(pose.centre, arm);
        const vec3 motion = v3_sub(now, carried_along(VIEW_HERE_COMMA shape, now, start));
        const float rough = load * surface_roughness(VIEW_HERE_COMMA shape, to_shape(shape, now));
        const vec3 sliding = v3_mul(v3_add_scaled(motion, normal, -v3_dot(motion, normal)), PARAMETER(motion_mask));
        const float distance = v3_length(sliding);
        if (distance > 1e-12f) {
            const vec3 direction = v3_scale(sliding, -1.0f / distance);
            give = softness(cluster, pose, arm, direction);
            give += row != NONE ? contact_softness(VIEW_HERE_COMMA row, shape, now, direction) : 0.0f;
            held = v3_add_scaled(held, direction, distance / give);
        }
        const float wanted = v3_length(held);
        if (wanted > pair.static_friction * rough) {
            const float limit = friction_limit(VIEW_HERE_COMMA shape, pair, member, rest);
            held = v3_scale(held, min_f32(limit * rough / max_f32(wanted, 1e-30f), 1.0f));
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
        const uint slot = LOAD(member_slots, member);
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
            const uint slot = LOAD(member_slots, LOAD(entry_members, e));
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
            if (LOAD(member_slots, member) != NONE) {
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

// ---- Matching ----------------------------------------------------------------------------------------------

// Moves rigid clusters by the pressure of liquids alone, before contacts are solved. What a liquid has given must
// arrive whole, for the liquid has got the same with the other sign: the share that is taken of contacts which were not
// counted (match_clusters) took a fifth off the pressure below a box, and it lay too deep.
KERNEL(press_clusters)
{
    const Cluster cluster = LOAD(clusters, i);
    const vec4 offsets = sum_of_chunks(VIEW_HERE_COMMA cluster, 0u);
    if ((cluster.flags & CLUSTER_RIGID) == 0u || offsets.w <= 0.0f) {
        return;
    }
    const vec4 centre = LOAD(cluster_centres, i);
    const vec4 rotation = LOAD(cluster_rotations, i);
    const vec3 moment = v3_from_v4(sum_of_chunks(VIEW_HERE_COMMA cluster, 1u));
    const vec3 angle = inverse_inertia_times(cluster, rotation, moment);
    const vec3 moved = v3_add_scaled(v3_from_v4(centre), v3_from_v4(offsets), 1.0f / offsets.w);
    STORE(cluster_centres, i, v4_from_v3(moved, centre.w));
    STORE(cluster_rotations, i, turn_by(rotation, v3_limit(angle, TURN_LIMIT)));
}

// Moves rigid clusters by what pushed their particles and out of shapes, fits soft ones to their particles.
KERNEL(match_clusters)
{
    const Cluster cluster = LOAD(clusters, i);
    const vec4 offsets = sum_of_chunks(VIEW_HERE_COMMA cluster, 0u);
    if (offsets.w <= 0.0f) {
        return;
    }
    const vec4 centre = LOAD(cluster_centres, i);
    const vec4 rotation = LOAD(cluster_rotations, i);
    const vec3 mean = v3_scale(v3_from_v4(offsets), 1.0f / offsets.w);
    const vec4 x = sum_of_chunks(VIEW_HERE_COMMA cluster, 1u);
    if ((cluster.flags & CLUSTER_RIGID) != 0u) {
        // More contacts than the mass was split among would move it too far.
        const vec4 counted = LOAD(cluster_origins, i);
        const float share = min_f32(counted.w / max_f32(x.w, 1.0f), 1.0f);
        const vec3 angle = v3_scale(inverse_inertia_times(cluster, rotation, v3_from_v4(x)), share);
        Pose pose = {turn_by(rotation, v3_limit(angle, TURN_LIMIT)), v3_add_scaled(v3_from_v4(centre), mean, share),
                     0.0f};
        pose = leave_shapes(VIEW_HERE_COMMA cluster, i, pose);
        STORE(cluster_centres, i, v4_from_v3(pose.centre, centre.w / share));
        STORE(cluster_origins, i, v4_from_v3(v3_from_v4(counted), max_f32(counted.w, x.w)));
        STORE(cluster_rotations, i, pose.rotation);
        return;
    }
    if (PARAMETER(stabilizing) != 0u) {
        return; // its deformation is no error of the last step
    }
    // Offsets were taken from the last centre and from the rest pose's: the products of the means are not deformation.
    const vec4 y = sum_of_chunks(VIEW_HERE_COMMA cluster, 2u);
    const vec4 z = sum_of_chunks(VIEW_HERE_COMMA cluster, 3u);
    const vec3 origin = v3_scale(v3(x.w, y.w, z.w), 1.0f / offsets.w);
    const vec3 starts = v3_from_v4(sum_of_chunks(VIEW_HERE_COMMA cluster, 4u));
    const vec3 moments = v3_from_v4(sum_of_chunks(VIEW_HERE_COMMA cluster, 5u));
    const vec3 column_x = v3_add_scaled(v3_from_v4(x), starts, -origin.x);
    const vec3 column_y = v3_add_scaled(v3_from_v4(y), starts, -origin.y);
    const vec3 column_z = v3_add_scaled(v3_from_v4(z), starts, -origin.z);
    const vec3 moment = v3_sub(moments, v3_cross(starts, mean));
    STORE(cluster_origins, i, v4_from_v3(origin, 0.0f));
    STORE(cluster_centres, i, v4_from_v3(v3_add(v3_from_v4(centre), mean), centre.w));
    STORE(cluster_rotations, i, balanced_rotation(cluster, column_x, column_y, column_z, moment, rotation));
}

// Moves members to their places (UPP eq. 15): the mean over the clusters they are in, which share their mass equally,
// so that momentum is conserved. Pushes have been heeded and are cleared.
KERNEL(match_members)
{
    const uint slot = LOAD(member_slots, i);
    if (slot == NONE) {
        return;
    }
    const uint first = LOAD(member_clusters, i);
    if (PARAMETER(stabilizing) != 0u && (LOAD(clusters, first).flags & CLUSTER_RIGID) == 0u) {
        return;
    }
    const uint begin = LOAD(member_starts, i);
    const uint end = LOAD(member_starts, i + 1u);
    const vec4 particle = LOAD(contact_points, slot);
    vec3 delta = v3(0.0f, 0.0f, 0.0f);
    for (uint k = begin; k < end; k++) {
        const uint entry = LOAD(member_entries, k);
        const uint cluster = LOAD(entry_clusters, entry);
        const vec3 place = place_of_entry(VIEW_HERE_COMMA entry, cluster);
        delta = v3_add_scaled(delta, v3_sub(place, v3_from_v4(particle)), LOAD(clusters, cluster).pull);
    }
    delta = v3_mul(v3_scale(delta, 1.0f / F32(end - begin)), PARAMETER(motion_mask));
    const vec3 moved = v3_add(v3_from_v4(particle), delta);
    STORE(contact_points, slot, v4_from_v3(moved, particle.w));
    STORE(pushes, slot, v4(0.0f, 0.0f, 0.0f, 0.0f));
    if (PARAMETER(stabilizing) != 0u) { // the candidate goes along: the correction becomes no velocity
        const vec4 candidate = LOAD(predicted, slot);
        STORE(predicted, slot, v4_from_v3(v3_add(v3_from_v4(candidate), delta), candidate.w));
    }
}

// ---- The step's end ----------------------------------------------------------------------------------------

// A rigid cluster's velocities: those it was predicted with, and what constraints changed since. A cluster that has
// hardly moved stays where it was (UPP section 4.5, for the body as a whole).
KERNEL(finish_clusters)
{
    const Cluster cluster = LOAD(clusters, i);
    if ((cluster.flags & CLUSTER_RIGID) == 0u) {
        return;
    }
    const float dt = PARAMETER(time_step);
    const vec4 centre = LOAD(cluster_centres, i);
    const vec4 rotation = LOAD(cluster_rotations, i);
    Motion motion = LOAD(motions, i);

    const float shifted = v3_length(v3_sub(v3_from_v4(centre), motion.start_centre));
    const float turned = v3_length(angle_between(motion.start_rotation, rotation)) * cluster.radius;
    if (shifted + turned < PARAMETER(sleep_distance)) {
        motion.asleep = 1u;
        motion.velocity = v3(0.0f, 0.0f, 0.0f);
        motion.momentum = v3(0.0f, 0.0f, 0.0f);
        motion.spin = v3(0.0f, 0.0f, 0.0f);
        STORE(cluster_centres, i, v4_from_v3(motion.start_centre, centre.w));
        STORE(cluster_rotations, i, motion.start_rotation);
        STORE(motions, i, motion);
        return;
    }
    const vec3 pushed = v3_scale(v3_sub(v3_from_v4(centre), motion.aim_centre), 1.0f / dt);
    const vec3 twisted = v3_scale(angle_between(motion.aim_rotation, rotation), 1.0f / dt);
    motion.velocity = v3_add(motion.velocity, v3_limit(pushed, PARAMETER(max_velocity_change)));
    motion.momentum = v3_add(motion.momentum, inertia_times(cluster, rotation, twisted));
    motion.spin = inverse_inertia_times(cluster, rotation, motion.momentum);
    STORE(motions, i, motion);
}

// ---- Restitution of rigid bodies ---------------------------------------------------------------------------

// Where a rigid body met a shape: sums over its particles in contact that came fast enough to bounce.
STRUCT(Impact)
{
    vec3 arm;
    float count;
    vec3 normal;
    float restitution;
    vec3 surface; // m/s, velocity of the shape there
    float unused;
};

FUNCTION Impact add_impact(VIEW_COMMA Impact sum, Motion before, Pose pose, Shape shape, uint slot, vec3 rest)
{
    const Material pair = shape_material(VIEW_HERE_COMMA shape, LOAD(phases, slot));
    const vec3 arm = rotate(pose.rotation, rest);
    const vec3 p = v3_add(pose.centre, arm);
    const vec3 local = to_shape(shape, p);
    const vec4 contact = penetration(VIEW_HERE_COMMA shape, local, PARAMETER(margin) * 1.01f + 1e-6f);
    if (pair.restitution <= 0.0f || contact.w <= 0.0f) {
        return sum;
    }
    const vec3 normal = v3_mul(rotate(shape.rotation, v3_from_v4(contact)), PARAMETER(motion_mask));
    const vec3 surface = v3_scale(v3_sub(p, from_shape_at_start(shape, local)), 1.0f / PARAMETER(time_step));
    const vec3 came = v3_add(before.velocity, v3_cross(before.spin, arm));
    if (v3_dot(v3_sub(came, surface), normal) < -PARAMETER(bounce_speed)) {
        sum.arm = v3_add(sum.arm, arm);
        sum.normal = v3_add(sum.normal, normal);
        sum.surface = v3_add(sum.surface, surface);
        sum.restitution += pair.restitution;
        sum.count += 1.0f;
    }
    return sum;
}

// One blow at the middle of where a body touches: a box that lands flat leaves flat.
FUNCTION Motion bounce_off(Cluster cluster, Motion motion, Motion before, Pose pose, Impact sum)
{
    const float length = v3_length(sum.normal);
    if (sum.count <= 0.0f || length < 1e-6f) {
        return motion;
    }
    const vec3 normal = v3_scale(sum.normal, 1.0f / length);
    const vec3 arm = v3_scale(sum.arm, 1.0f / sum.count);
    const vec3 surface = v3_scale(sum.surface, 1.0f / sum.count);
    const vec3 came = v3_sub(v3_add(before.velocity, v3_cross(before.spin, arm)), surface);
    const vec3 goes = v3_sub(v3_add(motion.velocity, v3_cross(motion.spin, arm)), surface);
    const float lacking = -sum.restitution / sum.count * v3_dot(came, normal) - v3_dot(goes, normal);
    if (lacking > 0.0f) {
        const vec3 momentum = v3_scale(normal, lacking / softness(cluster, pose, arm, normal));
        motion.velocity = v3_add_scaled(motion.velocity, momentum, 1.0f / cluster.mass);
        motion.momentum = v3_add(motion.momentum, v3_cross(arm, momentum));
        motion.spin = inverse_inertia_times(cluster, pose.rotation, motion.momentum);
    }
    return motion;
}

// After finish_clusters and bounce_pairs: rigid bodies off each other, by the pushes of their particles, and off
// shapes.
KERNEL(bounce_clusters)
{
    const Cluster cluster = LOAD(clusters, i);
    Motion motion = LOAD(motions, i);
    if ((cluster.flags & CLUSTER_RIGID) == 0u || motion.asleep != 0u) {
        return;
    }
    const vec3 origin = v3_from_v4(LOAD(cluster_origins, i));
    Pose pose = {LOAD(cluster_rotations, i), v3_from_v4(LOAD(cluster_centres, i)), 0.0f};
    Motion before = motion;
    before.velocity = v3_scale(v3_sub(motion.aim_centre, motion.start_centre), 1.0f / PARAMETER(time_step));
    before.spin = v3_scale(angle_between(motion.start_rotation, motion.aim_rotation), 1.0f / PARAMETER(time_step));
    vec3 pushed = v3(0.0f, 0.0f, 0.0f);
    vec3 twisted = v3(0.0f, 0.0f, 0.0f);
    for (uint e = cluster.first_entry; e < cluster.first_entry + cluster.entry_count; e++) {
        const uint slot = LOAD(member_slots, LOAD(entry_members, e));
        if (slot != NONE) {
            const vec4 rest = LOAD(entry_rests, e);
            const vec3 momentum = v3_scale(v3_from_v4(LOAD(pushes, slot)), rest.w);
            const vec3 arm = rotate(pose.rotation, v3_sub(v3_from_v4(rest), origin));
            pushed = v3_add(pushed, momentum);
            twisted = v3_add(twisted, v3_cross(arm, momentum));
            STORE(pushes, slot, v4(0.0f, 0.0f, 0.0f, 0.0f));
        }
    }
    motion.velocity = v3_add_scaled(motion.velocity, pushed, 1.0f / cluster.mass);
    motion.momentum = v3_add(motion.momentum, twisted);
    motion.spin = inverse_inertia_times(cluster, pose.rotation, motion.momentum);
    const float reach = cluster.radius * 1.01f + 1.1f * PARAMETER(margin);
    for (uint s = 0u; s < PARAMETER(shape_count); s++) {
        const Shape shape = LOAD(shapes, s);
        if (dynamic_row_of(VIEW_HERE_COMMA s) != NONE ||
            shape_distance(VIEW_HERE_COMMA shape, to_shape(shape, pose.centre)).w > reach) {
            continue; // a shape with a mass takes the blow without giving back
        }
        Impact sum = {v3(0.0f, 0.0f, 0.0f), 0.0f, v3(0.0f, 0.0f, 0.0f), 0.0f, v3(0.0f, 0.0f, 0.0f), 0.0f};
        uint touching = NONE; // one of its particles
        for (uint e = cluster.first_entry; e < cluster.first_entry + cluster.entry_count; e++) {
            const uint slot = LOAD(member_slots, LOAD(entry_members, e));
            if (slot != NONE) {
                touching = slot;
                const vec3 rest = v3_sub(v3_from_v4(LOAD(entry_rests, e)), origin);
                sum = add_impact(VIEW_HERE_COMMA sum, before, pose, shape, slot, rest);
            }
        }
        const vec3 unbounced = motion.velocity;
        motion = bounce_off(cluster, motion, before, pose, sum);
        if (PARAMETER(colliders_move) != 0u && sum.count > 0.0f && touching != NONE) {
            const vec3 gained = v3_scale(v3_sub(motion.velocity, unbounced), cluster.mass / sum.count);
            STORE(collider_work, touching, LOAD(collider_work, touching) + v3_dot(gained, sum.surface));
        }
    }
    STORE(motions, i, motion);
}

// The velocity that a particle of a rigid body has by its body's motion.
FUNCTION vec3 velocity_in_cluster(VIEW_COMMA uint cluster, vec3 position)
{
    const Motion motion = LOAD(motions, cluster);
    const vec3 arm = v3_sub(position, v3_from_v4(LOAD(cluster_centres, cluster)));
    return v3_add(motion.velocity, v3_cross(motion.spin, arm));
}

// Plasticity (Mueller and Chentanez 2011, UPP section 5.3): what an entry is deformed by beyond the yield creeps into
// its rest position; past the limit its particle becomes a plain sphere, for the distance field is no longer true.
KERNEL(creep_entries)
{
    const uint index = LOAD(entry_clusters, i);
    const Cluster cluster = LOAD(clusters, index);
    const uint member = LOAD(entry_members, i);
    const uint slot = LOAD(member_slots, member);
    if (cluster.yield <= 0.0f || slot == NONE) {
        return;
    }
    const vec4 rest = LOAD(entry_rests, i);
    const vec3 origin = v3_from_v4(LOAD(cluster_origins, index));
    const vec3 arm = v3_sub(v3_from_v4(LOAD(predicted, slot)), v3_from_v4(LOAD(cluster_centres, index)));
    const vec3 now = v3_add(rotate_back(LOAD(cluster_rotations, index), arm), origin);
    const vec3 deformation = v3_sub(now, v3_from_v4(rest));
    const float size = v3_length(deformation);
    if (size > cluster.yield) {
        const float share = min_f32(cluster.creep * PARAMETER(time_step), 1.0f) * (1.0f - cluster.yield / size);
        STORE(entry_rests, i, v4_from_v3(v3_add_scaled(v3_from_v4(rest), deformation, share), rest.w));
    }
    if (v3_length(v3_sub(now, v3_from_v4(LOAD(entry_shapes, i)))) > cluster.limit) {
        STORE(member_fields, member * MEMBER_FACES, v4(0.0f, 0.0f, 0.0f, NO_FIELD));
    }
}

#endif
