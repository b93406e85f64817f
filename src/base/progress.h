// SPDX-License-Identifier: MIT
// progress.h - how far a long job is: a bar with the time left on a terminal, now and then a plain line elsewhere.
#ifndef MOTE_BASE_PROGRESS_H
#define MOTE_BASE_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// A thread that shows something where the work itself does not for long.
typedef struct ProgressWatch {
    bool running, ended;
    double interval; // s
    pthread_t thread;
    pthread_mutex_t lock; // of the Progress, while it runs
    pthread_cond_t wake;
} ProgressWatch;

typedef struct Progress {
    FILE *stream;
    const char *unit; // what is counted: "frame"
    uint64_t first, last, done;
    bool silent, terminal;
    bool bar_shown;     // the cursor stands behind a bar
    double unit_time;   // s, smoothed
    double update_time; // when done last changed, s on the clock
    double shown_time;  // when something was last shown
    uint64_t shown_done;
    ProgressWatch watch;
} Progress;

#define PROGRESS_INTERVAL 20.0 // s, for progress_watch

// Counting goes from `first` to `last`; a silent progress shows nothing. Where both are the same, `unit` is one thing
// that takes its time, and only progress_watch shows it.
void progress_begin(Progress *progress, FILE *stream, const char *unit, uint64_t first, uint64_t last, bool silent);
// `note` is shown behind the numbers; it should be short.
void progress_update(Progress *progress, uint64_t done, const char *note);
// From now on something is shown each `interval` seconds at least, even where one unit takes longer than that, until
// progress_end. The Progress must stay where it is. Without memory for a thread there is none.
void progress_watch(Progress *progress, double interval);
// Takes the bar away until the next update, so that other lines can be printed.
void progress_clear(Progress *progress);
// The same for good; also ends the watch.
void progress_end(Progress *progress);

#endif
