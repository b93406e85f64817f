// SPDX-License-Identifier: MIT
// meshes.h - closed and open triangle meshes whose exact distance is known, for tests of distance fields.
#ifndef MOTE_TESTS_MESHES_H
#define MOTE_TESTS_MESHES_H

#include <math.h>
#include <stdlib.h>

#include "mote.h"

#define MESH_PI 3.14159265358979323846

typedef struct TestMesh {
    MoteVec3 *positions;
    float *uvs; // 2 a vertex, of surfaces that are wound round
    uint32_t *triangles;
    uint32_t position_count, triangle_count;
} TestMesh;

static inline TestMesh mesh_with_room(uint32_t positions, uint32_t triangles)
{
    TestMesh mesh = {.positions = calloc(positions, sizeof(MoteVec3)),
                     .uvs = calloc(positions, 2 * sizeof(float)),
                     .triangles = calloc(triangles, 3 * sizeof(uint32_t))};
    if (mesh.positions == NULL || mesh.uvs == NULL || mesh.triangles == NULL) {
        abort();
    }
    return mesh;
}

static inline void mesh_free(TestMesh *mesh)
{
    free(mesh->positions);
    free(mesh->uvs);
    free(mesh->triangles);
}

static inline void mesh_add_triangle(TestMesh *mesh, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t *to = mesh->triangles + 3 * (size_t)mesh->triangle_count++;
    to[0] = a;
    to[1] = b;
    to[2] = c;
}

// A grid of (columns + 1) x (rows + 1) vertices, two triangles a cell; the caller places the vertices.
static inline TestMesh mesh_sheet(uint32_t columns, uint32_t rows)
{
    TestMesh mesh = mesh_with_room((columns + 1) * (rows + 1), 2 * columns * rows);
    mesh.position_count = (columns + 1) * (rows + 1);
    for (uint32_t v = 0; v <= rows; v++) {
        for (uint32_t u = 0; u <= columns; u++) {
            const uint32_t at = v * (columns + 1) + u;
            mesh.uvs[2 * at] = (float)u / (float)columns;
            mesh.uvs[2 * at + 1] = (float)v / (float)rows;
            if (u < columns && v < rows) {
                mesh_add_triangle(&mesh, at, at + 1, at + columns + 2);
                mesh_add_triangle(&mesh, at, at + columns + 2, at + columns + 1);
            }
        }
    }
    return mesh;
}

// A profile of radii and heights turned about the y axis: closed if both ends are on it, with a seam of doubled
// vertices.
static inline TestMesh mesh_turned(const double (*profile)[2], uint32_t points, uint32_t columns)
{
    TestMesh mesh = mesh_sheet(columns, points - 1);
    for (uint32_t v = 0; v < points; v++) {
        for (uint32_t u = 0; u <= columns; u++) {
            const double angle = 2.0 * MESH_PI * (u % columns) / columns;
            MoteVec3 *p = &mesh.positions[v * (columns + 1) + u];
            p->x = (float)(profile[v][0] * cos(angle));
            p->y = (float)profile[v][1];
            p->z = (float)(profile[v][0] * sin(angle));
        }
    }
    return mesh;
}

static inline TestMesh mesh_sphere(double radius, uint32_t rows)
{
    double(*profile)[2] = calloc(rows + 1, sizeof *profile);
    for (uint32_t v = 0; v <= rows; v++) {
        const double angle = MESH_PI * v / rows;
        profile[v][0] = v == 0 || v == rows ? 0.0 : radius * sin(angle);
        profile[v][1] = -radius * cos(angle);
    }
    const TestMesh mesh = mesh_turned((const double(*)[2])profile, rows + 1, 2 * rows);
    free(profile);
    return mesh;
}

static inline TestMesh mesh_torus(double large, double small, uint32_t rows)
{
    double(*profile)[2] = calloc(rows + 1, sizeof *profile);
    for (uint32_t v = 0; v <= rows; v++) {
        const double angle = 2.0 * MESH_PI * (v % rows) / rows;
        profile[v][0] = large + small * cos(angle);
        profile[v][1] = small * sin(angle);
    }
    const TestMesh mesh = mesh_turned((const double(*)[2])profile, rows + 1, 2 * rows);
    free(profile);
    return mesh;
}

static inline TestMesh mesh_box(MoteVec3 half)
{
    static const uint32_t faces[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                          {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    TestMesh mesh = mesh_with_room(8, 12);
    mesh.position_count = 8;
    for (uint32_t i = 0; i < 8; i++) {
        mesh.positions[i].x = (i & 1u) != 0 ? half.x : -half.x;
        mesh.positions[i].y = (i & 2u) != 0 ? half.y : -half.y;
        mesh.positions[i].z = (i & 4u) != 0 ? half.z : -half.z;
    }
    for (int t = 0; t < 12; t++) {
        mesh_add_triangle(&mesh, faces[t][0], faces[t][1], faces[t][2]);
    }
    return mesh;
}

// A hemispherical bowl, open at the top, its walls from `inner` to `outer` (m) about the origin.
static inline TestMesh mesh_bowl(double inner, double outer, uint32_t rows)
{
    double(*profile)[2] = calloc(2 * (rows + 1), sizeof *profile);
    for (uint32_t v = 0; v <= rows; v++) {
        const double angle = 0.5 * MESH_PI * v / rows, c = v == rows ? 0.0 : cos(angle), s = v == 0 ? 0.0 : sin(angle);
        profile[v][0] = outer * s;
        profile[v][1] = -outer * c;
        profile[2 * rows + 1 - v][0] = inner * s;
        profile[2 * rows + 1 - v][1] = -inner * c;
    }
    const TestMesh mesh = mesh_turned((const double(*)[2])profile, 2 * (rows + 1), 4 * rows);
    free(profile);
    return mesh;
}

static inline MoteFieldOptions field_of(const TestMesh *mesh, uint32_t mode, float cell_size)
{
    const MoteFieldOptions options = {.positions = mesh->positions,
                                      .position_count = mesh->position_count,
                                      .triangles = mesh->triangles,
                                      .triangle_count = mesh->triangle_count,
                                      .mode = mode,
                                      .cell_size = cell_size};
    return options;
}

#endif
