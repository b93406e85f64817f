// SPDX-License-Identifier: MIT
// export_cloth.c - the present meshes of all cloths, torn ones included, with their texture coordinates: as OBJ, whose
// corners have a vertex and a texture coordinate each, and as PLY, where a vertex has one of its own: vertices at which
// texture coordinates meet are there several times, with the same id.
#include "scene/export.h"

#include "base/error.h"
#include "base/file.h"
#include "mote_cloth.h"
#include <stdlib.h>
#include <string.h>

// One cloth. A wedge is a vertex with one of the texture coordinates that its triangles have there.
typedef struct ClothMesh {
    MoteClothInfo info;
    MoteParticleHandle *vertices;
    MoteParticleState *states; // a vertex
    uint32_t *triangles;       // 3 a triangle
    float *uvs;                // 6 a triangle
    uint32_t *wedges;          // of a corner
    uint32_t *wedge_corners;   // of a wedge: the first corner that has it
    uint32_t *next_wedges;     // of a wedge: another one of its vertex, or MOTE_NONE
    uint32_t *first_wedges;    // of a vertex
    uint32_t wedge_count, first_wedge;
    uint32_t *numbers; // of a vertex: its place among all that are written
} ClothMesh;

static void mesh_free(ClothMesh *mesh)
{
    free(mesh->vertices);
    free(mesh->states);
    free(mesh->triangles);
    free(mesh->uvs);
    free(mesh->wedges);
    free(mesh->wedge_corners);
    free(mesh->next_wedges);
    free(mesh->first_wedges);
    free(mesh->numbers);
}

static bool mesh_allocate(ClothMesh *mesh)
{
    const size_t vertices = mesh->info.vertices + (size_t)1, corners = 3 * (size_t)mesh->info.triangles + 1;
    mesh->vertices = malloc(vertices * sizeof *mesh->vertices);
    mesh->states = malloc(vertices * sizeof *mesh->states);
    mesh->triangles = malloc(corners * sizeof *mesh->triangles);
    mesh->uvs = malloc(2 * corners * sizeof *mesh->uvs);
    mesh->wedges = malloc(corners * sizeof *mesh->wedges);
    mesh->wedge_corners = malloc(corners * sizeof *mesh->wedge_corners);
    mesh->next_wedges = malloc(corners * sizeof *mesh->next_wedges);
    mesh->first_wedges = malloc(vertices * sizeof *mesh->first_wedges);
    mesh->numbers = malloc(vertices * sizeof *mesh->numbers);
    return mesh->vertices != NULL && mesh->states != NULL && mesh->triangles != NULL && mesh->uvs != NULL &&
           mesh->wedges != NULL && mesh->wedge_corners != NULL && mesh->next_wedges != NULL &&
           mesh->first_wedges != NULL && mesh->numbers != NULL;
}

// A triangle that lost a particle, or was given up, is not written.
static bool is_there(const ClothMesh *mesh, uint32_t triangle)
{
    for (uint32_t k = 0; k < 3; k++) {
        const uint32_t v = mesh->triangles[3 * (size_t)triangle + k];
        if (v == MOTE_NONE || !mesh->states[v].present) {
            return false;
        }
    }
    return true;
}

static void find_wedge(ClothMesh *mesh, uint32_t corner)
{
    const uint32_t v = mesh->triangles[corner];
    const float *uv = mesh->uvs + 2 * (size_t)corner;
    uint32_t wedge = mesh->first_wedges[v];
    while (wedge != MOTE_NONE && memcmp(uv, mesh->uvs + 2 * (size_t)mesh->wedge_corners[wedge], 2 * sizeof *uv) != 0) {
        wedge = mesh->next_wedges[wedge];
    }
    if (wedge == MOTE_NONE) {
        wedge = mesh->wedge_count++;
        mesh->wedge_corners[wedge] = corner;
        mesh->next_wedges[wedge] = mesh->first_wedges[v];
        mesh->first_wedges[v] = wedge;
    }
    mesh->wedges[corner] = wedge;
}

static MoteResult mesh_read(MoteWorld *world, uint32_t index, ClothMesh *mesh)
{
    MoteResult result = mote_world_cloth_info(world, index, &mesh->info);
    if (result == MOTE_OK && !mesh_allocate(mesh)) {
        result = mote_fail(MOTE_ERROR_MEMORY, "no memory for a cloth of %u triangles", mesh->info.triangles);
    }
    result = result == MOTE_OK ? mote_world_read_cloth(world, index, mesh->vertices, mesh->triangles) : result;
    result = result == MOTE_OK ? mote_world_read_cloth_uvs(world, index, mesh->uvs) : result;
    result =
        result == MOTE_OK ? mote_world_read_handles(world, mesh->vertices, mesh->info.vertices, mesh->states) : result;
    for (uint32_t v = 0; v < mesh->info.vertices && result == MOTE_OK; v++) {
        mesh->first_wedges[v] = MOTE_NONE;
    }
    for (uint32_t t = 0; t < mesh->info.triangles && result == MOTE_OK; t++) {
        for (uint32_t k = 0; k < 3 && is_there(mesh, t); k++) {
            find_wedge(mesh, 3 * t + k);
        }
    }
    return result;
}

// ---- OBJ ---------------------------------------------------------------------------------------------------

static void write_obj(ClothMesh *meshes, uint32_t count, double time, FILE *stream)
{
    fprintf(stream, "# Mote %s\n# time %.9g s\n", mote_version(), time);
    uint32_t vertices = 0, wedges = 0; // written so far: OBJ counts from 1 through the file
    for (uint32_t m = 0; m < count; m++) {
        ClothMesh *mesh = &meshes[m];
        fprintf(stream, "o cloth_%u\ng cloth_%u\n", m, m);
        for (uint32_t v = 0; v < mesh->info.vertices; v++) {
            const MoteVec3 p = mesh->states[v].position;
            if (mesh->states[v].present) {
                fprintf(stream, "v %.9g %.9g %.9g\n", (double)p.x, (double)p.y, (double)p.z);
                mesh->numbers[v] = ++vertices;
            }
        }
        for (uint32_t w = 0; w < mesh->wedge_count; w++) {
            const float *uv = mesh->uvs + 2 * (size_t)mesh->wedge_corners[w];
            fprintf(stream, "vt %.9g %.9g\n", (double)uv[0], (double)uv[1]);
        }
        for (uint32_t t = 0; t < mesh->info.triangles; t++) {
            if (is_there(mesh, t)) {
                const uint32_t *corners = mesh->triangles + 3 * (size_t)t, *of = mesh->wedges + 3 * (size_t)t;
                fprintf(stream, "f %u/%u %u/%u %u/%u\n", mesh->numbers[corners[0]], wedges + of[0] + 1,
                        mesh->numbers[corners[1]], wedges + of[1] + 1, mesh->numbers[corners[2]], wedges + of[2] + 1);
            }
        }
        wedges += mesh->wedge_count;
    }
}

// ---- PLY ---------------------------------------------------------------------------------------------------

static void write_vertices(const ClothMesh *mesh, uint32_t cloth, FILE *stream)
{
    for (uint32_t w = 0; w < mesh->wedge_count; w++) {
        const uint32_t corner = mesh->wedge_corners[w];
        const MoteParticleState *state = &mesh->states[mesh->triangles[corner]];
        const struct {
            MoteVec3 position, velocity;
            float s, t;
            uint32_t id, cloth;
        } row = {state->position,
                 state->velocity,
                 mesh->uvs[2 * (size_t)corner],
                 mesh->uvs[2 * (size_t)corner + 1],
                 state->id,
                 cloth};
        _Static_assert(sizeof row == 40, "rows without gaps");
        fwrite(&row, sizeof row, 1, stream);
    }
}

static void write_faces(const ClothMesh *mesh, FILE *stream)
{
    for (uint32_t t = 0; t < mesh->info.triangles; t++) {
        if (is_there(mesh, t)) {
            uint32_t corners[3];
            for (uint32_t k = 0; k < 3; k++) {
                corners[k] = mesh->first_wedge + mesh->wedges[3 * (size_t)t + k];
            }
            fputc(3, stream);
            fwrite(corners, sizeof corners, 1, stream);
        }
    }
}

static void write_ply(ClothMesh *meshes, uint32_t count, double time, FILE *stream)
{
    uint32_t vertices = 0, faces = 0;
    for (uint32_t m = 0; m < count; m++) {
        meshes[m].first_wedge = vertices;
        vertices += meshes[m].wedge_count;
        for (uint32_t t = 0; t < meshes[m].info.triangles; t++) {
            faces += is_there(&meshes[m], t) ? 1 : 0;
        }
    }
    fprintf(stream, "ply\nformat binary_little_endian 1.0\ncomment Mote %s\ncomment time %.9g s\nelement vertex %u\n",
            mote_version(), time, vertices);
    static const char *const floats[] = {"x", "y", "z", "vx", "vy", "vz", "s", "t"};
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++) {
        fprintf(stream, "property float %s\n", floats[i]);
    }
    fprintf(stream,
            "property uint id\nproperty uint cloth\nelement face %u\n"
            "property list uchar uint vertex_indices\nend_header\n",
            faces);
    for (uint32_t m = 0; m < count; m++) {
        write_vertices(&meshes[m], m, stream);
    }
    for (uint32_t m = 0; m < count; m++) {
        write_faces(&meshes[m], stream);
    }
}

// ---- All cloths --------------------------------------------------------------------------------------------

MoteResult export_cloths(MoteWorld *world, double time, bool as_obj, const char *path)
{
    const uint32_t count = mote_world_cloth_count(world);
    ClothMesh *meshes = calloc(count + (size_t)1, sizeof *meshes);
    const size_t size = strlen(path) + sizeof "_cloth.ply";
    char *name = malloc(size);
    MoteResult result = meshes != NULL && name != NULL
                            ? MOTE_OK
                            : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for %u cloths", path, count);
    for (uint32_t m = 0; m < count && result == MOTE_OK; m++) {
        result = mesh_read(world, m, &meshes[m]);
    }
    FileWriter writer;
    if (result == MOTE_OK) {
        snprintf(name, size, "%s_cloth.%s", path, as_obj ? "obj" : "ply");
        result = file_writer_open(&writer, name);
    }
    if (result == MOTE_OK) {
        (as_obj ? write_obj : write_ply)(meshes, count, time, writer.stream);
        result = file_writer_commit(&writer);
    }
    for (uint32_t m = 0; meshes != NULL && m < count; m++) {
        mesh_free(&meshes[m]);
    }
    free(meshes);
    free(name);
    return result;
}
