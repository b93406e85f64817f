// SPDX-License-Identifier: MIT
// anisotropy.h - constants of the anisotropy pass.
#ifndef MOTE_PASSES_ANISOTROPY_H
#define MOTE_PASSES_ANISOTROPY_H

#include "render_shared.h"

struct AnisotropyConstants {
    float radius, isolated_radius; // m, of a drawn particle
    float centre_smoothing, stretch;
    uint isolated_below; // neighbours
    uint anisotropy;
    uint drops; // 1: isolated particles are no part of the surface (foam.comp)
};
SHARED_STRUCT(AnisotropyConstants)

#endif
