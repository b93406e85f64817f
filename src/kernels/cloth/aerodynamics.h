// SPDX-License-Identifier: MIT
// aerodynamics.h - lift and drag of the air on the triangles of cloth.
//
// A triangle of area A and normal n, past which air flows at the velocity u relative to it, feels
//
//     drag   1/2 rho C_D A |n . u'| |u| u                    u' = u / |u|
//     lift   1/2 rho C_L A (n . u') |u|^2 (n - (n . u') u')
//
// both with the flow's share that the triangle stops; the lift is across the flow, to the side to which the triangle
// turns it. Drag alone takes u to u / (1 + k dt), k = 1/2 rho C_D |n . u'| |u| / sigma, with the mass per area sigma:
// the exact decay by the square of the speed, which never reverses the flow, however light the cloth is. The lift is
// divided likewise. A vertex takes the mean of its triangles' changes of velocity by their areas: a third of the
// momentum of each.
#ifndef MOTE_KERNELS_AERODYNAMICS_H
#define MOTE_KERNELS_AERODYNAMICS_H

#include "data.h"
#include "cloth/fans.h"
#include "particle/air.h"
#include "particle/handles.h"

// The change of velocity (m/s) that the air gives a triangle in the step, and its area (m^2).
KERNEL(blow_triangles)
{
    vec3 sum = v3(0.0f, 0.0f, 0.0f);
    vec3 velocity = sum;
    vec3 p[3];
    uint found = 0u;
    for (uint c = 0u; c < 3u; c++) {
        const uint corner = LOAD(cloth_corners, 3u * i + c);
        const uint slot = corner != NONE ? handle_slot(VIEW_HERE_COMMA LOAD(cloth_handles, corner)) : NONE;
        p[c] = v3(0.0f, 0.0f, 0.0f);
        if (slot != NONE) {
            p[c] = v3_from_v4(LOAD(positions, slot));
            sum = v3_add(sum, p[c]);
            velocity = v3_add(velocity, v3_from_v4(LOAD(velocities, slot)));
            found += 1u;
        }
    }
    vec4 change = v4(0.0f, 0.0f, 0.0f, 0.0f);
    const vec4 law = LOAD(cloth_laws, LOAD(cloth_of_triangles, i));
    const vec3 doubled = v3_cross(v3_sub(p[1], p[0]), v3_sub(p[2], p[0]));
    const float doubled_area = v3_length(doubled);
    if (found == 3u && doubled_area > 0.0f) {
        const vec3 air = air_velocity(VIEW_HERE_COMMA v3_scale(sum, 1.0f / 3.0f));
        const vec3 u = v3_add_scaled(air, velocity, -1.0f / 3.0f);
        const float speed = v3_length(u);
        const vec3 flow = v3_scale(u, 1.0f / max_f32(speed, 1e-20f));
        const vec3 normal = v3_scale(doubled, 1.0f / doubled_area);
        const float facing = v3_dot(normal, flow);
        const vec3 across = v3_add_scaled(normal, flow, -facing);
        const float rate = 0.5f * PARAMETER(air_density) * speed / law.z * PARAMETER(time_step);
        const float drag = law.x * fabsf(facing) * rate;
        const float lift = law.y * facing * rate;
        const vec3 pushed = v3_add_scaled(v3_scale(flow, drag), across, lift);
        change =
            v4_from_v3(v3_scale(pushed, speed / (1.0f + drag + fabsf(lift) * v3_length(across))), 0.5f * doubled_area);
    }
    STORE(cloth_winds, i, change);
}

KERNEL(blow_vertices)
{
    const uint slot = handle_slot(VIEW_HERE_COMMA LOAD(cloth_handles, i));
    if (slot == NONE || LOAD(positions, slot).w <= 0.0f) {
        return;
    }
    vec3 sum = v3(0.0f, 0.0f, 0.0f);
    float area = 0.0f;
    const uint root = fan_root(VIEW_HERE_COMMA i);
    for (uint k = LOAD(cloth_fan_starts, root); k < LOAD(cloth_fan_starts, root + 1u); k++) {
        const uint corner = LOAD(cloth_fans, k);
        if (in_fan(VIEW_HERE_COMMA i, corner)) {
            const vec4 change = LOAD(cloth_winds, corner / 3u);
            sum = v3_add_scaled(sum, v3_from_v4(change), change.w);
            area += change.w;
        }
    }
    if (area > 0.0f) {
        const vec4 velocity = LOAD(velocities, slot);
        STORE(velocities, slot, v4_from_v3(v3_add_scaled(v3_from_v4(velocity), sum, 1.0f / area), velocity.w));
    }
}

#endif
