// SPDX-License-Identifier: MIT
// handles.h - handles: persistent references to particles.
//
// Every step sorts the particles into spatial order, so a particle's slot changes. Code that refers to a particle
// across steps (members of bodies, ends of links) holds its handle, and `handle_slots` has its present slot. The handle
// of a body's member is its row in the member table, so that members need no further look-up. Every other handle is
// HANDLE_SINGLE plus a number; their slots come after those of the members. The slot of a removed particle is NONE.
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

// The present slot of the handle's particle, or NONE.
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
