// SPDX-License-Identifier: MIT
#include "scene/notices.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { NOTICE_LIMIT = 1000, TEXT_LIMIT = 1024 };

void notices_add(Notices *notices, bool warning, double time, const char *format, ...)
{
    if (notices->count == NOTICE_LIMIT) {
        return;
    }
    if (notices->count == notices->capacity) {
        const uint32_t capacity = 2 * notices->capacity + 8;
        MoteNotice *grown = realloc(notices->rows, capacity * sizeof *grown);
        if (grown == NULL) {
            return;
        }
        notices->rows = grown;
        notices->capacity = capacity;
    }
    char *text = malloc(TEXT_LIMIT);
    if (text == NULL) {
        return;
    }
    va_list values;
    va_start(values, format);
    vsnprintf(text, TEXT_LIMIT, format, values);
    va_end(values);
    notices->rows[notices->count++] = (MoteNotice){.warning = warning, .time = time, .text = text};
}

void notices_clear(Notices *notices)
{
    for (uint32_t i = 0; i < notices->count; i++) {
        free((void *)notices->rows[i].text);
    }
    free(notices->rows);
    *notices = (Notices){0};
}
