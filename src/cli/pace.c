// SPDX-License-Identifier: MIT
#include "cli/pace.h"

#include "base/clock.h"
#include "base/threads.h"
#include "cli/times.h"
#include <stdlib.h>

enum { POINTS = 1024, LISTED = 32, REPEATS = 10 };

// Half the width of a mode, as a ratio. Beside a busy thread on the same core the loop takes 1.4 to 1.8 times as long
// as alone (docs/performance.md): a mode must not reach that far.
static const double MODE_RATIO = 1.15;
// Fewer paces than these are no mode but exceptions, such as the first moments of a core at its highest clock rate.
enum { MODE_SAMPLES = 3, MODE_SHARE = 20 }; // and one in so many

struct PaceMaker {
    Threads *threads;
    // The loop sums a weight over listed points, as the solver's loops do: loads by index, short sums. 144 KiB,
    // so that what it measures is the core and not the memory. It is not one of the solver's kernels, for their speed
    // is what is measured.
    float points[POINTS][4];
    uint32_t lists[POINTS][LISTED];
    double *times; // by thread
};

static uint32_t next_random(uint32_t *random)
{
    *random = *random * 1664525u + 1013904223u;
    return *random >> 8;
}

static void fill(PaceMaker *maker)
{
    uint32_t random = 1;
    for (uint32_t i = 0; i < POINTS; i++) {
        for (int axis = 0; axis < 4; axis++) {
            maker->points[i][axis] = (float)next_random(&random) * 0x1p-24f;
        }
        for (int k = 0; k < LISTED; k++) {
            maker->lists[i][k] = next_random(&random) % POINTS;
        }
    }
}

PaceMaker *pace_maker_create(int threads)
{
    PaceMaker *maker = calloc(1, sizeof *maker);
    if (maker == NULL) {
        return NULL;
    }
    maker->threads = threads_create(threads);
    maker->times = calloc((size_t)threads, sizeof *maker->times);
    if (maker->threads == NULL || maker->times == NULL) {
        pace_maker_destroy(maker);
        return NULL;
    }
    fill(maker);
    return maker;
}

void pace_maker_destroy(PaceMaker *maker)
{
    if (maker != NULL) {
        threads_destroy(maker->threads);
        free(maker->times);
        free(maker);
    }
}

static float sum_weights(const PaceMaker *maker)
{
    float sum = 0.0f;
    for (uint32_t i = 0; i < POINTS; i++) {
        const float *p = maker->points[i];
        float own = 0.0f;
        for (int k = 0; k < LISTED; k++) {
            const float *q = maker->points[maker->lists[i][k]];
            const float x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
            const float left = 1.0f - (x * x + y * y + z * z);
            own += left > 0.0f ? left * left * left : 0.0f;
        }
        sum += own;
    }
    return sum;
}

static void time_core(void *context, int part, int thread)
{
    (void)thread;
    PaceMaker *maker = context;
    volatile float sink = sum_weights(maker); // brings the points into the core's own caches
    const double start = clock_seconds();
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        sink = sink + sum_weights(maker);
    }
    maker->times[part] = 1e3 * (clock_seconds() - start);
}

double pace_now(PaceMaker *maker)
{
    const int threads = threads_count(maker->threads);
    threads_run(maker->threads, threads, time_core, maker); // long enough for each thread to take one
    double slowest = 0.0;
    for (int t = 0; t < threads; t++) {
        slowest = maker->times[t] > slowest ? maker->times[t] : slowest;
    }
    return slowest;
}

// How many of the sorted paces are at or below `limit`.
static uint32_t count_up_to(const double *paces, uint32_t count, double limit)
{
    uint32_t found = 0;
    while (found < count && paces[found] <= limit) {
        found++;
    }
    return found;
}

// The lowest pace that enough others lie just above of.
static double lowest_dense_pace(const double *paces, uint32_t count)
{
    const uint32_t few = count < MODE_SAMPLES ? count : MODE_SAMPLES;
    const uint32_t needed = count / MODE_SHARE > few ? count / MODE_SHARE : few;
    for (uint32_t i = 0; i < count; i++) {
        if (count_up_to(paces, count, MODE_RATIO * paces[i]) - i >= needed) {
            return paces[i];
        }
    }
    return paces[0];
}

// Mean shift (Fukunaga and Hostetler 1975) with the median for the mean: a window around the estimate moves to the
// median of what it holds until it stays. From the lowest dense pace on it only moves up, to the middle of that mode.
double pace_quiet_limit(double *paces, uint32_t count)
{
    if (count == 0) {
        return 0.0;
    }
    times_sort(paces, count);
    double middle = lowest_dense_pace(paces, count);
    for (bool moved = true; moved;) {
        const uint32_t begin = count_up_to(paces, count, middle / MODE_RATIO);
        const uint32_t end = count_up_to(paces, count, middle * MODE_RATIO);
        const double median = paces[begin + (end - begin - 1) / 2];
        moved = median > middle;
        middle = moved ? median : middle;
    }
    return MODE_RATIO * middle;
}

bool pace_was_quiet(double before, double after, double limit)
{
    return before <= limit && after <= limit;
}
