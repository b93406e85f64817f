// SPDX-License-Identifier: MIT
// coupling.h - what particles do to shapes that have a mass (DYV section 5.3).
//
// DYVERSO sums up the momentum that colliding particles lose and gives it to the body when the step ends. Light bodies
// cannot bear that: all the water below a ball would stop it, each drop as if it were alone. So a contact is solved
// between two masses here, the particle's and its share of the shape's (split among the shape's contacts: Tonge et al.
// 2012), and shapes move in every iteration, with the particles. What particles gave is summed in the order of
// particles, by chunks: the same for any number of threads.
#ifndef MOTE_KERNELS_COUPLING_H
#define MOTE_KERNELS_COUPLING_H

#include "data.h"
#include "collider/distance.h"
#include "particle/integrate.h"
#include "rigid/bodies.h"

#define COUNTING_REACH 1.5f // margins from a shape at which particles are counted as its contacts to be

// The row of a shape that has a mass, or NONE.
FUNCTION uint dynamic_row_of(VIEW_COMMA uint s)
{
    return PARAMETER(dynamic_count) != 0u ? LOAD(dynamic_rows, s) : NONE;
}

FUNCTION vec3 dynamic_centre(VIEW_COMMA uint row, Shape shape)
{
    return from_shape(shape, v3_from_v4(LOAD(dynamic_centres, row)));
}

// By how much the whole of a shape gives way at `p` to a unit of momentum along `direction` (unit), 1/kg.
FUNCTION float shape_softness(VIEW_COMMA uint row, Shape shape, vec3 p, vec3 direction)
{
    const Cluster body = LOAD(dynamic_bodies, row);
    const vec3 arm = v3_sub(p, dynamic_centre(VIEW_HERE_COMMA row, shape));
    return inverse_effective_mass(body, shape.rotation, arm, direction);
}

// The same of the share that one of its contacts with particles has.
FUNCTION float contact_softness(VIEW_COMMA uint row, Shape shape, vec3 p, vec3 direction)
{
    return LOAD(dynamic_centres, row).w * shape_softness(VIEW_HERE_COMMA row, shape, p, direction);
}

FUNCTION void clear_shape_pushes(VIEW_COMMA uint i)
{
    for (uint slot = 0u; slot < PUSH_SLOTS; slot++) {
        STORE(push_rows, PUSH_SLOTS * i + slot, NONE);
    }
}

// Whether particle i can note what it gets from a shape. Where it cannot, the shape must not push it: what it got would
// be lost to the shape, and momentum with it.
FUNCTION bool has_push_slot(VIEW_COMMA uint i, uint row)
{
    bool found = false;
    for (uint slot = PUSH_SLOTS * i; slot < PUSH_SLOTS * i + PUSH_SLOTS; slot++) {
        const uint owner = LOAD(push_rows, slot);
        found = found || owner == NONE || owner == row;
    }
    return found;
}

// Notes what particle i got from a shape (kg m: over the time step it is the momentum). False if it has no slot left.
FUNCTION bool note_shape_push(VIEW_COMMA uint i, uint row, vec3 momentum)
{
    for (uint slot = PUSH_SLOTS * i; slot < PUSH_SLOTS * i + PUSH_SLOTS; slot++) {
        const uint owner = LOAD(push_rows, slot);
        if (owner == NONE || owner == row) {
            const vec4 before = owner == row ? LOAD(shape_pushes, slot) : v4(0.0f, 0.0f, 0.0f, 0.0f);
            STORE(shape_pushes, slot, v4_from_v3(v3_add(v3_from_v4(before), momentum), 1.0f));
            STORE(push_rows, slot, row);
            return true;
        }
    }
    return false;
}

// A particle that a shape of infinite mass would move from `before` to `after`: where it goes, while the shape gives
// way.
FUNCTION vec3 share_push(VIEW_COMMA uint i, uint row, Shape shape, vec3 before, vec3 after, float inverse_mass)
{
    const vec3 way = v3_mul(v3_sub(after, before), PARAMETER(motion_mask));
    const float length = v3_length(way);
    if (length <= 0.0f) {
        return before;
    }
    const float give = contact_softness(VIEW_HERE_COMMA row, shape, before, v3_scale(way, 1.0f / length));
    const vec3 momentum = v3_scale(way, 1.0f / (inverse_mass + give));
    if (!note_shape_push(VIEW_HERE_COMMA i, row, momentum)) {
        return before; // another iteration's turn: see keep_push_slots
    }
    return v3_add_scaled(before, momentum, inverse_mass);
}

// ---- Sums --------------------------------------------------------------------------------------------------

// Which dynamic shapes the particles of a chunk touch: the first, and the end; most touch none.
KERNEL(mark_push_chunks)
{
    const uint end = min_u32((i + 1u) * PUSH_CHUNK, particles_left(VIEW_HERE)) * PUSH_SLOTS;
    uint first = NONE;
    uint last = 0u;
    for (uint slot = i * PUSH_CHUNK * PUSH_SLOTS; slot < end; slot++) {
        const uint row = LOAD(push_rows, slot);
        if (row != NONE) {
            first = min_u32(first, row);
            last = row + 1u > last ? row + 1u : last;
        }
    }
    STORE(push_chunks, i, uv2(first, last));
}

// Of one chunk and one shape: momentum, how many contacts, and the moment about the shape's centre of mass.
KERNEL(sum_shape_pushes)
{
    const uint chunk = i / PARAMETER(dynamic_count);
    const uint row = i % PARAMETER(dynamic_count);
    const uvec2 touched = LOAD(push_chunks, chunk);
    vec4 momentum = v4(0.0f, 0.0f, 0.0f, 0.0f);
    vec3 moment = v3(0.0f, 0.0f, 0.0f);
    if (row >= touched.x && row < touched.y) {
        const vec3 centre = dynamic_centre(VIEW_HERE_COMMA row, LOAD(shapes, LOAD(dynamic_shapes, row)));
        const uint end = min_u32((chunk + 1u) * PUSH_CHUNK, particles_left(VIEW_HERE)) * PUSH_SLOTS;
        for (uint slot = chunk * PUSH_CHUNK * PUSH_SLOTS; slot < end; slot++) {
            if (LOAD(push_rows, slot) == row) {
                const vec4 push = LOAD(shape_pushes, slot);
                const vec3 arm = v3_sub(v3_from_v4(LOAD(contact_points, slot / PUSH_SLOTS)), centre);
                momentum = v4_from_v3(v3_add(v3_from_v4(momentum), v3_from_v4(push)), momentum.w + push.w);
                moment = v3_add(moment, v3_cross(arm, v3_from_v4(push)));
            }
        }
    }
    STORE(push_sums, 2u * i, momentum);
    STORE(push_sums, 2u * i + 1u, v4_from_v3(moment, 0.0f));
}

// The chunks' sums of one shape, in order; `which` as they are stored.
FUNCTION vec4 shape_push_sum(VIEW_COMMA uint row, uint which)
{
    vec4 sum = v4(0.0f, 0.0f, 0.0f, 0.0f);
    for (uint chunk = 0u; chunk < PARAMETER(push_chunk_count); chunk++) {
        const vec4 part = LOAD(push_sums, 2u * (chunk * PARAMETER(dynamic_count) + row) + which);
        sum = v4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
    }
    return sum;
}

#endif
