// SPDX-License-Identifier: MIT
// bodies.c - checks instances of meshes and batches them into a few draws.
#include "render/bodies.h"

#include "base/error.h"
#include "render/renderer.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t look_of(const MoteRenderInstance *instance)
{
    return instance->look == MOTE_LOOK_AUTO ? MOTE_LOOK_SOLID : instance->look;
}

// Views of particles show the members of a body, not its skin.
bool body_is_drawn(const MeshSet *set, const Frame *frame, const MoteRenderInstance *instance)
{
    const bool skin = set->meshes[instance->mesh].member_count > 0;
    return look_of(instance) != MOTE_LOOK_HIDDEN && !(skin && frame->spheres);
}

// ---- Checks ------------------------------------------------------------------------------------------------

static float squared_length(MoteQuaternion q)
{
    return q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
}

static bool is_rotation(MoteQuaternion q)
{
    return fabsf(squared_length(q) - 1.0f) < 1e-2f;
}

static bool is_pose(const MoteTransform *pose, float scale)
{
    const MoteVec3 p = pose->position;
    return isfinite(p.x) && isfinite(p.y) && isfinite(p.z) && is_rotation(pose->rotation) && isfinite(scale) &&
           scale > 0.0f;
}

static MoteResult check_instance(const MeshSet *set, const MoteRenderView *solver, const MoteRenderInstance *instance,
                                 uint32_t number)
{
    if (instance->mesh >= set->count) {
        return mote_fail(MOTE_ERROR_INPUT, "instance %u is of mesh %u, but the renderer was given %u meshes", number,
                         instance->mesh, set->count);
    }
    if (instance->look > MOTE_LOOK_HIDDEN) {
        return mote_fail(MOTE_ERROR_INPUT, "instance %u has look %u, expected a MoteLook", number, instance->look);
    }
    const uint32_t members = set->meshes[instance->mesh].member_count;
    const uint64_t end = (uint64_t)instance->member_offset + members;
    if (members > 0 && end > solver->member_count) {
        return mote_fail(MOTE_ERROR_INPUT, "instance %u follows members %u to %llu, but the world has %u", number,
                         instance->member_offset, (unsigned long long)end - 1, solver->member_count);
    }
    if (members > 0 && !is_rotation(instance->pose.rotation) && squared_length(instance->pose.rotation) != 0.0f) {
        return mote_fail(MOTE_ERROR_INPUT, "instance %u has a rotation that is none: expected a unit quaternion, or 0",
                         number);
    }
    if (members == 0 && !is_pose(&instance->pose, instance->scale)) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "instance %u has a pose or scale that is none: expected a place, a unit quaternion and a "
                         "scale above 0",
                         number);
    }
    return MOTE_OK;
}

MoteResult bodies_check(const MeshSet *set, const Frame *frame)
{
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < frame->scene->instance_count && result == MOTE_OK; i++) {
        result = check_instance(set, &frame->solver, &frame->scene->instances[i], i);
    }
    return result;
}

// ---- Order -------------------------------------------------------------------------------------------------

typedef struct Drawn {
    uint32_t look, mesh, level, instance;
} Drawn;

// Metres from the eye to an instance, or 0 near it. Where a body's particles are the host does not know, but all are in
// one box.
static double distance_of(const MeshRange *mesh, const Frame *frame, const MoteRenderInstance *instance)
{
    const vec4 eye = frame->constants.eye;
    const MoteVec3 p = instance->pose.position;
    const bool skin = mesh->member_count > 0;
    const MoteVec3 low = skin ? frame->solver.bounds_min : p, high = skin ? frame->solver.bounds_max : p;
    const double x = fmax(fmax(low.x - eye.x, eye.x - high.x), 0.0f),
                 y = fmax(fmax(low.y - eye.y, eye.y - high.y), 0.0f);
    const double z = fmax(fmax(low.z - eye.z, eye.z - high.z), 0.0f);
    return fmax(sqrt(x * x + y * y + z * z) - mesh->reach * (skin ? 1.0f : instance->scale), 0.0);
}

// The coarsest level whose cells are no wider than three pixels: its vertices are on the surface, and between them it
// hardly bends over that width.
static uint32_t level_of(const MeshRange *mesh, const Frame *frame, const MoteRenderInstance *instance)
{
    const double scale = mesh->member_count > 0 ? 1.0 : (double)instance->scale;
    const double wide = 3.0 * distance_of(mesh, frame, instance) / (double)frame->constants.focal / scale;
    uint32_t level = 0;
    while (level + 1 < mesh->level_count && (double)mesh->levels[level + 1].cell < wide) {
        level++;
    }
    return level;
}

static int compare_drawn(const void *a, const void *b)
{
    const Drawn *p = a, *q = b;
    const uint32_t left[] = {p->look, p->mesh, p->level, p->instance};
    const uint32_t right[] = {q->look, q->mesh, q->level, q->instance};
    for (int k = 0; k < 4; k++) {
        if (left[k] != right[k]) {
            return left[k] < right[k] ? -1 : 1;
        }
    }
    return 0;
}

static MeshInstance place(const MoteRenderInstance *instance, const MeshRange *mesh, uint32_t first_vertex)
{
    const MoteVec3 p = instance->pose.position, t = instance->tint;
    const MoteQuaternion given = instance->pose.rotation, none = {0.0f, 0.0f, 0.0f, 1.0f};
    const MoteQuaternion q = squared_length(given) > 0.0f ? given : none;
    return (MeshInstance){.rotation = {q.x, q.y, q.z, q.w},
                          .position = {p.x, p.y, p.z, instance->scale},
                          .color = {mesh->color.x * t.x, mesh->color.y * t.y, mesh->color.z * t.z, mesh->color.w},
                          .first = first_vertex,
                          .member_offset = instance->member_offset,
                          .wet = mesh->wet ? mesh->first_vertex + 1 : 0};
}

// Rows of instances, and what of them is drawn at once; returns how many vertices they have together.
static uint64_t fill(const MeshSet *set, const MoteRenderScene *scene, const Drawn *drawn, uint32_t count,
                     Bodies *bodies)
{
    MeshInstance *rows = bodies->instances.mapped;
    uint64_t vertices = 0;
    bodies->draw_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const MeshRange *mesh = &set->meshes[drawn[i].mesh];
        if (i == 0 || drawn[i].look != drawn[i - 1].look || drawn[i].mesh != drawn[i - 1].mesh ||
            drawn[i].level != drawn[i - 1].level) {
            bodies->draws[bodies->draw_count++] =
                (BodyDraw){.mesh = drawn[i].mesh, .level = drawn[i].level, .look = drawn[i].look, .first = i};
        }
        bodies->draws[bodies->draw_count - 1].count++;
        rows[i] = place(&scene->instances[drawn[i].instance], mesh, (uint32_t)vertices);
        vertices += mesh->levels[drawn[i].level].vertex_count;
    }
    return vertices;
}

// ---- Buffers -----------------------------------------------------------------------------------------------

// Marks the members that have a skin, also a hidden one, and the handles that ropes go through: rows of handle_slots.
static MoteResult mark_drawn_handles(Device *device, const MeshSet *set, Frame *frame, Bodies *bodies)
{
    const MoteRenderScene *scene = frame->scene;
    bool any = scene->rope_count > 0;
    for (uint32_t i = 0; i < scene->instance_count && !any; i++) {
        any = set->meshes[scene->instances[i].mesh].member_count > 0;
    }
    if (!any) {
        return MOTE_OK;
    }
    const uint32_t members = frame->solver.member_count;
    const size_t bytes = frame->solver.handle_slots.bytes;
    const MoteResult result = buffer_reserve(device, "has_mesh", BUFFER_UPLOAD, bytes, &bodies->has_mesh);
    if (result != MOTE_OK) {
        return result;
    }
    uint32_t *marks = bodies->has_mesh.mapped;
    memset(marks, 0, bytes);
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        const MoteRenderInstance *instance = &scene->instances[i];
        for (uint32_t m = 0; m < set->meshes[instance->mesh].member_count; m++) {
            marks[instance->member_offset + m] = 1;
        }
    }
    for (uint32_t i = 0; i < scene->rope_count; i++) {
        const MoteRenderRope *rope = &scene->ropes[i];
        for (uint32_t k = 0; k < rope->node_count; k++) {
            const uint32_t handle = scene->rope_nodes[rope->first_node + k].value - 1;
            if (handle >= MOTE_HANDLE_SINGLE) { // members stay what they are
                marks[members + (handle - MOTE_HANDLE_SINGLE)] = 1;
            }
        }
    }
    buffer_flush(device, &bodies->has_mesh);
    frame->constants.has_mesh = bodies->has_mesh.address;
    frame->constants.has_mesh_count = (uint32_t)(bytes / sizeof(uint32_t));
    return MOTE_OK;
}

static MoteResult reserve_vertices(Device *device, uint64_t count, Bodies *bodies)
{
    if (count * sizeof(BodyVertex) > device->info.memory_bytes || count > UINT32_MAX) {
        const double gib = 1.0 / (1u << 30);
        return mote_fail(MOTE_ERROR_MEMORY,
                         "instances of %llu vertices take %.1f GiB, more than the %.1f GiB of %s: draw fewer, or "
                         "coarser meshes",
                         (unsigned long long)count, (double)count * sizeof(BodyVertex) * gib,
                         (double)device->info.memory_bytes * gib, device->info.name);
    }
    return buffer_reserve(device, "body vertices", BUFFER_DEVICE, count * sizeof(BodyVertex), &bodies->vertices);
}

MoteResult bodies_prepare(Device *device, const MeshSet *set, Frame *frame, Bodies *bodies)
{
    const MoteRenderScene *scene = frame->scene;
    bodies->draw_count = 0;
    if (scene->instance_count == 0) {
        return mark_drawn_handles(device, set, frame, bodies);
    }
    Drawn *drawn = malloc(scene->instance_count * sizeof *drawn);
    free(bodies->draws);
    bodies->draws = malloc(scene->instance_count * sizeof *bodies->draws);
    if (drawn == NULL || bodies->draws == NULL) {
        free(drawn);
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %u instances", scene->instance_count);
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        if (body_is_drawn(set, frame, &scene->instances[i])) {
            const MoteRenderInstance *instance = &scene->instances[i];
            drawn[count++] = (Drawn){.look = look_of(instance),
                                     .mesh = instance->mesh,
                                     .level = level_of(&set->meshes[instance->mesh], frame, instance),
                                     .instance = i};
        }
    }
    qsort(drawn, count, sizeof *drawn, compare_drawn);
    MoteResult result =
        buffer_reserve(device, "instances", BUFFER_UPLOAD, (count + 1) * sizeof(MeshInstance), &bodies->instances);
    if (result == MOTE_OK) {
        const uint64_t vertices = fill(set, scene, drawn, count, bodies);
        buffer_flush(device, &bodies->instances);
        result = reserve_vertices(device, vertices, bodies);
    }
    free(drawn);
    result = result == MOTE_OK ? mark_drawn_handles(device, set, frame, bodies) : result;
    FrameConstants *c = &frame->constants;
    c->instances = bodies->instances.address;
    c->body_vertices = bodies->vertices.address;
    c->mesh_vertices = set->vertices.address;
    c->mesh_triangles = set->triangles.address;
    return result;
}

void bodies_destroy(Device *device, Bodies *bodies)
{
    buffer_destroy(device, &bodies->instances);
    buffer_destroy(device, &bodies->vertices);
    buffer_destroy(device, &bodies->has_mesh);
    free(bodies->draws);
    memset(bodies, 0, sizeof *bodies);
}

// ---- Drawing -----------------------------------------------------------------------------------------------

bool bodies_look_so(const Bodies *bodies, uint32_t look)
{
    for (uint32_t i = 0; i < bodies->draw_count; i++) {
        if (bodies->draws[i].look == look) {
            return true;
        }
    }
    return false;
}

void body_draw(VkCommandBuffer commands, const MeshSet *set, const BodyDraw *draw)
{
    const MeshLevel *level = &set->meshes[draw->mesh].levels[draw->level];
    vkCmdBindIndexBuffer(commands, set->triangles.handle, 0, VK_INDEX_TYPE_UINT32);
    vkCmdDrawIndexed(commands, 3 * level->triangle_count, draw->count, 3 * level->first_triangle, 0, draw->first);
}
