// SPDX-License-Identifier: MIT
// nearest.h - what a mistyped word was probably meant to be.
#ifndef MOTE_BASE_NEAREST_H
#define MOTE_BASE_NEAREST_H

#include <stdint.h>

// The one of `words` nearest to `word` in spelling, or NULL if none is near.
const char *nearest_word(const char *word, const char *const *words, uint32_t count);

#endif
