// SPDX-License-Identifier: MIT
// views.h - functions of the views pass for other files.
#ifndef MOTE_RENDER_PASSES_VIEWS_H
#define MOTE_RENDER_PASSES_VIEWS_H

#include "render/legend.h"
#include "render/renderer.h"

// What the colours of the frame's view mean; its title is empty for the finished picture. After the views pass.
Legend view_legend(const MoteRenderer *renderer);

#endif
