// SPDX-License-Identifier: MIT
// potentials.h - where a liquid makes white water (Ihmsen et al. 2012, section 3), on the solver's neighbour lists:
//   trapped air  sum of |v_ij| (1 - v_ij . x_ij) w: where particles meet, and air between them is enclosed (eq. 2)
//   crest        sum of (1 - n_i . n_j) w, over neighbours behind a particle that moves along its normal: convex and
//                overturning surfaces (eq. 4 to 7)
//   vorticity    |curl v| (Bender et al. 2019, "Turbulent micropolar SPH fluids with foam")
//   energy       v^2, which multiplies the sum of the others (eq. 8)
// with unit vectors v_ij, x_ij, n and w = 1 - r/h. Each goes through phi(I) = (min(I, upper) - min(I, lower)) /
// (upper - lower) (eq. 1).
//
// Ihmsen's limits are numbers for metres and seconds, and for scenes of his size. Here potentials have no units: w is
// over its sum inside the liquid, and speeds are over a reference speed, which a scene states, or which is a running
// maximum of the liquid's. So their limits fit scenes of any size, and a scene needs one number, `amount`.
//
// Two passes over the lists: the second needs its neighbours' normals. They run about 60 times a second of the scene's
// time, whatever the time step is (solver/diffuse.c).
#ifndef MOTE_KERNELS_POTENTIALS_H
#define MOTE_KERNELS_POTENTIALS_H

#include "data.h"
#include "particle/neighbours.h"

// Shorter sums of unit vectors away from neighbours, over the sum inside the liquid, are those of no surface.
#define CLEAR_NORMAL 0.12f

FUNCTION float potential_share(float value, float lower, float range)
{
    return clamp_f32((value - lower) * range, 0.0f, 1.0f);
}

// What speeds are compared with, m/s.
FUNCTION float reference_speed(VIEW)
{
    const float stated = PARAMETER(foam_speed);
    const float fastest = FLOAT_OF_BITS(LOAD(diffuse_counts, DIFFUSE_FASTEST));
    return stated > 0.0f ? stated : max_f32(fastest, PARAMETER(foam_slowest));
}

// Whether a particle is of a liquid. Where all are, its phase is not loaded.
FUNCTION bool makes_foam(VIEW_COMMA uint i)
{
    if (PARAMETER(has_solids) == 0u && PARAMETER(has_gas) == 0u) {
        return true;
    }
    const uint phase = LOAD(phases, i);
    return has_density(phase) && !is_gas(phase);
}

// Unit vector, or zero.
FUNCTION vec3 direction_of(vec3 v)
{
    return v3_scale(v, 1.0f / max_f32(v3_length(v), 1e-12f));
}

FUNCTION void note_speed(VIEW_COMMA float speed)
{
    const uint bits = FLOAT_BITS(speed); // of floats that are not negative these are in their order
    if (is_finite(speed) && bits > ATOMIC_LOAD(diffuse_counts, DIFFUSE_FAST)) {
        ATOMIC_MAX(diffuse_counts, DIFFUSE_FAST, bits);
    }
}

// Stores the normal of the surface, and the weighted potentials of trapped air and vorticity.
KERNEL(measure_potentials)
{
    const vec3 position = v3_from_v4(LOAD(positions, i));
    const vec3 velocity = v3_from_v4(LOAD(velocities, i));
    const float inverse_radius = 1.0f / PARAMETER(smoothing_radius);
    const uint start = LOAD(neighbour_starts, i);
    const uint count = makes_foam(VIEW_HERE_COMMA i) ? LOAD(neighbour_counts, i) : 0u;
    vec3 outward = v3(0.0f, 0.0f, 0.0f);
    vec3 curl = v3(0.0f, 0.0f, 0.0f);
    float air = 0.0f;
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        if (!makes_foam(VIEW_HERE_COMMA j)) {
            continue;
        }
        const vec3 offset = v3_sub(position, v3_from_v4(LOAD(positions, j)));
        const vec3 relative = v3_sub(velocity, v3_from_v4(LOAD(velocities, j)));
        const float distance = v3_length(offset);
        const float weight = max_f32(1.0f - distance * inverse_radius, 0.0f);
        const vec3 away = v3_scale(offset, 1.0f / max_f32(distance, 1e-12f));
        outward = v3_add_scaled(outward, away, weight);
        curl = v3_add_scaled(curl, v3_cross(away, relative), weight); // of a solid rotation: 2/3 omega times |offset| w
        air += weight * (v3_length(relative) - v3_dot(relative, away));
    }
    const float speed = reference_speed(VIEW_HERE);
    const float scale = PARAMETER(foam_weight) / speed;
    const float vorticity = v3_length(curl) * scale;
    const float potential =
        PARAMETER(foam_air) * potential_share(air * scale, PARAMETER(air_lower), PARAMETER(air_range)) +
        PARAMETER(foam_vorticity) * potential_share(vorticity, PARAMETER(vorticity_lower), PARAMETER(vorticity_range));
    const float clear = v3_length(outward) * PARAMETER(foam_weight);
    const vec3 normal = clear > CLEAR_NORMAL ? direction_of(outward) : v3(0.0f, 0.0f, 0.0f);
    STORE(white_water, i, v4_from_v3(normal, potential));
    if (makes_foam(VIEW_HERE_COMMA i)) {
        note_speed(VIEW_HERE_COMMA v3_length(velocity));
    }
}

// The weighted potential of wave crests.
FUNCTION float crest_potential(VIEW_COMMA uint i, vec3 normal, vec3 velocity)
{
    const float along = v3_dot(direction_of(velocity), normal);
    if (PARAMETER(foam_crest) <= 0.0f || along < 0.6f) {
        return 0.0f;
    }
    const vec3 position = v3_from_v4(LOAD(positions, i));
    const float inverse_radius = 1.0f / PARAMETER(smoothing_radius);
    const uint start = LOAD(neighbour_starts, i);
    const uint count = LOAD(neighbour_counts, i);
    float crest = 0.0f;
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        const vec3 other = v3_from_v4(LOAD(white_water, j));
        const vec3 offset = v3_sub(v3_from_v4(LOAD(positions, j)), position);
        if (v3_dot(other, other) > 0.0f && v3_dot(offset, normal) < 0.0f) { // inside there is no normal
            const float weight = max_f32(1.0f - v3_length(offset) * inverse_radius, 0.0f);
            crest += weight * (1.0f - v3_dot(normal, other));
        }
    }
    return PARAMETER(foam_crest) *
           potential_share(crest * PARAMETER(foam_weight), PARAMETER(crest_lower), PARAMETER(crest_range));
}

// How many passive particles a liquid particle makes in an interval, before rounding.
FUNCTION float diffuse_rate(VIEW_COMMA uint i)
{
    if (!makes_foam(VIEW_HERE_COMMA i) || F32(LOAD(neighbour_counts, i)) < PARAMETER(foam_neighbours)) {
        return 0.0f;
    }
    const vec3 velocity = v3_from_v4(LOAD(velocities, i));
    const float speed = v3_length(velocity) / reference_speed(VIEW_HERE);
    const float energy = potential_share(speed * speed, PARAMETER(energy_lower), PARAMETER(energy_range));
    if (energy <= 0.0f) {
        return 0.0f;
    }
    const vec4 note = LOAD(white_water, i);
    const float potential = note.w + crest_potential(VIEW_HERE_COMMA i, v3_from_v4(note), velocity);
    return PARAMETER(foam_rate) * energy * potential;
}

#endif
