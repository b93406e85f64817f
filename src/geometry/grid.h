// SPDX-License-Identifier: MIT
// grid.h - what OpenVDB does for distance fields, behind plain C: grid.cpp is the one file that includes it.
#ifndef MOTE_GEOMETRY_GRID_H
#define MOTE_GEOMETRY_GRID_H

#include "mote.h"

#ifdef __cplusplus
extern "C" {
#endif

// A NanoVDB grid in memory from aligned_alloc.
typedef struct GridBlob {
    uint32_t *words;
    uint64_t word_count;
} GridBlob;

typedef struct FieldGrids {
    GridBlob distances; // float: signed distance that particles feel, m
    GridBlob closest;   // int32: the triangle nearest to each voxel, -1 where none is known; empty if not asked for
    MoteVec3 origin;    // m, of voxel (0, 0, 0)
    float cell_size;    // m
    MoteVec3 bounds_min, bounds_max; // m, centres of the outermost voxels that hold a distance
    float outside;                   // m, the value beyond them
    uint64_t voxels;                 // that hold a distance
} FieldGrids;

typedef struct GridOptions {
    const char *name; // of mesh or file, for messages
    uint32_t mode;    // MoteFieldMode
    float cell_size;  // m
    float offset;     // m
    float band;       // cells with distances beyond the offset surface
    float interior;   // cells with distances on the mesh's inner side, FLT_MAX: all
    bool with_closest;
} GridOptions;

// The mesh has been checked: finite, indices in range, at least one triangle.
MoteResult grids_from_mesh(const GridOptions *options, const MoteVec3 *positions, uint32_t position_count,
                           const uint32_t *triangles, uint32_t triangle_count, FieldGrids *out);
// A float level set from an OpenVDB file; `grid` NULL is the first one of its kind.
MoteResult grids_from_file(const GridOptions *options, const char *path, const char *grid, FieldGrids *out);
// An OpenVDB file of a NanoVDB grid's words.
MoteResult grid_write(const char *path, const uint32_t *words, uint64_t word_count);
// NanoVDB's own look at one voxel, for tests to compare the kernels' with: a float or an int32 as bits.
uint32_t grid_voxel_bits(const GridBlob *blob, int32_t x, int32_t y, int32_t z);
void grids_free(FieldGrids *grids);

#ifdef __cplusplus
}
#endif

#endif
