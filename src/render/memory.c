// SPDX-License-Identifier: MIT
#include "render/memory.h"

#include "base/error.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_USAGE                                                                                                   \
    (VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |     \
     VK_BUFFER_USAGE_INDEX_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |       \
     VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT)

static VkDeviceAddress address_of(Device *device, VkBuffer buffer)
{
    const VkBufferDeviceAddressInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = buffer};
    return vkGetBufferDeviceAddress(device->handle, &info);
}

MoteResult buffer_create(Device *device, const char *name, BufferKind kind, size_t bytes, Buffer *out)
{
    memset(out, 0, sizeof *out);
    const VmaAllocationCreateFlags flags[] = {
        [BUFFER_DEVICE] = 0,
        [BUFFER_UPLOAD] = VMA_ALLOCATION_CREATE_MAPPED_BIT | VMA_ALLOCATION_CREATE_HOST_ACCESS_SEQUENTIAL_WRITE_BIT,
        [BUFFER_READBACK] = VMA_ALLOCATION_CREATE_MAPPED_BIT | VMA_ALLOCATION_CREATE_HOST_ACCESS_RANDOM_BIT,
    };
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = bytes > 0 ? bytes : 16, .usage = BUFFER_USAGE};
    const VmaAllocationCreateInfo allocation = {.usage = VMA_MEMORY_USAGE_AUTO, .flags = flags[kind]};
    VmaAllocationInfo allocated;
    const VkResult result =
        vmaCreateBuffer(device->allocator, &info, &allocation, &out->handle, &out->allocation, &allocated);
    if (result != VK_SUCCESS) {
        memset(out, 0, sizeof *out);
        char what[160];
        snprintf(what, sizeof what, "%zu bytes for %.100s", bytes, name);
        return device_fail(result, what);
    }
    out->bytes = bytes;
    out->mapped = allocated.pMappedData;
    out->address = address_of(device, out->handle);
    DEVICE_NAME(device, BUFFER, out->handle, name);
    return MOTE_OK;
}

MoteResult buffer_reserve(Device *device, const char *name, BufferKind kind, size_t bytes, Buffer *buffer)
{
    if (buffer->handle != VK_NULL_HANDLE && buffer->bytes >= bytes) {
        return MOTE_OK;
    }
    buffer_destroy(device, buffer);
    return buffer_create(device, name, kind, bytes + bytes / 8, buffer); // room to grow a little without a new one
}

// ---- Memory shared with others -----------------------------------------------------------------------------

// The first type of `allowed` that has all of `flags`; UINT32_MAX if none does.
static uint32_t memory_type(Device *device, uint32_t allowed, VkMemoryPropertyFlags flags)
{
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(device->physical, &memory);
    for (uint32_t i = 0; i < memory.memoryTypeCount; i++) {
        if ((allowed & (1u << i)) != 0 && (memory.memoryTypes[i].propertyFlags & flags) == flags) {
            return i;
        }
    }
    return UINT32_MAX;
}

VkExternalMemoryFeatureFlags buffer_external_features(VkPhysicalDevice physical,
                                                      VkExternalMemoryHandleTypeFlagBits type)
{
    const VkPhysicalDeviceExternalBufferInfo asked = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO, .usage = BUFFER_USAGE, .handleType = type};
    VkExternalBufferProperties answer = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    vkGetPhysicalDeviceExternalBufferProperties(physical, &asked, &answer);
    return answer.externalMemoryProperties.externalMemoryFeatures;
}

// A buffer with memory of its own, allocated with `chain` (an import or an export) behind the address flag.
static bool create_shared(Device *device, size_t bytes, VkExternalMemoryHandleTypeFlags handle_type, bool dedicated,
                          uint32_t allowed_types, VkMemoryPropertyFlags flags, void *chain, Buffer *out,
                          size_t *allocated)
{
    memset(out, 0, sizeof *out);
    const VkExternalMemoryBufferCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                       .handleTypes = handle_type};
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .pNext = &external, .size = bytes, .usage = BUFFER_USAGE};
    if (MADE(vkCreateBuffer(device->handle, &info, NULL, &out->handle), &out->handle) != VK_SUCCESS) {
        memset(out, 0, sizeof *out);
        return false;
    }
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device->handle, out->handle, &needs);
    *allocated = (size_t)(allowed_types == UINT32_MAX ? needs.size : bytes);
    const VkMemoryDedicatedAllocateInfo alone = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO, .pNext = chain, .buffer = out->handle};
    const VkMemoryAllocateFlagsInfo addressable = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                                   .pNext = dedicated ? &alone : chain,
                                                   .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
    const uint32_t type = memory_type(device, needs.memoryTypeBits & allowed_types, flags);
    const VkMemoryAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                           .pNext = &addressable,
                                           .allocationSize = *allocated,
                                           .memoryTypeIndex = type};
    if (needs.size > *allocated || type == UINT32_MAX ||
        MADE(vkAllocateMemory(device->handle, &allocate, NULL, &out->memory), &out->memory) != VK_SUCCESS ||
        vkBindBufferMemory(device->handle, out->handle, out->memory, 0) != VK_SUCCESS) {
        buffer_destroy(device, out);
        return false;
    }
    out->bytes = bytes;
    out->address = address_of(device, out->handle);
    return true;
}

bool buffer_import_host(Device *device, void *address, size_t bytes, Buffer *out)
{
    memset(out, 0, sizeof *out);
    const VkExternalMemoryHandleTypeFlagBits type = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    VkMemoryHostPointerPropertiesEXT properties = {.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    if (!device->info.imports_host_memory ||
        vkGetMemoryHostPointerPropertiesEXT(device->handle, type, address, &properties) != VK_SUCCESS) {
        return false;
    }
    VkImportMemoryHostPointerInfoEXT import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT, .handleType = type, .pHostPointer = address};
    size_t allocated;
    return create_shared(device, bytes, type, false, properties.memoryTypeBits, 0, &import, out, &allocated);
}

bool buffer_create_exported(Device *device, size_t bytes, Buffer *out, size_t *allocated, int *descriptor)
{
    const VkExternalMemoryHandleTypeFlagBits type = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    VkExportMemoryAllocateInfo export = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, .handleTypes = type};
    memset(out, 0, sizeof *out);
    if (!device->info.exports_memory || !create_shared(device, bytes, type, true, UINT32_MAX,
                                                       VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, &export, out, allocated)) {
        return false;
    }
    const VkMemoryGetFdInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, .memory = out->memory, .handleType = type};
    if (vkGetMemoryFdKHR(device->handle, &get, descriptor) != VK_SUCCESS) {
        buffer_destroy(device, out);
        return false;
    }
    return true;
}

void buffer_destroy(Device *device, Buffer *buffer)
{
    if (buffer->allocation != NULL) {
        vmaDestroyBuffer(device->allocator, buffer->handle, buffer->allocation);
    } else if (buffer->handle != VK_NULL_HANDLE) {
        vkDestroyBuffer(device->handle, buffer->handle, NULL);
        vkFreeMemory(device->handle, buffer->memory, NULL);
    }
    memset(buffer, 0, sizeof *buffer);
}

void buffer_invalidate(Device *device, Buffer *buffer)
{
    vmaInvalidateAllocation(device->allocator, buffer->allocation, 0, VK_WHOLE_SIZE);
}

void buffer_flush(Device *device, Buffer *buffer)
{
    vmaFlushAllocation(device->allocator, buffer->allocation, 0, VK_WHOLE_SIZE);
}

// ---- Images ------------------------------------------------------------------------------------------------

MoteResult device_image_create(Device *device, const char *name, VkFormat format, uint32_t width, uint32_t height,
                               uint32_t samples, VkImageUsageFlags usage, DeviceImage *out)
{
    memset(out, 0, sizeof *out);
    const bool depth = format == VK_FORMAT_D32_SFLOAT;
    const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                    .imageType = VK_IMAGE_TYPE_2D,
                                    .format = format,
                                    .extent = {width, height, 1},
                                    .mipLevels = 1,
                                    .arrayLayers = 1,
                                    .samples = (VkSampleCountFlagBits)samples,
                                    .usage = usage};
    const VmaAllocationCreateInfo allocation = {.usage = VMA_MEMORY_USAGE_AUTO};
    VkResult result =
        MADE(vmaCreateImage(device->allocator, &info, &allocation, &out->handle, &out->allocation, NULL), &out->handle);
    if (result == VK_SUCCESS) {
        const VkImageViewCreateInfo view = {
            .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
            .image = out->handle,
            .viewType = VK_IMAGE_VIEW_TYPE_2D,
            .format = format,
            .subresourceRange = {depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
        result = MADE(vkCreateImageView(device->handle, &view, NULL, &out->view), &out->view);
    }
    if (result != VK_SUCCESS) {
        device_image_destroy(device, out);
        char what[160];
        snprintf(what, sizeof what, "an image of %u x %u pixels for %.80s", width, height, name);
        return device_fail(result, what);
    }
    out->format = format;
    out->width = width;
    out->height = height;
    DEVICE_NAME(device, IMAGE, out->handle, name);
    DEVICE_NAME(device, IMAGE_VIEW, out->view, name);
    return MOTE_OK;
}

void device_image_destroy(Device *device, DeviceImage *picture)
{
    if (picture->view != VK_NULL_HANDLE) {
        vkDestroyImageView(device->handle, picture->view, NULL);
    }
    if (picture->handle != VK_NULL_HANDLE) {
        vmaDestroyImage(device->allocator, picture->handle, picture->allocation);
    }
    memset(picture, 0, sizeof *picture);
}

uint64_t memory_in_use(Device *device)
{
    VmaBudget budgets[VK_MAX_MEMORY_HEAPS];
    vmaGetHeapBudgets(device->allocator, budgets);
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(device->physical, &memory);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++) {
        bytes += budgets[i].statistics.allocationBytes;
    }
    return bytes;
}
