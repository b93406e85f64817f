// pace.h - how fast the CPU's cores are at this moment. On a host that is shared, a core loses a third of its speed to
// another machine's thread on the same units, for seconds at a time, and nothing reports it. `mote bench` times a loop
// that always does the same between frames, to tell the steps that had the cores to themselves from those that had not.
#ifndef MOTE_CLI_PACE_H
#define MOTE_CLI_PACE_H

#include <stdint.h>

typedef struct PaceMaker PaceMaker;

PaceMaker *pace_maker_create(int threads); // NULL if memory is short
void pace_maker_destroy(PaceMaker *maker);
double pace_now(PaceMaker *maker); // ms of the loop on the slowest core, about one

// Frame f ran between paces[f] and paces[f + 1]: it was quiet if both are close to the best of them all. Moves the
// times of quiet frames to the front and returns how many there are.
uint32_t pace_keep_quiet(double *step_times, const double *paces, uint32_t frames);
#endif
