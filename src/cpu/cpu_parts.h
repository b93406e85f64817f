// SPDX-License-Identifier: MIT
// cpu_parts.h - how the primitives share out their work among threads.
#ifndef MOTE_CPU_PARTS_H
#define MOTE_CPU_PARTS_H

#include "base/threads.h"

enum {
    PART_LIMIT = 256,
    SERIAL_COUNT = 4096, // below this, waking threads costs more than it saves
};

static inline int parts_for(uint32_t count, const Threads *threads)
{
    const int all = threads_count(threads);
    return count < SERIAL_COUNT ? 1 : all < PART_LIMIT ? all : PART_LIMIT;
}

// Where a part of `count` begins, and the one before it ends.
static inline uint32_t part_begin(uint32_t count, int part, int parts)
{
    return (uint32_t)((uint64_t)count * (uint64_t)part / (uint64_t)parts);
}

#endif
