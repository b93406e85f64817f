// scene.c - everything but the liquid and glass: meshes and grains, solid colliders, then planes, the ground among
// them, and the sky behind them. With several samples a pixel where solids have edges, else with one.
#include "render/renderer.h"

#include "base/error.h"
#include <stdlib.h>

enum {
    SOLID,     // colliders from outside,
    CONTAINER, // or into them from the far walls on
    SKY,
    GROUND,
    PLANE, // as the ground
    BODY,  // meshes,
    OPEN,  // and those whose triangles are seen from both sides
    GRAINS,
    LIT, // all of these in their light
    PIPELINES
};
enum { MOST_SURFACES = 4 }; // of meshes and grains that are lit a pixel

typedef struct ScenePass {
    VkPipeline pipelines[PIPELINES];
    uint32_t samples; // a pixel, that they are for
} ScenePass;

static uint32_t surfaces_a_pixel(uint32_t samples)
{
    return samples < MOST_SURFACES ? samples : MOST_SURFACES;
}

// What is nearest, with its material and normal; it is lit afterwards, once a pixel and surface.
static MoteResult create_bodies(MoteRenderer *renderer, ScenePass *pass)
{
    GraphicsPipeline info = {.vertex = "body.vert",
                             .fragment = "body.frag",
                             .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                             .cull = VK_CULL_MODE_BACK_BIT,
                             .color_format = VK_FORMAT_R16G16B16A16_SFLOAT,
                             .color_format2 = VK_FORMAT_R32G32B32A32_SFLOAT,
                             .depth_format = VK_FORMAT_D32_SFLOAT,
                             .depth_test = true,
                             .depth_write = true,
                             .depth_compare = VK_COMPARE_OP_GREATER,
                             .samples = pass->samples,
                             .values = {pass->samples, surfaces_a_pixel(pass->samples) - 1}};
    MoteResult result = pipeline_create_graphics(renderer, &info, &pass->pipelines[BODY]);
    info.cull = VK_CULL_MODE_NONE;
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->pipelines[OPEN]) : result;
    info.vertex = "backdrop.vert";
    info.fragment = "grains.frag";
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->pipelines[GRAINS]) : result;
    info.fragment = "solids.frag";
    info.color_format2 = VK_FORMAT_UNDEFINED;
    info.depth_test = info.depth_write = false;
    return result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->pipelines[LIT]) : result;
}

static MoteResult create_pipelines(MoteRenderer *renderer, ScenePass *pass, uint32_t samples)
{
    pass->samples = samples;
    GraphicsPipeline info = {.vertex = "scene.vert",
                             .fragment = "scene.frag",
                             .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                             .cull = VK_CULL_MODE_BACK_BIT,
                             .color_format = VK_FORMAT_R16G16B16A16_SFLOAT,
                             .depth_format = VK_FORMAT_D32_SFLOAT,
                             .depth_test = true,
                             .depth_write = true,
                             .depth_compare = VK_COMPARE_OP_GREATER,
                             .samples = samples};
    MoteResult result = pipeline_create_graphics(renderer, &info, &pass->pipelines[SOLID]);
    info.cull = VK_CULL_MODE_FRONT_BIT;
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->pipelines[CONTAINER]) : result;

    info.vertex = "plane.vert";
    info.fragment = "ground.frag";
    info.cull = VK_CULL_MODE_NONE;
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->pipelines[GROUND]) : result;
    info.fragment = "plane.frag";
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->pipelines[PLANE]) : result;
    info.vertex = "backdrop.vert";
    info.fragment = "sky.frag";
    info.depth_write = false;
    info.depth_compare = VK_COMPARE_OP_GREATER_OR_EQUAL; // it is at 0, which is what depth is cleared to
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->pipelines[SKY]) : result;
    return result == MOTE_OK ? create_bodies(renderer, pass) : result;
}

static void destroy_pipelines(MoteRenderer *renderer, ScenePass *pass)
{
    for (uint32_t i = 0; i < PIPELINES; i++) {
        vkDestroyPipeline(renderer->device.handle, pass->pipelines[i], NULL);
        pass->pipelines[i] = VK_NULL_HANDLE;
    }
}

MoteResult scene_create(MoteRenderer *renderer, void **state)
{
    ScenePass *pass = calloc(1, sizeof *pass);
    *state = pass;
    return pass != NULL ? create_pipelines(renderer, pass, mote_renderer_multisampling(renderer, USUAL_SAMPLES))
                        : mote_fail(MOTE_ERROR_MEMORY, "no memory for a pass");
}

static bool is_solid(const MoteRenderShape *shape)
{
    return shape->look == MOTE_LOOK_SOLID && shape->shape.kind != MOTE_SHAPE_PLANE;
}

// As plane.frag has it.
typedef struct PlanePush {
    vec4 plane, material;
} PlanePush;

static void draw_plane(MoteRenderer *renderer, const ScenePass *pass, VkCommandBuffer commands,
                       const MoteRenderShape *plane)
{
    const MoteRenderScene *scene = renderer->frame.scene;
    const Shape shape = shape_instance(plane, scene->camera.target, 0.0f);
    MoteVec3 n = shape_normal(&shape, &(ShapeVertex){.normal = {0.0f, 1.0f, 0.0f, 0.0f}});
    if (plane->shape.inside_out) {
        n = (MoteVec3){-n.x, -n.y, -n.z};
    }
    const vec4 p = shape.position;
    const uint32_t last = scene->material_count - 1;
    const MoteRenderMaterial *m = &scene->materials[plane->material < last ? plane->material : last];
    const PlanePush push = {.plane = {n.x, n.y, n.z, -(n.x * p.x + n.y * p.y + n.z * p.z)},
                            .material = {m->color.x, m->color.y, m->color.z, m->roughness}};
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->pipelines[PLANE], &push, sizeof push);
    vkCmdDraw(commands, 3, 1, 0, 0);
}

// Meshes and grains: their materials, where there is one sample a pixel into the picture to be, which nobody needs
// before the composite pass.
static void draw_bodies(MoteRenderer *renderer, const ScenePass *pass, VkCommandBuffer commands)
{
    const float farthest = 0.0f;
    const bool several = pass->samples > 1;
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
}

// The light of meshes and grains, surface after surface of a pixel.
static void light_bodies(MoteRenderer *renderer, const ScenePass *pass, VkCommandBuffer commands)
{
    for (uint32_t surface = 0; surface < surfaces_a_pixel(pass->samples); surface++) {
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->pipelines[LIT], &surface, sizeof surface);
        vkCmdDraw(commands, 3, 1, 0, 0);
    }
}

static void draw_solids(MoteRenderer *renderer, const ScenePass *pass, VkCommandBuffer commands)
{
    const MoteRenderScene *scene = renderer->frame.scene;
    for (uint32_t i = 0; i < scene->shape_count; i++) {
        const MoteShape *shape = &scene->shapes[i].shape;
        if (is_solid(&scene->shapes[i])) {
            pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                      pass->pipelines[shape->inside_out ? CONTAINER : SOLID], NULL, 0);
            shape_buffers_draw(commands, &renderer->shapes, shape->kind, i);
        }
    }
}

// Planes without an end, and the sky behind them.
static void draw_backdrop(MoteRenderer *renderer, const ScenePass *pass, VkCommandBuffer commands)
{
    const MoteRenderScene *scene = renderer->frame.scene;
    if (scene->ground.visible) {
        const PlanePush push = {.plane = {0.0f, 1.0f, 0.0f, -scene->ground.height}};
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->pipelines[GROUND], &push, sizeof push);
        vkCmdDraw(commands, 3, 1, 0, 0);
    }
    for (uint32_t i = 0; i < scene->shape_count; i++) {
        if (scene->shapes[i].look == MOTE_LOOK_SOLID && scene->shapes[i].shape.kind == MOTE_SHAPE_PLANE) {
            draw_plane(renderer, pass, commands, &scene->shapes[i]);
        }
    }
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->pipelines[SKY], NULL, 0);
    vkCmdDraw(commands, 3, 1, 0, 0);
}

MoteResult scene_record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    ScenePass *pass = state;
    if (pass->samples != renderer->frame.scene_samples) {
        destroy_pipelines(renderer, pass);
        const MoteResult result = create_pipelines(renderer, pass, renderer->frame.scene_samples);
        if (result != MOTE_OK) {
            return result;
        }
    }
    const bool bodies = renderer->frame.constants.has_bodies != 0, several = pass->samples > 1;
    const float farthest = 0.0f;
    if (bodies) {
        draw_bodies(renderer, pass, commands);
        pass_attachment_barrier(commands);
    }
    pass_begin_rendering(
        commands, &(RenderTargets){.color = &renderer->images[several ? RESOURCE_color_samples : RESOURCE_scene_color],
                                   .depth = &renderer->images[several ? RESOURCE_depth_samples : RESOURCE_scene_depth],
                                   .clear_depth = bodies ? NULL : &farthest});
    if (bodies) {
        light_bodies(renderer, pass, commands);
    }
    draw_solids(renderer, pass, commands);
    draw_backdrop(renderer, pass, commands);
    vkCmdEndRendering(commands);
    return MOTE_OK;
}

void scene_destroy(MoteRenderer *renderer, void *state)
{
    if (state != NULL) {
        destroy_pipelines(renderer, state);
        free(state);
    }
}
