// SPDX-License-Identifier: MIT
// grains.c - finds the nearest grain at every pixel, for the scene pass to light: one invocation per grain, with
// atomics (shaders/render/grains.comp). All devices use this path, because grains are small on the screen.
#include "render/passes/grains.h"
#include "render/passes/depth_splat.h"

static MoteResult create(MoteRenderer *renderer, void *state)
{
    return depth_splat_create(renderer, "grains.comp", GRAINS_DEPTH_SPLAT, state);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    FrameConstants *constants = &renderer->frame.constants;
    return renderer->frame.grains ? depth_splat_record(renderer, state, "grain_splats", constants->particle_count, true,
                                                       &constants->grain_splats, commands)
                                  : MOTE_OK;
}

const Pass grains_pass = {
    .state_bytes = sizeof(DepthSplat), .create = create, .record = record, .destroy = depth_splat_destroy};
