// SPDX-License-Identifier: MIT
#include "viewer/gpu.h"

#include "base/error.h"
#include "base/vulkan_start.h"
#include "mote_render.h"
#include <SDL.h>
#include <SDL_vulkan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

MoteResult gpu_fail(VkResult result, const char *what)
{
    return mote_fail(MOTE_ERROR_UNAVAILABLE, "the window's Vulkan device: %s: %s (VkResult %d)", what,
                     vulkan_meaning(result), (int)result);
}

// ---- Instance ----

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    (void)types;
    Gpu *gpu = user;
    if (severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT) {
        gpu->validation_messages++;
        fprintf(stderr, "Vulkan validation (window): %s\n", data->pMessage);
    }
    return VK_FALSE;
}

static MoteResult load_instance_functions(Gpu *gpu)
{
#define X(name)                                                                                                        \
    gpu->name = (PFN_##name)gpu->vkGetInstanceProcAddr(gpu->instance, #name);                                          \
    if (gpu->name == NULL) {                                                                                           \
        return mote_fail(MOTE_ERROR_UNAVAILABLE, "Vulkan's loader has no " #name);                                     \
    }
    GPU_INSTANCE_FUNCTIONS(X)
#undef X
    return MOTE_OK;
}

static MoteResult create_instance(bool validate, Gpu *gpu)
{
    void *loader = SDL_Vulkan_GetVkGetInstanceProcAddr(); // C has no cast from an object's to a function's address
    memcpy(&gpu->vkGetInstanceProcAddr, &loader, sizeof loader);
    const PFN_vkEnumerateInstanceLayerProperties list_layers =
        (PFN_vkEnumerateInstanceLayerProperties)gpu->vkGetInstanceProcAddr(NULL, "vkEnumerateInstanceLayerProperties");
    const MoteResult validation_found = vulkan_check_validation(validate, list_layers);
    if (validation_found != MOTE_OK) {
        return validation_found;
    }
    const char *extensions[16];
    unsigned count = 15;
    if (!SDL_Vulkan_GetInstanceExtensions(gpu->window, &count, extensions)) {
        return mote_fail(MOTE_ERROR_UNAVAILABLE, "Vulkan cannot draw to windows here: %s", SDL_GetError());
    }
    if (validate) {
        extensions[count++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    }
    const char *layers[] = {VULKAN_VALIDATION_LAYER};
    VulkanValidation validation;
    vulkan_describe_validation(&validation, on_message, gpu);
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "mote view", .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pNext = validate ? &validation.chain : NULL,
                                       .pApplicationInfo = &application,
                                       .enabledLayerCount = validate ? 1 : 0,
                                       .ppEnabledLayerNames = layers,
                                       .enabledExtensionCount = count,
                                       .ppEnabledExtensionNames = extensions};
    const PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)gpu->vkGetInstanceProcAddr(VK_NULL_HANDLE, "vkCreateInstance");
    const VkResult result = create(&info, NULL, &gpu->instance);
    if (result != VK_SUCCESS) {
        gpu->instance = VK_NULL_HANDLE;
        return mote_fail(MOTE_ERROR_UNAVAILABLE,
                         "no Vulkan driver that can draw to a window (VkResult %d): install one for your GPU, or "
                         "mesa-vulkan-drivers, which needs no GPU",
                         (int)result);
    }
    const MoteResult loaded = load_instance_functions(gpu);
    if (loaded == MOTE_OK && validate) {
        const PFN_vkCreateDebugUtilsMessengerEXT listen =
            (PFN_vkCreateDebugUtilsMessengerEXT)gpu->vkGetInstanceProcAddr(gpu->instance,
                                                                           "vkCreateDebugUtilsMessengerEXT");
        listen(gpu->instance, &validation.messages, NULL, &gpu->messenger);
    }
    return loaded;
}

static MoteResult create_surface(Gpu *gpu)
{
    if (!SDL_Vulkan_CreateSurface(gpu->window, gpu->instance, &gpu->surface)) {
        return mote_fail(MOTE_ERROR_UNAVAILABLE, "no Vulkan surface for the window: %s", SDL_GetError());
    }
    gpu->surfaces++;
    return MOTE_OK;
}

// ---- Device ----

static bool has_swapchains(const Gpu *gpu, VkPhysicalDevice physical)
{
    return vulkan_has_extension(gpu->vkEnumerateDeviceExtensionProperties, physical, VK_KHR_SWAPCHAIN_EXTENSION_NAME);
}

// A queue family that draws and presents to the surface; UINT32_MAX if there is none.
static uint32_t find_family(const Gpu *gpu, VkPhysicalDevice physical)
{
    VkQueueFamilyProperties rows[32];
    uint32_t count = 32;
    gpu->vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, rows);
    for (uint32_t i = 0; i < count; i++) {
        VkBool32 presents = VK_FALSE;
        gpu->vkGetPhysicalDeviceSurfaceSupportKHR(physical, i, gpu->surface, &presents);
        if ((rows[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) != 0 && presents) {
            return i;
        }
    }
    return UINT32_MAX;
}

// What a device lacks to draw to the surface; NULL if it can.
static const char *find_lack(const Gpu *gpu, VkPhysicalDevice physical, uint32_t api)
{
    if (api < VK_API_VERSION_1_3) {
        return "Vulkan 1.3";
    }
    VkPhysicalDeviceVulkan13Features has = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &has};
    gpu->vkGetPhysicalDeviceFeatures2(physical, &features);
    return !has.dynamicRendering                      ? "dynamicRendering"
           : !has.synchronization2                    ? "synchronization2"
           : !has.maintenance4                        ? "maintenance4"
           : !has_swapchains(gpu, physical)           ? VK_KHR_SWAPCHAIN_EXTENSION_NAME
           : find_family(gpu, physical) == UINT32_MAX ? "a queue that presents to it"
                                                      : NULL;
}

static MoteResult choose_physical(uint32_t wanted, Gpu *gpu)
{
    VkPhysicalDevice found[16];
    uint32_t count = 16;
    gpu->vkEnumeratePhysicalDevices(gpu->instance, &count, found);
    int best = 0;
    char lacking[300] = "there is none";
    for (uint32_t i = 0; i < count; i++) {
        VkPhysicalDeviceProperties properties;
        gpu->vkGetPhysicalDeviceProperties(found[i], &properties);
        const char *lacks = find_lack(gpu, found[i], properties.apiVersion);
        const int rank = vulkan_rank(properties.deviceType) + (wanted == i ? 100 : 0);
        if (lacks != NULL) {
            snprintf(lacking, sizeof lacking, "%.200s lacks %s", properties.deviceName, lacks);
        } else if (rank > best) {
            best = rank;
            gpu->physical = found[i];
            gpu->queue_family = find_family(gpu, found[i]);
            snprintf(gpu->name, sizeof gpu->name, "%s", properties.deviceName);
        }
    }
    if (gpu->physical == VK_NULL_HANDLE) {
        return mote_fail(MOTE_ERROR_UNAVAILABLE,
                         "no Vulkan device can draw to this window; %s. Install a newer driver for your GPU, or "
                         "mesa-vulkan-drivers, which needs no GPU; `mote info` lists devices",
                         lacking);
    }
    gpu->vkGetPhysicalDeviceMemoryProperties(gpu->physical, &gpu->memory);
    return MOTE_OK;
}

static MoteResult create_device(Gpu *gpu)
{
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = gpu->queue_family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    VkPhysicalDeviceVulkan13Features features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
                                                 .dynamicRendering = VK_TRUE,
                                                 .synchronization2 = VK_TRUE,
                                                 .maintenance4 = VK_TRUE};
    const char *extensions[] = {VK_KHR_SWAPCHAIN_EXTENSION_NAME};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &features,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = 1,
                                     .ppEnabledExtensionNames = extensions};
    VkResult result = MADE(gpu->vkCreateDevice(gpu->physical, &info, NULL, &gpu->device), &gpu->device);
    if (result != VK_SUCCESS) {
        gpu->device = VK_NULL_HANDLE;
        return gpu_fail(result, gpu->name);
    }
#define X(name) gpu->name = (PFN_##name)gpu->vkGetDeviceProcAddr(gpu->device, #name);
    GPU_DEVICE_FUNCTIONS(X)
#undef X
    gpu->vkGetDeviceQueue(gpu->device, gpu->queue_family, 0, &gpu->queue);
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = gpu->queue_family};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    result = MADE(gpu->vkCreateCommandPool(gpu->device, &pool, NULL, &gpu->pool), &gpu->pool);
    if (result == VK_SUCCESS) {
        const VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                      .commandPool = gpu->pool,
                                                      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                      .commandBufferCount = 1};
        result = gpu->vkAllocateCommandBuffers(gpu->device, &commands, &gpu->commands);
    }
    result =
        result == VK_SUCCESS ? MADE(gpu->vkCreateFence(gpu->device, &fence, NULL, &gpu->fence), &gpu->fence) : result;
    result = result == VK_SUCCESS
                 ? MADE(gpu->vkCreateSemaphore(gpu->device, &semaphore, NULL, &gpu->acquired), &gpu->acquired)
                 : result;
    return result == VK_SUCCESS ? MOTE_OK : gpu_fail(result, "setting up");
}

MoteResult gpu_create(struct SDL_Window *window, uint32_t device, bool validate, Gpu *out)
{
    memset(out, 0, sizeof *out);
    out->window = window;
    out->stale = true;
    MoteResult result = create_instance(validate, out);
    result = result == MOTE_OK ? create_surface(out) : result;
    result = result == MOTE_OK ? choose_physical(device, out) : result;
    result = result == MOTE_OK ? create_device(out) : result;
    if (result != MOTE_OK) {
        gpu_destroy(out);
    }
    return result;
}

// ---- Swapchain ----

static void destroy_swapchain(Gpu *gpu)
{
    for (uint32_t i = 0; i < gpu->image_count; i++) {
        gpu->vkDestroyImageView(gpu->device, gpu->views[i], NULL);
        gpu->vkDestroySemaphore(gpu->device, gpu->drawn[i], NULL);
    }
    gpu->image_count = 0;
    if (gpu->swapchain != VK_NULL_HANDLE) {
        gpu->vkDestroySwapchainKHR(gpu->device, gpu->swapchain, NULL);
        gpu->swapchain = VK_NULL_HANDLE;
    }
}

void gpu_destroy(Gpu *gpu)
{
    if (gpu->device != VK_NULL_HANDLE) {
        gpu->vkDeviceWaitIdle(gpu->device);
        destroy_swapchain(gpu);
        gpu->vkDestroySemaphore(gpu->device, gpu->acquired, NULL);
        gpu->vkDestroyFence(gpu->device, gpu->fence, NULL);
        gpu->vkDestroyCommandPool(gpu->device, gpu->pool, NULL);
        gpu->vkDestroyDevice(gpu->device, NULL);
    }
    if (gpu->surface != VK_NULL_HANDLE) {
        gpu->vkDestroySurfaceKHR(gpu->instance, gpu->surface, NULL);
    }
    if (gpu->messenger != VK_NULL_HANDLE) {
        const PFN_vkDestroyDebugUtilsMessengerEXT destroy =
            (PFN_vkDestroyDebugUtilsMessengerEXT)gpu->vkGetInstanceProcAddr(gpu->instance,
                                                                            "vkDestroyDebugUtilsMessengerEXT");
        destroy(gpu->instance, gpu->messenger, NULL);
    }
    if (gpu->instance != VK_NULL_HANDLE && gpu->vkDestroyInstance != NULL) {
        gpu->vkDestroyInstance(gpu->instance, NULL);
    }
    const uint32_t messages = gpu->validation_messages;
    memset(gpu, 0, sizeof *gpu);
    gpu->validation_messages = messages; // also what was forgotten to be destroyed
}

// Values are written as they are to be seen: not one of the sRGB formats, which would encode them again.
static VkSurfaceFormatKHR choose_format(const Gpu *gpu)
{
    VkSurfaceFormatKHR rows[64];
    uint32_t count = 64;
    gpu->vkGetPhysicalDeviceSurfaceFormatsKHR(gpu->physical, gpu->surface, &count, rows);
    for (uint32_t i = 0; i < count; i++) {
        if ((rows[i].format == VK_FORMAT_B8G8R8A8_UNORM || rows[i].format == VK_FORMAT_R8G8B8A8_UNORM) &&
            rows[i].colorSpace == VK_COLOR_SPACE_SRGB_NONLINEAR_KHR) {
            return rows[i];
        }
    }
    return rows[0];
}

static VkResult create_images(Gpu *gpu)
{
    uint32_t count = SWAPCHAIN_LIMIT;
    VkResult result = gpu->vkGetSwapchainImagesKHR(gpu->device, gpu->swapchain, &count, gpu->images);
    for (uint32_t i = 0; i < count && result >= VK_SUCCESS; i++) {
        const VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                            .image = gpu->images[i],
                                            .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                            .format = gpu->format,
                                            .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
        const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
        gpu->views[i] = VK_NULL_HANDLE;
        gpu->drawn[i] = VK_NULL_HANDLE;
        gpu->image_count = i + 1;
        result = MADE(gpu->vkCreateImageView(gpu->device, &view, NULL, &gpu->views[i]), &gpu->views[i]);
        if (result == VK_SUCCESS) {
            result = MADE(gpu->vkCreateSemaphore(gpu->device, &semaphore, NULL, &gpu->drawn[i]), &gpu->drawn[i]);
        }
    }
    return result < VK_SUCCESS ? result : VK_SUCCESS;
}

// A swapchain of the window's size; none, and no failure, where the window has no size.
static VkResult create_swapchain(Gpu *gpu)
{
    gpu->vkDeviceWaitIdle(gpu->device);
    destroy_swapchain(gpu);
    VkSurfaceCapabilitiesKHR can;
    VkResult result = gpu->vkGetPhysicalDeviceSurfaceCapabilitiesKHR(gpu->physical, gpu->surface, &can);
    result = gpu->lose ? VK_ERROR_SURFACE_LOST_KHR : result;
    gpu->lose = false;
    if (result != VK_SUCCESS) {
        return result;
    }
    gpu->extent = can.currentExtent;
    if (can.currentExtent.width == UINT32_MAX) { // Wayland: the window says
        int width, height;
        SDL_Vulkan_GetDrawableSize(gpu->window, &width, &height);
        gpu->extent = (VkExtent2D){(uint32_t)width, (uint32_t)height};
    }
    if (gpu->extent.width == 0 || gpu->extent.height == 0) {
        return VK_SUCCESS;
    }
    const VkSurfaceFormatKHR format = choose_format(gpu);
    gpu->format = format.format;
    gpu->copied_to = (can.supportedUsageFlags & VK_IMAGE_USAGE_TRANSFER_DST_BIT) != 0;
    const uint32_t wanted = can.minImageCount + 1;
    const uint32_t largest = can.maxImageCount > 0 ? can.maxImageCount : SWAPCHAIN_LIMIT;
    const VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                           .surface = gpu->surface,
                                           .minImageCount = wanted < largest ? wanted : largest,
                                           .imageFormat = format.format,
                                           .imageColorSpace = format.colorSpace,
                                           .imageExtent = gpu->extent,
                                           .imageArrayLayers = 1,
                                           .imageUsage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT |
                                                         (gpu->copied_to ? VK_IMAGE_USAGE_TRANSFER_DST_BIT : 0u),
                                           .preTransform = can.currentTransform,
                                           .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                           .presentMode = VK_PRESENT_MODE_FIFO_KHR, // the one that is always there
                                           .clipped = VK_TRUE};
    result = gpu->vkCreateSwapchainKHR(gpu->device, &info, NULL, &gpu->swapchain);
    if (result != VK_SUCCESS) {
        gpu->swapchain = VK_NULL_HANDLE;
        return result;
    }
    gpu->swapchains++;
    gpu->stale = false;
    return create_images(gpu);
}

// ---- Frames ----

// What an image was used for and is to be used for next.
static const GpuImageUse unused = {VK_IMAGE_LAYOUT_UNDEFINED, // from when the image was acquired on
                                   VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT, 0};
const GpuImageUse gpu_sampled = {VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL, VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT,
                                 VK_ACCESS_2_SHADER_READ_BIT};
static const GpuImageUse copied_from = {VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, VK_PIPELINE_STAGE_2_COPY_BIT,
                                        VK_ACCESS_2_TRANSFER_READ_BIT};
const GpuImageUse gpu_copied_to = {VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_PIPELINE_STAGE_2_COPY_BIT,
                                   VK_ACCESS_2_TRANSFER_WRITE_BIT};
static const GpuImageUse drawn_to = {VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                                     VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                                     VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT};
static const GpuImageUse presented = {VK_IMAGE_LAYOUT_PRESENT_SRC_KHR, VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                                      0};

void gpu_transition(Gpu *gpu, VkImage image, GpuImageUse from, GpuImageUse to)
{
    const VkImageMemoryBarrier2 barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2,
                                           .srcStageMask = from.stage,
                                           .srcAccessMask = from.access,
                                           .dstStageMask = to.stage,
                                           .dstAccessMask = to.access,
                                           .oldLayout = from.layout,
                                           .newLayout = to.layout,
                                           .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                           .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                           .image = image,
                                           .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    const VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO, .imageMemoryBarrierCount = 1, .pImageMemoryBarriers = &barrier};
    gpu->vkCmdPipelineBarrier2(gpu->commands, &dependency);
}

// Acquires an image, with a new swapchain and, if it was lost, a new surface where that is needed.
static VkResult acquire(Gpu *gpu)
{
    VkResult result = VK_ERROR_OUT_OF_DATE_KHR;
    for (int attempt = 0; attempt < 4; attempt++) {
        if (gpu->stale || gpu->swapchain == VK_NULL_HANDLE) {
            result = create_swapchain(gpu);
            if (result == VK_ERROR_SURFACE_LOST_KHR) {
                gpu->vkDestroySurfaceKHR(gpu->instance, gpu->surface, NULL);
                gpu->surface = VK_NULL_HANDLE;
                if (create_surface(gpu) != MOTE_OK) {
                    return result;
                }
                continue;
            }
            if (result != VK_SUCCESS || gpu->swapchain == VK_NULL_HANDLE) {
                return result;
            }
        }
        result = gpu->vkAcquireNextImageKHR(gpu->device, gpu->swapchain, 1000000000u, gpu->acquired, VK_NULL_HANDLE,
                                            &gpu->image);
        if (result == VK_SUBOPTIMAL_KHR) {
            gpu->stale = true; // this image is still good
            return VK_SUCCESS;
        }
        if (result != VK_ERROR_OUT_OF_DATE_KHR && result != VK_ERROR_SURFACE_LOST_KHR) {
            return result;
        }
        gpu->stale = true;
    }
    return VK_NOT_READY; // the window changes faster than it can be drawn: the next frame tries again
}

MoteResult gpu_begin(Gpu *gpu, bool *ready)
{
    *ready = false;
    VkResult result = acquire(gpu);
    if (result == VK_NOT_READY || result == VK_TIMEOUT) {
        return MOTE_OK;
    }
    if (result == VK_SUCCESS && gpu->swapchain == VK_NULL_HANDLE) { // minimised
        return MOTE_OK;
    }
    if (result == VK_SUCCESS) {
        const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                                .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
        result = gpu->vkBeginCommandBuffer(gpu->commands, &begin);
    }
    *ready = result == VK_SUCCESS;
    return result == VK_SUCCESS ? MOTE_OK : gpu_fail(result, "beginning a frame");
}

void gpu_begin_rendering(Gpu *gpu, VkImage background)
{
    const VkImage image = gpu->images[gpu->image];
    if (background != VK_NULL_HANDLE) {
        const VkImageSubresourceLayers layers = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
        const VkImageCopy copy = {
            .srcSubresource = layers, .dstSubresource = layers, .extent = {gpu->extent.width, gpu->extent.height, 1}};
        gpu_transition(gpu, background, gpu_sampled, copied_from);
        gpu_transition(gpu, image, unused, gpu_copied_to);
        gpu->vkCmdCopyImage(gpu->commands, background, copied_from.layout, image, gpu_copied_to.layout, 1, &copy);
        gpu_transition(gpu, background, copied_from, gpu_sampled);
    }
    gpu_transition(gpu, image, background != VK_NULL_HANDLE ? gpu_copied_to : unused, drawn_to);
    const VkRenderingAttachmentInfo color = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                             .imageView = gpu->views[gpu->image],
                                             .imageLayout = drawn_to.layout,
                                             .loadOp = background != VK_NULL_HANDLE ? VK_ATTACHMENT_LOAD_OP_LOAD
                                                                                    : VK_ATTACHMENT_LOAD_OP_CLEAR,
                                             .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                             .clearValue = {.color = {.float32 = {0.09f, 0.10f, 0.12f, 1.0f}}}};
    const VkRenderingInfo info = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                  .renderArea = {{0, 0}, gpu->extent},
                                  .layerCount = 1,
                                  .colorAttachmentCount = 1,
                                  .pColorAttachments = &color};
    gpu->vkCmdBeginRendering(gpu->commands, &info);
}

MoteResult gpu_end(Gpu *gpu)
{
    gpu->vkCmdEndRendering(gpu->commands);
    gpu_transition(gpu, gpu->images[gpu->image], drawn_to, presented);
    VkResult result = gpu->vkEndCommandBuffer(gpu->commands);
    const VkSemaphoreSubmitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, .semaphore = gpu->acquired, .stageMask = unused.stage};
    const VkSemaphoreSubmitInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                          .semaphore = gpu->drawn[gpu->image],
                                          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkCommandBufferSubmitInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                                .commandBuffer = gpu->commands};
    const VkSubmitInfo2 submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                  .waitSemaphoreInfoCount = 1,
                                  .pWaitSemaphoreInfos = &wait,
                                  .commandBufferInfoCount = 1,
                                  .pCommandBufferInfos = &commands,
                                  .signalSemaphoreInfoCount = 1,
                                  .pSignalSemaphoreInfos = &signal};
    result = result == VK_SUCCESS ? gpu->vkQueueSubmit2(gpu->queue, 1, &submit, gpu->fence) : result;
    if (result != VK_SUCCESS) {
        return gpu_fail(result, "drawing the window");
    }
    const VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                      .waitSemaphoreCount = 1,
                                      .pWaitSemaphores = &gpu->drawn[gpu->image],
                                      .swapchainCount = 1,
                                      .pSwapchains = &gpu->swapchain,
                                      .pImageIndices = &gpu->image};
    const VkResult shown = gpu->vkQueuePresentKHR(gpu->queue, &present);
    if (shown == VK_SUBOPTIMAL_KHR || shown == VK_ERROR_OUT_OF_DATE_KHR || shown == VK_ERROR_SURFACE_LOST_KHR) {
        gpu->stale = true;
    } else if (shown != VK_SUCCESS) {
        result = shown;
    }
    // One frame at a time: buffers and textures can then be written without asking who still reads them.
    if (result == VK_SUCCESS) {
        result = gpu->vkWaitForFences(gpu->device, 1, &gpu->fence, VK_TRUE, UINT64_MAX);
    }
    if (result == VK_SUCCESS) {
        result = gpu->vkResetFences(gpu->device, 1, &gpu->fence);
    }
    return result == VK_SUCCESS ? MOTE_OK : gpu_fail(result, "showing the window");
}

// ---- Memory ----

uint32_t gpu_memory_type(const Gpu *gpu, uint32_t allowed, VkMemoryPropertyFlags flags)
{
    for (uint32_t i = 0; i < gpu->memory.memoryTypeCount; i++) {
        if ((allowed & (1u << i)) != 0 && (gpu->memory.memoryTypes[i].propertyFlags & flags) == flags) {
            return i;
        }
    }
    return UINT32_MAX;
}

MoteResult gpu_buffer_reserve(Gpu *gpu, size_t bytes, VkBufferUsageFlags usage, GpuBuffer *buffer)
{
    if (buffer->bytes >= bytes && buffer->handle != VK_NULL_HANDLE) {
        return MOTE_OK;
    }
    gpu_buffer_destroy(gpu, buffer);
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = bytes + bytes / 2 + 256, .usage = usage};
    VkResult result = MADE(gpu->vkCreateBuffer(gpu->device, &info, NULL, &buffer->handle), &buffer->handle);
    if (result == VK_SUCCESS) {
        VkMemoryRequirements needs;
        gpu->vkGetBufferMemoryRequirements(gpu->device, buffer->handle, &needs);
        const VkMemoryAllocateInfo memory = {
            .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
            .allocationSize = needs.size,
            .memoryTypeIndex = gpu_memory_type(
                gpu, needs.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)};
        result = MADE(gpu->vkAllocateMemory(gpu->device, &memory, NULL, &buffer->memory), &buffer->memory);
    }
    result = result == VK_SUCCESS ? gpu->vkBindBufferMemory(gpu->device, buffer->handle, buffer->memory, 0) : result;
    if (result == VK_SUCCESS) {
        result = gpu->vkMapMemory(gpu->device, buffer->memory, 0, VK_WHOLE_SIZE, 0, &buffer->mapped);
    }
    if (result != VK_SUCCESS) {
        gpu_buffer_destroy(gpu, buffer);
        return gpu_fail(result, "memory for a buffer");
    }
    buffer->bytes = (size_t)info.size;
    return MOTE_OK;
}

void gpu_buffer_destroy(Gpu *gpu, GpuBuffer *buffer)
{
    if (buffer->handle != VK_NULL_HANDLE) {
        gpu->vkDestroyBuffer(gpu->device, buffer->handle, NULL);
    }
    if (buffer->memory != VK_NULL_HANDLE) {
        gpu->vkFreeMemory(gpu->device, buffer->memory, NULL);
    }
    *buffer = (GpuBuffer){0};
}
