// glass.c - the near sides of glass, over the liquid (passes/panes.c).
#include "render/passes/panes.h"

MoteResult glass_create(MoteRenderer *renderer, void **state)
{
    return panes_create(renderer, true, state);
}

MoteResult glass_record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    return panes_record(renderer, state, &renderer->images[RESOURCE_color], commands);
}

void glass_destroy(MoteRenderer *renderer, void *state)
{
    panes_destroy(renderer, state);
}
