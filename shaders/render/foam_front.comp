// SPDX-License-Identifier: MIT
// foam_front.comp - spray in the air and foam on the surface, over the picture so far.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "sky.glsl"
#include "passes/foam.h"
#include "foam.glsl"
#include "smoke_view.glsl"
PASS_CONSTANTS(FoamConstants)
layout(local_size_x = 8, local_size_y = 8) in;

float front_depth(ivec2 texel)
{
    const ivec2 t = clamp(texel, ivec2(0), ivec2(frame.width, frame.height) - 1);
    return float(frame.foam.at[FOAM_WORDS * uint(t.y * int(frame.width) + t.x) + FOAM_FRONT]) / FOAM_UNIT;
}

// Foam as a heap that is as high as it is opaque: it leans to where there is less of it.
vec3 lean(ivec2 texel)
{
    const int reach = 3;
    vec2 slope = vec2(0.0);
    for (int k = 1; k <= reach; k++) {
        slope.x += foam_opacity(0.5 * front_depth(texel - ivec2(k, 0))) - foam_opacity(0.5 * front_depth(texel + ivec2(k, 0)));
        slope.y += foam_opacity(0.5 * front_depth(texel + ivec2(0, k))) - foam_opacity(0.5 * front_depth(texel - ivec2(0, k)));
    }
    return view_to_world_direction(vec3(slope / float(reach), 0.0));
}

void main()
{
    const ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(texel, ivec2(frame.width, frame.height)))) {
        return;
    }
    const uint at = FOAM_WORDS * uint(texel.y * int(frame.width) + texel.x);
    const uint sum = frame.foam.at[at + FOAM_FRONT];
    if (sum == 0u) {
        return;
    }
    const float depth = float(sum) / FOAM_UNIT;
    const float sun = float(frame.foam.at[at + FOAM_FRONT_LIGHT]) / float(sum);
    const vec4 surface = texelFetch(normals_image, texel, 0);
    const vec3 to_eye = -normalize(pixel_direction(vec2(texel) + 0.5));
    const vec3 base = surface.w > 0.0 ? normalize(surface.xyz + vec3(0.0, 0.5, 0.0)) : normalize(to_eye + vec3(0.0, 1.0, 0.0));
    const vec3 normal = normalize(base + 1.2 * lean(texel));
    const float open = 0.6 + 0.4 * exp(-0.25 * depth);
    const float z = min(texelFetch(smooth_depth_image, texel, 0).x, scene_view_z(texel));
    const vec3 light = smoke_over(foam_radiance(pass.color.rgb, normal, sun, open), vec2(texel) + 0.5, z);
    const vec3 before = imageLoad(color_store, texel).rgb;
    imageStore(color_store, texel, vec4(mix(before, light, foam_opacity(depth)), 1.0));
}
