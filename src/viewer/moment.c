// SPDX-License-Identifier: MIT
#include "viewer/moment.h"

#include "base/clock.h"
#include "base/error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

// ---- Models ----

Model *model_hold(Model *model)
{
    atomic_fetch_add(&model->references, 1);
    return model;
}

void model_release(Model *model)
{
    if (model != NULL && atomic_fetch_sub(&model->references, 1) == 1) {
        mote_simulation_destroy(model->simulation);
        mote_scene_destroy(model->scene);
        free(model);
    }
}

// ---- Blocks ----

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

MoteResult moment_reserve(MomentPool *pool, Block *block, size_t bytes)
{
    if (block->bytes >= bytes && block->data != NULL) {
        return MOTE_OK;
    }
    const size_t size = whole_pages(bytes + bytes / 8 + 1);
    void *data = aligned_alloc(PAGE, size);
    if (data == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for %zu bytes of a moment of the simulation", size);
    }
    memset(data, 0, size);
    mtx_lock(&pool->mutex);
    pool->layout++;
    if (block->data != NULL) {
        if (pool->retired_count == MOMENT_RETIRED) { // only if nothing is ever drawn, and then nothing reads it
            free(pool->retired[0].block.data);
            pool->retired[0] = pool->retired[--pool->retired_count];
        }
        pool->retired[pool->retired_count].block = *block;
        pool->retired[pool->retired_count++].layout = pool->layout;
    }
    mtx_unlock(&pool->mutex);
    *block = (Block){data, size};
    return MOTE_OK;
}

static void free_retired(MomentPool *pool, uint64_t layout)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pool->retired_count; i++) {
        if (pool->retired[i].layout <= layout) {
            free(pool->retired[i].block.data);
        } else {
            pool->retired[kept++] = pool->retired[i];
        }
    }
    pool->retired_count = kept;
}

// ---- The pool ----

MoteResult moment_pool_create(MomentPool *pool)
{
    *pool = (MomentPool){.published = -1, .drawing = -1, .layout = 1};
    if (mtx_init(&pool->mutex, mtx_plain) != thrd_success || cnd_init(&pool->taken) != thrd_success) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a mutex");
    }
    return MOTE_OK;
}

static void free_moment(Moment *moment)
{
    for (uint32_t i = 0; i < MOMENT_ARRAY_COUNT; i++) {
        free(moment->blocks[i].data);
    }
    Block *blocks[] = {&moment->positions_before, &moment->rotations_before, &moment->shapes_before,
                       &moment->instances_before, &moment->materials,        &moment->shapes,
                       &moment->groups,           &moment->instances,        &moment->poses,
                       &moment->pose_vertices};
    for (uint32_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        free(blocks[i]->data);
    }
    for (uint32_t i = 0; i < MOMENT_CHANNELS; i++) {
        free(moment->channels[i].values.data);
    }
    model_release(moment->model);
    *moment = (Moment){0};
}

void moment_pool_destroy(MomentPool *pool)
{
    for (int i = 0; i < MOMENT_COUNT; i++) {
        free_moment(&pool->moments[i]);
    }
    free_retired(pool, UINT64_MAX);
    free(pool->history.data);
    free(pool->rotations.data);
    free(pool->shape_history.data);
    free(pool->instance_history.data);
    cnd_destroy(&pool->taken);
    mtx_destroy(&pool->mutex);
}

static Moment *free_slot(MomentPool *pool)
{
    mtx_lock(&pool->mutex);
    int found = 0;
    while (found == pool->published || found == pool->drawing) {
        found++;
    }
    mtx_unlock(&pool->mutex);
    return &pool->moments[found];
}

Moment *moment_take(MomentPool *pool)
{
    mtx_lock(&pool->mutex);
    Moment *moment = pool->published >= 0 ? &pool->moments[pool->published] : NULL;
    pool->drawing = pool->published;
    mtx_unlock(&pool->mutex);
    return moment;
}

void moment_done(MomentPool *pool, uint64_t layout)
{
    mtx_lock(&pool->mutex);
    if (pool->drawing == pool->published) {
        pool->published_is_new = false;
    }
    pool->drawing = -1;
    free_retired(pool, layout);
    cnd_broadcast(&pool->taken);
    mtx_unlock(&pool->mutex);
}

// ---- Filling a moment ----

static MoteResult copy_array(MomentPool *pool, MoteWorld *world, const MoteArray *from, Block *block, MoteArray *to)
{
    MoteResult result = moment_reserve(pool, block, from->bytes > 0 ? from->bytes : 1);
    if (result == MOTE_OK && from->bytes > 0) {
        result = mote_world_copy_out(world, block->data, from->address, from->bytes);
    }
    *to = (MoteArray){block->data, from->bytes, block->bytes};
    return result;
}

static MoteResult copy_view(MomentPool *pool, MoteWorld *world, Moment *moment)
{
    MoteRenderView view;
    MoteResult result = mote_world_render_view(world, &view);
    if (result != MOTE_OK) {
        return result;
    }
    moment->view = view;
    moment->view.memory = MOTE_MEMORY_HOST;
    moment->view.why = "";
#define X(name)                                                                                                        \
    if (result == MOTE_OK) {                                                                                           \
        result = copy_array(pool, world, &view.name, &moment->blocks[MOMENT_##name], &moment->view.name);              \
    }
    MOTE_RENDER_ARRAYS(X)
#undef X
    return result;
}

static MoteResult copy_bytes(MomentPool *pool, Block *block, const void *from, size_t bytes, const void **to)
{
    const MoteResult result = moment_reserve(pool, block, bytes > 0 ? bytes : 1);
    if (result == MOTE_OK && bytes > 0) {
        memcpy(block->data, from, bytes);
    }
    *to = from != NULL ? block->data : NULL;
    return result;
}

// What moves of meshes: the simulation goes on to change its own while a picture is drawn.
static MoteResult copy_poses(MomentPool *pool, const Model *model, const MoteRenderScene *look, Moment *moment)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < look->pose_count; i++) {
        bytes += 7 * sizeof(float) * model->meshes[look->poses[i].mesh].vertex_count;
    }
    MoteResult result = moment_reserve(pool, &moment->pose_vertices, bytes + 1);
    const void *poses;
    result = result == MOTE_OK
                 ? copy_bytes(pool, &moment->poses, look->poses, look->pose_count * sizeof *look->poses, &poses)
                 : result;
    char *to = moment->pose_vertices.data;
    for (uint32_t i = 0; i < look->pose_count && result == MOTE_OK; i++) {
        MoteRenderPose *pose = (MoteRenderPose *)moment->poses.data + i;
        const size_t vertices = model->meshes[pose->mesh].vertex_count;
        memcpy(to, pose->positions, vertices * sizeof *pose->positions);
        pose->positions = (const MoteVec3 *)(void *)to;
        to += vertices * sizeof *pose->positions;
        if (pose->normals != NULL) {
            memcpy(to, pose->normals, vertices * sizeof *pose->normals);
            pose->normals = (const MoteVec3 *)(void *)to;
            to += vertices * sizeof *pose->normals;
        }
        if (pose->wetness != NULL) {
            memcpy(to, pose->wetness, vertices * sizeof *pose->wetness);
            pose->wetness = (const float *)(void *)to;
            to += vertices * sizeof *pose->wetness;
        }
    }
    moment->look.poses = moment->poses.data;
    return result;
}

static MoteResult copy_look(MomentPool *pool, Model *model, Moment *moment)
{
    MoteRenderScene look;
    MoteResult result = mote_simulation_render_scene(model->simulation, NULL, &look);
    if (result != MOTE_OK) {
        return result;
    }
    moment->look = look;
    const struct {
        Block *block;
        const void *from;
        size_t bytes;
        const void **to;
    } arrays[] = {
        {&moment->materials, look.materials, look.material_count * sizeof *look.materials,
         (const void **)&moment->look.materials},
        {&moment->shapes, look.shapes, look.shape_count * sizeof *look.shapes, (const void **)&moment->look.shapes},
        {&moment->groups, look.group_materials, look.group_count * sizeof *look.group_materials,
         (const void **)&moment->look.group_materials},
        {&moment->instances, look.instances, look.instance_count * sizeof *look.instances,
         (const void **)&moment->look.instances},
    };
    for (uint32_t i = 0; i < sizeof arrays / sizeof arrays[0] && result == MOTE_OK; i++) {
        result = copy_bytes(pool, arrays[i].block, arrays[i].from, arrays[i].bytes, arrays[i].to);
    }
    return result == MOTE_OK ? copy_poses(pool, model, &look, moment) : result;
}

// ---- Channels ----

static MoteResult add_channel(MomentPool *pool, Moment *moment, const char *name, uint32_t components,
                              MomentChannel **out)
{
    const size_t bytes = (size_t)components * sizeof(float) * moment->view.particle_count;
    MomentChannel *channel = &moment->channels[moment->channel_count];
    const MoteResult result = moment_reserve(pool, &channel->values, bytes + 1);
    if (result == MOTE_OK) {
        snprintf(channel->name, sizeof channel->name, "%s", name);
        channel->components = components;
        moment->channel_count++;
        *out = channel;
    }
    return result;
}

static MoteResult copy_channels(MomentPool *pool, MoteWorld *world, Moment *moment)
{
    MoteResult result = MOTE_OK;
    MomentChannel *channel = NULL;
    moment->channel_count = 0;
    const uint32_t count = mote_world_channel_count(world);
    for (uint32_t i = 0; i < count && moment->channel_count + MOTE_FORCE_COUNT < MOMENT_CHANNELS; i++) {
        uint32_t components;
        const char *name = mote_world_channel_name(world, i, &components);
        result = result == MOTE_OK ? add_channel(pool, moment, name, components, &channel) : result;
        result = result == MOTE_OK ? mote_world_read_channel(world, name, channel->values.data) : result;
    }
    for (uint32_t kind = 0; kind < MOTE_FORCE_COUNT && pool->forces; kind++) {
        result =
            result == MOTE_OK ? add_channel(pool, moment, mote_force_name((MoteForceKind)kind), 4, &channel) : result;
        result = result == MOTE_OK ? mote_world_read_forces(world, kind, channel->values.data) : result;
    }
    return result;
}

const MomentChannel *moment_channel(const Moment *moment, const char *name)
{
    for (uint32_t i = 0; i < moment->channel_count; i++) {
        if (strcmp(moment->channels[i].name, name) == 0) {
            return &moment->channels[i];
        }
    }
    return NULL;
}

uint32_t moment_find(const Moment *moment, uint32_t id)
{
    const uint32_t *ids = moment->blocks[MOMENT_ids].data;
    for (uint32_t i = 0; i < moment->view.particle_count; i++) {
        if (ids[i] == id) {
            return i;
        }
    }
    return MOTE_NONE;
}

// ---- What was before ----

static MoteResult grow_history(MomentPool *pool, uint32_t count)
{
    if (count <= pool->history_count) {
        return MOTE_OK;
    }
    const size_t old = 4 * sizeof(float) * (size_t)pool->history_count;
    const size_t bytes = whole_pages(4 * sizeof(float) * (size_t)count * 5 / 4);
    float *data = aligned_alloc(PAGE, bytes);
    if (data == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the past of %u particles", count);
    }
    if (old > 0) {
        memcpy(data, pool->history.data, old);
    }
    free(pool->history.data);
    pool->history = (Block){data, bytes};
    const uint32_t room = (uint32_t)(bytes / (4 * sizeof(float)));
    for (uint32_t i = pool->history_count; i < room; i++) {
        data[4 * (size_t)i + 3] = -1.0f;
    }
    pool->history_count = room;
    return MOTE_OK;
}

// positions_before in the order of `moment`, and its positions into the history.
static MoteResult look_back(MomentPool *pool, Moment *moment)
{
    const uint32_t count = moment->view.particle_count;
    const float *positions = moment->blocks[MOMENT_positions].data;
    const uint32_t *ids = moment->blocks[MOMENT_ids].data;
    MoteResult result = moment_reserve(pool, &moment->positions_before, 16 * (size_t)count + 1);
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        largest = ids[i] >= largest ? ids[i] + 1 : largest;
    }
    result = result == MOTE_OK ? grow_history(pool, largest) : result;
    if (result != MOTE_OK) {
        return result;
    }
    float *before = moment->positions_before.data, *history = pool->history.data;
    for (size_t i = 0; i < count; i++) {
        float *was = history + 4 * (size_t)ids[i];
        memcpy(before + 4 * i, was[3] >= 0.0f ? was : positions + 4 * i, 3 * sizeof(float));
        before[4 * i + 3] = positions[4 * i + 3];
        memcpy(was, positions + 4 * i, 4 * sizeof(float));
        was[3] = was[3] >= 0.0f ? was[3] : 0.0f;
    }
    return MOTE_OK;
}

// `now` goes into the history, what was there into `before`.
static MoteResult exchange(MomentPool *pool, const void *now, uint32_t count, size_t element, Block *history,
                           uint32_t *history_count, Block *before, uint32_t *before_count)
{
    MoteResult result = moment_reserve(pool, before, *history_count * element + 1);
    if (result == MOTE_OK && *history_count > 0) {
        memcpy(before->data, history->data, *history_count * element);
    }
    *before_count = *history_count;
    if (result == MOTE_OK && history->bytes < count * element + 1) {
        free(history->data);
        *history = (Block){malloc(count * element + PAGE), count * element + PAGE};
        result = history->data != NULL ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory for the past of a scene");
        history->bytes = history->data != NULL ? history->bytes : 0;
    }
    *history_count = result == MOTE_OK ? count : 0;
    if (result == MOTE_OK && count > 0) {
        memcpy(history->data, now, count * element);
    }
    return result;
}

static MoteResult remember(MomentPool *pool, Moment *moment)
{
    moment->has_before = pool->history_model == moment->model->number;
    if (!moment->has_before) {
        pool->history_model = moment->model->number;
        pool->rotation_count = pool->shape_count = pool->instance_count = 0;
        for (uint32_t i = 0; i < pool->history_count; i++) {
            ((float *)pool->history.data)[4 * (size_t)i + 3] = -1.0f;
        }
    }
    MoteResult result = look_back(pool, moment);
    if (result == MOTE_OK) {
        result = exchange(pool, moment->blocks[MOMENT_cluster_rotations].data, moment->view.cluster_count,
                          4 * sizeof(float), &pool->rotations, &pool->rotation_count, &moment->rotations_before,
                          &moment->rotations_before_count);
    }
    if (result == MOTE_OK) {
        result =
            exchange(pool, moment->look.shapes, moment->look.shape_count, sizeof *moment->look.shapes,
                     &pool->shape_history, &pool->shape_count, &moment->shapes_before, &moment->shapes_before_count);
    }
    if (result == MOTE_OK) {
        result = exchange(pool, moment->look.instances, moment->look.instance_count, sizeof *moment->look.instances,
                          &pool->instance_history, &pool->instance_count, &moment->instances_before,
                          &moment->instances_before_count);
    }
    return result;
}

MoteResult moment_publish(MomentPool *pool, Model *model, double interval)
{
    Moment *moment = free_slot(pool);
    if (moment->model != model) {
        model_release(moment->model);
        moment->model = model_hold(model);
    }
    MoteResult result = copy_view(pool, mote_simulation_world(model->simulation), moment);
    result = result == MOTE_OK ? copy_channels(pool, mote_simulation_world(model->simulation), moment) : result;
    result = result == MOTE_OK ? copy_look(pool, model, moment) : result;
    result = result == MOTE_OK ? remember(pool, moment) : result;
    if (result != MOTE_OK) {
        return result;
    }
    moment->frame = mote_simulation_frame(model->simulation);
    moment->time = mote_simulation_time(model->simulation);
    moment->interval = interval;
    moment->published = clock_seconds();
    mtx_lock(&pool->mutex);
    moment->number = ++pool->numbers;
    pool->published = (int)(moment - pool->moments);
    pool->published_is_new = true;
    mtx_unlock(&pool->mutex);
    return MOTE_OK;
}
