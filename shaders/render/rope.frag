// SPDX-License-Identifier: MIT
// rope.frag - what solids.frag needs to know of a rope: three strands laid around each other, |sin(3 (phi - k s) / 2)|, as
// means over the pixel in closed form.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "fabric.glsl"
#include "weave.glsl"
layout(location = 0) centroid in vec3 normal;
layout(location = 1) in vec3 point;
layout(location = 2) in vec2 place;
layout(location = 3) flat in uint fabric;
layout(location = 0) out vec4 color;
layout(location = 1) out vec4 normal_depth;

const float STRANDS = 3.0;
const float LAY = 7.0;     // radii along the rope to a strand's full turn
const float RELIEF = 0.35; // radii from between two strands to the top of one
const float CREASES = 0.7; // how much darker it is between them
const float YARNS = 7.0;   // of a strand, as fine lines that run the other way

void main()
{
    const Fabric look = frame.fabrics.at[min(fabric, frame.fabric_count - 1u)];
    const vec3 to_eye = normalize(frame.eye.xyz - point), along_x = dFdx(point), along_y = dFdy(point);
    const vec2 by_x = dFdx(place), by_y = dFdy(place);
    vec3 n = normalize(normal);
    n = normalize(n + max(0.03 - dot(n, to_eye), 0.0) * to_eye);
    const float lay = 6.2831853 / (LAY * max(look.thickness, 1e-6));
    const vec2 wave = 0.5 * STRANDS * vec2(1.0, -lay); // of a strand's argument, by place
    const float strand = dot(wave, place), width = abs(dot(wave, by_x)) + abs(dot(wave, by_y));
    const vec2 strands = look.weave * ridges(strand, width);
    n = bumped(n, along_x, along_y, RELIEF * look.thickness * strands.x * vec2(dot(wave, by_x), dot(wave, by_y)));
    const vec2 yarn_wave = YARNS * STRANDS * vec2(1.0, 0.6 * lay);
    const float yarn_width = abs(dot(yarn_wave, by_x)) + abs(dot(yarn_wave, by_y));
    const float yarn = wave_left(1.0, yarn_width) * cos(dot(yarn_wave, place));
    const vec3 dye = look.color.rgb * (1.0 + CREASES * (strands.y - look.weave * 0.63661977)) * (1.0 + look.weave * 0.15 * yarn);
    color = vec4(clamp(dye, 0.0, 1.0), fabric_mark(fabric));
    normal_depth = vec4(n, frame.near_plane / gl_FragCoord.z);
}
