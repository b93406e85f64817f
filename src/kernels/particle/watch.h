// SPDX-License-Identifier: MIT
// watch.h - the energy watch: measures whether constraints have added energy in a step; counts particles outside the
// bounds.
//
// Constraints may transfer momentum and dissipate energy. Only the motion of colliders adds energy, and its work is
// known: the impulse times the displacement of the surface, over the time step. So for every step
//
//     gained = sum over particles of m (|v_end|^2 - |v|^2) / 2 - m g . (x_end - x) - work of colliders
//
// should not be positive. v is the velocity before gravity and damping, x the position after stabilization, which does
// not add velocity (UPP section 4.4). Vorticity confinement acts after the measurement and force fields act before v
// (particle/force_fields.h), so their work does not count. Soft bodies and compressed liquids release energy that they
// have stored, so losses are remembered for about a second (`deficit`), and only the excess counts as a gain. The
// integration itself adds no energy: a particle in free fall loses m g^2 dt^2 / 2 in each step.
//
// Dynamic colliders are included with their kinetic and potential energy (watch_colliders), so their exchange with
// particles is not work. Colliders that users move do work on them, too.
//
// Sums run over chunks of WATCH_CHUNK particles, then of WATCH_CHUNK chunks, in order: the same for any number of
// threads.
#ifndef MOTE_KERNELS_WATCH_H
#define MOTE_KERNELS_WATCH_H

#include "data.h"
#include "collider/dynamic_colliders.h"
#include "contact/gravity_warm_start.h"
#include "particle/integrate.h"

#define WATCH_SECONDS 1.0f // how long losses and gains are remembered
#define SLOWEST_DECAY 0.5f // of a step's damping: below that, velocities before it are not told from those after it

// Energy in a place and at a velocity (J). Potential energy counts from the corner of the box around all particles that
// is lowest, so that sums stay small.
FUNCTION float energy_at(VIEW_COMMA float mass, vec3 p, vec3 v)
{
    const vec3 g = PARAMETER(gravity);
    const vec4 low = LOAD(bounds, 0u);
    const vec4 high = LOAD(bounds, 1u);
    const vec3 deepest = v3(g.x > 0.0f ? high.x : low.x, g.y > 0.0f ? high.y : low.y, g.z > 0.0f ? high.z : low.z);
    return mass * (0.5f * v3_dot(v, v) - v3_dot(g, v3_sub(p, deepest)));
}

// The velocity that a particle began the step with, from the one it was predicted with.
FUNCTION vec3 velocity_before(VIEW_COMMA uint i)
{
    const vec3 predicted_velocity = v3_from_v4(LOAD(velocities, i));
    if (PARAMETER(velocity_decay) < SLOWEST_DECAY) {
        return predicted_velocity;
    }
    const float falling = 1.0f - warm_started_gravity(VIEW_HERE_COMMA i);
    const vec3 fall = v3_mul(v3_scale(PARAMETER(gravity), falling * PARAMETER(time_step)), PARAMETER(motion_mask));
    return v3_sub(v3_scale(predicted_velocity, 1.0f / PARAMETER(velocity_decay)), fall);
}

// Before the first iteration: a chunk's energy (x) and what gains are compared with (y), which is the same and at least
// as much as it takes to lift all by a smoothing radius.
KERNEL(watch_begin)
{
    const uint end = min_u32((i + 1u) * WATCH_CHUNK, particles_left(VIEW_HERE));
    float energy = 0.0f;
    float weight = 0.0f;
    for (uint k = i * WATCH_CHUNK; k < end; k++) {
        const vec4 position = LOAD(positions, k);
        STORE(collider_work, k, 0.0f);
        if (position.w > 0.0f) {
            const float mass = 1.0f / position.w;
            energy += energy_at(VIEW_HERE_COMMA mass, v3_from_v4(position), velocity_before(VIEW_HERE_COMMA k));
            weight += mass;
        }
    }
    STORE(watch_sums, i, v4(energy, energy + weight * PARAMETER(watch_floor), 0.0f, 0.0f));
}

// After velocities have come from positions: what the chunk gained (x), and its fastest particle.
KERNEL(watch_end)
{
    const uint end = min_u32((i + 1u) * WATCH_CHUNK, particles_left(VIEW_HERE));
    const vec4 begun = LOAD(watch_sums, i);
    float energy = 0.0f;
    float work = 0.0f;
    float highest_speed = -1.0f;
    uint fastest = NONE;
    for (uint k = i * WATCH_CHUNK; k < end; k++) {
        const vec4 position = LOAD(positions, k);
        const vec3 p = v3_from_v4(position);
        const vec3 v = v3_from_v4(LOAD(velocities, k));
        if (position.w > 0.0f) {
            energy += energy_at(VIEW_HERE_COMMA 1.0f / position.w, p, v);
            work += LOAD(collider_work, k);
        }
        if (v3_dot(v, v) > highest_speed) {
            highest_speed = v3_dot(v, v);
            fastest = LOAD(ids, k);
        }
        const vec3 lower = PARAMETER(bounds_lower);
        const vec3 upper = PARAMETER(bounds_upper);
        if (p.x < lower.x || p.y < lower.y || p.z < lower.z || p.x > upper.x || p.y > upper.y || p.z > upper.z) {
            ATOMIC_ADD(counters, COUNTER_ESCAPED, 1u);
            ATOMIC_MAX(counters, COUNTER_ESCAPED_ID, LOAD(ids, k) + 1u);
        }
    }
    STORE(watch_sums, i, v4(energy - begun.x - work, begun.y, 0.0f, 0.0f));
    STORE(watch_ids, i, fastest);
}

// Sums WATCH_CHUNK rows from `first` on, up to `end`, into row `target`; of the particles, the one in the part that
// gained most.
FUNCTION void sum_watch(VIEW_COMMA uint first, uint end, uint target)
{
    vec4 sum = v4(0.0f, 0.0f, -FAR_AWAY, 0.0f);
    uint gainer = NONE;
    for (uint k = first; k < end; k++) {
        const vec4 part = LOAD(watch_sums, k);
        sum = v4(sum.x + part.x, sum.y + part.y, sum.z, 0.0f);
        if (part.x > sum.z) {
            sum.z = part.x;
            gainer = LOAD(watch_ids, k);
        }
    }
    STORE(watch_sums, target, sum);
    STORE(watch_ids, target, gainer);
}

KERNEL(watch_rows)
{
    const uint chunks = PARAMETER(watch_chunk_count);
    const uint first = i * WATCH_CHUNK;
    sum_watch(VIEW_HERE_COMMA first, min_u32(first + WATCH_CHUNK, chunks), chunks + i);
}

// What dynamic colliders gained (x), and what that is compared with (y), when their step has ended.
FUNCTION vec4 watch_colliders(VIEW)
{
    float gained = 0.0f;
    float weight = 0.0f;
    for (uint row = 0u; row < PARAMETER(dynamic_count); row++) {
        const Motion motion = LOAD(dynamic_motions, row);
        const Cluster body = LOAD(dynamic_bodies, row);
        const float kinetic = kinetic_energy(body, motion.predicted_rotation, motion.velocity, motion.angular_momentum);
        const float fall = body.mass * v3_dot(PARAMETER(gravity), v3_sub(motion.predicted_centre, motion.start_centre));
        gained += kinetic - motion.energy - fall - motion.work;
        weight += motion.energy + body.mass * PARAMETER(watch_floor);
    }
    return v4(gained, weight, 0.0f, 0.0f);
}

KERNEL(watch_total)
{
    const uint first = PARAMETER(watch_chunk_count);
    const uint total = first + PARAMETER(watch_row_count) + i; // i is 0
    vec4 particles = v4(0.0f, 0.0f, 0.0f, 0.0f);
    uint gainer = NONE;
    if (total > first) { // there are some
        sum_watch(VIEW_HERE_COMMA first, total, total);
        particles = LOAD(watch_sums, total);
        gainer = LOAD(watch_ids, total);
    }
    const vec4 bodies = watch_colliders(VIEW_HERE);
    const vec4 sum = v4(particles.x + bodies.x, particles.y + bodies.y, 0.0f, 0.0f);
    const float kept = max_f32(1.0f - PARAMETER(time_step) / WATCH_SECONDS, 0.0f);
    const float left = FLOAT_OF_BITS(LOAD(counters, WATCH_DEFICIT)) * kept - sum.x;
    const float gained = FLOAT_OF_BITS(LOAD(counters, WATCH_GAINED)) * kept + max_f32(-left, 0.0f);
    STORE(counters, WATCH_DEFICIT, FLOAT_BITS(max_f32(left, 0.0f)));
    STORE(counters, WATCH_GAINED, FLOAT_BITS(gained));
    STORE(counters, WATCH_ENERGY, FLOAT_BITS(sum.y));
    if (left < 0.0f) {
        STORE(counters, WATCH_GAINER, bodies.x > particles.z ? NONE : gainer);
    }
}

#endif
