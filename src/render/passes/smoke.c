// SPDX-License-Identifier: MIT
// smoke.c - smoke as the eye sees it, over the scene behind it (shaders/render/smoke.comp). What is drawn later,
// liquid, foam, glass and skins, is put behind the smoke before it by smoke_view.glsl.
#include "render/passes/smoke.h"

enum { ADD, RAISE, MARCH, APPLY, STEPS };

typedef struct Smoke {
    SimplePass steps; // its buffer is frame.smoke
    Buffer sums;
} Smoke;

static MoteResult create(MoteRenderer *renderer, void *state)
{
    Smoke *own = state;
    SimpleShader shaders[STEPS];
    for (uint32_t i = 0; i < STEPS; i++) {
        shaders[i] = (SimpleShader){"smoke.comp", {i}};
    }
    return simple_pass_create(renderer, &own->steps, shaders, STEPS);
}

static void step(MoteRenderer *renderer, const Smoke *own, VkCommandBuffer commands, uint32_t number, uint32_t level,
                 uint32_t count)
{
    const SmokePush push = {level};
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, own->steps.pipelines[number], &push, sizeof push);
    pass_dispatch(commands, count, 64);
    pass_compute_barrier(commands);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    Smoke *own = state;
    FrameConstants *c = &renderer->frame.constants;
    if (c->has_smoke_volume == 0) {
        return MOTE_OK;
    }
    const uint32_t width = c->smoke_columns, height = c->smoke_rows, depth = c->smoke_slices;
    const size_t cells = smoke_level_start(width, height, depth, SMOKE_LEVELS);
    const size_t sum_bytes = (2 + 2 * cells) * sizeof(uint32_t);
    MoteResult result = buffer_reserve(&renderer->device, "smoke", BUFFER_DEVICE,
                                       (size_t)width * height * depth * sizeof(vec4), &own->steps.buffer);
    result = result == MOTE_OK ? buffer_reserve(&renderer->device, "smoke_sums", BUFFER_DEVICE, sum_bytes, &own->sums)
                               : result;
    if (result != MOTE_OK) {
        return result;
    }
    c->smoke = own->steps.buffer.address;
    SmokeConstants constants = smoke_constants(&renderer->frame);
    constants.sums = own->sums.address;
    constants.open_light = smoke_open_light(renderer);
    pass_constants(renderer, &constants, sizeof constants);
    vkCmdFillBuffer(commands, own->sums.handle, 0, sum_bytes, 0);
    pass_transfer_barrier(commands);
    step(renderer, own, commands, ADD, 0, constants.capacity);
    for (uint32_t level = SMOKE_LEVELS - 1; level-- > 0;) {
        step(renderer, own, commands, RAISE, level, smoke_level_cells(width, height, depth, level));
    }
    step(renderer, own, commands, MARCH, 0, width * height);
    if (renderer->frame.view == VIEW_liquid) {
        step(renderer, own, commands, APPLY, 0, renderer->width * renderer->height);
    }
    return MOTE_OK;
}

static void destroy(MoteRenderer *renderer, void *state)
{
    Smoke *own = state;
    simple_pass_destroy(renderer, &own->steps);
    buffer_destroy(&renderer->device, &own->sums);
}

const Pass smoke_pass = {.state_bytes = sizeof(Smoke), .create = create, .record = record, .destroy = destroy};
