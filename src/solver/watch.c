// SPDX-License-Identifier: MIT
// watch.c - gives users the results of the energy and bounds watch (src/kernels/particle/watch.h).
#include "solver/world.h"

#include <string.h>

static double joules(uint bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void world_note_watch(MoteWorld *world, const uint counters[COUNTER_ALL])
{
    MoteWatch *watch = &world->watch;
    watch->gained = joules(counters[WATCH_GAINED]);
    watch->gainer = counters[WATCH_GAINER];
    watch->energy = joules(counters[WATCH_ENERGY]);
    watch->escaped = counters[COUNTER_ESCAPED];
    watch->escaped_id = counters[COUNTER_ESCAPED_ID] - 1u;
    watch->squeezed = counters[COUNTER_SQUEEZED];
    watch->squeezed_id = counters[COUNTER_SQUEEZED_ID] - 1u;
}

void world_reset_watch(MoteWorld *world)
{
    const uint zeros[COUNTER_ALL] = {0};
    world->watch = (MoteWatch){0};
    world->backend->functions->upload(world->backend, world->view.counters, zeros, sizeof zeros);
}

void mote_world_set_bounds(MoteWorld *world, MoteVec3 lower, MoteVec3 upper)
{
    world->view.bounds_lower = v3(lower.x, lower.y, lower.z);
    world->view.bounds_upper = v3(upper.x, upper.y, upper.z);
}

MoteWatch mote_world_watch(const MoteWorld *world)
{
    return world->watch;
}
