// SPDX-License-Identifier: MIT
// avx2_pressure.h - the artificial pressure of PBF eq. 13, eight particles at a time.
#ifndef MOTE_AVX2_PRESSURE_H
#define MOTE_AVX2_PRESSURE_H

#include "cpu/avx2_kernels.h"

#include <math.h>

// The artificial pressure of PBF eq. 13, made ready once for all particles. Poly6 over its value at dq is the cube of
// (h^2 - r^2) / (h^2 - dq^2). That is kept from falling below `least`, whose powers are just no denormal numbers yet:
// close to the smoothing radius, where the neighbours of a lattice are, those made the loop take 1.4 times as long.
typedef struct Pressure {
    __m256 slope, at_zero, least;
} Pressure;

static inline Pressure make_pressure(const SolverData *view)
{
    const float reference = cbrtf(view->pressure_reference);
    return (Pressure){_mm256_set1_ps(reference), _mm256_set1_ps(reference * view->smoothing_radius_squared),
                      _mm256_set1_ps(powf(1e-37f, 1.0f / (3.0f * (float)view->pressure_power)))};
}

// The share of the artificial pressure at eight squared distances. Beyond the smoothing radius it is no number to use.
static inline __attribute__((always_inline)) __m256 repulsion_x8(Pressure pressure, __m256 squared, uint power_of)
{
    const __m256 root = _mm256_max_ps(_mm256_fnmadd_ps(squared, pressure.slope, pressure.at_zero), pressure.least);
    const __m256 ratio = _mm256_mul_ps(_mm256_mul_ps(root, root), root);
    __m256 power = ratio;
    if (power_of == 4) {
        power = _mm256_mul_ps(ratio, ratio);
        return _mm256_mul_ps(power, power);
    }
    for (uint n = 1; n < power_of; n++) {
        power = _mm256_mul_ps(power, ratio);
    }
    return power;
}

#endif
