// SPDX-License-Identifier: MIT
// OpenEXR images read by OpenEXRCore's C interface, from memory.
#include "base/error.h"
#include "image/decoders.h"
#include "image/exr_message.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ExrFile {
    const char *name;
    const uint8_t *bytes;
    size_t size;
    exr_context_t context;
    exr_attr_box2i_t window;
    const char *channels[4]; // what goes to Image's channels
    uint32_t channel_count;
} ExrFile;

static int64_t read_bytes(exr_const_context_t context, void *user_data, void *to, uint64_t count, uint64_t offset,
                          exr_stream_error_func_ptr_t report)
{
    (void)context;
    (void)report;
    const ExrFile *file = user_data;
    if (offset >= file->size) {
        return 0;
    }
    const uint64_t available = file->size - offset;
    const uint64_t taken = count < available ? count : available;
    memcpy(to, file->bytes + offset, taken);
    return (int64_t)taken;
}

static int64_t size_in_bytes(exr_const_context_t context, void *user_data)
{
    (void)context;
    return (int64_t)((const ExrFile *)user_data)->size;
}

static const char *name_of_compression(exr_compression_t compression)
{
    static const char *const names[] = {"NONE", "RLE", "ZIPS", "ZIP", "PIZ", "PXR24", "B44", "B44A", "DWAA", "DWAB"};
    return (unsigned)compression < sizeof names / sizeof names[0] ? names[compression] : "unknown";
}

static MoteResult refuse(const ExrFile *file, exr_result_t result)
{
    if (result == EXR_ERR_OUT_OF_MEMORY) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to read an OpenEXR image", file->name);
    }
    exr_compression_t compression;
    if (result == EXR_ERR_FEATURE_NOT_IMPLEMENTED && file->context != NULL &&
        exr_get_compression(file->context, 0, &compression) == EXR_ERR_SUCCESS) {
        return mote_fail(MOTE_ERROR_INPUT,
                         "%s: is an OpenEXR image with %s compression, which this OpenEXRCore library does not decode; "
                         "expected ZIP, PIZ or another that it does",
                         file->name, name_of_compression(compression));
    }
    return mote_fail(MOTE_ERROR_INPUT, "%s: is a damaged OpenEXR image: %s", file->name, first_exr_message(result));
}

// ---- Header ----------------------------------------------------------------------------------------------------

static const exr_attr_chlist_entry_t *find_channel(const exr_attr_chlist_t *list, const char *name)
{
    for (int i = 0; i < list->num_channels; i++) {
        if (strcmp(list->entries[i].name.str, name) == 0) {
            return &list->entries[i];
        }
    }
    return NULL;
}

static MoteResult refuse_channels(const ExrFile *file, const exr_attr_chlist_t *list, const char *expected)
{
    char found[512] = "";
    for (int i = 0; i < list->num_channels; i++) {
        const size_t length = strlen(found);
        snprintf(found + length, sizeof found - length, "%s%s", i > 0 ? ", " : "", list->entries[i].name.str);
    }
    return mote_fail(MOTE_ERROR_INPUT, "%s: has the channels %s, expected %s", file->name,
                     found[0] != '\0' ? found : "(none)", expected);
}

static MoteResult choose_channels(ExrFile *file, const char *const *names, uint32_t count)
{
    const exr_attr_chlist_t *list;
    const exr_result_t result = exr_get_channels(file->context, 0, &list);
    if (result != EXR_ERR_SUCCESS) {
        return refuse(file, result);
    }
    static const char *const colour[] = {"R", "G", "B", "A"};
    static const char *const grey[] = {"Y"};
    if (names == NULL) {
        names = colour;
        count = find_channel(list, "A") != NULL ? 4 : 3;
        if (find_channel(list, "Y") != NULL && find_channel(list, "R") == NULL) {
            if (find_channel(list, "RY") != NULL) {
                return refuse_channels(file, list, "R, G and B (luminance and chroma are not read)");
            }
            names = grey;
            count = 1;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const exr_attr_chlist_entry_t *entry = find_channel(list, names[i]);
        if (entry == NULL) {
            return refuse_channels(file, list, names == colour ? "R, G and B, or Y" : names[i]);
        }
        if (entry->x_sampling != 1 || entry->y_sampling != 1) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: the channel %s has a sample every %d x %d pixels, expected 1 x 1",
                             file->name, names[i], entry->x_sampling, entry->y_sampling);
        }
        file->channels[i] = names[i];
    }
    file->channel_count = count;
    return MOTE_OK;
}

// ---- Pixels ----------------------------------------------------------------------------------------------------

// Decodes one chunk, rows or a tile, to its place in the image.
static exr_result_t decode_chunk(const ExrFile *file, const exr_chunk_info_t *chunk, int64_t x, int64_t y, bool first,
                                 exr_decode_pipeline_t *pipeline, Image *image)
{
    exr_result_t result = first ? exr_decoding_initialize(file->context, 0, chunk, pipeline)
                                : exr_decoding_update(file->context, 0, chunk, pipeline);
    if (result != EXR_ERR_SUCCESS) {
        return result;
    }
    if (x < 0 || y < 0 || chunk->width < 0 || chunk->height < 0 || x + chunk->width > image->width ||
        y + chunk->height > image->height) {
        return EXR_ERR_CORRUPT_CHUNK;
    }
    for (int16_t i = 0; i < pipeline->channel_count; i++) {
        exr_coding_channel_info_t *info = &pipeline->channels[i];
        info->decode_to_ptr = NULL; // not asked for: skipped
        for (uint32_t c = 0; c < file->channel_count; c++) {
            if (strcmp(info->channel_name, file->channels[c]) == 0) {
                float *to = image->pixels + ((size_t)y * image->width + (size_t)x) * image->channels + c;
                info->decode_to_ptr = (uint8_t *)to;
                info->user_data_type = EXR_PIXEL_FLOAT;
                info->user_bytes_per_element = sizeof(float);
                info->user_pixel_stride = (int32_t)(image->channels * sizeof(float));
                info->user_line_stride = (int32_t)(image->width * image->channels * sizeof(float));
            }
        }
    }
    if (first) {
        result = exr_decoding_choose_default_routines(file->context, 0, pipeline);
    }
    return result == EXR_ERR_SUCCESS ? exr_decoding_run(file->context, 0, pipeline) : result;
}

static exr_result_t read_scanlines(const ExrFile *file, exr_decode_pipeline_t *pipeline, Image *image)
{
    int32_t rows;
    exr_result_t result = exr_get_scanlines_per_chunk(file->context, 0, &rows);
    for (int64_t y = 0; y < image->height && result == EXR_ERR_SUCCESS; y += rows) {
        exr_chunk_info_t chunk;
        result = exr_read_scanline_chunk_info(file->context, 0, (int)(file->window.min.y + y), &chunk);
        if (result == EXR_ERR_SUCCESS) {
            result = decode_chunk(file, &chunk, 0, y, y == 0, pipeline, image);
        }
    }
    return result;
}

static exr_result_t read_tiles(const ExrFile *file, exr_decode_pipeline_t *pipeline, Image *image)
{
    int32_t tile_width, tile_height;
    exr_result_t result = exr_get_tile_sizes(file->context, 0, 0, 0, &tile_width, &tile_height);
    if (result == EXR_ERR_SUCCESS && (tile_width <= 0 || tile_height <= 0)) {
        return EXR_ERR_INVALID_ATTR;
    }
    for (int64_t y = 0; y < image->height && result == EXR_ERR_SUCCESS; y += tile_height) {
        for (int64_t x = 0; x < image->width && result == EXR_ERR_SUCCESS; x += tile_width) {
            exr_chunk_info_t chunk;
            result =
                exr_read_tile_chunk_info(file->context, 0, (int)(x / tile_width), (int)(y / tile_height), 0, 0, &chunk);
            if (result == EXR_ERR_SUCCESS) {
                result = decode_chunk(file, &chunk, x, y, x == 0 && y == 0, pipeline, image);
            }
        }
    }
    return result;
}

static MoteResult read_pixels(ExrFile *file, Image *image)
{
    exr_storage_t storage;
    exr_result_t result = exr_get_storage(file->context, 0, &storage);
    if (result != EXR_ERR_SUCCESS) {
        return refuse(file, result);
    }
    if (storage != EXR_STORAGE_SCANLINE && storage != EXR_STORAGE_TILED) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: is a deep OpenEXR image, expected one value a pixel", file->name);
    }
    exr_decode_pipeline_t pipeline = EXR_DECODE_PIPELINE_INITIALIZER;
    result = storage == EXR_STORAGE_TILED ? read_tiles(file, &pipeline, image) : read_scanlines(file, &pipeline, image);
    exr_decoding_destroy(file->context, &pipeline);
    return result == EXR_ERR_SUCCESS ? MOTE_OK : refuse(file, result);
}

static MoteResult read_image(ExrFile *file, const char *const *names, uint32_t count, Image *out)
{
    exr_context_initializer_t settings = EXR_DEFAULT_CONTEXT_INITIALIZER;
    settings.error_handler_fn = keep_exr_message;
    settings.user_data = file;
    settings.read_fn = read_bytes;
    settings.size_fn = size_in_bytes;
    settings.max_image_width = settings.max_image_height = IMAGE_SIDE_LIMIT;
    settings.max_tile_width = settings.max_tile_height = IMAGE_SIDE_LIMIT;
    settings.flags = EXR_CONTEXT_FLAG_DISABLE_CHUNK_RECONSTRUCTION; // a damaged table is an error, not a riddle
    clear_exr_message();
    exr_result_t result = exr_start_read(&file->context, file->name, &settings);
    if (result == EXR_ERR_SUCCESS) {
        result = exr_get_data_window(file->context, 0, &file->window);
    }
    if (result != EXR_ERR_SUCCESS) {
        return refuse(file, result);
    }
    const int64_t width = (int64_t)file->window.max.x - file->window.min.x + 1;
    const int64_t height = (int64_t)file->window.max.y - file->window.min.y + 1;
    MoteResult outcome =
        check_image_size(file->name, width > 0 ? (uint64_t)width : 0, height > 0 ? (uint64_t)height : 0);
    if (outcome == MOTE_OK) {
        outcome = choose_channels(file, names, count);
    }
    if (outcome == MOTE_OK) {
        outcome = image_create(out, (uint32_t)width, (uint32_t)height, file->channel_count);
    }
    if (outcome == MOTE_OK) {
        outcome = read_pixels(file, out);
    }
    if (outcome != MOTE_OK) {
        image_destroy(out);
    }
    return outcome;
}

MoteResult decode_exr(const char *name, const uint8_t *bytes, size_t size, const char *const *channels, uint32_t count,
                      Image *out)
{
    ExrFile file = {.name = name, .bytes = bytes, .size = size};
    const MoteResult result = read_image(&file, channels, count, out);
    if (file.context != NULL) {
        exr_finish(&file.context);
    }
    return result;
}
