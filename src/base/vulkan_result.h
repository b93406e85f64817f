// SPDX-License-Identifier: MIT
// vulkan_result.h - results of Vulkan's calls. To be included after Vulkan, whose headers the renderer and the viewer's
// window each have their own way to.
#ifndef MOTE_BASE_VULKAN_RESULT_H
#define MOTE_BASE_VULKAN_RESULT_H

#include <string.h>

// What one that is not VK_SUCCESS means: "the device was lost".
static inline const char *vulkan_meaning(VkResult result)
{
    switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
        return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
        return "out of device memory: fewer particles or a smaller picture take less";
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
        return "out of memory for descriptors";
    case VK_ERROR_MEMORY_MAP_FAILED:
        return "out of addresses to map memory at";
    case VK_ERROR_DEVICE_LOST:
        return "the device was lost: its driver stopped it, or it was taken away";
    case VK_ERROR_LAYER_NOT_PRESENT:
        return "a layer is not installed";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
        return "an extension is missing";
    case VK_ERROR_FEATURE_NOT_PRESENT:
        return "a feature is missing";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
        return "no compatible driver";
    case VK_ERROR_TOO_MANY_OBJECTS:
        return "too many objects";
    case VK_ERROR_FORMAT_NOT_SUPPORTED:
        return "a format is not supported";
    case VK_ERROR_INITIALIZATION_FAILED:
        return "initialisation failed";
    case VK_ERROR_INVALID_EXTERNAL_HANDLE:
        return "the memory cannot be shared";
    default:
        return "failed";
    }
}

// A call that makes an object: MADE(vkCreateFence(device, &info, NULL, &fence), &fence) is its result. When such a call
// fails, what it leaves in the handle is undefined. Here it is null, which can be destroyed.
#define MADE(call, handle) null_unless_made((call), (handle), sizeof *(handle))

static inline VkResult null_unless_made(VkResult result, void *handle, size_t bytes)
{
    if (result != VK_SUCCESS) {
        memset(handle, 0, bytes);
    }
    return result;
}

#endif
