// SPDX-License-Identifier: MIT
// triangle_tree.h - a hierarchy of boxes over a mesh's triangles: nearest points and winding numbers.
#ifndef MOTE_GEOMETRY_TRIANGLE_TREE_H
#define MOTE_GEOMETRY_TRIANGLE_TREE_H

#include "geometry/mesh.h"
#include "base/vec.h"

typedef struct TriangleTree TriangleTree;

// Keeps a pointer to `mesh`, whose positions and triangles must stay as they are.
MoteResult triangle_tree_create(const Mesh *mesh, TriangleTree **out);
void triangle_tree_destroy(TriangleTree *tree);

typedef struct NearestPoint {
    double distance; // m, unsigned
    DVec3 point;
    uint32_t triangle;
    double weights[3]; // barycentric
} NearestPoint;

// The nearest point of the surface, if it is nearer than `within`.
bool triangle_tree_nearest(const TriangleTree *tree, DVec3 p, double within, NearestPoint *out);

// Whether a triangle with another mark than `own` is within `radius` of p; marks are given a triangle.
bool triangle_tree_meets_other(const TriangleTree *tree, DVec3 p, double radius, const uint32_t *marks, uint32_t own);

// How often the surface winds around p: 1 inside a closed outward mesh, 0 outside, in between for one with holes
// (Jacobson et al. 2013); far triangles together as one dipole (Barill et al. 2018), to within about 0.05.
double triangle_tree_winding(const TriangleTree *tree, DVec3 p);

#endif
