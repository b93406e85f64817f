// SPDX-License-Identifier: MIT
// grains.c - the nearest grain at every pixel, for the scene pass to shade: an invocation a grain, with atomics
// (shaders/render/grains.comp). One way for all devices: grains are small on the screen.
#include "render/passes/grains.h"
#include "render/passes/nearest.h"

static MoteResult create(MoteRenderer *renderer, void *state)
{
    return nearest_create(renderer, "grains.comp", GRAINS_NEAREST, state);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    FrameConstants *constants = &renderer->frame.constants;
    return renderer->frame.grains ? nearest_record(renderer, state, "grain_splats", constants->particle_count, true,
                                                   &constants->grain_splats, commands)
                                  : MOTE_OK;
}

const Pass grains_pass = {
    .state_bytes = sizeof(Nearest), .create = create, .record = record, .destroy = nearest_destroy};
