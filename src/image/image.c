// SPDX-License-Identifier: MIT
#include "image/image.h"

#include "base/error.h"
#include "base/file.h"
#include "image/decoders.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MoteResult image_create(Image *out, uint32_t width, uint32_t height, uint32_t channels)
{
    *out = (Image){0};
    MOTE_ASSERT(channels >= 1 && channels <= 4);
    const MoteResult result = check_image_size("an image", width, height);
    if (result != MOTE_OK) {
        return result;
    }
    float *pixels = calloc((size_t)width * height, channels * sizeof(float));
    if (pixels == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for an image of %u x %u pixels with %u channels", width, height,
                         channels);
    }
    *out = (Image){.width = width, .height = height, .channels = channels, .pixels = pixels};
    return MOTE_OK;
}

void image_destroy(Image *image)
{
    free(image->pixels);
    *image = (Image){0};
}

void image_pixel(const Image *image, uint32_t x, uint32_t y, float rgba[4])
{
    MOTE_ASSERT(x < image->width && y < image->height);
    const float *pixel = image->pixels + ((size_t)y * image->width + x) * image->channels;
    const bool coloured = image->channels >= 3;
    const bool has_alpha = image->channels == 2 || image->channels == 4;
    rgba[0] = pixel[0];
    rgba[1] = coloured ? pixel[1] : pixel[0];
    rgba[2] = coloured ? pixel[2] : pixel[0];
    rgba[3] = has_alpha ? pixel[image->channels - 1] : 1.0f;
}

MoteResult check_image_size(const char *name, uint64_t width, uint64_t height)
{
    if (width == 0 || height == 0) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: has %llu x %llu pixels, expected at least one", name,
                         (unsigned long long)width, (unsigned long long)height);
    }
    if (width > IMAGE_SIDE_LIMIT || height > IMAGE_SIDE_LIMIT || width * height > IMAGE_PIXEL_LIMIT) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: has %llu x %llu pixels, expected at most %d on a side and %d in all",
                         name, (unsigned long long)width, (unsigned long long)height, IMAGE_SIDE_LIMIT,
                         IMAGE_PIXEL_LIMIT);
    }
    return MOTE_OK;
}

// ---- Which format? ---------------------------------------------------------------------------------------------

static bool starts_with(const uint8_t *bytes, size_t size, const char *magic, size_t length)
{
    return size >= length && memcmp(bytes, magic, length) == 0;
}

// What the first bytes say of files that are often taken for one of ours.
static const char *name_of_foreign_format(const uint8_t *bytes, size_t size)
{
    static const struct {
        const char *magic;
        size_t length;
        const char *name;
    } formats[] = {
        {"\xff\xd8\xff", 3, "a JPEG image"}, {"GIF8", 4, "a GIF image"},        {"BM", 2, "a BMP image"},
        {"II*\0", 4, "a TIFF image"},        {"MM\0*", 4, "a TIFF image"},      {"RIFF", 4, "a RIFF file (WebP?)"},
        {"DDS ", 4, "a DDS texture"},        {"\xabKTX ", 5, "a KTX texture"},  {"PF\n", 3, "a PFM image"},
        {"Pf\n", 3, "a PFM image"},          {"P6", 2, "a PPM image"},          {"P5", 2, "a PGM image"},
        {"8BPS", 4, "a Photoshop image"},    {"%PDF", 4, "a PDF document"},     {"<svg", 4, "an SVG drawing"},
        {"<?xml", 5, "an XML document"},     {"\x89MOTE", 5, "a state of Mote"}};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (starts_with(bytes, size, formats[i].magic, formats[i].length)) {
            return formats[i].name;
        }
    }
    return NULL;
}

static MoteResult refuse_unknown_format(const char *name, const uint8_t *bytes, size_t size)
{
    static const char expected[] = "expected a PNG, OpenEXR or Radiance HDR image";
    const char *foreign = name_of_foreign_format(bytes, size);
    if (size == 0) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is empty, %s", name, expected);
    }
    if (foreign != NULL) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is %s, %s", name, foreign, expected);
    }
    char found[32] = "";
    for (size_t i = 0; i < size && i < 8; i++) {
        snprintf(found + 3 * i, sizeof found - 3 * i, "%02x ", bytes[i]);
    }
    return mote_fail(MOTE_ERROR_INPUT, "%s: begins with the bytes %s(of no known image format), %s", name, found,
                     expected);
}

static bool is_exr(const uint8_t *bytes, size_t size)
{
    return starts_with(bytes, size, "\x76\x2f\x31\x01", 4);
}

MoteResult image_decode(const char *name, const void *bytes, size_t size, Image *out)
{
    *out = (Image){0};
    if (starts_with(bytes, size, "\x89PNG\r\n\x1a\n", 8)) {
        return decode_png(name, bytes, size, out);
    }
    if (is_exr(bytes, size)) {
        return decode_exr(name, bytes, size, NULL, 0, out);
    }
    if (starts_with(bytes, size, "#?", 2)) {
        return decode_hdr(name, bytes, size, out);
    }
    return refuse_unknown_format(name, bytes, size);
}

MoteResult image_read(const char *path, Image *out)
{
    *out = (Image){0};
    char *bytes;
    size_t size;
    MoteResult result = file_read(path, IMAGE_FILE_LIMIT, &bytes, &size);
    if (result == MOTE_OK) {
        result = image_decode(path, bytes, size, out);
        free(bytes);
    }
    return result;
}

MoteResult image_read_exr_channels(const char *path, const char *const *names, uint32_t count, Image *out)
{
    *out = (Image){0};
    MOTE_ASSERT(count >= 1 && count <= 4);
    char *bytes;
    size_t size;
    MoteResult result = file_read(path, IMAGE_FILE_LIMIT, &bytes, &size);
    if (result != MOTE_OK) {
        return result;
    }
    if (is_exr((const uint8_t *)bytes, size)) {
        result = decode_exr(path, (const uint8_t *)bytes, size, names, count, out);
    } else {
        result = mote_fail(MOTE_ERROR_INPUT, "%s: is not an OpenEXR image", path);
    }
    free(bytes);
    return result;
}
