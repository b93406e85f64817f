// SPDX-License-Identifier: MIT
// watch_credit.h - how constraints that store energy, or are driven from outside, tell the energy watch (watch.h) of
// the work they have done in a step: as work of colliders, of which the watch only takes the sum.
#ifndef MOTE_KERNELS_WATCH_CREDIT_H
#define MOTE_KERNELS_WATCH_CREDIT_H

#include "data.h"
#include "particle/integrate.h"

// The constraints (first, and one past the last) of which a chunk of particles is credited with the work.
FUNCTION uvec2 credited_share(VIEW_COMMA uint chunk, uint constraints)
{
    const uint share = (constraints + PARAMETER(watch_chunk_count) - 1u) / PARAMETER(watch_chunk_count);
    return uv2(chunk * share, min_u32((chunk + 1u) * share, constraints));
}

// Credits work (J) to the chunk's first particle that can move: pins do not count.
FUNCTION void credit_chunk(VIEW_COMMA uint chunk, float work)
{
    const uint end = min_u32((chunk + 1u) * WATCH_CHUNK, particles_left(VIEW_HERE));
    uint receiver = chunk * WATCH_CHUNK;
    while (receiver < end && LOAD(positions, receiver).w <= 0.0f) {
        receiver++;
    }
    if (receiver < end) {
        STORE(collider_work, receiver, LOAD(collider_work, receiver) + work);
    }
}

#endif
