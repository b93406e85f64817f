// SPDX-License-Identifier: MIT
// render.c - `mote render`: draws frames of a scene while it is simulated, or from saved states.
#include "base/clock.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/stop.h"
#include "cli/command.h"
#include "cli/drawing.h"
#include "cli/frame_plan.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/pictures.h"
#include "cli/running.h"
#include "cli/warnings.h"
#include "scene/scene.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const Usage usage = {
    .command = "render",
    .arguments = "SCENE",
    .meaning =
        "Draws frames of a scene without a window: as numbered PNG or OpenEXR files in a folder, as a film or as "
        "one picture. Frame 0 is the initial state. Ctrl-C drops the current frame, completes a film up to it "
        "and ends with status 130; a second Ctrl-C ends at once.",
    .minimum_arguments = 1,
    .maximum_arguments = 1,
};

typedef struct Settings {
    OptionList scene, overrides;
    MoteBackendOptions backend;
    DrawingOptions drawing;
    const char *frames, *out, *format, *still, *camera, *from, *summary;
    FrameRange range; // what `frames` says
    uint32_t samples, every;
    bool every_given, keep_present, quiet, strict;
    bool on_stdout; // something that was asked for goes there, and words do not
} Settings;

typedef struct Run {
    const Settings *settings;
    MoteScene *scene;
    MoteRenderer *renderer;
    MoteSimulation *simulation;
    StateList states; // of --from
    char *folder;     // where pictures go when nobody says
    PictureWriter pictures, still;

    FramePlan plan;
    bool prepared;                              // the first frame may be drawn
    double start, simulating, drawing, writing; // s
    Progress progress;
    Warnings warnings;
} Run;

// ---- The command line ----

static OptionsOutcome parse(int argc, char **argv, Settings *s)
{
    *s = (Settings){.backend = {.backend = "auto"}, .drawing = DRAWING_DEFAULTS, .samples = 1, .every = 1};
    DrawingOptions *d = &s->drawing;
    char known_views[DRAWING_VIEWS_SIZE], views[DRAWING_VIEWS_SIZE + 64];
    snprintf(views, sizeof views, "What is shown, the first unless said otherwise: %s", drawing_views(known_views));
    const Option options[] = {
        {"frames", OPTION_TEXT, &s->frames, "A:B",
         "Draw frames A to B, both included; also A:, :B or one frame A. Without it all of the scene's output.frames; "
         "for a single picture the last. Frames before A are simulated and not drawn",
         NULL, 0, 0, NULL},
        {"every", OPTION_NUMBER, &s->every, "N", "Draw the frames that N divides, instead of the scene's output.every",
         NULL, 1, 1000000000, &s->every_given},
        {"size", OPTION_TEXT, &d->size, "WxH", "Pixels of a picture (1280x720)", NULL, 0, 0, NULL},
        {"out", OPTION_TEXT, &s->out, "PATH",
         "A folder for frame_000000.png and so on (and wet_N_000000.png of wet maps), a film FILE.mp4 or FILE.webm, or "
         "one picture FILE.png or FILE.exr; "
         "without it the folder out/NAME of the scene's name",
         NULL, 0, 0, NULL},
        {"format", OPTION_CHOICE, &s->format, "NAME",
         "Of pictures: png (8 bit, the default), png16, or exr: linear colour, depth, normal, thickness and id",
         PICTURE_FORMATS, 0, 0, NULL},
        {"still", OPTION_TEXT, &s->still, "FILE",
         "Also write the picture in the middle to FILE.png or FILE.exr; - is PNG to standard output", NULL, 0, 0, NULL},
        {"samples", OPTION_NUMBER, &s->samples, "N",
         "Pictures averaged for each, with rays shifted within a pixel: smoother edges for N times the work (1)", NULL,
         1, 4096, NULL},
        {"view", OPTION_TEXT, &d->view, "NAME", views, NULL, 0, 0, NULL},
        {"camera", OPTION_TEXT, &s->camera, "NAME", "One of the scene's cameras, instead of its camera", NULL, 0, 0,
         NULL},
        {"from", OPTION_TEXT, &s->from, "STATES",
         "Draw states that mote simulate saved, and simulate nothing: a folder of files ending in a number and .state, "
         "a pattern like states/{frame}.state, or one file. SCENE must be the one they were saved from",
         NULL, 0, 0, NULL},
        {"continue", OPTION_FLAG, &s->keep_present, NULL, "Do not draw frames whose files are there", NULL, 0, 0, NULL},
        {"set", OPTION_LIST, &s->overrides, "PATH=VALUE",
         "Override a value of the scene, as in --set camera.roll=10; may be given many times", NULL, 0, 0, NULL},
        {"backend", OPTION_CHOICE, &s->backend.backend, "NAME",
         "That simulates: auto (the default: the best one that works here), cpu, cuda or vulkan",
         "auto|cpu|cuda|vulkan", 0, 0, NULL},
        {"threads", OPTION_NUMBER, &s->backend.threads, "N", "CPU threads; 0, the default, is one for each core", NULL,
         0, 1024, NULL},
        {"portable", OPTION_FLAG, &s->backend.portable, NULL, "CPU: only the portable kernels", NULL, 0, 0, NULL},
        {"device", OPTION_TEXT, &d->device, "N", "The Vulkan device that draws: auto or a number of `mote info`", NULL,
         0, 0, NULL},
        {"splat", OPTION_CHOICE, &d->splat, "NAME",
         "How particles become depth: auto (the default: by device), compute or quads", DRAWING_SPLATS, 0, 0, NULL},
        {"no-share", OPTION_FLAG, &d->no_share, NULL, "Copy the particles even where memory could be shared", NULL, 0,
         0, NULL},
        {"validate", OPTION_FLAG, &d->validate, NULL,
         "Turn Vulkan's validation layers on; any message of theirs makes the status 1", NULL, 0, 0, NULL},
        {"summary", OPTION_TEXT, &s->summary, "FILE",
         "Write a JSON object about the run when it ends; - is standard output", NULL, 0, 0, NULL},
        {"strict", OPTION_FLAG, &s->strict, NULL, STRICT_HELP, NULL, 0, 0, NULL},
        {"quiet", OPTION_FLAG, &s->quiet, NULL, "Print nothing but errors", NULL, 0, 0, NULL},
    };
    return options_parse(&usage, options, sizeof options / sizeof options[0], argc, argv, &s->scene);
}

static bool is_one_frame(const FrameRange *range)
{
    return range->has_first && range->has_last && range->first == range->last;
}

// What one option cannot know of another. Returns STATUS_FINE or STATUS_USAGE.
static int check_settings(Settings *s, PictureWriter *pictures, PictureWriter *still)
{
    if (s->frames != NULL && !frame_range_parse(s->frames, &s->range)) {
        return usage_error(usage.command, "--frames: found '%s', expected A:B with A not after B, A:, :B or A",
                           s->frames);
    }
    const bool still_on_stdout = s->still != NULL && strcmp(s->still, "-") == 0;
    const OutputOption outputs[] = {
        {"out", &s->out, false}, {"still", &s->still, true}, {"summary", &s->summary, true}};
    int status = outputs_take_dash(usage.command, outputs, sizeof outputs / sizeof outputs[0], &s->on_stdout);
    if (status != STATUS_FINE) {
        return status;
    }
    status = pictures_choose(pictures, usage.command, s->out != NULL ? s->out : "", s->format);
    if (status != STATUS_FINE) {
        return status;
    }
    if (pictures->target == PICTURE_IN_FILE && ((s->frames != NULL && !is_one_frame(&s->range)) || s->every_given)) {
        return usage_error(usage.command, "--out %s is one picture: give its frame by --frames N, or a folder", s->out);
    }
    if (pictures->target == PICTURES_IN_FILM && s->keep_present) {
        return usage_error(usage.command, "--continue cannot add to a film: draw to a folder, then make the film of "
                                          "its pictures");
    }
    if (still_on_stdout) {
        *still = (PictureWriter){.target = PICTURE_IN_FILE, .format = PICTURE_PNG, .path = s->still};
    } else if (s->still != NULL) {
        status = pictures_choose(still, usage.command, s->still, NULL);
        if (status == STATUS_FINE && still->target != PICTURE_IN_FILE) {
            status = usage_error(usage.command, "--still: found '%s', expected FILE.png or FILE.exr", s->still);
        }
        if (status != STATUS_FINE) {
            return status;
        }
    }
    if (s->from != NULL && is_wrong_frame_pattern(s->from)) {
        return usage_error(usage.command,
                           "--from: found '%s', expected " FRAME_PLACEHOLDER " once and in the files' name", s->from);
    }
    status = drawing_options_check(usage.command, &s->drawing);
    return status == STATUS_FINE ? check_overrides(usage.command, &s->overrides) : status;
}

// ---- Before the first frame ----

// The scene's name as the name of a folder.
static MoteResult choose_folder(Run *run)
{
    const char *name = run->scene->name;
    const size_t size = strlen(name) + 8;
    run->folder = malloc(size);
    if (run->folder == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the name of a folder");
    }
    snprintf(run->folder, size, "out/%s", name);
    for (char *c = run->folder + 4; *c != '\0'; c++) {
        const bool hidden = *c == '.' && c == run->folder + 4;
        *c = *c == '/' || (unsigned char)*c < ' ' || hidden ? '_' : *c;
    }
    run->pictures.path = run->folder;
    return MOTE_OK;
}

static MoteResult plan_frames(Run *run)
{
    const Settings *s = run->settings;
    const SceneOutput *output = SCENE_AT(&run->scene->values, output, 0);
    const bool one_file = run->pictures.target == PICTURE_IN_FILE;
    FramePlan *plan = &run->plan;
    plan->states = s->from != NULL ? &run->states : NULL;
    plan->present = s->keep_present ? &run->pictures : NULL;
    plan->last = s->range.has_last ? s->range.last
                 : s->from != NULL ? run->states.files[run->states.count - 1].frame
                                   : output->frames;
    plan->first = s->range.has_first ? s->range.first : one_file ? plan->last : 0;
    const bool named = one_file || s->from != NULL || is_one_frame(&s->range); // the scene's choice is not for these
    plan->every = s->every_given ? s->every : named ? 1 : output->every;
    frame_plan_count(plan);
    if (plan->wanted > 0 || s->keep_present) {
        return MOTE_OK;
    }
    return frame_plan_fail_empty(plan, s->from != NULL ? s->from : s->scene.items[0]);
}

static MoteResult draw(Run *run, uint32_t samples)
{
    const Settings *s = run->settings;
    const MotePicture picture = {
        .width = s->drawing.width,
        .height = s->drawing.height,
        .samples = samples,
        .view = s->drawing.view,
        .layers = run->pictures.format == PICTURE_EXR || run->still.format == PICTURE_EXR,
    };
    const double start = clock_seconds();
    MoteRenderScene look;
    MoteResult result = mote_simulation_render_scene(run->simulation, s->camera, &look);
    if (result == MOTE_OK) {
        stop_long_calls(true);
        result = mote_renderer_draw(run->renderer, mote_simulation_world(run->simulation), &look, &picture);
        stop_long_calls(false);
    }
    run->drawing += clock_seconds() - start;
    return result;
}

// Where edges are drawn with fewer samples a pixel than the scene wants.
static void say_samples(const Run *run)
{
    const MotePictureLook *look = SCENE_AT(&run->scene->values, picture, 0);
    const uint32_t samples = mote_renderer_multisampling(run->renderer, look->multisampling);
    if (samples < look->multisampling && run->settings->samples == 1 && !run->settings->quiet) {
        fprintf(stderr, "mote: picture.multisampling is %u, drawing with %u, the next number that %s has\n",
                look->multisampling, samples, mote_renderer_device(run->renderer)->name);
    }
}

// Draws a picture for nobody, so that a wrong camera, size or channel, or a device that cannot do it, shows before
// hours of simulation and before any file is made.
static MoteResult rehearse(Run *run)
{
    const StateList *states = &run->states;
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < states->count; i++) {
        if (frame_plan_wants(&run->plan, states->files[i].frame)) {
            result = state_file_load(&states->files[i], run->simulation);
            break;
        }
    }
    say_samples(run);
    return result == MOTE_OK ? draw(run, 1) : result;
}

static MoteResult prepare_outputs(Run *run)
{
    const Settings *s = run->settings;
    MoteResult result = s->summary != NULL ? outputs_prepare_summary(s->summary) : MOTE_OK;
    if (result == MOTE_OK && run->plan.wanted > 0) {
        result = rehearse(run);
    }
    if (result == MOTE_OK && run->plan.wanted > 0) {
        const MoteSettings *solver = SCENE_AT(&run->scene->values, solver, 0);
        result = pictures_open(&run->pictures, s->drawing.width, s->drawing.height,
                               (double)solver->frame_rate / (double)frame_plan_step(&run->plan));
        if (result == MOTE_OK && s->still != NULL) {
            result = pictures_open(&run->still, s->drawing.width, s->drawing.height, 0.0);
        }
    }
    return result;
}

static MoteResult prepare(Run *run)
{
    const Settings *s = run->settings;
    MoteResult result = mote_scene_load(s->scene.items[0], s->overrides.items, s->overrides.count, &run->scene);
    if (result == MOTE_OK && s->out == NULL) {
        result = choose_folder(run);
    }
    if (result == MOTE_OK) {
        result = pictures_check(&run->pictures);
    }
    if (result == MOTE_OK) { // before the world, which may live in its memory
        result = mote_renderer_create(&s->drawing.renderer, &run->renderer);
    }
    if (result == MOTE_OK) {
        const MoteBackendOptions backend = drawing_backend(&s->backend, run->renderer);
        result = create_or_leave(run->scene, &backend, &run->simulation);
    }
    if (result == MOTE_OK && s->from == NULL) {
        run->warnings = (Warnings){.quiet = s->quiet, .strict = s->strict};
        result = warnings_report(&run->warnings, run->simulation, &run->progress);
    }
    if (result == MOTE_OK) {
        result = drawing_meshes(run->simulation, run->renderer);
    }
    if (result == MOTE_OK && s->from != NULL) {
        result = state_list_find(s->from, run->simulation, &run->states);
    }
    if (result == MOTE_OK) {
        result = plan_frames(run);
    }
    return result == MOTE_OK ? prepare_outputs(run) : result;
}

// ---- The frames ----

static MoteResult draw_and_write(Run *run)
{
    const uint64_t frame = mote_simulation_frame(run->simulation);
    MoteResult result = draw(run, run->settings->samples);
    if (result != MOTE_OK) {
        return mote_fail(result, "frame %" PRIu64 ": %s", frame, mote_error_message());
    }
    const double start = clock_seconds();
    const char *view = run->settings->drawing.view;
    stop_long_calls(true); // the device may still be at the picture
    if (run->settings->still != NULL && run->pictures.written == run->plan.wanted / 2) {
        result = pictures_write(&run->still, run->renderer, frame, view);
    }
    result = result == MOTE_OK ? pictures_write(&run->pictures, run->renderer, frame, view) : result;
    stop_long_calls(false);
    if (result == MOTE_OK && run->pictures.target == PICTURES_IN_FOLDER) {
        result = mote_simulation_export_wet_maps(run->simulation, run->pictures.path);
    }
    run->writing += clock_seconds() - start;
    return result;
}

static void show_progress(Run *run, uint64_t done)
{
    char note[96];
    snprintf(note, sizeof note, "%" PRIu64 " of %" PRIu64 " drawn, %" PRIu32 " particles", run->pictures.written,
             run->plan.wanted, mote_world_particle_count(mote_simulation_world(run->simulation)));
    progress_update(&run->progress, done, note);
}

static MoteResult advance(Run *run)
{
    const double start = clock_seconds();
    const MoteResult result = advance_or_stop(run->simulation);
    run->simulating += clock_seconds() - start;
    return result == MOTE_OK ? warnings_report(&run->warnings, run->simulation, &run->progress) : result;
}

static MoteResult draw_simulated(Run *run)
{
    MoteResult result = MOTE_OK;
    for (uint64_t frame = 0; result == MOTE_OK && stop_signal() == 0; frame++) {
        if (frame_plan_wants(&run->plan, frame)) {
            result = draw_and_write(run);
        }
        if (result == MOTE_OK) {
            show_progress(run, frame);
        }
        if (frame == run->plan.last_wanted) {
            break;
        }
        result = result == MOTE_OK ? advance(run) : result;
    }
    return result;
}

static MoteResult draw_states(Run *run)
{
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < run->states.count && result == MOTE_OK && stop_signal() == 0; i++) {
        if (!frame_plan_wants(&run->plan, run->states.files[i].frame)) {
            continue;
        }
        const double start = clock_seconds();
        result = state_file_load(&run->states.files[i], run->simulation);
        run->simulating += clock_seconds() - start;
        result = result == MOTE_OK ? draw_and_write(run) : result;
        if (result == MOTE_OK) {
            show_progress(run, run->pictures.written);
        }
    }
    return result;
}

static MoteResult draw_frames(Run *run)
{
    if (run->plan.wanted == 0) {
        return MOTE_OK;
    }
    const bool stored = run->settings->from != NULL;
    progress_begin(&run->progress, stderr, "frame", 0, stored ? run->plan.wanted : run->plan.last_wanted,
                   run->settings->quiet);
    progress_watch(&run->progress, PROGRESS_INTERVAL);
    const MoteResult result = stored ? draw_states(run) : draw_simulated(run);
    progress_end(&run->progress);
    return result;
}

// ---- After the last frame ----

static MoteResult write_summary(const Run *run)
{
    const Settings *s = run->settings;
    const MoteInteropReport interop = mote_renderer_interop(run->renderer);
    json_t *scene = json_string(s->scene.items[0]), *path = json_string(run->pictures.path); // NULL if not UTF-8
    json_t *summary = json_pack(
        "{s:o, s:o, s:s, s:s, s:b, s:I, s:I, s:I, s:I, s:[i, i], s:i, s:s, s:f, s:f, s:f, s:f, s:s, s:I, s:I}", //
        "scene", scene != NULL ? scene : json_string("(not UTF-8)"),                                            //
        "out", path != NULL ? path : json_string("(not UTF-8)"),                                                //
        "backend", mote_world_backend(mote_simulation_world(run->simulation)),                                  //
        "device", mote_renderer_device(run->renderer)->name,                                                    //
        "interrupted", stop_signal() != 0,                                                                      //
        "drawn", (json_int_t)run->pictures.written,                                                             //
        "first_frame", (json_int_t)run->pictures.first,                                                         //
        "last_frame", (json_int_t)run->pictures.last,                                                           //
        "particles", (json_int_t)mote_world_particle_count(mote_simulation_world(run->simulation)),             //
        "size", (int)s->drawing.width, (int)s->drawing.height,                                                  //
        "samples", (int)s->samples,                                                                             //
        "view", s->drawing.view != NULL ? s->drawing.view : mote_render_view_name(0),                           //
        "seconds", clock_seconds() - run->start,                                                                //
        "seconds_simulating", run->simulating,                                                                  //
        "seconds_drawing", run->drawing,                                                                        //
        "seconds_writing", run->writing,                                                                        //
        "interop", interop.path != NULL ? interop.path : "",                                                    //
        "bytes_copied", (json_int_t)interop.bytes_copied,                                                       //
        "validation_messages", (json_int_t)mote_renderer_validation_messages(run->renderer));
    return outputs_write_json(s->summary, summary);
}

static void print_results(const Run *run)
{
    const PictureWriter *pictures = &run->pictures;
    const char *path = pictures->path;
    FILE *words = run->settings->on_stdout ? stderr : stdout;
    if (run->plan.wanted == 0) {
        fprintf(words, "Nothing to draw: every frame is in %s\n", path);
        return;
    }
    fprintf(words,
            "%s: %" PRIu64 " of %" PRIu64 " frames of %ux%u in %.2f s (%s %.2f, drawing %.2f, writing %.2f) on %s and "
            "%s\n",
            stop_signal() != 0 ? "Interrupted" : "Done", pictures->written, run->plan.wanted,
            run->settings->drawing.width, run->settings->drawing.height, clock_seconds() - run->start,
            run->settings->from != NULL ? "loading" : "simulating", run->simulating, run->drawing, run->writing,
            mote_world_backend(mote_simulation_world(run->simulation)), mote_renderer_device(run->renderer)->name);
    if (pictures->written > 0 && pictures->target == PICTURES_IN_FOLDER) {
        const char *extension = pictures->format == PICTURE_EXR ? "exr" : "png";
        fprintf(words, "Pictures: %s/frame_%06" PRIu64 ".%s", path, pictures->first, extension);
        if (pictures->written > 1) {
            fprintf(words, " to frame_%06" PRIu64 ".%s", pictures->last, extension);
        }
        fprintf(words, "\n");
    } else if (pictures->written > 0) {
        fprintf(words, "%s: %s\n", pictures->target == PICTURES_IN_FILM ? "Film" : "Picture", path);
    }
    if (run->still.written > 0) {
        fprintf(words, "Still: %s, frame %" PRIu64 "\n", run->still.path, run->still.first);
    }
}

// What was drawn before a failure stays: pictures are files of their own, a film is closed after its last one.
static void report_failure(Run *run)
{
    command_failed();
    const PictureWriter *pictures = &run->pictures;
    const bool film = pictures->film.process != 0 && pictures->written > 0;
    if (pictures_close(&run->pictures) == MOTE_OK && film) {
        fprintf(stderr, "mote: %s ends with frame %" PRIu64 "\n", pictures->path, pictures->last);
    }
}

static MoteResult close_and_report(Run *run)
{
    const Settings *s = run->settings;
    MoteResult result = pictures_close(&run->pictures);
    if (result == MOTE_OK && s->summary != NULL) {
        result = write_summary(run);
    }
    const uint32_t messages = mote_renderer_validation_messages(run->renderer);
    if (result == MOTE_OK && messages > 0) {
        result = mote_fail(MOTE_ERROR_UNAVAILABLE, "the validation layers had %u messages, see above", messages);
    }
    if (result != MOTE_OK) {
        command_failed();
    } else if (!s->quiet) {
        print_results(run);
    }
    return result;
}

static MoteResult run_and_report(Run *run)
{
    const Settings *s = run->settings;
    if (!s->quiet && s->from == NULL) {
        report_backend(run->simulation, &s->backend);
    }
    MoteResult result = draw_frames(run);
    result = result == MOTE_ERROR_STOPPED ? MOTE_OK : result; // the frame is dropped
    if (result != MOTE_OK) {
        report_failure(run);
        return result;
    }
    return close_and_report(run);
}

// A device that takes long for a picture is left alone with it: what was drawn before is completed.
static void close_without_device(void *context)
{
    Run *run = context;
    progress_end(&run->progress);
    if (run->prepared) {
        close_and_report(run);
    } else {
        stop_fail();
        command_failed();
        pictures_close(&run->pictures);
    }
    pictures_close(&run->still);
}

static int render(Run *run)
{
    run->start = clock_seconds();
    catch_stop_signals();
    stop_late_calls(close_without_device, run);
    if (run->settings->quiet) {
        quiet_drivers();
    }
    progress_begin(&run->progress, stderr, "making the scene", 0, 0, run->settings->quiet);
    progress_watch(&run->progress, PROGRESS_INTERVAL);
    stop_long_calls(true);
    MoteResult result = prepare(run);
    stop_long_calls(false);
    progress_end(&run->progress);
    run->prepared = result == MOTE_OK;
    if (run->prepared) {
        result = run_and_report(run);
    } else {
        command_failed();
    }
    pictures_close(&run->pictures); // without a picture, nothing stays of it
    pictures_close(&run->still);
    state_list_free(&run->states);
    mote_simulation_destroy(run->simulation);
    mote_renderer_destroy(run->renderer); // last, because the world may live in its memory
    mote_scene_destroy(run->scene);
    free(run->folder);
    if (result == MOTE_OK && mote_renderer_validation_messages(NULL) > 0) { // while the renderer was destroyed
        result = mote_fail(MOTE_ERROR_UNAVAILABLE, "the validation layers had messages at the end, see above");
        command_failed();
    }
    return result == MOTE_OK ? status_of_run() : status_of_failure(result);
}

int command_render(int argc, char **argv)
{
    Settings settings;
    Run run = {.settings = &settings};
    int status = STATUS_FINE;
    const OptionsOutcome outcome = parse(argc, argv, &settings);
    if (outcome == OPTIONS_WRONG) {
        status = STATUS_USAGE;
    } else if (outcome == OPTIONS_PARSED) {
        status = check_settings(&settings, &run.pictures, &run.still);
        if (status == STATUS_FINE) {
            status = render(&run);
        }
    }
    option_list_free(&settings.scene);
    option_list_free(&settings.overrides);
    return status;
}
