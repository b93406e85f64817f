// SPDX-License-Identifier: MIT
// smooth.h - constants of the smooth pass.
#ifndef MOTE_PASSES_SMOOTH_H
#define MOTE_PASSES_SMOOTH_H

#include "render_shared.h"

struct SmoothConstants {
    ADDRESS(UintTarget) planes; // two planes of bits of floats, a value a pixel
    float curvature_step;
    float radius; // m, one sigma
    float depth;  // m
};
SHARED_STRUCT(SmoothConstants)

#endif
