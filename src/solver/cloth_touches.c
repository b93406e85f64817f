// SPDX-License-Identifier: MIT
// cloth_touches.c - contacts of particles with triangles of cloth (kernels/cloth/touches.h): when there are any, their
// search, and their place in a step.
#include "solver/world.h"

bool world_touches(const MoteWorld *world)
{
    // Cloth that is alone has nothing to touch. Ids count all particles that there ever were: a step that is prepared
    // before the host knows how many are left decides likewise. Torn vertices have ids, which it does not know in time.
    const uint32_t cloths = world->view.cloth_count;
    return world->has_touches && (world->touches_itself || cloths > 1 || world->view.tears != 0u ||
                                  world->tally.next_id > world->cloths[0].info.vertices);
}

void world_keep_touch_bounds(MoteWorld *world)
{
    if (world->view.touching != 0u) {
        LAUNCH(world, keep_touch_bounds);
    }
}

// Touches are counted first, then filled, as neighbour lists are.
static MoteResult fill(MoteWorld *world)
{
    const BackendFunctions *functions = world->backend->functions;
    SolverData *view = &world->view;
    const uint32_t triangles = view->cloth_triangle_count;
    uint64_t touches = world_speculate_on(world->last_touches);
    LAUNCH(world, count_touches);
    functions->scan(world->backend, view->triangle_touches, triangles);
    if (world_stops(world)) {
        return stop_fail();
    }
    if (!world->speculating) {
        functions->download(world->backend, &world->last_touches, view->triangle_touches + triangles, sizeof(uint));
        touches = world->last_touches > 0 ? world->last_touches : 1; // an address, if there are none
    }
    const MoteResult result = world_reserve(world, CAPACITY_TOUCHES, touches, 0);
    if (result != MOTE_OK) {
        return result;
    }
    if (world->speculating) {
        view->touch_limit = world->capacities[CAPACITY_TOUCHES];
        world_validate_speculation(world, SPECULATION_TOUCHES);
    }
    LAUNCH(world, fill_touches);
    functions->scan(world->backend, view->particle_touches, view->particle_count);
    LAUNCH(world, list_touches);
    LAUNCH(world, sort_touches);
    world->listed_touches = world->last_touches;
    return MOTE_OK;
}

MoteResult world_find_touches(MoteWorld *world)
{
    if (world->view.touching == 0u) {
        return MOTE_OK;
    }
    const MoteResult result = world_reserve(world, CAPACITY_TOUCH_CLUSTERS, world->view.cluster_count, 0);
    if (result != MOTE_OK) {
        return result;
    }
    LAUNCH(world, mark_hems);
    LAUNCH(world, locate_corners);
    LAUNCH(world, clear_touches);
    LAUNCH(world, list_swift);
    return fill(world);
}

void world_begin_touches(MoteWorld *world)
{
    if (world->view.touching != 0u) {
        LAUNCH(world, begin_touches);
    }
}

void world_solve_touches(MoteWorld *world)
{
    LAUNCH(world, measure_touches);
    LAUNCH(world, weigh_corners);
    LAUNCH(world, weigh_vertices);
    if (world->view.cluster_count > 0) {
        LAUNCH(world, count_cluster_touches);
    }
    LAUNCH(world, solve_touches);
    LAUNCH(world, apply_touches);
    if (world->view.cluster_count > 0) {
        world_apply_body_corrections(world);
    }
}

void world_bounce_touches(MoteWorld *world)
{
    if (world->view.touching != 0u) {
        LAUNCH(world, bounce_touches);
        LAUNCH(world, apply_touch_bounces);
    }
}

void world_remember_touches(MoteWorld *world)
{
    if (world->view.touching != 0u) {
        LAUNCH(world, remember_touches);
    }
}
