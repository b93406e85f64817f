// SPDX-License-Identifier: MIT
// pipelines.c - pipelines and the few commands that passes share.
#include "render/renderer.h"

#include "base/error.h"
#include "render/shaders.h"
#include <string.h>

static MoteResult create_module(MoteRenderer *renderer, const char *shader, VkShaderModule *out)
{
    const ShaderCode *code = shader_find(shader);
    MOTE_ASSERT(code != NULL);
    for (uint32_t i = 0; i < renderer->shader_count; i++) {
        if (strcmp(renderer->shaders[i].name, shader) == 0) {
            code = &renderer->shaders[i];
        }
    }
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = code->bytes, .pCode = code->words};
    const VkResult result = MADE(vkCreateShaderModule(renderer->device.handle, &info, NULL, out), out);
    return result == VK_SUCCESS ? MOTE_OK : device_fail(result, shader);
}

MoteResult pipeline_create_compute(MoteRenderer *renderer, const char *shader, const uint32_t *values,
                                   uint32_t value_count, VkPipeline *out)
{
    *out = VK_NULL_HANDLE;
    VkSpecializationMapEntry entries[8];
    MOTE_ASSERT(value_count <= 8);
    for (uint32_t i = 0; i < value_count; i++) {
        entries[i] = (VkSpecializationMapEntry){i, i * (uint32_t)sizeof *values, sizeof *values};
    }
    const VkSpecializationInfo constants = {value_count, entries, value_count * sizeof *values, values};
    VkShaderModule module;
    MoteResult result = create_module(renderer, shader, &module);
    if (result != MOTE_OK) {
        return result;
    }
    const VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                              .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                        .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                        .module = module,
                                                        .pName = "main",
                                                        .pSpecializationInfo = &constants},
                                              .layout = renderer->pipeline_layout};
    const VkResult created = vkCreateComputePipelines(renderer->device.handle, VK_NULL_HANDLE, 1, &info, NULL, out);
    vkDestroyShaderModule(renderer->device.handle, module, NULL);
    if (created != VK_SUCCESS) {
        *out = VK_NULL_HANDLE;
        return device_fail(created, shader);
    }
    DEVICE_NAME(&renderer->device, PIPELINE, *out, shader);
    return MOTE_OK;
}

static VkPipelineColorBlendAttachmentState blend_state(Blending blending)
{
    VkPipelineColorBlendAttachmentState state = {
        .blendEnable = blending != BLEND_NONE,
        .srcColorBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstColorBlendFactor = blending == BLEND_OVER ? VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA : VK_BLEND_FACTOR_ONE,
        .colorBlendOp = VK_BLEND_OP_ADD,
        .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstAlphaBlendFactor = blending == BLEND_OVER ? VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA : VK_BLEND_FACTOR_ONE,
        .alphaBlendOp = VK_BLEND_OP_ADD,
        .colorWriteMask =
            VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT | VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT,
    };
    if (blending == BLEND_MULTIPLY) {
        state.srcColorBlendFactor = VK_BLEND_FACTOR_ZERO;
        state.dstColorBlendFactor = VK_BLEND_FACTOR_SRC_COLOR;
        state.srcAlphaBlendFactor = VK_BLEND_FACTOR_ZERO;
    }
    return state;
}

// All fixed-function state; the stages' modules are the caller's.
static VkResult create_graphics(MoteRenderer *renderer, const GraphicsPipeline *info,
                                const VkPipelineShaderStageCreateInfo *stages, uint32_t stage_count, VkPipeline *out)
{
    const VkFormat colors[2] = {info->color_format, info->color_format2};
    const uint32_t color_count = colors[0] == VK_FORMAT_UNDEFINED ? 0 : colors[1] == VK_FORMAT_UNDEFINED ? 1 : 2;
    const VkPipelineRenderingCreateInfo rendering = {.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
                                                     .colorAttachmentCount = color_count,
                                                     .pColorAttachmentFormats = colors,
                                                     .depthAttachmentFormat = info->depth_format};
    const VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO, .topology = info->topology};
    const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO, .viewportCount = 1, .scissorCount = 1};
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .cullMode = info->cull,
        .frontFace = VK_FRONT_FACE_COUNTER_CLOCKWISE,
        .depthBiasEnable = info->depth_bias_slope != 0.0f,
        .depthBiasSlopeFactor = info->depth_bias_slope,
        .lineWidth = 1.0f};
    const VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = info->samples > 1 ? (VkSampleCountFlagBits)info->samples : VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineDepthStencilStateCreateInfo depth = {.sType =
                                                             VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
                                                         .depthTestEnable = info->depth_test,
                                                         .depthWriteEnable = info->depth_write,
                                                         .depthCompareOp = info->depth_compare};
    const VkPipelineColorBlendAttachmentState attachments[2] = {blend_state(info->blending),
                                                                blend_state(info->blending)};
    const VkPipelineColorBlendStateCreateInfo blend = {.sType =
                                                           VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
                                                       .attachmentCount = color_count,
                                                       .pAttachments = attachments};
    const VkDynamicState dynamics[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    const VkPipelineDynamicStateCreateInfo dynamic = {.sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
                                                      .dynamicStateCount = 2,
                                                      .pDynamicStates = dynamics};
    const VkGraphicsPipelineCreateInfo pipeline = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                                   .pNext = &rendering,
                                                   .stageCount = stage_count,
                                                   .pStages = stages,
                                                   .pVertexInputState = &vertices,
                                                   .pInputAssemblyState = &assembly,
                                                   .pViewportState = &viewport,
                                                   .pRasterizationState = &raster,
                                                   .pMultisampleState = &samples,
                                                   .pDepthStencilState = &depth,
                                                   .pColorBlendState = &blend,
                                                   .pDynamicState = &dynamic,
                                                   .layout = renderer->pipeline_layout};
    return vkCreateGraphicsPipelines(renderer->device.handle, VK_NULL_HANDLE, 1, &pipeline, NULL, out);
}

GraphicsPipeline pipeline_opaque(const char *vertex, const char *fragment, uint32_t samples)
{
    return (GraphicsPipeline){.vertex = vertex,
                              .fragment = fragment,
                              .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
                              .cull = VK_CULL_MODE_BACK_BIT,
                              .color_format = VK_FORMAT_R16G16B16A16_SFLOAT,
                              .depth_format = VK_FORMAT_D32_SFLOAT,
                              .depth_test = true,
                              .depth_write = true,
                              .depth_compare = VK_COMPARE_OP_GREATER,
                              .samples = samples};
}

MoteResult pipeline_create_graphics(MoteRenderer *renderer, const GraphicsPipeline *info, VkPipeline *out)
{
    *out = VK_NULL_HANDLE;
    const char *names[2] = {info->vertex, info->fragment};
    const uint32_t size = sizeof(uint32_t);
    const VkSpecializationMapEntry entries[3] = {{0, 0, size}, {1, size, size}, {2, 2 * size, size}};
    const VkSpecializationInfo constants = {3, entries, sizeof info->values, info->values};
    const VkShaderStageFlagBits kinds[2] = {VK_SHADER_STAGE_VERTEX_BIT, VK_SHADER_STAGE_FRAGMENT_BIT};
    VkShaderModule modules[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    VkPipelineShaderStageCreateInfo stages[2];
    uint32_t count = 0;
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < 2 && result == MOTE_OK; i++) {
        if (names[i] != NULL) {
            result = create_module(renderer, names[i], &modules[i]);
            stages[count++] =
                (VkPipelineShaderStageCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                  .stage = kinds[i],
                                                  .module = modules[i],
                                                  .pName = "main",
                                                  .pSpecializationInfo = i == 1 ? &constants : NULL};
        }
    }
    if (result == MOTE_OK) {
        const VkResult created = create_graphics(renderer, info, stages, count, out);
        if (created != VK_SUCCESS) {
            *out = VK_NULL_HANDLE;
            result = device_fail(created, info->vertex);
        } else {
            DEVICE_NAME(&renderer->device, PIPELINE, *out, info->vertex);
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        vkDestroyShaderModule(renderer->device.handle, modules[i], NULL);
    }
    return result;
}

// ---- Commands ----------------------------------------------------------------------------------------------

void pass_constants(MoteRenderer *renderer, const void *constants, size_t bytes)
{
    MOTE_ASSERT(bytes <= PASS_CONSTANTS_BYTES);
    char *slices = renderer->blocks[BLOCK_pass_constants].mapped;
    memcpy(slices + (size_t)renderer->recording * PASS_CONSTANTS_BYTES, constants, bytes);
}

void pass_bind(MoteRenderer *renderer, VkCommandBuffer commands, VkPipelineBindPoint point, VkPipeline pipeline,
               const void *push, uint32_t bytes)
{
    const uint32_t slice = (uint32_t)renderer->recording * PASS_CONSTANTS_BYTES;
    vkCmdBindPipeline(commands, point, pipeline);
    vkCmdBindDescriptorSets(commands, point, renderer->pipeline_layout, 0, 1, &renderer->set, 1, &slice);
    if (push != NULL) {
        MOTE_ASSERT(bytes <= PUSH_CONSTANTS_BYTES);
        vkCmdPushConstants(commands, renderer->pipeline_layout, VK_SHADER_STAGE_ALL, 0, bytes, push);
    }
}

void pass_dispatch(VkCommandBuffer commands, uint32_t count, uint32_t group)
{
    const uint32_t groups = (count + group - 1) / group, row = 65535; // what every device can
    if (groups > 0) {
        vkCmdDispatch(commands, groups < row ? groups : row, (groups + row - 1) / row, 1);
    }
}

void pass_dispatch_pixels(VkCommandBuffer commands, uint32_t width, uint32_t height)
{
    vkCmdDispatch(commands, (width + 7) / 8, (height + 7) / 8, 1);
}

static void wait_before_compute(VkCommandBuffer commands, VkPipelineStageFlags2 stage, VkAccessFlags2 access)
{
    device_barrier(commands, (MemoryUse){stage, access},
                   (MemoryUse){VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT,
                               VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_SHADER_WRITE_BIT |
                                   VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT});
}

void pass_compute_barrier(VkCommandBuffer commands)
{
    wait_before_compute(commands, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_WRITE_BIT);
}

void pass_transfer_barrier(VkCommandBuffer commands)
{
    wait_before_compute(commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT);
}

void pass_before_transfer_barrier(VkCommandBuffer commands)
{
    device_barrier(commands, (MemoryUse){VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_WRITE_BIT},
                   (MemoryUse){VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
                               VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT});
}

void pass_attachment_barrier(VkCommandBuffer commands)
{
    const VkAccessFlags2 writes =
        VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT;
    device_barrier(commands, (MemoryUse){VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT, writes},
                   (MemoryUse){VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT, writes | VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT |
                                                                         VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |
                                                                         VK_ACCESS_2_SHADER_READ_BIT});
}

static VkRenderingAttachmentInfo attachment(const DeviceImage *picture, bool clear)
{
    return (VkRenderingAttachmentInfo){.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                       .imageView = picture != NULL ? picture->view : VK_NULL_HANDLE,
                                       .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                       .loadOp = clear ? VK_ATTACHMENT_LOAD_OP_CLEAR : VK_ATTACHMENT_LOAD_OP_LOAD,
                                       .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
}

void pass_begin_rendering(VkCommandBuffer commands, const RenderTargets *targets)
{
    const DeviceImage *size = targets->color != NULL ? targets->color : targets->depth;
    VkRenderingAttachmentInfo colors[2] = {attachment(targets->color, targets->clear_color != NULL),
                                           attachment(targets->color2, targets->clear_color != NULL)};
    VkRenderingAttachmentInfo depth = attachment(targets->depth, targets->clear_depth != NULL);
    if (targets->clear_color != NULL) {
        colors[0].clearValue.color = *targets->clear_color;
        colors[1].clearValue.color = *targets->clear_color;
    }
    if (targets->clear_depth != NULL) {
        depth.clearValue.depthStencil.depth = *targets->clear_depth;
    }
    const VkRect2D area = {{0, 0}, {size->width, size->height}};
    const uint32_t color_count = targets->color == NULL ? 0 : targets->color2 == NULL ? 1 : 2;
    const VkRenderingInfo info = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                  .renderArea = area,
                                  .layerCount = 1,
                                  .colorAttachmentCount = color_count,
                                  .pColorAttachments = colors,
                                  .pDepthAttachment = targets->depth != NULL ? &depth : NULL};
    vkCmdBeginRendering(commands, &info);
    const VkViewport viewport = {0.0f, 0.0f, (float)size->width, (float)size->height, 0.0f, 1.0f};
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, targets->area != NULL ? targets->area : &area);
}

// ---- Simple passes -----------------------------------------------------------------------------------------

MoteResult simple_pass_create(MoteRenderer *renderer, SimplePass *pass, const SimpleShader *shaders, uint32_t count)
{
    MOTE_ASSERT(count <= SIMPLE_PIPELINES);
    MoteResult result = MOTE_OK;
    for (uint32_t i = 0; i < count && result == MOTE_OK; i++) {
        if (pass->pipelines[i] == VK_NULL_HANDLE) {
            result = pipeline_create_compute(renderer, shaders[i].shader, shaders[i].values, 4, &pass->pipelines[i]);
        }
    }
    return result;
}

void simple_pass_destroy(MoteRenderer *renderer, void *state)
{
    SimplePass *pass = state;
    for (uint32_t i = 0; i < SIMPLE_PIPELINES; i++) {
        vkDestroyPipeline(renderer->device.handle, pass->pipelines[i], NULL);
    }
    buffer_destroy(&renderer->device, &pass->buffer);
}
