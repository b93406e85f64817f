// SPDX-License-Identifier: MIT
// spawn.c - spawning of particles by particles (kernels/particle/spawn.h): sources set by users, and the launches.
#include "solver/world.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>

// ---- Sources -----------------------------------------------------------------------------------------------

static MoteResult check_source(const MoteWorld *world, const MoteSource *source, uint32_t i)
{
    if (source->material >= world->view.material_count) {
        return mote_fail(MOTE_ERROR_INPUT, "source %u has material %u, expected one of %u", i, source->material,
                         world->view.material_count);
    }
    if (mote_phase_kind(source->phase) >= MOTE_KIND_COUNT || (source->phase & MOTE_PHASE_REMOVED) != 0) {
        return mote_fail(MOTE_ERROR_INPUT, "source %u has phase 0x%x, expected a MoteParticleKind and a group", i,
                         source->phase);
    }
    if (!isfinite(source->rate) || source->rate < 0.0f || !isfinite(source->distance) || source->distance < 0.0f) {
        return mote_fail(MOTE_ERROR_INPUT, "source %u has rate %g 1/s and distance %g m, expected numbers not below 0",
                         i, (double)source->rate, (double)source->distance);
    }
    if (!isfinite(source->mass) || !(source->mass > 0.0f) || !isfinite(1.0f / source->mass)) {
        return mote_fail(MOTE_ERROR_INPUT, "source %u makes particles of %g kg, expected a positive number", i,
                         (double)source->mass);
    }
    return MOTE_OK;
}

// Updates the tally as if a particle of this source existed.
static MoteResult prepare_for(MoteWorld *world, const MoteSource *source)
{
    const bool fluid = has_density(source->phase);
    const uint32_t group = source->phase & MOTE_PHASE_GROUP_MASK;
    MoteResult result = fluid ? MOTE_OK : world_reserve_solids(world);
    result = result == MOTE_OK && is_gas(source->phase) ? world_reserve_gas(world) : result;
    if (result == MOTE_OK) {
        world_tally_mass(&world->tally, 1.0f / source->mass, source->phase);
        world->tally.has_fluid |= fluid;
        world->tally.has_liquid |= fluid && !is_gas(source->phase);
        world->tally.next_group = world->tally.next_group > group + 1 ? world->tally.next_group : group + 1;
    }
    return result;
}

MoteResult mote_world_set_sources(MoteWorld *world, const MoteSource *sources, uint32_t count)
{
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        result = check_source(world, &sources[i], i);
    }
    const uint32_t rows = count > 0 ? world->view.material_count : 0;
    vec4 *laws = calloc(rows + (size_t)1, sizeof *laws);
    uint *phases = calloc(rows + (size_t)1, sizeof *phases);
    if (result == MOTE_OK && (laws == NULL || phases == NULL)) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory for %u sources", count);
    }
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_SOURCES, rows, 0) : result;
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        const MoteSource *source = &sources[i];
        result = prepare_for(world, source);
        laws[source->material] = v4(source->rate, 1.0f / source->mass, source->distance, 0.0f);
        phases[source->material] = source->phase;
    }
    if (result == MOTE_OK && rows > 0) {
        const BackendFunctions *functions = world->backend->functions;
        functions->upload(world->backend, world->view.sources, laws, rows * sizeof *laws);
        functions->upload(world->backend, world->view.source_phases, phases, rows * sizeof *phases);
    }
    world->view.source_count = result == MOTE_OK ? rows : world->view.source_count;
    free(laws);
    free(phases);
    return result;
}

// ---- The end of a step -------------------------------------------------------------------------------------

// The number of spawned particles varies from step to step, so the estimate for the next steps decays slowly.
static void note_spawns(MoteWorld *world, uint32_t count)
{
    const uint32_t before = world->last_spawns;
    world->last_spawns = count > before ? count : before - (before - count) / 16;
}

// Without speculation: reads the number of new particles and allocates slots for them.
static MoteResult make_room(MoteWorld *world, uint32_t *count)
{
    SolverData *view = &world->view;
    const uint32_t before = view->particle_count;
    world->backend->functions->download(world->backend, count, view->cell_scan + before, sizeof *count);
    note_spawns(world, *count);
    if (*count > UINT32_MAX - before || *count > MOTE_NONE - world->tally.next_id) {
        return mote_fail(MOTE_ERROR_MEMORY, "%u particles cannot become %u more: all ids are used", before, *count);
    }
    const MoteResult result = world_reserve_particles(world, (uint64_t)before + *count);
    world_point_at_channels(world); // they may have moved
    view->force_stride = world->capacities[CAPACITY_FORCE_MARKS];
    return result;
}

MoteResult world_spawn(MoteWorld *world)
{
    SolverData *view = &world->view;
    uint32_t count = 0;
    if (!world_makes_particles(world) || view->particle_count == 0) {
        return MOTE_OK;
    }
    view->next_id = world->tally.next_id;
    world_plan_splits(world);
    LAUNCH(world, count_spawns);
    world->backend->functions->scan(world->backend, view->cell_scan, view->particle_count);
    if (world_stops(world)) {
        return stop_fail();
    }
    if (world->speculating) {
        world_validate_speculation(world, SPECULATION_SPAWNS);
    } else {
        const MoteResult result = make_room(world, &count);
        if (result != MOTE_OK || count == 0) {
            world_finish_splits(world); // counts what was refused
            return result;
        }
        if (view->tears != 0u) {
            world_locate_cloth(world); // the array of vertices by particle may be new
        }
    }
    LAUNCH(world, spawn_particles);
    for (uint32_t c = 0; c < world->channel_count; c++) {
        view->gather_target_words = world->channels[c].words;
        view->gather_components = world->channels[c].components;
        LAUNCH(world, clear_spawned_words);
    }
    if (world->speculating) {
        LAUNCH(world, commit_spawns);
    } else {
        view->particle_count += count;
        world->tally.next_id += count;
        world->lists_are_current = world->corners_are_current = false;
    }
    world_finish_splits(world);
    return MOTE_OK;
}

// ---- Dead slots for particles that speculative steps spawn ----

uint32_t world_spawn_room(const MoteWorld *world, uint32_t steps)
{
    const uint64_t likely = ((uint64_t)world->last_spawns * 5 / 4 + 8) * steps;
    const uint64_t most = (uint64_t)(UINT32_MAX / 2);
    const bool spawns = world->speculating && world_makes_particles(world) && world->view.particle_count > 0;
    return spawns ? (uint32_t)(likely < most ? likely : most) : 0;
}

MoteResult world_add_dead_slots(MoteWorld *world, uint counters[COUNTER_ALL], uint32_t count)
{
    SolverData *view = &world->view;
    if (count == 0) {
        return MOTE_OK;
    }
    const MoteResult result = world_reserve_particles(world, (uint64_t)view->particle_count + count);
    if (result == MOTE_OK) {
        view->particle_count += count;
        view->speculating = 1;
        world->dead_slots += count;
        world->has_marked = true;
        counters[COUNTER_REMOVED] += count;
        world->backend->functions->upload(world->backend, view->counters, counters, COUNTER_LIMIT * sizeof *counters);
        LAUNCH(world, mark_removed);
    }
    return result;
}

void world_settle_spawns(MoteWorld *world, const uint counters[COUNTER_ALL])
{
    if (!world_makes_particles(world)) {
        return;
    }
    // The number of dropped slots, which `removed` has grown by, is removed particles + reserved slots - spawned ones.
    world->removed += counters[COUNTER_SPAWNED];
    world->removed -= world->dead_slots;
    world->tally.next_id += counters[COUNTER_SPAWNED];
    world->dead_slots = 0;
    note_spawns(world, counters[COUNTER_SPAWNS]);
    if (counters[COUNTER_SPAWNS] > 0) { // of the last step
        world->lists_are_current = world->corners_are_current = false;
    }
}
