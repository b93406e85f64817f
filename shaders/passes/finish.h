// SPDX-License-Identifier: MIT
// finish.h - constants of the finish pass.
#ifndef MOTE_PASSES_FINISH_H
#define MOTE_PASSES_FINISH_H

#include "render_shared.h"

// The legend of a debug view.
struct FinishConstants {
    ADDRESS(UintArray) panel; // RGBA of 8 bits
    uint left, top;           // pixels of the picture
    uint width, height;       // pixels of the panel, each `scale` pixels of the picture wide and high
    uint scale;
};
SHARED_STRUCT(FinishConstants)

#endif
