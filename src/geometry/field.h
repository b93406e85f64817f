// SPDX-License-Identifier: MIT
// field.h - the inside of a MoteField: a mesh's distance field and what belongs to its surface, packed as kernels read
// it.
#ifndef MOTE_GEOMETRY_FIELD_H
#define MOTE_GEOMETRY_FIELD_H

#include "geometry/grid.h"

#include <stdatomic.h>

#define FIELD_NOTHING 0xffffffffu // there is no such part

// Immutable once made; worlds and the user share it by counting.
struct MoteField {
    atomic_uint_fast32_t users;
    uint32_t mode;                   // MoteFieldMode
    float cell_size;                 // m
    MoteVec3 origin;                 // m, of voxel (0, 0, 0)
    MoteVec3 bounds_min, bounds_max; // m, centres of the outermost voxels with a distance
    float outside;                   // m, the distance felt beyond them
    uint64_t voxels;
    // All parts one after the other; below, the word where each begins, or FIELD_NOTHING.
    uint32_t *words;
    uint64_t word_count; // a multiple of 8: NanoVDB's 32 bytes
    uint64_t grid_words; // of the grid of distances, which comes first
    uint32_t distances;  // root node of a NanoVDB grid of floats
    uint32_t closest;    // root node of a NanoVDB grid of int32: the nearest triangle
    uint32_t vertices;   // 3 floats a vertex
    uint32_t triangles;  // 3 vertices each
    uint32_t velocities; // 3 floats a vertex
    uint32_t uvs;        // 2 floats a vertex
    uint32_t friction;   // floats
    uint32_t friction_width, friction_height;
    uint32_t wet_width, wet_height;
};

void field_retain(const MoteField *field);

#endif
