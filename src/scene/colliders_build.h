// colliders_build.h - the hulls and distance fields of a scene's colliders, as the world and the picture have them.
#ifndef MOTE_SCENE_COLLIDERS_BUILD_H
#define MOTE_SCENE_COLLIDERS_BUILD_H

#include "scene/meshes.h"

typedef struct ColliderMesh {
    Mesh mesh;     // scaled, with its anchor at the origin; empty where the collider has none
    uint32_t data; // MoteShape.data
} ColliderMesh;

// Whether a collider's shape is made from a mesh.
bool scene_collider_has_mesh(const SceneCollider *collider);

// Adds the hulls and fields to the world; *out has one row a collider, to be freed also after a failure.
MoteResult scene_add_collider_meshes(const MoteScene *scene, MoteWorld *world, ColliderMesh **out);
void scene_collider_meshes_free(const MoteScene *scene, ColliderMesh *rows);

#endif
