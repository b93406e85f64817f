// SPDX-License-Identifier: MIT
// outline.c - dark lines around liquid and solids and along their creases, picture.outline pixels wide
// (shaders/render/outline.comp). Not in debug views, whose colours have a meaning.
#include "passes/outline.h"
#include "render/renderer.h"

enum { FIND, DRAW, STEPS };

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SimplePass *pass = state;
    const float width = renderer->frame.scene->picture.outline;
    if (!(width > 0.0f) || renderer->frame.view != VIEW_liquid) {
        return MOTE_OK;
    }
    const size_t bytes = (size_t)renderer->width * renderer->height * sizeof(uint32_t);
    const SimpleShader shaders[STEPS] = {{"outline.comp", {FIND}}, {"outline.comp", {DRAW}}};
    MoteResult result = simple_pass_create(renderer, pass, shaders, STEPS); // most pictures do without
    if (result == MOTE_OK) {
        result = buffer_reserve(&renderer->device, "outline", BUFFER_DEVICE, bytes, &pass->buffer);
    }
    if (result != MOTE_OK) {
        return result;
    }
    // The ground has faded away at a distance from the camera's target, which towards the sides of a wide picture is as
    // little as half as far in depth: no line is drawn where it ends.
    const MoteGroundLook *ground = &renderer->frame.scene->ground;
    const OutlineConstants constants = {.edges = pass->buffer.address,
                                        .half_width = 0.5f * width,
                                        .horizon = ground->visible ? 2.0f / ground->fade : 0.0f};
    pass_constants(renderer, &constants, sizeof constants);
    for (uint32_t step = 0; step < STEPS; step++) {
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[step], NULL, 0);
        pass_dispatch_pixels(commands, renderer->width, renderer->height);
        pass_compute_barrier(commands);
    }
    return MOTE_OK;
}

const Pass outline_pass = {.state_bytes = sizeof(SimplePass), .record = record, .destroy = simple_pass_destroy};
