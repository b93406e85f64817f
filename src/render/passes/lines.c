// SPDX-License-Identifier: MIT
// lines.c - draws wireframes: colliders and meshes with the look `wireframe`, and all colliders in the colliders view.
#include "passes/lines.h"
#include "render/renderer.h"
#include "render/primitive_mesh.h"

#include "base/error.h"
#include "base/vec.h"
#include <math.h>
#include <stdlib.h>

typedef struct Line {
    vec4 ends[2]; // m; w is the opacity there
    vec4 color;   // linear; w unused
} Line;

typedef struct LinesPass {
    VkPipeline pipeline;
    VkPipeline bodies; // edges of meshes
    Buffer buffer;     // of Line, mapped
    uint32_t count;
} LinesPass;

// ---- Wire frames -------------------------------------------------------------------------------------------

enum { CIRCLE_SEGMENTS = 64, GRID_LINES = 17, COLLIDER_LINES_MAX = 12 * CIRCLE_SEGMENTS };

// Lines of one collider; `end` is where the next one goes.
typedef struct Pen {
    Line *end, *limit;
    MoteTransform pose;
    vec4 color;
} Pen;

static MoteVec3 vector(float x, float y, float z)
{
    return (MoteVec3){x, y, z};
}

static vec4 place(const Pen *pen, MoteVec3 local, float opacity)
{
    const MoteVec3 r = vec3_rotate(pen->pose.rotation, local), p = pen->pose.position;
    return (vec4){r.x + p.x, r.y + p.y, r.z + p.z, opacity};
}

static void draw_faded(Pen *pen, MoteVec3 a, float opacity_a, MoteVec3 b, float opacity_b)
{
    MOTE_ASSERT(pen->end < pen->limit);
    *pen->end++ = (Line){{place(pen, a, opacity_a), place(pen, b, opacity_b)}, pen->color};
}

static void draw(Pen *pen, MoteVec3 a, MoteVec3 b)
{
    draw_faded(pen, a, 1.0f, b, 1.0f);
}

// An arc about `centre` from `from` (radians) over `turn`: cos along `x`, sin along `y`, both as long as the radius.
static void draw_arc(Pen *pen, MoteVec3 centre, MoteVec3 x, MoteVec3 y, float from, float turn)
{
    const float circle = 6.283185307f;
    const int segments = (int)ceilf(CIRCLE_SEGMENTS * turn / circle - 1e-3f);
    MoteVec3 last = centre;
    for (int i = 0; i <= segments; i++) {
        const float angle = from + turn * (float)i / (float)segments;
        const float c = cosf(angle), s = sinf(angle);
        const MoteVec3 p = {centre.x + c * x.x + s * y.x, centre.y + c * x.y + s * y.y, centre.z + c * x.z + s * y.z};
        if (i > 0) {
            draw(pen, last, p);
        }
        last = p;
    }
}

static void draw_box(Pen *pen, MoteVec3 h)
{
    for (uint32_t edge = 0; edge < 12; edge++) {
        const uint32_t axis = edge / 4;
        const float s = (edge & 1u) != 0 ? 1.0f : -1.0f, t = (edge & 2u) != 0 ? 1.0f : -1.0f;
        MoteVec3 a = {s * h.x, t * h.y, -h.z}, b = {s * h.x, t * h.y, h.z};
        if (axis == 0) {
            a = vector(-h.x, s * h.y, t * h.z);
            b = vector(h.x, s * h.y, t * h.z);
        } else if (axis == 1) {
            a = vector(s * h.x, -h.y, t * h.z);
            b = vector(s * h.x, h.y, t * h.z);
        }
        draw(pen, a, b);
    }
}

// Four meridians and three parallels on each half; with half_length 0 a sphere, whose two equators are one.
static void draw_capsule(Pen *pen, float r, float half_length)
{
    const float pi = 3.141592654f;
    for (int k = 0; k < 4; k++) {
        const float angle = pi * (float)k / 4.0f;
        const MoteVec3 side = {r * cosf(angle), 0.0f, r * sinf(angle)};
        draw_arc(pen, vector(0, half_length, 0), side, vector(0, r, 0), 0.0f, pi);
        draw_arc(pen, vector(0, -half_length, 0), side, vector(0, r, 0), pi, pi);
        if (half_length > 0.0f) {
            draw(pen, vector(side.x, half_length, side.z), vector(side.x, -half_length, side.z));
            draw(pen, vector(-side.x, half_length, -side.z), vector(-side.x, -half_length, -side.z));
        }
    }
    for (int k = -2; k <= 2; k++) {
        const float latitude = pi * (float)k / 6.0f, ring = r * cosf(latitude);
        const float height = r * sinf(latitude) + (k > 0 ? half_length : k < 0 ? -half_length : 0.0f);
        draw_arc(pen, vector(0, height, 0), vector(ring, 0, 0), vector(0, 0, ring), 0.0f, 2.0f * pi);
    }
    for (int side = -1; half_length > 0.0f && side <= 1; side += 2) {
        draw_arc(pen, vector(0, (float)side * half_length, 0), vector(r, 0, 0), vector(0, 0, r), 0.0f, 2.0f * pi);
    }
}

// A plane has no end: a grid around where the camera looks, as wide as the camera is far away, which fades outwards,
// and a line along its normal.
static void draw_plane(Pen *pen, const MoteCamera *camera)
{
    const MoteVec3 away = {camera->position.x - camera->target.x, camera->position.y - camera->target.y,
                           camera->position.z - camera->target.z};
    const float distance = sqrtf(away.x * away.x + away.y * away.y + away.z * away.z);
    const float step = exp2f(roundf(log2f(fmaxf(distance, 1e-3f)))) / 8.0f;
    const MoteVec3 p = pen->pose.position;
    const MoteQuaternion q = pen->pose.rotation;
    const MoteVec3 target =
        vec3_rotate(quat_conjugate(q), vector(camera->target.x - p.x, camera->target.y - p.y, camera->target.z - p.z));
    const float x0 = roundf(target.x / step) * step, z0 = roundf(target.z / step) * step; // lines stay where they are
    const float reach = step * (GRID_LINES / 2);
    for (int k = 0; k < GRID_LINES; k++) {
        const float offset = step * (float)(k - GRID_LINES / 2);
        const float opacity = 1.0f - fabsf(offset) / (reach + step);
        for (int side = -1; side <= 1; side += 2) {
            const float end = (float)side * reach;
            draw_faded(pen, vector(x0 + offset, 0, z0), opacity, vector(x0 + offset, 0, z0 + end), 0.0f);
            draw_faded(pen, vector(x0, 0, z0 + offset), opacity, vector(x0 + end, 0, z0 + offset), 0.0f);
        }
    }
    draw(pen, vector(x0, 0, z0), vector(x0, 0.5f * step, z0));
}

static void draw_collider(Pen *pen, const MoteCollider *collider, const MoteCamera *camera)
{
    switch (collider->kind) {
    case MOTE_COLLIDER_PLANE:
        draw_plane(pen, camera);
        break;
    case MOTE_COLLIDER_BOX:
        draw_box(pen, collider->half_size);
        break;
    case MOTE_COLLIDER_SPHERE:
        draw_capsule(pen, collider->radius, 0.0f);
        break;
    case MOTE_COLLIDER_CAPSULE:
        draw_capsule(pen, collider->radius, collider->half_size.y);
        break;
    default:
        break;
    }
}

// ---- The pass ----------------------------------------------------------------------------------------------

static bool is_drawn(const Frame *frame, uint32_t look)
{
    const bool measures = frame->view >= VIEW_depth && frame->view <= VIEW_foam_class; // images, not the scene
    return frame->view == VIEW_colliders || (look == MOTE_LOOK_WIREFRAME && !measures);
}

// In the finished picture a wire has its material's colour, whatever the exposure. In the colliders view containers
// and solids are told apart.
static vec4 wire_color(const Frame *frame, const MoteRenderCollider *collider)
{
    if (frame->view == VIEW_colliders) {
        return collider->collider.inside_out ? (vec4){1.0f, 0.5f, 0.08f, 1.0f} : (vec4){0.3f, 1.0f, 0.35f, 1.0f};
    }
    const uint32_t last = frame->scene->material_count - 1;
    const MoteVec3 color = frame->scene->materials[collider->material < last ? collider->material : last].color;
    const float scale = frame->view == VIEW_liquid ? 1.0f / frame->constants.exposure : 1.0f;
    return (vec4){scale * color.x, scale * color.y, scale * color.z, 1.0f};
}

static MoteResult draw_colliders(MoteRenderer *renderer, LinesPass *pass)
{
    const Frame *frame = &renderer->frame;
    const MoteRenderScene *scene = frame->scene;
    pass->count = 0;
    uint32_t drawn = 0;
    for (uint32_t i = 0; i < scene->collider_count; i++) {
        drawn += is_drawn(frame, scene->colliders[i].look);
    }
    if (drawn == 0) {
        return MOTE_OK;
    }
    const size_t capacity = (size_t)drawn * COLLIDER_LINES_MAX;
    const MoteResult result =
        buffer_reserve(&renderer->device, "lines", BUFFER_UPLOAD, capacity * sizeof(Line), &pass->buffer);
    if (result != MOTE_OK) {
        return result;
    }
    Line *const begin = pass->buffer.mapped;
    Pen pen = {.end = begin, .limit = begin + capacity};
    for (uint32_t i = 0; i < scene->collider_count; i++) {
        const MoteRenderCollider *collider = &scene->colliders[i];
        if (is_drawn(frame, collider->look)) {
            pen.pose = collider->collider.to;
            pen.color = wire_color(frame, collider);
            draw_collider(&pen, &collider->collider, &scene->camera);
        }
    }
    pass->count = (uint32_t)(pen.end - begin);
    buffer_flush(&renderer->device, &pass->buffer);
    return MOTE_OK;
}

static MoteResult create(MoteRenderer *renderer, void *state)
{
    LinesPass *pass = state;
    GraphicsPipeline info = {.vertex = "lines.vert",
                             .fragment = "lines.frag",
                             .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                             .blending = BLEND_OVER,
                             .color_format = VK_FORMAT_R16G16B16A16_SFLOAT};
    const MoteResult result = pipeline_create_graphics(renderer, &info, &pass->pipeline);
    info.vertex = "body_lines.vert";
    return result == MOTE_OK ? pipeline_create_graphics(renderer, &info, &pass->bodies) : result;
}

// The colliders view has no skins: what is left of the meshes there are colliders.
static void draw_bodies(MoteRenderer *renderer, const LinesPass *pass, VkCommandBuffer commands, float half_width)
{
    const Frame *frame = &renderer->frame;
    const float scale = frame->view == VIEW_liquid ? 1.0f / frame->constants.exposure : 1.0f;
    for (uint32_t i = 0; i < renderer->bodies.draw_count; i++) {
        const BodyDraw *draw = &renderer->bodies.draws[i];
        const MeshLevel *level = &renderer->meshes.meshes[draw->mesh].levels[draw->level];
        LinesPush push = {.half_width = half_width,
                          .edges = 3 * level->triangle_count,
                          .first_index = 3 * level->first_triangle,
                          .rgb = frame->view == VIEW_colliders ? (vec4){0.3f, 1.0f, 0.35f, 1.0f}
                                                               : (vec4){scale, scale, scale, 0.0f}};
        for (uint32_t k = 0; k < draw->count && is_drawn(frame, draw->look); k++) {
            push.instance = draw->first + k;
            pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->bodies, &push, sizeof push);
            vkCmdDraw(commands, 6, push.edges, 0, 0);
        }
    }
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    LinesPass *pass = state;
    if (renderer->frame.sample == 0) {
        const MoteResult result = draw_colliders(renderer, pass);
        if (result != MOTE_OK) {
            return result;
        }
    }
    if (pass->count == 0 && renderer->bodies.draw_count == 0) {
        return MOTE_OK;
    }
    const float width = fmaxf(1.0f, 1.5f * (float)renderer->height / 720.0f);
    const LinesPush push = {.lines = pass->buffer.address, .half_width = 0.5f * width};
    pass_begin_rendering(commands, &(RenderTargets){.color = &renderer->images[RESOURCE_color]});
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->pipeline, &push, sizeof push);
    if (pass->count > 0) {
        vkCmdDraw(commands, 6, pass->count, 0, 0);
    }
    draw_bodies(renderer, pass, commands, push.half_width);
    vkCmdEndRendering(commands);
    return MOTE_OK;
}

static void destroy(MoteRenderer *renderer, void *state)
{
    LinesPass *pass = state;
    vkDestroyPipeline(renderer->device.handle, pass->pipeline, NULL);
    vkDestroyPipeline(renderer->device.handle, pass->bodies, NULL);
    buffer_destroy(&renderer->device, &pass->buffer);
}

const Pass lines_pass = {.state_bytes = sizeof(LinesPass), .create = create, .record = record, .destroy = destroy};
