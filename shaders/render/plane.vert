// SPDX-License-Identifier: MIT
// plane.vert - a plane, the ground among them: one triangle over the whole picture. Reversed depth is linear on the screen
// across a plane, so that three corners are enough for its exact depth at every sample; clipping leaves what lies in front
// of the camera, up to the horizon.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "passes/scene.h"
PUSH_CONSTANTS(PlanePush)
const float BEHIND = 0.99995; // what lies on a plane is in front of it, whatever rounding does

void main()
{
    const vec2 corner = vec2(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0);
    const vec3 direction = pixel_direction((0.5 * corner + 0.5) * vec2(frame.width, frame.height));
    const float above = dot(frame.eye.xyz, push.plane.xyz) + push.plane.w;
    const float inverse_z = -dot(direction, push.plane.xyz) / above;
    gl_Position = vec4(corner, above > 0.0 ? BEHIND * frame.near_plane * inverse_z : -1.0, 1.0);
}
