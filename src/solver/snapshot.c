// SPDX-License-Identifier: MIT
#include "solver/world.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- The table ---------------------------------------------------------------------------------------------

#define FLOATS_vec4   true
#define FLOATS_float  true
#define FLOATS_uint   false
#define FLOATS_Motion true

#define SAVED_TRANSIENT(type, name, capacity)

const SavedArrayInfo saved_array_infos[SAVED_ARRAY_COUNT] = {
#define ATTACHED_REORDER             true
#define ATTACHED_FIXED               false
#define PARTICLE(type, name)         [SAVED_##name] = {#name, sizeof(type) / 4, FLOATS_##type, false},
#define INFO_SAVE(type, name, order) [SAVED_##name] = {#name, sizeof(type) / 4, FLOATS_##type, ATTACHED_##order},
#define INFO_TRANSIENT(type, name, order)
#define BUFFER(type, name, capacity, order, keep, render) INFO_##keep(type, name, order)
#include "kernels/data.def"
};

static const Capacity saved_capacities[SAVED_ARRAY_COUNT] = {
#define SAVED_SAVE(type, name, capacity)                  [SAVED_##name] = CAPACITY_##capacity,
#define BUFFER(type, name, capacity, order, keep, render) SAVED_##keep(type, name, capacity)
#include "kernels/data.def"
#undef SAVED_SAVE
};

// Where the arrays are now, in the backend's memory.
static void list_saved_arrays(const SolverData *view, void *addresses[SAVED_ARRAY_COUNT])
{
#define SAVED_SAVE(type, name, capacity)                  addresses[SAVED_##name] = view->name;
#define BUFFER(type, name, capacity, order, keep, render) SAVED_##keep(type, name, capacity)
#include "kernels/data.def"
#undef SAVED_SAVE
}

uint64_t world_saved_elements(const MoteWorld *world, SavedArrayId id, uint32_t particle_count)
{
    return world_elements(world, saved_capacities[id], particle_count);
}

static size_t element_bytes(SavedArrayId id)
{
    return saved_array_infos[id].words * sizeof(uint32_t);
}

// ---- Taking ------------------------------------------------------------------------------------------------

static MoteResult take_arrays(MoteWorld *world, WorldSnapshot *out)
{
    void *addresses[SAVED_ARRAY_COUNT];
    list_saved_arrays(&world->view, addresses);
    for (int id = 0; id < SAVED_ARRAY_COUNT; id++) {
        SavedArray *array = &out->arrays[id];
        array->count = world_saved_elements(world, (SavedArrayId)id, out->particle_count);
        const size_t bytes = array->count * element_bytes((SavedArrayId)id);
        array->data = malloc(bytes + 1);
        if (array->data == NULL) {
            return mote_fail(MOTE_ERROR_MEMORY, "no memory for a snapshot of %u particles", out->particle_count);
        }
        if (bytes > 0) {
            world->backend->functions->download(world->backend, array->data, addresses[id], bytes);
        }
    }
    return MOTE_OK;
}

static MoteResult take_channels(MoteWorld *world, WorldSnapshot *out)
{
    for (uint32_t c = 0; c < world->channel_count; c++) {
        ChannelSnapshot *channel = &out->channels[c];
        memcpy(channel->name, world->channels[c].name, sizeof channel->name);
        channel->components = world->channels[c].components;
        channel->values = malloc((size_t)out->particle_count * channel->components * 4 + 1);
        if (channel->values == NULL) {
            return mote_fail(MOTE_ERROR_MEMORY, "no memory for a snapshot of %u particles", out->particle_count);
        }
        const MoteResult result = mote_world_read_channel(world, channel->name, channel->values);
        if (result != MOTE_OK) {
            return result;
        }
    }
    return MOTE_OK;
}

MoteResult world_snapshot_take(MoteWorld *world, WorldSnapshot *out)
{
    *out = (WorldSnapshot){
        .particle_count = world->view.particle_count,
        .next_id = world->tally.next_id,
        .steps = world->steps,
        .removed = world->removed,
        .liquid_inverse_mass = world->tally.liquid_inverse_mass,
        .last_time_step = world->last_time_step,
        .channel_count = world->channel_count,
    };
    MoteResult result = take_arrays(world, out);
    result = result == MOTE_OK ? take_channels(world, out) : result;
    result = result == MOTE_OK ? world_check_backend(world) : result;
    if (result != MOTE_OK) {
        world_snapshot_free(out);
    }
    return result;
}

void world_snapshot_free(WorldSnapshot *snapshot)
{
    for (int id = 0; id < SAVED_ARRAY_COUNT; id++) {
        free(snapshot->arrays[id].data);
    }
    for (uint32_t c = 0; c < WORLD_CHANNEL_LIMIT; c++) {
        free(snapshot->channels[c].values);
    }
    *snapshot = (WorldSnapshot){0};
}

// ---- Checking ----------------------------------------------------------------------------------------------

static MoteResult check_size(const WorldSnapshot *snapshot, SavedArrayId id, uint64_t expected)
{
    const uint64_t found = snapshot->arrays[id].count;
    if (found == expected || (found == 0 && saved_array_infos[id].attached)) {
        return MOTE_OK;
    }
    return mote_fail(MOTE_ERROR_INPUT, "snapshot has %llu elements of %s, expected %llu: it is of another scene",
                     (unsigned long long)found, saved_array_infos[id].name, (unsigned long long)expected);
}

// Arrays that make up particles are checked first: the other arrays depend on the particles' kinds.
static MoteResult check_particle_sizes(const WorldSnapshot *snapshot)
{
    MoteResult result = MOTE_OK;
#define PARTICLE(type, name)                                                                                           \
    result = result == MOTE_OK ? check_size(snapshot, SAVED_##name, snapshot->particle_count) : result;
#include "kernels/data.def"
    return result;
}

static MoteResult check_sizes(const MoteWorld *world, const WorldSnapshot *snapshot)
{
    MoteResult result = MOTE_OK;
    for (int id = 0; id < SAVED_ARRAY_COUNT && result == MOTE_OK; id++) {
        const uint64_t expected = world_saved_elements(world, (SavedArrayId)id, snapshot->particle_count);
        result = check_size(snapshot, (SavedArrayId)id, expected);
    }
    return result;
}

static MoteResult check_numbers(const WorldSnapshot *snapshot)
{
    for (int id = 0; id < SAVED_ARRAY_COUNT; id++) {
        const SavedArray *array = &snapshot->arrays[id];
        const uint32_t words = saved_array_infos[id].words;
        for (uint64_t i = 0; i < array->count * words && saved_array_infos[id].floats; i++) {
            if (!isfinite(array->floats[i])) {
                return mote_fail(MOTE_ERROR_INPUT, "snapshot has a number that is not finite in %s, at element %llu",
                                 saved_array_infos[id].name, (unsigned long long)(i / words));
            }
        }
    }
    return MOTE_OK;
}

static MoteResult check_particles(const WorldSnapshot *snapshot)
{
    if (!isfinite(snapshot->liquid_inverse_mass) || snapshot->liquid_inverse_mass < 0.0f) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "snapshot has an inverse mass of liquid of %g, expected a number not below 0",
                         (double)snapshot->liquid_inverse_mass);
    }
    if (!isfinite(snapshot->last_time_step) || snapshot->last_time_step < 0.0f) {
        return mote_fail(MOTE_ERROR_INPUT, "snapshot has a time step of %g s, expected a number not below 0",
                         (double)snapshot->last_time_step);
    }
    for (uint32_t i = 0; i < snapshot->particle_count; i++) {
        if (snapshot->arrays[SAVED_positions].floats[4 * (size_t)i + 3] < 0.0f) {
            return mote_fail(MOTE_ERROR_INPUT, "snapshot has a negative mass, at element %u of positions", i);
        }
        if (mote_phase_kind(snapshot->arrays[SAVED_phases].words[i]) >= MOTE_KIND_COUNT) {
            return mote_fail(MOTE_ERROR_INPUT, "snapshot has kind %u at element %u of phases, expected a kind below %u",
                             (uint32_t)mote_phase_kind(snapshot->arrays[SAVED_phases].words[i]), i,
                             (uint32_t)MOTE_KIND_COUNT);
        }
    }
    return MOTE_OK;
}

static MoteResult check_channels(const WorldSnapshot *snapshot)
{
    for (uint32_t c = 0; c < snapshot->channel_count; c++) {
        const ChannelSnapshot *channel = &snapshot->channels[c];
        if (c >= WORLD_CHANNEL_LIMIT || channel->components < 1 || channel->components > 4 ||
            memchr(channel->name, '\0', sizeof channel->name) == NULL || channel->name[0] == '\0') {
            return mote_fail(MOTE_ERROR_INPUT, "snapshot has a malformed channel, number %u", c);
        }
    }
    return MOTE_OK;
}

static int compare_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static MoteResult check_ids(const WorldSnapshot *snapshot)
{
    const size_t bytes = (size_t)snapshot->particle_count * sizeof(uint32_t);
    uint32_t *sorted = malloc(bytes + 1);
    if (sorted == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory to check a snapshot");
    }
    if (bytes > 0) {
        memcpy(sorted, snapshot->arrays[SAVED_ids].words, bytes);
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

// Number of handles outside of bodies that the world must hold: its own and the snapshot's.
static uint32_t single_handles(const MoteWorld *world, const WorldSnapshot *snapshot)
{
    const SavedArray *handles = &snapshot->arrays[SAVED_handles];
    uint32_t count = world->view.handle_count - world->view.member_count;
    const uint64_t rows = handles->count == snapshot->particle_count ? handles->count : 0; // others are refused later
    for (uint64_t i = 0; i < rows; i++) {
        const uint32_t handle = handles->words[i];
        if (handle != MOTE_NONE && handle >= HANDLE_SINGLE && handle - HANDLE_SINGLE >= count) {
            count = handle - HANDLE_SINGLE + 1;
        }
    }
    return count;
}

// Allocates memory for them. The world keeps it even if the rest of the snapshot is invalid.
static MoteResult reserve_handles(MoteWorld *world, const WorldSnapshot *snapshot, uint32_t singles)
{
    const uint32_t members = world->view.member_count;
    if (singles > world->view.handle_count - members && singles > snapshot->next_id) {
        return mote_fail(MOTE_ERROR_INPUT, "snapshot has handle %u, expected fewer handles than the %u ids",
                         singles - 1, snapshot->next_id);
    }
    return world_reserve(world, CAPACITY_HANDLE_SLOTS, (uint64_t)members + singles, 0);
}

// Members in range, no handle twice.
static MoteResult check_handles(const MoteWorld *world, const WorldSnapshot *snapshot)
{
    const SavedArray *handles = &snapshot->arrays[SAVED_handles];
    const uint32_t members = world->view.member_count, limit = world->view.handle_count;
    uint8_t *seen = calloc((size_t)limit + 1, 1);
    MoteResult result = seen != NULL ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory to check a snapshot");
    for (uint64_t i = 0; i < handles->count && result == MOTE_OK; i++) {
        const uint32_t handle = handles->words[i];
        const uint32_t row = handle < HANDLE_SINGLE ? handle : handle - HANDLE_SINGLE + members;
        if (handle < HANDLE_SINGLE && handle >= members) {
            result = mote_fail(MOTE_ERROR_INPUT, "snapshot has member %u at particle %llu, expected members below %u",
                               handle, (unsigned long long)i, members);
        } else if (handle != MOTE_NONE && seen[row]++ != 0) {
            result = mote_fail(MOTE_ERROR_INPUT, "snapshot has handle 0x%x at particle %llu for the second time",
                               handle, (unsigned long long)i);
        }
    }
    free(seen);
    return result;
}

static bool is_unit(vec4 q)
{
    return fabsf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w - 1.0f) < 1e-2f;
}

static MoteResult check_motions(const WorldSnapshot *snapshot)
{
    const SavedArray *motions = &snapshot->arrays[SAVED_dynamic_motions];
    for (uint64_t i = 0; i < motions->count; i++) {
        Motion motion;
        memcpy(&motion, (const char *)motions->data + i * sizeof motion, sizeof motion);
        if (!is_unit(motion.start_rotation) || !is_unit(motion.predicted_rotation)) {
            return mote_fail(MOTE_ERROR_INPUT, "snapshot has a rotation of a collider that is not of unit length");
        }
    }
    return MOTE_OK;
}

// Corners of triangles that are vertices, vertices that are handles.
static MoteResult check_cloth(const MoteWorld *world, const WorldSnapshot *snapshot)
{
    const SavedArray *handles = &snapshot->arrays[SAVED_cloth_handles],
                     *corners = &snapshot->arrays[SAVED_cloth_corners];
    const uint32_t members = world->view.member_count, singles = world->view.handle_count - members;
    for (uint64_t i = 0; i < handles->count; i++) {
        const uint32_t handle = handles->words[i];
        if (handle < HANDLE_SINGLE ? handle >= members : handle - HANDLE_SINGLE >= singles) {
            return mote_fail(MOTE_ERROR_INPUT, "snapshot has handle 0x%x at vertex %llu of cloth, which is none",
                             handle, (unsigned long long)i);
        }
    }
    for (uint64_t i = 0; i < corners->count; i++) {
        if (corners->words[i] != MOTE_NONE && corners->words[i] >= handles->count) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "snapshot has vertex %u in triangle %llu of cloth, expected one below %llu",
                             corners->words[i], (unsigned long long)(i / 3), (unsigned long long)handles->count);
        }
    }
    return MOTE_OK;
}

static MoteResult check_snapshot(const MoteWorld *world, const WorldSnapshot *snapshot)
{
    MoteResult result = check_sizes(world, snapshot);
    result = result == MOTE_OK ? check_numbers(snapshot) : result;
    result = result == MOTE_OK ? check_particles(snapshot) : result;
    result = result == MOTE_OK ? check_channels(snapshot) : result;
    result = result == MOTE_OK ? check_ids(snapshot) : result;
    result = result == MOTE_OK ? check_handles(world, snapshot) : result;
    result = result == MOTE_OK ? check_cloth(world, snapshot) : result;
    result = result == MOTE_OK ? world_check_tearing(world, snapshot) : result;
    return result == MOTE_OK ? check_motions(snapshot) : result;
}

// ---- Restoring ---------------------------------------------------------------------------------------------

// Creates a separate world like this one with the snapshot's particles, so that an error leaves this one unchanged.
static MoteResult fill_from(MoteWorld *world, const WorldSnapshot *snapshot)
{
    const uint32_t count = snapshot->particle_count;
    MoteResult result = world_reserve_particles(world, count);
    for (uint32_t c = 0; c < snapshot->channel_count && result == MOTE_OK; c++) {
        result = mote_world_add_channel(world, snapshot->channels[c].name, snapshot->channels[c].components);
    }
    result = result == MOTE_OK && count > 0 ? world_clear_slots(world, 0, count) : result;
    if (result != MOTE_OK) {
        return result;
    }
    world->has_marked = true; // for all that is known
    world->view.particle_count = count;
    for (uint32_t c = 0; c < snapshot->channel_count && result == MOTE_OK; c++) {
        result = mote_world_write_channel(world, snapshot->channels[c].name, snapshot->channels[c].values);
    }
    return result;
}

// The last part of restoring, which cannot fail: arrays that do not belong to particles are shared with the present
// world.
static void upload_arrays(MoteWorld *world, const WorldSnapshot *snapshot)
{
    void *addresses[SAVED_ARRAY_COUNT];
    list_saved_arrays(&world->view, addresses);
    for (int id = 0; id < SAVED_ARRAY_COUNT; id++) {
        const SavedArray *array = &snapshot->arrays[id];
        if (array->count > 0) {
            world->backend->functions->upload(world->backend, addresses[id], array->data,
                                              array->count * element_bytes((SavedArrayId)id));
        }
    }
}

static void tally_particles(MoteWorld *world, const WorldSnapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->particle_count; i++) {
        const uint32_t phase = snapshot->arrays[SAVED_phases].words[i];
        world_tally_mass(&world->tally, snapshot->arrays[SAVED_positions].floats[4 * i + 3], phase);
        world_tally_liquid(&world->tally, phase);
        const bool fluid = has_density(phase);
        world->tally.has_fluid |= fluid;
        world->view.has_solids |= !fluid;
        world->has_gas |= is_gas(phase);
    }
}

MoteResult world_snapshot_restore(MoteWorld *world, const WorldSnapshot *snapshot)
{
    MoteResult result = check_particle_sizes(snapshot);
    const uint32_t singles = result == MOTE_OK ? single_handles(world, snapshot) : 0;
    result = result == MOTE_OK ? reserve_handles(world, snapshot, singles) : result;
    if (result != MOTE_OK) {
        return result;
    }
    // Particle arrays are allocated anew on the same backend, everything else moves over.
    MoteWorld restored = *world;
    world_drop_particle_buffers(&restored);
    restored.tally.next_id = snapshot->next_id;
    restored.steps = snapshot->steps;
    restored.removed = snapshot->removed;
    restored.last_time_step = snapshot->last_time_step;
    restored.tally.largest_inverse_mass = restored.tally.liquid_inverse_mass = snapshot->liquid_inverse_mass;
    restored.tally.liquid_groups = 0;
    restored.lists_are_current = false;
    tally_particles(&restored, snapshot);
    if (world->torn_inverse_mass > 0.0f) { // as if all had torn
        world_tally_mass(&restored.tally, world->torn_inverse_mass, MOTE_PHASE(MOTE_KIND_CLOTH, 0));
    }
    restored.view.handle_count = restored.view.member_count + singles;
    result = check_snapshot(&restored, snapshot);
    result = result == MOTE_OK ? fill_from(&restored, snapshot) : result;
    if (result != MOTE_OK) {
        world_free_particle_buffers(&restored);
        return result;
    }
    upload_arrays(&restored, snapshot);
    MoteWorld before = *world;
    world_free_particle_buffers(&before);
    restored.layout = before.layout > restored.layout ? before.layout : restored.layout;
    *world = restored;
    world_revive_bodies(world, snapshot->arrays[SAVED_handles].words, snapshot->arrays[SAVED_handles].count);
    world_reset_watch(world);
    world_follow_corners(world);
    return MOTE_OK;
}
