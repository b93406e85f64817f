// SPDX-License-Identifier: MIT
// caustics.comp - the sun's light that the liquid's surface refracts, where it lands: a map of it as the sun sees the scene.
//
// Each texel stands for equal flux of the sun. The liquid's first surface, smoothed, bends it (Snell) and reflects some
// (Fresnel); it dies away along its way through the liquid (Beer-Lambert), and is added where it meets the ground or the
// first solid. The sum over the flux of a texel without liquid is what sunlight is multiplied by there:
//
//     c(p) = sum over photons of (1 - F) exp(-sigma L) w(p - p_photon)
//
// A flat pool gives (1 - F) exp(-sigma L) exactly, since all of its photons are shifted by the same vector; a crest of
// radius R focuses at n R / (n - 1), 4 R for water (tests/test_render_caustics.c). Sums are in fixed point, so the order
// of atomics does not matter, and a picture does not depend on any other.
//
// Below thin sheets and drops there is air again: after as much liquid as the sun's ray meets there, light goes on in
// the sun's direction, as behind a plate.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "fresnel.glsl"
#include "passes/caustics.h"
PASS_CONSTANTS(CausticsConstants)
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint STEP = 0u; // 0 clears, 1 splats, 2 and 3 filter along x and y, 4 refracts, 5 resolves

const int SIZE = int(CAUSTICS_SIZE);

uint texel_index(ivec2 texel)
{
    return uint(texel.y * SIZE + texel.x);
}

uint plane_at(uint plane, uint texel)
{
    return plane * CAUSTICS_SIZE * CAUSTICS_SIZE + texel;
}

// Metres from the near plane of the sun's maps; infinite where there is no liquid.
float depth_at(uint plane, ivec2 texel)
{
    const bool inside = all(greaterThanEqual(texel, ivec2(0))) && all(lessThan(texel, ivec2(SIZE)));
    return inside ? uintBitsToFloat(pass.work.at[plane_at(plane, texel_index(texel))]) : uintBitsToFloat(NO_DEPTH);
}

// A particle as a sphere, never so small that it falls between texels.
void splat(uint i)
{
    const vec3 centre = vec3(frame.ellipsoids.at[3u * i].w, frame.ellipsoids.at[3u * i + 1u].w,
                             frame.ellipsoids.at[3u * i + 2u].w);
    const vec3 map = (frame.sun_projection * vec4(centre, 1.0)).xyz;
    const vec2 place = (map.xy - frame.caustics_map.xy) * frame.caustics_map.z;
    const float texels_a_metre = frame.caustics_map.z / frame.sun_map.x;
    const float radius = max(0.8 * frame.spacing, 0.75 / texels_a_metre), reach = radius * texels_a_metre;
    const ivec2 low = max(ivec2(ceil(place - reach - 0.5)), ivec2(0));
    const ivec2 high = min(ivec2(floor(place + reach - 0.5)), ivec2(SIZE - 1));
    if (any(greaterThan(low, high))) {
        return;
    }
    ivec2 texel = low; // one loop, of the kind that depth_splat.glsl has
    do {
        const vec2 d = (vec2(texel) + 0.5 - place) / reach;
        const float inside = 1.0 - dot(d, d);
        const uint first = floatBitsToUint(max(map.z * frame.sun_map.z - radius * sqrt(max(inside, 0.0)), 0.0));
        const uint at = plane_at(0u, texel_index(texel));
        if (inside > 0.0 && first < pass.work.at[at]) {
            atomicMin(pass.work.at[at], first);
        }
        texel.x++;
        if (texel.x > high.x) {
            texel = ivec2(low.x, texel.y + 1);
        }
    } while (texel.y <= high.y);
}

// A bell over what is less than six spacings nearer or farther, as slopes are: spheres merge, drops before a pool stay apart. Its weight
// (1 - d^2)^2 is close to a Gaussian's, and cheaper.
void smooth_depth(ivec2 texel, uint from, uint to, ivec2 along)
{
    const float own = depth_at(from, texel);
    float sum = 0.0, weights = 0.0;
    const int reach = isinf(own) ? -1 : int(pass.filter_reach);
    for (int k = -reach; k <= reach; k++) {
        const float other = depth_at(from, texel + k * along);
        const float distance = float(k) / pass.filter_reach, bell = max(1.0 - distance * distance, 0.0);
        const float weight = abs(other - own) < 6.0 * frame.spacing ? bell * bell : 0.0;
        sum += weight > 0.0 ? weight * other : 0.0;
        weights += weight;
    }
    pass.work.at[plane_at(to, texel_index(texel))] = floatBitsToUint(weights > 0.0 ? sum / weights : own);
}

// How the surface's depth changes along the maps' x and y, m/m. Where it ends or breaks off: as a plane that faces the sun,
// which bends nothing.
vec2 surface_slope(ivec2 texel)
{
    const float left = depth_at(0u, texel - ivec2(1, 0)), right = depth_at(0u, texel + ivec2(1, 0));
    const float below = depth_at(0u, texel - ivec2(0, 1)), over = depth_at(0u, texel + ivec2(0, 1));
    const vec2 change = vec2(right - left, over - below);
    const bool whole = max(abs(change.x), abs(change.y)) < 3.0 * frame.spacing; // false if one is not there
    return whole ? change * (0.5 * frame.caustics_map.z / frame.sun_map.x) : vec2(0.0);
}

// Metres along a ray to the first solid below the surface, or to the ground: a solid is where the sun's map has one at the
// place of the ray, which is found by iterating.
float way_to_receiver(vec3 point, vec3 direction, vec3 away, float metres)
{
    const float down = -direction.y;
    float way = frame.ground_visible != 0u && down > 1e-4 ? max(point.y - frame.ground_color.w, 0.0) / down : 1e30;
    float found = 0.0;
    for (int k = 0; k < 3; k++) {
        const vec3 place = (frame.sun_projection * vec4(point + direction * found, 1.0)).xyz;
        const ivec2 tap = ivec2((0.5 * place.xy + 0.5) * float(frame.shadow_size));
        const float solid = texelFetch(shadow_depth_image, clamp(tap, ivec2(0), ivec2(frame.shadow_size) - 1), 0).x;
        const bool hit = solid < 1.0 && solid * frame.sun_map.z > metres;
        found = hit ? (solid * frame.sun_map.z - metres) / dot(direction, away) : min(way, frame.sun_map.z);
    }
    return min(way, found);
}

void add_flux(vec2 place, vec3 flux)
{
    const ivec2 low = ivec2(floor(place - 0.5));
    const vec2 part = place - 0.5 - vec2(low);
    for (int k = 0; k < 4; k++) {
        const ivec2 offset = ivec2(k & 1, k >> 1), texel = low + offset;
        if (all(greaterThanEqual(texel, ivec2(0))) && all(lessThan(texel, ivec2(SIZE)))) {
            const vec2 weight = mix(1.0 - part, part, vec2(offset));
            const uvec3 share = uvec3(flux * (CAUSTICS_UNIT * weight.x * weight.y) + 0.5);
            const uint at = texel_index(texel);
            atomicAdd(pass.work.at[plane_at(2u, at)], share.r);
            atomicAdd(pass.work.at[plane_at(3u, at)], share.g);
            atomicAdd(pass.work.at[plane_at(4u, at)], share.b);
        }
    }
}

// Light that has entered the liquid.
struct Refracted {
    vec3 direction;
    float longer; // its way through a slab, over that of the sun's ray
    float share;  // of the texel's light
};

// The light of a texel's middle, or of a part of the texel, after its way through the liquid. `metres` is the depth of the
// surface there.
void land(Refracted ray, vec2 place, float metres)
{
    const vec3 away = -frame.sun_direction.xyz;
    const vec2 map = frame.caustics_map.xy + place / frame.caustics_map.z;
    const vec3 point = pass.origin.xyz + map.x * frame.sun_map.x * pass.side.xyz +
                       map.y * frame.sun_map.y * pass.above.xyz + metres * away;
    const vec4 column = textureLod(sampler2D(liquid_shadow_thickness_image, linear_sampler), 0.5 * map + 0.5, 0.0);
    const float receiver = way_to_receiver(point, ray.direction, away, metres);
    const float liquid = column.a * ray.longer;
    // A column that ends about where the receiver is lies on it.
    const float way = liquid + 2.0 * frame.spacing > receiver ? receiver : liquid;
    const vec2 lands = (frame.sun_projection * vec4(point + ray.direction * way, 1.0)).xy;
    const vec3 left = exp(-column.rgb / max(column.a, 1e-6) * way);
    add_flux((lands - frame.caustics_map.xy) * frame.caustics_map.z, ray.share * left);
}

// How many texels of the ground's light a step of a texel along `axis` is wide, as for a plane: `rise` is how far the
// surface goes up with it, m/m.
float stretch(vec3 direction, vec2 axis, float rise)
{
    const float way = rise / max(-direction.y, 0.1);
    return length(axis + way * vec2(dot(direction, pass.side.xyz), dot(direction, pass.above.xyz)));
}

// What spreads its light over more than a texel, as the sides of a pool do, is divided into parts that land closer.
void refract_texel(ivec2 texel)
{
    const vec2 middle = vec2(texel) + 0.5;
    const float metres = depth_at(0u, texel);
    if (isinf(metres)) { // straight on
        for (uint channel = 2u; channel < CAUSTICS_PLANES; channel++) {
            atomicAdd(pass.work.at[plane_at(channel, texel_index(texel))], uint(CAUSTICS_UNIT));
        }
        return;
    }
    const vec3 away = -frame.sun_direction.xyz;
    const vec2 slope = surface_slope(texel);
    const vec3 normal = normalize(slope.x * pass.side.xyz + slope.y * pass.above.xyz - away);
    const vec3 direction = refract(away, normal, 1.0 / pass.refraction);
    const float cos_in = -dot(away, normal), cos_out = -dot(direction, normal);
    const float wide = max(stretch(direction, vec2(1.0, 0.0), pass.side.y + slope.x * away.y),
                           stretch(direction, vec2(0.0, 1.0), pass.above.y + slope.y * away.y));
    const int parts = int(clamp(ceil(2.0 * wide - 1.0), 1.0, 4.0));
    const float share = (1.0 - dielectric_fresnel(cos_in, pass.refraction)) / float(parts * parts);
    const Refracted ray = Refracted(direction, cos_in / max(cos_out, 1e-3), share);
    const float a_texel = frame.sun_map.x / frame.caustics_map.z; // m
    for (int k = 0; k < parts * parts; k++) {
        const vec2 offset = (vec2(k % parts, k / parts) + 0.5) / float(parts) - 0.5;
        land(ray, middle + offset, metres + dot(slope, offset) * a_texel);
    }
}

// By a quadratic B-spline, and at the map's border into what is outside of it. w is the depth of the first surface, 0
// where there is none: behind it everything is lit by the map.
vec4 resolve(ivec2 texel)
{
    const float weights[3] = float[](0.125, 0.75, 0.125);
    vec3 sum = vec3(0.0);
    for (int y = 0; y < 3; y++) {
        for (int x = 0; x < 3; x++) {
            const ivec2 other = clamp(texel + ivec2(x - 1, y - 1), ivec2(0), ivec2(SIZE - 1));
            const uint at = texel_index(other);
            sum += vec3(pass.work.at[plane_at(2u, at)], pass.work.at[plane_at(3u, at)], pass.work.at[plane_at(4u, at)]) *
                   (weights[x] * weights[y]);
        }
    }
    const ivec2 inside = min(texel, SIZE - 1 - texel);
    const float border = smoothstep(1.0, 12.0, float(min(inside.x, inside.y)));
    const float first = depth_at(0u, texel);
    return vec4(mix(vec3(1.0), sum / CAUSTICS_UNIT, border), isinf(first) ? 0.0 : first);
}

void main()
{
    const uint i = invocation_index();
    const ivec2 texel = ivec2(int(i) % SIZE, int(i) / SIZE);
    if (STEP == 1u) {
        if (i < frame.visible.at[0] && !is_solid(frame.visible.at[1u + i])) {
            splat(frame.visible.at[1u + i]);
        }
    } else if (texel.y < SIZE) {
        if (STEP == 0u) {
            pass.work.at[plane_at(0u, i)] = NO_DEPTH;
            pass.work.at[plane_at(2u, i)] = 0u;
            pass.work.at[plane_at(3u, i)] = 0u;
            pass.work.at[plane_at(4u, i)] = 0u;
        } else if (STEP == 2u) {
            smooth_depth(texel, 0u, 1u, ivec2(1, 0));
        } else if (STEP == 3u) {
            smooth_depth(texel, 1u, 0u, ivec2(0, 1));
        } else if (STEP == 4u) {
            refract_texel(texel);
        } else {
            frame.caustics.at[i] = resolve(texel);
        }
    }
}
