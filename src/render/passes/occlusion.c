// SPDX-License-Identifier: MIT
// occlusion.c - ambient occlusion by grains and bodies (shaders/render/occlusion.comp), only where there are some.
// Occlusion by colliders is computed from their exact shape instead.
#include "passes/occlusion.h"
#include "render/renderer.h"

enum { SAMPLE, MEAN, APPLY, STEPS };

static MoteResult create(MoteRenderer *renderer, void *state)
{
    const SimpleShader shaders[STEPS] = {
        {"occlusion.comp", {SAMPLE}}, {"occlusion.comp", {MEAN}}, {"occlusion.comp", {APPLY}}};
    return simple_pass_create(renderer, state, shaders, STEPS);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SimplePass *pass = state;
    FrameConstants *constants = &renderer->frame.constants;
    if (constants->has_bodies == 0 || !renderer->frame.scene->picture.occlusion) {
        return MOTE_OK;
    }
    const uint32_t width = (renderer->width + 1) / 2, height = (renderer->height + 1) / 2;
    const size_t bytes = ((size_t)width * height * sizeof(vec2) + 15) / 16 * 16;
    const MoteResult result = buffer_reserve(&renderer->device, "occlusion", BUFFER_DEVICE, 2 * bytes, &pass->buffer);
    if (result != MOTE_OK) {
        return result;
    }
    const OcclusionConstants own = {.samples = pass->buffer.address};
    pass_constants(renderer, &own, sizeof own);
    constants->occlusion_means = pass->buffer.address + bytes;
    for (uint32_t step = 0; step < STEPS; step++) {
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[step], NULL, 0);
        if (step == APPLY) {
            pass_dispatch_pixels(commands, renderer->width, renderer->height);
        } else {
            pass_dispatch_pixels(commands, width, height);
            pass_compute_barrier(commands);
        }
    }
    return MOTE_OK;
}

const Pass occlusion_pass = {
    .state_bytes = sizeof(SimplePass), .create = create, .record = record, .destroy = simple_pass_destroy};
