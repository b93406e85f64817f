// SPDX-License-Identifier: MIT
// fabric_shadow.c - draws cloth and ropes into the shadow map of solids.
#include "render/renderer.h"

typedef struct FabricShadowPass {
    VkPipeline cloth, ropes; // come with their first use
} FabricShadowPass;

static MoteResult make_pipelines(MoteRenderer *renderer, FabricShadowPass *pass)
{
    if (pass->ropes != VK_NULL_HANDLE) {
        return MOTE_OK;
    }
    GraphicsPipeline info = {.vertex = "fabric_shadow.vert",
                             .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                             .depth_format = VK_FORMAT_D32_SFLOAT,
                             .depth_test = true,
                             .depth_write = true,
                             .depth_compare = VK_COMPARE_OP_LESS,
                             .depth_bias_slope = 1.5f};
    MoteResult result =
        pass->cloth == VK_NULL_HANDLE ? pipeline_create_graphics(renderer, &info, &pass->cloth) : MOTE_OK;
    info.vertex = "rope.vert";
    info.cull = VK_CULL_MODE_BACK_BIT;
    return result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->ropes) : result;
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    FabricShadowPass *pass = state;
    const uint32_t triangles = renderer->frame.constants.cloth_triangle_count;
    if (triangles == 0 && renderer->ropes.draw_count == 0) {
        return MOTE_OK;
    }
    const MoteResult result = make_pipelines(renderer, pass);
    if (result != MOTE_OK) {
        return result;
    }
    pass_begin_rendering(commands, &(RenderTargets){.depth = &renderer->images[RESOURCE_shadow_depth]});
    if (triangles > 0) {
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->cloth, NULL, 0);
        vkCmdDraw(commands, 3 * triangles, 1, 0, 0);
    }
    ropes_draw(renderer, commands, pass->ropes, true);
    vkCmdEndRendering(commands);
    return MOTE_OK;
}

static void destroy(MoteRenderer *renderer, void *state)
{
    const FabricShadowPass *pass = state;
    vkDestroyPipeline(renderer->device.handle, pass->cloth, NULL);
    vkDestroyPipeline(renderer->device.handle, pass->ropes, NULL);
}

const Pass fabric_shadow_pass = {.state_bytes = sizeof(FabricShadowPass), .record = record, .destroy = destroy};
