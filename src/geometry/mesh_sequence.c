// SPDX-License-Identifier: MIT
// mesh_sequence.c - animated meshes: files that have the same triangles with their vertices at other places.
#include "geometry/mesh_internal.h"

#include "base/error.h"
#include "base/vertices.h"
#include <stdlib.h>
#include <string.h>

void mesh_sequence_free(MeshSequence *sequence)
{
    mesh_free(&sequence->mesh);
    free(sequence->poses);
    *sequence = (MeshSequence){0};
}

static MoteResult check_same(const Mesh *first, const Mesh *mesh, const char *first_name, const char *name)
{
    if (mesh->vertex_count != first->vertex_count || mesh->triangle_count != first->triangle_count) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: has %u vertices and %u triangles, expected %u and %u, as in %s: only vertices may move",
                         name, mesh->vertex_count, mesh->triangle_count, first->vertex_count, first->triangle_count,
                         first_name);
    }
    for (size_t i = 0; i < 3 * (size_t)first->triangle_count; i++) {
        if (mesh->triangles[i] != first->triangles[i]) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "%s: triangle %zu has vertex %u, expected %u, as in %s: only vertices may move", name,
                             i / 3, mesh->triangles[i], first->triangles[i], first_name);
        }
    }
    return MOTE_OK;
}

// Makes the first mesh's normals, which splits vertices at sharp edges; origins[v] is what v was before.
static MoteResult split_first(Mesh *mesh, uint32_t **origins)
{
    const size_t corners = 3 * (size_t)mesh->triangle_count;
    uint32_t *before = malloc((corners + 1) * sizeof *before);
    if (before == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a mesh of %u triangles", mesh->triangle_count);
    }
    const uint32_t vertices_before = mesh->vertex_count;
    memcpy(before, mesh->triangles, corners * sizeof *before);
    MoteResult result = mesh_make_normals(mesh, MESH_CREASE);
    *origins = result == MOTE_OK ? malloc(((size_t)mesh->vertex_count + 1) * sizeof **origins) : NULL;
    if (result == MOTE_OK && *origins == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory for a mesh of %u triangles", mesh->triangle_count);
    }
    if (result == MOTE_OK) {
        for (uint32_t v = 0; v < mesh->vertex_count; v++) {
            (*origins)[v] = v < vertices_before ? v : 0;
        }
        for (size_t i = 0; i < corners; i++) {
            (*origins)[mesh->triangles[i]] = before[i];
        }
    }
    free(before);
    return result;
}

static void store_pose(const Mesh *mesh, const uint32_t *origins, uint32_t vertex_count, MoteVec3 *pose)
{
    for (uint32_t v = 0; v < vertex_count; v++) {
        pose[v] = mesh->positions[origins[v]];
    }
}

MoteResult mesh_sequence_load(const char *const *references, uint32_t count, const char *folder, MeshSequence *out)
{
    *out = (MeshSequence){0};
    if (count < 2) {
        return mote_fail(MOTE_ERROR_INPUT, "a sequence of %u mesh%s, expected at least 2", count,
                         count == 1 ? "" : "es");
    }
    Mesh plain;
    MoteResult result = mesh_load_as(references[0], folder, true, &plain);
    if (result != MOTE_OK) {
        return result;
    }
    uint32_t *origins = NULL;
    result = mesh_copy(&plain, &out->mesh);
    result = result == MOTE_OK ? split_first(&out->mesh, &origins) : result;
    const size_t vertices = out->mesh.vertex_count;
    if (result == MOTE_OK && vertices * count > MESH_LIMIT) {
        result = mote_fail(MOTE_ERROR_INPUT, "%s: %u poses of %zu vertices, expected at most %u vertices in all",
                           references[0], count, vertices, MESH_LIMIT);
    }
    if (result == MOTE_OK) {
        out->poses = malloc(vertices * count * sizeof *out->poses);
        result = out->poses != NULL ? MOTE_OK
                                    : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for %u poses of %zu vertices",
                                                references[0], count, vertices);
    }
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        Mesh pose = {0};
        if (i > 0) {
            result = mesh_load_as(references[i], folder, true, &pose);
            result = result == MOTE_OK ? check_same(&plain, &pose, references[0], references[i]) : result;
        }
        if (result == MOTE_OK) {
            store_pose(i > 0 ? &pose : &plain, origins, out->mesh.vertex_count, out->poses + vertices * i);
            out->count = i + 1;
        }
        mesh_free(&pose);
    }
    free(origins);
    mesh_free(&plain);
    if (result != MOTE_OK) {
        mesh_sequence_free(out);
    }
    return result;
}

// ---- Normals that move -----------------------------------------------------------------------------------------

MoteResult mesh_normal_groups(const Mesh *mesh, uint32_t *groups)
{
    if (!vertices_find_first(mesh->positions, mesh->normals, mesh->vertex_count, groups)) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the normals of %u vertices", mesh->vertex_count);
    }
    return MOTE_OK;
}

MoteResult mesh_move_normals(const Mesh *mesh, const uint32_t *groups, MoteVec3 *normals)
{
    DVec3 *sums = calloc((size_t)mesh->vertex_count + 1, sizeof *sums);
    if (sums == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the normals of %u vertices", mesh->vertex_count);
    }
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const DVec3 n = triangle_cross(mesh, t);
        for (uint32_t k = 0; k < 3; k++) {
            DVec3 *sum = &sums[groups[mesh->triangles[3 * (size_t)t + k]]];
            *sum = dvec3_add(*sum, n);
        }
    }
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        normals[v] = dvec3_round(dvec3_normalize(sums[groups[v]], 0.0, dvec3(0.0, 1.0, 0.0)));
    }
    free(sums);
    return MOTE_OK;
}
