// SPDX-License-Identifier: MIT
// probe.h - the distance of points to the nearest collider, for mote_world_probe and for filling volumes of a scene.
#ifndef MOTE_KERNELS_PROBE_H
#define MOTE_KERNELS_PROBE_H

#include "data.h"
#include "collider/distance.h"

// Replaces the point by the outward normal (xyz) and signed distance (w, negative inside) of the collider with the
// smallest distance, and stores that collider's index. Colliders have their pose at the end of the step.
KERNEL(probe_colliders)
{
    const vec3 point = v3_from_v4(LOAD(query_hits, i));
    vec4 nearest = v4(0.0f, 0.0f, 0.0f, FAR_AWAY);
    uint hit = NONE;
    for (uint s = 0u; s < PARAMETER(collider_count); s++) {
        const Collider collider = LOAD(colliders, s);
        const vec4 surface = collider_distance(VIEW_HERE_COMMA collider, to_collider(collider, point));
        if (surface.w < nearest.w) {
            nearest = v4_from_v3(rotate(collider.rotation, v3_from_v4(surface)), surface.w);
            hit = s;
        }
    }
    STORE(query_hits, i, nearest);
    STORE(query_words, i, hit);
}

#endif
