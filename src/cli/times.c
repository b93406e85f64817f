// SPDX-License-Identifier: MIT
#include "cli/times.h"

#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void times_sort(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
}

Times times_of(double *values, uint32_t count)
{
    if (count == 0) {
        return (Times){0};
    }
    times_sort(values, count);
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return (Times){
        .mean = sum / count,
        .median = 0.5 * (values[(count - 1) / 2] + values[count / 2]),
        .minimum = values[0],
        .spread = 0.5 * (values[3 * (uint64_t)count / 4] - values[count / 4]),
        .count = count,
    };
}
