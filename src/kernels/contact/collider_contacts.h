// SPDX-License-Identifier: MIT
// collider_contacts.h - contacts between particles and colliders, with friction at the position level (UPP eq. 22-24)
// and a sweep, so that no speed and no step size takes a particle through a wall.
//
// Colliders are not moved by particles, so each collider is a constraint group of its own: its correction is applied
// before the next collider is looked at (UPP section 4.3). Those that have a mass are: see collider/coupling.h.
#ifndef MOTE_KERNELS_COLLIDER_CONTACTS_H
#define MOTE_KERNELS_COLLIDER_CONTACTS_H

#include "data.h"
#include "collider/coupling.h"
#include "collider/distance.h"
#include "collider/sdf.h"
#include "contact/coulomb.h"
#include "contact/material.h"
#include "contact/rolling.h"
#include "rigid/bodies.h"

#define CONTACT_PASSES  3u    // over all colliders: enough for the corner where three walls meet
#define SWEEP_STEPS     32u   // of sphere tracing; a sweep that runs out ends at its last, safe point
#define FIELD_STEPS     256u  // the same in a field, whose distances are no longer than its band
#define SWEEP_TOLERANCE 0.01f // of the margin

// Penetration into a collider grown by the margin: the way out (xyz, unit) and the depth (w), which is not positive
// where there is no contact. `p` is in the collider's frame. A box container pushes off all its walls at once.
FUNCTION vec4 penetration(VIEW_COMMA Collider collider, vec3 p, float margin)
{
    if (collider.kind == COLLIDER_BOX && collider.inside_out != 0u) {
        const vec3 room = v3(max_f32(collider.half_size.x - margin, 0.0f), max_f32(collider.half_size.y - margin, 0.0f),
                             max_f32(collider.half_size.z - margin, 0.0f));
        const vec3 way = v3(clamp_f32(p.x, -room.x, room.x) - p.x, clamp_f32(p.y, -room.y, room.y) - p.y,
                            clamp_f32(p.z, -room.z, room.z) - p.z);
        const float squared = v3_dot(way, way);
        if (squared <= 0.0f) {
            return v4(0.0f, 0.0f, 0.0f, 0.0f);
        }
        const float depth = sqrtf(squared);
        return v4_from_v3(v3_scale(way, 1.0f / depth), depth);
    }
    const vec4 surface = collider_distance(VIEW_HERE_COMMA collider, p);
    return v4(surface.x, surface.y, surface.z, margin - surface.w);
}

// Follows the particle's way through the step in the collider's own frame, from `start` to `p`, by sphere tracing. If
// the way enters the collider, the end is moved to the tangent plane where it did. Returns the end (xyz), and 1 in w
// where it was moved. Only solids of finite size need this: the other colliders push back to the right side from
// anywhere.
FUNCTION vec4 sweep(VIEW_COMMA Collider collider, vec3 start, vec3 p, float margin)
{
    const vec3 way = v3_sub(p, start);
    const float length = v3_length(way);
    float gap = collider_distance(VIEW_HERE_COMMA collider, start).w;
    // A start inside the collider says nothing of sides. One inside the margin has little clearance to trace with:
    // there the trace keeps to half of it.
    if (gap <= 0.0f || gap > length + margin) {
        return v4_from_v3(p, 0.0f);
    }
    const float clearance = min_f32(margin, 0.5f * gap);
    float travelled = gap - clearance;
    const uint steps = collider.kind == COLLIDER_FIELD ? FIELD_STEPS : SWEEP_STEPS;
    for (uint n = 0u; n < steps; n++) {
        if (travelled >= length) {
            return v4_from_v3(p, 0.0f);
        }
        const vec3 at = v3_add_scaled(start, way, travelled / length);
        const vec4 surface = collider_distance(VIEW_HERE_COMMA collider, at);
        gap = surface.w - clearance;
        if (gap < SWEEP_TOLERANCE * clearance) {
            const vec3 normal = v3_from_v4(surface);
            const float beyond = v3_dot(v3_sub(p, at), normal);
            return beyond < 0.0f ? v4_from_v3(v3_add_scaled(p, normal, -beyond), 1.0f) : v4_from_v3(p, 0.0f);
        }
        travelled += gap;
    }
    return v4_from_v3(v3_add_scaled(start, way, travelled / length), 1.0f);
}

// Where a collider's surface, which moves and may deform, takes a point of the step's beginning that is now at `p`.
FUNCTION vec3 carried_along(VIEW_COMMA Collider collider, vec3 p, vec3 start)
{
    const vec3 own = rotate(collider.rotation, surface_velocity(VIEW_HERE_COMMA collider, to_collider(collider, p)));
    return v3_add_scaled(from_collider(collider, to_collider_at_start(collider, start)), own, PARAMETER(time_step));
}

// Velocity of a collider's point by its poses: `local` in its frame, now at `p`.
FUNCTION vec3 pose_velocity(VIEW_COMMA Collider collider, vec3 local, vec3 p)
{
    return v3_scale(v3_sub(p, from_collider_at_start(collider, local)), 1.0f / PARAMETER(time_step));
}

// What moving a collider did to a particle that it gave `momentum` (kg m: times a distance in the step), J. One that
// has a mass passes on energy that is watched itself (watch.h), and is not noted.
FUNCTION void add_collider_work(VIEW_COMMA uint i, Collider collider, vec3 momentum, vec3 p, vec3 start)
{
    if (PARAMETER(colliders_move) != 0u && PARAMETER(stabilizing) == 0u) {
        const vec3 shift = v3_sub(carried_along(VIEW_HERE_COMMA collider, p, start), start);
        const float work = v3_dot(momentum, shift) / (PARAMETER(time_step) * PARAMETER(time_step));
        STORE(collider_work, i, LOAD(collider_work, i) + work);
    }
}

// Friction against a surface that moves through the step; `depth` is how far the contact pushed (UPP eq. 23 and 24 with
// a partner of infinite mass).
FUNCTION vec3 apply_friction(VIEW_COMMA uint i, Collider collider, Material pair, vec3 p, vec3 start, vec3 normal,
                             float depth)
{
    if (!has_friction(pair)) {
        return p;
    }
    const vec3 motion = v3_sub(p, carried_along(VIEW_HERE_COMMA collider, p, start));
    const float rough = depth * surface_roughness(VIEW_HERE_COMMA collider, to_collider(collider, p));
    vec3 sliding = tangential(motion, normal);
    const bool turns = can_roll(VIEW_HERE_COMMA i);
    if (turns) {
        sliding =
            v3_add(sliding, rolling_velocity(VIEW_HERE_COMMA i, normal, PARAMETER(margin) * PARAMETER(time_step)));
    }
    return v3_add_scaled(p, sliding, -rolling_friction_share(pair, v3_length(sliding), rough, turns));
}

// Whether a box container has nothing to do with a particle at p, told by what little of the collider that takes: most
// of a liquid is away from all walls.
FUNCTION bool is_inside_container(VIEW_COMMA uint s, vec3 p, float margin)
{
    if (LOAD(colliders, s).kind != COLLIDER_BOX || LOAD(colliders, s).inside_out == 0u ||
        PARAMETER(adhesion_range) > 0.0f) {
        return false;
    }
    const vec3 local = rotate_back(LOAD(colliders, s).rotation, v3_sub(p, LOAD(colliders, s).position));
    const vec3 half_size = LOAD(colliders, s).half_size;
    return fabsf(local.x) <= half_size.x - margin && fabsf(local.y) <= half_size.y - margin &&
           fabsf(local.z) <= half_size.z - margin;
}

// Whether a particle is where no collider can have anything to do with it, told without a look at the colliders.
FUNCTION bool is_clear_of_colliders(VIEW_COMMA vec3 p)
{
    const vec3 lower = PARAMETER(clear_box_lower);
    const vec3 upper = PARAMETER(clear_box_upper);
    return p.x > lower.x && p.y > lower.y && p.z > lower.z && p.x < upper.x && p.y < upper.y && p.z < upper.z;
}

// Whether a collider that is_solid has nothing to do with a particle on its whole way through the step.
FUNCTION bool is_out_of_reach(Collider collider, vec3 start, vec3 p, float margin)
{
    const vec3 apart = v3_sub(p, collider.position);
    const float reach = collider.bounding_radius + margin + v3_length(v3_sub(p, start));
    return v3_dot(apart, apart) > reach * reach;
}

// How far a dynamic collider would push a particle if it were the only one and did not give way (m); not positive
// where it would not, and above -adhesion_range where it may pull.
FUNCTION float correction_length(VIEW_COMMA uint row, vec3 start, vec3 p, float margin)
{
    const Collider collider = LOAD(colliders, LOAD(dynamic_colliders, row));
    if (is_out_of_reach(collider, start, p, margin + PARAMETER(adhesion_range))) {
        return -NO_FIELD;
    }
    const vec3 local = to_collider(collider, p);
    const vec4 swept =
        sweep(VIEW_HERE_COMMA collider, start_in_collider(VIEW_HERE_COMMA collider, start), local, margin);
    const vec4 way_out = penetration(VIEW_HERE_COMMA collider, v3_from_v4(swept), margin);
    if (swept.w <= 0.0f) {
        return way_out.w;
    }
    const vec3 end = v3_add_scaled(v3_from_v4(swept), v3_from_v4(way_out), max_f32(way_out.w, 0.0f));
    return v3_length(v3_sub(end, local));
}

// Begins an iteration: no dynamic collider has pushed the particle yet.
//
// A particle that more colliders push than it has slots for keeps the slots for those that push it farthest. The others
// do not push it, so that momentum is conserved; as those in turn do what they can, they become the farthest ones, and
// have their turn in the next iteration or step.
FUNCTION void assign_impulse_slots(VIEW_COMMA uint i, vec3 start, vec3 p, float margin)
{
    clear_impulses(VIEW_HERE_COMMA i);
    uint touching = 0u;
    for (uint row = 0u; row < PARAMETER(dynamic_count) && PARAMETER(dynamic_count) > IMPULSE_SLOTS; row++) {
        const bool touches = correction_length(VIEW_HERE_COMMA row, start, p, margin) > -PARAMETER(adhesion_range);
        touching += touches ? 1u : 0u;
    }
    float last = NO_FIELD;
    uint last_row = 0u;
    for (uint slot = 0u; slot < IMPULSE_SLOTS && touching > IMPULSE_SLOTS; slot++) {
        float farthest = -NO_FIELD;
        uint chosen = NONE;
        for (uint row = 0u; row < PARAMETER(dynamic_count); row++) {
            const float length = correction_length(VIEW_HERE_COMMA row, start, p, margin);
            const bool follows = length < last || (length == last && row > last_row);
            if (follows && length > farthest) {
                farthest = length;
                chosen = row;
            }
        }
        STORE(impulse_rows, IMPULSE_SLOTS * i + slot, chosen);
        STORE(collider_impulses, IMPULSE_SLOTS * i + slot, v4(0.0f, 0.0f, 0.0f, 0.0f));
        last = farthest;
        last_row = chosen;
    }
}

KERNEL(solve_contacts)
{
    const vec4 particle = LOAD(predicted, i);
    if (is_clear_of_colliders(VIEW_HERE_COMMA v3_from_v4(particle))) {
        return;
    }
    const vec3 start = v3_from_v4(LOAD(positions, i));
    const float margin = PARAMETER(margin);
    const bool dynamic = HAS_FEATURE(DYNAMICS) && PARAMETER(dynamic_count) != 0u;
    if (dynamic && PARAMETER(impulses_begun) == 0u) {
        assign_impulse_slots(VIEW_HERE_COMMA i, start, v3_from_v4(particle), margin);
    }
    // Rigid bodies meet colliders in match_clusters; what is pinned stays, and stops only colliders that can move.
    if ((particle.w <= 0.0f && !dynamic) || rigid_cluster_of(VIEW_HERE_COMMA i) != NONE) {
        return;
    }
    const uint phase = LOAD(phases, i);

    vec3 p = v3_from_v4(particle);
    bool touched = true;
    bool moved = false;
    float squeezed = 0.0f; // m that a collider still pushed by when all had their turns
    for (uint pass = 0u; pass < CONTACT_PASSES && touched; pass++) {
        touched = false;
        for (uint s = 0u; s < PARAMETER(collider_count); s++) {
            if (!dynamic && is_inside_container(VIEW_HERE_COMMA s, p, margin)) {
                continue;
            }
            const Collider collider = LOAD(colliders, s);
            const bool solid = HAS_FEATURE(OBSTACLES) && collider_is_solid(collider);
            const uint row = dynamic ? LOAD(dynamic_rows, s) : NONE;
            const vec3 before = p;
            if ((row != NONE && pass > 0u) || (row == NONE && particle.w <= 0.0f)) {
                continue; // dynamic colliders push once: walls have the last word
            }
            if (solid && is_out_of_reach(collider, start, p, margin)) {
                continue;
            }
            vec3 local = to_collider(collider, p);
            if (solid) {
                const vec3 begun = start_in_collider(VIEW_HERE_COMMA collider, start);
                const vec4 swept = sweep(VIEW_HERE_COMMA collider, begun, local, margin);
                if (swept.w > 0.0f) {
                    local = v3_from_v4(swept);
                    p = from_collider(collider, local);
                    touched = true;
                }
            }
            const vec4 way_out = penetration(VIEW_HERE_COMMA collider, local, margin);
            const vec3 normal = rotate(collider.rotation, v3_from_v4(way_out));
            const Material pair = collider_material(VIEW_HERE_COMMA collider, phase);
            if (way_out.w > 0.0f) {
                p = v3_add_scaled(p, normal, way_out.w);
                if (PARAMETER(velocity_friction) == 0u) {
                    p = apply_friction(VIEW_HERE_COMMA i, collider, pair, p, start, normal, way_out.w);
                }
                touched = true;
            } else if (pass == 0u && pair.adhesion > 0.0f && PARAMETER(iteration) == 0u) {
                const vec4 surface =
                    collider_distance(VIEW_HERE_COMMA collider, local); // a container's depth is 0 here
                const float gap = surface.w - margin;
                if (gap > 0.0f && gap < PARAMETER(adhesion_range)) {
                    const vec3 away = rotate(collider.rotation, v3_from_v4(surface));
                    p = v3_add_scaled(p, away, -adhesion_limit(pair.adhesion, PARAMETER(time_step), gap));
                    moved = true;
                }
            }
            if (row != NONE) {
                p = share_impulse(VIEW_HERE_COMMA i, row, collider, before, p, particle.w);
            }
            if (PARAMETER(colliders_move) != 0u && row == NONE && particle.w > 0.0f) {
                const vec3 momentum = v3_scale(v3_sub(p, before), 1.0f / particle.w);
                add_collider_work(VIEW_HERE_COMMA i, collider, momentum, p, start);
            }
            if (pass + 1u == CONTACT_PASSES && row == NONE) {
                squeezed = max_f32(squeezed, way_out.w);
            }
        }
        moved = moved || touched;
    }
    if (squeezed > margin && PARAMETER(iteration) + 1u == PARAMETER(iteration_count)) {
        ATOMIC_ADD(counters, COUNTER_SQUEEZED, 1u);
        ATOMIC_MAX(counters, COUNTER_SQUEEZED_ID, LOAD(ids, i) + 1u);
    }
    if (moved && particle.w > 0.0f) {
        if (HAS_FEATURE(SOLIDS) && PARAMETER(has_solids) != 0u) {
            add_correction(VIEW_HERE_COMMA i, v3(0.0f, 0.0f, 0.0f), 1.0f);
        }
        p = v3_add(start, v3_mul(v3_sub(p, start), PARAMETER(motion_mask)));
        STORE(predicted, i, v4_from_v3(p, particle.w));
    }
}

// Moves particles that begin the step inside a collider out of it, candidate and start alike, so that the correction
// becomes no velocity (UPP section 4.4, Algorithm 1 lines 10-15).
KERNEL(stabilize_contacts)
{
    const vec4 position = LOAD(positions, i);
    if (is_clear_of_colliders(VIEW_HERE_COMMA v3_from_v4(position))) {
        return;
    }
    if (position.w <= 0.0f || rigid_cluster_of(VIEW_HERE_COMMA i) != NONE) {
        return;
    }
    const float margin = PARAMETER(margin);
    vec3 p = v3_from_v4(position);
    bool moved = false;
    for (uint s = 0u; s < PARAMETER(collider_count); s++) {
        const Collider collider = LOAD(colliders, s);
        const vec4 way_out =
            penetration(VIEW_HERE_COMMA collider, start_in_collider(VIEW_HERE_COMMA collider, p), margin);
        if (way_out.w > 0.0f) {
            p = v3_add_scaled(p, rotate(collider.start_rotation, v3_from_v4(way_out)), way_out.w);
            moved = true;
        }
    }
    if (moved) {
        const vec4 candidate = LOAD(predicted, i);
        const vec3 shift = v3_mul(v3_sub(p, v3_from_v4(position)), PARAMETER(motion_mask));
        STORE(positions, i, v4_from_v3(v3_add(v3_from_v4(position), shift), position.w));
        STORE(predicted, i, v4_from_v3(v3_add(v3_from_v4(candidate), shift), candidate.w));
    }
}

// Particles in contact leave their time on the wet maps of fields (DYV fig. 11). Whole numbers: the order of additions
// does not matter.
KERNEL(wet_fields)
{
    const vec3 p = v3_from_v4(LOAD(positions, i));
    const float reach = PARAMETER(margin) * 1.05f + 1e-6f;
    const uint counts = U32(PARAMETER(time_step) / WET_UNIT + 0.5f);
    for (uint s = 0u; s < PARAMETER(collider_count); s++) {
        const Collider collider = LOAD(colliders, s);
        if (collider.kind != COLLIDER_FIELD) {
            continue;
        }
        const Field field = LOAD(fields, collider.data);
        const vec3 local = to_collider(collider, p);
        if (field.wet == FIELD_NONE || penetration(VIEW_HERE_COMMA collider, local, reach).w <= 0.0f) {
            continue;
        }
        const SurfacePoint point = nearest_surface(VIEW_HERE_COMMA field, local);
        if (point.triangle != FIELD_NONE) {
            const uint texel =
                field.wet + surface_texel(VIEW_HERE_COMMA field, point, field.wet_width, field.wet_height);
            if (LOAD(wet_texels, texel) < WET_LIMIT) {
                ATOMIC_ADD(wet_texels, texel, counts);
            }
        }
    }
}

#endif
