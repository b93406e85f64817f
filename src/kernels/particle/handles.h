// SPDX-License-Identifier: MIT
// handles.h - handles: names of particles that last while the particles change places.
//
// Every step puts the particles into spatial order, so whoever means one particle for good (a member of a body, an end
// of a link) holds its handle, and `handle_slots` says where that particle is now. Members of bodies have the row of
// the member table as their handle, so that tables of members need no further look-up; every other handle is
// HANDLE_SINGLE and a number, and its slot lies behind those of the members. A removed particle's slot is NONE.
#ifndef MOTE_KERNELS_HANDLES_H
#define MOTE_KERNELS_HANDLES_H

#include "data.h"

// NONE is no member either.
FUNCTION bool is_member(uint handle)
{
    return handle < HANDLE_SINGLE;
}

// The row of handle_slots that belongs to a handle.
FUNCTION uint handle_row(VIEW_COMMA uint handle)
{
    return is_member(handle) ? handle : PARAMETER(member_count) + (handle - HANDLE_SINGLE);
}

// Where the handle's particle is now, or NONE.
FUNCTION uint handle_slot(VIEW_COMMA uint handle)
{
    return LOAD(handle_slots, handle_row(VIEW_HERE_COMMA handle));
}

KERNEL(clear_handles)
{
    STORE(handle_slots, i, NONE);
}

KERNEL(locate_handles)
{
    const uint handle = LOAD(handles, i);
    if (handle != NONE) {
        STORE(handle_slots, handle_row(VIEW_HERE_COMMA handle), i);
    }
}

#endif
