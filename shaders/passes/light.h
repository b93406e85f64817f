// SPDX-License-Identifier: MIT
// light.h - constants of the light pass.
#ifndef MOTE_PASSES_LIGHT_H
#define MOTE_PASSES_LIGHT_H

#include "render_shared.h"

struct LightConstants {
    ADDRESS(UintTarget) sums; // as seen from the sun: the bits of the first depth a texel, then sums
};
SHARED_STRUCT(LightConstants)

#endif
