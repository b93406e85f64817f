// SPDX-License-Identifier: MIT
// occlusion.comp - how much of the sky's light the surfaces around a point of the scene take away, from what is on the
// screen: scalable ambient obscurance (McGuire, Mara and Luebke 2012), at half resolution. Each pixel looks in its own
// directions, sixteen kinds of them in four by four pixels, over which the mean is then taken.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "occlusion.glsl"
#include "screen_normal.glsl"
#include "passes/occlusion.h"
PASS_CONSTANTS(OcclusionConstants)
layout(local_size_x = 8, local_size_y = 8) in;
layout(constant_id = 0) const uint STEP = 0u; // 0 samples, 1 takes the mean, 2 darkens the scene by it

const int TAPS = 11;
const float TURNS = 7.0; // of the spiral that they lie on; no common divisor with TAPS
const float STRENGTH = 1.3;
const float LARGEST = 64.0; // pixels

float light_left(ivec2 texel, ivec2 half_texel, float z)
{
    const float reach = min(frame.focal * occlusion_radius() / z, LARGEST); // pixels
    if (reach < 2.0) {
        return 1.0;
    }
    const vec3 point = screen_point(texel, z), normal = screen_normal(texel, point);
    const float radius = reach * z / frame.focal, radius2 = radius * radius, bias = 0.03 * radius;
    const ivec2 kind = half_texel & 3;
    const float turn = float((kind.x * 4 + kind.y * 9 + (kind.y >> 1) * 3) & 15) / 16.0;
    float sum = 0.0;
    for (int i = 0; i < TAPS; i++) {
        const float share = (float(i) + 0.5) / float(TAPS);
        const float angle = 6.2831853 * (share * TURNS + turn);
        const ivec2 tap = texel + ivec2(round(share * reach * vec2(cos(angle), sin(angle))));
        if (on_screen(tap)) {
            const vec3 v = screen_point(tap, min(scene_view_z(tap), 1e6)) - point;
            const float vv = dot(v, v), falls = max(1.0 - vv / radius2, 0.0);
            sum += falls * falls * falls * max((dot(v, normal) - bias) * radius / (vv + 0.01 * radius2), 0.0);
        }
    }
    return max(1.0 - STRENGTH * sum * (2.0 / float(TAPS)), 0.0);
}

void take_sample(ivec2 half_texel)
{
    const ivec2 texel = min(2 * half_texel, ivec2(frame.width, frame.height) - 1);
    const float z = scene_view_z(texel);
    pass.samples.at[occlusion_place(half_texel)] = vec2(isinf(z) ? 1.0 : light_left(texel, half_texel, z), z);
}

void take_mean(ivec2 half_texel)
{
    const vec2 own = pass.samples.at[occlusion_place(half_texel)];
    float sum = own.x, weight = 1.0;
    if (!isinf(own.y)) {
        const float near = 0.5 * occlusion_radius() + 0.01 * own.y;
        for (int y = -1; y <= 2; y++) {
            for (int x = -1; x <= 2; x++) {
                const vec2 other = pass.samples.at[occlusion_place(half_texel + ivec2(x, y))];
                const float w = abs(other.y - own.y) < near && (x != 0 || y != 0) ? 1.0 : 0.0;
                sum += w * other.x;
                weight += w;
            }
        }
    }
    frame.occlusion_means.at[occlusion_place(half_texel)] = vec2(sum / weight, own.y);
}

void darken(ivec2 texel)
{
    const float z = scene_view_z(texel);
    if (isinf(z)) {
        return;
    }
    const float left = occlusion_left(texel, z);
    if (left < 1.0) {
        imageStore(scene_color_store, texel, occluded(imageLoad(scene_color_store, texel), left));
    }
}

void main()
{
    const ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    const ivec2 size = STEP == 2u ? ivec2(frame.width, frame.height) : occlusion_size();
    if (any(greaterThanEqual(texel, size))) {
        return;
    }
    if (STEP == 0u) {
        take_sample(texel);
    } else if (STEP == 1u) {
        take_mean(texel);
    } else {
        darken(texel);
    }
}
