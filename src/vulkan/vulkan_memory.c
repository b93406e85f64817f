// SPDX-License-Identifier: MIT
// vulkan_memory.c - the world's buffers. The solver knows them by their device addresses, copies by their handles.
#include "vulkan/vulkan_backend.h"

#include "base/error.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 }; // bytes

// ---- Blocks ------------------------------------------------------------------------------------------------

// The first block whose address is above `address`.
static uint32_t block_after(const VulkanBackend *vulkan, VkDeviceAddress address)
{
    uint32_t low = 0, high = vulkan->block_count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (vulkan->blocks[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The buffer that holds `bytes` at this address, and where in it they begin.
static VkBuffer find_buffer(const VulkanBackend *vulkan, const void *address, size_t bytes, VkDeviceSize *offset)
{
    const VkDeviceAddress at = (VkDeviceAddress)(uintptr_t)address;
    const uint32_t after = block_after(vulkan, at);
    MOTE_ASSERT(after > 0);
    const VulkanBlock *block = &vulkan->blocks[after - 1];
    *offset = at - block->address;
    MOTE_ASSERT(*offset + bytes <= block->buffer.bytes);
    return block->buffer.handle;
}

static bool grow(void **rows, uint32_t *capacity, uint32_t count, size_t size)
{
    if (count < *capacity) {
        return true;
    }
    const uint32_t larger = 2 * *capacity + 64;
    void *grown = realloc(*rows, larger * size);
    if (grown == NULL) {
        return false;
    }
    *rows = grown;
    *capacity = larger;
    return true;
}

// ---- Life of buffers ---------------------------------------------------------------------------------------

// A recorded command may still use it. Should there be no memory to remember it, it is waited for.
static void destroy_later(VulkanBackend *vulkan, Buffer *buffer)
{
    if (buffer->handle == VK_NULL_HANDLE) {
        return;
    }
    if (vulkan->recording &&
        grow((void **)&vulkan->dead, &vulkan->dead_capacity, vulkan->dead_count, sizeof *vulkan->dead)) {
        vulkan->dead[vulkan->dead_count++] = *buffer;
        memset(buffer, 0, sizeof *buffer);
        return;
    }
    vulkan_finish(vulkan);
    vulkan_wait_for_renderer(vulkan);
    vulkan_forget_batches(vulkan);
    buffer_destroy(vulkan->device, buffer);
}

void vulkan_bury(VulkanBackend *vulkan)
{
    if (vulkan->dead_count > 0) {
        vulkan_forget_batches(vulkan);
    }
    for (uint32_t i = 0; i < vulkan->dead_count; i++) {
        buffer_destroy(vulkan->device, &vulkan->dead[i]);
    }
    vulkan->dead_count = 0;
}

static bool create_buffer(VulkanBackend *vulkan, const char *name, size_t bytes, Buffer *out)
{
    if (bytes > vulkan->programs->max_bytes) {
        return false;
    }
    if (buffer_create(vulkan->device, name, BUFFER_DEVICE, bytes, out) == MOTE_OK) {
        return true;
    }
    vulkan_finish(vulkan); // what was released may be enough
    return buffer_create(vulkan->device, name, BUFFER_DEVICE, bytes, out) == MOTE_OK;
}

void *vulkan_allocate(Backend *backend, size_t bytes)
{
    VulkanBackend *vulkan = (VulkanBackend *)backend;
    Buffer buffer;
    if (bytes > SIZE_MAX - ALIGNMENT ||
        !grow((void **)&vulkan->blocks, &vulkan->block_capacity, vulkan->block_count, sizeof *vulkan->blocks)) {
        return NULL;
    }
    const size_t rounded = bytes > 0 ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
    if (!create_buffer(vulkan, "an array of the solver", rounded, &buffer)) {
        return NULL;
    }
    MOTE_ASSERT(buffer.address % 16 == 0); // what the kernels' buffer references say
    vulkan_fill_zero(vulkan, buffer.handle, rounded);
    const uint32_t place = block_after(vulkan, buffer.address);
    memmove(&vulkan->blocks[place + 1], &vulkan->blocks[place], (vulkan->block_count - place) * sizeof *vulkan->blocks);
    vulkan->blocks[place] = (VulkanBlock){buffer.address, buffer};
    vulkan->block_count++;
    return (void *)(uintptr_t)buffer.address;
}

void vulkan_release(Backend *backend, void *address, size_t bytes)
{
    (void)bytes;
    VulkanBackend *vulkan = (VulkanBackend *)backend;
    const uint32_t after = block_after(vulkan, (VkDeviceAddress)(uintptr_t)address);
    MOTE_ASSERT(after > 0 && vulkan->blocks[after - 1].address == (VkDeviceAddress)(uintptr_t)address);
    destroy_later(vulkan, &vulkan->blocks[after - 1].buffer);
    memmove(&vulkan->blocks[after - 1], &vulkan->blocks[after], (vulkan->block_count - after) * sizeof *vulkan->blocks);
    vulkan->block_count--;
}

bool vulkan_reserve_temporary(VulkanBackend *vulkan, size_t bytes)
{
    if (vulkan->temporary.handle != VK_NULL_HANDLE && vulkan->temporary.bytes >= bytes) {
        return true;
    }
    Buffer larger;
    if (!create_buffer(vulkan, "the solver's temporary", bytes + bytes / 4, &larger)) {
        return vulkan_check(vulkan, VK_ERROR_OUT_OF_DEVICE_MEMORY, "memory to sort in");
    }
    destroy_later(vulkan, &vulkan->temporary);
    vulkan->temporary = larger;
    return true;
}

MoteResult vulkan_memory_create(VulkanBackend *vulkan)
{
    const MoteResult result =
        buffer_create(vulkan->device, "the solver's uploads", BUFFER_UPLOAD, UPLOAD_BYTES, &vulkan->uploads[0]);
    return result == MOTE_OK ? buffer_create(vulkan->device, "the solver's downloads", BUFFER_READBACK, DOWNLOAD_BYTES,
                                             &vulkan->download)
                             : result;
}

void vulkan_memory_destroy(VulkanBackend *vulkan)
{
    vulkan_bury(vulkan);
    for (uint32_t i = 0; i < vulkan->block_count; i++) {
        buffer_destroy(vulkan->device, &vulkan->blocks[i].buffer);
    }
    free(vulkan->blocks);
    free(vulkan->dead);
    for (uint32_t i = 0; i < UPLOAD_LIMIT; i++) {
        buffer_destroy(vulkan->device, &vulkan->uploads[i]);
    }
    buffer_destroy(vulkan->device, &vulkan->download);
    buffer_destroy(vulkan->device, &vulkan->temporary);
}

// ---- Copies ------------------------------------------------------------------------------------------------

// The next piece of staging memory; where there is none, what has been recorded is run so that all of it is free again.
static void turn_over(VulkanBackend *vulkan)
{
    const uint32_t next = vulkan->upload + 1;
    const bool there = next < UPLOAD_LIMIT && (vulkan->uploads[next].handle != VK_NULL_HANDLE ||
                                               buffer_create(vulkan->device, "the solver's uploads", BUFFER_UPLOAD,
                                                             UPLOAD_BYTES, &vulkan->uploads[next]) == MOTE_OK);
    if (there) {
        vulkan->upload = next;
        vulkan->upload_used = 0;
    } else {
        vulkan_finish(vulkan);
    }
}

void vulkan_upload(Backend *backend, void *target, const void *source, size_t bytes)
{
    VulkanBackend *vulkan = (VulkanBackend *)backend;
    VkDeviceSize offset;
    while (bytes > 0) {
        if (vulkan->upload_used == UPLOAD_BYTES) {
            turn_over(vulkan);
        }
        if (!vulkan_begin(vulkan)) {
            return;
        }
        const size_t room = UPLOAD_BYTES - vulkan->upload_used, part = bytes < room ? bytes : room;
        const Buffer *staging = &vulkan->uploads[vulkan->upload];
        memcpy((char *)staging->mapped + vulkan->upload_used, source, part);
        VkBuffer buffer = find_buffer(vulkan, target, part, &offset);
        vulkan_copy_buffer(vulkan, staging->handle, vulkan->upload_used, buffer, offset, part);
        vulkan->upload_used += part;
        source = (const char *)source + part;
        target = (char *)target + part;
        bytes -= part;
    }
}

void vulkan_download(Backend *backend, void *target, const void *source, size_t bytes)
{
    VulkanBackend *vulkan = (VulkanBackend *)backend;
    VkDeviceSize offset;
    memset(target, 0, bytes); // defined, should the device fail
    while (bytes > 0 && vulkan_begin(vulkan)) {
        const size_t part = bytes < DOWNLOAD_BYTES ? bytes : DOWNLOAD_BYTES;
        VkBuffer buffer = find_buffer(vulkan, source, part, &offset);
        vulkan_copy_buffer(vulkan, buffer, offset, vulkan->download.handle, 0, part);
        if (!vulkan_finish(vulkan)) {
            return;
        }
        buffer_invalidate(vulkan->device, &vulkan->download);
        memcpy(target, vulkan->download.mapped, part);
        source = (const char *)source + part;
        target = (char *)target + part;
        bytes -= part;
    }
}

void vulkan_copy(Backend *backend, void *target, const void *source, size_t bytes)
{
    VulkanBackend *vulkan = (VulkanBackend *)backend;
    if (bytes > 0) {
        VkDeviceSize from_offset, to_offset;
        VkBuffer from = find_buffer(vulkan, source, bytes, &from_offset);
        VkBuffer to = find_buffer(vulkan, target, bytes, &to_offset);
        vulkan_copy_buffer(vulkan, from, from_offset, to, to_offset, bytes);
    }
}
