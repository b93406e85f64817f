// SPDX-License-Identifier: MIT
// shadow.c - shadow map of solids. Glass casts no shadow, and neither do planes: an infinite wall would block the sun.
// Also fills the buffers of all colliders, which later passes draw from.
#include "render/renderer.h"

#include <math.h>

typedef struct ShadowPass {
    VkPipeline solid;
    VkPipeline container;  // its far walls alone: light comes in where the viewer looks in
    VkPipeline body, open; // meshes, and those whose triangles are seen from both sides
    VkPipeline grains;
} ShadowPass;

static MoteResult create(MoteRenderer *renderer, void *state)
{
    ShadowPass *pass = state;
    MoteResult result = primitive_buffers_create(&renderer->device, &renderer->colliders);
    GraphicsPipeline solid = {.vertex = "shadow.vert",
                              .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                              .cull = VK_CULL_MODE_BACK_BIT,
                              .depth_format = VK_FORMAT_D32_SFLOAT,
                              .depth_test = true,
                              .depth_write = true,
                              .depth_compare = VK_COMPARE_OP_LESS,
                              .depth_bias_slope = 1.5f};
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &solid, &pass->solid) : result;
    solid.cull = VK_CULL_MODE_FRONT_BIT;
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &solid, &pass->container) : result;
    solid.vertex = "body_shadow.vert";
    solid.cull = VK_CULL_MODE_BACK_BIT;
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &solid, &pass->body) : result;
    solid.cull = VK_CULL_MODE_NONE;
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &solid, &pass->open) : result;
    solid.vertex = "backdrop.vert"; // a triangle over all of the map
    solid.fragment = "grains_shadow.frag";
    solid.depth_bias_slope = 0.0f;
    return result == MOTE_OK ? pipeline_create_graphics(renderer, &solid, &pass->grains) : result;
}

static bool casts_shadow(const MoteRenderCollider *collider)
{
    return collider->look == MOTE_LOOK_SOLID && collider->collider.kind != MOTE_COLLIDER_PLANE;
}

// ---- What of the sun's maps is in use, so that lookups elsewhere end early ----

static const vec4 empty_rectangle = {3.0f, 3.0f, -3.0f, -3.0f};

static vec4 join(vec4 a, vec4 b)
{
    return (vec4){fminf(a.x, b.x), fminf(a.y, b.y), fmaxf(a.z, b.z), fmaxf(a.w, b.w)};
}

static float area(vec4 r)
{
    return (r.z - r.x) * (r.w - r.y);
}

// Of a sphere: in the sun's maps it is a disc.
static vec4 rectangle_of(const FrameConstants *c, MoteVec3 p, float radius)
{
    const float *m = c->sun_projection.columns;
    const float x = m[0] * p.x + m[4] * p.y + m[8] * p.z + m[12];
    const float y = m[1] * p.x + m[5] * p.y + m[9] * p.z + m[13];
    const float rx = radius / c->sun_map.x, ry = radius / c->sun_map.y;
    return (vec4){x - rx, y - ry, x + rx, y + ry};
}

// Of a box, sphere or capsule: its corners, and its radius around each.
static vec4 rectangle_of_collider(const FrameConstants *c, const MoteRenderCollider *collider)
{
    const Collider placed = collider_instance(collider, (MoteVec3){0}, 0.0f);
    vec4 rectangle = empty_rectangle;
    for (uint32_t i = 0; i < 8; i++) {
        const PrimitiveVertex corner = {
            .corner = {(i & 1u) != 0 ? 1.0f : -1.0f, (i & 2u) != 0 ? 1.0f : -1.0f, (i & 4u) != 0 ? 1.0f : -1.0f, 0.0f}};
        rectangle = join(rectangle, rectangle_of(c, collider_point(&placed, &corner), placed.position.w));
    }
    return rectangle;
}

static vec4 rectangle_of_particles(const FrameConstants *c, const MoteRenderView *solver, float reach)
{
    const MoteVec3 low = solver->bounds_min, high = solver->bounds_max;
    vec4 rectangle = empty_rectangle;
    for (uint32_t i = 0; i < 8; i++) {
        const MoteVec3 corner = {(i & 1u) != 0 ? high.x : low.x, (i & 2u) != 0 ? high.y : low.y,
                                 (i & 4u) != 0 ? high.z : low.z};
        rectangle = join(rectangle, rectangle_of(c, corner, reach));
    }
    return rectangle;
}

// One more rectangle, or the one that grows least grown.
static void add_solid(FrameConstants *c, vec4 rectangle)
{
    if (c->solid_rect_count < SOLID_RECTS) {
        c->solid_rects[c->solid_rect_count++] = rectangle;
        return;
    }
    uint32_t best = 0;
    float least = INFINITY;
    for (uint32_t i = 0; i < SOLID_RECTS; i++) {
        const float growth = area(join(c->solid_rects[i], rectangle)) - area(c->solid_rects[i]);
        if (growth < least) {
            least = growth;
            best = i;
        }
    }
    c->solid_rects[best] = join(c->solid_rects[best], rectangle);
}

static void set_rectangles(MoteRenderer *renderer)
{
    const Frame *frame = &renderer->frame;
    FrameConstants *c = &renderer->frame.constants;
    c->solid_rect_count = 0;
    for (uint32_t i = 0; i < SOLID_RECTS; i++) {
        c->solid_rects[i] = empty_rectangle;
    }
    for (uint32_t i = 0; i < frame->scene->collider_count; i++) {
        if (casts_shadow(&frame->scene->colliders[i])) {
            add_solid(c, rectangle_of_collider(c, &frame->scene->colliders[i]));
        }
    }
    for (uint32_t i = 0; i < frame->scene->instance_count; i++) {
        const MoteRenderInstance *instance = &frame->scene->instances[i];
        const MeshRange *mesh = &renderer->meshes.meshes[instance->mesh];
        if (mesh->member_count == 0 && body_is_drawn(&renderer->meshes, frame, instance)) {
            add_solid(c, rectangle_of(c, instance->pose.position, instance->scale * mesh->reach));
        }
    }
    if (frame->solid_reach > 0.0f && frame->solver.particle_count > 0) { // grains, and bodies that follow particles
        add_solid(c, rectangle_of_particles(c, &frame->solver, frame->solid_reach));
    }
    c->liquid_rect = empty_rectangle;
    if (frame->liquid && c->liquid_shadow > 0.0f) {
        c->liquid_rect = rectangle_of_particles(c, &frame->solver, 0.0f);
    }
}

static void draw_bodies(MoteRenderer *renderer, const ShadowPass *pass, VkCommandBuffer commands)
{
    for (uint32_t i = 0; i < renderer->bodies.draw_count; i++) {
        const BodyDraw *draw = &renderer->bodies.draws[i];
        if (draw->look == MOTE_LOOK_SOLID) {
            const bool closed = renderer->meshes.meshes[draw->mesh].closed;
            pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, closed ? pass->body : pass->open, NULL, 0);
            body_draw(commands, &renderer->meshes, draw);
        }
    }
    if (renderer->frame.constants.has_solids != 0) {
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->grains, NULL, 0);
        vkCmdDraw(commands, 3, 1, 0, 0);
    }
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    const ShadowPass *pass = state;
    const MoteRenderScene *scene = renderer->frame.scene;
    FrameConstants *constants = &renderer->frame.constants;
    const MoteResult result = primitive_buffers_fill(&renderer->device, &renderer->colliders, scene);
    if (result != MOTE_OK) {
        return result;
    }
    constants->primitive_vertices = renderer->colliders.vertices.address;
    constants->colliders = renderer->colliders.colliders.address;
    set_rectangles(renderer);

    const float farthest = 1.0f;
    pass_begin_rendering(commands,
                         &(RenderTargets){.depth = &renderer->images[RESOURCE_shadow_depth], .clear_depth = &farthest});
    for (uint32_t i = 0; i < scene->collider_count; i++) {
        const MoteCollider *collider = &scene->colliders[i].collider;
        if (casts_shadow(&scene->colliders[i])) {
            pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                      collider->inside_out ? pass->container : pass->solid, NULL, 0);
            primitive_buffers_draw(commands, &renderer->colliders, collider->kind, i);
        }
    }
    draw_bodies(renderer, pass, commands);
    vkCmdEndRendering(commands);
    return MOTE_OK;
}

static void destroy(MoteRenderer *renderer, void *state)
{
    const ShadowPass *pass = state;
    const VkPipeline pipelines[] = {pass->solid, pass->container, pass->body, pass->open, pass->grains};
    for (uint32_t i = 0; i < sizeof pipelines / sizeof pipelines[0]; i++) {
        vkDestroyPipeline(renderer->device.handle, pipelines[i], NULL);
    }
    primitive_buffers_destroy(&renderer->device, &renderer->colliders);
}

const Pass shadow_pass = {.state_bytes = sizeof(ShadowPass), .create = create, .record = record, .destroy = destroy};
