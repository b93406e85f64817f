// SPDX-License-Identifier: MIT
// mesh.h - triangle meshes: from files, from generators, what they are, and what can be mended.
//
// Triangles wind counter-clockwise seen from outside. Vertices are split where texture coordinates or normals part;
// whatever is said about topology is said of vertices welded by exactly equal position.
#ifndef MOTE_GEOMETRY_MESH_H
#define MOTE_GEOMETRY_MESH_H

#include "mote.h"

typedef struct Mesh {
    uint32_t vertex_count, triangle_count;
    MoteVec3 *positions; // m
    uint32_t *triangles; // 3 a triangle
    float *uvs;          // 2 a vertex, or NULL
    MoteVec3 *normals;   // unit, smooth, or NULL until they are made
} Mesh;

// A mesh by its reference; complete with normals, without degenerate triangles, to be freed with mesh_free.
// Files are read in a child process (base/isolate.h): what they make an importer do is an error here.
//   a path             relative to `folder` (NULL: the current one): OBJ, PLY, STL, glTF, GLB, 3DS, OFF, DAE or FBX;
//   all
//                      meshes of the file's node tree in one, polygons made triangles
//   package:PATH       a file below the folders of XDG_DATA_DIRS (/usr/local/share:/usr/share), where distributions
//                      put data: package:glmark2/models/bunny.obj
//   shape:NAME?KEY=VALUE&...  made by a generator, see mesh_shapes.c
MoteResult mesh_load(const char *reference, const char *folder, Mesh *out);
void mesh_free(Mesh *mesh);

// Poses of one mesh: the same vertices and triangles at other places.
typedef struct MeshSequence {
    Mesh mesh;       // in its first pose, with normals, degenerate triangles included
    uint32_t count;  // of poses
    MoteVec3 *poses; // m, vertex_count a pose
} MeshSequence;

// At least two references (see mesh_load), whose files list the same triangles in the same order; uvs are the first's.
MoteResult mesh_sequence_load(const char *const *references, uint32_t count, const char *folder, MeshSequence *out);
void mesh_sequence_free(MeshSequence *sequence);
// Normals of a mesh that has moved since mesh_make_normals: edges that were sharp stay so. `groups` (from
// mesh_normal_groups, of the mesh as it was) numbers the vertices that share a normal.
MoteResult mesh_normal_groups(const Mesh *mesh, uint32_t *groups);
MoteResult mesh_move_normals(const Mesh *mesh, const uint32_t *groups, MoteVec3 *normals);

// Zeroed arrays of these sizes; `name` is for the message where memory lacks.
MoteResult mesh_make(uint32_t vertex_count, uint32_t triangle_count, bool uvs, const char *name, Mesh *out);
MoteResult mesh_copy(const Mesh *mesh, Mesh *out);

// Finite vertices within 1e9 m, indices in range, at least one triangle with area; `name` begins the message.
MoteResult mesh_check(const Mesh *mesh, const char *name);

// Normals that are smooth except over edges sharper than `crease` (radians; the sum over a corner is weighted by
// angle); splits vertices there.
MoteResult mesh_make_normals(Mesh *mesh, float crease);
#define MESH_CREASE 0.87266463f // 50 degrees

typedef struct MeshReport {
    bool closed;                // no edge has one triangle only
    bool manifold;              // no edge has more than two
    bool consistently_oriented; // triangles run along each edge as often in one direction as in the other
    uint32_t boundary_edges, non_manifold_edges, degenerate_triangles, components;
    double volume; // m^3, signed: negative where triangles face inwards; by the divergence theorem
    double area;   // m^2
    MoteVec3 bounds_min, bounds_max;
} MeshReport;

MoteResult mesh_report(const Mesh *mesh, MeshReport *report);

// Scale first (a mirroring one turns triangles round), then rotation, then translation.
void mesh_transform(Mesh *mesh, MoteVec3 scale, MoteQuaternion rotation, MoteVec3 translation);

// Closes each loop of boundary edges by a fan over its centre. Refused, with the mesh as it was, where that would make
// up more than `share` of the closed mesh's area, or where boundary edges do not form loops. `closed`, if not NULL,
// counts the fans.
MoteResult mesh_close_holes(Mesh *mesh, double share, const char *name, uint32_t *closed);
#define MESH_HOLE_SHARE 0.1 // what is closed without asking

// Triangles of each patch that meet over manifold edges face the same way, and every component outwards, except those
// that face inwards and lie inside another: these are cavities.
MoteResult mesh_orient(Mesh *mesh);

// A closed, outward copy of `mesh` for solid bodies: holes of at most MESH_HOLE_SHARE closed, triangles oriented.
MoteResult mesh_solid(const Mesh *mesh, const char *name, Mesh *out);

// groups[v] is the number of the set of vertices at v's position, numbered by first appearance; returns how many.
MoteResult mesh_weld(const Mesh *mesh, uint32_t *groups, uint32_t *group_count);

// For each vertex of `mesh` the 4 nearest particles and weights that sum to 1 and fall to 0 towards the fifth, so that
// they vary smoothly along the surface. Fewer than 4 particles repeat with weight 0.
// A vertex v follows as sum of w_k (x_k + R_k (v - rest_k)): rigid motion is reproduced exactly.
MoteResult mesh_skin(const Mesh *mesh, const MoteVec3 *particles, uint32_t count, uint32_t *indices, float *weights);

#endif
