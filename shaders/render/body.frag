// SPDX-License-Identifier: MIT
// body.frag - what solids.frag needs to know of a mesh.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(location = 0) centroid in vec3 normal;
layout(location = 1) flat in vec4 material; // rgb, roughness
layout(location = 2) centroid in float wet;
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 normal_depth;

void main()
{
    const vec3 n = normalize(normal);
    // Water in the pores of a surface makes it darker, and the film on it smooth.
    color = vec4(material.rgb * mix(1.0, 0.4, wet), mix(material.a, 0.2 * material.a, wet));
    normal_depth = vec4(gl_FrontFacing ? n : -n, frame.near_plane / gl_FragCoord.z); // sheets are seen from both sides
}
