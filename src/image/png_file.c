// SPDX-License-Identifier: MIT
// PNG by libpng. libpng reports errors by longjmp: whatever must survive one lives in a PngJob, outside the function
// that calls setjmp, so that no local variable is read after the jump and everything is freed in one place.
#include "base/error.h"
#include "base/file.h"
#include "image/decoders.h"
#include <errno.h>
#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

typedef struct PngJob {
    png_structp png;
    png_infop info;
    char message[256]; // libpng's own words
    // writing
    FILE *stream;
    int write_error; // errno, 0: none
    // reading
    const uint8_t *bytes;
    size_t size, offset;
    uint32_t width, height, channels, bits;
    size_t row_bytes;
    uint8_t *rows;
} PngJob;

static void on_error(png_structp png, png_const_charp message)
{
    PngJob *job = png_get_error_ptr(png);
    snprintf(job->message, sizeof job->message, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png; // libpng goes on after these, and so do we
    (void)message;
}

static bool is_little_endian(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

// ---- Writing ---------------------------------------------------------------------------------------------------

typedef struct PngPicture {
    uint32_t width, height, channels, bits;
    const uint8_t *pixels;
    size_t row_bytes;
} PngPicture;

static void write_bytes(png_structp png, png_bytep bytes, size_t count)
{
    PngJob *job = png_get_io_ptr(png);
    errno = 0;
    if (fwrite(bytes, 1, count, job->stream) != count) {
        job->write_error = errno != 0 ? errno : EIO;
        png_error(png, "cannot write");
    }
}

static void flush_bytes(png_structp png)
{
    (void)png; // committing the file flushes it
}

static bool write_picture(PngJob *job, const PngPicture *picture)
{
    static const int colour_types[5] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                        PNG_COLOR_TYPE_RGB_ALPHA};
    if (setjmp(png_jmpbuf(job->png)) != 0) {
        return false;
    }
    png_set_write_fn(job->png, job, write_bytes, flush_bytes);
    png_set_user_limits(job->png, IMAGE_SIDE_LIMIT, IMAGE_SIDE_LIMIT);
    png_set_IHDR(job->png, job->info, picture->width, picture->height, (int)picture->bits,
                 colour_types[picture->channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB_gAMA_and_cHRM(job->png, job->info, PNG_sRGB_INTENT_PERCEPTUAL);
    // On frames with detail level 4 takes half of the default's time for a tenth more bytes.
    png_set_compression_level(job->png, 4);
    png_write_info(job->png, job->info);
    if (picture->bits == 16 && is_little_endian()) {
        png_set_swap(job->png);
    }
    for (uint32_t y = 0; y < picture->height; y++) {
        png_write_row(job->png, picture->pixels + y * picture->row_bytes);
    }
    png_write_end(job->png, NULL);
    return true;
}

static MoteResult write_png(const char *path, const PngPicture *picture)
{
    MOTE_ASSERT(picture->channels >= 1 && picture->channels <= 4 && picture->pixels != NULL);
    MoteResult result = check_image_size(path, picture->width, picture->height);
    if (result != MOTE_OK) {
        return result;
    }
    FileWriter writer;
    result = file_writer_open(&writer, path);
    if (result != MOTE_OK) {
        return result;
    }
    PngJob job = {.stream = writer.stream};
    job.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning);
    job.info = job.png != NULL ? png_create_info_struct(job.png) : NULL;
    if (job.info == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to write a PNG image", path);
    } else if (!write_picture(&job, picture)) {
        result = job.write_error != 0
                     ? mote_fail(MOTE_ERROR_IO, "%s: cannot write: %s", path, strerror(job.write_error))
                     : mote_fail(MOTE_ERROR_IO, "%s: cannot write a PNG image: %s", path, job.message);
    }
    png_destroy_write_struct(&job.png, &job.info);
    if (result != MOTE_OK) {
        file_writer_discard(&writer);
        return result;
    }
    return file_writer_commit(&writer);
}

MoteResult image_write_png8(const char *path, uint32_t width, uint32_t height, uint32_t channels, const uint8_t *pixels,
                            size_t row_bytes)
{
    const PngPicture picture = {width, height, channels,
                                8,     pixels, row_bytes != 0 ? row_bytes : (size_t)width * channels};
    MOTE_ASSERT(picture.row_bytes >= (size_t)width * channels);
    return write_png(path, &picture);
}

MoteResult image_write_png16(const char *path, uint32_t width, uint32_t height, uint32_t channels,
                             const uint16_t *pixels, size_t row_bytes)
{
    const size_t tight = (size_t)width * channels * sizeof(uint16_t);
    const PngPicture picture = {
        width, height, channels, 16, (const uint8_t *)pixels, row_bytes != 0 ? row_bytes : tight};
    MOTE_ASSERT(picture.row_bytes >= tight);
    return write_png(path, &picture);
}

MoteResult image_write_png(const char *path, const Image *image, uint32_t bits)
{
    MOTE_ASSERT(bits == 8 || bits == 16);
    const size_t count = (size_t)image->width * image->height * image->channels;
    uint8_t *bytes = malloc(count * (bits / 8));
    if (bytes == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to write a PNG image", path);
    }
    uint16_t *words = (uint16_t *)bytes;
    for (size_t i = 0; i < count; i++) {
        const float value = fminf(fmaxf(image->pixels[i], 0.0f), 1.0f); // fmaxf gives 0 for what is no number
        if (bits == 8) {
            bytes[i] = (uint8_t)(value * 255.0f + 0.5f);
        } else {
            words[i] = (uint16_t)(value * 65535.0f + 0.5f);
        }
    }
    const MoteResult result = bits == 8
                                  ? image_write_png8(path, image->width, image->height, image->channels, bytes, 0)
                                  : image_write_png16(path, image->width, image->height, image->channels, words, 0);
    free(bytes);
    return result;
}

// ---- Reading ---------------------------------------------------------------------------------------------------

static void read_bytes(png_structp png, png_bytep bytes, size_t count)
{
    PngJob *job = png_get_io_ptr(png);
    if (count > job->size - job->offset) {
        png_error(png, "the file ends too early");
    }
    memcpy(bytes, job->bytes + job->offset, count);
    job->offset += count;
}

// Asks libpng for 8 or 16 bits in 1 to 4 channels, whatever the file has.
static bool read_header(PngJob *job)
{
    if (setjmp(png_jmpbuf(job->png)) != 0) {
        return false;
    }
    png_set_read_fn(job->png, job, read_bytes);
    png_set_user_limits(job->png, IMAGE_SIDE_LIMIT, IMAGE_SIDE_LIMIT);
    png_read_info(job->png, job->info);
    png_set_expand(job->png); // palette to RGB, 1, 2 and 4 bits to 8, a transparent colour to alpha
    if (png_get_bit_depth(job->png, job->info) == 16 && is_little_endian()) {
        png_set_swap(job->png);
    }
    (void)png_set_interlace_handling(job->png);
    png_read_update_info(job->png, job->info);
    job->width = png_get_image_width(job->png, job->info);
    job->height = png_get_image_height(job->png, job->info);
    job->channels = png_get_channels(job->png, job->info);
    job->bits = png_get_bit_depth(job->png, job->info);
    job->row_bytes = png_get_rowbytes(job->png, job->info);
    return true;
}

static bool read_rows(PngJob *job)
{
    if (setjmp(png_jmpbuf(job->png)) != 0) {
        return false;
    }
    const int passes = png_get_interlace_type(job->png, job->info) == PNG_INTERLACE_ADAM7 ? 7 : 1;
    for (int pass = 0; pass < passes; pass++) {
        for (uint32_t y = 0; y < job->height; y++) {
            png_read_row(job->png, job->rows + y * job->row_bytes, NULL);
        }
    }
    png_read_end(job->png, NULL); // a file cut off after its pixels is damaged too
    return true;
}

static void rows_to_floats(const PngJob *job, Image *image)
{
    const size_t row_values = (size_t)job->width * job->channels;
    for (uint32_t y = 0; y < job->height; y++) {
        const uint8_t *bytes = job->rows + y * job->row_bytes;
        const uint16_t *words = (const uint16_t *)bytes; // rows have an even number of bytes then
        float *pixels = image->pixels + y * row_values;
        for (size_t i = 0; i < row_values; i++) {
            pixels[i] = job->bits == 16 ? (float)words[i] / 65535.0f : (float)bytes[i] / 255.0f;
        }
    }
}

static MoteResult read_into(PngJob *job, const char *name, Image *out)
{
    if (!read_header(job)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is a damaged PNG image: %s", name, job->message);
    }
    MoteResult result = check_image_size(name, job->width, job->height);
    if (result != MOTE_OK) {
        return result;
    }
    MOTE_ASSERT((job->bits == 8 || job->bits == 16) && job->channels >= 1 && job->channels <= 4);
    job->rows = calloc(job->height, job->row_bytes);
    if (job->rows == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to read a PNG image of %u x %u pixels", name, job->width,
                         job->height);
    }
    if (!read_rows(job)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is a damaged PNG image: %s", name, job->message);
    }
    result = image_create(out, job->width, job->height, job->channels);
    if (result == MOTE_OK) {
        rows_to_floats(job, out);
    }
    return result;
}

MoteResult decode_png(const char *name, const uint8_t *bytes, size_t size, Image *out)
{
    PngJob job = {.bytes = bytes, .size = size};
    job.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning);
    job.info = job.png != NULL ? png_create_info_struct(job.png) : NULL;
    const MoteResult result = job.info != NULL
                                  ? read_into(&job, name, out)
                                  : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to read a PNG image", name);
    png_destroy_read_struct(&job.png, &job.info, NULL);
    free(job.rows);
    return result;
}
