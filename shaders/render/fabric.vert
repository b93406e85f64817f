// SPDX-License-Identifier: MIT
// fabric.vert - the two faces of cloth, and rims between them along its borders.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "body.glsl"
#include "cloth.glsl"
#include "passes/fabric.h"
PUSH_CONSTANTS(FabricPush)
layout(location = 0) centroid out vec3 normal;
layout(location = 1) out vec3 point;
layout(location = 2) out vec2 place;      // m along u and v
layout(location = 3) flat out uint fabric; // row of frame.fabrics, times two; and one more behind

struct Corner {
    uint triangle, number; // 0 to 2
    float side;            // 1 in front, -1 behind
    bool rim;
};

Corner corner_of_face()
{
    const uint triangle = gl_VertexIndex / 3u, k = gl_VertexIndex % 3u;
    const bool back = gl_InstanceIndex == 1u; // it winds the other way
    return Corner(triangle, back && k > 0u ? 3u - k : k, back ? -1.0 : 1.0, false);
}

// Two triangles an edge: its first end in front, behind, its second end behind; first in front, second behind, in front.
Corner corner_of_rim(out uint edge)
{
    const uint triangle = gl_VertexIndex / 18u, k = gl_VertexIndex % 6u;
    edge = gl_VertexIndex % 18u / 6u;
    const bool second = k == 2u || k >= 4u, front = k == 0u || k == 3u || k == 5u;
    return Corner(triangle, second ? (edge + 1u) % 3u : edge, front ? 1.0 : -1.0, true);
}

void main()
{
    uint edge = 0u;
    const Corner corner = push.part == FABRIC_FACES ? corner_of_face() : corner_of_rim(edge);
    const ClothTriangle cloth = cloth_triangle(corner.triangle);
    const uint row = min(frame.cloth_of_triangles.at[corner.triangle], frame.fabric_count - 1u);
    const Fabric look = frame.fabrics.at[row];
    const vec3 front = cloth.normals[corner.number];
    bool drawn = cloth.exists && look.look == FABRIC_WOVEN;
    normal = corner.side * front;
    point = cloth.points[corner.number] + 0.5 * look.thickness * normal;
    if (corner.rim) {
        drawn = drawn && look.thickness > 0.0 && (frame.cloth_borders.at[corner.triangle] >> edge & 1u) != 0u;
        // Bulges outwards, as a hem does.
        const vec3 along = cloth.points[(edge + 1u) % 3u] - cloth.points[edge];
        normal = normalize(normalize(cross(along, front) + 1e-20) + 0.7 * normal);
    }
    const uint uv = 6u * corner.triangle + 2u * corner.number;
    place = look.uv_size * vec2(frame.cloth_uvs.at[uv], frame.cloth_uvs.at[uv + 1u]);
    fabric = 2u * row + (corner.side < 0.0 && !corner.rim ? 1u : 0u);
    gl_Position = vec4(0.0, 0.0, -1e12, 1.0);
    if (drawn) {
        gl_Position = frame.view_projection * vec4(point, 1.0);
    }
}
