// bench.c - `mote bench`: how long a step of a scene takes, stage by stage (as PBF Table 2), and how far that is
// from what the machine can do.
#include "base/clock.h"
#include "base/error.h"
#include "cli/bench_render.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/pace.h"
#include "cli/peaks.h"
#include "cli/times.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMING_LIMIT = 128, STAGE_LIMIT = 16 };

static const Usage usage = {
    .command = "bench",
    .arguments = "[SCENE...]",
    .meaning = "Times the steps of scenes from their first one on, after a short warm-up run of each. Without a scene: "
               "scenes/bench/dam_break_peer.json and scenes/dam_break.json. With --render, also times pictures of "
               "the splash that each becomes.",
    .minimum_arguments = 0,
    .maximum_arguments = UINT32_MAX,
};

typedef struct Settings {
    MoteBackendOptions backend;
    OptionList scenes, overrides;
    uint32_t steps, warm_up;
    bool json, kernels, no_peaks;
    RenderBench render;
    bool render_wanted, render_detail; // --render, and an option that needs it
} Settings;

typedef struct Stage {
    const char *name;
    double milliseconds; // a step
} Stage;

typedef struct Result {
    char scene[512];
    char backend[32];
    uint32_t particles, steps;
    Times all, quiet;   // ms a step; in frames that had the cores to themselves
    double quiet_share; // of the frames
    Times pace;         // ms of the loop that tells them
    double neighbours, bytes_per_particle, density_error;
    double waits; // of the host for the device, a step
    uint32_t iterations;
    Stage stages[STAGE_LIMIT];
    uint32_t stage_count;
    MoteTiming kernels[TIMING_LIMIT]; // milliseconds a step
    uint32_t kernel_count;
    double gflops, gbytes; // a second, of the loops over neighbours
    RenderResult render;
} Result;

// What the loops over neighbours do, counted from the source, for a neighbour: arithmetic operations, and bytes asked
// of memory or cache (a 4-byte index and 16 bytes for each vec4 of the neighbour). Where a kernel has branches by
// setting, the cheaper one is counted.
static const struct {
    const char *kernel;
    double operations, bytes;
} neighbour_costs[] = {
    {"density_lambda", 13, 20},
    {"density_delta", 24, 20},
    {"smooth_velocity", 23, 36},
    {"confine_vorticity", 26, 28},
};

static int thread_count(const Settings *settings)
{
    return settings->backend.threads > 0 ? (int)settings->backend.threads : omp_get_num_procs();
}

// ---- Measuring ----

// What is noted of each frame.
typedef struct FrameNotes {
    PaceMaker *pace_maker;
    double *step_times; // ms, the mean of the frame's steps
    double *paces;      // of the machine, before the first frame and after each
} FrameNotes;

static MoteResult frame_notes_create(uint32_t frames, int threads, FrameNotes *out)
{
    out->pace_maker = pace_maker_create(threads);
    out->step_times = calloc(frames, sizeof *out->step_times);
    out->paces = calloc((size_t)frames + 1, sizeof *out->paces);
    const bool made = out->pace_maker != NULL && out->step_times != NULL && out->paces != NULL;
    return made ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory for the times of %u frames", frames);
}

static void frame_notes_destroy(FrameNotes *notes)
{
    pace_maker_destroy(notes->pace_maker);
    free(notes->step_times);
    free(notes->paces);
}

// `notes` may be NULL.
static MoteResult run_frames(MoteSimulation *simulation, uint32_t frames, uint32_t substeps, const FrameNotes *notes)
{
    if (notes != NULL) {
        notes->paces[0] = pace_now(notes->pace_maker);
    }
    for (uint32_t f = 0; f < frames; f++) {
        const double start = clock_seconds();
        const MoteResult result = mote_simulation_advance_frame(simulation);
        if (result != MOTE_OK) {
            return result;
        }
        if (notes != NULL) {
            notes->step_times[f] = 1e3 * (clock_seconds() - start) / substeps;
            notes->paces[f + 1] = pace_now(notes->pace_maker);
        }
    }
    return MOTE_OK;
}

static void summarise_times(const FrameNotes *notes, uint32_t frames, Result *out)
{
    const uint32_t quiet = pace_keep_quiet(notes->step_times, notes->paces, frames);
    out->quiet_share = (double)quiet / frames;
    out->quiet = times_of(notes->step_times, quiet);
    out->all = times_of(notes->step_times, frames);
    out->pace = times_of(notes->paces, frames + 1);
}

static void summarise_stages(MoteWorld *world, Result *out)
{
    out->kernel_count = mote_world_timings(world, out->kernels, TIMING_LIMIT);
    double busy = 0.0, operations = 0.0, bytes = 0.0;
    for (uint32_t k = 0; k < out->kernel_count; k++) {
        MoteTiming *kernel = &out->kernels[k];
        for (size_t c = 0; c < sizeof neighbour_costs / sizeof neighbour_costs[0]; c++) {
            if (strcmp(neighbour_costs[c].kernel, kernel->name) == 0) {
                const double pairs = (double)kernel->invocations * out->neighbours;
                operations += pairs * neighbour_costs[c].operations;
                bytes += pairs * neighbour_costs[c].bytes;
                busy += kernel->milliseconds;
            }
        }
        kernel->milliseconds /= out->steps;
        if (strcmp(kernel->stage, "statistics") == 0) {
            continue; // not part of a step
        }
        uint32_t s = 0;
        while (s < out->stage_count && strcmp(out->stages[s].name, kernel->stage) != 0) {
            s++;
        }
        if (s == out->stage_count && s < STAGE_LIMIT && kernel->milliseconds > 0.0) {
            out->stages[out->stage_count++] = (Stage){kernel->stage, 0.0};
        }
        if (s < out->stage_count) {
            out->stages[s].milliseconds += kernel->milliseconds;
        }
    }
    if (busy > 0.0) {
        out->gflops = 1e-6 * operations / busy;
        out->gbytes = 1e-6 * bytes / busy;
    }
}

static MoteResult measure(const Settings *settings, const char *path, Result *out)
{
    *out = (Result){0};
    snprintf(out->scene, sizeof out->scene, "%s", path);
    MoteScene *scene = NULL;
    MoteSimulation *simulation = NULL;
    FrameNotes notes = {0};
    MoteResult result = mote_scene_load(path, settings->overrides.items, settings->overrides.count, &scene);
    if (result == MOTE_OK) {
        // A run of its own, so that the measured one begins with the scene's first step.
        result = mote_simulation_create(scene, &settings->backend, &simulation);
        result = result == MOTE_OK ? run_frames(simulation, settings->warm_up, 1, NULL) : result;
        mote_simulation_destroy(simulation);
        simulation = NULL;
    }
    result = result == MOTE_OK ? mote_simulation_create(scene, &settings->backend, &simulation) : result;
    if (result == MOTE_OK) {
        MoteWorld *world = mote_simulation_world(simulation);
        const MoteSettings solver = mote_world_settings(world);
        const uint32_t frames = (settings->steps + solver.substeps - 1) / solver.substeps;
        result = frame_notes_create(frames, thread_count(settings), &notes);
        if (result == MOTE_OK) {
            mote_world_reset_timings(world);
            const uint64_t waits = mote_world_host_waits(world);
            result = run_frames(simulation, frames, solver.substeps, &notes);
            out->waits = (double)(mote_world_host_waits(world) - waits) / (frames * solver.substeps);
        }
        MoteStatistics statistics;
        out->steps = frames * solver.substeps;
        out->iterations = solver.iterations;
        snprintf(out->backend, sizeof out->backend, "%s", mote_world_backend(world));
        result = result == MOTE_OK ? mote_world_statistics(world, &statistics) : result;
        if (result == MOTE_OK) {
            out->particles = statistics.particles;
            out->neighbours = statistics.neighbours_mean;
            out->density_error = statistics.density_error_mean;
            out->bytes_per_particle =
                statistics.particles > 0 ? (double)statistics.memory_bytes / statistics.particles : 0.0;
            summarise_times(&notes, frames, out);
            summarise_stages(world, out);
        }
        if (result == MOTE_OK && settings->render_wanted) {
            result = render_bench_measure(&settings->render, simulation, &out->render);
        }
    }
    frame_notes_destroy(&notes);
    mote_simulation_destroy(simulation);
    mote_scene_destroy(scene);
    return result;
}

// ---- Reporting ----

static void print_result(const Settings *settings, const Result *r, double peak_flops, double peak_bytes)
{
    const double rate = (double)r->particles * r->iterations / (1e-3 * r->all.mean);
    printf("%s\n  %s, %u particles, %u steps of %u iterations, %.1f neighbours\n", r->scene, r->backend, r->particles,
           r->steps, r->iterations, r->neighbours);
    printf("  ms a step: mean %.2f, median %.2f +- %.2f, min %.2f; %.1f M particle iterations a second; %.0f bytes a "
           "particle\n",
           r->all.mean, r->all.median, r->all.spread, r->all.minimum, 1e-6 * rate, r->bytes_per_particle);
    printf("  %.0f %% of the frames had the cores to themselves: mean %.2f, median %.2f\n", 100.0 * r->quiet_share,
           r->quiet.mean, r->quiet.median);
    if (r->waits > 0.0) {
        printf("  the host waited for the device %.2f times a step\n", r->waits);
    }
    double total = 0.0;
    for (uint32_t s = 0; s < r->stage_count; s++) {
        total += r->stages[s].milliseconds;
    }
    for (uint32_t s = 0; s < r->stage_count; s++) {
        printf("    %-12s %8.3f ms %5.1f %%\n", r->stages[s].name, r->stages[s].milliseconds,
               100.0 * r->stages[s].milliseconds / total);
        for (uint32_t k = 0; k < r->kernel_count && settings->kernels; k++) {
            if (strcmp(r->kernels[k].stage, r->stages[s].name) == 0 && r->kernels[k].launches > 0) {
                printf("      %-20s %8.3f ms\n", r->kernels[k].name, r->kernels[k].milliseconds);
            }
        }
    }
    printf("  loops over neighbours: %.1f GFLOP/s, %.1f GB/s through caches", r->gflops, r->gbytes);
    if (peak_flops > 0.0) {
        printf(" (this machine's peaks: %.0f GFLOP/s, %.0f GB/s from memory)", peak_flops, peak_bytes);
    }
    printf("\n");
    if (settings->render_wanted) {
        render_bench_print(&settings->render, &r->render);
    }
}

static json_t *result_as_json(const Settings *settings, const Result *r)
{
    json_t *stages = json_object();
    for (uint32_t s = 0; s < r->stage_count; s++) {
        json_object_set_new(stages, r->stages[s].name, json_real(r->stages[s].milliseconds));
    }
    json_t *kernels = json_object();
    for (uint32_t k = 0; k < r->kernel_count; k++) {
        if (r->kernels[k].launches > 0) {
            json_object_set_new(kernels, r->kernels[k].name, json_real(r->kernels[k].milliseconds));
        }
    }
    json_t *object =
        json_pack("{s:s, s:s, s:i, s:I, s:I, s:{s:f, s:f, s:f, s:f}, s:{s:f, s:f, s:f, s:f, s:f}, s:o, s:o, s:f, s:f, "
                  "s:f, s:f, s:f, s:f}",
                  "scene", r->scene, "backend", r->backend, "threads", thread_count(settings), "particles",
                  (json_int_t)r->particles, "steps", (json_int_t)r->steps, "ms_per_step", "mean", r->all.mean, "median",
                  r->all.median, "min", r->all.minimum, "spread", r->all.spread, "quiet", "share", r->quiet_share,
                  "mean", r->quiet.mean, "median", r->quiet.median, "best_pace", r->pace.minimum, "mean_pace",
                  r->pace.mean, "stages", stages, "kernels", kernels, "bytes_per_particle", r->bytes_per_particle,
                  "neighbours", r->neighbours, "density_error_mean", r->density_error, "gflops", r->gflops,
                  "gbytes_per_second", r->gbytes, "host_waits_per_step", r->waits);
    if (settings->render_wanted) {
        json_object_set_new(object, "render", render_bench_json(&settings->render, &r->render));
    }
    return object;
}

// ---- The command ----

static OptionsOutcome parse(int argc, char **argv, Settings *s)
{
    *s = (Settings){.backend = {.backend = "auto"},
                    .steps = 120,
                    .warm_up = 3,
                    .render = {.drawing = DRAWING_DEFAULTS, .samples = 1, .at_frame = 60, .draws = 5}};
    RenderBench *r = &s->render;
    bool *detail = &s->render_detail;
    const Option options[] = {
        {"backend", OPTION_CHOICE, &s->backend.backend, "NAME", "auto (the default), cpu, cuda or vulkan",
         "auto|cpu|cuda|vulkan", 0, 0, NULL},
        {"threads", OPTION_NUMBER, &s->backend.threads, "N", "CPU threads; 0, the default, is one for each core", NULL,
         0, 1024, NULL},
        {"portable", OPTION_FLAG, &s->backend.portable, NULL, "CPU: only the portable kernels", NULL, 0, 0, NULL},
        {"steps", OPTION_NUMBER, &s->steps, "N", "Steps to time, rounded up to whole frames (120)", NULL, 1, 1000000,
         NULL},
        {"warm-up", OPTION_NUMBER, &s->warm_up, "N", "Frames of the warm-up run (3)", NULL, 0, 1000, NULL},
        {"set", OPTION_LIST, &s->overrides, "PATH=VALUE", "Overrides a key of the scenes", NULL, 0, 0, NULL},
        {"json", OPTION_FLAG, &s->json, NULL, "Print one JSON object instead of a table", NULL, 0, 0, NULL},
        {"kernels", OPTION_FLAG, &s->kernels, NULL, "Also print the time of each kernel", NULL, 0, 0, NULL},
        {"no-peaks", OPTION_FLAG, &s->no_peaks, NULL, "Do not measure what the machine can do", NULL, 0, 0, NULL},
        {"render", OPTION_FLAG, &s->render_wanted, NULL, "Then also time pictures, pass by pass", NULL, 0, 0, NULL},
        {"at-frame", OPTION_NUMBER, &r->at_frame, "N",
         "With --render: simulate on to frame N, if the timed steps end before it, and draw that (60)", NULL, 0,
         1000000000, detail},
        {"draws", OPTION_NUMBER, &r->draws, "N", "With --render: pictures to time, after two that warm up (5)", NULL, 1,
         10000, detail},
        {"size", OPTION_TEXT, &r->drawing.size, "WxH", "With --render: pixels of a picture (1280x720)", NULL, 0, 0,
         detail},
        {"samples", OPTION_NUMBER, &r->samples, "N", "With --render: samples of a picture (1)", NULL, 1, 4096, detail},
        {"view", OPTION_TEXT, &r->drawing.view, "NAME", "With --render: as of mote render (liquid)", NULL, 0, 0,
         detail},
        {"device", OPTION_TEXT, &r->drawing.device, "N",
         "The Vulkan device of --backend vulkan, and with --render of the pictures: auto (the default) or a number of "
         "`mote info`",
         NULL, 0, 0, NULL},
        {"splat", OPTION_CHOICE, &r->drawing.splat, "NAME", "With --render: auto (the default), compute or quads",
         DRAWING_SPLATS, 0, 0, detail},
        {"no-share", OPTION_FLAG, &r->drawing.no_share, NULL,
         "With --render: copy the particles even where memory could be shared", NULL, 0, 0, detail},
    };
    return options_parse(&usage, options, sizeof options / sizeof options[0], argc, argv, &s->scenes);
}

static int run(Settings *settings)
{
    static const char *standard_scenes[] = {"scenes/bench/dam_break_peer.json", "scenes/dam_break.json"};
    const char *const *scenes = settings->scenes.count > 0 ? settings->scenes.items : standard_scenes;
    const uint32_t count = settings->scenes.count > 0 ? settings->scenes.count : 2;
    const double flops = settings->no_peaks ? 0.0 : peak_gflops(thread_count(settings));
    const double bytes = settings->no_peaks ? 0.0 : peak_gbytes_per_second(thread_count(settings));
    int status = STATUS_FINE;
    json_t *rows = json_array();
    for (uint32_t i = 0; i < count && status == STATUS_FINE; i++) {
        Result result;
        if (measure(settings, scenes[i], &result) != MOTE_OK) {
            status = command_failed();
        } else if (settings->json) {
            json_array_append_new(rows, result_as_json(settings, &result));
        } else {
            print_result(settings, &result, flops, bytes);
        }
    }
    if (settings->json && status == STATUS_FINE) {
        json_t *root = json_pack("{s:s, s:O, s:{s:f, s:f}}", "version", mote_version(), "scenes", rows, "peaks",
                                 "gflops", flops, "gbytes_per_second", bytes);
        json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        printf("\n");
        json_decref(root);
    }
    json_decref(rows);
    return status;
}

// With a renderer, where pictures are wanted: all worlds are made for it.
static int run_with_renderer(Settings *settings)
{
    RenderBench *render = &settings->render;
    if (!settings->render_wanted && settings->render_detail) {
        return usage_error(usage.command, "the options of pictures need --render");
    }
    int status = drawing_options_check(usage.command, &render->drawing);
    if (status != STATUS_FINE) {
        return status;
    }
    if (!settings->render_wanted) {
        const uint32_t device = render->drawing.renderer.device;
        settings->backend.vulkan_device = device == MOTE_DEVICE_AUTO ? 0 : device + 1;
        return run(settings);
    }
    if (mote_renderer_create(&render->drawing.renderer, &render->renderer) != MOTE_OK) {
        return command_failed();
    }
    settings->backend = drawing_backend(&settings->backend, render->renderer);
    status = run(settings);
    mote_renderer_destroy(render->renderer);
    return status;
}

int command_bench(int argc, char **argv)
{
    Settings settings;
    const OptionsOutcome outcome = parse(argc, argv, &settings);
    int status = outcome == OPTIONS_WRONG ? STATUS_USAGE : STATUS_FINE;
    if (outcome == OPTIONS_PARSED) {
        status = run_with_renderer(&settings);
    }
    option_list_free(&settings.scenes);
    option_list_free(&settings.overrides);
    return status;
}
