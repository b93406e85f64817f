// SPDX-License-Identifier: MIT
#include "render/passes/nearest.h"

MoteResult nearest_create(MoteRenderer *renderer, const char *shader, uint32_t first_step, Nearest *out)
{
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < NEAREST_STEPS && result == MOTE_OK; i++) {
        const uint32_t step = first_step + i;
        result = pipeline_create_compute(renderer, shader, &step, 1, &out->steps[i]);
    }
    return result;
}

// One by one, then the large ones, which those have listed: their dispatch is empty where there are none.
static void run(MoteRenderer *renderer, const Nearest *nearest, uint32_t small, uint32_t large, uint32_t count,
                VkDeviceSize sizes, VkCommandBuffer commands)
{
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, nearest->steps[small], NULL, 0);
    pass_dispatch(commands, count, 64);
    pass_compute_barrier(commands);
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, nearest->steps[large], NULL, 0);
    vkCmdDispatchIndirect(commands, nearest->buffer.handle, sizes);
    pass_compute_barrier(commands);
}

MoteResult nearest_record(MoteRenderer *renderer, Nearest *nearest, const char *name, uint32_t count, bool index,
                          uint64_t *address, VkCommandBuffer commands)
{
    const size_t bytes = (size_t)renderer->width * renderer->height * sizeof(uint32_t);
    const MoteResult result = buffer_reserve(&renderer->device, name, BUFFER_DEVICE,
                                             2 * bytes + ((size_t)count + 4) * sizeof(uint32_t), &nearest->buffer);
    if (result != MOTE_OK) {
        return result;
    }
    *address = nearest->buffer.address;
    const VkBuffer buffer = nearest->buffer.handle;
    const uint32_t pieces = renderer->height * ((renderer->width + 31) / 32),
                   row = 64 * 65535; // as nearest.glsl has it
    const uint32_t none[4] = {0, (pieces + row - 1) / row, 1, 0};
    vkCmdFillBuffer(commands, buffer, 0, bytes, NO_DEPTH);
    if (index) {
        vkCmdFillBuffer(commands, buffer, bytes, bytes, 0);
    }
    vkCmdUpdateBuffer(commands, buffer, 2 * bytes, sizeof none, none);
    pass_transfer_barrier(commands);
    run(renderer, nearest, NEAREST_DEPTH, NEAREST_LARGE_DEPTH, count, 2 * bytes, commands);
    if (index) {
        run(renderer, nearest, NEAREST_INDEX, NEAREST_LARGE_INDEX, count, 2 * bytes, commands);
    }
    return MOTE_OK;
}

void nearest_destroy(MoteRenderer *renderer, void *state)
{
    Nearest *nearest = state;
    for (uint32_t i = 0; i < NEAREST_STEPS; i++) {
        vkDestroyPipeline(renderer->device.handle, nearest->steps[i], NULL);
    }
    buffer_destroy(&renderer->device, &nearest->buffer);
}
