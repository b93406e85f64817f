// SPDX-License-Identifier: MIT
// touch_search.h - touches: pairs of a particle and a triangle of cloth that may come into contact in a step
// (touches.h). They are found once a step, in the table of cells that neighbour lists are found in.
//
// A triangle walks over the cells that the box of its motion overlaps, grown by touch_reach. Cells have particles where
// they are predicted to be. What moves by at most half a smoothing radius in the step, as max_displacement has it by
// default, is within that of its cell all the way; the few that are swifter are in a list of their own, which every
// triangle goes through. Touches are counted, then stored (scan in between), so that none is left out; they come in the
// order of triangles, and each particle has a list of its own ones, ascending: sums over either have one order.
#ifndef MOTE_KERNELS_TOUCH_SEARCH_H
#define MOTE_KERNELS_TOUCH_SEARCH_H

#include "data.h"
#include "cloth/fans.h"
#include "cloth/thickness.h"
#include "contact/material.h"
#include "particle/handles.h"
#include "particle/neighbours.h"

// ---- Triangles ---------------------------------------------------------------------------------------------

STRUCT(Triangle)
{
    vec3 a; // m
    vec3 b;
    vec3 c;
};

FUNCTION Triangle triangle_of(vec3 a, vec3 b, vec3 c)
{
    Triangle triangle = {a, b, c};
    return triangle;
}

FUNCTION bool has_corners(VIEW_COMMA uint t)
{
    return LOAD(corner_slots, 3u * t) != NONE && LOAD(corner_slots, 3u * t + 1u) != NONE &&
           LOAD(corner_slots, 3u * t + 2u) != NONE;
}

FUNCTION Triangle triangle_at_start(VIEW_COMMA uint t)
{
    return triangle_of(v3_from_v4(LOAD(positions, LOAD(corner_slots, 3u * t))),
                       v3_from_v4(LOAD(positions, LOAD(corner_slots, 3u * t + 1u))),
                       v3_from_v4(LOAD(positions, LOAD(corner_slots, 3u * t + 2u))));
}

FUNCTION Triangle triangle_predicted(VIEW_COMMA uint t)
{
    return triangle_of(v3_from_v4(LOAD(predicted, LOAD(corner_slots, 3u * t))),
                       v3_from_v4(LOAD(predicted, LOAD(corner_slots, 3u * t + 1u))),
                       v3_from_v4(LOAD(predicted, LOAD(corner_slots, 3u * t + 2u))));
}

FUNCTION Triangle triangle_at_rest(VIEW_COMMA uint t)
{
    return triangle_of(v3_from_v4(LOAD(cloth_rests, LOAD(cloth_corners, 3u * t))),
                       v3_from_v4(LOAD(cloth_rests, LOAD(cloth_corners, 3u * t + 1u))),
                       v3_from_v4(LOAD(cloth_rests, LOAD(cloth_corners, 3u * t + 2u))));
}

#define ON_FACE 0u // else 1 to 3: on the edge from that corner to the next one; 4 to 6: at that corner

// The point of a triangle that is nearest to p: barycentric coordinates, and in w what part it is on. By the signs of
// p's coordinates along the edges (Ericson 2005, "Real-Time Collision Detection", section 5.1.5).
FUNCTION vec4 nearest_on(Triangle x, vec3 p)
{
    const vec3 ab = v3_sub(x.b, x.a);
    const vec3 ac = v3_sub(x.c, x.a);
    const vec3 ap = v3_sub(p, x.a);
    const float d1 = v3_dot(ab, ap);
    const float d2 = v3_dot(ac, ap);
    if (d1 <= 0.0f && d2 <= 0.0f) {
        return v4(1.0f, 0.0f, 0.0f, 4.0f);
    }
    const vec3 bp = v3_sub(p, x.b);
    const float d3 = v3_dot(ab, bp);
    const float d4 = v3_dot(ac, bp);
    if (d3 >= 0.0f && d4 <= d3) {
        return v4(0.0f, 1.0f, 0.0f, 5.0f);
    }
    const float vc = d1 * d4 - d3 * d2;
    if (vc <= 0.0f && d1 >= 0.0f && d3 <= 0.0f) {
        const float v = d1 / (d1 - d3);
        return v4(1.0f - v, v, 0.0f, 1.0f);
    }
    const vec3 cp = v3_sub(p, x.c);
    const float d5 = v3_dot(ab, cp);
    const float d6 = v3_dot(ac, cp);
    if (d6 >= 0.0f && d5 <= d6) {
        return v4(0.0f, 0.0f, 1.0f, 6.0f);
    }
    const float vb = d5 * d2 - d1 * d6;
    if (vb <= 0.0f && d2 >= 0.0f && d6 <= 0.0f) {
        const float w = d2 / (d2 - d6);
        return v4(1.0f - w, 0.0f, w, 3.0f);
    }
    const float va = d3 * d6 - d5 * d4;
    if (va <= 0.0f && d4 >= d3 && d5 >= d6) {
        const float w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return v4(0.0f, 1.0f - w, w, 2.0f);
    }
    const float inverse = 1.0f / (va + vb + vc);
    const float v = vb * inverse;
    const float w = vc * inverse;
    return v4(1.0f - v - w, v, w, 0.0f);
}

FUNCTION vec3 point_on(Triangle x, vec4 coords)
{
    return v3_add_scaled(v3_add_scaled(v3_scale(x.a, coords.x), x.b, coords.y), x.c, coords.z);
}

// Unit, or 0 if the triangle has no area.
FUNCTION vec3 triangle_normal(Triangle x)
{
    const vec3 doubled = v3_cross(v3_sub(x.b, x.a), v3_sub(x.c, x.a));
    const float length = v3_length(doubled);
    return length > 1e-20f ? v3_scale(doubled, 1.0f / length) : v3(0.0f, 0.0f, 0.0f);
}

// ---- Borders -----------------------------------------------------------------------------------------------

// `bounds` are those of the particles that were put into cells; in a batch later steps overwrite them even after a
// failed speculation.
KERNEL(keep_touch_bounds)
{
    STORE(touch_bounds, 2u * i, LOAD(bounds, 2u * i)); // i is 0
    STORE(touch_bounds, 2u * i + 1u, LOAD(bounds, 2u * i + 1u));
}

// A number of a vertex such that sums of different vertices are unlikely to be the same.
FUNCTION uint scattered(uint row)
{
    uint x = row * 0x9e3779b9u + 0x85ebca6bu;
    x = (x ^ (x >> 15)) * 0x2c1b3c6du;
    return (x ^ (x >> 12)) * 0x297a2d39u;
}

// A vertex is inside if its triangles close a ring around it: the vertex that follows it in one of them is the one
// before it in another. So sums over both are the same.
KERNEL(mark_hems)
{
    uint sum = 0u;
    const bool present = handle_slot(VIEW_HERE_COMMA LOAD(cloth_handles, i)) != NONE; // or room for a torn copy
    const uint root = present ? fan_root(VIEW_HERE_COMMA i) : i;
    for (uint k = LOAD(cloth_fan_starts, root); k < LOAD(cloth_fan_starts, root + 1u); k++) {
        const uint corner = LOAD(cloth_fans, k);
        if (in_fan(VIEW_HERE_COMMA i, corner)) {
            sum += scattered(LOAD(cloth_corners, corner_behind(corner)));
            sum -= scattered(LOAD(cloth_corners, corner_before(corner)));
        }
    }
    STORE(touch_hems, i, sum != 0u ? 1u : 0u);
}

// Whether no other triangle has the edge between rows `a` and `b`.
FUNCTION bool is_border(VIEW_COMMA uint t, uint a, uint b)
{
    if (LOAD(touch_hems, a) == 0u || LOAD(touch_hems, b) == 0u) {
        return false;
    }
    const uint root = fan_root(VIEW_HERE_COMMA a);
    for (uint k = LOAD(cloth_fan_starts, root); k < LOAD(cloth_fan_starts, root + 1u); k++) {
        const uint corner = LOAD(cloth_fans, k);
        const uint other = corner / 3u;
        for (uint c = 0u; c < 3u && other != t && in_fan(VIEW_HERE_COMMA a, corner); c++) {
            if (LOAD(cloth_corners, 3u * other + c) == b) {
                return false;
            }
        }
    }
    return true;
}

KERNEL(locate_corners)
{
    uint hems = 0u;
    uint corners[3];
    for (uint c = 0u; c < 3u; c++) {
        corners[c] = LOAD(cloth_corners, 3u * i + c);
        STORE(corner_slots, 3u * i + c,
              corners[c] != NONE ? handle_slot(VIEW_HERE_COMMA LOAD(cloth_handles, corners[c])) : NONE);
    }
    for (uint c = 0u; c < 3u && has_corners(VIEW_HERE_COMMA i); c++) {
        hems |= is_border(VIEW_HERE_COMMA i, corners[c], corners[(c + 1u) % 3u]) ? 1u << c : 0u;
        hems |= LOAD(touch_hems, corners[c]) != 0u ? 8u << c : 0u;
    }
    STORE(triangle_hems, i, hems);
}

// ---- Search ------------------------------------------------------------------------------------------------

KERNEL(clear_touches)
{
    STORE(particle_touches, i, 0u);
    STORE(touch_cursors, i, 0u);
    STORE(touch_weights, i, 0.0f);
    if (i == 0u) {
        STORE(swift_particles, 0u, 0u);
    }
}

// Whether a particle moves farther in the step than what triangles look around themselves for.
FUNCTION bool is_swift(VIEW_COMMA uint i)
{
    const vec3 moved = v3_sub(v3_from_v4(LOAD(predicted, i)), v3_from_v4(LOAD(positions, i)));
    return v3_dot(moved, moved) > 0.26f * PARAMETER(smoothing_radius_squared); // max_displacement has 0.25, as rounded
}

KERNEL(list_swift)
{
    if (is_swift(VIEW_HERE_COMMA i)) {
        const uint number = ATOMIC_ADD(swift_particles, 0u, 1u);
        STORE(swift_particles, 1u + number, i);
    }
}

// The distance at which a particle and a triangle touch, not above 0 if they never do.
FUNCTION float touch_distance(VIEW_COMMA uint i, uint t)
{
    const uint cloth = LOAD(cloth_of_triangles, t);
    const uint row = LOAD(cloth_rows, i);
    const uint phase = LOAD(phases, i);
    const uint corner = LOAD(corner_slots, 3u * t);
    const uint cloth_phase = LOAD(phases, corner);
    if (!can_touch(cloth_phase, phase) ||
        is_ignored(VIEW_HERE_COMMA ignored_materials(VIEW_HERE_COMMA phase), cloth_phase) ||
        is_ignored(VIEW_HERE_COMMA ignored_materials(VIEW_HERE_COMMA cloth_phase), phase)) {
        return 0.0f;
    }
    if (has_density(phase)) {
        return PARAMETER(fluid_distance);
    }
    const float own = LOAD(cloth_laws, cloth).w;
    const float thickness = own > 0.0f ? own : PARAMETER(contact_distance);
    if (row == NONE || LOAD(cloth_of_vertices, row) != cloth) {
        return 0.5f * (thickness + thickness_of(VIEW_HERE_COMMA row));
    }
    if (LOAD(touch_modes, cloth) != TOUCH_ALL) {
        return 0.0f;
    }
    for (uint c = 0u; c < 3u; c++) {
        if (LOAD(cloth_corners, 3u * t + c) == row) {
            return 0.0f;
        }
    }
    const Triangle rest = triangle_at_rest(VIEW_HERE_COMMA t);
    const vec3 p = v3_from_v4(LOAD(cloth_rests, row));
    return min_f32(thickness, v3_length(v3_sub(p, point_on(rest, nearest_on(rest, p)))));
}

STRUCT(Sweep)
{
    vec3 lower; // m, corners of a box around a triangle's motion, grown by touch_reach
    uint triangle;
    vec3 upper;
    uint count; // of touches so far
};

FUNCTION vec3 v3_minimum(vec3 a, vec3 b)
{
    return v3(min_f32(a.x, b.x), min_f32(a.y, b.y), min_f32(a.z, b.z));
}

FUNCTION vec3 v3_maximum(vec3 a, vec3 b)
{
    return v3(max_f32(a.x, b.x), max_f32(a.y, b.y), max_f32(a.z, b.z));
}

FUNCTION Sweep sweep_of(VIEW_COMMA uint t)
{
    const Triangle x = triangle_at_start(VIEW_HERE_COMMA t);
    const Triangle y = triangle_predicted(VIEW_HERE_COMMA t);
    const float reach = PARAMETER(touch_reach);
    const vec3 around = v3(reach, reach, reach);
    const vec3 low = v3_minimum(v3_minimum(v3_minimum(x.a, x.b), v3_minimum(x.c, y.a)), v3_minimum(y.b, y.c));
    const vec3 high = v3_maximum(v3_maximum(v3_maximum(x.a, x.b), v3_maximum(x.c, y.a)), v3_maximum(y.b, y.c));
    Sweep sweep = {v3_sub(low, around), t, v3_add(high, around), 0u};
    return sweep;
}

// Whether the box around a particle's motion overlaps the triangle's, and the two may touch.
FUNCTION bool sweeps_over(VIEW_COMMA Sweep sweep, uint j)
{
    const vec3 p = v3_from_v4(LOAD(positions, j));
    const vec3 q = v3_from_v4(LOAD(predicted, j));
    const vec3 low = v3_minimum(p, q);
    const vec3 high = v3_maximum(p, q);
    return low.x <= sweep.upper.x && low.y <= sweep.upper.y && low.z <= sweep.upper.z && high.x >= sweep.lower.x &&
           high.y >= sweep.lower.y && high.z >= sweep.lower.z &&
           touch_distance(VIEW_HERE_COMMA j, sweep.triangle) > 0.0f;
}

// Touches of a triangle with the particles of a cell; where `lists`, they are stored from `start` on.
FUNCTION uint touch_cell(VIEW_COMMA Sweep sweep, uint cell, bool lists, uint start)
{
    uint count = sweep.count;
    for (uint j = LOAD(cell_starts, cell); j < LOAD(cell_starts, cell + 1u); j++) {
        if (sweeps_over(VIEW_HERE_COMMA sweep, j) && !is_swift(VIEW_HERE_COMMA j)) {
            if (lists) {
                STORE(touch_particles, start + count, j);
            }
            count++;
        }
    }
    return count;
}

// Those with swift particles. Their list has no order: as they are inserted here, they get one.
FUNCTION uint touch_swift(VIEW_COMMA Sweep sweep, bool lists, uint start)
{
    const uint swift = LOAD(swift_particles, 0u);
    uint count = sweep.count;
    for (uint k = 1u; k <= swift; k++) {
        const uint j = LOAD(swift_particles, k);
        if (!sweeps_over(VIEW_HERE_COMMA sweep, j)) {
            continue;
        }
        if (lists) {
            uint place = start + count;
            while (place > start + sweep.count && LOAD(touch_particles, place - 1u) > j) {
                STORE(touch_particles, place, LOAD(touch_particles, place - 1u));
                place--;
            }
            STORE(touch_particles, place, j);
        }
        count++;
    }
    return count;
}

// How many touches triangle t has; where `lists`, their particles are stored from `start` on.
FUNCTION uint find_touches(VIEW_COMMA uint t, bool lists, uint start)
{
    if (!has_corners(VIEW_HERE_COMMA t) || LOAD(touch_modes, LOAD(cloth_of_triangles, t)) == TOUCH_BY_VERTICES) {
        return 0u;
    }
    Sweep sweep = sweep_of(VIEW_HERE_COMMA t);
    const uint cells = cells_in_use(VIEW_HERE);
    const vec4 origin = LOAD(touch_bounds, 0u);
    const vec4 end = LOAD(touch_bounds, 1u);
    const float size =
        cell_size(PARAMETER(search_radius), max_f32(max_f32(end.x - origin.x, end.y - origin.y), end.z - origin.z));
    // Cells have what is swift nowhere near, and all else where it is predicted.
    const float slack = 0.51f * PARAMETER(smoothing_radius);
    const uint from_x = cell_coordinate(sweep.lower.x - slack, origin.x, size) >> 1;
    const uint from_y = cell_coordinate(sweep.lower.y - slack, origin.y, size) >> 1;
    const uint from_z = cell_coordinate(sweep.lower.z - slack, origin.z, size) >> 1;
    const uint to_x = cell_coordinate(sweep.upper.x + slack, origin.x, size) >> 1;
    const uint to_y = cell_coordinate(sweep.upper.y + slack, origin.y, size) >> 1;
    const uint to_z = cell_coordinate(sweep.upper.z + slack, origin.z, size) >> 1;
    const float blocks = F32(to_x - from_x + 1u) * F32(to_y - from_y + 1u) * F32(to_z - from_z + 1u);
    if (blocks > F32(cells)) { // large triangles: all cells are fewer
        for (uint cell = 0u; cell < cells; cell++) {
            sweep.count = touch_cell(VIEW_HERE_COMMA sweep, cell, lists, start);
        }
        return touch_swift(VIEW_HERE_COMMA sweep, lists, start);
    }
    for (uint z = from_z; z <= to_z; z++) {
        for (uint y = from_y; y <= to_y; y++) {
            for (uint x = from_x; x <= to_x; x++) {
                const u64 block = spread_bits(x) | (spread_bits(y) << 1) | (spread_bits(z) << 2);
                uint cell = find_block(VIEW_HERE_COMMA block);
                while (cell < cells && block_of_key(key_of_cell(VIEW_HERE_COMMA cell)) == block) {
                    sweep.count = touch_cell(VIEW_HERE_COMMA sweep, cell, lists, start);
                    cell++;
                }
            }
        }
    }
    return touch_swift(VIEW_HERE_COMMA sweep, lists, start);
}

KERNEL(count_touches)
{
    STORE(triangle_touches, i, find_touches(VIEW_HERE_COMMA i, false, 0u));
}

KERNEL(fill_touches)
{
    const uint start = LOAD(triangle_touches, i);
    const uint count = find_touches(VIEW_HERE_COMMA i, true, start);
    for (uint c = start; c < start + count; c++) {
        const uint j = LOAD(touch_particles, c);
        STORE(touch_triangles, c, i);
        STORE(touch_reaches, c, touch_distance(VIEW_HERE_COMMA j, i));
        ATOMIC_ADD(particle_touches, j, 1u);
    }
}

// After the scan of particle_touches: their touches, in any order,
KERNEL(list_touches)
{
    for (uint c = LOAD(triangle_touches, i); c < LOAD(triangle_touches, i + 1u); c++) {
        const uint j = LOAD(touch_particles, c);
        const uint number = ATOMIC_ADD(touch_cursors, j, 1u);
        STORE(touch_lists, LOAD(particle_touches, j) + number, c);
    }
}

// and ascending.
KERNEL(sort_touches)
{
    const uint begin = LOAD(particle_touches, i);
    const uint end = LOAD(particle_touches, i + 1u);
    for (uint k = begin + 1u; k < end; k++) {
        const uint touch = LOAD(touch_lists, k);
        uint place = k;
        while (place > begin && LOAD(touch_lists, place - 1u) > touch) {
            STORE(touch_lists, place, LOAD(touch_lists, place - 1u));
            place--;
        }
        STORE(touch_lists, place, touch);
    }
}

#endif
