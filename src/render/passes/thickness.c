// SPDX-License-Identifier: MIT
// thickness.c - thickness of the liquid along rays (shaders/render/thickness.comp): splats particles into an image
// pyramid, then sums its levels from the coarsest to the finest.
#include "passes/thickness.h"
#include "render/renderer.h"

enum { PARTICLES, LEVEL, CONVERT, STEPS };

static MoteResult create(MoteRenderer *renderer, void *state)
{
    SimpleShader shaders[2 * STEPS];
    for (uint32_t i = 0; i < 2 * STEPS; i++) {
        shaders[i] = (SimpleShader){"thickness.comp", {i % STEPS, i < STEPS ? 1 : 4}};
    }
    return simple_pass_create(renderer, state, shaders, 2 * STEPS);
}

static uint32_t level_texels(const DeviceImage *half, uint32_t level)
{
    const uint32_t rounding = (1u << level) - 1u;
    return ((half->width + rounding) >> level) * ((half->height + rounding) >> level);
}

// Fills the pyramid with zeros.
static MoteResult clear_sums(MoteRenderer *renderer, SimplePass *pass, VkCommandBuffer commands)
{
    const FrameConstants *constants = &renderer->frame.constants;
    size_t texels = 0;
    for (uint32_t level = 0; level < THICKNESS_LEVELS; level++) {
        texels += level_texels(&renderer->images[RESOURCE_thickness], level);
    }
    const size_t bytes = texels * constants->thickness_channels * sizeof(uint32_t);
    const MoteResult result = buffer_reserve(&renderer->device, "thickness_sums", BUFFER_DEVICE, bytes, &pass->buffer);
    if (result != MOTE_OK) {
        return result;
    }
    const ThicknessConstants own = {.sums = pass->buffer.address};
    pass_constants(renderer, &own, sizeof own);
    vkCmdFillBuffer(commands, pass->buffer.handle, 0, bytes, 0);
    pass_transfer_barrier(commands);
    return MOTE_OK;
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SimplePass *pass = state;
    const DeviceImage *half = &renderer->images[RESOURCE_thickness];
    const MoteResult result = clear_sums(renderer, pass, commands);
    if (result != MOTE_OK) {
        return result;
    }
    const VkPipelineBindPoint compute = VK_PIPELINE_BIND_POINT_COMPUTE;
    const VkPipeline *steps = pass->pipelines + (renderer->frame.constants.thickness_channels == 1 ? 0 : STEPS);
    if (renderer->frame.liquid && !renderer->frame.spheres) {
        pass_bind(renderer, commands, compute, steps[PARTICLES], NULL, 0);
        pass_dispatch(commands, renderer->frame.constants.particle_count, 64);
        for (uint32_t level = THICKNESS_LEVELS - 1; level-- > 0;) {
            pass_compute_barrier(commands);
            const ThicknessPush push = {level};
            pass_bind(renderer, commands, compute, steps[LEVEL], &push, sizeof push);
            pass_dispatch(commands, level_texels(half, level), 64);
        }
        pass_compute_barrier(commands);
    }
    pass_bind(renderer, commands, compute, steps[CONVERT], NULL, 0);
    pass_dispatch(commands, half->width * half->height, 64);
    return MOTE_OK;
}

const Pass thickness_pass = {
    .state_bytes = sizeof(SimplePass), .create = create, .record = record, .destroy = simple_pass_destroy};
