// SPDX-License-Identifier: MIT
// neighbours.c - the neighbour search of a step: a table of cells over sorted particles, and neighbour lists. Both have
// the size that is needed. Backends that speculate do not read this size back: see speculation.c.
#include "solver/world.h"

// Where cells begin, and how many there are.
static MoteResult count_cells(MoteWorld *world)
{
    const BackendFunctions *functions = world->backend->functions;
    SolverData *view = &world->view;
    LAUNCH(world, mark_cell_heads);
    functions->scan(world->backend, view->cell_scan, view->particle_count);
    if (world_stops(world)) {
        return stop_fail();
    }
    if (world->speculating) {
        const uint64_t speculation = world_speculate_on(world->last_cells);
        view->cell_count = speculation < view->particle_count ? (uint32_t)speculation : view->particle_count;
        world_validate_speculation(world, SPECULATION_CELLS);
    } else {
        functions->download(world->backend, &view->cell_count, view->cell_scan + view->particle_count, sizeof(uint));
        world->last_cells = view->cell_count;
    }
    return MOTE_OK;
}

static MoteResult link_cells(MoteWorld *world)
{
    SolverData *view = &world->view;
    uint32_t hash_size = 16;
    while (hash_size < 2 * (uint64_t)view->cell_count && hash_size < 0x80000000u) {
        hash_size *= 2;
    }
    const uint64_t cells = view->cell_count;
    MoteResult result = world_reserve(world, CAPACITY_CELLS, cells, 0);
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_CELLS_AND_ONE, cells + 1, 0) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_CELL_RUNS, cells * CELL_RUN_LIMIT, 0) : result;
    result = result == MOTE_OK ? world_reserve(world, CAPACITY_CELL_HASH, hash_size, 0) : result;
    if (result != MOTE_OK) {
        return result;
    }
    view->cell_hash_size = hash_size;
    LAUNCH(world, store_cell_starts);
    LAUNCH(world, clear_cell_hash);
    LAUNCH(world, insert_cells);
    LAUNCH(world, link_cells);
    return MOTE_OK;
}

MoteResult world_build_cells(MoteWorld *world)
{
    const MoteResult result = count_cells(world);
    return result == MOTE_OK ? link_cells(world) : result;
}

// Lists are counted first, then filled: the buffer grows to the needed size, and no list is truncated.
static MoteResult reserve_lists(MoteWorld *world)
{
    const BackendFunctions *functions = world->backend->functions;
    SolverData *view = &world->view;
    uint64_t blocks = world_speculate_on(world->last_blocks);
    functions->scan(world->backend, view->neighbour_starts, view->particle_count);
    if (world_stops(world)) {
        return stop_fail();
    }
    if (!world->speculating) {
        functions->download(world->backend, &world->last_blocks, view->neighbour_starts + view->particle_count,
                            sizeof(uint));
        blocks = world->last_blocks > 0 ? world->last_blocks : 1; // an address, if no one has a neighbour
    }
    uint64_t room = blocks * NEIGHBOUR_BLOCK;
    const uint64_t places = (uint64_t)world_most_particles(world) + world_spawn_room(world, STEP_BATCH);
    const uint64_t sort_room = SORT_WORDS * places;
    if (functions->speculates && room < sort_room) {
        room = sort_room; // the next step can sort there
    }
    const MoteResult result = world_reserve(world, CAPACITY_NEIGHBOURS, room, 0);
    if (result == MOTE_OK && world->speculating) {
        view->block_limit = world->capacities[CAPACITY_NEIGHBOURS] / NEIGHBOUR_BLOCK;
        world_validate_speculation(world, SPECULATION_BLOCKS);
    }
    return result;
}

MoteResult world_build_lists(MoteWorld *world)
{
    LAUNCH(world, count_neighbours);
    const MoteResult result = reserve_lists(world);
    if (result == MOTE_OK) {
        LAUNCH(world, fill_neighbours);
        world->listed_entries = world->last_blocks * NEIGHBOUR_BLOCK;
    }
    return result;
}

static MoteResult build_lists(MoteWorld *world)
{
    const BackendFunctions *functions = world->backend->functions;
    const uint32_t capacity = world->capacities[CAPACITY_NEIGHBOURS];
    if (world_stops(world)) {
        return stop_fail();
    }
    if (functions->build_lists != NULL && functions->build_lists(world->backend, &world->view, capacity)) {
        CHECK_SCRATCH(scratch_write(&world->scratch, MEANING_candidate_columns));
        CHECK_SCRATCH(scratch_write(&world->scratch, MEANING_neighbour_counts));
        CHECK_SCRATCH(scratch_write(&world->scratch, MEANING_neighbours));
        world->listed_entries = capacity;
        return MOTE_OK;
    }
    return world_build_lists(world);
}

// Whether the lists were counted without cells, which nothing else reads then: cells have few particles, and the last
// lists were short.
static bool count_sparse(MoteWorld *world)
{
    enum { FEW = 512 }; // for which cells are good enough
    const BackendFunctions *functions = world->backend->functions;
    const SolverData *view = &world->view;
    const bool cells_are_read =
        world->tally.has_fluid || world->has_gas || view->diffuse_capacity > 0 || view->touching != 0u;
    const bool sparse = view->particle_count >= FEW && 3 * (uint64_t)view->cell_count > view->particle_count &&
                        4 * (uint64_t)world->last_blocks < view->particle_count;
    if (cells_are_read || !sparse || functions->count_sparse == NULL ||
        !functions->count_sparse(world->backend, view)) {
        return false;
    }
    CHECK_SCRATCH(scratch_write(&world->scratch, MEANING_neighbour_counts));
    return true;
}

static MoteResult find_lists(MoteWorld *world)
{
    MoteResult result = count_cells(world);
    if (result != MOTE_OK) {
        return result;
    }
    if (!count_sparse(world)) {
        result = link_cells(world);
        return result == MOTE_OK ? build_lists(world) : result;
    }
    result = reserve_lists(world);
    if (result == MOTE_OK) {
        world->backend->functions->fill_sparse(world->backend, &world->view);
        CHECK_SCRATCH(scratch_write(&world->scratch, MEANING_neighbours));
        world->listed_entries = world->last_blocks * NEIGHBOUR_BLOCK;
    }
    return result;
}

// UPP Algorithm 1, lines 6-9, of particles in order.
MoteResult world_find_neighbours(MoteWorld *world)
{
    SolverData *view = &world->view;
    world->lists_are_current = false;
    world->corners_are_current = false;
    MoteResult result = find_lists(world);
    if (result == MOTE_OK && view->handle_count > 0) {
        LAUNCH(world, clear_handles);
        LAUNCH(world, locate_handles);
        world_locate_links(world);
        world_locate_cloth(world);
        result = world_find_touches(world);
    }
    world->lists_are_current = result == MOTE_OK;
    return result;
}
