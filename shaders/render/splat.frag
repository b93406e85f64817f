// SPDX-License-Identifier: MIT
// splat.frag - where the pixel's ray enters the ellipsoid. The depth test keeps the nearest.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "ellipsoid.glsl"
layout(location = 0) flat in uint particle;
layout(location = 0) out uint depth_bits;
layout(location = 1) out uint index;

void main()
{
    const vec2 hits = ray_hits(load_ellipsoid(particle), pixel_slope(gl_FragCoord.xy));
    if (hits.y <= 0.0 || hits.x <= frame.near_plane) {
        discard;
    }
    gl_FragDepth = frame.near_plane / hits.x;
    depth_bits = floatBitsToUint(hits.x);
    index = particle + 1u;
}
