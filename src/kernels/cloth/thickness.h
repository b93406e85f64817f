// SPDX-License-Identifier: MIT
// thickness.h - the distance at which vertices of cloth touch.
//
// A cloth has a thickness t. Two of its vertices touch at t, or where their distance at rest r is shorter, at that:
//
//     reach = min(t, r)
//
// So cloth of any distance between vertices can be thick without pushing itself apart (NvCloth and FleX filter contacts
// of a cloth with itself likewise), and vertices that are near at rest still keep apart as they are. A vertex and
// another solid touch where half of their thicknesses meet; that of what is no cloth is the contact distance.
//
// Lists of neighbours have particles, tables of cloth have rows: `cloth_rows` leads from the one to the other.
#ifndef MOTE_KERNELS_THICKNESS_H
#define MOTE_KERNELS_THICKNESS_H

#include "data.h"
#include "particle/handles.h"

KERNEL(clear_cloth_rows)
{
    STORE(cloth_rows, i, NONE);
}

KERNEL(locate_cloth)
{
    const uint handle = LOAD(cloth_handles, i);
    const uint slot = handle != NONE ? handle_slot(VIEW_HERE_COMMA handle) : NONE;
    if (slot != NONE) {
        STORE(cloth_rows, slot, i);
    }
}

// How thick the cloth is that a particle is a vertex of, `row` is its row; NONE: of any other solid.
FUNCTION float thickness_of(VIEW_COMMA uint row)
{
    const float own = row != NONE ? LOAD(cloth_laws, LOAD(cloth_of_vertices, row)).w : 0.0f;
    return own > 0.0f ? own : PARAMETER(contact_distance);
}

// Whether particle j touches the triangles of the cloth that has this row, instead of its vertices (cloth/touches.h).
FUNCTION bool triangles_touch(VIEW_COMMA uint row, uint other)
{
    if (row == NONE) {
        return false;
    }
    const uint cloth = LOAD(cloth_of_vertices, row);
    const uint mode = LOAD(touch_modes, cloth);
    return mode == TOUCH_OTHERS ? other == NONE || LOAD(cloth_of_vertices, other) != cloth : mode == TOUCH_ALL;
}

FUNCTION bool touch_by_triangles(VIEW_COMMA uint i, uint j)
{
    const uint row = LOAD(cloth_rows, i);
    const uint other = LOAD(cloth_rows, j);
    return triangles_touch(VIEW_HERE_COMMA row, other) || triangles_touch(VIEW_HERE_COMMA other, row);
}

// The distance at which two solids touch of which one is a vertex of cloth at least.
FUNCTION float sheet_reach(VIEW_COMMA uint i, uint j)
{
    const uint row = LOAD(cloth_rows, i);
    const uint other = LOAD(cloth_rows, j);
    const float reach = 0.5f * (thickness_of(VIEW_HERE_COMMA row) + thickness_of(VIEW_HERE_COMMA other));
    if (row == NONE || other == NONE || LOAD(cloth_of_vertices, row) != LOAD(cloth_of_vertices, other)) {
        return reach;
    }
    const vec3 rest = v3_sub(v3_from_v4(LOAD(cloth_rests, row)), v3_from_v4(LOAD(cloth_rests, other)));
    return min_f32(reach, v3_length(rest));
}

#endif
