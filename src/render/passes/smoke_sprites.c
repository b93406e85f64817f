// SPDX-License-Identifier: MIT
// smoke_sprites.c - smoke as sprites, sorted by distance on the device and blended at half the picture's size
// (shaders/render/smoke_sprites.comp, .vert, .frag): for close-ups, and smoke as UPP has it (7.2.4).
#include "render/passes/smoke.h"

enum { KEYS, SORT, APPLY, STEPS };

typedef struct Sprites {
    SimplePass steps; // its buffer: SmokeConstants.sprites
    Buffer lights;
    VkPipeline draw;
} Sprites;

// They come with their first use: most pictures have none.
static MoteResult create_pipelines(MoteRenderer *renderer, Sprites *own)
{
    SimpleShader shaders[STEPS];
    for (uint32_t i = 0; i < STEPS; i++) {
        shaders[i] = (SimpleShader){"smoke_sprites.comp", {i}};
    }
    const MoteResult result = simple_pass_create(renderer, &own->steps, shaders, STEPS);
    const GraphicsPipeline info = {.vertex = "smoke_sprites.vert",
                                   .fragment = "smoke_sprites.frag",
                                   .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                                   .cull = VK_CULL_MODE_NONE,
                                   .blending = BLEND_OVER,
                                   .color_format = VK_FORMAT_R16G16B16A16_SFLOAT};
    return result == MOTE_OK && own->draw == VK_NULL_HANDLE ? pipeline_create_graphics(renderer, &info, &own->draw)
                                                            : result;
}

// Of a bitonic sort: as many elements as the next power of two.
static uint32_t element_count(uint32_t capacity)
{
    uint32_t count = 2;
    while (count < capacity) {
        count *= 2;
    }
    return count;
}

static void sort(MoteRenderer *renderer, const Sprites *own, VkCommandBuffer commands, uint32_t count)
{
    for (uint32_t run = 2; run <= count; run *= 2) {
        for (uint32_t distance = run / 2; distance > 0; distance /= 2) {
            const SmokeSortPush push = {run, distance};
            pass_compute_barrier(commands);
            pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, own->steps.pipelines[SORT], &push,
                      sizeof push);
            pass_dispatch(commands, count / 2, 64);
        }
    }
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    Sprites *own = state;
    const FrameConstants *c = &renderer->frame.constants;
    if (c->has_smoke == 0 || c->has_smoke_volume != 0) {
        return MOTE_OK;
    }
    SmokeConstants constants = smoke_constants(&renderer->frame);
    const uint32_t count = element_count(constants.capacity);
    const size_t bytes = (4 + 4 * (size_t)count) * sizeof(uint32_t), light_bytes = count * sizeof(vec4);
    MoteResult result = create_pipelines(renderer, own);
    result = result == MOTE_OK
                 ? buffer_reserve(&renderer->device, "smoke_sprites", BUFFER_DEVICE, bytes, &own->steps.buffer)
                 : result;
    result = result == MOTE_OK
                 ? buffer_reserve(&renderer->device, "smoke_lights", BUFFER_DEVICE, light_bytes, &own->lights)
                 : result;
    if (result != MOTE_OK) {
        return result;
    }
    constants.sprites = own->steps.buffer.address;
    constants.lights = own->lights.address;
    constants.open_light = smoke_open_light(renderer);
    pass_constants(renderer, &constants, sizeof constants);
    vkCmdFillBuffer(commands, own->steps.buffer.handle, 0, 16, 0);
    pass_transfer_barrier(commands);
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, own->steps.pipelines[KEYS], NULL, 0);
    pass_dispatch(commands, count, 64);
    sort(renderer, own, commands, count);
    const MemoryUse computed = {VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_WRITE_BIT};
    const MemoryUse fetched = {VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT, VK_ACCESS_2_SHADER_READ_BIT};
    device_barrier(commands, computed, fetched);
    const VkClearColorValue clear = {.float32 = {0.0f, 0.0f, 0.0f, 0.0f}};
    pass_begin_rendering(commands,
                         &(RenderTargets){.color = &renderer->images[RESOURCE_smoke_half], .clear_color = &clear});
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, own->draw, NULL, 0);
    vkCmdDraw(commands, 6, constants.capacity, 0, 0);
    vkCmdEndRendering(commands);
    const MemoryUse drawn = {VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT, VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT};
    const MemoryUse read = {VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_READ_BIT};
    device_barrier(commands, drawn, read);
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, own->steps.pipelines[APPLY], NULL, 0);
    pass_dispatch(commands, renderer->width * renderer->height, 64);
    return MOTE_OK;
}

static void destroy(MoteRenderer *renderer, void *state)
{
    Sprites *own = state;
    simple_pass_destroy(renderer, &own->steps);
    buffer_destroy(&renderer->device, &own->lights);
    vkDestroyPipeline(renderer->device.handle, own->draw, NULL);
}

const Pass smoke_sprites_pass = {.state_bytes = sizeof(Sprites), .record = record, .destroy = destroy};
