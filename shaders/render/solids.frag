// SPDX-License-Identifier: MIT
// solids.frag - grains and meshes in the light of sun and sky, over a triangle that covers the picture: each pixel once,
// however many of them lie behind each other. With several samples a pixel it is drawn once for each surface that a pixel
// can show, and lights the samples that see this one together: inside of a surface once for all of them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "sky.glsl"
#include "shadow.glsl"
#include "lighting.glsl"
#include "fabric.glsl"
#include "fabric_light.glsl"
#include "passes/scene.h"
PUSH_CONSTANTS(SolidsPush)
layout(location = 0) out vec4 color;
layout(constant_id = 0) const uint SAMPLES = 1u;
layout(constant_id = 1) const uint LAST = 0u; // surface, which takes all samples that are left
layout(constant_id = 2) const uint FABRICS = 0u; // whether there are any
vec4 normal_depth_at(ivec2 texel, int k)
{
    if (SAMPLES == 1u) {
        return texelFetch(scene_normals_image, texel, 0);
    }
    return texelFetch(normal_samples_image, texel, k);
}

vec4 material_at(ivec2 texel, int k)
{
    if (SAMPLES == 1u) {
        return texelFetch(color_image, texel, 0);
    }
    return texelFetch(material_samples_image, texel, k);
}

// Whether two samples may share their light: turned by less than 10 degrees to each other, and less than two pixels apart.
bool are_alike(vec4 a, vec4 b)
{
    return dot(a.xyz, b.xyz) > 0.985 && abs(a.w - b.w) < 2.0 * a.w / frame.focal;
}

// The samples of the surface, a bit each; none where the pixel shows fewer. Loops end with their condition: software
// drivers then skip them wherever one surface fills the pixels.
uint samples_of_surface(ivec2 texel)
{
    uint left = 0u;
    for (int k = 0; k < int(SAMPLES); k++) {
        left |= normal_depth_at(texel, k).w != 0.0 ? 1u << k : 0u;
    }
    uint own = left;
    for (uint s = 0u; left != 0u && s <= push.surface; s++) {
        own = left;
        if (s < LAST) {
            const vec4 first = normal_depth_at(texel, findLSB(left));
            for (int k = 0; k < int(SAMPLES); k++) {
                own &= are_alike(first, normal_depth_at(texel, k)) ? ~0u : ~(1u << k);
            }
        }
        left &= ~own;
        own = s == push.surface ? own : 0u;
    }
    return own;
}

// Of the samples marked: where two colours meet in one face, light is shared but not what reflects it. Which fabric it is
// has no mean.
vec4 mean_material(ivec2 texel, uint samples)
{
    vec4 sum = vec4(0.0);
    for (int k = 0; k < int(SAMPLES); k++) {
        sum += (samples >> k & 1u) != 0u ? material_at(texel, k) : vec4(0.0);
    }
    sum /= float(bitCount(samples));
    if (FABRICS != 0u) {
        const float first = material_at(texel, findLSB(samples)).a;
        sum.a = is_fabric(first) ? first : sum.a;
    }
    return sum;
}

vec4 surface_light(vec3 point, vec3 normal, vec4 material)
{
    const vec3 to_eye = normalize(frame.eye.xyz - point);
    if (FABRICS != 0u && is_fabric(material.a)) {
        const uint fabric = min(fabric_of_mark(material.a), frame.fabric_count - 1u);
        return fabric_light(point, normal, to_eye, material.rgb, frame.fabrics.at[fabric]);
    }
    return solid_light(point, normal, to_eye, material.rgb, max(material.a, 0.0), 1.0);
}

void main()
{
    const ivec2 texel = ivec2(gl_FragCoord.xy);
    const uint samples = SAMPLES > 1u ? samples_of_surface(texel) : normal_depth_at(texel, 0).w != 0.0 ? 1u : 0u;
    if (samples == 0u) {
        discard;
    }
    color = vec4(0.0);
    for (uint lights = min(samples, 1u); lights > 0u; lights--) {
        const vec4 normal_depth = normal_depth_at(texel, findLSB(samples)), material = mean_material(texel, samples);
        const vec3 point = world_point_at(gl_FragCoord.xy, normal_depth.w);
        color = surface_light(point, normalize(normal_depth.xyz), material);
    }
    gl_SampleMask[0] = int(samples);
}
