// SPDX-License-Identifier: MIT
// mesh_fixture.h - what the tests of meshes share.
#ifndef MOTE_TESTS_MESH_FIXTURE_H
#define MOTE_TESTS_MESH_FIXTURE_H

#include "backends.h"

#include "geometry/mesh.h"
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static const double PI = 3.14159265358979323846;

// ---- A folder of its own for each test program ----

static char fixture_folder[256];

static inline int fixture_open(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(fixture_folder, sizeof fixture_folder, "%.200s/mote_test_XXXXXX", parent != NULL ? parent : "/tmp");
    return mkdtemp(fixture_folder) != NULL ? 0 : -1;
}

static inline int fixture_close(void **state)
{
    (void)state;
    DIR *folder = opendir(fixture_folder);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", fixture_folder, entry->d_name);
        if (entry->d_name[0] != '.') {
            remove(path);
        }
    }
    closedir(folder);
    return rmdir(fixture_folder);
}

static inline void fixture_write(const char *name, const void *bytes, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", fixture_folder, name);
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

// ---- Meshes ----

static inline Mesh load_mesh(const char *reference)
{
    Mesh mesh;
    expect_ok(mesh_load(reference, fixture_folder, &mesh));
    expect_ok(mesh_check(&mesh, reference));
    return mesh;
}

static inline MeshReport report_of(const Mesh *mesh)
{
    MeshReport report;
    expect_ok(mesh_report(mesh, &report));
    return report;
}

// `b` appended to `a`, which keeps neither uvs nor normals.
static inline void append_copy(Mesh *a, const Mesh *b, MoteVec3 offset)
{
    Mesh both;
    expect_ok(
        mesh_make(a->vertex_count + b->vertex_count, a->triangle_count + b->triangle_count, false, "both", &both));
    memcpy(both.positions, a->positions, a->vertex_count * sizeof *a->positions);
    memcpy(both.triangles, a->triangles, 3 * a->triangle_count * sizeof *a->triangles);
    for (uint32_t v = 0; v < b->vertex_count; v++) {
        const MoteVec3 p = b->positions[v];
        both.positions[a->vertex_count + v] = (MoteVec3){p.x + offset.x, p.y + offset.y, p.z + offset.z};
    }
    for (uint32_t i = 0; i < 3 * b->triangle_count; i++) {
        both.triangles[3 * a->triangle_count + i] = b->triangles[i] + a->vertex_count;
    }
    mesh_free(a);
    *a = both;
}

static inline void flip_triangle(Mesh *mesh, uint32_t t)
{
    const uint32_t other = mesh->triangles[3 * t];
    mesh->triangles[3 * t] = mesh->triangles[3 * t + 1];
    mesh->triangles[3 * t + 1] = other;
}

static inline void drop_triangle(Mesh *mesh, uint32_t t)
{
    mesh->triangle_count--;
    memmove(mesh->triangles + 3 * t, mesh->triangles + 3 * mesh->triangle_count, 3 * sizeof *mesh->triangles);
}

#endif
