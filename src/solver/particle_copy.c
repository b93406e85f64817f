// SPDX-License-Identifier: MIT
#include "solver/particle_copy.h"

#include "base/error.h"
#include <stdlib.h>

static bool allocate(void *address_of_pointer, bool wanted, size_t bytes)
{
    void **const pointer = address_of_pointer;
    *pointer = wanted ? malloc(bytes + 1) : NULL; // an array of no particles is one, too
    return !wanted || *pointer != NULL;
}

MoteResult particle_copy_read(MoteWorld *world, uint32_t arrays, MoteParticleView *out)
{
    const size_t count = mote_world_particle_count(world);
    *out = (MoteParticleView){.capacity = (uint32_t)count};
    const bool complete = allocate(&out->positions, (arrays & COPY_POSITIONS) != 0, count * 16) &&
                          allocate(&out->velocities, (arrays & COPY_VELOCITIES) != 0, count * 16) &&
                          allocate(&out->ids, (arrays & COPY_IDS) != 0, count * 4) &&
                          allocate(&out->phases, (arrays & COPY_PHASES) != 0, count * 4);
    return complete ? mote_world_read(world, out)
                    : mote_fail(MOTE_ERROR_MEMORY, "no host memory to read %zu particles", count);
}

void particle_copy_free(MoteParticleView *view)
{
    free(view->positions);
    free(view->velocities);
    free(view->ids);
    free(view->phases);
    *view = (MoteParticleView){0};
}
