// SPDX-License-Identifier: MIT
// spawn.h - spawning of particles on the device, at the end of a step.
//
// Each particle counts the particles that it spawns (spawns_of), a scan gives them slots behind all others, and
// spawn_particles writes them there. Their order and ids depend only on the order of the particles. In speculative
// steps the slots are dead slots that the host has reserved; that they suffice is a speculation (SPECULATION_SPAWNS).
//
// To add a way of spawning, add its count to spawns_of and describe the new particles in spawn_of.
#ifndef MOTE_KERNELS_SPAWN_H
#define MOTE_KERNELS_SPAWN_H

#include "data.h"
#include "cloth/tearing.h"
#include "contact/material.h"
#include "particle/hash.h"
#include "particle/integrate.h"
#include "particle/neighbours.h"

#define SPAWN_UNIT 16777216.0f // 2^24: parts of a particle that a source counts in

STRUCT(Spawn)
{
    vec4 position; // xyz (m), inverse mass (1/kg)
    vec3 velocity; // m/s
    uint phase;
    uint handle; // or NONE
};

FUNCTION uint source_row(VIEW_COMMA uint i)
{
    return PARAMETER(material_count) != 0u ? material_row(VIEW_HERE_COMMA LOAD(phases, i)) : NONE;
}

// The position of a spawned particle: below its source.
FUNCTION vec3 source_outlet(VIEW_COMMA uint i, float distance)
{
    return v3_add_scaled(v3_from_v4(LOAD(positions, i)), PARAMETER(up), -distance);
}

// Whether no neighbour of the source is too close to the new position.
FUNCTION bool outlet_is_free(VIEW_COMMA uint i, vec3 outlet)
{
    const uint start = LOAD(neighbour_starts, i);
    const float room = PARAMETER(fluid_distance);
    for (uint k = 0u; k < LOAD(neighbour_counts, i); k++) {
        const vec3 other = v3_from_v4(LOAD(positions, LOAD(neighbours, neighbour_slot(start, k))));
        const vec3 offset = v3_sub(other, outlet);
        if (v3_dot(offset, offset) < room * room) {
            return false;
        }
    }
    return true;
}

// How many particles a source makes in this step, 0 or 1: `rate` a second, counted in whole numbers so that none is
// lost to rounding, and each source at a moment of its own.
FUNCTION uint source_spawns(VIEW_COMMA uint i)
{
    const uint row = source_row(VIEW_HERE_COMMA i);
    if (row >= PARAMETER(source_count)) {
        return 0u;
    }
    const vec4 source = LOAD(sources, row);
    const u64 rate = U64(min_f32(source.x * PARAMETER(time_step), 1.0f) * SPAWN_UNIT);
    const u64 before = U64(PARAMETER(step_number)) * rate + U64(scrambled(LOAD(ids, i)) & 0xffffffu);
    const bool due = ((before + rate) >> 24) != (before >> 24);
    return due && outlet_is_free(VIEW_HERE_COMMA i, source_outlet(VIEW_HERE_COMMA i, source.z)) ? 1u : 0u;
}

// How many particles a particle makes in this step: a vertex of cloth that is split, one.
FUNCTION uint spawns_of(VIEW_COMMA uint i)
{
    return planned_copy(VIEW_HERE_COMMA i) != NONE ? 1u : source_spawns(VIEW_HERE_COMMA i);
}

// The copy of a vertex that is split, which takes its share of the mass.
FUNCTION Spawn copy_of_vertex(VIEW_COMMA uint i, uint copy)
{
    const vec4 position = LOAD(positions, i);
    Spawn spawn;
    spawn.position = v4_from_v3(v3_from_v4(position), position.w / LOAD(tear_shares, LOAD(cloth_rows, i)));
    spawn.velocity = v3_from_v4(LOAD(velocities, i));
    spawn.phase = LOAD(phases, i);
    spawn.handle = LOAD(cloth_handles, copy);
    return spawn;
}

FUNCTION Spawn spawn_of(VIEW_COMMA uint i)
{
    const uint copy = planned_copy(VIEW_HERE_COMMA i);
    if (copy != NONE) {
        return copy_of_vertex(VIEW_HERE_COMMA i, copy);
    }
    const uint row = source_row(VIEW_HERE_COMMA i);
    const vec4 source = LOAD(sources, row);
    Spawn spawn;
    spawn.position = v4_from_v3(source_outlet(VIEW_HERE_COMMA i, source.z), source.y);
    spawn.velocity = v3_from_v4(LOAD(velocities, i));
    spawn.phase = LOAD(source_phases, row);
    spawn.handle = NONE;
    return spawn;
}

// Dead slots make none. A scan makes it the number of new particles before those of i.
KERNEL(count_spawns)
{
    STORE(cell_scan, i, i < particles_left(VIEW_HERE) ? spawns_of(VIEW_HERE_COMMA i) : 0u);
}

KERNEL(spawn_particles)
{
    const uint first = LOAD(cell_scan, i);
    const uint count = LOAD(cell_scan, i + 1u) - first;
    const uint before = PARAMETER(speculating) != 0u ? LOAD(counters, COUNTER_SPAWNED) : 0u;
    for (uint k = 0u; k < count; k++) {
        const uint slot = particles_left(VIEW_HERE) + first + k;
        const Spawn spawn = spawn_of(VIEW_HERE_COMMA i);
        STORE(positions, slot, spawn.position);
        STORE(velocities, slot, v4_from_v3(spawn.velocity, 0.0f)); // no density has been measured yet
        STORE(ids, slot, PARAMETER(next_id) + before + first + k);
        STORE(phases, slot, spawn.phase);
        if (PARAMETER(has_solids) != 0u || PARAMETER(handle_count) != 0u) {
            STORE(handles, slot, spawn.handle);
        }
        if (PARAMETER(has_gas) != 0u) {
            STORE(gas_states, slot, v4(0.0f, 0.0f, 0.0f, 0.0f));
            STORE(gas_vortices, slot, v4(0.0f, 0.0f, 0.0f, 0.0f));
        }
        for (uint kind = 0u; PARAMETER(recording) != 0u && kind < FORCE_KINDS; kind++) {
            STORE(forces, kind * PARAMETER(force_stride) + slot, v4(0.0f, 0.0f, 0.0f, 0.0f));
        }
        if (spawn.handle != NONE) { // the mass that is left
            const vec4 own = LOAD(positions, i);
            const float share = LOAD(tear_shares, LOAD(cloth_rows, i));
            STORE(positions, i, v4_from_v3(v3_from_v4(own), own.w / (1.0f - share)));
            STORE(handle_slots, handle_row(VIEW_HERE_COMMA spawn.handle), slot);
        }
    }
}

// Channels of new particles begin at zero: gather_target_words is one of them.
KERNEL(clear_spawned_words)
{
    const uint components = PARAMETER(gather_components);
    const uint slot = particles_left(VIEW_HERE);
    for (uint k = (slot + LOAD(cell_scan, i)) * components; k < (slot + LOAD(cell_scan, i + 1u)) * components; k++) {
        STORE(gather_target_words, k, 0u);
    }
}

// Adds the spawned particles to particles_left.
KERNEL(commit_spawns)
{
    const uint count = LOAD(cell_scan, PARAMETER(particle_count)) + i; // i is 0
    STORE(counters, COUNTER_SPAWNED, LOAD(counters, COUNTER_SPAWNED) + count);
    STORE(counters, COUNTER_REMOVED, LOAD(counters, COUNTER_REMOVED) - count);
}

#endif
