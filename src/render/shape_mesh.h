// SPDX-License-Identifier: MIT
// shape_mesh.h - triangles of the colliders' shapes, in the device's memory.
//
// One mesh a kind, shared by all shapes of it: a vertex lies at corner * half_size + radius * normal in the shape's own
// frame, so that a capsule keeps round caps whatever its size. Shaders find vertices and shapes through FrameConstants
// (shaders/render/shapes.glsl); a draw's first instance is the shape's number.
#ifndef MOTE_RENDER_SHAPE_MESH_H
#define MOTE_RENDER_SHAPE_MESH_H

#include "render/memory.h"
#include "render_shared.h"

typedef struct ShapeVertex ShapeVertex;

enum { SHAPE_KINDS = 4 }; // of MoteShapeKind

typedef struct ShapeRange {
    uint32_t first, count; // indices
} ShapeRange;

// On the host. Triangles are counter-clockwise as seen from outside.
typedef struct ShapeMesh {
    ShapeVertex *vertices;
    uint32_t *indices;
    uint32_t vertex_count, index_count;
    ShapeRange triangles[SHAPE_KINDS];
} ShapeMesh;

MoteResult shape_mesh_create(ShapeMesh *out);
void shape_mesh_destroy(ShapeMesh *mesh); // an empty struct is fine

// A collider as shaders have it. A plane is drawn as the square of `plane_reach` metres each way around the point of it
// that is nearest to `middle`: its mesh lies at local y = 0.
Shape shape_instance(const MoteRenderShape *shape, MoteVec3 middle, float plane_reach);
// Where a vertex of a shape's mesh is, in the world.
MoteVec3 shape_point(const Shape *shape, const ShapeVertex *vertex);
MoteVec3 shape_normal(const Shape *shape, const ShapeVertex *vertex); // outwards, of unit length

// The same on the device: renderer->shapes, which the shadow pass makes and fills once a picture.
typedef struct ShapeBuffers {
    Buffer vertices, indices; // ShapeVertex, uint32_t
    Buffer shapes;            // Shape, one for each of the scene's; mapped
    ShapeRange triangles[SHAPE_KINDS];
} ShapeBuffers;

MoteResult shape_buffers_create(Device *device, ShapeBuffers *out);
void shape_buffers_destroy(Device *device, ShapeBuffers *buffers); // an empty struct is fine
MoteResult shape_buffers_fill(Device *device, ShapeBuffers *buffers, const MoteRenderScene *scene);
// Draws one shape's triangles with the bound pipeline.
void shape_buffers_draw(VkCommandBuffer commands, const ShapeBuffers *buffers, uint32_t kind, uint32_t shape);

#endif
