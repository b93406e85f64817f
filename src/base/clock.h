// SPDX-License-Identifier: MIT
// clock.h - monotonic time.
#ifndef MOTE_BASE_CLOCK_H
#define MOTE_BASE_CLOCK_H

double clock_seconds(void); // since some fixed moment

#endif
