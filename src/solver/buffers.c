// buffers.c - the world's backend memory: one loop over view.def allocates, grows, shrinks and frees it.
#include "solver/world.h"

#include "base/error.h"

#include <stdatomic.h>
#include <string.h>

// One count for all worlds, so that no two ever show the same number.
static uint64_t next_layout(void)
{
    static atomic_uint_fast64_t last;
    return atomic_fetch_add(&last, 1) + 1;
}

// Memory for `capacity` elements with the first `keep` of `old`; NULL if there is none, `old` untouched then.
static void *reallocate(MoteWorld *world, void *old, size_t element, uint64_t capacity, uint64_t keep)
{
    const BackendFunctions *functions = world->backend->functions;
    void *grown = functions->allocate(world->backend, (size_t)(element * capacity));
    if (grown != NULL && keep > 0 && old != NULL) {
        functions->copy(world->backend, grown, old, (size_t)(element * keep));
    }
    return grown;
}

static void release(MoteWorld *world, void *old, size_t element, uint64_t capacity)
{
    if (old != NULL) {
        world->backend->functions->release(world->backend, old, (size_t)(element * capacity));
        world->memory_bytes -= element * capacity;
        world->layout = next_layout();
    }
}

// One buffer of this capacity kind, wherever its pointer is.
static MoteResult resize_one(MoteWorld *world, void *address_of_pointer, size_t element, uint64_t before,
                             uint64_t after, uint64_t keep)
{
    void *old;
    memcpy(&old, address_of_pointer, sizeof old);
    void *grown = NULL;
    if (after > 0) {
        grown = reallocate(world, old, element, after, keep);
        if (grown == NULL && after < before) {
            return MOTE_OK; // the larger one serves as well
        }
        if (grown == NULL) {
            return mote_fail(MOTE_ERROR_MEMORY, "no %s memory for %llu bytes", world->backend->functions->name,
                             (unsigned long long)(element * after));
        }
        world->memory_bytes += element * after;
        world->layout = next_layout();
    }
    release(world, old, element, before);
    memcpy(address_of_pointer, &grown, sizeof grown);
    return MOTE_OK;
}

// The next size to allocate when `count` elements are needed: an exact first fit, then steps of an eighth.
static uint64_t next_capacity(uint64_t current, uint64_t count)
{
    if (count > current) {
        const uint64_t grown = current + current / 8;
        return count > grown ? count : grown;
    }
    if (count < current / 2) {
        return count + count / 8;
    }
    return current;
}

static MoteResult resize(MoteWorld *world, Capacity kind, uint64_t after, uint64_t keep)
{
    const uint64_t before = world->capacities[kind];
    if (after == before && after > 0) { // with 0, what a failed call left behind is freed
        return MOTE_OK;
    }
    // Should an allocation fail, or somebody want to stop, the buffers already grown keep their size, and those that
    // could not shrink theirs: the recorded capacity is the smaller one, which every buffer holds.
    MoteResult result = MOTE_OK;
#define BUFFER(type, name, capacity)                                                                                   \
    if (result == MOTE_OK && CAPACITY_##capacity == kind) {                                                            \
        result = after > before ? stop_check() : MOTE_OK; /* new memory takes seconds for millions of particles */     \
        result = result == MOTE_OK ? resize_one(world, &world->view.name, sizeof(type), before, after, keep) : result; \
    }
#include "kernels/view.def"
    if (kind == CAPACITY_PARTICLES) {
        for (uint32_t c = 0; c < world->channel_count && result == MOTE_OK; c++) {
            Channel *channel = &world->channels[c];
            result = resize_one(world, &channel->words, sizeof(uint) * channel->components, before, after, keep);
        }
    }
    if (result == MOTE_OK) {
        world->capacities[kind] = (uint32_t)after;
    }
    return result;
}

MoteResult world_reserve(MoteWorld *world, Capacity kind, uint64_t count, uint64_t keep)
{
    const uint64_t before = world->capacities[kind];
    const uint64_t after = next_capacity(before, count);
    if (after == before) {
        return MOTE_OK;
    }
    if (after > UINT32_MAX) {
        return mote_fail(MOTE_ERROR_MEMORY, "%llu elements are more than a buffer holds (2^32 - 1)",
                         (unsigned long long)after);
    }
    world->lists_are_current = false;
    return resize(world, kind, after, keep);
}

MoteResult world_reserve_particles(MoteWorld *world, uint64_t count)
{
    const bool lists_are_current = world->lists_are_current;
    const uint32_t before = world->capacities[CAPACITY_PARTICLES];
    MoteResult result = world_reserve(world, CAPACITY_PARTICLES, count, world->view.particle_count);
    const uint64_t room = world->capacities[CAPACITY_PARTICLES];
    if (result == MOTE_OK) { // whether or not `room` is new: an earlier call may have got no further than that
        result = resize(world, CAPACITY_PARTICLES_AND_ONE, room + 1, 0);
    }
    if (result == MOTE_OK && world->settings.vorticity > 0.0f) {
        result = resize(world, CAPACITY_VORTICITY, room, 0);
    }
    if (result == MOTE_OK && world->view.has_solids != 0u) {
        result = resize(world, CAPACITY_SOLIDS, room, world->view.particle_count);
    }
    if (result == MOTE_OK && world->recording_forces) {
        result = resize(world, CAPACITY_FORCES, MOTE_FORCE_COUNT * room, 0);
        result = result == MOTE_OK ? resize(world, CAPACITY_FORCE_MARKS, room, 0) : result;
    }
    const uint64_t watched = (room + WATCH_CHUNK - 1) / WATCH_CHUNK;
    if (result == MOTE_OK) {
        result = resize(world, CAPACITY_WATCH, watched + (watched + WATCH_CHUNK - 1) / WATCH_CHUNK + 1, 0);
    }
    const uint64_t chunks = (room + PUSH_CHUNK - 1) / PUSH_CHUNK, dynamics = world->view.dynamic_count;
    if (result == MOTE_OK && (dynamics > 0 || world->capacities[CAPACITY_PUSHES] > 0)) {
        result = resize(world, CAPACITY_PUSHES, dynamics > 0 ? PUSH_SLOTS * room : 0, 0);
        result = result == MOTE_OK ? resize(world, CAPACITY_PUSH_CHUNKS, dynamics > 0 ? chunks : 0, 0) : result;
        result = result == MOTE_OK ? resize(world, CAPACITY_PUSH_SUMS, 2 * chunks * dynamics, 0) : result;
    }
    world->lists_are_current = lists_are_current && room == before;
    return result;
}

MoteResult world_add_channel_buffer(MoteWorld *world, Channel *channel)
{
    return resize_one(world, &channel->words, sizeof(uint) * channel->components, 0,
                      world->capacities[CAPACITY_PARTICLES], 0);
}

void world_free_buffers(MoteWorld *world, Capacity first, Capacity end)
{
    for (int kind = (int)first; kind < (int)end; kind++) {
        resize(world, (Capacity)kind, 0, 0);
    }
}

void world_drop_particles(MoteWorld *world)
{
#define BUFFER(type, name, capacity)                                                                                   \
    if (CAPACITY_##capacity < CAPACITY_LASTING) {                                                                      \
        world->memory_bytes -= sizeof(type) * (uint64_t)world->capacities[CAPACITY_##capacity];                        \
        world->view.name = NULL;                                                                                       \
    }
#include "kernels/view.def"
    for (uint32_t c = 0; c < world->channel_count; c++) {
        world->memory_bytes -=
            sizeof(uint) * world->channels[c].components * (uint64_t)world->capacities[CAPACITY_PARTICLES];
    }
    for (int kind = 0; kind < CAPACITY_LASTING; kind++) {
        world->capacities[kind] = 0;
    }
    world->channel_count = 0;
    world->view.particle_count = 0;
}
