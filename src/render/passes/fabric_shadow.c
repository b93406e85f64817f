// SPDX-License-Identifier: MIT
// fabric_shadow.c - draws cloth into the shadow map of solids.
#include "render/renderer.h"

typedef struct FabricShadowPass {
    VkPipeline pipeline; // comes with its first use
} FabricShadowPass;

static MoteResult make_pipeline(MoteRenderer *renderer, FabricShadowPass *pass)
{
    const GraphicsPipeline info = {.vertex = "fabric_shadow.vert",
                                   .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                                   .depth_format = VK_FORMAT_D32_SFLOAT,
                                   .depth_test = true,
                                   .depth_write = true,
                                   .depth_compare = VK_COMPARE_OP_LESS,
                                   .depth_bias_slope = 1.5f};
    return pass->pipeline != VK_NULL_HANDLE ? MOTE_OK : pipeline_create_graphics(renderer, &info, &pass->pipeline);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    FabricShadowPass *pass = state;
    const uint32_t triangles = renderer->frame.constants.cloth_triangle_count;
    const MoteResult result = triangles > 0 ? make_pipeline(renderer, pass) : MOTE_OK;
    if (result != MOTE_OK || triangles == 0) {
        return result;
    }
    pass_begin_rendering(commands, &(RenderTargets){.depth = &renderer->images[RESOURCE_shadow_depth]});
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->pipeline, NULL, 0);
    vkCmdDraw(commands, 3 * triangles, 1, 0, 0);
    vkCmdEndRendering(commands);
    return MOTE_OK;
}

static void destroy(MoteRenderer *renderer, void *state)
{
    const FabricShadowPass *pass = state;
    vkDestroyPipeline(renderer->device.handle, pass->pipeline, NULL);
}

const Pass fabric_shadow_pass = {.state_bytes = sizeof(FabricShadowPass), .record = record, .destroy = destroy};
