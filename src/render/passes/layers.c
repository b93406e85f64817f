// SPDX-License-Identifier: MIT
// layers.c - writes depth, normal, thickness and id of the picture for the host (shaders/render/layers.comp).
#include "passes/layers.h"
#include "render/renderer.h"

static MoteResult create(MoteRenderer *renderer, void *state)
{
    const SimpleShader shaders[] = {{"layers.comp", {0}}};
    return simple_pass_create(renderer, state, shaders, 1);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    const SimplePass *pass = state;
    if (!renderer->frame.picture->layers) {
        return MOTE_OK;
    }
    const size_t bytes = (size_t)renderer->width * renderer->height * LAYER_FLOATS * sizeof(float);
    const MoteResult result = buffer_reserve(&renderer->device, "layers", BUFFER_READBACK, bytes, &renderer->layers);
    if (result != MOTE_OK) {
        return result;
    }
    const LayersConstants constants = {.layers = renderer->layers.address,
                                       .has_foam = renderer->frame.constants.foam != 0,
                                       .has_grains = renderer->frame.grains};
    pass_constants(renderer, &constants, sizeof constants);
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[0], NULL, 0);
    pass_dispatch_pixels(commands, renderer->width, renderer->height);
    return MOTE_OK;
}

const Pass layers_pass = {
    .state_bytes = sizeof(SimplePass), .create = create, .record = record, .destroy = simple_pass_destroy};
