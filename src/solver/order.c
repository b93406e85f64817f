// SPDX-License-Identifier: MIT
// order.c - particles in the order of their sorted keys: every REORDER row of data.def, and the channels. Removed
// particles have the largest keys, so that what is left is a shorter array.
#include "solver/world.h"

void world_copy_words(MoteWorld *world, uint *source, uint *target, uint32_t components)
{
    MoteView *view = &world->view;
    view->gather_source_words = source;
    view->gather_target_words = target;
    view->gather_components = components;
    LAUNCH(world, copy_words);
}

static void gather_words(MoteWorld *world, uint *source, uint *target, uint32_t components)
{
    MoteView *view = &world->view;
    view->gather_source_words = source;
    view->gather_target_words = target;
    view->gather_components = components;
    LAUNCH(world, gather_words);
}

// What is gathered goes to scratch of the same size, which then takes the buffer's place.
static void reorder_vec4(MoteWorld *world, vec4 **buffer)
{
    MoteView *view = &world->view;
    view->gather_source_vec4 = *buffer;
    view->gather_target_vec4 = view->estimates; // scratch at this point of the step
    LAUNCH(world, gather_vec4);
    view->estimates = *buffer;
    *buffer = view->gather_target_vec4;
}

static void reorder_uint(MoteWorld *world, uint **buffer)
{
    MoteView *view = &world->view;
    gather_words(world, *buffer, view->neighbour_counts, 1); // scratch at this point of the step
    uint *const before = *buffer;
    *buffer = view->neighbour_counts;
    view->neighbour_counts = before;
}

static void reorder_channel(MoteWorld *world, const Channel *channel)
{
    uint *const scratch = (uint *)world->view.estimates;
    gather_words(world, channel->words, scratch, channel->components);
    world_copy_words(world, scratch, channel->words, channel->components);
}

void world_point_at_channels(MoteWorld *world)
{
    const Channel *heights = world_look_up_channel(world, STACK_HEIGHT_CHANNEL);
    const Channel *spins = world_look_up_channel(world, SPIN_CHANNEL);
    world->view.heights = heights != NULL ? (float *)heights->words : NULL;
    const Channel *supports = world_look_up_channel(world, SUPPORT_CHANNEL);
    world->view.supports = supports != NULL ? (float *)supports->words : NULL;
    world->view.spins = spins != NULL ? (vec4 *)spins->words : NULL;
}

// Where the host does not look how many particles are left, the device does (particles_left).
void world_order_particles(MoteWorld *world)
{
    MoteView *view = &world->view;
    const bool removes = view->kill_volume_count > 0 || world->has_marked;
    if (removes && !world->guessing) {
        uint removed = 0;
        world->backend->functions->download(world->backend, &removed, view->counters + COUNTER_REMOVED, sizeof removed);
        world_drop_removed(world, removed);
    }
#define ORDER_FIXED(type, name)
#define ORDER_REORDER(type, name)                                                                                      \
    if (view->name != NULL) {                                                                                          \
        reorder_##type(world, &view->name);                                                                            \
    }
#define BUFFER(type, name, capacity, order, keep, render) ORDER_##order(type, name)
#include "kernels/data.def"
    for (uint32_t c = 0; c < world->channel_count; c++) {
        reorder_channel(world, &world->channels[c]);
    }
    if (removes && world->guessing) {
        LAUNCH(world, mark_removed);
    }
}

MoteResult world_sort_particles(MoteWorld *world)
{
    MoteView *view = &world->view;
    world->backend->functions->sort(world->backend, view->keys, view->order, view->particle_count, view->estimates);
    world_order_particles(world);
    const MoteResult result = world_reserve_particles(world, world_most_particles(world));
    world_point_at_channels(world); // they may have moved
    return result;
}
