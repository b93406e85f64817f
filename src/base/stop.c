// SPDX-License-Identifier: MIT
#include "base/stop.h"

#include "base/error.h"

static _Thread_local MoteStopCallback *callback;
static _Thread_local void *callback_context;

void mote_stop_when(MoteStopCallback *asks, void *context)
{
    callback = asks;
    callback_context = context;
}

StopWatch stop_watch(void)
{
    return (StopWatch){.asks = callback, .context = callback_context};
}

bool stop_watch_asks(StopWatch *watch)
{
    if (__atomic_load_n(&watch->stopped, __ATOMIC_RELAXED)) {
        return true;
    }
    const bool asked = watch->asks != NULL && watch->asks(watch->context);
    if (asked) {
        __atomic_store_n(&watch->stopped, true, __ATOMIC_RELAXED);
    }
    return asked;
}

MoteResult stop_watch_result(const StopWatch *watch)
{
    return watch->stopped ? stop_fail() : MOTE_OK;
}

bool stop_asked(void)
{
    return callback != NULL && callback(callback_context);
}

MoteResult stop_check(void)
{
    return stop_asked() ? stop_fail() : MOTE_OK;
}

MoteResult stop_fail(void)
{
    return mote_fail(MOTE_ERROR_STOPPED, "stopped before it was done, as was asked for");
}

bool stop_is_watched(void)
{
    return callback != NULL;
}

MoteStopCallback *stop_hold(void)
{
    MoteStopCallback *before = callback;
    callback = NULL;
    return before;
}

void stop_release(MoteStopCallback *before)
{
    callback = before;
}
