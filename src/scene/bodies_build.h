// SPDX-License-Identifier: MIT
// bodies_build.h - builds a scene's bodies: voxelises meshes to particles, and adds copies to a world.
#ifndef MOTE_SCENE_BODIES_BUILD_H
#define MOTE_SCENE_BODIES_BUILD_H

#include "geometry/voxelise.h"
#include "scene/meshes.h"

// A mesh at one size, and the particles of a body of that shape. Bodies that are alike share one.
typedef struct BodyModel {
    MeshPlace place;
    VoxelOptions options;
    Mesh mesh;        // scaled, with its anchor at the origin
    VoxelBody voxels; // in the same frame
    // What each vertex of the mesh follows, 4 a vertex; made when the first picture is taken.
    uint32_t *skin_members;
    float *skin_weights;
    MoteVec3 *skin_rests;
} BodyModel;

// One body of the world.
typedef struct BodyCopy {
    uint32_t element;      // of the scene's bodies
    uint32_t number;       // of the copy among the element's
    uint32_t group;        // phase group of its particles
    uint32_t first_member; // row of the world's member table
    MoteBodyId id;
    MoteQuaternion rotation; // from the model's frame to how the body started
} BodyCopy;

typedef struct SceneBodies {
    BodyModel *models;
    uint32_t model_count;
    uint32_t *element_models; // a body of the scene
    BodyCopy *copies;         // in the world's order
    uint32_t copy_count;
    MoteParticleHandle
        *rope_nodes; // along each rod of the scene, then along each spring: one more than it has segments
    uint32_t rope_node_count;
    uint32_t *rod_sizes; // nodes a rod
} SceneBodies;

void scene_bodies_free(SceneBodies *bodies);
// Appends to rope_nodes.
MoteResult scene_bodies_add_nodes(SceneBodies *bodies, const MoteParticleHandle *nodes, uint32_t count);

#endif
