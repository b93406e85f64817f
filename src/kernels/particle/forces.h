// SPDX-License-Identifier: MIT
// forces.h - recording of forces: the momentum that each group of constraints gave to each particle, over the time
// step.
#ifndef MOTE_KERNELS_FORCES_H
#define MOTE_KERNELS_FORCES_H

#include "data.h"
#include "contact/gravity_warm_start.h"

FUNCTION vec3 pushed_point(VIEW_COMMA uint i)
{
    const vec3 point = v3_from_v4(LOAD(predicted, i));
    return PARAMETER(has_solids) != 0u ? v3_add(point, v3_from_v4(LOAD(corrections, i))) : point;
}

// Counts a correction that one group of constraints makes as that of another kind of force.
FUNCTION void move_force(VIEW_COMMA uint i, uint from, uint to, vec3 correction, float inverse_mass)
{
    const float scale = PARAMETER(step_share) / (inverse_mass * PARAMETER(time_step) * PARAMETER(time_step));
    const uint source = from * PARAMETER(force_stride) + i;
    const uint target = to * PARAMETER(force_stride) + i;
    STORE(forces, source, v4_from_v3(v3_add_scaled(v3_from_v4(LOAD(forces, source)), correction, -scale), 0.0f));
    STORE(forces, target, v4_from_v3(v3_add_scaled(v3_from_v4(LOAD(forces, target)), correction, scale), 0.0f));
}

KERNEL(mark_forces)
{
    STORE(force_marks, i, v4_from_v3(pushed_point(VIEW_HERE_COMMA i), 0.0f));
}

KERNEL(record_forces)
{
    const float inverse_mass = LOAD(predicted, i).w;
    const float dt = PARAMETER(time_step);
    if (inverse_mass > 0.0f) {
        const vec3 moved = v3_sub(pushed_point(VIEW_HERE_COMMA i), v3_from_v4(LOAD(force_marks, i)));
        const uint row = PARAMETER(force_kind) * PARAMETER(force_stride) + i;
        const vec3 sum =
            v3_add_scaled(v3_from_v4(LOAD(forces, row)), moved, PARAMETER(step_share) / (inverse_mass * dt * dt));
        STORE(forces, row, v4_from_v3(sum, 0.0f));
    }
}

KERNEL(clear_forces)
{
    for (uint kind = 0u; kind < FORCE_KINDS && PARAMETER(small_step) == 0u; kind++) {
        STORE(forces, kind * PARAMETER(force_stride) + i, v4(0.0f, 0.0f, 0.0f, 0.0f));
    }
    const float carried = warm_started_gravity(VIEW_HERE_COMMA i);
    const float inverse_mass = LOAD(predicted, i).w;
    if (carried > 0.0f && inverse_mass > 0.0f) { // what contacts did before they did anything
        const uint row = FORCE_PAIRS * PARAMETER(force_stride) + i;
        const vec3 before = v3_from_v4(LOAD(forces, row));
        const vec3 weight = v3_scale(PARAMETER(gravity), -carried / inverse_mass);
        STORE(forces, row, v4_from_v3(v3_add_scaled(before, weight, PARAMETER(step_share)), 0.0f));
    }
}

#endif
