// SPDX-License-Identifier: MIT
// decoders.h - one function a file format, from bytes in memory; image.c chooses among them.
#ifndef MOTE_IMAGE_DECODERS_H
#define MOTE_IMAGE_DECODERS_H

#include "image/image.h"

// Damaged files must not ask for absurd amounts of memory: 2^28 pixels are a panorama of 23170 x 11585.
enum { IMAGE_SIDE_LIMIT = 1 << 16, IMAGE_PIXEL_LIMIT = 1 << 28 };
#define IMAGE_FILE_LIMIT ((size_t)0xffffffffu) // bytes

// Refuses an empty image and one beyond the limits above.
MoteResult check_image_size(const char *name, uint64_t width, uint64_t height);

MoteResult decode_png(const char *name, const uint8_t *bytes, size_t size, Image *out);
MoteResult decode_hdr(const char *name, const uint8_t *bytes, size_t size, Image *out);

// Without names: R, G, B and perhaps A, or Y.
MoteResult decode_exr(const char *name, const uint8_t *bytes, size_t size, const char *const *channels, uint32_t count,
                      Image *out);

#endif
