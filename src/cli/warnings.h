// SPDX-License-Identifier: MIT
// warnings.h - prints what a simulation has to say beside errors, and makes errors of warnings where that was asked
// for.
#ifndef MOTE_CLI_WARNINGS_H
#define MOTE_CLI_WARNINGS_H

#include "base/progress.h"
#include "mote.h"

typedef struct Warnings {
    bool quiet;  // print none
    bool strict; // the first warning is an error
    uint32_t seen;
} Warnings;

#define STRICT_HELP                                                                                                    \
    "Take warnings for errors: what begins inside something else, energy from nowhere, particles outside the scene's " \
    "bounds"

// One of them, in a line of stderr.
void warnings_print(const MoteNotice *notice);
// Those that are new since the last call. The line of progress is cleared before.
MoteResult warnings_report(Warnings *warnings, const MoteSimulation *simulation, Progress *progress);

#endif
