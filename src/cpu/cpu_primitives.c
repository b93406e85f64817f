// SPDX-License-Identifier: MIT
// cpu_primitives.c - scan and bounds in parallel; results do not depend on the number of threads.
#include "cpu/cpu_backend.h"
#include "cpu/cpu_parts.h"

#include <math.h>

// ---- Scan ----

typedef struct Scan {
    uint *values;
    uint32_t count;
    int parts;
    uint sums[PART_LIMIT + 1]; // of all parts before
} Scan;

static void sum_part(void *context, int part, int thread)
{
    (void)thread;
    Scan *scan = context;
    const uint32_t end = part_begin(scan->count, part + 1, scan->parts);
    uint sum = 0;
    for (uint32_t i = part_begin(scan->count, part, scan->parts); i < end; i++) {
        sum += scan->values[i];
    }
    scan->sums[part + 1] = sum;
}

static void scan_part(void *context, int part, int thread)
{
    (void)thread;
    const Scan *scan = context;
    const uint32_t end = part_begin(scan->count, part + 1, scan->parts);
    uint sum = scan->sums[part];
    for (uint32_t i = part_begin(scan->count, part, scan->parts); i < end; i++) {
        const uint value = scan->values[i];
        scan->values[i] = sum;
        sum += value;
    }
}

void cpu_scan(uint *values, uint32_t count, Threads *threads)
{
    Scan scan = {.values = values, .count = count, .parts = parts_for(count, threads)};
    threads_run(threads, scan.parts, sum_part, &scan);
    for (int part = 0; part < scan.parts; part++) {
        scan.sums[part + 1] += scan.sums[part];
    }
    threads_run(threads, scan.parts, scan_part, &scan);
    values[count] = scan.sums[scan.parts];
}

// ---- Bounds ----

typedef struct Bounds {
    const vec4 *points;
    uint32_t count;
    int parts;
    vec4 low[PART_LIMIT], high[PART_LIMIT];
} Bounds;

static vec4 lower_of(vec4 a, vec4 b)
{
    return v4(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z, 0.0f);
}

static vec4 upper_of(vec4 a, vec4 b)
{
    return v4(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z, 0.0f);
}

static void bound_part(void *context, int part, int thread)
{
    (void)thread;
    Bounds *bounds = context;
    const uint32_t end = part_begin(bounds->count, part + 1, bounds->parts);
    vec4 low = v4(INFINITY, INFINITY, INFINITY, 0.0f), high = v4(-INFINITY, -INFINITY, -INFINITY, 0.0f);
    for (uint32_t i = part_begin(bounds->count, part, bounds->parts); i < end; i++) {
        const vec4 p = bounds->points[i];
        if (p.w >= 0.0f) {          // else its place is empty
            low = lower_of(p, low); // of two, a NaN is left out
            high = upper_of(p, high);
        }
    }
    bounds->low[part] = low;
    bounds->high[part] = high;
}

void cpu_find_bounds(const vec4 *points, uint32_t count, vec4 *bounds, Threads *threads)
{
    Bounds all = {.points = points, .count = count, .parts = parts_for(count, threads)};
    threads_run(threads, all.parts, bound_part, &all);
    bounds[0] = all.low[0];
    bounds[1] = all.high[0];
    for (int part = 1; part < all.parts; part++) {
        bounds[0] = lower_of(all.low[part], bounds[0]);
        bounds[1] = upper_of(all.high[part], bounds[1]);
    }
}
