// SPDX-License-Identifier: MIT
// cloth.comp - vertices of cloth: where their particles are, and normals of the triangles around them, which each vertex
// gathers itself.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference_uvec2 : require
#include "frame.glsl"
#include "body.glsl"
#include "cloth.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint STEP = 0u; // 0 places vertices, 1 makes normals, 2 finds borders
void place(uint v)
{
    const uint slot = handle_slot(frame.cloth_handles.at[v]);
    vec3 point = vec3(uintBitsToFloat(NO_DEPTH), 0.0, 0.0);
    if (slot < frame.particle_count) {
        point = frame.positions.at[slot].xyz;
    }
    frame.cloth_vertices.at[v] = BodyVertex(point.x, point.y, point.z, 0u);
}

// A vertex that was split from another has some of the triangles that are listed for that one.
uint fan_root(uint v)
{
    return uvec2(frame.cloth_roots) != uvec2(0u) ? frame.cloth_roots.at[v] : v;
}

// The sum of the triangles' normals, each as long as twice its area. A triangle that has lost a corner has no part.
void bend(uint v)
{
    vec3 sum = vec3(0.0);
    const uint root = fan_root(v), end = frame.cloth_fan_starts.at[root + 1u];
    for (uint k = frame.cloth_fan_starts.at[root]; k < end; k++) {
        const uint corner = frame.cloth_fans.at[k];
        const ClothTriangle triangle = cloth_triangle(corner / 3u);
        sum += triangle.exists && frame.cloth_corners.at[corner] == v ? cross(triangle.points[1] - triangle.points[0], triangle.points[2] - triangle.points[0]) : vec3(0.0);
    }
    frame.cloth_vertices.at[v].normal = pack_direction(dot(sum, sum) > 0.0 ? sum : vec3(0.0, 1.0, 0.0));
}

bool has_edge(uint triangle, uint a, uint b)
{
    const uvec3 corners = cloth_corners(triangle);
    return any(equal(corners, uvec3(a))) && any(equal(corners, uvec3(b))) && cloth_triangle(triangle).exists;
}

// An edge is a border unless another triangle around its first vertex has it, too.
void find_borders(uint triangle)
{
    const uvec3 corners = cloth_corners(triangle);
    uint borders = 0u;
    for (uint k = 0u; k < 3u && corners[k] < frame.cloth_vertex_count; k++) {
        const uint a = corners[k], b = corners[k == 2u ? 0u : k + 1u], root = fan_root(a), end = frame.cloth_fan_starts.at[root + 1u];
        bool shared_edge = false;
        for (uint i = frame.cloth_fan_starts.at[root]; i < end && !shared_edge; i++) {
            const uint other = frame.cloth_fans.at[i] / 3u;
            shared_edge = other != triangle && has_edge(other, a, b);
        }
        borders |= shared_edge ? 0u : 1u << k;
    }
    frame.cloth_borders.at[triangle] = borders;
}

void main()
{
    const uint i = invocation_index();
    if (i >= (STEP == 2u ? frame.cloth_triangle_count : frame.cloth_vertex_count)) {
        return;
    }
    if (STEP == 0u) {
        place(i);
    } else if (STEP == 1u) {
        bend(i);
    } else {
        find_borders(i);
    }
}
