// SPDX-License-Identifier: MIT
// gpu.h - the window's own small Vulkan device: a swapchain and textures. The scene's pictures are drawn by a
// MoteRenderer on a device of its own, so that a slow picture never keeps the window from answering, not even where
// both are the same software driver with a single queue.
#ifndef MOTE_VIEWER_GPU_H
#define MOTE_VIEWER_GPU_H

#include "mote.h"

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan.h>

#include "base/vulkan_result.h"

struct SDL_Window;

// Functions are loaded into this struct and not into globals: the renderer's instance has others under these names.
#define GPU_INSTANCE_FUNCTIONS(X)                                                                                      \
    X(vkDestroyInstance)                                                                                               \
    X(vkEnumeratePhysicalDevices)                                                                                      \
    X(vkGetPhysicalDeviceProperties)                                                                                   \
    X(vkGetPhysicalDeviceMemoryProperties)                                                                             \
    X(vkGetPhysicalDeviceQueueFamilyProperties)                                                                        \
    X(vkGetPhysicalDeviceFeatures2)                                                                                    \
    X(vkEnumerateDeviceExtensionProperties)                                                                            \
    X(vkGetPhysicalDeviceSurfaceSupportKHR)                                                                            \
    X(vkGetPhysicalDeviceSurfaceCapabilitiesKHR)                                                                       \
    X(vkGetPhysicalDeviceSurfaceFormatsKHR)                                                                            \
    X(vkGetPhysicalDeviceSurfacePresentModesKHR)                                                                       \
    X(vkDestroySurfaceKHR)                                                                                             \
    X(vkCreateDevice)                                                                                                  \
    X(vkGetDeviceProcAddr)
#define GPU_DEVICE_FUNCTIONS(X)                                                                                        \
    X(vkDestroyDevice)                                                                                                 \
    X(vkGetDeviceQueue)                                                                                                \
    X(vkDeviceWaitIdle)                                                                                                \
    X(vkCreateSwapchainKHR)                                                                                            \
    X(vkDestroySwapchainKHR)                                                                                           \
    X(vkGetSwapchainImagesKHR)                                                                                         \
    X(vkAcquireNextImageKHR)                                                                                           \
    X(vkQueuePresentKHR)                                                                                               \
    X(vkQueueSubmit2)                                                                                                  \
    X(vkCreateSemaphore)                                                                                               \
    X(vkDestroySemaphore)                                                                                              \
    X(vkCreateFence)                                                                                                   \
    X(vkDestroyFence)                                                                                                  \
    X(vkWaitForFences)                                                                                                 \
    X(vkResetFences)                                                                                                   \
    X(vkCreateCommandPool)                                                                                             \
    X(vkDestroyCommandPool)                                                                                            \
    X(vkAllocateCommandBuffers)                                                                                        \
    X(vkBeginCommandBuffer)                                                                                            \
    X(vkEndCommandBuffer)                                                                                              \
    X(vkCreateImage)                                                                                                   \
    X(vkDestroyImage)                                                                                                  \
    X(vkCreateImageView)                                                                                               \
    X(vkDestroyImageView)                                                                                              \
    X(vkGetImageMemoryRequirements)                                                                                    \
    X(vkBindImageMemory)                                                                                               \
    X(vkCreateBuffer)                                                                                                  \
    X(vkDestroyBuffer)                                                                                                 \
    X(vkGetBufferMemoryRequirements)                                                                                   \
    X(vkBindBufferMemory)                                                                                              \
    X(vkAllocateMemory)                                                                                                \
    X(vkFreeMemory)                                                                                                    \
    X(vkMapMemory)                                                                                                     \
    X(vkCreateSampler)                                                                                                 \
    X(vkDestroySampler)                                                                                                \
    X(vkCreateDescriptorSetLayout)                                                                                     \
    X(vkDestroyDescriptorSetLayout)                                                                                    \
    X(vkCreateDescriptorPool)                                                                                          \
    X(vkDestroyDescriptorPool)                                                                                         \
    X(vkAllocateDescriptorSets)                                                                                        \
    X(vkFreeDescriptorSets)                                                                                            \
    X(vkUpdateDescriptorSets)                                                                                          \
    X(vkCreatePipelineLayout)                                                                                          \
    X(vkDestroyPipelineLayout)                                                                                         \
    X(vkCreateShaderModule)                                                                                            \
    X(vkDestroyShaderModule)                                                                                           \
    X(vkCreateGraphicsPipelines)                                                                                       \
    X(vkDestroyPipeline)                                                                                               \
    X(vkCmdPipelineBarrier2)                                                                                           \
    X(vkCmdCopyBufferToImage)                                                                                          \
    X(vkCmdCopyImage)                                                                                                  \
    X(vkCmdBeginRendering)                                                                                             \
    X(vkCmdEndRendering)                                                                                               \
    X(vkCmdBindPipeline)                                                                                               \
    X(vkCmdBindDescriptorSets)                                                                                         \
    X(vkCmdBindVertexBuffers)                                                                                          \
    X(vkCmdBindIndexBuffer)                                                                                            \
    X(vkCmdSetViewport)                                                                                                \
    X(vkCmdSetScissor)                                                                                                 \
    X(vkCmdPushConstants)                                                                                              \
    X(vkCmdDrawIndexed)

enum { SWAPCHAIN_LIMIT = 8 };

typedef struct Gpu {
    struct SDL_Window *window;
    PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr;
#define X(name) PFN_##name name;
    GPU_INSTANCE_FUNCTIONS(X)
    GPU_DEVICE_FUNCTIONS(X)
#undef X
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkSurfaceKHR surface;
    VkPhysicalDevice physical;
    VkPhysicalDeviceMemoryProperties memory;
    char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
    VkDevice device;
    uint32_t queue_family;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
    VkSemaphore acquired;

    VkSwapchainKHR swapchain;
    VkFormat format;
    bool copied_to; // images of the same format may be copied into the swapchain's
    VkExtent2D extent;
    uint32_t image_count, image; // image: the one being drawn
    VkImage images[SWAPCHAIN_LIMIT];
    VkImageView views[SWAPCHAIN_LIMIT];
    VkSemaphore drawn[SWAPCHAIN_LIMIT]; // one an image: presenting may still wait for the last one
    bool stale;                         // the swapchain no longer fits the window
    bool lose;                          // the next swapchain finds its surface lost: for tests
    uint32_t surfaces;                  // made so far
    uint32_t swapchains;                // made so far
    uint32_t validation_messages;
} Gpu;

// `device` is a row of mote_render_devices or MOTE_DEVICE_AUTO. The Gpu must stay where it is: callbacks point to it.
MoteResult gpu_create(struct SDL_Window *window, uint32_t device, bool validate, Gpu *out);
void gpu_destroy(Gpu *gpu); // an empty struct is fine

// Begins a frame: the command buffer records, the swapchain's image is ready to be drawn to. *ready is false where
// there is nothing to draw to, as in a minimised window; that is no failure, and neither is a lost surface.
MoteResult gpu_begin(Gpu *gpu, bool *ready);
// Between the two: from here on the image is rendered to. What was recorded before is done first. `background`, if it
// is not NULL, is an image of the window's size and format that it then shows; it is in a layout to be read by shaders.
void gpu_begin_rendering(Gpu *gpu, VkImage background);
MoteResult gpu_end(Gpu *gpu);

MoteResult gpu_fail(VkResult result, const char *what);

// How an image is used before or after a change of its layout.
typedef struct GpuImageUse {
    VkImageLayout layout;
    VkPipelineStageFlags2 stage;
    VkAccessFlags2 access;
} GpuImageUse;
extern const GpuImageUse gpu_sampled, gpu_copied_to;
void gpu_transition(Gpu *gpu, VkImage image, GpuImageUse from, GpuImageUse to);

typedef struct GpuBuffer {
    VkBuffer handle;
    VkDeviceMemory memory;
    void *mapped;
    size_t bytes;
} GpuBuffer;
// Host-visible; makes it anew if it must grow. Only while the device is idle: before anything is recorded that reads
// it.
MoteResult gpu_buffer_reserve(Gpu *gpu, size_t bytes, VkBufferUsageFlags usage, GpuBuffer *buffer);
void gpu_buffer_destroy(Gpu *gpu, GpuBuffer *buffer);
// The first memory type of `allowed` with all of `flags`; UINT32_MAX if there is none.
uint32_t gpu_memory_type(const Gpu *gpu, uint32_t allowed, VkMemoryPropertyFlags flags);

#endif
