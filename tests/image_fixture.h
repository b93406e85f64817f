// SPDX-License-Identifier: MIT
// image_fixture.h - what the tests of image files share: patterns, damaged files, disks that are full.
#ifndef MOTE_TESTS_IMAGE_FIXTURE_H
#define MOTE_TESTS_IMAGE_FIXTURE_H

#include "simulation_fixture.h"

#include "image/image.h"
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

// A small generator, so that tests repeat: the numerical recipes' linear congruence, its high bits.
static inline uint32_t fixture_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

// The file cut off at many lengths: each must be refused. `stride` 1 tries every length.
static inline void expect_no_truncation_passes(const uint8_t *bytes, size_t size, size_t stride)
{
    for (size_t length = 0; length < size; length += stride) {
        uint8_t *cut = malloc(length > 0 ? length : 1); // its own block: reading beyond it is seen by the sanitizer
        assert_non_null(cut);
        memcpy(cut, bytes, length);
        Image image;
        const MoteResult result = image_decode("cut", cut, length, &image);
        if (result == MOTE_OK) {
            image_destroy(&image);
            free(cut);
            fail_msg("the first %zu of %zu bytes were taken for a whole image", length, size);
        }
        assert_null(image.pixels);
        expect_message("cut");
        free(cut);
    }
}

// One to four bytes changed at random places: read or refused, never a crash or an absurd image.
static inline uint32_t decode_mutations(const uint8_t *bytes, size_t size, uint32_t count)
{
    uint32_t seed = 12345, refused = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *mutated = malloc(size);
        assert_non_null(mutated);
        memcpy(mutated, bytes, size);
        for (uint32_t k = 0; k <= i % 4; k++) {
            // Every other change falls into the first bytes, where the header is.
            const size_t range = k % 2 == 0 || size < 256 ? size : 256;
            mutated[fixture_random(&seed) % range] = (uint8_t)fixture_random(&seed);
        }
        Image image;
        if (image_decode("mutated", mutated, size, &image) == MOTE_OK) {
            assert_true(image.width > 0 && image.height > 0 && image.pixels != NULL);
            image_destroy(&image);
        } else {
            assert_null(image.pixels);
            refused++;
        }
        free(mutated);
    }
    return refused;
}

// From here on a file may not grow beyond `bytes`; RLIM_INFINITY takes the limit away.
static inline void fixture_limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, bytes == RLIM_INFINITY ? SIG_DFL : SIG_IGN);
}

// Nobody may write into the folder while this is set; root gives up its rights for the while.
static inline void fixture_lock_folder(bool locked)
{
    if (locked) {
        assert_int_equal(chmod(fixture_folder, 0555), 0);
    }
    if (getuid() == 0) {
        assert_int_equal(seteuid(locked ? 65534 : 0), 0);
    }
    if (!locked) {
        assert_int_equal(chmod(fixture_folder, 0700), 0);
    }
}

#endif
