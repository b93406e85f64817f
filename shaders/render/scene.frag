// SPDX-License-Identifier: MIT
// scene.frag - a solid collider in the light of sun and sky.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "sky.glsl"
#include "shadow.glsl"
#include "lighting.glsl"
layout(location = 0) in vec3 point;
layout(location = 1) in vec3 normal;
layout(location = 2) flat in vec4 material; // rgb, roughness
layout(location = 3) flat in float size;    // m
layout(location = 0) out vec4 color;

void main()
{
    const vec3 n = normalize(normal), to_eye = normalize(frame.eye.xyz - point);
    // What looks down near the ground sees the ground in its own shadow.
    const float height = max(point.y - frame.ground_color.w, 0.0);
    const float near_ground = frame.ground_visible != 0u ? exp(-3.0 * height / size) : 0.0;
    const float open = 1.0 - near_ground * (0.45 - 0.45 * n.y);
    color = solid_light(point, n, to_eye, material.rgb, material.a, open);
}
