// SPDX-License-Identifier: MIT
// bench_render.h - the part of `mote bench` that times pictures.
#ifndef MOTE_CLI_BENCH_RENDER_H
#define MOTE_CLI_BENCH_RENDER_H

#include "cli/drawing.h"
#include <jansson.h>

enum { BENCH_PASS_LIMIT = 64, BENCH_WARM_UP_DRAWS = 2 };

typedef struct RenderBench {
    DrawingOptions drawing;
    uint32_t samples;
    uint32_t at_frame; // of the simulation: a splash takes longer than the block that it begins as
    uint32_t draws;    // that count, after BENCH_WARM_UP_DRAWS that do not
    MoteRenderer *renderer;
} RenderBench;

// Times are medians over the draws.
typedef struct RenderResult {
    uint64_t frame;
    uint32_t particles;
    double frame_ms, spread_ms; // wall clock of mote_renderer_draw; half the distance between the quartiles
    MotePassTiming passes[BENCH_PASS_LIMIT];
    uint32_t pass_count;
    MoteInteropReport interop;
} RenderResult;

// Simulates on to `at_frame`, if it is not past that, and draws it.
MoteResult render_bench_measure(const RenderBench *bench, MoteSimulation *simulation, RenderResult *out);
void render_bench_print(const RenderBench *bench, const RenderResult *result);
json_t *render_bench_json(const RenderBench *bench, const RenderResult *result);

#endif
