// body.frag - a mesh in the light of sun and sky.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "sky.glsl"
#include "shadow.glsl"
#include "lighting.glsl"
layout(location = 0) in vec3 point;
layout(location = 1) in vec3 normal;
layout(location = 2) flat in vec4 material; // rgb, roughness
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 normal_depth;

void main()
{
    const vec3 to_eye = normalize(frame.eye.xyz - point);
    const vec3 n = normalize(normal) * (gl_FrontFacing ? 1.0 : -1.0); // sheets are seen from both sides
    color = solid_light(point, n, to_eye, material.rgb, material.a, 1.0);
    normal_depth = vec4(n, frame.near_plane / gl_FragCoord.z);
}
