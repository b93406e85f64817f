// SPDX-License-Identifier: MIT
// primitive_mesh.h - triangle meshes of primitive colliders, in device memory.
//
// There is one mesh for each kind of collider. A vertex is at corner * half_size + radius * normal in the collider's
// frame, so that a capsule has round caps for any size. Shaders find vertices and colliders
// through FrameConstants (shaders/render/colliders.glsl); a draw's first instance is the collider's index.
#ifndef MOTE_RENDER_PRIMITIVE_MESH_H
#define MOTE_RENDER_PRIMITIVE_MESH_H

#include "render/memory.h"
#include "render_shared.h"

typedef struct PrimitiveVertex PrimitiveVertex;

enum { PRIMITIVE_KINDS = 4 }; // of MoteColliderKind

typedef struct PrimitiveRange {
    uint32_t first, count; // indices
} PrimitiveRange;

// On the host. Triangles are counter-clockwise as seen from outside.
typedef struct PrimitiveMesh {
    PrimitiveVertex *vertices;
    uint32_t *indices;
    uint32_t vertex_count, index_count;
    PrimitiveRange triangles[PRIMITIVE_KINDS];
} PrimitiveMesh;

MoteResult primitive_mesh_create(PrimitiveMesh *out);
void primitive_mesh_destroy(PrimitiveMesh *mesh); // an empty struct is fine

// A collider as shaders have it. A plane is drawn as the square of `plane_reach` metres each way around the point of it
// that is nearest to `middle`: its mesh lies at local y = 0.
Collider collider_instance(const MoteRenderCollider *collider, MoteVec3 middle, float plane_reach);
// Where a vertex of a collider's mesh is, in the world.
MoteVec3 collider_point(const Collider *collider, const PrimitiveVertex *vertex);
MoteVec3 collider_normal(const Collider *collider, const PrimitiveVertex *vertex); // outwards, of unit length

// The same on the device: renderer->colliders, which the shadow pass makes and fills once a picture.
typedef struct PrimitiveBuffers {
    Buffer vertices, indices; // PrimitiveVertex, uint32_t
    Buffer colliders;         // Collider, one for each of the scene's; mapped
    PrimitiveRange triangles[PRIMITIVE_KINDS];
} PrimitiveBuffers;

MoteResult primitive_buffers_create(Device *device, PrimitiveBuffers *out);
void primitive_buffers_destroy(Device *device, PrimitiveBuffers *buffers); // an empty struct is fine
MoteResult primitive_buffers_fill(Device *device, PrimitiveBuffers *buffers, const MoteRenderScene *scene);
// Draws one collider's triangles with the bound pipeline.
void primitive_buffers_draw(VkCommandBuffer commands, const PrimitiveBuffers *buffers, uint32_t kind,
                            uint32_t collider);

#endif
