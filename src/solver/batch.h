// SPDX-License-Identifier: MIT
// batch.h - many steps in one call, with colliders, settings and emitters changing between them. src/scene runs the
// steps of a frame this way. On a GPU the host waits once for several steps (steps.c).
#ifndef MOTE_SOLVER_BATCH_H
#define MOTE_SOLVER_BATCH_H

#include "mote.h"

// Prepares the world for step number `before` of a call, counting from 0. It may set settings, colliders (dynamic ones
// are not changed), fields and kill volumes, and add particles that were announced with world_expect_particles, without
// reading their ids. It must not read the world, whose state may be that of an earlier step. On a GPU it may be called
// again for the same step, and must then do the same.
typedef MoteResult StepPreparation(void *context, uint32_t before);
// Reserves memory for `more` particles with these bits of phase, which preparations of the next call add. If it returns
// false, add them before single steps instead.
bool world_expect_particles(MoteWorld *world, uint32_t more, uint32_t phase);
// mote_world_steps with a preparation before each step. `prepare` may be NULL.
MoteResult world_prepared_steps(MoteWorld *world, float time_step, uint32_t count, StepPreparation *prepare,
                                void *context, uint32_t *done);
// Other poses or coefficients for these colliders, at once. Those that a user has removed are left out.
MoteResult world_update_colliders(MoteWorld *world, const MoteColliderId *ids, const MoteCollider *colliders,
                                  uint32_t count);

// From now on stiffness of springs may change; needed before a state is loaded in which it did. link_easing.c
MoteResult world_allow_easing(MoteWorld *world);

// Makes room for gas, and for as many passive particles that a step emits: needed before the steps that bring them.
MoteResult world_reserve_gas(MoteWorld *world);
MoteResult world_reserve_emission(MoteWorld *world, uint32_t count);

#endif
