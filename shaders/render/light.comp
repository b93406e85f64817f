// light.comp - the liquid in the sun's map: distance of its first particle from the map's near plane, and the optical
// depth of all of it. Particles are spheres here; a shadow shows no more.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint STEP = 0u; // 0 clears, 1 adds up, 2 finds the first depth, 3 converts

void add_sphere(uint i)
{
    const vec3 centre = vec3(frame.ellipsoids.at[3u * i].w, frame.ellipsoids.at[3u * i + 1u].w, frame.ellipsoids.at[3u * i + 2u].w);
    const vec3 place = (frame.sun_projection * vec4(centre, 1.0)).xyz;
    const int size = imageSize(light_depth_store).x;
    const float texels_a_metre = 0.5 * float(size) / frame.sun_map.x;
    const vec2 middle = (0.5 * place.xy + 0.5) * float(size);
    const float radius = max(0.8 * frame.spacing, 0.75 / texels_a_metre); // never so small that it falls between texels
    const float reach = radius * texels_a_metre;
    const ivec2 low = max(ivec2(ceil(middle - reach - 0.5)), ivec2(0));
    const ivec2 high = min(ivec2(floor(middle + reach - 0.5)), ivec2(size - 1));
    const float share = THICKNESS_UNIT * frame.spacing * frame.spacing * frame.spacing / (4.18879 * radius * radius * radius);
    const vec3 absorption = material_of(frame.phases.at[i]).absorption.xyz;
    const float metres = place.z * frame.sun_map.z;
    const uint texels = uint(size * size);
    for (int y = low.y; y <= high.y; y++) {
        for (int x = low.x; x <= high.x; x++) {
            const vec2 d = (vec2(x, y) + 0.5 - middle) / reach;
            const float inside = 1.0 - dot(d, d);
            if (inside > 0.0) {
                const float half_chord = radius * sqrt(inside);
                const float chord = 2.0 * half_chord * share;
                const uint texel = uint(y * size + x), sums = texels + frame.thickness_channels * texel;
                if (STEP == 2u) {
                    const uint first = floatBitsToUint(max(metres - half_chord, 0.0));
                    if (first < frame.light_sums.at[texel]) {
                        atomicMin(frame.light_sums.at[texel], first);
                    }
                } else if (frame.thickness_channels == 1u) {
                    atomicAdd(frame.light_sums.at[sums], uint(chord + 0.5));
                } else {
                    atomicAdd(frame.light_sums.at[sums], uint(chord * absorption.x + 0.5));
                    atomicAdd(frame.light_sums.at[sums + 1u], uint(chord * absorption.y + 0.5));
                    atomicAdd(frame.light_sums.at[sums + 2u], uint(chord * absorption.z + 0.5));
                    atomicAdd(frame.light_sums.at[sums + 3u], uint(chord + 0.5));
                }
            }
        }
    }
}

void main()
{
    const uint i = invocation_index();
    if (STEP == 1u) {
        if (i < frame.particle_count) {
            add_sphere(i);
        }
        return;
    }
    if (STEP == 2u) {
        if (i < frame.visible.at[0]) { // nothing else can be first
            add_sphere(frame.visible.at[1u + i]);
        }
        return;
    }
    const int size = imageSize(light_depth_store).x;
    if (i >= uint(size * size)) {
        return;
    }
    const uint texels = uint(size * size), sums = texels + frame.thickness_channels * i;
    if (STEP == 0u) {
        frame.light_sums.at[i] = NO_DEPTH;
        for (uint k = 0u; k < frame.thickness_channels; k++) {
            frame.light_sums.at[sums + k] = 0u;
        }
        return;
    }
    vec4 sum;
    if (frame.thickness_channels == 1u) {
        const float metres = float(frame.light_sums.at[sums]) / THICKNESS_UNIT;
        sum = vec4(metres * frame.materials.at[0].absorption.xyz, metres);
    } else {
        sum = vec4(frame.light_sums.at[sums], frame.light_sums.at[sums + 1u], frame.light_sums.at[sums + 2u],
                   frame.light_sums.at[sums + 3u]) /
              THICKNESS_UNIT;
    }
    const ivec2 texel = ivec2(int(i) % size, int(i) / size);
    imageStore(light_depth_store, texel, uvec4(frame.light_sums.at[i]));
    imageStore(light_thickness_store, texel, min(sum, vec4(60000.0)));
}
