// grains.c - the nearest grain at every pixel, for the scene pass to shade: an invocation a grain, with atomics
// (shaders/render/grains.comp). One way for all devices: grains are small on the screen.
#include "render/passes/grains.h"

enum { DEPTH, INDEX, STEPS };

MoteResult grains_create(MoteRenderer *renderer, void **state)
{
    const SimpleShader shaders[STEPS] = {{"grains.comp", {GRAINS_DEPTH}}, {"grains.comp", {GRAINS_INDEX}}};
    return simple_pass_create(renderer, shaders, STEPS, state);
}

MoteResult grains_record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SimplePass *pass = state;
    FrameConstants *constants = &renderer->frame.constants;
    if (!renderer->frame.grains) {
        return MOTE_OK;
    }
    const size_t bytes = (size_t)renderer->width * renderer->height * sizeof(uint32_t);
    const MoteResult result =
        buffer_reserve(&renderer->device, "grain_splats", BUFFER_DEVICE, 2 * bytes, &pass->buffer);
    if (result != MOTE_OK) {
        return result;
    }
    constants->grain_splats = pass->buffer.address;
    vkCmdFillBuffer(commands, pass->buffer.handle, 0, bytes, NO_DEPTH);
    vkCmdFillBuffer(commands, pass->buffer.handle, bytes, bytes, 0);
    pass_transfer_barrier(commands);
    for (uint32_t step = 0; step < STEPS; step++) {
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[step], NULL, 0);
        pass_dispatch(commands, constants->particle_count, 64);
        pass_compute_barrier(commands);
    }
    return MOTE_OK;
}

void grains_destroy(MoteRenderer *renderer, void *state)
{
    simple_pass_destroy(renderer, state);
}
