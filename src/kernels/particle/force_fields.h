// SPDX-License-Identifier: MIT
// force_fields.h - force fields (MoteForceField): they change the velocities of particles and of dynamic colliders
// before positions are predicted. The speed limit applies after them. The energy watch (watch.h) starts from the
// velocity after the fields, so that their work does not count as a gain.
#ifndef MOTE_KERNELS_FORCE_FIELDS_H
#define MOTE_KERNELS_FORCE_FIELDS_H

#include "data.h"
#include "contact/material.h"
#include "rigid/bodies.h"

#define FORCE_POINTS 6u // of a collider, at which fields act on it

// ---- A field at a point ------------------------------------------------------------------------------------

// Falloff: 1 at t = 0, 0 from t = 1 on.
FUNCTION float falloff_at(uint falloff, float t)
{
    if (t >= 1.0f) {
        return 0.0f;
    }
    const float left = 1.0f - t;
    if (falloff == FALLOFF_LINEAR) {
        return left;
    }
    return falloff == FALLOFF_QUADRATIC ? left * left : 1.0f;
}

// The weight of a box or a uniform field at a point of its own frame.
FUNCTION float box_weight(ForceField field, vec3 local)
{
    if (field.kind == FORCE_FIELD_UNIFORM) {
        return 1.0f;
    }
    const float depth = min_f32(min_f32(field.half_size.x - fabsf(local.x), field.half_size.y - fabsf(local.y)),
                                field.half_size.z - fabsf(local.z));
    if (depth < 0.0f) {
        return 0.0f;
    }
    const float t = field.border > 0.0f ? max_f32(1.0f - depth / field.border, 0.0f) : 0.0f;
    return falloff_at(field.falloff, t);
}

// The same of a point or radial field, at a squared distance from its centre or axis that softening was added to.
FUNCTION float radial_weight(ForceField field, float squared, float softened)
{
    const float t = field.radius > 0.0f ? sqrtf(squared) / field.radius : 0.0f;
    const float weight = falloff_at(field.falloff, t);
    return field.falloff == FALLOFF_INVERSE_SQUARE ? weight / max_f32(softened, 1e-12f) : weight;
}

// The field at a point, in the unit of its mode (xyz), and the weight of its drag there (w). The direction away from
// the centre is r / sqrt(|r|^2 + softening^2). With the inverse-square falloff this is Plummer's sphere, whose
// potential is -strength / sqrt(|r|^2 + softening^2); with the others it makes the field continuous at the centre.
FUNCTION vec4 force_field_at(ForceField field, vec3 p)
{
    const vec3 apart = v3_sub(p, field.position);
    const vec3 local = rotate_back(field.rotation, apart);
    vec3 value = field.uniform_part;
    float weight = 0.0f;
    if (field.kind == FORCE_FIELD_BOX || field.kind == FORCE_FIELD_UNIFORM) {
        weight = box_weight(field, local);
    } else {
        const bool radial = field.kind == FORCE_FIELD_RADIAL;
        const vec3 axis = rotate(field.rotation, v3(0.0f, 1.0f, 0.0f));
        const vec3 offset = radial ? v3_add_scaled(apart, axis, -local.y) : apart;
        const float squared = v3_dot(offset, offset);
        const float softened = squared + field.softening * field.softening;
        const vec3 outward = v3_scale(offset, 1.0f / sqrtf(max_f32(softened, 1e-24f)));
        value = v3_add_scaled(v3_scale(outward, field.strength), v3_cross(axis, outward), field.swirl);
        weight = radial_weight(field, squared, softened);
        if (radial && field.half_size.y > 0.0f && fabsf(local.y) > field.half_size.y) {
            weight = 0.0f;
        }
    }
    value = v3_add(value, v3_cross(field.angular, apart));
    return v4_from_v3(v3_scale(value, weight), weight);
}

// The velocity after a field has acted. Drag is integrated implicitly, so that it never overshoots; an impulse applies
// its share of the difference at once.
FUNCTION vec3 forced_velocity(VIEW_COMMA ForceField field, vec3 p, vec3 v, float inverse_mass)
{
    const vec4 at = force_field_at(field, p);
    const bool lasts = field.mode == FORCE_MODE_ACCELERATION || field.mode == FORCE_MODE_FORCE;
    const bool per_mass = field.mode == FORCE_MODE_FORCE || field.mode == FORCE_MODE_IMPULSE;
    const float scale = (lasts ? PARAMETER(time_step) : 1.0f) * (per_mass ? inverse_mass : 1.0f);
    const float drag = at.w * field.drag * (lasts ? PARAMETER(time_step) : 1.0f);
    const float share = lasts ? drag / (1.0f + drag) : min_f32(drag, 1.0f);
    const vec3 pushed = v3_add_scaled(v, v3_from_v4(at), scale);
    return v3_mul(v3_add_scaled(pushed, v3_sub(field.velocity, pushed), share), PARAMETER(motion_mask));
}

// ---- Particles ---------------------------------------------------------------------------------------------

// Whether a field's filter selects particle i; pinned particles and dead slots never pass.
FUNCTION bool passes_filter(VIEW_COMMA ForceField field, uint i)
{
    const uint phase = LOAD(phases, i);
    if (LOAD(positions, i).w <= 0.0f || (phase & PHASE_REMOVED) != 0u ||
        ((field.kinds >> ((phase & PHASE_KIND) >> PHASE_KIND_SHIFT)) & 1u) == 0u) {
        return false;
    }
    return (field.group == NONE || field.group == (phase & PHASE_GROUP)) &&
           (field.id == NONE || field.id == LOAD(ids, i)) &&
           (field.materials == 0u || is_of_materials(VIEW_HERE_COMMA field.materials, phase));
}

KERNEL(apply_force_fields)
{
    const vec4 position = LOAD(positions, i);
    const vec4 before = LOAD(velocities, i);
    vec3 velocity = v3_from_v4(before);
    for (uint k = 0u; k < PARAMETER(force_field_count); k++) {
        const ForceField field = LOAD(force_fields, k);
        if (passes_filter(VIEW_HERE_COMMA field, i)) {
            velocity = forced_velocity(VIEW_HERE_COMMA field, v3_from_v4(position), velocity, position.w);
        }
    }
    STORE(velocities, i, v4_from_v3(velocity, before.w));
}

// The impulse of query_fields on a chunk of particles, and the momentum that it gives them.
KERNEL(apply_impulse)
{
    const ForceField field = LOAD(query_fields, 0u);
    const uint end = min_u32((i + 1u) * QUERY_CHUNK, PARAMETER(particle_count));
    vec3 given = v3(0.0f, 0.0f, 0.0f);
    for (uint k = i * QUERY_CHUNK; k < end; k++) {
        if (passes_filter(VIEW_HERE_COMMA field, k)) {
            const vec4 position = LOAD(positions, k);
            const vec4 before = LOAD(velocities, k);
            const vec3 velocity =
                forced_velocity(VIEW_HERE_COMMA field, v3_from_v4(position), v3_from_v4(before), position.w);
            given = v3_add_scaled(given, v3_sub(velocity, v3_from_v4(before)), 1.0f / position.w);
            STORE(velocities, k, v4_from_v3(velocity, before.w));
        }
    }
    STORE(query_sums, i, v4_from_v3(given, 0.0f));
}

// ---- Dynamic colliders -------------------------------------------------------------------------------------

// A rigid body moves as six equal point masses at +-sqrt(3 / m) times the columns of a matrix L whose L L^T is its
// matrix of second moments J = tr(I) / 2 - I: they have its mass, its centre and its inertia (an equimomental system),
// and so get the force and the torque of every field that is linear across it exactly. L is Cholesky's. Point k is in
// the frame of the inertia, from the centre of mass; without inertia about some axes, as in 2D, it is the centre.
FUNCTION vec3 force_point(Cluster body, uint k)
{
    const vec3 d = body.inertia_diagonal;
    const vec3 o = body.inertia_offdiagonal;
    const float half_trace = 0.5f * (d.x + d.y + d.z);
    const float least = 1e-6f * half_trace;
    const float xx = sqrtf(max_f32(half_trace - d.x, 0.0f));
    const float yx = xx * xx > least ? -o.x / xx : 0.0f;
    const float zx = xx * xx > least ? -o.y / xx : 0.0f;
    const float yy = sqrtf(max_f32(half_trace - d.y - yx * yx, 0.0f));
    const float zy = yy * yy > least ? (-o.z - zx * yx) / yy : 0.0f;
    const float zz = sqrtf(max_f32(half_trace - d.z - zx * zx - zy * zy, 0.0f));
    const vec3 column = k < 2u ? v3(xx, yx, zx) : (k < 4u ? v3(0.0f, yy, zy) : v3(0.0f, 0.0f, zz));
    return v3_scale(column, ((k & 1u) == 0u ? 1.0f : -1.0f) * sqrtf(3.0f / body.mass));
}

// A collider's motion after a field has acted on it, at its pose at the end of the last step.
FUNCTION Motion forced_motion(VIEW_COMMA ForceField field, Cluster body, Motion motion)
{
    const vec3 angular_velocity = inverse_inertia_times(body, motion.predicted_rotation, motion.angular_momentum);
    const float share = 1.0f / F32(FORCE_POINTS);
    vec3 change = v3(0.0f, 0.0f, 0.0f);
    vec3 moment = v3(0.0f, 0.0f, 0.0f);
    for (uint k = 0u; k < FORCE_POINTS; k++) {
        const vec3 arm = v3_mul(rotate(motion.predicted_rotation, force_point(body, k)), PARAMETER(motion_mask));
        const vec3 v = v3_add(motion.velocity, v3_cross(angular_velocity, arm));
        const vec3 forced =
            forced_velocity(VIEW_HERE_COMMA field, v3_add(motion.predicted_centre, arm), v, 1.0f / body.mass);
        const vec3 gained = v3_scale(v3_sub(forced, v), share);
        change = v3_add(change, gained);
        moment = v3_add_scaled(moment, v3_cross(arm, gained), body.mass);
    }
    motion.velocity = v3_add(motion.velocity, v3_mul(change, PARAMETER(motion_mask)));
    motion.angular_momentum = v3_add(motion.angular_momentum, moment);
    motion.angular_velocity = inverse_inertia_times(body, motion.predicted_rotation, motion.angular_momentum);
    return motion;
}

KERNEL(force_colliders)
{
    const Cluster body = LOAD(dynamic_bodies, i);
    Motion motion = LOAD(dynamic_motions, i);
    for (uint k = 0u; k < PARAMETER(force_field_count); k++) {
        const ForceField field = LOAD(force_fields, k);
        if (field.spares_colliders == 0u) {
            motion = forced_motion(VIEW_HERE_COMMA field, body, motion);
        }
    }
    STORE(dynamic_motions, i, motion);
}

// Applies the impulse of query_fields to colliders. Their momentum is stored behind the sums of the particles' chunks.
KERNEL(kick_colliders)
{
    const Cluster body = LOAD(dynamic_bodies, i);
    const Motion before = LOAD(dynamic_motions, i);
    const Motion motion = forced_motion(VIEW_HERE_COMMA LOAD(query_fields, 0u), body, before);
    const vec3 given = v3_scale(v3_sub(motion.velocity, before.velocity), body.mass);
    STORE(dynamic_motions, i, motion);
    STORE(query_sums, PARAMETER(query_chunk_count) + PARAMETER(query_row_count) + i, v4_from_v3(given, 0.0f));
}

#endif
