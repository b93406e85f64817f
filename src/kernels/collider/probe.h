// SPDX-License-Identifier: MIT
// probe.h - how far any points are from the nearest shape: what users ask of a world, and what a scene is
// filled by.
#ifndef MOTE_KERNELS_PROBE_H
#define MOTE_KERNELS_PROBE_H

#include "data.h"
#include "collider/distance.h"

// The shape whose surface a particle at the point would feel most: outward normal (xyz) and signed distance (w) in the
// point's place, negative inside; and which shape it is. Shapes are where their step ends.
KERNEL(probe_shapes)
{
    const vec3 point = v3_from_v4(LOAD(query_hits, i));
    vec4 nearest = v4(0.0f, 0.0f, 0.0f, FAR_AWAY);
    uint hit = NONE;
    for (uint s = 0u; s < PARAMETER(shape_count); s++) {
        const Shape shape = LOAD(shapes, s);
        const vec4 surface = shape_distance(VIEW_HERE_COMMA shape, to_shape(shape, point));
        if (surface.w < nearest.w) {
            nearest = v4_from_v3(rotate(shape.rotation, v3_from_v4(surface)), surface.w);
            hit = s;
        }
    }
    STORE(query_hits, i, nearest);
    STORE(query_words, i, hit);
}

#endif
