// SPDX-License-Identifier: MIT
// glass.c - the near sides of glass, over the liquid (passes/panes.c).
#include "render/passes/panes.h"

static MoteResult create(MoteRenderer *renderer, void *state)
{
    return panes_create(renderer, state, true);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    return panes_record(renderer, state, &renderer->images[RESOURCE_color], commands);
}

const Pass glass_pass = {.state_bytes = sizeof(Panes), .create = create, .record = record, .destroy = panes_destroy};
