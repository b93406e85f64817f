// SPDX-License-Identifier: MIT
// vulkan_commands.c - commands are remembered one after the other and run when someone wants to see what they did. A
// step repeats those of the last one, so what was recorded for that is run again.
#include "vulkan/vulkan_backend.h"

#include "base/error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum CommandKind {
    COMMAND_LAUNCH, // of a kernel, with as many workgroups as `sizes` says at target_offset
    COMMAND_DISPATCH,
    COMMAND_PLANNED,
    COMMAND_FILL,
    COMMAND_COPY,
    COMMAND_TIME,
} CommandKind;

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
    VkResult result =
        MADE(vkCreateDescriptorPool(device, &pool, NULL, &vulkan->descriptor_pool), &vulkan->descriptor_pool);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = vulkan->descriptor_pool,
                                             .descriptorSetCount = 1,
                                             .pSetLayouts = &vulkan->programs->set_layout};
    result = vkAllocateDescriptorSets(device, &set, &vulkan->set);
    if (result == VK_SUCCESS) {
        const VkDescriptorBufferInfo view = {vulkan->views.handle, 0, sizeof(SolverData)};
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
    VkResult result = MADE(vkCreateCommandPool(device, &pool, NULL, &vulkan->pool), &vulkan->pool);
    for (int b = 0; b < BATCH_LIMIT && result == VK_SUCCESS; b++) {
        const VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                      .commandPool = vulkan->pool,
                                                      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                      .commandBufferCount = 1};
        result = vkAllocateCommandBuffers(device, &commands, &vulkan->batches[b].recorded);
    }
    result = result == VK_SUCCESS ? MADE(vkCreateFence(device, &fence, NULL, &vulkan->fence), &vulkan->fence) : result;
    return result == VK_SUCCESS ? MADE(vkCreateQueryPool(device, &queries, NULL, &vulkan->queries), &vulkan->queries)
                                : result;
}

MoteResult vulkan_commands_create(VulkanBackend *vulkan)
{
    const uint32_t alignment = (uint32_t)vulkan->device->limits.minUniformBufferOffsetAlignment; // a power of two
    vulkan->view_stride = ((uint32_t)sizeof(SolverData) + alignment - 1) & ~(alignment - 1);
    MoteResult created = buffer_create(vulkan->device, "the solver's views", BUFFER_UPLOAD,
                                       (size_t)VIEW_SLOTS * vulkan->view_stride, &vulkan->views);
    if (created == MOTE_OK) {
        created = buffer_create(vulkan->device, "the solver's sizes of launches", BUFFER_UPLOAD,
                                TIME_SLOTS * sizeof(VkDispatchIndirectCommand), &vulkan->sizes);
    }
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
    buffer_destroy(vulkan->device, &vulkan->sizes);
    for (int b = 0; b < BATCH_LIMIT; b++) {
        free(vulkan->batches[b].commands);
    }
    free(vulkan->commands);
}

static void settle(VulkanBackend *vulkan);

// ---- Remembering -------------------------------------------------------------------------------------------

bool vulkan_begin(VulkanBackend *vulkan)
{
    if (!vulkan->recording && vulkan->failure[0] == '\0') {
        settle(vulkan);
        vulkan->recording = true;
        vulkan->command_count = 0;
        vulkan->view_count = vulkan->size_count = vulkan->pending_count = 0;
        vulkan->upload = 0;
        vulkan->upload_used = 0;
        vulkan->untimed = false;
    }
    return vulkan->failure[0] == '\0';
}

// A command of zeros; NULL after a failure.
static VulkanCommand *add(VulkanBackend *vulkan, CommandKind kind)
{
    if (!vulkan_begin(vulkan)) {
        return NULL;
    }
    if (vulkan->command_count == vulkan->command_capacity) {
        const uint32_t capacity = 2 * vulkan->command_capacity + 256;
        VulkanCommand *grown = realloc(vulkan->commands, capacity * sizeof *grown);
        if (grown == NULL) {
            vulkan_check(vulkan, VK_ERROR_OUT_OF_HOST_MEMORY, "remembering commands");
            return NULL;
        }
        vulkan->commands = grown;
        vulkan->command_capacity = capacity;
    }
    VulkanCommand *command = &vulkan->commands[vulkan->command_count++];
    memset(command, 0, sizeof *command);
    command->kind = kind;
    vulkan->untimed = kind != COMMAND_TIME;
    return command;
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
static uint32_t place_view(VulkanBackend *vulkan, const SolverData *view)
{
    if (vulkan->view_count == 0 || memcmp(&vulkan->last_view, view, sizeof *view) != 0) {
        MOTE_ASSERT(vulkan->view_count < VIEW_SLOTS);
        memcpy((char *)vulkan->views.mapped + (size_t)vulkan->view_count * vulkan->view_stride, view, sizeof *view);
        memcpy(&vulkan->last_view, view, sizeof *view);
        vulkan->view_count++;
    }
    return (vulkan->view_count - 1) * vulkan->view_stride;
}

// A command that runs `program`; NULL if it cannot be had.
static VulkanCommand *add_program(VulkanBackend *vulkan, CommandKind kind, ProgramId program, uint32_t lacked_features,
                                  const void *constants, uint32_t bytes)
{
    VkPipeline pipeline = vulkan_programs_pipeline(vulkan->programs, program, lacked_features);
    if (pipeline == VK_NULL_HANDLE) {
        if (vulkan->failure[0] == '\0') {
            snprintf(vulkan->failure, sizeof vulkan->failure, "%s; try backend cpu", mote_error_message());
        }
        return NULL;
    }
    VulkanCommand *command = add(vulkan, kind);
    if (command != NULL) {
        MOTE_ASSERT(bytes <= PUSH_CONSTANT_BYTES);
        command->pipeline = pipeline;
        command->constant_bytes = bytes;
        if (bytes > 0) {
            memcpy(command->constants, constants, bytes);
        }
    }
    return command;
}

void vulkan_launch(VulkanBackend *vulkan, ProgramId kernel, const SolverData *view, uint32_t invocations,
                   const void *constants, uint32_t bytes)
{
    VulkanCommand *command = add_program(vulkan, COMMAND_LAUNCH, kernel, view->lacked_features, constants, bytes);
    if (command == NULL) {
        return;
    }
    const uint32_t group = vulkan->programs->group, row = 65535; // workgroups: what every device can
    const uint32_t groups = invocations / group + (invocations % group != 0);
    MOTE_ASSERT(vulkan->size_count < TIME_SLOTS);
    ((VkDispatchIndirectCommand *)vulkan->sizes.mapped)[vulkan->size_count] =
        (VkDispatchIndirectCommand){groups < row ? groups : row, (groups + row - 1) / row, 1};
    command->view = place_view(vulkan, view);
    command->source = vulkan->sizes.handle;
    command->source_offset = vulkan->size_count++ * sizeof(VkDispatchIndirectCommand);
}

void vulkan_dispatch(VulkanBackend *vulkan, ProgramId program, const void *constants, uint32_t bytes, uint32_t groups)
{
    VulkanCommand *command = add_program(vulkan, COMMAND_DISPATCH, program, 0, constants, bytes);
    if (command != NULL) {
        command->groups = groups;
    }
}

void vulkan_dispatch_planned(VulkanBackend *vulkan, ProgramId program, const void *constants, uint32_t bytes,
                             VkBuffer sizes, VkDeviceSize offset)
{
    VulkanCommand *command = add_program(vulkan, COMMAND_PLANNED, program, 0, constants, bytes);
    if (command != NULL) {
        command->source = sizes;
        command->source_offset = offset;
    }
}

void vulkan_fill_zero(VulkanBackend *vulkan, VkBuffer target, VkDeviceSize bytes)
{
    VulkanCommand *command = add(vulkan, COMMAND_FILL);
    if (command != NULL) {
        command->target = target;
        command->bytes = bytes;
    }
}

void vulkan_copy_buffer(VulkanBackend *vulkan, VkBuffer source, VkDeviceSize source_offset, VkBuffer target,
                        VkDeviceSize target_offset, VkDeviceSize bytes)
{
    VulkanCommand *command = add(vulkan, COMMAND_COPY);
    if (command != NULL) {
        command->source = source;
        command->source_offset = source_offset;
        command->target = target;
        command->target_offset = target_offset;
        command->bytes = bytes;
    }
}

// ---- Recording ---------------------------------------------------------------------------------------------

// Once everything before has run. Mesa's software device does one launch after the other anyway, and would make its
// threads meet for any other stage, which takes longer than a small launch.
static void write_time(VulkanBackend *vulkan, VkCommandBuffer commands, uint32_t query)
{
    vkCmdWriteTimestamp2(commands,
                         vulkan->device->info.software ? VK_PIPELINE_STAGE_2_TOP_OF_PIPE_BIT
                                                       : VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                         vulkan->queries, query);
}

// Every launch may read what the one before wrote, so one barrier after each is what is needed, not more than that.
static void add_barrier(VkCommandBuffer commands)
{
    const VkPipelineStageFlags2 stages = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
    device_barrier(commands, (MemoryUse){stages, VK_ACCESS_2_SHADER_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT},
                   (MemoryUse){stages | VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT,
                               VK_ACCESS_2_SHADER_READ_BIT | VK_ACCESS_2_SHADER_WRITE_BIT |
                                   VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT |
                                   VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT});
}

static void record(VulkanBackend *vulkan, const VulkanCommand *command, VkCommandBuffer commands)
{
    VkPipelineLayout layout = vulkan->programs->layout;
    if (command->pipeline != VK_NULL_HANDLE) {
        vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, command->pipeline);
    }
    if (command->constant_bytes > 0) {
        vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, command->constant_bytes,
                           command->constants);
    }
    const VkBufferCopy region = {command->source_offset, command->target_offset, command->bytes};
    switch (command->kind) {
    case COMMAND_LAUNCH:
        vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &vulkan->set, 1,
                                &command->view);
        vkCmdDispatchIndirect(commands, command->source, command->source_offset);
        break;
    case COMMAND_DISPATCH:
        vkCmdDispatch(commands, command->groups, 1, 1);
        break;
    case COMMAND_PLANNED:
        vkCmdDispatchIndirect(commands, command->source, command->source_offset);
        break;
    case COMMAND_FILL:
        vkCmdFillBuffer(commands, command->target, 0, command->bytes, 0);
        break;
    case COMMAND_COPY:
        vkCmdCopyBuffer(commands, command->source, command->target, 1, &region);
        break;
    default:
        write_time(vulkan, commands, command->query);
        return;
    }
    add_barrier(commands);
}

static VkResult record_batch(VulkanBackend *vulkan, VulkanBatch *batch)
{
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkResult result = vkBeginCommandBuffer(batch->recorded, &begin);
    if (result != VK_SUCCESS) {
        return result;
    }
    vkCmdResetQueryPool(batch->recorded, vulkan->queries, 0, vulkan->pending_count + 1);
    write_time(vulkan, batch->recorded, 0);
    for (uint32_t i = 0; i < vulkan->command_count; i++) {
        record(vulkan, &vulkan->commands[i], batch->recorded);
    }
    device_full_barrier(batch->recorded); // for the host, and a renderer's commands on the same queue
    return vkEndCommandBuffer(batch->recorded);
}

// ---- Timers ------------------------------------------------------------------------------------------------

void vulkan_time(VulkanBackend *vulkan, int timer, uint64_t invocations)
{
    VulkanCommand *command = add(vulkan, COMMAND_TIME);
    if (command == NULL) {
        return;
    }
    if (timer != NO_TIMER) {
        vulkan->timers[timer].launches++;
        vulkan->timers[timer].invocations += invocations;
    }
    MOTE_ASSERT(vulkan->pending_count < TIME_SLOTS);
    vulkan->pending[vulkan->pending_count++] = timer;
    command->query = vulkan->pending_count;
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

// ---- Batches -----------------------------------------------------------------------------------------------

void vulkan_forget_batches(VulkanBackend *vulkan)
{
    for (int b = 0; b < BATCH_LIMIT; b++) {
        vulkan->batches[b].last_use = 0;
    }
}

// The commands that were remembered, recorded now or when they were last run. NULL after a failure.
static VulkanBatch *find_batch(VulkanBackend *vulkan)
{
    VulkanBatch *oldest = &vulkan->batches[0];
    const size_t bytes = vulkan->command_count * sizeof *vulkan->commands;
    for (int b = 0; b < BATCH_LIMIT; b++) {
        VulkanBatch *batch = &vulkan->batches[b];
        if (batch->last_use > 0 && batch->count == vulkan->command_count &&
            (bytes == 0 || memcmp(batch->commands, vulkan->commands, bytes) == 0)) {
            batch->last_use = vulkan->runs;
            return batch;
        }
        oldest = batch->last_use < oldest->last_use ? batch : oldest;
    }
    oldest->last_use = 0;
    vulkan->recordings++;
    if (!vulkan_check(vulkan, record_batch(vulkan, oldest), "recording commands")) {
        return NULL;
    }
    // The two lists change places: the new commands stay with the recording.
    VulkanCommand *const before = oldest->commands;
    const uint32_t capacity = oldest->capacity;
    oldest->commands = vulkan->commands;
    oldest->capacity = vulkan->command_capacity;
    oldest->count = vulkan->command_count;
    oldest->last_use = vulkan->runs;
    vulkan->commands = before;
    vulkan->command_capacity = capacity;
    return oldest;
}

// Work of a renderer that was promised on the timeline comes before what was recorded.
static void submit(VulkanBackend *vulkan, bool signals)
{
    Device *device = vulkan->device;
    vulkan->recording = false;
    vulkan->runs++;
    buffer_flush(device, &vulkan->views);
    buffer_flush(device, &vulkan->sizes);
    for (uint32_t i = 0; i <= vulkan->upload; i++) {
        buffer_flush(device, &vulkan->uploads[i]);
    }
    const VulkanBatch *batch = vulkan->failure[0] == '\0' ? find_batch(vulkan) : NULL;
    if (batch != NULL) {
        const VkResult result =
            device_submit_to_queue(device, batch->recorded, vulkan->fence, vulkan->timeline, signals);
        vulkan->started = vulkan_check(vulkan, result, "starting the solver");
    }
}

// Until what was submitted is done: its views, uploads and times may be used again.
static void settle(VulkanBackend *vulkan)
{
    VkDevice device = vulkan->device->handle;
    if (vulkan->started) {
        vulkan->started = false;
        vulkan->base.waits++;
        VkResult result = device_wait_for_fence(vulkan->device, vulkan->fence);
        result = result == VK_SUCCESS ? vkResetFences(device, 1, &vulkan->fence) : result;
        if (vulkan_check(vulkan, result, "running the solver")) {
            collect_times(vulkan);
        }
    }
    vulkan_bury(vulkan);
}

void vulkan_start(VulkanBackend *vulkan)
{
    if (vulkan->recording) {
        submit(vulkan, true);
    }
}

void vulkan_wait_for_renderer(VulkanBackend *vulkan)
{
    if (vulkan->timeline != NULL) {
        vulkan->base.waits++;
        device_wait_for_timeline(vulkan->device, vulkan->timeline);
    }
}

bool vulkan_finish(VulkanBackend *vulkan)
{
    if (vulkan->recording) {
        submit(vulkan, false);
    }
    settle(vulkan);
    return vulkan->failure[0] == '\0';
}
