// SPDX-License-Identifier: MIT
// bench_steps.h - the part of `mote bench` that times steps: of one scene, or of several in turns, frame by frame, so
// that whatever else the machine does in the meantime it does to all of them.
#ifndef MOTE_CLI_BENCH_STEPS_H
#define MOTE_CLI_BENCH_STEPS_H

#include "mote.h"
#include "cli/options.h"
#include "cli/times.h"

enum { BENCH_TIMING_LIMIT = 512, BENCH_STAGE_LIMIT = 64 };

typedef struct StepsBench {
    MoteBackendOptions backend;
    OptionList overrides;
    uint32_t steps, warm_up; // frames of a run of its own before
} StepsBench;

// One frame of one scene.
typedef struct FrameTime {
    double milliseconds;            // a step, in the mean of the frame's steps and of the scene's copies
    double pace_before, pace_after; // of the cores
    uint32_t particles;
} FrameTime;

// A scene that is measured. Beside a larger one it is simulated in as many copies as have about as many particles, so
// that in each turn both take about as long, for the same frame.
typedef struct BenchScene {
    const char *path;
    MoteScene *scene;
    MoteSimulation **copies;
    uint32_t copy_count;
    FrameTime *frames;
    uint32_t frame_count;
    uint64_t waits_before; // of the first copy's host, to make it
} BenchScene;

typedef struct Stage {
    const char *name;
    double milliseconds; // a step
} Stage;

typedef struct StepsResult {
    char scene[512];
    char backend[32];
    uint32_t particles, steps, iterations, copies, steps_a_frame;
    Times all, quiet;   // ms a step; in frames that had the cores to themselves
    double quiet_share; // of the frames
    Times pace;         // ms of the loop that tells them
    double quiet_limit; // ms of it, at most, where a core worked for us alone
    // In turns: the time a particle takes over what one of the first scene takes in the same frame.
    Times beside_first, quiet_beside_first;
    double neighbours, bytes_per_particle, density_error;
    double waits; // of the host for the device, a step
    Stage stages[BENCH_STAGE_LIMIT];
    uint32_t stage_count;
    MoteTiming kernels[BENCH_TIMING_LIMIT]; // milliseconds a step
    uint32_t kernel_count;
    double gflops, gbytes; // a second, of the loops over neighbours
    bool at_most;          // these two: particles that were left out are counted, too
} StepsResult;

int bench_threads(const StepsBench *bench);

// Loads and runs the scenes in turns, a frame at a time, and fills a result for each. They must be destroyed whatever
// comes back; until then the simulations are where the last frame left them.
MoteResult bench_scenes_run(const StepsBench *bench, const char *const *paths, uint32_t count, BenchScene *scenes,
                            StepsResult *results);
void bench_scenes_destroy(BenchScene *scenes, uint32_t count);

#endif
