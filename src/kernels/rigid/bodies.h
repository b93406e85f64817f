// SPDX-License-Identifier: MIT
// bodies.h - rigid and deformable bodies by shape matching (UPP section 5, Mueller et al. 2005).
//
// A soft cluster is fitted to its deformed particles, with its rotation warm-started from the last one, and pulls them
// back (UPP eq. 15 and 16). A rigid cluster is the limit in which particles never leave their rest pose: contacts add
// to `corrections` of its particles, and the sums of these move the whole body. Contacts of a rigid body are solved
// against shares of its mass (mass splitting, Tonge et al. 2012), not against the mass of a particle. So convergence
// does not depend on the number of particles, and momentum is conserved.
//
// Sums over a cluster run over chunks of MEMBER_CHUNK entries, in order: the same for any number of threads.
#ifndef MOTE_KERNELS_BODIES_H
#define MOTE_KERNELS_BODIES_H

#include "data.h"
#include "particle/handles.h"

// ---- Small matrices and rotations --------------------------------------------------------------------------

FUNCTION vec3 symmetric_times(vec3 diagonal, vec3 offdiagonal, vec3 v)
{
    return v3(diagonal.x * v.x + offdiagonal.x * v.y + offdiagonal.y * v.z,
              offdiagonal.x * v.x + diagonal.y * v.y + offdiagonal.z * v.z,
              offdiagonal.y * v.x + offdiagonal.z * v.y + diagonal.z * v.z);
}

FUNCTION vec4 quat_multiply(vec4 a, vec4 b)
{
    const vec3 u = v3_from_v4(a);
    const vec3 v = v3_from_v4(b);
    const vec3 w = v3_add(v3_add_scaled(v3_cross(u, v), v, a.w), v3_scale(u, b.w));
    return v4_from_v3(w, a.w * b.w - v3_dot(u, v));
}

// Turns q further by the vector `angle`. The tangent of half of it is taken to third order, which is exact to 1e-5 at
// half a radian: no trigonometric function, whose last bits differ between backends.
FUNCTION vec4 quat_integrate(vec4 q, vec3 angle)
{
    const float squared = v3_dot(angle, angle);
    const vec3 half_tangent = v3_scale(angle, 0.5f + squared * (1.0f / 24.0f));
    const vec4 turned = quat_multiply(v4_from_v3(half_tangent, 1.0f), q);
    const float length = sqrtf(turned.x * turned.x + turned.y * turned.y + turned.z * turned.z + turned.w * turned.w);
    const float scale = 1.0f / length;
    return v4(turned.x * scale, turned.y * scale, turned.z * scale, turned.w * scale);
}

// The vector by which `from` must be turned to be `to`, for small angles.
FUNCTION vec3 quat_difference(vec4 from, vec4 to)
{
    const vec4 way = quat_multiply(to, v4(-from.x, -from.y, -from.z, from.w));
    return v3_scale(v3_from_v4(way), way.w < 0.0f ? -2.0f : 2.0f);
}

FUNCTION vec3 inertia_times(Cluster cluster, vec4 rotation, vec3 v)
{
    const vec3 local = symmetric_times(cluster.inertia_diagonal, cluster.inertia_offdiagonal, rotate_back(rotation, v));
    return rotate(rotation, local);
}

FUNCTION vec3 inverse_inertia_times(Cluster cluster, vec4 rotation, vec3 v)
{
    const vec3 local = symmetric_times(cluster.inverse_diagonal, cluster.inverse_offdiagonal, rotate_back(rotation, v));
    return rotate(rotation, local);
}

// ---- Motions -----------------------------------------------------------------------------------------------

// Velocity of a rigid body's point, `arm` from its centre of mass.
FUNCTION vec3 velocity_at(Motion motion, vec3 arm)
{
    return v3_add(motion.velocity, v3_cross(motion.angular_velocity, arm));
}

// The inverse effective mass of a rigid body's point along `direction`, 1/kg.
FUNCTION float inverse_effective_mass(Cluster body, vec4 rotation, vec3 arm, vec3 direction)
{
    const vec3 turning = v3_cross(arm, direction);
    return 1.0f / body.mass + v3_dot(turning, inverse_inertia_times(body, rotation, turning));
}

// Changes velocities by an impulse (kg m/s) and its moment about the centre of mass.
FUNCTION Motion motion_after_impulse(Cluster body, vec4 rotation, Motion motion, vec3 impulse, vec3 moment)
{
    motion.velocity = v3_add_scaled(motion.velocity, impulse, 1.0f / body.mass);
    motion.angular_momentum = v3_add(motion.angular_momentum, moment);
    motion.angular_velocity = inverse_inertia_times(body, rotation, motion.angular_momentum);
    return motion;
}

// ---- Overlaps at the start of a step ------------------------------------------------------------------------

#define SIDEWAYS_RECOVERY 0.2f // of what contacts may take back along gravity: across it they carry no weight

// The part of an overlap that a rigid body's contact corrects. `closed` is how much nearer the step's motion has
// brought the two along the contact's normal, negative if apart. The rest of the overlap existed at the start of the
// step, and correcting it adds velocity: without a limit, six bodies at one position fly apart. So a contact may
// separate the two by at most recovery_limit relative to the start of the step, as Box2D limits the push-out velocity
// of contacts. The rest is left to stabilization, which adds no velocity (UPP section 4.4).
FUNCTION float overlap_by_motion(VIEW_COMMA float depth, float closed, vec3 normal)
{
    const float upright = max_f32(fabsf(v3_dot(normal, PARAMETER(up))), SIDEWAYS_RECOVERY);
    return min_f32(depth, max_f32(closed + PARAMETER(recovery_limit) * upright, 0.0f));
}

// ---- Properties of a particle in a contact -----------------------------------------------------------------

// The rigid cluster that a particle belongs to, or NONE.
FUNCTION uint rigid_cluster_of(VIEW_COMMA uint i)
{
    if (!HAS_FEATURE(SOLIDS) || PARAMETER(member_count) == 0u) {
        return NONE;
    }
    const uint member = LOAD(handles, i);
    if (!is_member(member)) {
        return NONE;
    }
    const uint cluster = LOAD(member_clusters, member);
    return (LOAD(clusters, cluster).flags & CLUSTER_RIGID) != 0u ? cluster : NONE;
}

FUNCTION bool has_plane(VIEW_COMMA uint i)
{
    const uint member = PARAMETER(member_count) != 0u ? LOAD(handles, i) : NONE;
    return is_member(member) && LOAD(member_fields, member * MEMBER_FACES).w < NO_FIELD &&
           LOAD(member_fields, member * MEMBER_FACES + 1u).w < NO_FIELD;
}

// The plane of the body's surface near its particle that faces `direction` most: outward normal, turned with the body
// (xyz), and signed distance (w). At edges and corners there are several planes. On curved surfaces there is none,
// because a plane is only valid near its particle. NO_FIELD in w: no plane faces there.
FUNCTION vec4 face_towards(VIEW_COMMA uint i, vec3 direction, float least)
{
    const vec4 none = v4(0.0f, 0.0f, 0.0f, NO_FIELD);
    if (!has_plane(VIEW_HERE_COMMA i)) {
        return none;
    }
    const uint member = LOAD(handles, i);
    const vec4 rotation = LOAD(cluster_rotations, LOAD(member_clusters, member));
    const vec3 local = rotate_back(rotation, direction);
    vec4 best = none;
    float best_along = least;
    for (uint face = 1u; face < MEMBER_FACES; face++) {
        const vec4 field = LOAD(member_fields, member * MEMBER_FACES + face);
        const float along = v3_dot(v3_from_v4(field), local);
        if (field.w < NO_FIELD && along > best_along) {
            best = field;
            best_along = along;
        }
    }
    return best.w < NO_FIELD ? v4_from_v3(rotate(rotation, v3_from_v4(best)), best.w) : none;
}

// The nearest part of its body's surface, wherever it faces (UPP section 5.1): outward gradient of the signed distance,
// and the distance. NO_FIELD: a plain sphere.
FUNCTION vec4 surface_of(VIEW_COMMA uint i)
{
    const uint member = PARAMETER(member_count) != 0u ? LOAD(handles, i) : NONE;
    if (!is_member(member)) {
        return v4(0.0f, 0.0f, 0.0f, NO_FIELD);
    }
    const vec4 field = LOAD(member_fields, member * MEMBER_FACES);
    if (field.w >= NO_FIELD) {
        return field;
    }
    const vec4 rotation = LOAD(cluster_rotations, LOAD(member_clusters, member));
    return v4_from_v3(rotate(rotation, v3_from_v4(field)), field.w);
}

// e^x for x of moderate size, of multiplications and additions alone.
FUNCTION float exponential(float x)
{
    const float y = clamp_f32(x, -40.0f, 40.0f) * (1.0f / 64.0f);
    float e = 1.0f + y * (1.0f + y * (0.5f + y * (1.0f / 6.0f + y * (1.0f / 24.0f))));
    for (uint n = 0u; n < 6u; n++) {
        e = e * e;
    }
    return e;
}

// Mass scaling (UPP eq. 21): the factor of inverse masses in contacts, which makes lower particles heavier.
FUNCTION float stack_factor(VIEW_COMMA uint i, vec3 position)
{
    if (PARAMETER(stack_scaling) <= 0.0f) {
        return 1.0f;
    }
    float height = v3_dot(position, PARAMETER(up)) - PARAMETER(stack_ground);
    if (PARAMETER(stack_by_contacts) != 0u) {
        height = LOAD(stack_heights, i);
    }
    return exponential(PARAMETER(stack_scaling) * max_f32(height, 0.0f));
}

// The response of a particle to a contact along `normal`: its inverse mass, and the inverse effective mass that divides
// the contact's multiplier. The latter is that of a share of the mass: of the particle's in the iterations, of the
// body's for particles of rigid bodies. Both partners divide by the same sum, so momentum is conserved.
STRUCT(ContactResponse)
{
    float inverse_mass;
    float inverse_effective_mass;
};

FUNCTION ContactResponse contact_response(VIEW_COMMA uint i, uint cluster, vec4 particle, vec3 normal)
{
    ContactResponse response = {particle.w, particle.w};
    if (PARAMETER(stabilizing) == 0u) {
        response.inverse_effective_mass = LOAD(contact_starts, i).w;
    }
    vec3 reference = v3_from_v4(particle);
    if (cluster != NONE) {
        const Cluster body = LOAD(clusters, cluster);
        const vec4 centre = LOAD(cluster_centres, cluster);
        const vec4 rotation = LOAD(cluster_rotations, cluster);
        reference = v3_from_v4(centre);
        const vec3 arm = v3_cross(v3_sub(v3_from_v4(particle), reference), normal);
        const vec3 local = rotate_back(rotation, arm);
        const float turning = v3_dot(local, symmetric_times(body.inverse_diagonal, body.inverse_offdiagonal, local));
        response.inverse_effective_mass = max_f32(centre.w, 1.0f) * (1.0f / body.mass + turning);
    }
    const float factor = stack_factor(VIEW_HERE_COMMA i, reference);
    response.inverse_mass *= factor;
    response.inverse_effective_mass *= factor;
    return response;
}

// Adds the correction of a rigid body's particle by contacts, and the number of contacts.
FUNCTION void add_correction(VIEW_COMMA uint i, vec3 correction, float contacts)
{
    const vec4 before = LOAD(corrections, i);
    STORE(corrections, i, v4_from_v3(v3_add(v3_from_v4(before), correction), before.w + contacts));
}

// ---- The step's beginning ----------------------------------------------------------------------------------

// Sums of a chunk of a rigid cluster for its motion: mass and offset from the last centre, momentum, angular momentum.
KERNEL(sum_momenta)
{
    const uvec2 chunk = LOAD(chunks, i);
    const uint cluster = LOAD(entry_clusters, chunk.x);
    if ((LOAD(clusters, cluster).flags & CLUSTER_RIGID) == 0u) {
        return;
    }
    const vec3 centre = v3_from_v4(LOAD(cluster_centres, cluster));
    const vec4 rotation = LOAD(cluster_rotations, cluster);
    const vec3 origin = v3_from_v4(LOAD(cluster_origins, cluster));
    vec4 offsets = v4(0.0f, 0.0f, 0.0f, 0.0f);
    vec3 momentum = v3(0.0f, 0.0f, 0.0f);
    vec3 angular = v3(0.0f, 0.0f, 0.0f);
    for (uint e = chunk.x; e < chunk.y; e++) {
        const uint slot = LOAD(handle_slots, LOAD(entry_members, e));
        if (slot == NONE) {
            continue;
        }
        const vec4 rest = LOAD(entry_rests, e);
        const vec3 velocity = v3_from_v4(LOAD(velocities, slot));
        const vec3 offset = v3_scale(v3_sub(v3_from_v4(LOAD(positions, slot)), centre), rest.w);
        const vec3 arm = rotate(rotation, v3_sub(v3_from_v4(rest), origin));
        offsets = v4_from_v3(v3_add(v3_from_v4(offsets), offset), offsets.w + rest.w);
        momentum = v3_add_scaled(momentum, velocity, rest.w);
        angular = v3_add_scaled(angular, v3_cross(arm, velocity), rest.w);
    }
    STORE(chunk_sums, i * CHUNK_SUMS, offsets);
    STORE(chunk_sums, i * CHUNK_SUMS + 1u, v4_from_v3(momentum, 0.0f));
    STORE(chunk_sums, i * CHUNK_SUMS + 2u, v4_from_v3(angular, 0.0f));
}

FUNCTION vec4 sum_of_chunks(VIEW_COMMA Cluster cluster, uint which)
{
    vec4 sum = v4(0.0f, 0.0f, 0.0f, 0.0f);
    for (uint k = 0u; k < cluster.chunk_count; k++) {
        const vec4 part = LOAD(chunk_sums, (cluster.first_chunk + k) * CHUNK_SUMS + which);
        sum = v4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
    }
    return sum;
}

// Predicts the motion of a rigid cluster without constraints. Angular momentum is conserved; the angular velocity is
// evaluated at the middle of the step, so that a tumbling body neither gains nor loses energy.
KERNEL(predict_clusters)
{
    const Cluster cluster = LOAD(clusters, i);
    const vec4 offsets = sum_of_chunks(VIEW_HERE_COMMA cluster, 0u);
    if ((cluster.flags & CLUSTER_RIGID) == 0u || offsets.w <= 0.0f) {
        return;
    }
    const float dt = PARAMETER(time_step);
    const vec4 rotation = LOAD(cluster_rotations, i);
    Motion motion = LOAD(motions, i);
    motion.start_rotation = rotation;
    motion.start_centre = v3_add_scaled(v3_from_v4(LOAD(cluster_centres, i)), v3_from_v4(offsets), 1.0f / offsets.w);
    motion.velocity = v3_scale(v3_from_v4(sum_of_chunks(VIEW_HERE_COMMA cluster, 1u)), 1.0f / offsets.w);
    motion.angular_momentum = v3_from_v4(sum_of_chunks(VIEW_HERE_COMMA cluster, 2u));
    motion.asleep = 0u;

    const vec3 angular_velocity = inverse_inertia_times(cluster, rotation, motion.angular_momentum);
    const vec4 half_way = quat_integrate(rotation, v3_scale(angular_velocity, 0.5f * dt));
    motion.angular_velocity = inverse_inertia_times(cluster, half_way, motion.angular_momentum);
    motion.predicted_rotation = quat_integrate(rotation, v3_scale(motion.angular_velocity, dt));
    motion.predicted_centre = v3_add_scaled(motion.start_centre, motion.velocity, dt);
    STORE(motions, i, motion);
    STORE(cluster_centres, i, v4_from_v3(motion.predicted_centre, 1.0f));
    STORE(cluster_rotations, i, motion.predicted_rotation);
}

FUNCTION vec3 place_of_entry(VIEW_COMMA uint entry, uint cluster)
{
    const vec3 rest = v3_sub(v3_from_v4(LOAD(entry_rests, entry)), v3_from_v4(LOAD(cluster_origins, cluster)));
    return v3_add(rotate(LOAD(cluster_rotations, cluster), rest), v3_from_v4(LOAD(cluster_centres, cluster)));
}

// Moves the particles of rigid bodies to the pose of their body.
KERNEL(place_members)
{
    const uint slot = LOAD(handle_slots, i);
    const uint cluster = LOAD(member_clusters, i);
    if (slot == NONE || (LOAD(clusters, cluster).flags & CLUSTER_RIGID) == 0u) {
        return;
    }
    const vec3 place = place_of_entry(VIEW_HERE_COMMA LOAD(member_entries, LOAD(member_starts, i)), cluster);
    STORE(predicted, slot, v4_from_v3(place, LOAD(predicted, slot).w));
}

#endif
