// SPDX-License-Identifier: MIT
// poses.h - poses of colliders within a step of several small ones.
#ifndef MOTE_KERNELS_POSES_H
#define MOTE_KERNELS_POSES_H

#include "data.h"
#include "rigid/bodies.h"

FUNCTION vec3 position_between(vec4 from, vec4 to, float t)
{
    if (t <= 0.0f || t >= 1.0f) { // to the bit
        return v3_from_v4(t <= 0.0f ? from : to);
    }
    return v3_add_scaled(v3_from_v4(from), v3_sub(v3_from_v4(to), v3_from_v4(from)), t);
}

// On the shorter arc, as users give them.
FUNCTION vec4 rotation_between(vec4 from, vec4 to, float t)
{
    if (t <= 0.0f || t >= 1.0f) {
        return t <= 0.0f ? from : to;
    }
    const float s = 1.0f - t;
    const vec4 sum = v4(s * from.x + t * to.x, s * from.y + t * to.y, s * from.z + t * to.z, s * from.w + t * to.w);
    const float scale = 1.0f / sqrtf(sum.x * sum.x + sum.y * sum.y + sum.z * sum.z + sum.w * sum.w);
    return v4(scale * sum.x, scale * sum.y, scale * sum.z, scale * sum.w);
}

// Moves a collider from where it is at pose_begin of the step to where it is at pose_end. Dynamic colliders have their
// own motion. The first small step keeps the poses of the whole one.
KERNEL(pose_colliders)
{
    if (PARAMETER(dynamic_count) != 0u && LOAD(dynamic_rows, i) != NONE) {
        return;
    }
    Collider collider = LOAD(colliders, i);
    if (PARAMETER(pose_begin) <= 0.0f && PARAMETER(pose_end) < 1.0f) {
        STORE(collider_poses, 4u * i, collider.start_rotation);
        STORE(collider_poses, 4u * i + 1u, v4_from_v3(collider.start_position, 0.0f));
        STORE(collider_poses, 4u * i + 2u, collider.rotation);
        STORE(collider_poses, 4u * i + 3u, v4_from_v3(collider.position, 0.0f));
    }
    const vec4 turned_from = LOAD(collider_poses, 4u * i);
    const vec4 from = LOAD(collider_poses, 4u * i + 1u);
    const vec4 turned_to = LOAD(collider_poses, 4u * i + 2u);
    const vec4 to = LOAD(collider_poses, 4u * i + 3u);
    collider.start_rotation = rotation_between(turned_from, turned_to, PARAMETER(pose_begin));
    collider.start_position = position_between(from, to, PARAMETER(pose_begin));
    collider.rotation = rotation_between(turned_from, turned_to, PARAMETER(pose_end));
    collider.position = position_between(from, to, PARAMETER(pose_end));
    STORE(colliders, i, collider);
}

#endif
