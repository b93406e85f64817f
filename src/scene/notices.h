// SPDX-License-Identifier: MIT
// notices.h - warnings of a simulation: sentences for the user, in the order in which they occurred.
#ifndef MOTE_SCENE_NOTICES_H
#define MOTE_SCENE_NOTICES_H

#include "base/error.h"

typedef struct Notices {
    MoteNotice *rows; // their texts come from malloc
    uint32_t count, capacity;
} Notices;

// Where memory lacks, or after NOTICE_LIMIT of them, nothing is added: a notice is never a reason to fail.
void notices_add(Notices *notices, bool warning, double time, const char *format, ...) MOTE_PRINTF(4, 5);
void notices_clear(Notices *notices); // frees them

#endif
