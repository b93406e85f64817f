// SPDX-License-Identifier: MIT
// renderer.c - creates and destroys renderers: device, descriptors, images of a size; reads pictures back.
#include "render/frame.h"

#include "base/error.h"
#include "base/stop.h"
#include "render/shaders.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- The tables as data ------------------------------------------------------------------------------------

typedef enum ImageSize { SIZE_FULL, SIZE_HALF, SIZE_SUN, SIZE_LIQUID_SHADOW, SIZE_SKY, SIZE_SAMPLES } ImageSize;
enum {
    USAGE_ALL = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
    USAGE_STORED = USAGE_ALL | VK_IMAGE_USAGE_STORAGE_BIT,
    USAGE_TARGET = USAGE_STORED | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
    USAGE_DEPTH = USAGE_ALL | VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT,
    USAGE_COLOR_SAMPLES = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
    USAGE_DEPTH_SAMPLES = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT,
};

typedef struct ImageRow {
    const char *name;
    VkFormat format;
    ImageSize size;
    VkImageUsageFlags usage;
    uint32_t edges; // EDGES_ bit of SIZE_SAMPLES
} ImageRow;
static const ImageRow image_rows[IMAGE_COUNT] = {
#define IMAGE_ROW(name, texture, store, glsl_format, format, size, usage)                                              \
    [RESOURCE_##name] = {#name, VK_FORMAT_##format, SIZE_##size, USAGE_##usage, 0},
#define DEPTH_ROW(name, size) [RESOURCE_##name] = {#name, VK_FORMAT_D32_SFLOAT, SIZE_##size, USAGE_DEPTH, 0},
#define SAMPLES_ROW(name, format, what)                                                                                \
    [RESOURCE_##name] = {#name, VK_FORMAT_##format, SIZE_SAMPLES,                                                      \
                         VK_FORMAT_##format == VK_FORMAT_D32_SFLOAT ? USAGE_DEPTH_SAMPLES : USAGE_COLOR_SAMPLES,       \
                         EDGES_##what},
#include "render/resources.def"
};

// ---- Images ------------------------------------------------------------------------------------------------

// All images live in the general layout from their first use on: barriers are then about memory alone.
static MoteResult enter_general_layout(MoteRenderer *renderer)
{
    MoteResult result = device_begin(&renderer->device);
    if (result != MOTE_OK) {
        return result;
    }
    VkImageMemoryBarrier2 barriers[IMAGE_COUNT];
    for (uint32_t i = 0; i < IMAGE_COUNT; i++) {
        const bool depth = renderer->images[i].format == VK_FORMAT_D32_SFLOAT;
        barriers[i] = (VkImageMemoryBarrier2){
            .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
            .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
            .dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
            .oldLayout = VK_IMAGE_LAYOUT_UNDEFINED,
            .newLayout = VK_IMAGE_LAYOUT_GENERAL,
            .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
            .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
            .image = renderer->images[i].handle,
            .subresourceRange = {depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    }
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .imageMemoryBarrierCount = IMAGE_COUNT,
                                         .pImageMemoryBarriers = barriers};
    vkCmdPipelineBarrier2(renderer->device.commands, &dependency);
    return device_submit(&renderer->device);
}

static void destroy_images(MoteRenderer *renderer)
{
    for (uint32_t i = 0; i < IMAGE_COUNT; i++) {
        device_image_destroy(&renderer->device, &renderer->images[i]);
    }
    renderer->width = renderer->height = 0;
    renderer->has_picture = renderer->has_layers = false;
}

// How large the images are, and of how many samples a pixel where they can have several.
typedef struct ImageScale {
    uint32_t width, height, samples;
    uint32_t edges; // EDGES_ bits
} ImageScale;

static VkExtent2D image_extent(const ImageRow *row, const ImageScale *scale)
{
    const uint32_t width = scale->width, height = scale->height;
    const VkExtent2D full = {width, height}, none = {1, 1};
    const VkExtent2D sizes[] = {[SIZE_FULL] = full,
                                [SIZE_SAMPLES] = (row->edges & scale->edges) != 0 ? full : none,
                                [SIZE_HALF] = {(width + 1) / 2, (height + 1) / 2},
                                [SIZE_SUN] = {SUN_SIZE, SUN_SIZE},
                                [SIZE_LIQUID_SHADOW] = {LIQUID_SHADOW_SIZE, LIQUID_SHADOW_SIZE},
                                [SIZE_SKY] = {SKY_WIDTH, SKY_HEIGHT}};
    return sizes[row->size];
}

// What shaders know as an image of several samples must have several: all devices have four.
static uint32_t image_samples(const ImageRow *row, const ImageScale *scale)
{
    return row->size != SIZE_SAMPLES ? 1 : scale->samples > 1 ? scale->samples : 4;
}

static uint32_t pixel_bytes(VkFormat format)
{
    switch (format) {
    case VK_FORMAT_R32G32B32A32_SFLOAT:
        return 16;
    case VK_FORMAT_R16G16B16A16_SFLOAT:
        return 8;
    default:
        return 4;
    }
}

// Software drivers hand out memory that is not there and stop the program when it is used: what cannot fit is refused
// before.
static MoteResult check_memory(const MoteRenderer *renderer, const ImageScale *scale)
{
    const uint64_t buffers = 4 * 8; // bytes a pixel: pixels, display, splats, smooth_planes
    uint64_t bytes = (uint64_t)scale->width * scale->height * buffers;
    for (uint32_t i = 0; i < IMAGE_COUNT; i++) {
        const ImageRow *row = &image_rows[i];
        const VkExtent2D size = image_extent(row, scale);
        bytes += (uint64_t)size.width * size.height * image_samples(row, scale) * pixel_bytes(row->format);
    }
    const MoteDeviceInfo *info = &renderer->device.info;
    if (bytes > info->memory_bytes) {
        const double gib = 1.0 / (1u << 30);
        return mote_fail(MOTE_ERROR_MEMORY,
                         "a picture of %u x %u pixels takes %.1f GiB, more than the %.1f GiB of %s: draw a smaller one",
                         scale->width, scale->height, (double)bytes * gib, (double)info->memory_bytes * gib,
                         info->name);
    }
    return MOTE_OK;
}

uint32_t mote_renderer_multisampling(const MoteRenderer *renderer, uint32_t wanted)
{
    const VkPhysicalDeviceLimits *limits = &renderer->device.limits;
    const VkSampleCountFlags counts = limits->framebufferColorSampleCounts & limits->framebufferDepthSampleCounts &
                                      limits->sampledImageColorSampleCounts & limits->sampledImageDepthSampleCounts;
    uint32_t samples = MOTE_MULTISAMPLING_MOST;
    while (samples > 1 && (samples > wanted || (counts & samples) == 0)) {
        samples /= 2;
    }
    return samples;
}

MoteResult renderer_resize(MoteRenderer *renderer, uint32_t width, uint32_t height, uint32_t samples, uint32_t edges)
{
    const ImageScale scale = {width, height, samples, samples > 1 ? edges : 0};
    if (renderer->width == width && renderer->height == height && renderer->samples == samples &&
        renderer->sampled == scale.edges) {
        return MOTE_OK;
    }
    MoteResult result = check_memory(renderer, &scale);
    if (result != MOTE_OK) {
        return result;
    }
    destroy_images(renderer);
    for (uint32_t i = 0; i < IMAGE_COUNT && result == MOTE_OK; i++) {
        const ImageRow *row = &image_rows[i];
        const VkExtent2D size = image_extent(row, &scale);
        result = device_image_create(&renderer->device, row->name, row->format, size.width, size.height,
                                     image_samples(row, &scale), row->usage, &renderer->images[i]);
    }
    if (result == MOTE_OK) {
        result =
            buffer_reserve(&renderer->device, "pixels", BUFFER_READBACK, (size_t)width * height * 8, &renderer->pixels);
    }
    result = result == MOTE_OK ? enter_general_layout(renderer) : result;
    if (result != MOTE_OK) {
        destroy_images(renderer);
        return result;
    }
    descriptors_write(renderer);
    renderer->width = width;
    renderer->height = height;
    renderer->samples = samples;
    renderer->image_sets++;
    renderer->sampled = scale.edges;
    return MOTE_OK;
}

// ---- Life --------------------------------------------------------------------------------------------------

static const Pass *const passes[PASS_COUNT] = {
#define PASS_ROW(name, work, when, accesses) &name##_pass,
#include "render/passes.def"
};

static void free_shaders(ShaderCode *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        free((void *)(uintptr_t)rows[i].words);
    }
    free(rows);
}

static MoteResult create_passes(MoteRenderer *renderer)
{
    MoteResult result = MOTE_OK;
    for (uint32_t p = 0; p < PASS_COUNT && result == MOTE_OK; p++) {
        const Pass *pass = passes[p];
        result = stop_check(); // drivers take seconds to compile them all
        if (result == MOTE_OK && pass->state_bytes > 0) {
            renderer->states[p] = calloc(1, pass->state_bytes);
            result = renderer->states[p] != NULL ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory for a pass");
        }
        if (result == MOTE_OK && pass->create != NULL) {
            result = pass->create(renderer, renderer->states[p]);
        }
    }
    return result;
}

static void destroy_passes(MoteRenderer *renderer)
{
    for (uint32_t p = PASS_COUNT; p-- > 0;) {
        if (renderer->states[p] != NULL && passes[p]->destroy != NULL) {
            passes[p]->destroy(renderer, renderer->states[p]);
        }
        free(renderer->states[p]);
        renderer->states[p] = NULL;
    }
}

static MoteResult create_queries(MoteRenderer *renderer)
{
    const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                        .queryCount = PASS_COUNT + 1};
    const VkResult result =
        MADE(vkCreateQueryPool(renderer->device.handle, &info, NULL, &renderer->queries), &renderer->queries);
    return result == VK_SUCCESS ? MOTE_OK : device_fail(result, "creating timers");
}

MoteResult mote_renderer_create(const MoteRendererOptions *options, MoteRenderer **out)
{
    *out = NULL;
    if (options->splat > MOTE_SPLAT_QUADS) {
        return mote_fail(MOTE_ERROR_INPUT, "splat method %u, expected a MoteSplatMethod", options->splat);
    }
    MoteRenderer *renderer = calloc(1, sizeof *renderer);
    if (renderer == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for a renderer");
    }
    renderer->options = *options;
    MoteResult result = device_create(options, &renderer->device);
    if (result == MOTE_OK) {
        result = interop_create(&renderer->device, options->force_staging, &renderer->interop);
    }
    if (result == MOTE_OK) {
        renderer->compute_splat = options->splat == MOTE_SPLAT_COMPUTE ||
                                  (options->splat == MOTE_SPLAT_AUTO && renderer->device.info.software);
        result = descriptors_create(renderer);
    }
    result = result == MOTE_OK ? create_queries(renderer) : result;
    result = result == MOTE_OK ? create_passes(renderer) : result;
    if (result != MOTE_OK) {
        mote_renderer_destroy(renderer);
        return result;
    }
    *out = renderer;
    return MOTE_OK;
}

void mote_renderer_destroy(MoteRenderer *renderer)
{
    if (renderer == NULL) {
        return;
    }
    Device *device = &renderer->device;
    if (device->handle != VK_NULL_HANDLE) {
        device_wait_idle(device);
        destroy_passes(renderer);
        interop_destroy(&renderer->interop);
        destroy_images(renderer);
        mesh_set_destroy(device, &renderer->meshes);
        bodies_destroy(device, &renderer->bodies);
        Buffer *buffers[] = {&renderer->materials, &renderer->pixels, &renderer->layers};
        for (uint32_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
            buffer_destroy(device, buffers[i]);
        }
        vkDestroyQueryPool(device->handle, renderer->queries, NULL);
        descriptors_destroy(renderer);
    }
    device_destroy(device);
    free_shaders(renderer->shaders, renderer->shader_count);
    free(renderer);
}

// All passes anew, and with the next picture all images: a pass may own what descriptors name.
static MoteResult rebuild_passes(MoteRenderer *renderer)
{
    destroy_passes(renderer);
    destroy_images(renderer);
    MoteStopCallback *before = stop_hold(); // a renderer has all its passes
    const MoteResult result = create_passes(renderer);
    stop_release(before);
    return result;
}

// Adds a copy of the shader to the table, in place of one of its name.
static MoteResult add_shader(const MoteShader *shader, ShaderCode *rows, uint32_t *count)
{
    const uint32_t magic = 0x07230203; // every SPIR-V module's first word
    const ShaderCode *built_in = shader_find(shader->name);
    if (built_in == NULL) {
        return mote_fail(MOTE_ERROR_INPUT, "no shader \"%s\": it is not one of those of shaders/render", shader->name);
    }
    if (shader->words != NULL && (shader->bytes < 20 || shader->bytes % 4 != 0 || shader->words[0] != magic)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: %zu bytes that are no SPIR-V", shader->name, shader->bytes);
    }
    for (uint32_t i = 0; i < *count; i++) {
        if (strcmp(rows[i].name, shader->name) == 0) {
            free((void *)(uintptr_t)rows[i].words);
            rows[i] = rows[--*count];
            break;
        }
    }
    if (shader->words == NULL) {
        return MOTE_OK;
    }
    uint32_t *copy = malloc(shader->bytes);
    if (copy == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the shader %s", shader->name);
    }
    memcpy(copy, shader->words, shader->bytes);
    rows[(*count)++] = (ShaderCode){built_in->name, copy, shader->bytes};
    return MOTE_OK;
}

MoteResult mote_renderer_set_shaders(MoteRenderer *renderer, const MoteShader *shaders, uint32_t count)
{
    const MoteResult finished = renderer_finish(renderer);
    if (finished != MOTE_OK) {
        return finished;
    }
    ShaderCode *before = renderer->shaders;
    const uint32_t before_count = renderer->shader_count;
    ShaderCode *rows = calloc((size_t)before_count + count + 1, sizeof *rows);
    uint32_t row_count = 0;
    MoteResult result = rows != NULL ? MOTE_OK : mote_fail(MOTE_ERROR_MEMORY, "no memory for %u shaders", count);
    for (uint32_t i = 0; i < before_count + count && result == MOTE_OK; i++) {
        const MoteShader kept = i < before_count ? (MoteShader){before[i].name, before[i].words, before[i].bytes}
                                                 : shaders[i - before_count];
        result = add_shader(&kept, rows, &row_count);
    }
    if (result != MOTE_OK) {
        free_shaders(rows, row_count);
        return result;
    }
    renderer->shaders = rows;
    renderer->shader_count = row_count;
    result = rebuild_passes(renderer);
    if (result == MOTE_OK) {
        free_shaders(before, before_count);
        return MOTE_OK;
    }
    char why[1024];
    snprintf(why, sizeof why, "%s", mote_error_message());
    renderer->shaders = before;
    renderer->shader_count = before_count;
    free_shaders(rows, row_count);
    const MoteResult restored = rebuild_passes(renderer);
    return restored == MOTE_OK ? mote_fail(result, "%s", why) : restored;
}

MoteResult mote_renderer_set_meshes(MoteRenderer *renderer, const MoteRenderMesh *meshes, uint32_t count)
{
    MeshSet set;
    MoteResult result = renderer_finish(renderer);
    result = result == MOTE_OK ? mesh_set_create(&renderer->device, meshes, count, &set) : result;
    if (result == MOTE_OK) {
        mesh_set_destroy(&renderer->device, &renderer->meshes);
        renderer->meshes = set;
    }
    return result;
}

// ---- Asking ------------------------------------------------------------------------------------------------

uint32_t mote_render_devices(MoteDeviceInfo *rows, uint32_t capacity)
{
    return device_list(rows, capacity);
}

const MoteDeviceInfo *mote_renderer_device(const MoteRenderer *renderer)
{
    return &renderer->device.info;
}

uint32_t mote_renderer_validation_messages(const MoteRenderer *renderer)
{
    return renderer != NULL ? renderer->device.validation_messages : device_validation_messages_ever();
}

MoteSharedMemory *mote_renderer_shared_memory(MoteRenderer *renderer)
{
    return renderer->interop.force_staging ? NULL : &renderer->interop.shared;
}

MoteInteropReport mote_renderer_interop(const MoteRenderer *renderer)
{
    MoteInteropReport report = renderer->interop.report;
    report.device_bytes = memory_in_use((Device *)&renderer->device);
    return report;
}

static const char *const pass_names[PASS_COUNT] = {
#define PASS_ROW(name, work, when, accesses) #name,
#include "render/passes.def"
};

uint32_t mote_renderer_timings(const MoteRenderer *renderer, MotePassTiming *rows, uint32_t capacity)
{
    renderer_finish((MoteRenderer *)renderer); // its failure is told by who reads the picture
    for (uint32_t p = 0; p < PASS_COUNT && p < capacity; p++) {
        rows[p] = (MotePassTiming){pass_names[p], renderer->milliseconds[p]};
    }
    return PASS_COUNT;
}

static const char *const view_names[VIEW_COUNT] = {
#define VIEW_ROW(name, meaning) #name,
#include "render/views.def"
};
static const char *const view_meanings[VIEW_COUNT] = {
#define VIEW_ROW(name, meaning) meaning,
#include "render/views.def"
};

const char *mote_render_view_name(uint32_t index)
{
    return index < VIEW_COUNT ? view_names[index] : NULL;
}

const char *mote_render_view_meaning(uint32_t index)
{
    return index < VIEW_COUNT ? view_meanings[index] : NULL;
}

// ---- Reading back ------------------------------------------------------------------------------------------

MoteResult mote_renderer_read_rgba16(MoteRenderer *renderer, uint16_t *pixels)
{
    const MoteResult finished = renderer_finish(renderer);
    if (finished != MOTE_OK) {
        return finished;
    }
    if (!renderer->has_picture) {
        return mote_fail(MOTE_ERROR_INPUT, "no picture was drawn yet");
    }
    memcpy(pixels, renderer->pixels.mapped, (size_t)renderer->width * renderer->height * 8);
    return MOTE_OK;
}

MoteResult mote_renderer_read_rgba8(MoteRenderer *renderer, uint8_t *pixels)
{
    const MoteResult finished = renderer_finish(renderer);
    if (finished != MOTE_OK) {
        return finished;
    }
    if (!renderer->has_picture) {
        return mote_fail(MOTE_ERROR_INPUT, "no picture was drawn yet");
    }
    // Rounded up or down by an ordered pattern: a clear sky would show bands otherwise. Whole values stay what they
    // are, and the colours of debug views are to be read off.
    static const uint8_t pattern[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
    const bool dithered = renderer->frame.view == VIEW_liquid;
    const uint16_t *from = renderer->pixels.mapped;
    for (uint32_t y = 0; y < renderer->height; y++) {
        for (uint32_t x = 0; x < renderer->width; x++) {
            const uint32_t rounding = dithered ? (2u * pattern[y % 4][x % 4] + 1u) * 2047u : 32767u;
            for (uint32_t k = 0; k < 4; k++) {
                *pixels++ = (uint8_t)((*from++ * 255u + rounding) / 65535u);
            }
        }
    }
    return MOTE_OK;
}

typedef struct LayerRow {
    const char *name;
    uint32_t first, components; // of LAYER_FLOATS
} LayerRow;
static const LayerRow layer_rows[] = {
    {"color", 0, 4}, {"depth", 4, 1}, {"normal", 5, 3}, {"thickness", 8, 1},
    {"id", 9, 1},    {"foam", 10, 2}, {"smoke", 12, 4},
};
enum { LAYER_COUNT = sizeof layer_rows / sizeof layer_rows[0] };

const char *mote_render_layer_name(uint32_t index, uint32_t *components)
{
    if (index >= LAYER_COUNT) {
        return NULL;
    }
    *components = layer_rows[index].components;
    return layer_rows[index].name;
}

MoteResult mote_renderer_read_layer(MoteRenderer *renderer, const char *layer, float *values)
{
    const MoteResult finished = renderer_finish(renderer);
    if (finished != MOTE_OK) {
        return finished;
    }
    if (!renderer->has_layers) {
        return mote_fail(MOTE_ERROR_INPUT, "no picture with layers was drawn yet");
    }
    for (uint32_t i = 0; i < LAYER_COUNT; i++) {
        const LayerRow *row = &layer_rows[i];
        if (strcmp(row->name, layer) == 0) {
            const float *from = (const float *)renderer->layers.mapped + row->first;
            const size_t pixels = (size_t)renderer->width * renderer->height;
            for (size_t p = 0; p < pixels; p++) {
                memcpy(values + p * row->components, from + p * LAYER_FLOATS, row->components * sizeof *values);
            }
            return MOTE_OK;
        }
    }
    return mote_fail(MOTE_ERROR_INPUT, "no layer \"%s\", expected color, depth, normal, thickness, id, foam or smoke",
                     layer);
}
