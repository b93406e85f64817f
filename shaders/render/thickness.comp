// SPDX-License-Identifier: MIT
// thickness.comp - how much liquid a ray passes through, at half resolution, in fixed point: the order of atomics does
// not matter. Each particle adds its volume, one spacing cubed, to four texels of the level of a pyramid where
// particles lie about a texel apart: few atomics, whatever the distance, and no gaps between them. The levels are then
// added up from the coarsest to the finest.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "passes/thickness.h"
PASS_CONSTANTS(ThicknessConstants)
PUSH_CONSTANTS(ThicknessPush)
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint STEP = 0u; // 0 adds particles, 1 adds a level to the next finer one, 2 converts
layout(constant_id = 1) const uint CHANNELS = 1u; // frame.thickness_channels: software drivers go through both branches of an if
ivec2 level_size(uint l)
{
    const ivec2 half_size = imageSize(thickness_store);
    return max((half_size + ivec2((1 << l) - 1)) >> ivec2(l), ivec2(1));
}

uint level_start(uint l)
{
    uint start = 0u;
    for (uint k = 0u; k < l; k++) {
        const ivec2 size = level_size(k);
        start += uint(size.x * size.y);
    }
    return start;
}

uint sums_at(uint start, ivec2 size, ivec2 texel)
{
    const ivec2 t = clamp(texel, ivec2(0), size - 1);
    return CHANNELS * (start + uint(t.y * size.x + t.x));
}

// Metres alone where all liquids absorb alike.
void add_share(uint sums, float share, vec3 absorption)
{
    if (CHANNELS == 1u) {
        atomicAdd(pass.sums.at[sums], uint(share + 0.5));
    } else {
        atomicAdd(pass.sums.at[sums], uint(share * absorption.x + 0.5));
        atomicAdd(pass.sums.at[sums + 1u], uint(share * absorption.y + 0.5));
        atomicAdd(pass.sums.at[sums + 2u], uint(share * absorption.z + 0.5));
        atomicAdd(pass.sums.at[sums + 3u], uint(share + 0.5));
    }
}

void add_particle(uint i)
{
    const vec3 c = to_view(vec3(frame.ellipsoids.at[3u * i].w, frame.ellipsoids.at[3u * i + 1u].w,
                                frame.ellipsoids.at[3u * i + 2u].w));
    const vec2 pixel = pixel_of(c);
    const vec2 screen = vec2(frame.width, frame.height);
    if (is_drop(i) || c.z <= frame.near_plane || any(lessThan(pixel, vec2(-16.0))) || any(greaterThan(pixel, screen + 16.0))) {
        return;
    }
    if (scene_view_z(ivec2(clamp(pixel, vec2(0.5), screen - 0.5))) < c.z) {
        return; // behind something solid
    }
    const float half_pixels = 0.5 * frame.focal * frame.spacing / c.z; // from one particle to the next
    const uint l = uint(clamp(ceil(log2(half_pixels)), 0.0, float(THICKNESS_LEVELS - 1u)));
    const ivec2 size = level_size(l);
    const uint start = level_start(l);
    const float texel_pixels = exp2(float(l + 1u));
    const vec2 place = pixel / texel_pixels - 0.5;
    const ivec2 low = ivec2(floor(place));
    const vec2 part = place - vec2(low);
    // Volume over the area, across the ray, that a texel covers at that distance.
    const float width = texel_pixels * c.z / frame.focal;
    const float metres = frame.spacing * frame.spacing * frame.spacing * length(c) / (width * width * c.z);
    const vec3 absorption = material_of(frame.phases.at[i]).absorption.xyz;
    for (int k = 0; k < 4; k++) {
        const ivec2 offset = ivec2(k & 1, k >> 1), texel = low + offset;
        const vec2 weight = mix(1.0 - part, part, vec2(offset));
        const float share = THICKNESS_UNIT * metres * weight.x * weight.y;
        if (all(greaterThanEqual(texel, ivec2(0))) && all(lessThan(texel, size))) {
            const uint sums = sums_at(start, size, texel);
            add_share(sums, share, absorption);
        }
    }
}

// Adds the next coarser level, interpolated.
void add_level(uint i)
{
    const ivec2 size = level_size(push.level), coarse_size = level_size(push.level + 1u);
    if (i >= uint(size.x * size.y)) {
        return;
    }
    const uint start = level_start(push.level), coarse_start = start + uint(size.x * size.y);
    const ivec2 texel = ivec2(int(i) % size.x, int(i) / size.x);
    const vec2 place = 0.5 * (vec2(texel) + 0.5) - 0.5;
    const ivec2 low = ivec2(floor(place));
    const vec2 part = place - vec2(low);
    for (uint channel = 0u; channel < CHANNELS; channel++) {
        const float a = float(pass.sums.at[sums_at(coarse_start, coarse_size, low) + channel]);
        const float b = float(pass.sums.at[sums_at(coarse_start, coarse_size, low + ivec2(1, 0)) + channel]);
        const float c = float(pass.sums.at[sums_at(coarse_start, coarse_size, low + ivec2(0, 1)) + channel]);
        const float d = float(pass.sums.at[sums_at(coarse_start, coarse_size, low + ivec2(1, 1)) + channel]);
        pass.sums.at[sums_at(start, size, texel) + channel] +=
            uint(mix(mix(a, b, part.x), mix(c, d, part.x), part.y) + 0.5);
    }
}

void convert(uint i)
{
    const ivec2 size = level_size(0u);
    if (i >= uint(size.x * size.y)) {
        return;
    }
    vec4 sum;
    if (CHANNELS == 1u) {
        const float metres = float(pass.sums.at[i]);
        sum = vec4(metres * frame.materials.at[frame.liquid_material].absorption.xyz, metres);
    } else {
        sum = vec4(pass.sums.at[4u * i], pass.sums.at[4u * i + 1u],
                   pass.sums.at[4u * i + 2u], pass.sums.at[4u * i + 3u]);
    }
    imageStore(thickness_store, ivec2(int(i) % size.x, int(i) / size.x), min(sum / THICKNESS_UNIT, vec4(60000.0)));
}

void main()
{
    const uint i = invocation_index();
    if (STEP == 0u) {
        if (i < frame.particle_count && !is_solid(i)) {
            add_particle(i);
        }
    } else if (STEP == 1u) {
        add_level(i);
    } else {
        convert(i);
    }
}
