// SPDX-License-Identifier: MIT
// colliders_build.h - builds the hulls and distance fields of a scene's colliders, for the world and the renderer.
#ifndef MOTE_SCENE_COLLIDERS_BUILD_H
#define MOTE_SCENE_COLLIDERS_BUILD_H

#include "scene/meshes.h"

typedef struct ColliderMesh {
    Mesh mesh;       // scaled, with its anchor at the origin; empty where the collider has none
    uint32_t data;   // MoteCollider.data
    float *friction; // texels, or NULL
    uint32_t friction_width, friction_height;
    float *wetness; // a vertex, of the last picture; NULL without a wet map
    // Of a mesh that moves; NULL for others.
    MoteVec3 *poses;         // m, vertex_count a pose
    MoteVec3 *velocities;    // m/s, a vertex
    uint32_t *normal_groups; // see mesh_move_normals
    double from, to;         // what the world's field is of: the poses at the beginning and the end of a step
} ColliderMesh;

// Whether a collider's shape is made from a mesh.
bool scene_collider_has_mesh(const SceneCollider *collider);

// Adds the hulls and fields to the world; *out has one row a collider, to be freed also after a failure.
MoteResult scene_add_collider_meshes(const MoteScene *scene, MoteWorld *world, ColliderMesh **out);
// Gives the world the fields of meshes that move, for a step between two times (s); the same times give the same
// fields.
MoteResult scene_move_collider_meshes(const MoteScene *scene, MoteWorld *world, double from, double to,
                                      ColliderMesh *rows);
// Brings the vertices and normals of a mesh that moves to where they are at a time (s), to be drawn.
MoteResult scene_pose_collider_mesh(const SceneCollider *collider, double time, ColliderMesh *row);
void scene_collider_meshes_free(const MoteScene *scene, ColliderMesh *rows);

#endif
