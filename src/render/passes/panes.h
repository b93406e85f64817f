// SPDX-License-Identifier: MIT
// panes.h - one side of everything that is glass, over an image: what the passes far_glass and glass share.
#ifndef MOTE_RENDER_PASSES_PANES_H
#define MOTE_RENDER_PASSES_PANES_H

#include "render/renderer.h"

typedef struct Panes {
    bool near_sides;           // those turned to the eye, in front of which liquid can be; else the others
    uint32_t samples;          // a pixel, that the pipelines are for
    bool tested;               // by the depths of the scene's samples; else by the scene's one depth a pixel
    VkPipeline shapes, bodies; // into `target`, or into glass_samples
    VkPipeline mean;           // of glass_samples over `target`
} Panes;

MoteResult panes_create(MoteRenderer *renderer, Panes *panes, bool near_sides);
// Over `target`, which is as large as the picture; does nothing where there is no glass.
MoteResult panes_record(MoteRenderer *renderer, Panes *panes, const Picture *target, VkCommandBuffer commands);
void panes_destroy(MoteRenderer *renderer, void *state);

#endif
