// SPDX-License-Identifier: MIT
// shadow.vert - a solid as the sun sees it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "colliders.glsl"

void main()
{
    const vec3 point = collider_world_point(frame.colliders.at[gl_InstanceIndex], frame.primitive_vertices.at[gl_VertexIndex]);
    gl_Position = frame.sun_projection * vec4(point, 1.0);
}
