// SPDX-License-Identifier: MIT
// composite.c - shades the liquid in front of the scene (shaders/render/composite.comp).
#include "passes/composite.h"
#include "render/renderer.h"

enum { NO_LIQUID = 4 };

static MoteResult create(MoteRenderer *renderer, void *state)
{
    const SimpleShader shaders[] = {// with foam, with smoke, with liquid
                                    {"composite.comp", {0, 0, 1}},
                                    {"composite.comp", {1, 0, 1}},
                                    {"composite.comp", {0, 1, 1}},
                                    {"composite.comp", {1, 1, 1}},
                                    [NO_LIQUID] = {"composite.comp", {0, 0, 0}}};
    return simple_pass_create(renderer, state, shaders, NO_LIQUID + 1);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    const SimplePass *pass = state;
    const Frame *frame = &renderer->frame;
    const MoteVec3 white = frame->scene->foam.color;
    const CompositeConstants constants = {.foam_color = {white.x, white.y, white.z, 0.0f},
                                          .refraction = frame->scene->liquid.refraction,
                                          .scattering = frame->scene->liquid.scattering,
                                          .edge_samples = frame->scene_samples > 1 ? frame->scene_samples : 0,
                                          .has_occlusion = frame->constants.occlusion_means != 0};
    pass_constants(renderer, &constants, sizeof constants);
    const uint32_t kinds = (frame->constants.foam != 0 ? 1 : 0) + (frame->constants.has_smoke != 0 ? 2 : 0);
    const uint32_t variant = frame->liquid ? kinds : NO_LIQUID;
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[variant], NULL, 0);
    pass_dispatch_pixels(commands, renderer->width, renderer->height);
    return MOTE_OK;
}

const Pass composite_pass = {
    .state_bytes = sizeof(SimplePass), .create = create, .record = record, .destroy = simple_pass_destroy};
