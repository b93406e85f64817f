// SPDX-License-Identifier: MIT
// coupling.h - two-way coupling of particles and dynamic colliders (DYV section 5.3).
//
// DYVERSO sums the momentum that colliding particles lose and applies it to the body at the end of the step. This is
// unstable for light bodies: each particle below a floating ball would stop it as if it were the only one. Here a
// contact is solved between the particle's mass and a share of the collider's mass (mass splitting among its contacts,
// Tonge et al. 2012), and colliders move in every iteration, with the particles. Impulses are summed in the order of
// particles, by chunks: the same for any number of threads.
#ifndef MOTE_KERNELS_COUPLING_H
#define MOTE_KERNELS_COUPLING_H

#include "data.h"
#include "collider/distance.h"
#include "particle/integrate.h"
#include "rigid/bodies.h"

#define COUNTING_REACH 1.5f // margins from a collider at which particles are counted as its contacts to be

// The row of a dynamic collider, or NONE.
FUNCTION uint dynamic_row_of(VIEW_COMMA uint s)
{
    return PARAMETER(dynamic_count) != 0u ? LOAD(dynamic_rows, s) : NONE;
}

FUNCTION vec3 dynamic_centre(VIEW_COMMA uint row, Collider collider)
{
    return from_collider(collider, v3_from_v4(LOAD(dynamic_centres, row)));
}

// A collider's inverse effective mass at `p` along `direction` (unit), 1/kg.
FUNCTION float collider_inverse_effective_mass(VIEW_COMMA uint row, Collider collider, vec3 p, vec3 direction)
{
    const Cluster body = LOAD(dynamic_bodies, row);
    const vec3 arm = v3_sub(p, dynamic_centre(VIEW_HERE_COMMA row, collider));
    return inverse_effective_mass(body, collider.rotation, arm, direction);
}

// The same, with the share of its mass that one contact with a particle has.
FUNCTION float split_inverse_effective_mass(VIEW_COMMA uint row, Collider collider, vec3 p, vec3 direction)
{
    return LOAD(dynamic_centres, row).w * collider_inverse_effective_mass(VIEW_HERE_COMMA row, collider, p, direction);
}

FUNCTION void clear_impulses(VIEW_COMMA uint i)
{
    for (uint slot = 0u; slot < IMPULSE_SLOTS; slot++) {
        STORE(impulse_rows, IMPULSE_SLOTS * i + slot, NONE);
    }
}

// Whether particle i has a free slot to record an impulse of a collider. If not, the contact must not be solved: the
// reaction on the collider would be lost, and momentum not conserved.
FUNCTION bool has_impulse_slot(VIEW_COMMA uint i, uint row)
{
    bool found = false;
    for (uint slot = IMPULSE_SLOTS * i; slot < IMPULSE_SLOTS * i + IMPULSE_SLOTS; slot++) {
        const uint owner = LOAD(impulse_rows, slot);
        found = found || owner == NONE || owner == row;
    }
    return found;
}

// Records the impulse of a collider on particle i (kg m: divided by the time step it is the momentum). False if no slot
// is free.
FUNCTION bool add_impulse(VIEW_COMMA uint i, uint row, vec3 momentum)
{
    for (uint slot = IMPULSE_SLOTS * i; slot < IMPULSE_SLOTS * i + IMPULSE_SLOTS; slot++) {
        const uint owner = LOAD(impulse_rows, slot);
        if (owner == NONE || owner == row) {
            const vec4 before = owner == row ? LOAD(collider_impulses, slot) : v4(0.0f, 0.0f, 0.0f, 0.0f);
            STORE(collider_impulses, slot, v4_from_v3(v3_add(v3_from_v4(before), momentum), 1.0f));
            STORE(impulse_rows, slot, row);
            return true;
        }
    }
    return false;
}

// A collider of infinite mass would move the particle from `before` to `after`. Returns its position with the
// collider's mass taken into account.
FUNCTION vec3 share_impulse(VIEW_COMMA uint i, uint row, Collider collider, vec3 before, vec3 after, float inverse_mass)
{
    const vec3 way = v3_mul(v3_sub(after, before), PARAMETER(motion_mask));
    const float length = v3_length(way);
    if (length <= 0.0f) {
        return before;
    }
    const float inverse_mass_sum =
        split_inverse_effective_mass(VIEW_HERE_COMMA row, collider, before, v3_scale(way, 1.0f / length));
    const vec3 momentum = v3_scale(way, 1.0f / (inverse_mass + inverse_mass_sum));
    if (!add_impulse(VIEW_HERE_COMMA i, row, momentum)) {
        return before; // another iteration's turn: see assign_impulse_slots
    }
    return v3_add_scaled(before, momentum, inverse_mass);
}

// ---- Sums --------------------------------------------------------------------------------------------------

// Which dynamic colliders the particles of a chunk touch: the first, and the end; most touch none.
KERNEL(mark_impulse_chunks)
{
    const uint end = min_u32((i + 1u) * IMPULSE_CHUNK, particles_left(VIEW_HERE)) * IMPULSE_SLOTS;
    uint first = NONE;
    uint last = 0u;
    for (uint slot = i * IMPULSE_CHUNK * IMPULSE_SLOTS; slot < end; slot++) {
        const uint row = LOAD(impulse_rows, slot);
        if (row != NONE) {
            first = min_u32(first, row);
            last = row + 1u > last ? row + 1u : last;
        }
    }
    STORE(impulse_chunks, i, uv2(first, last));
}

// Of one chunk and one collider: momentum, how many contacts, and the moment about the collider's centre of mass.
KERNEL(sum_collider_impulses)
{
    const uint chunk = i / PARAMETER(dynamic_count);
    const uint row = i % PARAMETER(dynamic_count);
    const uvec2 touched = LOAD(impulse_chunks, chunk);
    vec4 momentum = v4(0.0f, 0.0f, 0.0f, 0.0f);
    vec3 moment = v3(0.0f, 0.0f, 0.0f);
    if (row >= touched.x && row < touched.y) {
        const vec3 centre = dynamic_centre(VIEW_HERE_COMMA row, LOAD(colliders, LOAD(dynamic_colliders, row)));
        const uint end = min_u32((chunk + 1u) * IMPULSE_CHUNK, particles_left(VIEW_HERE)) * IMPULSE_SLOTS;
        for (uint slot = chunk * IMPULSE_CHUNK * IMPULSE_SLOTS; slot < end; slot++) {
            if (LOAD(impulse_rows, slot) == row) {
                const vec4 impulse = LOAD(collider_impulses, slot);
                const vec3 arm = v3_sub(v3_from_v4(LOAD(contact_points, slot / IMPULSE_SLOTS)), centre);
                momentum = v4_from_v3(v3_add(v3_from_v4(momentum), v3_from_v4(impulse)), momentum.w + impulse.w);
                moment = v3_add(moment, v3_cross(arm, v3_from_v4(impulse)));
            }
        }
    }
    STORE(impulse_sums, 2u * i, momentum);
    STORE(impulse_sums, 2u * i + 1u, v4_from_v3(moment, 0.0f));
}

// The chunks' sums of one collider, in order; `which` as they are stored.
FUNCTION vec4 collider_impulse_sum(VIEW_COMMA uint row, uint which)
{
    vec4 sum = v4(0.0f, 0.0f, 0.0f, 0.0f);
    for (uint chunk = 0u; chunk < PARAMETER(impulse_chunk_count); chunk++) {
        const vec4 part = LOAD(impulse_sums, 2u * (chunk * PARAMETER(dynamic_count) + row) + which);
        sum = v4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
    }
    return sum;
}

#endif
