// SPDX-License-Identifier: MIT
#include "viewer/overlay.h"

#include "base/error.h"
#include <stddef.h>
#include <string.h>

#include <overlay.frag.h> // made by the build of shaders/viewer
#include <overlay.vert.h>

// ---- Life ----

static VkResult create_layouts(Overlay *overlay)
{
    Gpu *gpu = overlay->gpu;
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; i < OVERLAY_FILTERS && result == VK_SUCCESS; i++) {
        const VkFilter filter = i == OVERLAY_NEAREST ? VK_FILTER_NEAREST : VK_FILTER_LINEAR;
        const VkSamplerCreateInfo sampler = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                             .magFilter = filter,
                                             .minFilter = filter,
                                             .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                             .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                             .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE};
        result = MADE(gpu->vkCreateSampler(gpu->device, &sampler, NULL, &overlay->samplers[i]), &overlay->samplers[i]);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkDescriptorSetLayoutBinding binding = {0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1,
                                                  VK_SHADER_STAGE_FRAGMENT_BIT, NULL};
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 1, .pBindings = &binding};
    result =
        MADE(gpu->vkCreateDescriptorSetLayout(gpu->device, &set, NULL, &overlay->set_layout), &overlay->set_layout);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkPushConstantRange push = {VK_SHADER_STAGE_VERTEX_BIT, 0, 4 * sizeof(float)};
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &overlay->set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &push};
    result = MADE(gpu->vkCreatePipelineLayout(gpu->device, &layout, NULL, &overlay->layout), &overlay->layout);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, OVERLAY_TEXTURES * OVERLAY_FILTERS};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT,
                                             .maxSets = OVERLAY_TEXTURES * OVERLAY_FILTERS,
                                             .poolSizeCount = 1,
                                             .pPoolSizes = &size};
    return MADE(gpu->vkCreateDescriptorPool(gpu->device, &pool, NULL, &overlay->pool), &overlay->pool);
}

MoteResult overlay_create(Gpu *gpu, Overlay *out)
{
    memset(out, 0, sizeof *out);
    out->gpu = gpu;
    const VkResult result = create_layouts(out);
    if (result != VK_SUCCESS) {
        overlay_destroy(out);
        return gpu_fail(result, "preparing to draw the panel");
    }
    return MOTE_OK;
}

static void destroy_pipelines(Overlay *overlay)
{
    for (uint32_t i = 0; i < OVERLAY_PIPELINES; i++) {
        overlay->gpu->vkDestroyPipeline(overlay->gpu->device, overlay->pipelines[i], NULL);
        overlay->pipelines[i] = VK_NULL_HANDLE;
    }
}

void overlay_destroy(Overlay *overlay)
{
    Gpu *gpu = overlay->gpu;
    if (gpu == NULL || gpu->device == VK_NULL_HANDLE) {
        return;
    }
    gpu->vkDeviceWaitIdle(gpu->device);
    for (uint32_t i = 0; i < OVERLAY_TEXTURES; i++) {
        overlay_free_texture(overlay, i);
    }
    gpu_buffer_destroy(gpu, &overlay->vertices);
    gpu_buffer_destroy(gpu, &overlay->indices);
    gpu_buffer_destroy(gpu, &overlay->staging);
    destroy_pipelines(overlay);
    gpu->vkDestroyDescriptorPool(gpu->device, overlay->pool, NULL);
    gpu->vkDestroyPipelineLayout(gpu->device, overlay->layout, NULL);
    gpu->vkDestroyDescriptorSetLayout(gpu->device, overlay->set_layout, NULL);
    for (uint32_t i = 0; i < OVERLAY_FILTERS; i++) {
        gpu->vkDestroySampler(gpu->device, overlay->samplers[i], NULL);
    }
    memset(overlay, 0, sizeof *overlay);
}

// ---- The pipeline ----

static VkResult create_module(Gpu *gpu, const uint32_t *words, size_t bytes, VkShaderModule *out)
{
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = words};
    return MADE(gpu->vkCreateShaderModule(gpu->device, &info, NULL, out), out);
}

static VkResult create_with(Overlay *overlay, VkShaderModule vertex, VkShaderModule fragment, uint32_t kind)
{
    Gpu *gpu = overlay->gpu;
    const VkPipelineShaderStageCreateInfo stages[] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = vertex,
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = fragment,
         .pName = "main"},
    };
    const VkVertexInputBindingDescription binding = {0, sizeof(DrawVertex), VK_VERTEX_INPUT_RATE_VERTEX};
    const VkVertexInputAttributeDescription attributes[] = {
        {0, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(DrawVertex, x)},
        {1, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(DrawVertex, u)},
        {2, 0, VK_FORMAT_R8G8B8A8_UNORM, offsetof(DrawVertex, color)},
    };
    const VkPipelineVertexInputStateCreateInfo input = {.sType =
                                                            VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
                                                        .vertexBindingDescriptionCount = 1,
                                                        .pVertexBindingDescriptions = &binding,
                                                        .vertexAttributeDescriptionCount = 3,
                                                        .pVertexAttributeDescriptions = attributes};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO, .viewportCount = 1, .scissorCount = 1};
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1.0f};
    const VkPipelineMultisampleStateCreateInfo samples = {.sType =
                                                              VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
                                                          .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineColorBlendAttachmentState over = {.blendEnable = kind == OVERLAY_BLENDED,
                                                      .srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA,
                                                      .dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
                                                      .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
                                                      .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
                                                      .colorWriteMask =
                                                          VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                                                          VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT};
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO, .attachmentCount = 1, .pAttachments = &over};
    const VkDynamicState dynamics[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    const VkPipelineDynamicStateCreateInfo dynamic = {.sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
                                                      .dynamicStateCount = 2,
                                                      .pDynamicStates = dynamics};
    const VkPipelineRenderingCreateInfo rendering = {.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
                                                     .colorAttachmentCount = 1,
                                                     .pColorAttachmentFormats = &gpu->format};
    const VkGraphicsPipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                               .pNext = &rendering,
                                               .stageCount = 2,
                                               .pStages = stages,
                                               .pVertexInputState = &input,
                                               .pInputAssemblyState = &assembly,
                                               .pViewportState = &viewport,
                                               .pRasterizationState = &raster,
                                               .pMultisampleState = &samples,
                                               .pColorBlendState = &blend,
                                               .pDynamicState = &dynamic,
                                               .layout = overlay->layout};
    return gpu->vkCreateGraphicsPipelines(gpu->device, VK_NULL_HANDLE, 1, &info, NULL, &overlay->pipelines[kind]);
}

// Once, and again if the window moves to a surface of another format.
static MoteResult make_pipelines(Overlay *overlay)
{
    Gpu *gpu = overlay->gpu;
    if (overlay->pipelines[OVERLAY_OPAQUE] != VK_NULL_HANDLE && overlay->format == gpu->format) {
        return MOTE_OK;
    }
    destroy_pipelines(overlay);
    VkShaderModule vertex = VK_NULL_HANDLE, fragment = VK_NULL_HANDLE;
    VkResult result = create_module(gpu, overlay_vert, sizeof overlay_vert, &vertex);
    result = result == VK_SUCCESS ? create_module(gpu, overlay_frag, sizeof overlay_frag, &fragment) : result;
    for (uint32_t i = 0; i < OVERLAY_PIPELINES && result == VK_SUCCESS; i++) {
        result = create_with(overlay, vertex, fragment, i);
    }
    gpu->vkDestroyShaderModule(gpu->device, vertex, NULL);
    gpu->vkDestroyShaderModule(gpu->device, fragment, NULL);
    overlay->format = gpu->format;
    return result == VK_SUCCESS ? MOTE_OK : gpu_fail(result, "the panel's pipelines");
}

// ---- Textures ----

void overlay_free_texture(Overlay *overlay, uint32_t slot)
{
    Gpu *gpu = overlay->gpu;
    Texture *texture = &overlay->textures[slot];
    if (texture->sets[0] != VK_NULL_HANDLE) {
        gpu->vkFreeDescriptorSets(gpu->device, overlay->pool, OVERLAY_FILTERS, texture->sets);
    }
    gpu->vkDestroyImageView(gpu->device, texture->view, NULL);
    gpu->vkDestroyImage(gpu->device, texture->image, NULL);
    gpu->vkFreeMemory(gpu->device, texture->memory, NULL);
    *texture = (Texture){0};
    for (uint32_t i = 0; i < overlay->upload_count; i++) {
        if (overlay->uploads[i].texture == slot) {
            overlay->uploads[i] = overlay->uploads[--overlay->upload_count];
            i--;
        }
    }
}

// The window's own, so that a picture can be copied into it.
static VkFormat texture_format(const Gpu *gpu)
{
    return gpu->format == VK_FORMAT_B8G8R8A8_UNORM ? VK_FORMAT_B8G8R8A8_UNORM : VK_FORMAT_R8G8B8A8_UNORM;
}

static VkResult create_texture(Overlay *overlay, Texture *texture, uint32_t width, uint32_t height)
{
    Gpu *gpu = overlay->gpu;
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = texture_format(gpu),
                                    .extent = {width, height, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = VK_SAMPLE_COUNT_1_BIT,
                                    .usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
                                             VK_IMAGE_USAGE_TRANSFER_SRC_BIT};
    VkResult result = MADE(gpu->vkCreateImage(gpu->device, &info, NULL, &texture->image), &texture->image);
    if (result != VK_SUCCESS) {
        return result;
    }
    VkMemoryRequirements needs;
    gpu->vkGetImageMemoryRequirements(gpu->device, texture->image, &needs);
    const uint32_t own = gpu_memory_type(gpu, needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needs.size,
                                         .memoryTypeIndex =
                                             own != UINT32_MAX ? own : gpu_memory_type(gpu, needs.memoryTypeBits, 0)};
    result = MADE(gpu->vkAllocateMemory(gpu->device, &memory, NULL, &texture->memory), &texture->memory);
    result = result == VK_SUCCESS ? gpu->vkBindImageMemory(gpu->device, texture->image, texture->memory, 0) : result;
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                        .image = texture->image,
                                        .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                        .format = info.format,
                                        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    const VkDescriptorSetLayout layouts[OVERLAY_FILTERS] = {overlay->set_layout, overlay->set_layout};
    const VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = overlay->pool,
                                             .descriptorSetCount = OVERLAY_FILTERS,
                                             .pSetLayouts = layouts};
    result = MADE(gpu->vkCreateImageView(gpu->device, &view, NULL, &texture->view), &texture->view);
    result = result == VK_SUCCESS ? gpu->vkAllocateDescriptorSets(gpu->device, &set, texture->sets) : result;
    if (result != VK_SUCCESS) {
        texture->sets[0] = VK_NULL_HANDLE;
        return result;
    }
    for (uint32_t i = 0; i < OVERLAY_FILTERS; i++) {
        const VkDescriptorImageInfo image = {overlay->samplers[i], texture->view,
                                             VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
        const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                            .dstSet = texture->sets[i],
                                            .descriptorCount = 1,
                                            .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                            .pImageInfo = &image};
        gpu->vkUpdateDescriptorSets(gpu->device, 1, &write, 0, NULL);
    }
    texture->format = info.format;
    texture->width = width;
    texture->height = height;
    texture->fresh = true;
    return VK_SUCCESS;
}

// Room for `bytes` more in the staging buffer, with what is there kept.
static MoteResult reserve_staging(Overlay *overlay, size_t bytes)
{
    const size_t wanted = overlay->staging_used + bytes;
    if (wanted <= overlay->staging.bytes) {
        return MOTE_OK;
    }
    GpuBuffer larger = {0};
    const MoteResult result = gpu_buffer_reserve(overlay->gpu, wanted, VK_BUFFER_USAGE_TRANSFER_SRC_BIT, &larger);
    if (result == MOTE_OK) {
        if (overlay->staging_used > 0) {
            memcpy(larger.mapped, overlay->staging.mapped, overlay->staging_used);
        }
        gpu_buffer_destroy(overlay->gpu, &overlay->staging);
        overlay->staging = larger;
    }
    return result;
}

MoteResult overlay_set_texture(Overlay *overlay, uint32_t slot, uint32_t width, uint32_t height, const uint8_t *pixels)
{
    MOTE_ASSERT(slot < OVERLAY_TEXTURES && width > 0 && height > 0);
    Texture *texture = &overlay->textures[slot];
    const size_t bytes = (size_t)width * height * 4;
    if (texture->width != width || texture->height != height || texture->format != texture_format(overlay->gpu)) {
        overlay_free_texture(overlay, slot);
        const VkResult result = create_texture(overlay, texture, width, height);
        if (result != VK_SUCCESS) {
            overlay_free_texture(overlay, slot);
            return gpu_fail(result, "memory for a picture");
        }
    }
    size_t offset = SIZE_MAX;
    for (uint32_t i = 0; i < overlay->upload_count; i++) { // a newer picture of the same size takes the older's place
        offset = overlay->uploads[i].texture == slot ? overlay->uploads[i].offset : offset;
    }
    if (offset == SIZE_MAX) {
        const MoteResult result = reserve_staging(overlay, bytes);
        if (result != MOTE_OK) {
            return result;
        }
        offset = overlay->staging_used;
        overlay->staging_used += bytes;
        overlay->uploads[overlay->upload_count].texture = slot;
        overlay->uploads[overlay->upload_count++].offset = offset;
    }
    uint8_t *to = (uint8_t *)overlay->staging.mapped + offset;
    if (texture->format == VK_FORMAT_R8G8B8A8_UNORM) {
        memcpy(to, pixels, bytes);
    } else {
        for (size_t i = 0; i < bytes; i += 4) {
            to[i] = pixels[i + 2];
            to[i + 1] = pixels[i + 1];
            to[i + 2] = pixels[i];
            to[i + 3] = pixels[i + 3];
        }
    }
    return MOTE_OK;
}

static void record_uploads(Overlay *overlay)
{
    Gpu *gpu = overlay->gpu;
    for (uint32_t i = 0; i < overlay->upload_count; i++) {
        Texture *texture = &overlay->textures[overlay->uploads[i].texture];
        GpuImageUse before = gpu_sampled;
        before.layout = texture->fresh ? VK_IMAGE_LAYOUT_UNDEFINED : before.layout;
        gpu_transition(gpu, texture->image, before, gpu_copied_to);
        const VkBufferImageCopy copy = {.bufferOffset = overlay->uploads[i].offset,
                                        .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                        .imageExtent = {texture->width, texture->height, 1}};
        gpu->vkCmdCopyBufferToImage(gpu->commands, overlay->staging.handle, texture->image,
                                    VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
        gpu_transition(gpu, texture->image, gpu_copied_to, gpu_sampled);
        texture->fresh = false;
    }
    overlay->upload_count = 0;
    overlay->staging_used = 0;
}

// ---- Drawing ----

static int32_t interpolation(int32_t value, int32_t bounds_min, int32_t bounds_max)
{
    return value < bounds_min ? bounds_min : value > bounds_max ? bounds_max : value;
}

// The texture of a command.
static const Texture *texture_of(const Overlay *overlay, const DrawCommand *command)
{
    return command->texture < OVERLAY_TEXTURES ? &overlay->textures[command->texture] : NULL;
}

// A picture of the window's size at the list's beginning: it need not be drawn, it can be copied, which for a software
// driver is a tenth of the work.
static const Texture *find_background(const Overlay *overlay, const DrawList *list)
{
    const Gpu *gpu = overlay->gpu;
    const Texture *texture = list->command_count > 0 ? texture_of(overlay, &list->commands[0]) : NULL;
    return texture != NULL && list->commands[0].opaque && gpu->copied_to && !texture->fresh &&
                   texture->format == gpu->format && texture->width == gpu->extent.width &&
                   texture->height == gpu->extent.height
               ? texture
               : NULL;
}

static void record_list(Overlay *overlay, const DrawList *list, uint32_t first)
{
    Gpu *gpu = overlay->gpu;
    const float width = (float)gpu->extent.width, height = (float)gpu->extent.height;
    const VkViewport viewport = {0.0f, 0.0f, width, height, 0.0f, 1.0f};
    const float constants[4] = {2.0f / width, 2.0f / height, -1.0f, -1.0f};
    const VkDeviceSize zero = 0;
    gpu->vkCmdSetViewport(gpu->commands, 0, 1, &viewport);
    gpu->vkCmdPushConstants(gpu->commands, overlay->layout, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof constants, constants);
    gpu->vkCmdBindVertexBuffers(gpu->commands, 0, 1, &overlay->vertices.handle, &zero);
    gpu->vkCmdBindIndexBuffer(gpu->commands, overlay->indices.handle, 0, VK_INDEX_TYPE_UINT32);
    VkPipeline bound = VK_NULL_HANDLE;
    for (uint32_t i = first; i < list->command_count; i++) {
        const DrawCommand *command = &list->commands[i];
        const Texture *texture = texture_of(overlay, command);
        const int32_t right = (int32_t)gpu->extent.width, bottom = (int32_t)gpu->extent.height;
        const int32_t left = interpolation(command->clip[0], 0, right),
                      top = interpolation(command->clip[1], 0, bottom);
        const int32_t w = interpolation(command->clip[2], left, right) - left;
        const int32_t h = interpolation(command->clip[3], top, bottom) - top;
        if (texture == NULL || texture->width == 0 || texture->fresh || w <= 0 || h <= 0) {
            continue;
        }
        const VkRect2D scissor = {{left, top}, {(uint32_t)w, (uint32_t)h}};
        gpu->vkCmdSetScissor(gpu->commands, 0, 1, &scissor);
        const VkPipeline pipeline = overlay->pipelines[command->opaque ? OVERLAY_OPAQUE : OVERLAY_BLENDED];
        if (pipeline != bound) {
            gpu->vkCmdBindPipeline(gpu->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
            bound = pipeline;
        }
        const bool same_size = texture->width == gpu->extent.width && texture->height == gpu->extent.height;
        const uint32_t filter = command->exact || (command->opaque && same_size) ? OVERLAY_NEAREST : OVERLAY_SMOOTH;
        gpu->vkCmdBindDescriptorSets(gpu->commands, VK_PIPELINE_BIND_POINT_GRAPHICS, overlay->layout, 0, 1,
                                     &texture->sets[filter], 0, NULL);
        gpu->vkCmdDrawIndexed(gpu->commands, command->index_count, 1, command->first_index, 0, 0);
    }
}

MoteResult overlay_show(Overlay *overlay, const DrawList *list, bool *shown)
{
    Gpu *gpu = overlay->gpu;
    *shown = false;
    MoteResult result = gpu_buffer_reserve(gpu, list->vertex_count * sizeof *list->vertices,
                                           VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, &overlay->vertices);
    if (result == MOTE_OK) {
        result = gpu_buffer_reserve(gpu, list->index_count * sizeof *list->indices, VK_BUFFER_USAGE_INDEX_BUFFER_BIT,
                                    &overlay->indices);
    }
    bool ready = false;
    result = result == MOTE_OK ? gpu_begin(gpu, &ready) : result;
    if (result != MOTE_OK || !ready) {
        return result;
    }
    result = make_pipelines(overlay);
    record_uploads(overlay);
    const Texture *background = find_background(overlay, list);
    gpu_begin_rendering(gpu, background != NULL ? background->image : VK_NULL_HANDLE);
    if (result == MOTE_OK && list->command_count > 0) {
        memcpy(overlay->vertices.mapped, list->vertices, list->vertex_count * sizeof *list->vertices);
        memcpy(overlay->indices.mapped, list->indices, list->index_count * sizeof *list->indices);
        record_list(overlay, list, background != NULL ? 1 : 0);
    }
    const MoteResult ended = gpu_end(gpu);
    *shown = ended == MOTE_OK;
    return result == MOTE_OK ? ended : result;
}
