// SPDX-License-Identifier: MIT
#include "scene/export.h"

#include "base/error.h"
#include "base/file.h"
#include "mote_cloth.h"
#include "mote_diffuse.h"
#include "solver/particle_copy.h"
#include <stdlib.h>
#include <string.h>

// ---- Names ----

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void export_make_unique(ExportName *names, uint32_t count)
{
    char *name = names[count - 1];
    ExportName wanted;
    memcpy(wanted, name, sizeof wanted);
    uint32_t attempt = 1;
    for (uint32_t i = 0; i + 1 < count;) {
        if (strcmp(names[i], name) != 0) {
            i++;
            continue;
        }
        snprintf(name, sizeof wanted, "%.*s_%u", EXPORT_NAME_SIZE - 12, wanted, ++attempt);
        i = 0;
    }
}

void export_names(const ExportTable *table, const char *const *builtin, ExportName *names)
{
    for (uint32_t i = 0; i < table->attribute_count; i++) {
        const bool channel = i >= EXPORT_CHANNEL;
        const char *wanted = channel ? table->channel_names[i - EXPORT_CHANNEL] : builtin[i];
        const bool digit_first = wanted[0] >= '0' && wanted[0] <= '9';
        snprintf(names[i], sizeof names[i], "%s%s", digit_first || wanted[0] == '\0' ? "_" : "", wanted);
        for (char *c = names[i]; *c != '\0'; c++) {
            *c = is_plain(*c) ? *c : '_';
        }
        export_make_unique(names, i + 1);
    }
}

// ---- Values ----

void export_gather(const ExportAttribute *attribute, uint32_t first, uint32_t count, uint32_t *values, uint32_t stride)
{
    const char *source = (const char *)attribute->values + 4 * (size_t)attribute->stride * first;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(values + (size_t)i * stride, source + 4 * (size_t)attribute->stride * i, 4 * attribute->components);
    }
}

MoteResult export_write_rows(const ExportTable *table, FILE *stream, bool pad, bool swap)
{
    enum { ROWS = 1024 };
    uint32_t width = pad ? 1 : 0;
    for (uint32_t i = 0; i < table->attribute_count; i++) {
        width += table->attributes[i].components;
    }
    uint32_t *rows = malloc(4 * (size_t)ROWS * width);
    if (rows == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for rows of %u values", width);
    }
    for (uint32_t first = 0; first < table->particle_count; first += ROWS) {
        const uint32_t left = table->particle_count - first;
        const uint32_t count = left < ROWS ? left : ROWS;
        uint32_t column = 0;
        for (uint32_t i = 0; i < table->attribute_count; i++) {
            export_gather(&table->attributes[i], first, count, rows + column, width);
            column += table->attributes[i].components;
            if (pad && i == EXPORT_POSITION) {
                const float one = 1.0f;
                for (uint32_t row = 0; row < count; row++) {
                    memcpy(&rows[(size_t)row * width + column], &one, sizeof one);
                }
                column++;
            }
        }
        for (size_t i = 0; swap && i < (size_t)count * width; i++) {
            const uint32_t v = rows[i];
            rows[i] = v >> 24 | (v >> 8 & 0xff00u) | (v << 8 & 0xff0000u) | v << 24;
        }
        fwrite(rows, 4 * (size_t)width, count, stream);
    }
    free(rows);
    return MOTE_OK;
}

// ---- The table of a world ----

typedef struct ExportMemory {
    MoteParticleView particles;
    float *masses;
    uint32_t *groups;
    float *channels[EXPORT_CHANNEL_LIMIT];
} ExportMemory;

static void memory_free(ExportMemory *memory)
{
    particle_copy_free(&memory->particles);
    free(memory->masses);
    free(memory->groups);
    for (uint32_t i = 0; i < EXPORT_CHANNEL_LIMIT; i++) {
        free(memory->channels[i]);
    }
}

// The forces that the world records, behind its channels: 3 of the 4 floats that each particle has.
static MoteResult read_forces(MoteWorld *world, ExportTable *table, ExportMemory *memory)
{
    const size_t particles = mote_world_particle_count(world);
    for (uint32_t kind = 0; kind < MOTE_FORCE_COUNT && mote_world_records_forces(world); kind++) {
        const uint32_t channel = table->attribute_count - EXPORT_CHANNEL;
        const char *name = mote_force_name((MoteForceKind)kind);
        snprintf(table->channel_names[channel], sizeof table->channel_names[channel], "%s", name);
        float *values = malloc((particles + 1) * 4 * sizeof *values);
        memory->channels[channel] = values;
        if (values == NULL) {
            return mote_fail(MOTE_ERROR_MEMORY, "no memory for %s", name);
        }
        const MoteResult result = mote_world_read_forces(world, (MoteForceKind)kind, values);
        if (result != MOTE_OK) {
            return result;
        }
        table->attributes[table->attribute_count++] = (ExportAttribute){.components = 3, .stride = 4, .values = values};
    }
    return MOTE_OK;
}

static MoteResult read_channels(MoteWorld *world, ExportTable *table, ExportMemory *memory)
{
    const uint32_t channels = mote_world_channel_count(world);
    const size_t particles = mote_world_particle_count(world);
    if (channels + MOTE_FORCE_COUNT > EXPORT_CHANNEL_LIMIT) {
        return mote_fail(MOTE_ERROR_INPUT, "the world has %u channels, expected at most %d", channels,
                         EXPORT_CHANNEL_LIMIT - MOTE_FORCE_COUNT);
    }
    for (uint32_t i = 0; i < channels; i++) {
        uint32_t components;
        const char *name = mote_world_channel_name(world, i, &components);
        snprintf(table->channel_names[i], sizeof table->channel_names[i], "%s", name);
        memory->channels[i] = malloc((particles + 1) * components * sizeof(float));
        if (memory->channels[i] == NULL) {
            return mote_fail(MOTE_ERROR_MEMORY, "no memory for channel %s", name);
        }
        const MoteResult result = mote_world_read_channel(world, table->channel_names[i], memory->channels[i]);
        if (result != MOTE_OK) {
            return result;
        }
        table->attributes[EXPORT_CHANNEL + i] =
            (ExportAttribute){.components = components, .stride = components, .values = memory->channels[i]};
    }
    table->attribute_count = EXPORT_CHANNEL + channels;
    return read_forces(world, table, memory);
}

static MoteResult read_table(MoteWorld *world, ExportTable *table, ExportMemory *memory)
{
    MoteResult result = read_channels(world, table, memory);
    if (result != MOTE_OK) {
        return result;
    }
    result = particle_copy_read(world, COPY_ALL, &memory->particles);
    if (result != MOTE_OK) {
        return result;
    }
    const MoteParticleView view = memory->particles;
    memory->masses = malloc((view.count + (size_t)1) * sizeof *memory->masses);
    memory->groups = malloc((view.count + (size_t)1) * sizeof *memory->groups);
    if (memory->masses == NULL || memory->groups == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %u particles", view.count);
    }
    for (uint32_t i = 0; i < view.count; i++) {
        const float inverse_mass = view.positions[4 * (size_t)i + 3];
        memory->masses[i] = inverse_mass > 0.0f ? 1.0f / inverse_mass : 0.0f;
        memory->groups[i] = view.phases[i] & MOTE_PHASE_GROUP_MASK;
    }
    table->particle_count = view.count;
    table->attributes[EXPORT_POSITION] = (ExportAttribute){.components = 3, .stride = 4, .values = view.positions};
    table->attributes[EXPORT_VELOCITY] = (ExportAttribute){.components = 3, .stride = 4, .values = view.velocities};
    table->attributes[EXPORT_ID] = (ExportAttribute){1, 1, true, view.ids};
    table->attributes[EXPORT_PHASE] = (ExportAttribute){1, 1, true, memory->groups};
    // With no particles there may be no array to point into.
    table->attributes[EXPORT_DENSITY] =
        (ExportAttribute){.components = 1, .stride = 4, .values = view.count > 0 ? view.velocities + 3 : NULL};
    table->attributes[EXPORT_MASS] = (ExportAttribute){.components = 1, .stride = 1, .values = memory->masses};
    return MOTE_OK;
}

// ---- Formats ----

static const struct {
    const char *name, *extension;
    MoteResult (*write)(const ExportTable *table, FILE *stream);
} formats[] = {
    {"ply", "ply", export_ply},
    {"vtk", "vtu", export_vtk},
    {"bgeo", "bgeo", export_bgeo},
};
enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

static uint32_t find_format(const char *name)
{
    uint32_t i = 0;
    while (i < FORMAT_COUNT && strcmp(formats[i].name, name) != 0) {
        i++;
    }
    return i;
}

const char *export_extension(const char *format)
{
    const uint32_t found = find_format(format);
    return found < FORMAT_COUNT ? formats[found].extension : NULL;
}

static MoteResult write_file(const ExportTable *table, uint32_t format, const char *path)
{
    const size_t size = strlen(path) + strlen(formats[format].extension) + 2;
    char *full_path = malloc(size);
    if (full_path == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to write it", path);
    }
    snprintf(full_path, size, "%s.%s", path, formats[format].extension);
    FileWriter writer;
    MoteResult result = file_writer_open(&writer, full_path);
    if (result == MOTE_OK) {
        result = formats[format].write(table, writer.stream);
        if (result == MOTE_OK) {
            result = file_writer_commit(&writer);
        } else {
            mote_fail(result, "%s: not written: %s", full_path, mote_error_message());
            file_writer_discard(&writer);
        }
    }
    free(full_path);
    return result;
}

// ---- Passive particles ----

// Spray, foam, bubbles and smoke, to a file of their own: of what the solver's particles have, position, velocity and
// id; the class as phase, and channels. Smoke has some of its own, zeros for others.
static void list_diffuse(ExportTable *table, const MoteDiffuse *diffuse, const uint32_t *classes, const float *zeros)
{
    table->particle_count = diffuse->count;
    table->attributes[EXPORT_POSITION] = (ExportAttribute){3, 4, false, diffuse->positions};
    table->attributes[EXPORT_VELOCITY] = (ExportAttribute){3, 4, false, diffuse->velocities};
    table->attributes[EXPORT_ID] = (ExportAttribute){1, 1, true, diffuse->ids};
    table->attributes[EXPORT_PHASE] = (ExportAttribute){1, 1, true, classes};
    table->attributes[EXPORT_DENSITY] = table->attributes[EXPORT_MASS] = (ExportAttribute){1, 1, false, zeros};
    const struct {
        const char *name;
        const float *values;
    } channels[] = {
        {"life", diffuse->positions + 3},    {"class", diffuse->velocities + 3}, {"age", diffuse->smoke},
        {"temperature", diffuse->smoke + 2}, {"amount", diffuse->smoke + 3},
    };
    const uint32_t count = sizeof channels / sizeof channels[0];
    table->attribute_count = EXPORT_CHANNEL + count;
    for (uint32_t c = 0; c < count; c++) {
        table->attributes[EXPORT_CHANNEL + c] = (ExportAttribute){1, 4, false, channels[c].values};
        snprintf(table->channel_names[c], EXPORT_NAME_SIZE, "%s", channels[c].name);
    }
}

static MoteResult write_diffuse(MoteWorld *world, double time, uint32_t format, const char *path)
{
    MoteDiffuseCounts counts;
    MoteResult result = mote_world_diffuse_counts(world, &counts);
    const size_t room = (size_t)counts.present + 1;
    ExportTable *table = calloc(1, sizeof *table);
    float *floats = malloc(12 * room * sizeof *floats), *zeros = calloc(room, sizeof *zeros);
    uint32_t *words = malloc(2 * room * sizeof *words);
    if (result == MOTE_OK && (table == NULL || floats == NULL || zeros == NULL || words == NULL)) {
        result = mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for %u passive particles", path, counts.present);
    }
    if (result == MOTE_OK) {
        MoteDiffuse diffuse = {
            .capacity = counts.present,
            .positions = floats,
            .velocities = floats + 4 * room,
            .smoke = floats + 8 * room,
            .ids = words,
        };
        result = mote_world_read_diffuse(world, &diffuse);
        for (uint32_t i = 0; i < diffuse.count; i++) {
            words[room + i] = (uint32_t)(diffuse.velocities[4 * (size_t)i + 3] + 0.5f);
        }
        table->time = time;
        list_diffuse(table, &diffuse, words + room, zeros);
        result = result == MOTE_OK ? write_file(table, format, path) : result;
    }
    free(table);
    free(floats);
    free(zeros);
    free(words);
    return result;
}

// The name of the particles' file with _foam behind it.
static MoteResult export_diffuse(MoteSimulation *simulation, uint32_t format, const char *path)
{
    const size_t size = strlen(path) + sizeof "_foam";
    char *name = malloc(size);
    if (name == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to write it", path);
    }
    snprintf(name, size, "%s_foam", path);
    const MoteResult result =
        write_diffuse(mote_simulation_world(simulation), mote_simulation_time(simulation), format, name);
    free(name);
    return result;
}

// Meshes alone, which OBJ is for.
static MoteResult export_obj(MoteSimulation *simulation, const char *path)
{
    MoteWorld *world = mote_simulation_world(simulation);
    return mote_world_cloth_count(world) > 0
               ? export_cloths(world, mote_simulation_time(simulation), true, path)
               : mote_fail(MOTE_ERROR_INPUT, "%s: found no cloth, expected some: obj has meshes, not particles", path);
}

MoteResult mote_simulation_export(MoteSimulation *simulation, const char *path, const char *format)
{
    const uint32_t found = find_format(format);
    if (strcmp(format, "obj") == 0) {
        return export_obj(simulation, path);
    }
    if (found == FORMAT_COUNT) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: unknown export format \"%s\", expected ply, vtk, bgeo or obj", path,
                         format);
    }
    ExportTable *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to write it", path);
    }
    table->time = mote_simulation_time(simulation);
    ExportMemory memory = {0};
    MoteResult result = read_table(mote_simulation_world(simulation), table, &memory);
    if (result != MOTE_OK) {
        mote_fail(result, "%s: not written: %s", path, mote_error_message());
    } else {
        result = write_file(table, found, path);
    }
    if (result == MOTE_OK && mote_world_diffuse_capacity(mote_simulation_world(simulation)) > 0) {
        result = export_diffuse(simulation, found, path);
    }
    if (result == MOTE_OK && formats[found].write == export_ply &&
        mote_world_cloth_count(mote_simulation_world(simulation)) > 0) {
        result = export_cloths(mote_simulation_world(simulation), table->time, false, path);
    }
    memory_free(&memory);
    free(table);
    return result;
}
