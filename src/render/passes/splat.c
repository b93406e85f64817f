// SPDX-License-Identifier: MIT
// splat.c - finds the nearest ellipsoid at every pixel, in one of two ways: one invocation per particle with atomics (2
// to 3 times faster on software devices), or one quad per particle (on GPUs).
#include "render/passes/depth_splat.h"

typedef struct SplatPass {
    DepthSplat compute;
    VkPipeline quads; // all at once
} SplatPass;

static MoteResult create(MoteRenderer *renderer, void *state)
{
    SplatPass *pass = state;
    if (!renderer->compute_splat) {
        const GraphicsPipeline quads = {.vertex = "splat.vert",
                                        .fragment = "splat.frag",
                                        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                                        .color_format = VK_FORMAT_R32_UINT,
                                        .color_format2 = VK_FORMAT_R32_UINT,
                                        .depth_format = VK_FORMAT_D32_SFLOAT,
                                        .depth_test = true,
                                        .depth_write = true,
                                        .depth_compare =
                                            VK_COMPARE_OP_GREATER_OR_EQUAL}; // ties: the last, as in compute
        return pipeline_create_graphics(renderer, &quads, &pass->quads);
    }
    return depth_splat_create(renderer, "splat.comp", 0, &pass->compute);
}

static void record_quads(MoteRenderer *renderer, SplatPass *pass, VkCommandBuffer commands)
{
    const float farthest = 0.0f;
    pass_begin_rendering(commands, &(RenderTargets){.color = &renderer->images[RESOURCE_surface_depth],
                                                    .color2 = &renderer->images[RESOURCE_surface_index],
                                                    .depth = &renderer->images[RESOURCE_quad_depth],
                                                    .clear_depth = &farthest});
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->quads, NULL, 0);
    vkCmdDraw(commands, 6, renderer->frame.constants.particle_count, 0, 0);
    vkCmdEndRendering(commands);
}

static void copy_to_image(MoteRenderer *renderer, const Buffer *buffer, VkDeviceSize offset, Resource image,
                          VkCommandBuffer commands)
{
    const VkBufferImageCopy region = {.bufferOffset = offset,
                                      .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {renderer->width, renderer->height, 1}};
    vkCmdCopyBufferToImage(commands, buffer->handle, renderer->images[image].handle, VK_IMAGE_LAYOUT_GENERAL, 1,
                           &region);
}

static MoteResult record_compute(MoteRenderer *renderer, SplatPass *pass, VkCommandBuffer commands)
{
    FrameConstants *constants = &renderer->frame.constants;
    const bool index = renderer->frame.needs_index;
    const MoteResult result = depth_splat_record(renderer, &pass->compute, "splats", constants->particle_count, index,
                                                 &constants->splats, commands);
    if (result != MOTE_OK) {
        return result;
    }
    pass_before_transfer_barrier(commands);
    copy_to_image(renderer, &pass->compute.buffer, 0, RESOURCE_surface_depth, commands);
    if (index) {
        const VkDeviceSize depths = (VkDeviceSize)renderer->width * renderer->height * sizeof(uint32_t);
        copy_to_image(renderer, &pass->compute.buffer, depths, RESOURCE_surface_index, commands);
    }
    return MOTE_OK;
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SplatPass *pass = state;
    if (!renderer->frame.liquid) {
        return MOTE_OK;
    }
    if (!renderer->compute_splat) {
        record_quads(renderer, pass, commands);
        return MOTE_OK;
    }
    return record_compute(renderer, pass, commands);
}

static void destroy(MoteRenderer *renderer, void *state)
{
    SplatPass *pass = state;
    depth_splat_destroy(renderer, &pass->compute);
    vkDestroyPipeline(renderer->device.handle, pass->quads, NULL);
}

const Pass splat_pass = {.state_bytes = sizeof(SplatPass), .create = create, .record = record, .destroy = destroy};
