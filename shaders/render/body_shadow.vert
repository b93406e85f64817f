// SPDX-License-Identifier: MIT
// body_shadow.vert - a mesh as the sun sees it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "body.glsl"

void main()
{
    const BodyVertex vertex = frame.body_vertices.at[frame.instances.at[gl_InstanceIndex].first + gl_VertexIndex];
    gl_Position = body_position(vertex, frame.sun_projection);
}
