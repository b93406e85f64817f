// SPDX-License-Identifier: MIT
// bloom.h - constants of the bloom pass.
#ifndef MOTE_PASSES_BLOOM_H
#define MOTE_PASSES_BLOOM_H

#include "render_shared.h"

#define BLOOM_LEVELS 6

struct BloomConstants {
    ADDRESS(Vec4Target) levels; // one after the other, the finest first: linear RGB; w unused
    float amount;               // share of the light that is spread, 0 to 1
};
SHARED_STRUCT(BloomConstants)

// Two levels that follow each other: where they begin among all texels, and their sizes.
struct BloomPush {
    uint fine, fine_width, fine_height;
    uint coarse, coarse_width, coarse_height;
};
SHARED_STRUCT(BloomPush)

#endif
