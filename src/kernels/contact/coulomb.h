// SPDX-License-Identifier: MIT
// coulomb.h - the contact law, once: no overlap, Coulomb's friction and a limited adhesion, at the position level
// (UPP section 6.1).
//
// A contact of depth d (m) along the normal n takes the overlap back, shared by inverse effective masses. Friction then
// takes back what it can of the sliding x_t, the part of the relative motion along the surface (UPP eq. 23 and 24):
//
//     all of x_t,                          if |x_t| < mu_s d   (static)
//     x_t min(mu_k d / |x_t|, 1),          otherwise           (kinetic)
//
// "Load" is the normal's side of that comparison: the depth where displacements are compared, as in UPP, or the
// normal momentum of the step (kg m) where momenta are, for bodies of which many points touch. For a single particle
// the two are the same law, as one inverse mass multiplies both sides.
#ifndef MOTE_KERNELS_COULOMB_H
#define MOTE_KERNELS_COULOMB_H

#include "data.h"

#define NO_SLIDING 1e-12f // m: shorter slides have no direction

// ---- The normal --------------------------------------------------------------------------------------------

// What a contact moves one of its two sides by. `share` is that side's inverse effective mass over the contact's
// (UPP eq. 18).
FUNCTION vec3 normal_correction(vec3 normal, float depth, float share)
{
    return v3_scale(normal, depth * share);
}

// The normal momentum of the step, after a correction by `depth`: contacts push and never pull. `before` is what they
// have pushed with so far.
FUNCTION float normal_load(float before, float depth, float inverse_effective_mass)
{
    return max_f32(before + depth / inverse_effective_mass, 0.0f);
}

// How far an adhesion (m/s^2) draws two surfaces together in a step, not beyond contact (m).
FUNCTION float adhesion_limit(float adhesion, float time_step, float gap)
{
    return min_f32(adhesion * time_step * time_step, gap);
}

// ---- Friction ----------------------------------------------------------------------------------------------

FUNCTION bool has_friction(Material pair)
{
    return pair.static_friction > 0.0f || pair.kinetic_friction > 0.0f;
}

// The part of a motion along the surface (UPP eq. 23).
FUNCTION vec3 tangential(vec3 motion, vec3 normal)
{
    return v3_add_scaled(motion, normal, -v3_dot(motion, normal));
}

// The share of a sliding that a friction of this coefficient takes back at most.
FUNCTION float limited_share(float coefficient, float sliding, float load)
{
    return min_f32(coefficient * load / max_f32(sliding, 1e-30f), 1.0f);
}

// The share of a sliding that friction takes back: all of it below the static limit, else what the kinetic one allows
// (UPP eq. 24).
FUNCTION float friction_share(Material pair, float sliding, float load)
{
    if (sliding < pair.static_friction * load) {
        return 1.0f;
    }
    return limited_share(pair.kinetic_friction, sliding, load);
}

// The same law for the size of a momentum that would stop a sliding.
FUNCTION float limited_friction(Material pair, float momentum, float load)
{
    if (momentum > pair.static_friction * load) {
        return min_f32(momentum, pair.kinetic_friction * load);
    }
    return momentum;
}

// ---- Friction of velocities --------------------------------------------------------------------------------

// The share of a sliding velocity that friction takes, where it acts on velocities after the solve (Mueller et al.
// 2007): it knows no load, and cannot hold a pile.
FUNCTION float velocity_friction_share(Material pair)
{
    return min_f32(pair.kinetic_friction, 1.0f);
}

#endif
