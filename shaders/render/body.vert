// SPDX-License-Identifier: MIT
// body.vert - a mesh in the scene.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "body.glsl"
layout(location = 0) centroid out vec3 normal; // triangles may be smaller than pixels
layout(location = 1) flat out vec4 material; // rgb, roughness
layout(location = 2) centroid out float wet;

void main()
{
    const MeshInstance instance = frame.instances.at[gl_InstanceIndex];
    const BodyVertex vertex = frame.body_vertices.at[instance.first + gl_VertexIndex];
    normal = unpack_direction(vertex.normal);
    material = instance.color;
    wet = instance.wet != 0u ? frame.mesh_vertices.at[instance.wet - 1u + gl_VertexIndex].normal.w : 0.0;
    gl_Position = body_position(vertex, frame.view_projection);
}
