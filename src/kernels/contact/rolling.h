// SPDX-License-Identifier: MIT
// rolling.h - grains that roll: a spin a grain, kept in the channel "angular_velocity", where some material's rolling
// friction is below 1. A grain has the inertia 2/5 m R^2 of a ball.
//
// Friction acts where surfaces touch, and there a ball gives way by its turning, too: of what it slips, 2/7 is taken
// back by moving and 5/7 by turning. The solver moves; when velocities are known, spins follow.
#ifndef MOTE_KERNELS_ROLLING_H
#define MOTE_KERNELS_ROLLING_H

#include "data.h"
#include "contact/coulomb.h"
#include "contact/material.h"

#define ROLLING_SHARE (2.0f / 7.0f)

// Whether a particle has a spin of its own.
FUNCTION bool can_roll(VIEW_COMMA uint i)
{
    if (!HAS_FEATURE(SOLIDS) || PARAMETER(rolling) == 0u || !has_trait(LOAD(phases, i), TRAIT_ROLLS)) {
        return false;
    }
    return material_of(VIEW_HERE_COMMA LOAD(phases, i)).rolling_rate < ROLLING_NEVER;
}

// Velocity of a grain's surface at a contact with normal `normal` (towards the grain), `radius` from its centre, by its
// spin.
FUNCTION vec3 rolling_velocity(VIEW_COMMA uint i, vec3 normal, float radius)
{
    return v3_scale(v3_cross(normal, v3_from_v4(LOAD(angular_velocities, i))), radius);
}

// The share of slipping that moving takes back; `turns` where a ball turns with it.
FUNCTION float rolling_friction_share(Material pair, float slipping, float depth, bool turns)
{
    if (!turns) {
        return friction_share(pair, slipping, depth);
    }
    return ROLLING_SHARE * friction_share(pair, ROLLING_SHARE * slipping, depth);
}

#endif
