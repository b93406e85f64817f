// SPDX-License-Identifier: MIT
// classify_grains.c - selects the solid particles that are drawn as spheres (grains, and members of bodies without a
// mesh), and splats them into the shadow map (shaders/render/grains.comp).
#include "passes/grains.h"
#include "render/passes/grains.h"

#include <math.h>

enum { LIST, LIST_ALL, MAP, STEPS };

static MoteResult create(MoteRenderer *renderer, void *state)
{
    const SimpleShader shaders[STEPS] = {
        {"grains.comp", {GRAINS_LIST}}, {"grains.comp", {GRAINS_LIST_ALL}}, {"grains.comp", {GRAINS_MAP}}};
    return simple_pass_create(renderer, state, shaders, STEPS);
}

// All have the same size in the sun's map. Usually a few texels; where they are large, one invocation would keep all
// others waiting, or come to what a driver lets loops do (depth_splat.glsl).
static uint32_t slices_of_grain(const FrameConstants *constants)
{
    const float texels = fminf(constants->solid_radius * SUN_SIZE / constants->sun_map.x + 2.0f, SUN_SIZE);
    const uint32_t slices = 1 + (uint32_t)(texels * texels) / (128 * 128);
    const uint32_t most = UINT32_MAX / 2 / constants->particle_count; // invocations are counted in 32 bits
    return slices < most ? slices : most > 0 ? most : 1;
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SimplePass *pass = state;
    FrameConstants *constants = &renderer->frame.constants;
    if (constants->has_solids == 0) {
        return MOTE_OK;
    }
    // The map, then the list, whose length comes first.
    const size_t map_bytes = (size_t)SUN_SIZE * SUN_SIZE * sizeof(uint32_t);
    const size_t list_bytes = ((size_t)constants->particle_count + 1) * sizeof(uint32_t);
    const MoteResult result =
        buffer_reserve(&renderer->device, "grains", BUFFER_DEVICE, map_bytes + list_bytes, &pass->buffer);
    if (result != MOTE_OK) {
        return result;
    }
    constants->grain_map = pass->buffer.address;
    constants->grains = pass->buffer.address + map_bytes;
    vkCmdFillBuffer(commands, pass->buffer.handle, 0, map_bytes, NO_DEPTH);
    vkCmdFillBuffer(commands, pass->buffer.handle, map_bytes, sizeof(uint32_t), 0);
    pass_transfer_barrier(commands);
    const VkPipelineBindPoint compute = VK_PIPELINE_BIND_POINT_COMPUTE;
    pass_bind(renderer, commands, compute, pass->pipelines[renderer->frame.spheres ? LIST_ALL : LIST], NULL, 0);
    pass_dispatch(commands, constants->particle_count, 64);
    pass_compute_barrier(commands);
    const GrainsPush push = {slices_of_grain(constants)};
    pass_bind(renderer, commands, compute, pass->pipelines[MAP], &push, sizeof push);
    pass_dispatch(commands, constants->particle_count * push.slices, 64);
    return MOTE_OK;
}

const Pass classify_grains_pass = {
    .state_bytes = sizeof(SimplePass), .create = create, .record = record, .destroy = simple_pass_destroy};
