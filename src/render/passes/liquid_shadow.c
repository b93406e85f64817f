// SPDX-License-Identifier: MIT
// liquid_shadow.c - shadow map of the liquid: depth of its first surface and its optical depth.
#include "passes/liquid_shadow.h"
#include "render/renderer.h"

enum { CLEAR, SUM, FIRST, RESOLVE, STEPS };

static MoteResult create(MoteRenderer *renderer, void *state)
{
    SimpleShader shaders[2 * STEPS];
    for (uint32_t i = 0; i < 2 * STEPS; i++) {
        shaders[i] = (SimpleShader){"liquid_shadow.comp", {i % STEPS, i < STEPS ? 1 : 4}};
    }
    return simple_pass_create(renderer, state, shaders, 2 * STEPS);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SimplePass *pass = state;
    const FrameConstants *constants = &renderer->frame.constants;
    const uint32_t texels = LIQUID_SHADOW_SIZE * LIQUID_SHADOW_SIZE;
    const MoteResult result =
        buffer_reserve(&renderer->device, "light_sums", BUFFER_DEVICE,
                       (size_t)texels * (1 + constants->thickness_channels) * sizeof(uint32_t), &pass->buffer);
    if (result != MOTE_OK) {
        return result;
    }
    const LiquidShadowConstants own = {.sums = pass->buffer.address};
    pass_constants(renderer, &own, sizeof own);
    const VkPipeline *steps = pass->pipelines + (constants->thickness_channels == 1 ? 0 : STEPS);
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, steps[CLEAR], NULL, 0);
    pass_dispatch(commands, texels, 64);
    pass_compute_barrier(commands);
    if (renderer->frame.liquid && constants->liquid_shadow > 0.0f) {
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, steps[SUM], NULL, 0);
        pass_dispatch(commands, constants->particle_count, 64);
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, steps[FIRST], NULL, 0);
        pass_dispatch(commands, constants->particle_count, 64);
        pass_compute_barrier(commands);
    }
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, steps[RESOLVE], NULL, 0);
    pass_dispatch(commands, texels, 64);
    return MOTE_OK;
}

const Pass liquid_shadow_pass = {
    .state_bytes = sizeof(SimplePass), .create = create, .record = record, .destroy = simple_pass_destroy};
