// SPDX-License-Identifier: MIT
// views.comp - debug views: the particle in front, lit and coloured by one of its values, or an image of the surface
// passes as colours. Colours are exact: the tone curve is not applied to them.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "ellipsoid.glsl"
#include "display.glsl"
#include "render_views.h"
#include "passes/views.h"
#include "passes/foam.h"
#include "smoke_view.glsl"
PASS_CONSTANTS(ViewsConstants)
layout(local_size_x = 8, local_size_y = 8) in;
// Linear light of a colour map's colour for a value; magenta where the value is no number.
vec3 color_of_value(float value)
{
    const float t = clamp((value - pass.lowest) / (pass.highest - pass.lowest), 0.0, 1.0);
    const vec3 color = vec3(map_color(pass.map, 0u, t), map_color(pass.map, 1u, t), map_color(pass.map, 2u, t));
    return isnan(value) ? vec3(1.0, 0.0, 1.0) : srgb_decode(clamp(color, 0.0, 1.0));
}

// A vector channel is shown by its length.
float channel_value(uint i)
{
    const uint components = frame.channel_components;
    const float first = frame.channel.at[i * components];
    if (components == 1u) {
        return first;
    }
    float sum = first * first;
    for (uint k = 1u; k < components; k++) {
        const float value = frame.channel.at[i * components + k];
        sum += value * value;
    }
    return sqrt(sum);
}

// Bright and far apart for ids that follow each other. The hash is PCG's output permutation (Jarzynski, Olano 2020).
vec3 color_of_id(uint id)
{
    const uint state = id * 747796405u + 2891336453u;
    const uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    const uint bits = (word >> 22u) ^ word;
    const float hue = float(bits & 0xffffu) / 65536.0;
    const float strength = 0.55 + 0.35 * float(bits >> 16u) / 65536.0;
    const vec3 pure = clamp(abs(fract(hue + vec3(0.0, 2.0, 1.0) / 3.0) * 6.0 - 3.0) - 1.0, 0.0, 1.0);
    return srgb_decode(0.95 * mix(vec3(1.0), pure, strength));
}

vec3 particle_color(uint i)
{
    if (pass.show == SHOW_DENSITY) {
        return color_of_value(frame.velocities.at[i].w - 1.0);
    } else if (pass.show == SHOW_SPEED) {
        return color_of_value(length(frame.velocities.at[i].xyz));
    } else if (pass.show == SHOW_ID) {
        return color_of_id(frame.ids.at[i]);
    } else if (pass.show == SHOW_NEIGHBOURS) {
        return color_of_value(float(frame.neighbour_counts.at[i]));
    } else if (pass.show == SHOW_CHANNEL) {
        return color_of_value(channel_value(i));
    } else if (pass.show == SHOW_CLUSTER) {
        uint member = 0xffffffffu;
        if (frame.member_count > 0u) {
            member = frame.handles.at[i];
        }
        return member < frame.member_count ? color_of_id(frame.member_clusters.at[member]) : vec3(0.25);
    }
    if (pass.show == SHOW_STRETCH) {
        return color_of_value(frame.link_count > 0u ? uintBitsToFloat(frame.stretch.at[i]) : 0.0);
    }
    return material_of(frame.phases.at[i]).color.rgb;
}

// A lamp above the viewer's left shoulder and a darker rim, so that spheres of one colour can be told apart.
float particle_shade(uint i, vec2 pixel, float z)
{
    const Ellipsoid e = load_ellipsoid(i);
    const vec3 ray = vec3(pixel_slope(pixel), 1.0);
    const vec3 normal = normalize(e.quadric * (z * ray - e.centre));
    const float facing = max(-dot(normal, normalize(ray)), 0.0);
    const float lit = max(dot(normal, normalize(vec3(-0.4, 0.6, -1.0))), 0.0);
    return (0.3 + 0.7 * lit) * (0.6 + 0.4 * facing);
}

// The scene as the finished picture shows it, but darker and with little colour, so that what is measured stands out.
vec3 background(ivec2 texel)
{
    const vec3 scene = filmic(clamp(texelFetch(scene_color_image, texel, 0).rgb * frame.exposure, 0.0, 65504.0));
    return 0.45 * mix(vec3(luminance(scene)), scene, 0.35);
}

const vec3 NOTHING = vec3(0.02); // behind what an image shows

// Optical depth of white water before and behind the surface, or the mean class of what it is of.
vec3 foam_color(ivec2 texel)
{
    float depth = 0.0, class_sum = 0.0;
    if (pass.has_foam != 0u) {
        const uint at = FOAM_WORDS * uint(texel.y * int(frame.width) + texel.x);
        depth = float(frame.foam.at[at + FOAM_FRONT]) + float(frame.foam.at[at + FOAM_BEHIND]);
        class_sum = float(frame.foam.at[at + FOAM_FRONT_LIGHT]) + float(frame.foam.at[at + FOAM_BEHIND_LIGHT]);
    }
    if (depth <= 0.0) {
        return background(texel);
    }
    return color_of_value(pass.show == SHOW_FOAM ? depth / FOAM_UNIT : class_sum / depth);
}

// What the march has collected instead of light, over the share that the smoke hides.
vec3 smoke_color(ivec2 texel)
{
    const float z = scene_view_z(texel);
    const vec4 smoke = smoke_before(vec2(texel) + 0.5, z);
    const bool seen = smoke.a < 0.995;
    float value = pass.show == SHOW_SMOKE ? -log(max(smoke.a, 1e-9)) : smoke.x / max(1.0 - smoke.a, 1e-6);
    if (pass.show == SHOW_SMOKE_SUN && !seen && frame.has_smoke != 0u && !isinf(z)) {
        value = smoke_tau(world_point_at(vec2(texel) + 0.5, z));
    }
    return seen || (pass.show == SHOW_SMOKE_SUN && value > 0.005) ? color_of_value(value) : background(texel);
}

// Liquid, and the grains and bodies in front of it.
vec3 image_color(ivec2 texel)
{
    const vec4 solid = body_normal(texel);
    const float solid_z = solid.w > 0.0 ? scene_view_z(texel) : uintBitsToFloat(NO_DEPTH);
    if (pass.show == SHOW_DEPTH) {
        const float z = min(uintBitsToFloat(texelFetch(surface_depth_image, texel, 0).x), solid_z);
        return isinf(z) ? NOTHING : color_of_value(z);
    } else if (pass.show == SHOW_SMOOTH_DEPTH) {
        const float z = min(texelFetch(smooth_depth_image, texel, 0).x, solid_z);
        return isinf(z) ? NOTHING : color_of_value(z);
    } else if (pass.show == SHOW_NORMALS) {
        vec4 normal = texelFetch(normals_image, texel, 0); // shown as they are in a normal map's file
        normal = normal.w == 0.0 ? solid : normal;         // of liquid, where it is in front
        return normal.w == 0.0 ? NOTHING : srgb_decode(clamp(0.5 * normal.xyz + 0.5, 0.0, 1.0));
    }
    if (pass.show >= SHOW_SMOKE) {
        return smoke_color(texel);
    }
    if (pass.show >= SHOW_FOAM) {
        return foam_color(texel);
    }
    const vec2 at = (vec2(texel) + 0.5) / vec2(2 * imageSize(thickness_store));
    const float metres = textureLod(sampler2D(thickness_image, linear_sampler), at, 0.0).a;
    return metres <= 0.0 ? NOTHING : color_of_value(metres);
}

void main()
{
    const ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(texel, ivec2(frame.width, frame.height)))) {
        return;
    }
    vec3 color;
    if (pass.show >= SHOW_DEPTH) {
        color = image_color(texel);
    } else {
        const uint who = texelFetch(surface_index_image, texel, 0).x;
        const float z = uintBitsToFloat(texelFetch(surface_depth_image, texel, 0).x);
        if (who == 0u || z > scene_view_z(texel)) {
            color = background(texel);
        } else {
            color = particle_color(who - 1u) * particle_shade(who - 1u, vec2(texel) + 0.5, z);
        }
    }
    imageStore(color_store, texel, vec4(color, 1.0));
}
