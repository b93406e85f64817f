// SPDX-License-Identifier: MIT
// particle_contacts.h - contacts between solid particles, and of solid with liquid ones, with friction at the position
// level (UPP sections 5.1, 6.1 and 7.1). Each particle gathers over its neighbours (UPP Algorithm 2).
#ifndef MOTE_KERNELS_PARTICLE_CONTACTS_H
#define MOTE_KERNELS_PARTICLE_CONTACTS_H

#include "data.h"
#include "cloth/thickness.h"
#include "contact/coulomb.h"
#include "contact/material.h"
#include "contact/rolling.h"
#include "fluid/density.h"
#include "fluid/sph_kernels.h"
#include "particle/neighbours.h"
#include "rigid/bodies.h"

#define FACING     0.6f  // cosine: a plane that faces less directly is not the one that touches
#define FACE_REACH 0.75f // of the contact distance: how far aside of a particle its plane is believed
#define PAIR_REACH 1.25f // of the contact distance: planes touch at sqrt(1 + FACE_REACH^2)

#define NO_REACH -1e18f // of two that never touch

// The distance at which particles i and j touch.
FUNCTION float pair_reach(VIEW_COMMA uint i, uint j, uint phase, uint other_phase)
{
    if (PARAMETER(touching) != 0u && (has_trait(phase, TRAIT_SHEET) || has_trait(other_phase, TRAIT_SHEET)) &&
        touch_by_triangles(VIEW_HERE_COMMA i, j)) {
        return NO_REACH;
    }
    if (has_density(phase) || has_density(other_phase)) {
        return PARAMETER(fluid_distance);
    }
    if (PARAMETER(cloth_reach) > 0.0f && (has_trait(phase, TRAIT_SHEET) || has_trait(other_phase, TRAIT_SHEET))) {
        return sheet_reach(VIEW_HERE_COMMA i, j);
    }
    return PARAMETER(contact_distance);
}

FUNCTION float longest_reach(VIEW)
{
    const float wide = PARAMETER(member_count) != 0u ? PAIR_REACH : 1.0f;
    const float solid = max_f32(PARAMETER(contact_distance), PARAMETER(cloth_reach));
    return wide * max_f32(PARAMETER(fluid_distance), solid) + PARAMETER(adhesion_range);
}

// Particles of two bodies whose surfaces face each other meet as planes, not as spheres: faces slide on each other
// without bumps, which UPP's spheres do not. `direct` points from the other to this one. Depth in w, NO_FIELD where
// their surfaces do not face each other there.
FUNCTION vec4 face_normal(VIEW_COMMA uint i, uint j, vec3 direct, float distance, float reach)
{
    const vec4 own = face_towards(VIEW_HERE_COMMA i, v3_scale(direct, -1.0f), FACING);
    const vec4 other = face_towards(VIEW_HERE_COMMA j, direct, FACING);
    if (own.w >= NO_FIELD && other.w >= NO_FIELD) {
        return v4(0.0f, 0.0f, 0.0f, NO_FIELD);
    }
    // Each sees the opposite of what the other sees.
    vec3 normal = v3(0.0f, 0.0f, 0.0f);
    float apart = 0.0f; // of the centres, when the surfaces touch
    if (own.w < NO_FIELD) {
        normal = v3(-own.x, -own.y, -own.z);
        apart += fabsf(own.w);
    } else {
        apart += 0.5f * reach;
    }
    if (other.w < NO_FIELD) {
        normal = v3_add(normal, v3_from_v4(other));
        apart += fabsf(other.w);
    } else {
        apart += 0.5f * reach;
    }
    const float length = v3_length(normal);
    if (length < 1e-3f || apart > 2.0f * reach) { // deep inside one of them
        return v4(0.0f, 0.0f, 0.0f, NO_FIELD);
    }
    normal = v3_scale(normal, 1.0f / length);
    const float along = distance * v3_dot(direct, normal);
    const float aside = sqrtf(max_f32(distance * distance - along * along, 0.0f));
    return v4_from_v3(normal, aside <= FACE_REACH * reach ? apart - along : -reach);
}

// What of the push that density_delta gave particle i for its pair with j goes along the body's face instead of out of
// it; one of them is liquid, the other a body's. `normal` points out of the body.
FUNCTION vec3 tangential_pressure(VIEW_COMMA uint i, uint j, vec4 here, vec4 there, vec3 normal)
{
    float lambda = here.w + there.w;
    const vec3 offset = v3_sub(v3_from_v4(here), v3_from_v4(there));
    const float squared_distance = v3_dot(offset, offset);
    if (PARAMETER(has_pressure) != 0u) {
        const uint phase = LOAD(phases, i);
        const float pressure = pair_pressure(VIEW_HERE_COMMA own_pressure(VIEW_HERE_COMMA phase), LOAD(positions, i).w,
                                             !has_density(phase), j);
        lambda -= pressure * artificial_pressure(VIEW_HERE_COMMA squared_distance);
    }
    if (solids_weighted(VIEW_HERE)) {
        lambda *= PARAMETER(solid_weight);
    }
    const vec3 along = v3_add_scaled(offset, normal, -v3_dot(offset, normal));
    return v3_scale(along, lambda * spiky_factor(squared_distance, PARAMETER(smoothing_radius)));
}

// After density_delta: flat faces are smooth to liquids. A face is made of particles, and in the hollows between them
// pressure holds a liquid's: a layer of water below a box that lies on the ground could not flow out. What pushes along
// the face is taken back, on both sides.
KERNEL(remove_tangential_pressure)
{
    const vec4 here = LOAD(position_estimates, i);
    const bool liquid = has_density(LOAD(phases, i));
    if (!liquid && !has_plane(VIEW_HERE_COMMA i)) {
        return;
    }
    const uint count = LOAD(neighbour_counts, i);
    const uint start = LOAD(neighbour_starts, i);
    vec3 along = v3(0.0f, 0.0f, 0.0f);
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        if (has_density(LOAD(phases, j)) == liquid || (liquid && !has_plane(VIEW_HERE_COMMA j))) {
            continue;
        }
        const vec4 there = LOAD(position_estimates, j);
        const vec3 offset = v3_sub(v3_from_v4(here), v3_from_v4(there));
        const vec3 outward = v3_scale(offset, (liquid ? 1.0f : -1.0f) / max_f32(v3_length(offset), 1e-12f));
        const vec4 face = face_towards(VIEW_HERE_COMMA liquid ? j : i, outward, FACING);
        if (face.w < NO_FIELD) {
            along = v3_add(along, tangential_pressure(VIEW_HERE_COMMA i, j, here, there, v3_from_v4(face)));
        }
    }
    const vec4 particle = LOAD(predicted, i);
    float scale = -PARAMETER(gradient_scale) * PARAMETER(over_relaxation) * particle.w;
    if (PARAMETER(averaging) != 0u) {
        scale = scale / F32(count + 1u);
    }
    const vec3 back = v3_limit(v3_mul(v3_scale(along, scale), PARAMETER(motion_mask)), PARAMETER(max_correction));
    if (!liquid && rigid_cluster_of(VIEW_HERE_COMMA i) != NONE) {
        add_correction(VIEW_HERE_COMMA i, back, 0.0f);
    } else {
        STORE(predicted, i, v4_from_v3(v3_add(v3_from_v4(particle), back), particle.w));
    }
}

// Where to a particle is pushed by another (xyz, unit) and how deep they overlap (w), not positive where they do not.
// `offset` leads from the other to it.
FUNCTION vec4 pair_contact(VIEW_COMMA uint i, uint j, vec3 offset, float reach)
{
    const float distance = v3_length(offset);
    vec3 direct = v3(0.0f, LOAD(ids, i) < LOAD(ids, j) ? -1.0f : 1.0f, 0.0f); // coincident: apart, somewhere
    if (distance > 1e-12f) {
        direct = v3_scale(offset, 1.0f / distance);
    }
    if (PARAMETER(member_count) == 0u) {
        return v4_from_v3(direct, reach - distance);
    }
    if (distance >= reach && !has_plane(VIEW_HERE_COMMA i) && !has_plane(VIEW_HERE_COMMA j)) {
        return v4_from_v3(direct, reach - distance); // only planes reach farther
    }
    const vec4 own = surface_of(VIEW_HERE_COMMA i);
    const vec4 other = surface_of(VIEW_HERE_COMMA j);
    const float own_depth = fabsf(own.w);
    const float other_depth = fabsf(other.w);
    const float depth = min_f32(own_depth, other_depth);
    if (depth >= NO_FIELD) {
        return v4_from_v3(direct, reach - distance);
    }
    if (own_depth < NO_FIELD && other_depth < NO_FIELD) {
        const vec4 faces = face_normal(VIEW_HERE_COMMA i, j, direct, distance, reach);
        if (faces.w < NO_FIELD) {
            return faces;
        }
    }
    // Out of the body whose surface is nearer (UPP eq. 17); of two equally near ones out of both, so that each sees
    // the opposite of what the other sees.
    vec3 outward = v3(other.x, other.y, other.z);
    if (own_depth < other_depth) {
        outward = v3(-own.x, -own.y, -own.z);
    } else if (own_depth == other_depth) {
        const vec3 both = v3(other.x - own.x, other.y - own.y, other.z - own.z);
        const float length = v3_length(both);
        outward = length > 1e-6f ? v3_scale(both, 1.0f / length) : direct;
    }
    if (depth >= reach && distance < reach) { // deep inside
        return v4_from_v3(outward, depth);
    }
    // Near the surface particles are one-sided spheres (UPP eq. 20): the direction is reflected outward.
    const float along = v3_dot(direct, outward);
    if (along < 0.0f) {
        direct = v3_add_scaled(direct, outward, -2.0f * along);
    }
    return v4_from_v3(direct, reach - distance);
}

// How far a particle moved in the step against another, along neither `normal` (UPP eq. 23).
FUNCTION vec3 pair_sliding(VIEW_COMMA uint i, uint j, vec3 here, vec3 there, vec3 normal)
{
    const vec3 own = v3_sub(here, v3_from_v4(LOAD(contact_starts, i)));
    const vec3 other = v3_sub(there, v3_from_v4(LOAD(contact_starts, j)));
    return tangential(v3_sub(own, other), normal);
}

// What one neighbour does to a particle (xyz), and 1 in w where they touch.
FUNCTION vec4 pair_correction(VIEW_COMMA uint i, uint j, vec4 here, vec4 there, uint own_cluster)
{
    const uint phase = LOAD(phases, i);
    const uint other_phase = LOAD(phases, j);
    if (!can_touch(phase, other_phase)) {
        return v4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    const vec3 offset = v3_sub(v3_from_v4(here), v3_from_v4(there));
    const float reach = pair_reach(VIEW_HERE_COMMA i, j, phase, other_phase);
    const vec4 contact = pair_contact(VIEW_HERE_COMMA i, j, offset, reach);
    if (contact.w <= -PARAMETER(adhesion_range)) {
        return v4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    const vec3 normal = v3_from_v4(contact);
    const uint other_cluster = rigid_cluster_of(VIEW_HERE_COMMA j);
    const ContactResponse own = contact_response(VIEW_HERE_COMMA i, own_cluster, here, normal);
    const ContactResponse other = contact_response(VIEW_HERE_COMMA j, other_cluster, there, normal);
    const float resistance = own.inverse_effective_mass + other.inverse_effective_mass;
    if (resistance <= 0.0f) {
        return v4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    const float share = own.inverse_mass / resistance;
    if (contact.w <= 0.0f) { // near enough to stick, once a step
        const float adhesion = pair_material(VIEW_HERE_COMMA phase, other_phase).adhesion;
        if (adhesion <= 0.0f || PARAMETER(iteration) != 0u || PARAMETER(stabilizing) != 0u) {
            return v4(0.0f, 0.0f, 0.0f, 0.0f);
        }
        const float pull = adhesion_limit(adhesion, PARAMETER(time_step), -contact.w);
        return v4_from_v3(normal_correction(normal, -pull, share), 1.0f);
    }
    float depth = contact.w;
    if (PARAMETER(stabilizing) == 0u && (own_cluster != NONE || other_cluster != NONE)) {
        const vec3 begun = v3_sub(v3_from_v4(LOAD(positions, i)), v3_from_v4(LOAD(positions, j)));
        depth = overlap_by_motion(VIEW_HERE_COMMA depth, v3_dot(v3_sub(begun, offset), normal), normal);
    }
    vec3 delta = normal_correction(normal, depth, share);
    if (PARAMETER(stabilizing) == 0u && PARAMETER(velocity_friction) == 0u) {
        const Material pair = pair_material(VIEW_HERE_COMMA phase, other_phase);
        if (has_friction(pair)) {
            vec3 sliding = pair_sliding(VIEW_HERE_COMMA i, j, v3_from_v4(here), v3_from_v4(there), normal);
            const bool turns = can_roll(VIEW_HERE_COMMA i);
            const bool other_turns = can_roll(VIEW_HERE_COMMA j);
            const float lever = 0.5f * reach * PARAMETER(time_step);
            if (turns) {
                sliding = v3_add(sliding, rolling_velocity(VIEW_HERE_COMMA i, normal, lever));
            }
            if (other_turns) {
                sliding = v3_add(sliding, rolling_velocity(VIEW_HERE_COMMA j, normal, lever));
            }
            const float held = rolling_friction_share(pair, v3_length(sliding), depth, turns || other_turns);
            delta = v3_add_scaled(delta, sliding, -held * share);
        }
    }
    return v4_from_v3(delta, 1.0f);
}

// Sum of the corrections of all neighbours (xyz), and how many touch (w).
FUNCTION vec4 pair_corrections(VIEW_COMMA uint i, vec4 here, uint own_cluster)
{
    const uint count = LOAD(neighbour_counts, i);
    const uint start = LOAD(neighbour_starts, i);
    const float reach = longest_reach(VIEW_HERE);
    const float squared_reach = reach * reach;
    vec4 sum = v4(0.0f, 0.0f, 0.0f, 0.0f);
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        const vec4 there = LOAD(contact_points, j);
        const vec3 offset = v3_sub(v3_from_v4(here), v3_from_v4(there));
        if (v3_dot(offset, offset) < squared_reach) {
            const vec4 part = pair_correction(VIEW_HERE_COMMA i, j, here, there, own_cluster);
            sum = v4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
        }
    }
    return sum;
}

// Writes the corrected position. A particle of a rigid body stays, and what pushes it is noted; of the
// others' contacts only the number is.
FUNCTION void apply_corrections(VIEW_COMMA uint i, vec4 here, uint cluster, vec4 sum)
{
    vec3 delta = v3_mul(v3_scale(v3_from_v4(sum), PARAMETER(contact_relaxation)), PARAMETER(motion_mask));
    if (cluster != NONE) {
        add_correction(VIEW_HERE_COMMA i, delta, sum.w);
        delta = v3(0.0f, 0.0f, 0.0f);
    } else {
        if (PARAMETER(stabilizing) != 0u && PARAMETER(contacts_global) == 0u) {
            // UPP eq. 12: no velocity follows from it, so partners may divide by different numbers.
            delta = v3_scale(delta, 1.0f / max_f32(sum.w, 1.0f));
        }
        STORE(corrections, i, v4(0.0f, 0.0f, 0.0f, sum.w)); // only what touches something may sleep
    }
    STORE(corrected_positions, i, v4_from_v3(v3_add(v3_from_v4(here), delta), here.w));
}

KERNEL(solve_pairs)
{
    const vec4 here = LOAD(contact_points, i);
    if (here.w <= 0.0f) {
        STORE(corrected_positions, i, here);
        return;
    }
    const uint cluster = rigid_cluster_of(VIEW_HERE_COMMA i);
    apply_corrections(VIEW_HERE_COMMA i, here, cluster, pair_corrections(VIEW_HERE_COMMA i, here, cluster));
}

// After solve_pairs at the step's beginning: the candidates go along, so that the correction becomes no velocity (UPP
// section 4.4).
KERNEL(shift_predicted)
{
    const vec4 candidate = LOAD(predicted, i);
    const vec3 shift = v3_sub(v3_from_v4(LOAD(corrected_positions, i)), v3_from_v4(LOAD(positions, i)));
    STORE(predicted, i, v4_from_v3(v3_add(v3_from_v4(candidate), shift), candidate.w));
}

KERNEL(clear_corrections)
{
    STORE(corrections, i, v4(0.0f, 0.0f, 0.0f, 0.0f));
}

#endif
