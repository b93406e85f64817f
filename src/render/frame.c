// SPDX-License-Identifier: MIT
// frame.c - draws a picture: sets its constants and records the passes in the order of passes.def, with the barriers
// that follow from their rows.
#include "render/frame.h"

#include "base/error.h"
#include "base/nearest.h"
#include "base/stop.h"
#include <stdio.h>
#include <string.h>

// ---- Passes ------------------------------------------------------------------------------------------------

typedef enum PassWork { WORK_COMPUTE, WORK_GRAPHICS, WORK_EITHER, WORK_TRANSFER } PassWork;
typedef enum PassWhen { WHEN_FIRST, WHEN_EACH, WHEN_LAST } PassWhen;

typedef enum AccessKind { ACCESS_END, ACCESS_READ, ACCESS_WRITE } AccessKind;
typedef struct PassAccess {
    Resource resource;
    AccessKind kind;
} PassAccess;

#define READ(name)                           {RESOURCE_##name, ACCESS_READ},
#define WRITE(name)                          {RESOURCE_##name, ACCESS_WRITE},
#define MODIFY(name)                         WRITE(name) // barriers before a write are also for reads
#define PASS_ROW(name, work, when, accesses) static const PassAccess name##_accesses[] = {accesses{0}};
#include "render/passes.def"

typedef struct PassRow {
    const char *name;
    PassWork work;
    PassWhen when;
    const PassAccess *accesses; // until ACCESS_END
    const Pass *pass;
} PassRow;
static const PassRow pass_rows[PASS_COUNT] = {
#define PASS_ROW(name, work, when, accesses) {#name, WORK_##work, WHEN_##when, name##_accesses, &name##_pass},
#include "render/passes.def"
};

static const VkPipelineStageFlags2 work_stages[] = {
    [WORK_COMPUTE] = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
    [WORK_GRAPHICS] = VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT,
    [WORK_EITHER] = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT |
                    VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
    [WORK_TRANSFER] = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
};
#define GRAPHICS_READS                                                                                                 \
    (VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT |                                             \
     VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT)
#define GRAPHICS_WRITES                                                                                                \
    (VK_ACCESS_2_SHADER_WRITE_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT |                                           \
     VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT)
static const VkAccessFlags2 work_reads[] = {
    [WORK_COMPUTE] = VK_ACCESS_2_SHADER_READ_BIT,
    [WORK_GRAPHICS] = GRAPHICS_READS,
    [WORK_EITHER] = GRAPHICS_READS | VK_ACCESS_2_TRANSFER_READ_BIT,
    [WORK_TRANSFER] = VK_ACCESS_2_TRANSFER_READ_BIT,
};
static const VkAccessFlags2 work_writes[] = {
    [WORK_COMPUTE] = VK_ACCESS_2_SHADER_WRITE_BIT,
    [WORK_GRAPHICS] = GRAPHICS_WRITES,
    [WORK_EITHER] = GRAPHICS_WRITES | VK_ACCESS_2_TRANSFER_WRITE_BIT,
    [WORK_TRANSFER] = VK_ACCESS_2_TRANSFER_WRITE_BIT,
};

// What earlier passes did to each resource and no barrier has ended yet.
typedef struct Hazards {
    VkPipelineStageFlags2 written[RESOURCE_COUNT], read[RESOURCE_COUNT];
    VkAccessFlags2 accesses[RESOURCE_COUNT];
} Hazards;

// One barrier before a pass: for each resource it reads, after those who wrote it; for each it writes, after those who
// wrote or read it.
static void wait_for_earlier(VkCommandBuffer commands, const PassRow *pass, Hazards *hazards)
{
    const MemoryUse use = {work_stages[pass->work], work_reads[pass->work] | work_writes[pass->work]};
    MemoryUse earlier = {0};
    for (const PassAccess *access = pass->accesses; access->kind != ACCESS_END; access++) {
        const Resource r = access->resource;
        earlier.stages |= hazards->written[r] | (access->kind == ACCESS_WRITE ? hazards->read[r] : 0);
        earlier.accesses |= hazards->accesses[r];
    }
    // Also where there is nothing to wait for: it makes Mesa's software driver write the timestamp in front of it.
    device_barrier(commands, earlier, use);
    for (const PassAccess *access = pass->accesses; access->kind != ACCESS_END; access++) {
        const Resource r = access->resource;
        if (access->kind == ACCESS_WRITE) {
            hazards->written[r] = work_stages[pass->work];
            hazards->accesses[r] = work_writes[pass->work];
            hazards->read[r] = 0;
        } else {
            hazards->read[r] |= work_stages[pass->work];
        }
    }
}

MoteResult frame_prepare_passes(MoteRenderer *renderer)
{
    MoteResult result = MOTE_OK;
    for (uint32_t p = 0; p < PASS_COUNT && result == MOTE_OK; p++) {
        const Pass *pass = pass_rows[p].pass;
        result = pass->prepare != NULL ? pass->prepare(renderer, renderer->states[p]) : MOTE_OK;
    }
    return result;
}

MoteResult frame_record_pass(MoteRenderer *renderer, PassId id, VkCommandBuffer commands)
{
    renderer->recording = id;
    return pass_rows[id].pass->record(renderer, renderer->states[id], commands);
}

static MoteResult record_pass(MoteRenderer *renderer, PassId id, Hazards *hazards)
{
    const PassRow *pass = &pass_rows[id];
    const VkCommandBuffer commands = renderer->device.commands;
    if (renderer->device.labels) {
        const VkDebugUtilsLabelEXT label = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT, .pLabelName = pass->name};
        vkCmdBeginDebugUtilsLabelEXT(commands, &label);
    }
    vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, renderer->queries, id);
    wait_for_earlier(commands, pass, hazards);
    const MoteResult result = frame_record_pass(renderer, id, commands);
    if (renderer->device.labels) {
        vkCmdEndDebugUtilsLabelEXT(commands);
    }
    return result;
}

// A pass lasts from when all before it has ended to when the next one's time is taken. Mesa 25's software driver takes
// times only when it comes to a barrier, and runs dispatches at once: a time behind a pass would be taken after the
// next pass's dispatch, so each is taken in front of a barrier.
static void add_times(MoteRenderer *renderer)
{
    uint64_t next;
    if (vkGetQueryPoolResults(renderer->device.handle, renderer->queries, PASS_COUNT, 1, sizeof next, &next,
                              sizeof next, VK_QUERY_RESULT_64_BIT) != VK_SUCCESS) {
        return;
    }
    for (uint32_t p = PASS_COUNT; p-- > 0;) {
        uint64_t begin;
        if (renderer->ran[p] && vkGetQueryPoolResults(renderer->device.handle, renderer->queries, p, 1, sizeof begin,
                                                      &begin, sizeof begin, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS) {
            renderer->milliseconds[p] +=
                (double)(next - begin) * (double)renderer->device.limits.timestampPeriod * 1e-6;
            next = begin;
        }
    }
}

MoteResult renderer_finish(MoteRenderer *renderer)
{
    if (!renderer->drawing) {
        return MOTE_OK;
    }
    renderer->drawing = false;
    const MoteResult result = device_wait(&renderer->device);
    if (result != MOTE_OK) {
        renderer->has_picture = renderer->has_layers = false;
        return result;
    }
    add_times(renderer);
    buffer_invalidate(&renderer->device, &renderer->pixels);
    if (renderer->layers.handle != VK_NULL_HANDLE) {
        buffer_invalidate(&renderer->device, &renderer->layers);
    }
    return MOTE_OK;
}

// What the host reads after the fence.
static void show_to_host(VkCommandBuffer commands)
{
    device_barrier(commands, (MemoryUse){VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT},
                   (MemoryUse){VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT});
}

void frame_flush_constants(MoteRenderer *renderer)
{
    memcpy(renderer->blocks[BLOCK_frame_constants].mapped, &renderer->frame.constants, sizeof(FrameConstants));
    buffer_flush(&renderer->device, &renderer->blocks[BLOCK_frame_constants]);
    buffer_flush(&renderer->device, &renderer->blocks[BLOCK_pass_constants]);
}

static MoteResult draw_sample(MoteRenderer *renderer, uint32_t sample)
{
    const uint32_t samples = renderer->frame.picture->samples;
    const bool last = sample + 1 == samples;
    MoteResult result = renderer_finish(renderer);
    result = result == MOTE_OK ? device_begin(&renderer->device) : result;
    if (result != MOTE_OK) {
        return result;
    }
    frame_set_sample(renderer, sample);
    vkCmdResetQueryPool(renderer->device.commands, renderer->queries, 0, PASS_COUNT + 1);
    if (sample == 0) {
        interop_acquire(&renderer->interop, renderer->device.commands);
    }
    Hazards hazards = {0};
    for (uint32_t p = 0; p < PASS_COUNT && result == MOTE_OK; p++) {
        const PassWhen when = pass_rows[p].when;
        renderer->ran[p] = when == WHEN_EACH || (when == WHEN_FIRST && sample == 0) || (when == WHEN_LAST && last);
        if (renderer->ran[p]) {
            result = record_pass(renderer, (PassId)p, &hazards);
        }
    }
    vkCmdWriteTimestamp2(renderer->device.commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, renderer->queries,
                         PASS_COUNT);
    if (last) {
        interop_give_back(&renderer->interop, renderer->device.commands);
    }
    show_to_host(renderer->device.commands);
    frame_flush_constants(renderer); // passes add addresses while they record
    if (result != MOTE_OK) {
        vkEndCommandBuffer(renderer->device.commands);
        return result;
    }
    // The solver's next work waits on the device for the last sample; it would not know of the host's memory.
    DeviceTimeline *timeline = renderer->interop.timeline;
    result = device_start(&renderer->device, timeline, last);
    renderer->drawing = result == MOTE_OK;
    return result == MOTE_OK && timeline == NULL ? renderer_finish(renderer) : result;
}

// ---- A picture ---------------------------------------------------------------------------------------------

static MoteResult choose_view(const char *name, Frame *frame)
{
    frame->view = VIEW_liquid;
    frame->channel[0] = '\0';
    if (name == NULL) {
        return MOTE_OK;
    }
    const char prefix[] = "channel:";
    if (strncmp(name, prefix, sizeof prefix - 1) == 0) {
        frame->view = VIEW_channel;
        snprintf(frame->channel, sizeof frame->channel, "%s", name + sizeof prefix - 1);
        return MOTE_OK;
    }
    const char *names[VIEW_COUNT];
    for (uint32_t v = 0; v < VIEW_COUNT; v++) {
        names[v] = mote_render_view_name(v);
        if (strcmp(names[v], name) == 0 && v != VIEW_channel) {
            frame->view = (ViewId)v;
            return MOTE_OK;
        }
    }
    const char *near = nearest_word(name, names, VIEW_COUNT);
    return mote_fail(MOTE_ERROR_INPUT, "no view \"%s\"%s%s%s; a channel is shown by \"channel:NAME\"", name,
                     near != NULL ? ", did you mean \"" : "", near != NULL ? near : "", near != NULL ? "\"" : "");
}

static MoteResult check_picture(const MoteRenderer *renderer, const MotePicture *picture)
{
    const uint32_t largest = renderer->device.limits.maxImageDimension2D;
    if (picture->width == 0 || picture->height == 0 || picture->width > largest || picture->height > largest) {
        return mote_fail(MOTE_ERROR_INPUT, "a picture of %u x %u pixels, expected 1 to %u each way on %s",
                         picture->width, picture->height, largest, renderer->device.info.name);
    }
    if (picture->samples == 0 || picture->samples > 4096) {
        return mote_fail(MOTE_ERROR_INPUT, "%u samples, expected 1 to 4096", picture->samples);
    }
    return MOTE_OK;
}

// Enums come from programs, which may have any number there.
static MoteResult check_scene(const MoteRenderScene *scene)
{
    if (scene->liquid.smoothing > MOTE_SMOOTHING_NONE || scene->sky.kind > MOTE_SKY_STUDIO ||
        scene->ground.pattern > MOTE_GROUND_SAND || scene->picture.tone > MOTE_TONE_AGX) {
        return mote_fail(
            MOTE_ERROR_INPUT,
            "smoothing %u, a sky of kind %u, ground %u and tone %u, expected a MoteSmoothing, a MoteSkyKind, "
            "a MoteGroundPattern and a MoteToneCurve",
            scene->liquid.smoothing, scene->sky.kind, scene->ground.pattern, scene->picture.tone);
    }
    if (scene->smoke.mode > MOTE_SMOKE_SPLATS) {
        return mote_fail(MOTE_ERROR_INPUT, "smoke of mode %u, expected a MoteSmokeMode", scene->smoke.mode);
    }
    for (uint32_t i = 0; i < scene->collider_count; i++) {
        const MoteRenderCollider *collider = &scene->colliders[i];
        if (collider->look > MOTE_LOOK_HIDDEN || collider->collider.kind > MOTE_COLLIDER_FIELD) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "shape %u has look %u and kind %u, expected a MoteLook and a MoteColliderKind", i,
                             collider->look, collider->collider.kind);
        }
    }
    for (uint32_t i = 0; i < scene->instance_count; i++) {
        if (scene->instances[i].look > MOTE_LOOK_HIDDEN) {
            return mote_fail(MOTE_ERROR_INPUT, "instance %u has look %u, expected a MoteLook", i,
                             scene->instances[i].look);
        }
    }
    for (uint32_t i = 0; i < scene->cloth_count; i++) {
        if (scene->cloths[i].look > MOTE_CLOTH_HIDDEN || scene->cloths[i].pattern > MOTE_PATTERN_GINGHAM) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "cloth %u has look %u and pattern %u, expected a MoteClothLook and a MoteClothPattern", i,
                             scene->cloths[i].look, scene->cloths[i].pattern);
        }
    }
    return MOTE_OK;
}

// What "channel:NAME" shows: the world's channel of that name, or what the caller gave.
static MoteResult choose_channel(const MoteRenderChannel *channel, Frame *frame)
{
    if (frame->view != VIEW_channel) {
        return MOTE_OK;
    }
    if (frame->world != NULL) {
        return mote_world_channel_array(frame->world, frame->channel, &frame->channel_values.values,
                                        &frame->channel_values.components);
    }
    if (channel == NULL || channel->components == 0 || channel->components > 4) {
        return mote_fail(MOTE_ERROR_INPUT, "no values of the channel \"%s\" to draw", frame->channel);
    }
    frame->channel_values = *channel;
    return MOTE_OK;
}

static MoteResult draw_picture(MoteRenderer *renderer, MoteWorld *world, const MoteRenderView *view,
                               const MoteRenderChannel *channel, const MoteRenderScene *scene,
                               const MotePicture *picture)
{
    Frame *frame = &renderer->frame;
    memset(frame, 0, sizeof *frame);
    frame->world = world;
    frame->solver = *view;
    frame->solver.why = view->why != NULL ? view->why : "";
    frame->scene = scene;
    frame->picture = picture;
    MoteResult result = renderer_finish(renderer);
    result = result == MOTE_OK ? check_picture(renderer, picture) : result;
    result = result == MOTE_OK ? check_scene(scene) : result;
    result = result == MOTE_OK ? choose_view(picture->view, frame) : result;
    result = result == MOTE_OK ? choose_channel(channel, frame) : result;
    result = result == MOTE_OK ? bodies_check(&renderer->meshes, frame) : result;
    result = result == MOTE_OK ? ropes_check(frame) : result;
    result = result == MOTE_OK ? mesh_set_move(&renderer->device, &renderer->meshes, scene->poses, scene->pose_count)
                               : result;
    if (result != MOTE_OK) {
        return result;
    }
    frame->spheres = (frame->view >= VIEW_particles && frame->view <= VIEW_channel) || frame->view == VIEW_colliders;
    frame->needs_index = frame->spheres || frame->view == VIEW_ellipsoids || picture->layers;
    frame->liquid =
        scene->liquid.visible && frame->solver.particle_count > 0 && (frame->spheres || frame->solver.has_liquid);
    renderer->has_picture = false;
    renderer->has_layers = false;
    memset(renderer->milliseconds, 0, sizeof renderer->milliseconds);
    result = frame_set_constants(renderer);
    for (uint32_t sample = 0; sample < picture->samples && result == MOTE_OK; sample++) {
        result = sample > 0 ? stop_check() : MOTE_OK;
        result = result == MOTE_OK ? draw_sample(renderer, sample) : result;
    }
    if (result == MOTE_OK) {
        renderer->has_picture = true;
        renderer->has_layers = picture->layers;
        renderer->pictures++;
    }
    frame->world = NULL; // what it pointed to is the caller's
    frame->scene = NULL;
    frame->picture = NULL;
    return result;
}

MoteResult mote_renderer_draw(MoteRenderer *renderer, MoteWorld *world, const MoteRenderScene *scene,
                              const MotePicture *picture)
{
    MoteRenderView view;
    const MoteResult result = mote_world_hand_over(world, &view);
    return result == MOTE_OK ? renderer_draw_view(renderer, world, &view, scene, picture) : result;
}

MoteResult renderer_draw_view(MoteRenderer *renderer, MoteWorld *world, const MoteRenderView *view,
                              const MoteRenderScene *scene, const MotePicture *picture)
{
    return draw_picture(renderer, world, view, NULL, scene, picture);
}

MoteResult mote_renderer_draw_arrays(MoteRenderer *renderer, const MoteRenderView *arrays,
                                     const MoteRenderChannel *channel, const MoteRenderScene *scene,
                                     const MotePicture *picture)
{
    if (arrays->memory != MOTE_MEMORY_HOST) {
        return mote_fail(MOTE_ERROR_INPUT, "arrays in memory of kind %u, expected host memory", arrays->memory);
    }
    return draw_picture(renderer, NULL, arrays, channel, scene, picture);
}
