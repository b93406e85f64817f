// SPDX-License-Identifier: MIT
// grains.comp - solid particles that are drawn as spheres: which ones, where the sun meets the first of them, and who is
// nearest at each pixel. Depths are minima of integers: the order of atomics does not matter.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "depth_splat.glsl"
#include "passes/grains.h"
PUSH_CONSTANTS(GrainsPush)
layout(local_size_x = 64) in;
// 0 lists those without a mesh, 1 lists all, 2 puts them in the sun's map, 3 finds the nearest depth, 4 who has it;
// 5 and 6 do so for large ones
layout(constant_id = 0) const uint STEP = 0u;
bool has_mesh(uint i)
{
    const uint kind = frame.phases.at[i] & PHASE_KIND;
    uint row = NO_ROW;
    if (frame.has_mesh_count > 0u) {
        const uint handle = frame.handles.at[i];
        // A rope hides what it is made of, not a grain that it is tied to.
        row = handle < HANDLE_SINGLE ? handle : handle != NO_ROW && kind == PHASE_BODY ? frame.member_count + (handle - HANDLE_SINGLE) : NO_ROW;
    }
    const bool cloth = frame.cloth_triangle_count > 0u && kind == PHASE_CLOTH;
    return cloth || (row < frame.has_mesh_count && frame.has_mesh.at[row] != 0u);
}

// A sphere in the sun's map, never so small that it falls between texels: the rows of one slice of it.
void put_in_map(uint i, int slice)
{
    const vec3 place = (frame.sun_projection * vec4(frame.positions.at[i].xyz, 1.0)).xyz;
    const int size = int(frame.shadow_size);
    const vec2 centre = (0.5 * place.xy + 0.5) * float(size);
    const float reach = max(frame.solid_radius * 0.5 * float(size) / frame.sun_map.x, 0.75); // texels
    const ivec2 low = max(ivec2(ceil(centre - reach - 0.5)), ivec2(0));
    const ivec2 high = min(ivec2(floor(centre + reach - 0.5)), ivec2(size - 1));
    for (int y = low.y + slice; y <= high.y; y += int(push.slices)) {
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

Ellipsoid ellipsoid_of(uint i)
{
    return make_sphere(frame.positions.at[i].xyz, frame.solid_radius);
}

float nearest_of(Ellipsoid e)
{
    return 0.99999 * (e.centre.z - frame.solid_radius);
}

void main()
{
    const uint i = invocation_index();
    if (STEP <= 1u) {
        if (i < frame.particle_count && is_solid(i) && !is_gas(i) && (STEP == 1u || !has_mesh(i))) {
            frame.grains.at[1u + atomicAdd(frame.grains.at[0], 1u)] = i;
        }
    } else if (STEP == 2u) {
        if (i / push.slices < frame.grains.at[0]) {
            put_in_map(frame.grains.at[1u + i / push.slices], int(i % push.slices));
        }
    } else if (STEP >= 5u) {
        splat_large_ones(frame.grain_splats, i, STEP == 6u);
    } else if (i < frame.grains.at[0]) {
        splat(frame.grain_splats, frame.grains.at[1u + i], STEP == 4u);
    }
}
