// SPDX-License-Identifier: MIT
// gas.h - gas: particles of a density constraint that is unilateral for them, with a temperature, an age and a vortex
// each (Macklin et al. 2014, "Unified particle physics", UPP section 7.2). Three kernels a step:
//
// begin_gas, before positions are predicted: gravity times its share, and buoyancy,
//     a = alpha g - beta_T T g,     T: temperature above the environment's.
//
// spin_gas, at the end of a step: the strength of each particle's vortex, UPP eq. 30 and 31,
//     n_i = sum_j V_j grad W_ij,     d omega_i/dt = (omega_i . grad) v - beta (n_i x g) - omega_i / tau,
//     (omega_i . grad) v = sum_j V_j (v_j - v_i) (omega_i . grad W_ij).
// n points to where the gas is. UPP has + beta, which drives down what is inside of a column of gas: the motion of a
// heavy gas. Here a positive beta lifts it, as smoke is lifted; a negative one is for heavy gas. Temperatures cool.
//
// drive_gas, after it: the force of the neighbours' vortices, UPP eq. 32 with the volumes that it leaves out,
//     f_i = sum_j V_j (omega_j x x_ij) W_ij,     per mass, times 1/s,
// cohesion, c h n_i, which is a central force of each pair and conserves momentum, and drag, UPP eq. 29, solved
// exactly:
//     v <- u + (v - u) exp(-k max(0, 1 - rho/rho0) dt),     u: the velocity of the environment (particle/air.h).
//
// They come after the passive particles have been moved: smoke goes with the velocities right after the solve, which
// conserve volume, and forces that the next solve must first deal with do not move it (UPP section 7.2.1).
#ifndef MOTE_KERNELS_GAS_H
#define MOTE_KERNELS_GAS_H

#include "data.h"
#include "fluid/sph_kernels.h"
#include "gas/gas_life.h"
#include "particle/air.h"
#include "particle/integrate.h"
#include "particle/neighbours.h"

// The volume of a particle of gas with this density.
FUNCTION float gas_volume(VIEW_COMMA float density)
{
    return PARAMETER(rest_volume) / max_f32(density, 0.05f);
}

KERNEL(begin_gas)
{
    STORE(gas_marks, i, 0u);
    if (is_gas(LOAD(phases, i)) && LOAD(positions, i).w > 0.0f) {
        const vec4 velocity = LOAD(velocities, i);
        const float lift = PARAMETER(gas_gravity) - 1.0f - PARAMETER(gas_buoyancy) * LOAD(gas_states, i).z;
        const vec3 fallen = v3_add_scaled(v3_from_v4(velocity), PARAMETER(gravity), lift * PARAMETER(time_step));
        STORE(velocities, i, v4_from_v3(fallen, velocity.w)); // predict adds the whole of gravity
    }
}

// ---- Vortices ----------------------------------------------------------------------------------------------

STRUCT(Vortex)
{
    vec3 normal;     // 1/m
    vec3 stretching; // 1/s^2
};

// UPP eq. 30, and the first term of eq. 31.
FUNCTION Vortex vortex_around(VIEW_COMMA uint i, vec3 omega)
{
    const vec3 position = v3_from_v4(LOAD(positions, i));
    const vec3 velocity = v3_from_v4(LOAD(velocities, i));
    const uint start = LOAD(neighbour_starts, i);
    const uint count = LOAD(neighbour_counts, i);
    const float scale = PARAMETER(spiky_scale);
    Vortex vortex;
    vortex.normal = v3(0.0f, 0.0f, 0.0f);
    vortex.stretching = v3(0.0f, 0.0f, 0.0f);
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        if (!is_gas(LOAD(phases, j))) {
            continue;
        }
        const vec4 other = LOAD(velocities, j);
        const vec3 offset = v3_sub(position, v3_from_v4(LOAD(positions, j)));
        const float factor = spiky_factor(v3_dot(offset, offset), PARAMETER(smoothing_radius));
        const vec3 gradient = v3_scale(offset, factor * scale * gas_volume(VIEW_HERE_COMMA other.w));
        vortex.normal = v3_add(vortex.normal, gradient);
        vortex.stretching =
            v3_add_scaled(vortex.stretching, v3_sub(v3_from_v4(other), velocity), v3_dot(omega, gradient));
    }
    return vortex;
}

KERNEL(spin_gas)
{
    if (!is_gas(LOAD(phases, i))) {
        return;
    }
    const float dt = PARAMETER(time_step);
    vec3 omega = v3(0.0f, 0.0f, 0.0f);
    if (PARAMETER(gas_baroclinic) != 0.0f) {
        omega = v3_from_v4(LOAD(gas_vortices, i));
        const Vortex vortex = vortex_around(VIEW_HERE_COMMA i, omega);
        omega = v3_scale(v3_add_scaled(omega, vortex.stretching, dt), PARAMETER(gas_vortex_decay));
        const vec3 baroclinity = v3_cross(vortex.normal, PARAMETER(gravity));
        omega =
            v3_limit(v3_add_scaled(omega, baroclinity, -PARAMETER(gas_baroclinic) * dt), PARAMETER(gas_vortex_limit));
    }
    STORE(gas_vortices, i, v4_from_v3(omega, 0.0f));
    const vec4 gas = LOAD(gas_states, i);
    const bool seen = LOAD(gas_marks, i) != 0u;
    const float alone = gas.y < 0.0f ? gas.y : (seen ? 0.0f : gas.y + dt);
    const float open = max_f32(1.0f - LOAD(velocities, i).w, 0.0f); // the share of air around it, as for drag
    STORE(gas_states, i, v4(gas.x + dt, alone, cooled(VIEW_HERE_COMMA gas.z, open), gas.w));
}

// ---- Forces ------------------------------------------------------------------------------------------------

// UPP eq. 32, and cohesion: m/s^2.
FUNCTION vec3 gas_force(VIEW_COMMA uint i)
{
    const vec3 position = v3_from_v4(LOAD(positions, i));
    const uint start = LOAD(neighbour_starts, i);
    const uint count = LOAD(neighbour_counts, i);
    const float cohesion = PARAMETER(gas_cohesion) * PARAMETER(smoothing_radius) * PARAMETER(spiky_scale);
    vec3 force = v3(0.0f, 0.0f, 0.0f);
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        if (!is_gas(LOAD(phases, j))) {
            continue;
        }
        const vec3 offset = v3_sub(position, v3_from_v4(LOAD(positions, j)));
        const vec3 omega = v3_from_v4(LOAD(gas_vortices, j));
        const float squared = v3_dot(offset, offset);
        const float weight = gas_volume(VIEW_HERE_COMMA LOAD(densities, j)) * PARAMETER(poly6_scale) *
                             poly6(squared, PARAMETER(smoothing_radius_squared));
        force = v3_add_scaled(force, v3_cross(omega, offset), weight);
        const float pull = cohesion * PARAMETER(rest_volume) * spiky_factor(squared, PARAMETER(smoothing_radius));
        force = v3_add_scaled(force, offset, pull);
    }
    return force;
}

KERNEL(drive_gas)
{
    const vec4 position = LOAD(positions, i);
    if (!is_gas(LOAD(phases, i)) || position.w <= 0.0f) {
        return;
    }
    const float dt = PARAMETER(time_step);
    const vec4 before = LOAD(velocities, i);
    vec3 velocity = v3_from_v4(before);
    if (PARAMETER(gas_baroclinic) != 0.0f || PARAMETER(gas_cohesion) != 0.0f) {
        velocity = v3_add_scaled(velocity, gas_force(VIEW_HERE_COMMA i), dt);
    }
    const vec3 air = air_velocity(VIEW_HERE_COMMA v3_from_v4(position));
    const float free = max_f32(1.0f - before.w, 0.0f);
    const vec3 dragged = v3_add_scaled(air, v3_sub(velocity, air), decay_by(PARAMETER(gas_drag) * free * dt));
    STORE(velocities, i, v4_from_v3(v3_mul(dragged, PARAMETER(motion_mask)), before.w));
}

#endif
