// SPDX-License-Identifier: MIT
// ray_cast.h - the first hit of a ray and a collider: exact for planes, boxes, spheres, capsules and hulls, which are
// convex; sphere tracing for distance fields.
#ifndef MOTE_KERNELS_RAY_CAST_H
#define MOTE_KERNELS_RAY_CAST_H

#include "data.h"
#include "collider/distance.h"

#define FIELD_RAY_STEPS 4096u // of a ray through one field

#define RAY_COLLIDER 0u // words of a ray: the collider, or NONE
#define RAY_NEAREST  1u // NONE minus the bits of the nearest distance to a particle: the largest is the nearest
#define RAY_SLOT     2u // NONE minus the index of the particle, 0 is none; in the end its id, or NONE
#define RAY_BODY     3u // its body, or NONE

// A ray in some frame: o + t d, where d has unit length.
STRUCT(Ray)
{
    vec3 origin;
    float reach; // m, where it ends
    vec3 direction;
    float radius; // m, of particles; 0: they are not hit
};

FUNCTION Ray load_ray(VIEW_COMMA uint i)
{
    const vec4 begin = LOAD(query_rays, 2u * i);
    const vec4 along = LOAD(query_rays, 2u * i + 1u);
    Ray ray = {v3_from_v4(begin), begin.w, v3_from_v4(along), along.w};
    return ray;
}

// The interval of a line inside a convex shape, from x to y; empty if x > y. z is unused.
#define WHOLE_LINE v3(-FAR_AWAY, FAR_AWAY, 0.0f)
#define NOTHING    v3(FAR_AWAY, -FAR_AWAY, 0.0f)

// Cuts off what is above a plane: where height + slope t > 0.
FUNCTION vec3 clip_stretch(vec3 stretch, float height, float slope)
{
    if (fabsf(slope) < 1e-20f) {
        return height > 0.0f ? NOTHING : stretch;
    }
    const float t = -height / slope;
    return slope > 0.0f ? v3(stretch.x, min_f32(stretch.y, t), 0.0f) : v3(max_f32(stretch.x, t), stretch.y, 0.0f);
}

FUNCTION vec3 clip_to_slab(vec3 stretch, float origin, float direction, float bounds_min, float bounds_max)
{
    return clip_stretch(clip_stretch(stretch, origin - bounds_max, direction), bounds_min - origin, -direction);
}

// The interval where a x^2 + 2 b x + c < 0. The caller computes the discriminant, in the way that loses fewest digits.
FUNCTION vec3 quadratic_stretch(float a, float b, float discriminant)
{
    if (discriminant <= 0.0f || a <= 0.0f) {
        return NOTHING;
    }
    const float root = sqrtf(discriminant);
    return v3((-b - root) / a, (-b + root) / a, 0.0f);
}

// Measured from the point of the line that is nearest to the centre: far spheres keep their digits.
FUNCTION vec3 sphere_stretch(vec3 from_centre, vec3 direction, float radius)
{
    const float b = v3_dot(from_centre, direction);
    const vec3 nearest = v3_add_scaled(from_centre, direction, -b);
    return quadratic_stretch(1.0f, b, radius * radius - v3_dot(nearest, nearest));
}

FUNCTION vec3 capsule_stretch(vec3 o, vec3 d, float half_height, float radius)
{
    const vec3 low = sphere_stretch(v3(o.x, o.y + half_height, o.z), d, radius);
    const vec3 high = sphere_stretch(v3(o.x, o.y - half_height, o.z), d, radius);
    const float a = d.x * d.x + d.z * d.z;
    const float b = o.x * d.x + o.z * d.z;
    const float across = o.x * d.z - o.z * d.x;
    vec3 side = NOTHING;
    if (a > 1e-12f) {
        side = quadratic_stretch(a, b, a * radius * radius - across * across);
    } else if (o.x * o.x + o.z * o.z < radius * radius) {
        side = WHOLE_LINE;
    }
    side = side.x <= side.y ? clip_to_slab(side, o.y, d.y, -half_height, half_height) : side;
    vec3 all = NOTHING;
    if (side.x <= side.y) {
        all = side;
    }
    if (low.x <= low.y) {
        all = v3(min_f32(all.x, low.x), max_f32(all.y, low.y), 0.0f);
    }
    if (high.x <= high.y) {
        all = v3(min_f32(all.x, high.x), max_f32(all.y, high.y), 0.0f);
    }
    return all;
}

// Of every kind but fields, in the collider's own frame; solid, whatever inside_out says.
FUNCTION vec3 convex_stretch(VIEW_COMMA Collider collider, vec3 o, vec3 d)
{
    vec3 stretch = WHOLE_LINE;
    if (collider.kind == COLLIDER_PLANE) {
        return clip_stretch(stretch, o.y, d.y);
    }
    if (collider.kind == COLLIDER_BOX) {
        stretch = clip_to_slab(stretch, o.x, d.x, -collider.half_size.x, collider.half_size.x);
        stretch = clip_to_slab(stretch, o.y, d.y, -collider.half_size.y, collider.half_size.y);
        return clip_to_slab(stretch, o.z, d.z, -collider.half_size.z, collider.half_size.z);
    }
    if (collider.kind == COLLIDER_HULL) {
        for (uint t = 0u; t < collider.data_count; t++) {
            const vec4 plane = LOAD(hull_rows, collider.data + 4u * t);
            stretch = clip_stretch(stretch, v3_dot(v3_from_v4(plane), o) - plane.w, v3_dot(v3_from_v4(plane), d));
        }
        return stretch;
    }
    return collider.kind == COLLIDER_CAPSULE ? capsule_stretch(o, d, collider.half_size.y, collider.radius)
                                             : sphere_stretch(o, d, collider.radius);
}

// The distance along a ray to a field's surface, or FAR_AWAY: sphere tracing (Hart 1996) with steps of at least a
// hundredth of a cell, then a secant step. Exact up to the interpolation between voxels.
FUNCTION float field_ray(VIEW_COMMA Collider collider, vec3 o, vec3 d, float length)
{
    const float least = 0.01f / LOAD(fields, collider.data).cells_per_metre;
    float t = 0.0f;
    float before = 0.0f;
    float distance_before = 0.0f;
    for (uint k = 0u; k < FIELD_RAY_STEPS && t < length; k++) {
        const float distance = collider_distance(VIEW_HERE_COMMA collider, v3_add_scaled(o, d, t)).w;
        if (distance <= 0.0f) {
            const float fall = distance_before - distance;
            return fall > 0.0f ? before + (t - before) * distance_before / fall : t;
        }
        before = t;
        distance_before = distance;
        t += max_f32(distance, least);
    }
    return FAR_AWAY;
}

// The distance along a ray to a collider; 0 if it starts inside, FAR_AWAY if it misses.
FUNCTION float ray_to_collider(VIEW_COMMA Collider collider, Ray ray)
{
    const vec3 o = to_collider(collider, ray.origin);
    const vec3 d = rotate_back(collider.rotation, ray.direction);
    if (collider.kind == COLLIDER_FIELD) {
        return field_ray(VIEW_HERE_COMMA collider, o, d, ray.reach);
    }
    const vec3 stretch = convex_stretch(VIEW_HERE_COMMA collider, o, d);
    const bool inside = stretch.x <= 0.0f && stretch.y > 0.0f;
    if (collider.inside_out != 0u) {
        return inside ? stretch.y : 0.0f;
    }
    if (inside) {
        return 0.0f;
    }
    return stretch.x <= stretch.y && stretch.x > 0.0f ? stretch.x : FAR_AWAY;
}

// The nearest collider: its number, the distance and the normal of its surface there.
KERNEL(cast_at_colliders)
{
    const Ray ray = load_ray(VIEW_HERE_COMMA i);
    float nearest = ray.reach;
    uint hit = NONE;
    const bool sees = LOAD(query_words, RAY_WORDS * i + RAY_COLLIDER) != NONE;
    for (uint s = 0u; s < PARAMETER(collider_count) && sees; s++) {
        const float distance = ray_to_collider(VIEW_HERE_COMMA LOAD(colliders, s), ray);
        if (distance < nearest) {
            nearest = distance;
            hit = s;
        }
    }
    vec3 normal = v3(0.0f, 0.0f, 0.0f);
    if (hit != NONE) {
        const Collider collider = LOAD(colliders, hit);
        const vec3 p = to_collider(collider, v3_add_scaled(ray.origin, ray.direction, nearest));
        normal = rotate(collider.rotation, v3_from_v4(collider_distance(VIEW_HERE_COMMA collider, p)));
    }
    STORE(query_hits, i, v4_from_v3(normal, nearest));
    STORE(query_words, RAY_WORDS * i + RAY_COLLIDER, hit);
    STORE(query_words, RAY_WORDS * i + RAY_NEAREST, NONE - FLOAT_BITS(nearest));
    STORE(query_words, RAY_WORDS * i + RAY_SLOT, 0u);
    STORE(query_words, RAY_WORDS * i + RAY_BODY, NONE);
}

#endif
