// SPDX-License-Identifier: MIT
// isotropy.h - pressure without shear stress: what a particle's pressure pushes its neighbours by is turned and
// stretched so that the stress that it makes is the same in all directions.
//
// The gradients of PBF eq. 8 give the constraint of particle i the stress lambda_i M_i, where
//
//     M_i = sum_j f_ij x_ij x_ij^T,  grad W_ij = f_ij x_ij
//
// With few neighbours M_i is not a multiple of the unit matrix: it depends on how they lie, so that a liquid at rest
// resists a shear, as a solid does, and a flow loses energy as by dry friction. With L_i grad W_ij in place of
// grad W_ij and L_i = (tr M_i / d) M_i^-1, in d dimensions, the stress is lambda_i (tr M_i / d) times the unit matrix
// (Bonet and Lok 1999 correct the gradient of SPH by the same matrix). Both ends of a pair get the same vector, so
// momentum is conserved; so is angular momentum, as the torque of the constraint, sum_j x_ij x L_i grad W_ij, is the
// antisymmetric part of L_i M_i.
#ifndef MOTE_KERNELS_ISOTROPY_H
#define MOTE_KERNELS_ISOTROPY_H

#include "data.h"
#include "rigid/bodies.h"

FUNCTION bool pressure_is_isotropic(VIEW)
{
    return HAS_FEATURE(ISOTROPY) && PARAMETER(isotropy) > 0.0f;
}

// L of particle j times a vector.
FUNCTION vec3 isotropic_gradient(VIEW_COMMA uint j, vec3 offset)
{
    return symmetric_times(v3_from_v4(LOAD(isotropy_diagonals, j)), v3_from_v4(LOAD(isotropy_offdiagonals, j)), offset);
}

// The correction of particle i by a pair with j at this offset, without the kernel's factor: `here` and `other` are
// their lambdas, `repulsion` the artificial pressure, which acts along the offset.
FUNCTION vec3 isotropic_correction(VIEW_COMMA uint i, uint j, vec3 offset, float here, float other, float repulsion)
{
    const vec3 own = v3_scale(isotropic_gradient(VIEW_HERE_COMMA i, offset), here);
    const vec3 of_both = v3_add_scaled(own, isotropic_gradient(VIEW_HERE_COMMA j, offset), other);
    return v3_add_scaled(of_both, offset, -repulsion);
}

#endif
