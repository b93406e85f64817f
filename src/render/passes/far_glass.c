// far_glass.c - the far sides of glass, over the scene (passes/panes.c): the liquid in front of them refracts both.
#include "render/passes/panes.h"

MoteResult far_glass_create(MoteRenderer *renderer, void **state)
{
    return panes_create(renderer, false, state);
}

MoteResult far_glass_record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    return panes_record(renderer, state, &renderer->images[RESOURCE_scene_color], commands);
}

void far_glass_destroy(MoteRenderer *renderer, void *state)
{
    panes_destroy(renderer, state);
}
