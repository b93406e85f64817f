// SPDX-License-Identifier: MIT
// skins_common.c - translucent cloth: all of it first takes away from the light behind it, then adds its own. Neither
// depends on the order of triangles.
#include "render/passes/skins_common.h"

static MoteResult create_pipelines(MoteRenderer *renderer, SkinPipelines *skin_pipelines, bool near_sides)
{
    GraphicsPipeline info = {.vertex = "skins.vert",
                             .fragment = "skins.frag",
                             .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                             .cull = near_sides ? VK_CULL_MODE_BACK_BIT : VK_CULL_MODE_FRONT_BIT,
                             .blending = BLEND_MULTIPLY,
                             .color_format = VK_FORMAT_R16G16B16A16_SFLOAT,
                             .values = {near_sides, 0}};
    MoteResult result = MOTE_OK;
    if (skin_pipelines->dim == VK_NULL_HANDLE) {
        result = pipeline_create_graphics(renderer, &info, &skin_pipelines->dim);
    }
    info.blending = BLEND_ADD;
    info.values[1] = 1;
    return result == MOTE_OK && skin_pipelines->light == VK_NULL_HANDLE
               ? pipeline_create_graphics(renderer, &info, &skin_pipelines->light)
               : result;
}

MoteResult skin_pipelines_record(MoteRenderer *renderer, SkinPipelines *skin_pipelines, bool near_sides,
                                 const DeviceImage *target, VkCommandBuffer commands)
{
    if (!renderer->frame.skins) {
        return MOTE_OK;
    }
    const MoteResult result = create_pipelines(renderer, skin_pipelines, near_sides);
    if (result != MOTE_OK) {
        return result;
    }
    const VkPipeline order[] = {skin_pipelines->dim, skin_pipelines->light};
    pass_begin_rendering(commands, &(RenderTargets){.color = target});
    for (uint32_t i = 0; i < 2; i++) {
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, order[i], NULL, 0);
        vkCmdDraw(commands, 3 * renderer->frame.constants.cloth_triangle_count, 1, 0, 0);
    }
    vkCmdEndRendering(commands);
    return MOTE_OK;
}

void skin_pipelines_destroy(MoteRenderer *renderer, void *state)
{
    SkinPipelines *skin_pipelines = state;
    vkDestroyPipeline(renderer->device.handle, skin_pipelines->dim, NULL);
    vkDestroyPipeline(renderer->device.handle, skin_pipelines->light, NULL);
    *skin_pipelines = (SkinPipelines){0};
}
