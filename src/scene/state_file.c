// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "scene/state_file.h"

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "scene/simulation.h"
#include "solver/snapshot.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "state files are written from memory as it is");

#define CHANNEL_PREFIX "channel."

enum { CLOCK_STEPS, CLOCK_WORLD_STEPS, CLOCK_WORLD_REMOVED, CLOCK_NEXT_ID, CLOCK_FIELDS };

// What a state holds, on its way to or from a file.
typedef struct State {
    uint64_t clock[CLOCK_FIELDS];
    uint32_t emitter_count;
    double *emitter_next;
    uint64_t *emitter_emitted;
    WorldSnapshot world;
} State;

static void state_free(State *state)
{
    free(state->emitter_next);
    free(state->emitter_emitted);
    world_snapshot_free(&state->world);
    *state = (State){0};
}

static size_t type_size(uint32_t type)
{
    return type == STATE_U32 || type == STATE_F32 ? 4 : 8;
}

static const char *type_name(uint32_t type)
{
    static const char *const names[] = {"an unknown type", "u32", "u64", "f32", "f64"};
    return names[type <= STATE_F64 ? type : 0];
}

static StateSection section_of(const char *name, StateType type, uint32_t components, uint64_t count)
{
    StateSection section = {.type = type, .components = components, .count = count};
    memcpy(section.name, name, strlen(name)); // names are checked to be shorter where they are made
    section.size = count * components * type_size(type);
    return section;
}

// The sections every state has, in file order; the arrays of the world and its channels follow.
enum { SECTION_CLOCK, SECTION_LIQUID_MASS, SECTION_NEXT, SECTION_COUNT, SECTION_TIME_STEP, FIXED_SECTIONS };

static void fixed_sections(const State *state, StateSection sections[FIXED_SECTIONS])
{
    const uint64_t emitters = state->emitter_count;
    sections[SECTION_CLOCK] = section_of("clock", STATE_U64, 1, CLOCK_FIELDS);
    sections[SECTION_LIQUID_MASS] = section_of("lightest", STATE_F32, 1, 1);
    sections[SECTION_NEXT] = section_of("emitter.next", STATE_F64, 1, emitters);
    sections[SECTION_COUNT] = section_of("emitter.count", STATE_U64, 1, emitters);
    sections[SECTION_TIME_STEP] = section_of("time_step", STATE_F32, 1, 1);
}

static StateSection array_section(SavedArrayId id, uint64_t count)
{
    const SavedArrayInfo *info = &saved_array_infos[id];
    return section_of(info->name, info->floats ? STATE_F32 : STATE_U32, info->words, count);
}

static StateSection channel_section(const ChannelSnapshot *channel, uint32_t particles)
{
    _Static_assert(sizeof CHANNEL_PREFIX + WORLD_CHANNEL_NAME_SIZE <= STATE_SECTION_NAME, "a channel's name fits");
    char name[STATE_SECTION_NAME] = CHANNEL_PREFIX;
    memcpy(name + strlen(CHANNEL_PREFIX), channel->name, strlen(channel->name) + 1);
    return section_of(name, STATE_F32, channel->components, particles);
}

static uint64_t header_checksum(const StateHeader *header)
{
    return hash_bytes(HASH_START, header, offsetof(StateHeader, checksum));
}

static uint64_t section_checksum(const StateSection *section, const void *data)
{
    return hash_bytes(hash_bytes(HASH_START, section, offsetof(StateSection, checksum)), data, section->size);
}

// ---- Saving ----

static MoteResult state_take(MoteSimulation *simulation, State *state)
{
    *state = (State){.emitter_count = simulation_emitter_count(simulation)};
    MoteResult result = world_snapshot_take(simulation->world, &state->world);
    if (result != MOTE_OK) {
        return result;
    }
    state->emitter_next = malloc((state->emitter_count + (size_t)1) * sizeof *state->emitter_next);
    state->emitter_emitted = malloc((state->emitter_count + (size_t)1) * sizeof *state->emitter_emitted);
    if (state->emitter_next == NULL || state->emitter_emitted == NULL) {
        state_free(state);
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the state of %u emitters",
                         simulation_emitter_count(simulation));
    }
    for (uint32_t i = 0; i < state->emitter_count; i++) {
        state->emitter_next[i] = simulation->emitters[i].until_next;
        state->emitter_emitted[i] = simulation->emitters[i].emitted;
    }
    state->clock[CLOCK_STEPS] = simulation->steps;
    state->clock[CLOCK_WORLD_STEPS] = state->world.steps;
    state->clock[CLOCK_WORLD_REMOVED] = state->world.removed;
    state->clock[CLOCK_NEXT_ID] = state->world.next_id;
    return MOTE_OK;
}

// Write errors are noticed when the file is committed. The bytes that a section takes are returned.
static uint64_t write_section(FILE *stream, StateSection section, const void *data)
{
    if (stream != NULL) {
        section.checksum = section_checksum(&section, data);
        fwrite(&section, sizeof section, 1, stream);
        if (section.size > 0) {
            fwrite(data, 1, section.size, stream);
        }
    }
    return sizeof section + section.size;
}

// All sections with their data, and where no data is asked for (`stream` is NULL), only their size in bytes.
static uint64_t write_sections(FILE *stream, const State *state)
{
    StateSection fixed[FIXED_SECTIONS];
    fixed_sections(state, fixed);
    const void *const data[FIXED_SECTIONS] = {
        [SECTION_CLOCK] = state->clock,
        [SECTION_LIQUID_MASS] = &state->world.liquid_inverse_mass,
        [SECTION_NEXT] = state->emitter_next,
        [SECTION_COUNT] = state->emitter_emitted,
        [SECTION_TIME_STEP] = &state->world.last_time_step,
    };
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < FIXED_SECTIONS; i++) {
        bytes += write_section(stream, fixed[i], data[i]);
    }
    for (int id = 0; id < SAVED_ARRAY_COUNT; id++) {
        const SavedArray *array = &state->world.arrays[id];
        if (array->count > 0) {
            bytes += write_section(stream, array_section((SavedArrayId)id, array->count), array->data);
        }
    }
    for (uint32_t i = 0; i < state->world.channel_count; i++) {
        const ChannelSnapshot *channel = &state->world.channels[i];
        bytes += write_section(stream, channel_section(channel, state->world.particle_count), channel->values);
    }
    return bytes;
}

static void write_state(FILE *stream, const MoteScene *scene, const State *state)
{
    StateHeader header = {
        .byte_order = STATE_BYTE_ORDER,
        .version = STATE_VERSION,
        .scene_hash = scene->hash,
        .emitter_count = state->emitter_count,
        .particle_count = state->world.particle_count,
        .channel_count = state->world.channel_count,
        .file_size = sizeof header + write_sections(NULL, state) + sizeof STATE_END - 1,
    };
    memcpy(header.magic, STATE_MAGIC, sizeof header.magic);
    strncat(header.scene_name, scene->name, sizeof header.scene_name - 1);
    header.checksum = header_checksum(&header);
    fwrite(&header, sizeof header, 1, stream);
    write_sections(stream, state);
    fwrite(STATE_END, 1, sizeof STATE_END - 1, stream);
}

MoteResult mote_simulation_save(MoteSimulation *simulation, const char *path)
{
    if (simulation->failed) {
        return mote_fail(MOTE_ERROR_UNSTABLE, "%s: not written: the simulation failed in step %" PRIu64, path,
                         simulation->steps);
    }
    State state;
    MoteResult result = state_take(simulation, &state);
    if (result != MOTE_OK) {
        return mote_fail(result, "%s: not written: %s", path, mote_error_message());
    }
    FileWriter writer;
    result = file_writer_open(&writer, path);
    if (result == MOTE_OK) {
        write_state(writer.stream, simulation->scene, &state);
        result = file_writer_commit(&writer);
    }
    state_free(&state);
    return result;
}

// ---- Loading ----

typedef struct Reader {
    const char *path;
    FILE *stream;
    uint64_t size, offset; // bytes
    bool has_next;         // `next` was read ahead
    StateSection next;     // under its present name
    StateSection stored;   // as it is in the file
} Reader;

static MoteResult reader_open(Reader *reader, const char *path)
{
    *reader = (Reader){.path = path};
    return file_open_input(path, &reader->stream, &reader->size);
}

// Sizes come from the file, so they are compared with the rest of the file before memory is allocated.
static MoteResult read_bytes(Reader *reader, void *bytes, uint64_t size, const char *what)
{
    if (size > reader->size - reader->offset || fread(bytes, 1, size, reader->stream) != size) {
        if (ferror(reader->stream)) {
            return mote_fail(MOTE_ERROR_IO, "%s: cannot read: %s", reader->path, strerror(errno));
        }
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: is cut short: %s needs %" PRIu64 " bytes at byte %" PRIu64 ", the file has %" PRIu64,
                         reader->path, what, size, reader->offset, reader->size);
    }
    reader->offset += size;
    return MOTE_OK;
}

static MoteResult read_header(Reader *reader, StateHeader *header)
{
    const char *path = reader->path;
    if (reader->size == 0) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is empty, expected a saved state", path);
    }
    memset(header, 0, sizeof *header);
    const uint64_t there = reader->size < sizeof header->magic ? reader->size : sizeof header->magic;
    MoteResult result = read_bytes(reader, header->magic, there, "the magic number");
    if (result != MOTE_OK) {
        return result;
    }
    if (memcmp(header->magic, STATE_MAGIC, there) != 0) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is not a saved state: it does not begin with the magic number", path);
    }
    result = read_bytes(reader, (char *)header + there, sizeof *header - there, "the header");
    if (result != MOTE_OK) {
        return result;
    }
    if (header->byte_order == UINT32_C(0x04030201)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is big-endian, expected a little-endian state", path);
    }
    if (header->byte_order != STATE_BYTE_ORDER) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: is damaged: its byte order mark is 0x%08" PRIx32 ", expected 0x%08" PRIx32, path,
                         header->byte_order, STATE_BYTE_ORDER);
    }
    if (header->version < STATE_OLDEST || header->version > STATE_VERSION) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: is a state of version %" PRIu32 ", this program reads versions %" PRIu32 " to %" PRIu32,
                         path, header->version, STATE_OLDEST, STATE_VERSION);
    }
    if (header->checksum != header_checksum(header)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is damaged: the header's checksum does not match", path);
    }
    return MOTE_OK;
}

static MoteResult check_header(const Reader *reader, const StateHeader *header, const MoteSimulation *simulation)
{
    const MoteScene *scene = simulation->scene;
    const char *path = reader->path;
    if (header->scene_hash != scene->hash) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: is a state of another scene: it was saved from scene \"%.*s\" (hash %016" PRIx64
                         "), this simulation runs scene \"%s\" (hash %016" PRIx64
                         "); the scene file and its overrides must be the same, but for what only pictures depend on",
                         path, (int)sizeof header->scene_name - 1, header->scene_name, header->scene_hash, scene->name,
                         scene->hash);
    }
    if (reader->size < header->file_size) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is cut short: it has %" PRIu64 " of its %" PRIu64 " bytes", path,
                         reader->size, header->file_size);
    }
    if (reader->size > header->file_size) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: has %" PRIu64 " bytes after its end", path,
                         reader->size - header->file_size);
    }
    if (header->emitter_count != simulation_emitter_count(simulation)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: holds %" PRIu32 " emitters, the scene has %" PRIu32, path,
                         header->emitter_count, simulation_emitter_count(simulation));
    }
    if (header->channel_count > WORLD_CHANNEL_LIMIT) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: holds %" PRIu32 " channels, expected at most %d", path,
                         header->channel_count, WORLD_CHANNEL_LIMIT);
    }
    return MOTE_OK;
}

static MoteResult check_section(const Reader *reader, const StateSection *found, const StateSection *expected)
{
    const char *path = reader->path;
    if (memcmp(found->name, expected->name, sizeof found->name) != 0) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is damaged: found section \"%.*s\", expected \"%s\"", path,
                         STATE_SECTION_NAME, found->name, expected->name);
    }
    if (found->type != expected->type || found->components != expected->components) {
        return mote_fail(
            MOTE_ERROR_INPUT, "%s: is damaged: section \"%s\" holds %s x %" PRIu32 ", expected %s x %" PRIu32, path,
            expected->name, type_name(found->type), found->components, type_name(expected->type), expected->components);
    }
    if (found->count != expected->count || found->size != expected->size) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: is damaged: section \"%s\" holds %" PRIu64 " elements in %" PRIu64
                         " bytes, expected %" PRIu64 " in %" PRIu64,
                         path, expected->name, found->count, found->size, expected->count, expected->size);
    }
    if (found->size > reader->size - reader->offset) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: is cut short: section \"%s\" needs %" PRIu64 " bytes, %" PRIu64 " are left", path,
                         expected->name, found->size, reader->size - reader->offset);
    }
    return MOTE_OK;
}

static MoteResult read_data(Reader *reader, const StateSection *section, void *data)
{
    const StateSection stored = reader->stored; // its checksum is of the name that it has in the file
    const MoteResult result = read_bytes(reader, data, section->size, section->name);
    if (result == MOTE_OK && stored.checksum != section_checksum(&stored, data)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is damaged: the checksum of section \"%s\" does not match",
                         reader->path, section->name);
    }
    return result;
}

// What sections were called before the arrays and channels that they hold were renamed.
static const struct {
    const char *former, *name;
} former_sections[] = {
    {.former = "members", .name = "handles"}, // when particles that are in no body had none
    {.former = "holds", .name = "contact_impulses"},
    {.former = "hold_shapes", .name = "contact_impulse_colliders"},
    {.former = CHANNEL_PREFIX "spin", .name = CHANNEL_PREFIX "angular_velocity"},
    {.former = CHANNEL_PREFIX "support", .name = CHANNEL_PREFIX "gravity_warm_start"},
};

// The next section's header, which stays the next one until its data is read.
static MoteResult peek_section(Reader *reader, const char *what)
{
    if (reader->has_next) {
        return MOTE_OK;
    }
    const MoteResult result = read_bytes(reader, &reader->stored, sizeof reader->stored, what);
    reader->has_next = result == MOTE_OK;
    reader->next = reader->stored;
    for (size_t i = 0; i < sizeof former_sections / sizeof former_sections[0]; i++) {
        if (strncmp(reader->stored.name, former_sections[i].former, STATE_SECTION_NAME) == 0) {
            memset(reader->next.name, 0, sizeof reader->next.name);
            memcpy(reader->next.name, former_sections[i].name, strlen(former_sections[i].name));
        }
    }
    return result;
}

// The section's data, which the caller frees, or NULL.
static MoteResult read_section(Reader *reader, const StateSection *expected, void **data)
{
    MoteResult result = peek_section(reader, expected->name);
    result = result == MOTE_OK ? check_section(reader, &reader->next, expected) : result;
    if (result != MOTE_OK) {
        return result;
    }
    reader->has_next = false;
    const StateSection section = reader->next;
    *data = malloc((size_t)section.size + 1);
    if (*data == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for section \"%s\"", reader->path, expected->name);
    }
    return read_data(reader, &section, *data);
}

static MoteResult read_channel(Reader *reader, uint32_t particles, ChannelSnapshot *channel)
{
    MoteResult result = peek_section(reader, "a channel");
    if (result != MOTE_OK) {
        return result;
    }
    const StateSection section = reader->next;
    const size_t prefix = sizeof CHANNEL_PREFIX - 1;
    const char *name = section.name + prefix;
    if (memcmp(section.name, CHANNEL_PREFIX, prefix) != 0 || name[0] == '\0' ||
        memchr(name, '\0', WORLD_CHANNEL_NAME_SIZE) == NULL) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is damaged: found section \"%.*s\", expected a channel", reader->path,
                         STATE_SECTION_NAME, section.name);
    }
    if (section.components < 1 || section.components > 4) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is damaged: channel \"%s\" has %" PRIu32 " components, expected 1 to 4",
                         reader->path, name, section.components);
    }
    *channel = (ChannelSnapshot){.components = section.components};
    memcpy(channel->name, name, strlen(name) + 1);
    const StateSection expected = channel_section(channel, particles);
    void *values = NULL;
    result = read_section(reader, &expected, &values);
    channel->values = values;
    return result;
}

// Arrays that are empty are not in the file.
static MoteResult read_arrays(Reader *reader, const MoteWorld *world, uint32_t particles, WorldSnapshot *snapshot)
{
    MoteResult result = MOTE_OK;
    for (int i = 0; i < SAVED_ARRAY_COUNT && result == MOTE_OK; i++) {
        const SavedArrayId id = (SavedArrayId)i;
        if (reader->size - reader->offset == sizeof STATE_END - 1 && !reader->has_next) {
            break;
        }
        const SavedArrayInfo *info = &saved_array_infos[id];
        const uint64_t elements = info->attached ? particles : world_saved_elements(world, id, particles);
        result = peek_section(reader, info->name);
        const bool found = result == MOTE_OK && strncmp(reader->next.name, info->name, STATE_SECTION_NAME) == 0;
        if (found || (result == MOTE_OK && elements > 0 && !info->attached)) {
            const StateSection expected = array_section(id, elements);
            result = read_section(reader, &expected, &snapshot->arrays[id].data);
            snapshot->arrays[id].count = result == MOTE_OK ? expected.count : 0;
        }
    }
    return result;
}

// ---- Version 3 ----

// What the section "bodies" held one after the other, behind the last step's time step.
static const SavedArrayId version_3_bodies[] = {
    SAVED_handles,         SAVED_member_fields,     SAVED_contact_impulses, SAVED_contact_impulse_colliders,
    SAVED_entry_rests,     SAVED_cluster_rotations, SAVED_cluster_centres,  SAVED_cluster_origins,
    SAVED_dynamic_motions,
};
enum { VERSION_3_BODIES = sizeof version_3_bodies / sizeof version_3_bodies[0] };

// Members were saved only where there were bodies.
static uint64_t version_3_elements(const MoteWorld *world, SavedArrayId id, uint32_t particles)
{
    const bool bodies = world_saved_elements(world, SAVED_contact_impulses, particles) > 0;
    return id == SAVED_handles ? (bodies ? particles : 0) : world_saved_elements(world, id, particles);
}

static MoteResult split_bodies(const Reader *reader, const MoteWorld *world, uint32_t particles, const uint32_t *words,
                               WorldSnapshot *snapshot)
{
    memcpy(&snapshot->last_time_step, words++, sizeof *words);
    for (int i = 0; i < VERSION_3_BODIES; i++) {
        const SavedArrayId id = version_3_bodies[i];
        const uint64_t count = version_3_elements(world, id, particles);
        const size_t bytes = (size_t)count * saved_array_infos[id].words * sizeof *words;
        snapshot->arrays[id] = (SavedArray){.count = count, .data = malloc(bytes + 1)};
        if (snapshot->arrays[id].data == NULL) {
            return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for the state of bodies", reader->path);
        }
        memcpy(snapshot->arrays[id].data, words, bytes);
        words += bytes / sizeof *words;
    }
    return MOTE_OK;
}

static MoteResult read_version_3_arrays(Reader *reader, const MoteWorld *world, uint32_t particles,
                                        WorldSnapshot *snapshot)
{
    static const SavedArrayId plain[] = {SAVED_positions, SAVED_velocities, SAVED_ids, SAVED_phases};
    MoteResult result = MOTE_OK;
    for (int i = 0; i < 4 && result == MOTE_OK; i++) {
        const StateSection expected = array_section(plain[i], particles);
        result = read_section(reader, &expected, &snapshot->arrays[plain[i]].data);
        snapshot->arrays[plain[i]].count = result == MOTE_OK ? particles : 0;
    }
    uint64_t words = 0;
    for (int i = 0; i < VERSION_3_BODIES; i++) {
        const SavedArrayId id = version_3_bodies[i];
        words += version_3_elements(world, id, particles) * saved_array_infos[id].words;
    }
    const StateSection bodies = section_of("bodies", STATE_U32, 1, words > 0 ? words + 1 : 0);
    void *data = NULL;
    result = result == MOTE_OK ? read_section(reader, &bodies, &data) : result;
    result = result == MOTE_OK && words > 0 ? split_bodies(reader, world, particles, data, snapshot) : result;
    free(data);
    const uint64_t texels = world_saved_elements(world, SAVED_wet_texels, particles);
    const StateSection wet = section_of("wet", STATE_U32, 1, texels);
    SavedArray *wet_texels = &snapshot->arrays[SAVED_wet_texels];
    result = result == MOTE_OK ? read_section(reader, &wet, &wet_texels->data) : result;
    wet_texels->count = result == MOTE_OK ? texels : 0;
    return result;
}

// ---- Whole states ----

static MoteResult read_state(Reader *reader, const StateHeader *header, const MoteWorld *world, State *state)
{
    state->emitter_count = header->emitter_count;
    state->world.particle_count = header->particle_count;
    StateSection fixed[FIXED_SECTIONS];
    fixed_sections(state, fixed);
    const uint32_t fixed_count = header->version < 4 ? SECTION_TIME_STEP : FIXED_SECTIONS;
    void *data[FIXED_SECTIONS] = {NULL};
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < fixed_count && result == MOTE_OK; i++) {
        result = read_section(reader, &fixed[i], &data[i]);
    }
    if (result == MOTE_OK) {
        memcpy(state->clock, data[SECTION_CLOCK], sizeof state->clock);
        memcpy(&state->world.liquid_inverse_mass, data[SECTION_LIQUID_MASS], sizeof state->world.liquid_inverse_mass);
    }
    if (result == MOTE_OK && data[SECTION_TIME_STEP] != NULL) {
        memcpy(&state->world.last_time_step, data[SECTION_TIME_STEP], sizeof state->world.last_time_step);
    }
    free(data[SECTION_CLOCK]);
    free(data[SECTION_LIQUID_MASS]);
    free(data[SECTION_TIME_STEP]);
    state->emitter_next = data[SECTION_NEXT]; // what was read belongs to the state, which frees it on an error
    state->emitter_emitted = data[SECTION_COUNT];
    if (result == MOTE_OK) {
        result = header->version < 4 ? read_version_3_arrays(reader, world, header->particle_count, &state->world)
                                     : read_arrays(reader, world, header->particle_count, &state->world);
    }
    for (uint32_t i = 0; i < header->channel_count && result == MOTE_OK; i++) {
        state->world.channel_count = i + 1; // so that freeing the snapshot finds it
        result = read_channel(reader, header->particle_count, &state->world.channels[i]);
    }
    if (result != MOTE_OK) {
        return result;
    }
    char end[sizeof STATE_END - 1];
    result = read_bytes(reader, end, sizeof end, "the end marker");
    if (result == MOTE_OK && memcmp(end, STATE_END, sizeof end) != 0) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is damaged: the end marker is missing", reader->path);
    }
    return result;
}

static MoteResult check_state(const char *path, const MoteSimulation *simulation, State *state)
{
    if (state->clock[CLOCK_STEPS] > UINT64_C(1) << 52) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: its clock is at step %" PRIu64 ", expected at most 2^52", path,
                         state->clock[CLOCK_STEPS]);
    }
    if (state->clock[CLOCK_NEXT_ID] > UINT32_MAX) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: its next particle id is %" PRIu64 ", expected at most 2^32 - 1", path,
                         state->clock[CLOCK_NEXT_ID]);
    }
    const double spacing = SCENE_AT(&simulation->scene->values, solver, 0)->spacing;
    for (uint32_t i = 0; i < state->emitter_count; i++) {
        if (!(fabs(state->emitter_next[i]) <= 2.0 * spacing)) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "%s: emitter %" PRIu32 " is %g m from its next layer, expected at most %g", path, i,
                             state->emitter_next[i], spacing);
        }
    }
    state->world.steps = state->clock[CLOCK_WORLD_STEPS];
    state->world.removed = state->clock[CLOCK_WORLD_REMOVED];
    state->world.next_id = (uint32_t)state->clock[CLOCK_NEXT_ID];
    return MOTE_OK;
}

static MoteResult state_restore(MoteSimulation *simulation, const State *state)
{
    const MoteResult result = world_snapshot_restore(simulation->world, &state->world);
    if (result == MOTE_OK) { // nothing can fail from here on
        simulation->steps = state->clock[CLOCK_STEPS];
        simulation->failed = false;
        notices_clear(&simulation->notices); // they were about how the scene begins
        for (uint32_t i = 0; i < state->emitter_count; i++) {
            simulation->emitters[i] = (EmitterState){state->emitter_next[i], state->emitter_emitted[i]};
        }
    }
    return result;
}

MoteResult mote_simulation_load(MoteSimulation *simulation, const char *path)
{
    Reader reader;
    MoteResult result = reader_open(&reader, path);
    if (result != MOTE_OK) {
        return result;
    }
    StateHeader header;
    State state = {0};
    result = read_header(&reader, &header);
    if (result == MOTE_OK) {
        result = check_header(&reader, &header, simulation);
    }
    if (result == MOTE_OK) {
        result = read_state(&reader, &header, simulation->world, &state);
    }
    fclose(reader.stream);
    if (result == MOTE_OK) {
        result = check_state(path, simulation, &state);
    }
    if (result == MOTE_OK) {
        result = state_restore(simulation, &state);
        if (result != MOTE_OK) {
            mote_fail(result, "%s: %s", path, mote_error_message());
        }
    }
    state_free(&state);
    return result;
}

// ---- In memory ----

struct KeptState {
    State state;
};

KeptState *simulation_keep_state(MoteSimulation *simulation)
{
    KeptState *kept = calloc(1, sizeof *kept);
    if (kept != NULL && state_take(simulation, &kept->state) != MOTE_OK) {
        free(kept);
        kept = NULL;
    }
    return kept;
}

MoteResult simulation_restore_state(MoteSimulation *simulation, const KeptState *kept)
{
    return state_restore(simulation, &kept->state);
}

void simulation_drop_state(KeptState *kept)
{
    if (kept != NULL) {
        state_free(&kept->state);
        free(kept);
    }
}
