// SPDX-License-Identifier: MIT
// glass.vert - a pane of glass. A little nearer than it is: the floor of a tank lies on the ground.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "colliders.glsl"
#include "sky.glsl"
layout(location = 0) out vec3 point;
layout(location = 1) out vec3 normal;
layout(location = 2) out vec3 local;  // in the collider's own frame
layout(location = 3) flat out vec3 side; // normal in the collider's own frame
layout(location = 4) flat out vec4 box;  // half size; w is the collider's kind
layout(location = 5) flat out vec3 rim_color;

void main()
{
    const Collider collider = frame.colliders.at[gl_InstanceIndex];
    const PrimitiveVertex vertex = frame.primitive_vertices.at[gl_VertexIndex];
    local = collider_local_point(collider, vertex);
    point = collider.position.xyz + collider_turn(collider, local);
    normal = collider_turn(collider, vertex.normal.xyz);
    box = vec4(collider.half_size.xyz, collider.kind);
    side = vertex.normal.xyz;
    const vec3 light = sky_irradiance(vec3(0.0, 1.0, 0.0)) / 3.14159265 + 0.15 * frame.sun_radiance.rgb;
    rim_color = vec3(0.80, 0.95, 0.90) * light;
    gl_Position = frame.view_projection * vec4(point, 1.0);
    gl_Position.z *= 1.0005;
}
