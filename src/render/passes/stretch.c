// SPDX-License-Identifier: MIT
// stretch.c - the largest stretch of each particle's links (shaders/render/stretch.comp), for the view of that name.
#include "render/renderer.h"

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SimplePass *pass = state;
    FrameConstants *c = &renderer->frame.constants;
    const uint32_t links = renderer->frame.solver.link_count;
    if (renderer->frame.view != VIEW_stretch || links == 0 || c->particle_count == 0) {
        return MOTE_OK;
    }
    const VkDeviceSize bytes = c->particle_count * sizeof(uint32_t);
    MoteResult result = simple_pass_create(renderer, pass, &(SimpleShader){"stretch.comp", {0}}, 1);
    result =
        result == MOTE_OK ? buffer_reserve(&renderer->device, "stretch", BUFFER_DEVICE, bytes, &pass->buffer) : result;
    if (result != MOTE_OK) {
        return result;
    }
    c->stretch = pass->buffer.address;
    c->link_count = links;
    vkCmdFillBuffer(commands, pass->buffer.handle, 0, bytes, 0);
    pass_transfer_barrier(commands);
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[0], NULL, 0);
    pass_dispatch(commands, links, 64);
    return MOTE_OK;
}

const Pass stretch_pass = {.state_bytes = sizeof(SimplePass), .record = record, .destroy = simple_pass_destroy};
