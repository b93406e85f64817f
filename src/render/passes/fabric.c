// SPDX-License-Identifier: MIT
// fabric.c - draws cloth and ropes into the G-buffer of the bodies pass (materials and normals, which the scene pass
// lights), and into the shadow map.
#include "passes/fabric.h"
#include "render/renderer.h"

typedef struct FabricPass {
    VkPipeline cloth, ropes;
    uint32_t samples; // a pixel, that they are for; 0: there are none yet
} FabricPass;

static void destroy(MoteRenderer *renderer, void *state)
{
    FabricPass *pass = state;
    vkDestroyPipeline(renderer->device.handle, pass->cloth, NULL);
    vkDestroyPipeline(renderer->device.handle, pass->ropes, NULL);
    pass->cloth = pass->ropes = VK_NULL_HANDLE;
    pass->samples = 0;
}

// Most scenes have neither: pipelines come with the first picture that does.
static MoteResult make_pipelines(MoteRenderer *renderer, FabricPass *pass, uint32_t samples)
{
    if (pass->samples == samples) {
        return MOTE_OK;
    }
    destroy(renderer, pass);
    GraphicsPipeline info = pipeline_opaque("fabric.vert", "fabric.frag", samples);
    info.color_format2 = VK_FORMAT_R32G32B32A32_SFLOAT;
    MoteResult result = pipeline_create_graphics(renderer, &info, &pass->cloth);
    info.vertex = "rope.vert";
    info.fragment = "rope.frag";
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->ropes) : result;
    pass->samples = result == MOTE_OK ? samples : 0;
    return result;
}

static void draw(MoteRenderer *renderer, const FabricPass *pass, VkCommandBuffer commands, uint32_t part,
                 uint32_t vertices, uint32_t instances)
{
    const FabricPush push = {part};
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->cloth, &push, sizeof push);
    vkCmdDraw(commands, vertices, instances, 0, 0);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    FabricPass *pass = state;
    const uint32_t triangles = renderer->frame.constants.cloth_triangle_count;
    const uint32_t samples = renderer->frame.scene_samples;
    const bool several = samples > 1;
    if ((triangles == 0 && renderer->ropes.draw_count == 0) || renderer->frame.constants.has_bodies == 0) {
        return MOTE_OK;
    }
    const MoteResult result = make_pipelines(renderer, pass, samples);
    if (result != MOTE_OK) {
        return result;
    }
    pass_begin_rendering(
        commands,
        &(RenderTargets){.color = &renderer->images[several ? RESOURCE_material_samples : RESOURCE_color],
                         .color2 = &renderer->images[several ? RESOURCE_normal_samples : RESOURCE_scene_normals],
                         .depth = &renderer->images[several ? RESOURCE_depth_samples : RESOURCE_scene_depth]});
    if (triangles > 0) {
        draw(renderer, pass, commands, FABRIC_FACES, 3 * triangles, 2);
        draw(renderer, pass, commands, FABRIC_RIMS, 18 * triangles, 1);
    }
    ropes_draw(renderer, commands, pass->ropes, false);
    vkCmdEndRendering(commands);
    return MOTE_OK;
}

const Pass fabric_pass = {.state_bytes = sizeof(FabricPass), .record = record, .destroy = destroy};
