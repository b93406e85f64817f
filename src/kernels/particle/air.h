// SPDX-License-Identifier: MIT
// air.h - the velocity of the air around the particles: wind, and gusts that are eddies of several sizes.
//
//     u(p, t) = wind + gust sum_k a_k s(b_k . (p - wind t) / size + t gust / size + c_k)
//         + Omega x (p - c) / (1 + r^2 / R^2)
//
// with a_k across b_k, so that each term, and their sum, has no divergence: eddies, no sources. s is a wave of period 1
// made of parabolas, at most 6 % from a sine, and with the same bits on every backend, which a sine has not. The last
// term is a vortex: within its radius R, of which r is the distance from the axis, the air turns like a solid.
#ifndef MOTE_KERNELS_AIR_H
#define MOTE_KERNELS_AIR_H

#include "data.h"

#define AIR_WAVES 8u

FUNCTION float air_wave(float turns)
{
    const float t = turns - floorf(turns) - 0.5f; // -0.5 to 0.5
    return 16.0f * t * (0.5f - fabsf(t));
}

FUNCTION vec3 air_direction(uint k)
{
    const uint hash = (k + 1u) * 2654435761u;
    const float x = F32(hash & 1023u) / 511.5f - 1.0f;
    const float y = F32((hash >> 10) & 1023u) / 511.5f - 1.0f;
    const float z = F32((hash >> 20) & 1023u) / 511.5f - 1.0f;
    const vec3 v = v3(x, 0.5f * y, z); // more across than up and down
    return v3_scale(v, 1.0f / max_f32(v3_length(v), 0.1f));
}

FUNCTION vec3 air_velocity(VIEW_COMMA vec3 p)
{
    const float gust = PARAMETER(air_gust);
    vec3 u = PARAMETER(air_wind);
    if (gust > 0.0f) {
        const vec3 q = v3_scale(v3_sub(p, PARAMETER(air_carried)), 1.0f / PARAMETER(air_eddy));
        float size = 1.0f; // of this wave's eddies
        for (uint k = 0u; k < AIR_WAVES; k++) {
            const vec3 along = air_direction(k);
            const vec3 across = v3_cross(along, air_direction(k + AIR_WAVES));
            const vec3 amplitude = v3_scale(across, 0.7f * size / max_f32(v3_length(across), 0.1f));
            const float phase = v3_dot(along, q) / size + PARAMETER(air_phase) / size + 0.37f * F32(k);
            u = v3_add_scaled(u, amplitude, gust * air_wave(phase));
            size *= (k & 1u) == 0u ? 1.0f : 0.6f;
        }
    }
    const float size = PARAMETER(air_vortex_size);
    if (size > 0.0f) {
        const vec3 around = v3_cross(PARAMETER(air_vortex), v3_sub(p, PARAMETER(air_vortex_centre)));
        const float squared = v3_dot(around, around) / v3_dot(PARAMETER(air_vortex), PARAMETER(air_vortex));
        u = v3_add_scaled(u, around, 1.0f / (1.0f + squared * size));
    }
    return u;
}

// exp(-x) for x not below 0, to a few units of the last place, and with the same bits on every backend: the series of
// exp(-x/64), squared six times.
FUNCTION float decay_by(float x)
{
    const float y = min_f32(x, 40.0f) * -0.015625f;
    float e = 1.0f + y * (1.0f + y * (0.5f + y * (0.16666667f + y * (0.041666668f + y * 0.0083333338f))));
    for (uint n = 0u; n < 6u; n++) {
        e *= e;
    }
    return e;
}

// A temperature above the air's a step later: it falls to its surroundings, and faster where air mixes in, which is as
// `open` as a surface is.
FUNCTION float cooled(VIEW_COMMA float temperature, float open)
{
    return temperature * PARAMETER(gas_cooling) * decay_by(PARAMETER(gas_mixing) * open * PARAMETER(time_step));
}

#endif
