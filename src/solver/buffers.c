// SPDX-License-Identifier: MIT
// buffers.c - allocates, grows, shrinks and frees the world's buffers, by loops over data.def.
#include "solver/world.h"

#include "base/error.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef enum Scope { SCOPE_PARTICLES, SCOPE_SEARCH, SCOPE_LASTING } Scope;

static const Scope scopes[CAPACITY_COUNT] = {
#define CAPACITY(name, scope, elements) [CAPACITY_##name] = SCOPE_##scope,
#include "kernels/data.def"
};

#define CHUNKS_OF(count, size) (((count) + (size)-1) / (size))

uint64_t world_elements(const MoteWorld *world, Capacity capacity, uint64_t particles)
{
    const SolverData *view = &world->view;
    const uint64_t room = particles;
    switch (capacity) {
#define CAPACITY(name, scope, elements)                                                                                \
    case CAPACITY_##name:                                                                                              \
        return elements;
#include "kernels/data.def"
    case CAPACITY_COUNT:
        break;
    }
    MOTE_ASSERT(!"a kind of capacity");
    return 0;
}

// Whether buffers of this kind keep their contents when they grow: those of the particles do.
static bool rides_along(Capacity kind)
{
#define ORDERED_REORDER true
#define ORDERED_FIXED   false
#define BUFFER(type, name, capacity, order, keep, render)                                                              \
    if (kind == CAPACITY_##capacity && ORDERED_##order) {                                                              \
        return true;                                                                                                   \
    }
#include "kernels/data.def"
    return false;
}

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
            const MoteResult working = world_check_backend(world);
            return working != MOTE_OK
                       ? working
                       : mote_fail(MOTE_ERROR_MEMORY, "no %s memory for %llu bytes", world->backend->functions->name,
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
    // If an allocation fails, or a stop is requested, buffers that have grown stay larger, and buffers that could not
    // shrink stay larger, too: the recorded capacity is the smaller one, which holds for every buffer.
    MoteResult result = MOTE_OK;
#define BUFFER(type, name, capacity, order, keep_column, render)                                                       \
    if (result == MOTE_OK && CAPACITY_##capacity == kind) {                                                            \
        result = after > before ? stop_check() : MOTE_OK; /* new memory takes seconds for millions of particles */     \
        result = result == MOTE_OK ? resize_one(world, &world->view.name, sizeof(type), before, after, keep) : result; \
    }
#include "kernels/data.def"
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

// Fills buffers of this kind with defaults (zeros; uints NONE), in `count` slots from `first` on.
static MoteResult clear_elements(MoteWorld *world, Capacity kind, uint32_t first, uint32_t count)
{
    enum { EMPTY_vec4 = 0, EMPTY_float = 0, EMPTY_uint = 0xff };
    void *bytes = malloc((size_t)count * sizeof(vec4) + 1);
    if (bytes == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory to clear what %u particles have", count);
    }
#define CLEAR_FIXED_SAVE(type, name, capacity)
#define CLEAR_FIXED_TRANSIENT(type, name, capacity)
#define CLEAR_REORDER_TRANSIENT(type, name, capacity)
#define CLEAR_REORDER_SAVE(type, name, capacity)                                                                       \
    if (CAPACITY_##capacity == kind && world->view.name != NULL) {                                                     \
        _Static_assert(sizeof(type) <= sizeof(vec4), "elements of particles are scalars or vectors");                  \
        memset(bytes, EMPTY_##type, count * sizeof(type));                                                             \
        world->backend->functions->upload(world->backend, world->view.name + first, bytes, count * sizeof(type));      \
    }
#define BUFFER(type, name, capacity, order, keep, render) CLEAR_##order##_##keep(type, name, capacity)
#define PARTICLE(type, name)
#include "kernels/data.def"
    free(bytes);
    return MOTE_OK;
}

MoteResult world_reserve_particles(MoteWorld *world, uint64_t count)
{
    const bool lists_are_current = world->lists_are_current;
    const uint32_t before = world->capacities[CAPACITY_PARTICLES];
    MoteResult result = world_reserve(world, CAPACITY_PARTICLES, count, world->view.particle_count);
    const uint64_t room = world->capacities[CAPACITY_PARTICLES];
    // The others, whether or not `room` is new: an earlier call may have got no further than that.
    for (int i = CAPACITY_PARTICLES + 1; i < CAPACITY_COUNT && result == MOTE_OK; i++) {
        const Capacity kind = (Capacity)i;
        if (scopes[kind] == SCOPE_PARTICLES) {
            const bool kept = rides_along(kind) || kind == CAPACITY_PARTICLES_AND_ONE; // scans of what is kept
            const uint32_t more = kind == CAPACITY_PARTICLES_AND_ONE ? 1 : 0;
            const uint32_t keep = kept && world->view.particle_count > 0 ? world->view.particle_count + more : 0;
            const bool is_new = world->capacities[kind] == 0;
            result = resize(world, kind, world_elements(world, kind, room), keep);
            if (result == MOTE_OK && is_new && keep > 0) {
                result = clear_elements(world, kind, 0, keep);
            }
        }
    }
    world->lists_are_current = lists_are_current && room == before;
    return result;
}

MoteResult world_add_channel_buffer(MoteWorld *world, Channel *channel)
{
    return resize_one(world, &channel->words, sizeof(uint) * channel->components, 0,
                      world->capacities[CAPACITY_PARTICLES], 0);
}

static void free_buffers(MoteWorld *world, bool lasting)
{
    for (int kind = 0; kind < CAPACITY_COUNT; kind++) {
        if (lasting || scopes[kind] != SCOPE_LASTING) {
            resize(world, (Capacity)kind, 0, 0);
        }
    }
}

void world_free_buffers(MoteWorld *world)
{
    free_buffers(world, true);
}

void world_free_particle_buffers(MoteWorld *world)
{
    free_buffers(world, false);
}

void world_drop_particle_buffers(MoteWorld *world)
{
#define BUFFER(type, name, capacity, order, keep, render)                                                              \
    if (scopes[CAPACITY_##capacity] != SCOPE_LASTING) {                                                                \
        world->memory_bytes -= sizeof(type) * (uint64_t)world->capacities[CAPACITY_##capacity];                        \
        world->view.name = NULL;                                                                                       \
    }
#include "kernels/data.def"
    for (uint32_t c = 0; c < world->channel_count; c++) {
        world->memory_bytes -=
            sizeof(uint) * world->channels[c].components * (uint64_t)world->capacities[CAPACITY_PARTICLES];
    }
    for (int kind = 0; kind < CAPACITY_COUNT; kind++) {
        world->capacities[kind] = scopes[kind] != SCOPE_LASTING ? 0 : world->capacities[kind];
    }
    world->channel_count = 0;
    world->view.particle_count = 0;
}

MoteResult world_clear_slots(MoteWorld *world, uint32_t first, uint32_t count)
{
    MoteResult result = MOTE_OK;
    for (int kind = 0; kind < CAPACITY_COUNT && result == MOTE_OK; kind++) {
        result = rides_along((Capacity)kind) ? clear_elements(world, (Capacity)kind, first, count) : MOTE_OK;
    }
    float *zeros = result == MOTE_OK ? calloc((size_t)count + 1, sizeof(vec4)) : NULL; // a channel has up to four words
    if (zeros == NULL) {
        return result != MOTE_OK ? result : mote_fail(MOTE_ERROR_MEMORY, "no memory to clear %u particles", count);
    }
    for (uint32_t c = 0; c < world->channel_count; c++) { // old values may linger behind the end
        const Channel *channel = &world->channels[c];
        world->backend->functions->upload(world->backend, channel->words + (size_t)first * channel->components, zeros,
                                          (size_t)count * channel->components * sizeof(uint));
    }
    free(zeros);
    return MOTE_OK;
}
