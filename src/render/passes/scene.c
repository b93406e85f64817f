// scene.c - everything but the liquid: meshes and grains, solid colliders, then sky, ground and planes behind them,
// then the far sides of glass, which the liquid in front refracts with all the rest.
#include "render/renderer.h"

#include "base/error.h"
#include <stdlib.h>

typedef struct ScenePass {
    VkPipeline solid, container; // colliders from outside, or into them from the far walls on
    VkPipeline backdrop;         // sky and ground
    VkPipeline plane;            // one plane over the whole picture
    VkPipeline glass;            // far sides
    VkPipeline body, open;       // meshes, and those whose triangles are seen from both sides
    VkPipeline body_glass;       // far sides of meshes
    VkPipeline grains;
    VkPipeline lit; // all of these in their light
} ScenePass;

// What is nearest, with its material and normal; it is lit afterwards, once a pixel.
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
                             .depth_compare = VK_COMPARE_OP_GREATER};
    MoteResult result = pipeline_create_graphics(renderer, &info, &pass->body);
    info.cull = VK_CULL_MODE_NONE;
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->open) : result;
    info.vertex = "backdrop.vert";
    info.fragment = "grains.frag";
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->grains) : result;
    info.fragment = "solids.frag";
    info.color_format2 = VK_FORMAT_UNDEFINED;
    info.depth_test = info.depth_write = false;
    return result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->lit) : result;
}

MoteResult scene_create(MoteRenderer *renderer, void **state)
{
    ScenePass *pass = calloc(1, sizeof *pass);
    *state = pass;
    if (pass == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a pass");
    }
    GraphicsPipeline info = {.vertex = "scene.vert",
                             .fragment = "scene.frag",
                             .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                             .cull = VK_CULL_MODE_BACK_BIT,
                             .color_format = VK_FORMAT_R16G16B16A16_SFLOAT,
                             .depth_format = VK_FORMAT_D32_SFLOAT,
                             .depth_test = true,
                             .depth_write = true,
                             .depth_compare = VK_COMPARE_OP_GREATER};
    MoteResult result = pipeline_create_graphics(renderer, &info, &pass->solid);
    info.cull = VK_CULL_MODE_FRONT_BIT;
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->container) : result;

    info.vertex = "glass.vert";
    info.fragment = "glass_behind.frag";
    info.blending = BLEND_OVER;
    info.depth_write = false;
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->glass) : result;
    info.vertex = "body_glass.vert";
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->body_glass) : result;

    info.vertex = "backdrop.vert";
    info.fragment = "backdrop.frag";
    info.blending = BLEND_NONE;
    info.cull = VK_CULL_MODE_NONE;
    info.depth_write = true;
    info.depth_compare = VK_COMPARE_OP_GREATER_OR_EQUAL; // the sky is at 0, which is what depth is cleared to
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->backdrop) : result;
    info.fragment = "plane.frag";
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->plane) : result;
    return result == MOTE_OK ? create_bodies(renderer, pass) : result;
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
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->plane, &push, sizeof push);
    vkCmdDraw(commands, 3, 1, 0, 0);
}

// Meshes and grains: their materials into the picture to be, which nobody needs before the composite pass.
static void draw_bodies(MoteRenderer *renderer, const ScenePass *pass, VkCommandBuffer commands)
{
    const float farthest = 0.0f;
    pass_begin_rendering(commands, &(RenderTargets){.color = &renderer->images[RESOURCE_color],
                                                    .color2 = &renderer->images[RESOURCE_scene_normals],
                                                    .depth = &renderer->images[RESOURCE_scene_depth],
                                                    .clear_color = &(VkClearColorValue){{0}},
                                                    .clear_depth = &farthest});
    for (uint32_t i = 0; i < renderer->bodies.draw_count; i++) {
        const BodyDraw *draw = &renderer->bodies.draws[i];
        if (draw->look == MOTE_LOOK_SOLID) {
            const bool closed = renderer->meshes.meshes[draw->mesh].closed;
            pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, closed ? pass->body : pass->open, NULL, 0);
            body_draw(commands, &renderer->meshes, draw);
        }
    }
    if (renderer->frame.grains) {
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->grains, NULL, 0);
        vkCmdDraw(commands, 3, 1, 0, 0);
    }
    vkCmdEndRendering(commands);
}

static void draw_glass(MoteRenderer *renderer, const ScenePass *pass, VkCommandBuffer commands)
{
    const MoteRenderScene *scene = renderer->frame.scene;
    for (uint32_t i = 0; i < scene->shape_count; i++) {
        if (scene->shapes[i].look == MOTE_LOOK_GLASS) {
            pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->glass, NULL, 0);
            shape_buffers_draw(commands, &renderer->shapes, scene->shapes[i].shape.kind, i);
        }
    }
    for (uint32_t i = 0; i < renderer->bodies.draw_count; i++) {
        if (renderer->bodies.draws[i].look == MOTE_LOOK_GLASS) {
            pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->body_glass, NULL, 0);
            body_draw(commands, &renderer->meshes, &renderer->bodies.draws[i]);
        }
    }
}

MoteResult scene_record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    ScenePass *pass = state;
    const MoteRenderScene *scene = renderer->frame.scene;
    const bool bodies = renderer->frame.constants.has_bodies != 0;
    const float farthest = 0.0f;
    if (bodies) {
        draw_bodies(renderer, pass, commands);
        pass_attachment_barrier(commands);
    }
    pass_begin_rendering(commands, &(RenderTargets){.color = &renderer->images[RESOURCE_scene_color],
                                                    .depth = &renderer->images[RESOURCE_scene_depth],
                                                    .clear_depth = bodies ? NULL : &farthest});
    if (bodies) {
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->lit, NULL, 0);
        vkCmdDraw(commands, 3, 1, 0, 0);
    }
    for (uint32_t i = 0; i < scene->shape_count; i++) {
        const MoteShape *shape = &scene->shapes[i].shape;
        if (is_solid(&scene->shapes[i])) {
            pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                      shape->inside_out ? pass->container : pass->solid, NULL, 0);
            shape_buffers_draw(commands, &renderer->shapes, shape->kind, i);
        }
    }
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->backdrop, NULL, 0);
    vkCmdDraw(commands, 3, 1, 0, 0);
    for (uint32_t i = 0; i < scene->shape_count; i++) {
        if (scene->shapes[i].look == MOTE_LOOK_SOLID && scene->shapes[i].shape.kind == MOTE_SHAPE_PLANE) {
            draw_plane(renderer, pass, commands, &scene->shapes[i]);
        }
    }
    draw_glass(renderer, pass, commands);
    vkCmdEndRendering(commands);
    return MOTE_OK;
}

void scene_destroy(MoteRenderer *renderer, void *state)
{
    ScenePass *pass = state;
    if (pass != NULL) {
        vkDestroyPipeline(renderer->device.handle, pass->solid, NULL);
        vkDestroyPipeline(renderer->device.handle, pass->container, NULL);
        vkDestroyPipeline(renderer->device.handle, pass->backdrop, NULL);
        vkDestroyPipeline(renderer->device.handle, pass->plane, NULL);
        vkDestroyPipeline(renderer->device.handle, pass->glass, NULL);
        vkDestroyPipeline(renderer->device.handle, pass->body, NULL);
        vkDestroyPipeline(renderer->device.handle, pass->open, NULL);
        vkDestroyPipeline(renderer->device.handle, pass->body_glass, NULL);
        vkDestroyPipeline(renderer->device.handle, pass->grains, NULL);
        vkDestroyPipeline(renderer->device.handle, pass->lit, NULL);
        free(pass);
    }
}
