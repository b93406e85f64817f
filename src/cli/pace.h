// pace.h - how fast the CPU's cores are at this moment. On a host that is shared, a core loses a third of its speed to
// another machine's thread on the same units, for seconds at a time, and nothing reports it. `mote bench` times a loop
// that always does the same between frames, to tell the steps that had the cores to themselves from those that had not.
#ifndef MOTE_CLI_PACE_H
#define MOTE_CLI_PACE_H

#include <stdbool.h>

typedef struct PaceMaker PaceMaker;

PaceMaker *pace_maker_create(int threads); // NULL if memory is short
void pace_maker_destroy(PaceMaker *maker);
double pace_now(PaceMaker *maker); // ms of the loop on the slowest core, about one

// Whether the paces before and after something are both close to the best one seen: each core worked for us alone.
bool pace_was_quiet(double before, double after, double best);
#endif
