// SPDX-License-Identifier: MIT
#include "cli/frame_plan.h"

#include "base/error.h"
#include <inttypes.h>
#include <stdio.h>

bool frame_plan_wants(const FramePlan *plan, uint64_t frame)
{
    return frame >= plan->first && frame <= plan->last && frame % plan->every == 0 &&
           !(plan->present != NULL && pictures_has(plan->present, frame));
}

static void count_frame(FramePlan *plan, uint64_t frame)
{
    if (frame_plan_wants(plan, frame)) {
        plan->wanted++;
        plan->last_wanted = frame;
    }
}

void frame_plan_count(FramePlan *plan)
{
    plan->wanted = plan->last_wanted = 0;
    if (plan->states != NULL) {
        for (uint32_t i = 0; i < plan->states->count; i++) {
            count_frame(plan, plan->states->files[i].frame);
        }
        return;
    }
    const uint64_t first = (plan->first + plan->every - 1) / plan->every * plan->every;
    for (uint64_t frame = first; frame <= plan->last; frame += plan->every) {
        count_frame(plan, frame);
    }
}

MoteResult frame_plan_fail_empty(const FramePlan *plan, const char *of)
{
    if (plan->first > plan->last) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: its last frame is %" PRIu64 ", found none from %" PRIu64 " on", of,
                         plan->last, plan->first);
    }
    char which[96];
    if (plan->first == plan->last) {
        snprintf(which, sizeof which, "frame %" PRIu64, plan->first);
    } else {
        snprintf(which, sizeof which, "frames %" PRIu64 " to %" PRIu64, plan->first, plan->last);
    }
    if (plan->states == NULL || plan->every > 1) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: found none among %s that %" PRIu32 " divides", of, which, plan->every);
    }
    return mote_fail(MOTE_ERROR_INPUT, "%s: found no saved state of %s", of, which);
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

uint64_t frame_plan_step(const FramePlan *plan)
{
    if (plan->states == NULL) {
        return plan->every;
    }
    uint64_t step = 0, before = 0;
    bool any = false;
    for (uint32_t i = 0; i < plan->states->count; i++) {
        const uint64_t frame = plan->states->files[i].frame;
        if (frame_plan_wants(plan, frame)) {
            step = any ? greatest_common_divisor(frame - before, step) : 0;
            before = frame;
            any = true;
        }
    }
    return step > 0 ? step : 1;
}
