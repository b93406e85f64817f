// pace.h - how fast the CPU's cores are at this moment. A core that shares its units with another program's thread,
// or with another machine's on the same host, loses a third of its speed for seconds at a time and nothing reports it:
// `mote bench` times a loop that always does the same between frames, to tell the steps that had the cores to
// themselves from those that had not.
#ifndef MOTE_CLI_PACE_H
#define MOTE_CLI_PACE_H

#include <stdint.h>

// Milliseconds that the loop takes on the slowest of the threads, about half of one.
double pace_now(int threads);

// Frame f ran between paces[f] and paces[f + 1]: it was quiet if both are close to the best of them all. Moves the
// times of quiet frames to the front and returns how many there are.
uint32_t pace_keep_quiet(double *step_times, const double *paces, uint32_t frames);
#endif
