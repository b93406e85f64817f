// SPDX-License-Identifier: MIT
// descriptors.c - the descriptor set that all shaders share: the images, blocks and samplers of resources.def.
#include "render/frame.h"

#include "base/error.h"

// As frame.glsl has them: ROW_BINDING counts the lines of resources.def in both languages.
enum {
#define FIRST_ROW() FIRST_LINE = __LINE__
#include "render/resources.def"
};
enum {
#define IMAGE_ROW(name, texture, store, glsl_format, format, size, usage)                                              \
    BINDING_##name##_image = ROW_BINDING, BINDING_##name##_store = ROW_BINDING + 1,
#define DEPTH_ROW(name, size)           BINDING_##name##_image = ROW_BINDING,
#define SAMPLES_ROW(name, format, what) BINDING_##name##_image = ROW_BINDING,
#define BLOCK_ROW(name, bytes)          BINDING_##name = ROW_BINDING,
#define SAMPLER_ROW(name, filter, mode) BINDING_##name = ROW_BINDING,
#include "render/resources.def"
};

typedef struct BindingRow {
    uint32_t binding;
    VkDescriptorType type;
    uint32_t index; // of the image, block or sampler
} BindingRow;
static const BindingRow binding_rows[] = {
#define IMAGE_ROW(name, texture, store, glsl_format, format, size, usage)                                              \
    {BINDING_##name##_image, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, RESOURCE_##name},                                       \
        {BINDING_##name##_store, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, RESOURCE_##name},
#define DEPTH_ROW(name, size)           {BINDING_##name##_image, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, RESOURCE_##name},
#define SAMPLES_ROW(name, format, what) {BINDING_##name##_image, VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE, RESOURCE_##name},
#define BLOCK_ROW(name, bytes)                                                                                         \
    {BINDING_##name,                                                                                                   \
     BLOCK_##name == BLOCK_pass_constants ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC                                  \
                                          : VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,                                         \
     BLOCK_##name},
#define SAMPLER_ROW(name, filter, mode) {BINDING_##name, VK_DESCRIPTOR_TYPE_SAMPLER, SAMPLER_##name},
#include "render/resources.def"
};
enum { BINDING_COUNT = sizeof binding_rows / sizeof binding_rows[0] };

// Two rows of resources.def in one line would have one binding: their case labels then collide, and the compiler says
// which.
static inline bool is_binding(int binding)
{
    switch (binding) {
#define IMAGE_ROW(name, texture, store, glsl_format, format, size, usage)                                              \
    case BINDING_##name##_image:                                                                                       \
    case BINDING_##name##_store:
#define DEPTH_ROW(name, size)           case BINDING_##name##_image:
#define SAMPLES_ROW(name, format, what) case BINDING_##name##_image:
#define BLOCK_ROW(name, bytes)          case BINDING_##name:
#define SAMPLER_ROW(name, filter, mode) case BINDING_##name:
#include "render/resources.def"
        return true;
    default:
        return false;
    }
}

static const uint32_t block_bytes[BLOCK_COUNT] = {
#define BLOCK_ROW(name, bytes) [BLOCK_##name] = (bytes),
#include "render/resources.def"
};

typedef struct SamplerRow {
    VkFilter filter;
    VkSamplerAddressMode along_x;
} SamplerRow;
static const SamplerRow sampler_rows[SAMPLER_COUNT] = {
#define SAMPLER_ROW(name, filter, mode) [SAMPLER_##name] = {VK_FILTER_##filter, VK_SAMPLER_ADDRESS_MODE_##mode},
#include "render/resources.def"
};

// The table may grow beyond what a small device lets a shader see.
static MoteResult check_limits(const MoteRenderer *renderer)
{
    const VkPhysicalDeviceLimits *limits = &renderer->device.limits;
    uint32_t sampled = 0, stored = 0;
    for (uint32_t i = 0; i < BINDING_COUNT; i++) {
        sampled += binding_rows[i].type == VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE;
        stored += binding_rows[i].type == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    }
    if (sampled > limits->maxPerStageDescriptorSampledImages || stored > limits->maxPerStageDescriptorStorageImages ||
        BINDING_COUNT > limits->maxPerStageResources) {
        return mote_fail(
            MOTE_ERROR_UNAVAILABLE,
            "%s lets a shader see %u sampled and %u stored images, %u resources in all: expected %u, %u and %u",
            renderer->device.info.name, limits->maxPerStageDescriptorSampledImages,
            limits->maxPerStageDescriptorStorageImages, limits->maxPerStageResources, sampled, stored,
            (uint32_t)BINDING_COUNT);
    }
    return MOTE_OK;
}

static VkResult create_samplers(MoteRenderer *renderer)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < SAMPLER_COUNT && result == VK_SUCCESS; i++) {
        const SamplerRow *row = &sampler_rows[i];
        VkSampler *out = &renderer->samplers[i];
        const VkSamplerCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                          .magFilter = row->filter,
                                          .minFilter = row->filter,
                                          .addressModeU = row->along_x,
                                          .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                          .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE};
        result = MADE(vkCreateSampler(renderer->device.handle, &info, NULL, out), out);
    }
    return result;
}

static VkResult create_layouts(MoteRenderer *renderer)
{
    const VkDevice device = renderer->device.handle;
    VkDescriptorSetLayoutBinding bindings[BINDING_COUNT];
    for (uint32_t i = 0; i < BINDING_COUNT; i++) {
        const BindingRow *row = &binding_rows[i];
        MOTE_ASSERT(is_binding((int)row->binding));
        const bool sampler = row->type == VK_DESCRIPTOR_TYPE_SAMPLER;
        bindings[i] = (VkDescriptorSetLayoutBinding){row->binding, row->type, 1, VK_SHADER_STAGE_ALL,
                                                     sampler ? &renderer->samplers[row->index] : NULL};
    }
    const VkDescriptorSetLayoutCreateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                 .bindingCount = BINDING_COUNT,
                                                 .pBindings = bindings};
    VkResult result =
        MADE(vkCreateDescriptorSetLayout(device, &set, NULL, &renderer->set_layout), &renderer->set_layout);
    if (result == VK_SUCCESS) {
        const VkPushConstantRange push = {VK_SHADER_STAGE_ALL, 0, PUSH_CONSTANTS_BYTES};
        const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                                   .setLayoutCount = 1,
                                                   .pSetLayouts = &renderer->set_layout,
                                                   .pushConstantRangeCount = 1,
                                                   .pPushConstantRanges = &push};
        result =
            MADE(vkCreatePipelineLayout(device, &layout, NULL, &renderer->pipeline_layout), &renderer->pipeline_layout);
    }
    return result;
}

static VkResult create_set(MoteRenderer *renderer)
{
    VkDescriptorPoolSize sizes[BINDING_COUNT]; // Vulkan adds up those of one type
    for (uint32_t i = 0; i < BINDING_COUNT; i++) {
        sizes[i] = (VkDescriptorPoolSize){binding_rows[i].type, 1};
    }
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = BINDING_COUNT,
                                             .pPoolSizes = sizes};
    const VkResult result =
        MADE(vkCreateDescriptorPool(renderer->device.handle, &pool, NULL, &renderer->descriptor_pool),
             &renderer->descriptor_pool);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = renderer->descriptor_pool,
                                             .descriptorSetCount = 1,
                                             .pSetLayouts = &renderer->set_layout};
    return vkAllocateDescriptorSets(renderer->device.handle, &set, &renderer->set);
}

MoteResult descriptors_create(MoteRenderer *renderer)
{
    const MoteResult fits = check_limits(renderer);
    if (fits != MOTE_OK) {
        return fits;
    }
    VkResult result = create_samplers(renderer);
    result = result == VK_SUCCESS ? create_layouts(renderer) : result;
    result = result == VK_SUCCESS ? create_set(renderer) : result;
    if (result != VK_SUCCESS) {
        return device_fail(result, "creating descriptors");
    }
    const MoteResult made = buffer_create(&renderer->device, "frame constants", BUFFER_UPLOAD, sizeof(FrameConstants),
                                          &renderer->blocks[BLOCK_frame_constants]);
    return made == MOTE_OK
               ? buffer_create(&renderer->device, "pass constants", BUFFER_UPLOAD,
                               (size_t)PASS_COUNT * PASS_CONSTANTS_BYTES, &renderer->blocks[BLOCK_pass_constants])
               : made;
}

void descriptors_write(MoteRenderer *renderer)
{
    VkDescriptorImageInfo images[BINDING_COUNT];
    VkDescriptorBufferInfo blocks[BINDING_COUNT];
    VkWriteDescriptorSet writes[BINDING_COUNT];
    uint32_t count = 0;
    for (uint32_t i = 0; i < BINDING_COUNT; i++) {
        const BindingRow *row = &binding_rows[i];
        if (row->type == VK_DESCRIPTOR_TYPE_SAMPLER) {
            continue; // they are part of the layout
        }
        const bool block =
            row->type != VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE && row->type != VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
        if (block) {
            blocks[i] = (VkDescriptorBufferInfo){renderer->blocks[row->index].handle, 0, block_bytes[row->index]};
        } else {
            images[i] =
                (VkDescriptorImageInfo){VK_NULL_HANDLE, renderer->images[row->index].view, VK_IMAGE_LAYOUT_GENERAL};
        }
        writes[count++] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                                 .dstSet = renderer->set,
                                                 .dstBinding = row->binding,
                                                 .descriptorCount = 1,
                                                 .descriptorType = row->type,
                                                 .pImageInfo = block ? NULL : &images[i],
                                                 .pBufferInfo = block ? &blocks[i] : NULL};
    }
    vkUpdateDescriptorSets(renderer->device.handle, count, writes, 0, NULL);
}

void descriptors_destroy(MoteRenderer *renderer)
{
    const VkDevice device = renderer->device.handle;
    for (uint32_t i = 0; i < BLOCK_COUNT; i++) {
        buffer_destroy(&renderer->device, &renderer->blocks[i]);
    }
    vkDestroyDescriptorPool(device, renderer->descriptor_pool, NULL);
    vkDestroyPipelineLayout(device, renderer->pipeline_layout, NULL);
    vkDestroyDescriptorSetLayout(device, renderer->set_layout, NULL);
    for (uint32_t i = 0; i < SAMPLER_COUNT; i++) {
        vkDestroySampler(device, renderer->samplers[i], NULL);
    }
}
