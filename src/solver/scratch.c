// SPDX-License-Identifier: MIT
// scratch.c - lifetime checks of shared scratch memory: see scratch.h.
#include "solver/scratch.h"

_Static_assert(MEANING_COUNT <= UINT8_MAX, "meanings are kept in bytes");

static const char *const names[MEANING_COUNT] = {
    "nothing",
#define BUFFER(type, name, capacity, order, keep, render) #name,
#define ALIAS(type, name, storage)                        #name,
#define EXTERNAL(type, name)                              #name,
#include "kernels/data.def"
};

static const uint8_t storages[MEANING_COUNT] = {
    MEANING_NONE,
#define BUFFER(type, name, capacity, order, keep, render) MEANING_##name,
#define ALIAS(type, name, storage)                        MEANING_##storage,
#define EXTERNAL(type, name)                              MEANING_##name,
#include "kernels/data.def"
};

static const char *const kernel_names[KERNEL_COUNT] = {
#define KERNEL_ROW(name, stage, count) #name,
#include "kernels/kernels.def"
};

const char *meaning_name(Meaning meaning)
{
    return names[meaning];
}

Meaning meaning_storage(Meaning meaning)
{
    return (Meaning)storages[meaning];
}

enum {
#define READS(kernel, meaning, when)  +1
#define WRITES(kernel, meaning, when) +1
    USE_COUNT = 0
#include "kernels/kernels.def"
};
_Static_assert((int)USE_COUNT <= (int)SCRATCH_USES, "SCRATCH_USES is too small");

uint32_t scratch_uses(const SolverData *view, ScratchUse uses[SCRATCH_USES])
{
    uint32_t n = 0;
#define READS(kernel, meaning, when)  uses[n++] = (ScratchUse){KERNEL_ID_##kernel, MEANING_##meaning, false, when};
#define WRITES(kernel, meaning, when) uses[n++] = (ScratchUse){KERNEL_ID_##kernel, MEANING_##meaning, true, when};
#include "kernels/kernels.def"
    return n;
}

MoteResult scratch_read(const Scratch *scratch, Meaning meaning, const char *reader)
{
    const Meaning living = (Meaning)scratch->living[storages[meaning]];
    if (living == meaning) {
        return MOTE_OK;
    }
    return mote_fail(MOTE_ERROR_UNSTABLE, "%s reads %s, but its memory holds %s", reader, names[meaning],
                     names[living]);
}

MoteResult scratch_write(Scratch *scratch, Meaning meaning)
{
    scratch->living[storages[meaning]] = (uint8_t)meaning;
    return MOTE_OK;
}

MoteResult scratch_launch(Scratch *scratch, KernelId kernel, const SolverData *view)
{
    ScratchUse uses[SCRATCH_USES];
    const uint32_t count = scratch_uses(view, uses);
    for (uint32_t n = 0; n < count; n++) {
        if (uses[n].kernel == kernel && uses[n].active && !uses[n].writes) {
            const MoteResult result = scratch_read(scratch, uses[n].meaning, kernel_names[kernel]);
            if (result != MOTE_OK) {
                return result;
            }
        }
    }
    for (uint32_t n = 0; n < count; n++) {
        if (uses[n].kernel == kernel && uses[n].active && uses[n].writes) {
            scratch_write(scratch, uses[n].meaning);
        }
    }
    return MOTE_OK;
}

MoteResult scratch_exchange(Scratch *scratch, Meaning meaning, const char *reader)
{
    const MoteResult result = scratch_read(scratch, meaning, reader);
    scratch->living[storages[meaning]] = MEANING_NONE;
    return result;
}

MoteResult scratch_reorder(Scratch *scratch)
{
#define FORGET_FIXED(name) scratch->living[MEANING_##name] = MEANING_NONE;
#define FORGET_REORDER(name)
#define BUFFER(type, name, capacity, order, keep, render) FORGET_##order(name)
#include "kernels/data.def"
    return MOTE_OK;
}
