// SPDX-License-Identifier: MIT
// spawn_diffuse.h - spawning of passive particles, in the slots that are free (passive.h).
//
// Each liquid particle makes as many as its potentials say, rounded up or down by a hash of its id and the step: on
// average neither more nor less, in steps of any length. A scan of these counts numbers the new particles. The first
// ones get the free slots, in order, the others go behind the extent; those that find the capacity used up are not
// made, and counted as dropped. Numbers at random come from hashes of ids, so that neither the order of particles nor
// the number of slots changes what a particle looks like.
#ifndef MOTE_KERNELS_SPAWN_DIFFUSE_H
#define MOTE_KERNELS_SPAWN_DIFFUSE_H

#include "data.h"
#include "diffuse/passive.h"
#include "diffuse/potentials.h"
#include "particle/spawn.h"

#define DIFFUSE_BURST     64.0f // most that a particle makes at once
#define BUBBLE_NEIGHBOURS 1.82f // times foam_neighbours: bubbles come of a particle with more
#define EXTENT_SEARCH     4096u // free slots that one step takes off the extent at most

FUNCTION float unit_hash(uint x)
{
    return F32(scrambled(x) >> 8) * (1.0f / 16777216.0f);
}

// Of one liquid particle in one step: the number from which all that is random about its new ones follows.
FUNCTION uint diffuse_seed(VIEW_COMMA uint i)
{
    return scrambled(LOAD(ids, i) ^ scrambled(PARAMETER(step_number) + PARAMETER(foam_seed) * 0x9e3779b9u));
}

KERNEL(count_diffuse)
{
    uint count = 0u;
    if (i < particles_left(VIEW_HERE)) { // dead slots make none
        const float rate = min_f32(diffuse_rate(VIEW_HERE_COMMA i), DIFFUSE_BURST);
        count = U32(rate + unit_hash(diffuse_seed(VIEW_HERE_COMMA i)));
    }
    STORE(cell_scan, i, count);
}

KERNEL(list_free_diffuse)
{
    const uint before = LOAD(diffuse_scan, i);
    if (LOAD(diffuse_scan, i + 1u) != before) {
        STORE(diffuse_free, before, i);
    }
}

// The slot of the n-th new particle; the capacity or more where none is left.
FUNCTION uint diffuse_slot(VIEW_COMMA uint n)
{
    const uint free = LOAD(diffuse_scan, PARAMETER(diffuse_count));
    return n < free ? LOAD(diffuse_free, n) : LOAD(diffuse_counts, DIFFUSE_EXTENT) + (n - free);
}

// A point in the unit disc. A few attempts at a square: with four, 1 in 500 stays at the last and is scaled down.
FUNCTION vec3 point_in_disc(uint seed)
{
    float x = 0.0f;
    float y = 0.0f;
    float squared = 2.0f;
    for (uint attempt = 0u; attempt < 4u && squared > 1.0f; attempt++) {
        x = 2.0f * unit_hash(seed + 2u * attempt) - 1.0f;
        y = 2.0f * unit_hash(seed + 2u * attempt + 1u) - 1.0f;
        squared = x * x + y * y;
    }
    const float scale = squared > 1.0f ? 0.7f : 1.0f;
    return v3(scale * x, scale * y, 0.0f);
}

// A position in the cylinder that the liquid particle's volume has swept in the interval (Ihmsen, section 3.2), behind
// it: so what was made in bursts lies along the way, as if it had been made all the time.
FUNCTION vec3 diffuse_offset(VIEW_COMMA vec3 velocity, uint seed)
{
    const vec3 along = direction_of(velocity);
    const vec3 aside = fabsf(along.x) < 0.7f ? v3(1.0f, 0.0f, 0.0f) : v3(0.0f, 1.0f, 0.0f);
    const vec3 e1 = direction_of(v3_cross(along, aside));
    const vec3 e2 = v3_cross(along, e1);
    const vec3 disc = v3_scale(point_in_disc(seed), 0.62f * PARAMETER(spacing)); // of a ball of its volume
    const float way = unit_hash(seed + 16u) * PARAMETER(foam_interval);
    const vec3 across = v3_add(v3_scale(e1, disc.x), v3_scale(e2, disc.y));
    return v3_mul(v3_add_scaled(across, velocity, -way), PARAMETER(motion_mask));
}

KERNEL(spawn_diffuse)
{
    const uint first = LOAD(cell_scan, i);
    const uint count = LOAD(cell_scan, i + 1u) - first;
    if (count == 0u) {
        return;
    }
    const vec3 position = v3_from_v4(LOAD(positions, i));
    const vec3 velocity = v3_from_v4(LOAD(velocities, i));
    const uint seed = diffuse_seed(VIEW_HERE_COMMA i);
    const bool deep = F32(LOAD(neighbour_counts, i)) > BUBBLE_NEIGHBOURS * PARAMETER(foam_neighbours);
    const float shown = deep ? DIFFUSE_BUBBLE : DIFFUSE_FOAM;
    for (uint k = 0u; k < count; k++) {
        const uint slot = diffuse_slot(VIEW_HERE_COMMA first + k);
        if (slot < PARAMETER(diffuse_capacity)) {
            const uint own = scrambled(seed + 64u * (k + 1u));
            const vec3 place = v3_add(position, diffuse_offset(VIEW_HERE_COMMA velocity, own));
            const float life = PARAMETER(foam_life) * (0.5f + unit_hash(own + 32u));
            STORE(diffuse_positions, slot, v4_from_v3(place, life));
            STORE(diffuse_velocities, slot, v4_from_v3(velocity, shown));
            STORE(diffuse_ids, slot, LOAD(diffuse_counts, DIFFUSE_SPAWNED) + first + k);
        }
    }
}

// Counts new particles, and takes free slots off the end.
FUNCTION void count_new_diffuse(VIEW_COMMA uint wanted)
{
    const uint free = LOAD(diffuse_scan, PARAMETER(diffuse_count));
    uint extent = LOAD(diffuse_counts, DIFFUSE_EXTENT);
    const uint made = min_u32(wanted, PARAMETER(diffuse_capacity) - extent + free);
    extent += made > free ? made - free : 0u;
    for (uint n = 0u; n < EXTENT_SEARCH && extent > 0u && LOAD(diffuse_positions, extent - 1u).w <= 0.0f; n++) {
        extent--;
    }
    STORE(diffuse_counts, DIFFUSE_EXTENT, extent);
    STORE(diffuse_counts, DIFFUSE_SPAWNED, LOAD(diffuse_counts, DIFFUSE_SPAWNED) + made);
    STORE(diffuse_counts, DIFFUSE_DROPPED, LOAD(diffuse_counts, DIFFUSE_DROPPED) + (wanted - made));
}

KERNEL(commit_diffuse)
{
    count_new_diffuse(VIEW_HERE_COMMA LOAD(cell_scan, PARAMETER(particle_count)) + i); // i is 0
    const float before = FLOAT_OF_BITS(LOAD(diffuse_counts, DIFFUSE_FASTEST)) * PARAMETER(foam_forgets);
    const float now = FLOAT_OF_BITS(LOAD(diffuse_counts, DIFFUSE_FAST));
    STORE(diffuse_counts, DIFFUSE_FASTEST, FLOAT_BITS(max_f32(before, now)));
    STORE(diffuse_counts, DIFFUSE_FAST, 0u);
}

// ---- Emission ----------------------------------------------------------------------------------------------

// Passive particles that users emit in the step (mote_world_emit_diffuse): smoke. They get the free slots as above.

// Marks the free slots anew, where something has taken some since passive particles were moved.
KERNEL(mark_free_diffuse)
{
    if (is_in_use(VIEW_HERE_COMMA i)) {
        STORE(diffuse_scan, i, 0u);
    }
}

KERNEL(emit_diffuse)
{
    const uint slot = diffuse_slot(VIEW_HERE_COMMA i);
    if (slot < PARAMETER(diffuse_capacity)) {
        STORE(diffuse_positions, slot, LOAD(emission, 3u * i));
        STORE(diffuse_velocities, slot, LOAD(emission, 3u * i + 1u));
        STORE(diffuse_smoke, slot, LOAD(emission, 3u * i + 2u));
        STORE(diffuse_ids, slot, LOAD(diffuse_counts, DIFFUSE_SPAWNED) + i);
    }
}

KERNEL(commit_emission)
{
    count_new_diffuse(VIEW_HERE_COMMA PARAMETER(emission_count) + i); // i is 0
}

#endif
