// SPDX-License-Identifier: MIT
// mesh_set.h - the meshes of a renderer in device memory: vertices, their skinning weights and triangles, of all meshes
// one after the other.
#ifndef MOTE_RENDER_MESH_SET_H
#define MOTE_RENDER_MESH_SET_H

#include "render/memory.h"
#include "render/mesh_levels.h"
#include "render_shared.h"

// Of mesh_levels.h. Vertices are sorted so that those of a level are the first ones of the mesh.
typedef struct MeshLevel {
    uint32_t first_triangle, triangle_count;
    uint32_t vertex_count;
    uint32_t first_adjacent; // in `adjacency`, of meshes that deform: where the triangles around each vertex are listed
                             // and how many, two numbers a vertex, then the lists
    float cell;              // m
} MeshLevel;

typedef struct MeshRange {
    uint32_t first_vertex, vertex_count;
    MeshLevel levels[MESH_LEVELS];
    uint32_t level_count;
    uint32_t first_binding; // a vertex has one if it follows members
    uint32_t member_count;  // 0: it follows none
    bool closed;            // no edge is open and triangles face outwards: their backs are never seen
    bool deforms;
    uint32_t *places; // of a mesh that moves: where each of the caller's vertices is among its own; NULL for others
    bool wet;         // its vertices say how wet they are
    float reach; // m: from the origin to the farthest vertex, or from a member to the farthest vertex that follows it
    vec4 color;  // rgb, roughness
} MeshRange;

typedef struct MeshSet {
    Buffer vertices, bindings, triangles, adjacency;
    MeshRange *meshes;
    uint32_t count;
} MeshSet;

// An error leaves *out empty.
MoteResult mesh_set_create(Device *device, const MoteRenderMesh *meshes, uint32_t count, MeshSet *out);
// Brings the vertices of meshes that move to the device.
MoteResult mesh_set_move(Device *device, MeshSet *set, const MoteRenderPose *poses, uint32_t count);
void mesh_set_destroy(Device *device, MeshSet *set); // an empty struct is fine

#endif
