// SPDX-License-Identifier: MIT
// bench.c - `mote bench`: how long a step of a scene takes, stage by stage (as PBF Table 2), and how far that is
// from what the machine can do.
#include "base/error.h"
#include "cli/bench_render.h"
#include "cli/bench_steps.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/peaks.h"
#include "cli/running.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    StepsBench steps;
    OptionList scenes;
    bool in_turns, json, kernels, no_peaks;
    RenderBench render;
    bool render_wanted, render_detail; // --render, and an option that needs it
} Settings;

typedef struct Peaks {
    double gflops, gbytes_per_second; // 0 if they were not measured
} Peaks;

// ---- Reporting ----

static double nanoseconds_a_particle(double milliseconds, uint32_t particles)
{
    return particles > 0 ? 1e6 * milliseconds / particles : 0.0;
}

static void print_stages(const StepsResult *r, bool kernels)
{
    double total = 0.0;
    for (uint32_t s = 0; s < r->stage_count; s++) {
        total += r->stages[s].milliseconds;
    }
    for (uint32_t s = 0; s < r->stage_count; s++) {
        const Stage *stage = &r->stages[s];
        printf("    %-12s %8.3f ms %5.1f %% %7.1f ns a particle\n", stage->name, stage->milliseconds,
               100.0 * stage->milliseconds / total, nanoseconds_a_particle(stage->milliseconds, r->particles));
        for (uint32_t k = 0; k < r->kernel_count && kernels; k++) {
            const MoteTiming *kernel = &r->kernels[k];
            if (strcmp(kernel->stage, stage->name) == 0 && kernel->launches > 0) {
                printf("      %-20s %8.3f ms %7.1f ns a particle\n", kernel->name, kernel->milliseconds,
                       nanoseconds_a_particle(kernel->milliseconds, r->particles));
            }
        }
    }
}

static void print_steps(const Settings *settings, const StepsResult *r, const Peaks *peaks)
{
    const double rate = (double)r->particles * r->iterations / (1e-3 * r->all.mean);
    printf("%s\n  %s, %u particles, %u steps of %u iterations, %.1f neighbours", r->scene, r->backend, r->particles,
           r->steps, r->iterations, r->neighbours);
    if (r->copies > 1) {
        printf(", %u copies", r->copies);
    }
    printf("\n  ms a step: mean %.2f, median %.2f +- %.2f, min %.2f; %.1f M particle iterations a second; %.0f bytes a "
           "particle\n",
           r->all.mean, r->all.median, r->all.spread, r->all.minimum, 1e-6 * rate, r->bytes_per_particle);
    printf("  %.0f %% of the frames had the cores to themselves: mean %.2f, median %.2f\n", 100.0 * r->quiet_share,
           r->quiet.mean, r->quiet.median);
    if (r->waits > 0.0) {
        printf("  the host waited for the device %.2f times a step\n", r->waits);
    }
    print_stages(r, settings->kernels);
    printf("  loops over neighbours: %s%.1f GFLOP/s, %.1f GB/s through caches", r->at_most ? "at most " : "", r->gflops,
           r->gbytes);
    if (peaks->gflops > 0.0) {
        printf(" (this machine's peaks: %.0f GFLOP/s, %.0f GB/s from memory)", peaks->gflops, peaks->gbytes_per_second);
    }
    printf("\n");
}

static void print_comparison(const StepsResult *r, const StepsResult *first)
{
    printf("  a particle took %.3f +- %.3f times as long as one of %s in the same frame, in the median",
           r->beside_first.median, r->beside_first.spread, first->scene);
    if (r->quiet_beside_first.count > 0) {
        printf("; %.3f in the %u frames in which both had the cores to themselves", r->quiet_beside_first.median,
               r->quiet_beside_first.count);
    }
    printf("\n");
}

static json_t *times_as_json(const Times *times)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:I}", "mean", times->mean, "median", times->median, "min", times->minimum,
                     "spread", times->spread, "frames", (json_int_t)times->count);
}

static json_t *frame_times_as_json(const StepsResult *r)
{
    const double steps = r->steps_a_frame;
    return json_pack("{s:f, s:f, s:f}", "mean", steps * r->all.mean, "median", steps * r->all.median, "min",
                     steps * r->all.minimum);
}

static json_t *steps_as_json(const Settings *settings, const StepsResult *r)
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
    return json_pack(
        "{s:s, s:s, s:i, s:I, s:I, s:I, s:o, s:{s:f, s:f, s:f, s:f, s:f, s:f}, s:o, s:o, s:f, s:f, s:f, s:f, s:f, "
        "s:b, s:f, s:o}",
        "scene", r->scene, "backend", r->backend, "threads", bench_threads(&settings->steps), "particles",
        (json_int_t)r->particles, "steps", (json_int_t)r->steps, "copies", (json_int_t)r->copies, "ms_per_step",
        times_as_json(&r->all), "quiet", "share", r->quiet_share, "mean", r->quiet.mean, "median", r->quiet.median,
        "best_pace", r->pace.minimum, "mean_pace", r->pace.mean, "limit", r->quiet_limit, "stages", stages, "kernels",
        kernels, "bytes_per_particle", r->bytes_per_particle, "neighbours", r->neighbours, "density_error_mean",
        r->density_error, "gflops", r->gflops, "gbytes_per_second", r->gbytes, "rates_at_most", r->at_most,
        "host_waits_per_step", r->waits, "ms_per_frame", frame_times_as_json(r));
}

// `first` is what it was measured beside, or itself.
static void print_scene(const Settings *settings, const StepsResult *r, const StepsResult *first,
                        const RenderResult *pictures, const Peaks *peaks)
{
    print_steps(settings, r, peaks);
    if (r != first) {
        print_comparison(r, first);
    }
    if (settings->render_wanted) {
        render_bench_print(&settings->render, pictures);
    }
}

static json_t *scene_as_json(const Settings *settings, const StepsResult *r, const StepsResult *first,
                             const RenderResult *pictures)
{
    json_t *object = steps_as_json(settings, r);
    if (r != first) {
        json_object_set_new(object, "beside_first", times_as_json(&r->beside_first));
        json_object_set_new(object, "quiet_beside_first", times_as_json(&r->quiet_beside_first));
    }
    if (settings->render_wanted) {
        json_object_set_new(object, "render", render_bench_json(&settings->render, pictures));
    }
    return object;
}

// ---- Measuring ----

// One scene, or several in turns: prints what was found, or adds it to `rows` if JSON is wanted.
static MoteResult measure(const Settings *settings, const char *const *paths, uint32_t count, const Peaks *peaks,
                          json_t *rows)
{
    BenchScene *const scenes = calloc(count, sizeof *scenes);
    StepsResult *const results = calloc(count, sizeof *results);
    MoteResult result = scenes != NULL && results != NULL
                            ? bench_scenes_run(&settings->steps, paths, count, scenes, results)
                            : mote_fail(MOTE_ERROR_MEMORY, "no memory for the results of %u scenes", count);
    for (uint32_t s = 0; s < count && result == MOTE_OK; s++) {
        RenderResult pictures = {0};
        if (settings->render_wanted) {
            result = render_bench_measure(&settings->render, scenes[s].copies[0], &pictures);
        }
        if (result == MOTE_OK && settings->json) {
            json_array_append_new(rows, scene_as_json(settings, &results[s], &results[0], &pictures));
        } else if (result == MOTE_OK) {
            print_scene(settings, &results[s], &results[0], &pictures, peaks);
        }
    }
    if (scenes != NULL) {
        bench_scenes_destroy(scenes, count);
    }
    free(scenes);
    free(results);
    return result;
}

// ---- The command ----

static OptionsOutcome parse(int argc, char **argv, Settings *s)
{
    *s = (Settings){.steps = {.backend = {.backend = "auto"}, .steps = 120, .warm_up = 3},
                    .render = {.drawing = DRAWING_DEFAULTS, .samples = 1, .at_frame = 60, .draws = 5}};
    StepsBench *b = &s->steps;
    RenderBench *r = &s->render;
    bool *detail = &s->render_detail;
    const Option options[] = {
        {"backend", OPTION_CHOICE, &b->backend.backend, "NAME", "auto (the default), cpu, cuda or vulkan",
         "auto|cpu|cuda|vulkan", 0, 0, NULL},
        {"threads", OPTION_NUMBER, &b->backend.threads, "N", "CPU threads; 0, the default, is one for each core", NULL,
         0, 1024, NULL},
        {"portable", OPTION_FLAG, &b->backend.portable, NULL, "CPU: only the portable kernels", NULL, 0, 0, NULL},
        {"steps", OPTION_NUMBER, &b->steps, "N", "Steps to time, rounded up to whole frames (120)", NULL, 1, 1000000,
         NULL},
        {"warm-up", OPTION_NUMBER, &b->warm_up, "N", "Frames of the warm-up run (3)", NULL, 0, 1000, NULL},
        {"set", OPTION_LIST, &b->overrides, "PATH=VALUE", "Overrides a key of the scenes", NULL, 0, 0, NULL},
        {"in-turns", OPTION_FLAG, &s->in_turns, NULL,
         "All scenes at once, a frame of each in turn, smaller ones in copies: compares what a particle costs", NULL, 0,
         0, NULL},
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
    const int threads = bench_threads(&settings->steps);
    report_threads(&settings->steps.backend);
    const Peaks peaks =
        settings->no_peaks ? (Peaks){0} : (Peaks){peak_gflops(threads), peak_gbytes_per_second(threads)};
    const uint32_t together = settings->in_turns ? count : 1;
    int status = STATUS_FINE;
    json_t *rows = json_array();
    for (uint32_t i = 0; i < count && status == STATUS_FINE; i += together) {
        status = measure(settings, scenes + i, together, &peaks, rows) == MOTE_OK ? STATUS_FINE : command_failed();
    }
    if (settings->json && status == STATUS_FINE) {
        json_t *root = json_pack("{s:s, s:O, s:{s:f, s:f}}", "version", mote_version(), "scenes", rows, "peaks",
                                 "gflops", peaks.gflops, "gbytes_per_second", peaks.gbytes_per_second);
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
        settings->steps.backend.vulkan_device = device == MOTE_DEVICE_AUTO ? 0 : device + 1;
        return run(settings);
    }
    if (mote_renderer_create(&render->drawing.renderer, &render->renderer) != MOTE_OK) {
        return command_failed();
    }
    settings->steps.backend = drawing_backend(&settings->steps.backend, render->renderer);
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
    option_list_free(&settings.steps.overrides);
    return status;
}
