// SPDX-License-Identifier: MIT
// anisotropy.c - computes an ellipsoid for each liquid particle (shaders/render/anisotropy.comp).
#include "passes/anisotropy.h"
#include "render/passes/foam.h"
#include "render/renderer.h"

enum { LIQUID_ALONE, WITH_SOLIDS, SPHERES };

static MoteResult create(MoteRenderer *renderer, void *state)
{
    const SimpleShader shaders[] = {[LIQUID_ALONE] = {"anisotropy.comp", {0, 0}},
                                    [WITH_SOLIDS] = {"anisotropy.comp", {1, 0}},
                                    [SPHERES] = {"anisotropy.comp", {1, 1}}};
    return simple_pass_create(renderer, state, shaders, 3);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SimplePass *pass = state;
    FrameConstants *constants = &renderer->frame.constants;
    const size_t bytes = (size_t)constants->particle_count * 3 * sizeof(vec4);
    const size_t list_bytes = ((size_t)constants->particle_count + 1) * sizeof(uint32_t);
    // One buffer for both: ellipsoids, then the list of visible ones.
    const MoteResult result =
        buffer_reserve(&renderer->device, "ellipsoids", BUFFER_DEVICE, bytes + list_bytes, &pass->buffer);
    if (result != MOTE_OK) {
        return result;
    }
    constants->ellipsoids = pass->buffer.address;
    constants->visible = pass->buffer.address + bytes;
    const Frame *frame = &renderer->frame;
    const MoteLiquidLook *look = &frame->scene->liquid;
    const float spacing = frame->solver.spacing;
    const AnisotropyConstants own = {.radius = (frame->spheres ? 0.5f : look->radius) * spacing,
                                     .isolated_radius = look->isolated_radius * spacing,
                                     .centre_smoothing = look->centre_smoothing,
                                     .stretch = look->stretch,
                                     .isolated_below = look->isolated_below,
                                     .anisotropy =
                                         look->anisotropy && !frame->spheres && frame->solver.neighbours.bytes > 0,
                                     .drops = draws_drops(frame)};
    pass_constants(renderer, &own, sizeof own);
    vkCmdFillBuffer(commands, pass->buffer.handle, bytes, sizeof(uint32_t), 0);
    pass_transfer_barrier(commands);
    const int pipeline = constants->has_solids == 0 ? LIQUID_ALONE : frame->spheres ? SPHERES : WITH_SOLIDS;
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[pipeline], NULL, 0);
    pass_dispatch(commands, constants->particle_count, 64);
    return MOTE_OK;
}

const Pass anisotropy_pass = {
    .state_bytes = sizeof(SimplePass), .create = create, .record = record, .destroy = simple_pass_destroy};
