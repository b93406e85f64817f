// SPDX-License-Identifier: MIT
// ground.frag - the ground with its grid. Each pixel's ray is cut with it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "colliders.glsl"
#include "sky.glsl"
#include "shadow.glsl"
#include "lighting.glsl"
#include "passes/scene.h"
PASS_CONSTANTS(SceneConstants)
layout(location = 0) out vec4 color;

// How much of a pixel's footprint, `width` grid cells wide around x, lies on the lines at whole numbers. The box filter
// of the line pattern, exact, for its integral is known: lines neither shimmer nor alias at any distance.
float line_share(float x, float width, float line)
{
    const float low = x + 0.5 * line - 0.5 * width, high = low + width;
    const float whole = floor(high) - floor(low), rest = (min(fract(high), line) - min(fract(low), line)) / line;
    return clamp((whole + rest) * line / width, 0.0, 1.0);
}

float grid_share(vec3 point, vec2 pixel)
{
    const float cell = pass.grid_color.w;
    if (cell <= 0.0) {
        return 0.0;
    }
    // Where the rays of the next pixels meet the ground; no farther than a few cells, where all is grey anyway.
    const vec3 right = pixel_direction(pixel + vec2(1.0, 0.0)), below = pixel_direction(pixel + vec2(0.0, 1.0));
    const vec2 at = point.xz / cell;
    const float height = (frame.eye.y - frame.ground_color.w) / cell;
    const vec2 a = right.xz * (height / max(-right.y, 1e-6)) + frame.eye.xz / cell - at;
    const vec2 b = below.xz * (height / max(-below.y, 1e-6)) + frame.eye.xz / cell - at;
    const vec2 width = clamp(max(abs(a), abs(b)), vec2(1e-4), vec2(8.0));
    const float line = 0.018;
    const float x = line_share(at.x, width.x, line), z = line_share(at.y, width.y, line);
    return x + z - x * z;
}

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
    const vec3 albedo = mix(frame.ground_color.rgb, pass.grid_color.rgb, grid_share(point, pixel));
    const vec3 sky = ground_openness(point) * sky_irradiance(up);
    const vec3 light = matte_light(albedo, sun_irradiance(point, up) + sky);
    const float share = (1.0 - fade) * shared_light(light, matte_light(albedo, sky)).a;
    color = vec4(fade > 0.0 ? mix(light, horizon_radiance(normalize(direction)), fade) : light, share);
}
