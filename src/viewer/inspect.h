// SPDX-License-Identifier: MIT
// inspect.h - reads the properties of one particle, and statistics of all particles, from a frame snapshot.
#ifndef MOTE_VIEWER_INSPECT_H
#define MOTE_VIEWER_INSPECT_H

#include "viewer/measures.h"
#include "viewer/frame_snapshot.h"

enum { INSPECT_NEIGHBOURS = 128, INSPECT_TEXT = 8192 };

typedef struct InspectedNeighbour {
    uint32_t id;
    MoteVec3 position; // m
    float distance;    // m, between centres
    bool contact;      // the two can touch, and are no farther apart than contacts keep them
} InspectedNeighbour;

typedef struct InspectedValue {
    char name[SNAPSHOT_CHANNEL_NAME];
    uint32_t components;
    float values[4];
} InspectedValue;

typedef struct Inspection {
    bool found;
    uint64_t snapshot; // it is of
    uint32_t id, phase;
    MoteVec3 position, velocity; // m, m/s
    float density, inverse_mass; // over rest density; 1/kg
    float radius;                // m, as a sphere
    uint32_t neighbours, contacts;
    uint32_t listed; // rows of `list`, nearest first
    InspectedNeighbour list[INSPECT_NEIGHBOURS];
    uint32_t value_count;
    InspectedValue values[SNAPSHOT_CHANNELS];
} Inspection;

// Properties of a particle of the snapshot, with its neighbours and contacts. out->found is false if it was removed.
void inspect_particle(const FrameSnapshot *snapshot, uint32_t id, Inspection *out);
// Formats an inspection as lines of text.
void inspect_text(const Inspection *inspection, char *text, size_t size);

// Statistics of all particles.
void inspect_all(const FrameSnapshot *snapshot, Measures *out);

#endif
