// SPDX-License-Identifier: MIT
// antialias.h - constants of the antialias pass.
#ifndef MOTE_PASSES_ANTIALIAS_H
#define MOTE_PASSES_ANTIALIAS_H

#include "render_shared.h"

// The legend of a debug view.
struct AntialiasConstants {
    ADDRESS(UintArray) panel; // RGBA of 8 bits
    uint left, top;           // pixels of the picture
    uint width, height;       // pixels of the panel, each `scale` pixels of the picture wide and high
    uint scale;
};
SHARED_STRUCT(AntialiasConstants)

#endif
