// SPDX-License-Identifier: MIT
// far_glass.c - draws the far sides of glass over the scene (passes/glass_common.c), before the liquid, which refracts
// both.
#include "render/passes/glass_common.h"

static MoteResult create(MoteRenderer *renderer, void *state)
{
    return glass_pipelines_create(renderer, state, false);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    return glass_pipelines_record(renderer, state, &renderer->images[RESOURCE_scene_color], commands);
}

const Pass far_glass_pass = {
    .state_bytes = sizeof(GlassPipelines), .create = create, .record = record, .destroy = glass_pipelines_destroy};
