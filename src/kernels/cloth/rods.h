// SPDX-License-Identifier: MIT
// rods.h - elastic rods that stretch, bend and twist: Cosserat rods on positions (Kugelstadt and Schoemer 2016), solved
// directly, rod by rod (after Deul et al. 2018).
//
// A rod is a chain of particles, its nodes. Segment k joins nodes k and k + 1 and has a frame, the rotation q_k, whose
// z axis d_k is the direction of its cross-section. Two constraints, each with a multiplier of three components (XPBD,
// Macklin et al. 2016, of compliance a / dt^2):
//
//     stretch  S_k = x_(k+1) - x_k - l d_k                         a = l / EA
//     bend     B_k = 2 Im(q_(k+1) conj(q_k r_k))                   a = l / EI across d, l / GJ along it
//
// with rest length l and rest rotation r_k between the frames. B_k is the rotation vector, in the world, from where
// segment k would have segment k + 1 to where it is. Rotations change by vectors t (q <- exp(t / 2) q), of which
//
//     dS_k = dx_(k+1) - dx_k + l d_k x t_k          dB_k = t_(k+1) - t_k      to first order
//
// so that torques of a joint are equal and opposite, and momentum and angular momentum are conserved. A segment's
// moment of inertia is that about its own axis, m r^2 / 2, about all axes: the rest of it is in the masses of its
// nodes.
//
// Links between neighbours need as many iterations as a chain has links before one end feels the other. But the
// constraints of a rod, in the order S_0 B_0 S_1 B_1 ..., couple only to the next one and the one after it: the system
//
//     (J W J^T + a / dt^2) dlambda = -(C + a / dt^2 lambda)
//
// is a band of 3x3 blocks, which solve_rods factorises into L D L^T in one pass along the rod and solves in one pass
// back. A rod of any length converges in the iterations that its curvature needs, not its length. Each rod is one
// invocation; apply_rods then moves each node and turns each segment.
//
// Damping is that of XPBD eq. 26 with a damping time: of stiffness K, K times that many seconds.
#ifndef MOTE_KERNELS_RODS_H
#define MOTE_KERNELS_RODS_H

#include "data.h"
#include "particle/handles.h"
#include "rigid/bodies.h"

#define ROD_CONSTRAINT_FACTORS 6u // rows of `rod_factors` a constraint

// Compliances beyond this many times the inverse masses have no effect in a step, and are cut off here: 0 times
// infinity is not a number. Those of joints without stiffness are infinite.
#define ROD_LIMP         1e8f
#define ROD_NO_STIFFNESS 1e30f

STRUCT(Mat3)
{
    vec3 x, y, z; // rows
};

FUNCTION Mat3 m3_diagonal(float s)
{
    Mat3 m;
    m.x = v3(s, 0.0f, 0.0f);
    m.y = v3(0.0f, s, 0.0f);
    m.z = v3(0.0f, 0.0f, s);
    return m;
}

// a v v^T
FUNCTION Mat3 m3_outer(vec3 v, float a)
{
    Mat3 m;
    m.x = v3_scale(v, a * v.x);
    m.y = v3_scale(v, a * v.y);
    m.z = v3_scale(v, a * v.z);
    return m;
}

// The matrix M with M a = v x a
FUNCTION Mat3 m3_cross(vec3 v)
{
    Mat3 m;
    m.x = v3(0.0f, -v.z, v.y);
    m.y = v3(v.z, 0.0f, -v.x);
    m.z = v3(-v.y, v.x, 0.0f);
    return m;
}

FUNCTION Mat3 m3_add_scaled(Mat3 a, Mat3 b, float s)
{
    Mat3 m;
    m.x = v3_add_scaled(a.x, b.x, s);
    m.y = v3_add_scaled(a.y, b.y, s);
    m.z = v3_add_scaled(a.z, b.z, s);
    return m;
}

FUNCTION vec3 m3_times(Mat3 m, vec3 v)
{
    return v3(v3_dot(m.x, v), v3_dot(m.y, v), v3_dot(m.z, v));
}

FUNCTION vec3 m3_transposed_times(Mat3 m, vec3 v)
{
    return v3_add_scaled(v3_add_scaled(v3_scale(m.x, v.x), m.y, v.y), m.z, v.z);
}

FUNCTION Mat3 m3_transpose(Mat3 m)
{
    Mat3 t;
    t.x = v3(m.x.x, m.y.x, m.z.x);
    t.y = v3(m.x.y, m.y.y, m.z.y);
    t.z = v3(m.x.z, m.y.z, m.z.z);
    return t;
}

// a b^T
FUNCTION Mat3 m3_times_transposed(Mat3 a, Mat3 b)
{
    Mat3 m;
    m.x = m3_times(b, a.x);
    m.y = m3_times(b, a.y);
    m.z = m3_times(b, a.z);
    return m;
}

// The inverse of a symmetric positive definite matrix, scaled so that no product leaves the range of floats; 0 of 0.
FUNCTION Mat3 m3_inverse(Mat3 m)
{
    const float largest = max_f32(m.x.x, max_f32(m.y.y, m.z.z));
    const float scale = largest > 0.0f ? 1.0f / largest : 0.0f;
    const vec3 a = v3_scale(m.x, scale);
    const vec3 b = v3_scale(m.y, scale);
    const vec3 c = v3_scale(m.z, scale);
    Mat3 columns; // of the adjugate
    columns.x = v3_cross(b, c);
    columns.y = v3_cross(c, a);
    columns.z = v3_cross(a, b);
    const float determinant = v3_dot(a, columns.x);
    const float factor = determinant > 0.0f ? scale / determinant : 0.0f;
    return m3_add_scaled(m3_diagonal(0.0f), m3_transpose(columns), factor);
}

// ---- Segments and joints -----------------------------------------------------------------------------------

STRUCT(RodSegment)
{
    uint whole;         // 0: it has lost a node, or there is none
    vec3 from, to;      // m, its nodes' predicted positions
    float w_from, w_to; // 1/kg
    vec3 direction;     // d
    float rest_length;  // l, m
    float w_turn;       // 1/(kg m^2)
    float compliance;   // a of S, m/N
    float damping;      // s
};

FUNCTION vec3 rod_axis(vec4 rotation)
{
    return rotate(rotation, v3(0.0f, 0.0f, 1.0f));
}

// Segment k of the rod whose last node is `last`.
FUNCTION RodSegment rod_segment(VIEW_COMMA uint k, uint last)
{
    RodSegment s;
    s.whole = 0u;
    s.w_turn = 0.0f;
    s.rest_length = 0.0f;
    s.w_from = 0.0f;
    s.w_to = 0.0f;
    s.compliance = 0.0f;
    s.damping = 0.0f;
    s.from = v3(0.0f, 0.0f, 0.0f);
    s.to = s.from;
    s.direction = s.from;
    if (k >= last) {
        return s;
    }
    const uint a = handle_slot(VIEW_HERE_COMMA LOAD(rod_nodes, k));
    const uint b = handle_slot(VIEW_HERE_COMMA LOAD(rod_nodes, k + 1u));
    if (a == NONE || b == NONE) {
        return s;
    }
    const vec4 from = LOAD(predicted, a);
    const vec4 to = LOAD(predicted, b);
    const vec4 law = LOAD(rod_laws, k);
    s.whole = 1u;
    s.from = v3_from_v4(from);
    s.to = v3_from_v4(to);
    s.w_from = from.w;
    s.w_to = to.w;
    s.direction = rod_axis(LOAD(rod_rotations, k));
    s.rest_length = law.x;
    s.compliance = law.y;
    s.w_turn = law.z;
    s.damping = law.w;
    return s;
}

FUNCTION vec3 rod_stretch(RodSegment s)
{
    return v3_add_scaled(v3_sub(s.to, s.from), s.direction, -s.rest_length);
}

FUNCTION vec3 rod_bend(VIEW_COMMA uint k)
{
    return quat_difference(quat_multiply(LOAD(rod_rotations, k), LOAD(rod_rests, k)), LOAD(rod_rotations, k + 1u));
}

// What the segment's turning since the step's beginning has been.
FUNCTION vec3 rod_turned(VIEW_COMMA uint k)
{
    return quat_difference(LOAD(rod_begun_rotations, k), LOAD(rod_rotations, k));
}

// How S has changed since the step's beginning.
FUNCTION vec3 rod_stretched(VIEW_COMMA uint k, RodSegment s)
{
    const vec3 a = v3_from_v4(LOAD(positions, handle_slot(VIEW_HERE_COMMA LOAD(rod_nodes, k))));
    const vec3 b = v3_from_v4(LOAD(positions, handle_slot(VIEW_HERE_COMMA LOAD(rod_nodes, k + 1u))));
    const vec3 begun = v3_add_scaled(v3_sub(b, a), rod_axis(LOAD(rod_begun_rotations, k)), -s.rest_length);
    return v3_sub(rod_stretch(s), begun);
}

// ---- The band system ---------------------------------------------------------------------------------------

// A row of the system: its block on the diagonal, those of the two rows below in its column (the second is a multiple
// of 1), and its right-hand side.
STRUCT(RodRow)
{
    Mat3 diagonal, below;
    float second_below;
    vec3 right;
};

FUNCTION RodRow rod_row_of_nothing(void)
{
    RodRow row;
    row.diagonal = m3_diagonal(1.0f);
    row.below = m3_diagonal(0.0f);
    row.second_below = 0.0f;
    row.right = v3(0.0f, 0.0f, 0.0f);
    return row;
}

// Of S_k, whose next segment is `next`.
FUNCTION RodRow rod_stretch_row(VIEW_COMMA uint k, RodSegment s, RodSegment next)
{
    RodRow row = rod_row_of_nothing();
    if (s.whole == 0u) {
        return row;
    }
    const float dt = PARAMETER(time_step);
    const float damping = s.damping / dt;
    const float turning = s.w_turn * s.rest_length * s.rest_length;
    const float masses = s.w_from + s.w_to + turning;
    const float compliance = min_f32(s.compliance / (dt * dt), ROD_LIMP * (masses + 1e-30f));
    const vec3 strained = v3_add_scaled(rod_stretch(s), rod_stretched(VIEW_HERE_COMMA k, s), damping);
    const vec3 error = v3_add_scaled(strained, v3_from_v4(LOAD(rod_lambdas, 2u * k)), compliance);
    row.diagonal =
        m3_add_scaled(m3_diagonal(masses + compliance / (1.0f + damping)), m3_outer(s.direction, 1.0f), -turning);
    if (!(masses > 0.0f)) { // pinned and clamped
        return rod_row_of_nothing();
    }
    row.right = v3_scale(error, -1.0f / (1.0f + damping));
    if (next.whole != 0u) {
        row.below = m3_add_scaled(m3_diagonal(0.0f), m3_cross(s.direction), s.w_turn * s.rest_length);
        row.second_below = -s.w_to;
    }
    return row;
}

// Of B_k, between the segments s and next; `after` is the one behind those.
FUNCTION RodRow rod_bend_row(VIEW_COMMA uint k, RodSegment s, RodSegment next, RodSegment after)
{
    const float turns = s.w_turn + next.w_turn;
    if (s.whole == 0u || next.whole == 0u || !(turns > 0.0f)) {
        return rod_row_of_nothing();
    }
    RodRow row;
    const float dt = PARAMETER(time_step);
    const float damping = s.damping / dt;
    const vec4 joint = LOAD(rod_joints, k);
    const float bend = min_f32(joint.x / (dt * dt), ROD_LIMP * turns);
    const float twist = min_f32(joint.y / (dt * dt), ROD_LIMP * turns);
    const vec3 sum = v3_add(s.direction, next.direction);
    const float length = v3_length(sum);
    const vec3 axis = length > 1e-3f ? v3_scale(sum, 1.0f / length) : s.direction;
    const Mat3 compliance = m3_add_scaled(m3_diagonal(bend), m3_outer(axis, 1.0f), twist - bend);
    const vec3 bending = v3_sub(rod_turned(VIEW_HERE_COMMA k + 1u), rod_turned(VIEW_HERE_COMMA k));
    const vec3 strained = v3_add_scaled(rod_bend(VIEW_HERE_COMMA k), bending, damping);
    const vec3 error = v3_add(strained, m3_times(compliance, v3_from_v4(LOAD(rod_lambdas, 2u * k + 1u))));
    row.diagonal = m3_add_scaled(m3_diagonal(turns), compliance, 1.0f / (1.0f + damping));
    row.right = v3_scale(error, -1.0f / (1.0f + damping));
    row.below = m3_add_scaled(m3_diagonal(0.0f), m3_cross(next.direction), next.w_turn * next.rest_length);
    row.second_below = after.whole != 0u ? -next.w_turn : 0.0f;
    return row;
}

// What the elimination needs of the last two rows. M_(i,j) is L_(i,j) D_j.
STRUCT(RodSweep)
{
    Mat3 l1, m1, l2, l2_next; // L and M of this row and the last one; L of it and the one before that; of the row below
    float m2, m2_next;
    vec3 y1, y2; // L y = right
};

// Eliminates one row, and keeps L below it and D^-1 y for the way back.
FUNCTION RodSweep rod_eliminate(VIEW_COMMA RodSweep sweep, RodRow row, uint at)
{
    Mat3 d = m3_add_scaled(row.diagonal, m3_times_transposed(sweep.m1, sweep.l1), -1.0f);
    d = m3_add_scaled(d, m3_transpose(sweep.l2), -sweep.m2);
    const vec3 y = v3_sub(v3_sub(row.right, m3_times(sweep.l1, sweep.y1)), m3_times(sweep.l2, sweep.y2));
    const Mat3 inverse = m3_inverse(d); // symmetric
    const Mat3 below = m3_add_scaled(row.below, m3_transpose(sweep.l1), -sweep.m2_next);
    const Mat3 l_below = m3_times_transposed(below, inverse);
    const Mat3 l_second = m3_add_scaled(m3_diagonal(0.0f), inverse, row.second_below);
    const vec3 z = m3_times(inverse, y);
    STORE(rod_factors, at, v4_from_v3(l_below.x, z.x));
    STORE(rod_factors, at + 1u, v4_from_v3(l_below.y, z.y));
    STORE(rod_factors, at + 2u, v4_from_v3(l_below.z, z.z));
    STORE(rod_factors, at + 3u, v4_from_v3(l_second.x, 0.0f));
    STORE(rod_factors, at + 4u, v4_from_v3(l_second.y, 0.0f));
    STORE(rod_factors, at + 5u, v4_from_v3(l_second.z, 0.0f));
    sweep.y2 = sweep.y1;
    sweep.y1 = y;
    sweep.l2 = sweep.l2_next;
    sweep.m2 = sweep.m2_next;
    sweep.l2_next = l_second;
    sweep.m2_next = row.second_below;
    sweep.l1 = l_below;
    sweep.m1 = below;
    return sweep;
}

// Solves for the changes of a rod's multipliers: down the rod, then back.
KERNEL(solve_rods)
{
    const uint first = LOAD(rod_starts, i);
    const uint last = LOAD(rod_starts, i + 1u) - 1u; // node
    RodSweep sweep;
    sweep.l1 = m3_diagonal(0.0f);
    sweep.m1 = sweep.l1;
    sweep.l2 = sweep.l1;
    sweep.l2_next = sweep.l1;
    sweep.m2 = 0.0f;
    sweep.m2_next = 0.0f;
    sweep.y1 = v3(0.0f, 0.0f, 0.0f);
    sweep.y2 = sweep.y1;
    RodSegment s = rod_segment(VIEW_HERE_COMMA first, last);
    RodSegment next = rod_segment(VIEW_HERE_COMMA first + 1u, last);
    for (uint k = first; k < last; k++) {
        const RodSegment after = rod_segment(VIEW_HERE_COMMA k + 2u, last);
        const uint at = 2u * ROD_CONSTRAINT_FACTORS * k;
        sweep = rod_eliminate(VIEW_HERE_COMMA sweep, rod_stretch_row(VIEW_HERE_COMMA k, s, next), at);
        sweep = rod_eliminate(VIEW_HERE_COMMA sweep, rod_bend_row(VIEW_HERE_COMMA k, s, next, after),
                              at + ROD_CONSTRAINT_FACTORS);
        s = next;
        next = after;
    }
    vec3 x1 = v3(0.0f, 0.0f, 0.0f); // of the row below
    vec3 x2 = x1;                   // and of the one below that
    for (uint row = 2u * last; row-- > 2u * first;) {
        const uint at = ROD_CONSTRAINT_FACTORS * row;
        Mat3 l1;
        Mat3 l2;
        const vec4 a = LOAD(rod_factors, at);
        const vec4 b = LOAD(rod_factors, at + 1u);
        const vec4 c = LOAD(rod_factors, at + 2u);
        l1.x = v3_from_v4(a);
        l1.y = v3_from_v4(b);
        l1.z = v3_from_v4(c);
        l2.x = v3_from_v4(LOAD(rod_factors, at + 3u));
        l2.y = v3_from_v4(LOAD(rod_factors, at + 4u));
        l2.z = v3_from_v4(LOAD(rod_factors, at + 5u));
        const vec3 down = v3_add(m3_transposed_times(l1, x1), m3_transposed_times(l2, x2));
        const vec3 change = v3_sub(v3(a.w, b.w, c.w), down);
        STORE(rod_changes, row, v4_from_v3(change, 0.0f));
        x2 = x1;
        x1 = change;
    }
}

// Begins a step: predicts the segments' rotations from how they turned in the last one, and clears the multipliers.
KERNEL(predict_rods)
{
    const vec4 rotation = LOAD(rod_rotations, i);
    const vec3 turned = rod_turned(VIEW_HERE_COMMA i);
    const float scale = PARAMETER(velocity_decay) * sqrtf(PARAMETER(warm_start_scale));
    STORE(rod_begun_rotations, i, rotation);
    if (LOAD(rod_laws, i).z > 0.0f) {
        STORE(rod_rotations, i, quat_integrate(rotation, v3_scale(turned, scale)));
    }
    STORE(rod_lambdas, 2u * i, v4(0.0f, 0.0f, 0.0f, 0.0f));
    STORE(rod_lambdas, 2u * i + 1u, v4(0.0f, 0.0f, 0.0f, 0.0f));
}

// The change of a multiplier of node or segment k's rod, 0 beyond its ends.
FUNCTION vec3 rod_change(VIEW_COMMA uint row, uint begin, uint end)
{
    return row >= begin && row < end ? v3_from_v4(LOAD(rod_changes, row)) : v3(0.0f, 0.0f, 0.0f);
}

// Moves node i and turns segment i by the multipliers' changes, and adds these up.
KERNEL(apply_rods)
{
    const uvec2 span = LOAD(rod_spans, i); // of its rod
    const uint begin = 2u * span.x;
    const uint end = 2u * (span.y - 1u);
    const uint row = 2u * i;
    const vec3 stretch = rod_change(VIEW_HERE_COMMA row, begin, end);
    const vec3 bend = rod_change(VIEW_HERE_COMMA row + 1u, begin, end);
    const uint none = 0xffffffffu;
    const vec3 stretch_before = rod_change(VIEW_HERE_COMMA i > span.x ? row - 2u : none, begin, end);
    const vec3 bend_before = rod_change(VIEW_HERE_COMMA i > span.x ? row - 1u : none, begin, end);
    const uint slot = handle_slot(VIEW_HERE_COMMA LOAD(rod_nodes, i));
    if (slot != NONE) {
        const vec4 particle = LOAD(predicted, slot);
        const vec3 move = v3_scale(v3_mul(v3_sub(stretch_before, stretch), PARAMETER(motion_mask)), particle.w);
        STORE(predicted, slot, v4_from_v3(v3_add(v3_from_v4(particle), move), particle.w));
    }
    const vec4 law = LOAD(rod_laws, i);
    const vec4 rotation = LOAD(rod_rotations, i);
    const vec3 lever = v3_scale(rod_axis(rotation), -law.x);
    const vec3 torque = v3_add(v3_cross(lever, stretch), v3_sub(bend_before, bend));
    const bool planar = PARAMETER(motion_mask).z == 0.0f; // in two dimensions it turns about z
    const vec3 turn = v3_scale(torque, law.z);
    if (i + 1u < span.y && law.z > 0.0f) {
        STORE(rod_rotations, i, quat_integrate(rotation, planar ? v3(0.0f, 0.0f, turn.z) : turn));
    }
    STORE(rod_lambdas, row, v4_from_v3(v3_add(v3_from_v4(LOAD(rod_lambdas, row)), stretch), 0.0f));
    STORE(rod_lambdas, row + 1u, v4_from_v3(v3_add(v3_from_v4(LOAD(rod_lambdas, row + 1u)), bend), 0.0f));
}

// ---- Energy ------------------------------------------------------------------------------------------------

// The energy (J) of segment k and the joint behind it: elastic, by the forces that hold them, and of turning.
FUNCTION float rod_energy(VIEW_COMMA uint k)
{
    const vec4 law = LOAD(rod_laws, k);
    const vec4 joint = LOAD(rod_joints, k);
    const float rate = 1.0f / PARAMETER(time_step);
    const vec3 force = v3_scale(v3_from_v4(LOAD(rod_lambdas, 2u * k)), rate * rate);
    const vec3 torque = v3_scale(v3_from_v4(LOAD(rod_lambdas, 2u * k + 1u)), rate * rate);
    const vec3 spin = v3_scale(rod_turned(VIEW_HERE_COMMA k), rate);
    const float along = v3_dot(torque, rod_axis(LOAD(rod_rotations, k)));
    const float across = v3_dot(torque, torque) - along * along;
    const float bending = joint.x < ROD_NO_STIFFNESS ? joint.x * across : 0.0f;
    const float twisting = joint.y < ROD_NO_STIFFNESS ? joint.y * along * along : 0.0f;
    const float turning = law.z > 0.0f ? v3_dot(spin, spin) / law.z : 0.0f;
    return 0.5f * (law.y * v3_dot(force, force) + bending + twisting + turning);
}

FUNCTION void credit_node(VIEW_COMMA uint node, float work)
{
    const uint slot = handle_slot(VIEW_HERE_COMMA LOAD(rod_nodes, node));
    if (slot != NONE) {
        STORE(collider_work, slot, LOAD(collider_work, slot) + work);
    }
}

// Credits the energy that a rod has released in the step to the energy watch (watch.h), half of a segment's to each of
// its nodes.
KERNEL(credit_rods)
{
    const uint last = LOAD(rod_starts, i + 1u) - 1u;
    for (uint k = LOAD(rod_starts, i); k < last; k++) {
        const float stored = LOAD(rod_energies, k);
        const float energy = rod_energy(VIEW_HERE_COMMA k);
        const float released = max_f32(stored - energy, 0.0f);
        STORE(rod_energies, k, energy);
        credit_node(VIEW_HERE_COMMA k, 0.5f * released);
        credit_node(VIEW_HERE_COMMA k + 1u, 0.5f * released);
    }
}

#endif
