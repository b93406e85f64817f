// SPDX-License-Identifier: MIT
// probe.h - how far any points are from the nearest collider: what users ask of a world, and what a scene is
// filled by.
#ifndef MOTE_KERNELS_PROBE_H
#define MOTE_KERNELS_PROBE_H

#include "data.h"
#include "collider/distance.h"

// The collider whose surface a particle at the point would feel most: outward normal (xyz) and signed distance (w) in
// the point's place, negative inside; and which collider it is. Colliders are where their step ends.
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
