#include "solver/world.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *copy_of(const void *source, size_t bytes)
{
    void *copy = malloc(bytes + 1); // never NULL for an empty world
    if (copy != NULL && bytes > 0) {
        memcpy(copy, source, bytes);
    }
    return copy;
}

MoteResult world_snapshot_take(MoteWorld *world, WorldSnapshot *out)
{
    *out = (WorldSnapshot){0};
    MoteParticleView host;
    MoteResult result = mote_world_read(world, &host);
    if (result != MOTE_OK) {
        return result;
    }
    const size_t n = host.count;
    *out = (WorldSnapshot){
        .particle_count = host.count,
        .next_id = world->next_id,
        .steps = world->steps,
        .removed = world->removed,
        .largest_inverse_mass = world->largest_inverse_mass,
        .positions = copy_of(host.positions, n * 16),
        .velocities = copy_of(host.velocities, n * 16),
        .ids = copy_of(host.ids, n * 4),
        .phases = copy_of(host.phases, n * 4),
        .channel_count = world->channel_count,
    };
    bool complete = out->positions != NULL && out->velocities != NULL && out->ids != NULL && out->phases != NULL;
    for (uint32_t c = 0; c < world->channel_count && complete; c++) {
        ChannelSnapshot *channel = &out->channels[c];
        memcpy(channel->name, world->channels[c].name, sizeof channel->name);
        channel->components = world->channels[c].components;
        channel->values = malloc(n * channel->components * 4 + 1);
        complete = channel->values != NULL && mote_world_read_channel(world, channel->name, channel->values) == MOTE_OK;
    }
    if (!complete) {
        world_snapshot_free(out);
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a snapshot of %u particles", host.count);
    }
    return MOTE_OK;
}

void world_snapshot_free(WorldSnapshot *snapshot)
{
    free(snapshot->positions);
    free(snapshot->velocities);
    free(snapshot->ids);
    free(snapshot->phases);
    for (uint32_t c = 0; c < WORLD_CHANNEL_LIMIT; c++) {
        free(snapshot->channels[c].values);
    }
    *snapshot = (WorldSnapshot){0};
}

static int compare_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static MoteResult check_ids(const WorldSnapshot *snapshot)
{
    uint32_t *sorted = copy_of(snapshot->ids, (size_t)snapshot->particle_count * 4);
    if (sorted == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory to check a snapshot");
    }
    qsort(sorted, snapshot->particle_count, sizeof *sorted, compare_u32);
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < snapshot->particle_count && result == MOTE_OK; i++) {
        if (sorted[i] >= snapshot->next_id) {
            result =
                mote_fail(MOTE_ERROR_INPUT, "snapshot has id %u, expected ids below %u", sorted[i], snapshot->next_id);
        } else if (i > 0 && sorted[i] == sorted[i - 1]) {
            result = mote_fail(MOTE_ERROR_INPUT, "snapshot has id %u twice", sorted[i]);
        }
    }
    free(sorted);
    return result;
}

static MoteResult check_snapshot(const WorldSnapshot *snapshot)
{
    if (!isfinite(snapshot->largest_inverse_mass) || snapshot->largest_inverse_mass < 0.0f) {
        return mote_fail(MOTE_ERROR_INPUT, "snapshot has a largest inverse mass of %g, expected a number not below 0",
                         (double)snapshot->largest_inverse_mass);
    }
    for (size_t i = 0; i < (size_t)snapshot->particle_count * 4; i++) {
        if (!isfinite(snapshot->positions[i]) || !isfinite(snapshot->velocities[i]) ||
            (i % 4 == 3 && snapshot->positions[i] < 0.0f)) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "snapshot has a position, mass or velocity that is not finite, at particle %zu", i / 4);
        }
    }
    for (uint32_t c = 0; c < snapshot->channel_count; c++) {
        const ChannelSnapshot *channel = &snapshot->channels[c];
        if (c >= WORLD_CHANNEL_LIMIT || channel->components < 1 || channel->components > 4 ||
            memchr(channel->name, '\0', sizeof channel->name) == NULL || channel->name[0] == '\0') {
            return mote_fail(MOTE_ERROR_INPUT, "snapshot has a malformed channel, number %u", c);
        }
    }
    return check_ids(snapshot);
}

// A world like this one that holds the snapshot's particles: made aside, so that an error leaves this one as it was.
static MoteResult fill_from(MoteWorld *world, const WorldSnapshot *snapshot)
{
    const BackendFunctions *functions = world->backend->functions;
    const size_t n = snapshot->particle_count;
    MoteResult result = world_reserve_particles(world, n);
    for (uint32_t c = 0; c < snapshot->channel_count && result == MOTE_OK; c++) {
        result = mote_world_add_channel(world, snapshot->channels[c].name, snapshot->channels[c].components);
    }
    if (result != MOTE_OK || n == 0) {
        return result;
    }
    functions->upload(world->backend, world->view.positions, snapshot->positions, n * 16);
    functions->upload(world->backend, world->view.velocities, snapshot->velocities, n * 16);
    functions->upload(world->backend, world->view.ids, snapshot->ids, n * 4);
    functions->upload(world->backend, world->view.phases, snapshot->phases, n * 4);
    world->view.particle_count = snapshot->particle_count;
    for (uint32_t c = 0; c < snapshot->channel_count && result == MOTE_OK; c++) {
        result = mote_world_write_channel(world, snapshot->channels[c].name, snapshot->channels[c].values);
    }
    for (size_t i = 0; i < n; i++) {
        world->largest_inverse_mass = fmaxf(world->largest_inverse_mass, snapshot->positions[4 * i + 3]);
    }
    return result;
}

// Shapes, volumes and what they refer to belong to no particle.
static void move_geometry(MoteWorld *from, MoteWorld *to)
{
    static const Capacity kinds[] = {CAPACITY_SHAPES, CAPACITY_KILL_VOLUMES, CAPACITY_HULL_ROWS,
                                     CAPACITY_FIELDS, CAPACITY_FIELD_WORDS,  CAPACITY_WET_TEXELS};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
#define BUFFER(type, name, capacity)                                                                                   \
    if (CAPACITY_##capacity == kinds[k]) {                                                                             \
        const uint64_t bytes = sizeof(type) * (uint64_t)from->capacities[kinds[k]];                                    \
        to->view.name = from->view.name;                                                                               \
        to->memory_bytes += bytes;                                                                                     \
        from->view.name = NULL;                                                                                        \
        from->memory_bytes -= bytes;                                                                                   \
    }
#include "kernels/view.def"
        to->capacities[kinds[k]] = from->capacities[kinds[k]];
    }
    to->view.shape_count = from->view.shape_count;
    to->view.kill_volume_count = from->view.kill_volume_count;
    to->colliders = from->colliders;
}

MoteResult world_snapshot_restore(MoteWorld *world, const WorldSnapshot *snapshot)
{
    MoteResult result = check_snapshot(snapshot);
    if (result != MOTE_OK) {
        return result;
    }
    // Shapes and volumes move over; everything that belongs to particles is made anew on the same backend.
    MoteWorld restored = {
        .backend = world->backend,
        .settings = world->settings,
        .rest = world->rest,
        .next_id = snapshot->next_id,
        .steps = snapshot->steps,
        .removed = snapshot->removed,
        .largest_inverse_mass = snapshot->largest_inverse_mass,
    };
    result = world_reserve(&restored, CAPACITY_COUNTERS, COUNTER_LIMIT, 0);
    result = result == MOTE_OK ? world_reserve(&restored, CAPACITY_BOUNDS, 2, 0) : result;
    result = result == MOTE_OK ? fill_from(&restored, snapshot) : result;
    if (result != MOTE_OK) {
        world_free_buffers(&restored);
        return result;
    }
    move_geometry(world, &restored);
    restored.host = world->host;
    restored.host_capacity = world->host_capacity;
    world_free_buffers(world);
    *world = restored;
    return MOTE_OK;
}
