// SPDX-License-Identifier: MIT
// grains.h - constants of grains.comp, which the passes sift and grains share.
#ifndef MOTE_PASSES_GRAINS_H
#define MOTE_PASSES_GRAINS_H

#include "render_shared.h"

struct GrainsPush {
    uint slices; // of a sphere in the sun's map, for step 2: an invocation each
};
SHARED_STRUCT(GrainsPush)

#endif
