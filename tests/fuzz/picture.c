// SPDX-License-Identifier: MIT
// picture.c - picture files from memory. The targets png, hdr and exr are this file, each with a corpus of its own: the
// format is told by the first bytes.
#include "fuzz.h"
#include "image/image.h"

bool fuzz_target(const uint8_t *data, size_t size)
{
    Image image;
    const MoteResult result = image_decode("input", data, size, &image);
    float sum = 0.0f;
    for (uint32_t y = 0; result == MOTE_OK && y < image.height; y++) {
        for (uint32_t x = 0; x < image.width; x++) {
            float rgba[4];
            image_pixel(&image, x, y, rgba);
            sum += rgba[0] + rgba[3];
        }
    }
    volatile float seen = sum; // so that every pixel is read
    (void)seen;
    image_destroy(&image);
    return result == MOTE_OK;
}
