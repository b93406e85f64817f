// SPDX-License-Identifier: MIT
#include "image/picture_file.h"

#include "base/error.h"
#include "image/image.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Files are opaque: alpha is left out, which also makes them smaller.
MoteResult picture_write_png(MoteRenderer *renderer, const char *path, uint32_t width, uint32_t height, bool deep,
                             void *scratch)
{
    const size_t count = (size_t)width * height;
    if (deep) {
        uint16_t *pixels = scratch;
        MoteResult result = mote_renderer_read_rgba16(renderer, pixels);
        for (size_t i = 0; i < count && result == MOTE_OK; i++) {
            memmove(pixels + 3 * i, pixels + 4 * i, 3 * sizeof *pixels);
        }
        return result == MOTE_OK ? image_write_png16(path, width, height, 3, pixels, 0) : result;
    }
    uint8_t *pixels = scratch;
    MoteResult result = mote_renderer_read_rgba8(renderer, pixels);
    for (size_t i = 0; i < count && result == MOTE_OK; i++) {
        memmove(pixels + 3 * i, pixels + 4 * i, 3);
    }
    return result == MOTE_OK ? image_write_png8(path, width, height, 3, pixels, 0) : result;
}

// The renderer's layers under names that compositing programs know; colour in halves, what is measured in full.
static const struct {
    const char *layer;
    uint32_t components;
    const char *channels[4];
    ImageType type;
    bool as_half;
} layers[] = {
    {"color", 4, {"R", "G", "B", "A"}, IMAGE_FLOAT, true},
    {"depth", 1, {"depth.Z"}, IMAGE_FLOAT, false},
    {"normal", 3, {"normal.X", "normal.Y", "normal.Z"}, IMAGE_FLOAT, false},
    {"thickness", 1, {"thickness.Y"}, IMAGE_FLOAT, false},
    {"id", 1, {"id.Y"}, IMAGE_UINT, false},
    {"foam", 2, {"foam.front", "foam.behind"}, IMAGE_FLOAT, false},
    {"smoke", 4, {"smoke.R", "smoke.G", "smoke.B", "smoke.transmittance"}, IMAGE_FLOAT, false},
};

MoteResult picture_write_exr(MoteRenderer *renderer, const char *path, uint32_t width, uint32_t height, uint64_t frame,
                             const char *view, void *scratch)
{
    const size_t count = (size_t)width * height;
    ImageChannel channels[PICTURE_EXR_CHANNELS];
    uint32_t channel_count = 0;
    float *values = scratch;
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        MOTE_ASSERT(channel_count + layers[i].components <= PICTURE_EXR_CHANNELS); // what `scratch` has room for
        const MoteResult result = mote_renderer_read_layer(renderer, layers[i].layer, values);
        if (result != MOTE_OK) {
            return result;
        }
        for (uint32_t c = 0; c < layers[i].components; c++) {
            channels[channel_count++] = (ImageChannel){
                .name = layers[i].channels[c],
                .type = layers[i].type,
                .as_half = layers[i].as_half,
                .data = values + c,
                .pixel_stride = layers[i].components * sizeof *values,
                .row_stride = (size_t)width * layers[i].components * sizeof *values,
            };
        }
        values += count * layers[i].components;
    }
    char number[32];
    snprintf(number, sizeof number, "%" PRIu64, frame);
    const ImageAttribute attributes[] = {
        {"software", "mote"}, {"frame", number}, {"view", view != NULL ? view : mote_render_view_name(0)}};
    return image_write_exr(path, width, height, channels, channel_count, attributes,
                           sizeof attributes / sizeof attributes[0]);
}

bool picture_file_is_exr(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".exr") == 0;
}

MoteResult picture_file_write(MoteRenderer *renderer, const char *path, uint32_t width, uint32_t height, uint64_t frame,
                              const char *view)
{
    const bool exr = picture_file_is_exr(path);
    void *scratch = malloc((size_t)width * height * (exr ? PICTURE_EXR_BYTES : PICTURE_PNG_BYTES));
    if (scratch == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for a picture of %u x %u pixels", path, width, height);
    }
    const MoteResult result = exr ? picture_write_exr(renderer, path, width, height, frame, view, scratch)
                                  : picture_write_png(renderer, path, width, height, false, scratch);
    free(scratch);
    return result;
}
