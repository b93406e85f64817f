// SPDX-License-Identifier: MIT
// mesh.h - the triangles of cloth: a corner is three times its triangle and its number there, 0 to 2, and a fan lists
// the corners that are at a vertex. A triangle that has lost one does not count.
#ifndef MOTE_KERNELS_CLOTH_MESH_H
#define MOTE_KERNELS_CLOTH_MESH_H

#include "data.h"
#include "cloth/fans.h"
#include "particle/handles.h"

// The particle that is a vertex, or NONE.
FUNCTION uint vertex_slot(VIEW_COMMA uint row)
{
    const uint handle = row != NONE ? LOAD(cloth_handles, row) : NONE;
    return handle != NONE ? handle_slot(VIEW_HERE_COMMA handle) : NONE;
}

FUNCTION uint corner_slot(VIEW_COMMA uint corner)
{
    return vertex_slot(VIEW_HERE_COMMA LOAD(cloth_corners, corner));
}

// Whether all three corners of the triangle that this is one of are there.
FUNCTION bool corner_is_whole(VIEW_COMMA uint corner)
{
    return corner_slot(VIEW_HERE_COMMA corner) != NONE && corner_slot(VIEW_HERE_COMMA corner_behind(corner)) != NONE &&
           corner_slot(VIEW_HERE_COMMA corner_before(corner)) != NONE;
}

#endif
