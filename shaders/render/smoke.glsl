// SPDX-License-Identifier: MIT
// smoke.glsl - what other passes see of smoke: the sun's light behind it, and the light and transmittance of the smoke
// between the eye and a depth.
#ifndef SMOKE_GLSL
#define SMOKE_GLSL
#include "passes/smoke.h"

float smoke_word(uint word)
{
    return uintBitsToFloat(frame.smoke_light.at[word]);
}

// Place in the sun's frame: across its light twice, and along it.
vec3 smoke_sun_place(vec3 point)
{
    const vec3 sun = frame.sun_direction.xyz;
    const vec3 side = abs(sun.y) > 0.9999 ? vec3(1.0, 0.0, 0.0) : normalize(vec3(sun.z, 0.0, -sun.x));
    return vec3(dot(point, side), dot(point, cross(sun, side)), -dot(point, sun));
}

vec3 smoke_sun_direction(vec3 place)
{
    const vec3 sun = frame.sun_direction.xyz;
    const vec3 side = abs(sun.y) > 0.9999 ? vec3(1.0, 0.0, 0.0) : normalize(vec3(sun.z, 0.0, -sun.x));
    return place.x * side + place.y * cross(sun, side) - place.z * sun;
}

// Cells of the light volume from its corner.
vec3 smoke_light_place(vec3 point)
{
    const vec3 origin = vec3(smoke_word(SMOKE_ORIGIN), smoke_word(SMOKE_ORIGIN + 1u), smoke_word(SMOKE_ORIGIN + 2u));
    const float across = smoke_word(SMOKE_CELL), along = smoke_word(SMOKE_CELL + 1u);
    return (smoke_sun_place(point) - origin) / vec3(across, across, along);
}

// Of a column, at `layer` cells from where the light comes in; 0 there and before.
float smoke_column_tau(ivec2 column, float layer)
{
    const ivec2 c = clamp(column, ivec2(0), ivec2(SMOKE_LIGHT_SIDE - 1));
    const float z = clamp(layer, 0.0, float(SMOKE_LIGHT_DEEP));
    const int k = min(int(z), SMOKE_LIGHT_DEEP - 1); // between the near side and the far side of this cell
    const uint at = SMOKE_TAU + uint((k * SMOKE_LIGHT_SIDE + c.y) * SMOKE_LIGHT_SIDE + c.x);
    const uint before = k > 0 ? at - uint(SMOKE_LIGHT_SIDE * SMOKE_LIGHT_SIDE) : at;
    const float near = k > 0 ? smoke_word(before) : 0.0;
    return mix(near, smoke_word(at), z - float(k));
}

// Metres of smoke before a place, between the first that the sun meets and the last, or the place: means of four texels.
float smoke_map_metres(vec3 place)
{
    const float along = smoke_word(SMOKE_CELL + 1u);
    const vec2 at = place.xy * (float(SMOKE_MAP_SIDE) / float(SMOKE_LIGHT_SIDE)) - 0.5, low = floor(at), part = at - low;
    float metres = 0.0;
    for (int k = 0; k < 4; k++) {
        const ivec2 offset = ivec2(k & 1, k >> 1), t = clamp(ivec2(low) + offset, ivec2(0), ivec2(SMOKE_MAP_SIDE - 1));
        const uint word = SMOKE_TAU + uint(t.y * SMOKE_MAP_SIDE + t.x);
        const uint first = frame.smoke_light.at[word], last = frame.smoke_light.at[word + uint(SMOKE_MAP_SIDE * SMOKE_MAP_SIDE)];
        const float end = min(place.z * along, uintBitsToFloat(last));
        const vec2 w = mix(1.0 - part, part, vec2(offset));
        metres += w.x * w.y * (last != 0u ? max(end - uintBitsToFloat(~first), 0.0) : 0.0);
    }
    return metres;
}

// The sun's optical depth before a point.
float smoke_tau(vec3 point)
{
    const vec3 place = smoke_light_place(point);
    const vec2 low = floor(place.xy - 0.5), part = place.xy - 0.5 - low;
    float tau = 0.0; // the border is empty (smoke_light.comp)
    const bool inside = all(greaterThan(place.xy, vec2(0.0))) && all(lessThan(place.xy, vec2(SMOKE_LIGHT_SIDE)));
    // Software drivers skip loops, not branches.
    const bool map = frame.smoke_mode == SMOKE_MODE_MAP;
    for (uint k = inside && map ? 1u : 0u; k > 0u; k--) {
        tau = frame.smoke_extinction * smoke_map_metres(place);
    }
    for (uint k = inside && !map && place.z > 0.0 ? 1u : 0u; k > 0u; k--) {
        const ivec2 c = ivec2(low);
        const float a = smoke_column_tau(c, place.z), b = smoke_column_tau(c + ivec2(1, 0), place.z);
        const float d = smoke_column_tau(c + ivec2(0, 1), place.z), e = smoke_column_tau(c + ivec2(1, 1), place.z);
        tau = mix(mix(a, b, part.x), mix(d, e, part.x), part.y);
    }
    return tau;
}

// Share of the sun's light that smoke leaves.
float smoke_sun(vec3 point)
{
    float share = 1.0;
    for (uint k = frame.has_smoke; k > 0u; k--) {
        share = exp(-smoke_tau(point));
    }
    return share;
}

// Irradiance of fire on a surface: of each of its parts as a ball that glows evenly, without shadows.
vec3 fire_irradiance(vec3 point, vec3 normal)
{
    vec3 sum = vec3(0.0);
    for (uint k = frame.has_smoke != 0u && frame.smoke_light.at[SMOKE_HOT] != 0u ? 0u : SMOKE_LAMPS; k < SMOKE_LAMPS; k++) {
        const uint at = SMOKE_LAMP + 8u * k;
        const vec3 away = vec3(smoke_word(at), smoke_word(at + 1u), smoke_word(at + 2u)) - point;
        const float squared = dot(away, away) + 1e-6;
        const float facing = max(dot(normal, away) * inversesqrt(squared), 0.0);
        sum += vec3(smoke_word(at + 4u), smoke_word(at + 5u), smoke_word(at + 6u)) * (facing / max(squared, smoke_word(at + 3u)));
    }
    return sum;
}

#endif
