// SPDX-License-Identifier: MIT
// foam_front.c - spray in the air and foam on the surface, over the picture so far (shaders/render/foam_front.comp).
#include "render/passes/foam.h"

static MoteResult create(MoteRenderer *renderer, void *state)
{
    const SimpleShader shaders[] = {{"foam_front.comp", {0}}};
    return simple_pass_create(renderer, state, shaders, 1);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    const SimplePass *pass = state;
    if (renderer->frame.constants.foam == 0 || renderer->frame.view != VIEW_liquid) {
        return MOTE_OK;
    }
    const FoamConstants constants = foam_constants(&renderer->frame);
    pass_constants(renderer, &constants, sizeof constants);
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[0], NULL, 0);
    pass_dispatch_pixels(commands, renderer->width, renderer->height);
    return MOTE_OK;
}

const Pass foam_front_pass = {
    .state_bytes = sizeof(SimplePass), .create = create, .record = record, .destroy = simple_pass_destroy};
