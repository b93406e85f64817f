// SPDX-License-Identifier: MIT
// scene.c - draws everything but liquid and glass: lights the result of the bodies pass, then draws solid colliders,
// planes with the ground, and the sky. Multisampled where solids have edges, else with one sample.
#include "passes/scene.h"
#include "render/renderer.h"

#include <math.h>

enum {
    SOLID,     // colliders from outside,
    CONTAINER, // or into them from the far walls on
    SKY,
    GROUND,
    PLANE, // as the ground
    LIT,   // meshes and grains
    PIPELINES
};
enum { MOST_SURFACES = 4 }; // of meshes and grains that are lit a pixel

typedef struct ScenePass {
    VkPipeline pipelines[PIPELINES];
    uint32_t samples; // a pixel, that they are for
    bool fabrics;     // and whether LIT lights them
} ScenePass;

static uint32_t surfaces_a_pixel(uint32_t samples)
{
    return samples < MOST_SURFACES ? samples : MOST_SURFACES;
}

static MoteResult create_pipelines(MoteRenderer *renderer, ScenePass *pass, uint32_t samples)
{
    pass->samples = samples;
    GraphicsPipeline info = pipeline_opaque("scene.vert", "scene.frag", samples);
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
    info.fragment = "solids.frag";
    info.depth_test = false;
    info.values[0] = samples;
    info.values[1] = surfaces_a_pixel(samples) - 1;
    info.values[2] = pass->fabrics;
    return result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->pipelines[LIT]) : result;
}

static void destroy_pipelines(MoteRenderer *renderer, ScenePass *pass)
{
    for (uint32_t i = 0; i < PIPELINES; i++) {
        vkDestroyPipeline(renderer->device.handle, pass->pipelines[i], NULL);
        pass->pipelines[i] = VK_NULL_HANDLE;
    }
}

static MoteResult create(MoteRenderer *renderer, void *state)
{
    return create_pipelines(renderer, state, mote_renderer_multisampling(renderer, USUAL_SAMPLES));
}

static bool is_solid(const MoteRenderCollider *collider)
{
    return collider->look == MOTE_LOOK_SOLID && collider->collider.kind != MOTE_COLLIDER_PLANE;
}

static void draw_plane(MoteRenderer *renderer, const ScenePass *pass, VkCommandBuffer commands,
                       const MoteRenderCollider *plane)
{
    const MoteRenderScene *scene = renderer->frame.scene;
    const Collider collider = collider_instance(plane, scene->camera.target, 0.0f);
    MoteVec3 n = collider_normal(&collider, &(PrimitiveVertex){.normal = {0.0f, 1.0f, 0.0f, 0.0f}});
    if (plane->collider.inside_out) {
        n = (MoteVec3){-n.x, -n.y, -n.z};
    }
    const vec4 p = collider.position;
    const uint32_t last = scene->material_count - 1;
    const MoteRenderMaterial *m = &scene->materials[plane->material < last ? plane->material : last];
    const PlanePush push = {.plane = {n.x, n.y, n.z, -(n.x * p.x + n.y * p.y + n.z * p.z)},
                            .material = {m->color.x, m->color.y, m->color.z, m->roughness}};
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->pipelines[PLANE], &push, sizeof push);
    vkCmdDraw(commands, 3, 1, 0, 0);
}

// The light of meshes and grains, surface after surface of a pixel.
static void light_bodies(MoteRenderer *renderer, const ScenePass *pass, VkCommandBuffer commands)
{
    for (uint32_t surface = 0; surface < surfaces_a_pixel(pass->samples); surface++) {
        const SolidsPush push = {surface};
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->pipelines[LIT], &push, sizeof push);
        vkCmdDraw(commands, 3, 1, 0, 0);
    }
}

static void draw_solids(MoteRenderer *renderer, const ScenePass *pass, VkCommandBuffer commands)
{
    const MoteRenderScene *scene = renderer->frame.scene;
    for (uint32_t i = 0; i < scene->collider_count; i++) {
        const MoteCollider *collider = &scene->colliders[i].collider;
        if (is_solid(&scene->colliders[i])) {
            pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                      pass->pipelines[collider->inside_out ? CONTAINER : SOLID], NULL, 0);
            primitive_buffers_draw(commands, &renderer->colliders, collider->kind, i);
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
    for (uint32_t i = 0; i < scene->collider_count; i++) {
        if (scene->colliders[i].look == MOTE_LOOK_SOLID && scene->colliders[i].collider.kind == MOTE_COLLIDER_PLANE) {
            draw_plane(renderer, pass, commands, &scene->colliders[i]);
        }
    }
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->pipelines[SKY], NULL, 0);
    vkCmdDraw(commands, 3, 1, 0, 0);
}

// What only the ground asks for: its grid, and the solids that darken it near them, the first few of those, for every
// pixel asks each.
static void set_constants(MoteRenderer *renderer)
{
    const MoteRenderScene *scene = renderer->frame.scene;
    const MoteVec3 grid = scene->ground.grid_color;
    SceneConstants c = {.grid_color = {grid.x, grid.y, grid.z, scene->ground.grid}, .pattern = scene->ground.pattern};
    for (uint32_t i = 0; i < scene->collider_count && c.blocker_count < BLOCKERS; i++) {
        if (is_solid(&scene->colliders[i]) && !scene->colliders[i].collider.inside_out) {
            const Collider collider = collider_instance(&scene->colliders[i], (MoteVec3){0}, 0.0f);
            const vec4 h = collider.half_size, p = collider.position;
            const float radius = sqrtf(h.x * h.x + h.y * h.y + h.z * h.z) + p.w + 1.5f * h.w;
            c.blocker_spheres[c.blocker_count] = (vec4){p.x, p.y, p.z, radius};
            c.blockers[c.blocker_count++] = collider;
        }
    }
    pass_constants(renderer, &c, sizeof c);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    ScenePass *pass = state;
    const bool fabrics = renderer->frame.constants.fabric_count > 0;
    if (pass->samples != renderer->frame.scene_samples || pass->fabrics != fabrics) {
        destroy_pipelines(renderer, pass);
        pass->fabrics = fabrics;
        const MoteResult result = create_pipelines(renderer, pass, renderer->frame.scene_samples);
        if (result != MOTE_OK) {
            return result;
        }
    }
    const bool bodies = renderer->frame.constants.has_bodies != 0, several = pass->samples > 1;
    const float farthest = 0.0f;
    set_constants(renderer);
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

static void destroy(MoteRenderer *renderer, void *state)
{
    destroy_pipelines(renderer, state);
}

const Pass scene_pass = {.state_bytes = sizeof(ScenePass), .create = create, .record = record, .destroy = destroy};
