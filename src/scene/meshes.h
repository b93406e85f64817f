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

// Loads the mesh, if the scene does not have it yet; *reference is the scene's own copy of its name.
MoteResult scene_mesh_load(MoteScene *scene, const char *name, const char **reference);
const Mesh *scene_mesh(const MoteScene *scene, const char *reference); // one that the scene has
void scene_meshes_free(MoteScene *scene);
uint64_t scene_meshes_hash(const MoteScene *scene, uint64_t hash);

// What MESH_KEYS say of a mesh.
typedef struct MeshPlace {
    const char *reference;
    float scale, fit_height;
    uint32_t anchor; // SceneAnchor
} MeshPlace;

// A copy of the mesh, scaled, with its anchor at the origin; free it. `what` begins the message of an error.
MoteResult scene_mesh_place(const MoteScene *scene, const MeshPlace *place, const char *what, Mesh *out);

#endif
