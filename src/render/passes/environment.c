// SPDX-License-Identifier: MIT
// environment.c - the sky as an environment map, and its irradiance as nine spherical-harmonics coefficients per
// channel. Recomputed only when the sky changes.
#include "passes/environment.h"
#include "render/renderer.h"
#include "render/sky_made.h"

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "image/image.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKY, ROWS, TOTAL, GROUND, STEPS }; // as environment.comp has them
enum { PICTURE_WIDTH = 4096 };            // pixels; wider pictures are halved until they fit

typedef struct EnvironmentPass {
    VkPipeline steps[STEPS];
    uint64_t made_of; // hash of what the map shows
    uint64_t made_at; // renderer->pictures before the picture that made it

    char *path; // of the picture that is in `pixels`; NULL without
    uint32_t width, height;
    Buffer pixels;  // four halves a pixel
    Buffer staging; // until the picture after the upload
} EnvironmentPass;

static MoteResult create(MoteRenderer *renderer, void *state)
{
    EnvironmentPass *pass = state;
    pass->made_at = UINT64_MAX;
    MoteResult result =
        buffer_create(&renderer->device, "sky light", BUFFER_DEVICE, (SKY_HEIGHT + 1) * SKY_HARMONICS * sizeof(vec4),
                      &renderer->blocks[BLOCK_sky_light]);
    for (uint32_t step = 0; step < STEPS && result == MOTE_OK; step++) {
        result = pipeline_create_compute(renderer, "environment.comp", &step, 1, &pass->steps[step]);
    }
    return result;
}

// ---- A sky from a file ---------------------------------------------------------------------------------------

// Rounds to nearest, ties to even. Negative and what is no number is 0, beyond the largest half is the largest.
static uint16_t half_bits(float value)
{
    if (!(value > 0.0f)) {
        return 0;
    }
    if (value >= 65504.0f) {
        return 0x7bff;
    }
    if (value < 6.103515625e-5f) { // denormal: multiples of 2^-24
        return (uint16_t)lrintf(value * 16777216.0f);
    }
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits += 0xfffu + (bits >> 13 & 1u);
    return (uint16_t)((bits >> 13) - (112u << 10));
}

static float linear_from_srgb(float value)
{
    return value <= 0.04045f ? value / 12.92f : powf((value + 0.055f) / 1.055f, 2.4f);
}

// PNG files hold values for display, the others light.
static bool is_png(const char *path)
{
    static const unsigned char signature[4] = {0x89, 'P', 'N', 'G'};
    unsigned char bytes[4] = {0};
    FILE *file;
    if (file_open_input(path, &file, NULL) != MOTE_OK) {
        return false;
    }
    const bool read = fread(bytes, 1, sizeof bytes, file) == sizeof bytes;
    fclose(file);
    return read && memcmp(bytes, signature, sizeof bytes) == 0;
}

// Means of two by two pixels, as RGBA; the last row or column of an odd number is left out.
static MoteResult halve(Image *image)
{
    Image small;
    const MoteResult result = image_create(&small, image->width / 2, image->height > 1 ? image->height / 2 : 1, 4);
    if (result != MOTE_OK) {
        return result;
    }
    for (uint32_t y = 0; y < small.height; y++) {
        for (uint32_t x = 0; x < small.width; x++) {
            float *to = small.pixels + ((size_t)y * small.width + x) * 4;
            for (uint32_t i = 0; i < 4; i++) {
                float from[4];
                const uint32_t row = 2 * y + i / 2;
                image_pixel(image, 2 * x + i % 2, row < image->height ? row : image->height - 1, from);
                for (uint32_t c = 0; c < 4; c++) {
                    to[c] += 0.25f * from[c];
                }
            }
        }
    }
    image_destroy(image);
    *image = small;
    return MOTE_OK;
}

static MoteResult read_picture(const char *path, Image *out)
{
    MoteResult result = image_read(path, out);
    if (result != MOTE_OK) {
        return mote_fail(result, "the sky's image: %s", mote_error_message());
    }
    if (is_png(path)) {
        const size_t count = (size_t)out->width * out->height * out->channels;
        for (size_t i = 0; i < count; i++) {
            out->pixels[i] = linear_from_srgb(out->pixels[i]);
        }
    }
    while (result == MOTE_OK && out->width > PICTURE_WIDTH) {
        result = halve(out);
    }
    if (result != MOTE_OK) {
        image_destroy(out);
    }
    return result;
}

static MoteResult stage_picture(MoteRenderer *renderer, EnvironmentPass *pass, const Image *image)
{
    const size_t count = (size_t)image->width * image->height;
    buffer_destroy(&renderer->device, &pass->pixels);
    MoteResult result = buffer_create(&renderer->device, "sky picture", BUFFER_DEVICE, count * 8, &pass->pixels);
    if (result == MOTE_OK) {
        result = buffer_create(&renderer->device, "sky picture upload", BUFFER_UPLOAD, count * 8, &pass->staging);
    }
    if (result != MOTE_OK) {
        return result;
    }
    uint16_t *halves = pass->staging.mapped;
    for (size_t i = 0; i < count; i++) {
        float rgba[4];
        image_pixel(image, (uint32_t)(i % image->width), (uint32_t)(i / image->width), rgba);
        for (uint32_t c = 0; c < 4; c++) {
            halves[4 * i + c] = half_bits(rgba[c]);
        }
    }
    buffer_flush(&renderer->device, &pass->staging);
    pass->width = image->width;
    pass->height = image->height;
    return MOTE_OK;
}

// For shaders of all later passes.
static void show_to_shaders(VkCommandBuffer commands, VkPipelineStageFlags2 stage, VkAccessFlags2 written,
                            VkAccessFlags2 read)
{
    device_barrier(commands, (MemoryUse){stage, written},
                   (MemoryUse){VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT, read});
}

static void forget_picture(EnvironmentPass *pass)
{
    free(pass->path);
    pass->path = NULL;
}

// Has the scene's picture in `pixels` by the time that the commands run. A file is read, or a sky made, once as long as
// its name stays the same and the pictures made with it succeed.
static MoteResult provide_picture(MoteRenderer *renderer, EnvironmentPass *pass, bool kept, VkCommandBuffer commands)
{
    const MoteSkyLook *sky = &renderer->frame.scene->sky;
    char made[SKY_MADE_NAME];
    sky_made_name(sky, made);
    const char *path = sky_is_made(sky->kind) ? made : sky->image;
    if (path == NULL || path[0] == '\0') {
        return mote_fail(MOTE_ERROR_INPUT, "the sky is an image, but none is named: expected the path of an "
                                           "equirectangular picture, .hdr, .exr or .png");
    }
    if (kept && pass->path != NULL && strcmp(pass->path, path) == 0) {
        return MOTE_OK;
    }
    forget_picture(pass);
    Image image;
    MoteResult result = sky_is_made(sky->kind) ? sky_make(sky, &image) : read_picture(path, &image);
    if (result != MOTE_OK) {
        return result;
    }
    result = stage_picture(renderer, pass, &image);
    image_destroy(&image);
    if (result != MOTE_OK) {
        return result;
    }
    const size_t length = strlen(path) + 1;
    pass->path = malloc(length);
    if (pass->path == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the path of the sky's image");
    }
    memcpy(pass->path, path, length);
    const VkBufferCopy region = {0, 0, pass->pixels.bytes};
    vkCmdCopyBuffer(commands, pass->staging.handle, pass->pixels.handle, 1, &region);
    show_to_shaders(commands, VK_PIPELINE_STAGE_2_COPY_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                    VK_ACCESS_2_SHADER_READ_BIT);
    return MOTE_OK;
}

// ---- The map -------------------------------------------------------------------------------------------------

static uint64_t hash_inputs(const MoteRenderer *renderer, const EnvironmentPass *pass, vec4 sky_color)
{
    const FrameConstants *c = &renderer->frame.constants;
    const struct {
        vec4 sun_direction, sun_radiance, sky_color, ground_color;
        float turn, brightness;
        uint32_t kind, ground_visible;
        uint64_t images; // which of all that were made: the map is one of them
    } inputs = {c->sun_direction,  c->sun_radiance, sky_color,         c->ground_color,     c->sky_turn,
                c->sky_brightness, c->sky_kind,     c->ground_visible, renderer->image_sets};
    const uint64_t hash = hash_bytes(HASH_START, &inputs, sizeof inputs);
    const bool picture = c->sky_kind == MOTE_SKY_IMAGE;
    return picture ? hash_bytes(hash, pass->path, strlen(pass->path)) : hash;
}

static void step(MoteRenderer *renderer, const EnvironmentPass *pass, VkCommandBuffer commands, uint32_t number,
                 uint32_t count, uint32_t rows)
{
    pass_compute_barrier(commands);
    const EnvironmentPush push = {rows};
    pass_bind(renderer, commands, VK_PIPELINE_BIND_POINT_COMPUTE, pass->steps[number], &push, sizeof push);
    pass_dispatch(commands, count, 64);
}

static MoteResult record(MoteRenderer *renderer, void *state, VkCommandBuffer commands)
{
    EnvironmentPass *pass = state;
    FrameConstants *constants = &renderer->frame.constants;
    const bool kept = renderer->pictures > pass->made_at; // the picture that made the map was drawn to its end
    buffer_destroy(&renderer->device, &pass->staging);
    const MoteSkyLook *sky = &renderer->frame.scene->sky;
    const float b = sky->brightness;
    const EnvironmentConstants own = {.sums = renderer->blocks[BLOCK_sky_light].address,
                                      .sky_color = {b * sky->color.x, b * sky->color.y, b * sky->color.z, sky->haze}};
    pass_constants(renderer, &own, sizeof own);
    constants->sky_brightness = b;
    if (constants->sky_kind == MOTE_SKY_IMAGE) {
        const MoteResult result = provide_picture(renderer, pass, kept, commands);
        if (result != MOTE_OK) {
            return result;
        }
        constants->sky_pixels = pass->pixels.address;
        constants->sky_width = pass->width;
        constants->sky_height = pass->height;
    }
    const uint64_t hash = hash_inputs(renderer, pass, own.sky_color);
    if (kept && hash == pass->made_of) {
        return MOTE_OK;
    }
    pass->made_of = hash;
    pass->made_at = renderer->pictures;
    const uint32_t texels = SKY_WIDTH * SKY_HEIGHT;
    step(renderer, pass, commands, SKY, texels, 0);
    if (constants->ground_visible) {
        step(renderer, pass, commands, ROWS, SKY_HEIGHT, SKY_HEIGHT / 2);
        step(renderer, pass, commands, TOTAL, SKY_HARMONICS, 0);
        step(renderer, pass, commands, GROUND, texels, 0);
    }
    step(renderer, pass, commands, ROWS, SKY_HEIGHT, SKY_HEIGHT);
    step(renderer, pass, commands, TOTAL, SKY_HARMONICS, 0);
    show_to_shaders(commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_WRITE_BIT,
                    VK_ACCESS_2_UNIFORM_READ_BIT);
    return MOTE_OK;
}

static void destroy(MoteRenderer *renderer, void *state)
{
    EnvironmentPass *pass = state;
    for (uint32_t i = 0; i < STEPS; i++) {
        vkDestroyPipeline(renderer->device.handle, pass->steps[i], NULL);
    }
    buffer_destroy(&renderer->device, &renderer->blocks[BLOCK_sky_light]);
    buffer_destroy(&renderer->device, &pass->pixels);
    buffer_destroy(&renderer->device, &pass->staging);
    forget_picture(pass);
}

const Pass environment_pass = {
    .state_bytes = sizeof(EnvironmentPass), .create = create, .record = record, .destroy = destroy};
