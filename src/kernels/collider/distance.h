// SPDX-License-Identifier: MIT
// distance.h - signed distances of planes, boxes, spheres, capsules, convex hulls and distance fields.
#ifndef MOTE_KERNELS_DISTANCE_H
#define MOTE_KERNELS_DISTANCE_H

#include "data.h"
#include "collider/sdf.h"

// Outward normal (xyz) and signed distance (w) of a solid box about the origin.
FUNCTION vec4 box_distance(vec3 p, vec3 half_size)
{
    const vec3 q = v3(fabsf(p.x) - half_size.x, fabsf(p.y) - half_size.y, fabsf(p.z) - half_size.z);
    const vec3 side = v3(p.x < 0.0f ? -1.0f : 1.0f, p.y < 0.0f ? -1.0f : 1.0f, p.z < 0.0f ? -1.0f : 1.0f);
    if (q.x <= 0.0f && q.y <= 0.0f && q.z <= 0.0f) { // inside: the nearest face
        if (q.x >= q.y && q.x >= q.z) {
            return v4(side.x, 0.0f, 0.0f, q.x);
        }
        if (q.y >= q.z) {
            return v4(0.0f, side.y, 0.0f, q.y);
        }
        return v4(0.0f, 0.0f, side.z, q.z);
    }
    const vec3 beyond = v3(max_f32(q.x, 0.0f), max_f32(q.y, 0.0f), max_f32(q.z, 0.0f));
    const float distance = v3_length(beyond);
    return v4_from_v3(v3_scale(v3_mul(side, beyond), 1.0f / max_f32(distance, 1e-30f)), distance);
}

// Outward normal and signed distance of a sphere about the origin; at the very centre the normal is up.
FUNCTION vec4 sphere_distance(vec3 p, float radius)
{
    const float length = v3_length(p);
    if (length < 1e-20f) {
        return v4(0.0f, 1.0f, 0.0f, -radius);
    }
    return v4_from_v3(v3_scale(p, 1.0f / length), length - radius);
}

// In the collider's own frame; solid, whatever inside_out says.
FUNCTION vec4 solid_distance(VIEW_COMMA Collider collider, vec3 p)
{
    if (collider.kind == COLLIDER_PLANE) {
        return v4(0.0f, 1.0f, 0.0f, p.y);
    }
    if (collider.kind == COLLIDER_BOX) {
        return box_distance(p, collider.half_size);
    }
    if (HAS_FEATURE(FIELDS) && collider.kind == COLLIDER_FIELD) {
        return field_distance(VIEW_HERE_COMMA collider.data, p);
    }
    if (HAS_FEATURE(HULLS) && collider.kind == COLLIDER_HULL) {
        return hull_distance(VIEW_HERE_COMMA collider.data, collider.data_count, p);
    }
    if (collider.kind == COLLIDER_CAPSULE) {
        p.y -= clamp_f32(p.y, -collider.half_size.y, collider.half_size.y);
    }
    return sphere_distance(p, collider.radius);
}

// The signed distance for contacts: negative where particles must not be.
FUNCTION vec4 collider_distance(VIEW_COMMA Collider collider, vec3 p)
{
    const vec4 solid = solid_distance(VIEW_HERE_COMMA collider, p);
    if (collider.inside_out != 0u) {
        return v4(-solid.x, -solid.y, -solid.z, -solid.w);
    }
    return solid;
}

// Whether a collider has a bounding sphere and is swept. Planes and containers push particles to the right side from
// anywhere, so they need no sweep; a field may be thin. The bounding sphere of a field that is a container has no
// bound.
FUNCTION bool collider_is_solid(Collider collider)
{
    return collider.kind == COLLIDER_FIELD || (collider.inside_out == 0u && collider.kind != COLLIDER_PLANE);
}

FUNCTION vec3 to_collider(Collider collider, vec3 p)
{
    return rotate_back(collider.rotation, v3_sub(p, collider.position));
}

FUNCTION vec3 from_collider(Collider collider, vec3 p)
{
    return v3_add(rotate(collider.rotation, p), collider.position);
}

FUNCTION vec3 to_collider_at_start(Collider collider, vec3 p)
{
    return rotate_back(collider.start_rotation, v3_sub(p, collider.start_position));
}

FUNCTION vec3 from_collider_at_start(Collider collider, vec3 p)
{
    return v3_add(rotate(collider.start_rotation, p), collider.start_position);
}

// How fast the surface nearest to p moves in the collider's own frame, m/s: only animated meshes do.
FUNCTION vec3 surface_velocity(VIEW_COMMA Collider collider, vec3 p)
{
    if (!HAS_FEATURE(FIELDS) || collider.kind != COLLIDER_FIELD) {
        return v3(0.0f, 0.0f, 0.0f);
    }
    const Field field = LOAD(fields, collider.data);
    if (field.velocities == FIELD_NONE) {
        return v3(0.0f, 0.0f, 0.0f);
    }
    const SurfacePoint point = nearest_surface(VIEW_HERE_COMMA field, p);
    if (point.triangle == FIELD_NONE) {
        return v3(0.0f, 0.0f, 0.0f);
    }
    return surface_vec3(VIEW_HERE_COMMA field, field.velocities, point);
}

// A point at the start of the step, in the collider's frame. The field is that of the mesh at the end of the step. So
// the point is moved along with the animated surface near it, and keeps its distance to the surface. Beyond the box of
// known distances no surface is near.
FUNCTION vec3 start_in_collider(VIEW_COMMA Collider collider, vec3 start)
{
    const vec3 local = to_collider_at_start(collider, start);
    if (!HAS_FEATURE(FIELDS) || collider.kind != COLLIDER_FIELD) {
        return local;
    }
    const Field field = LOAD(fields, collider.data);
    if (field.velocities == FIELD_NONE || local.x < field.bounds_min.x || local.y < field.bounds_min.y ||
        local.z < field.bounds_min.z || local.x > field.bounds_max.x || local.y > field.bounds_max.y ||
        local.z > field.bounds_max.z) {
        return local;
    }
    return v3_add_scaled(local, surface_velocity(VIEW_HERE_COMMA collider, local), PARAMETER(time_step));
}

// The factor of the collider's friction at the surface point nearest to p.
FUNCTION float surface_roughness(VIEW_COMMA Collider collider, vec3 p)
{
    if (!HAS_FEATURE(FIELDS) || collider.kind != COLLIDER_FIELD) {
        return 1.0f;
    }
    const Field field = LOAD(fields, collider.data);
    if (field.friction == FIELD_NONE) {
        return 1.0f;
    }
    const SurfacePoint point = nearest_surface(VIEW_HERE_COMMA field, p);
    if (point.triangle == FIELD_NONE) {
        return 1.0f;
    }
    const uint texel = surface_texel(VIEW_HERE_COMMA field, point, field.friction_width, field.friction_height);
    return FLOAT_OF_BITS(LOAD(field_words, field.friction + texel));
}

#endif
