// SPDX-License-Identifier: MIT
// sky_made.c - skies with hard and bright features, for things that reflect: a day with clouds above a line of trees,
// an evening, and a studio with softboxes. A clear sky is so even that water below it looks like plastic.
//
// Each is a function of the direction, evaluated once for every texel of an equirectangular picture, which is then used
// as one that was read from a file. Noise is made of hashed integers, so pictures have the same bits everywhere that
// rounds floats alike. The picture is laid out as sky.glsl reads it: +z in the middle, +x to the left of it.
#include "render/sky_made.h"

#include "base/error.h"
#include "base/vec.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 2048, HEIGHT = 1024 };
static const float pi_f = 3.14159265f;

bool sky_is_made(MoteSkyKind kind)
{
    return kind == MOTE_SKY_CLOUDS || kind == MOTE_SKY_EVENING || kind == MOTE_SKY_STUDIO;
}

void sky_made_name(const MoteSkyLook *sky, char name[SKY_MADE_NAME])
{
    snprintf(name, SKY_MADE_NAME, "made:%d:%a:%a:%a:%a", (int)sky->kind, (double)sky->sun_elevation,
             (double)sky->sun_azimuth, (double)sky->image_rotation, (double)sky->haze);
}

// ---- Noise -------------------------------------------------------------------------------------------------

static float hash_2d(int x, int y)
{
    uint32_t h = (uint32_t)x * 0x8da6b343u ^ (uint32_t)y * 0xd8163841u;
    h = (h ^ h >> 13) * 0x5bd1e995u;
    h = (h ^ h >> 15) * 0x27d4eb2fu;
    return (float)((h ^ h >> 16) >> 8) * (1.0f / 16777216.0f);
}

static float mix(float a, float b, float t)
{
    return a + (b - a) * t;
}

static float clamp01(float x)
{
    return x < 0.0f ? 0.0f : x > 1.0f ? 1.0f : x;
}

static float smooth_step(float low, float high, float x)
{
    const float t = clamp01((x - low) / (high - low));
    return t * t * (3.0f - 2.0f * t);
}

static float noise(float x, float y)
{
    const float fx = floorf(x), fy = floorf(y);
    const int ix = (int)fx, iy = (int)fy;
    const float tx = smooth_step(0.0f, 1.0f, x - fx), ty = smooth_step(0.0f, 1.0f, y - fy);
    return mix(mix(hash_2d(ix, iy), hash_2d(ix + 1, iy), tx), mix(hash_2d(ix, iy + 1), hash_2d(ix + 1, iy + 1), tx),
               ty);
}

// Octaves of noise, each turned against the last one so that their lattices do not show; about 0 to 1.
static float turbulence(float x, float y, int octaves)
{
    float sum = 0.0f, weight = 0.5f;
    for (int k = 0; k < octaves; k++) {
        sum += weight * noise(x, y);
        const float turned = 1.6f * x + 1.2f * y;
        y = 1.6f * y - 1.2f * x + 17.3f;
        x = turned + 31.7f;
        weight *= 0.5f;
    }
    return sum;
}

// ---- Outdoors ----------------------------------------------------------------------------------------------

typedef struct Outdoors {
    MoteVec3 zenith, horizon, glow; // glow: around the sun
    MoteVec3 cloud_lit, cloud_dark;
    MoteVec3 trees;
    float cover; // 0 to 1, what noise must exceed to be a cloud: less is more clouds
    MoteVec3 sun;
    float haze;
} Outdoors;

static MoteVec3 mix3(MoteVec3 a, MoteVec3 b, float t)
{
    return (MoteVec3){mix(a.x, b.x, t), mix(a.y, b.y, t), mix(a.z, b.z, t)};
}

static float cloud_density(const Outdoors *o, float x, float z)
{
    return smooth_step(o->cover, o->cover + 0.25f, turbulence(x, z, 6));
}

// Clouds on a layer that bends down to the horizon with the earth, shaded by how much cloud is towards the sun.
static MoteVec3 with_clouds(const Outdoors *o, MoteVec3 sky, MoteVec3 d)
{
    const float scale = 1.6f / (d.y + 0.12f), x = d.x * scale, z = d.z * scale;
    const float here = cloud_density(o, x, z);
    if (here <= 0.0f) {
        return sky;
    }
    const float towards = 0.18f, behind = cloud_density(o, x + towards * o->sun.x, z + towards * o->sun.z);
    const float lit = clamp01(1.0f - 0.75f * behind);
    const float rim = powf(clamp01(vec3_dot(d, o->sun)), 24.0f);
    MoteVec3 cloud = mix3(o->cloud_dark, o->cloud_lit, lit);
    cloud = vec3_add_scaled(cloud, o->glow, 0.8f * rim * (1.0f - 0.6f * here));
    const float far = smooth_step(0.0f, 0.22f, d.y); // near the horizon they vanish in haze
    return mix3(sky, cloud, 0.95f * here * far);
}

// How high a line of trees and hills stands above the horizon, as a slope.
static float tree_line(float azimuth)
{
    const float a = azimuth * 6.0f;
    const float hills = 0.006f + 0.012f * noise(a, 3.5f) + 0.008f * noise(2.7f * a, 9.1f);
    const float crowns = 0.009f * noise(14.0f * a, 1.5f) + 0.006f * noise(47.0f * a, 5.5f);
    return hills + crowns * noise(1.3f * a, 12.0f);
}

static MoteVec3 outdoors(const Outdoors *o, MoteVec3 d)
{
    const float up = d.y > 0.0f ? d.y : 0.0f;
    MoteVec3 sky = mix3(o->horizon, o->zenith, 1.0f - powf(1.0f - up, 4.0f - 2.0f * o->haze));
    const float towards = clamp01(0.5f + 0.5f * vec3_dot(d, o->sun));
    sky = vec3_add_scaled(sky, o->glow, 0.35f * powf(towards, 8.0f) + 0.8f * powf(towards, 120.0f));
    sky = with_clouds(o, sky, (MoteVec3){d.x, up, d.z});
    // Around once: noise is not periodic, so the last part of the way blends into a second line.
    const float azimuth = atan2f(d.x, d.z), part = smooth_step(2.6f, pi_f, azimuth);
    const float line = mix(tree_line(azimuth), tree_line(azimuth - 2.0f * pi_f), part);
    const float inside = 1.0f - smooth_step(line - 0.002f, line + 0.002f, d.y);
    const float shade = 0.75f + 0.5f * turbulence(40.0f * azimuth, 90.0f * d.y, 3);
    const MoteVec3 trees = mix3(vec3_scale(o->trees, shade), o->horizon, 0.06f);
    return mix3(sky, trees, inside);
}

// ---- A studio ----------------------------------------------------------------------------------------------

static MoteVec3 unit(MoteVec3 v)
{
    return vec3_scale(v, 1.0f / vec3_length(v));
}

// How much of a direction goes through a rectangular softbox: its plane is at distance 1 along `axis`, `u` and `v` span
// it, with half sizes and a soft edge.
static float softbox(MoteVec3 d, MoteVec3 axis, MoteVec3 u, MoteVec3 v, float half_u, float half_v)
{
    const float along = vec3_dot(d, axis);
    if (along <= 0.05f) {
        return 0.0f;
    }
    const float a = fabsf(vec3_dot(d, u)) / along, b = fabsf(vec3_dot(d, v)) / along, edge = 0.03f;
    return (1.0f - smooth_step(half_u - edge, half_u + edge, a)) *
           (1.0f - smooth_step(half_v - edge, half_v + edge, b));
}

// A dark room with a light above, two strips beside and a grey wall, as products are photographed.
static MoteVec3 studio(MoteVec3 d)
{
    const MoteVec3 y = {0.0f, 1.0f, 0.0f}, z = {0.0f, 0.0f, 1.0f};
    const float wall = mix(0.10f, 0.03f, smooth_step(-0.05f, 0.75f, d.y));
    MoteVec3 room = {wall * 0.96f, wall, wall * 1.06f};
    const MoteVec3 warm = {1.0f, 0.96f, 0.9f}, cool = {0.88f, 0.95f, 1.0f};
    const MoteVec3 tilted = unit((MoteVec3){0.35f, 1.0f, 0.25f}), side = unit((MoteVec3){1.0f, -0.35f, 0.0f});
    room = vec3_add_scaled(room, warm, 5.5f * softbox(d, tilted, side, vec3_cross(side, tilted), 0.55f, 0.38f));
    const MoteVec3 left = unit((MoteVec3){-1.0f, 0.35f, 0.1f}), right = unit((MoteVec3){0.9f, 0.3f, -0.4f});
    room = vec3_add_scaled(room, cool, 3.2f * softbox(d, left, z, y, 0.12f, 0.55f));
    return vec3_add_scaled(room, warm, 2.2f * softbox(d, right, unit(vec3_cross(right, y)), y, 0.10f, 0.5f));
}

// ---- The picture -------------------------------------------------------------------------------------------

static Outdoors outdoors_of(const MoteSkyLook *sky)
{
    const float elevation = sky->sun_elevation * (pi_f / 180.0f),
                azimuth = (sky->sun_azimuth - sky->image_rotation) * (pi_f / 180.0f); // in the picture
    Outdoors o = {
        .zenith = {0.13f, 0.27f, 0.56f},
        .horizon = {0.62f, 0.74f, 0.86f},
        .glow = {0.9f, 0.8f, 0.62f},
        .cloud_lit = {1.25f, 1.22f, 1.18f},
        .cloud_dark = {0.50f, 0.55f, 0.63f},
        .trees = {0.045f, 0.075f, 0.03f},
        .cover = 0.46f,
        .haze = sky->haze,
    };
    if (sky->kind == MOTE_SKY_EVENING) {
        o.zenith = (MoteVec3){0.10f, 0.13f, 0.30f};
        o.horizon = (MoteVec3){0.78f, 0.42f, 0.26f};
        o.glow = (MoteVec3){2.2f, 0.95f, 0.34f};
        o.cloud_lit = (MoteVec3){1.25f, 0.62f, 0.42f};
        o.cloud_dark = (MoteVec3){0.26f, 0.20f, 0.28f};
        o.trees = (MoteVec3){0.012f, 0.012f, 0.014f};
        o.cover = 0.50f;
    }
    o.sun = (MoteVec3){cosf(elevation) * sinf(azimuth), sinf(elevation), cosf(elevation) * cosf(azimuth)};
    return o;
}

MoteResult sky_make(const MoteSkyLook *sky, Image *out)
{
    const MoteResult result = image_create(out, WIDTH, HEIGHT, 4);
    if (result != MOTE_OK) {
        return result;
    }
    const Outdoors o = outdoors_of(sky);
    for (int row = 0; row < HEIGHT; row++) {
        const float down = pi_f * ((float)row + 0.5f) / (float)HEIGHT, ring = sinf(down), y = cosf(down);
        for (int column = 0; column < WIDTH; column++) {
            const float around = 2.0f * pi_f * (0.5f - ((float)column + 0.5f) / (float)WIDTH);
            const MoteVec3 d = {ring * sinf(around), y, ring * cosf(around)};
            const MoteVec3 color = sky->kind == MOTE_SKY_STUDIO ? studio(d) : outdoors(&o, d);
            float *pixel = out->pixels + 4 * ((size_t)row * WIDTH + (size_t)column);
            pixel[0] = color.x;
            pixel[1] = color.y;
            pixel[2] = color.z;
            pixel[3] = 1.0f;
        }
    }
    return MOTE_OK;
}
