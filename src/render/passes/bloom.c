// SPDX-License-Identifier: MIT
// bloom.c - spreads a share of the picture's light, before the tone curve (shaders/render/bloom.comp). The layers, and
// with them EXR files, hold the light without it.
#include "passes/bloom.h"
#include "render/renderer.h"

enum { MEAN, FIRST, DOWN, UP, APPLY, APPLY_TO_SUM, STEPS };

static MoteResult create(MoteRenderer *renderer, void *state)
{
    const SimpleShader shaders[STEPS] = {
        [MEAN] = {"bloom.comp", {0, 0}}, [FIRST] = {"bloom.comp", {1, 0}}, [DOWN] = {"bloom.comp", {2, 0}},
        [UP] = {"bloom.comp", {3, 0}},   [APPLY] = {"bloom.comp", {4, 0}}, [APPLY_TO_SUM] = {"bloom.comp", {4, 1}},
    };
    return simple_pass_create(renderer, state, shaders, STEPS);
}

typedef struct Level {
    uint32_t first, width, height; // texels
} Level;

// Each half as wide and high as the one before, rounded up; returns how many texels all have.
static uint32_t place_levels(uint32_t width, uint32_t height, Level levels[BLOOM_LEVELS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < BLOOM_LEVELS; i++) {
        width = (width + 1) / 2;
        height = (height + 1) / 2;
        levels[i] = (Level){count, width, height};
        count += width * height;
    }
    return count;
}

static void step(MoteRenderer *renderer, const SimplePass *pass, VkCommandBuffer commands, int number,
                 const Level *fine, const Level *coarse, const Level *size)
{
    const BloomPush push = {fine->first, fine->width, fine->height, coarse->first, coarse->width, coarse->height};
    pass_compute_barrier(commands);
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[number], &push, sizeof push);
    pass_dispatch_pixels(commands, size->width, size->height);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SimplePass *pass = state;
    const Frame *frame = &renderer->frame;
    const float amount = frame->scene->picture.bloom;
    if (frame->view != VIEW_liquid || amount <= 0.0f) { // colours of debug views mean numbers
        return MOTE_OK;
    }
    const Level picture = {0, renderer->width, renderer->height};
    Level levels[BLOOM_LEVELS];
    const size_t bytes = place_levels(picture.width, picture.height, levels) * sizeof(vec4);
    const MoteResult result = buffer_reserve(&renderer->device, "bloom", BUFFER_DEVICE, bytes, &pass->buffer);
    if (result != MOTE_OK) {
        return result;
    }
    const BloomConstants constants = {.levels = pass->buffer.address, .amount = amount < 1.0f ? amount : 1.0f};
    pass_constants(renderer, &constants, sizeof constants);
    const bool summed = frame->constants.sample_count > 1;
    if (summed) {
        step(renderer, pass, commands, MEAN, &picture, &levels[0], &picture);
    }
    step(renderer, pass, commands, FIRST, &picture, &levels[0], &levels[0]);
    for (int i = 1; i < BLOOM_LEVELS; i++) {
        step(renderer, pass, commands, DOWN, &levels[i - 1], &levels[i], &levels[i]);
    }
    for (int i = BLOOM_LEVELS - 1; i > 0; i--) {
        step(renderer, pass, commands, UP, &levels[i - 1], &levels[i], &levels[i - 1]);
    }
    step(renderer, pass, commands, summed ? APPLY_TO_SUM : APPLY, &picture, &levels[0], &picture);
    return MOTE_OK;
}

const Pass bloom_pass = {
    .state_bytes = sizeof(SimplePass), .create = create, .record = record, .destroy = simple_pass_destroy};
