// SPDX-License-Identifier: MIT
// cloth.glsl - triangles of cloth, and the particles that handles stand for. Needs frame.glsl and body.glsl.

// The present slot of a handle's particle (src/kernels/particle/handles.h).
uint handle_slot(uint handle)
{
    uint slot = NO_ROW;
    if (handle != NO_ROW) {
        slot = frame.handle_slots.at[handle < HANDLE_SINGLE ? handle : frame.member_count + (handle - HANDLE_SINGLE)];
    }
    return slot;
}

uvec3 cloth_corners(uint triangle)
{
    return uvec3(frame.cloth_corners.at[3u * triangle], frame.cloth_corners.at[3u * triangle + 1u], frame.cloth_corners.at[3u * triangle + 2u]);
}

struct ClothTriangle {
    vec3 points[3], normals[3];
    bool exists; // no corner is gone
};

ClothTriangle cloth_triangle(uint triangle)
{
    const uvec3 corners = cloth_corners(triangle);
    ClothTriangle t;
    t.exists = all(lessThan(corners, uvec3(frame.cloth_vertex_count)));
    for (uint k = 0u; k < 3u; k++) {
        const BodyVertex vertex = frame.cloth_vertices.at[min(corners[k], frame.cloth_vertex_count - 1u)];
        t.points[k] = body_point(vertex);
        t.normals[k] = unpack_direction(vertex.normal);
        t.exists = t.exists && !isinf(vertex.x);
    }
    return t;
}
