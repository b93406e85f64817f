// SPDX-License-Identifier: MIT
// density.h - the density constraint of position-based fluids: bilateral with constraint force mixing (PBF eq.
// 11) or unilateral with the rest lattice's denominator (UPP eq. 26, section 7.1.1), weighted by inverse mass.
//
// Density is a number density over that of the rest lattice, so fluids of different mass share one constraint and
// their masses act through the inverse masses alone, as in UPP section 7.1.1.
#ifndef MOTE_KERNELS_DENSITY_H
#define MOTE_KERNELS_DENSITY_H

#include "data.h"
#include "fluid/isotropy.h"
#include "fluid/liquid.h"
#include "fluid/sph_kernels.h"
#include "particle/neighbours.h"
#include "rigid/bodies.h"

// The density error. Below rest density a bilateral constraint pulls, but only against the stretching of this step:
// `before` is the density at the start of the step (0 for a new particle). Particles at a free surface always have too
// low a density. They would otherwise be pulled together in every iteration, which adds energy, the more the more
// iterations there are. `tension_scale` keeps the pull from reversing the stretching where relaxation is low.
FUNCTION float density_error(float density, float before, float max_tension, float tension_scale)
{
    if (density >= 1.0f) {
        return density - 1.0f;
    }
    return -tension_scale * min_f32(max_tension, max_f32(min_f32(before, 1.0f) - density, 0.0f));
}

// The weight of a particle of this phase in a liquid's density and its gradients: for solids s of UPP eq. 27.
FUNCTION float density_weight(VIEW_COMMA uint phase)
{
    return has_density(phase) ? 1.0f : PARAMETER(solid_weight);
}

FUNCTION bool solids_weighted(VIEW)
{
    return HAS_FEATURE(SOLIDS) && PARAMETER(has_solids) != 0u && PARAMETER(solid_weight) != 1.0f;
}

// The density that particle j adds at `position`.
FUNCTION float density_by(VIEW_COMMA vec3 position, float smoothing_radius_squared, uint j)
{
    const vec3 offset = v3_sub(position, v3_from_v4(LOAD(predicted, j)));
    const float weight = poly6(v3_dot(offset, offset), smoothing_radius_squared);
    return solids_weighted(VIEW_HERE) ? weight * density_weight(VIEW_HERE_COMMA LOAD(phases, j)) : weight;
}

FUNCTION float density_around(VIEW_COMMA vec3 position, uint count, uint start)
{
    const float smoothing_radius_squared = PARAMETER(smoothing_radius_squared);
    float density = poly6(0.0f, smoothing_radius_squared);
    for (uint k = 0u; k < count; k += 2u) {
        const uvec2 pair = neighbour_pair(VIEW_HERE_COMMA start, k);
        density += density_by(VIEW_HERE_COMMA position, smoothing_radius_squared, pair.x);
        const float second = density_by(VIEW_HERE_COMMA position, smoothing_radius_squared, pair.y);
        density += k + 1u < count ? second : 0.0f;
    }
    return density * PARAMETER(density_scale);
}

// The denominator of PBF eq. 11 without epsilon: sum of w_k |grad_k C_i|^2 over the neighbours k and i itself.
FUNCTION float density_gradients(VIEW_COMMA vec4 particle, uint count, uint start)
{
    const float smoothing_radius = PARAMETER(smoothing_radius);
    vec3 own = v3(0.0f, 0.0f, 0.0f);
    float others = 0.0f;
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        const vec4 other = LOAD(predicted, j);
        const vec3 offset = v3_sub(v3_from_v4(particle), v3_from_v4(other));
        vec3 gradient = v3_scale(offset, spiky_factor(v3_dot(offset, offset), smoothing_radius));
        if (solids_weighted(VIEW_HERE)) {
            gradient = v3_scale(gradient, density_weight(VIEW_HERE_COMMA LOAD(phases, j)));
        }
        own = v3_add(own, gradient);
        others += other.w * v3_dot(gradient, gradient);
    }
    const float scale = PARAMETER(gradient_scale);
    return (others + particle.w * v3_dot(own, own)) * scale * scale;
}

// ---- Liquids and solids of different mass ------------------------------------------------------------------

// The denominator on the rest lattice (UPP eq. 5) is proportional to the inverse mass of the particles that a
// constraint moves. It uses the lightest particle that takes part (the lowest stiffness nearby, DYV eq. 5 and 6):
// corrections are proportional to inverse mass, and this particle would be moved too far otherwise. Particles farther
// away do not matter.
FUNCTION bool masses_mix(VIEW)
{
    return HAS_FEATURE(MIXTURES) && PARAMETER(mixed_masses) != 0u;
}

// The inverse mass of the lightest of a constraint's particles. In the outer half of the squared smoothing radius, the
// influence of a particle falls with distance, so that the result is continuous when particles enter. It is 0 if the
// particle and all its neighbours are pinned.
FUNCTION float lightest_around(VIEW_COMMA vec4 particle, uint count, uint start)
{
    const float scale = 2.0f / PARAMETER(smoothing_radius_squared);
    float lightest = particle.w;
    for (uint k = 0u; k < count; k++) {
        const vec4 other = LOAD(predicted, LOAD(neighbours, neighbour_slot(start, k)));
        const vec3 offset = v3_sub(v3_from_v4(particle), v3_from_v4(other));
        const float share = clamp_f32(2.0f - v3_dot(offset, offset) * scale, 0.0f, 1.0f);
        lightest = max_f32(lightest, particle.w + share * (other.w - particle.w));
    }
    return lightest;
}

// The lambda of a particle's own artificial pressure; where masses mix, times the inverse mass of a pair's lighter one.
FUNCTION float own_pressure(VIEW_COMMA uint phase)
{
    const float pressure = pressure_of(VIEW_HERE_COMMA phase) * PARAMETER(pressure_unit);
    return masses_mix(VIEW_HERE) ? pressure : pressure / PARAMETER(liquid_inverse_mass);
}

// The artificial pressure of a pair: each particle contributes half of its own k; a solid has none.
FUNCTION float mean_pressure(VIEW_COMMA float own, bool solid, uint other_phase)
{
    if (!has_density(other_phase)) {
        return own;
    }
    const float other = own_pressure(VIEW_HERE_COMMA other_phase);
    return solid ? other : 0.5f * (own + other);
}

// The artificial pressure between a particle with its own one and this inverse mass, and particle j.
FUNCTION float pair_pressure(VIEW_COMMA float own, float inverse_mass, bool solid, uint j)
{
    float pressure = own;
    if (liquids_differ(VIEW_HERE)) {
        pressure = mean_pressure(VIEW_HERE_COMMA own, solid, LOAD(phases, j));
    }
    if (masses_mix(VIEW_HERE)) {
        const float lightest = max_f32(inverse_mass, LOAD(positions, j).w);
        pressure = lightest > 0.0f ? pressure / lightest : 0.0f;
    }
    return pressure;
}

// ---- Lambda ------------------------------------------------------------------------------------------------

// Whether the factor from density error to lambda is a particle's own.
FUNCTION bool has_lambda_scales(VIEW)
{
    return PARAMETER(unilateral) == 0u || masses_mix(VIEW_HERE);
}

// The factor from density error to lambda. Neighbourhoods change little within a step, so the denominator is computed
// in the first iteration and kept for the others: half of the work of this kernel.
FUNCTION float density_compliance(VIEW_COMMA uint i, vec4 particle, uint count, uint start)
{
    if (!has_lambda_scales(VIEW_HERE)) {
        return PARAMETER(rest_lambda) / particle.w;
    }
    if (PARAMETER(iteration) != 0u) {
        return LOAD(lambda_scales, i);
    }
    const float lightest = masses_mix(VIEW_HERE) ? lightest_around(VIEW_HERE_COMMA particle, count, start) : particle.w;
    float compliance = lightest > 0.0f ? PARAMETER(rest_lambda) / lightest : 0.0f;
    if (PARAMETER(unilateral) == 0u) {
        const float denominator =
            density_gradients(VIEW_HERE_COMMA particle, count, start) + PARAMETER(relaxation) * lightest;
        // Without a gradient (coincident or pinned neighbours only) there is no direction of correction.
        compliance = denominator > 0.0f ? 1.0f / denominator : 0.0f;
    }
    STORE(lambda_scales, i, compliance);
    return compliance;
}

// ---- Liquid without pressure -------------------------------------------------------------------------------

// In the unilateral mode, lambda is 0 for liquid in the air. If it is 0 for a particle and all its neighbours,
// density_delta has nothing to do. density_lambda stores for each chunk of particles the last iteration in which one of
// them had a lambda. The memory holds indices of `order` before, which are smaller than these marks.
#define PRESSURE_CHUNK 32u

FUNCTION uint pressure_mark(VIEW)
{
    return NONE - PARAMETER(iteration);
}

// Whether lambda is 0 for all possible neighbours of particle i: those in the runs of its cell.
FUNCTION bool is_without_pressure(VIEW_COMMA uint i)
{
    const uint note = pressure_mark(VIEW_HERE);
    if (PARAMETER(marks_pressure) == 0u || LOAD(pressure_notes, i / PRESSURE_CHUNK) == note) {
        return false;
    }
    const uint cell = LOAD(cell_scan, i + 1u) - 1u;
    const uint runs = LOAD(cell_run_counts, cell);
    bool pressed = false;
    for (uint r = 0u; r < runs && !pressed; r++) {
        const uvec2 run = LOAD(cell_runs, cell * CELL_RUN_LIMIT + r);
        for (uint chunk = run.x / PRESSURE_CHUNK; chunk * PRESSURE_CHUNK < run.y && !pressed; chunk++) {
            pressed = LOAD(pressure_notes, chunk) == note;
        }
    }
    return !pressed;
}

KERNEL(density_lambda)
{
    const vec4 particle = LOAD(predicted, i);
    const uint count = LOAD(neighbour_counts, i);
    const uint start = LOAD(neighbour_starts, i);

    const float density = density_around(VIEW_HERE_COMMA v3_from_v4(particle), count, start);
    float lambda = 0.0f;
    const uint phase = LOAD(phases, i);
    if (has_density(phase)) {
        const float error =
            density_error(density, LOAD(velocities, i).w, tension_of(VIEW_HERE_COMMA phase), PARAMETER(tension_scale));
        lambda = -error * density_compliance(VIEW_HERE_COMMA i, particle, count, start);
    }
    STORE(densities, i, density);
    STORE(position_estimates, i, v4_from_v3(v3_from_v4(particle), lambda));
    if (PARAMETER(marks_pressure) != 0u && lambda != 0.0f) {
        STORE(pressure_notes, i / PRESSURE_CHUNK, pressure_mark(VIEW_HERE)); // the same from all of a chunk
    }
}

// PBF eq. 13, unscaled. The ratio of Poly6 values needs no norm.
FUNCTION float artificial_pressure(VIEW_COMMA float squared_distance)
{
    const float ratio = poly6(squared_distance, PARAMETER(smoothing_radius_squared)) * PARAMETER(pressure_reference);
    float power = ratio;
    for (uint n = 1u; n < PARAMETER(pressure_power); n++) {
        power *= ratio;
    }
    return power;
}

// The contribution of particle j to the correction of a particle with this position estimate: a term of the sum of PBF
// eq. 14, without common factors.
FUNCTION vec3 density_correction_by(VIEW_COMMA uint i, vec4 estimate, float inverse_mass, bool solid,
                                    float smoothing_radius, float pressure, uint j)
{
    if (solid && !has_density(LOAD(phases, j))) {
        return v3(0.0f, 0.0f, 0.0f); // two solids have no pressure
    }
    const vec4 other = LOAD(position_estimates, j);
    const vec3 offset = v3_sub(v3_from_v4(estimate), v3_from_v4(other));
    const float squared_distance = v3_dot(offset, offset);
    float lambda = estimate.w + other.w;
    float repulsion = 0.0f;
    if (PARAMETER(has_pressure) != 0u) {
        const float between = pair_pressure(VIEW_HERE_COMMA pressure, inverse_mass, solid, j);
        repulsion = between * artificial_pressure(VIEW_HERE_COMMA squared_distance);
        lambda -= repulsion;
    }
    float weight = 1.0f;
    if (solids_weighted(VIEW_HERE)) { // of two particles one at most is solid
        weight = solid ? PARAMETER(solid_weight) : density_weight(VIEW_HERE_COMMA LOAD(phases, j));
        lambda *= weight;
    }
    const float factor = spiky_factor(squared_distance, smoothing_radius);
    if (pressure_is_isotropic(VIEW_HERE)) {
        const vec3 along = isotropic_correction(VIEW_HERE_COMMA i, j, offset, estimate.w, other.w, repulsion);
        return v3_scale(along, weight * factor);
    }
    return v3_scale(offset, lambda * factor);
}

// PBF eq. 14. Reads the position estimates, writes the predicted positions: a Jacobi iteration without a second pass.
KERNEL(density_delta)
{
    if (is_without_pressure(VIEW_HERE_COMMA i)) {
        return; // its delta would be 0
    }
    const vec4 particle = LOAD(predicted, i);
    const vec4 estimate = LOAD(position_estimates, i);
    const uint count = LOAD(neighbour_counts, i);
    const uint start = LOAD(neighbour_starts, i);
    const uint phase = LOAD(phases, i);
    const bool solid = HAS_FEATURE(SOLIDS) && !has_density(phase);

    const float smoothing_radius = PARAMETER(smoothing_radius);
    const float pressure = own_pressure(VIEW_HERE_COMMA phase);

    vec3 delta = v3(0.0f, 0.0f, 0.0f);
    for (uint k = 0u; k < count; k += 2u) {
        const uvec2 pair = neighbour_pair(VIEW_HERE_COMMA start, k);
        delta = v3_add(delta, density_correction_by(VIEW_HERE_COMMA i, estimate, particle.w, solid, smoothing_radius,
                                                    pressure, pair.x));
        const vec3 second =
            density_correction_by(VIEW_HERE_COMMA i, estimate, particle.w, solid, smoothing_radius, pressure, pair.y);
        delta = v3_add(delta, k + 1u < count ? second : v3(0.0f, 0.0f, 0.0f));
    }
    float scale = PARAMETER(gradient_scale) * PARAMETER(over_relaxation) * particle.w;
    if (PARAMETER(averaging) != 0u) {
        scale = scale / F32(count + 1u); // its own constraint and one for each neighbour
    }
    delta = v3_limit(v3_mul(v3_scale(delta, scale), PARAMETER(motion_mask)), PARAMETER(max_correction));
    if (solid && rigid_cluster_of(VIEW_HERE_COMMA i) != NONE) {
        add_correction(VIEW_HERE_COMMA i, delta, 0.0f);
        return;
    }
    STORE(predicted, i, v4_from_v3(v3_add(v3_from_v4(particle), delta), particle.w));
}

// For statistics: the density at the positions the step ended with.
KERNEL(measure_density)
{
    const vec3 position = v3_from_v4(LOAD(predicted, i));
    STORE(densities, i, density_around(VIEW_HERE_COMMA position, LOAD(neighbour_counts, i), LOAD(neighbour_starts, i)));
}

#endif
