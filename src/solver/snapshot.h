// snapshot.h - everything a world must remember to continue bit for bit, as plain host arrays.
#ifndef MOTE_SOLVER_SNAPSHOT_H
#define MOTE_SOLVER_SNAPSHOT_H

#include "mote.h"

#define WORLD_CHANNEL_NAME_SIZE 32 // bytes, the final zero included
#define WORLD_CHANNEL_LIMIT     16 // channels a world

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
    float *positions;          // 4 a particle
    float *velocities;         // 4 a particle
    uint32_t *ids;
    uint32_t *phases;
    uint32_t body_word_count; // world_body_words; 0 without bodies
    uint32_t *body_words;     // what of bodies changes; the tables they are made of are the world's own
    uint32_t wet_texel_count; // of all fields' wet maps
    uint32_t *wet_texels;     // in units of WET_UNIT
    uint32_t channel_count;
    ChannelSnapshot channels[WORLD_CHANNEL_LIMIT];
} WorldSnapshot;

// Words that the bodies of this world take in a snapshot of `particle_count` particles.
uint64_t world_body_words(const MoteWorld *world, uint32_t particle_count);
uint32_t world_wet_texel_count(const MoteWorld *world); // of its fields' wet maps
MoteResult world_snapshot_take(MoteWorld *world, WorldSnapshot *out);
// Replaces the world's particles and channels; settings, shapes, volumes, materials and the tables of bodies stay: a
// snapshot fits a world with the bodies and wet maps of the one it was taken of. Every value is checked first
// (finite positions and velocities, unique ids below next_id): on an error the world is unchanged.
MoteResult world_snapshot_restore(MoteWorld *world, const WorldSnapshot *snapshot);
void world_snapshot_free(WorldSnapshot *snapshot); // arrays come from malloc

#endif
