// SPDX-License-Identifier: MIT
// skins.vert - translucent cloth: one face, which is its front and its back.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "body.glsl"
#include "cloth.glsl"
layout(location = 0) out vec3 normal;
layout(location = 1) out vec3 point;
layout(location = 2) flat out uint fabric;

void main()
{
    const uint triangle = gl_VertexIndex / 3u, k = gl_VertexIndex % 3u;
    const ClothTriangle cloth = cloth_triangle(triangle);
    fabric = min(frame.cloth_of_triangles.at[triangle], frame.fabric_count - 1u);
    normal = cloth.normals[k];
    point = cloth.points[k];
    gl_Position = vec4(0.0, 0.0, -1e12, 1.0);
    if (cloth.exists && frame.fabrics.at[fabric].look == FABRIC_TRANSLUCENT) {
        gl_Position = frame.view_projection * vec4(point, 1.0);
    }
}
