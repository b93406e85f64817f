// SPDX-License-Identifier: MIT
// between.h - what is to be drawn between two moments: slow motion is smooth, however few frames are computed.
#ifndef MOTE_VIEWER_BETWEEN_H
#define MOTE_VIEWER_BETWEEN_H

#include "viewer/moment.h"

typedef struct Between {
    Block positions, rotations, shapes, instances;
} Between;

// Puts `view` and `look`, which are the moment's, a share `t` of the way from the moment before it: 0 to 1. Their
// arrays are then those of `between`, until the next call.
MoteResult between_moments(Between *between, MomentPool *pool, const Moment *moment, float t, MoteRenderView *view,
                           MoteRenderScene *look);
void between_free(Between *between);

#endif
