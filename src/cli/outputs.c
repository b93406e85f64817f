// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "cli/outputs.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/frames.h"
#include "cli/options.h"
#include "mote_cloth.h"
#include "mote_diffuse.h"
#include "scene/export.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- Standard output ----

int outputs_take_dash(const char *command, const OutputOption *options, uint32_t count, bool *on_stdout)
{
    const char *taken = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const char *path = *options[i].path;
        const bool dash = path != NULL && strcmp(path, "-") == 0;
        if (dash && !options[i].streams) {
            return usage_error(command, "--%s cannot be '-', standard output: give a name", options[i].name);
        }
        if (path == NULL || (!dash && file_descriptor_of(path) != STDOUT_FILENO)) {
            continue;
        }
        if (taken != NULL) {
            return usage_error(command, "--%s and --%s cannot both go to standard output", taken, options[i].name);
        }
        taken = options[i].name;
        *options[i].path = FILE_STANDARD_OUTPUT;
    }
    *on_stdout = taken != NULL;
    return STATUS_FINE;
}

// ---- Exports ----

MoteResult outputs_export_frame(MoteSimulation *simulation, const char *folder, uint32_t formats)
{
    static const char *const names[] = {"ply", "vtk", "bgeo", "obj"};
    char *path = frame_path(folder, mote_simulation_frame(simulation), "");
    if (path == NULL) {
        return MOTE_ERROR_MEMORY;
    }
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < sizeof names / sizeof names[0] && result == MOTE_OK; i++) {
        if ((formats >> i & 1u) != 0) {
            result = mote_simulation_export(simulation, path, names[i]);
        }
    }
    free(path);
    return result;
}

// The names and times of the exported frames that are there, up to the last one; names come from malloc.
static MoteResult list_frames(const char *folder, uint64_t last, uint32_t every, double frame_rate, char **names,
                              double *times, uint32_t *count)
{
    for (uint64_t frame = 0; frame <= last; frame += every) {
        char extension[16];
        snprintf(extension, sizeof extension, ".%s", export_extension("vtk"));
        char *path = frame_path(folder, frame, extension);
        if (path == NULL) {
            return MOTE_ERROR_MEMORY;
        }
        if (access(path, F_OK) == 0) {
            const size_t skipped = strlen(folder) + 1;
            memmove(path, path + skipped, strlen(path) - skipped + 1);
            names[*count] = path;
            times[*count] = (double)frame / frame_rate;
            *count += 1;
        } else {
            free(path);
        }
    }
    return MOTE_OK;
}

MoteResult outputs_write_collection(MoteSimulation *simulation, const char *folder, uint32_t every)
{
    const uint64_t last = mote_simulation_frame(simulation);
    const size_t limit = (size_t)(last / every + 1), path_size = strlen(folder) + 16;
    const double frame_rate = mote_world_settings(mote_simulation_world(simulation)).frame_rate;
    char **names = calloc(limit, sizeof *names);
    double *times = calloc(limit, sizeof *times);
    char *path = malloc(path_size);
    uint32_t count = 0;
    MoteResult result = MOTE_OK;
    if (names == NULL || times == NULL || path == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to list its frames", folder);
    }
    if (result == MOTE_OK) {
        result = list_frames(folder, last, every, frame_rate, names, times, &count);
    }
    if (result == MOTE_OK) {
        snprintf(path, path_size, "%s/frames.pvd", folder);
        result = export_write_collection(path, (const char *const *)names, times, count);
    }
    for (uint32_t i = 0; i < count; i++) {
        free(names[i]);
    }
    free(path);
    free(times);
    free(names);
    return result;
}

// ---- Statistics ----

MoteResult outputs_statistics_open(FileWriter *writer, const char *path)
{
    const MoteResult result = file_writer_open(writer, path);
    if (result == MOTE_OK) {
        fputs("frame,time,particles,density_error_mean,density_error_max,density_mean,mass,kinetic_energy,"
              "potential_energy,momentum_x,momentum_y,momentum_z,angular_momentum_x,angular_momentum_y,"
              "angular_momentum_z,centre_x,centre_y,centre_z,lowest_x,lowest_y,lowest_z,highest_x,highest_y,highest_z,"
              "neighbours_mean,removed,emitted,watched_energy,gained_energy,escaped,squeezed\n",
              writer->stream);
    }
    return result;
}

// `,value` for each of them, or `,` if they are not known.
static void put_values(FILE *stream, bool known, const double *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (known) {
            fprintf(stream, ",%.9g", values[i]);
        } else {
            fputc(',', stream);
        }
    }
}

MoteResult outputs_statistics_row(FileWriter *writer, MoteSimulation *simulation, bool stepped)
{
    FILE *stream = writer->stream;
    MoteStatistics s;
    const MoteResult result = mote_world_statistics(mote_simulation_world(simulation), &s);
    if (result != MOTE_OK) {
        return result;
    }
    const MoteWatch watch = mote_world_watch(mote_simulation_world(simulation));
    const double densities[] = {s.density_error_mean, s.density_error_max, s.density_mean};
    const double energies[] = {s.mass, s.kinetic_energy, s.potential_energy};
    const double watched[] = {watch.energy, watch.gained, watch.escaped, watch.squeezed};
    const bool some = s.particles > 0;
    fprintf(stream, "%" PRIu64 ",%.9g,%" PRIu32, mote_simulation_frame(simulation), mote_simulation_time(simulation),
            s.particles);
    put_values(stream, s.liquid_particles > 0, densities, 3);
    put_values(stream, true, energies, 3);
    put_values(stream, true, s.momentum, 3);
    put_values(stream, true, s.angular_momentum, 3);
    put_values(stream, s.mass > 0.0, s.centre_of_mass, 3);
    put_values(stream, some, s.bounds_min, 3);
    put_values(stream, some, s.bounds_max, 3);
    put_values(stream, s.measured, &s.neighbours_mean, 1);
    fprintf(stream, ",%" PRIu64 ",%" PRIu64, s.removed, mote_simulation_emitted(simulation));
    put_values(stream, stepped, watched, 4);
    fputc('\n', stream);
    return file_writer_check(writer); // a full disk ends the run now, not after hours
}

// ---- Summary ----

// JSON has no word for infinity or NaN.
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

// null where it was not measured.
static json_t *density_number(const MoteStatistics *s, double value)
{
    return s->liquid_particles > 0 ? number(value) : json_null();
}

// The texts of all warnings so far.
static json_t *list_warnings(const MoteSimulation *simulation)
{
    const MoteNotice *rows;
    const uint32_t count = mote_simulation_notices(simulation, &rows);
    json_t *list = json_array();
    for (uint32_t i = 0; i < count && list != NULL; i++) {
        if (rows[i].warning) {
            json_array_append_new(list, json_pack("{s:f, s:s}", "time", rows[i].time, "text", rows[i].text));
        }
    }
    return list;
}

// How many passive particles there are, and what became of the others: diffuse = diffuse_spawned - diffuse_dead.
static MoteResult add_diffuse(MoteWorld *world, json_t *summary)
{
    MoteDiffuseCounts counts;
    const MoteResult result = mote_world_diffuse_counts(world, &counts);
    json_object_set_new(summary, "diffuse", json_integer(counts.present));
    json_object_set_new(summary, "diffuse_spawned", json_integer(counts.spawned));
    json_object_set_new(summary, "diffuse_emitted",
                        json_integer(counts.spawned)); // the same: emitted ones are among them
    json_object_set_new(summary, "diffuse_dead", json_integer(counts.dead));
    json_object_set_new(summary, "diffuse_dropped", json_integer(counts.dropped));
    return result;
}

// How often vertices of cloth were split, and how often there was no room for it.
static MoteResult add_splits(MoteWorld *world, json_t *summary)
{
    uint64_t splits = 0, refused = 0;
    MoteResult result = MOTE_OK;
    for (uint32_t c = 0; c < mote_world_cloth_count(world) && result == MOTE_OK; c++) {
        MoteClothInfo info;
        result = mote_world_cloth_info(world, c, &info);
        splits += result == MOTE_OK ? info.splits : 0;
        refused += result == MOTE_OK ? info.splits_refused : 0;
    }
    json_object_set_new(summary, "splits", json_integer((json_int_t)splits));
    json_object_set_new(summary, "splits_refused", json_integer((json_int_t)refused));
    return result;
}

static MoteResult make_summary(MoteSimulation *simulation, const RunReport *report, json_t **out)
{
    MoteWorld *world = mote_simulation_world(simulation);
    MoteStatistics s;
    uint64_t hash;
    char hash_text[17];
    MoteResult result = mote_world_statistics(world, &s);
    if (result == MOTE_OK) {
        result = mote_world_state_hash(world, &hash);
    }
    if (result != MOTE_OK) {
        return result;
    }
    snprintf(hash_text, sizeof hash_text, "%016" PRIx64, hash);
    // "o" takes over each value's reference; "s" copies, and fails on text that is not UTF-8, as a path may be.
    json_t *path = json_string(report->scene_path);
    *out = json_pack("{s:o, s:s, s:b, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:[o, o, o], "
                     "s:s, s:o, s:I, s:I, s:o, s:o}",                                                 //
                     "scene", path != NULL ? path : json_string("(not UTF-8)"),                       //
                     "backend", mote_world_backend(world),                                            //
                     "interrupted", report->interrupted,                                              //
                     "first_frame", (json_int_t)report->first_frame,                                  //
                     "frames", (json_int_t)mote_simulation_frame(simulation),                         //
                     "steps", (json_int_t)s.steps,                                                    //
                     "seconds", number(report->seconds),                                              //
                     "simulated_seconds", number(mote_simulation_time(simulation)),                   //
                     "particles", (json_int_t)s.particles,                                            //
                     "emitted", (json_int_t)mote_simulation_emitted(simulation),                      //
                     "removed", (json_int_t)s.removed,                                                //
                     "escaped", (json_int_t)mote_simulation_escaped(simulation),                      //
                     "density_error_mean", density_number(&s, s.density_error_mean),                  //
                     "density_error_max", density_number(&s, s.density_error_max),                    //
                     "kinetic_energy", number(s.kinetic_energy),                                      //
                     "potential_energy", number(s.potential_energy),                                  //
                     "momentum", number(s.momentum[0]), number(s.momentum[1]), number(s.momentum[2]), //
                     "state_hash", hash_text,                                                         //
                     "warnings", list_warnings(simulation),                                           //
                     "memory_bytes", (json_int_t)s.memory_bytes,                                      //
                     "links", (json_int_t)s.links,                                                    //
                     "link_stretch_mean", s.links > 0 ? number(s.link_stretch_mean) : json_null(),    //
                     "link_stretch_max", s.links > 0 ? number(s.link_stretch_max) : json_null());
    result = add_diffuse(world, *out);
    return result == MOTE_OK ? add_splits(world, *out) : result;
}

MoteResult outputs_write_json(const char *path, json_t *object)
{
    if (object == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for what goes into it", path);
    }
    FileWriter writer;
    MoteResult result = file_writer_open(&writer, path);
    if (result == MOTE_OK) {
        json_dumpf(object, writer.stream, JSON_INDENT(2)); // commit notices what the stream could not take
        fputc('\n', writer.stream);
        result = file_writer_commit(&writer);
    }
    json_decref(object);
    return result;
}

MoteResult outputs_write_summary(const char *path, MoteSimulation *simulation, const RunReport *report)
{
    json_t *summary = NULL;
    const MoteResult result = make_summary(simulation, report, &summary);
    return result == MOTE_OK ? outputs_write_json(path, summary) : result;
}

MoteResult outputs_prepare_summary(const char *path)
{
    const MoteResult result = file_check_writable(path, false);
    if (result == MOTE_OK) {
        file_remove_output(path);
    }
    return result;
}
