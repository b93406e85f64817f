// SPDX-License-Identifier: MIT
#include "image/exr_message.h"

#include <stdio.h>

static _Thread_local char first_message[256];

void keep_exr_message(exr_const_context_t context, exr_result_t code, const char *message)
{
    (void)context;
    (void)code;
    if (first_message[0] == '\0') {
        snprintf(first_message, sizeof first_message, "%s", message);
    }
}

void clear_exr_message(void)
{
    first_message[0] = '\0';
}

const char *first_exr_message(exr_result_t code)
{
    return first_message[0] != '\0' ? first_message : exr_get_default_error_message(code);
}
