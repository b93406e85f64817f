// SPDX-License-Identifier: MIT
// ropes.c - frames along the scene's ropes (shaders/render/ropes.comp), once per picture, for the passes that draw
// them.
#include "passes/ropes.h"
#include "render/renderer.h"

#include "base/error.h"
#include <math.h>
#include <stdlib.h>

typedef struct RopesPass {
    SimplePass simple; // the buffer has the frames
    Buffer chunks;     // RopeChunk, then the handles of the nodes; mapped
    uint32_t chunk_count;
} RopesPass;

MoteResult ropes_check(const Frame *frame)
{
    const MoteRenderScene *scene = frame->scene;
    const uint64_t rows = frame->solver.handle_slots.bytes / sizeof(uint32_t);
    for (uint32_t i = 0; i < scene->rope_count; i++) {
        const MoteRenderRope *rope = &scene->ropes[i];
        if (rope->node_count < 2 || (uint64_t)rope->first_node + rope->node_count > scene->rope_node_count) {
            return mote_fail(MOTE_ERROR_INPUT, "rope %u has nodes %u to %u, expected at least 2 of the scene's %u", i,
                             rope->first_node, rope->first_node + rope->node_count - 1, scene->rope_node_count);
        }
        if (!isfinite(rope->radius) || rope->radius < 0.0f || !isfinite(rope->length)) {
            return mote_fail(MOTE_ERROR_INPUT, "rope %u has a radius of %g m and a length of %g m, expected numbers", i,
                             (double)rope->radius, (double)rope->length);
        }
    }
    for (uint32_t i = 0; i < scene->rope_node_count; i++) {
        const uint32_t handle = scene->rope_nodes[i].value - 1;
        const uint64_t members = frame->solver.member_count;
        if (handle < MOTE_HANDLE_SINGLE ? handle >= members : members + (handle - MOTE_HANDLE_SINGLE) >= rows) {
            return mote_fail(MOTE_ERROR_INPUT, "node %u of the ropes is handle 0x%x, which the world does not have", i,
                             handle);
        }
    }
    return MOTE_OK;
}

static MoteResult create(MoteRenderer *renderer, void *state)
{
    RopesPass *pass = state;
    return simple_pass_create(renderer, &pass->simple, &(SimpleShader){"ropes.comp", {0}}, 1);
}

static bool are_drawn(const Frame *frame)
{
    return !frame->spheres && frame->scene->rope_count > 0 && frame->solver.particle_count > 0;
}

static float radius_of(const Frame *frame, const MoteRenderRope *rope)
{
    return rope->radius > 0.0f ? rope->radius : frame->solver.solid_radius;
}

// Their fabrics are behind those of the cloths.
static MoteResult prepare(MoteRenderer *renderer, void *state)
{
    (void)state;
    Frame *frame = &renderer->frame;
    if (are_drawn(frame)) {
        frame->constants.has_bodies = 1;
        frame->constants.fabric_count = frame->solver.cloth_count + frame->scene->rope_count;
        for (uint32_t i = 0; i < frame->scene->rope_count; i++) {
            frame->solid_reach = fmaxf(frame->solid_reach, radius_of(frame, &frame->scene->ropes[i]));
        }
    }
    return MOTE_OK;
}

static uint32_t chunks_of(const MoteRenderRope *rope)
{
    return (rope->node_count - 1 + ROPE_CHUNK - 1) / ROPE_CHUNK;
}

static uint32_t frames_of(const MoteRenderRope *rope)
{
    return (rope->node_count - 1) * ROPE_SAMPLES + 1 + 2 * ROPE_CAP;
}

static MoteResult reserve(MoteRenderer *renderer, RopesPass *pass)
{
    const MoteRenderScene *scene = renderer->frame.scene;
    Ropes *ropes = &renderer->ropes;
    uint64_t chunks = 0, frames = 0;
    for (uint32_t i = 0; i < scene->rope_count; i++) {
        chunks += chunks_of(&scene->ropes[i]);
        frames += frames_of(&scene->ropes[i]);
    }
    if (frames > UINT32_MAX / 3) {
        return mote_fail(MOTE_ERROR_INPUT, "ropes have %u nodes, more than can be drawn", scene->rope_node_count);
    }
    if (scene->rope_count > ropes->draw_room) {
        RopeDraw *draws = realloc(ropes->draws, scene->rope_count * sizeof *draws);
        if (draws == NULL) {
            return mote_fail(MOTE_ERROR_MEMORY, "no memory for %u ropes", scene->rope_count);
        }
        ropes->draws = draws;
        ropes->draw_room = scene->rope_count;
    }
    ropes->frame_count = (uint32_t)frames;
    pass->chunk_count = (uint32_t)chunks;
    Device *device = &renderer->device;
    const size_t bytes = chunks * sizeof(RopeChunk) + scene->rope_node_count * sizeof(uint32_t);
    const MoteResult result = buffer_reserve(device, "ropes", BUFFER_UPLOAD, bytes, &pass->chunks);
    return result == MOTE_OK
               ? buffer_reserve(device, "rope frames", BUFFER_DEVICE, frames * 3 * sizeof(vec4), &pass->simple.buffer)
               : result;
}

static void fill(MoteRenderer *renderer, RopesPass *pass)
{
    const Frame *frame = &renderer->frame;
    Ropes *ropes = &renderer->ropes;
    RopeChunk *chunk = pass->chunks.mapped;
    uint32_t first_frame = 0;
    for (uint32_t i = 0; i < frame->scene->rope_count; i++) {
        const MoteRenderRope *rope = &frame->scene->ropes[i];
        const uint32_t segments = rope->node_count - 1;
        for (uint32_t first = 0; first < segments; first += ROPE_CHUNK) {
            const uint32_t left = segments - first;
            *chunk++ = (RopeChunk){.first_node = rope->first_node,
                                   .node_count = rope->node_count,
                                   .first_frame = first_frame,
                                   .first_segment = first,
                                   .segment_count = left < ROPE_CHUNK ? left : ROPE_CHUNK,
                                   .radius = radius_of(frame, rope),
                                   .metres = rope->length};
        }
        ropes->draws[i] = (RopeDraw){first_frame, frames_of(rope), frame->solver.cloth_count + i};
        first_frame += frames_of(rope);
    }
    ropes->draw_count = frame->scene->rope_count;
    uint32_t *nodes = (uint32_t *)(void *)chunk;
    for (uint32_t i = 0; i < frame->scene->rope_node_count; i++) {
        nodes[i] = frame->scene->rope_nodes[i].value - 1; // as mote_interop.h says
    }
    buffer_flush(&renderer->device, &pass->chunks);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    RopesPass *pass = state;
    renderer->ropes.draw_count = 0;
    if (!are_drawn(&renderer->frame)) {
        return MOTE_OK;
    }
    const MoteResult result = reserve(renderer, pass);
    if (result != MOTE_OK) {
        return result;
    }
    fill(renderer, pass);
    renderer->frame.constants.rope_frames = pass->simple.buffer.address;
    const RopesConstants constants = {.chunks = pass->chunks.address,
                                      .nodes = pass->chunks.address + pass->chunk_count * sizeof(RopeChunk),
                                      .chunk_count = pass->chunk_count};
    pass_constants(renderer, &constants, sizeof constants);
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->simple.pipelines[0], NULL, 0);
    pass_dispatch(commands, pass->chunk_count, 1);
    return MOTE_OK;
}

void ropes_draw(MoteRenderer *renderer, VkCommandBuffer commands, VkPipeline pipeline, bool to_sun)
{
    for (uint32_t i = 0; i < renderer->ropes.draw_count; i++) {
        const RopeDraw *draw = &renderer->ropes.draws[i];
        const RopePush push = {.fabric = draw->fabric, .to_sun = to_sun};
        pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline, &push, sizeof push);
        vkCmdDraw(commands, 6 * ROPE_SIDES, draw->frame_count - 1, 0, draw->first_frame);
    }
}

static void destroy(MoteRenderer *renderer, void *state)
{
    RopesPass *pass = state;
    buffer_destroy(&renderer->device, &pass->chunks);
    simple_pass_destroy(renderer, &pass->simple);
    free(renderer->ropes.draws);
    renderer->ropes = (Ropes){0};
}

const Pass ropes_pass = {
    .state_bytes = sizeof(RopesPass), .create = create, .prepare = prepare, .record = record, .destroy = destroy};
