// SPDX-License-Identifier: MIT
// particle_fixture.h - mote_world_read for tests: into memory that nobody has to free.
#ifndef MOTE_TESTS_PARTICLE_FIXTURE_H
#define MOTE_TESTS_PARTICLE_FIXTURE_H

#include "mote.h"
#include <stdlib.h>

// What is read is good until it has been called a few times more.
static inline MoteResult read_particles(MoteWorld *world, MoteParticleView *out)
{
    enum { RING = 8 };
    static MoteParticleView ring[RING];
    static uint32_t next;
    MoteParticleView *kept = &ring[next++ % RING];
    const size_t count = mote_world_particle_count(world);
    if (kept->capacity < count || kept->positions == NULL) {
        kept->positions = realloc(kept->positions, count * 16 + 1);
        kept->velocities = realloc(kept->velocities, count * 16 + 1);
        kept->ids = realloc(kept->ids, count * 4 + 1);
        kept->phases = realloc(kept->phases, count * 4 + 1);
        kept->capacity = (uint32_t)count;
        if (kept->positions == NULL || kept->velocities == NULL || kept->ids == NULL || kept->phases == NULL) {
            abort();
        }
    }
    const MoteResult result = mote_world_read(world, kept);
    *out = *kept;
    return result;
}

#endif
