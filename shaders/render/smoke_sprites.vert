// SPDX-License-Identifier: MIT
// smoke_sprites.vert - a square that faces the eye, around each particle of smoke, from the farthest to the nearest.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "passes/smoke.h"
PASS_CONSTANTS(SmokeConstants)
#include "smoke_particles.glsl"
layout(location = 0) out vec2 place;        // -1 to 1 across it
layout(location = 1) flat out vec4 light;   // w: optical depth through its middle
layout(location = 2) flat out vec2 depth;   // view z, radius

void main()
{
    const vec2 corners[6] = vec2[](vec2(-1, -1), vec2(1, -1), vec2(1, 1), vec2(-1, -1), vec2(1, 1), vec2(-1, 1));
    place = corners[gl_VertexIndex];
    light = vec4(0.0);
    depth = vec2(1.0);
    gl_Position = vec4(0.0, 0.0, -1.0, 1.0);
    if (gl_InstanceIndex < int(pass.sprites.at[0])) {
        const uint slot = pass.sprites.at[4u + 4u * uint(gl_InstanceIndex) + 2u];
        Puff puff;
        load_puff(slot, puff);
        const vec3 c = to_view(puff.point);
        // The profile (1 - d^2)^2 has the integral pi / 3 r^2.
        const float middle = 3.0 / 3.14159265 * pass.section * puff.amount / (puff.radius * puff.radius);
        light = vec4(pass.lights.at[slot].rgb, middle);
        depth = vec2(c.z, puff.radius);
        const vec2 pixel = pixel_of(c) + place * (puff.radius * frame.focal / c.z);
        gl_Position = vec4(2.0 * pixel / vec2(frame.width, frame.height) - 1.0, 0.0, 1.0);
    }
}
