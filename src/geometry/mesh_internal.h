// SPDX-License-Identifier: MIT
// mesh_internal.h - what the files of meshes share.
#ifndef MOTE_GEOMETRY_MESH_INTERNAL_H
#define MOTE_GEOMETRY_MESH_INTERNAL_H

#include "base/isolate.h"
#include "geometry/mesh.h"
#include "base/vec.h"
#include <stddef.h>

// Nothing with more vertices or triangles than this is read.
#define MESH_LIMIT 50000000u

// A mesh while it grows; `failed` once memory lacks, and then everything else does nothing.
typedef struct MeshBuilder {
    Mesh mesh;
    uint32_t vertex_capacity, triangle_capacity;
    bool failed;
    bool plain; // finished as it is, only checked: vertices keep their numbers
} MeshBuilder;

uint32_t builder_vertex(MeshBuilder *builder, DVec3 position); // its index
void builder_triangle(MeshBuilder *builder, uint32_t a, uint32_t b, uint32_t c);
// The finished mesh: vertices equal in position and uv made one, triangles without area and unused vertices dropped,
// checked, with normals; of a plain one only checked. Frees what it cannot give.
MoteResult builder_finish(MeshBuilder *builder, const char *name, Mesh *out);
MoteResult mesh_tidy(Mesh *mesh, const char *name);

// Twice the area times the unit normal.
static inline DVec3 triangle_cross(const Mesh *mesh, uint32_t triangle)
{
    const uint32_t *corner = mesh->triangles + 3 * (size_t)triangle;
    const DVec3 a = dvec3_from(mesh->positions[corner[0]]);
    return dvec3_cross(dvec3_sub(dvec3_from(mesh->positions[corner[1]]), a),
                       dvec3_sub(dvec3_from(mesh->positions[corner[2]]), a));
}

// shape:NAME?... ; `text` is what follows "shape:".
MoteResult mesh_generate(const char *reference, const char *text, bool plain, Mesh *out);
// As mesh_load; `plain` leaves vertices and triangles as the file has them, without normals.
MoteResult mesh_load_as(const char *reference, const char *folder, bool plain, Mesh *out);

// The generators of scenery, in mesh_scenery.c; values in the order of their parameters.
void generate_rocks(MeshBuilder *builder, const double *values);
void generate_castle(MeshBuilder *builder, const double *values);
void generate_broken(MeshBuilder *builder, const double *values);

typedef struct ProfilePoint {
    double radius, height;
} ProfilePoint;

// The surface of revolution of a profile about the y axis; points on the axis become single vertices. Its outside is to
// the right of the profile's direction, seen with the axis on the left.
void builder_revolve(MeshBuilder *builder, const ProfilePoint *profile, uint32_t count, bool cyclic, uint32_t segments);
void builder_box(MeshBuilder *builder, DVec3 centre, DVec3 half);
// Moves all vertices from `first` on.
void builder_move(MeshBuilder *builder, uint32_t first, DVec3 offset);

// ---- Files ----

enum { MESH_EXTENSION_SIZE = 8 };
#define MESH_PURPOSE "cannot be read as a mesh"

typedef struct MeshFile {
    char *name; // what the importer calls it
    char *bytes;
    size_t size;
} MeshFile;

// All that an importer may read; the mesh's own file is the first, those that it names follow.
typedef struct MeshSource {
    const char *path; // for messages
    char own_name[16];
    MeshFile *files;
    uint32_t file_count;
} MeshSource;

// Reads another file of at most what is left of the limit.
MoteResult mesh_source_add(MeshSource *source, const char *path, const char *name);
uint64_t mesh_source_size(const MeshSource *source); // bytes in all
void mesh_source_free(MeshSource *source);

// In the child: assimp reads the source, triangles are sent. Nothing is safe about it: assimp can crash, loop and eat
// memory. `limit` (bytes) is for the message when there is no more. An `out` with file -1 sends to nowhere.
MoteResult mesh_import(const MeshSource *source, uint64_t limit, IsolatePipe *out);
// In the parent: what mesh_import sends, with indices in range; out is empty on failure.
MoteResult mesh_receive(const MeshSource *source, IsolatePipe *in, Mesh *out);
// Both: imports in a limited child process. The mesh is as the file has it, not finished; empty on failure.
MoteResult mesh_import_in_child(const MeshSource *source, Mesh *out);

// What a file of this format claims, against what it holds: assimp believes claims. `extension` in lower case.
MoteResult mesh_check_file(const char *path, const char *extension, const char *bytes, size_t size);
MoteResult mesh_check_gltf(const char *path, const char *bytes, size_t size, bool binary);
// Reads the buffers that a glTF file (checked) names: files below its own folder.
MoteResult mesh_add_buffers(MeshSource *source, bool binary);

// Edges of a mesh: each triangle has three, in its own direction; sorted so that those of one edge are neighbours.
typedef struct MeshEdge {
    uint32_t low, high; // welded vertices, low < high
    uint32_t triangle;
    uint32_t forward; // 1 where the triangle runs from low to high
} MeshEdge;

// 3 * triangle_count edges at most: triangles with two corners at one place have none. Free them.
MoteResult mesh_edges(const Mesh *mesh, const uint32_t *groups, MeshEdge **edges, size_t *count);
// The number of edges from `first` on that are the same.
size_t edge_run(const MeshEdge *edges, size_t count, size_t first);

// components[t] numbers the set of triangles that t hangs together with over welded vertices; UINT32_MAX for triangles
// with two corners at one place.
MoteResult mesh_components(const Mesh *mesh, uint32_t *components, uint32_t *count);

// Puts the item with the nth smallest key to place nth, smaller ones before it, larger ones behind. Keys are found by
// items; equal keys are ordered by item, so that the result depends on nothing else.
void select_nth(uint32_t *items, const float *keys, uint32_t count, uint32_t nth);

#endif
