// SPDX-License-Identifier: MIT
// rope.vert - a tube of a rope: from one of its frames (ropes.comp) to the next, two triangles a side.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "passes/ropes.h"
PUSH_CONSTANTS(RopePush)
layout(location = 0) centroid out vec3 normal;
layout(location = 1) out vec3 point;
layout(location = 2) out vec2 place; // radians around, metres along
layout(location = 3) flat out uint fabric;

void main()
{
    const uint corner = gl_VertexIndex % 6u, side = gl_VertexIndex / 6u + (corner == 1u || corner == 2u || corner == 4u ? 1u : 0u);
    const uint first = 3u * gl_InstanceIndex, here = first + (corner == 2u || corner == 4u || corner == 5u ? 3u : 0u);
    const vec4 centre = frame.rope_frames.at[here], across = frame.rope_frames.at[here + 1u], along = frame.rope_frames.at[here + 2u];
    const float around = 6.2831853 * float(side % ROPE_SIDES) / float(ROPE_SIDES);
    const vec3 outwards = cos(around) * across.xyz + sin(around) * cross(along.xyz, across.xyz);
    point = centre.xyz + centre.w * outwards;
    normal = sqrt(max(1.0 - along.w * along.w, 0.0)) * outwards + along.w * along.xyz;
    place = vec2(6.2831853 * float(side) / float(ROPE_SIDES), across.w);
    fabric = push.fabric;
    gl_Position = vec4(0.0, 0.0, -1e12, 1.0);
    if (frame.rope_frames.at[first].w >= 0.0 && frame.rope_frames.at[first + 3u].w >= 0.0) {
        gl_Position = (push.to_sun != 0u ? frame.sun_projection : frame.view_projection) * vec4(point, 1.0);
    }
}
