// SPDX-License-Identifier: MIT
// pace.h - how fast the CPU's cores are at this moment. On a host that is shared, a core loses a third of its speed to
// another machine's thread on the same units, for seconds at a time, and nothing reports it. `mote bench` times a loop
// that always does the same between frames, to tell the steps that had the cores to themselves from those that had not.
#ifndef MOTE_CLI_PACE_H
#define MOTE_CLI_PACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct PaceMaker PaceMaker;

PaceMaker *pace_maker_create(int threads); // NULL if memory is short
void pace_maker_destroy(PaceMaker *maker);
double pace_now(PaceMaker *maker); // ms of the loop on the slowest core, about one

// The slowest pace that a core has for itself, by a run's own paces, which are sorted: the upper end of their lowest
// mode. Not a multiple of the best one: where a core's clock rate follows its heat and load, a few moments are faster
// than all others, and what is slower than those had the core to itself all the same. A run that was never alone does
// not know it.
double pace_quiet_limit(double *paces, uint32_t count);
// Whether neither of the paces before and after something is slower than that.
bool pace_was_quiet(double before, double after, double limit);
#endif
