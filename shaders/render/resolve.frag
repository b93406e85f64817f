// SPDX-License-Identifier: MIT
// resolve.frag - the samples of a pixel of the scene become one: the mean of their light, as pictures of many samples have
// it, but the depth and the normal of one surface, for a mean of two depths is nobody's.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "frame.glsl"
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 normal_depth;
layout(constant_id = 0) const uint SAMPLES = 4u;
layout(constant_id = 1) const uint BODIES = 0u; // whether there are normals

// Samples this close to the nearest one's reversed depth are of its surface.
const float SAME = 0.98;

// Of the nearest surface if that covers half of the pixel, else of the one behind. Reversed depth is linear across a
// plane and samples lie evenly around the middle: there, their mean is the middle's depth.
float one_depth(ivec2 texel)
{
    float depths[SAMPLES], nearest = 0.0;
    [[unroll]] for (int k = 0; k < int(SAMPLES); k++) {
        depths[k] = texelFetch(depth_samples_image, texel, k).x;
        nearest = max(nearest, depths[k]);
    }
    float sum = 0.0, behind = 0.0;
    uint count = 0u;
    [[unroll]] for (int k = 0; k < int(SAMPLES); k++) {
        const bool near = depths[k] > SAME * nearest;
        sum += near ? depths[k] : 0.0;
        count += near ? 1u : 0u;
        behind = near ? behind : max(behind, depths[k]);
    }
    return 2u * count >= SAMPLES ? sum / float(count) : behind;
}

// Of the grain or mesh that has this depth; w is 0 where another thing is in front.
vec4 normal_of(ivec2 texel, float depth)
{
    const float z = frame.near_plane / depth;
    vec3 sum = vec3(0.0);
    for (int k = 0; k < int(SAMPLES); k++) {
        const vec4 sampled = texelFetch(normal_samples_image, texel, k);
        const vec3 ray = normalize(pixel_direction(gl_FragCoord.xy));
        const float slant = max(-dot(sampled.xyz, ray), 0.1); // its depth changes by up to 1 / slant within a pixel
        sum += sampled.w > 0.0 && abs(sampled.w - z) < z / (frame.focal * slant) ? sampled.xyz : vec3(0.0);
    }
    return dot(sum, sum) > 0.0 ? vec4(normalize(sum), z) : vec4(0.0);
}

void main()
{
    const ivec2 texel = ivec2(gl_FragCoord.xy);
    vec4 sum = vec4(0.0);
    for (int k = 0; k < int(SAMPLES); k++) {
        sum += texelFetch(color_samples_image, texel, k);
    }
    color = sum / float(SAMPLES);
    const float depth = one_depth(texel);
    normal_depth = vec4(0.0);
    if (BODIES != 0u) {
        normal_depth = normal_of(texel, depth);
    }
    gl_FragDepth = depth;
}
