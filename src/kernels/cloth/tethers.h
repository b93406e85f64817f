// SPDX-License-Identifier: MIT
// tethers.h - tethers: long range attachments of cloth to its pins (Kim, Chentanez and Mueller 2012).
//
// A vertex is never farther from a pin than along the cloth at rest. A one-sided distance constraint between the two,
// of which only the vertex moves, holds that in one iteration, however many links lie between them. Pins do not move,
// and a vertex reads nothing else, so that one kernel solves all of them in place.
#ifndef MOTE_KERNELS_TETHERS_H
#define MOTE_KERNELS_TETHERS_H

#include "data.h"
#include "cloth/fans.h"
#include "particle/handles.h"

// Where the tether leaves a vertex at p.
FUNCTION vec3 tethered(VIEW_COMMA uint tether, vec3 p)
{
    const uint handle = LOAD(tether_handles, tether);
    const uint slot = handle == NONE ? NONE : handle_slot(VIEW_HERE_COMMA handle);
    if (slot == NONE) {
        return p; // it has none, or its pin is gone
    }
    const vec4 pin = LOAD(predicted, slot);
    const vec3 offset = v3_sub(p, v3_from_v4(pin));
    const float squared = v3_dot(offset, offset);
    const float length = LOAD(tether_lengths, tether);
    if (pin.w > 0.0f || squared <= length * length) {
        return p; // what can move is no pin
    }
    return v3_add_scaled(v3_from_v4(pin), offset, length / sqrtf(squared));
}

KERNEL(solve_tethers)
{
    const uint slot = handle_slot(VIEW_HERE_COMMA LOAD(cloth_handles, i));
    if (slot == NONE) {
        return;
    }
    const vec4 vertex = LOAD(predicted, slot);
    if (vertex.w > 0.0f) {
        const uint first = 2u * fan_root(VIEW_HERE_COMMA i);
        const uint cuts = PARAMETER(tears) != 0u ? LOAD(tether_cuts, i) : 0u;
        vec3 p = v3_from_v4(vertex);
        p = (cuts & 1u) == 0u ? tethered(VIEW_HERE_COMMA first, p) : p;
        p = (cuts & 2u) == 0u ? tethered(VIEW_HERE_COMMA first + 1u, p) : p;
        STORE(predicted, slot, v4_from_v3(p, vertex.w));
    }
}

#endif
