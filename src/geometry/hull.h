// SPDX-License-Identifier: MIT
// hull.h - the convex hull of points, as triangles.
#ifndef MOTE_GEOMETRY_HULL_H
#define MOTE_GEOMETRY_HULL_H

#include "mote.h"

#define HULL_TRIANGLE_LIMIT 256 // a contact looks at every one

typedef struct HullTriangle {
    MoteVec3 normal; // outward, unit length
    float offset;    // m: the plane is where dot(normal, p) is this
    MoteVec3 corners[3];
} HullTriangle;

typedef struct Hull {
    uint32_t triangle_count;
    HullTriangle triangles[HULL_TRIANGLE_LIMIT];
    float radius; // m, of the farthest corner from the origin
} Hull;

// Points may repeat and lie in planes or within; together they must enclose a volume.
MoteResult hull_make(const MoteVec3 *points, uint32_t count, Hull *out);

#endif
