// SPDX-License-Identifier: MIT
// mass.h - mass properties and surface samples of dynamic colliders.
#ifndef MOTE_SOLVER_MASS_H
#define MOTE_SOLVER_MASS_H

#include "geometry/hull.h"
#include "solver/world.h"

#define BOX_SAMPLES 26 // corners, middles of edges and of faces

typedef struct MassProperties {
    Cluster body;  // mass, inertia and its inverse about the centre of mass, radius around the collider's origin
    vec3 centre;   // m, in the collider's frame
    vec4 *samples; // points of the surface, or inside it by w (m); from malloc
    uint32_t sample_count;
} MassProperties;

// Of collider i with a mass or a density; `row` is its form for kernels. In 2D colliders are a metre deep.
MoteResult mass_measure(MoteWorld *world, uint32_t i, const MoteCollider *collider, const Collider *row, float radius,
                        MassProperties *out);
// Sample points of colliders that users move; return how many.
uint32_t mass_box_samples(vec3 half, bool flat, vec4 samples[BOX_SAMPLES]);
uint32_t mass_round_samples(const Collider *row, vec4 samples[2]);

#endif
