// SPDX-License-Identifier: MIT
// bodies.c - draws meshes and grains into a G-buffer: material and normal of the nearest surface at each sample. The
// scene pass lights it once per pixel and surface. Other passes can draw geometry to be lit in the same way between the
// two, into the same images, without clearing them.
#include "render/renderer.h"

#include <math.h>

enum {
    BODY, // meshes,
    OPEN, // and those whose triangles are seen from both sides
    GRAINS,
    PIPELINES
};

typedef struct BodiesPass {
    VkPipeline pipelines[PIPELINES];
    uint32_t samples; // a pixel, that they are for
} BodiesPass;

static MoteResult create_pipelines(MoteRenderer *renderer, BodiesPass *pass, uint32_t samples)
{
    pass->samples = samples;
    GraphicsPipeline info = pipeline_opaque("body.vert", "body.frag", samples);
    info.color_format2 = VK_FORMAT_R32G32B32A32_SFLOAT;
    MoteResult result = pipeline_create_graphics(renderer, &info, &pass->pipelines[BODY]);
    info.cull = VK_CULL_MODE_NONE;
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->pipelines[OPEN]) : result;
    info.vertex = "backdrop.vert";
    info.fragment = "grains.frag";
    return result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->pipelines[GRAINS]) : result;
}

static void destroy(MoteRenderer *renderer, void *state)
{
    BodiesPass *pass = state;
    for (uint32_t i = 0; i < PIPELINES; i++) {
        vkDestroyPipeline(renderer->device.handle, pass->pipelines[i], NULL);
        pass->pipelines[i] = VK_NULL_HANDLE;
    }
}

static MoteResult create(MoteRenderer *renderer, void *state)
{
    return create_pipelines(renderer, state, mote_renderer_multisampling(renderer, USUAL_SAMPLES));
}

static MoteResult prepare(MoteRenderer *renderer, void *state)
{
    (void)state;
    Frame *frame = &renderer->frame;
    FrameConstants *c = &frame->constants;
    c->has_bodies |= frame->grains;
    frame->solid_reach = fmaxf(frame->solid_reach, c->has_solids != 0 ? c->solid_radius : 0.0f);
    for (uint32_t i = 0; i < frame->scene->instance_count; i++) {
        const MoteRenderInstance *instance = &frame->scene->instances[i];
        const MeshRange *mesh = &renderer->meshes.meshes[instance->mesh];
        if (body_is_drawn(&renderer->meshes, frame, instance)) {
            c->has_bodies |= instance->look == MOTE_LOOK_SOLID || instance->look == MOTE_LOOK_AUTO;
            frame->solid_reach = mesh->member_count > 0 ? fmaxf(frame->solid_reach, mesh->reach) : frame->solid_reach;
        }
    }
    return MOTE_OK;
}

// With one sample per pixel, materials are stored in the image of the final picture, which is not used before the
// composite pass.
static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    BodiesPass *pass = state;
    const uint32_t samples = renderer->frame.scene_samples;
    if (pass->samples != samples) {
        destroy(renderer, pass);
        const MoteResult result = create_pipelines(renderer, pass, samples);
        if (result != MOTE_OK) {
            return result;
        }
    }
    if (renderer->frame.constants.has_bodies == 0) {
        return MOTE_OK;
    }
    const float farthest = 0.0f;
    const bool several = samples > 1;
    pass_begin_rendering(
        commands,
        &(RenderTargets){.color = &renderer->images[several ? RESOURCE_material_samples : RESOURCE_color],
                         .color2 = &renderer->images[several ? RESOURCE_normal_samples : RESOURCE_scene_normals],
                         .depth = &renderer->images[several ? RESOURCE_depth_samples : RESOURCE_scene_depth],
                         .clear_color = &(VkClearColorValue){{0}},
                         .clear_depth = &farthest});
    for (uint32_t i = 0; i < renderer->bodies.draw_count; i++) {
        const BodyDraw *draw = &renderer->bodies.draws[i];
        if (draw->look == MOTE_LOOK_SOLID) {
            const bool closed = renderer->meshes.meshes[draw->mesh].closed;
            pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->pipelines[closed ? BODY : OPEN], NULL,
                      0);
            body_draw(commands, &renderer->meshes, draw);
        }
    }
    if (renderer->frame.grains) {
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->pipelines[GRAINS], NULL, 0);
        vkCmdDraw(commands, 3, 1, 0, 0);
    }
    vkCmdEndRendering(commands);
    return MOTE_OK;
}

const Pass bodies_pass = {
    .state_bytes = sizeof(BodiesPass), .create = create, .prepare = prepare, .record = record, .destroy = destroy};
