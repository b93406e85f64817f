// thickness.c - how much liquid a ray passes through: sums of chords at half resolution. In fixed point, so that the
// order of atomics does not matter.
#include "render/renderer.h"

enum { SPLAT, RESOLVE };

MoteResult thickness_create(MoteRenderer *renderer, void **state)
{
    const SimpleShader shaders[] = {[SPLAT] = {"thickness.comp", {0}}, [RESOLVE] = {"thickness.comp", {1}}};
    return simple_pass_create(renderer, shaders, 2, state);
}

MoteResult thickness_record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    const SimplePass *pass = state;
    const Picture *half = &renderer->images[RESOURCE_thickness];
    if (renderer->frame.liquid && !renderer->frame.spheres) {
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[SPLAT], NULL, 0);
        pass_dispatch(commands, renderer->frame.constants.particle_count, 64);
        pass_compute_barrier(commands);
    }
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[RESOLVE], NULL, 0);
    pass_dispatch(commands, half->width * half->height, 64);
    return MOTE_OK;
}

void thickness_destroy(MoteRenderer *renderer, void *state)
{
    simple_pass_destroy(renderer, state);
}
