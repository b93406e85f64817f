// SPDX-License-Identifier: MIT
// far_glass.c - the far sides of glass, over the scene (passes/panes.c): the liquid in front of them refracts both.
#include "render/passes/panes.h"

static MoteResult create(MoteRenderer *renderer, void *state)
{
    return panes_create(renderer, state, false);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    return panes_record(renderer, state, &renderer->images[RESOURCE_scene_color], commands);
}

const Pass far_glass_pass = {
    .state_bytes = sizeof(Panes), .create = create, .record = record, .destroy = panes_destroy};
