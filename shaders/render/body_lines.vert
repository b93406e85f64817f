// SPDX-License-Identifier: MIT
// body_lines.vert - an edge of a mesh: an instance of the draw an edge, three a triangle.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "body.glsl"
#include "lines.glsl"
#include "passes/lines.h"
PUSH_CONSTANTS(LinesPush)
void main()
{
    const uint edge = gl_InstanceIndex, corner = edge % 3u;
    const MeshInstance body = frame.instances.at[push.instance];
    const uint next = corner == 2u ? edge - 2u : edge + 1u;
    const BodyVertex a = frame.body_vertices.at[body.first + frame.mesh_triangles.at[push.first_index + edge]];
    const BodyVertex b = frame.body_vertices.at[body.first + frame.mesh_triangles.at[push.first_index + next]];
    const float opacity = isinf(a.x) || isinf(b.x) ? 0.0 : 1.0;
    const vec3 there = opacity > 0.0 ? body_point(a) : vec3(0.0), end = opacity > 0.0 ? body_point(b) : vec3(0.0);
    draw_line(vec4(there, opacity), vec4(end, opacity), push.rgb.rgb * (push.rgb.w > 0.0 ? vec3(1.0) : body.color.rgb), push.half_width);
}
