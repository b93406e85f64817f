// SPDX-License-Identifier: MIT
// memory.h - buffers and images of a device, with create and destroy.
#ifndef MOTE_RENDER_MEMORY_H
#define MOTE_RENDER_MEMORY_H

#include "render/device.h"

typedef enum BufferKind {
    BUFFER_DEVICE,   // only the device touches it
    BUFFER_UPLOAD,   // the host writes it, the device reads it; mapped
    BUFFER_READBACK, // the device writes it, the host reads it; mapped
} BufferKind;

typedef struct Buffer {
    VkBuffer handle;
    VmaAllocation allocation; // of the renderer's own buffers
    VkDeviceMemory memory;    // of imported and exported ones
    VkDeviceAddress address;
    void *mapped; // NULL for BUFFER_DEVICE
    size_t bytes;
} Buffer;

// `name` is for error messages and debuggers. Memory holds garbage.
MoteResult buffer_create(Device *device, const char *name, BufferKind kind, size_t bytes, Buffer *out);
// Makes `buffer` hold at least `bytes`, by making it anew if it must grow; what was in it is lost.
MoteResult buffer_reserve(Device *device, const char *name, BufferKind kind, size_t bytes, Buffer *buffer);
// Host memory as a buffer, in place; address and size are multiples of host_import_alignment. Silent about failure:
// the caller has another way.
bool buffer_import_host(Device *device, void *address, size_t bytes, Buffer *out);
// A buffer whose memory another interface can open through `descriptor`, which the caller owns: a dedicated allocation,
// which drivers may insist on, and the importer must say that it is one.
bool buffer_create_exported(Device *device, size_t bytes, Buffer *out, size_t *allocated, int *descriptor);
// What the device can do with memory of this kind in the renderer's buffers.
VkExternalMemoryFeatureFlags buffer_external_features(VkPhysicalDevice physical,
                                                      VkExternalMemoryHandleTypeFlagBits type);
void buffer_destroy(Device *device, Buffer *buffer); // an empty struct is fine
// Makes what the device wrote to a read-back buffer visible to the host, or what the host wrote to the device.
void buffer_invalidate(Device *device, Buffer *buffer);
void buffer_flush(Device *device, Buffer *buffer);

typedef struct DeviceImage {
    VkImage handle;
    VmaAllocation allocation;
    VkImageView view;
    VkFormat format;
    uint32_t width, height;
} DeviceImage;

// A 2D image in VK_IMAGE_LAYOUT_UNDEFINED, without mip levels. `samples` a pixel: a power of two that the device has.
MoteResult device_image_create(Device *device, const char *name, VkFormat format, uint32_t width, uint32_t height,
                               uint32_t samples, VkImageUsageFlags usage, DeviceImage *out);
void device_image_destroy(Device *device, DeviceImage *picture); // an empty struct is fine

// Bytes of all buffers and images that were allocated for `device` and not destroyed.
uint64_t memory_in_use(Device *device);

#endif
