// SPDX-License-Identifier: MIT
// resolve.c - resolves the scene's samples to one colour, depth and normal per pixel, for all later passes
// (shaders/render/resolve.frag). With one sample per pixel, the scene pass has drawn them already.
#include "render/renderer.h"

typedef struct ResolvePass {
    VkPipeline pipelines[2]; // without and with the normals of grains and meshes; each comes with its first use
    uint32_t samples;        // that they are for
} ResolvePass;

static void destroy_pipelines(MoteRenderer *renderer, ResolvePass *pass)
{
    for (uint32_t i = 0; i < 2; i++) {
        vkDestroyPipeline(renderer->device.handle, pass->pipelines[i], NULL);
        pass->pipelines[i] = VK_NULL_HANDLE;
    }
}

static MoteResult create_pipeline(MoteRenderer *renderer, ResolvePass *pass, bool bodies)
{
    if (pass->samples != renderer->frame.scene_samples) {
        destroy_pipelines(renderer, pass);
        pass->samples = renderer->frame.scene_samples;
    }
    const GraphicsPipeline info = {.vertex = "backdrop.vert",
                                   .fragment = "resolve.frag",
                                   .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                                   .color_format = VK_FORMAT_R16G16B16A16_SFLOAT,
                                   .color_format2 = bodies ? VK_FORMAT_R32G32B32A32_SFLOAT : VK_FORMAT_UNDEFINED,
                                   .depth_format = VK_FORMAT_D32_SFLOAT,
                                   .depth_test = true,
                                   .depth_write = true,
                                   .depth_compare = VK_COMPARE_OP_ALWAYS,
                                   .values = {pass->samples, bodies}};
    return pass->pipelines[bodies] != VK_NULL_HANDLE
               ? MOTE_OK
               : pipeline_create_graphics(renderer, &info, &pass->pipelines[bodies]);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    ResolvePass *pass = state;
    if (renderer->frame.scene_samples == 1) {
        return MOTE_OK;
    }
    const bool bodies = renderer->frame.constants.has_bodies != 0;
    const MoteResult result = create_pipeline(renderer, pass, bodies);
    if (result != MOTE_OK) {
        return result;
    }
    pass_begin_rendering(commands, &(RenderTargets){.color = &renderer->images[RESOURCE_scene_color],
                                                    .color2 = bodies ? &renderer->images[RESOURCE_scene_normals] : NULL,
                                                    .depth = &renderer->images[RESOURCE_scene_depth]});
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->pipelines[bodies], NULL, 0);
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdEndRendering(commands);
    return MOTE_OK;
}

static void destroy(MoteRenderer *renderer, void *state)
{
    destroy_pipelines(renderer, state);
}

const Pass resolve_pass = {.state_bytes = sizeof(ResolvePass), .record = record, .destroy = destroy};
