// SPDX-License-Identifier: MIT
// touches.h - contacts of particles with the triangles of cloth (Francu and Moldoveanu 2014, section 8.2), so that
// what is smaller than a triangle does not fall through it. With the point of the triangle that is nearest to the
// particle, of barycentric coordinates u_k,
//
//     C = n . (x_p - sum u_k x_k) - r,     its gradients n and -u_k n
//
// A multiplier dl moves the particle by w_p n dl and corner k by -w_k u_k n dl: what one gets the others lose. All
// contacts of an iteration are solved at once, so masses are split among them (mass_splitting.h). Here a corner has
// less of a contact the smaller its coordinate: with J the coordinates (1 of a particle, u_k of a corner),
//
//     dl = -C / sum over i of w_i J_i S_i,     S_i = sum of J_i over all contacts that i takes part in
//
// By Gershgorin's theorem no iteration overshoots then. Multipliers are accumulated over the step's iterations and
// never pull in sum; so is friction, whose limit is the load of the step (coulomb.h).
//
// A contact has a side, which the particle was on when the (small) step began. Where its nearest point is on an edge or
// a corner, that is the side of the triangle around it that is nearest (Baerentzen and Aanaes 2005), and a particle
// that has gone through is led back to the nearest point. At borders cloth has no sides: a particle may go around. What
// leans on a triangle remembers the side until the next step, even if its centre has sunk through.
#ifndef MOTE_KERNELS_TOUCHES_H
#define MOTE_KERNELS_TOUCHES_H

#include "data.h"
#include "cloth/touch_search.h"
#include "contact/coulomb.h"
#include "contact/material.h"
#include "contact/restitution.h"
#include "rigid/bodies.h"

#define TOUCH_RECOVERY 0.5f
#define SAME_DISTANCE  1.0001f // ratio: two triangles of an edge are equally far from a point near it

// ---- One contact -------------------------------------------------------------------------------------------

// Where a particle is to a triangle.
STRUCT(Nearness)
{
    vec3 offset; // m, from the nearest point
    float distance;
    vec4 coords;  // of that point, as of nearest_on
    vec3 normal;  // of the triangle, unit
    float height; // m, above its plane, negative behind it
};

FUNCTION Nearness nearness(Triangle x, vec3 p)
{
    Nearness near;
    near.coords = nearest_on(x, p);
    near.offset = v3_sub(p, point_on(x, near.coords));
    near.distance = v3_length(near.offset);
    near.normal = triangle_normal(x);
    near.height = v3_dot(near.normal, near.offset);
    return near;
}

// Whether the nearest point is at the border of the cloth.
FUNCTION bool is_at_hem(VIEW_COMMA uint t, Nearness near)
{
    const uint part = U32(near.coords.w);
    return part != ON_FACE && ((LOAD(triangle_hems, t) >> (part - 1u)) & 1u) != 0u;
}

FUNCTION bool share_corner(VIEW_COMMA uint t, uint other)
{
    bool shared_one = false;
    for (uint a = 0u; a < 3u; a++) {
        for (uint b = 0u; b < 3u; b++) {
            shared_one = shared_one || LOAD(cloth_corners, 3u * t + a) == LOAD(cloth_corners, 3u * other + b);
        }
    }
    return shared_one;
}

// Height and distance of a touch are in touch_pushes while a particle compares its touches with each other.
FUNCTION void note_nearness(VIEW_COMMA uint touch, Nearness near)
{
    STORE(touch_pushes, touch, v4(near.height, near.distance, 0.0f, 0.0f));
}

// Whether a touch, of which `noted` is that, tells more about the side that a particle is on than one of this height
// and distance: it is nearer, or as near and more above a face.
FUNCTION bool tells_more(float height, float distance, vec4 noted)
{
    if (noted.y * SAME_DISTANCE < distance) {
        return true;
    }
    return noted.y < distance * SAME_DISTANCE && fabsf(noted.x) > fabsf(height);
}

// ---- Sides -------------------------------------------------------------------------------------------------

// Whether the particle's way through the step crosses the triangle, which moves, too.
FUNCTION bool crosses(Triangle x, Triangle y, vec3 p, vec3 q, float height, float height_after)
{
    const float t = height / (height - height_after);
    const Triangle between =
        triangle_of(v3_add_scaled(x.a, v3_sub(y.a, x.a), t), v3_add_scaled(x.b, v3_sub(y.b, x.b), t),
                    v3_add_scaled(x.c, v3_sub(y.c, x.c), t));
    return nearest_on(between, v3_add_scaled(p, v3_sub(q, p), t)).w == 0.0f;
}

// How far a particle and a triangle move towards each other at most, with a reserve for what constraints do (m).
FUNCTION float step_motion(VIEW_COMMA uint i, uint t)
{
    float most = 0.0f;
    for (uint c = 0u; c < 3u; c++) {
        const uint slot = LOAD(corner_slots, 3u * t + c);
        const vec3 moved = v3_sub(v3_from_v4(LOAD(predicted, slot)), v3_from_v4(LOAD(positions, slot)));
        most = max_f32(most, v3_length(moved));
    }
    const vec3 own = v3_sub(v3_from_v4(LOAD(predicted, i)), v3_from_v4(LOAD(positions, i)));
    return most + v3_length(own) + 0.25f * PARAMETER(smoothing_radius);
}

// Whether particle i is behind the triangle of its touch, at the step's start. Past an edge or a corner the plane of
// the triangle does not tell: then it is the side of that neighbour which is nearest.
FUNCTION bool begins_behind(VIEW_COMMA uint i, uint touch)
{
    const uint t = LOAD(touch_triangles, touch);
    const vec3 p = v3_from_v4(LOAD(positions, i));
    const Triangle start = triangle_at_start(VIEW_HERE_COMMA t);
    const Nearness near = nearness(start, p);
    if (near.coords.w == 0.0f) {
        return near.height < 0.0f;
    }
    if (is_at_hem(VIEW_HERE_COMMA t, near)) {
        const Triangle end = triangle_predicted(VIEW_HERE_COMMA t);
        const vec3 q = v3_from_v4(LOAD(predicted, i));
        const float after = v3_dot(triangle_normal(end), v3_sub(q, end.a));
        const bool stays = near.height * after >= 0.0f || crosses(start, end, p, q, near.height, after);
        return (stays ? near.height : after) < 0.0f;
    }
    float height = near.height;
    float distance = near.distance;
    if (distance > fabsf(LOAD(touch_reaches, touch)) + step_motion(VIEW_HERE_COMMA i, t)) {
        return height < 0.0f; // the two do not meet in this step
    }
    for (uint k = LOAD(particle_touches, i); k < LOAD(particle_touches, i + 1u); k++) {
        const uint other = LOAD(touch_lists, k);
        const vec4 noted = LOAD(touch_pushes, other);
        if (tells_more(height, distance, noted) && share_corner(VIEW_HERE_COMMA t, LOAD(touch_triangles, other))) {
            height = noted.x;
            distance = noted.y;
        }
    }
    return height < 0.0f;
}

// Of each particle, at the beginning of a (small) step.
KERNEL(begin_touches)
{
    const uint memory = LOAD(touch_memory, i);
    const vec3 p = v3_from_v4(LOAD(positions, i));
    for (uint k = LOAD(particle_touches, i); k < LOAD(particle_touches, i + 1u); k++) {
        const uint touch = LOAD(touch_lists, k);
        note_nearness(VIEW_HERE_COMMA touch,
                      nearness(triangle_at_start(VIEW_HERE_COMMA LOAD(touch_triangles, touch)), p));
    }
    for (uint k = LOAD(particle_touches, i); k < LOAD(particle_touches, i + 1u); k++) {
        const uint touch = LOAD(touch_lists, k);
        const uint t = LOAD(touch_triangles, touch);
        const bool known = memory != NONE && (memory >> 1) < PARAMETER(cloth_triangle_count) &&
                           share_corner(VIEW_HERE_COMMA t, memory >> 1);
        const bool behind = known ? (memory & 1u) != 0u : begins_behind(VIEW_HERE_COMMA i, touch);
        const float reach = fabsf(LOAD(touch_reaches, touch));
        STORE(touch_reaches, touch, behind ? -reach : reach);
        STORE(touch_impulses, touch, v4(0.0f, 0.0f, 0.0f, 0.0f));
    }
}

// At the end of a (small) step: the touch with the largest load, unless it is at a border.
KERNEL(remember_touches)
{
    uint memory = NONE;
    float most = 0.0f;
    const vec3 p = v3_from_v4(LOAD(predicted, i));
    for (uint k = LOAD(particle_touches, i); k < LOAD(particle_touches, i + 1u); k++) {
        const uint touch = LOAD(touch_lists, k);
        const uint t = LOAD(touch_triangles, touch);
        const float load = LOAD(touch_impulses, touch).w;
        if (load > most && !is_at_hem(VIEW_HERE_COMMA t, nearness(triangle_predicted(VIEW_HERE_COMMA t), p))) {
            most = load;
            memory = 2u * t + (LOAD(touch_reaches, touch) < 0.0f ? 1u : 0u);
        }
    }
    STORE(touch_memory, i, memory);
}

// ---- Contacts ----------------------------------------------------------------------------------------------

// Whether a neighbour of the triangle, for which particle i has a touch as well, is nearer to it or tells more.
FUNCTION bool has_nearer(VIEW_COMMA uint i, uint t, Nearness near)
{
    for (uint k = LOAD(particle_touches, i); k < LOAD(particle_touches, i + 1u); k++) {
        const uint other = LOAD(touch_lists, k);
        if (tells_more(near.height, near.distance, LOAD(touch_pushes, other)) &&
            share_corner(VIEW_HERE_COMMA t, LOAD(touch_triangles, other))) {
            return true;
        }
    }
    return false;
}

// Whether a neighbour of the triangle has this contact, whose point is on an edge or a corner: it is nearer, or shares
// the point and comes first. So a point has one contact.
FUNCTION bool is_shared(VIEW_COMMA uint i, uint t, Nearness near)
{
    for (uint k = LOAD(particle_touches, i); k < LOAD(particle_touches, i + 1u); k++) {
        const uint touch = LOAD(touch_lists, k);
        const uint other = LOAD(touch_triangles, touch);
        const vec4 noted = LOAD(touch_pushes, touch);
        const bool first =
            other < t && noted.y < near.distance * SAME_DISTANCE && noted.x * LOAD(touch_reaches, touch) >= 0.0f;
        if ((first || noted.y * SAME_DISTANCE < near.distance) && share_corner(VIEW_HERE_COMMA t, other)) {
            return true;
        }
    }
    return false;
}

// The normal of a contact, towards where the particle belongs, and how far it is along that (m): negative if it has
// gone through. A distance of FAR_AWAY: a neighbour has the contact.
FUNCTION vec4 contact_gap(VIEW_COMMA uint i, uint t, Nearness near, float side, float reach)
{
    const vec3 upward = v3_scale(near.normal, side);
    const float height = near.height * side;
    const bool on_face = near.coords.w == 0.0f;
    const vec3 direct = near.distance > 1e-9f ? v3_scale(near.offset, 1.0f / near.distance) : upward;
    if (on_face && height >= 0.0f) {
        return v4_from_v3(upward, height);
    }
    if (!on_face && (height >= 0.0f || is_at_hem(VIEW_HERE_COMMA t, near))) {
        const bool left_out = near.distance < reach && is_shared(VIEW_HERE_COMMA i, t, near);
        return v4_from_v3(direct, left_out ? FAR_AWAY : near.distance);
    }
    if (has_nearer(VIEW_HERE_COMMA i, t, near)) {
        return v4_from_v3(upward, FAR_AWAY);
    }
    return on_face ? v4_from_v3(upward, height) : v4_from_v3(v3_scale(direct, -1.0f), -near.distance);
}

// What of a depth is corrected. An overlap that was there when the step began becomes velocity, so not all of it is
// taken back at once; but half the reach is, much more than other contacts do (overlap_by_motion): between cloth and
// what is many times as heavy as its vertices few iterations leave an overlap, and that carries the weight.
FUNCTION float touch_depth(VIEW_COMMA uint i, uint t, vec4 coords, vec4 gap, float reach)
{
    const vec3 p = v3_from_v4(LOAD(positions, i));
    const vec3 normal = v3_from_v4(gap);
    const float begun = v3_dot(normal, v3_sub(p, point_on(triangle_at_start(VIEW_HERE_COMMA t), coords)));
    return min_f32(reach - gap.w, max_f32(begun - gap.w, 0.0f) + TOUCH_RECOVERY * reach);
}

// One touch: whether it is a contact, where, and how deep.
FUNCTION bool measure_touch(VIEW_COMMA uint i, uint touch, vec3 p)
{
    const uint t = LOAD(touch_triangles, touch);
    const float signed_reach = LOAD(touch_reaches, touch);
    const float reach = fabsf(signed_reach);
    const vec4 noted = LOAD(touch_pushes, touch);
    const bool pushed = LOAD(touch_impulses, touch).w > 0.0f;
    if (noted.y >= reach && noted.x * signed_reach >= 0.0f && !pushed) {
        STORE(touch_coords, touch, v4(0.0f, 0.0f, 0.0f, 0.0f)); // out of reach, and on the right side
        return false;
    }
    const Nearness near = nearness(triangle_predicted(VIEW_HERE_COMMA t), p);
    vec4 gap = v4(0.0f, 0.0f, 0.0f, FAR_AWAY);
    if (v3_dot(near.normal, near.normal) > 0.0f) {
        gap = contact_gap(VIEW_HERE_COMMA i, t, near, signed_reach < 0.0f ? -1.0f : 1.0f, reach);
    }
    float depth = reach - gap.w;
    if (depth > 0.0f) {
        depth = touch_depth(VIEW_HERE_COMMA i, t, near.coords, gap, reach);
    }
    const bool meets = depth > 0.0f || (gap.w < FAR_AWAY && pushed);
    STORE(touch_normals, touch, v4_from_v3(v3_from_v4(gap), depth));
    STORE(touch_coords, touch, v4_from_v3(v3_from_v4(near.coords), meets ? 1.0f : 0.0f));
    return meets;
}

KERNEL(measure_touches)
{
    float contacts = 0.0f;
    const vec3 p = v3_from_v4(LOAD(predicted, i));
    const uint begin = LOAD(particle_touches, i);
    const uint end = LOAD(particle_touches, i + 1u);
    for (uint k = begin; k < end; k++) {
        const uint touch = LOAD(touch_lists, k);
        note_nearness(VIEW_HERE_COMMA touch,
                      nearness(triangle_predicted(VIEW_HERE_COMMA LOAD(touch_triangles, touch)), p));
    }
    for (uint k = begin; k < end; k++) {
        contacts += measure_touch(VIEW_HERE_COMMA i, LOAD(touch_lists, k), p) ? 1.0f : 0.0f;
    }
    STORE(touch_weights, i, contacts);
}

FUNCTION float coordinate(vec4 coords, uint corner)
{
    return corner == 0u ? coords.x : corner == 1u ? coords.y : coords.z;
}

KERNEL(weigh_corners)
{
    vec3 sum = v3(0.0f, 0.0f, 0.0f);
    for (uint c = LOAD(triangle_touches, i); c < LOAD(triangle_touches, i + 1u); c++) {
        const vec4 coords = LOAD(touch_coords, c);
        sum = v3_add_scaled(sum, v3_from_v4(coords), coords.w);
    }
    STORE(corner_weights, 3u * i, sum.x);
    STORE(corner_weights, 3u * i + 1u, sum.y);
    STORE(corner_weights, 3u * i + 2u, sum.z);
}

// Adds to what a vertex has of contacts as a particle what it has of those of its triangles.
KERNEL(weigh_vertices)
{
    const uint slot = handle_slot(VIEW_HERE_COMMA LOAD(cloth_handles, i));
    if (slot == NONE) {
        return;
    }
    float sum = LOAD(touch_weights, slot);
    const uint root = fan_root(VIEW_HERE_COMMA i);
    for (uint k = LOAD(cloth_fan_starts, root); k < LOAD(cloth_fan_starts, root + 1u); k++) {
        const uint corner = LOAD(cloth_fans, k);
        sum += in_fan(VIEW_HERE_COMMA i, corner) ? LOAD(corner_weights, corner) : 0.0f;
    }
    STORE(touch_weights, slot, sum);
}

KERNEL(count_cluster_touches)
{
    const Cluster cluster = LOAD(clusters, i);
    float sum = 0.0f;
    if ((cluster.flags & CLUSTER_RIGID) != 0u) {
        for (uint e = cluster.first_entry; e < cluster.first_entry + cluster.entry_count; e++) {
            const uint slot = LOAD(handle_slots, LOAD(entry_members, e));
            sum += slot != NONE ? LOAD(touch_weights, slot) : 0.0f;
        }
    }
    STORE(cluster_touches, i, sum);
}

// ---- The solve ---------------------------------------------------------------------------------------------

// What a contact's multiplier is divided by: inverse masses (1/kg), split among contacts.
FUNCTION float touch_inverse_mass(VIEW_COMMA uint i, uint t, vec4 coords, vec3 normal)
{
    const vec4 particle = LOAD(predicted, i);
    float sum = particle.w * LOAD(touch_weights, i);
    const uint cluster = rigid_cluster_of(VIEW_HERE_COMMA i);
    if (cluster != NONE) {
        const vec3 arm = v3_sub(v3_from_v4(particle), v3_from_v4(LOAD(cluster_centres, cluster)));
        sum = LOAD(cluster_touches, cluster) *
              inverse_effective_mass(LOAD(clusters, cluster), LOAD(cluster_rotations, cluster), arm, normal);
    }
    for (uint c = 0u; c < 3u; c++) {
        const uint slot = LOAD(corner_slots, 3u * t + c);
        sum += LOAD(predicted, slot).w * coordinate(coords, c) * LOAD(touch_weights, slot);
    }
    return sum;
}

// The friction of a contact after the iteration (kg m): what would stop the sliding, within the limit of the load.
FUNCTION vec3 touch_friction(VIEW_COMMA uint i, uint t, vec4 coords, vec3 normal, vec4 before, float load, float mass)
{
    const Material pair = pair_material(VIEW_HERE_COMMA LOAD(phases, i), LOAD(phases, LOAD(corner_slots, 3u * t)));
    if (PARAMETER(velocity_friction) != 0u || !has_friction(pair)) {
        return v3(0.0f, 0.0f, 0.0f);
    }
    const vec3 own = v3_sub(v3_from_v4(LOAD(predicted, i)), v3_from_v4(LOAD(positions, i)));
    const vec3 other = v3_sub(point_on(triangle_predicted(VIEW_HERE_COMMA t), coords),
                              point_on(triangle_at_start(VIEW_HERE_COMMA t), coords));
    const vec3 sliding = tangential(v3_sub(own, other), normal);
    const vec3 wanted = v3_add_scaled(tangential(v3_from_v4(before), normal), sliding, -mass);
    const float size = v3_length(wanted);
    return size > 0.0f ? v3_scale(wanted, limited_friction(pair, size, load) / size) : wanted;
}

// Sums of what the corners of a triangle lose.
STRUCT(CornerSums)
{
    vec3 a;
    vec3 b;
    vec3 c;
};

FUNCTION CornerSums add_to_corners(CornerSums sums, vec4 coords, vec3 momentum)
{
    sums.a = v3_add_scaled(sums.a, momentum, -coords.x);
    sums.b = v3_add_scaled(sums.b, momentum, -coords.y);
    sums.c = v3_add_scaled(sums.c, momentum, -coords.z);
    return sums;
}

FUNCTION CornerSums sums_from(vec3 first)
{
    CornerSums sums = {first, first, first};
    return sums;
}

FUNCTION void store_corners(VIEW_COMMA uint t, CornerSums sums)
{
    STORE(corner_pushes, 3u * t, v4_from_v3(sums.a, 0.0f));
    STORE(corner_pushes, 3u * t + 1u, v4_from_v3(sums.b, 0.0f));
    STORE(corner_pushes, 3u * t + 2u, v4_from_v3(sums.c, 0.0f));
}

// Of a triangle, one contact after the other: what each gives its particle, and together the corners.
KERNEL(solve_touches)
{
    CornerSums sums = sums_from(v3(0.0f, 0.0f, 0.0f));
    for (uint c = LOAD(triangle_touches, i); c < LOAD(triangle_touches, i + 1u); c++) {
        const vec4 coords = LOAD(touch_coords, c);
        const vec4 contact = LOAD(touch_normals, c);
        const vec3 normal = v3_from_v4(contact);
        const uint slot = LOAD(touch_particles, c);
        vec3 momentum = v3(0.0f, 0.0f, 0.0f);
        const float inverse = coords.w > 0.0f ? touch_inverse_mass(VIEW_HERE_COMMA slot, i, coords, normal) : 0.0f;
        if (inverse > 0.0f) {
            const vec4 before = LOAD(touch_impulses, c);
            const float load = normal_load(before.w, contact.w, inverse);
            const vec3 friction = touch_friction(VIEW_HERE_COMMA slot, i, coords, normal, before, load, 1.0f / inverse);
            momentum = v3_add_scaled(v3_sub(friction, v3_from_v4(before)), normal, load - before.w);
            momentum = v3_mul(momentum, PARAMETER(motion_mask));
            STORE(touch_impulses, c, v4_from_v3(friction, load));
            sums = add_to_corners(sums, coords, momentum);
        }
        STORE(touch_pushes, c, v4_from_v3(momentum, 0.0f));
    }
    store_corners(VIEW_HERE_COMMA i, sums);
}

// What a particle gets of its touches, and as a vertex of its triangles.
FUNCTION vec3 sum_of_pushes(VIEW_COMMA uint i)
{
    vec3 sum = v3(0.0f, 0.0f, 0.0f);
    for (uint k = LOAD(particle_touches, i); k < LOAD(particle_touches, i + 1u); k++) {
        sum = v3_add(sum, v3_from_v4(LOAD(touch_pushes, LOAD(touch_lists, k))));
    }
    const uint row = LOAD(cloth_rows, i);
    if (row != NONE) {
        const uint root = fan_root(VIEW_HERE_COMMA row);
        for (uint k = LOAD(cloth_fan_starts, root); k < LOAD(cloth_fan_starts, root + 1u); k++) {
            const uint corner = LOAD(cloth_fans, k);
            if (in_fan(VIEW_HERE_COMMA row, corner)) {
                sum = v3_add(sum, v3_from_v4(LOAD(corner_pushes, corner)));
            }
        }
    }
    return sum;
}

KERNEL(apply_touches)
{
    const vec4 particle = LOAD(predicted, i);
    if (LOAD(touch_weights, i) <= 0.0f || particle.w <= 0.0f) {
        return;
    }
    const vec3 moved = v3_scale(sum_of_pushes(VIEW_HERE_COMMA i), particle.w);
    if (rigid_cluster_of(VIEW_HERE_COMMA i) != NONE) {
        add_correction(VIEW_HERE_COMMA i, moved, 0.0f);
    } else {
        STORE(predicted, i, v4_from_v3(v3_add(v3_from_v4(particle), moved), particle.w));
    }
}

// ---- Restitution -------------------------------------------------------------------------------------------

FUNCTION vec3 corners_velocity(VIEW_COMMA uint t, vec4 coords)
{
    return point_on(triangle_of(v3_from_v4(LOAD(velocities, LOAD(corner_slots, 3u * t))),
                                v3_from_v4(LOAD(velocities, LOAD(corner_slots, 3u * t + 1u))),
                                v3_from_v4(LOAD(velocities, LOAD(corner_slots, 3u * t + 2u)))),
                    coords);
}

FUNCTION vec3 corners_move_velocity(VIEW_COMMA uint t, vec4 coords)
{
    return point_on(triangle_of(velocity_of_move(VIEW_HERE_COMMA LOAD(corner_slots, 3u * t)),
                                velocity_of_move(VIEW_HERE_COMMA LOAD(corner_slots, 3u * t + 1u)),
                                velocity_of_move(VIEW_HERE_COMMA LOAD(corner_slots, 3u * t + 2u))),
                    coords);
}

// As bounce_pairs (restitution.h), of the contacts that the last iteration had: kg m/s.
KERNEL(bounce_touches)
{
    CornerSums sums = sums_from(v3(0.0f, 0.0f, 0.0f));
    for (uint c = LOAD(triangle_touches, i); c < LOAD(triangle_touches, i + 1u); c++) {
        const vec4 coords = LOAD(touch_coords, c);
        const vec3 normal = v3_from_v4(LOAD(touch_normals, c));
        const uint slot = LOAD(touch_particles, c);
        vec3 momentum = v3(0.0f, 0.0f, 0.0f);
        const float inverse = coords.w > 0.0f && LOAD(touch_impulses, c).w > 0.0f
                                  ? touch_inverse_mass(VIEW_HERE_COMMA slot, i, coords, normal)
                                  : 0.0f;
        if (inverse > 0.0f && !has_density(LOAD(phases, slot))) {
            const Material pair =
                pair_material(VIEW_HERE_COMMA LOAD(phases, slot), LOAD(phases, LOAD(corner_slots, 3u * i)));
            const vec3 met = v3_sub(v3_from_v4(LOAD(velocities, slot)), corners_velocity(VIEW_HERE_COMMA i, coords));
            const vec3 leaving =
                v3_sub(velocity_of_move(VIEW_HERE_COMMA slot), corners_move_velocity(VIEW_HERE_COMMA i, coords));
            const float approach = v3_dot(met, normal);
            const float lacking = lacking_speed(pair.restitution, approach, v3_dot(leaving, normal));
            if (bounces(VIEW_HERE_COMMA approach) && lacking > 0.0f) {
                momentum = v3_scale(normal, lacking / inverse);
            }
            if (PARAMETER(velocity_friction) != 0u) {
                momentum =
                    v3_add_scaled(momentum, tangential(leaving, normal), -velocity_friction_share(pair) / inverse);
            }
            sums = add_to_corners(sums, coords, momentum);
        }
        STORE(touch_pushes, c, v4_from_v3(momentum, 0.0f));
    }
    store_corners(VIEW_HERE_COMMA i, sums);
}

KERNEL(apply_touch_bounces)
{
    const float inverse_mass = LOAD(predicted, i).w;
    if (LOAD(touch_weights, i) > 0.0f && inverse_mass > 0.0f) {
        const vec3 change = v3_from_v4(LOAD(velocity_changes, i));
        const vec3 more = v3_scale(sum_of_pushes(VIEW_HERE_COMMA i), inverse_mass);
        STORE(velocity_changes, i, v4_from_v3(v3_add(change, more), 0.0f));
    }
}

#endif
