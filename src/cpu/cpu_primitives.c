// cpu_primitives.c - sort, scan and bounds in parallel; results do not depend on the number of threads.
#include "cpu/cpu_backend.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGIT_BITS = 11, // 2048 counters a thread stay in its first cache
    DIGIT_VALUES = 1 << DIGIT_BITS,
    DIGITS = (64 + DIGIT_BITS - 1) / DIGIT_BITS,
    THREAD_LIMIT = 256,
    SERIAL_COUNT = 4096, // below this, starting threads costs more than it saves
};

static int threads_for(uint32_t count, int threads)
{
    return count < SERIAL_COUNT ? 1 : threads < THREAD_LIMIT ? threads : THREAD_LIMIT;
}

static inline uint32_t digit_of(u64 key, int digit)
{
    return (uint32_t)(key >> (digit * DIGIT_BITS)) & (DIGIT_VALUES - 1);
}

static inline uint32_t part(uint32_t count, int index, int parts)
{
    return (uint32_t)((uint64_t)count * (uint64_t)index / (uint64_t)parts);
}

// One stable counting pass. counts has DIGIT_VALUES a part.
static void sort_by_digit(const u64 *keys, const uint *values, u64 *sorted_keys, uint *sorted_values, uint32_t count,
                          int digit, uint32_t *counts, int parts)
{
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int t = 0; t < parts; t++) {
        uint32_t *own = counts + (size_t)t * DIGIT_VALUES;
        memset(own, 0, DIGIT_VALUES * sizeof *own);
        for (uint32_t i = part(count, t, parts); i < part(count, t + 1, parts); i++) {
            own[digit_of(keys[i], digit)]++;
        }
    }
    uint32_t before = 0; // parts in order inside each digit: that is what keeps the sort stable
    for (int d = 0; d < DIGIT_VALUES; d++) {
        for (int t = 0; t < parts; t++) {
            uint32_t *entry = &counts[(size_t)t * DIGIT_VALUES + d];
            const uint32_t here = *entry;
            *entry = before;
            before += here;
        }
    }
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int t = 0; t < parts; t++) {
        uint32_t *next = counts + (size_t)t * DIGIT_VALUES;
        for (uint32_t i = part(count, t, parts); i < part(count, t + 1, parts); i++) {
            const uint32_t slot = next[digit_of(keys[i], digit)]++;
            sorted_keys[slot] = keys[i];
            sorted_values[slot] = values[i];
        }
    }
}

// Which bits differ anywhere, and whether the keys are in order already.
static u64 differing_bits(const u64 *keys, uint32_t count, int parts, bool *in_order)
{
    u64 differing = 0;
    int ordered = 1;
#pragma omp parallel for num_threads(parts) schedule(static) reduction(| : differing) reduction(& : ordered)
    for (uint32_t i = 1; i < count; i++) {
        differing |= keys[i] ^ keys[0];
        ordered &= keys[i - 1] <= keys[i];
    }
    *in_order = ordered != 0;
    return differing;
}

void cpu_sort(u64 *keys, uint *values, uint32_t count, void *scratch, int threads)
{
    static _Thread_local uint32_t few_counts[4 * DIGIT_VALUES];
    int parts = threads_for(count, threads);
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
    bool in_order = false;
    const u64 differing = differing_bits(keys, count, parts, &in_order);
    for (int digit = 0; digit < DIGITS && !in_order; digit++) {
        if (digit_of(differing, digit) == 0) {
            continue; // every key has the same digit here
        }
        sort_by_digit(from_keys, from_values, to_keys, to_values, count, digit, counts, parts);
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

void cpu_scan(uint *values, uint32_t count, int threads)
{
    const int parts = threads_for(count, threads);
    uint sums[THREAD_LIMIT + 1] = {0};
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int t = 0; t < parts; t++) {
        uint sum = 0;
        for (uint32_t i = part(count, t, parts); i < part(count, t + 1, parts); i++) {
            sum += values[i];
        }
        sums[t + 1] = sum;
    }
    for (int t = 0; t < parts; t++) {
        sums[t + 1] += sums[t];
    }
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int t = 0; t < parts; t++) {
        uint sum = sums[t];
        for (uint32_t i = part(count, t, parts); i < part(count, t + 1, parts); i++) {
            const uint value = values[i];
            values[i] = sum;
            sum += value;
        }
    }
    values[count] = sums[parts];
}

void cpu_find_bounds(const vec4 *points, uint32_t count, vec4 *bounds, int threads)
{
    const int parts = threads_for(count, threads);
    float low_x = INFINITY, low_y = INFINITY, low_z = INFINITY;
    float high_x = -INFINITY, high_y = -INFINITY, high_z = -INFINITY;
#pragma omp parallel for num_threads(parts) schedule(static) reduction(min                                             \
                                                                       : low_x, low_y, low_z)                          \
    reduction(max                                                                                                      \
              : high_x, high_y, high_z)
    for (uint32_t i = 0; i < count; i++) {
        const vec4 p = points[i];
        if (p.w < 0.0f) {
            continue;
        }
        low_x = p.x < low_x ? p.x : low_x;
        low_y = p.y < low_y ? p.y : low_y;
        low_z = p.z < low_z ? p.z : low_z;
        high_x = p.x > high_x ? p.x : high_x;
        high_y = p.y > high_y ? p.y : high_y;
        high_z = p.z > high_z ? p.z : high_z;
    }
    bounds[0] = v4(low_x, low_y, low_z, 0.0f);
    bounds[1] = v4(high_x, high_y, high_z, 0.0f);
}
