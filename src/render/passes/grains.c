// grains.c - the nearest grain at every pixel, for the scene pass to shade: an invocation a grain, with atomics
// (shaders/render/grains.comp). One way for all devices: grains are small on the screen.
#include "render/passes/grains.h"
#include "render/passes/nearest.h"

#include "base/error.h"
#include <stdlib.h>

MoteResult grains_create(MoteRenderer *renderer, void **state)
{
    Nearest *nearest = calloc(1, sizeof *nearest);
    *state = nearest;
    return nearest != NULL ? nearest_create(renderer, "grains.comp", GRAINS_NEAREST, nearest)
                           : mote_fail(MOTE_ERROR_MEMORY, "no memory for a pass");
}

MoteResult grains_record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    FrameConstants *constants = &renderer->frame.constants;
    return renderer->frame.grains ? nearest_record(renderer, state, "grain_splats", constants->particle_count, true,
                                                   &constants->grain_splats, commands)
                                  : MOTE_OK;
}

void grains_destroy(MoteRenderer *renderer, void *state)
{
    if (state != NULL) {
        nearest_destroy(renderer, state);
        free(state);
    }
}
