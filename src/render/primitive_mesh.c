// SPDX-License-Identifier: MIT
#include "render/primitive_mesh.h"

#include "base/error.h"
#include "base/vec.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEGMENTS = 64, // around a sphere: its outline is off by an 800th of its radius at most
    RINGS = 16,    // from its equator to a pole
};

// How much one mesh of all kinds holds: a box, two half spheres, a plane.
enum {
    ROUND_VERTICES = 2 * (RINGS + 1) * SEGMENTS,
    ROUND_TRIANGLES = (2 * (RINGS - 1) + 1) * SEGMENTS * 2 + 2 * SEGMENTS,
    VERTICES = 24 + ROUND_VERTICES + 4,
    INDICES = 36 + 3 * ROUND_TRIANGLES + 6,
};

// ---- Meshes ------------------------------------------------------------------------------------------------

static uint32_t add_vertex(PrimitiveMesh *mesh, vec4 corner, vec4 normal)
{
    MOTE_ASSERT(mesh->vertex_count < VERTICES);
    mesh->vertices[mesh->vertex_count] = (PrimitiveVertex){corner, normal};
    return mesh->vertex_count++;
}

static void add_index(PrimitiveMesh *mesh, uint32_t index)
{
    MOTE_ASSERT(mesh->index_count < INDICES);
    mesh->indices[mesh->index_count++] = index;
}

static void add_triangle(PrimitiveMesh *mesh, uint32_t a, uint32_t b, uint32_t c)
{
    add_index(mesh, a);
    add_index(mesh, b);
    add_index(mesh, c);
}

static PrimitiveRange range_since(const PrimitiveMesh *mesh, uint32_t first)
{
    return (PrimitiveRange){first, mesh->index_count - first};
}

static void add_box(PrimitiveMesh *mesh)
{
    const uint32_t first = mesh->index_count;
    for (uint32_t face = 0; face < 6; face++) {
        // The face looks along `axis`; right and up follow it in the cyclic order x, y, z, mirrored on the far side.
        const uint32_t axis = face / 2, right = (axis + 1) % 3, up = (axis + 2) % 3;
        const float side = face % 2 == 0 ? 1.0f : -1.0f;
        uint32_t quad[4];
        for (uint32_t i = 0; i < 4; i++) {
            float corner[3], normal[3] = {0.0f, 0.0f, 0.0f};
            corner[axis] = normal[axis] = side;
            corner[right] = (i == 1 || i == 2 ? 1.0f : -1.0f) * side;
            corner[up] = i >= 2 ? 1.0f : -1.0f;
            quad[i] = add_vertex(mesh, (vec4){corner[0], corner[1], corner[2], 0.0f},
                                 (vec4){normal[0], normal[1], normal[2], 0.0f});
        }
        add_triangle(mesh, quad[0], quad[1], quad[2]);
        add_triangle(mesh, quad[0], quad[2], quad[3]);
    }
    mesh->triangles[MOTE_COLLIDER_BOX] = range_since(mesh, first);
}

// Two half spheres around the ends of a segment along y, which is a point for spheres. Rows of vertices go from the
// upper pole down; row RINGS and the next are the two equators.
static uint32_t round_vertex(uint32_t first, uint32_t row, uint32_t segment)
{
    return first + row * SEGMENTS + segment % SEGMENTS;
}

static void add_round(PrimitiveMesh *mesh)
{
    const double pi = 3.14159265358979323846;
    const uint32_t vertices = mesh->vertex_count, rows = 2 * (RINGS + 1);
    for (uint32_t row = 0; row < rows; row++) {
        const uint32_t ring = row <= RINGS ? row : row - 1; // of 0 to 2 RINGS
        const double down = 0.5 * pi * ring / RINGS;
        const double level = ring == 0 || ring == 2 * RINGS ? 0.0 : sin(down);
        const vec4 corner = {0.0f, row <= RINGS ? 1.0f : -1.0f, 0.0f, 0.0f};
        for (uint32_t s = 0; s < SEGMENTS; s++) {
            const double around = 2.0 * pi * s / SEGMENTS;
            add_vertex(mesh, corner,
                       (vec4){(float)(level * sin(around)), (float)cos(down), (float)(level * cos(around)), 0.0f});
        }
    }
    const uint32_t first = mesh->index_count;
    for (uint32_t row = 0; row + 1 < rows; row++) {
        for (uint32_t s = 0; s < SEGMENTS; s++) {
            const uint32_t a = round_vertex(vertices, row, s), b = round_vertex(vertices, row + 1, s);
            const uint32_t c = round_vertex(vertices, row + 1, s + 1), d = round_vertex(vertices, row, s + 1);
            if (row + 2 < rows) { // at a pole two corners of the quad fall together
                add_triangle(mesh, a, b, c);
            }
            if (row > 0) {
                add_triangle(mesh, a, c, d);
            }
        }
    }
    mesh->triangles[MOTE_COLLIDER_SPHERE] = mesh->triangles[MOTE_COLLIDER_CAPSULE] = range_since(mesh, first);
}

static void add_plane(PrimitiveMesh *mesh)
{
    const vec4 up = {0.0f, 1.0f, 0.0f, 0.0f};
    const uint32_t first = mesh->index_count, corners = mesh->vertex_count;
    for (uint32_t i = 0; i < 4; i++) {
        add_vertex(mesh, (vec4){i == 1 || i == 2 ? 1.0f : -1.0f, 0.0f, i >= 2 ? -1.0f : 1.0f, 0.0f}, up);
    }
    add_triangle(mesh, corners, corners + 1, corners + 2);
    add_triangle(mesh, corners, corners + 2, corners + 3);
    mesh->triangles[MOTE_COLLIDER_PLANE] = range_since(mesh, first);
}

MoteResult primitive_mesh_create(PrimitiveMesh *out)
{
    memset(out, 0, sizeof *out);
    out->vertices = calloc(VERTICES, sizeof *out->vertices);
    out->indices = calloc(INDICES, sizeof *out->indices);
    if (out->vertices == NULL || out->indices == NULL) {
        primitive_mesh_destroy(out);
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the meshes of %d kinds of colliders", PRIMITIVE_KINDS);
    }
    add_box(out);
    add_round(out);
    add_plane(out);
    MOTE_ASSERT(out->vertex_count == VERTICES && out->index_count == INDICES);
    return MOTE_OK;
}

void primitive_mesh_destroy(PrimitiveMesh *mesh)
{
    free(mesh->vertices);
    free(mesh->indices);
    memset(mesh, 0, sizeof *mesh);
}

// ---- Colliders ------------------------------------------------------------------------------------------------

static MoteVec3 rotate(vec4 q, MoteVec3 v)
{
    return vec3_rotate((MoteQuaternion){q.x, q.y, q.z, q.w}, v);
}

Collider collider_instance(const MoteRenderCollider *collider, MoteVec3 middle, float plane_reach)
{
    const MoteCollider *s = &collider->collider;
    const MoteVec3 p = s->to.position;
    Collider out = {.rotation = {s->to.rotation.x, s->to.rotation.y, s->to.rotation.z, s->to.rotation.w},
                    .position = {p.x, p.y, p.z, 0.0f},
                    .kind = s->kind,
                    .look = collider->look,
                    .material = collider->material,
                    .inside_out = s->inside_out};
    if (s->kind == MOTE_COLLIDER_SPHERE || s->kind == MOTE_COLLIDER_CAPSULE) {
        out.position.w = s->radius;
    }
    if (s->kind == MOTE_COLLIDER_CAPSULE) {
        out.half_size.y = s->half_size.y;
    } else if (s->kind == MOTE_COLLIDER_BOX) {
        out.half_size = (vec4){s->half_size.x, s->half_size.y, s->half_size.z, 0.0f};
    } else if (s->kind == MOTE_COLLIDER_PLANE) {
        const MoteVec3 n = rotate(out.rotation, (MoteVec3){0.0f, 1.0f, 0.0f});
        const float above = (middle.x - p.x) * n.x + (middle.y - p.y) * n.y + (middle.z - p.z) * n.z;
        out.position = (vec4){middle.x - above * n.x, middle.y - above * n.y, middle.z - above * n.z, 0.0f};
        out.half_size = (vec4){plane_reach, 0.0f, plane_reach, 0.0f};
    }
    // Wide and thin colliders darken the ground less far than bulky ones.
    const vec4 h = out.half_size;
    const float thinnest = out.position.w + fminf(h.x, fminf(h.y, h.z)),
                widest = out.position.w + fmaxf(h.x, fmaxf(h.y, h.z));
    out.half_size.w = 0.6f * sqrtf(thinnest * widest);
    return out;
}

MoteVec3 collider_point(const Collider *collider, const PrimitiveVertex *vertex)
{
    const float radius = collider->position.w;
    const MoteVec3 local = {vertex->corner.x * collider->half_size.x + radius * vertex->normal.x,
                            vertex->corner.y * collider->half_size.y + radius * vertex->normal.y,
                            vertex->corner.z * collider->half_size.z + radius * vertex->normal.z};
    const MoteVec3 turned = rotate(collider->rotation, local);
    return (MoteVec3){turned.x + collider->position.x, turned.y + collider->position.y,
                      turned.z + collider->position.z};
}

MoteVec3 collider_normal(const Collider *collider, const PrimitiveVertex *vertex)
{
    return rotate(collider->rotation, (MoteVec3){vertex->normal.x, vertex->normal.y, vertex->normal.z});
}

// ---- On the device -----------------------------------------------------------------------------------------

MoteResult primitive_buffers_create(Device *device, PrimitiveBuffers *out)
{
    memset(out, 0, sizeof *out);
    PrimitiveMesh mesh;
    MoteResult result = primitive_mesh_create(&mesh);
    if (result != MOTE_OK) {
        return result;
    }
    const size_t vertex_bytes = mesh.vertex_count * sizeof *mesh.vertices;
    const size_t index_bytes = mesh.index_count * sizeof *mesh.indices;
    result = buffer_create(device, "shape vertices", BUFFER_UPLOAD, vertex_bytes, &out->vertices);
    if (result == MOTE_OK) {
        result = buffer_create(device, "shape indices", BUFFER_UPLOAD, index_bytes, &out->indices);
    }
    if (result == MOTE_OK) {
        memcpy(out->vertices.mapped, mesh.vertices, vertex_bytes);
        memcpy(out->indices.mapped, mesh.indices, index_bytes);
        buffer_flush(device, &out->vertices);
        buffer_flush(device, &out->indices);
        memcpy(out->triangles, mesh.triangles, sizeof out->triangles);
    }
    primitive_mesh_destroy(&mesh);
    return result;
}

void primitive_buffers_destroy(Device *device, PrimitiveBuffers *buffers)
{
    buffer_destroy(device, &buffers->vertices);
    buffer_destroy(device, &buffers->indices);
    buffer_destroy(device, &buffers->colliders);
}

MoteResult primitive_buffers_fill(Device *device, PrimitiveBuffers *buffers, const MoteRenderScene *scene)
{
    const MoteResult result =
        buffer_reserve(device, "shapes", BUFFER_UPLOAD, scene->collider_count * sizeof(Collider), &buffers->colliders);
    if (result != MOTE_OK) {
        return result;
    }
    Collider *colliders = buffers->colliders.mapped;
    for (uint32_t i = 0; i < scene->collider_count; i++) {
        colliders[i] = collider_instance(&scene->colliders[i], scene->camera.target, scene->ground.fade);
    }
    buffer_flush(device, &buffers->colliders);
    return MOTE_OK;
}

void primitive_buffers_draw(VkCommandBuffer commands, const PrimitiveBuffers *buffers, uint32_t kind, uint32_t collider)
{
    MOTE_ASSERT(kind < PRIMITIVE_KINDS);
    vkCmdBindIndexBuffer(commands, buffers->indices.handle, 0, VK_INDEX_TYPE_UINT32);
    vkCmdDrawIndexed(commands, buffers->triangles[kind].count, 1, buffers->triangles[kind].first, 0, collider);
}
