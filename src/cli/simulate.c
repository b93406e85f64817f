// SPDX-License-Identifier: MIT
// simulate.c - `mote simulate`: runs a scene frame by frame and writes what was asked for.
#include "base/clock.h"
#include "base/error.h"
#include "base/progress.h"
#include "cli/command.h"
#include "cli/frames.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/running.h"
#include "cli/warnings.h"
#include "scene/scene.h"

#include <inttypes.h>
#include <stdlib.h>

static const Usage usage = {
    .command = "simulate",
    .arguments = "SCENE",
    .meaning = "Runs a scene file, or standard input where SCENE is -. Ctrl-C finishes the current frame, or drops one "
               "that takes "
               "long, writes the state and the summary that were asked for and ends with status 130; a second Ctrl-C "
               "ends at once.",
    .minimum_arguments = 1,
    .maximum_arguments = 1,
};

typedef struct Settings {
    OptionList scene, overrides;
    MoteBackendOptions backend;
    uint32_t device; // Vulkan
    bool device_given;
    uint32_t frames, formats, every;
    bool frames_given, formats_given, every_given, forces, quiet, strict;
    bool on_stdout; // something that was asked for goes there, and words do not
    const char *folder, *summary, *statistics, *save_state, *resume;
} Settings;

typedef struct Run {
    const Settings *settings;
    MoteScene *scene;
    MoteSimulation *simulation;
    uint32_t export_every;
    uint64_t first_frame, last_frame, saved_frame;
    bool saved; // and saved_frame is the frame it holds
    double start;
    FileWriter statistics;
    Progress progress;
    Warnings warnings;
} Run;

// ---- The command line ----

static OptionsOutcome parse(int argc, char **argv, Settings *s)
{
    *s = (Settings){.backend = {.backend = "auto"}, .formats = OUTPUT_PLY};
    const Option options[] = {
        {"frames", OPTION_NUMBER, &s->frames, "N", "Stop after frame N, instead of the scene's output.frames", NULL, 0,
         1000000000, &s->frames_given},
        {"backend", OPTION_CHOICE, &s->backend.backend, "NAME",
         "auto (the default: the best one that works here), cpu, cuda or vulkan", "auto|cpu|cuda|vulkan", 0, 0, NULL},
        {"threads", OPTION_NUMBER, &s->backend.threads, "N", "CPU threads; 0, the default, is one for each core", NULL,
         0, 1024, NULL},
        {"device", OPTION_NUMBER, &s->device, "N",
         "Vulkan: the number of the device in `mote info`, instead of the best one", NULL, 0, 1023, &s->device_given},
        {"portable", OPTION_FLAG, &s->backend.portable, NULL,
         "CPU: only the portable kernels, the source that the other backends compile; slower", NULL, 0, 0, NULL},
        {"set", OPTION_LIST, &s->overrides, "PATH=VALUE",
         "Override a value of the scene, as in --set solver.iterations=10; may be given many times", NULL, 0, 0, NULL},
        {"out", OPTION_TEXT, &s->folder, "DIR",
         "Export frames to DIR/frame_000000.ply and so on, each output.every frames of the scene or as --every says; "
         "wet "
         "maps to "
         "wet_N_000000.png",
         NULL, 0, 0, NULL},
        {"format", OPTION_SET, &s->formats, "LIST",
         "Of the exports, with commas: ply (the default) and vtk, which meshio reads, bgeo, the classic format by "
         "its description, which was not tried in Houdini, and obj: the meshes of cloth alone, to "
         "frame_000000_cloth.obj, which ply writes beside the particles, too",
         OUTPUT_FORMATS, 0, 0, &s->formats_given},
        {"forces", OPTION_FLAG, &s->forces, NULL,
         "Exports also have the force of each kind of constraint on each particle in the last step (N): force_density, "
         "force_colliders, ...; not at the first frame",
         NULL, 0, 0, NULL},
        {"summary", OPTION_TEXT, &s->summary, "FILE",
         "Write a JSON object about the run when it ends; - is standard output, here and for --statistics", NULL, 0, 0,
         NULL},
        {"statistics", OPTION_TEXT, &s->statistics, "FILE",
         "Write density, energy, momentum, ... of each frame as CSV; what is not known is empty", NULL, 0, 0, NULL},
        {"save-state", OPTION_TEXT, &s->save_state, "FILE",
         "Save the state when the run ends, to be resumed or drawn; a name with {frame} in it, as in "
         "states/{frame}.state, keeps one file a frame, the initial one included",
         NULL, 0, 0, NULL},
        {"every", OPTION_NUMBER, &s->every, "N",
         "With --save-state: save the state also after each N frames. Without it: export each N frames to --out, "
         "instead of the scene's output.every",
         NULL, 1, 1000000000, &s->every_given},
        {"resume", OPTION_TEXT, &s->resume, "FILE",
         "Continue from a saved state of the same scene; frames count on from it", NULL, 0, 0, NULL},
        {"strict", OPTION_FLAG, &s->strict, NULL, STRICT_HELP, NULL, 0, 0, NULL},
        {"quiet", OPTION_FLAG, &s->quiet, NULL, "Print nothing but errors", NULL, 0, 0, NULL},
    };
    const OptionsOutcome outcome =
        options_parse(&usage, options, sizeof options / sizeof options[0], argc, argv, &s->scene);
    s->backend.vulkan_device = s->device_given ? s->device + 1 : 0;
    return outcome;
}

// What one option cannot know of another. Returns STATUS_FINE or STATUS_USAGE.
static int check_settings(Settings *s)
{
    const OutputOption outputs[] = {{"out", &s->folder, false},
                                    {"save-state", &s->save_state, false},
                                    {"summary", &s->summary, true},
                                    {"statistics", &s->statistics, true}};
    const int status = outputs_take_dash(usage.command, outputs, sizeof outputs / sizeof outputs[0], &s->on_stdout);
    if (status != STATUS_FINE) {
        return status;
    }
    if (s->formats_given && s->folder == NULL) {
        return usage_error(usage.command, "--format needs --out DIR");
    }
    if (s->forces && s->folder == NULL) {
        return usage_error(usage.command, "--forces needs --out DIR");
    }
    if (s->every_given && s->save_state == NULL && s->folder == NULL) {
        return usage_error(usage.command,
                           "--every %u: expected also --out DIR, to export each %u frames (instead of "
                           "the scene's output.every), or --save-state FILE, to save each %u frames",
                           s->every, s->every, s->every);
    }
    if (s->save_state != NULL && is_wrong_frame_pattern(s->save_state)) {
        return usage_error(usage.command,
                           "--save-state: found '%s', expected " FRAME_PLACEHOLDER " once and in the file's name",
                           s->save_state);
    }
    return check_overrides(usage.command, &s->overrides);
}

// ---- Before the first frame ----

static MoteResult resume(Run *run)
{
    const Settings *s = run->settings;
    if (s->resume != NULL) {
        const MoteResult result = mote_simulation_load(run->simulation, s->resume);
        if (result != MOTE_OK) {
            return result;
        }
    }
    run->first_frame = mote_simulation_frame(run->simulation);
    run->last_frame = s->frames_given ? s->frames : mote_simulation_frame_target(run->simulation);
    if (run->first_frame > run->last_frame) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is at frame %" PRIu64 ", past the %" PRIu64 " frames asked for",
                         s->resume, run->first_frame, run->last_frame);
    }
    return MOTE_OK;
}

// Where the state of the current frame goes, from malloc; NULL after a failure.
static char *state_path(const Run *run)
{
    return frame_pattern_path(run->settings->save_state, mote_simulation_frame(run->simulation));
}

static MoteResult check_state_path(const Run *run)
{
    char *path = state_path(run);
    MoteResult result = path != NULL ? MOTE_OK : MOTE_ERROR_MEMORY;
    if (result == MOTE_OK && is_frame_pattern(run->settings->save_state)) {
        result = make_folder_of(path); // as --out makes one
    }
    if (result == MOTE_OK) {
        result = file_check_writable(path, false);
    }
    free(path);
    return result;
}

// Fails before hours of work rather than after them.
static MoteResult open_outputs(Run *run)
{
    const Settings *s = run->settings;
    MoteResult result = MOTE_OK;
    if (s->folder != NULL) {
        result = file_make_folder(s->folder);
    }
    if (result == MOTE_OK && s->summary != NULL) {
        result = outputs_prepare_summary(s->summary);
    }
    if (result == MOTE_OK && s->save_state != NULL) {
        result = check_state_path(run);
    }
    if (result == MOTE_OK && s->statistics != NULL) {
        result = outputs_statistics_open(&run->statistics, s->statistics);
    }
    return result;
}

static MoteResult prepare(Run *run)
{
    const Settings *s = run->settings;
    MoteResult result = mote_scene_load(s->scene.items[0], s->overrides.items, s->overrides.count, &run->scene);
    if (result == MOTE_OK) {
        const bool every_exports = s->every_given && s->save_state == NULL;
        run->export_every = every_exports ? s->every : SCENE_AT(&run->scene->values, output, 0)->every;
        result = create_or_leave(run->scene, &s->backend, &run->simulation);
    }
    if (result == MOTE_OK) {
        result = resume(run);
    }
    if (result == MOTE_OK) {
        run->warnings = (Warnings){.quiet = s->quiet, .strict = s->strict};
        result = warnings_report(&run->warnings, run->simulation, &run->progress);
    }
    return result == MOTE_OK ? open_outputs(run) : result;
}

// ---- The frames ----

static MoteResult save_state(Run *run)
{
    const uint64_t frame = mote_simulation_frame(run->simulation);
    if (run->saved && run->saved_frame == frame) {
        return MOTE_OK;
    }
    char *path = state_path(run);
    const MoteResult result = path != NULL ? mote_simulation_save(run->simulation, path) : MOTE_ERROR_MEMORY;
    free(path);
    run->saved = run->saved || result == MOTE_OK;
    run->saved_frame = result == MOTE_OK ? frame : run->saved_frame;
    return result;
}

// Writes what is due at the current frame; the initial state is one too.
static MoteResult write_frame(Run *run)
{
    const Settings *s = run->settings;
    const uint64_t frame = mote_simulation_frame(run->simulation);
    MoteResult result = MOTE_OK;
    if (s->folder != NULL && frame % run->export_every == 0) {
        result = outputs_export_frame(run->simulation, s->folder, s->formats);
        result = result == MOTE_OK ? mote_simulation_export_wet_maps(run->simulation, s->folder) : result;
    }
    if (result == MOTE_OK && s->statistics != NULL) {
        result = outputs_statistics_row(&run->statistics, run->simulation, frame > run->first_frame);
    }
    if (result == MOTE_OK && s->save_state != NULL && s->every_given && frame % s->every == 0 &&
        (frame > run->first_frame || is_frame_pattern(s->save_state))) {
        result = save_state(run);
    }
    return result;
}

static MoteResult run_frames(Run *run)
{
    char note[64];
    MoteResult result = write_frame(run);
    if (result == MOTE_OK && run->settings->forces) { // only now: no step has recorded the first frame's
        result = mote_world_record_forces(mote_simulation_world(run->simulation), true);
    }
    while (result == MOTE_OK && stop_signal() == 0 && mote_simulation_frame(run->simulation) < run->last_frame) {
        result = advance_or_stop(run->simulation);
        if (result == MOTE_OK) {
            result = write_frame(run);
        }
        if (result == MOTE_OK) {
            result = warnings_report(&run->warnings, run->simulation, &run->progress);
        }
        if (result == MOTE_OK) {
            snprintf(note, sizeof note, "%" PRIu32 " particles",
                     mote_world_particle_count(mote_simulation_world(run->simulation)));
            progress_update(&run->progress, mote_simulation_frame(run->simulation), note);
        }
    }
    return result == MOTE_ERROR_STOPPED ? MOTE_OK : result; // it is where the last whole frame was
}

// ---- After the last frame ----

// The frames that were finished keep their statistics and their place in the collection, even if the next failed.
static MoteResult close_outputs(Run *run)
{
    const Settings *s = run->settings;
    MoteResult result = MOTE_OK;
    if (run->statistics.stream != NULL) {
        result = file_writer_commit(&run->statistics);
    }
    if (s->folder != NULL && (s->formats & OUTPUT_VTK) != 0) {
        const MoteResult written = outputs_write_collection(run->simulation, s->folder, run->export_every);
        result = result == MOTE_OK ? written : result;
    }
    return result;
}

static MoteResult finish(Run *run)
{
    const Settings *s = run->settings;
    MoteResult result = s->save_state != NULL ? save_state(run) : MOTE_OK;
    if (result == MOTE_OK && s->summary != NULL) {
        const RunReport report = {
            .scene_path = s->scene.items[0],
            .first_frame = run->first_frame,
            .seconds = clock_seconds() - run->start,
            .interrupted = stop_signal() != 0,
        };
        result = outputs_write_summary(s->summary, run->simulation, &report);
    }
    return result;
}

static MoteResult print_results(Run *run)
{
    const Settings *s = run->settings;
    MoteStatistics statistics;
    const MoteResult result = mote_world_statistics(mote_simulation_world(run->simulation), &statistics);
    if (result != MOTE_OK) {
        return result;
    }
    const uint64_t frame = mote_simulation_frame(run->simulation);
    FILE *words = s->on_stdout ? stderr : stdout;
    fprintf(words,
            "%s at frame %" PRIu64 " of %" PRIu64 ": %" PRIu64 " frames in %.2f s on %s, %" PRIu32
            " particles, mean compression %.2f %%\n",
            stop_signal() != 0 ? "Interrupted" : "Done", frame, run->last_frame, frame - run->first_frame,
            clock_seconds() - run->start, mote_world_backend(mote_simulation_world(run->simulation)),
            statistics.particles, 100.0 * statistics.density_error_mean);
    const struct {
        const char *what, *path;
    } rows[] = {
        {"Frames", s->folder}, {"Statistics", s->statistics}, {"State", s->save_state}, {"Summary", s->summary}};
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].path != NULL) {
            fprintf(words, "%s: %s\n", rows[i].what, rows[i].path);
        }
    }
    return MOTE_OK;
}

// Runs what was prepared. Every failure is told here, once, where it happens.
static MoteResult run_and_report(Run *run)
{
    const Settings *s = run->settings;
    if (!s->quiet) {
        report_backend(run->simulation, &s->backend);
    }
    progress_begin(&run->progress, stderr, "frame", run->first_frame, run->last_frame, s->quiet);
    progress_watch(&run->progress, PROGRESS_INTERVAL);
    MoteResult result = run_frames(run);
    progress_end(&run->progress);
    if (result != MOTE_OK) {
        command_failed();
        if (run->saved) {
            fprintf(stderr, "mote: %s holds frame %" PRIu64 "\n", s->save_state, run->saved_frame);
        }
        close_outputs(run); // the first failure is the one that counts
        return result;
    }
    result = close_outputs(run);
    if (result == MOTE_OK) {
        result = finish(run);
    }
    if (result == MOTE_OK && !s->quiet) {
        result = print_results(run);
    }
    if (result != MOTE_OK) {
        command_failed();
    }
    return result;
}

static int simulate(const Settings *settings)
{
    Run run = {.settings = settings, .start = clock_seconds()};
    catch_stop_signals();
    if (settings->quiet) {
        quiet_drivers();
    }
    progress_begin(&run.progress, stderr, "making the scene", 0, 0, settings->quiet);
    progress_watch(&run.progress, PROGRESS_INTERVAL);
    stop_long_calls(true);
    MoteResult result = prepare(&run);
    stop_long_calls(false);
    progress_end(&run.progress);
    if (result == MOTE_OK) {
        result = run_and_report(&run);
    } else {
        command_failed();
    }
    file_writer_discard(&run.statistics); // if it was not committed
    mote_simulation_destroy(run.simulation);
    mote_scene_destroy(run.scene);
    return result == MOTE_OK ? status_of_run() : status_of_failure(result);
}

int command_simulate(int argc, char **argv)
{
    Settings settings;
    int status = STATUS_FINE;
    const OptionsOutcome outcome = parse(argc, argv, &settings);
    if (outcome == OPTIONS_WRONG) {
        status = STATUS_USAGE;
    } else if (outcome == OPTIONS_PARSED) {
        status = check_settings(&settings);
        if (status == STATUS_FINE) {
            status = simulate(&settings);
        }
    }
    option_list_free(&settings.scene);
    option_list_free(&settings.overrides);
    return status;
}
