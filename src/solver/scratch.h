// SPDX-License-Identifier: MIT
// scratch.h - lifetime checks of scratch memory that several arrays share (ALIAS rows of kernels/data.def).
// kernels/kernels.def lists the reads and writes of each kernel. Reading one array while its memory holds another is a
// programming error. Builds with MOTE_CHECK_SCRATCH check every launch; other builds have no cost.
#ifndef MOTE_SOLVER_SCRATCH_H
#define MOTE_SOLVER_SCRATCH_H

#include "base/error.h"
#include "solver/backend.h"

// Every buffer and every alias.
typedef enum Meaning {
    MEANING_NONE, // never written, or no longer in the order of the particles
#define BUFFER(type, name, capacity, order, keep, render) MEANING_##name,
#define ALIAS(type, name, storage)                        MEANING_##name,
#define EXTERNAL(type, name)                              MEANING_##name,
#include "kernels/data.def"
    MEANING_COUNT
} Meaning;

const char *meaning_name(Meaning meaning);
// The buffer whose memory it is in.
Meaning meaning_storage(Meaning meaning);

// The reads and writes of a kernel, with the present parameters.
typedef struct ScratchUse {
    KernelId kernel;
    Meaning meaning;
    bool writes, active;
} ScratchUse;

enum { SCRATCH_USES = 192 }; // at most: READS and WRITES rows

// How many there are.
uint32_t scratch_uses(const SolverData *view, ScratchUse uses[SCRATCH_USES]);

typedef struct Scratch {
    uint8_t living[MEANING_COUNT]; // of each buffer, the Meaning it was last written with
} Scratch;

// Returns an error with `reader` and the names of both arrays, if the memory holds another one.
MoteResult scratch_read(const Scratch *scratch, Meaning meaning, const char *reader);
MoteResult scratch_write(Scratch *scratch, Meaning meaning);
// Both, as the kernel does them.
MoteResult scratch_launch(Scratch *scratch, KernelId kernel, const SolverData *view);
// Swaps this scratch array with a buffer: it then holds the old contents of the buffer.
MoteResult scratch_exchange(Scratch *scratch, Meaning meaning, const char *reader);
// Particles were reordered: arrays that were not sorted along become invalid.
MoteResult scratch_reorder(Scratch *scratch);

#if defined(MOTE_CHECK_SCRATCH)
#define CHECK_SCRATCH(check)                                                                                           \
    ((check) == MOTE_OK ? (void)0 : mote_assert_failed(mote_error_message(), __FILE__, __LINE__))
#else
#define CHECK_SCRATCH(check) ((void)0)
#endif

#endif
