// SPDX-License-Identifier: MIT
#include "cli/bench_render.h"

#include "base/clock.h"
#include "base/error.h"
#include "cli/times.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// times[p * draws + d] is pass p in draw d; walls[d] is the whole of it.
static MoteResult draw_repeatedly(const RenderBench *bench, MoteSimulation *simulation, RenderResult *out,
                                  double *times, double *walls)
{
    const MotePicture picture = {.width = bench->drawing.width,
                                 .height = bench->drawing.height,
                                 .samples = bench->samples,
                                 .view = bench->drawing.view};
    MoteRenderScene scene;
    MoteResult result = drawing_meshes(simulation, bench->renderer);
    result = result == MOTE_OK ? mote_simulation_render_scene(simulation, NULL, &scene) : result;
    for (uint32_t i = 0; i < BENCH_WARM_UP_DRAWS + bench->draws && result == MOTE_OK; i++) {
        const double start = clock_seconds();
        result = mote_renderer_draw(bench->renderer, mote_simulation_world(simulation), &scene, &picture);
        if (result != MOTE_OK || i < BENCH_WARM_UP_DRAWS) {
            continue;
        }
        const uint32_t d = i - BENCH_WARM_UP_DRAWS;
        walls[d] = 1e3 * (clock_seconds() - start);
        const uint32_t count = mote_renderer_timings(bench->renderer, out->passes, BENCH_PASS_LIMIT);
        out->pass_count = count < BENCH_PASS_LIMIT ? count : BENCH_PASS_LIMIT;
        for (uint32_t p = 0; p < out->pass_count; p++) {
            times[p * bench->draws + d] = out->passes[p].milliseconds;
        }
    }
    return result;
}

MoteResult render_bench_measure(const RenderBench *bench, MoteSimulation *simulation, RenderResult *out)
{
    *out = (RenderResult){0};
    MoteResult result = MOTE_OK;
    while (result == MOTE_OK && mote_simulation_frame(simulation) < bench->at_frame) {
        result = mote_simulation_advance_frame(simulation);
    }
    double *times = calloc((size_t)bench->draws * (BENCH_PASS_LIMIT + 1), sizeof *times);
    if (times == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the times of %u draws", bench->draws);
    }
    double *walls = times + (size_t)bench->draws * BENCH_PASS_LIMIT;
    result = result == MOTE_OK ? draw_repeatedly(bench, simulation, out, times, walls) : result;
    if (result == MOTE_OK) {
        for (uint32_t p = 0; p < out->pass_count; p++) {
            out->passes[p].milliseconds = times_of(times + p * bench->draws, bench->draws).median;
        }
        const Times whole = times_of(walls, bench->draws);
        out->frame_ms = whole.median;
        out->spread_ms = whole.spread;
        out->frame = mote_simulation_frame(simulation);
        out->particles = mote_world_particle_count(mote_simulation_world(simulation));
        out->interop = mote_renderer_interop(bench->renderer);
    }
    free(times);
    return result;
}

void render_bench_print(const RenderBench *bench, const RenderResult *r)
{
    printf("  drawing frame %" PRIu64 ", %" PRIu32 " particles, %ux%u, %u sample%s, on %s (%s, %" PRIu64
           " bytes copied)\n",
           r->frame, r->particles, bench->drawing.width, bench->drawing.height, bench->samples,
           bench->samples > 1 ? "s" : "", mote_renderer_device(bench->renderer)->name, r->interop.path,
           r->interop.bytes_copied);
    printf("  ms a picture: median %.2f +- %.2f of %u\n", r->frame_ms, r->spread_ms, bench->draws);
    double total = 0.0;
    for (uint32_t p = 0; p < r->pass_count; p++) {
        total += r->passes[p].milliseconds;
    }
    for (uint32_t p = 0; p < r->pass_count; p++) {
        if (r->passes[p].milliseconds > 0.0) {
            printf("    %-12s %8.3f ms %5.1f %%\n", r->passes[p].name, r->passes[p].milliseconds,
                   100.0 * r->passes[p].milliseconds / total);
        }
    }
    printf("    %-12s %8.3f ms\n", "all passes", total);
}

json_t *render_bench_json(const RenderBench *bench, const RenderResult *r)
{
    json_t *passes = json_object();
    for (uint32_t p = 0; p < r->pass_count; p++) {
        json_object_set_new(passes, r->passes[p].name, json_real(r->passes[p].milliseconds));
    }
    char size[32];
    snprintf(size, sizeof size, "%ux%u", bench->drawing.width, bench->drawing.height);
    const MoteDeviceInfo *device = mote_renderer_device(bench->renderer);
    return json_pack("{s:f, s:f, s:o, s:s, s:i, s:s, s:s, s:I, s:I, s:i, s:s, s:I}", //
                     "frame_ms", r->frame_ms,                                        //
                     "spread_ms", r->spread_ms,                                      //
                     "passes", passes,                                               //
                     "size", size,                                                   //
                     "samples", (int)bench->samples,                                 //
                     "device", device->name,                                         //
                     "driver", device->driver,                                       //
                     "frame", (json_int_t)r->frame,                                  //
                     "particles", (json_int_t)r->particles,                          //
                     "draws", (int)bench->draws,                                     //
                     "interop", r->interop.path,                                     //
                     "bytes_copied", (json_int_t)r->interop.bytes_copied);
}
