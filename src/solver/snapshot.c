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

// ---- Bodies ------------------------------------------------------------------------------------------------

// What of bodies changes, one table after the other.
typedef struct BodyPart {
    void *address; // in the backend's memory
    uint64_t words;
} BodyPart;

enum { BODY_PARTS = 9, SHAPE_PART = 8, TIME_STEP_WORDS = 1 };

static void list_body_parts(const MoteWorld *world, uint32_t particle_count, BodyPart parts[BODY_PARTS])
{
    const MoteView *view = &world->view;
    const uint64_t members = view->member_count, clusters = view->cluster_count;
    const BodyPart all[BODY_PARTS] = {
        {view->members, members > 0 ? particle_count : 0},
        {view->member_fields, 4 * MEMBER_FACES * members},
        {view->holds, 4 * members},
        {view->hold_shapes, members},
        {view->entry_rests, 4 * (uint64_t)world->entry_count},
        {view->cluster_rotations, 4 * clusters},
        {view->cluster_centres, 4 * clusters},
        {view->cluster_origins, 4 * clusters},
        {view->dynamic_motions, sizeof(Motion) / sizeof(uint32_t) * (uint64_t)view->dynamic_count},
    };
    memcpy(parts, all, sizeof all);
}

uint64_t world_body_words(const MoteWorld *world, uint32_t particle_count)
{
    BodyPart parts[BODY_PARTS];
    list_body_parts(world, particle_count, parts);
    uint64_t words = 0;
    for (int i = 0; i < BODY_PARTS; i++) {
        words += parts[i].words;
    }
    return words > 0 ? words + TIME_STEP_WORDS : 0;
}

static void read_bodies(MoteWorld *world, uint32_t *words)
{
    BodyPart parts[BODY_PARTS];
    list_body_parts(world, world->view.particle_count, parts);
    memcpy(words, &world->last_time_step, sizeof *words);
    words += TIME_STEP_WORDS;
    for (int i = 0; i < BODY_PARTS; i++) {
        if (parts[i].words > 0) {
            world->backend->functions->download(world->backend, words, parts[i].address,
                                                parts[i].words * sizeof *words);
        }
        words += parts[i].words;
    }
}

static void write_bodies(MoteWorld *world, const uint32_t *words)
{
    BodyPart parts[BODY_PARTS];
    list_body_parts(world, world->view.particle_count, parts);
    memcpy(&world->last_time_step, words, sizeof *words);
    words += TIME_STEP_WORDS;
    for (int i = 0; i < BODY_PARTS; i++) {
        if (parts[i].words > 0) {
            world->backend->functions->upload(world->backend, parts[i].address, words, parts[i].words * sizeof *words);
        }
        words += parts[i].words;
    }
}

static bool is_unit(vec4 q)
{
    return fabsf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w - 1.0f) < 1e-2f;
}

static MoteResult check_motions(const uint32_t *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        Motion motion;
        memcpy(&motion, words + i * (sizeof motion / sizeof *words), sizeof motion);
        if (!is_unit(motion.start_rotation) || !is_unit(motion.aim_rotation)) {
            return mote_fail(MOTE_ERROR_INPUT, "snapshot has a rotation of a shape that is not of unit length");
        }
    }
    return MOTE_OK;
}

// Members in range, none twice; every number finite.
static MoteResult check_bodies(const MoteWorld *world, const WorldSnapshot *snapshot)
{
    const uint64_t expected = world_body_words(world, snapshot->particle_count);
    if (snapshot->body_word_count != expected) {
        return mote_fail(MOTE_ERROR_INPUT, "snapshot has %u words of bodies, expected %llu: those of other bodies",
                         snapshot->body_word_count, (unsigned long long)expected);
    }
    if (expected == 0) {
        return MOTE_OK;
    }
    const uint32_t members = world->view.member_count;
    const uint32_t *words = snapshot->body_words + TIME_STEP_WORDS;
    uint8_t *seen = calloc(members + 1u, 1);
    MoteResult result = seen != NULL ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory to check a snapshot");
    for (uint32_t i = 0; i < snapshot->particle_count && members > 0 && result == MOTE_OK; i++) {
        if (words[i] != MOTE_NONE && (words[i] >= members || seen[words[i]]++ != 0)) {
            result = mote_fail(MOTE_ERROR_INPUT, "snapshot has member %u at particle %u, expected each below %u once",
                               words[i], i, members);
        }
    }
    free(seen);
    BodyPart parts[BODY_PARTS];
    list_body_parts(world, snapshot->particle_count, parts);
    for (int part = 0; part < BODY_PARTS && result == MOTE_OK; part++) {
        const bool whole_numbers = part == 0 || part == 3;
        for (uint64_t i = 0; i < parts[part].words && !whole_numbers && result == MOTE_OK; i++) {
            float number;
            memcpy(&number, &words[i], sizeof number);
            if (!isfinite(number)) {
                result = mote_fail(MOTE_ERROR_INPUT, "snapshot has a number of a body that is not finite");
            }
        }
        if (part == SHAPE_PART && result == MOTE_OK) {
            result = check_motions(words, world->view.dynamic_count);
        }
        words += parts[part].words;
    }
    return result;
}

// ---- Wet maps ----------------------------------------------------------------------------------------------

uint32_t world_wet_texel_count(const MoteWorld *world)
{
    return (uint32_t)world->colliders.wet_texel_count;
}

static MoteResult check_wet(const MoteWorld *world, const WorldSnapshot *snapshot)
{
    const uint32_t expected = world_wet_texel_count(world);
    return snapshot->wet_texel_count == expected
               ? MOTE_OK
               : mote_fail(MOTE_ERROR_INPUT, "snapshot has %u texels of wet maps, expected %u",
                           snapshot->wet_texel_count, expected);
}

// ---- Taking ------------------------------------------------------------------------------------------------

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
        .next_id = world->tally.next_id,
        .steps = world->steps,
        .removed = world->removed,
        .liquid_inverse_mass = world->tally.liquid_inverse_mass,
        .positions = copy_of(host.positions, n * 16),
        .velocities = copy_of(host.velocities, n * 16),
        .ids = copy_of(host.ids, n * 4),
        .phases = copy_of(host.phases, n * 4),
        .wet_texel_count = world_wet_texel_count(world),
        .wet_texels = malloc(world_wet_texel_count(world) * sizeof *out->wet_texels + 1),
        .channel_count = world->channel_count,
    };
    const uint64_t body_words = world_body_words(world, host.count);
    out->body_words = body_words < UINT32_MAX ? malloc(body_words * sizeof *out->body_words + 1) : NULL;
    bool complete = out->positions != NULL && out->velocities != NULL && out->ids != NULL && out->phases != NULL &&
                    out->body_words != NULL && out->wet_texels != NULL;
    if (complete && out->wet_texel_count > 0) {
        world->backend->functions->download(world->backend, out->wet_texels, world->view.wet_texels,
                                            out->wet_texel_count * sizeof *out->wet_texels);
    }
    if (complete && body_words > 0) {
        out->body_word_count = (uint32_t)body_words;
        read_bodies(world, out->body_words);
    }
    for (uint32_t c = 0; c < world->channel_count && complete; c++) {
        ChannelSnapshot *channel = &out->channels[c];
        memcpy(channel->name, world->channels[c].name, sizeof channel->name);
        channel->components = world->channels[c].components;
        channel->values = malloc(n * channel->components * 4 + 1);
        complete = channel->values != NULL;
        if (complete) {
            result = mote_world_read_channel(world, channel->name, channel->values);
        }
    }
    result = result == MOTE_OK ? world_check_backend(world) : result;
    if (result != MOTE_OK) {
        world_snapshot_free(out);
        return result;
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
    free(snapshot->body_words);
    free(snapshot->wet_texels);
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
    if (!isfinite(snapshot->liquid_inverse_mass) || snapshot->liquid_inverse_mass < 0.0f) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "snapshot has an inverse mass of liquid of %g, expected a number not below 0",
                         (double)snapshot->liquid_inverse_mass);
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
    for (size_t i = 0; i < n; i++) {
        world_tally_mass(&world->tally, snapshot->positions[4 * i + 3], snapshot->phases[i]);
        const bool fluid = (snapshot->phases[i] & MOTE_PHASE_FLUID) != 0;
        world->tally.has_fluid |= fluid;
        world->view.has_solids |= !fluid;
    }
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
    world->has_marked = true; // for all that is known
    world->view.particle_count = snapshot->particle_count;
    if (world->view.members != NULL) { // of no body, unless the snapshot knows more
        uint32_t *none = malloc(n * sizeof *none);
        if (none == NULL) {
            return mote_fail(MOTE_ERROR_MEMORY, "no memory to restore %zu particles", n);
        }
        memset(none, 0xff, n * sizeof *none);
        functions->upload(world->backend, world->view.members, none, n * sizeof *none);
        free(none);
    }
    for (uint32_t c = 0; c < snapshot->channel_count && result == MOTE_OK; c++) {
        result = mote_world_write_channel(world, snapshot->channels[c].name, snapshot->channels[c].values);
    }
    return result;
}

MoteResult world_snapshot_restore(MoteWorld *world, const WorldSnapshot *snapshot)
{
    MoteResult result = check_snapshot(snapshot);
    result = result == MOTE_OK ? check_bodies(world, snapshot) : result;
    result = result == MOTE_OK ? check_wet(world, snapshot) : result;
    if (result != MOTE_OK) {
        return result;
    }
    // Everything that belongs to particles is made anew on the same backend, the rest moves over.
    MoteWorld restored = *world;
    world_drop_particles(&restored);
    restored.tally.next_id = snapshot->next_id;
    restored.steps = snapshot->steps;
    restored.removed = snapshot->removed;
    restored.tally.largest_inverse_mass = restored.tally.liquid_inverse_mass = snapshot->liquid_inverse_mass;
    restored.lists_are_current = false;
    result = fill_from(&restored, snapshot);
    if (result != MOTE_OK) {
        world_free_buffers(&restored, (Capacity)0, CAPACITY_LASTING);
        return result;
    }
    if (snapshot->body_word_count > 0) {
        write_bodies(&restored, snapshot->body_words);
    }
    if (snapshot->wet_texel_count > 0) {
        restored.backend->functions->upload(restored.backend, restored.view.wet_texels, snapshot->wet_texels,
                                            snapshot->wet_texel_count * sizeof *snapshot->wet_texels);
    }
    MoteWorld before = *world;
    world_free_buffers(&before, (Capacity)0, CAPACITY_LASTING);
    restored.layout = before.layout > restored.layout ? before.layout : restored.layout;
    *world = restored;
    world_reset_watch(world);
    return MOTE_OK;
}
