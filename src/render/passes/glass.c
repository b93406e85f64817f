// SPDX-License-Identifier: MIT
// glass.c - draws the near sides of glass over the liquid (passes/glass_common.c).
#include "render/passes/glass_common.h"

static MoteResult create(MoteRenderer *renderer, void *state)
{
    return glass_pipelines_create(renderer, state, true);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    return glass_pipelines_record(renderer, state, &renderer->images[RESOURCE_color], commands);
}

const Pass glass_pass = {
    .state_bytes = sizeof(GlassPipelines), .create = create, .record = record, .destroy = glass_pipelines_destroy};
