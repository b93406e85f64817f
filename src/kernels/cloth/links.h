// SPDX-License-Identifier: MIT
// links.h - distance constraints between two particles: springs and ropes, by XPBD (Macklin et al. 2016).
//
// A link is the constraint C = |x_a - x_b| - rest = 0 with compliance 1 / k, for the stiffness k. In each iteration of
// a step of dt its multiplier changes by (XPBD eq. 18, with the damping of eq. 26)
//
//     d lambda = (-C - a lambda - g C') / ((1 + g) (w_a + w_b) + a),   a = 1 / (k dt^2),   g = d / (k dt)
//
// where C' is how far the ends have moved apart in the step and d the damping (N s/m). The ends move by +-w d lambda
// along the link, so momentum is conserved, and when the iterations have converged the link pulls with k C: stiffness
// does not depend on their number.
//
// Links are solved in one of two ways (MoteLinkSolver):
//
// Gauss-Seidel: links of one colour share no particle. They are solved together and move their ends in place, one
// colour after the other, with the ends' whole masses (w = 1/m): no atomics, and the same result whatever the order of
// threads.
//
// Jacobi: all links are solved at once. Each stores one result, and its ends gather the results in the order of their
// lists. Each link has a share of its ends' masses (mass splitting, Tonge et al. 2012): w is the inverse mass of an end
// times its number of such links. The improved Jacobi method (IJ, Francu and Moldoveanu 2014, section 4) has whole
// masses instead, a relaxation omega below 1 and momentum: a part beta of the last iteration's change is added to the
// next,
//
//     d lambda = omega (...) + beta d lambda before,   beta_l = min((l / (l_max - 1))^b, 1) in iteration l
//
// Stiffness may change while a world runs (ease_links), and no velocity must jump. So compliance goes to its new value
// by some share in each step, and where it changes by da the rest length makes up for that: it loses T da, which leaves
// the tension T as it was, and then goes back to what it should be, exponentially.
//
// Links that end at a rigid body are always solved by the Jacobi way with shares. For a particle of a rigid body w is
// the body's inverse effective mass at this point times the body's number of links, and the correction moves the whole
// body.
#ifndef MOTE_KERNELS_LINKS_H
#define MOTE_KERNELS_LINKS_H

#include "data.h"
#include "particle/handles.h"
#include "particle/integrate.h"
#include "particle/watch_credit.h"
#include "rigid/bodies.h"

#define LINK_SPRING 0.0f // pulls and pushes
#define LINK_ROPE   1.0f // only pulls

// Rest length, compliance, damping and kind of a link, as they are now.
FUNCTION vec4 link_law(VIEW_COMMA uint link)
{
    vec4 law = LOAD(link_laws, link);
    if (PARAMETER(links_ease) != 0u) {
        law.x += LOAD(link_offsets, link);
    }
    return law;
}

// What a compliance is in the next step: it changes by the same share in each, of what a step feels of it. That is the
// compliance and `inertia`, the ends' own resistance to being moved in a step.
FUNCTION float eased_compliance(float before, float target, float inertia, float share)
{
    const float felt = before + inertia;
    return target < before ? max_f32(target, felt * share - inertia) : min_f32(target, felt / share - inertia);
}

// Before the first constraints of a step.
KERNEL(ease_links)
{
    vec4 law = LOAD(link_laws, i);
    const float before = LOAD(link_compliances, i);
    const float decay = PARAMETER(ease_decay);
    float compliance = LOAD(link_targets, i);
    float offset = decay * LOAD(link_offsets, i);
    if (compliance != before && PARAMETER(ease_rate) > 0.0f) {
        const uvec2 ends = LOAD(link_ends, i);
        const uint a = handle_slot(VIEW_HERE_COMMA ends.x);
        const uint b = handle_slot(VIEW_HERE_COMMA ends.y);
        if (a != NONE && b != NONE) {
            const float inertia = (LOAD(positions, a).w + LOAD(positions, b).w) / PARAMETER(ease_rate);
            const float tension = -LOAD(link_lambdas, i) * PARAMETER(ease_rate);
            compliance = eased_compliance(before, compliance, inertia, decay * decay);
            offset += tension * (before - compliance);
        }
    }
    law.y = compliance;
    STORE(link_laws, i, law);
    STORE(link_compliances, i, compliance);
    STORE(link_offsets, i, fabsf(offset) > 1e-9f ? offset : 0.0f);
}

// The inverse effective mass (1/kg) of a link's end along `direction`.
FUNCTION float end_inverse_mass(VIEW_COMMA uint slot, vec3 direction)
{
    const vec4 particle = LOAD(predicted, slot);
    const uint cluster = rigid_cluster_of(VIEW_HERE_COMMA slot);
    if (cluster == NONE) {
        return particle.w;
    }
    const Cluster body = LOAD(clusters, cluster);
    const vec3 arm = v3_sub(v3_from_v4(particle), v3_from_v4(LOAD(cluster_centres, cluster)));
    const vec3 turning = v3_cross(arm, direction);
    const vec3 turned = inverse_inertia_times(body, LOAD(cluster_rotations, cluster), turning);
    return 1.0f / body.mass + v3_dot(turning, turned);
}

// What the multiplier of a link with `law` changes by, towards the length that its compliance allows. `w` is the sum of
// the ends' inverse masses, `offset` points along `direction` from the second to the first end, and `begun` did when
// the step began.
FUNCTION float link_change(vec4 law, float dt, float w, float before, vec3 direction, vec3 offset, vec3 begun)
{
    const float compliance = law.y / (dt * dt);
    const float damping = law.y * law.z / dt;
    const float inverse_effective_mass = (1.0f + damping) * w + compliance;
    const float closing = damping * v3_dot(direction, v3_sub(offset, begun));
    const float wanted = law.x - v3_length(offset) - compliance * before - closing;
    return inverse_effective_mass > 0.0f ? wanted / inverse_effective_mass : 0.0f; // else both ends are pinned
}

// A rope does not push.
FUNCTION float limited_lambda(vec4 law, float lambda)
{
    return law.w == LINK_ROPE ? min_f32(lambda, 0.0f) : lambda;
}

// Where the ends of coloured links are, after a sort.
KERNEL(locate_links)
{
    const uvec2 ends = LOAD(link_ends, i);
    uvec2 slots;
    slots.x = handle_slot(VIEW_HERE_COMMA ends.x);
    slots.y = handle_slot(VIEW_HERE_COMMA ends.y);
    if (slots.x == NONE || slots.y == NONE) {
        slots.x = NONE; // broken
        slots.y = NONE;
    }
    STORE(link_slots, i, slots);
}

// Solves a link of the present colour, and moves its ends.
KERNEL(solve_coloured_links)
{
    const uint link = PARAMETER(link_first) + i;
    const uvec2 slots = LOAD(link_slots, link);
    if (slots.x == NONE) {
        STORE(link_lambdas, link, 0.0f);
        return;
    }
    const vec4 law = link_law(VIEW_HERE_COMMA link);
    const vec4 a = LOAD(predicted, slots.x);
    const vec4 b = LOAD(predicted, slots.y);
    const vec3 offset = v3_sub(v3_from_v4(a), v3_from_v4(b));
    const vec3 direction = v3_scale(offset, 1.0f / max_f32(v3_length(offset), 1e-30f));
    const float before = PARAMETER(iteration) != 0u ? LOAD(link_lambdas, link) : 0.0f;
    vec3 begun = offset; // which only damping asks for
    if (law.z > 0.0f) {
        begun = v3_sub(v3_from_v4(LOAD(positions, slots.x)), v3_from_v4(LOAD(positions, slots.y)));
    }
    const float change = link_change(law, PARAMETER(time_step), a.w + b.w, before, direction, offset, begun);
    const float lambda = limited_lambda(law, before + PARAMETER(link_relaxation) * change);
    const vec3 correction = v3_mul(v3_scale(direction, lambda - before), PARAMETER(motion_mask));
    STORE(link_lambdas, link, lambda);
    if (a.w > 0.0f) { // pins stay to the bit
        STORE(predicted, slots.x, v4_from_v3(v3_add_scaled(v3_from_v4(a), correction, a.w), a.w));
    }
    if (b.w > 0.0f) {
        STORE(predicted, slots.y, v4_from_v3(v3_add_scaled(v3_from_v4(b), correction, -b.w), b.w));
    }
}

// Solves a link: stores the impulse on its first end (kg m); the second end gets the opposite.
KERNEL(solve_links)
{
    const uint link = PARAMETER(link_first) + i;
    const uvec2 ends = LOAD(link_ends, link);
    const uint a = handle_slot(VIEW_HERE_COMMA ends.x);
    const uint b = handle_slot(VIEW_HERE_COMMA ends.y);
    const float before = PARAMETER(iteration) != 0u ? LOAD(link_lambdas, link) : 0.0f;
    vec3 correction = v3(0.0f, 0.0f, 0.0f);
    float lambda = 0.0f; // of a link that has lost an end
    if (a != NONE && b != NONE) {
        const vec4 law = link_law(VIEW_HERE_COMMA link);
        const uvec2 shares = LOAD(link_shares, link);
        const vec3 offset = v3_sub(v3_from_v4(LOAD(predicted, a)), v3_from_v4(LOAD(predicted, b)));
        const vec3 direction = v3_scale(offset, 1.0f / max_f32(v3_length(offset), 1e-30f));
        const vec3 begun = v3_sub(v3_from_v4(LOAD(positions, a)), v3_from_v4(LOAD(positions, b)));
        const float w = F32(shares.x) * end_inverse_mass(VIEW_HERE_COMMA a, direction) +
                        F32(shares.y) * end_inverse_mass(VIEW_HERE_COMMA b, direction);
        const float change = link_change(law, PARAMETER(time_step), w, before, direction, offset, begun);
        const bool free = link < PARAMETER(link_body_first);
        lambda = before + (free ? PARAMETER(link_relaxation) * change : change);
        if (free && PARAMETER(link_momentum) > 0.0f) {
            lambda += PARAMETER(link_momentum) * LOAD(link_changes, link);
        }
        lambda = limited_lambda(law, lambda);
        correction = v3_mul(v3_scale(direction, lambda - before), PARAMETER(motion_mask));
    }
    STORE(link_changes, link, lambda - before);
    STORE(link_lambdas, link, lambda);
    STORE(link_corrections, link, v4_from_v3(correction, 0.0f));
}

// Moves the particle with this handle by the impulses of its links in a node's list; for a particle of a rigid body,
// adds them to the body's corrections. Where cloth tears, the list has what ended at any copy of its vertex.
FUNCTION void gather_links(VIEW_COMMA uint handle, uint node)
{
    const uint slot = handle_slot(VIEW_HERE_COMMA handle);
    if (slot == NONE) {
        return;
    }
    vec3 momentum = v3(0.0f, 0.0f, 0.0f);
    for (uint k = LOAD(node_gather_starts, node); k < LOAD(node_starts, node + 1u); k++) {
        const uint entry = LOAD(node_links, k);
        if (PARAMETER(tears) != 0u) {
            const uvec2 ends = LOAD(link_ends, entry >> 1);
            if (((entry & 1u) == 0u ? ends.x : ends.y) != handle) {
                continue;
            }
        }
        const vec3 correction = v3_from_v4(LOAD(link_corrections, entry >> 1));
        momentum = v3_add_scaled(momentum, correction, (entry & 1u) == 0u ? 1.0f : -1.0f);
    }
    const vec4 particle = LOAD(predicted, slot);
    if (rigid_cluster_of(VIEW_HERE_COMMA slot) != NONE) {
        add_correction(VIEW_HERE_COMMA slot, v3_scale(momentum, particle.w), 0.0f);
    } else {
        STORE(predicted, slot, v4_from_v3(v3_add_scaled(v3_from_v4(particle), momentum, particle.w), particle.w));
    }
}

KERNEL(apply_links)
{
    gather_links(VIEW_HERE_COMMA LOAD(node_handles, i), i);
}

// The same for the copies of vertices that were split, which are in no node's table.
KERNEL(apply_copied_links)
{
    const uint root = LOAD(cloth_roots, i);
    if (root != i && LOAD(cloth_nodes, root) != NONE) {
        gather_links(VIEW_HERE_COMMA LOAD(cloth_handles, i), LOAD(cloth_nodes, root));
    }
}

// The energy (J) that a link of this length holds.
FUNCTION float link_energy(vec4 law, float length)
{
    const float stretch = law.w == LINK_ROPE ? max_f32(length - law.x, 0.0f) : length - law.x;
    return 0.5f * stretch * stretch / law.y;
}

// The ends of a link that holds energy, or NONE.
FUNCTION uvec2 ends_of_spring(VIEW_COMMA uint link)
{
    const uvec2 ends = LOAD(link_ends, link);
    uvec2 slots;
    slots.x = NONE;
    slots.y = NONE;
    if (LOAD(link_laws, link).y > 0.0f) {
        slots.x = handle_slot(VIEW_HERE_COMMA ends.x);
        slots.y = handle_slot(VIEW_HERE_COMMA ends.y);
    }
    if (slots.y == NONE) {
        slots.x = NONE;
    }
    return slots;
}

// What links hold before the first of several small steps (J).
KERNEL(note_links)
{
    const uvec2 slots = ends_of_spring(VIEW_HERE_COMMA i);
    float energy = 0.0f;
    if (slots.x != NONE) {
        const vec3 a = v3_from_v4(LOAD(positions, slots.x));
        energy = link_energy(link_law(VIEW_HERE_COMMA i), v3_length(v3_sub(a, v3_from_v4(LOAD(positions, slots.y)))));
    }
    STORE(link_energies, i, energy);
}

// The work of a link on its ends in the step (J), negative if it has stored energy: its tension times the shortening,
// at most the decrease of its stored energy; of small steps the latter, if it has decreased.
FUNCTION float link_work(VIEW_COMMA uint link, uint a, uint b)
{
    const vec4 law = link_law(VIEW_HERE_COMMA link);
    const float length = v3_length(v3_sub(v3_from_v4(LOAD(predicted, a)), v3_from_v4(LOAD(predicted, b))));
    if (PARAMETER(step_share) < 1.0f) {
        return max_f32(LOAD(link_energies, link) - link_energy(law, length), 0.0f);
    }
    const float length_before = v3_length(v3_sub(v3_from_v4(LOAD(positions, a)), v3_from_v4(LOAD(positions, b))));
    const float dt = PARAMETER(time_step);
    const float work = LOAD(link_lambdas, link) / (dt * dt) * (length - length_before);
    return min_f32(work, max_f32(link_energy(law, length_before) - link_energy(law, length), 0.0f));
}

// Credits the energy that links release to the energy watch (watch.h), as external work. Otherwise the watch would
// report it as a gain. Each chunk of particles gets what a part of the links does: only the sum of all matters.
KERNEL(credit_links)
{
    const uvec2 share = credited_share(VIEW_HERE_COMMA i, PARAMETER(link_count));
    float work = 0.0f;
    for (uint link = share.x; link < share.y; link++) {
        const uvec2 slots = ends_of_spring(VIEW_HERE_COMMA link);
        if (slots.x != NONE) {
            work += link_work(VIEW_HERE_COMMA link, slots.x, slots.y);
        }
    }
    credit_chunk(VIEW_HERE_COMMA i, work);
}

#endif
