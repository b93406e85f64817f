// SPDX-License-Identifier: MIT
// times.h - what `mote bench` says of a row of times.
#ifndef MOTE_CLI_TIMES_H
#define MOTE_CLI_TIMES_H

#include <stdint.h>

typedef struct Times {
    double mean, median, minimum;
    double spread; // half the distance between the quartiles
    uint32_t count;
} Times;

void times_sort(double *values, uint32_t count); // ascending

// Sorts the values. All is zero if there are none.
Times times_of(double *values, uint32_t count);
#endif
