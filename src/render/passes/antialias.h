// SPDX-License-Identifier: MIT
// antialias.h - definitions that the last passes share.
#ifndef MOTE_RENDER_PASSES_ANTIALIAS_H
#define MOTE_RENDER_PASSES_ANTIALIAS_H

#include "render/renderer.h"
#include "render_views.h"

// Whether the tonemap pass leaves edges for the antialias pass to smooth. Many samples have smooth edges already.
static inline bool picture_is_smoothed(const Frame *frame)
{
    return frame->constants.sample_count == 1 && frame->scene->picture.antialias;
}

// All pixels of the picture, INVOCATION_ROWS an invocation.
static inline void dispatch_rows(const MoteRenderer *renderer, VkCommandBuffer commands)
{
    pass_dispatch_pixels(commands, renderer->width, (renderer->height + INVOCATION_ROWS - 1) / INVOCATION_ROWS);
}

#endif
