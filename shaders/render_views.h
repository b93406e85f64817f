// SPDX-License-Identifier: MIT
// render_views.h - what C and GLSL both know of the debug views, their colour maps, and the last passes.
#ifndef MOTE_RENDER_VIEWS_H
#define MOTE_RENDER_VIEWS_H

#ifdef __STDC__
#include <stdint.h>
typedef uint32_t uint;
#define SHARED_FUNCTION static inline
#else
#define SHARED_FUNCTION
#endif

// Of the last passes, an invocation does this many pixels below each other: what it costs by itself, on a software
// device, is a third of such short shaders.
#define INVOCATION_ROWS 4

// What a view shows at a pixel: of the particle in front up to SHOW_STRETCH, of an image from SHOW_DEPTH on.
#define SHOW_PHASE        0u
#define SHOW_DENSITY      1u
#define SHOW_SPEED        2u
#define SHOW_ID           3u
#define SHOW_NEIGHBOURS   4u
#define SHOW_CHANNEL      5u
#define SHOW_CLUSTER      6u
#define SHOW_STRETCH      7u
#define SHOW_DEPTH        8u
#define SHOW_SMOOTH_DEPTH 9u
#define SHOW_NORMALS      10u
#define SHOW_THICKNESS    11u
#define SHOW_FOAM         12u
#define SHOW_FOAM_CLASS   13u
#define SHOW_SMOKE        14u
#define SHOW_SMOKE_MEAN   15u // of age or temperature
#define SHOW_SMOKE_SUN    16u

#define MAP_NONE       0u
#define MAP_SEQUENTIAL 1u // dark violet, blue, teal, green, yellow
#define MAP_DIVERGING  2u // blue, white in the middle, red

SHARED_FUNCTION float cubic(float t, float a, float b, float c, float d)
{
    return a + t * (b + t * (c + t * d));
}

// Component 0, 1 or 2 (red, green, blue; sRGB-encoded, 0 to 1) of a map's colour at t from 0 to 1. Both maps are paths
// through the OKLab space (Ottosson 2020), to which polynomials were fitted. The sequential one's lightness rises in
// proportion to t from 0.26 to 0.93 (within 0.008) while its hue turns from 303 to 104 degrees; the diverging one's
// falls from its middle to both ends, at a hue of 255 degrees below and of 27 above.
SHARED_FUNCTION float map_color(uint map, uint component, float t)
{
    if (map == MAP_DIVERGING) {
        const float u = t < 0.5f ? 1.0f - 2.0f * t : 2.0f * t - 1.0f;
        if (component == 0u) {
            return t < 0.5f ? cubic(u, 0.954f, -0.843f, -0.617f, 0.533f) : cubic(u, 0.954f, 0.413f, -1.017f, 0.290f);
        }
        if (component == 1u) {
            return t < 0.5f ? cubic(u, 0.954f, -0.370f, -0.470f, 0.230f) : cubic(u, 0.954f, -0.777f, -0.117f, 0.053f);
        }
        return t < 0.5f ? cubic(u, 0.954f, 0.281f, -0.371f, -0.199f) : cubic(u, 0.954f, -0.928f, -0.015f, 0.101f);
    }
    if (component == 0u) {
        return cubic(t, 0.198f, -0.721f, 3.251f, -13.255f) + t * t * t * t * (21.449f - 9.941f * t);
    }
    if (component == 1u) {
        return cubic(t, 0.008f, 0.810f, 2.831f, -7.726f) + t * t * t * t * (8.360f - 3.355f * t);
    }
    return cubic(t, 0.340f, 2.892f, -14.247f, 33.914f) + t * t * t * t * (-37.136f + 14.609f * t);
}

#endif
