// SPDX-License-Identifier: MIT
// meshes.h - the meshes that a scene names, each loaded once.
#ifndef MOTE_SCENE_MESHES_H
#define MOTE_SCENE_MESHES_H

#include "geometry/mesh.h"
#include "scene/scene.h"

struct SceneMesh {
    SceneMesh *next;
    Mesh mesh;
    char reference[]; // as the scene has it
};

struct SceneSequence {
    SceneSequence *next;
    MeshSequence poses;
    char reference[]; // of the first pose
};

// Loads the mesh, if the scene does not have it yet; *reference is the scene's own copy of its name.
MoteResult scene_mesh_load(MoteScene *scene, const char *name, const char **reference);
const Mesh *scene_mesh(const MoteScene *scene, const char *reference); // one that the scene has
MoteResult scene_sequence_load(MoteScene *scene, const char *const *names, uint32_t count, const SceneSequence **out);
void scene_meshes_free(MoteScene *scene); // and sequences
uint64_t scene_meshes_hash(const MoteScene *scene, uint64_t hash);

// What MESH_KEYS say of a mesh.
typedef struct MeshPlace {
    const char *reference;
    const SceneSequence *sequence; // instead, or NULL
    float scale, fit_height;
    uint32_t anchor; // SceneAnchor
} MeshPlace;

// A copy of the mesh, or of a sequence's first pose, scaled, with its anchor at the origin; free it. `what` begins the
// message of an error.
MoteResult scene_mesh_place(const MoteScene *scene, const MeshPlace *place, const char *what, Mesh *out);
// All poses of the sequence, moved with the first one, as vertices one pose after the other; free them.
MoteResult scene_sequence_place(const MeshPlace *place, const char *what, MoteVec3 **poses);

#endif
