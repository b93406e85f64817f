// SPDX-License-Identifier: MIT
// smoke_light.c - where smoke is, and how much light of sun and sky reaches it and what is behind it
// (shaders/render/smoke_light.comp): the sun's part once a picture, before anything is lit.
#include "render/passes/smoke.h"

enum { BOUNDS, PLACE, ADD, RAISE, POOL, HEAT, SCAN, OPEN, MAP, LAMPS, STEPS };

typedef struct SmokeLight {
    SimplePass steps; // its buffer is frame.smoke_light
    Buffer open;      // sums of the coarse cells, and the light of the sky in them
} SmokeLight;

uint32_t smoke_level_cells(uint32_t width, uint32_t height, uint32_t depth, uint32_t level)
{
    const uint32_t rounding = (1u << level) - 1u;
    return ((width + rounding) >> level) * ((height + rounding) >> level) * ((depth + rounding) >> level);
}

uint32_t smoke_level_start(uint32_t width, uint32_t height, uint32_t depth, uint32_t level)
{
    uint32_t start = 0;
    for (uint32_t l = 0; l < level; l++) {
        start += smoke_level_cells(width, height, depth, l);
    }
    return start;
}

// A unit so small that all particles fit into one cell.
static float unit_of_sums(uint32_t capacity)
{
    uint32_t bits = 0;
    while (bits < 32 && (capacity >> bits) != 0) {
        bits++;
    }
    const int exponent = 30 - (int)bits;
    return (float)(1u << (exponent > 16 ? 16 : exponent < 4 ? 4 : exponent));
}

SmokeConstants smoke_constants(const Frame *frame)
{
    const MoteSmokeLook *look = &frame->scene->smoke;
    const float radius = look->radius * frame->solver.spacing;
    const float pi = 3.14159265f;
    return (SmokeConstants){
        .color = {look->color.x, look->color.y, look->color.z, 0.0f},
        .hot_color = {look->hot_color.x, look->hot_color.y, look->hot_color.z, look->hot},
        .capacity = frame->solver.diffuse_capacity,
        // A ball of extinction density / (2 radius).
        .section = look->density * (2.0f / 3.0f) * pi * radius * radius,
        .unit = unit_of_sums(frame->solver.diffuse_capacity),
        .radius = radius,
        .growth = look->growth,
        .fade = look->fade,
        .asymmetry = look->asymmetry,
        .fire = look->fire,
        .octaves = look->octaves,
        .cell = look->cell,
        .shows = frame->view == VIEW_smoke_age           ? SMOKE_SHOWS_AGE
                 : frame->view == VIEW_smoke_temperature ? SMOKE_SHOWS_TEMPERATURE
                 : frame->view == VIEW_smoke_sun         ? SMOKE_SHOWS_SUN
                                                         : SMOKE_SHOWS_LIGHT,
        .edge_samples = frame->scene_samples > 1 ? frame->scene_samples : 0,
        .has_occlusion = frame->constants.occlusion_means != 0,
    };
}

static MoteResult create(MoteRenderer *renderer, void *state)
{
    SmokeLight *own = state;
    SimpleShader shaders[STEPS];
    for (uint32_t i = 0; i < STEPS; i++) {
        shaders[i] = (SimpleShader){"smoke_light.comp", {i}};
    }
    return simple_pass_create(renderer, &own->steps, shaders, STEPS);
}

static MoteResult prepare(MoteRenderer *renderer, void *state)
{
    (void)state;
    const Frame *frame = &renderer->frame;
    const MoteSmokeLook *look = &frame->scene->smoke;
    FrameConstants *c = &renderer->frame.constants;
    const float cell = look->cell > 1.0f ? look->cell : 1.0f;
    const bool shown = frame->view >= VIEW_smoke && frame->view <= VIEW_smoke_sun; // debug views, of the volume
    c->has_smoke =
        (frame->view == VIEW_liquid || shown) && frame->solver.diffuse_smoke.bytes > 0 && look->density > 0.0f;
    c->smoke_mode = shown ? SMOKE_MODE_VOLUME : (uint32_t)look->mode;
    c->has_smoke_volume = c->has_smoke != 0 && c->smoke_mode == SMOKE_MODE_VOLUME;
    c->smoke_extinction = look->extinction;
    c->smoke_cell = cell;
    c->smoke_columns = (uint32_t)((float)c->width / cell) + 1;
    c->smoke_rows = (uint32_t)((float)c->height / cell) + 1;
    c->smoke_slices = look->slices > 1 ? look->slices : 1;
    return MOTE_OK;
}

VkDeviceAddress smoke_open_light(const MoteRenderer *renderer)
{
    const SmokeLight *own = renderer->states[PASS_smoke_light];
    return own->open.address;
}

static void step(MoteRenderer *renderer, const SmokeLight *own, VkCommandBuffer commands, uint32_t number,
                 uint32_t level, uint32_t count)
{
    const SmokePush push = {level};
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, own->steps.pipelines[number], &push, sizeof push);
    pass_dispatch(commands, count, 64);
    pass_compute_barrier(commands);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SmokeLight *own = state;
    FrameConstants *c = &renderer->frame.constants;
    if (c->has_smoke == 0) {
        return MOTE_OK;
    }
    const uint32_t side = SMOKE_LIGHT_SIDE, deep = SMOKE_LIGHT_DEEP;
    const size_t words = SMOKE_TAU + smoke_level_start(side, side, deep, SMOKE_LEVELS);
    const size_t light_bytes = SMOKE_OPEN_CELLS * sizeof(vec4), sum_bytes = 3 * SMOKE_OPEN_CELLS * sizeof(uint32_t);
    MoteResult result =
        buffer_reserve(&renderer->device, "smoke_light", BUFFER_DEVICE, words * sizeof(uint32_t), &own->steps.buffer);
    result = result == MOTE_OK
                 ? buffer_reserve(&renderer->device, "smoke_open", BUFFER_DEVICE, light_bytes + sum_bytes, &own->open)
                 : result;
    if (result != MOTE_OK) {
        return result;
    }
    c->smoke_light = own->steps.buffer.address;
    SmokeConstants constants = smoke_constants(&renderer->frame);
    constants.open_light = own->open.address;
    constants.open_sums = own->open.address + light_bytes;
    constants.first_level = SMOKE_TAU + SMOKE_CELLS;
    pass_constants(renderer, &constants, sizeof constants);
    vkCmdFillBuffer(commands, own->steps.buffer.handle, 0, words * sizeof(uint32_t), 0);
    vkCmdFillBuffer(commands, own->open.handle, light_bytes, sum_bytes, 0);
    pass_transfer_barrier(commands);
    step(renderer, own, commands, BOUNDS, 0, constants.capacity);
    step(renderer, own, commands, PLACE, 0, 1);
    if (c->smoke_mode == SMOKE_MODE_MAP) {
        step(renderer, own, commands, MAP, 0, constants.capacity);
        return MOTE_OK;
    }
    step(renderer, own, commands, ADD, 0, constants.capacity);
    for (uint32_t level = SMOKE_LEVELS - 1; level-- > 0;) {
        step(renderer, own, commands, RAISE, level, smoke_level_cells(side, side, deep, level));
    }
    step(renderer, own, commands, POOL, 0, SMOKE_OPEN_CELLS);
    step(renderer, own, commands, HEAT, 0, constants.capacity);
    step(renderer, own, commands, SCAN, 0, side * side);
    step(renderer, own, commands, OPEN, 0, SMOKE_OPEN_CELLS);
    step(renderer, own, commands, LAMPS, 0, 1);
    return MOTE_OK;
}

static void destroy(MoteRenderer *renderer, void *state)
{
    SmokeLight *own = state;
    simple_pass_destroy(renderer, &own->steps);
    buffer_destroy(&renderer->device, &own->open);
}

const Pass smoke_light_pass = {
    .state_bytes = sizeof(SmokeLight), .create = create, .prepare = prepare, .record = record, .destroy = destroy};
