// SPDX-License-Identifier: MIT
// environment.comp - the sky as a map, and the light that comes from it. In steps, since what lies below the horizon is
// lit by what is above it:
//   SKY     the map: computed, one colour, or a picture
//   ROWS    harmonics of each row of the map, from the top to rows
//   TOTAL   their sum, as the polynomial that sky_irradiance() takes
//   GROUND  the lit ground below the horizon
// Sums go in a fixed order: the same light every time.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "sky_picture.glsl"
#include "passes/environment.h"
PASS_CONSTANTS(EnvironmentConstants)
PUSH_CONSTANTS(EnvironmentPush)
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint STEP = 0u;
const uint SKY = 0u, ROWS = 1u, TOTAL = 2u, GROUND = 3u;
const float PI = 3.14159265;
const float BRIGHTEST = 64.0; // of a picture: what is brighter is the sun, which the scene has as a light of its own

ivec2 map_size()
{
    return imageSize(environment_store);
}

vec3 texel_direction(vec2 texel)
{
    const vec2 at = texel / vec2(map_size());
    const float around = 2.0 * PI * (0.5 - at.x), down = PI * at.y;
    return vec3(sin(down) * sin(around), cos(down), sin(down) * cos(around));
}

// ---- A clear sky ----

// How many times as much air a ray crosses as one that goes straight up. Low in the sky fewer than in a flat slab, for the
// air is round: ten times at the horizon leave it a pale blue, where forty are white.
float air_mass(float up)
{
    return 1.0 / (max(up, 0.0) + 0.1);
}

// Henyey and Greenstein's phase function with mean 1 over the sphere.
float forward_scatter(float cosine, float g)
{
    return (1.0 - g * g) / pow(1.0 + g * g - 2.0 * g * cosine, 1.5);
}

// Light scattered once on its way through a slab of air (Rayleigh) and haze (Mie): with optical depths t for a ray
// straight up, 1 - exp(-t m) of what is scattered towards the eye is seen along m air masses: most of it near the
// horizon, which is pale for that reason. A low sun's light has lost blue before; high up it has lost little, and what it lost
// lights the sky from elsewhere.
vec3 clear_sky(vec3 direction)
{
    const float haze = pass.sky_color.w;
    const vec3 air = vec3(0.075, 0.145, 0.33); // Rayleigh's at sea level, and some for light scattered twice, less blue
    const float dust = 0.012 + 0.08 * haze + 0.9 * haze * haze * haze;
    const float brightest = max(max(frame.sun_radiance.r, frame.sun_radiance.g), max(frame.sun_radiance.b, 1e-6));
    const float cosine = dot(direction, frame.sun_direction.xyz), sun_up = frame.sun_direction.y;

    const float day = smoothstep(-0.3, 0.15, sun_up); // dusk goes on for a while after sunset
    const vec3 lost = air * max(air_mass(sun_up) - 1.0, 0.0);
    const vec3 sunlight = exp(-0.15 * lost);
    const vec3 glow = exp(-0.4 * lost) * mix(vec3(1.0), frame.sun_radiance.rgb / brightest, 0.7);
    const float rayleigh = 0.6 + 0.55 * cosine * cosine; // between its phase function and no preference at all
    const float mie = 0.2 * forward_scatter(cosine, 0.76);
    const vec3 towards_eye = (air * rayleigh * sunlight + dust * (0.75 * sunlight + mie * glow)) / (air + dust);
    const vec3 seen = 1.0 - exp(-(air + dust) * air_mass(direction.y));
    const float again = 0.6 * pow(1.0 - clamp(direction.y, 0.0, 1.0), 6.0); // scattered more than once: where air is thick
    return frame.sky_brightness * day * towards_eye * seen * (1.0 + again);
}

// ---- A picture ----

// The mean of the picture's pixels under a texel of the map; between the pixels of a smaller picture.
vec3 picture_sky(vec2 texel)
{
    const vec2 size = vec2(map_size()), ratio = vec2(frame.sky_width, frame.sky_height) / size;
    if (all(lessThanEqual(ratio, vec2(1.0)))) {
        return min(sky_picture(texel / size), vec3(BRIGHTEST));
    }
    const ivec2 count = clamp(ivec2(ceil(ratio)), ivec2(1), ivec2(8));
    const vec2 turn = vec2(frame.sky_turn / (2.0 * PI) * size.x, 0.0);
    vec3 sum = vec3(0.0);
    for (int y = 0; y < count.y; y++) {
        for (int x = 0; x < count.x; x++) {
            const vec2 at = texel + turn - 0.5 + (vec2(x, y) + 0.5) / vec2(count);
            sum += min(frame.sky_brightness * sky_picture_pixel(ivec2(floor(at * ratio))), vec3(BRIGHTEST));
        }
    }
    return sum / float(count.x * count.y);
}

vec3 sky_at(vec2 texel)
{
    const vec3 direction = texel_direction(texel);
    if (frame.sky_kind == 1u) { // MOTE_SKY_IMAGE
        return picture_sky(texel);
    }
    if (frame.sky_kind == 2u) { // MOTE_SKY_COLOR
        return pass.sky_color.rgb;
    }
    const float below = max(-direction.y, 0.0); // haze that gets darker, where no ground is drawn
    const vec3 above = normalize(vec3(direction.x, max(direction.y, 0.006), direction.z));
    return clear_sky(above) * (1.0 - 0.6 * smoothstep(0.0, 1.0, below));
}

// ---- Harmonics ----

// Sums for each row: of radiance times a basis polynomial times solid angle.
void sum_row(uint row)
{
    vec3 sums[SKY_HARMONICS];
    for (uint k = 0u; k < uint(SKY_HARMONICS); k++) {
        sums[k] = vec3(0.0);
    }
    const ivec2 size = map_size();
    for (int x = 0; row < push.rows && x < size.x; x++) {
        const vec3 n = texel_direction(vec2(x, row) + 0.5);
        const vec3 light = imageLoad(environment_store, ivec2(x, row)).rgb;
        sums[0] += light;
        sums[1] += light * n.x;
        sums[2] += light * n.y;
        sums[3] += light * n.z;
        sums[4] += light * (n.x * n.y);
        sums[5] += light * (n.y * n.z);
        sums[6] += light * (n.z * n.x);
        sums[7] += light * (3.0 * n.y * n.y - 1.0);
        sums[8] += light * (n.x * n.x - n.z * n.z);
    }
    const float top = PI * float(row) / float(size.y), bottom = PI * float(row + 1u) / float(size.y);
    const float solid_angle = 2.0 * PI / float(size.x) * (cos(top) - cos(bottom));
    for (uint k = 0u; k < uint(SKY_HARMONICS); k++) {
        pass.sums.at[uint(SKY_HARMONICS) * (row + 1u) + k] = vec4(sums[k] * solid_angle, 0.0);
    }
}

// Each harmonic's normalisation squared times pi, 2 pi / 3 or pi / 4 for degrees 0, 1 and 2: what a cosine lobe keeps
// of it (Ramamoorthi and Hanrahan 2001).
void sum_rows(uint k)
{
    vec3 sum = vec3(0.0);
    for (uint row = 0u; row < uint(map_size().y); row++) {
        sum += pass.sums.at[uint(SKY_HARMONICS) * (row + 1u) + k].rgb;
    }
    const float weight = k == 0u ? 0.25 : k < 4u ? 0.5 : k < 7u ? 15.0 / 16.0 : k == 7u ? 5.0 / 64.0 : 15.0 / 64.0;
    pass.sums.at[k] = vec4(sum * weight, 0.0);
}

// ---- The ground ----

vec3 ground_at(ivec2 texel)
{
    const vec3 sky = pass.sums.at[0].rgb + pass.sums.at[2].rgb + 2.0 * pass.sums.at[7].rgb; // from above
    const vec3 light = sky + frame.sun_radiance.rgb * max(frame.sun_direction.y, 0.0);
    const vec3 horizon = imageLoad(environment_store, ivec2(texel.x, map_size().y / 2 - 1)).rgb;
    const float below = -texel_direction(vec2(texel) + 0.5).y;
    return mix(horizon, frame.ground_color.rgb * light / PI, smoothstep(0.01, 0.1, below));
}

void main()
{
    const uint i = invocation_index();
    const ivec2 size = map_size();
    if (STEP == ROWS) {
        if (i < uint(size.y)) {
            sum_row(i);
        }
    } else if (STEP == TOTAL) {
        if (i < uint(SKY_HARMONICS)) {
            sum_rows(i);
        }
    } else if (i < uint(size.x * size.y)) {
        const ivec2 texel = ivec2(int(i) % size.x, int(i) / size.x);
        if (STEP == SKY) {
            imageStore(environment_store, texel, vec4(min(sky_at(vec2(texel) + 0.5), vec3(60000.0)), 1.0));
        } else if (texel.y >= size.y / 2) {
            imageStore(environment_store, texel, vec4(ground_at(texel), 1.0));
        }
    }
}
