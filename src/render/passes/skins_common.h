// SPDX-License-Identifier: MIT
// skins_common.h - draws translucent cloth, for the passes far_skins and skins.
#ifndef MOTE_RENDER_SKINS_COMMON_H
#define MOTE_RENDER_SKINS_COMMON_H

#include "render/renderer.h"

typedef struct SkinPipelines {
    VkPipeline dim, light; // come with their first use
} SkinPipelines;

// Over `target`: the sides whose front is seen, or those that are seen from behind.
MoteResult skin_pipelines_record(MoteRenderer *renderer, SkinPipelines *skin_pipelines, bool near_sides,
                                 const DeviceImage *target, VkCommandBuffer commands);
void skin_pipelines_destroy(MoteRenderer *renderer, void *state);

#endif
