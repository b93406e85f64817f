// SPDX-License-Identifier: MIT
// glass_common.h - draws the near or far sides of all glass over an image, for the passes far_glass and glass.
#ifndef MOTE_RENDER_PASSES_GLASS_COMMON_H
#define MOTE_RENDER_PASSES_GLASS_COMMON_H

#include "render/renderer.h"

typedef struct GlassPipelines {
    bool near_sides;              // those turned to the eye, in front of which liquid can be; else the others
    uint32_t samples;             // a pixel, that the pipelines are for
    bool tested;                  // by the depths of the scene's samples; else by the scene's one depth a pixel
    VkPipeline colliders, bodies; // into `target`, or into glass_samples
    VkPipeline mean;              // of glass_samples over `target`
} GlassPipelines;

MoteResult glass_pipelines_create(MoteRenderer *renderer, GlassPipelines *glass_pipelines, bool near_sides);
// Over `target`, which is as large as the picture; does nothing where there is no glass.
MoteResult glass_pipelines_record(MoteRenderer *renderer, GlassPipelines *glass_pipelines, const DeviceImage *target,
                                  VkCommandBuffer commands);
void glass_pipelines_destroy(MoteRenderer *renderer, void *state);

#endif
