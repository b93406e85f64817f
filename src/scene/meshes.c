#include "scene/meshes.h"

#include "base/error.h"
#include "base/hash.h"
#include <stdlib.h>
#include <string.h>

MoteResult scene_mesh_load(MoteScene *scene, const char *name, const char **reference)
{
    SceneMesh **end = &scene->meshes; // kept in the order of the file, which the hash depends on
    for (; *end != NULL; end = &(*end)->next) {
        if (strcmp((*end)->reference, name) == 0) {
            *reference = (*end)->reference;
            return MOTE_OK;
        }
    }
    const size_t length = strlen(name);
    const char *slash = strrchr(scene->path, '/');
    const size_t folder_length = slash != NULL ? (size_t)(slash - scene->path) + (slash == scene->path) : 0;
    SceneMesh *mesh = calloc(1, sizeof *mesh + length + 1);
    char *folder = calloc(1, folder_length + 1);
    MoteResult result = mesh != NULL && folder != NULL
                            ? MOTE_OK
                            : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for a mesh", scene->path);
    if (result == MOTE_OK) {
        memcpy(mesh->reference, name, length + 1);
        memcpy(folder, scene->path, folder_length);
        result = mesh_load(name, folder, &mesh->mesh);
    }
    free(folder);
    if (result != MOTE_OK) {
        free(mesh);
        return result;
    }
    *end = mesh;
    *reference = mesh->reference;
    return MOTE_OK;
}

const Mesh *scene_mesh(const MoteScene *scene, const char *reference)
{
    const SceneMesh *mesh = scene->meshes;
    while (mesh != NULL && strcmp(mesh->reference, reference) != 0) {
        mesh = mesh->next;
    }
    MOTE_ASSERT(mesh != NULL);
    return &mesh->mesh;
}

void scene_meshes_free(MoteScene *scene)
{
    for (SceneMesh *mesh = scene->meshes, *next; mesh != NULL; mesh = next) {
        next = mesh->next;
        mesh_free(&mesh->mesh);
        free(mesh);
    }
    scene->meshes = NULL;
}

uint64_t scene_meshes_hash(const MoteScene *scene, uint64_t hash)
{
    for (const SceneMesh *m = scene->meshes; m != NULL; m = m->next) {
        hash = hash_bytes(hash, m->mesh.positions, m->mesh.vertex_count * sizeof *m->mesh.positions);
        hash = hash_bytes(hash, m->mesh.triangles, m->mesh.triangle_count * 3 * sizeof *m->mesh.triangles);
    }
    return hash;
}

MoteResult scene_mesh_place(const MoteScene *scene, const MeshPlace *place, const char *what, Mesh *out)
{
    MeshReport report;
    MoteResult result = mesh_copy(scene_mesh(scene, place->reference), out);
    if (result != MOTE_OK) {
        return result;
    }
    result = mesh_report(out, &report);
    const MoteVec3 low = report.lowest, high = report.highest;
    double scale = (double)place->scale;
    if (result == MOTE_OK && place->fit_height > 0.0f) {
        const double height = (double)high.y - (double)low.y;
        scale *= (double)place->fit_height / height;
        if (!(height > 0.0)) {
            result = mote_fail(MOTE_ERROR_INPUT, "%s.fit_height: found %g, expected 0: the mesh %s is flat", what,
                               (double)place->fit_height, place->reference);
        }
    }
    if (result == MOTE_OK) {
        MoteVec3 anchor = {0.0f, 0.0f, 0.0f};
        if (place->anchor != SCENE_ANCHOR_ORIGIN) {
            const float y = place->anchor == SCENE_ANCHOR_BASE ? low.y : 0.5f * (low.y + high.y);
            anchor = (MoteVec3){0.5f * (low.x + high.x), y, 0.5f * (low.z + high.z)};
        }
        const float s = (float)scale;
        const MoteVec3 shift = {-s * anchor.x, -s * anchor.y, -s * anchor.z};
        mesh_transform(out, (MoteVec3){s, s, s}, (MoteQuaternion){0.0f, 0.0f, 0.0f, 1.0f}, shift);
        result = mesh_check(out, what);
    }
    if (result != MOTE_OK) {
        mesh_free(out);
    }
    return result;
}
