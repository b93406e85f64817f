// SPDX-License-Identifier: MIT
// order.c - sorts the particles by their keys: every REORDER row of data.def, and the channels. Removed particles have
// the largest keys, so they can be cut off the end.
#include "solver/world.h"

void world_copy_words(MoteWorld *world, uint *source, uint *target, uint32_t components)
{
    SolverData *view = &world->view;
    view->gather_source_words = source;
    view->gather_target_words = target;
    view->gather_components = components;
    LAUNCH(world, copy_words);
}

static void gather_words(MoteWorld *world, uint *source, uint *target, uint32_t components)
{
    SolverData *view = &world->view;
    view->gather_source_words = source;
    view->gather_target_words = target;
    view->gather_components = components;
    LAUNCH(world, gather_words);
}

void world_exchange(MoteWorld *world, vec4 **buffer, Meaning meaning)
{
    CHECK_SCRATCH(world->stopped ? MOTE_OK : scratch_exchange(&world->scratch, meaning, __func__));
    (void)meaning;
    vec4 *const before = *buffer;
    *buffer = world->view.particle_scratch;
    world->view.particle_scratch = before;
}

// Gathers into scratch of the same size, and swaps it with the buffer.
static void reorder_vec4(MoteWorld *world, vec4 **buffer)
{
    SolverData *view = &world->view;
    view->gather_source_vec4 = *buffer;
    view->gather_target_vec4 = view->reordered_vec4;
    LAUNCH(world, gather_vec4);
    world_exchange(world, buffer, MEANING_reordered_vec4);
}

static void reorder_uint(MoteWorld *world, uint **buffer)
{
    SolverData *view = &world->view;
    gather_words(world, *buffer, view->reordered_uint, 1);
    CHECK_SCRATCH(world->stopped ? MOTE_OK : scratch_exchange(&world->scratch, MEANING_reordered_uint, __func__));
    uint *const before = *buffer;
    *buffer = view->reordered_uint;
    view->reordered_uint = before;
}

static void reorder_channel(MoteWorld *world, const Channel *channel)
{
    gather_words(world, channel->words, world->view.reordered_words, channel->components);
    CHECK_SCRATCH(world->stopped ? MOTE_OK : scratch_read(&world->scratch, MEANING_reordered_words, __func__));
    world_copy_words(world, world->view.reordered_words, channel->words, channel->components);
}

void world_point_at_channels(MoteWorld *world)
{
    const Channel *stack_heights = world_look_up_channel(world, STACK_HEIGHT_CHANNEL);
    const Channel *angular_velocities = world_look_up_channel(world, ANGULAR_VELOCITY_CHANNEL);
    world->view.stack_heights = stack_heights != NULL ? (float *)stack_heights->words : NULL;
    const Channel *gravity_warm_starts = world_look_up_channel(world, GRAVITY_WARM_START_CHANNEL);
    world->view.gravity_warm_starts = gravity_warm_starts != NULL ? (float *)gravity_warm_starts->words : NULL;
    world->view.angular_velocities = angular_velocities != NULL ? (vec4 *)angular_velocities->words : NULL;
}

// In speculative steps the host does not know how many particles are left; kernels use particles_left on the device.
void world_order_particles(MoteWorld *world)
{
    SolverData *view = &world->view;
    const bool removes = view->kill_volume_count > 0 || view->gas_ends != 0u || world->has_marked;
    if (removes && !world->speculating) {
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
    if (removes && world->speculating) {
        LAUNCH(world, mark_removed);
    }
    CHECK_SCRATCH(scratch_reorder(&world->scratch));
}

MoteResult world_sort_particles(MoteWorld *world)
{
    SolverData *view = &world->view;
    CHECK_SCRATCH(scratch_write(&world->scratch, MEANING_sort_scratch));
    CHECK_SCRATCH(scratch_write(&world->scratch, MEANING_order)); // written by the caller, with the keys
    world->backend->functions->sort(world->backend, view->keys, view->order, view->particle_count, view->sort_scratch);
    world_order_particles(world);
    const MoteResult result = world_reserve_particles(world, world_most_particles(world));
    world_point_at_channels(world); // they may have moved
    return result;
}
