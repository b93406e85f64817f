// SPDX-License-Identifier: MIT
// cpu_backend.h - the inside of the CPU backend: loops over the kernels of the table, with AVX2 forms of some.
#ifndef MOTE_CPU_BACKEND_H
#define MOTE_CPU_BACKEND_H

#include "base/threads.h"
#include "solver/backend.h"

// Runs invocations begin to end - 1 of a kernel. `begin` is a multiple of CPU_RANGE_STEP, unless one portable kernel is
// run on its own; so is `end`, except for the last range.
enum { CPU_RANGE_STEP = 64 };
typedef void RangeFunction(const SolverData *view, uint begin, uint end);

// The portable kernels, one range function each, in the order of the table (cpu_kernels.c).
extern RangeFunction *const cpu_kernels[KERNEL_COUNT];

// Hand-vectorised AVX2 forms by kernel, NULL where there is none; the whole is NULL where this build has none or the
// CPU lacks the instructions (cpu_avx2.c).
RangeFunction *const *cpu_avx2_kernels(void);

// Neighbour lists in one pass into `capacity` entries, where there are AVX2 kernels; false if they do not fit
// (cpu_avx2.c).
bool cpu_build_lists(const SolverData *view, uint32_t capacity, Threads *threads);

// Names what the AVX2 kernels use: "AVX2", or "portable".
const char *cpu_features(void);

void cpu_sort(u64 *keys, uint *values, uint32_t count, void *scratch, Threads *threads); // cpu_sort.c
void cpu_scan(uint *values, uint32_t count, Threads *threads);                           // cpu_primitives.c
void cpu_find_bounds(const vec4 *points, uint32_t count, vec4 *bounds, Threads *threads);

#endif
