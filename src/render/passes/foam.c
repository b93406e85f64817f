// SPDX-License-Identifier: MIT
// foam.c - spray, foam and bubbles: adds up their optical depth in front of and behind the liquid's surface
// (shaders/render/foam.comp), and isolated drops of the liquid itself. Composite draws what is behind, foam_front what
// is in front.
#include "render/passes/foam.h"

enum { PASSIVE, DROPS };

static MoteResult create(MoteRenderer *renderer, void *state)
{
    const SimpleShader shaders[] = {[PASSIVE] = {"foam.comp", {PASSIVE}}, [DROPS] = {"foam.comp", {DROPS}}};
    return simple_pass_create(renderer, state, shaders, 2);
}

static bool draws_foam(const Frame *frame)
{
    return frame->solver.diffuse_capacity > 0 && frame->scene->foam.density > 0.0f;
}

bool draws_drops(const Frame *frame)
{
    return draws_foam(frame) && frame->liquid && !frame->spheres && frame->scene->foam.drops > 0;
}

FoamConstants foam_constants(const Frame *frame)
{
    const MoteFoamLook *look = &frame->scene->foam;
    return (FoamConstants){
        .color = {look->color.x, look->color.y, look->color.z, 0.0f},
        .capacity = frame->solver.diffuse_capacity,
        .radius = look->radius * frame->solver.spacing,
        .spread = look->radius_spread,
        .density = look->density,
        .shutter = look->shutter,
        .drops = look->drops,
        .shows_class = frame->view == VIEW_foam_class,
    };
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    SimplePass *pass = state;
    Frame *frame = &renderer->frame;
    frame->constants.foam = 0;
    if (!draws_foam(frame)) {
        return MOTE_OK;
    }
    const size_t bytes = (size_t)renderer->width * renderer->height * FOAM_WORDS * sizeof(uint32_t);
    const MoteResult result = buffer_reserve(&renderer->device, "foam", BUFFER_DEVICE, bytes, &pass->buffer);
    if (result != MOTE_OK) {
        return result;
    }
    frame->constants.foam = pass->buffer.address;
    const FoamConstants constants = foam_constants(frame);
    pass_constants(renderer, &constants, sizeof constants);
    vkCmdFillBuffer(commands, pass->buffer.handle, 0, bytes, 0);
    pass_transfer_barrier(commands);
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[PASSIVE], NULL, 0);
    pass_dispatch(commands, constants.capacity, 64);
    if (draws_drops(frame)) { // sums do not depend on the order: no barrier
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->pipelines[DROPS], NULL, 0);
        pass_dispatch(commands, frame->constants.particle_count, 64);
    }
    return MOTE_OK;
}

const Pass foam_pass = {
    .state_bytes = sizeof(SimplePass), .create = create, .record = record, .destroy = simple_pass_destroy};
