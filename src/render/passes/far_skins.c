// SPDX-License-Identifier: MIT
// far_skins.c - draws the far sides of translucent cloth over the scene (passes/skins_common.c), before the liquid,
// which refracts them.
#include "render/passes/skins_common.h"

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    return skin_pipelines_record(renderer, state, false, &renderer->images[RESOURCE_scene_color], commands);
}

const Pass far_skins_pass = {.state_bytes = sizeof(SkinPipelines), .record = record, .destroy = skin_pipelines_destroy};
