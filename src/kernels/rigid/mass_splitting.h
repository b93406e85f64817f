// SPDX-License-Identifier: MIT
// mass_splitting.h - the number of contacts among which the mass of a particle or of a rigid body is split.
//
// All contacts of an iteration are solved in parallel, independently of each other, so each may use only a share of the
// mass (Tonge et al. 2012, "Mass Splitting for Jitter-Free Parallel Rigid Body Simulation"). Tonge et al. give each of
// n contacts the share 1 / n, and so do particles here: a contact of two particles of inverse masses w moves them by
// w_i d / (n_i w_i + n_j w_j) and w_j d / (n_i w_i + n_j w_j). UPP eq. 12 divides by n_i and n_j instead, and what one
// of them loses is then not what the other one gains.
//
// A share of 1 / n is needed if all contacts act in the same direction. But a rigid body in a pile has contacts on all
// sides, and orthogonal contacts do not add up. Let u be the contacts' unit directions in the body's six degrees of
// freedom, in the metric of its inverse mass. An iteration does not overshoot if the mass is split by the largest
// eigenvalue of the sum of u u^T: n if all directions agree, down to n / 6 in a pile, which converges faster by this
// factor.
#ifndef MOTE_KERNELS_MASS_SPLITTING_H
#define MOTE_KERNELS_MASS_SPLITTING_H

#include "data.h"
#include "contact/particle_contacts.h"
#include "particle/neighbours.h"
#include "rigid/bodies.h"

// Of a particle's contacts: the sum of n n^T * effective mass (kg; diagonal xx, yy, zz and rest xy, xz, yz) and their
// number.
STRUCT(ContactMatrix)
{
    vec3 diagonal;
    float contacts;
    vec3 offdiagonal;
    float unused;
};

// Adds particle i's contact with j, if they touch.
FUNCTION ContactMatrix add_contact(VIEW_COMMA ContactMatrix contact_matrix, uint i, uint j, vec4 here, uint own_cluster)
{
    const vec3 offset = v3_sub(v3_from_v4(here), v3_from_v4(LOAD(contact_points, j)));
    const float reach = pair_reach(VIEW_HERE_COMMA i, j, LOAD(phases, i), LOAD(phases, j));
    const vec4 contact = pair_contact(VIEW_HERE_COMMA i, j, offset, reach);
    if (contact.w <= 0.0f) {
        return contact_matrix;
    }
    const Cluster cluster = LOAD(clusters, own_cluster);
    const vec4 rotation = LOAD(cluster_rotations, own_cluster);
    const vec3 n = v3_from_v4(contact);
    const vec3 arm = v3_sub(v3_from_v4(here), v3_from_v4(LOAD(cluster_centres, own_cluster)));
    const vec3 turning = rotate_back(rotation, v3_cross(arm, n));
    const float turns =
        v3_dot(turning, symmetric_times(cluster.inverse_diagonal, cluster.inverse_offdiagonal, turning));
    const vec3 scaled = v3_scale(n, 1.0f / (1.0f / cluster.mass + turns));
    contact_matrix.diagonal = v3_add(contact_matrix.diagonal, v3_mul(n, scaled));
    contact_matrix.offdiagonal = v3_add(contact_matrix.offdiagonal, v3(n.x * scaled.y, n.x * scaled.z, n.y * scaled.z));
    contact_matrix.contacts += 1.0f;
    return contact_matrix;
}

FUNCTION void store_contact_matrix(VIEW_COMMA uint i, ContactMatrix contact_matrix)
{
    STORE(contact_diagonals, i, v4_from_v3(contact_matrix.diagonal, contact_matrix.contacts));
    STORE(contact_offdiagonals, i, v4_from_v3(contact_matrix.offdiagonal, 0.0f));
}

// Contacts of a rigid body's particles at the beginning of the iterations.
KERNEL(count_contacts)
{
    const uint cluster = rigid_cluster_of(VIEW_HERE_COMMA i);
    if (cluster == NONE) {
        return;
    }
    const vec4 here = LOAD(contact_points, i);
    const uint phase = LOAD(phases, i);
    const uint count = LOAD(neighbour_counts, i);
    const uint start = LOAD(neighbour_starts, i);
    const float longest = longest_reach(VIEW_HERE);
    ContactMatrix contact_matrix = {v3(0.0f, 0.0f, 0.0f), 0.0f, v3(0.0f, 0.0f, 0.0f), 0.0f};
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        const vec3 offset = v3_sub(v3_from_v4(here), v3_from_v4(LOAD(contact_points, j)));
        if (v3_dot(offset, offset) < longest * longest && can_touch(phase, LOAD(phases, j))) {
            contact_matrix = add_contact(VIEW_HERE_COMMA contact_matrix, i, j, here, cluster);
        }
    }
    store_contact_matrix(VIEW_HERE_COMMA i, contact_matrix);
}

// ---- Particles ---------------------------------------------------------------------------------------------

// Whether the masses of i and j have to be split for their contact.
FUNCTION bool shares_masses(VIEW_COMMA uint i, uint j, vec4 here, vec4 there)
{
    const uint phase = LOAD(phases, i);
    const uint other_phase = LOAD(phases, j);
    if (!can_touch(phase, other_phase)) {
        return false;
    }
    const vec3 offset = v3_sub(v3_from_v4(here), v3_from_v4(there));
    const float reach = pair_reach(VIEW_HERE_COMMA i, j, phase, other_phase);
    const vec4 contact = pair_contact(VIEW_HERE_COMMA i, j, offset, reach);
    return contact.w > 0.0f || (contact.w > -PARAMETER(adhesion_range) &&
                                pair_material(VIEW_HERE_COMMA phase, other_phase).adhesion > 0.0f);
}

// Whether contacts of particle i are counted. Of a rigid body the whole mass is split, and global averaging splits
// none.
FUNCTION bool splits_mass(VIEW_COMMA uint i)
{
    return PARAMETER(contacts_global) == 0u && rigid_cluster_of(VIEW_HERE_COMMA i) == NONE;
}

FUNCTION void store_split_mass(VIEW_COMMA uint i, uint contacts)
{
    const vec4 start = LOAD(positions, i);
    STORE(contact_starts, i, v4_from_v3(v3_from_v4(start), start.w * max_f32(F32(contacts), 1.0f)));
}

// Splits the masses of particles among the contacts that they have before the iterations. Counting anew in each of them
// changed neither piles nor towers.
KERNEL(split_particle_masses)
{
    const vec4 here = LOAD(predicted, i);
    const uint count = splits_mass(VIEW_HERE_COMMA i) ? LOAD(neighbour_counts, i) : 0u;
    const uint start = LOAD(neighbour_starts, i);
    const float reach = longest_reach(VIEW_HERE);
    uint contacts = 0u;
    for (uint k = 0u; k < count; k++) {
        const uint j = LOAD(neighbours, neighbour_slot(start, k));
        const vec4 there = LOAD(predicted, j);
        const vec3 offset = v3_sub(v3_from_v4(here), v3_from_v4(there));
        if (v3_dot(offset, offset) < reach * reach && shares_masses(VIEW_HERE_COMMA i, j, here, there)) {
            contacts++;
        }
    }
    store_split_mass(VIEW_HERE_COMMA i, contacts);
}

// ---- Matrices ----------------------------------------------------------------------------------------------

STRUCT(Rows)
{
    vec3 x;
    vec3 y;
    vec3 z;
};

FUNCTION Rows rows(vec3 x, vec3 y, vec3 z)
{
    Rows m = {x, y, z};
    return m;
}

FUNCTION Rows rows_add(Rows a, Rows b)
{
    return rows(v3_add(a.x, b.x), v3_add(a.y, b.y), v3_add(a.z, b.z));
}

FUNCTION Rows transposed(Rows m)
{
    return rows(v3(m.x.x, m.y.x, m.z.x), v3(m.x.y, m.y.y, m.z.y), v3(m.x.z, m.y.z, m.z.z));
}

FUNCTION vec3 row_times(vec3 row, Rows m)
{
    return v3_add_scaled(v3_add_scaled(v3_scale(m.x, row.x), m.y, row.y), m.z, row.z);
}

FUNCTION Rows rows_times(Rows a, Rows b)
{
    return rows(row_times(a.x, b), row_times(a.y, b), row_times(a.z, b));
}

// The trace of a b.
FUNCTION float trace_of(Rows a, Rows b)
{
    const Rows columns = transposed(b);
    return v3_dot(a.x, columns.x) + v3_dot(a.y, columns.y) + v3_dot(a.z, columns.z);
}

// The vector `arm` times each column.
FUNCTION Rows crossed(vec3 arm, Rows m)
{
    const Rows columns = transposed(m);
    return transposed(rows(v3_cross(arm, columns.x), v3_cross(arm, columns.y), v3_cross(arm, columns.z)));
}

// A bound from above of the largest eigenvalue of the matrix of blocks (a b; c d), which are real and not negative:
// the fourth root of the sum of their fourth powers, at most 1.57 times as large.
FUNCTION float largest_eigenvalue(Rows a, Rows b, Rows c, Rows d)
{
    const Rows aa = rows_add(rows_times(a, a), rows_times(b, c));
    const Rows ab = rows_add(rows_times(a, b), rows_times(b, d));
    const Rows ba = rows_add(rows_times(c, a), rows_times(d, c));
    const Rows bb = rows_add(rows_times(c, b), rows_times(d, d));
    const float fourth_powers = trace_of(aa, aa) + 2.0f * trace_of(ab, ba) + trace_of(bb, bb);
    return sqrtf(sqrtf(max_f32(fourth_powers, 0.0f)));
}

// ---- Clusters ----------------------------------------------------------------------------------------------

// Computes the number of contacts that share the mass of a rigid body. An iteration with more contacts than that scales
// their corrections down.
KERNEL(count_cluster_contacts)
{
    const Cluster cluster = LOAD(clusters, i);
    if ((cluster.flags & CLUSTER_RIGID) == 0u) {
        return;
    }
    const vec4 centre = LOAD(cluster_centres, i);
    const Rows zero = rows(v3(0.0f, 0.0f, 0.0f), v3(0.0f, 0.0f, 0.0f), v3(0.0f, 0.0f, 0.0f));
    Rows moving = zero;  // sums of J J^T * effective mass: of the normals
    Rows turning = zero; // of their moments and the normals
    Rows turned = zero;  // of their moments
    float contacts = 0.0f;
    for (uint e = cluster.first_entry; e < cluster.first_entry + cluster.entry_count; e++) {
        const uint slot = LOAD(handle_slots, LOAD(entry_members, e));
        const vec4 own = slot != NONE ? LOAD(contact_diagonals, slot) : v4(0.0f, 0.0f, 0.0f, 0.0f);
        if (own.w > 0.0f) {
            const vec4 rest = LOAD(contact_offdiagonals, slot);
            const vec3 arm = v3_sub(v3_from_v4(LOAD(contact_points, slot)), v3_from_v4(centre));
            const Rows contact_matrix =
                rows(v3(own.x, rest.x, rest.y), v3(rest.x, own.y, rest.z), v3(rest.y, rest.z, own.z));
            const Rows moments = crossed(arm, contact_matrix);
            contacts += own.w;
            moving = rows_add(moving, contact_matrix);
            turning = rows_add(turning, moments);
            turned = rows_add(turned, crossed(arm, transposed(moments)));
        }
    }
    float share = 1.0f;
    if (contacts > 1.0f) {
        const vec4 rotation = LOAD(cluster_rotations, i);
        const float inverse = 1.0f / cluster.mass;
        const Rows inertia = transposed(rows(inverse_inertia_times(cluster, rotation, v3(1.0f, 0.0f, 0.0f)),
                                             inverse_inertia_times(cluster, rotation, v3(0.0f, 1.0f, 0.0f)),
                                             inverse_inertia_times(cluster, rotation, v3(0.0f, 0.0f, 1.0f))));
        const Rows mass = rows(v3(inverse, 0.0f, 0.0f), v3(0.0f, inverse, 0.0f), v3(0.0f, 0.0f, inverse));
        share = largest_eigenvalue(rows_times(mass, moving), rows_times(mass, transposed(turning)),
                                   rows_times(inertia, turning), rows_times(inertia, turned));
        share = clamp_f32(share, 1.0f, contacts);
    }
    const vec3 origin = v3_from_v4(LOAD(cluster_origins, i));
    STORE(cluster_centres, i, v4_from_v3(v3_from_v4(centre), share));
    STORE(cluster_origins, i, v4_from_v3(origin, max_f32(contacts, 1.0f)));
}

#endif
