// result.h - results of Vulkan's calls. To be included after Vulkan, whose headers the renderer and the viewer's window
// each have their own way to.
#ifndef MOTE_RENDER_RESULT_H
#define MOTE_RENDER_RESULT_H

#include <string.h>

// What one that is not VK_SUCCESS means: "the device was lost".
const char *device_meaning(VkResult result);

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
