// SPDX-License-Identifier: MIT
// sky.frag - the sky with the sun, and the haze that the ground ends in.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "sky.glsl"
#include "sky_picture.glsl"
layout(location = 0) out vec4 color;

vec3 sky_color(vec3 direction)
{
    const bool picture = frame.sky_kind == 1u && (direction.y > 0.0 || frame.ground_visible == 0u); // MOTE_SKY_IMAGE
    const vec3 sky = picture ? sky_picture(sky_coordinates(direction)) : sky_radiance(direction);
    // The sun's disc, an edge of a pixel's width. Its radiance is its irradiance over its solid angle, but no more than
    // a picture shows as white: neighbouring pixels would have no chance against it.
    const float size = frame.sun_direction.w, pixel = 0.7 / frame.focal;
    const float off = length(cross(direction, frame.sun_direction.xyz));
    const bool in_front = dot(direction, frame.sun_direction.xyz) > 0.0 && direction.y > -pixel;
    const float inside = in_front ? 1.0 - smoothstep(size - pixel, size + pixel, off) : 0.0;
    const vec3 disc = min(frame.sun_radiance.rgb / (3.14159265 * max(size * size, 1e-8)), vec3(60.0));
    return mix(sky, disc, inside);
}

void main()
{
    const vec3 direction = normalize(pixel_direction(gl_FragCoord.xy));
    const bool beyond_ground = frame.ground_visible != 0u && direction.y < 0.0 && frame.eye.y > frame.ground_color.w;
    color = vec4(beyond_ground ? horizon_radiance(direction) : sky_color(direction), 0.0);
}
