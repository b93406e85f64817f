// SPDX-License-Identifier: MIT
// scratch.h - which meaning lives in memory that has several (ALIAS rows of kernels/data.def). Each kernel says in
// kernels/scratch.def what it reads and writes; reading one meaning while another lives there is a programmer's error.
// Builds with MOTE_CHECK_SCRATCH follow every launch, others cost nothing.
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

// What a kernel does with the view's parameters as they are now.
typedef struct ScratchUse {
    KernelId kernel;
    Meaning meaning;
    bool writes, active;
} ScratchUse;

enum { SCRATCH_USES = 192 }; // at most: rows of scratch.def

// How many there are.
uint32_t scratch_uses(const SolverData *view, ScratchUse uses[SCRATCH_USES]);

typedef struct Scratch {
    uint8_t living[MEANING_COUNT]; // of each buffer, the Meaning it was last written with
} Scratch;

// An error that names `reader` and both meanings, where another one lives in the memory.
MoteResult scratch_read(const Scratch *scratch, Meaning meaning, const char *reader);
MoteResult scratch_write(Scratch *scratch, Meaning meaning);
// Both, as the kernel does them.
MoteResult scratch_launch(Scratch *scratch, KernelId kernel, const SolverData *view);
// Memory with this meaning takes the place of another buffer's, and gets that one's old contents.
MoteResult scratch_exchange(Scratch *scratch, Meaning meaning, const char *reader);
// Particles have another order now: what is not sorted along is of no use.
MoteResult scratch_reorder(Scratch *scratch);

#if defined(MOTE_CHECK_SCRATCH)
#define CHECK_SCRATCH(check)                                                                                           \
    ((check) == MOTE_OK ? (void)0 : mote_assert_failed(mote_error_message(), __FILE__, __LINE__))
#else
#define CHECK_SCRATCH(check) ((void)0)
#endif

#endif
