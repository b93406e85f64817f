// SPDX-License-Identifier: MIT
#include "render/passes/depth_splat.h"

MoteResult depth_splat_create(MoteRenderer *renderer, const char *shader, uint32_t first_step, DepthSplat *out)
{
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < DEPTH_SPLAT_STEPS && result == MOTE_OK; i++) {
        const uint32_t step = first_step + i;
        result = pipeline_create_compute(renderer, shader, &step, 1, &out->steps[i]);
    }
    return result;
}

// One by one, then the large ones, which those have listed: their dispatch is empty where there are none.
static void run(MoteRenderer *renderer, const DepthSplat *depth_splat, uint32_t small, uint32_t large, uint32_t count,
                VkDeviceSize sizes, VkCommandBuffer commands)
{
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, depth_splat->steps[small], NULL, 0);
    pass_dispatch(commands, count, 64);
    pass_compute_barrier(commands);
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, depth_splat->steps[large], NULL, 0);
    vkCmdDispatchIndirect(commands, depth_splat->buffer.handle, sizes);
    pass_compute_barrier(commands);
}

MoteResult depth_splat_record(MoteRenderer *renderer, DepthSplat *depth_splat, const char *name, uint32_t count,
                              bool index, uint64_t *address, VkCommandBuffer commands)
{
    const size_t bytes = (size_t)renderer->width * renderer->height * sizeof(uint32_t);
    const MoteResult result = buffer_reserve(&renderer->device, name, BUFFER_DEVICE,
                                             2 * bytes + ((size_t)count + 4) * sizeof(uint32_t), &depth_splat->buffer);
    if (result != MOTE_OK) {
        return result;
    }
    *address = depth_splat->buffer.address;
    const VkBuffer buffer = depth_splat->buffer.handle;
    const uint32_t pieces = renderer->height * ((renderer->width + 31) / 32),
                   row = 64 * 65535; // as depth_splat.glsl has it
    const uint32_t none[4] = {0, (pieces + row - 1) / row, 1, 0};
    vkCmdFillBuffer(commands, buffer, 0, bytes, NO_DEPTH);
    if (index) {
        vkCmdFillBuffer(commands, buffer, bytes, bytes, 0);
    }
    vkCmdUpdateBuffer(commands, buffer, 2 * bytes, sizeof none, none);
    pass_transfer_barrier(commands);
    run(renderer, depth_splat, DEPTH_SPLAT_DEPTH, DEPTH_SPLAT_LARGE_DEPTH, count, 2 * bytes, commands);
    if (index) {
        run(renderer, depth_splat, DEPTH_SPLAT_INDEX, DEPTH_SPLAT_LARGE_INDEX, count, 2 * bytes, commands);
    }
    return MOTE_OK;
}

void depth_splat_destroy(MoteRenderer *renderer, void *state)
{
    DepthSplat *depth_splat = state;
    for (uint32_t i = 0; i < DEPTH_SPLAT_STEPS; i++) {
        vkDestroyPipeline(renderer->device.handle, depth_splat->steps[i], NULL);
    }
    buffer_destroy(&renderer->device, &depth_splat->buffer);
}
