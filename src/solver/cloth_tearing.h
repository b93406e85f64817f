// SPDX-License-Identifier: MIT
// cloth_tearing.h - what cloth that tears needs from the host: room for copies of its vertices, and corners that its
// links are attached to (cloth_tearing.c).
#ifndef MOTE_SOLVER_CLOTH_TEARING_H
#define MOTE_SOLVER_CLOTH_TEARING_H

#include "solver/cloth_topology.h"
#include "solver/world.h"

enum { SEAM_CORNERS = 6 }; // of a link: those of its ends, and two pairs that are one vertex while the cloth is whole

// Links of a cloth that tears, and along each inner edge a second one, its twin, which wakes when the edge opens.
typedef struct ClothSeams {
    uint32_t *links;   // SEAM_CORNERS a link of ClothLinks
    uint32_t *twins;   // likewise, a twin
    uint32_t *twinned; // the link that each twin is like
    uint32_t twin_count;
} ClothSeams;

// An error if the fan of a vertex is not one arc, or if a grid lacks an edge that its links are along.
MoteResult cloth_seams_make(const MoteCloth *cloth, const ClothTopology *topology, const ClothLinks *links,
                            ClothSeams *out);
void cloth_seams_free(ClothSeams *seams);
// How many copies of vertices there is room for.
uint32_t cloth_tear_room(const MoteCloth *cloth);
MoteResult cloth_check_tearing(const MoteCloth *cloth);
// The largest inverse mass (1/kg) that a vertex can get by splits.
float cloth_torn_inverse_mass(const MoteCloth *cloth, const ClothTopology *topology, const MoteVec3 *rest,
                              const float *masses);
// Leaves tethers out that kernels would take for cut, as no neighbour is nearer to the pin.
void cloth_drop_loose_tethers(const MoteCloth *cloth, const bool *pinned, uint32_t *pins, float *lengths);

// Of a cloth that is being added behind those that are there.
typedef struct TearTables {
    const MoteCloth *cloth;
    uint32_t room;
    bool first; // no cloth before tears
} TearTables;
// Allocates the tables for it and for `links` links; fills its rows, and those of all before if it is the first to
// tear.
MoteResult world_reserve_tearing(MoteWorld *world, const TearTables *tables, uint64_t links);
MoteResult world_fill_tearing(MoteWorld *world, const TearTables *tables);

#endif
