// SPDX-License-Identifier: MIT
// manipulator_colliders.c - drags a dynamic collider, at the point where it was picked.
#include "viewer/manipulator.h"

#include "base/error.h"
#include "base/vec.h"
#include "scene/build.h"
#include "scene/simulation.h"
#include <math.h>
#include <stdlib.h>

static MoteVec3 to_local(const MoteTransform *pose, MoteVec3 point)
{
    return scene_rotate(quat_conjugate(pose->rotation), vec3_add_scaled(point, pose->position, -1.0f));
}

// ---- How far a point is from a collider's surface, m, in the collider's frame ----

static float clamp(float value, float lowest, float highest)
{
    return fminf(fmaxf(value, lowest), highest);
}

static float distance_to_segment(MoteVec3 p, MoteVec3 a, MoteVec3 b)
{
    const MoteVec3 along = vec3_add_scaled(b, a, -1.0f), from = vec3_add_scaled(p, a, -1.0f);
    const float t = clamp(vec3_dot(from, along) / fmaxf(vec3_dot(along, along), 1e-30f), 0.0f, 1.0f);
    return vec3_length(vec3_add_scaled(from, along, -t));
}

static float distance_to_triangle(MoteVec3 p, const MoteVec3 corners[3])
{
    const MoteVec3 ab = vec3_add_scaled(corners[1], corners[0], -1.0f),
                   ac = vec3_add_scaled(corners[2], corners[0], -1.0f);
    const MoteVec3 normal = vec3_cross(ab, ac);
    const float area = vec3_length(normal);
    bool above = area > 1e-30f;
    float nearest = INFINITY;
    for (int i = 0; i < 3; i++) {
        const MoteVec3 a = corners[i], b = corners[(i + 1) % 3];
        above =
            above && vec3_dot(vec3_cross(normal, vec3_add_scaled(b, a, -1.0f)), vec3_add_scaled(p, a, -1.0f)) >= 0.0f;
        nearest = fminf(nearest, distance_to_segment(p, a, b));
    }
    return above ? fabsf(vec3_dot(normal, vec3_add_scaled(p, corners[0], -1.0f))) / area : nearest;
}

static float distance_to_mesh(const Mesh *mesh, MoteVec3 p)
{
    float nearest = INFINITY;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *vertices = mesh->triangles + 3 * (size_t)t;
        const MoteVec3 corners[3] = {mesh->positions[vertices[0]], mesh->positions[vertices[1]],
                                     mesh->positions[vertices[2]]};
        nearest = fminf(nearest, distance_to_triangle(p, corners));
    }
    return nearest;
}

static float distance_to_collider(const MoteCollider *collider, const Mesh *mesh, MoteVec3 p)
{
    const MoteVec3 h = collider->half_size;
    switch (collider->kind) {
    case MOTE_COLLIDER_BOX: {
        const MoteVec3 q = {fabsf(p.x) - h.x, fabsf(p.y) - h.y, fabsf(p.z) - h.z};
        const MoteVec3 outside = {fmaxf(q.x, 0.0f), fmaxf(q.y, 0.0f), fmaxf(q.z, 0.0f)};
        return fabsf(vec3_length(outside) + fminf(fmaxf(q.x, fmaxf(q.y, q.z)), 0.0f));
    }
    case MOTE_COLLIDER_SPHERE:
        return fabsf(vec3_length(p) - collider->radius);
    case MOTE_COLLIDER_CAPSULE:
        return fabsf(vec3_length((MoteVec3){p.x, p.y - clamp(p.y, -h.y, h.y), p.z}) - collider->radius);
    default:
        return distance_to_mesh(mesh, p); // none, and so nowhere near, for a plane
    }
}

// ---- Holding ----

static MoteResult read_states(Model *model, uint32_t *count, MoteColliderState **out)
{
    const MoteSimulation *simulation = model->simulation;
    *count = SCENE_COUNT(&simulation->scene->values, collider);
    *out = calloc(*count + 1u, sizeof **out);
    if (*out == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the motion of %u colliders", *count);
    }
    return simulation_read_colliders(model->simulation, *out);
}

MoteResult manipulator_grab_collider(Manipulator *manipulator, Model *model, MoteVec3 point)
{
    uint32_t count;
    MoteColliderState *states;
    const MoteResult result = read_states(model, &count, &states);
    const MoteSimulation *simulation = model->simulation;
    float nearest = simulation->settings.spacing; // pictures are no more exact than this
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        const MoteVec3 local = to_local(&states[i].pose, point);
        const float distance = states[i].mass > 0.0f ? distance_to_collider(&simulation->posed_colliders[i],
                                                                            &simulation->collider_meshes[i].mesh, local)
                                                     : INFINITY;
        if (distance < nearest) {
            nearest = distance;
            manipulator->held_count = 0;
            manipulator->holds_collider = true;
            manipulator->collider = i;
            manipulator->anchor = local;
            manipulator->at = point;
        }
    }
    free(states);
    return result;
}

// The impulse at the held point that gives it the velocity `wanted`. A hand needs no exact inertia: it takes that of a
// ball through the point, 2/5 m r^2, with which a change c of the point's velocity needs the impulse m (c_r + 2/7 c_t)
// of its parts along and across r.
static MoteResult pull(Manipulator *manipulator, Model *model, const MoteColliderState *state, double rate,
                       float fastest)
{
    const MoteVec3 at =
        vec3_add_scaled(state->pose.position, scene_rotate(state->pose.rotation, manipulator->anchor), 1.0f);
    const MoteVec3 r = vec3_add_scaled(at, state->centre, -1.0f), way = vec3_add_scaled(manipulator->target, at, -1.0f);
    const float speed = (float)rate * vec3_length(way),
                scale = (float)rate * fminf(1.0f, fastest / fmaxf(speed, 1e-12f));
    const MoteVec3 wanted = {scale * way.x, scale * way.y, scale * way.z};
    const MoteVec3 now = vec3_add_scaled(state->velocity, vec3_cross(state->angular_velocity, r), 1.0f);
    const MoteVec3 change = vec3_add_scaled(wanted, now, -1.0f);
    const float square = fmaxf(vec3_dot(r, r), 1e-12f);
    const MoteVec3 along = vec3_add_scaled((MoteVec3){0.0f, 0.0f, 0.0f}, r, vec3_dot(change, r) / square);
    const MoteVec3 across = vec3_add_scaled(change, along, -1.0f);
    const MoteVec3 push = vec3_add_scaled(along, across, 2.0f / 7.0f); // the impulse over the mass
    const MoteVec3 velocity = vec3_add_scaled(state->velocity, push, 1.0f);
    const MoteVec3 turn = vec3_add_scaled(state->angular_velocity, vec3_cross(r, push), 2.5f / square);
    manipulator->at = at;
    return mote_world_set_collider_motion(model->simulation->world, state->id, NULL, velocity,
                                          vec3_add_scaled(turn, turn, -0.1f)); // a little friction of the hand
}

MoteResult manipulator_pull_collider(Manipulator *manipulator, Model *model)
{
    uint32_t count;
    MoteColliderState *states;
    MoteResult result = read_states(model, &count, &states);
    if (result == MOTE_OK && (manipulator->collider >= count || !(states[manipulator->collider].mass > 0.0f))) {
        manipulator_let_go(manipulator);
    } else if (result == MOTE_OK) {
        const MoteSettings settings = mote_world_settings(model->simulation->world);
        result = pull(manipulator, model, &states[manipulator->collider], 0.25 * (double)settings.frame_rate,
                      4.0f * settings.spacing * settings.frame_rate);
    }
    free(states);
    return result;
}
