// SPDX-License-Identifier: MIT
// image.h - pictures in memory and in files: PNG, OpenEXR and Radiance HDR.
//
// Files are written whole or not at all (base/file.h). Every function that fails leaves a sentence with the path.
#ifndef MOTE_IMAGE_IMAGE_H
#define MOTE_IMAGE_IMAGE_H

#include "mote.h"
#include <stddef.h>

// Interleaved floats, row 0 on top, no padding: pixels[(y * width + x) * channels + c].
// 1 channel is grey, 2 grey and alpha, 3 RGB, 4 RGBA. From PNG the values are display-referred (sRGB-encoded) and
// lie in 0..1; from OpenEXR and Radiance they are linear and have no upper bound.
typedef struct Image {
    uint32_t width, height, channels;
    float *pixels;
} Image;

// All zero. On failure *out is empty, and destroying an empty image does nothing.
MoteResult image_create(Image *out, uint32_t width, uint32_t height, uint32_t channels);
void image_destroy(Image *image);

// One pixel as RGBA: grey fills all three colours, a missing alpha is 1.
void image_pixel(const Image *image, uint32_t x, uint32_t y, float rgba[4]);

// RGBA bytes, rows without gaps, in another size: each pixel lies between the four around its centre, as a texture's
// would. For larger sizes; smaller ones would leave pixels out. stretch.c
MoteResult image_stretch(uint32_t width, uint32_t height, const uint8_t *pixels, uint32_t new_width,
                         uint32_t new_height, uint8_t *out);

// ---- Reading ---------------------------------------------------------------------------------------------------
// The kind of file is told by its first bytes, not by its name.
//   PNG       8 or 16 bit grey, RGB, RGBA or palette, interlaced or not; channels as in the file.
//   OpenEXR   the first part's R, G, B and A, or its Y as grey; scanlines or tiles (full size level), the pixels of the
//             data window. Compressions are those that the OpenEXRCore library decodes.
//   Radiance  RGBE pixels, flat or run-length coded either way, any orientation; divided by EXPOSURE as the format
//             asks, so that values are radiances.
MoteResult image_read(const char *path, Image *out);

// The same from memory; `name` stands for the file in messages.
MoteResult image_decode(const char *name, const void *bytes, size_t size, Image *out);

// Any channels of an OpenEXR file by name, such as "depth.Z", interleaved in the order given (1 to 4 of them).
// Whole numbers above 2^24 lose digits as floats.
MoteResult image_read_exr_channels(const char *path, const char *const *names, uint32_t count, Image *out);

// ---- PNG -------------------------------------------------------------------------------------------------------
// Rows of 8 or 16 bit values, 1 to 4 channels, marked as sRGB. `row_bytes` leads from one row to the next; 0 means rows
// without gaps.
MoteResult image_write_png8(const char *path, uint32_t width, uint32_t height, uint32_t channels, const uint8_t *pixels,
                            size_t row_bytes);
MoteResult image_write_png16(const char *path, uint32_t width, uint32_t height, uint32_t channels,
                             const uint16_t *pixels, size_t row_bytes);

// Floats 0..1 rounded to 8 or 16 bits; what lies outside is clamped, what is no number becomes 0.
MoteResult image_write_png(const char *path, const Image *image, uint32_t bits);

// ---- OpenEXR ---------------------------------------------------------------------------------------------------
typedef enum ImageType { IMAGE_UINT, IMAGE_HALF, IMAGE_FLOAT } ImageType; // 32 bit unsigned, 16 and 32 bit float

// A named plane of values. A layer is a common prefix with a dot: "normal.X", "normal.Y", "normal.Z"; the colour has
// none: "R", "G", "B", "A".
typedef struct ImageChannel {
    const char *name;
    ImageType type; // of `data`
    bool as_half;   // IMAGE_FLOAT only: rounded to halves in the file, beyond 65504 to the largest finite half
    const void *data;
    size_t pixel_stride, row_stride; // bytes; 0: values, or rows, without gaps
} ImageChannel;

typedef struct ImageAttribute {
    const char *name, *value; // stored as an attribute of type string
} ImageAttribute;

// One part, scanlines, ZIP compression (lossless), channels in alphabetical order whatever their order here.
// Names of channels must differ; `attributes` may be NULL when there are none.
MoteResult image_write_exr(const char *path, uint32_t width, uint32_t height, const ImageChannel *channels,
                           uint32_t channel_count, const ImageAttribute *attributes, uint32_t attribute_count);

#endif
