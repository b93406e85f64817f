// SPDX-License-Identifier: MIT
// dynamic_colliders.h - the motion of dynamic colliders: rigid bodies coupled to particles (DYV section 5.3,
// collider/coupling.h), and their contacts with other colliders, at sample points of their surfaces.
#ifndef MOTE_KERNELS_DYNAMIC_COLLIDERS_H
#define MOTE_KERNELS_DYNAMIC_COLLIDERS_H

#include "data.h"
#include "collider/coupling.h"
#include "collider/distance.h"
#include "contact/collider_contacts.h"
#include "contact/coulomb.h"
#include "contact/material.h"
#include "rigid/bodies.h"
#include "rigid/rigid_contacts.h"

#define COLLIDE_SWEEPS 2u // over all pairs of colliders, there and back

// ---- Poses -------------------------------------------------------------------------------------------------

// Sets the collider's pose from its centre of mass and rotation.
FUNCTION Collider posed_collider(VIEW_COMMA uint row, Collider collider, vec3 centre, vec4 rotation)
{
    collider.rotation = rotation;
    collider.position = v3_sub(centre, rotate(rotation, v3_from_v4(LOAD(dynamic_centres, row))));
    collider.bounding_radius =
        LOAD(dynamic_bodies, row).radius + v3_length(v3_sub(collider.position, collider.start_position));
    return collider;
}

FUNCTION Collider collider_after_impulse(VIEW_COMMA uint row, Collider collider, vec3 moment, vec3 momentum)
{
    const Cluster body = LOAD(dynamic_bodies, row);
    const vec3 angle = inverse_inertia_times(body, collider.rotation, moment);
    const vec3 centre = v3_add_scaled(dynamic_centre(VIEW_HERE_COMMA row, collider), momentum, 1.0f / body.mass);
    return posed_collider(VIEW_HERE_COMMA row, collider, centre,
                          quat_integrate(collider.rotation, v3_limit(angle, ROTATION_LIMIT)));
}

// ---- Energy, for the watch ---------------------------------------------------------------------------------

FUNCTION float kinetic_energy(Cluster body, vec4 rotation, vec3 velocity, vec3 momentum)
{
    return 0.5f *
           (body.mass * v3_dot(velocity, velocity) + v3_dot(momentum, inverse_inertia_times(body, rotation, momentum)));
}

// Work of a collider that users move on the dynamic collider of this row. A dynamic one does no external work.
FUNCTION void add_work_by_collider(VIEW_COMMA uint row, uint partner, float work)
{
    if (LOAD(dynamic_rows, partner) == NONE) {
        Motion motion = LOAD(dynamic_motions, row);
        motion.work += work;
        STORE(dynamic_motions, row, motion);
    }
}

// ---- The step's beginning ----------------------------------------------------------------------------------

// Starts from the pose at the end of the last step, whatever is in its row of `colliders`.
KERNEL(begin_dynamic_colliders)
{
    const uint index = LOAD(dynamic_colliders, i);
    const Motion motion = LOAD(dynamic_motions, i);
    Collider collider = LOAD(colliders, index);
    collider = posed_collider(VIEW_HERE_COMMA i, collider, motion.predicted_centre, motion.predicted_rotation);
    collider.start_position = collider.position;
    collider.start_rotation = collider.rotation;
    collider.bounding_radius = LOAD(dynamic_bodies, i).radius;
    STORE(colliders, index, collider);
    if (PARAMETER(small_step) == 0u) {
        STORE(dynamic_forces, 2u * i, v4(0.0f, 0.0f, 0.0f, 0.0f));
        STORE(dynamic_forces, 2u * i + 1u, v4(0.0f, 0.0f, 0.0f, 0.0f));
    }
}

// Predicts the motion without constraints, as predict and predict_clusters do.
KERNEL(predict_dynamic_colliders)
{
    const uint index = LOAD(dynamic_colliders, i);
    const Cluster body = LOAD(dynamic_bodies, i);
    const float dt = PARAMETER(time_step);
    Collider collider = LOAD(colliders, index);
    collider.start_position = collider.position; // stabilized by now
    collider.start_rotation = collider.rotation;
    Motion motion = LOAD(dynamic_motions, i);
    const vec3 left = motion.start_centre; // where the small step before began
    motion.start_centre = dynamic_centre(VIEW_HERE_COMMA i, collider);
    motion.start_rotation = collider.rotation;
    motion.asleep = 0u;
    motion.in_contact = 0.0f;
    if (PARAMETER(small_step) == 0u) { // the watch measures whole steps
        motion.energy = kinetic_energy(body, collider.rotation, motion.velocity, motion.angular_momentum);
        motion.work = 0.0f;
    } else { // watch_colliders knows only the fall in the last one
        motion.work += body.mass * v3_dot(PARAMETER(gravity), v3_sub(motion.start_centre, left));
    }
    vec3 velocity = v3_add_scaled(motion.velocity, PARAMETER(gravity), dt);
    velocity = v3_mul(v3_scale(velocity, PARAMETER(velocity_decay)), PARAMETER(motion_mask));
    motion.velocity = v3_limit(velocity, PARAMETER(max_step) / dt);
    motion.angular_momentum = v3_scale(motion.angular_momentum, PARAMETER(velocity_decay));
    const vec3 angular_velocity = inverse_inertia_times(body, collider.rotation, motion.angular_momentum);
    const vec4 half_way = quat_integrate(collider.rotation, v3_scale(angular_velocity, 0.5f * dt));
    motion.angular_velocity = inverse_inertia_times(body, half_way, motion.angular_momentum);
    motion.predicted_rotation = quat_integrate(collider.rotation, v3_scale(motion.angular_velocity, dt));
    motion.predicted_centre = v3_add_scaled(motion.start_centre, motion.velocity, dt);
    STORE(dynamic_motions, i, motion);
    STORE(colliders, index,
          posed_collider(VIEW_HERE_COMMA i, collider, motion.predicted_centre, motion.predicted_rotation));
}

FUNCTION bool is_about_to_touch(VIEW_COMMA uint row, vec3 p)
{
    const float reach = COUNTING_REACH * PARAMETER(margin);
    const Collider collider = LOAD(colliders, LOAD(dynamic_colliders, row));
    const vec3 apart = v3_sub(p, collider.position);
    const float radius = collider.bounding_radius + reach;
    return v3_dot(apart, apart) <= radius * radius &&
           penetration(VIEW_HERE_COMMA collider, to_collider(collider, p), reach).w > 0.0f;
}

// Counts the particles that will touch each collider, for mass splitting. A particle that touches more colliders than
// it has slots counts for some of them, which differ from particle to particle, with a correspondingly larger weight.
KERNEL(count_dynamic_contacts)
{
    const vec3 p = v3_from_v4(LOAD(predicted, i));
    uint touching = 0u;
    clear_impulses(VIEW_HERE_COMMA i);
    for (uint row = 0u; row < PARAMETER(dynamic_count); row++) {
        if (is_about_to_touch(VIEW_HERE_COMMA row, p)) {
            add_impulse(VIEW_HERE_COMMA i, row, v3(0.0f, 0.0f, 0.0f));
            touching++;
        }
    }
    uint number = 0u;
    uint slot = IMPULSE_SLOTS * i;
    for (uint row = 0u; row < PARAMETER(dynamic_count) && touching > IMPULSE_SLOTS; row++) {
        if (is_about_to_touch(VIEW_HERE_COMMA row, p)) {
            if ((number + i) % touching < IMPULSE_SLOTS) {
                STORE(impulse_rows, slot, row);
                STORE(collider_impulses, slot, v4(0.0f, 0.0f, 0.0f, F32(touching) / F32(IMPULSE_SLOTS)));
                slot++;
            }
            number++;
        }
    }
}

KERNEL(split_collider_masses)
{
    const vec4 centre = LOAD(dynamic_centres, i);
    const float contacts = collider_impulse_sum(VIEW_HERE_COMMA i, 0u).w;
    STORE(dynamic_centres, i, v4_from_v3(v3_from_v4(centre), max_f32(contacts, 1.0f)));
}

// ---- An iteration ------------------------------------------------------------------------------------------

// Moves a collider by the reaction to the impulses on its particles.
KERNEL(move_dynamic_colliders)
{
    const vec4 given = collider_impulse_sum(VIEW_HERE_COMMA i, 0u);
    if (given.w <= 0.0f) {
        return;
    }
    const uint index = LOAD(dynamic_colliders, i);
    const vec3 momentum = v3_scale(v3_from_v4(given), -1.0f);
    const vec3 moment = v3_scale(v3_from_v4(collider_impulse_sum(VIEW_HERE_COMMA i, 1u)), -1.0f);
    STORE(colliders, index, collider_after_impulse(VIEW_HERE_COMMA i, LOAD(colliders, index), moment, momentum));

    const float scale = PARAMETER(step_share) / (PARAMETER(time_step) * PARAMETER(time_step));
    const vec3 force = v3_add_scaled(v3_from_v4(LOAD(dynamic_forces, 2u * i)), momentum, scale);
    const vec3 torque = v3_add_scaled(v3_from_v4(LOAD(dynamic_forces, 2u * i + 1u)), moment, scale);
    STORE(dynamic_forces, 2u * i, v4_from_v3(force, 0.0f));
    STORE(dynamic_forces, 2u * i + 1u, v4_from_v3(torque, 0.0f));
    const vec4 centre = LOAD(dynamic_centres, i);
    STORE(dynamic_centres, i, v4_from_v3(v3_from_v4(centre), max_f32(centre.w, given.w)));
}

// A collider for contacts between colliders. In stabilization, those that users move have their pose at the start of
// the step.
FUNCTION Collider collider_now(VIEW_COMMA uint index)
{
    Collider collider = LOAD(colliders, index);
    if (PARAMETER(stabilizing) != 0u && LOAD(dynamic_rows, index) == NONE) {
        collider.position = collider.start_position;
        collider.rotation = collider.start_rotation;
    }
    return collider;
}

FUNCTION float inverse_effective_mass_or_zero(VIEW_COMMA uint row, Collider collider, vec3 p, vec3 direction)
{
    return row != NONE ? collider_inverse_effective_mass(VIEW_HERE_COMMA row, collider, p, direction) : 0.0f;
}

// Applies an impulse to collider `index` at its contact point `p` with `partner`; only dynamic ones respond.
FUNCTION void apply_collider_impulse(VIEW_COMMA uint index, uint partner, vec3 p, vec3 momentum)
{
    const uint row = LOAD(dynamic_rows, index);
    if (row != NONE) {
        const Collider collider = LOAD(colliders, index);
        const vec3 moment = v3_cross(v3_sub(p, dynamic_centre(VIEW_HERE_COMMA row, collider)), momentum);
        STORE(colliders, index, collider_after_impulse(VIEW_HERE_COMMA row, collider, moment, momentum));
        if (PARAMETER(stabilizing) == 0u) {
            Motion motion = LOAD(dynamic_motions, row);
            motion.in_contact = 1.0f; // it is in contact
            STORE(dynamic_motions, row, motion);
            const Collider other = LOAD(colliders, partner);
            const vec3 shift = v3_sub(p, from_collider_at_start(other, to_collider(other, p)));
            const float work = v3_dot(momentum, shift) / (PARAMETER(time_step) * PARAMETER(time_step));
            add_work_by_collider(VIEW_HERE_COMMA row, partner, work);
        }
    }
}

// Friction between the colliders a and b in contact at p with the normal impulse `load` (Coulomb's law).
FUNCTION void apply_collider_friction(VIEW_COMMA uint a, uint b, vec3 p, vec3 normal, float load)
{
    const Collider one = LOAD(colliders, a);
    const Collider other = LOAD(colliders, b);
    const Material pair = collider_pair_material(one, other);
    if (!has_friction(pair)) {
        return;
    }
    // How far the two points that are at p now have moved apart in the step.
    const vec3 motion =
        v3_sub(from_collider_at_start(other, to_collider(other, p)), from_collider_at_start(one, to_collider(one, p)));
    const vec3 sliding = v3_mul(tangential(motion, normal), PARAMETER(motion_mask));
    const float distance = v3_length(sliding);
    if (distance < NO_SLIDING) {
        return;
    }
    const vec3 direction = v3_scale(sliding, -1.0f / distance);
    const float inverse_mass_sum =
        inverse_effective_mass_or_zero(VIEW_HERE_COMMA LOAD(dynamic_rows, a), one, p, direction) +
        inverse_effective_mass_or_zero(VIEW_HERE_COMMA LOAD(dynamic_rows, b), other, p, direction);
    const float friction_impulse = limited_friction(pair, distance / inverse_mass_sum, load);
    apply_collider_impulse(VIEW_HERE_COMMA a, b, p, v3_scale(direction, friction_impulse));
    apply_collider_impulse(VIEW_HERE_COMMA b, a, p, v3_scale(direction, -friction_impulse));
}

// The sample points of collider a against the surface of b, one after the other.
FUNCTION void collide_samples(VIEW_COMMA uint a, uint b)
{
    const uvec2 range = LOAD(sample_ranges, a);
    const uint row_a = LOAD(dynamic_rows, a);
    const uint row_b = LOAD(dynamic_rows, b);
    for (uint k = range.x; k < range.y; k++) {
        const vec4 point = LOAD(collider_samples, k);
        const Collider one = collider_now(VIEW_HERE_COMMA a);
        const Collider other = collider_now(VIEW_HERE_COMMA b);
        const vec3 p = from_collider(one, v3_from_v4(point));
        const vec4 way_out = penetration(VIEW_HERE_COMMA other, to_collider(other, p), point.w);
        if (way_out.w <= 0.0f) {
            continue;
        }
        const vec3 normal = v3_mul(rotate(other.rotation, v3_from_v4(way_out)), PARAMETER(motion_mask));
        const vec3 at = v3_add_scaled(p, normal, -point.w);
        const float inverse_mass_sum = inverse_effective_mass_or_zero(VIEW_HERE_COMMA row_a, one, at, normal) +
                                       inverse_effective_mass_or_zero(VIEW_HERE_COMMA row_b, other, at, normal);
        const float load = normal_load(0.0f, way_out.w, inverse_mass_sum);
        apply_collider_impulse(VIEW_HERE_COMMA a, b, at, v3_scale(normal, load));
        apply_collider_impulse(VIEW_HERE_COMMA b, a, at, v3_scale(normal, -load));
        if (PARAMETER(stabilizing) == 0u) {
            apply_collider_friction(VIEW_HERE_COMMA a, b, v3_add_scaled(at, normal, way_out.w), normal, load);
        }
    }
}

FUNCTION bool may_collide(VIEW_COMMA uint a, uint b)
{
    const Collider one = collider_now(VIEW_HERE_COMMA a);
    const Collider other = collider_now(VIEW_HERE_COMMA b);
    if (!collider_is_solid(other)) {
        return true;
    }
    const vec3 apart = v3_sub(one.position, other.position);
    const float reach = one.bounding_radius + other.bounding_radius;
    return v3_dot(apart, apart) <= reach * reach;
}

// Contacts of dynamic colliders with all others, by Gauss-Seidel in one invocation: they are few, and momentum is
// conserved between two dynamic ones.
KERNEL(collide_collider_pairs)
{
    for (uint pass = i; pass < COLLIDE_SWEEPS; pass++) {
        for (uint n = 0u; n < PARAMETER(dynamic_count); n++) {
            const uint row = (pass & 1u) == 0u ? n : PARAMETER(dynamic_count) - 1u - n;
            const uint a = LOAD(dynamic_colliders, row);
            for (uint b = 0u; b < PARAMETER(collider_count); b++) {
                const uint other = LOAD(dynamic_rows, b);
                // A pair of dynamic ones is handled once.
                if (b != a && (other == NONE || other > row) && may_collide(VIEW_HERE_COMMA a, b)) {
                    collide_samples(VIEW_HERE_COMMA a, b);
                    collide_samples(VIEW_HERE_COMMA b, a);
                }
            }
        }
    }
}

// ---- The step's end ----------------------------------------------------------------------------------------

// Final velocities: the predicted ones plus the changes by contacts. A collider that is in contact with another one and
// has hardly moved keeps its pose (sleeping).
KERNEL(finish_dynamic_colliders)
{
    const uint index = LOAD(dynamic_colliders, i);
    const Cluster body = LOAD(dynamic_bodies, i);
    const float dt = PARAMETER(time_step);
    Collider collider = LOAD(colliders, index);
    Motion motion = LOAD(dynamic_motions, i);
    const vec3 centre = dynamic_centre(VIEW_HERE_COMMA i, collider);
    const bool healthy =
        v3_is_finite(centre) && v3_is_finite(v3_from_v4(collider.rotation)) && is_finite(collider.rotation.w);
    const float shifted = v3_length(v3_sub(centre, motion.start_centre));
    const float turned = v3_length(quat_difference(motion.start_rotation, collider.rotation)) * body.radius;
    if (!healthy) {
        ATOMIC_MAX(counters, COUNTER_UNHEALTHY_COLLIDER, index + 1u);
    }
    if (!healthy || (motion.in_contact > 0.0f && shifted + turned < PARAMETER(sleep_distance))) {
        motion.asleep = 1u;
        motion.velocity = v3(0.0f, 0.0f, 0.0f);
        motion.angular_momentum = v3(0.0f, 0.0f, 0.0f);
        motion.angular_velocity = v3(0.0f, 0.0f, 0.0f);
        motion.predicted_centre = motion.start_centre;
        motion.predicted_rotation = motion.start_rotation;
        STORE(colliders, index,
              posed_collider(VIEW_HERE_COMMA i, collider, motion.start_centre, motion.start_rotation));
    } else {
        const vec3 pushed = v3_scale(v3_sub(centre, motion.predicted_centre), 1.0f / dt);
        const vec3 twisted = v3_scale(quat_difference(motion.predicted_rotation, collider.rotation), 1.0f / dt);
        motion.velocity = v3_add(motion.velocity, v3_limit(pushed, PARAMETER(max_velocity_change)));
        motion.angular_momentum = v3_add(motion.angular_momentum, inertia_times(body, collider.rotation, twisted));
        motion.angular_velocity = inverse_inertia_times(body, collider.rotation, motion.angular_momentum);
    }
    STORE(dynamic_motions, i, motion);
}

// The pose that the step ends with, for the next one to begin with.
KERNEL(store_dynamic_poses)
{
    const Collider collider = LOAD(colliders, LOAD(dynamic_colliders, i));
    Motion motion = LOAD(dynamic_motions, i);
    if (motion.asleep == 0u) {
        motion.predicted_centre = dynamic_centre(VIEW_HERE_COMMA i, collider);
        motion.predicted_rotation = collider.rotation;
        STORE(dynamic_motions, i, motion);
    }
}

#endif
