// SPDX-License-Identifier: MIT
// liquid_shadow.h - constants of the liquid_shadow pass.
#ifndef MOTE_PASSES_LIQUID_SHADOW_H
#define MOTE_PASSES_LIQUID_SHADOW_H

#include "render_shared.h"

struct LiquidShadowConstants {
    ADDRESS(UintTarget) sums; // as seen from the sun: the bits of the first depth a texel, then sums
};
SHARED_STRUCT(LiquidShadowConstants)

#endif
