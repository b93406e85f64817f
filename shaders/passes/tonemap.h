// SPDX-License-Identifier: MIT
// tonemap.h - constants of the tonemap pass.
#ifndef MOTE_PASSES_TONEMAP_H
#define MOTE_PASSES_TONEMAP_H

#include "render_shared.h"

struct TonemapConstants {
    float saturation;
    float contrast;
    uint tone; // MoteToneCurve
};
SHARED_STRUCT(TonemapConstants)

#endif
