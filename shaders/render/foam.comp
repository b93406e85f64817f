// SPDX-License-Identifier: MIT
// foam.comp - optical depth of spray, foam and bubbles. An invocation is a particle: a ball that moves while the shutter is
// open, which on the screen is a capsule. Its optical depth falls from the middle to the edge as (1 - d^2)^2, so that its
// edge is smooth, and adds up to the same whatever its length. Bubbles and foam below the surface go into a plane of their
// own, which is refracted and absorbed with what else is behind the surface (composite.comp).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "shadow.glsl"
#include "passes/foam.h"
PASS_CONSTANTS(FoamConstants)
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint OF = 0u; // what is drawn: passive particles, or isolated particles of liquid
const uint DROPS = 1u;

// PCG's output permutation (Jarzynski, Olano 2020).
float hash_of(uint id)
{
    const uint state = id * 747796405u + 2891336453u;
    const uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return float(((word >> 22u) ^ word) >> 8u) / 16777216.0;
}

// Log-normal by id alone. The sum of four evenly distributed numbers is nearly normal, and ends at 3.5 deviations.
float radius_of(uint id)
{
    const float sum = hash_of(4u * id) + hash_of(4u * id + 1u) + hash_of(4u * id + 2u) + hash_of(4u * id + 3u);
    return pass.radius * exp(pass.spread * (sum - 2.0) * 1.7320508);
}

// Share of the sun that solids let through, without a search for penumbras: the shadows of many particles add up to a soft
// one.
float sun_share(vec3 point)
{
    const vec3 place = (frame.sun_projection * vec4(point, 1.0)).xyz;
    const vec2 at = 0.5 * place.xy + 0.5;
    const float texel = 1.0 / float(frame.shadow_size);
    return smoke_sun(point) * (all(lessThan(abs(place.xy), vec2(0.999))) ? lit_share(at, place.z - 1.5 * texel) : 1.0);
}

struct Streak {
    vec2 from, to; // pixels
    float radius;  // pixels
    float peak;    // optical depth in the middle
};

// The capsule of a ball at view point c that moves by `way` in view space, with its optical depth spread over it: of the
// profile, pi/3 r^2 is the integral over a disc, and 16/15 r that across a band.
Streak streak_of(vec3 c, vec3 way, float radius, float depth)
{
    Streak streak;
    const float pixels = radius * frame.focal / c.z;
    const vec2 middle = pixel_of(c);
    const vec2 moved = (vec2(way.x, -way.y) - (way.z / c.z) * vec2(c.x, -c.y)) * (frame.focal / c.z);
    const float longest = min(length(moved), FOAM_LONGEST);
    const vec2 half_way = 0.5 * longest * moved / max(length(moved), 1e-6);
    streak.from = middle - half_way;
    streak.to = middle + half_way;
    streak.radius = max(pixels, FOAM_SMALLEST) + 0.5;
    const float wanted = depth * pixels * pixels * (3.14159265 / 3.0);
    streak.peak = wanted / (3.14159265 / 3.0 * streak.radius * streak.radius + 16.0 / 15.0 * streak.radius * longest);
    return streak;
}

float depth_at(Streak streak, vec2 pixel)
{
    const vec2 along = streak.to - streak.from, offset = pixel - streak.from;
    const float t = clamp(dot(offset, along) / max(dot(along, along), 1e-6), 0.0, 1.0);
    const vec2 apart = offset - t * along;
    const float inside = max(1.0 - dot(apart, apart) / (streak.radius * streak.radius), 0.0);
    return streak.peak * inside * inside;
}

// How much of a particle counts as behind the surface, of view z s: foam lies around it.
float share_behind(float z, float s, float shown)
{
    const float below = (z - s) / frame.spacing;
    const float from = mix(1.0, 0.3, clamp(shown - 1.0, 0.0, 1.0));
    return smoothstep(from, from + 0.8, below);
}

void add_streak(Streak streak, float z, float behind, float light, float metres)
{
    const ivec2 size = ivec2(frame.width, frame.height);
    const ivec2 low = clamp(ivec2(floor(min(streak.from, streak.to) - streak.radius)), ivec2(0), size);
    const ivec2 high = clamp(ivec2(ceil(max(streak.from, streak.to) + streak.radius)), ivec2(0), size);
    const ivec2 box = max(high - low, ivec2(0));
    const uint front_light = uint(light * 256.0 + 0.5);
    for (int k = 0; k < box.x * box.y; k++) {
        const ivec2 texel = low + ivec2(k % box.x, k / box.x);
        const float depth = depth_at(streak, vec2(texel) + 0.5);
        if (depth > 1e-4 && scene_view_z(texel) > z) {
            const uint at = FOAM_WORDS * uint(texel.y * size.x + texel.x);
            const uint all_of_it = uint(depth * FOAM_UNIT + 0.5);
            const uint deep = uint(behind * float(all_of_it) + 0.5);
            const uint front = all_of_it - deep;
            if (front > 0u) {
                atomicAdd(frame.foam.at[at + FOAM_FRONT], front);
                atomicAdd(frame.foam.at[at + FOAM_FRONT_LIGHT], (front * front_light) >> 8u);
            }
            if (deep > 0u) {
                atomicAdd(frame.foam.at[at + FOAM_BEHIND], deep);
                atomicAdd(frame.foam.at[at + FOAM_BEHIND_LIGHT], (deep * front_light) >> 8u);
                atomicAdd(frame.foam.at[at + FOAM_BEHIND_WAY], uint(depth * behind * metres * FOAM_WAY_UNIT + 0.5));
            }
        }
    }
}

// A part of a particle that moves with `velocity`: at `point`, of a radius and optical depth, of class `shown`.
void add_ball(vec3 point, vec3 velocity, float radius, float depth, float shown)
{
    const vec3 c = to_view(point);
    const vec2 pixel = pixel_of(c), screen = vec2(frame.width, frame.height);
    if (c.z <= frame.near_plane || any(lessThan(pixel, vec2(-32.0))) || any(greaterThan(pixel, screen + 32.0))) {
        return;
    }
    const vec3 way = vec3(dot(velocity, frame.right.xyz), dot(velocity, frame.up.xyz),
                          dot(velocity, frame.forward.xyz)) * pass.shutter;
    const float surface = texelFetch(smooth_depth_image, ivec2(clamp(pixel, vec2(0.5), screen - 0.5)), 0).x;
    const float behind = isinf(surface) ? 0.0 : share_behind(c.z, surface, shown);
    const float light = pass.shows_class != 0u ? shown : sun_share(point);
    add_streak(streak_of(c, way, radius, depth), c.z, behind, light, clamp(c.z - surface, 0.0, 64.0));
}

void add_passive(uint i)
{
    const vec4 place = frame.diffuse_positions.at[i], motion = frame.diffuse_velocities.at[i];
    if (place.w <= 0.0 || motion.w > 2.5) { // smoke
        return;
    }
    const float shown = clamp(motion.w, 0.0, 2.0);
    const float spray = max(1.0 - shown, 0.0);
    const float radius = radius_of(frame.diffuse_ids.at[i]) * mix(1.0, 0.75, spray);
    const float fading = clamp(place.w / 0.6, 0.0, 1.0); // foam thins before it is gone
    const float depth = pass.density * fading * (shown < 1.0 ? mix(1.0, 0.8, spray) : mix(1.0, 0.45, shown - 1.0));
    add_ball(place.xyz, motion.xyz, radius, depth, shown);
}

// Drops of an isolated particle of liquid: spray around its place, as far apart as its volume is wide. Where each is, and
// how large, follows from the particle's id and the drop's number.
void add_drops(uint i)
{
    const uint id = frame.ids.at[i];
    for (uint k = 0u; k < (is_drop(i) ? pass.drops : 0u); k++) {
        const uint own = id * 64u + k;
        const vec3 unit = vec3(hash_of(own ^ 0x51ed270bu), hash_of(own ^ 0x2c1b3c6du), hash_of(own ^ 0x297a2d39u)) - 0.5;
        add_ball(frame.positions.at[i].xyz + frame.spacing * unit, frame.velocities.at[i].xyz, radius_of(own), 0.8 * pass.density, 0.0);
    }
}

void main()
{
    const uint i = invocation_index();
    if (OF == DROPS) {
        if (i < frame.particle_count && !is_solid(i)) {
            add_drops(i);
        }
    } else if (i < min(pass.capacity, frame.diffuse_counts.at[0])) {
        add_passive(i);
    }
}
