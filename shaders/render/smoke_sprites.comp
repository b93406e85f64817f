// SPDX-License-Identifier: MIT
// smoke_sprites.comp - what smoke as sorted sprites needs besides drawing them. In steps:
//   KEYS   how far each particle is, and its light
//   SORT   a step of a bitonic sort: from the farthest to the nearest, by id where they are equally far
//   APPLY  the sprites' picture, of half the size, over the finished one
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "sky.glsl"
#include "shadow.glsl"
PASS_CONSTANTS(SmokeConstants)
PUSH_CONSTANTS(SmokeSortPush)
#include "smoke_particles.glsl"
#include "smoke_source.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint STEP = 0u;
const uint KEYS = 0u, SORT = 1u, APPLY = 2u;
const uint NONE = 0xffffffffu;

void make_key(uint i)
{
    Puff puff;
    const bool present = load_puff(i, puff);
    const vec3 c = to_view(puff.point);
    const vec2 pixel = pixel_of(vec3(c.xy, max(c.z, 1e-6)));
    const float pixels = puff.radius * frame.focal / max(c.z, 1e-6);
    const bool seen = present && c.z > max(frame.near_plane, 0.5 * puff.radius) && all(greaterThan(pixel, vec2(-pixels))) &&
                      all(lessThan(pixel, vec2(frame.width, frame.height) + pixels));
    const uint at = 4u + 4u * i;
    pass.sprites.at[at] = seen ? ~floatBitsToUint(c.z) : NONE; // the far ones first
    pass.sprites.at[at + 1u] = NONE;
    pass.sprites.at[at + 2u] = i;
    for (uint once = seen ? 1u : 0u; once > 0u; once--) {
        pass.sprites.at[at + 1u] = frame.diffuse_ids.at[i];
        const vec3 to_point = puff.point - frame.eye.xyz;
        const float cosine = dot(to_point, frame.sun_direction.xyz) / max(length(to_point), 1e-6);
        pass.lights.at[i] = vec4(smoke_radiance(puff.point, puff.temperature, smoke_tau(puff.point), cosine), 0.0);
        atomicAdd(pass.sprites.at[0], 1u);
    }
}

// Compares two elements, and swaps them if they are the wrong way round.
void sort_pair(uint i)
{
    const uint low = (i / push.distance) * 2u * push.distance + i % push.distance, high = low + push.distance;
    const uint a = 4u + 4u * low, b = 4u + 4u * high;
    const uvec3 first = uvec3(pass.sprites.at[a], pass.sprites.at[a + 1u], pass.sprites.at[a + 2u]);
    const uvec3 second = uvec3(pass.sprites.at[b], pass.sprites.at[b + 1u], pass.sprites.at[b + 2u]);
    const bool above = first.x > second.x || (first.x == second.x && first.y > second.y);
    if (above == ((low & push.run) == 0u)) {
        for (uint k = 0u; k < 3u; k++) {
            pass.sprites.at[a + k] = second[k];
            pass.sprites.at[b + k] = first[k];
        }
    }
}

// What of the smoke's picture a pixel shows: between four texels, those of another depth aside.
void apply(uint i)
{
    const ivec2 texel = ivec2(int(i % frame.width), int(i / frame.width)), size = textureSize(smoke_half_image, 0);
    if (texel.y >= int(frame.height)) {
        return;
    }
    const float z = min(scene_view_z(texel), texelFetch(smooth_depth_image, texel, 0).x);
    const vec2 place = 0.5 * (vec2(texel) + 0.5) - 0.5, low = floor(place), part = place - low;
    vec4 sum = vec4(0.0);
    float weights = 0.0;
    for (int k = 0; k < 4; k++) {
        const ivec2 offset = ivec2(k & 1, k >> 1), half_texel = clamp(ivec2(low) + offset, ivec2(0), size - 1);
        const ivec2 full = min(2 * half_texel, ivec2(frame.width, frame.height) - 1); // whose depth the sprites met
        const float other = min(scene_view_z(full), texelFetch(smooth_depth_image, full, 0).x);
        const vec2 w = mix(1.0 - part, part, vec2(offset));
        const bool same = z == other || abs(z - other) < 0.05 * z;
        const float weight = w.x * w.y * (same ? 1.0 : 1e-3);
        sum += weight * texelFetch(smoke_half_image, half_texel, 0);
        weights += weight;
    }
    const vec4 smoke = sum / max(weights, 1e-9);
    for (uint any = smoke.a > 0.0 ? 1u : 0u; any > 0u; any--) {
        const vec4 before = imageLoad(color_store, texel);
        imageStore(color_store, texel, vec4(smoke.rgb + (1.0 - smoke.a) * before.rgb, before.a));
    }
}

void main()
{
    const uint i = invocation_index();
    if (STEP == KEYS) {
        make_key(i);
    } else if (STEP == SORT) {
        sort_pair(i);
    } else {
        apply(i);
    }
}
