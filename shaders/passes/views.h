// SPDX-License-Identifier: MIT
// views.h - constants of the views pass.
#ifndef MOTE_PASSES_VIEWS_H
#define MOTE_PASSES_VIEWS_H

#include "render_shared.h"

struct ViewsConstants {
    uint has_foam;         // whether frame.foam is there
    uint show, map;        // SHOW_ and MAP_, see render_views.h
    float lowest, highest; // range of the colour map
};
SHARED_STRUCT(ViewsConstants)

#endif
