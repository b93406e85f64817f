// SPDX-License-Identifier: MIT
// hands.h - what a viewer's user does to particles: holding, throwing, pouring, blowing. Of the simulation's thread,
// between two frames.
#ifndef MOTE_VIEWER_HANDS_H
#define MOTE_VIEWER_HANDS_H

#include "viewer/moment.h"

typedef struct Hands {
    uint32_t id, phase;  // of the particle that was picked, while held_count is above 0
    uint32_t held_count; // particles that it was picked with: all of its body, which is pulled at it as a whole, or the
                         // liquid around it
    bool holds_shape;    // instead of particles: a collider with a mass
    uint32_t shape;      // its number in the world
    MoteVec3 anchor;     // m, where it is held, in its own frame
    MoteVec3 target;     // m, where the particle, or the anchor, is to be
    MoteVec3 at;         // m, where it was before the last frame
} Hands;

// Takes hold of the particle, with the body or the handful of liquid that it belongs to, or moves what is held.
MoteResult hands_grab(Hands *hands, Model *model, uint32_t id, MoteVec3 target);
// Takes hold of the collider with a mass whose surface is at `point`, if there is one (hands_shapes.c).
MoteResult hands_grab_shape(Hands *hands, Model *model, MoteVec3 point);
MoteResult hands_pull_shape(Hands *hands, Model *model); // see hands_pull
void hands_let_go(Hands *hands);

// Once before each frame: gives what is held the velocity that brings it to the target.
MoteResult hands_pull(Hands *hands, Model *model);

// A rigid ball eight particles wide that starts at `at` with a velocity, m/s.
MoteResult hands_throw(Hands *hands, Model *model, MoteVec3 at, MoteVec3 velocity);
// A handful of what the scene has most of: liquid before grains.
MoteResult hands_pour(Model *model, MoteVec3 at);
// Adds a velocity, m/s, to everything that can move.
MoteResult hands_gust(Model *model, MoteVec3 velocity);

#endif
