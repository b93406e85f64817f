// SPDX-License-Identifier: MIT
// thickness.h - constants of the thickness pass.
#ifndef MOTE_PASSES_THICKNESS_H
#define MOTE_PASSES_THICKNESS_H

#include "render_shared.h"

struct ThicknessConstants {
    ADDRESS(UintTarget) sums; // fixed point, THICKNESS_UNIT; thickness_channels a texel, level after level
};
SHARED_STRUCT(ThicknessConstants)

struct ThicknessPush {
    uint level; // that is added to, for step 1
};
SHARED_STRUCT(ThicknessPush)

#endif
