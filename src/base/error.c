// SPDX-License-Identifier: MIT
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_SIZE = 4096 };
static _Thread_local char message[MESSAGE_SIZE];

MoteResult mote_fail(MoteResult result, const char *format, ...)
{
    char text[MESSAGE_SIZE]; // not written in place: an argument may be the last message
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(message, text, sizeof text);
    return result;
}

const char *mote_error_message(void)
{
    return message;
}

void mote_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "mote: broken invariant at %s:%d: %s\n", file, line, condition);
    abort();
}
