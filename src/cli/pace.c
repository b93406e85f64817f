#include "cli/pace.h"

#include "base/clock.h"
#include <stdbool.h>

enum { POINTS = 1024, LISTED = 32, REPEATS = 10 };

// Alone on a core, the loop's times differ by a few hundredths; beside a busy thread on the same core it takes 1.4 to
// 1.8 times as long (docs/performance.md).
static const double QUIET_LIMIT = 1.15;

// Sums a weight over listed points, as the solver's loops do: loads by index, short sums. 144 KiB, so that what it
// measures is the core and not the memory. It is not one of the solver's kernels, for their speed is what is measured.
typedef struct Points {
    float at[POINTS][4];
    uint32_t list[POINTS][LISTED];
} Points;

static void make_points(Points *points)
{
    uint32_t random = 1;
    for (uint32_t i = 0; i < POINTS; i++) {
        for (int axis = 0; axis < 4; axis++) {
            random = random * 1664525u + 1013904223u;
            points->at[i][axis] = (float)(random >> 8) * 0x1p-24f;
        }
        for (int k = 0; k < LISTED; k++) {
            random = random * 1664525u + 1013904223u;
            points->list[i][k] = (random >> 8) % POINTS;
        }
    }
}

static float sum_weights(const Points *points)
{
    float sum = 0.0f;
    for (uint32_t i = 0; i < POINTS; i++) {
        const float *p = points->at[i];
        float own = 0.0f;
        for (int k = 0; k < LISTED; k++) {
            const float *q = points->at[points->list[i][k]];
            const float x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
            const float left = 1.0f - (x * x + y * y + z * z);
            own += left > 0.0f ? left * left * left : 0.0f;
        }
        sum += own;
    }
    return sum;
}

double pace_now(int threads)
{
    static Points points;
    static bool made = false;
    if (!made) {
        make_points(&points);
        made = true;
    }
    double slowest = 0.0;
    volatile float sink = 0.0f;
#pragma omp parallel for num_threads(threads) schedule(static, 1) reduction(max : slowest)
    for (int t = 0; t < threads; t++) {
        float sum = sum_weights(&points); // brings the points into the core's own caches
        const double start = clock_seconds();
        for (int repeat = 0; repeat < REPEATS; repeat++) {
            sum += sum_weights(&points);
        }
        const double took = 1e3 * (clock_seconds() - start);
        slowest = took > slowest ? took : slowest;
#pragma omp atomic write
        sink = sum;
    }
    (void)sink;
    return slowest;
}

uint32_t pace_keep_quiet(double *step_times, const double *paces, uint32_t frames)
{
    double best = paces[0];
    for (uint32_t f = 1; f <= frames; f++) {
        best = paces[f] < best ? paces[f] : best;
    }
    uint32_t kept = 0;
    for (uint32_t f = 0; f < frames; f++) {
        if (paces[f] <= QUIET_LIMIT * best && paces[f + 1] <= QUIET_LIMIT * best) {
            const double time = step_times[f];
            step_times[f] = step_times[kept];
            step_times[kept++] = time;
        }
    }
    return kept;
}
