// SPDX-License-Identifier: MIT
// voxelise.h - solid bodies as particles on a lattice, with signed distance and its gradient (UPP sections 5, 5.1).
#ifndef MOTE_GEOMETRY_VOXELISE_H
#define MOTE_GEOMETRY_VOXELISE_H

#include "geometry/mesh.h"

typedef struct VoxelBody {
    uint32_t count;
    MoteVec3 *positions; // m, in the mesh's frame
    MoteVec3 *gradients; // outward, unit: of the signed distance
    float *distances;    // m, negative inside
    double volume;       // m^3: of the lattice cells inside, also of those left out by surface_only
} VoxelBody;

typedef struct VoxelOptions {
    float spacing;     // m, between lattice points
    bool surface_only; // only particles at most `shell` deep
    float shell;       // m; 0 is one spacing
    uint32_t limit;    // particles; 0 is 100 million
    float inset; // m; particles less deep are moved inwards to this depth, as far as the body's width allows; with
                 // spacing / 2, spheres of that radius stay inside the surface; 0 leaves all on the lattice
} VoxelOptions;

// A particle at every lattice point inside the solid that `mesh` bounds. The lattice has the whole number of cells
// nearest to the size of the mesh's box along each axis, at least one, and is centred on it: a box whose sides are
// multiples of the spacing is filled by spheres that touch its faces; other surfaces are crossed by spheres by at most
// half a spacing, half of them outwards, so that the number of particles times a cell is the volume.
//
// Components that overlap are united, those that face inwards inside another are cavities; whichever way all triangles
// face does not matter. Small holes are closed (mesh_solid). Refused: open meshes, spacings at which no particle fits
// (the message has one that works), more particles than `limit`.
MoteResult voxelise(const Mesh *mesh, const VoxelOptions *options, VoxelBody *out);
void voxel_body_free(VoxelBody *body);

#endif
