// SPDX-License-Identifier: MIT
// cloth_parts.h - what else a cloth may have when it is added: pressure (cloth_pressure.c) and hinges
// (cloth_bending.c). `check` comes first, then `reserve`, which may fail, and `add`, which does not, once the world
// counts the cloth.
#ifndef MOTE_SOLVER_CLOTH_PARTS_H
#define MOTE_SOLVER_CLOTH_PARTS_H

#include "solver/cloth_topology.h"
#include "solver/world.h"

// Fills the record's pressure_law and pressure_input.
MoteResult cloth_pressure_check(const MoteCloth *cloth, const ClothTopology *topology, const MoteVec3 *rest,
                                WorldCloth *out);
MoteResult cloth_pressure_reserve(MoteWorld *world, const WorldCloth *cloth, uint32_t vertices);
void cloth_pressure_add(MoteWorld *world);

// Hinges of a cloth that is to be added, as rows of the tables.
typedef struct ClothHinges {
    uint32_t count;
    uvec2 *corners;
    vec4 *laws;
    float *rests;
    uint16_t *colours; // of all hinges of the world, these behind the others
    uint32_t *order, *starts;
    uint32_t colour_count;
} ClothHinges;
MoteResult cloth_hinges_make(const MoteWorld *world, const MoteCloth *cloth, const ClothTopology *topology,
                             const MoteVec3 *rest, ClothHinges *out);
MoteResult cloth_hinges_reserve(MoteWorld *world, const ClothHinges *hinges);
void cloth_hinges_add(MoteWorld *world, ClothHinges *hinges);
void cloth_hinges_free(ClothHinges *hinges);

#endif
