// SPDX-License-Identifier: MIT
#include "viewer/frame_snapshot.h"

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

MoteResult snapshot_reserve(FrameSnapshotPool *pool, Block *block, size_t bytes)
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
        if (pool->retired_count == SNAPSHOT_RETIRED) { // only if nothing is ever drawn, and then nothing reads it
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

static void free_retired(FrameSnapshotPool *pool, uint64_t layout)
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

MoteResult snapshot_pool_create(FrameSnapshotPool *pool)
{
    *pool = (FrameSnapshotPool){.published = -1, .drawing = -1, .layout = 1};
    if (mtx_init(&pool->mutex, mtx_plain) != thrd_success || cnd_init(&pool->taken) != thrd_success) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a mutex");
    }
    return MOTE_OK;
}

static void free_snapshot(FrameSnapshot *snapshot)
{
    for (uint32_t i = 0; i < SNAPSHOT_ARRAY_COUNT; i++) {
        free(snapshot->blocks[i].data);
    }
    Block *blocks[] = {&snapshot->positions_before, &snapshot->rotations_before, &snapshot->colliders_before,
                       &snapshot->instances_before, &snapshot->materials,        &snapshot->colliders,
                       &snapshot->groups,           &snapshot->instances,        &snapshot->poses,
                       &snapshot->pose_vertices,    &snapshot->cloths,           &snapshot->ropes,
                       &snapshot->rope_nodes};
    for (uint32_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        free(blocks[i]->data);
    }
    for (uint32_t i = 0; i < SNAPSHOT_CHANNELS; i++) {
        free(snapshot->channels[i].values.data);
    }
    model_release(snapshot->model);
    *snapshot = (FrameSnapshot){0};
}

void snapshot_pool_destroy(FrameSnapshotPool *pool)
{
    for (int i = 0; i < SNAPSHOT_COUNT; i++) {
        free_snapshot(&pool->snapshots[i]);
    }
    free_retired(pool, UINT64_MAX);
    free(pool->history.data);
    free(pool->rotations.data);
    free(pool->collider_history.data);
    free(pool->instance_history.data);
    cnd_destroy(&pool->taken);
    mtx_destroy(&pool->mutex);
}

static FrameSnapshot *free_slot(FrameSnapshotPool *pool)
{
    mtx_lock(&pool->mutex);
    int found = 0;
    while (found == pool->published || found == pool->drawing) {
        found++;
    }
    mtx_unlock(&pool->mutex);
    return &pool->snapshots[found];
}

FrameSnapshot *snapshot_take(FrameSnapshotPool *pool)
{
    mtx_lock(&pool->mutex);
    FrameSnapshot *snapshot = pool->published >= 0 ? &pool->snapshots[pool->published] : NULL;
    pool->drawing = pool->published;
    mtx_unlock(&pool->mutex);
    return snapshot;
}

void snapshot_done(FrameSnapshotPool *pool, uint64_t layout)
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

// ---- Filling a snapshot ----

static MoteResult copy_array(FrameSnapshotPool *pool, MoteWorld *world, const MoteArray *from, Block *block,
                             MoteArray *to)
{
    MoteResult result = snapshot_reserve(pool, block, from->bytes > 0 ? from->bytes : 1);
    if (result == MOTE_OK && from->bytes > 0) {
        result = mote_world_copy_out(world, block->data, from->address, from->bytes);
    }
    *to = (MoteArray){block->data, from->bytes, block->bytes};
    return result;
}

static MoteResult copy_view(FrameSnapshotPool *pool, MoteWorld *world, FrameSnapshot *snapshot)
{
    MoteRenderView view;
    MoteResult result = mote_world_render_view(world, &view);
    if (result != MOTE_OK) {
        return result;
    }
    snapshot->view = view;
    snapshot->view.memory = MOTE_MEMORY_HOST;
    snapshot->view.why = "";
#define X(name)                                                                                                        \
    if (result == MOTE_OK) {                                                                                           \
        result = copy_array(pool, world, &view.name, &snapshot->blocks[SNAPSHOT_##name], &snapshot->view.name);        \
    }
    MOTE_RENDER_ARRAYS(X)
#undef X
    return result;
}

static MoteResult copy_bytes(FrameSnapshotPool *pool, Block *block, const void *from, size_t bytes, const void **to)
{
    const MoteResult result = snapshot_reserve(pool, block, bytes > 0 ? bytes : 1);
    if (result == MOTE_OK && bytes > 0) {
        memcpy(block->data, from, bytes);
    }
    *to = from != NULL ? block->data : NULL;
    return result;
}

// What moves of meshes: the simulation goes on to change its own while a picture is drawn.
static MoteResult copy_poses(FrameSnapshotPool *pool, const Model *model, const MoteRenderScene *look,
                             FrameSnapshot *snapshot)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < look->pose_count; i++) {
        bytes += 7 * sizeof(float) * model->meshes[look->poses[i].mesh].vertex_count;
    }
    MoteResult result = snapshot_reserve(pool, &snapshot->pose_vertices, bytes + 1);
    const void *poses;
    result = result == MOTE_OK
                 ? copy_bytes(pool, &snapshot->poses, look->poses, look->pose_count * sizeof *look->poses, &poses)
                 : result;
    char *to = snapshot->pose_vertices.data;
    for (uint32_t i = 0; i < look->pose_count && result == MOTE_OK; i++) {
        MoteRenderPose *pose = (MoteRenderPose *)snapshot->poses.data + i;
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
    snapshot->look.poses = snapshot->poses.data;
    return result;
}

static MoteResult copy_look(FrameSnapshotPool *pool, Model *model, FrameSnapshot *snapshot)
{
    MoteRenderScene look;
    MoteResult result = mote_simulation_render_scene(model->simulation, NULL, &look);
    if (result != MOTE_OK) {
        return result;
    }
    snapshot->look = look;
    const struct {
        Block *block;
        const void *from;
        size_t bytes;
        const void **to;
    } arrays[] = {
        {&snapshot->materials, look.materials, look.material_count * sizeof *look.materials,
         (const void **)&snapshot->look.materials},
        {&snapshot->colliders, look.colliders, look.collider_count * sizeof *look.colliders,
         (const void **)&snapshot->look.colliders},
        {&snapshot->groups, look.group_materials, look.group_count * sizeof *look.group_materials,
         (const void **)&snapshot->look.group_materials},
        {&snapshot->instances, look.instances, look.instance_count * sizeof *look.instances,
         (const void **)&snapshot->look.instances},
        {&snapshot->cloths, look.cloths, look.cloth_count * sizeof *look.cloths, (const void **)&snapshot->look.cloths},
        {&snapshot->ropes, look.ropes, look.rope_count * sizeof *look.ropes, (const void **)&snapshot->look.ropes},
        {&snapshot->rope_nodes, look.rope_nodes, look.rope_node_count * sizeof *look.rope_nodes,
         (const void **)&snapshot->look.rope_nodes},
    };
    for (uint32_t i = 0; i < sizeof arrays / sizeof arrays[0] && result == MOTE_OK; i++) {
        result = copy_bytes(pool, arrays[i].block, arrays[i].from, arrays[i].bytes, arrays[i].to);
    }
    return result == MOTE_OK ? copy_poses(pool, model, &look, snapshot) : result;
}

// ---- Channels ----

static MoteResult add_channel(FrameSnapshotPool *pool, FrameSnapshot *snapshot, const char *name, uint32_t components,
                              FrameSnapshotChannel **out)
{
    const size_t bytes = (size_t)components * sizeof(float) * snapshot->view.particle_count;
    FrameSnapshotChannel *channel = &snapshot->channels[snapshot->channel_count];
    const MoteResult result = snapshot_reserve(pool, &channel->values, bytes + 1);
    if (result == MOTE_OK) {
        snprintf(channel->name, sizeof channel->name, "%s", name);
        channel->components = components;
        snapshot->channel_count++;
        *out = channel;
    }
    return result;
}

static MoteResult copy_channels(FrameSnapshotPool *pool, MoteWorld *world, FrameSnapshot *snapshot)
{
    MoteResult result = MOTE_OK;
    FrameSnapshotChannel *channel = NULL;
    snapshot->channel_count = 0;
    const uint32_t count = mote_world_channel_count(world);
    for (uint32_t i = 0; i < count && snapshot->channel_count + MOTE_FORCE_COUNT < SNAPSHOT_CHANNELS; i++) {
        uint32_t components;
        const char *name = mote_world_channel_name(world, i, &components);
        result = result == MOTE_OK ? add_channel(pool, snapshot, name, components, &channel) : result;
        result = result == MOTE_OK ? mote_world_read_channel(world, name, channel->values.data) : result;
    }
    for (uint32_t kind = 0; kind < MOTE_FORCE_COUNT && pool->forces; kind++) {
        result =
            result == MOTE_OK ? add_channel(pool, snapshot, mote_force_name((MoteForceKind)kind), 4, &channel) : result;
        result = result == MOTE_OK ? mote_world_read_forces(world, kind, channel->values.data) : result;
    }
    return result;
}

const FrameSnapshotChannel *snapshot_channel(const FrameSnapshot *snapshot, const char *name)
{
    for (uint32_t i = 0; i < snapshot->channel_count; i++) {
        if (strcmp(snapshot->channels[i].name, name) == 0) {
            return &snapshot->channels[i];
        }
    }
    return NULL;
}

uint32_t snapshot_find(const FrameSnapshot *snapshot, uint32_t id)
{
    const uint32_t *ids = snapshot->blocks[SNAPSHOT_ids].data;
    for (uint32_t i = 0; i < snapshot->view.particle_count; i++) {
        if (ids[i] == id) {
            return i;
        }
    }
    return MOTE_NONE;
}

// ---- What was before ----

static MoteResult grow_history(FrameSnapshotPool *pool, uint32_t count)
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

// positions_before in the order of `snapshot`, and its positions into the history.
static MoteResult look_back(FrameSnapshotPool *pool, FrameSnapshot *snapshot)
{
    const uint32_t count = snapshot->view.particle_count;
    const float *positions = snapshot->blocks[SNAPSHOT_positions].data;
    const uint32_t *ids = snapshot->blocks[SNAPSHOT_ids].data;
    MoteResult result = snapshot_reserve(pool, &snapshot->positions_before, 16 * (size_t)count + 1);
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        largest = ids[i] >= largest ? ids[i] + 1 : largest;
    }
    result = result == MOTE_OK ? grow_history(pool, largest) : result;
    if (result != MOTE_OK) {
        return result;
    }
    float *before = snapshot->positions_before.data, *history = pool->history.data;
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
static MoteResult exchange(FrameSnapshotPool *pool, const void *now, uint32_t count, size_t element, Block *history,
                           uint32_t *history_count, Block *before, uint32_t *before_count)
{
    MoteResult result = snapshot_reserve(pool, before, *history_count * element + 1);
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

static MoteResult remember(FrameSnapshotPool *pool, FrameSnapshot *snapshot)
{
    snapshot->has_before = pool->history_model == snapshot->model->number;
    if (!snapshot->has_before) {
        pool->history_model = snapshot->model->number;
        pool->rotation_count = pool->collider_count = pool->instance_count = 0;
        for (uint32_t i = 0; i < pool->history_count; i++) {
            ((float *)pool->history.data)[4 * (size_t)i + 3] = -1.0f;
        }
    }
    MoteResult result = look_back(pool, snapshot);
    if (result == MOTE_OK) {
        result = exchange(pool, snapshot->blocks[SNAPSHOT_cluster_rotations].data, snapshot->view.cluster_count,
                          4 * sizeof(float), &pool->rotations, &pool->rotation_count, &snapshot->rotations_before,
                          &snapshot->rotations_before_count);
    }
    if (result == MOTE_OK) {
        result = exchange(pool, snapshot->look.colliders, snapshot->look.collider_count,
                          sizeof *snapshot->look.colliders, &pool->collider_history, &pool->collider_count,
                          &snapshot->colliders_before, &snapshot->colliders_before_count);
    }
    if (result == MOTE_OK) {
        result = exchange(pool, snapshot->look.instances, snapshot->look.instance_count,
                          sizeof *snapshot->look.instances, &pool->instance_history, &pool->instance_count,
                          &snapshot->instances_before, &snapshot->instances_before_count);
    }
    return result;
}

MoteResult snapshot_publish(FrameSnapshotPool *pool, Model *model, double interval)
{
    FrameSnapshot *snapshot = free_slot(pool);
    if (snapshot->model != model) {
        model_release(snapshot->model);
        snapshot->model = model_hold(model);
    }
    MoteResult result = copy_view(pool, mote_simulation_world(model->simulation), snapshot);
    result = result == MOTE_OK ? copy_channels(pool, mote_simulation_world(model->simulation), snapshot) : result;
    result = result == MOTE_OK ? copy_look(pool, model, snapshot) : result;
    result = result == MOTE_OK ? remember(pool, snapshot) : result;
    if (result != MOTE_OK) {
        return result;
    }
    snapshot->frame = mote_simulation_frame(model->simulation);
    snapshot->time = mote_simulation_time(model->simulation);
    snapshot->interval = interval;
    snapshot->published = clock_seconds();
    mtx_lock(&pool->mutex);
    snapshot->number = ++pool->numbers;
    pool->published = (int)(snapshot - pool->snapshots);
    pool->published_is_new = true;
    mtx_unlock(&pool->mutex);
    return MOTE_OK;
}
