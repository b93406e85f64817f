// body.frag - what solids.frag needs to know of a mesh.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
layout(location = 0) in vec3 normal;
layout(location = 1) flat in vec4 material; // rgb, roughness
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 normal_depth;

void main()
{
    const vec3 n = normalize(normal);
    color = material;
    normal_depth = vec4(gl_FrontFacing ? n : -n, frame.near_plane / gl_FragCoord.z); // sheets are seen from both sides
}
