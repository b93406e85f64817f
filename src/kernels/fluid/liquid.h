// SPDX-License-Identifier: MIT
// liquid.h - parameters that can differ between liquids: viscosity, vorticity confinement, tension, artificial
// pressure.
//
// A material can override the values of the settings. If no liquids differ, PARAMETER(liquids_differ) is 0 and kernels
// read the parameters of the step. The value of a pair must be symmetric, or momentum would not be conserved:
//   viscosity            the smaller of the two (DYV eq. 8)
//   artificial pressure  the mean: each particle's own constraint contributes half of its own k
//   tension              the value of the constraint's own particle; lambda_i + lambda_j is always symmetric
// A solid has none of these: between a solid and a liquid, the value of the liquid is used.
#ifndef MOTE_KERNELS_LIQUID_H
#define MOTE_KERNELS_LIQUID_H

#include "data.h"
#include "contact/material.h"

FUNCTION bool liquids_differ(VIEW)
{
    return HAS_FEATURE(LIQUIDS) && PARAMETER(liquids_differ) != 0u;
}

// The row of `liquids` for a phase: viscosity, vorticity, tension, artificial pressure; negative: use the parameters.
FUNCTION vec4 liquid_of(VIEW_COMMA uint phase)
{
    return LOAD(liquids, material_row(VIEW_HERE_COMMA phase));
}

// c of PBF eq. 17.
FUNCTION float viscosity_of(VIEW_COMMA uint phase)
{
    if (!liquids_differ(VIEW_HERE)) {
        return PARAMETER(viscosity);
    }
    const float own = liquid_of(VIEW_HERE_COMMA phase).x;
    return own >= 0.0f ? own : PARAMETER(viscosity);
}

// The viscosity of a pair over `own`, the particle's own, where liquids differ; for a solid particle `own` counts as 1.
FUNCTION float viscosity_share(VIEW_COMMA float own, bool solid, uint other_phase)
{
    if (!has_density(other_phase)) {
        return 1.0f;
    }
    const float other = viscosity_of(VIEW_HERE_COMMA other_phase);
    if (solid) {
        return other;
    }
    return other < own ? other / own : 1.0f;
}

// Epsilon of PBF eq. 16 times dt.
FUNCTION float confinement_of(VIEW_COMMA uint phase)
{
    if (!liquids_differ(VIEW_HERE)) {
        return PARAMETER(confinement);
    }
    const float own = liquid_of(VIEW_HERE_COMMA phase).y;
    return own >= 0.0f ? own * PARAMETER(spacing) * PARAMETER(time_step) : PARAMETER(confinement);
}

// The largest rarefaction that a particle's density constraint resists.
FUNCTION float tension_of(VIEW_COMMA uint phase)
{
    if (!liquids_differ(VIEW_HERE) || PARAMETER(unilateral) != 0u) {
        return PARAMETER(max_tension);
    }
    if (is_gas(phase)) {
        return 0.0f; // unilateral
    }
    const float own = liquid_of(VIEW_HERE_COMMA phase).z;
    return own >= 0.0f ? own * PARAMETER(step_scale) : PARAMETER(max_tension);
}

// k of PBF eq. 13, of a step.
FUNCTION float pressure_of(VIEW_COMMA uint phase)
{
    if (!liquids_differ(VIEW_HERE)) {
        return PARAMETER(artificial_pressure);
    }
    const float own = liquid_of(VIEW_HERE_COMMA phase).w;
    return own >= 0.0f ? own * PARAMETER(step_scale) : PARAMETER(artificial_pressure);
}

#endif
