// SPDX-License-Identifier: MIT
// restitution.h - what contacts give back of the speed at which surfaces met, after the solve and once a step: of
// particles with each other (bounce_pairs) and with colliders (bounce_off_colliders), of rigid bodies (bounce_clusters)
// and of dynamic colliders (bounce_dynamic_colliders).
//
// With v the relative velocity along the normal that a step was predicted with, the solver leaves it at about 0.
// Newton's law of impact asks for -e v; what is lacking of that is given as an impulse, shared by inverse effective
// masses. Slow impacts do not bounce, as what rests would never come to rest (restitution_threshold: what gravity gives
// in two steps).
#ifndef MOTE_KERNELS_RESTITUTION_H
#define MOTE_KERNELS_RESTITUTION_H

#include "data.h"
#include "collider/coupling.h"
#include "collider/distance.h"
#include "collider/dynamic_colliders.h"
#include "contact/collider_contacts.h"
#include "contact/coulomb.h"
#include "contact/material.h"
#include "contact/particle_contacts.h"
#include "particle/neighbours.h"
#include "rigid/bodies.h"
#include "rigid/rigid_contacts.h"
#include "rigid/shape_matching.h"

#define BOUNCE_SWEEPS 4u // of the velocities of dynamic colliders

// ---- The law ----------------------------------------------------------------------------------------------

// Whether surfaces met fast enough to bounce; `approach` is along the normal, negative towards each other (m/s).
FUNCTION bool bounces(VIEW_COMMA float approach)
{
    return approach < -PARAMETER(restitution_threshold);
}

// What the speed `leaving` lacks of the one at which surfaces should part (m/s).
FUNCTION float lacking_speed(float restitution, float approach, float leaving)
{
    return -restitution * approach - leaving;
}

// How near a collider what has met it is after the solve (m).
FUNCTION float bounce_margin(VIEW)
{
    return PARAMETER(margin) * 1.01f + 1e-6f;
}

// The motion that a step was predicted with: velocity and spin before contacts.
FUNCTION Motion predicted_motion(VIEW_COMMA Motion motion)
{
    const float rate = 1.0f / PARAMETER(time_step);
    motion.velocity = v3_scale(v3_sub(motion.predicted_centre, motion.start_centre), rate);
    motion.angular_velocity = v3_scale(quat_difference(motion.start_rotation, motion.predicted_rotation), rate);
    return motion;
}

// ---- Particles --------------------------------------------------------------------------------------------

// Whether bounce_pairs has anything to do.
FUNCTION bool has_velocity_changes(VIEW)
{
    return PARAMETER(bouncing) != 0u || PARAMETER(velocity_friction) != 0u;
}

// The velocity a particle ends the step with, but for what bounces.
FUNCTION vec3 velocity_of_move(VIEW_COMMA uint i)
{
    const uint cluster = rigid_cluster_of(VIEW_HERE_COMMA i);
    const vec3 end = v3_from_v4(LOAD(predicted, i));
    if (cluster != NONE) {
        return velocity_in_cluster(VIEW_HERE_COMMA cluster, end);
    }
    return v3_scale(v3_sub(end, v3_from_v4(LOAD(positions, i))), 1.0f / PARAMETER(time_step));
}

// Changes of velocity: restitution of solids that met in the step, and friction where it is chosen
// to act on velocities after the solve (Mueller et al. 2007), which cannot hold a pile.
KERNEL(bounce_pairs)
{
    const vec4 here = LOAD(predicted, i);
    const uint phase = LOAD(phases, i);
    vec3 change = v3(0.0f, 0.0f, 0.0f);
    float contacts = 0.0f;
    const uint count = here.w > 0.0f ? LOAD(neighbour_counts, i) : 0u;
    const uint start = LOAD(neighbour_starts, i);
    const uint cluster = rigid_cluster_of(VIEW_HERE_COMMA i);
    const vec3 before = v3_from_v4(LOAD(velocities, i));
    const vec3 after = velocity_of_move(VIEW_HERE_COMMA i);
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        const uint other_phase = LOAD(phases, j);
        const vec4 there = LOAD(predicted, j);
        const vec3 offset = v3_sub(v3_from_v4(here), v3_from_v4(there));
        if (!can_touch(phase, other_phase) || has_density(phase) || has_density(other_phase)) {
            continue;
        }
        const float reach = pair_reach(VIEW_HERE_COMMA i, j, phase, other_phase);
        const vec4 contact = pair_contact(VIEW_HERE_COMMA i, j, offset, reach);
        if (contact.w <= -0.02f * reach) {
            continue;
        }
        const vec3 normal = v3_from_v4(contact);
        const uint other_cluster = rigid_cluster_of(VIEW_HERE_COMMA j);
        const ContactResponse own = contact_response(VIEW_HERE_COMMA i, cluster, here, normal);
        const ContactResponse other = contact_response(VIEW_HERE_COMMA j, other_cluster, there, normal);
        const float share =
            own.inverse_mass / max_f32(own.inverse_effective_mass + other.inverse_effective_mass, 1e-30f);
        const Material pair = pair_material(VIEW_HERE_COMMA phase, other_phase);
        const vec3 leaving = v3_sub(after, velocity_of_move(VIEW_HERE_COMMA j));
        const float speed = v3_dot(leaving, normal);
        const float approach = v3_dot(v3_sub(before, v3_from_v4(LOAD(velocities, j))), normal);
        const float lacking = lacking_speed(pair.restitution, approach, speed);
        contacts += 1.0f;
        if (bounces(VIEW_HERE_COMMA approach) && lacking > 0.0f) {
            change = v3_add_scaled(change, normal, lacking * share);
        }
        if (PARAMETER(velocity_friction) != 0u) {
            change = v3_add_scaled(change, tangential(leaving, normal), -velocity_friction_share(pair) * share);
        }
    }
    if (cluster == NONE && PARAMETER(contacts_global) != 0u) { // else masses are split, as those of bodies are
        change = v3_scale(change, 1.0f / max_f32(contacts, 1.0f));
    }
    STORE(velocity_changes, i, v4_from_v3(change, 0.0f));
}

// Gives back a fraction of the normal speed at which a particle met a collider, and takes some of its sliding where
// friction acts on velocities. `before` is the velocity it was predicted with, `after` the one the solver left it.
FUNCTION vec3 bounce_off_colliders(VIEW_COMMA uint i, vec3 p, vec3 before, vec3 after)
{
    const float dt = PARAMETER(time_step);
    const uint phase = LOAD(phases, i);
    for (uint s = 0u; s < PARAMETER(collider_count); s++) {
        const Collider collider = LOAD(colliders, s);
        const Material pair = collider_material(VIEW_HERE_COMMA collider, phase);
        if (pair.restitution <= 0.0f && PARAMETER(velocity_friction) == 0u) {
            continue;
        }
        const vec3 local = to_collider(collider, p);
        const vec4 contact = penetration(VIEW_HERE_COMMA collider, local, bounce_margin(VIEW_HERE));
        if (contact.w <= 0.0f) {
            continue;
        }
        const vec3 normal = rotate(collider.rotation, v3_from_v4(contact));
        const vec3 deforming = rotate(collider.rotation, surface_velocity(VIEW_HERE_COMMA collider, local));
        const vec3 surface = v3_add(deforming, pose_velocity(VIEW_HERE_COMMA collider, local, p));
        const float approach = v3_dot(v3_sub(before, surface), normal);
        const float leaving = v3_dot(v3_sub(after, surface), normal);
        const float lacking = lacking_speed(pair.restitution, approach, leaving);
        const vec3 unbounced = after;
        const uint row = dynamic_row_of(VIEW_HERE_COMMA s);
        float share = 1.0f;
        if (row != NONE) { // the rest is the collider's
            const float inverse_effective_mass = LOAD(predicted, i).w;
            share = inverse_effective_mass /
                    (inverse_effective_mass + split_inverse_effective_mass(VIEW_HERE_COMMA row, collider, p, normal));
        }
        if (bounces(VIEW_HERE_COMMA approach) && lacking > 0.0f) {
            after = v3_add_scaled(after, normal, lacking * share);
        }
        if (PARAMETER(velocity_friction) != 0u) {
            const vec3 sliding = tangential(v3_sub(after, surface), normal);
            after = v3_add_scaled(after, sliding, -velocity_friction_share(pair) * share);
        }
        if (PARAMETER(colliders_move) != 0u && row == NONE && LOAD(predicted, i).w > 0.0f) {
            const float work = v3_dot(v3_sub(after, unbounced), surface) / LOAD(predicted, i).w;
            STORE(collider_work, i, LOAD(collider_work, i) + work);
        }
        if (row != NONE && PARAMETER(dynamic_bounce) != 0u && LOAD(predicted, i).w > 0.0f) {
            const vec3 gained = v3_scale(v3_sub(after, unbounced), dt / LOAD(predicted, i).w);
            after = add_impulse(VIEW_HERE_COMMA i, row, gained) ? after : unbounced;
        }
    }
    return after;
}

// ---- Rigid bodies -----------------------------------------------------------------------------------------

// Where a rigid body met a collider: sums over its particles in contact that came fast enough to bounce.
STRUCT(Impact)
{
    vec3 arm;
    float count;
    vec3 normal;
    float restitution;
    vec3 surface; // m/s, velocity of the collider there
    float unused;
};

FUNCTION Impact add_impact(VIEW_COMMA Impact sum, Motion before, Pose pose, Collider collider, uint slot, vec3 rest)
{
    const Material pair = collider_material(VIEW_HERE_COMMA collider, LOAD(phases, slot));
    const vec3 arm = rotate(pose.rotation, rest);
    const vec3 p = v3_add(pose.centre, arm);
    const vec3 local = to_collider(collider, p);
    const vec4 contact = penetration(VIEW_HERE_COMMA collider, local, bounce_margin(VIEW_HERE));
    if (pair.restitution <= 0.0f || contact.w <= 0.0f) {
        return sum;
    }
    const vec3 normal = v3_mul(rotate(collider.rotation, v3_from_v4(contact)), PARAMETER(motion_mask));
    const vec3 surface = pose_velocity(VIEW_HERE_COMMA collider, local, p);
    if (bounces(VIEW_HERE_COMMA v3_dot(v3_sub(velocity_at(before, arm), surface), normal))) {
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
    const float approach = v3_dot(v3_sub(velocity_at(before, arm), surface), normal);
    const float leaving = v3_dot(v3_sub(velocity_at(motion, arm), surface), normal);
    const float lacking = lacking_speed(sum.restitution / sum.count, approach, leaving);
    if (lacking > 0.0f) {
        const float inverse_mass_sum = inverse_effective_mass(cluster, pose.rotation, arm, normal);
        const vec3 impulse = v3_scale(normal, lacking / inverse_mass_sum);
        motion = motion_after_impulse(cluster, pose.rotation, motion, impulse, v3_cross(arm, impulse));
    }
    return motion;
}

// After finish_clusters and bounce_pairs: rigid bodies off each other, by what their particles were given, and off
// colliders.
KERNEL(bounce_clusters)
{
    const Cluster cluster = LOAD(clusters, i);
    Motion motion = LOAD(motions, i);
    if ((cluster.flags & CLUSTER_RIGID) == 0u || motion.asleep != 0u) {
        return;
    }
    const vec3 origin = v3_from_v4(LOAD(cluster_origins, i));
    Pose pose = {LOAD(cluster_rotations, i), v3_from_v4(LOAD(cluster_centres, i)), 0.0f};
    const Motion before = predicted_motion(VIEW_HERE_COMMA motion);
    const bool changes = has_velocity_changes(VIEW_HERE);
    vec3 pushed = v3(0.0f, 0.0f, 0.0f);
    vec3 twisted = v3(0.0f, 0.0f, 0.0f);
    for (uint e = cluster.first_entry; e < cluster.first_entry + cluster.entry_count; e++) {
        const uint slot = LOAD(handle_slots, LOAD(entry_members, e));
        if (slot != NONE) {
            const vec4 rest = LOAD(entry_rests, e);
            const vec3 change = changes ? v3_from_v4(LOAD(velocity_changes, slot)) : v3(0.0f, 0.0f, 0.0f);
            const vec3 momentum = v3_scale(change, rest.w);
            const vec3 arm = rotate(pose.rotation, v3_sub(v3_from_v4(rest), origin));
            pushed = v3_add(pushed, momentum);
            twisted = v3_add(twisted, v3_cross(arm, momentum));
        }
    }
    motion = motion_after_impulse(cluster, pose.rotation, motion, pushed, twisted);
    const float reach = cluster.radius * 1.01f + 1.1f * PARAMETER(margin);
    for (uint s = 0u; s < PARAMETER(collider_count); s++) {
        const Collider collider = LOAD(colliders, s);
        if (dynamic_row_of(VIEW_HERE_COMMA s) != NONE ||
            collider_distance(VIEW_HERE_COMMA collider, to_collider(collider, pose.centre)).w > reach) {
            continue; // a dynamic collider takes the blow without giving back
        }
        Impact sum = {v3(0.0f, 0.0f, 0.0f), 0.0f, v3(0.0f, 0.0f, 0.0f), 0.0f, v3(0.0f, 0.0f, 0.0f), 0.0f};
        uint touching = NONE; // one of its particles
        for (uint e = cluster.first_entry; e < cluster.first_entry + cluster.entry_count; e++) {
            const uint slot = LOAD(handle_slots, LOAD(entry_members, e));
            if (slot != NONE) {
                touching = slot;
                const vec3 rest = v3_sub(v3_from_v4(LOAD(entry_rests, e)), origin);
                sum = add_impact(VIEW_HERE_COMMA sum, before, pose, collider, slot, rest);
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

// ---- Dynamic colliders ------------------------------------------------------------------------------

// Changes a collider's velocities by momentum at `p` (kg m/s).
FUNCTION void apply_velocity_impulse(VIEW_COMMA uint row, Collider collider, vec3 moment, vec3 momentum)
{
    const Motion motion = LOAD(dynamic_motions, row);
    STORE(dynamic_motions, row,
          motion_after_impulse(LOAD(dynamic_bodies, row), collider.rotation, motion, momentum, moment));
}

// The impulses of particles that bounced off (update_velocity).
KERNEL(apply_bounce_impulses)
{
    const vec4 given = collider_impulse_sum(VIEW_HERE_COMMA i, 0u);
    if (given.w > 0.0f && LOAD(dynamic_motions, i).asleep == 0u) {
        const float scale = -1.0f / PARAMETER(time_step);
        const vec3 moment = v3_scale(v3_from_v4(collider_impulse_sum(VIEW_HERE_COMMA i, 1u)), scale);
        apply_velocity_impulse(VIEW_HERE_COMMA i, LOAD(colliders, LOAD(dynamic_colliders, i)), moment,
                               v3_scale(v3_from_v4(given), scale));
    }
}

// How fast a collider's point at p moved in the step: as it was predicted to, or at its end.
FUNCTION vec3 point_velocity(VIEW_COMMA uint index, Collider collider, vec3 p, bool predicted_one)
{
    const uint row = LOAD(dynamic_rows, index);
    if (row == NONE) {
        return pose_velocity(VIEW_HERE_COMMA collider, to_collider(collider, p), p);
    }
    const Motion motion = LOAD(dynamic_motions, row);
    const vec3 arm = v3_sub(p, dynamic_centre(VIEW_HERE_COMMA row, collider));
    if (predicted_one) {
        return velocity_at(predicted_motion(VIEW_HERE_COMMA motion), arm);
    }
    return velocity_at(motion, arm);
}

// Where a collider was predicted to be; one that users move is where it is.
FUNCTION Collider predicted_collider(VIEW_COMMA uint index)
{
    const uint row = LOAD(dynamic_rows, index);
    const Collider collider = LOAD(colliders, index);
    if (row == NONE) {
        return collider;
    }
    const Motion motion = LOAD(dynamic_motions, row);
    return posed_collider(VIEW_HERE_COMMA row, collider, motion.predicted_centre, motion.predicted_rotation);
}

// At sample points that were going to go in, the velocities become those that restitution asks for: none
// along the normal, where it is zero. collide_samples corrects one point after the other and never takes a push back,
// so it may leave a speed either way (Mueller et al. 2020, "Detailed Rigid Body Simulation with Extended Position Based
// Dynamics", section 3.6).
FUNCTION void bounce_samples(VIEW_COMMA uint a, uint b)
{
    const uvec2 range = LOAD(sample_ranges, a);
    const uint row_a = LOAD(dynamic_rows, a);
    const uint row_b = LOAD(dynamic_rows, b);
    const Collider one = LOAD(colliders, a);
    const Collider other = LOAD(colliders, b);
    const Collider predicted_a = predicted_collider(VIEW_HERE_COMMA a);
    const Collider predicted_b = predicted_collider(VIEW_HERE_COMMA b);
    const float restitution = collider_pair_material(one, other).restitution;
    for (uint k = range.x; k < range.y; k++) {
        const vec4 point = LOAD(collider_samples, k);
        const vec3 aimed = to_collider(predicted_b, from_collider(predicted_a, v3_from_v4(point)));
        const vec4 way_out = penetration(VIEW_HERE_COMMA predicted_b, aimed, point.w);
        if (way_out.w <= 0.0f) {
            continue;
        }
        const vec3 p = from_collider(one, v3_from_v4(point));
        const vec3 normal = v3_mul(rotate(predicted_b.rotation, v3_from_v4(way_out)), PARAMETER(motion_mask));
        const vec3 at = v3_add_scaled(p, normal, -point.w);
        const float approach = v3_dot(v3_sub(point_velocity(VIEW_HERE_COMMA a, one, at, true),
                                             point_velocity(VIEW_HERE_COMMA b, other, at, true)),
                                      normal);
        if (approach >= 0.0f) {
            continue;
        }
        const float leaving = v3_dot(v3_sub(point_velocity(VIEW_HERE_COMMA a, one, at, false),
                                            point_velocity(VIEW_HERE_COMMA b, other, at, false)),
                                     normal);
        const float bounciness = bounces(VIEW_HERE_COMMA approach) ? restitution : 0.0f;
        const float inverse_mass_sum = inverse_effective_mass_or_zero(VIEW_HERE_COMMA row_a, one, at, normal) +
                                       inverse_effective_mass_or_zero(VIEW_HERE_COMMA row_b, other, at, normal);
        const vec3 momentum = v3_scale(normal, lacking_speed(bounciness, approach, leaving) / inverse_mass_sum);
        if (row_a != NONE) {
            const vec3 arm = v3_sub(at, dynamic_centre(VIEW_HERE_COMMA row_a, one));
            apply_velocity_impulse(VIEW_HERE_COMMA row_a, one, v3_cross(arm, momentum), momentum);
            add_work_by_collider(VIEW_HERE_COMMA row_a, b,
                                 v3_dot(momentum, point_velocity(VIEW_HERE_COMMA b, other, at, false)));
        }
        if (row_b != NONE) {
            const vec3 arm = v3_sub(at, dynamic_centre(VIEW_HERE_COMMA row_b, other));
            apply_velocity_impulse(VIEW_HERE_COMMA row_b, other, v3_cross(momentum, arm), v3_scale(momentum, -1.0f));
            add_work_by_collider(VIEW_HERE_COMMA row_b, a,
                                 -v3_dot(momentum, point_velocity(VIEW_HERE_COMMA a, one, at, false)));
        }
    }
}

// The velocities of the step's end where colliders touch; one invocation, as collide_collider_pairs.
KERNEL(bounce_dynamic_colliders)
{
    for (uint pass = i; pass < BOUNCE_SWEEPS; pass++) {
        for (uint row = 0u; row < PARAMETER(dynamic_count); row++) {
            const uint a = LOAD(dynamic_colliders, row);
            for (uint b = 0u; b < PARAMETER(collider_count); b++) {
                const uint other = LOAD(dynamic_rows, b);
                if (b != a && (other == NONE || other > row) && may_collide(VIEW_HERE_COMMA a, b)) {
                    bounce_samples(VIEW_HERE_COMMA a, b);
                    bounce_samples(VIEW_HERE_COMMA b, a);
                }
            }
        }
    }
}

#endif
