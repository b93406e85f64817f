// SPDX-License-Identifier: MIT
// grains.frag - what solids.frag needs to know of the nearest grain at a pixel (grains.comp), over a triangle that covers
// the picture.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 normal_depth;

// -1 to 1, the same for an id wherever its grain goes. The hash is PCG's output permutation (Jarzynski, Olano 2020).
float shade_of(uint id)
{
    const uint state = id * 747796405u + 2891336453u;
    const uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return float(((word >> 22u) ^ word) & 0xffffu) / 32767.5 - 1.0;
}

void main()
{
    const uint pixel = uint(gl_FragCoord.y) * frame.width + uint(gl_FragCoord.x);
    const uint who = frame.grain_splats.at[frame.width * frame.height + pixel];
    if (who == 0u) {
        discard;
    }
    // Software drivers shade blocks of pixels, those beyond the picture and those discarded included: what such a pixel
    // finds may be anything, and must not be an address.
    const uint grain = who - 1u < frame.particle_count ? who - 1u : 0u;
    const float z = uintBitsToFloat(frame.grain_splats.at[pixel]);
    const vec3 point = world_point_at(gl_FragCoord.xy, z);
    const vec3 normal = normalize(point - frame.positions.at[grain].xyz);
    const Material material = material_of(frame.phases.at[grain]);
    const float shade = 1.0 + material.absorption.w * shade_of(frame.ids.at[grain]);
    color = vec4(min(material.color.rgb * shade, 1.0), material.color.a);
    normal_depth = vec4(normal, z);
    gl_FragDepth = frame.near_plane / z;
}
