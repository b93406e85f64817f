// SPDX-License-Identifier: MIT
// threads.h - a few threads that share the parts of one job after another. OpenMP's wait for the next job by turning in
// circles for milliseconds, which a library cannot change: beside one other busy program a step took ten times as long
// as it should. These turn for some microseconds, which bridges the gap between two kernels, and then sleep.
#ifndef MOTE_BASE_THREADS_H
#define MOTE_BASE_THREADS_H

typedef struct Threads Threads;

// `thread` is below threads_count(), and no two parts have the same one at a time.
typedef void PartFunction(void *context, int part, int thread);

Threads *threads_create(int count); // the caller's counts as one of them; NULL if memory is short
void threads_destroy(Threads *threads);
int threads_count(const Threads *threads);

// Calls function(context, part, thread) for every part from 0 to parts - 1, each taken by whichever thread is free, the
// caller's among them, and returns when all are done. One job at a time: not to be called by two threads at once, nor
// by a part.
void threads_run(Threads *threads, int parts, PartFunction *function, void *context);

// How many processors this process may use.
int threads_available(void);
#endif
