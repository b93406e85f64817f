// SPDX-License-Identifier: MIT
// scene.vert - a solid collider.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "colliders.glsl"
layout(location = 0) out vec3 point;
layout(location = 1) out vec3 normal;
layout(location = 2) flat out vec4 material; // rgb, roughness
layout(location = 3) flat out float size;    // m

void main()
{
    const Collider collider = frame.colliders.at[gl_InstanceIndex];
    const PrimitiveVertex vertex = frame.primitive_vertices.at[gl_VertexIndex];
    point = collider_world_point(collider, vertex);
    normal = collider_turn(collider, vertex.normal.xyz) * (collider.inside_out != 0u ? -1.0 : 1.0);
    material = material_row(collider.material).color;
    size = max(collider.position.w, max(collider.half_size.x, max(collider.half_size.y, collider.half_size.z)));
    gl_Position = frame.view_projection * vec4(point, 1.0);
}
