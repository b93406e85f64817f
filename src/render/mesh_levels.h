// SPDX-License-Identifier: MIT
// mesh_levels.h - levels of detail: coarser triangles over the vertices of a mesh, used where its own are smaller than
// pixels.
#ifndef MOTE_RENDER_MESH_LEVELS_H
#define MOTE_RENDER_MESH_LEVELS_H

#include "mote_render.h"

enum { MESH_LEVELS = 6 };

// Level 0 is the mesh itself. Each further one has cells twice as wide, and of each cell one place that stands for all
// in it (Rossignac and Borrel, "Multi-resolution 3D approximations for rendering complex scenes", 1993). It is one of
// the mesh's own, also of the level before: so what vertices follow, and their normals, are as they were.
typedef struct MeshLevels {
    uint32_t count;
    uint32_t *triangles[MESH_LEVELS]; // vertices of the mesh, three each
    uint32_t triangle_counts[MESH_LEVELS];
    float cells[MESH_LEVELS]; // m; 0 of level 0
    uint8_t *tops;            // a vertex: the last level that uses it, or 0
} MeshLevels;

// `first` names the first of the vertices at each vertex's place. False if there is no memory.
bool mesh_levels_make(const MoteRenderMesh *mesh, const uint32_t *first, const MoteVec3 *normals, MeshLevels *out);
void mesh_levels_free(MeshLevels *levels);

#endif
