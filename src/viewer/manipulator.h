// SPDX-License-Identifier: MIT
// manipulator.h - user interaction with particles: dragging, throwing, pouring, blowing. Runs on the simulation's
// thread, between two frames.
#ifndef MOTE_VIEWER_MANIPULATOR_H
#define MOTE_VIEWER_MANIPULATOR_H

#include "viewer/frame_snapshot.h"

typedef struct Manipulator {
    uint32_t id, phase;  // of the particle that was picked, while held_count is above 0
    uint32_t held_count; // particles that it was picked with: all of its body, which is pulled at it as a whole, or the
                         // liquid or cloth around it
    bool holds_collider; // instead of particles: a dynamic collider
    uint32_t collider;   // its number in the world
    MoteVec3 anchor;     // m, where it is held, in its own frame
    MoteVec3 target;     // m, where the particle, or the anchor, is to be
    MoteVec3 at;         // m, where it was before the last frame
} Manipulator;

// Picks the particle, with its body or the liquid or cloth around it; if something is held already, sets its target.
MoteResult manipulator_grab(Manipulator *manipulator, Model *model, uint32_t id, MoteVec3 target);
// Picks the dynamic collider whose surface is at `point`, if there is one (manipulator_colliders.c).
MoteResult manipulator_grab_collider(Manipulator *manipulator, Model *model, MoteVec3 point);
MoteResult manipulator_pull_collider(Manipulator *manipulator, Model *model); // see manipulator_pull
void manipulator_let_go(Manipulator *manipulator);

// Call once before each frame: gives the held object the velocity that brings it to the target.
MoteResult manipulator_pull(Manipulator *manipulator, Model *model);

// A rigid ball eight particles wide that starts at `at` with a velocity, m/s.
MoteResult manipulator_throw(Manipulator *manipulator, Model *model, MoteVec3 at, MoteVec3 velocity);
// Adds a small volume of the scene's liquid, or of its grains if it has no liquid.
MoteResult manipulator_pour(Model *model, MoteVec3 at);
// Adds a velocity, m/s, to everything that can move.
MoteResult manipulator_gust(Model *model, MoteVec3 velocity);

#endif
