// cpu_primitives.c - sort, scan and bounds in parallel; results do not depend on the number of threads.
#include "cpu/cpu_backend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGIT_BITS = 11, // 2048 counters a part stay in a core's first cache
    DIGIT_VALUES = 1 << DIGIT_BITS,
    DIGITS = (64 + DIGIT_BITS - 1) / DIGIT_BITS,
    PART_LIMIT = 256,
    SERIAL_COUNT = 4096, // below this, waking threads costs more than it saves
};

static int parts_for(uint32_t count, const Threads *threads)
{
    const int all = threads_count(threads);
    return count < SERIAL_COUNT ? 1 : all < PART_LIMIT ? all : PART_LIMIT;
}

// Where a part of `count` begins, and the one before it ends.
static inline uint32_t part_begin(uint32_t count, int part, int parts)
{
    return (uint32_t)((uint64_t)count * (uint64_t)part / (uint64_t)parts);
}

// ---- Sort: a stable counting pass for each digit that differs anywhere ----

static inline uint32_t digit_of(u64 key, int digit)
{
    return (uint32_t)(key >> (digit * DIGIT_BITS)) & (DIGIT_VALUES - 1);
}

typedef struct Sort {
    const u64 *keys;
    const uint *values;
    u64 *sorted_keys;
    uint *sorted_values;
    uint32_t count;
    int digit, parts;
    uint32_t *counts; // DIGIT_VALUES a part
} Sort;

static void count_digits(void *context, int part, int thread)
{
    (void)thread;
    const Sort *sort = context;
    uint32_t *own = sort->counts + (size_t)part * DIGIT_VALUES;
    memset(own, 0, DIGIT_VALUES * sizeof *own);
    const uint32_t end = part_begin(sort->count, part + 1, sort->parts);
    for (uint32_t i = part_begin(sort->count, part, sort->parts); i < end; i++) {
        own[digit_of(sort->keys[i], sort->digit)]++;
    }
}

// From how often to where the first one goes: parts in order inside each digit, which keeps the sort stable.
static void place_digits(const Sort *sort)
{
    uint32_t before = 0;
    for (int d = 0; d < DIGIT_VALUES; d++) {
        for (int part = 0; part < sort->parts; part++) {
            uint32_t *entry = &sort->counts[(size_t)part * DIGIT_VALUES + d];
            const uint32_t here = *entry;
            *entry = before;
            before += here;
        }
    }
}

static void move_digits(void *context, int part, int thread)
{
    (void)thread;
    const Sort *sort = context;
    uint32_t *next = sort->counts + (size_t)part * DIGIT_VALUES;
    const uint32_t end = part_begin(sort->count, part + 1, sort->parts);
    for (uint32_t i = part_begin(sort->count, part, sort->parts); i < end; i++) {
        const uint32_t slot = next[digit_of(sort->keys[i], sort->digit)]++;
        sort->sorted_keys[slot] = sort->keys[i];
        sort->sorted_values[slot] = sort->values[i];
    }
}

typedef struct KeySurvey {
    const u64 *keys;
    uint32_t count;
    int parts;
    u64 differing[PART_LIMIT]; // bits that are not as in the first key
    bool ordered[PART_LIMIT];
} KeySurvey;

static void survey_keys(void *context, int part, int thread)
{
    (void)thread;
    KeySurvey *survey = context;
    const u64 *keys = survey->keys;
    const uint32_t begin = part_begin(survey->count, part, survey->parts);
    const uint32_t end = part_begin(survey->count, part + 1, survey->parts);
    u64 differing = 0;
    bool ordered = true;
    for (uint32_t i = begin > 0 ? begin : 1; i < end; i++) {
        differing |= keys[i] ^ keys[0];
        ordered &= keys[i - 1] <= keys[i];
    }
    survey->differing[part] = differing;
    survey->ordered[part] = ordered;
}

// Which bits differ anywhere; none if the keys are in order already.
static u64 bits_to_sort(const u64 *keys, uint32_t count, int parts, Threads *threads)
{
    KeySurvey survey = {.keys = keys, .count = count, .parts = parts};
    threads_run(threads, parts, survey_keys, &survey);
    u64 differing = 0;
    bool ordered = true;
    for (int part = 0; part < parts; part++) {
        differing |= survey.differing[part];
        ordered &= survey.ordered[part];
    }
    return ordered ? 0 : differing;
}

void cpu_sort(u64 *keys, uint *values, uint32_t count, void *scratch, Threads *threads)
{
    static _Thread_local uint32_t few_counts[4 * DIGIT_VALUES];
    int parts = parts_for(count, threads);
    uint32_t *counts = few_counts;
    if (parts > 4) {
        counts = malloc((size_t)parts * DIGIT_VALUES * sizeof *counts);
        if (counts == NULL) {
            counts = few_counts;
            parts = 4;
        }
    }
    u64 *from_keys = keys, *to_keys = scratch;
    uint *from_values = values, *to_values = (uint *)((u64 *)scratch + count);
    const u64 differing = bits_to_sort(keys, count, parts, threads);
    for (int digit = 0; digit < DIGITS; digit++) {
        if (digit_of(differing, digit) == 0) {
            continue; // every key has the same digit here
        }
        Sort sort = {from_keys, from_values, to_keys, to_values, count, digit, parts, counts};
        threads_run(threads, parts, count_digits, &sort);
        place_digits(&sort);
        threads_run(threads, parts, move_digits, &sort);
        u64 *const swapped_keys = from_keys;
        uint *const swapped_values = from_values;
        from_keys = to_keys;
        from_values = to_values;
        to_keys = swapped_keys;
        to_values = swapped_values;
    }
    if (from_keys != keys) {
        memcpy(keys, from_keys, count * sizeof *keys);
        memcpy(values, from_values, count * sizeof *values);
    }
    if (counts != few_counts) {
        free(counts);
    }
}

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
