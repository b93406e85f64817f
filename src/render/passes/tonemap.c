// SPDX-License-Identifier: MIT
// tonemap.c - applies exposure, saturation and a filmic curve to the mean of the samples (shaders/render/tonemap.comp).
// Writes `pixels`, or `display` if the antialias pass follows.
#include "passes/tonemap.h"
#include "render/passes/antialias.h"

// Bits of a pipeline's number, and its specialisation. Few are used: each pipeline comes with its first use.
enum { FILMIC = 1, ONE_SAMPLE = 2, FINISHED = 4 };

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SimplePass *pass = state;
    const bool smoothed = picture_is_smoothed(&renderer->frame);
    FrameConstants *constants = &renderer->frame.constants;
    if (smoothed) {
        const size_t bytes = (size_t)renderer->width * renderer->height * 2 * sizeof(uint32_t);
        const MoteResult result = buffer_reserve(&renderer->device, "display", BUFFER_DEVICE, bytes, &pass->buffer);
        if (result != MOTE_OK) {
            return result;
        }
        constants->display = pass->buffer.address;
    }
    const MotePictureLook *look = &renderer->frame.scene->picture;
    const TonemapConstants own = {.saturation = look->saturation, .contrast = look->contrast, .tone = look->tone};
    pass_constants(renderer, &own, sizeof own);
    const uint32_t variant = (renderer->frame.view == VIEW_liquid ? FILMIC : 0u) |
                             (constants->sample_count == 1 ? ONE_SAMPLE : 0u) | (smoothed ? 0u : FINISHED);
    if (pass->pipelines[variant] == VK_NULL_HANDLE) {
        const uint32_t values[] = {(variant & FILMIC) != 0, (variant & ONE_SAMPLE) != 0, (variant & FINISHED) != 0};
        const MoteResult result =
            pipeline_create_compute(renderer, "tonemap.comp", values, 3, &pass->pipelines[variant]);
        if (result != MOTE_OK) {
            return result;
        }
    }
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[variant], NULL, 0);
    dispatch_rows(renderer, commands);
    return MOTE_OK;
}

const Pass tonemap_pass = {.state_bytes = sizeof(SimplePass), .record = record, .destroy = simple_pass_destroy};
