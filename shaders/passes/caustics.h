// SPDX-License-Identifier: MIT
// caustics.h - constants of the caustics pass.
#ifndef MOTE_PASSES_CAUSTICS_H
#define MOTE_PASSES_CAUSTICS_H

#include "render_shared.h"

#define CAUSTICS_UNIT   4096.0 // of a texel's flux: sums do not depend on the order of atomics
#define CAUSTICS_DETAIL 0.2    // spacings: a texel at least
#define CAUSTICS_PLANES 5u     // words a texel of `work`: two of depths, three of flux

struct CausticsConstants {
    ADDRESS(UintTarget) work;
    vec4 origin;      // where the middle of the sun's maps is at their near plane, world space; w unused
    vec4 side, above; // the directions of the maps' x and y, world space; w unused
    float refraction;
    float filter_reach; // texels, of the filter of the depth
};
SHARED_STRUCT(CausticsConstants)

#endif
