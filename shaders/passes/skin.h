// SPDX-License-Identifier: MIT
// skin.h - constants of the skin pass.
#ifndef MOTE_PASSES_SKIN_H
#define MOTE_PASSES_SKIN_H

#include "render_shared.h"

struct SkinConstants {
    ADDRESS(SkinBindingArray) bindings; // of all meshes
    ADDRESS(UintArray) adjacency;       // which triangles are around a vertex: MeshLevel of mesh_set.h
};
SHARED_STRUCT(SkinConstants)

// Instances of a mesh that look alike.
struct SkinPush {
    uint invocations; // vertices of all instances
    uint first_instance, vertex_count;
    uint first_vertex, first_binding, first_triangle, first_adjacent; // of the mesh
    uint skinned;
};
SHARED_STRUCT(SkinPush)

#endif
