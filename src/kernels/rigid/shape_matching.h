// SPDX-License-Identifier: MIT
// shape_matching.h - an iteration of shape matching and the end of a body's step (UPP sections 4.5, 5 and 5.3).
#ifndef MOTE_KERNELS_SHAPE_MATCHING_H
#define MOTE_KERNELS_SHAPE_MATCHING_H

#include "data.h"
#include "rigid/bodies.h"
#include "rigid/rigid_contacts.h"

#define ROTATION_ITERATIONS 8u     // at most; one or two are usual from the last step's rotation
#define ROTATION_TOLERANCE  1e-14f // squared, rad^2
#define SINE_LIMIT          0.7f   // rad, nearly: what a soft body may turn in a step without losing spin

// ---- An iteration ------------------------------------------------------------------------------------------

// Sums of a chunk at the points at which contacts are solved. Rigid: momentum of the corrections and its moment. Soft:
// the columns of UPP eq. 16 for the positions at the start of the step, the moment of the present positions about
// those, and the sums that refer them to the centres of mass.
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
        const uint slot = LOAD(handle_slots, LOAD(entry_members, e));
        if (slot == NONE) {
            continue;
        }
        const vec4 rest = LOAD(entry_rests, e);
        const vec3 arm = v3_sub(v3_from_v4(LOAD(contact_points, slot)), centre);
        const vec4 correction = LOAD(corrections, slot);
        if (rigid) {
            const vec3 momentum = v3_scale(v3_from_v4(correction), rest.w);
            const vec3 moment = v3_cross(arm, momentum);
            offsets = v4(offsets.x + momentum.x, offsets.y + momentum.y, offsets.z + momentum.z, offsets.w + rest.w);
            x = v4(x.x + moment.x, x.y + moment.y, x.z + moment.z, x.w + correction.w);
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
        q = quat_integrate(q, angle);
        if (v3_dot(angle, angle) < ROTATION_TOLERANCE) {
            return q;
        }
    }
    return q;
}

// ---- Matching ----------------------------------------------------------------------------------------------

// Moves rigid clusters by the pressure of liquids, before contacts are solved. The pressure must not be scaled, because
// the liquid got the full reaction. Scaled down together with uncounted contacts (match_clusters), the pressure below a
// box was a fifth too low, and the box lay too deep.
KERNEL(apply_fluid_pressure)
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
    STORE(cluster_rotations, i, quat_integrate(rotation, v3_limit(angle, ROTATION_LIMIT)));
}

// Moves rigid clusters by the corrections of their particles and out of colliders; fits soft ones to their particles.
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
        // With more contacts than the mass was split among, corrections are scaled down.
        const vec4 counted = LOAD(cluster_origins, i);
        const float share = min_f32(counted.w / max_f32(x.w, 1.0f), 1.0f);
        const vec3 angle = v3_scale(inverse_inertia_times(cluster, rotation, v3_from_v4(x)), share);
        Pose pose = {quat_integrate(rotation, v3_limit(angle, ROTATION_LIMIT)),
                     v3_add_scaled(v3_from_v4(centre), mean, share), 0.0f};
        pose = solve_rigid_contacts(VIEW_HERE_COMMA cluster, i, pose);
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

// Moves members to their goal positions (UPP eq. 15): the mean over their clusters, which share their mass equally, so
// that momentum is conserved. Corrections have been applied and are cleared.
KERNEL(match_members)
{
    const uint slot = LOAD(handle_slots, i);
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
        delta = v3_add_scaled(delta, v3_sub(place, v3_from_v4(particle)), LOAD(clusters, cluster).stiffness);
    }
    delta = v3_mul(v3_scale(delta, 1.0f / F32(end - begin)), PARAMETER(motion_mask));
    const vec3 moved = v3_add(v3_from_v4(particle), delta);
    STORE(contact_points, slot, v4_from_v3(moved, particle.w));
    STORE(corrections, slot, v4(0.0f, 0.0f, 0.0f, 0.0f));
    if (PARAMETER(stabilizing) != 0u) { // the candidate goes along: the correction becomes no velocity
        const vec4 candidate = LOAD(predicted, slot);
        STORE(predicted, slot, v4_from_v3(v3_add(v3_from_v4(candidate), delta), candidate.w));
    }
}

// ---- The step's end ----------------------------------------------------------------------------------------

// Final velocities of a rigid cluster: the predicted ones plus the changes by constraints. A cluster that has hardly
// moved keeps its position (UPP section 4.5, for the body as a whole).
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
    const float turned = v3_length(quat_difference(motion.start_rotation, rotation)) * cluster.radius;
    if (shifted + turned < PARAMETER(sleep_distance)) {
        motion.asleep = 1u;
        motion.velocity = v3(0.0f, 0.0f, 0.0f);
        motion.angular_momentum = v3(0.0f, 0.0f, 0.0f);
        motion.angular_velocity = v3(0.0f, 0.0f, 0.0f);
        STORE(cluster_centres, i, v4_from_v3(motion.start_centre, centre.w));
        STORE(cluster_rotations, i, motion.start_rotation);
        STORE(motions, i, motion);
        return;
    }
    const vec3 pushed = v3_scale(v3_sub(v3_from_v4(centre), motion.predicted_centre), 1.0f / dt);
    const vec3 twisted = v3_scale(quat_difference(motion.predicted_rotation, rotation), 1.0f / dt);
    motion.velocity = v3_add(motion.velocity, v3_limit(pushed, PARAMETER(max_velocity_change)));
    motion.angular_momentum = v3_add(motion.angular_momentum, inertia_times(cluster, rotation, twisted));
    motion.angular_velocity = inverse_inertia_times(cluster, rotation, motion.angular_momentum);
    STORE(motions, i, motion);
}

// The velocity that a particle of a rigid body has by its body's motion.
FUNCTION vec3 velocity_in_cluster(VIEW_COMMA uint cluster, vec3 position)
{
    const Motion motion = LOAD(motions, cluster);
    const vec3 arm = v3_sub(position, v3_from_v4(LOAD(cluster_centres, cluster)));
    return velocity_at(motion, arm);
}

#endif
