// SPDX-License-Identifier: MIT
// layers.comp - what compositing and research want beside the picture, LAYER_FLOATS floats a pixel.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "passes/layers.h"
#include "passes/foam.h"
#include "smoke_view.glsl"
PASS_CONSTANTS(LayersConstants)
layout(local_size_x = 8, local_size_y = 8) in;

// Of the grain that the scene's depth is of, index + 1; 0 where it is of something else.
uint grain_in_front(ivec2 texel, float z)
{
    uint who = 0u;
    if (pass.has_grains != 0u) {
        const uint pixel = uint(texel.y) * frame.width + uint(texel.x);
        if (abs(uintBitsToFloat(frame.grain_splats.at[pixel]) - z) < 1e-6 * z) {
            who = frame.grain_splats.at[frame.width * frame.height + pixel];
        }
    }
    return who;
}

void main()
{
    const ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(texel, ivec2(frame.width, frame.height)))) {
        return;
    }
    const vec4 color = texelFetch(accumulated_image, texel, 0) / float(frame.sample_count);
    const float surface = texelFetch(smooth_depth_image, texel, 0).x;
    const float solid = scene_view_z(texel);
    const bool liquid = surface < solid;
    const vec3 normal = liquid ? normalize(texelFetch(normals_image, texel, 0).xyz) : body_normal(texel).xyz;
    const vec2 at = (vec2(texel) + 0.5) / vec2(2 * imageSize(thickness_store));
    const float thickness = textureLod(sampler2D(thickness_image, linear_sampler), at, 0.0).a;
    const uint index = texelFetch(surface_index_image, texel, 0).x;
    const uint who = liquid ? index : grain_in_front(texel, solid);
    const uint id = who > 0u ? frame.ids.at[who - 1u] + 1u : 0u;
    const uint p = uint(texel.y * int(frame.width) + texel.x) * LAYER_FLOATS;
    pass.layers.at[p] = floatBitsToUint(color.r);
    pass.layers.at[p + 1u] = floatBitsToUint(color.g);
    pass.layers.at[p + 2u] = floatBitsToUint(color.b);
    pass.layers.at[p + 3u] = floatBitsToUint(color.a);
    pass.layers.at[p + 4u] = floatBitsToUint(min(surface, solid));
    pass.layers.at[p + 5u] = floatBitsToUint(normal.x);
    pass.layers.at[p + 6u] = floatBitsToUint(normal.y);
    pass.layers.at[p + 7u] = floatBitsToUint(normal.z);
    pass.layers.at[p + 8u] = floatBitsToUint(thickness);
    pass.layers.at[p + 9u] = id;
    vec2 foam = vec2(0.0); // optical depth before and behind the surface
    if (pass.has_foam != 0u) {
        const uint at = FOAM_WORDS * uint(texel.y * int(frame.width) + texel.x);
        foam = vec2(frame.foam.at[at + FOAM_FRONT], frame.foam.at[at + FOAM_BEHIND]) / FOAM_UNIT;
    }
    pass.layers.at[p + 10u] = floatBitsToUint(foam.x);
    pass.layers.at[p + 11u] = floatBitsToUint(foam.y);
    vec4 smoke = smoke_before(vec2(texel) + 0.5, min(surface, solid));
    if (frame.has_smoke > frame.has_smoke_volume) { // of sprites
        const vec2 place = (vec2(texel) + 0.5) / vec2(2 * textureSize(smoke_half_image, 0));
        smoke = textureLod(sampler2D(smoke_half_image, linear_sampler), place, 0.0);
        smoke.a = 1.0 - smoke.a;
    }
    for (uint k = 0u; k < 4u; k++) {
        pass.layers.at[p + 12u + k] = floatBitsToUint(smoke[k]);
    }
}
