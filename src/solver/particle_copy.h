// SPDX-License-Identifier: MIT
// particle_copy.h - the particles of a world in host memory of the reader's own.
#ifndef MOTE_SOLVER_PARTICLE_COPY_H
#define MOTE_SOLVER_PARTICLE_COPY_H

#include "mote.h"

// Which arrays of a MoteParticleView.
typedef enum ParticleArray {
    COPY_POSITIONS = 1,
    COPY_VELOCITIES = 2,
    COPY_IDS = 4,
    COPY_PHASES = 8,
    COPY_ALL = 15
} ParticleArray;

// Allocates the named arrays (bits of ParticleArray) and reads into them. Free them, also after an error.
MoteResult particle_copy_read(MoteWorld *world, uint32_t arrays, MoteParticleView *out);
void particle_copy_free(MoteParticleView *view);

#endif
