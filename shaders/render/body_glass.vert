// SPDX-License-Identifier: MIT
// body_glass.vert - a mesh of glass, for glass.frag: it has no rims.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "body.glsl"
layout(location = 0) out vec3 point;
layout(location = 1) out vec3 normal;
layout(location = 2) out vec3 local;
layout(location = 3) flat out vec3 side;
layout(location = 4) flat out vec4 box; // w is no MoteColliderKind
layout(location = 5) flat out vec3 rim_color;

void main()
{
    const BodyVertex vertex = frame.body_vertices.at[frame.instances.at[gl_InstanceIndex].first + gl_VertexIndex];
    point = body_point(vertex);
    normal = unpack_direction(vertex.normal);
    local = side = rim_color = vec3(0.0);
    box = vec4(0.0, 0.0, 0.0, 255.0);
    gl_Position = body_position(vertex, frame.view_projection);
    gl_Position.z *= 1.0005;
}
