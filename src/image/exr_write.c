// SPDX-License-Identifier: MIT
// OpenEXR files by OpenEXRCore's C interface, written through FileWriter's stream.
#define _POSIX_C_SOURCE 200809L // fseeko
#include "base/error.h"
#include "base/file.h"
#include "image/decoders.h"
#include "image/exr_message.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float LARGEST_HALF = 65504.0f;

typedef struct ExrJob {
    const char *path;
    FileWriter writer;
    exr_context_t context;
    int write_error; // errno, 0: none
    uint32_t width, height, channel_count;
    const ImageChannel *channels;
    float *clamped; // room for the rows of one chunk of every channel that becomes halves
    int32_t chunk_rows;
} ExrJob;

static int64_t write_bytes(exr_const_context_t context, void *user_data, const void *bytes, uint64_t count,
                           uint64_t offset, exr_stream_error_func_ptr_t report)
{
    ExrJob *job = user_data;
    errno = 0;
    if (fseeko(job->writer.stream, (off_t)offset, SEEK_SET) != 0 ||
        fwrite(bytes, 1, count, job->writer.stream) != count) {
        job->write_error = errno != 0 ? errno : EIO;
        report(context, EXR_ERR_WRITE_IO, "%s", strerror(job->write_error));
        return -1;
    }
    return (int64_t)count;
}

// ---- Header ----------------------------------------------------------------------------------------------------

static exr_pixel_type_t stored_type(const ImageChannel *channel)
{
    switch (channel->type) {
    case IMAGE_UINT:
        return EXR_PIXEL_UINT;
    case IMAGE_HALF:
        return EXR_PIXEL_HALF;
    case IMAGE_FLOAT:
        break;
    }
    return channel->as_half ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT;
}

static size_t bytes_of(ImageType type)
{
    return type == IMAGE_HALF ? 2 : 4;
}

static exr_result_t write_header(ExrJob *job, const ImageAttribute *attributes, uint32_t attribute_count)
{
    int part;
    exr_result_t result = exr_set_longname_support(job->context, 1);
    if (result == EXR_ERR_SUCCESS) {
        result = exr_add_part(job->context, NULL, EXR_STORAGE_SCANLINE, &part);
    }
    if (result == EXR_ERR_SUCCESS) {
        result = exr_initialize_required_attr_simple(job->context, part, (int32_t)job->width, (int32_t)job->height,
                                                     EXR_COMPRESSION_ZIP);
    }
    for (uint32_t i = 0; i < job->channel_count && result == EXR_ERR_SUCCESS; i++) {
        // The library keeps them in alphabetical order, as the format wants.
        result = exr_add_channel(job->context, part, job->channels[i].name, stored_type(&job->channels[i]),
                                 EXR_PERCEPTUALLY_LOGARITHMIC, 1, 1);
    }
    for (uint32_t i = 0; i < attribute_count && result == EXR_ERR_SUCCESS; i++) {
        result = exr_attr_set_string(job->context, part, attributes[i].name, attributes[i].value);
    }
    if (result == EXR_ERR_SUCCESS) {
        result = exr_write_header(job->context);
    }
    return result;
}

// ---- Pixels ----------------------------------------------------------------------------------------------------

static const ImageChannel *find_channel(const ExrJob *job, const char *name)
{
    for (uint32_t i = 0; i < job->channel_count; i++) {
        if (strcmp(job->channels[i].name, name) == 0) {
            return &job->channels[i];
        }
    }
    return NULL;
}

// A bright sun must not become an infinity: that would spoil every blur and average after it.
static const float *clamp_rows(ExrJob *job, uint32_t slot, const uint8_t *from, size_t pixel_stride, size_t row_stride,
                               int32_t rows)
{
    float *to = job->clamped + (size_t)slot * job->width * (size_t)job->chunk_rows;
    for (int32_t y = 0; y < rows; y++) {
        for (uint32_t x = 0; x < job->width; x++) {
            float value;
            memcpy(&value, from + (size_t)y * row_stride + x * pixel_stride, sizeof value);
            if (value > LARGEST_HALF || value < -LARGEST_HALF) { // leaves alone what is no number
                value = copysignf(LARGEST_HALF, value);
            }
            to[(size_t)y * job->width + x] = value;
        }
    }
    return to;
}

static void point_channels_at_rows(ExrJob *job, exr_encode_pipeline_t *pipeline, uint32_t first_row)
{
    uint32_t slot = 0;
    for (int16_t i = 0; i < pipeline->channel_count; i++) {
        exr_coding_channel_info_t *info = &pipeline->channels[i];
        const ImageChannel *channel = find_channel(job, info->channel_name);
        MOTE_ASSERT(channel != NULL);
        const size_t size = bytes_of(channel->type);
        size_t pixel_stride = channel->pixel_stride != 0 ? channel->pixel_stride : size;
        size_t row_stride = channel->row_stride != 0 ? channel->row_stride : pixel_stride * job->width;
        const uint8_t *from = (const uint8_t *)channel->data + first_row * row_stride;
        if (channel->type == IMAGE_FLOAT && channel->as_half) {
            from = (const uint8_t *)clamp_rows(job, slot++, from, pixel_stride, row_stride, info->height);
            pixel_stride = sizeof(float);
            row_stride = job->width * sizeof(float);
        }
        MOTE_ASSERT(pixel_stride <= INT32_MAX && row_stride <= INT32_MAX);
        info->user_data_type = channel->type == IMAGE_FLOAT ? EXR_PIXEL_FLOAT : info->data_type;
        info->user_bytes_per_element = (int16_t)size;
        info->user_pixel_stride = (int32_t)pixel_stride;
        info->user_line_stride = (int32_t)row_stride;
        info->encode_from_ptr = from;
    }
}

static exr_result_t write_rows(ExrJob *job)
{
    exr_encode_pipeline_t pipeline = EXR_ENCODE_PIPELINE_INITIALIZER;
    exr_result_t result = EXR_ERR_SUCCESS;
    for (uint32_t y = 0; y < job->height && result == EXR_ERR_SUCCESS; y += (uint32_t)job->chunk_rows) {
        exr_chunk_info_t chunk;
        result = exr_write_scanline_chunk_info(job->context, 0, (int)y, &chunk);
        if (result == EXR_ERR_SUCCESS) {
            result = y == 0 ? exr_encoding_initialize(job->context, 0, &chunk, &pipeline)
                            : exr_encoding_update(job->context, 0, &chunk, &pipeline);
        }
        if (result == EXR_ERR_SUCCESS) {
            point_channels_at_rows(job, &pipeline, y);
            result = y == 0 ? exr_encoding_choose_default_routines(job->context, 0, &pipeline) : EXR_ERR_SUCCESS;
        }
        if (result == EXR_ERR_SUCCESS) {
            result = exr_encoding_run(job->context, 0, &pipeline);
        }
    }
    exr_encoding_destroy(job->context, &pipeline);
    return result;
}

static exr_result_t write_pixels(ExrJob *job)
{
    exr_result_t result = exr_get_scanlines_per_chunk(job->context, 0, &job->chunk_rows);
    if (result != EXR_ERR_SUCCESS) {
        return result;
    }
    uint32_t halves = 0;
    for (uint32_t i = 0; i < job->channel_count; i++) {
        halves += job->channels[i].type == IMAGE_FLOAT && job->channels[i].as_half;
    }
    if (halves > 0) {
        job->clamped = malloc((size_t)halves * job->width * (size_t)job->chunk_rows * sizeof(float));
        if (job->clamped == NULL) {
            return EXR_ERR_OUT_OF_MEMORY;
        }
    }
    return write_rows(job);
}

// ---- The file --------------------------------------------------------------------------------------------------

static MoteResult check_channels(const ExrJob *job)
{
    MOTE_ASSERT(job->channel_count > 0);
    for (uint32_t i = 0; i < job->channel_count; i++) {
        const ImageChannel *channel = &job->channels[i];
        MOTE_ASSERT(channel->name != NULL && channel->data != NULL);
        const size_t length = strlen(channel->name);
        if (length == 0 || length > 255) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: the name of channel %u has %zu bytes, expected 1 to 255", job->path,
                             i, length);
        }
        if (find_channel(job, channel->name) != channel) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: two channels have the name \"%s\"", job->path, channel->name);
        }
    }
    return MOTE_OK;
}

static MoteResult write_with_library(ExrJob *job, const ImageAttribute *attributes, uint32_t attribute_count)
{
    exr_context_initializer_t settings = EXR_DEFAULT_CONTEXT_INITIALIZER;
    settings.error_handler_fn = keep_exr_message;
    settings.user_data = job;
    settings.write_fn = write_bytes;
    settings.zip_level = 2; // half of the default's time for about a seventh more bytes
    clear_exr_message();
    exr_result_t result = exr_start_write(&job->context, job->path, EXR_WRITE_FILE_DIRECTLY, &settings);
    if (result == EXR_ERR_SUCCESS) {
        result = write_header(job, attributes, attribute_count);
    }
    if (result == EXR_ERR_SUCCESS) {
        result = write_pixels(job);
    }
    free(job->clamped);
    if (job->context != NULL) {
        const exr_result_t finish_result = exr_finish(&job->context); // writes the table of chunks
        result = result != EXR_ERR_SUCCESS ? result : finish_result;
    }
    if (result == EXR_ERR_SUCCESS) {
        return MOTE_OK;
    }
    if (job->write_error != 0) {
        return mote_fail(MOTE_ERROR_IO, "%s: cannot write: %s", job->path, strerror(job->write_error));
    }
    return mote_fail(result == EXR_ERR_OUT_OF_MEMORY ? MOTE_ERROR_MEMORY : MOTE_ERROR_INPUT,
                     "%s: cannot write an OpenEXR image: %s", job->path, first_exr_message(result));
}

MoteResult image_write_exr(const char *path, uint32_t width, uint32_t height, const ImageChannel *channels,
                           uint32_t channel_count, const ImageAttribute *attributes, uint32_t attribute_count)
{
    ExrJob job = {.path = path, .width = width, .height = height, .channels = channels, .channel_count = channel_count};
    MoteResult result = check_image_size(path, width, height);
    if (result == MOTE_OK) {
        result = check_channels(&job);
    }
    if (result == MOTE_OK) {
        result = file_writer_open_regular(&job.writer, path); // its table of offsets is written last
    }
    if (result != MOTE_OK) {
        return result;
    }
    result = write_with_library(&job, attributes, attribute_count);
    if (result != MOTE_OK) {
        file_writer_discard(&job.writer);
        return result;
    }
    return file_writer_commit(&job.writer);
}
