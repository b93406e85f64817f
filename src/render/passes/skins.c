// SPDX-License-Identifier: MIT
// skins.c - draws the near sides of translucent cloth over the picture (passes/skins_common.c).
#include "render/passes/skins_common.h"

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    return skin_pipelines_record(renderer, state, true, &renderer->images[RESOURCE_color], commands);
}

const Pass skins_pass = {.state_bytes = sizeof(SkinPipelines), .record = record, .destroy = skin_pipelines_destroy};
