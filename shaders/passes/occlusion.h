// SPDX-License-Identifier: MIT
// occlusion.h - constants of the occlusion pass.
#ifndef MOTE_PASSES_OCCLUSION_H
#define MOTE_PASSES_OCCLUSION_H

#include "render_shared.h"

struct OcclusionConstants {
    ADDRESS(Vec2Target) samples; // as occlusion_means, with noise
};
SHARED_STRUCT(OcclusionConstants)

#endif
