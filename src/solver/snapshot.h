// SPDX-License-Identifier: MIT
// snapshot.h - the state that a world needs to continue bit for bit, as plain host arrays: the SAVE rows of data.def,
// the channels, and a few numbers.
#ifndef MOTE_SOLVER_SNAPSHOT_H
#define MOTE_SOLVER_SNAPSHOT_H

#include "mote.h"

#define WORLD_CHANNEL_NAME_SIZE 32 // bytes, the final zero included
#define WORLD_CHANNEL_LIMIT     16 // channels a world

// SAVED_positions, SAVED_velocities, ...: the SAVE rows, in their order.
typedef enum SavedArrayId {
#define SAVED_ID_SAVE(name) SAVED_##name,
#define SAVED_ID_TRANSIENT(name)
#define BUFFER(type, name, capacity, order, keep, render) SAVED_ID_##keep(name)
#include "kernels/data.def"
    SAVED_ARRAY_COUNT
} SavedArrayId;

typedef struct SavedArrayInfo {
    const char *name;
    uint32_t words; // of 4 bytes an element
    bool floats;    // they are all floats, or numbers so small that they read as finite ones; else uint32_t
    bool attached;  // an element a particle, beyond what makes particles up: states that are older than it lack it
} SavedArrayInfo;
extern const SavedArrayInfo saved_array_infos[SAVED_ARRAY_COUNT];

typedef struct SavedArray {
    uint64_t count; // elements
    union {
        void *data;
        float *floats;
        uint32_t *words;
    };
} SavedArray;

typedef struct ChannelSnapshot {
    char name[WORLD_CHANNEL_NAME_SIZE];
    uint32_t components; // 1 to 4
    float *values;       // components a particle
} ChannelSnapshot;

typedef struct WorldSnapshot {
    uint32_t particle_count;
    uint32_t next_id;
    uint64_t steps, removed;
    float liquid_inverse_mass; // the smallest of all liquid particles there ever were, pinned ones aside, 1/kg; 0: none
    float last_time_step;      // s; 0 before the first step
    SavedArray arrays[SAVED_ARRAY_COUNT];
    uint32_t channel_count;
    ChannelSnapshot channels[WORLD_CHANNEL_LIMIT];
} WorldSnapshot;

// Elements of an array in a snapshot of this world with `particle_count` particles.
uint64_t world_saved_elements(const MoteWorld *world, SavedArrayId id, uint32_t particle_count);
MoteResult world_snapshot_take(MoteWorld *world, WorldSnapshot *out);
// Replaces the world's particles and channels; settings, colliders, volumes, materials and the tables of bodies stay: a
// snapshot fits a world with the bodies and wet maps of the one it was taken of. Every value is checked first
// (finite positions and velocities, unique ids below next_id): on an error the world is unchanged. If an array of the
// particles is empty in the snapshot, it gets the defaults of new particles.
MoteResult world_snapshot_restore(MoteWorld *world, const WorldSnapshot *snapshot);
void world_snapshot_free(WorldSnapshot *snapshot); // arrays come from malloc

#endif
