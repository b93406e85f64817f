// SPDX-License-Identifier: MIT
// fabric_shadow.vert - cloth as the sun sees it: the middle between its faces, so that neither is in its shadow.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "body.glsl"
#include "cloth.glsl"

void main()
{
    const uint triangle = gl_VertexIndex / 3u;
    const ClothTriangle cloth = cloth_triangle(triangle);
    const uint look = frame.fabrics.at[min(frame.cloth_of_triangles.at[triangle], frame.fabric_count - 1u)].look;
    gl_Position = vec4(0.0, 0.0, -1e12, 1.0);
    if (cloth.exists && look == FABRIC_WOVEN) {
        gl_Position = frame.sun_projection * vec4(cloth.points[gl_VertexIndex % 3u], 1.0);
    }
}
