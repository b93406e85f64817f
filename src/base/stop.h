// SPDX-License-Identifier: MIT
// stop.h - whether somebody wants this thread's work to end early (mote_stop_when).
#ifndef MOTE_BASE_STOP_H
#define MOTE_BASE_STOP_H

#include "mote.h"

#ifdef __cplusplus
extern "C" {
#endif

// This thread's callback, for loops whose parts other threads take. Once it has said yes it is not asked again: what
// was left out by then stays left out.
typedef struct StopWatch {
    MoteStopCallback *asks; // NULL: nobody does
    void *context;
    bool stopped;
} StopWatch;

StopWatch stop_watch(void);
bool stop_watch_asks(StopWatch *watch);
// MOTE_OK, or MOTE_ERROR_STOPPED if it said yes; does not ask.
MoteResult stop_watch_result(const StopWatch *watch);

bool stop_asked(void);
MoteResult stop_check(void);                 // asks: MOTE_OK or MOTE_ERROR_STOPPED
MoteResult stop_fail(void);                  // MOTE_ERROR_STOPPED and its message
bool stop_is_watched(void);                  // whether there is a callback to be asked
MoteStopCallback *stop_hold(void);           // nobody is asked until...
void stop_release(MoteStopCallback *before); // ...this takes back what stop_hold returned

#ifdef __cplusplus
}
#endif
#endif
