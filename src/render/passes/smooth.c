// SPDX-License-Identifier: MIT
// smooth.c - smooths the splatted depth to a surface: narrow-range filter, bilateral filter, curvature flow, or none.
#include "passes/smooth.h"
#include "render/renderer.h"

// Specialisation of smooth.comp: method, direction, where it reads and writes. In between, the planes hold 1 / z, or z
// for the curvature flow; the last dispatch stores z.
enum { METHOD_NARROW, METHOD_BILATERAL, METHOD_CURVATURE, METHOD_COPY };
enum { ALONG_X, ALONG_Y, BOTH };
enum { SURFACE_DEPTH, SPLATS, PLANE_A, PLANE_B, SMOOTH_DEPTH = 0 };

enum { FIRST_X, NEXT_X, NEXT_Y, CLEAN_UP, FILTER_PIPELINES };
enum {
    NARROW = 0,
    BILATERAL = FILTER_PIPELINES,
    CURVATURE = 2 * FILTER_PIPELINES,
    FLOW,
    FLOW_BACK,
    FLOW_END,
    COPY,
    PIPELINES
};

static MoteResult create(MoteRenderer *renderer, void *state)
{
    const uint32_t splats = renderer->compute_splat ? SPLATS : SURFACE_DEPTH;
    SimpleShader shaders[PIPELINES] = {
        [CURVATURE] = {"smooth.comp", {METHOD_COPY, 1, splats, PLANE_A}}, // z, to start with
        [FLOW] = {"smooth.comp", {METHOD_CURVATURE, 0, PLANE_A, PLANE_B}},
        [FLOW_BACK] = {"smooth.comp", {METHOD_CURVATURE, 0, PLANE_B, PLANE_A}},
        [FLOW_END] = {"smooth.comp", {METHOD_CURVATURE, 0, PLANE_B, SMOOTH_DEPTH}},
        [COPY] = {"smooth.comp", {METHOD_COPY, 1, SURFACE_DEPTH, SMOOTH_DEPTH}},
    };
    for (uint32_t method = METHOD_NARROW; method <= METHOD_BILATERAL; method++) {
        SimpleShader *filter = shaders + method * FILTER_PIPELINES;
        filter[FIRST_X] = (SimpleShader){"smooth.comp", {method, ALONG_X, splats, PLANE_A}};
        filter[NEXT_X] = (SimpleShader){"smooth.comp", {method, ALONG_X, PLANE_B, PLANE_A}};
        filter[NEXT_Y] = (SimpleShader){"smooth.comp", {method, ALONG_Y, PLANE_A, PLANE_B}};
        filter[CLEAN_UP] = (SimpleShader){"smooth.comp", {method, BOTH, PLANE_B, SMOOTH_DEPTH}};
    }
    return simple_pass_create(renderer, state, shaders, PIPELINES);
}

static void run(MoteRenderer *renderer, const SimplePass *pass, VkCommandBuffer commands, int pipeline)
{
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[pipeline], NULL, 0);
    pass_dispatch_pixels(commands, renderer->width, renderer->height);
    pass_compute_barrier(commands);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SimplePass *pass = state;
    const MoteLiquidLook *look = &renderer->frame.scene->liquid;
    const size_t bytes = 2 * (size_t)renderer->width * renderer->height * sizeof(float);
    const MoteResult result = buffer_reserve(&renderer->device, "smooth_planes", BUFFER_DEVICE, bytes, &pass->buffer);
    if (result != MOTE_OK) {
        return result;
    }
    const float spacing = renderer->frame.solver.spacing;
    const SmoothConstants constants = {.planes = pass->buffer.address,
                                       .curvature_step = look->curvature_step,
                                       .radius = look->smoothing_radius * spacing,
                                       .depth = look->smoothing_depth * spacing};
    pass_constants(renderer, &constants, sizeof constants);
    const uint32_t passes = look->smoothing_passes;
    const bool none = look->smoothing == MOTE_SMOOTHING_NONE || renderer->frame.spheres || passes == 0;
    if (none || !renderer->frame.liquid) {
        run(renderer, pass, commands, COPY);
    } else if (look->smoothing == MOTE_SMOOTHING_CURVATURE) {
        run(renderer, pass, commands, CURVATURE);
        const uint32_t steps = 2 * ((passes + 1) / 2); // there and back
        for (uint32_t i = 0; i < steps; i++) {
            run(renderer, pass, commands, i % 2 == 0 ? FLOW : i + 1 == steps ? FLOW_END : FLOW_BACK);
        }
    } else {
        const int filter = look->smoothing == MOTE_SMOOTHING_BILATERAL ? BILATERAL : NARROW;
        for (uint32_t i = 0; i < passes; i++) {
            run(renderer, pass, commands, filter + (i == 0 ? FIRST_X : NEXT_X));
            run(renderer, pass, commands, filter + NEXT_Y);
        }
        run(renderer, pass, commands, filter + CLEAN_UP);
    }
    return MOTE_OK;
}

const Pass smooth_pass = {
    .state_bytes = sizeof(SimplePass), .create = create, .record = record, .destroy = simple_pass_destroy};
