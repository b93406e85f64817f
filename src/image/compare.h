// SPDX-License-Identifier: MIT
// compare.h - how different two images look, for golden images.
//
// Both images have the same size and hold display-referred colours (sRGB, 0..1), as PNG files and screens do. Values
// outside are clamped, what is no number counts as 0, alpha is left out.
#ifndef MOTE_IMAGE_COMPARE_H
#define MOTE_IMAGE_COMPARE_H

#include "image/image.h"

// Pixels that one degree of the visual field covers: a 0.7 m wide screen of 3840 pixels seen from 0.7 m, which is the
// FLIP paper's choice, too.
#define COMPARE_PIXELS_PER_DEGREE 67.0f

typedef struct ImageDifference {
    float mean, max; // 0: the same to the eye, 1: the largest difference there is
} ImageDifference;

// LDR-FLIP: Andersson, Nilsson, Akenine-Moller, Oskarsson, Astrom, Fairchild, "FLIP: A Difference Evaluator for
// Alternating Images", HPG 2020. Symmetric in its images. `map` may be NULL; otherwise it becomes an image of one
// channel with each pixel's difference, to be destroyed by the caller.
MoteResult image_flip(const Image *reference, const Image *test, ImageDifference *out, Image *map);

// The mean structural similarity of the luma: Wang, Bovik, Sheikh, Simoncelli, "Image Quality Assessment: From Error
// Visibility to Structural Similarity", 2004, with its Gaussian window of 11 pixels. 1: identical; may be negative.
MoteResult image_ssim(const Image *reference, const Image *test, float *similarity);

#endif
