// SPDX-License-Identifier: MIT
// emitters.h - emitters: a layer of particles is added each time the jet has advanced by one spacing.
#ifndef MOTE_SCENE_EMITTERS_H
#define MOTE_SCENE_EMITTERS_H

#include "mote_diffuse.h"
#include "scene/scene.h"

// All that a nozzle remembers from step to step.
typedef struct EmitterState {
    double until_next; // m, that the jet still travels before the next layer leaves
    uint64_t emitted;  // particles so far
} EmitterState;

// m, between layers and within them
double emitter_spacing(const SceneEmitter *emitter, const MoteSettings *settings);

EmitterState emitter_state(double spacing); // of a nozzle that has not opened yet

// What left a nozzle in a step.
typedef struct Emission {
    uint32_t before; // steps of the frame's that come first
    uint32_t emitter;
    MoteParticles particles; // with arrays of its own
    MoteDiffuse smoke;       // of gas; its arrays begin at positions
} Emission;

// One emitter between two times: at `now`, the layers that left after `before`. The jet's
// speed and the nozzle's pose go evenly from one element's to the other's; the cross-section is the second's.
// The jet's speed is against the world, not against a moving nozzle.
typedef struct EmitterSpan {
    const MoteScene *scene;
    uint32_t index; // of the emitter in the scene
    const SceneEmitter *before, *now;
    double time_before, time_now; // s
} EmitterSpan;

// Particles for `world`, if any, and smoke: then the caller frees their arrays.
MoteResult emitter_emit(const EmitterSpan *span, EmitterState *state, const MoteWorld *world, Emission *out);

#endif
