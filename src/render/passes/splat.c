// splat.c - the nearest ellipsoid at every pixel, by whichever of two ways suits the device: an invocation a particle
// with atomics (2 to 3 times faster on software devices), or a quad a particle, which GPUs are made for.
#include "render/renderer.h"

#include "base/error.h"
#include <stdlib.h>

enum { CLEAR, DEPTH, INDEX, STORE_DEPTH, STORE_BOTH, STEPS };

typedef struct SplatPass {
    VkPipeline steps[STEPS]; // compute
    VkPipeline quads;        // all at once
    Buffer splats;
} SplatPass;

MoteResult splat_create(MoteRenderer *renderer, void **state)
{
    SplatPass *pass = calloc(1, sizeof *pass);
    *state = pass;
    if (pass == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a pass");
    }
    if (!renderer->compute_splat) {
        const GraphicsPipeline quads = {.vertex = "splat.vert",
                                        .fragment = "splat.frag",
                                        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                                        .color_format = VK_FORMAT_R32_UINT,
                                        .color_format2 = VK_FORMAT_R32_UINT,
                                        .depth_format = VK_FORMAT_D32_SFLOAT,
                                        .depth_test = true,
                                        .depth_write = true,
                                        .depth_compare =
                                            VK_COMPARE_OP_GREATER_OR_EQUAL}; // ties: the last, as in compute
        return pipeline_create_graphics(renderer, &quads, &pass->quads);
    }
    MoteResult result = MOTE_OK;
    for (uint32_t step = 0; step < STEPS && result == MOTE_OK; step++) {
        result = pipeline_create_compute(renderer, "splat.comp", &step, 1, &pass->steps[step]);
    }
    return result;
}

static void record_quads(MoteRenderer *renderer, SplatPass *pass, VkCommandBuffer commands)
{
    const float farthest = 0.0f;
    pass_begin_rendering(commands, &(RenderTargets){.color = &renderer->images[RESOURCE_surface_depth],
                                                    .color2 = &renderer->images[RESOURCE_surface_index],
                                                    .depth = &renderer->images[RESOURCE_quad_depth],
                                                    .clear_depth = &farthest});
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pass->quads, NULL, 0);
    vkCmdDraw(commands, 6, renderer->frame.constants.particle_count, 0, 0);
    vkCmdEndRendering(commands);
}

static MoteResult record_compute(MoteRenderer *renderer, SplatPass *pass, VkCommandBuffer commands)
{
    const uint32_t pixels = renderer->width * renderer->height;
    const uint32_t counts[STEPS] = {pixels, renderer->frame.constants.particle_count,
                                    renderer->frame.constants.particle_count, pixels, pixels};
    const MoteResult result = buffer_reserve(&renderer->device, "splats", BUFFER_DEVICE,
                                             (size_t)pixels * 2 * sizeof(uint32_t), &pass->splats);
    if (result != MOTE_OK) {
        return result;
    }
    renderer->frame.constants.splats = pass->splats.address;
    for (uint32_t step = 0; step < STEPS; step++) {
        const bool of_index = step == INDEX || step == STORE_BOTH;
        if (of_index ? renderer->frame.needs_index : step != STORE_DEPTH || !renderer->frame.needs_index) {
            pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->steps[step], NULL, 0);
            pass_dispatch(commands, counts[step], 64);
            pass_compute_barrier(commands);
        }
    }
    return MOTE_OK;
}

MoteResult splat_record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SplatPass *pass = state;
    if (!renderer->frame.liquid) {
        return MOTE_OK;
    }
    if (!renderer->compute_splat) {
        record_quads(renderer, pass, commands);
        return MOTE_OK;
    }
    return record_compute(renderer, pass, commands);
}

void splat_destroy(MoteRenderer *renderer, void *state)
{
    SplatPass *pass = state;
    if (pass != NULL) {
        for (uint32_t step = 0; step < STEPS; step++) {
            vkDestroyPipeline(renderer->device.handle, pass->steps[step], NULL);
        }
        buffer_destroy(&renderer->device, &pass->splats);
        vkDestroyPipeline(renderer->device.handle, pass->quads, NULL);
        free(pass);
    }
}
