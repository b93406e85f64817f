// SPDX-License-Identifier: MIT
#include "cli/bench_steps.h"

#include "base/clock.h"
#include "base/error.h"
#include "cli/pace.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_LIMIT = 64 };

// What the loops over neighbours do, counted from the source, for a neighbour: arithmetic operations, and bytes asked
// of memory or cache (a 4-byte index and 16 bytes for each vec4 of the neighbour). Where a kernel has branches by
// setting, the cheaper one is counted. What backends leave out is counted, too: see leaves_work_out.
static const struct {
    const char *kernel;
    double operations, bytes;
} neighbour_costs[] = {
    {"density_lambda", 13, 20},
    {"density_delta", 24, 20},
    {"smooth_velocity", 23, 36},
    {"confine_vorticity", 26, 28},
};

int bench_threads(const StepsBench *bench)
{
    return bench->backend.threads > 0 ? (int)bench->backend.threads : omp_get_num_procs();
}

// ---- Scenes ----

// A run of its own, so that the measured one begins with the scene's first step.
static MoteResult warm_up(const StepsBench *bench, const MoteScene *scene)
{
    MoteSimulation *simulation = NULL;
    MoteResult result = mote_simulation_create(scene, &bench->backend, &simulation);
    for (uint32_t f = 0; f < bench->warm_up && result == MOTE_OK; f++) {
        result = mote_simulation_advance_frame(simulation);
    }
    mote_simulation_destroy(simulation);
    return result;
}

static MoteResult add_copy(const StepsBench *bench, BenchScene *scene)
{
    MoteSimulation **const copies = realloc(scene->copies, (scene->copy_count + 1u) * sizeof *copies);
    if (copies == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a list of simulations");
    }
    scene->copies = copies;
    const MoteResult result = mote_simulation_create(scene->scene, &bench->backend, &copies[scene->copy_count]);
    if (result == MOTE_OK) {
        mote_world_reset_timings(mote_simulation_world(copies[scene->copy_count]));
        scene->copy_count++;
    }
    return result;
}

static MoteWorld *first_world(const BenchScene *scene)
{
    return mote_simulation_world(scene->copies[0]);
}

static uint32_t substeps_of(const BenchScene *scene)
{
    return mote_world_settings(first_world(scene)).substeps;
}

static MoteResult prepare(const StepsBench *bench, const char *path, BenchScene *out)
{
    out->path = path;
    MoteResult result = mote_scene_load(path, bench->overrides.items, bench->overrides.count, &out->scene);
    result = result == MOTE_OK ? warm_up(bench, out->scene) : result;
    result = result == MOTE_OK ? add_copy(bench, out) : result;
    if (result != MOTE_OK) {
        return result;
    }
    const uint32_t substeps = substeps_of(out);
    out->waits_before = mote_world_host_waits(first_world(out));
    out->frame_count = (bench->steps + substeps - 1) / substeps;
    out->frames = calloc(out->frame_count, sizeof *out->frames);
    return out->frames != NULL ? MOTE_OK
                               : mote_fail(MOTE_ERROR_MEMORY, "no memory for the times of %u frames", out->frame_count);
}

static MoteResult add_copies(const StepsBench *bench, BenchScene *scenes, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t s = 0; s < count; s++) {
        const uint32_t particles = mote_world_particle_count(first_world(&scenes[s]));
        most = particles > most ? particles : most;
    }
    MoteResult result = MOTE_OK;
    for (uint32_t s = 0; s < count; s++) {
        const uint32_t particles = mote_world_particle_count(first_world(&scenes[s]));
        const uint32_t wanted = particles > 0 ? (most + particles / 2) / particles : 1;
        while (result == MOTE_OK && scenes[s].copy_count < wanted && scenes[s].copy_count < COPY_LIMIT) {
            result = add_copy(bench, &scenes[s]);
        }
    }
    return result;
}

void bench_scenes_destroy(BenchScene *scenes, uint32_t count)
{
    for (uint32_t s = 0; s < count; s++) {
        for (uint32_t c = 0; c < scenes[s].copy_count; c++) {
            mote_simulation_destroy(scenes[s].copies[c]);
        }
        free(scenes[s].copies);
        free(scenes[s].frames);
        mote_scene_destroy(scenes[s].scene);
    }
}

// ---- Running ----

// `pace` is that before the frame, and becomes that after it.
static MoteResult run_frame(BenchScene *scene, FrameTime *frame, PaceMaker *pace_maker, double *pace)
{
    const double start = clock_seconds();
    for (uint32_t c = 0; c < scene->copy_count; c++) {
        const MoteResult result = mote_simulation_advance_frame(scene->copies[c]);
        if (result != MOTE_OK) {
            return result;
        }
    }
    frame->milliseconds = 1e3 * (clock_seconds() - start) / substeps_of(scene) / scene->copy_count;
    frame->particles = mote_world_particle_count(first_world(scene));
    frame->pace_before = *pace;
    *pace = frame->pace_after = pace_now(pace_maker);
    return MOTE_OK;
}

static MoteResult run_in_turns(BenchScene *scenes, uint32_t count, PaceMaker *pace_maker)
{
    double pace = pace_now(pace_maker);
    MoteResult result = MOTE_OK;
    bool more = true;
    for (uint32_t f = 0; more && result == MOTE_OK; f++) {
        more = false;
        for (uint32_t s = 0; s < count && result == MOTE_OK; s++) {
            if (f < scenes[s].frame_count) {
                result = run_frame(&scenes[s], &scenes[s].frames[f], pace_maker, &pace);
                more = more || f + 1u < scenes[s].frame_count;
            }
        }
    }
    return result;
}

// ---- Summing up ----

// Up to what pace a core worked for us alone. `values` has room for a pace of every frame of all scenes, and one more.
static double quiet_limit(const BenchScene *scenes, uint32_t count, double *values)
{
    uint32_t paces = 0;
    values[paces++] = scenes[0].frames[0].pace_before;
    for (uint32_t s = 0; s < count; s++) {
        for (uint32_t f = 0; f < scenes[s].frame_count; f++) {
            values[paces++] = scenes[s].frames[f].pace_after;
        }
    }
    return pace_quiet_limit(values, paces);
}

static bool was_quiet(const FrameTime *frame, double limit)
{
    return pace_was_quiet(frame->pace_before, frame->pace_after, limit);
}

// `values` has room for one of each frame.
static void summarise_times(const BenchScene *scene, double limit, double *values, StepsResult *out)
{
    uint32_t quiet = 0;
    for (uint32_t f = 0; f < scene->frame_count; f++) {
        if (was_quiet(&scene->frames[f], limit)) {
            values[quiet++] = scene->frames[f].milliseconds;
        }
    }
    out->quiet_share = (double)quiet / scene->frame_count;
    out->quiet = times_of(values, quiet);
    for (uint32_t f = 0; f < scene->frame_count; f++) {
        values[f] = scene->frames[f].milliseconds;
    }
    out->all = times_of(values, scene->frame_count);
    for (uint32_t f = 0; f < scene->frame_count; f++) {
        values[f] = scene->frames[f].pace_after;
    }
    out->pace = times_of(values, scene->frame_count);
}

// Compares frames that both have and that have particles in both.
static Times compare(const BenchScene *scene, const BenchScene *first, double limit, bool quiet_only, double *values)
{
    uint32_t kept = 0;
    for (uint32_t f = 0; f < scene->frame_count && f < first->frame_count; f++) {
        const FrameTime *here = &scene->frames[f], *there = &first->frames[f];
        const bool quiet = was_quiet(here, limit) && was_quiet(there, limit);
        if (here->particles > 0 && there->particles > 0 && (quiet || !quiet_only)) {
            values[kept++] = here->milliseconds / here->particles * there->particles / there->milliseconds;
        }
    }
    return times_of(values, kept);
}

static void add_to_stage(StepsResult *out, const MoteTiming *kernel)
{
    if (strcmp(kernel->stage, "statistics") == 0) {
        return; // not part of a step
    }
    uint32_t s = 0;
    while (s < out->stage_count && strcmp(out->stages[s].name, kernel->stage) != 0) {
        s++;
    }
    if (s == out->stage_count && s < BENCH_STAGE_LIMIT && kernel->milliseconds > 0.0) {
        out->stages[out->stage_count++] = (Stage){kernel->stage, 0.0};
    }
    if (s < out->stage_count) {
        out->stages[s].milliseconds += kernel->milliseconds;
    }
}

// Whether backends may leave out particles that the density constraint has nothing to do for, which nobody counts:
// the unilateral one, in liquid at or below its rest density (src/cpu/avx2_idle.h, src/kernels/fluid/density.h).
static bool leaves_work_out(const MoteSettings *solver)
{
    return solver->density_mode == MOTE_DENSITY_UNILATERAL;
}

static void summarise_stages(const BenchScene *scene, StepsResult *out)
{
    for (uint32_t c = 0; c < scene->copy_count; c++) {
        MoteTiming rows[BENCH_TIMING_LIMIT] = {0};
        out->kernel_count = mote_world_timings(mote_simulation_world(scene->copies[c]), rows, BENCH_TIMING_LIMIT);
        for (uint32_t k = 0; k < out->kernel_count; k++) {
            rows[k].milliseconds += out->kernels[k].milliseconds;
            rows[k].launches += out->kernels[k].launches;
            rows[k].invocations += out->kernels[k].invocations;
            out->kernels[k] = rows[k];
        }
    }
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
        kernel->milliseconds /= (double)out->steps * scene->copy_count;
        add_to_stage(out, kernel);
    }
    if (busy > 0.0) {
        out->gflops = 1e-6 * operations / busy;
        out->gbytes = 1e-6 * bytes / busy;
    }
}

static MoteResult summarise(const BenchScene *scene, StepsResult *out)
{
    MoteWorld *world = first_world(scene);
    const MoteSettings solver = mote_world_settings(world);
    *out = (StepsResult){.steps = scene->frame_count * solver.substeps,
                         .iterations = solver.small_steps > 1 ? solver.small_steps : solver.iterations,
                         .copies = scene->copy_count,
                         .steps_a_frame = solver.substeps};
    snprintf(out->scene, sizeof out->scene, "%s", scene->path);
    snprintf(out->backend, sizeof out->backend, "%s", mote_world_backend(world));
    out->waits = (double)(mote_world_host_waits(world) - scene->waits_before) / out->steps;
    MoteStatistics statistics;
    const MoteResult result = mote_world_statistics(world, &statistics);
    if (result == MOTE_OK) {
        out->particles = statistics.particles;
        out->neighbours = statistics.neighbours_mean;
        out->density_error = statistics.density_error_mean;
        out->bytes_per_particle =
            statistics.particles > 0 ? (double)statistics.memory_bytes / statistics.particles : 0.0;
        out->at_most = leaves_work_out(&solver);
        summarise_stages(scene, out);
    }
    return result;
}

static MoteResult summarise_all(const BenchScene *scenes, uint32_t count, StepsResult *results)
{
    uint32_t frames = 0;
    for (uint32_t s = 0; s < count; s++) {
        frames += scenes[s].frame_count;
    }
    double *const values = calloc(frames + 1u, sizeof *values);
    if (values == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the times of %u frames", frames);
    }
    const double limit = quiet_limit(scenes, count, values);
    MoteResult result = MOTE_OK;
    for (uint32_t s = 0; s < count && result == MOTE_OK; s++) {
        result = summarise(&scenes[s], &results[s]);
        results[s].quiet_limit = limit;
        summarise_times(&scenes[s], limit, values, &results[s]);
        results[s].beside_first = compare(&scenes[s], &scenes[0], limit, false, values);
        results[s].quiet_beside_first = compare(&scenes[s], &scenes[0], limit, true, values);
    }
    free(values);
    return result;
}

MoteResult bench_scenes_run(const StepsBench *bench, const char *const *paths, uint32_t count, BenchScene *scenes,
                            StepsResult *results)
{
    memset(scenes, 0, count * sizeof *scenes);
    MoteResult result = MOTE_OK;
    for (uint32_t s = 0; s < count && result == MOTE_OK; s++) {
        result = prepare(bench, paths[s], &scenes[s]);
    }
    result = result == MOTE_OK ? add_copies(bench, scenes, count) : result;
    if (result != MOTE_OK) {
        return result;
    }
    PaceMaker *pace_maker = pace_maker_create(bench_threads(bench));
    if (pace_maker == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory to time the cores");
    }
    result = run_in_turns(scenes, count, pace_maker);
    pace_maker_destroy(pace_maker);
    return result == MOTE_OK ? summarise_all(scenes, count, results) : result;
}
