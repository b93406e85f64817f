// SPDX-License-Identifier: MIT
// frame_plan.h - which frames of a run are drawn.
#ifndef MOTE_CLI_FRAME_PLAN_H
#define MOTE_CLI_FRAME_PLAN_H

#include "cli/frames.h"
#include "cli/pictures.h"

typedef struct FramePlan {
    uint64_t first, last;         // both included
    uint32_t every;               // only frames that this divides
    const StateList *states;      // only frames of these; NULL where frames are simulated
    const PictureWriter *present; // frames that have a file there are left out; NULL keeps all
    uint64_t wanted, last_wanted; // from frame_plan_count: how many frames that leaves, and the last of them
} FramePlan;

bool frame_plan_wants(const FramePlan *plan, uint64_t frame);
void frame_plan_count(FramePlan *plan);

// Fails for a plan that leaves nothing to draw, and says why; `of` is the scene or the states, for the message.
MoteResult frame_plan_fail_empty(const FramePlan *plan, const char *of);

// Frames from one picture to the next: of states, what all their distances have in common.
uint64_t frame_plan_step(const FramePlan *plan);

#endif
