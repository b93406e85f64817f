// SPDX-License-Identifier: MIT
#include "base/nearest.h"

#include <stddef.h>
#include <string.h>

enum { LENGTH_LIMIT = 64 }; // longer words are not compared

static uint32_t smallest(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

// Edits (insert, delete or replace a letter, swap two neighbours) that turn `a` into `b`, by dynamic programming
// over their beginnings; of the table only the last three rows are kept.
static uint32_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    uint32_t rows[3][LENGTH_LIMIT + 1];
    for (size_t j = 0; j <= b_length; j++) {
        rows[0][j] = (uint32_t)j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        uint32_t *row = rows[i % 3];
        const uint32_t *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = (uint32_t)i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = smallest(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && two_above[j - 2] + 1 < row[j]) {
                row[j] = two_above[j - 2] + 1;
            }
        }
    }
    return rows[a_length % 3][b_length];
}

const char *nearest_word(const char *word, const char *const *words, uint32_t count)
{
    const char *best = NULL;
    const size_t length = strlen(word);
    // With more than half of its letters wrong it is another word, not a misspelling.
    uint32_t best_distance = (uint32_t)length / 2 + 1;
    for (uint32_t i = 0; i < count && length > 0 && length <= LENGTH_LIMIT; i++) {
        const size_t other_length = strlen(words[i]);
        if (other_length > LENGTH_LIMIT) {
            continue;
        }
        // The beginning of a word is near to it however much is missing.
        const uint32_t distance =
            strncmp(words[i], word, length) == 0 ? 1 : edit_distance(word, length, words[i], other_length);
        if (distance < best_distance) {
            best_distance = distance;
            best = words[i];
        }
    }
    return best;
}
