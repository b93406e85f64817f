// SPDX-License-Identifier: MIT
// gravity_warm_start.h - what carried a grain in the last step begins to carry it in the next one: a warm start of
// contacts. Few iterations of Jacobi carry a weight up through few layers, and what lies above them falls until it is
// caught; a pile at rest that begins with most of its weight carried needs them for the rest only. All weights shrink
// alike, so that slopes stand at the angles they would stand at anyway.
#ifndef MOTE_KERNELS_GRAVITY_WARM_START_H
#define MOTE_KERNELS_GRAVITY_WARM_START_H

#include "data.h"

// The share of gravity that a grain begins the step without.
FUNCTION float warm_started_gravity(VIEW_COMMA uint i)
{
    if (PARAMETER(gravity_warm_start) <= 0.0f || !has_trait(LOAD(phases, i), TRAIT_ROLLS)) {
        return 0.0f;
    }
    return PARAMETER(gravity_warm_start) * LOAD(gravity_warm_starts, i);
}

// `change` is what constraints did to its velocity in the step (m/s). What touches no other particle forgets: it flies,
// or a collider carries it in a single iteration.
FUNCTION void store_gravity_warm_start(VIEW_COMMA uint i, vec3 change)
{
    if (PARAMETER(gravity_warm_start) > 0.0f) {
        const float weight = sqrtf(v3_dot(PARAMETER(gravity), PARAMETER(gravity))) * PARAMETER(time_step);
        const float carried = warm_started_gravity(VIEW_HERE_COMMA i) + v3_dot(change, PARAMETER(up)) / weight;
        const bool touches = LOAD(corrections, i).w > 0.0f;
        STORE(gravity_warm_starts, i, touches ? min_f32(max_f32(carried, 0.0f), 1.0f) : 0.0f);
    }
}

#endif
