// SPDX-License-Identifier: MIT
// speculation.c - speculative steps. On asynchronous backends, reading buffer sizes back in the middle of a step would
// stall host and device. The step assumes sizes from the last step instead, and the device validates them
// (validate_speculation). After a failed speculation the host rolls back and runs the rest again. So the host waits
// once for up to STEP_BATCH steps (docs/backends.md).
#include "solver/world.h"

// How many of `count` steps can be submitted before the host must read the counters. Without speculation the host reads
// them within each step.
uint32_t world_choose_batch(MoteWorld *world, uint32_t count)
{
    world->speculating = world->backend->functions->speculates && world->last_cells > 0;
    const bool calls = world->callbacks.before != NULL || world->callbacks.after != NULL; // users see every step
    const uint64_t places = (uint64_t)world_most_particles(world) + world_spawn_room(world, STEP_BATCH);
    const bool reads = !world->speculating || world->capacities[CAPACITY_NEIGHBOURS] / SORT_WORDS < places || calls;
    uint32_t most = reads ? 1 : STEP_BATCH;
    while (world->watched && most > 1 && most * world->step_seconds > SLOW_STEP) {
        most--;
    }
    return count < most ? count : most;
}

void world_validate_speculation(MoteWorld *world, uint32_t speculation)
{
    world->view.speculation = speculation;
    LAUNCH(world, validate_speculation);
}

// The assumed size is a little more than that of the last step, because neighbourhoods change slowly.
uint64_t world_speculate_on(uint32_t last)
{
    return (uint64_t)last + last / 8 + 64;
}

// Restores the host's state at the mark. Kernels have done nothing since the failed speculation. The host has only
// swapped sorted particle arrays with the scratch they are sorted into: their pointers are restored. All other buffers
// may have been reallocated and keep their present pointers.
void world_roll_back(MoteWorld *world, const StepMark *mark)
{
    SolverData view = mark->view;
#define STAYS_REORDER false
#define STAYS_FIXED   true
#define BUFFER(type, name, capacity, order, keep, render)                                                              \
    if (CAPACITY_##capacity != CAPACITY_PARTICLES && STAYS_##order) {                                                  \
        view.name = world->view.name;                                                                                  \
    }
#include "kernels/data.def"
    world->view = view;
    world->scratch = mark->scratch;
}

// Adds slots for the spawned particles of step `at` of the batch, which had too few.
MoteResult world_correct_room(MoteWorld *world, uint counters[COUNTER_ALL], uint32_t at)
{
    world->misspeculations++;
    world->last_spawns = counters[COUNTER_SPAWNS];
    world_roll_back(world, &world->marks[at].ended);
    world->tally = world->marks[at].tally;
    counters[COUNTER_ABORTED] = counters[COUNTER_STEPS] = 0;
    return world_add_dead_slots(world, counters, world_spawn_room(world, 1));
}

// Rolls back to the point after the reordering in step `at` of the batch, in which a speculation failed. The number of
// removed particles is known there. Their dead slots are kept if steps spawn particles.
void world_correct_misspeculation(MoteWorld *world, uint counters[COUNTER_ALL], uint32_t at)
{
    world->misspeculations++;
    world->last_cells = counters[COUNTER_CELLS];
    world->last_blocks =
        counters[COUNTER_ABORTED] == 1u + SPECULATION_BLOCKS ? counters[COUNTER_BLOCKS] : world->last_blocks;
    world->last_touches =
        counters[COUNTER_ABORTED] == 1u + SPECULATION_TOUCHES ? counters[COUNTER_TOUCHES] : world->last_touches;
    world_roll_back(world, &world->marks[at].ordered);
    world->tally = world->marks[at].tally;
    world->lists_are_current = false;
    if (world->dead_slots == 0 || counters[COUNTER_REMOVED] == world->view.particle_count) {
        world_drop_removed(world, counters[COUNTER_REMOVED]);
        world_settle_spawns(world, counters);
        counters[COUNTER_REMOVED] = counters[COUNTER_SPAWNED] = 0;
    }
    counters[COUNTER_ABORTED] = counters[COUNTER_STEPS] = 0;
    world->backend->functions->upload(world->backend, world->view.counters, counters, COUNTER_ALL * sizeof *counters);
    if (world->dead_slots > 0) {
        LAUNCH(world, mark_removed); // the scan that was validated has left sums in them
    }
}

// Takes over the true sizes that the last step speculated on.
void world_commit(MoteWorld *world, const uint counters[COUNTER_ALL])
{
    if (world->speculating) {
        world_drop_removed(world, counters[COUNTER_REMOVED]);
        world_settle_spawns(world, counters);
    }
    if (world->speculating && world->view.particle_count > 0) {
        world->last_cells = world->view.cell_count = counters[COUNTER_CELLS];
        world->last_blocks = counters[COUNTER_BLOCKS];
        world->listed_entries = world->last_blocks * NEIGHBOUR_BLOCK;
        world->listed_touches = world->last_touches = counters[COUNTER_TOUCHES];
    }
}
