// SPDX-License-Identifier: MIT
// integrate.h - external forces and predicted positions (UPP Algorithm 1, lines 1-5).
#ifndef MOTE_KERNELS_INTEGRATE_H
#define MOTE_KERNELS_INTEGRATE_H

#include "data.h"
#include "contact/gravity_warm_start.h"

KERNEL(clear_counters)
{
    STORE(counters, i, 0u);
}

// Whether a speculation has failed: backends then skip the kernel.
FUNCTION bool kernels_aborted(VIEW)
{
    return PARAMETER(speculating) != 0u && LOAD(counters, COUNTER_ABORTED) != 0u;
}

// The number of particles after the sort, without the dead slots at the end. The host drops these when it next reads
// the counters.
FUNCTION uint particles_left(VIEW)
{
    const uint places = PARAMETER(particle_count);
    return PARAMETER(speculating) != 0u ? places - LOAD(counters, COUNTER_REMOVED) : places;
}

// Begins a step whose predecessor the host has not checked yet: if that one failed, this one does nothing.
KERNEL(begin_step)
{
    if (LOAD(counters, COUNTER_UNHEALTHY) != 0u || LOAD(counters, COUNTER_UNHEALTHY_COLLIDER) != 0u) {
        STORE(counters, COUNTER_ABORTED, 1u + SPECULATION_HEALTH);
        return;
    }
    STORE(counters, COUNTER_STEPS, LOAD(counters, COUNTER_STEPS) + 1u);
    STORE(counters, COUNTER_REMOVED, i); // the only invocation: 0
    STORE(counters, COUNTER_NEIGHBOURS_MAX, 0u);
    STORE(counters, COUNTER_ESCAPED, 0u);
    STORE(counters, COUNTER_SQUEEZED, 0u);
}

// Counts a particle whose values are not finite. It keeps its last finite position, so that it does not affect others,
// and the step reports it at its end.
FUNCTION void report_unhealthy(VIEW_COMMA uint i)
{
    ATOMIC_ADD(counters, COUNTER_UNHEALTHY, 1u);
    ATOMIC_MAX(counters, COUNTER_UNHEALTHY_ID, LOAD(ids, i) + 1u);
}

// The velocity of a free particle after gravity, damping and the speed limit have acted on it for dt.
FUNCTION vec3 velocity_after(VIEW_COMMA uint i, vec3 velocity, float dt)
{
    const float falling = 1.0f - warm_started_gravity(VIEW_HERE_COMMA i);
    const vec3 fallen = v3_add_scaled(velocity, PARAMETER(gravity), falling * dt);
    const vec3 damped = v3_mul(v3_scale(fallen, PARAMETER(velocity_decay)), PARAMETER(motion_mask));
    return v3_limit(damped, PARAMETER(max_step) / dt);
}

// Where particles will be at the end of a step of several small ones: for the search, and nothing else.
KERNEL(foresee)
{
    const vec4 position = LOAD(positions, i);
    const float dt = PARAMETER(time_step);
    vec3 moved = v3_from_v4(position);
    if (position.w > 0.0f) {
        const vec3 velocity = velocity_after(VIEW_HERE_COMMA i, v3_from_v4(LOAD(velocities, i)), dt);
        moved = v3_add_scaled(moved, velocity, dt);
    }
    if (!v3_is_finite(moved)) {
        moved = v3_from_v4(position); // predict reports it
    }
    STORE(predicted, i, v4_from_v3(moved, position.w));
}

KERNEL(predict)
{
    const vec4 position = LOAD(positions, i);
    const vec4 old_velocity = LOAD(velocities, i);
    const float dt = PARAMETER(time_step);

    vec3 velocity = v3(0.0f, 0.0f, 0.0f);
    if (position.w > 0.0f) { // pinned particles stay
        velocity = velocity_after(VIEW_HERE_COMMA i, v3_from_v4(old_velocity), dt);
    }
    vec3 moved = v3_add_scaled(v3_from_v4(position), velocity, dt);
    if (!v3_is_finite(moved)) {
        report_unhealthy(VIEW_HERE_COMMA i);
        velocity = v3(0.0f, 0.0f, 0.0f);
        moved = v3_from_v4(position);
    }
    STORE(velocities, i, v4_from_v3(velocity, old_velocity.w));
    STORE(predicted, i, v4_from_v3(moved, position.w));
}

#endif
