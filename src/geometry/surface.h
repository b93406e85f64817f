// SPDX-License-Identifier: MIT
// surface.h - what can be said of a triangle mesh before anything is made of it.
#ifndef MOTE_GEOMETRY_SURFACE_H
#define MOTE_GEOMETRY_SURFACE_H

#include "mote.h"

typedef struct SurfaceSize {
    double bounds_min[3], bounds_max[3]; // m, of the vertices that triangles use
    double area;                         // m^2
    double slivers;                      // m, length of the triangles that are long and narrower than `narrow`
} SurfaceSize;
SurfaceSize surface_size(const MoteVec3 *positions, const uint32_t *triangles, uint32_t triangle_count, double narrow);

// How many cubes of this edge (m) hold a vertex; -1 without memory.
double surface_blocks(const MoteVec3 *positions, uint32_t position_count, double edge);

// Edges with a triangle on one side only. Vertices at the same place count as one: meshes are cut apart along seams of
// their texture. Edges of three and more triangles are no holes.
typedef struct SurfaceHoles {
    uint32_t edges;
    double widest;   // m, diagonal of the box around the largest set of connected open edges
    uint32_t vertex; // one of it
} SurfaceHoles;
MoteResult surface_find_holes(const MoteVec3 *positions, uint32_t position_count, const uint32_t *triangles,
                              uint32_t triangle_count, SurfaceHoles *out);

#endif
