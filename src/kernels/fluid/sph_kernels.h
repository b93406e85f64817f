// SPDX-License-Identifier: MIT
// sph_kernels.h - the smoothing kernels of SPH (Mueller 2003), without their norms: poly6_scale and spiky_scale, or
// the same divided by the rest density, are applied once to a sum.
#ifndef MOTE_KERNELS_SPH_KERNELS_H
#define MOTE_KERNELS_SPH_KERNELS_H

#include "data.h"

// Poly6: (h^2 - r^2)^3 within the smoothing radius.
FUNCTION float poly6(float squared_distance, float smoothing_radius_squared)
{
    const float t = max_f32(smoothing_radius_squared - squared_distance, 0.0f);
    return t * t * t;
}

// Spiky's gradient over the offset: (h - r)^2 / r within the smoothing radius. The tiny addition makes it finite at r =
// 0, where the offset is zero and so is the gradient.
FUNCTION float spiky_factor(float squared_distance, float smoothing_radius)
{
    const float distance = sqrtf(squared_distance + 1e-24f);
    const float t = max_f32(smoothing_radius - distance, 0.0f);
    return t * t / distance;
}

#endif
