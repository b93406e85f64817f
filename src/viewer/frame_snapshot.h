// SPDX-License-Identifier: MIT
// frame_snapshot.h - a snapshot of a simulation's frame, copied so that it can be drawn while the next one is computed.
//
// The simulation's thread fills a free snapshot of the pool and publishes it; the drawing thread takes the newest.
// There are three: one being drawn, one published, one being filled, so neither waits for the other. Arrays are whole
// pages, which the renderer reads in place; those that grew are kept until no picture can be using them.
#ifndef MOTE_VIEWER_FRAME_SNAPSHOT_H
#define MOTE_VIEWER_FRAME_SNAPSHOT_H

#include "mote_render.h"
#include <stdatomic.h>
#include <threads.h>

// A loaded scene and its simulation. It lives as long as a snapshot of it does, whose meshes it holds.
typedef struct Model {
    atomic_uint references;
    uint64_t number; // of models loaded so far
    MoteScene *scene;
    MoteSimulation *simulation; // of the simulation's thread alone
    const MoteRenderMesh *meshes;
    uint32_t mesh_count;
    uint32_t notices; // of the simulation, that have been said
} Model;
Model *model_hold(Model *model);
void model_release(Model *model); // NULL is allowed

typedef struct Block {
    void *data;
    size_t bytes; // whole pages
} Block;

// The arrays of MoteRenderView.
enum {
#define X(name) SNAPSHOT_##name,
    MOTE_RENDER_ARRAYS(X)
#undef X
        SNAPSHOT_ARRAY_COUNT
};

// A value or vector a particle: the world's channels, and what its constraints did while forces are recorded.
enum { SNAPSHOT_CHANNELS = 20, SNAPSHOT_CHANNEL_NAME = 32 };
typedef struct FrameSnapshotChannel {
    char name[SNAPSHOT_CHANNEL_NAME];
    uint32_t components;
    Block values;
} FrameSnapshotChannel;

typedef struct FrameSnapshot {
    Model *model;
    uint64_t number;            // of snapshots published so far
    uint64_t frame;             // of the simulation
    double time;                // s, in the simulation
    double published, interval; // s on the clock: when, and how long until the next one probably
    MoteRenderView view;        // its arrays are the blocks
    Block blocks[SNAPSHOT_ARRAY_COUNT];
    // The snapshot before, for what is drawn in between: positions in this snapshot's order.
    bool has_before;
    Block positions_before, rotations_before, colliders_before, instances_before;
    uint32_t colliders_before_count, instances_before_count, rotations_before_count;
    MoteRenderScene look; // its arrays are these
    Block materials, colliders, groups, instances, poses, pose_vertices, cloths, ropes, rope_nodes;
    FrameSnapshotChannel channels[SNAPSHOT_CHANNELS];
    uint32_t channel_count;
} FrameSnapshot;

enum { SNAPSHOT_COUNT = 3, SNAPSHOT_RETIRED = 256 };

typedef struct FrameSnapshotPool {
    mtx_t mutex;
    cnd_t taken; // the published snapshot was taken
    FrameSnapshot snapshots[SNAPSHOT_COUNT];
    int published, drawing; // indices, -1 is none
    bool published_is_new;  // and was not drawn yet
    uint64_t numbers;
    uint64_t layout; // changes with every block
    struct {
        Block block;
        uint64_t layout; // a picture with this or a later one does not know the block any more
    } retired[SNAPSHOT_RETIRED];
    uint32_t retired_count;

    // Of the simulation's thread: whether forces are among the channels; where each particle was, by id; inverse mass
    // -1 where there was none.
    bool forces;
    Block history;
    uint32_t history_count;
    Block rotations, collider_history, instance_history;
    uint32_t rotation_count, collider_count, instance_count;
    uint64_t history_model;
} FrameSnapshotPool;

MoteResult snapshot_pool_create(FrameSnapshotPool *pool);
void snapshot_pool_destroy(FrameSnapshotPool *pool); // when both threads have ended

// At least `bytes` in whole pages. What was in it is lost, but its memory is kept while a picture may read it.
MoteResult snapshot_reserve(FrameSnapshotPool *pool, Block *block, size_t bytes);

// Copies the model's present state and publishes it. `interval` is stored in the snapshot.
MoteResult snapshot_publish(FrameSnapshotPool *pool, Model *model, double interval);

// The index of a particle in the snapshot's order, or MOTE_NONE if it was removed.
uint32_t snapshot_find(const FrameSnapshot *snapshot, uint32_t id);
// The channel of that name, or NULL.
const FrameSnapshotChannel *snapshot_channel(const FrameSnapshot *snapshot, const char *name);

// The newest snapshot, which does not change until snapshot_done; NULL if there is none.
FrameSnapshot *snapshot_take(FrameSnapshotPool *pool);
// `layout` is that of the last picture: memory that was retired before it can be freed.
void snapshot_done(FrameSnapshotPool *pool, uint64_t layout);

#endif
