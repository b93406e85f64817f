// SPDX-License-Identifier: MIT
// Radiance pictures: a header of text lines, then scanlines of RGBE pixels, flat or run-length coded.
// Format: Greg Ward, "Real Pixels" (Graphics Gems II, 1991), and the file formats chapter of the Radiance manual.
#include "base/error.h"
#include "image/decoders.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct HdrFile {
    const char *name;
    const uint8_t *bytes;
    size_t size, offset;
    double exposure;
    bool rows_first;                // scanlines run along x, as in nearly every file
    bool x_increases, y_decreases;  // both true: left to right, top to bottom
    uint32_t width, height, length; // length: pixels of a scanline
} HdrFile;

static MoteResult refuse(const HdrFile *file, const char *what)
{
    return mote_fail(MOTE_ERROR_INPUT, "%s: is a damaged Radiance image: %s", file->name, what);
}

// ---- Header ----------------------------------------------------------------------------------------------------

// The next line without its end; false at the end of the file or if the line is too long to be one.
static bool next_line(HdrFile *file, char *line, size_t capacity)
{
    size_t length = 0;
    while (file->offset < file->size) {
        const char c = (char)file->bytes[file->offset++];
        if (c == '\n') {
            line[length] = '\0';
            return true;
        }
        if (length + 1 == capacity) {
            return false;
        }
        line[length++] = c;
    }
    return false;
}

static MoteResult read_variables(HdrFile *file)
{
    char line[2048];
    bool first = true;
    while (next_line(file, line, sizeof line)) {
        if (line[0] == '\0') {
            return first ? refuse(file, "its header is empty") : MOTE_OK;
        }
        first = false;
        if (strncmp(line, "FORMAT=", 7) == 0 && strcmp(line + 7, "32-bit_rle_rgbe") != 0) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "%s: is a Radiance image of the format \"%.60s\", expected "
                             "\"32-bit_rle_rgbe\"",
                             file->name, line + 7);
        }
        if (strncmp(line, "EXPOSURE=", 9) == 0) { // there may be several: they multiply
            char *end;
            const double exposure = strtod(line + 9, &end);
            file->exposure *= exposure;
            if (end == line + 9 || !(file->exposure > 1e-20 && file->exposure < 1e20)) {
                return mote_fail(MOTE_ERROR_INPUT,
                                 "%s: has the exposure \"%.60s\", expected a positive number that "
                                 "leaves pixels in the range of floats",
                                 file->name, line + 9);
            }
        }
    }
    return refuse(file, "its header has no end");
}

// Digits only: strtoul would take signs and blanks.
static bool read_size(const char **text, uint32_t *size)
{
    uint64_t value = 0;
    const char *start = *text;
    while (**text >= '0' && **text <= '9' && value <= UINT32_MAX) {
        value = 10 * value + (uint64_t)(*(*text)++ - '0');
    }
    *size = (uint32_t)value;
    return *text > start && value <= UINT32_MAX;
}

// "-Y 512 +X 1024": 512 scanlines from top to bottom, each of 1024 pixels from left to right. y points upwards.
static MoteResult read_resolution(HdrFile *file)
{
    char line[128];
    if (!next_line(file, line, sizeof line)) {
        return refuse(file, "it has no resolution");
    }
    const char *text = line;
    char signs[2], axes[2];
    uint32_t sizes[2];
    bool good = true;
    for (int i = 0; i < 2 && good; i++) {
        signs[i] = text[0];
        axes[i] = signs[i] != '\0' ? text[1] : '\0';
        good = (signs[i] == '+' || signs[i] == '-') && (axes[i] == 'X' || axes[i] == 'Y') && text[2] == ' ';
        text += good ? 3 : 0;
        good = good && read_size(&text, &sizes[i]) && *text == (i == 0 ? ' ' : '\0');
        text += good && i == 0 ? 1 : 0;
    }
    if (!good || axes[0] == axes[1]) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: has the resolution \"%.60s\", expected one like \"-Y 512 +X 1024\"",
                         file->name, line);
    }
    const int x = axes[0] == 'X' ? 0 : 1;
    file->rows_first = x == 1;
    file->x_increases = signs[x] == '+';
    file->y_decreases = signs[1 - x] == '-';
    file->width = sizes[x];
    file->height = sizes[1 - x];
    file->length = sizes[1];
    return check_image_size(file->name, file->width, file->height);
}

// ---- Scanlines -------------------------------------------------------------------------------------------------

// The four components one after the other, each as runs (128 + n, value) and literals (n, n values).
static MoteResult read_component_runs(HdrFile *file, uint8_t *scanline)
{
    for (uint32_t component = 0; component < 4; component++) {
        uint32_t filled = 0;
        while (filled < file->length) {
            if (file->size - file->offset < 2) {
                return refuse(file, "it ends too early");
            }
            const uint32_t code = file->bytes[file->offset++];
            const bool run = code > 128;
            const uint32_t count = run ? code - 128 : code;
            if (count == 0 || count > file->length - filled) {
                return refuse(file, "a run is longer than its scanline, or empty");
            }
            if (!run && file->size - file->offset < count) {
                return refuse(file, "it ends too early");
            }
            for (uint32_t i = 0; i < count; i++) {
                scanline[4 * (filled + i) + component] = file->bytes[file->offset + (run ? 0 : i)];
            }
            file->offset += run ? 1 : count;
            filled += count;
        }
    }
    return MOTE_OK;
}

// Pixel after pixel. The older run-length coding: (1, 1, 1, n) repeats the last pixel n times; such marks in a row are
// the digits of one number in base 256, the lowest first.
static MoteResult read_pixels(HdrFile *file, uint8_t *scanline)
{
    uint32_t filled = 0, shift = 0;
    while (filled < file->length) {
        if (file->size - file->offset < 4) {
            return refuse(file, "it ends too early");
        }
        const uint8_t *pixel = file->bytes + file->offset;
        file->offset += 4;
        if (pixel[0] != 1 || pixel[1] != 1 || pixel[2] != 1) {
            memcpy(scanline + 4 * filled++, pixel, 4);
            shift = 0;
            continue;
        }
        const uint64_t count = shift < 32 ? (uint64_t)pixel[3] << shift : UINT64_MAX;
        if (filled == 0 || count > file->length - filled) {
            return refuse(file, "a run is longer than its scanline, or repeats nothing");
        }
        for (uint64_t i = 0; i < count; i++, filled++) {
            memcpy(scanline + 4 * filled, scanline + 4 * (filled - 1), 4);
        }
        shift += 8;
    }
    return MOTE_OK;
}

static MoteResult read_scanline(HdrFile *file, uint8_t *scanline)
{
    // Scanlines of other lengths cannot be coded by component; a flat pixel never begins with 2, 2 and a third byte
    // under 128, because the largest mantissa is at least 128.
    const uint8_t *mark = file->bytes + file->offset;
    if (file->length < 8 || file->length > 0x7fff || file->size - file->offset < 4 || mark[0] != 2 || mark[1] != 2 ||
        mark[2] > 127) {
        return read_pixels(file, scanline);
    }
    if (((uint32_t)mark[2] << 8 | mark[3]) != file->length) {
        return refuse(file, "a scanline's length is not the image's");
    }
    file->offset += 4;
    return read_component_runs(file, scanline);
}

// The value is mantissa * 2^(exponent - 128 - 8). Radiance itself adds half a step to the mantissa; other readers do
// not, and black stays black without it.
static void store_scanline(const HdrFile *file, const uint8_t *scanline, uint32_t index, const float scales[256],
                           Image *image)
{
    for (uint32_t i = 0; i < file->length; i++) {
        uint32_t x = file->rows_first ? i : index;
        uint32_t y = file->rows_first ? index : i;
        x = file->x_increases ? x : file->width - 1 - x;
        y = file->y_decreases ? y : file->height - 1 - y;
        float *pixel = image->pixels + 3 * ((size_t)y * file->width + x);
        const float scale = scales[scanline[4 * i + 3]];
        for (uint32_t c = 0; c < 3; c++) {
            pixel[c] = (float)scanline[4 * i + c] * scale;
        }
    }
}

static MoteResult read_scanlines(HdrFile *file, Image *image)
{
    float scales[256] = {0.0f}; // exponent 0 means black
    for (int exponent = 1; exponent < 256; exponent++) {
        scales[exponent] = (float)(ldexp(1.0, exponent - 136) / file->exposure);
    }
    uint8_t *scanline = malloc(4 * (size_t)file->length);
    if (scanline == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to read a Radiance image", file->name);
    }
    MoteResult result = MOTE_OK;
    const uint32_t count = file->rows_first ? file->height : file->width;
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        result = read_scanline(file, scanline);
        if (result == MOTE_OK) {
            store_scanline(file, scanline, i, scales, image);
        }
    }
    free(scanline);
    return result;
}

MoteResult decode_hdr(const char *name, const uint8_t *bytes, size_t size, Image *out)
{
    HdrFile file = {.name = name, .bytes = bytes, .size = size, .exposure = 1.0};
    MoteResult result = read_variables(&file);
    if (result == MOTE_OK) {
        result = read_resolution(&file);
    }
    if (result == MOTE_OK) {
        result = image_create(out, file.width, file.height, 3);
    }
    if (result == MOTE_OK) {
        result = read_scanlines(&file, out);
    }
    if (result != MOTE_OK) {
        image_destroy(out);
    }
    return result;
}
