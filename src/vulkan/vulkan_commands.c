// vulkan_commands.c - commands are recorded one after the other and run when someone wants to see what they did.
#include "vulkan/vulkan_backend.h"

#include "base/error.h"
#include <stdio.h>
#include <string.h>

bool vulkan_check(VulkanBackend *vulkan, VkResult result, const char *what)
{
    if (result != VK_SUCCESS && vulkan->failure[0] == '\0') {
        device_fail(result, what); // for its sentence
        snprintf(vulkan->failure, sizeof vulkan->failure, "%s; try backend cpu", mote_error_message());
    }
    return vulkan->failure[0] == '\0';
}

// ---- Life --------------------------------------------------------------------------------------------------

static VkResult create_set(VulkanBackend *vulkan)
{
    VkDevice device = vulkan->device->handle;
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC, 1};
    const VkDescriptorPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 1, .pPoolSizes = &size};
    VkResult result = vkCreateDescriptorPool(device, &pool, NULL, &vulkan->descriptor_pool);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = vulkan->descriptor_pool,
                                             .descriptorSetCount = 1,
                                             .pSetLayouts = &vulkan->programs->set_layout};
    result = vkAllocateDescriptorSets(device, &set, &vulkan->set);
    if (result == VK_SUCCESS) {
        const VkDescriptorBufferInfo view = {vulkan->views.handle, 0, sizeof(MoteView)};
        const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                            .dstSet = vulkan->set,
                                            .descriptorCount = 1,
                                            .descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
                                            .pBufferInfo = &view};
        vkUpdateDescriptorSets(device, 1, &write, 0, NULL);
    }
    return result;
}

static VkResult create_queue_objects(VulkanBackend *vulkan)
{
    VkDevice device = vulkan->device->handle;
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = vulkan->device->queue_family};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkQueryPoolCreateInfo queries = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                           .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                           .queryCount = TIME_SLOTS + 1};
    VkResult result = vkCreateCommandPool(device, &pool, NULL, &vulkan->pool);
    if (result == VK_SUCCESS) {
        const VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                      .commandPool = vulkan->pool,
                                                      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                      .commandBufferCount = 1};
        result = vkAllocateCommandBuffers(device, &commands, &vulkan->commands);
    }
    result = result == VK_SUCCESS ? vkCreateFence(device, &fence, NULL, &vulkan->fence) : result;
    return result == VK_SUCCESS ? vkCreateQueryPool(device, &queries, NULL, &vulkan->queries) : result;
}

MoteResult vulkan_commands_create(VulkanBackend *vulkan)
{
    const uint32_t alignment = (uint32_t)vulkan->device->limits.minUniformBufferOffsetAlignment; // a power of two
    vulkan->view_stride = ((uint32_t)sizeof(MoteView) + alignment - 1) & ~(alignment - 1);
    const MoteResult created = buffer_create(vulkan->device, "the solver's views", BUFFER_UPLOAD,
                                             (size_t)VIEW_SLOTS * vulkan->view_stride, &vulkan->views);
    if (created != MOTE_OK) {
        return created;
    }
    VkResult result = create_queue_objects(vulkan);
    result = result == VK_SUCCESS ? create_set(vulkan) : result;
    return result == VK_SUCCESS ? MOTE_OK : device_fail(result, "setting up the solver");
}

void vulkan_commands_destroy(VulkanBackend *vulkan)
{
    VkDevice device = vulkan->device->handle;
    vkDestroyQueryPool(device, vulkan->queries, NULL);
    vkDestroyFence(device, vulkan->fence, NULL);
    vkDestroyCommandPool(device, vulkan->pool, NULL);
    vkDestroyDescriptorPool(device, vulkan->descriptor_pool, NULL);
    buffer_destroy(vulkan->device, &vulkan->views);
}

// ---- Recording ---------------------------------------------------------------------------------------------

// Once everything before has run. Mesa's software device does one launch after the other anyway, and would make its
// threads meet for any other stage, which takes longer than a small launch.
static void write_time(VulkanBackend *vulkan, uint32_t query)
{
    vkCmdWriteTimestamp2(vulkan->commands,
                         vulkan->device->info.software ? VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT
                                                       : VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                         vulkan->queries, query);
}

bool vulkan_begin(VulkanBackend *vulkan)
{
    if (vulkan->recording || vulkan->failure[0] != '\0') {
        return vulkan->failure[0] == '\0';
    }
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    if (!vulkan_check(vulkan, vkBeginCommandBuffer(vulkan->commands, &begin), "recording commands")) {
        return false;
    }
    vulkan->recording = true;
    vulkan->view_count = vulkan->pending_count = 0;
    vulkan->upload_used = 0;
    vulkan->untimed = false;
    vkCmdResetQueryPool(vulkan->commands, vulkan->queries, 0, TIME_SLOTS + 1);
    write_time(vulkan, 0);
    return true;
}

// Every launch may read what the one before wrote, so one barrier after each is what is needed, not more than that.
void vulkan_barrier(VulkanBackend *vulkan)
{
    const VkPipelineStageFlags2 stages = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    const VkMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = stages,
        .srcAccessMask = VK_ACCESS_2_SHADER_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .dstStageMask = stages | VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT,
        .dstAccessMask = VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_SHADER_WRITE_BIT | VK_ACCESS_2_TRANSFER_READ_BIT |
                         VK_ACCESS_2_TRANSFER_WRITE_BIT | VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT,
    };
    const VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO, .memoryBarrierCount = 1, .pMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(vulkan->commands, &dependency);
    vulkan->untimed = true;
}

// The host, and a renderer's commands on the same queue, see everything.
static void final_barrier(VulkanBackend *vulkan)
{
    const VkMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
        .srcAccessMask = VK_ACCESS_2_MEMORY_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_HOST_BIT,
        .dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT | VK_ACCESS_2_HOST_READ_BIT};
    const VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO, .memoryBarrierCount = 1, .pMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(vulkan->commands, &dependency);
}

bool vulkan_begin_timed(VulkanBackend *vulkan)
{
    if (vulkan->recording && (vulkan->view_count == VIEW_SLOTS || vulkan->pending_count + 2 > TIME_SLOTS)) {
        vulkan_finish(vulkan);
    }
    if (!vulkan_begin(vulkan)) {
        return false;
    }
    if (vulkan->untimed) {
        vulkan_time(vulkan, NO_TIMER, 0);
    }
    return true;
}

// The slot that holds `view`; launches in a row often have the same.
static uint32_t place_view(VulkanBackend *vulkan, const MoteView *view)
{
    if (vulkan->view_count == 0 || memcmp(&vulkan->last_view, view, sizeof *view) != 0) {
        MOTE_ASSERT(vulkan->view_count < VIEW_SLOTS);
        memcpy((char *)vulkan->views.mapped + (size_t)vulkan->view_count * vulkan->view_stride, view, sizeof *view);
        memcpy(&vulkan->last_view, view, sizeof *view);
        vulkan->view_count++;
    }
    return (vulkan->view_count - 1) * vulkan->view_stride;
}

bool vulkan_bind(VulkanBackend *vulkan, ProgramId program, const MoteView *view, const void *constants, uint32_t bytes)
{
    VkPipeline pipeline = vulkan_programs_pipeline(vulkan->programs, program);
    if (pipeline == VK_NULL_HANDLE) {
        if (vulkan->failure[0] == '\0') {
            snprintf(vulkan->failure, sizeof vulkan->failure, "%s; try backend cpu", mote_error_message());
        }
        return false;
    }
    vkCmdBindPipeline(vulkan->commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    if (view != NULL) {
        const uint32_t offset = place_view(vulkan, view);
        vkCmdBindDescriptorSets(vulkan->commands, VK_PIPELINE_BIND_POINT_COMPUTE, vulkan->programs->layout, 0, 1,
                                &vulkan->set, 1, &offset);
    }
    if (constants != NULL) {
        vkCmdPushConstants(vulkan->commands, vulkan->programs->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, bytes,
                           constants);
    }
    return true;
}

// ---- Timers ------------------------------------------------------------------------------------------------

void vulkan_time(VulkanBackend *vulkan, int timer, uint64_t invocations)
{
    if (timer != NO_TIMER) {
        vulkan->timers[timer].launches++;
        vulkan->timers[timer].invocations += invocations;
    }
    MOTE_ASSERT(vulkan->pending_count < TIME_SLOTS);
    vulkan->pending[vulkan->pending_count++] = timer;
    write_time(vulkan, vulkan->pending_count);
    vulkan->untimed = false;
}

static void collect_times(VulkanBackend *vulkan)
{
    uint64_t ticks[TIME_SLOTS + 1];
    const uint32_t count = vulkan->pending_count + 1;
    if (vulkan->pending_count == 0 ||
        vkGetQueryPoolResults(vulkan->device->handle, vulkan->queries, 0, count, count * sizeof *ticks, ticks,
                              sizeof *ticks, VK_QUERY_RESULT_64_BIT) != VK_SUCCESS) {
        return;
    }
    for (uint32_t i = 0; i < vulkan->pending_count; i++) {
        if (vulkan->pending[i] != NO_TIMER && ticks[i + 1] > ticks[i]) { // a counter of few bits may begin anew
            vulkan->timers[vulkan->pending[i]].milliseconds +=
                1e-6 * (double)vulkan->device->limits.timestampPeriod * (double)(ticks[i + 1] - ticks[i]);
        }
    }
    vulkan->pending_count = 0;
}

// ---- Running -----------------------------------------------------------------------------------------------

bool vulkan_finish(VulkanBackend *vulkan)
{
    if (!vulkan->recording) {
        return vulkan->failure[0] == '\0';
    }
    Device *device = vulkan->device;
    vulkan->recording = false;
    final_barrier(vulkan);
    buffer_flush(device, &vulkan->views);
    buffer_flush(device, &vulkan->upload);
    VkResult result = vkEndCommandBuffer(vulkan->commands);
    result = result == VK_SUCCESS ? device_submit_to_queue(device, vulkan->commands, vulkan->fence) : result;
    result = result == VK_SUCCESS ? vkWaitForFences(device->handle, 1, &vulkan->fence, VK_TRUE, UINT64_MAX) : result;
    result = result == VK_SUCCESS ? vkResetFences(device->handle, 1, &vulkan->fence) : result;
    if (vulkan_check(vulkan, result, "running the solver")) {
        collect_times(vulkan);
    }
    vulkan_bury(vulkan);
    return vulkan->failure[0] == '\0';
}
