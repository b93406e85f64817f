// SPDX-License-Identifier: MIT
// plane.frag - a solid plane, as the ground is drawn: each pixel's ray is cut with it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "sky.glsl"
#include "shadow.glsl"
#include "lighting.glsl"
#include "passes/scene.h"
PUSH_CONSTANTS(PlanePush)
layout(location = 0) out vec4 color;
void main()
{
    const vec3 direction = pixel_direction(gl_FragCoord.xy), normal = push.plane.xyz;
    const float z = (dot(frame.eye.xyz, normal) + push.plane.w) / max(-dot(direction, normal), 1e-9);
    const vec3 point = frame.eye.xyz + z * direction, unit = normalize(direction);
    const float fade = horizon_share(point);
    if (fade >= 1.0) {
        discard;
    }
    const vec4 light = solid_light(point, normal, -unit, push.material.rgb, push.material.a, 1.0);
    color = vec4(mix(light.rgb, horizon_radiance(unit), fade), (1.0 - fade) * light.a);
}
