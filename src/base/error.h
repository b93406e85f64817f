// SPDX-License-Identifier: MIT
// error.h - the message behind a MoteResult, and assertions for programmer errors.
#ifndef MOTE_BASE_ERROR_H
#define MOTE_BASE_ERROR_H

#include "mote.h"

#ifdef __cplusplus
extern "C" {
#define MOTE_NORETURN [[noreturn]]
#else
#define MOTE_NORETURN _Noreturn
#endif

#if defined(__GNUC__)
#define MOTE_PRINTF(format_argument, first_value) __attribute__((format(printf, format_argument, first_value)))
#else
#define MOTE_PRINTF(format_argument, first_value)
#endif

// Records the sentence for mote_error_message() and returns `result`, so that a function can
// `return mote_fail(MOTE_ERROR_INPUT, "...", ...);`. The text may quote mote_error_message() itself.
MoteResult mote_fail(MoteResult result, const char *format, ...) MOTE_PRINTF(2, 3);

// Kept in every build: a broken invariant stops the program where it is noticed.
#define MOTE_ASSERT(condition) ((condition) ? (void)0 : mote_assert_failed(#condition, __FILE__, __LINE__))
MOTE_NORETURN void mote_assert_failed(const char *condition, const char *file, int line);

#ifdef __cplusplus
}
#endif

#endif
