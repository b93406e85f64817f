// progress.h - how far a long job is: a bar with the time left on a terminal, now and then a plain line elsewhere.
#ifndef MOTE_BASE_PROGRESS_H
#define MOTE_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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
} Progress;

// Counting goes from `first` to `last`; a silent progress shows nothing.
void progress_begin(Progress *progress, FILE *stream, const char *unit, uint64_t first, uint64_t last, bool silent);
// `note` is shown behind the numbers; it should be short.
void progress_update(Progress *progress, uint64_t done, const char *note);
// Takes the bar away, so that other lines can be printed; the next update draws it anew.
void progress_clear(Progress *progress);

#endif
