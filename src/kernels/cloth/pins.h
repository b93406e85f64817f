// SPDX-License-Identifier: MIT
// pins.h - pins that move: particles without mass that keep their places in a frame. The frame is a collider's, or one
// that the host moves from a pose to another in each step. Constraints see a pin where it is at the end of the (small)
// step, and its velocity follows from that, as a free particle's does.
#ifndef MOTE_KERNELS_PINS_H
#define MOTE_KERNELS_PINS_H

#include "data.h"
#include "cloth/links.h"
#include "collider/poses.h"
#include "particle/handles.h"
#include "particle/watch_credit.h"

#define PIN_FREE 0xfffffffeu // in place of a collider: the host moves the frame

// How far the present step or small step goes.
FUNCTION float pin_time(VIEW)
{
    return PARAMETER(step_share) < 1.0f ? PARAMETER(pose_end) : 1.0f;
}

KERNEL(move_pins)
{
    const uint slot = handle_slot(VIEW_HERE_COMMA LOAD(pin_handles, i));
    const uint set = LOAD(pin_sets, i);
    const uint collider = LOAD(pin_colliders, set);
    if (slot == NONE || collider == NONE) {
        return;
    }
    vec4 rotation;
    vec3 position;
    if (collider == PIN_FREE) {
        const float t = pin_time(VIEW_HERE);
        rotation = rotation_between(LOAD(pin_poses, 4u * set), LOAD(pin_poses, 4u * set + 2u), t);
        position = position_between(LOAD(pin_poses, 4u * set + 1u), LOAD(pin_poses, 4u * set + 3u), t);
    } else {
        const Collider frame = LOAD(colliders, collider);
        rotation = frame.rotation;
        position = frame.position;
    }
    const vec4 pin = LOAD(predicted, slot);
    if (pin.w <= 0.0f) {
        const vec3 place = v3_from_v4(LOAD(pin_places, i));
        STORE(predicted, slot, v4_from_v3(v3_add(position, rotate(rotation, place)), pin.w));
    }
}

// The work (J) that a pin at this end of a link does by its motion in the (small) step. `pull` (N) is what the link
// pulls the end by.
FUNCTION float pin_work(VIEW_COMMA uint slot, vec3 pull)
{
    const vec4 end = LOAD(predicted, slot);
    return end.w > 0.0f ? 0.0f : -v3_dot(pull, v3_sub(v3_from_v4(end), v3_from_v4(LOAD(positions, slot))));
}

// Credits the work of moving pins on links to the energy watch (watch.h), as credit_links does what links release.
KERNEL(credit_pins)
{
    const uvec2 share = credited_share(VIEW_HERE_COMMA i, PARAMETER(link_count));
    const float dt = PARAMETER(time_step);
    float work = 0.0f;
    for (uint link = share.x; link < share.y; link++) {
        const uvec2 ends = LOAD(link_ends, link);
        const uint a = handle_slot(VIEW_HERE_COMMA ends.x);
        const uint b = handle_slot(VIEW_HERE_COMMA ends.y);
        if (a != NONE && b != NONE && (LOAD(predicted, a).w <= 0.0f || LOAD(predicted, b).w <= 0.0f)) {
            const vec3 offset = v3_sub(v3_from_v4(LOAD(predicted, a)), v3_from_v4(LOAD(predicted, b)));
            const float force = LOAD(link_lambdas, link) / (dt * dt * max_f32(v3_length(offset), 1e-30f));
            const vec3 pull = v3_scale(offset, force);
            work += pin_work(VIEW_HERE_COMMA a, pull) + pin_work(VIEW_HERE_COMMA b, v3_scale(pull, -1.0f));
        }
    }
    credit_chunk(VIEW_HERE_COMMA i, work);
}

#endif
