// SPDX-License-Identifier: MIT
// liquid_shadow.comp - the liquid in the sun's map: distance of its first particle from the map's near plane, and the optical
// depth of all of it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "passes/liquid_shadow.h"
PASS_CONSTANTS(LiquidShadowConstants)
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint STEP = 0u; // 0 clears, 1 adds up, 2 finds the first depth, 3 converts
layout(constant_id = 1) const uint CHANNELS = 1u; // frame.thickness_channels: software drivers go through both branches of an if

// Sums are kept on a coarser grid where particles lie more than a texel apart, so that none shows by itself.
int sums_size(int size)
{
    const float texels_apart = 0.5 * frame.spacing * float(size) / frame.sun_map.x;
    return size >> int(clamp(ceil(log2(texels_apart)), 0.0, 6.0));
}

// The map's buffer: the first depth of every texel, then the sums.
uint sums_at(ivec2 texel, int size, int coarse)
{
    return uint(size * size) + CHANNELS * uint(texel.y * coarse + texel.x);
}

// Place in the map: texels, and metres from the near plane.
vec3 map_place(uint i, int size)
{
    const vec3 centre = vec3(frame.ellipsoids.at[3u * i].w, frame.ellipsoids.at[3u * i + 1u].w,
                             frame.ellipsoids.at[3u * i + 2u].w);
    const vec3 place = (frame.sun_projection * vec4(centre, 1.0)).xyz;
    return vec3((0.5 * place.xy + 0.5) * float(size), place.z * frame.sun_map.z);
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

// A particle's volume over four texels, by bilinear weights.
void add_up(uint i, int size)
{
    const int coarse = sums_size(size);
    const vec3 place = map_place(i, coarse);
    const float texel_width = 2.0 * frame.sun_map.x / float(coarse);
    const float thickness = THICKNESS_UNIT * frame.spacing * frame.spacing * frame.spacing / (texel_width * texel_width);
    const vec3 absorption = material_of(frame.phases.at[i]).absorption.xyz;
    const ivec2 low = ivec2(floor(place.xy - 0.5));
    const vec2 part = place.xy - 0.5 - vec2(low);
    for (int k = 0; k < 4; k++) {
        const ivec2 offset = ivec2(k & 1, k >> 1), texel = low + offset;
        const vec2 weight = mix(1.0 - part, part, vec2(offset));
        const float share = thickness * weight.x * weight.y;
        if (all(greaterThanEqual(texel, ivec2(0))) && all(lessThan(texel, ivec2(coarse)))) {
            const uint sums = sums_at(texel, size, coarse);
            add_share(sums, share, absorption);
        }
    }
}

// As spheres, never so small that they fall between texels.
void find_first(uint i, int size)
{
    const vec3 place = map_place(i, size);
    const float texels_a_metre = 0.5 * float(size) / frame.sun_map.x;
    const float radius = max(0.8 * frame.spacing, 0.75 / texels_a_metre), reach = radius * texels_a_metre;
    const ivec2 low = max(ivec2(ceil(place.xy - reach - 0.5)), ivec2(0));
    const ivec2 high = min(ivec2(floor(place.xy + reach - 0.5)), ivec2(size - 1));
    if (any(greaterThan(low, high))) {
        return;
    }
    ivec2 texel = low; // one loop, of the kind that depth_splat.glsl has
    do {
        const vec2 d = (vec2(texel) + 0.5 - place.xy) / reach;
        const float inside = 1.0 - dot(d, d);
        const uint first = floatBitsToUint(max(place.z - radius * sqrt(max(inside, 0.0)), 0.0));
        const uint at = uint(texel.y * size + texel.x);
        if (inside > 0.0 && first < pass.sums.at[at]) {
            atomicMin(pass.sums.at[at], first);
        }
        texel.x++;
        if (texel.x > high.x) {
            texel = ivec2(low.x, texel.y + 1);
        }
    } while (texel.y <= high.y);
}

vec4 load_sum(ivec2 texel, int size, int coarse)
{
    const uint sums = sums_at(clamp(texel, ivec2(0), ivec2(coarse - 1)), size, coarse);
    if (CHANNELS == 1u) {
        const float metres = float(pass.sums.at[sums]);
        return vec4(metres * frame.materials.at[frame.liquid_material].absorption.xyz, metres);
    }
    return vec4(pass.sums.at[sums], pass.sums.at[sums + 1u], pass.sums.at[sums + 2u],
                pass.sums.at[sums + 3u]);
}

void convert(uint i, int size)
{
    const ivec2 texel = ivec2(int(i) % size, int(i) / size);
    const int coarse = sums_size(size);
    const vec2 place = (vec2(texel) + 0.5) * (float(coarse) / float(size)) - 0.5;
    const ivec2 nearest = ivec2(round(place));
    const vec2 t = place - vec2(nearest);
    const vec2 weights[3] = vec2[](0.5 * (0.5 - t) * (0.5 - t), 0.75 - t * t, 0.5 * (0.5 + t) * (0.5 + t));
    vec4 sum = vec4(0.0); // by a quadratic B-spline
    for (int y = 0; y < 3; y++) {
        for (int x = 0; x < 3; x++) {
            sum += load_sum(nearest + ivec2(x - 1, y - 1), size, coarse) * (weights[x].x * weights[y].y);
        }
    }
    imageStore(liquid_shadow_depth_store, texel, uvec4(pass.sums.at[i]));
    imageStore(liquid_shadow_thickness_store, texel, min(sum / THICKNESS_UNIT, vec4(60000.0)));
}

void clear(uint i, int size)
{
    const uint sums = uint(size * size) + CHANNELS * i;
    pass.sums.at[i] = NO_DEPTH;
    for (uint k = 0u; k < CHANNELS; k++) {
        pass.sums.at[sums + k] = 0u;
    }
}

void main()
{
    const uint i = invocation_index();
    const int size = imageSize(liquid_shadow_depth_store).x;
    if (STEP == 1u) {
        if (i < frame.particle_count && !is_solid(i)) {
            add_up(i, size);
        }
    } else if (STEP == 2u) {
        if (i < frame.visible.at[0] && !is_solid(frame.visible.at[1u + i])) { // nothing else can be first
            find_first(frame.visible.at[1u + i], size);
        }
    } else if (i < uint(size * size)) {
        if (STEP == 0u) {
            clear(i, size);
        } else {
            convert(i, size);
        }
    }
}
