// SPDX-License-Identifier: MIT
// batch.h - many steps in one call while colliders, settings and emitters move between them: how src/scene runs a
// frame's steps. On a GPU the host waits once for several of them (steps.c).
#ifndef MOTE_SOLVER_BATCH_H
#define MOTE_SOLVER_BATCH_H

#include "mote.h"

// Makes the world ready for a step that `before` of a call's steps come before: its settings, its shapes, of which
// those that have a mass stay as they are, its fields and kill volumes; and adds particles that were expected, without
// asking for their ids; nothing else. It reads nothing of the world, which may be behind. On a GPU it may be asked for
// the same step again, and then does the same.
typedef MoteResult StepPreparation(void *context, uint32_t before);
// Makes room for `more` particles with these bits of phase, which preparations of the next call's steps add. False
// where that cannot be: they are then added before single steps.
bool world_expect_particles(MoteWorld *world, uint32_t more, uint32_t phase);
// mote_world_steps with something that moves between them. `prepare` may be NULL.
MoteResult world_prepared_steps(MoteWorld *world, float time_step, uint32_t count, StepPreparation *prepare,
                                void *context, uint32_t *done);
// Other poses or coefficients for these colliders, at once. Those that a user has removed are left out.
MoteResult world_update_colliders(MoteWorld *world, const MoteColliderId *ids, const MoteShape *shapes, uint32_t count);

#endif
