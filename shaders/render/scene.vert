// SPDX-License-Identifier: MIT
// scene.vert - a solid collider.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "shapes.glsl"
layout(location = 0) out vec3 point;
layout(location = 1) out vec3 normal;
layout(location = 2) flat out vec4 material; // rgb, roughness
layout(location = 3) flat out float size;    // m

void main()
{
    const Shape shape = frame.shapes.at[gl_InstanceIndex];
    const ShapeVertex vertex = frame.shape_vertices.at[gl_VertexIndex];
    point = shape_world_point(shape, vertex);
    normal = shape_turn(shape, vertex.normal.xyz) * (shape.inside_out != 0u ? -1.0 : 1.0);
    material = material_row(shape.material).color;
    size = max(shape.position.w, max(shape.half_size.x, max(shape.half_size.y, shape.half_size.z)));
    gl_Position = frame.view_projection * vec4(point, 1.0);
}
