// grains.comp - solid particles that are drawn as spheres: which ones, where the sun meets the first of them, and who is
// nearest at each pixel. Depths are minima of integers: the order of atomics does not matter.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "ellipsoid.glsl"
layout(local_size_x = 64) in;
// 0 lists those without a mesh, 1 lists all, 2 puts them in the sun's map, 3 finds the nearest depth, 4 who has it
layout(constant_id = 0) const uint STEP = 0u;

bool is_dressed(uint i)
{
    uint member = 0xffffffffu;
    if (frame.dressed_count > 0u) {
        member = frame.members.at[i];
    }
    return member < frame.dressed_count && frame.dressed.at[member] != 0u;
}

// A sphere in the sun's map, never so small that it falls between texels.
void put_in_map(uint i)
{
    const vec3 place = (frame.sun_projection * vec4(frame.positions.at[i].xyz, 1.0)).xyz;
    const int size = int(frame.shadow_size);
    const vec2 centre = (0.5 * place.xy + 0.5) * float(size);
    const float reach = max(frame.solid_radius * 0.5 * float(size) / frame.sun_map.x, 0.75); // texels
    const ivec2 low = max(ivec2(ceil(centre - reach - 0.5)), ivec2(0));
    const ivec2 high = min(ivec2(floor(centre + reach - 0.5)), ivec2(size - 1));
    for (int y = low.y; y <= high.y; y++) {
        for (int x = low.x; x <= high.x; x++) {
            const vec2 d = (vec2(x, y) + 0.5 - centre) / reach;
            const float inside = 1.0 - dot(d, d);
            const float depth = place.z - frame.solid_radius * sqrt(max(inside, 0.0)) / frame.sun_map.z;
            const uint bits = floatBitsToUint(max(depth, 0.0)), texel = uint(y * size + x);
            if (inside > 0.0 && bits < frame.grain_map.at[texel]) {
                atomicMin(frame.grain_map.at[texel], bits);
            }
        }
    }
}

void splat(uint i)
{
    const Ellipsoid e = make_sphere(frame.positions.at[i].xyz, frame.solid_radius);
    const vec4 bounds = screen_bounds(e);
    const ivec2 low = max(ivec2(ceil(bounds.xy - 0.5)), ivec2(0));
    const ivec2 high = min(ivec2(floor(bounds.zw - 0.5)), ivec2(frame.width, frame.height) - 1);
    UintTarget splats = frame.grain_splats;
    const float near_plane = frame.near_plane, step = 1.0 / frame.focal;
    const float nearest = 0.99999 * (e.centre.z - frame.solid_radius); // no hit is nearer
    const vec2 corner = pixel_slope(vec2(0.5));
    const int width = int(frame.width);
    const uint pixels = frame.width * frame.height;
    for (int y = low.y; y <= high.y; y++) {
        for (int x = low.x; x <= high.x; x++) {
            const uint pixel = uint(y * width + x), there = splats.at[pixel];
            if (uintBitsToFloat(there) >= nearest) { // most grains of a pile are hidden by others
                const vec2 hits = ray_hits(e, corner + vec2(x, -y) * step);
                const uint bits = floatBitsToUint(hits.x);
                if (hits.y > 0.0 && hits.x > near_plane) {
                    if (STEP == 3u && bits < there) {
                        atomicMin(splats.at[pixel], bits);
                    } else if (STEP == 4u && bits == there) {
                        atomicMax(splats.at[pixels + pixel], i + 1u);
                    }
                }
            }
        }
    }
}

void main()
{
    const uint i = invocation_index();
    if (STEP <= 1u) {
        if (i < frame.particle_count && is_solid(i) && (STEP == 1u || !is_dressed(i))) {
            frame.grains.at[1u + atomicAdd(frame.grains.at[0], 1u)] = i;
        }
    } else if (i < frame.grains.at[0]) {
        const uint grain = frame.grains.at[1u + i];
        if (STEP == 2u) {
            put_in_map(grain);
        } else {
            splat(grain);
        }
    }
}
