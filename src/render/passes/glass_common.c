// SPDX-License-Identifier: MIT
// With several samples per pixel, glass is drawn into a multisampled image of its own, whose mean is blended over the
// picture. The light behind glass is taken as equal for all samples of a pixel; glass absorbs so little that the error
// is not visible at edges.
#include "render/passes/glass_common.h"

#include "base/vec.h"
#include <math.h>

static MoteResult create_pipelines(MoteRenderer *renderer, GlassPipelines *glass_pipelines, uint32_t samples,
                                   bool tested)
{
    glass_pipelines->samples = samples;
    glass_pipelines->tested = tested;
    GraphicsPipeline info = {.vertex = "glass.vert",
                             .fragment = "glass.frag",
                             .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                             .cull = glass_pipelines->near_sides ? VK_CULL_MODE_BACK_BIT : VK_CULL_MODE_FRONT_BIT,
                             .blending = BLEND_OVER,
                             .color_format = VK_FORMAT_R16G16B16A16_SFLOAT,
                             .depth_format = tested ? VK_FORMAT_D32_SFLOAT : VK_FORMAT_UNDEFINED,
                             .depth_test = tested,
                             .depth_compare = VK_COMPARE_OP_GREATER,
                             .samples = samples,
                             .values = {glass_pipelines->near_sides, tested}};
    MoteResult result = pipeline_create_graphics(renderer, &info, &glass_pipelines->colliders);
    info.vertex = "body_glass.vert";
    result = result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &glass_pipelines->bodies) : result;
    info.vertex = "backdrop.vert";
    info.fragment = "glass_mean.frag";
    info.cull = VK_CULL_MODE_NONE;
    info.depth_format = VK_FORMAT_UNDEFINED;
    info.depth_test = false;
    info.samples = 1;
    info.values[0] = samples;
    return result == MOTE_OK && samples > 1 ? pipeline_create_graphics(renderer, &info, &glass_pipelines->mean)
                                            : result;
}

static void destroy_pipelines(MoteRenderer *renderer, GlassPipelines *glass_pipelines)
{
    VkPipeline *pipelines[] = {&glass_pipelines->colliders, &glass_pipelines->bodies, &glass_pipelines->mean};
    for (uint32_t i = 0; i < sizeof pipelines / sizeof pipelines[0]; i++) {
        vkDestroyPipeline(renderer->device.handle, *pipelines[i], NULL);
        *pipelines[i] = VK_NULL_HANDLE;
    }
}

MoteResult glass_pipelines_create(MoteRenderer *renderer, GlassPipelines *glass_pipelines, bool near_sides)
{
    glass_pipelines->near_sides = near_sides;
    return create_pipelines(renderer, glass_pipelines, mote_renderer_multisampling(renderer, USUAL_SAMPLES), false);
}

typedef struct ScreenBounds {
    float low[2], high[2]; // pixels
    bool unknown;
} ScreenBounds;

// Adds the corners of a box.
static void grow_bounds(const MoteRenderer *renderer, const MoteTransform *pose, MoteVec3 half, ScreenBounds *bounds)
{
    const float *m = renderer->frame.constants.view_projection.columns;
    const float margin = 1.0f, size[2] = {(float)renderer->width, (float)renderer->height};
    for (uint32_t corner = 0; corner < 8; corner++) {
        const MoteVec3 local = {corner & 1 ? half.x : -half.x, corner & 2 ? half.y : -half.y,
                                corner & 4 ? half.z : -half.z};
        const MoteVec3 turned = vec3_rotate(pose->rotation, local), at = pose->position;
        const MoteVec3 p = {at.x + turned.x, at.y + turned.y, at.z + turned.z};
        const float w = m[3] * p.x + m[7] * p.y + m[11] * p.z + m[15];
        bounds->unknown = bounds->unknown || w < renderer->frame.constants.near_plane;
        for (uint32_t k = 0; k < 2 && w > 0.0f; k++) {
            const float clip = (m[k] * p.x + m[4 + k] * p.y + m[8 + k] * p.z + m[12 + k]) / w;
            const float pixel = 0.5f * (clip + 1.0f) * size[k];
            bounds->low[k] = fminf(bounds->low[k], pixel - margin);
            bounds->high[k] = fmaxf(bounds->high[k], pixel + margin);
        }
    }
}

static bool is_any_drawn(const MoteRenderer *renderer)
{
    const MoteRenderScene *scene = renderer->frame.scene;
    bool any = bodies_look_so(&renderer->bodies, MOTE_LOOK_GLASS);
    for (uint32_t i = 0; i < scene->collider_count && !any; i++) {
        any = scene->colliders[i].look == MOTE_LOOK_GLASS;
    }
    return any;
}

// The part of the picture that glass can be in, which is often small. All of it where that is not known: for planes,
// for skins, and for what reaches behind the camera.
static VkRect2D glass_area(const MoteRenderer *renderer)
{
    const MoteRenderScene *scene = renderer->frame.scene;
    ScreenBounds bounds = {.low = {INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY}};
    for (uint32_t i = 0; i < scene->collider_count; i++) {
        const MoteCollider *collider = &scene->colliders[i].collider;
        if (scene->colliders[i].look == MOTE_LOOK_GLASS) {
            const MoteVec3 half = collider->half_size;
            const float r = collider->radius;
            bounds.unknown = bounds.unknown || collider->kind == MOTE_COLLIDER_PLANE;
            grow_bounds(renderer, &collider->to, (MoteVec3){half.x + r, half.y + r, half.z + r}, &bounds);
        }
    }
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const MoteRenderInstance *instance = &scene->instances[i];
        if (instance->look == MOTE_LOOK_GLASS) {
            const MeshRange *mesh = &renderer->meshes.meshes[instance->mesh];
            const float r = instance->scale * mesh->reach;
            bounds.unknown = bounds.unknown || mesh->member_count > 0;
            grow_bounds(renderer, &instance->pose, (MoteVec3){r, r, r}, &bounds);
        }
    }
    const float width = (float)renderer->width, height = (float)renderer->height;
    const float x = floorf(fminf(fmaxf(bounds.low[0], 0.0f), width)),
                y = floorf(fminf(fmaxf(bounds.low[1], 0.0f), height));
    const float right = ceilf(fminf(fmaxf(bounds.high[0], x), width)),
                bottom = ceilf(fminf(fmaxf(bounds.high[1], y), height));
    return bounds.unknown ? (VkRect2D){{0, 0}, {renderer->width, renderer->height}}
                          : (VkRect2D){{(int32_t)x, (int32_t)y}, {(uint32_t)(right - x), (uint32_t)(bottom - y)}};
}

static void draw_glass(MoteRenderer *renderer, const GlassPipelines *glass_pipelines, VkCommandBuffer commands)
{
    const MoteRenderScene *scene = renderer->frame.scene;
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, glass_pipelines->colliders, NULL, 0);
    for (uint32_t i = 0; i < scene->collider_count; i++) {
        if (scene->colliders[i].look == MOTE_LOOK_GLASS) {
            primitive_buffers_draw(commands, &renderer->colliders, scene->colliders[i].collider.kind, i);
        }
    }
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, glass_pipelines->bodies, NULL, 0);
    for (uint32_t i = 0; i < renderer->bodies.draw_count; i++) {
        if (renderer->bodies.draws[i].look == MOTE_LOOK_GLASS) {
            body_draw(commands, &renderer->meshes, &renderer->bodies.draws[i]);
        }
    }
}

MoteResult glass_pipelines_record(MoteRenderer *renderer, GlassPipelines *glass_pipelines, const DeviceImage *target,
                                  VkCommandBuffer commands)
{
    if (!is_any_drawn(renderer)) {
        return MOTE_OK;
    }
    const bool tested = renderer->frame.scene_samples > 1;
    if (glass_pipelines->samples != renderer->frame.samples || glass_pipelines->tested != tested) {
        destroy_pipelines(renderer, glass_pipelines);
        const MoteResult result = create_pipelines(renderer, glass_pipelines, renderer->frame.samples, tested);
        if (result != MOTE_OK) {
            return result;
        }
    }
    const VkRect2D area = glass_area(renderer);
    if (area.extent.width == 0 || area.extent.height == 0) {
        return MOTE_OK;
    }
    const RenderTargets one = {.color = target, .area = &area};
    const RenderTargets several = {.color = &renderer->images[RESOURCE_glass_samples],
                                   .depth = tested ? &renderer->images[RESOURCE_depth_samples] : NULL,
                                   .clear_color = &(VkClearColorValue){{0}},
                                   .area = &area};
    pass_begin_rendering(commands, glass_pipelines->samples > 1 ? &several : &one);
    draw_glass(renderer, glass_pipelines, commands);
    vkCmdEndRendering(commands);
    if (glass_pipelines->samples > 1) {
        pass_attachment_barrier(commands);
        pass_begin_rendering(commands, &one);
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, glass_pipelines->mean, NULL, 0);
        vkCmdDraw(commands, 3, 1, 0, 0);
        vkCmdEndRendering(commands);
    }
    return MOTE_OK;
}

void glass_pipelines_destroy(MoteRenderer *renderer, void *state)
{
    destroy_pipelines(renderer, state);
}
