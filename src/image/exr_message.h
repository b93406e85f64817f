// SPDX-License-Identifier: MIT
// exr_message.h - what OpenEXRCore says when it fails.
#ifndef MOTE_IMAGE_EXR_MESSAGE_H
#define MOTE_IMAGE_EXR_MESSAGE_H

#include <openexr.h>

// The library's error callback. It may be called while the library holds the context's lock, and asking the context for
// its user data would wait for that lock forever: so messages are kept for the thread, not for the context.
void keep_exr_message(exr_const_context_t context, exr_result_t code, const char *message);

void clear_exr_message(void); // before a file is opened

// The first message since then, which is the cause; the library's general one for `code` if there was none.
const char *first_exr_message(exr_result_t code);

#endif
