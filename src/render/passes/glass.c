// glass.c - the near sides of glass colliders, over the liquid. Their far sides are in the scene already.
#include "render/renderer.h"

#include "base/error.h"
#include <stdlib.h>

typedef struct GlassPass {
    VkPipeline pipeline, body; // shapes, meshes
} GlassPass;

MoteResult glass_create(MoteRenderer *renderer, void **state)
{
    GlassPass *pass = calloc(1, sizeof *pass);
    *state = pass;
    if (pass == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a pass");
    }
    GraphicsPipeline near_sides = {.vertex = "glass.vert",
                                   .fragment = "glass.frag",
                                   .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                                   .cull = VK_CULL_MODE_BACK_BIT,
                                   .blending = BLEND_OVER,
                                   .color_format = VK_FORMAT_R16G16B16A16_SFLOAT};
    const MoteResult result = pipeline_create_graphics(renderer, &near_sides, &pass->pipeline);
    near_sides.vertex = "body_glass.vert";
    return result == MOTE_OK ? pipeline_create_graphics(renderer, &near_sides, &pass->body) : result;
}

MoteResult glass_record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    const GlassPass *pass = state;
    const MoteRenderScene *scene = renderer->frame.scene;
    bool any = bodies_look_so(&renderer->bodies, MOTE_LOOK_GLASS);
    for (uint32_t i = 0; i < scene->shape_count && !any; i++) {
        any = scene->shapes[i].look == MOTE_LOOK_GLASS;
    }
    if (!any) {
        return MOTE_OK;
    }
    pass_begin_rendering(commands, &(RenderTargets){.color = &renderer->images[RESOURCE_color]});
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->pipeline, NULL, 0);
    for (uint32_t i = 0; i < scene->shape_count; i++) {
        if (scene->shapes[i].look == MOTE_LOOK_GLASS) {
            shape_buffers_draw(commands, &renderer->shapes, scene->shapes[i].shape.kind, i);
        }
    }
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->body, NULL, 0);
    for (uint32_t i = 0; i < renderer->bodies.draw_count; i++) {
        if (renderer->bodies.draws[i].look == MOTE_LOOK_GLASS) {
            body_draw(commands, &renderer->meshes, &renderer->bodies.draws[i]);
        }
    }
    vkCmdEndRendering(commands);
    return MOTE_OK;
}

void glass_destroy(MoteRenderer *renderer, void *state)
{
    GlassPass *pass = state;
    if (pass != NULL) {
        vkDestroyPipeline(renderer->device.handle, pass->pipeline, NULL);
        vkDestroyPipeline(renderer->device.handle, pass->body, NULL);
        free(pass);
    }
}
