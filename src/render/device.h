// SPDX-License-Identifier: MIT
// device.h - a Vulkan device with a queue, an allocator and a command buffer.
#ifndef MOTE_RENDER_DEVICE_H
#define MOTE_RENDER_DEVICE_H

#include "mote_render.h"
#include "render/vulkan.h"

#include <pthread.h>

typedef struct Device {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    VkDevice handle;
    VkQueue queue;               // graphics, compute and transfer
    pthread_mutex_t queue_mutex; // worlds on this device may step while others draw
    uint32_t queue_family;
    VmaAllocator allocator;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    bool started; // commands were submitted and not waited for yet

    MoteDeviceInfo info;
    VkPhysicalDeviceLimits limits;
    uint8_t uuid[VK_UUID_SIZE];
    VkDeviceSize host_import_alignment; // bytes
    uint32_t validation_messages;
    bool has_int64; // shaderInt64, which is on then
    bool labels;    // debug names and regions are understood
} Device;

// What a world on this device, or on CUDA's view of it, and the renderer follow each other by.
typedef struct DeviceTimeline {
    MoteTimeline shared; // first member: what the world's backend sees
    VkSemaphore semaphore;
} DeviceTimeline;

// Vulkan itself, with validation if asked for. Several devices may be alive at once.
MoteResult device_create(const MoteRendererOptions *options, Device *out);
void device_destroy(Device *device); // an empty struct is fine
// Until nothing runs on it, from any thread. Also a lost device is waited for: what it was given can be destroyed then.
void device_wait_idle(Device *device);

// Messages of the validation layers in this process.
uint32_t device_validation_messages_ever(void);

uint32_t device_list(MoteDeviceInfo *rows, uint32_t capacity);

// Starts the one command buffer; submits it and waits until the device is done.
MoteResult device_begin(Device *device);
MoteResult device_submit(Device *device);
// Or submits it alone, to be waited for later. The commands wait for `timeline`, and signal its next value if
// `signals`; NULL: they do neither.
MoteResult device_start(Device *device, DeviceTimeline *timeline, bool signals);
MoteResult device_wait(Device *device); // for what was started
// Until the fence is signalled. Whoever may want to stop (base/stop.h) is asked every 50 ms, but waits for the device,
// too: only a program that ends can do without.
VkResult device_wait_for_fence(Device *device, VkFence fence);
// Submits any command buffer of the queue's family, with a fence that says when it is done. From any thread.
VkResult device_submit_to_queue(Device *device, VkCommandBuffer commands, VkFence fence, DeviceTimeline *timeline,
                                bool signals);

// With a descriptor for another interface if `descriptor` is not NULL; false if the device can't.
bool device_make_timeline(Device *device, DeviceTimeline *out, int *descriptor);
void device_end_timeline(Device *device, DeviceTimeline *timeline); // waits for its value; an empty struct is fine
void device_wait_for_timeline(Device *device, const DeviceTimeline *timeline); // on the host, from any thread

// A sentence for a Vulkan result that is not VK_SUCCESS: "drawing: the device was lost".
MoteResult device_fail(VkResult result, const char *what);

void device_name(const Device *device, VkObjectType type, uint64_t object, const char *name);

// What uses memory at one side of a barrier.
typedef struct MemoryUse {
    VkPipelineStageFlags2 stages;
    VkAccessFlags2 accesses;
} MemoryUse;
// Later commands that use memory as `after` wait for earlier ones that used it as `before`, and see what those wrote.
void device_barrier(VkCommandBuffer commands, MemoryUse before, MemoryUse after);
// Everything after it, and the host, sees everything before it.
void device_full_barrier(VkCommandBuffer commands);

#define DEVICE_NAME(device, type, object, name) device_name(device, VK_OBJECT_TYPE_##type, (uint64_t)(object), name)

#endif
