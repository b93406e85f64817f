// SPDX-License-Identifier: MIT
// outline.h - constants of the outline pass.
#ifndef MOTE_PASSES_OUTLINE_H
#define MOTE_PASSES_OUTLINE_H

#include "render_shared.h"

struct OutlineConstants {
    ADDRESS(UintTarget) edges; // a texel: 1 where an edge is between it and the next one to the right, 2 below
    float half_width;          // pixels
    float horizon;             // 1/m, of 1 / view z: what is farther away counts as sky
};
SHARED_STRUCT(OutlineConstants)

#endif
