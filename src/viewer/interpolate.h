// SPDX-License-Identifier: MIT
// interpolate.h - interpolates between two frame snapshots, so that slow motion is smooth at any rate of computed
// frames.
#ifndef MOTE_VIEWER_INTERPOLATE_H
#define MOTE_VIEWER_INTERPOLATE_H

#include "viewer/frame_snapshot.h"

typedef struct Interpolation {
    Block positions, rotations, colliders, instances;
} Interpolation;

// Puts `view` and `look`, which are the snapshot's, a share `t` of the way from the snapshot before it: 0 to 1. Their
// arrays are then those of `interpolation`, until the next call.
MoteResult interpolate_snapshots(Interpolation *interpolation, FrameSnapshotPool *pool, const FrameSnapshot *snapshot,
                                 float t, MoteRenderView *view, MoteRenderScene *look);
void interpolation_free(Interpolation *interpolation);

#endif
