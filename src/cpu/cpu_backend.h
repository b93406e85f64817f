// SPDX-License-Identifier: MIT
// cpu_backend.h - the inside of the CPU backend: loops over the kernels of the table, with faster twins for some.
#ifndef MOTE_CPU_BACKEND_H
#define MOTE_CPU_BACKEND_H

#include "base/threads.h"
#include "solver/backend.h"

// Runs invocations begin to end - 1 of a kernel. `begin` is a multiple of CPU_RANGE_STEP, unless one portable kernel is
// run on its own; so is `end`, except for the last range.
enum { CPU_RANGE_STEP = 64 };
typedef void RangeFunction(const MoteView *view, uint begin, uint end);

// The portable kernels, one range function each, in the order of the table (cpu_kernels.c).
extern RangeFunction *const cpu_kernels[KERNEL_COUNT];

// Hand-vectorised twins by kernel, NULL where there is none; the whole is NULL where this build has none or the
// CPU lacks the instructions (cpu_twins.c).
RangeFunction *const *cpu_twins(void);

// Neighbour lists in one pass into `capacity` entries, where there are twins; false if they do not fit (cpu_twins.c).
bool cpu_build_lists(const MoteView *view, uint32_t capacity, Threads *threads);

// Names what the twins use: "AVX2", or "portable".
const char *cpu_features(void);

void cpu_sort(u64 *keys, uint *values, uint32_t count, void *scratch, Threads *threads); // cpu_sort.c
void cpu_scan(uint *values, uint32_t count, Threads *threads);                           // cpu_primitives.c
void cpu_find_bounds(const vec4 *points, uint32_t count, vec4 *bounds, Threads *threads);

#endif
