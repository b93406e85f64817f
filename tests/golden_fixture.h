// SPDX-License-Identifier: MIT
// golden_fixture.h - comparing a picture with one that was looked at and kept in tests/golden.
#ifndef MOTE_TESTS_GOLDEN_FIXTURE_H
#define MOTE_TESTS_GOLDEN_FIXTURE_H

#include "render_fixture.h"

#include "image/compare.h"
#include "image/image.h"

// FLIP. Mesa's software driver drew the same bits in versions 22.3 and 25.0, but for a few pixels at the outlines of
// bodies: at most 0.00013 in the mean, 0.193 in one of them.
static const double MEAN_LIMIT = 0.001, LARGEST_LIMIT = 0.25;

// The last picture; image_destroy() it.
static inline Image read_image(MoteRenderer *renderer, uint32_t width, uint32_t height)
{
    const size_t count = (size_t)width * height;
    uint8_t *pixels = malloc(count * 4);
    MUST(mote_renderer_read_rgba8(renderer, pixels));
    Image image;
    MUST(image_create(&image, width, height, 3));
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < 3; k++) {
            image.pixels[3 * i + k] = (float)pixels[4 * i + k] / 255.0f;
        }
    }
    free(pixels);
    return image;
}

// True if `image` is what the golden picture shows; else both stay in the build folder.
static inline bool looks_right(const Image *image, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/golden/%s.png", MOTE_SOURCE_DIR, name);
    const char *mode = getenv("MOTE_GOLDEN");
    if (mode != NULL && strcmp(mode, "write") == 0) {
        MUST(image_write_png(path, image, 8));
        return true;
    }
    Image expected, map = {0};
    MUST(image_read(path, &expected));
    ImageDifference difference;
    MUST(image_flip(&expected, image, &difference, &map));
    printf("%-28s FLIP mean %.5f, largest %.3f\n", name, difference.mean, difference.max);
    const bool right = difference.mean < MEAN_LIMIT && difference.max < LARGEST_LIMIT;
    if (!right) {
        snprintf(path, sizeof path, "%s/golden_%s_found.png", MOTE_BINARY_DIR, name);
        MUST(image_write_png(path, image, 8));
        snprintf(path, sizeof path, "%s/golden_%s_difference.png", MOTE_BINARY_DIR, name);
        MUST(image_write_png(path, &map, 8));
    }
    image_destroy(&map);
    image_destroy(&expected);
    return right;
}

#endif
