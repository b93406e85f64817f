// SPDX-License-Identifier: MIT
// bending.h - hinges: the angles between neighbouring triangles of cloth, and creases that stay.
//
// Two triangles that share the edge from x_0 to x_1, with the other corners a and b, are at the angle theta between
// their normals, 0 where they are level and positive where the front is inside the fold's convex side. The constraint
// C = theta - rest (Mueller et al. 2007, section 4.1) has the gradients of Bridson et al. (2003):
//
//     dC/da = -|e| A      dC/db = -|e| B      A, B: the normals over twice their triangles' areas, unit normal / height
//     dC/dx_1 = (a - x_0).e / |e| A + (b - x_0).e / |e| B
//
// and likewise with the other sign for x_0, about x_1. They add up to nothing and have no moment: momentum is kept.
// Compliance is rad / (N m), by XPBD eq. 18: of a sheet of flexural rigidity D it is (area of both) / (D |e|^2), which
// is right for equilateral triangles (Seung and Nelson 1988).
//
// Hinges of a colour share no corner: they are solved together and move their corners in place, one colour after the
// other. Tearing gives some of their corners other vertices, and makes no two of them share one.
//
// Creases: where the angle is more than `yield` off its rest, the rest follows to that distance (return mapping of
// perfect plasticity), by the share creep dt of the excess in a step.
#ifndef MOTE_KERNELS_BENDING_H
#define MOTE_KERNELS_BENDING_H

#include "data.h"
#include "cloth/mesh.h"
#include "particle/integrate.h"
#include "particle/watch_credit.h"

#define HINGE_PI 3.14159265f

// The particles at the corners of a hinge: a, the ends of the edge, b; a is NONE if it is none any more.
STRUCT(Hinge)
{
    uint a, from, to, b;
};

FUNCTION Hinge hinge_at(VIEW_COMMA uint i)
{
    const uvec2 corners = LOAD(hinge_corners, i);
    const uint from = LOAD(cloth_corners, corner_behind(corners.x));
    const uint to = LOAD(cloth_corners, corner_before(corners.x));
    const bool joined = LOAD(cloth_corners, corner_behind(corners.y)) == to &&
                        LOAD(cloth_corners, corner_before(corners.y)) == from; // still one edge
    Hinge h;
    h.a = corner_slot(VIEW_HERE_COMMA corners.x);
    h.from = vertex_slot(VIEW_HERE_COMMA from);
    h.to = vertex_slot(VIEW_HERE_COMMA to);
    h.b = corner_slot(VIEW_HERE_COMMA corners.y);
    if (!joined || h.from == NONE || h.to == NONE || h.b == NONE) {
        h.a = NONE;
    }
    return h;
}

// The angle whose sine and cosine are these, times any length: by the series of the arc tangent up to 22.5 degrees,
// because the languages' own functions differ in their last bits.
FUNCTION float angle_of(float sine, float cosine)
{
    const float x = fabsf(cosine);
    const float y = fabsf(sine);
    const float longest = max_f32(x, y);
    if (!(longest > 0.0f)) {
        return 0.0f;
    }
    float t = min_f32(x, y) / longest; // the tangent, up to 45 degrees
    const bool wide = t > 0.41421356f;
    t = wide ? (t - 1.0f) / (t + 1.0f) : t;
    const float s = t * t;
    const float inner = 1.0f / 7.0f - s * (1.0f / 9.0f - s * (1.0f / 11.0f - s * (1.0f / 13.0f)));
    const float series = t - t * s * (1.0f / 3.0f - s * (1.0f / 5.0f - s * inner));
    float angle = wide ? series + 0.25f * HINGE_PI : series;
    angle = y > x ? 0.5f * HINGE_PI - angle : angle;
    angle = cosine < 0.0f ? HINGE_PI - angle : angle;
    return sine < 0.0f ? -angle : angle;
}

// The angle less a rest, the short way round.
FUNCTION float hinge_strain(float angle, float rest)
{
    const float strain = angle - rest;
    return strain > HINGE_PI ? strain - 2.0f * HINGE_PI : strain < -HINGE_PI ? strain + 2.0f * HINGE_PI : strain;
}

FUNCTION float hinge_angle(vec3 a, vec3 from, vec3 to, vec3 b)
{
    const vec3 edge = v3_sub(to, from);
    const vec3 first = v3_cross(v3_sub(from, a), v3_sub(to, a));
    const vec3 second = v3_cross(v3_sub(to, b), v3_sub(from, b));
    const float length = max_f32(v3_length(edge), 1e-30f);
    return angle_of(v3_dot(v3_cross(first, second), edge) / length, v3_dot(first, second));
}

FUNCTION float hinge_angle_begun(VIEW_COMMA Hinge h)
{
    return hinge_angle(v3_from_v4(LOAD(positions, h.a)), v3_from_v4(LOAD(positions, h.from)),
                       v3_from_v4(LOAD(positions, h.to)), v3_from_v4(LOAD(positions, h.b)));
}

FUNCTION float hinge_angle_now(VIEW_COMMA Hinge h)
{
    return hinge_angle(v3_from_v4(LOAD(predicted, h.a)), v3_from_v4(LOAD(predicted, h.from)),
                       v3_from_v4(LOAD(predicted, h.to)), v3_from_v4(LOAD(predicted, h.b)));
}

// Where the rest goes to in the step.
FUNCTION float creased_rest(VIEW_COMMA vec4 law, float rest, float angle)
{
    const float strain = hinge_strain(angle, rest);
    const float excess = fabsf(strain) - law.y;
    if (!(law.y > 0.0f) || excess <= 0.0f) {
        return rest;
    }
    const float moved = excess * min_f32(law.z * PARAMETER(time_step), 1.0f);
    return hinge_strain(rest + (strain > 0.0f ? moved : -moved), 0.0f);
}

FUNCTION void move_corner(VIEW_COMMA uint slot, vec4 particle, vec3 impulse)
{
    if (particle.w > 0.0f) { // pins stay to the bit
        STORE(predicted, slot, v4_from_v3(v3_add_scaled(v3_from_v4(particle), impulse, particle.w), particle.w));
    }
}

// The rest of a hinge in this step, which a crease may move; notes what it stores before the step.
FUNCTION float begun_rest(VIEW_COMMA uint hinge, Hinge h, vec4 law)
{
    const float begun = hinge_angle_begun(VIEW_HERE_COMMA h);
    const float rest = creased_rest(VIEW_HERE_COMMA law, LOAD(hinge_rests, hinge), begun);
    STORE(hinge_rests, hinge, rest);
    if (PARAMETER(small_step) == 0u) {
        const float strain = hinge_strain(begun, rest);
        STORE(hinge_energies, hinge, law.x > 0.0f ? 0.5f * strain * strain / law.x : 0.0f);
    }
    return rest;
}

// Solves a hinge of the present colour, and moves its corners.
KERNEL(solve_hinges)
{
    const uint hinge = LOAD(hinge_order, PARAMETER(hinge_first) + i);
    const Hinge h = hinge_at(VIEW_HERE_COMMA hinge);
    if (h.a == NONE) {
        STORE(hinge_lambdas, hinge, 0.0f);
        return;
    }
    const vec4 law = LOAD(hinge_laws, hinge);
    const bool first_time = PARAMETER(iteration) == 0u;
    const float lambda = first_time ? 0.0f : LOAD(hinge_lambdas, hinge);
    const float rest = first_time ? begun_rest(VIEW_HERE_COMMA hinge, h, law) : LOAD(hinge_rests, hinge);
    const vec4 a = LOAD(predicted, h.a);
    const vec4 from = LOAD(predicted, h.from);
    const vec4 to = LOAD(predicted, h.to);
    const vec4 b = LOAD(predicted, h.b);
    const vec3 edge = v3_sub(v3_from_v4(to), v3_from_v4(from));
    const vec3 a_from = v3_sub(v3_from_v4(a), v3_from_v4(from));
    const vec3 a_to = v3_sub(v3_from_v4(a), v3_from_v4(to));
    const vec3 b_from = v3_sub(v3_from_v4(b), v3_from_v4(from));
    const vec3 b_to = v3_sub(v3_from_v4(b), v3_from_v4(to));
    const vec3 first = v3_cross(a_from, a_to);
    const vec3 second = v3_cross(b_to, b_from);
    const float length = v3_length(edge);
    const float first_squared = v3_dot(first, first);
    const float second_squared = v3_dot(second, second);
    const float least = 1e-8f * length * length * length * length; // of needles the angle says nothing
    if (!(length > 0.0f && first_squared > least && second_squared > least)) {
        STORE(hinge_lambdas, hinge, lambda);
        return;
    }
    const vec3 at_a = v3_scale(first, -length / first_squared); // gradients
    const vec3 at_b = v3_scale(second, -length / second_squared);
    const float inverse = 1.0f / (length * length);
    const vec3 at_from =
        v3_add(v3_scale(at_a, v3_dot(a_to, edge) * inverse), v3_scale(at_b, v3_dot(b_to, edge) * inverse));
    const vec3 at_to =
        v3_add(v3_scale(at_a, -v3_dot(a_from, edge) * inverse), v3_scale(at_b, -v3_dot(b_from, edge) * inverse));
    const float sum = a.w * v3_dot(at_a, at_a) + from.w * v3_dot(at_from, at_from) + to.w * v3_dot(at_to, at_to) +
                      b.w * v3_dot(at_b, at_b);
    const float dt = PARAMETER(time_step);
    const float compliance = law.x / (dt * dt);
    const float angle = hinge_angle(v3_from_v4(a), v3_from_v4(from), v3_from_v4(to), v3_from_v4(b));
    const float error = hinge_strain(angle, rest) + compliance * lambda;
    const float change = sum > 0.0f ? -error / (sum + compliance) : 0.0f;
    STORE(hinge_lambdas, hinge, lambda + change);
    move_corner(VIEW_HERE_COMMA h.a, a, v3_scale(at_a, change));
    move_corner(VIEW_HERE_COMMA h.from, from, v3_scale(at_from, change));
    move_corner(VIEW_HERE_COMMA h.to, to, v3_scale(at_to, change));
    move_corner(VIEW_HERE_COMMA h.b, b, v3_scale(at_b, change));
}

// Credits the energy that hinges release to the energy watch, as credit_links does that of links.
KERNEL(credit_hinges)
{
    const uvec2 share = credited_share(VIEW_HERE_COMMA i, PARAMETER(hinge_count));
    float work = 0.0f;
    for (uint k = share.x; k < share.y; k++) {
        const Hinge h = hinge_at(VIEW_HERE_COMMA k);
        const float compliance = LOAD(hinge_laws, k).x;
        if (h.a != NONE && compliance > 0.0f) {
            const float strain = hinge_strain(hinge_angle_now(VIEW_HERE_COMMA h), LOAD(hinge_rests, k));
            work += max_f32(LOAD(hinge_energies, k) - 0.5f * strain * strain / compliance, 0.0f);
        }
    }
    credit_chunk(VIEW_HERE_COMMA i, work);
}

#endif
