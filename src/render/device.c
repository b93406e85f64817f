// SPDX-License-Identifier: MIT
#include "render/device.h"

#include "base/error.h"
#include "base/stop.h"
#include "base/vulkan_start.h"
#include "render/memory.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Errors ------------------------------------------------------------------------------------------------

MoteResult device_fail(VkResult result, const char *what)
{
    const bool memory = result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY ||
                        result == VK_ERROR_OUT_OF_POOL_MEMORY || result == VK_ERROR_FRAGMENTED_POOL ||
                        result == VK_ERROR_MEMORY_MAP_FAILED;
    return mote_fail(memory ? MOTE_ERROR_MEMORY : MOTE_ERROR_UNAVAILABLE, "Vulkan: %s: %s (VkResult %d)", what,
                     vulkan_meaning(result), (int)result);
}

// ---- What a device needs -----------------------------------------------------------------------------------

// All features that are asked about, chained.
typedef struct Features {
    VkPhysicalDeviceFeatures2 core;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceVulkan13Features v13;
} Features;

static void chain_features(Features *features)
{
    memset(features, 0, sizeof *features);
    features->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features->core.pNext = &features->v12;
    features->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    features->v12.pNext = &features->v13;
    features->v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
}

// The renderer's needs; each is also enabled.
typedef struct NeededFeature {
    const char *name;
    size_t offset; // of the VkBool32 in Features
} NeededFeature;
#define NEEDED(part, field)                                                                                            \
    {                                                                                                                  \
#field, offsetof(Features, part.field)                                                                         \
    }
static const NeededFeature needed_features[] = {
    NEEDED(v12, bufferDeviceAddress), // particle arrays of any size, whatever maxStorageBufferRange is
    NEEDED(v12, scalarBlockLayout),   // structs shared by C and GLSL
    NEEDED(v12, timelineSemaphore),   NEEDED(v13, dynamicRendering),    NEEDED(v13, synchronization2),
    NEEDED(v13, maintenance4),        NEEDED(v13, subgroupSizeControl), NEEDED(v13, computeFullSubgroups),
};
enum { NEEDED_FEATURES = sizeof needed_features / sizeof needed_features[0] };

static VkBool32 *feature_at(Features *features, const NeededFeature *needed)
{
    return (VkBool32 *)((char *)features + needed->offset);
}

static bool has_extension(VkPhysicalDevice physical, const char *name)
{
    return vulkan_has_extension(vkEnumerateDeviceExtensionProperties, physical, name);
}

// The first family that can do everything; UINT32_MAX if there is none.
static uint32_t find_queue_family(VkPhysicalDevice physical)
{
    VkQueueFamilyProperties rows[32];
    uint32_t count = 32;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, rows);
    for (uint32_t i = 0; i < count; i++) {
        const VkQueueFlags wanted = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
        if ((rows[i].queueFlags & wanted) == wanted && rows[i].timestampValidBits > 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

static void add_lack(MoteDeviceInfo *info, const char *what)
{
    const size_t length = strlen(info->lacks);
    snprintf(info->lacks + length, sizeof info->lacks - length, "%s%s", length > 0 ? ", " : "", what);
}

static bool exports_timeline(VkPhysicalDevice physical)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkPhysicalDeviceExternalSemaphoreInfo asked = {.sType =
                                                             VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
                                                         .pNext = &type,
                                                         .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    VkExternalSemaphoreProperties answer = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
    vkGetPhysicalDeviceExternalSemaphoreProperties(physical, &asked, &answer);
    return has_extension(physical, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME) &&
           (answer.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT) != 0;
}

static void describe(VkPhysicalDevice physical, MoteDeviceInfo *info)
{
    memset(info, 0, sizeof *info);
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &driver};
    vkGetPhysicalDeviceProperties2(physical, &properties);
    const uint32_t api = properties.properties.apiVersion;
    snprintf(info->name, sizeof info->name, "%s", properties.properties.deviceName);
    snprintf(info->driver, sizeof info->driver, "%.100s %.100s", driver.driverName, driver.driverInfo);
    snprintf(info->api, sizeof info->api, "%u.%u.%u", VK_API_VERSION_MAJOR(api), VK_API_VERSION_MINOR(api),
             VK_API_VERSION_PATCH(api));
    info->software = properties.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;

    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; i++) {
        const bool own = (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
        info->memory_bytes += own ? memory.memoryHeaps[i].size : 0;
    }
    if (api < VK_API_VERSION_1_3) {
        add_lack(info, "Vulkan 1.3");
    } else {
        Features features;
        chain_features(&features);
        vkGetPhysicalDeviceFeatures2(physical, &features.core);
        for (uint32_t i = 0; i < NEEDED_FEATURES; i++) {
            if (*feature_at(&features, &needed_features[i]) == VK_FALSE) {
                add_lack(info, needed_features[i].name);
            }
        }
    }
    if (find_queue_family(physical) == UINT32_MAX) {
        add_lack(info, "a queue for graphics, compute and timestamps");
    }
    info->usable = info->lacks[0] == '\0';
    VkPhysicalDeviceFeatures core;
    vkGetPhysicalDeviceFeatures(physical, &core);
    info->computes = core.shaderInt64 == VK_TRUE;
    info->imports_host_memory =
        has_extension(physical, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME) &&
        (buffer_external_features(physical, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT) &
         VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) != 0;
    info->exports_memory = has_extension(physical, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME) &&
                           (buffer_external_features(physical, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT) &
                            VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT) != 0;
    info->exports_semaphores = exports_timeline(physical);
}

// ---- Instance ----------------------------------------------------------------------------------------------

// Also of devices that are gone: what a renderer forgot to destroy is noticed while its device is destroyed.
static atomic_uint messages_ever;

uint32_t device_validation_messages_ever(void)
{
    return atomic_load(&messages_ever);
}

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    (void)types;
    Device *device = user;
    if (severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT) {
        atomic_fetch_add(&messages_ever, 1);
        device->validation_messages++;
        fprintf(stderr, "Vulkan validation: %s\n", data->pMessage);
    }
    return VK_FALSE;
}

static bool has_instance_extension(const char *name)
{
    VkExtensionProperties rows[64];
    uint32_t count = 64;
    const VkResult result = vkEnumerateInstanceExtensionProperties(NULL, &count, rows);
    for (uint32_t i = 0; i < count && (result == VK_SUCCESS || result == VK_INCOMPLETE); i++) {
        if (strcmp(rows[i].extensionName, name) == 0) {
            return true;
        }
    }
    return false;
}

// volk's functions are those of the instance that was made last, so every instance has the same extensions: one
// without debug names would take the functions for them from a device that is being validated.
static MoteResult make_instance(bool validate, Device *device)
{
    if (volkInitialize() != VK_SUCCESS) {
        return mote_fail(MOTE_ERROR_UNAVAILABLE,
                         "no Vulkan loader on this machine: install libvulkan1 and a driver, such "
                         "as mesa-vulkan-drivers, which needs no GPU");
    }
    const MoteResult validation_found = vulkan_check_validation(validate, vkEnumerateInstanceLayerProperties);
    if (validation_found != MOTE_OK) {
        return validation_found;
    }
    const char *layers[] = {VULKAN_VALIDATION_LAYER};
    const char *extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    const bool named = validate || has_instance_extension(extensions[0]);
    VulkanValidation validation;
    vulkan_describe_validation(&validation, on_message, device);
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "mote", .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pNext = validate ? &validation.chain : NULL,
                                       .pApplicationInfo = &application,
                                       .enabledLayerCount = validate ? 1 : 0,
                                       .ppEnabledLayerNames = layers,
                                       .enabledExtensionCount = named ? 1 : 0,
                                       .ppEnabledExtensionNames = extensions};
    VkResult result = MADE(vkCreateInstance(&info, NULL, &device->instance), &device->instance);
    if (result == VK_ERROR_INCOMPATIBLE_DRIVER) { // what a loader without any driver says
        return mote_fail(MOTE_ERROR_UNAVAILABLE, "no Vulkan driver on this machine: install one, such as "
                                                 "mesa-vulkan-drivers, which needs no GPU");
    }
    if (result != VK_SUCCESS) {
        return device_fail(result, "creating an instance");
    }
    volkLoadInstance(device->instance); // every call goes through the loader: any number of devices can be alive
    device->labels = validate;
    if (validate) {
        result = MADE(vkCreateDebugUtilsMessengerEXT(device->instance, &validation.messages, NULL, &device->messenger),
                      &device->messenger);
    }
    return result == VK_SUCCESS ? MOTE_OK : device_fail(result, "listening to the validation layers");
}

// One at a time: a solver and a renderer on two threads may both be starting, and volk's functions are globals.
static MoteResult create_instance(bool validate, Device *device)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    const MoteResult result = make_instance(validate, device);
    pthread_mutex_unlock(&mutex);
    return result;
}

enum { DEVICE_LIMIT = 16 };

static uint32_t list_physical(VkInstance instance, VkPhysicalDevice rows[DEVICE_LIMIT])
{
    uint32_t count = DEVICE_LIMIT;
    const VkResult result = vkEnumeratePhysicalDevices(instance, &count, rows);
    return result == VK_SUCCESS || result == VK_INCOMPLETE ? count : 0;
}

uint32_t device_list(MoteDeviceInfo *rows, uint32_t capacity)
{
    Device device = {0};
    if (create_instance(false, &device) != MOTE_OK) {
        return 0;
    }
    VkPhysicalDevice found[DEVICE_LIMIT];
    const uint32_t count = list_physical(device.instance, found);
    for (uint32_t i = 0; i < count && i < capacity; i++) {
        describe(found[i], &rows[i]);
    }
    if (count == 0) {
        mote_fail(MOTE_ERROR_UNAVAILABLE, "no Vulkan device on this machine: install a driver, such as "
                                          "mesa-vulkan-drivers, which needs no GPU");
    }
    device_destroy(&device);
    return count;
}

// ---- Device ------------------------------------------------------------------------------------------------

static int preference(VkPhysicalDevice physical)
{
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(physical, &properties);
    return vulkan_rank(properties.deviceType);
}

static MoteResult choose_physical(uint32_t wanted, Device *device)
{
    VkPhysicalDevice found[DEVICE_LIMIT];
    const uint32_t count = list_physical(device->instance, found);
    if (count == 0) {
        return mote_fail(MOTE_ERROR_UNAVAILABLE, "no Vulkan device on this machine: install a driver, such as "
                                                 "mesa-vulkan-drivers, which needs no GPU");
    }
    if (wanted != MOTE_DEVICE_AUTO && wanted >= count) {
        return mote_fail(MOTE_ERROR_UNAVAILABLE, "no Vulkan device %u, expected 0 to %u: `mote info` lists them",
                         wanted, count - 1);
    }
    int best = 0;
    for (uint32_t i = 0; i < count; i++) {
        MoteDeviceInfo info;
        describe(found[i], &info);
        if (wanted == i || (wanted == MOTE_DEVICE_AUTO && info.usable && preference(found[i]) > best)) {
            best = preference(found[i]);
            device->physical = found[i];
            device->info = info;
        }
    }
    if (device->physical == VK_NULL_HANDLE) {
        MoteDeviceInfo info;
        describe(found[0], &info);
        return mote_fail(MOTE_ERROR_UNAVAILABLE, "no Vulkan device can draw; %s lacks %s", info.name, info.lacks);
    }
    if (!device->info.usable) {
        return mote_fail(MOTE_ERROR_UNAVAILABLE, "Vulkan device %s lacks %s", device->info.name, device->info.lacks);
    }
    return MOTE_OK;
}

static void read_limits(Device *device)
{
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
                                       .pNext = device->info.imports_host_memory ? &host : NULL};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    vkGetPhysicalDeviceProperties2(device->physical, &properties);
    device->limits = properties.properties.limits;
    memcpy(device->uuid, id.deviceUUID, sizeof device->uuid);
    device->host_import_alignment = host.minImportedHostPointerAlignment;
}

static MoteResult create_handle(Device *device)
{
    device->queue_family = find_queue_family(device->physical);
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = device->queue_family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    Features features;
    chain_features(&features);
    for (uint32_t i = 0; i < NEEDED_FEATURES; i++) {
        *feature_at(&features, &needed_features[i]) = VK_TRUE;
    }
    features.core.features.shaderInt64 = device->info.computes ? VK_TRUE : VK_FALSE;
    device->has_int64 = device->info.computes;
    const char *extensions[3];
    uint32_t count = 0;
    if (device->info.imports_host_memory) {
        extensions[count++] = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
    }
    if (device->info.exports_memory) {
        extensions[count++] = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME;
    }
    if (device->info.exports_semaphores) {
        extensions[count++] = VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME;
    }
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &features.core,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = count,
                                     .ppEnabledExtensionNames = extensions};
    const VkResult result = MADE(vkCreateDevice(device->physical, &info, NULL, &device->handle), &device->handle);
    if (result != VK_SUCCESS) {
        return device_fail(result, device->info.name);
    }
    pthread_mutex_init(&device->queue_mutex, NULL);
    vkGetDeviceQueue(device->handle, device->queue_family, 0, &device->queue);
    return MOTE_OK;
}

static MoteResult create_tools(Device *device)
{
    const VmaVulkanFunctions functions = {.vkGetInstanceProcAddr = vkGetInstanceProcAddr,
                                          .vkGetDeviceProcAddr = vkGetDeviceProcAddr};
    const VmaAllocatorCreateInfo allocator = {.flags = VMA_ALLOCATOR_CREATE_BUFFER_DEVICE_ADDRESS_BIT,
                                              .physicalDevice = device->physical,
                                              .device = device->handle,
                                              .instance = device->instance,
                                              .pVulkanFunctions = &functions,
                                              .vulkanApiVersion = VK_API_VERSION_1_3};
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = device->queue_family};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkResult result = MADE(vmaCreateAllocator(&allocator, &device->allocator), &device->allocator);
    if (result == VK_SUCCESS) {
        result = MADE(vkCreateCommandPool(device->handle, &pool, NULL, &device->pool), &device->pool);
    }
    if (result == VK_SUCCESS) {
        const VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                      .commandPool = device->pool,
                                                      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                      .commandBufferCount = 1};
        result = vkAllocateCommandBuffers(device->handle, &commands, &device->commands);
    }
    if (result == VK_SUCCESS) {
        result = MADE(vkCreateFence(device->handle, &fence, NULL, &device->fence), &device->fence);
    }
    return result == VK_SUCCESS ? MOTE_OK : device_fail(result, "setting up the device");
}

MoteResult device_create(const MoteRendererOptions *options, Device *out)
{
    memset(out, 0, sizeof *out);
    MoteResult result = create_instance(options->validate, out);
    result = result == MOTE_OK ? choose_physical(options->device, out) : result;
    if (result == MOTE_OK) {
        read_limits(out);
        result = create_handle(out);
    }
    result = result == MOTE_OK ? create_tools(out) : result;
    if (result != MOTE_OK) {
        device_destroy(out);
    }
    return result;
}

void device_wait_idle(Device *device)
{
    pthread_mutex_lock(&device->queue_mutex);
    vkDeviceWaitIdle(device->handle);
    pthread_mutex_unlock(&device->queue_mutex);
}

void device_destroy(Device *device)
{
    if (device->handle != VK_NULL_HANDLE) {
        device_wait_idle(device);
        vkDestroyFence(device->handle, device->fence, NULL);
        vkDestroyCommandPool(device->handle, device->pool, NULL);
        vmaDestroyAllocator(device->allocator);
        vkDestroyDevice(device->handle, NULL);
        pthread_mutex_destroy(&device->queue_mutex);
    }
    if (device->messenger != VK_NULL_HANDLE) {
        vkDestroyDebugUtilsMessengerEXT(device->instance, device->messenger, NULL);
    }
    if (device->instance != VK_NULL_HANDLE) {
        vkDestroyInstance(device->instance, NULL);
    }
    memset(device, 0, sizeof *device);
}

// ---- Commands ----------------------------------------------------------------------------------------------

MoteResult device_begin(Device *device)
{
    const MoteResult waited = device_wait(device);
    if (waited != MOTE_OK) {
        return waited;
    }
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    const VkResult result = vkBeginCommandBuffer(device->commands, &begin);
    return result == VK_SUCCESS ? MOTE_OK : device_fail(result, "recording commands");
}

VkResult device_submit_to_queue(Device *device, VkCommandBuffer commands, VkFence fence, DeviceTimeline *timeline,
                                bool signals)
{
    const VkCommandBufferSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                            .commandBuffer = commands};
    VkSemaphoreSubmitInfo before = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                    .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    if (timeline != NULL) {
        before.semaphore = timeline->semaphore;
        before.value = timeline->shared.value;
    }
    VkSemaphoreSubmitInfo after = before;
    after.value++;
    const VkSubmitInfo2 submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                  .waitSemaphoreInfoCount = timeline != NULL,
                                  .pWaitSemaphoreInfos = &before,
                                  .commandBufferInfoCount = 1,
                                  .pCommandBufferInfos = &info,
                                  .signalSemaphoreInfoCount = timeline != NULL && signals,
                                  .pSignalSemaphoreInfos = &after};
    pthread_mutex_lock(&device->queue_mutex);
    const VkResult result = vkQueueSubmit2(device->queue, 1, &submit, fence);
    pthread_mutex_unlock(&device->queue_mutex);
    if (result == VK_SUCCESS && timeline != NULL && signals) {
        timeline->shared.value++; // only after the submit: a failed one must not block later work
    }
    return result;
}

MoteResult device_start(Device *device, DeviceTimeline *timeline, bool signals)
{
    VkResult result = vkEndCommandBuffer(device->commands);
    if (result == VK_SUCCESS) {
        result = device_submit_to_queue(device, device->commands, device->fence, timeline, signals);
        device->started = result == VK_SUCCESS;
    }
    return result == VK_SUCCESS ? MOTE_OK : device_fail(result, "starting commands");
}

VkResult device_wait_for_fence(Device *device, VkFence fence)
{
    const uint64_t slice = UINT64_C(50000000); // ns
    for (;;) {
        const VkResult result =
            vkWaitForFences(device->handle, 1, &fence, VK_TRUE, stop_is_watched() ? slice : UINT64_MAX);
        if (result != VK_TIMEOUT) {
            return result;
        }
        (void)stop_asked(); // the work cannot be taken back, and uses the caller's memory: it is waited for either way
    }
}

MoteResult device_wait(Device *device)
{
    if (!device->started) {
        return MOTE_OK;
    }
    device->started = false;
    VkResult result = device_wait_for_fence(device, device->fence);
    if (result == VK_SUCCESS) {
        result = vkResetFences(device->handle, 1, &device->fence);
    }
    return result == VK_SUCCESS ? MOTE_OK : device_fail(result, "running commands");
}

MoteResult device_submit(Device *device)
{
    const MoteResult result = device_start(device, NULL, false);
    return result == MOTE_OK ? device_wait(device) : result;
}

// ---- Timelines ---------------------------------------------------------------------------------------------

bool device_make_timeline(Device *device, DeviceTimeline *out, int *descriptor)
{
    memset(out, 0, sizeof *out);
    if (descriptor != NULL && !device->info.exports_semaphores) {
        return false;
    }
    const VkExportSemaphoreCreateInfo exported = {.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
                                                  .handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .pNext = descriptor != NULL ? &exported : NULL,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    if (MADE(vkCreateSemaphore(device->handle, &info, NULL, &out->semaphore), &out->semaphore) != VK_SUCCESS) {
        return false;
    }
    DEVICE_NAME(device, SEMAPHORE, out->semaphore, "a world's timeline");
    if (descriptor != NULL) {
        const VkSemaphoreGetFdInfoKHR get = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                             .semaphore = out->semaphore,
                                             .handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT};
        if (vkGetSemaphoreFdKHR(device->handle, &get, descriptor) != VK_SUCCESS) {
            device_end_timeline(device, out);
            return false;
        }
    }
    return true;
}

void device_wait_for_timeline(Device *device, const DeviceTimeline *timeline)
{
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &timeline->semaphore,
                                      .pValues = &timeline->shared.value};
    vkWaitSemaphores(device->handle, &wait, UINT64_MAX); // a lost device will be noticed by who submits next
}

void device_end_timeline(Device *device, DeviceTimeline *timeline)
{
    if (timeline->semaphore != VK_NULL_HANDLE) {
        device_wait_for_timeline(device, timeline);
        vkDestroySemaphore(device->handle, timeline->semaphore, NULL);
    }
    memset(timeline, 0, sizeof *timeline);
}

void device_name(const Device *device, VkObjectType type, uint64_t object, const char *name)
{
    if (device->labels) {
        const VkDebugUtilsObjectNameInfoEXT info = {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
                                                    .objectType = type,
                                                    .objectHandle = object,
                                                    .pObjectName = name};
        vkSetDebugUtilsObjectNameEXT(device->handle, &info);
    }
}

// ---- Barriers ----

void device_barrier(VkCommandBuffer commands, MemoryUse before, MemoryUse after)
{
    const VkMemoryBarrier2 barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
                                      .srcStageMask = before.stages,
                                      .srcAccessMask = before.accesses,
                                      .dstStageMask = after.stages,
                                      .dstAccessMask = after.accesses};
    const VkDependencyInfo dependency = {
        .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO, .memoryBarrierCount = 1, .pMemoryBarriers = &barrier};
    vkCmdPipelineBarrier2(commands, &dependency);
}

void device_full_barrier(VkCommandBuffer commands)
{
    device_barrier(commands, (MemoryUse){VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT},
                   (MemoryUse){VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_HOST_BIT,
                               VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT | VK_ACCESS_2_HOST_READ_BIT});
}
