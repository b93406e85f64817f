// SPDX-License-Identifier: MIT
// mesh.c - meshes in memory: made, copied, checked, moved, tidied, with normals.
#include "geometry/mesh_internal.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/stop.h"
#include <stdlib.h>
#include <string.h>

#define COORDINATE_LIMIT 1e9f // m

void mesh_free(Mesh *mesh)
{
    free(mesh->positions);
    free(mesh->triangles);
    free(mesh->uvs);
    free(mesh->normals);
    *mesh = (Mesh){0};
}

MoteResult mesh_make(uint32_t vertex_count, uint32_t triangle_count, bool uvs, const char *name, Mesh *out)
{
    *out = (Mesh){.vertex_count = vertex_count, .triangle_count = triangle_count};
    out->positions = calloc((size_t)vertex_count + 1, sizeof *out->positions);
    out->triangles = calloc(3 * (size_t)triangle_count + 1, sizeof *out->triangles);
    out->uvs = uvs ? calloc(2 * (size_t)vertex_count + 1, sizeof *out->uvs) : NULL;
    if (out->positions == NULL || out->triangles == NULL || (uvs && out->uvs == NULL)) {
        mesh_free(out);
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for a mesh of %u vertices and %u triangles", name,
                         vertex_count, triangle_count);
    }
    return MOTE_OK;
}

MoteResult mesh_copy(const Mesh *mesh, Mesh *out)
{
    const MoteResult result = mesh_make(mesh->vertex_count, mesh->triangle_count, mesh->uvs != NULL, "mesh", out);
    if (result != MOTE_OK) {
        return result;
    }
    const size_t vertices = mesh->vertex_count;
    memcpy(out->positions, mesh->positions, vertices * sizeof *out->positions);
    memcpy(out->triangles, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof *out->triangles);
    if (mesh->uvs != NULL) {
        memcpy(out->uvs, mesh->uvs, 2 * vertices * sizeof *out->uvs);
    }
    if (mesh->normals != NULL) {
        out->normals = malloc((vertices + 1) * sizeof *out->normals);
        if (out->normals == NULL) {
            mesh_free(out);
            return mote_fail(MOTE_ERROR_MEMORY, "no memory for the normals of %zu vertices", vertices);
        }
        memcpy(out->normals, mesh->normals, vertices * sizeof *out->normals);
    }
    return MOTE_OK;
}

MoteResult mesh_check(const Mesh *mesh, const char *name)
{
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const MoteVec3 p = mesh->positions[v];
        if (!(fabsf(p.x) <= COORDINATE_LIMIT && fabsf(p.y) <= COORDINATE_LIMIT && fabsf(p.z) <= COORDINATE_LIMIT)) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: vertex %u is at (%g, %g, %g), expected finite numbers within %g m",
                             name, v, p.x, p.y, p.z, COORDINATE_LIMIT);
        }
    }
    bool area = false;
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++) {
        if (mesh->triangles[i] >= mesh->vertex_count) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: triangle %zu uses vertex %u, expected one of the %u there are",
                             name, i / 3, mesh->triangles[i], mesh->vertex_count);
        }
    }
    for (uint32_t t = 0; t < mesh->triangle_count && !area; t++) {
        area = dvec3_length(triangle_cross(mesh, t)) > 0.0;
    }
    if (!area) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: none of %u triangles has an area, expected at least one that has", name,
                         mesh->triangle_count);
    }
    return MOTE_OK;
}

void mesh_transform(Mesh *mesh, MoteVec3 scale, MoteQuaternion rotation, MoteVec3 translation)
{
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const DVec3 p = dvec3_from(mesh->positions[v]);
        mesh->positions[v] = dvec3_round(dvec3_add(
            dvec3_rotate(rotation, dvec3(p.x * scale.x, p.y * scale.y, p.z * scale.z)), dvec3_from(translation)));
        if (mesh->normals != NULL) {
            // Normals go with the inverse transpose; multiplied by the scales' product it needs no division.
            const DVec3 n = dvec3_from(mesh->normals[v]);
            const double sign = scale.x * scale.y * scale.z < 0.0f ? -1.0 : 1.0;
            const DVec3 m = {n.x * scale.y * scale.z, n.y * scale.x * scale.z, n.z * scale.x * scale.y};
            mesh->normals[v] = dvec3_round(dvec3_rotate(rotation, dvec3_normalize(dvec3_scale(m, sign), 0.0, n)));
        }
    }
    if (scale.x * scale.y * scale.z < 0.0f) {
        for (uint32_t t = 0; t < mesh->triangle_count; t++) {
            uint32_t *corner = mesh->triangles + 3 * (size_t)t;
            const uint32_t other = corner[1];
            corner[1] = corner[2];
            corner[2] = other;
        }
    }
}

// ---- Vertices made one -----------------------------------------------------------------------------------------

typedef struct VertexKey {
    float values[5]; // position, uv
} VertexKey;

static VertexKey vertex_key(const Mesh *mesh, uint32_t v, bool uvs)
{
    const MoteVec3 p = mesh->positions[v];
    // + 0.0f makes -0 and 0 the same bits.
    VertexKey key = {{p.x + 0.0f, p.y + 0.0f, p.z + 0.0f, 0.0f, 0.0f}};
    if (uvs && mesh->uvs != NULL) {
        key.values[3] = mesh->uvs[2 * (size_t)v] + 0.0f;
        key.values[4] = mesh->uvs[2 * (size_t)v + 1] + 0.0f;
    }
    return key;
}

static MoteResult group_vertices(const Mesh *mesh, bool uvs, uint32_t *groups, uint32_t *group_count)
{
    size_t slots = 16;
    while (slots < 2 * (size_t)mesh->vertex_count) {
        slots *= 2;
    }
    const MoteResult stopped = stop_check(); // welding comes before all else that takes long for millions of triangles
    if (stopped != MOTE_OK) {
        return stopped;
    }
    uint32_t *table = malloc(slots * sizeof *table); // the first vertex of each group
    if (table == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory to weld %u vertices", mesh->vertex_count);
    }
    memset(table, 0xff, slots * sizeof *table);
    uint32_t count = 0;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const VertexKey key = vertex_key(mesh, v, uvs);
        size_t slot = (size_t)(hash_bytes(HASH_START, &key, sizeof key) >> 20) & (slots - 1);
        for (;; slot = (slot + 1) & (slots - 1)) {
            if (table[slot] == UINT32_MAX) {
                table[slot] = v;
                groups[v] = count++;
                break;
            }
            const VertexKey other = vertex_key(mesh, table[slot], uvs);
            if (memcmp(&key, &other, sizeof key) == 0) {
                groups[v] = groups[table[slot]];
                break;
            }
        }
    }
    free(table);
    *group_count = count;
    return MOTE_OK;
}

MoteResult mesh_weld(const Mesh *mesh, uint32_t *groups, uint32_t *group_count)
{
    return group_vertices(mesh, false, groups, group_count);
}

MoteResult mesh_tidy(Mesh *mesh, const char *name)
{
    uint32_t *groups = malloc(((size_t)mesh->vertex_count + 1) * sizeof *groups);
    uint32_t group_count = 0;
    if (groups == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to weld %u vertices", name, mesh->vertex_count);
    }
    const MoteResult result = group_vertices(mesh, true, groups, &group_count);
    if (result != MOTE_OK) {
        free(groups);
        return result;
    }
    // A group's vertices move to its number, which is never after its first vertex.
    uint32_t next = 0;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        if (groups[v] == next) {
            mesh->positions[next] = mesh->positions[v];
            if (mesh->uvs != NULL) {
                memmove(mesh->uvs + 2 * (size_t)next, mesh->uvs + 2 * (size_t)v, 2 * sizeof *mesh->uvs);
            }
            next++;
        }
    }
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++) {
        mesh->triangles[i] = groups[mesh->triangles[i]];
    }
    uint32_t kept = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        if (dvec3_length(triangle_cross(mesh, t)) > 0.0) {
            memmove(mesh->triangles + 3 * (size_t)kept++, mesh->triangles + 3 * (size_t)t, 3 * sizeof *mesh->triangles);
        }
    }
    mesh->triangle_count = kept;
    // Vertices that no triangle uses any more go.
    memset(groups, 0, (size_t)group_count * sizeof *groups);
    for (size_t i = 0; i < 3 * (size_t)kept; i++) {
        groups[mesh->triangles[i]] = 1;
    }
    next = 0;
    for (uint32_t v = 0; v < group_count; v++) {
        if (groups[v] != 0) {
            mesh->positions[next] = mesh->positions[v];
            if (mesh->uvs != NULL) {
                memmove(mesh->uvs + 2 * (size_t)next, mesh->uvs + 2 * (size_t)v, 2 * sizeof *mesh->uvs);
            }
            groups[v] = next++;
        }
    }
    for (size_t i = 0; i < 3 * (size_t)kept; i++) {
        mesh->triangles[i] = groups[mesh->triangles[i]];
    }
    mesh->vertex_count = next;
    free(mesh->normals); // those of other vertices
    mesh->normals = NULL;
    free(groups);
    return MOTE_OK;
}

// ---- Normals ---------------------------------------------------------------------------------------------------

enum { CREASE_VALENCE = 64 }; // corners with more triangles are smooth all round: comparing all pairs takes n^2

static double corner_angle(const Mesh *mesh, uint32_t t, uint32_t k)
{
    const uint32_t *corner = mesh->triangles + 3 * (size_t)t;
    const DVec3 p = dvec3_from(mesh->positions[corner[k]]);
    const DVec3 a = dvec3_sub(dvec3_from(mesh->positions[corner[(k + 1) % 3]]), p);
    const DVec3 b = dvec3_sub(dvec3_from(mesh->positions[corner[(k + 2) % 3]]), p);
    return atan2(dvec3_length(dvec3_cross(a, b)), dvec3_dot(a, b));
}

// starts[g] .. starts[g + 1] are the corners (3 t + k) in group g, ascending.
static void list_corners(const Mesh *mesh, const uint32_t *groups, uint32_t group_count, uint32_t *starts,
                         uint32_t *corners)
{
    const uint32_t count = 3 * mesh->triangle_count;
    memset(starts, 0, ((size_t)group_count + 2) * sizeof *starts);
    for (uint32_t i = 0; i < count; i++) {
        starts[groups[mesh->triangles[i]] + 2]++;
    }
    for (uint32_t g = 2; g < group_count + 2; g++) {
        starts[g] += starts[g - 1];
    }
    for (uint32_t i = 0; i < count; i++) {
        corners[starts[groups[mesh->triangles[i]] + 1]++] = i;
    }
}

// The normal at each corner, in the mesh's order of corners.
static void corner_normals(const Mesh *mesh, const uint32_t *starts, const uint32_t *corners, uint32_t group_count,
                           double crease_cosine, MoteVec3 *normals)
{
    const DVec3 up = {0, 1, 0};
#pragma omp parallel for schedule(static)
    for (uint32_t g = 0; g < group_count; g++) {
        const uint32_t first = starts[g], count = starts[g + 1] - first;
        for (uint32_t i = 0; i < count; i++) {
            const DVec3 own = dvec3_normalize(triangle_cross(mesh, corners[first + i] / 3), 0.0, up);
            DVec3 sum = {0, 0, 0};
            for (uint32_t j = 0; j < count; j++) {
                const uint32_t other = corners[first + j];
                const DVec3 n = dvec3_normalize(triangle_cross(mesh, other / 3), 0.0, up);
                if (count > CREASE_VALENCE || dvec3_dot(n, own) >= crease_cosine) {
                    sum = dvec3_add(sum, dvec3_scale(n, corner_angle(mesh, other / 3, other % 3)));
                }
            }
            normals[corners[first + i]] = dvec3_round(dvec3_normalize(sum, 0.0, own));
            if (count > CREASE_VALENCE) {
                for (uint32_t j = 1; j < count; j++) {
                    normals[corners[first + j]] = normals[corners[first]];
                }
                break;
            }
        }
    }
}

// Gives each corner a vertex with its normal: its own vertex where that is still free or has the same normal, another
// copy made before, or a new one. `next_copy` chains the copies of a vertex.
static MoteResult split_vertices(Mesh *mesh, const MoteVec3 *normals)
{
    const uint32_t corner_count = 3 * mesh->triangle_count, before = mesh->vertex_count;
    const size_t most = (size_t)before + corner_count;
    uint32_t *next_copy = malloc((most + 1) * sizeof *next_copy);
    uint32_t *origin = malloc((most + 1) * sizeof *origin);
    MoteVec3 *vertex_normals = malloc((most + 1) * sizeof *vertex_normals);
    uint8_t *taken = calloc((size_t)before + 1, 1);
    bool enough = next_copy != NULL && origin != NULL && vertex_normals != NULL && taken != NULL;
    uint32_t count = before;
    for (uint32_t i = 0; enough && i < corner_count; i++) {
        uint32_t v = mesh->triangles[i];
        if (!taken[v]) {
            taken[v] = 1;
            vertex_normals[v] = normals[i];
            next_copy[v] = UINT32_MAX;
            continue;
        }
        while (memcmp(&vertex_normals[v], &normals[i], sizeof normals[i]) != 0) {
            if (next_copy[v] == UINT32_MAX) {
                next_copy[v] = count;
                origin[count] = mesh->triangles[i];
                vertex_normals[count] = normals[i];
                next_copy[count] = UINT32_MAX;
                v = count++;
                break;
            }
            v = next_copy[v];
        }
        mesh->triangles[i] = v;
    }
    for (uint32_t v = 0; enough && v < before; v++) {
        if (!taken[v]) {
            vertex_normals[v] = (MoteVec3){0, 1, 0};
        }
    }
    if (enough && count > before) {
        MoteVec3 *positions = realloc(mesh->positions, (size_t)count * sizeof *positions);
        mesh->positions = positions != NULL ? positions : mesh->positions;
        float *uvs = mesh->uvs != NULL ? realloc(mesh->uvs, 2 * (size_t)count * sizeof *uvs) : NULL;
        enough = positions != NULL && (mesh->uvs == NULL || uvs != NULL);
        mesh->uvs = uvs != NULL ? uvs : mesh->uvs;
        for (uint32_t v = before; enough && v < count; v++) {
            mesh->positions[v] = mesh->positions[origin[v]];
            if (mesh->uvs != NULL) {
                memcpy(mesh->uvs + 2 * (size_t)v, mesh->uvs + 2 * (size_t)origin[v], 2 * sizeof *mesh->uvs);
            }
        }
    }
    free(taken);
    free(origin);
    free(next_copy);
    if (!enough) {
        free(vertex_normals);
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the normals of %u triangles", mesh->triangle_count);
    }
    free(mesh->normals);
    mesh->normals = vertex_normals;
    mesh->vertex_count = count;
    return MOTE_OK;
}

MoteResult mesh_make_normals(Mesh *mesh, float crease)
{
    const size_t corner_count = 3 * (size_t)mesh->triangle_count;
    uint32_t *groups = malloc(((size_t)mesh->vertex_count + 1) * sizeof *groups);
    uint32_t *starts = malloc(((size_t)mesh->vertex_count + 2) * sizeof *starts);
    uint32_t *corners = malloc((corner_count + 1) * sizeof *corners);
    MoteVec3 *normals = malloc((corner_count + 1) * sizeof *normals);
    MoteResult result = MOTE_OK;
    if (groups == NULL || starts == NULL || corners == NULL || normals == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory for the normals of %u triangles", mesh->triangle_count);
    }
    uint32_t group_count = 0;
    if (result == MOTE_OK) {
        result = mesh_weld(mesh, groups, &group_count);
    }
    if (result == MOTE_OK) {
        list_corners(mesh, groups, group_count, starts, corners);
        corner_normals(mesh, starts, corners, group_count, cos(crease), normals);
        result = stop_check();
    }
    if (result == MOTE_OK) {
        result = split_vertices(mesh, normals);
    }
    free(normals);
    free(corners);
    free(starts);
    free(groups);
    return result;
}

// ---- Meshes that grow ------------------------------------------------------------------------------------------

// The array with room for one more element than `count`, or NULL.
static void *with_room(void *elements, uint32_t *capacity, uint32_t count, size_t size)
{
    if (count < *capacity) {
        return elements;
    }
    const uint32_t wanted = *capacity < 64 ? 64 : *capacity * 2;
    void *grown = count < MESH_LIMIT ? realloc(elements, wanted * size) : NULL;
    *capacity = grown != NULL ? wanted : *capacity;
    return grown;
}

uint32_t builder_vertex(MeshBuilder *builder, DVec3 position)
{
    Mesh *mesh = &builder->mesh;
    MoteVec3 *positions = builder->failed ? NULL
                                          : with_room(mesh->positions, &builder->vertex_capacity, mesh->vertex_count,
                                                      sizeof *mesh->positions);
    if (positions == NULL) {
        builder->failed = true;
        return 0;
    }
    mesh->positions = positions;
    mesh->positions[mesh->vertex_count] = dvec3_round(position);
    return mesh->vertex_count++;
}

void builder_triangle(MeshBuilder *builder, uint32_t a, uint32_t b, uint32_t c)
{
    Mesh *mesh = &builder->mesh;
    uint32_t *triangles = builder->failed ? NULL
                                          : with_room(mesh->triangles, &builder->triangle_capacity,
                                                      mesh->triangle_count, 3 * sizeof *mesh->triangles);
    if (triangles == NULL) {
        builder->failed = true;
        return;
    }
    mesh->triangles = triangles;
    uint32_t *corner = mesh->triangles + 3 * (size_t)mesh->triangle_count++;
    corner[0] = a;
    corner[1] = b;
    corner[2] = c;
}

MoteResult builder_finish(MeshBuilder *builder, const char *name, Mesh *out)
{
    *out = builder->mesh;
    builder->mesh = (Mesh){0};
    MoteResult result = MOTE_OK;
    if (builder->failed) {
        result = mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for its mesh, or more than %u vertices", name, MESH_LIMIT);
    }
    if (result == MOTE_OK) {
        result = mesh_check(out, name);
    }
    if (result == MOTE_OK && !builder->plain) {
        result = mesh_tidy(out, name);
    }
    if (result == MOTE_OK && !builder->plain) {
        result = mesh_make_normals(out, MESH_CREASE);
    }
    if (result != MOTE_OK) {
        mesh_free(out);
    }
    return result;
}
