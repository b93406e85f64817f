// SPDX-License-Identifier: MIT
// dynamic_colliders.h - the motion of shapes that have a mass: rigid bodies that particles drive (DYV section 5.3,
// collider/coupling.h), and their contacts with one another and with all other shapes, at sample points of their
// surfaces.
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

#define MEET_SWEEPS 2u // over all pairs of shapes, there and back

// ---- Poses -------------------------------------------------------------------------------------------------

// Puts the shape where its centre of mass and rotation say.
FUNCTION Shape posed_shape(VIEW_COMMA uint row, Shape shape, vec3 centre, vec4 rotation)
{
    shape.rotation = rotation;
    shape.position = v3_sub(centre, rotate(rotation, v3_from_v4(LOAD(dynamic_centres, row))));
    shape.bounding_radius = LOAD(dynamic_bodies, row).radius + v3_length(v3_sub(shape.position, shape.start_position));
    return shape;
}

FUNCTION Shape push_shape(VIEW_COMMA uint row, Shape shape, vec3 moment, vec3 momentum)
{
    const Cluster body = LOAD(dynamic_bodies, row);
    const vec3 angle = inverse_inertia_times(body, shape.rotation, moment);
    const vec3 centre = v3_add_scaled(dynamic_centre(VIEW_HERE_COMMA row, shape), momentum, 1.0f / body.mass);
    return posed_shape(VIEW_HERE_COMMA row, shape, centre, turn_by(shape.rotation, v3_limit(angle, TURN_LIMIT)));
}

// ---- Energy, for the watch ---------------------------------------------------------------------------------

FUNCTION float kinetic_energy(Cluster body, vec4 rotation, vec3 velocity, vec3 momentum)
{
    return 0.5f *
           (body.mass * v3_dot(velocity, velocity) + v3_dot(momentum, inverse_inertia_times(body, rotation, momentum)));
}

// Work of a shape that users move on the dynamic shape of this row; one that has a mass only passes energy on.
FUNCTION void note_shape_work(VIEW_COMMA uint row, uint partner, float work)
{
    if (LOAD(dynamic_rows, partner) == NONE) {
        Motion motion = LOAD(dynamic_motions, row);
        motion.work += work;
        STORE(dynamic_motions, row, motion);
    }
}

// ---- The step's beginning ----------------------------------------------------------------------------------

// At rest where the last step left it: what others wrote to its row of `shapes` is of no account.
KERNEL(begin_shapes)
{
    const uint index = LOAD(dynamic_shapes, i);
    const Motion motion = LOAD(dynamic_motions, i);
    Shape shape = LOAD(shapes, index);
    shape = posed_shape(VIEW_HERE_COMMA i, shape, motion.aim_centre, motion.aim_rotation);
    shape.start_position = shape.position;
    shape.start_rotation = shape.rotation;
    shape.bounding_radius = LOAD(dynamic_bodies, i).radius;
    STORE(shapes, index, shape);
    STORE(dynamic_forces, 2u * i, v4(0.0f, 0.0f, 0.0f, 0.0f));
    STORE(dynamic_forces, 2u * i + 1u, v4(0.0f, 0.0f, 0.0f, 0.0f));
}

// Where it would go without constraints; as predict and predict_clusters do.
KERNEL(predict_shapes)
{
    const uint index = LOAD(dynamic_shapes, i);
    const Cluster body = LOAD(dynamic_bodies, i);
    const float dt = PARAMETER(time_step);
    Shape shape = LOAD(shapes, index);
    shape.start_position = shape.position; // stabilized by now
    shape.start_rotation = shape.rotation;
    Motion motion = LOAD(dynamic_motions, i);
    motion.start_centre = dynamic_centre(VIEW_HERE_COMMA i, shape);
    motion.start_rotation = shape.rotation;
    motion.asleep = 0u;
    motion.leaning = 0.0f;
    motion.energy = kinetic_energy(body, shape.rotation, motion.velocity, motion.momentum);
    motion.work = 0.0f;
    vec3 velocity = v3_add_scaled(motion.velocity, PARAMETER(gravity), dt);
    velocity = v3_mul(v3_scale(velocity, PARAMETER(velocity_decay)), PARAMETER(motion_mask));
    motion.velocity = v3_limit(velocity, PARAMETER(max_step) / dt);
    motion.momentum = v3_scale(motion.momentum, PARAMETER(velocity_decay));
    const vec3 spin = inverse_inertia_times(body, shape.rotation, motion.momentum);
    const vec4 half_way = turn_by(shape.rotation, v3_scale(spin, 0.5f * dt));
    motion.spin = inverse_inertia_times(body, half_way, motion.momentum);
    motion.aim_rotation = turn_by(shape.rotation, v3_scale(motion.spin, dt));
    motion.aim_centre = v3_add_scaled(motion.start_centre, motion.velocity, dt);
    STORE(dynamic_motions, i, motion);
    STORE(shapes, index, posed_shape(VIEW_HERE_COMMA i, shape, motion.aim_centre, motion.aim_rotation));
}

FUNCTION bool is_about_to_touch(VIEW_COMMA uint row, vec3 p)
{
    const float reach = COUNTING_REACH * PARAMETER(margin);
    const Shape shape = LOAD(shapes, LOAD(dynamic_shapes, row));
    const vec3 apart = v3_sub(p, shape.position);
    const float radius = shape.bounding_radius + reach;
    return v3_dot(apart, apart) <= radius * radius &&
           penetration(VIEW_HERE_COMMA shape, to_shape(shape, p), reach).w > 0.0f;
}

// How many particles each shape is about to touch: what its mass is split among. A particle that touches more shapes
// than it has slots counts for some of them, others as the particles go on, and for as much more.
KERNEL(count_shape_contacts)
{
    const vec3 p = v3_from_v4(LOAD(predicted, i));
    uint touching = 0u;
    clear_shape_pushes(VIEW_HERE_COMMA i);
    for (uint row = 0u; row < PARAMETER(dynamic_count); row++) {
        if (is_about_to_touch(VIEW_HERE_COMMA row, p)) {
            note_shape_push(VIEW_HERE_COMMA i, row, v3(0.0f, 0.0f, 0.0f));
            touching++;
        }
    }
    uint number = 0u;
    uint slot = PUSH_SLOTS * i;
    for (uint row = 0u; row < PARAMETER(dynamic_count) && touching > PUSH_SLOTS; row++) {
        if (is_about_to_touch(VIEW_HERE_COMMA row, p)) {
            if ((number + i) % touching < PUSH_SLOTS) {
                STORE(push_rows, slot, row);
                STORE(shape_pushes, slot, v4(0.0f, 0.0f, 0.0f, F32(touching) / F32(PUSH_SLOTS)));
                slot++;
            }
            number++;
        }
    }
}

KERNEL(split_shapes)
{
    const vec4 centre = LOAD(dynamic_centres, i);
    const float contacts = shape_push_sum(VIEW_HERE_COMMA i, 0u).w;
    STORE(dynamic_centres, i, v4_from_v3(v3_from_v4(centre), max_f32(contacts, 1.0f)));
}

// ---- An iteration ------------------------------------------------------------------------------------------

// Moves a shape by what its particles got, with the other sign.
KERNEL(move_shapes)
{
    const vec4 given = shape_push_sum(VIEW_HERE_COMMA i, 0u);
    if (given.w <= 0.0f) {
        return;
    }
    const uint index = LOAD(dynamic_shapes, i);
    const vec3 momentum = v3_scale(v3_from_v4(given), -1.0f);
    const vec3 moment = v3_scale(v3_from_v4(shape_push_sum(VIEW_HERE_COMMA i, 1u)), -1.0f);
    STORE(shapes, index, push_shape(VIEW_HERE_COMMA i, LOAD(shapes, index), moment, momentum));

    const float scale = 1.0f / (PARAMETER(time_step) * PARAMETER(time_step));
    const vec3 force = v3_add_scaled(v3_from_v4(LOAD(dynamic_forces, 2u * i)), momentum, scale);
    const vec3 torque = v3_add_scaled(v3_from_v4(LOAD(dynamic_forces, 2u * i + 1u)), moment, scale);
    STORE(dynamic_forces, 2u * i, v4_from_v3(force, 0.0f));
    STORE(dynamic_forces, 2u * i + 1u, v4_from_v3(torque, 0.0f));
    const vec4 centre = LOAD(dynamic_centres, i);
    STORE(dynamic_centres, i, v4_from_v3(v3_from_v4(centre), max_f32(centre.w, given.w)));
}

// A shape as contacts between shapes see it. In stabilization those that users move are where their step begins.
FUNCTION Shape shape_now(VIEW_COMMA uint index)
{
    Shape shape = LOAD(shapes, index);
    if (PARAMETER(stabilizing) != 0u && LOAD(dynamic_rows, index) == NONE) {
        shape.position = shape.start_position;
        shape.rotation = shape.start_rotation;
    }
    return shape;
}

FUNCTION float softness_or_none(VIEW_COMMA uint row, Shape shape, vec3 p, vec3 direction)
{
    return row != NONE ? shape_softness(VIEW_HERE_COMMA row, shape, p, direction) : 0.0f;
}

// Gives momentum to shape `index` at `p`, where it meets `partner`; one that users move has no answer to it.
FUNCTION void push_shape_at(VIEW_COMMA uint index, uint partner, vec3 p, vec3 momentum)
{
    const uint row = LOAD(dynamic_rows, index);
    if (row != NONE) {
        const Shape shape = LOAD(shapes, index);
        const vec3 moment = v3_cross(v3_sub(p, dynamic_centre(VIEW_HERE_COMMA row, shape)), momentum);
        STORE(shapes, index, push_shape(VIEW_HERE_COMMA row, shape, moment, momentum));
        if (PARAMETER(stabilizing) == 0u) {
            Motion motion = LOAD(dynamic_motions, row);
            motion.leaning = 1.0f; // it leans on something
            STORE(dynamic_motions, row, motion);
            const Shape other = LOAD(shapes, partner);
            const vec3 shift = v3_sub(p, from_shape_at_start(other, to_shape(other, p)));
            const float work = v3_dot(momentum, shift) / (PARAMETER(time_step) * PARAMETER(time_step));
            note_shape_work(VIEW_HERE_COMMA row, partner, work);
        }
    }
}

// Friction between the shapes a and b, which meet at p with `load` (Coulomb's law between momenta).
FUNCTION void rub_shapes(VIEW_COMMA uint a, uint b, vec3 p, vec3 normal, float load)
{
    const Shape one = LOAD(shapes, a);
    const Shape other = LOAD(shapes, b);
    const Material pair = shape_pair_material(one, other);
    if (!has_friction(pair)) {
        return;
    }
    // How far the two points that are at p now have moved apart in the step.
    const vec3 motion =
        v3_sub(from_shape_at_start(other, to_shape(other, p)), from_shape_at_start(one, to_shape(one, p)));
    const vec3 sliding = v3_mul(tangential(motion, normal), PARAMETER(motion_mask));
    const float distance = v3_length(sliding);
    if (distance < NO_SLIDING) {
        return;
    }
    const vec3 direction = v3_scale(sliding, -1.0f / distance);
    const float give = softness_or_none(VIEW_HERE_COMMA LOAD(dynamic_rows, a), one, p, direction) +
                       softness_or_none(VIEW_HERE_COMMA LOAD(dynamic_rows, b), other, p, direction);
    const float held = limited_friction(pair, distance / give, load);
    push_shape_at(VIEW_HERE_COMMA a, b, p, v3_scale(direction, held));
    push_shape_at(VIEW_HERE_COMMA b, a, p, v3_scale(direction, -held));
}

// The sample points of shape a against the surface of b, one after the other.
FUNCTION void meet_samples(VIEW_COMMA uint a, uint b)
{
    const uvec2 range = LOAD(sample_ranges, a);
    const uint row_a = LOAD(dynamic_rows, a);
    const uint row_b = LOAD(dynamic_rows, b);
    for (uint k = range.x; k < range.y; k++) {
        const vec4 point = LOAD(shape_samples, k);
        const Shape one = shape_now(VIEW_HERE_COMMA a);
        const Shape other = shape_now(VIEW_HERE_COMMA b);
        const vec3 p = from_shape(one, v3_from_v4(point));
        const vec4 way_out = penetration(VIEW_HERE_COMMA other, to_shape(other, p), point.w);
        if (way_out.w <= 0.0f) {
            continue;
        }
        const vec3 normal = v3_mul(rotate(other.rotation, v3_from_v4(way_out)), PARAMETER(motion_mask));
        const vec3 at = v3_add_scaled(p, normal, -point.w);
        const float give = softness_or_none(VIEW_HERE_COMMA row_a, one, at, normal) +
                           softness_or_none(VIEW_HERE_COMMA row_b, other, at, normal);
        const float load = normal_load(0.0f, way_out.w, give);
        push_shape_at(VIEW_HERE_COMMA a, b, at, v3_scale(normal, load));
        push_shape_at(VIEW_HERE_COMMA b, a, at, v3_scale(normal, -load));
        if (PARAMETER(stabilizing) == 0u) {
            rub_shapes(VIEW_HERE_COMMA a, b, v3_add_scaled(at, normal, way_out.w), normal, load);
        }
    }
}

FUNCTION bool may_meet(VIEW_COMMA uint a, uint b)
{
    const Shape one = shape_now(VIEW_HERE_COMMA a);
    const Shape other = shape_now(VIEW_HERE_COMMA b);
    if (!shape_is_solid(other)) {
        return true;
    }
    const vec3 apart = v3_sub(one.position, other.position);
    const float reach = one.bounding_radius + other.bounding_radius;
    return v3_dot(apart, apart) <= reach * reach;
}

// Contacts of dynamic shapes with all others. They are few, each sees what those before it did, and momentum is
// conserved between two of them: one invocation for all.
KERNEL(meet_shapes)
{
    for (uint pass = i; pass < MEET_SWEEPS; pass++) {
        for (uint n = 0u; n < PARAMETER(dynamic_count); n++) {
            const uint row = (pass & 1u) == 0u ? n : PARAMETER(dynamic_count) - 1u - n;
            const uint a = LOAD(dynamic_shapes, row);
            for (uint b = 0u; b < PARAMETER(shape_count); b++) {
                const uint other = LOAD(dynamic_rows, b);
                // Two dynamic ones meet once.
                if (b != a && (other == NONE || other > row) && may_meet(VIEW_HERE_COMMA a, b)) {
                    meet_samples(VIEW_HERE_COMMA a, b);
                    meet_samples(VIEW_HERE_COMMA b, a);
                }
            }
        }
    }
}

// ---- The step's end ----------------------------------------------------------------------------------------

// Velocities: those it was predicted with, and what contacts changed since. One that leans on another shape and has
// hardly moved stays where it was.
KERNEL(finish_shapes)
{
    const uint index = LOAD(dynamic_shapes, i);
    const Cluster body = LOAD(dynamic_bodies, i);
    const float dt = PARAMETER(time_step);
    Shape shape = LOAD(shapes, index);
    Motion motion = LOAD(dynamic_motions, i);
    const vec3 centre = dynamic_centre(VIEW_HERE_COMMA i, shape);
    const bool healthy =
        v3_is_finite(centre) && v3_is_finite(v3_from_v4(shape.rotation)) && is_finite(shape.rotation.w);
    const float shifted = v3_length(v3_sub(centre, motion.start_centre));
    const float turned = v3_length(angle_between(motion.start_rotation, shape.rotation)) * body.radius;
    if (!healthy) {
        ATOMIC_MAX(counters, COUNTER_UNHEALTHY_SHAPE, index + 1u);
    }
    if (!healthy || (motion.leaning > 0.0f && shifted + turned < PARAMETER(sleep_distance))) {
        motion.asleep = 1u;
        motion.velocity = v3(0.0f, 0.0f, 0.0f);
        motion.momentum = v3(0.0f, 0.0f, 0.0f);
        motion.spin = v3(0.0f, 0.0f, 0.0f);
        motion.aim_centre = motion.start_centre;
        motion.aim_rotation = motion.start_rotation;
        STORE(shapes, index, posed_shape(VIEW_HERE_COMMA i, shape, motion.start_centre, motion.start_rotation));
    } else {
        const vec3 pushed = v3_scale(v3_sub(centre, motion.aim_centre), 1.0f / dt);
        const vec3 twisted = v3_scale(angle_between(motion.aim_rotation, shape.rotation), 1.0f / dt);
        motion.velocity = v3_add(motion.velocity, v3_limit(pushed, PARAMETER(max_velocity_change)));
        motion.momentum = v3_add(motion.momentum, inertia_times(body, shape.rotation, twisted));
        motion.spin = inverse_inertia_times(body, shape.rotation, motion.momentum);
    }
    STORE(dynamic_motions, i, motion);
}

// The pose that the step ends with, for the next one to begin with.
KERNEL(keep_shapes)
{
    const Shape shape = LOAD(shapes, LOAD(dynamic_shapes, i));
    Motion motion = LOAD(dynamic_motions, i);
    if (motion.asleep == 0u) {
        motion.aim_centre = dynamic_centre(VIEW_HERE_COMMA i, shape);
        motion.aim_rotation = shape.rotation;
        STORE(dynamic_motions, i, motion);
    }
}

#endif
