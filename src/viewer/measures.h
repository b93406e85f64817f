// SPDX-License-Identifier: MIT
// measures.h - statistics of a frame snapshot. Plain data.
#ifndef MOTE_VIEWER_MEASURES_H
#define MOTE_VIEWER_MEASURES_H

#include <stdint.h>

// Constraints by kind, and how far contacts are from holding.
typedef struct Measures {
    uint32_t liquid, grains, members;   // particles: a density constraint each; grains; of bodies
    uint32_t clusters, colliders;       // of shape matching; colliders
    uint64_t neighbour_pairs, contacts; // pairs of particles in lists; those of them that touch
    double overlap_mean, overlap_max;   // of contacts: 1 - distance / contact distance, 0 where it is kept
} Measures;

#endif
