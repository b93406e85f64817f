// composite.c - the liquid shaded in front of the scene (shaders/render/composite.comp).
#include "render/renderer.h"

MoteResult composite_create(MoteRenderer *renderer, void **state)
{
    const SimpleShader shaders[] = {{"composite.comp", {0}}};
    return simple_pass_create(renderer, shaders, 1, state);
}

MoteResult composite_record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    const SimplePass *pass = state;
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[0], NULL, 0);
    pass_dispatch_pixels(commands, renderer->width, renderer->height);
    return MOTE_OK;
}

void composite_destroy(MoteRenderer *renderer, void *state)
{
    simple_pass_destroy(renderer, state);
}
