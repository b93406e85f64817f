// SPDX-License-Identifier: MIT
#include "scene/meshes.h"

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/stop.h"
#include <stdlib.h>
#include <string.h>

// The folder of the scene file, from malloc; NULL if there is no memory.
static char *folder_of(const MoteScene *scene)
{
    const size_t end = file_folder_length(scene->path), length = end > 1 ? end - 1 : end;
    char *folder = calloc(1, length + 1);
    if (folder != NULL) {
        memcpy(folder, scene->path, length);
    }
    return folder;
}

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
    SceneMesh *mesh = calloc(1, sizeof *mesh + length + 1);
    char *folder = folder_of(scene);
    MoteResult result = mesh != NULL && folder != NULL
                            ? MOTE_OK
                            : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for a mesh", scene->path);
    result = result == MOTE_OK ? stop_check() : result;
    if (result == MOTE_OK) {
        memcpy(mesh->reference, name, length + 1);
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

MoteResult scene_sequence_load(MoteScene *scene, const char *const *names, uint32_t count, const SceneSequence **out)
{
    SceneSequence **end = &scene->sequences; // in the order of the file, which the hash depends on
    while (*end != NULL) {
        end = &(*end)->next;
    }
    const size_t length = count > 0 ? strlen(names[0]) : 0;
    SceneSequence *sequence = calloc(1, sizeof *sequence + length + 1);
    char *folder = folder_of(scene);
    MoteResult result = sequence != NULL && folder != NULL
                            ? mesh_sequence_load(names, count, folder, &sequence->poses)
                            : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for a sequence of meshes", scene->path);
    free(folder);
    if (result != MOTE_OK) {
        free(sequence);
        return result;
    }
    memcpy(sequence->reference, names[0], length + 1);
    *end = sequence;
    *out = sequence;
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
    for (SceneSequence *sequence = scene->sequences, *next; sequence != NULL; sequence = next) {
        next = sequence->next;
        mesh_sequence_free(&sequence->poses);
        free(sequence);
    }
    scene->sequences = NULL;
}

static uint64_t hash_mesh(uint64_t hash, const Mesh *mesh)
{
    hash = hash_bytes(hash, mesh->positions, mesh->vertex_count * sizeof *mesh->positions);
    return hash_bytes(hash, mesh->triangles, mesh->triangle_count * 3 * sizeof *mesh->triangles);
}

uint64_t scene_meshes_hash(const MoteScene *scene, uint64_t hash)
{
    for (const SceneMesh *m = scene->meshes; m != NULL; m = m->next) {
        hash = hash_mesh(hash, &m->mesh);
    }
    for (const SceneSequence *s = scene->sequences; s != NULL; s = s->next) {
        const MeshSequence *poses = &s->poses;
        hash = hash_mesh(hash, &poses->mesh);
        hash = hash_bytes(hash, poses->poses, (size_t)poses->count * poses->mesh.vertex_count * sizeof *poses->poses);
    }
    return hash;
}

static const Mesh *placed_mesh(const MoteScene *scene, const MeshPlace *place)
{
    return place->sequence != NULL ? &place->sequence->poses.mesh : scene_mesh(scene, place->reference);
}

// What brings the mesh's anchor to the origin at its scale: p * scale + shift.
static MoteResult find_placing(const Mesh *mesh, const MeshPlace *place, const char *what, float *scale,
                               MoteVec3 *shift)
{
    MeshReport report;
    MoteResult result = mesh_report(mesh, &report);
    const MoteVec3 low = report.bounds_min, high = report.bounds_max;
    double factor = (double)place->scale;
    if (result == MOTE_OK && place->fit_height > 0.0f) {
        const double height = (double)high.y - (double)low.y;
        factor *= (double)place->fit_height / height;
        if (!(height > 0.0)) {
            result = mote_fail(MOTE_ERROR_INPUT, "%s.fit_height: found %g, expected 0: the mesh %s is flat", what,
                               (double)place->fit_height,
                               place->sequence != NULL ? place->sequence->reference : place->reference);
        }
    }
    if (result != MOTE_OK) {
        return result;
    }
    MoteVec3 anchor = {0.0f, 0.0f, 0.0f};
    if (place->anchor != SCENE_ANCHOR_ORIGIN) {
        const float y = place->anchor == SCENE_ANCHOR_BASE ? low.y : 0.5f * (low.y + high.y);
        anchor = (MoteVec3){0.5f * (low.x + high.x), y, 0.5f * (low.z + high.z)};
    }
    const float s = (float)factor;
    *scale = s;
    *shift = (MoteVec3){-s * anchor.x, -s * anchor.y, -s * anchor.z};
    return MOTE_OK;
}

MoteResult scene_mesh_place(const MoteScene *scene, const MeshPlace *place, const char *what, Mesh *out)
{
    float scale;
    MoteVec3 shift;
    MoteResult result = mesh_copy(placed_mesh(scene, place), out);
    if (result != MOTE_OK) {
        return result;
    }
    result = find_placing(out, place, what, &scale, &shift);
    if (result == MOTE_OK) {
        mesh_transform(out, (MoteVec3){scale, scale, scale}, (MoteQuaternion){0.0f, 0.0f, 0.0f, 1.0f}, shift);
        result = mesh_check(out, what);
    }
    if (result != MOTE_OK) {
        mesh_free(out);
    }
    return result;
}

MoteResult scene_sequence_place(const MeshPlace *place, const char *what, MoteVec3 **poses)
{
    const MeshSequence *sequence = &place->sequence->poses;
    const size_t count = (size_t)sequence->count * sequence->mesh.vertex_count;
    float scale;
    MoteVec3 shift;
    MoteResult result = find_placing(&sequence->mesh, place, what, &scale, &shift);
    *poses = result == MOTE_OK ? malloc(count * sizeof **poses) : NULL;
    if (result == MOTE_OK && *poses == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for %u poses", what, sequence->count);
    }
    for (size_t i = 0; i < count && result == MOTE_OK; i++) {
        const MoteVec3 p = sequence->poses[i];
        (*poses)[i] = (MoteVec3){scale * p.x + shift.x, scale * p.y + shift.y, scale * p.z + shift.z};
    }
    return result;
}
