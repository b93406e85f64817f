// SPDX-License-Identifier: MIT
#include "image/image.h"

#include "base/error.h"
#include <stdlib.h>

enum { WEIGHT_BITS = 7, WEIGHT_ONE = 1 << WEIGHT_BITS }; // two weights and a byte fit into 22 bits

// Where a pixel of the larger side looks: between pixel `first` and the next one of the smaller side.
typedef struct Interpolation {
    uint32_t first, next;
    uint32_t weight; // of the next, of WEIGHT_ONE
} Interpolation;

static Interpolation interpolation_at(uint32_t at, uint32_t from, uint32_t to)
{
    const double place = ((double)at + 0.5) * (double)from / (double)to - 0.5; // centres over centres
    const double inside = place > 0.0 ? place : 0.0;
    const uint32_t whole = (uint32_t)inside;
    const uint32_t first = whole < from ? whole : from - 1;
    return (Interpolation){first, first + 1 < from ? first + 1 : first,
                           (uint32_t)((inside - (double)first) * WEIGHT_ONE)};
}

MoteResult image_stretch(uint32_t width, uint32_t height, const uint8_t *pixels, uint32_t new_width,
                         uint32_t new_height, uint8_t *out)
{
    Interpolation *columns = malloc(new_width * sizeof *columns);
    uint16_t *row = malloc((size_t)width * 4 * sizeof *row); // two rows of the picture, weighed
    if (columns == NULL || row == NULL) {
        free(columns);
        free(row);
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a picture of %u pixels in a row", new_width);
    }
    for (uint32_t x = 0; x < new_width; x++) {
        columns[x] = interpolation_at(x, width, new_width);
    }
    for (uint32_t y = 0; y < new_height; y++) {
        const Interpolation rows = interpolation_at(y, height, new_height);
        const uint8_t *upper = pixels + (size_t)rows.first * width * 4, *lower = pixels + (size_t)rows.next * width * 4;
        for (size_t i = 0; i < (size_t)width * 4; i++) {
            row[i] = (uint16_t)(upper[i] * (WEIGHT_ONE - rows.weight) + lower[i] * rows.weight);
        }
        uint8_t *to = out + (size_t)y * new_width * 4;
        for (uint32_t x = 0; x < new_width; x++) {
            const uint16_t *left = row + (size_t)columns[x].first * 4, *right = row + (size_t)columns[x].next * 4;
            const uint32_t weight = columns[x].weight;
            for (uint32_t k = 0; k < 4; k++) {
                const uint32_t sum = left[k] * (WEIGHT_ONE - weight) + right[k] * weight;
                to[4 * (size_t)x + k] = (uint8_t)((sum + (1u << (2 * WEIGHT_BITS - 1))) >> (2 * WEIGHT_BITS));
            }
        }
    }
    free(columns);
    free(row);
    return MOTE_OK;
}
