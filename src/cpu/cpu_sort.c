// SPDX-License-Identifier: MIT
// cpu_sort.c - a stable radix sort of 64-bit keys that have a value each.
//
// First all of them by the highest bits that differ, into buckets that a core's own cache holds; then each bucket by
// itself, from its lowest bits up. From one step to the next particles hardly change their order, so that the first
// pass writes nearly in the order it reads in; the passes over the low bits go all over what they sort, but in the
// cache. Removed particles, or a few that flew far away, leave all others in one bucket: what is too large is sorted as
// the whole was.
#include "cpu/cpu_backend.h"
#include "cpu/cpu_parts.h"

#include <stdlib.h>
#include <string.h>

enum {
    TOP_BITS = 12,
    TOP_VALUES = 1 << TOP_BITS,
    BUCKET_AIM = 1024,    // pairs: some 24 KB with where they go
    BUCKET_LIMIT = 16384, // pairs, about what the second cache holds
    LOW_BITS = 8,
    LOW_VALUES = 1 << LOW_BITS,
    FEW = 24, // pairs that are put in their places one by one
    BATCHES_A_PART = 8,
};

typedef struct Pairs {
    u64 *keys;
    uint *values;
} Pairs;

static Pairs pairs_from(Pairs pairs, uint32_t first)
{
    return (Pairs){pairs.keys + first, pairs.values + first};
}

static void copy_pairs(Pairs to, Pairs from, uint32_t count)
{
    memcpy(to.keys, from.keys, count * sizeof *to.keys);
    memcpy(to.values, from.values, count * sizeof *to.values);
}

static int width_of(u64 bits)
{
    return bits == 0 ? 0 : 64 - __builtin_clzll(bits);
}

// ---- What differs ----

typedef struct Survey {
    u64 differing; // bits that are not as in the first key
    bool ordered;
} Survey;

// Of the keys from begin to end - 1, each also beside the one before it.
static Survey survey_keys(const u64 *keys, uint32_t begin, uint32_t end)
{
    Survey survey = {0, true};
    for (uint32_t i = begin > 0 ? begin : 1; i < end; i++) {
        survey.differing |= keys[i] ^ keys[0];
        survey.ordered &= keys[i - 1] <= keys[i];
    }
    return survey;
}

// ---- One bucket, on one thread ----

static void insert_pairs(Pairs from, uint32_t count, Pairs to)
{
    for (uint32_t i = 0; i < count; i++) {
        const u64 key = from.keys[i];
        const uint value = from.values[i];
        uint32_t slot = i;
        for (; slot > 0 && to.keys[slot - 1] > key; slot--) {
            to.keys[slot] = to.keys[slot - 1];
            to.values[slot] = to.values[slot - 1];
        }
        to.keys[slot] = key;
        to.values[slot] = value;
    }
}

static void move_by_low_bits(Pairs from, uint32_t count, int shift, Pairs to)
{
    uint32_t next[LOW_VALUES] = {0};
    for (uint32_t i = 0; i < count; i++) {
        next[from.keys[i] >> shift & (LOW_VALUES - 1)]++;
    }
    uint32_t before = 0;
    for (int d = 0; d < LOW_VALUES; d++) {
        const uint32_t here = next[d];
        next[d] = before;
        before += here;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slot = next[from.keys[i] >> shift & (LOW_VALUES - 1)]++;
        to.keys[slot] = from.keys[i];
        to.values[slot] = from.values[i];
    }
}

// `to` is `from` or `spare`; both are overwritten.
static void sort_bucket(Pairs from, Pairs spare, uint32_t count, Pairs to)
{
    if (count <= FEW) {
        insert_pairs(from, count, to);
        return;
    }
    const Survey survey = survey_keys(from.keys, 0, count);
    Pairs here = from, there = spare;
    const int end = survey.ordered ? 0 : width_of(survey.differing);
    for (int shift = survey.differing != 0 ? __builtin_ctzll(survey.differing) : 0; shift < end; shift += LOW_BITS) {
        if ((survey.differing >> shift & (LOW_VALUES - 1)) != 0) {
            move_by_low_bits(here, count, shift, there);
            const Pairs moved = there;
            there = here;
            here = moved;
        }
    }
    if (here.keys != to.keys) {
        copy_pairs(to, here, count);
    }
}

// ---- All of them ----

typedef struct Sort {
    Pairs from, spare, to; // `to` is one of the other two
    uint32_t count;
    int parts, batches;
    int shift;                       // the top bits begin there
    uint32_t *counts;                // TOP_VALUES a part
    uint32_t starts[TOP_VALUES + 1]; // of buckets
    Survey surveys[PART_LIMIT];
} Sort;

static inline uint32_t top_of(const Sort *sort, u64 key)
{
    return (uint32_t)(key >> sort->shift) & (TOP_VALUES - 1);
}

static void survey_part(void *context, int part, int thread)
{
    (void)thread;
    Sort *sort = context;
    sort->surveys[part] = survey_keys(sort->from.keys, part_begin(sort->count, part, sort->parts),
                                      part_begin(sort->count, part + 1, sort->parts));
}

static void count_part(void *context, int part, int thread)
{
    (void)thread;
    const Sort *sort = context;
    uint32_t *own = sort->counts + (size_t)part * TOP_VALUES;
    memset(own, 0, TOP_VALUES * sizeof *own);
    const uint32_t end = part_begin(sort->count, part + 1, sort->parts);
    for (uint32_t i = part_begin(sort->count, part, sort->parts); i < end; i++) {
        own[top_of(sort, sort->from.keys[i])]++;
    }
}

// From how often to where the first one goes: parts in order inside each bucket, which keeps the sort stable.
static void place_buckets(Sort *sort)
{
    uint32_t before = 0;
    for (int d = 0; d < TOP_VALUES; d++) {
        sort->starts[d] = before;
        for (int part = 0; part < sort->parts; part++) {
            uint32_t *entry = &sort->counts[(size_t)part * TOP_VALUES + d];
            const uint32_t here = *entry;
            *entry = before;
            before += here;
        }
    }
    sort->starts[TOP_VALUES] = before;
}

static void move_part(void *context, int part, int thread)
{
    (void)thread;
    const Sort *sort = context;
    uint32_t *next = sort->counts + (size_t)part * TOP_VALUES;
    const uint32_t end = part_begin(sort->count, part + 1, sort->parts);
    for (uint32_t i = part_begin(sort->count, part, sort->parts); i < end; i++) {
        const u64 key = sort->from.keys[i];
        const uint32_t slot = next[top_of(sort, key)]++;
        sort->spare.keys[slot] = key;
        sort->spare.values[slot] = sort->from.values[i];
    }
}

// Buckets that begin in the batch's share of all pairs, but for large ones.
static void sort_batch(void *context, int batch, int thread)
{
    (void)thread;
    const Sort *sort = context;
    const uint32_t begin = part_begin(sort->count, batch, sort->batches);
    const uint32_t end = part_begin(sort->count, batch + 1, sort->batches);
    for (int d = 0; d < TOP_VALUES && sort->starts[d] < end; d++) {
        const uint32_t first = sort->starts[d], size = sort->starts[d + 1] - first;
        if (first >= begin && size > 0 && size <= BUCKET_LIMIT) {
            sort_bucket(pairs_from(sort->spare, first), pairs_from(sort->from, first), size,
                        pairs_from(sort->to, first));
        }
    }
}

// The top bits leave buckets of about BUCKET_AIM, as far as they differ evenly.
static int find_shift(u64 differing, uint32_t count)
{
    int wanted = 1;
    while (wanted < TOP_BITS && (uint32_t)BUCKET_AIM << wanted < count) {
        wanted++;
    }
    const int width = width_of(differing);
    int shift = width - 1;
    while (shift > 0 && width - shift < TOP_BITS && __builtin_popcountll(differing >> shift) < wanted) {
        shift--;
    }
    return shift;
}

// `counts` has TOP_VALUES for each of `parts`.
static void sort_pairs(Pairs from, Pairs spare, uint32_t count, Pairs to, uint32_t *counts, int parts, Threads *threads)
{
    Sort sort = {.from = from, .spare = spare, .to = to, .count = count, .counts = counts};
    const int wanted = parts_for(count, threads);
    sort.parts = wanted < parts ? wanted : parts;
    sort.batches = sort.parts > 1 ? sort.parts * BATCHES_A_PART : 1;
    threads_run(threads, sort.parts, survey_part, &sort);
    Survey all = {0, true};
    for (int part = 0; part < sort.parts; part++) {
        all.differing |= sort.surveys[part].differing;
        all.ordered &= sort.surveys[part].ordered;
    }
    if (all.ordered) {
        if (to.keys != from.keys) {
            copy_pairs(to, from, count);
        }
        return;
    }
    sort.shift = find_shift(all.differing, count);
    threads_run(threads, sort.parts, count_part, &sort);
    place_buckets(&sort);
    threads_run(threads, sort.parts, move_part, &sort);
    threads_run(threads, sort.batches, sort_batch, &sort);
    for (int d = 0; d < TOP_VALUES; d++) {
        const uint32_t first = sort.starts[d], size = sort.starts[d + 1] - first;
        if (size > BUCKET_LIMIT) {
            sort_pairs(pairs_from(spare, first), pairs_from(from, first), size, pairs_from(to, first), counts, parts,
                       threads);
        }
    }
}

void cpu_sort(u64 *keys, uint *values, uint32_t count, void *scratch, Threads *threads)
{
    enum { FEW_PARTS = 4 };
    static _Thread_local uint32_t few_counts[FEW_PARTS * TOP_VALUES];
    const Pairs pairs = {keys, values}, spare = {scratch, (uint *)((u64 *)scratch + count)};
    if (count <= SERIAL_COUNT) {
        sort_bucket(pairs, spare, count, pairs);
        return;
    }
    int parts = parts_for(count, threads);
    uint32_t *more_counts = NULL;
    if (parts > FEW_PARTS) {
        more_counts = malloc((size_t)parts * TOP_VALUES * sizeof *more_counts);
        parts = more_counts != NULL ? parts : FEW_PARTS;
    }
    sort_pairs(pairs, spare, count, pairs, more_counts != NULL ? more_counts : few_counts, parts, threads);
    free(more_counts);
}
