// SPDX-License-Identifier: MIT
// ground.frag - the ground with its pattern. Each pixel's ray is cut with it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "colliders.glsl"
#include "sky.glsl"
#include "shadow.glsl"
#include "lighting.glsl"
#include "passes/scene.h"
PASS_CONSTANTS(SceneConstants)
#include "ground_pattern.glsl"
layout(location = 0) out vec4 color;

// How much of the sky solids leave to a point of the ground: by how far away the nearest is, seen from a little above.
float ground_openness(vec3 point)
{
    float open = 1.0;
    [[unroll]] for (uint i = 0u; i < BLOCKERS; i++) {
        const vec4 near = pass.blocker_spheres[i];
        const vec3 away = point - near.xyz;
        if (i < pass.blocker_count && dot(away, away) < near.w * near.w) {
            const Collider collider = pass.blockers[i];
            const float reach = collider.half_size.w;
            const float free = collider_distance(collider, point + vec3(0.0, 0.4 * reach, 0.0)) / reach;
            open *= mix(0.5, 1.0, smoothstep(-0.1, 1.0, free));
        }
    }
    return open;
}

void main()
{
    const vec2 pixel = gl_FragCoord.xy;
    const vec3 direction = pixel_direction(pixel), up = vec3(0.0, 1.0, 0.0); // 1 along the view: distances are view z
    const float z = (frame.eye.y - frame.ground_color.w) / max(-direction.y, 1e-9);
    const vec3 point = frame.eye.xyz + z * direction;
    const float fade = horizon_share(point);
    if (fade >= 1.0) {
        discard;
    }
    const GroundSurface surface = ground_surface(point, pixel);
    const vec3 sky = ground_openness(point) * sky_irradiance(surface.normal);
    const float slanted = max(dot(surface.normal, frame.sun_direction.xyz), 0.0) / max(frame.sun_direction.y, 1e-3);
    const vec3 sun = sun_irradiance(point, up) * (surface.normal.y == 1.0 ? 1.0 : min(slanted, 4.0));
    const vec3 light = matte_light(surface.albedo, sun + sky + fire_irradiance(point, surface.normal));
    const float share = (1.0 - fade) * shared_light(light, matte_light(surface.albedo, sky)).a;
    color = vec4(fade > 0.0 ? mix(light, horizon_radiance(normalize(direction)), fade) : light, share);
}
