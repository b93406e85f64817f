// SPDX-License-Identifier: MIT
// expect.h - what tests ask of results and numbers, with messages that tell both. To be included after cmocka.h.
#ifndef MOTE_TESTS_EXPECT_H
#define MOTE_TESTS_EXPECT_H

#include "mote.h"
#include <math.h>
#include <string.h>

// A result that must be MOTE_OK, with the message where it is not.
static inline void expect_ok(MoteResult result)
{
    if (result != MOTE_OK) {
        fail_msg("%s", mote_error_message());
    }
}

// A message that must hold a text.
static inline void expect_message(const char *text)
{
    if (strstr(mote_error_message(), text) == NULL) {
        fail_msg("expected \"%s\" in the message: %s", text, mote_error_message());
    }
}

// A failure of this kind whose message holds `text`.
static inline void expect_error(MoteResult result, MoteResult expected, const char *text)
{
    if (result != expected || strstr(mote_error_message(), text) == NULL) {
        fail_msg("expected result %d with \"%s\", found %d with \"%s\"", expected, text, result,
                 result == MOTE_OK ? "" : mote_error_message());
    }
}

static inline void expect_near(double found, double expected, double tolerance, const char *what)
{
    if (!(fabs(found - expected) <= tolerance)) {
        fail_msg("%s is %.9g, expected %.9g within %.3g", what, found, expected, tolerance);
    }
}

#endif
