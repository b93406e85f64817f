// SPDX-License-Identifier: MIT
// cloth_tethers.h - which pins the vertices of a cloth are tethered to (cloth_tethers.c, kernels/cloth/tethers.h).
#ifndef MOTE_SOLVER_CLOTH_TETHERS_H
#define MOTE_SOLVER_CLOTH_TETHERS_H

#include "solver/cloth_topology.h"

enum { TETHER_LIMIT = 2 }; // a vertex

typedef struct ClothTethers {
    const bool *pinned;        // a vertex
    const MoteVec3 *positions; // m, at rest
    uint32_t vertex_count;
    uint32_t wanted; // to how many pins, at most TETHER_LIMIT
    uint32_t *pins;  // TETHER_LIMIT a vertex: the nearest first; MOTE_NONE behind them
    float *lengths;  // m, of each: the shortest way along links
} ClothTethers;

// Fills the rows; *count is how many tethers there are.
MoteResult cloth_tethers_make(const ClothLinks *links, const ClothTethers *tethers, uint32_t *count);

#endif
