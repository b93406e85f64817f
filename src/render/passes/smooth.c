// smooth.c - the splats' depth made into a surface: narrow-range filter, bilateral filter, curvature flow, or none.
#include "render/renderer.h"

#include "base/error.h"

// Specialisation of smooth.comp: method, direction, where it reads. It writes smooth_depth if it reads anything else,
// else smooth_scratch. In between, both hold 1 / z; the last dispatch stores z.
enum { METHOD_NARROW, METHOD_BILATERAL, METHOD_CURVATURE, METHOD_COPY };
enum { ALONG_X, ALONG_Y, BOTH };
enum { FROM_SPLATS, FROM_SMOOTH, FROM_SCRATCH };

enum { FIRST_X, NEXT_X, NEXT_Y, CLEAN_UP, FILTER_PIPELINES };
enum {
    NARROW = 0,
    BILATERAL = FILTER_PIPELINES,
    CURVATURE = 2 * FILTER_PIPELINES,
    FLOW = CURVATURE + 1,
    COPY = FLOW + 2
};

MoteResult smooth_create(MoteRenderer *renderer, void **state)
{
    const SimpleShader shaders[] = {
        [NARROW + FIRST_X] = {"smooth.comp", {METHOD_NARROW, ALONG_X, FROM_SPLATS}},
        [NARROW + NEXT_X] = {"smooth.comp", {METHOD_NARROW, ALONG_X, FROM_SCRATCH}},
        [NARROW + NEXT_Y] = {"smooth.comp", {METHOD_NARROW, ALONG_Y, FROM_SMOOTH}},
        [NARROW + CLEAN_UP] = {"smooth.comp", {METHOD_NARROW, BOTH, FROM_SCRATCH}},
        [BILATERAL + FIRST_X] = {"smooth.comp", {METHOD_BILATERAL, ALONG_X, FROM_SPLATS}},
        [BILATERAL + NEXT_X] = {"smooth.comp", {METHOD_BILATERAL, ALONG_X, FROM_SCRATCH}},
        [BILATERAL + NEXT_Y] = {"smooth.comp", {METHOD_BILATERAL, ALONG_Y, FROM_SMOOTH}},
        [BILATERAL + CLEAN_UP] = {"smooth.comp", {METHOD_BILATERAL, BOTH, FROM_SCRATCH}},
        [CURVATURE] = {"smooth.comp", {METHOD_COPY, 1, FROM_SPLATS}}, // z, to start with
        [FLOW] = {"smooth.comp", {METHOD_CURVATURE, 0, FROM_SMOOTH}},
        [FLOW + 1] = {"smooth.comp", {METHOD_CURVATURE, 0, FROM_SCRATCH}},
        [COPY] = {"smooth.comp", {METHOD_COPY, 1, FROM_SPLATS}},
    };
    return simple_pass_create(renderer, shaders, sizeof shaders / sizeof shaders[0], state);
}

static void run(MoteRenderer *renderer, const SimplePass *pass, VkCommandBuffer commands, int pipeline)
{
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[pipeline], NULL, 0);
    pass_dispatch_pixels(commands, renderer->width, renderer->height);
    pass_compute_barrier(commands);
}

MoteResult smooth_record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    const SimplePass *pass = state;
    const MoteLiquidLook *look = &renderer->frame.scene->liquid;
    const uint32_t passes = look->smoothing_passes;
    const bool none = look->smoothing == MOTE_SMOOTHING_NONE || renderer->frame.spheres || passes == 0;
    if (none || !renderer->frame.liquid) {
        run(renderer, pass, commands, COPY);
    } else if (look->smoothing == MOTE_SMOOTHING_CURVATURE) {
        run(renderer, pass, commands, CURVATURE);
        for (uint32_t i = 0; i < 2 * ((passes + 1) / 2); i++) { // in twos: the result must be in smooth_depth
            run(renderer, pass, commands, FLOW + (int)(i % 2));
        }
    } else {
        const int filter = look->smoothing == MOTE_SMOOTHING_BILATERAL ? BILATERAL : NARROW;
        for (uint32_t i = 0; i < passes; i++) {
            run(renderer, pass, commands, filter + (i == 0 ? FIRST_X : NEXT_X));
            run(renderer, pass, commands, filter + NEXT_Y);
        }
        run(renderer, pass, commands, filter + CLEAN_UP);
    }
    return MOTE_OK;
}

void smooth_destroy(MoteRenderer *renderer, void *state)
{
    simple_pass_destroy(renderer, state);
}
