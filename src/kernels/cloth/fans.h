// SPDX-License-Identifier: MIT
// fans.h - the triangles around a vertex of cloth, which may be torn.
//
// The fan of a vertex is what cloth_fans lists for its root and cloth_corners has the vertex in. The root is the vertex
// that it was split from, and at first itself: splits share the triangles of a fan out among its copies by rewriting
// corners, and the lists stay as they are.
#ifndef MOTE_KERNELS_FANS_H
#define MOTE_KERNELS_FANS_H

#include "data.h"

FUNCTION uint fan_root(VIEW_COMMA uint row)
{
    return PARAMETER(tears) != 0u ? LOAD(cloth_roots, row) : row;
}

// Whether a corner that the root's list has is in the fan of `row`.
FUNCTION bool in_fan(VIEW_COMMA uint row, uint corner)
{
    return PARAMETER(tears) == 0u || LOAD(cloth_corners, corner) == row;
}

// The corners before and behind one in its triangle, which winds counter-clockwise.
FUNCTION uint corner_behind(uint corner)
{
    return corner % 3u == 2u ? corner - 2u : corner + 1u;
}

FUNCTION uint corner_before(uint corner)
{
    return corner % 3u == 0u ? corner + 2u : corner - 1u;
}

#endif
