// SPDX-License-Identifier: MIT
// splat.vert - the exact bounding rectangle of an ellipsoid on the screen, as a quad: an instance a particle.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "ellipsoid.glsl"
layout(location = 0) flat out uint particle;

void main()
{
    const vec2 corners[6] = vec2[](vec2(0, 0), vec2(1, 0), vec2(1, 1), vec2(0, 0), vec2(1, 1), vec2(0, 1));
    const vec2 corner = corners[gl_VertexIndex];
    const bool listed = gl_InstanceIndex < frame.visible.at[0];
    particle = listed ? frame.visible.at[1u + gl_InstanceIndex] : 0u;
    const vec4 bounds = listed ? screen_bounds(load_ellipsoid(particle)) : vec4(0.0, 0.0, -1.0, -1.0);
    const vec2 pixel = mix(bounds.xy, bounds.zw, corner);
    const bool visible = bounds.z >= bounds.x;
    gl_Position = visible ? vec4(2.0 * pixel / vec2(frame.width, frame.height) - 1.0, 0.0, 1.0) : vec4(0.0, 0.0, -1.0, 1.0);
}
