// SPDX-License-Identifier: MIT
// vulkan_faults.c - a Vulkan layer that makes a device worse than it is, for tests: no driver here lacks a feature,
// runs out of memory or is lost on demand. MOTE_VULKAN_FAULTS says what goes wrong, as KEY=VALUE with commas between:
//
//   hide=EXTENSION   a device extension is not there
//   clear=FEATURE    a feature is not there; `timestamps`: no queue has them
//   api=MINOR        devices have Vulkan 1.MINOR at most
//   range=BYTES      maxStorageBufferRange at most
//   heap=BYTES       of memory in each heap at most, which makes allocators ask for smaller blocks
//   exhaust=N        the N-th vkAllocateMemory of a device has no memory; N+: nor has any later one
//   refuse=N         so it is with the N-th object, of any kind, that a device is asked to make, map or record
//   lose=N           the N-th vkQueueSubmit2 finds the device lost; it stays lost
//   lose_wait=N      the N-th wait does, after the work is done
//   slow=N           the work of the N-th vkQueueSubmit2 takes 60 s longer; a line on standard error says when it
//   begins of=NAME          all that only for the application of this name
//
// The interface between loader and layers is that of vk_layer.h. Results of calls that fail are left as the
// specification allows: undefined, here all bits set, unless it promises more.
#define _POSIX_C_SOURCE 200809L
#include "vulkan_faults.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define LAYER_NAME "VK_LAYER_MOTE_faults"

// ---- What goes wrong ---------------------------------------------------------------------------------------

enum { TEXTS = 4, TEXT_SIZE = 64 };
typedef struct Texts {
    char rows[TEXTS][TEXT_SIZE];
    uint32_t count;
} Texts;

typedef struct Turn { // which call of a kind fails
    uint64_t number;  // from 1; 0: none
    bool and_later;
} Turn;

typedef struct Faults {
    Texts hidden, cleared;
    uint32_t minor, range; // 0: as it is
    uint64_t heap;
    Turn exhaust, refuse, lose, lose_wait, slow;
} Faults;

static _Noreturn void give_up(const char *what, const char *where)
{
    fprintf(stderr, "MOTE_VULKAN_FAULTS: %s \"%s\"\n", what, where);
    abort();
}

static void add_text(Texts *texts, const char *value)
{
    if (texts->count == TEXTS || strlen(value) >= TEXT_SIZE) {
        give_up("too much:", value);
    }
    strcpy(texts->rows[texts->count++], value);
}

static uint64_t read_number(const char *value, const char **end)
{
    const unsigned long long number = strtoull(value, (char **)end, 10);
    if (*end == value) {
        give_up("not a number:", value);
    }
    return number;
}

static Turn read_turn(const char *value)
{
    const char *end;
    const uint64_t number = read_number(value, &end);
    return (Turn){number, *end == '+'};
}

static void read_fault(const char *key, const char *value, const char *application, Faults *faults, bool *meant)
{
    const char *end;
    if (strcmp(key, "hide") == 0) {
        add_text(&faults->hidden, value);
    } else if (strcmp(key, "clear") == 0) {
        add_text(&faults->cleared, value);
    } else if (strcmp(key, "api") == 0) {
        faults->minor = (uint32_t)read_number(value, &end);
    } else if (strcmp(key, "range") == 0) {
        faults->range = (uint32_t)read_number(value, &end);
    } else if (strcmp(key, "heap") == 0) {
        faults->heap = read_number(value, &end);
    } else if (strcmp(key, "exhaust") == 0) {
        faults->exhaust = read_turn(value);
    } else if (strcmp(key, "refuse") == 0) {
        faults->refuse = read_turn(value);
    } else if (strcmp(key, "lose") == 0) {
        faults->lose = read_turn(value);
    } else if (strcmp(key, "lose_wait") == 0) {
        faults->lose_wait = read_turn(value);
    } else if (strcmp(key, "slow") == 0) {
        faults->slow = read_turn(value);
    } else if (strcmp(key, "of") == 0) {
        *meant = strcmp(value, application) == 0;
    } else {
        give_up("no such key:", key);
    }
}

static Faults read_faults(const char *application)
{
    Faults faults = {0};
    bool meant = true;
    const char *all = getenv("MOTE_VULKAN_FAULTS");
    char *copy = strdup(all != NULL ? all : ""), *rest = copy, *row;
    while ((row = strtok_r(rest, ",", &rest)) != NULL) {
        char *value = strchr(row, '=');
        if (value == NULL) {
            give_up("expected KEY=VALUE:", row);
        }
        *value++ = '\0';
        read_fault(row, value, application, &faults, &meant);
    }
    free(copy);
    return meant ? faults : (Faults){0};
}

// ---- Instances and devices ---------------------------------------------------------------------------------

#define INSTANCE_FUNCTIONS(X)                                                                                          \
    X(DestroyInstance)                                                                                                 \
    X(EnumerateDeviceExtensionProperties)                                                                              \
    X(GetPhysicalDeviceFeatures)                                                                                       \
    X(GetPhysicalDeviceFeatures2)                                                                                      \
    X(GetPhysicalDeviceProperties)                                                                                     \
    X(GetPhysicalDeviceProperties2)                                                                                    \
    X(GetPhysicalDeviceMemoryProperties)                                                                               \
    X(GetPhysicalDeviceMemoryProperties2)                                                                              \
    X(GetPhysicalDeviceQueueFamilyProperties)

// Objects that are made with the usual four arguments.
#define MADE_FUNCTIONS(X)                                                                                              \
    X(Buffer)                                                                                                          \
    X(CommandPool)                                                                                                     \
    X(DescriptorPool)                                                                                                  \
    X(DescriptorSetLayout)                                                                                             \
    X(Fence)                                                                                                           \
    X(Image)                                                                                                           \
    X(ImageView)                                                                                                       \
    X(PipelineCache)                                                                                                   \
    X(PipelineLayout)                                                                                                  \
    X(QueryPool)                                                                                                       \
    X(Sampler)                                                                                                         \
    X(Semaphore)                                                                                                       \
    X(ShaderModule)

#define DEVICE_FUNCTIONS(X)                                                                                            \
    X(DestroyDevice)                                                                                                   \
    X(AllocateCommandBuffers)                                                                                          \
    X(AllocateDescriptorSets)                                                                                          \
    X(AllocateMemory)                                                                                                  \
    X(CreateComputePipelines)                                                                                          \
    X(CreateGraphicsPipelines)                                                                                         \
    X(EndCommandBuffer)                                                                                                \
    X(GetFenceStatus)                                                                                                  \
    X(GetQueryPoolResults)                                                                                             \
    X(MapMemory)                                                                                                       \
    X(QueueSubmit2)                                                                                                    \
    X(WaitForFences)                                                                                                   \
    X(WaitSemaphores)

#define FIELD(name)      PFN_vk##name name;
#define MADE_FIELD(name) PFN_vkCreate##name Create##name;

// One of a list.
typedef struct Link {
    void *key; // what all its handles begin with: the loader's table
    struct Link *after;
} Link;

typedef struct Instance {
    Link link; // the first member
    VkInstance handle;
    Faults faults;
    PFN_vkGetInstanceProcAddr next;
    INSTANCE_FUNCTIONS(FIELD)
} Instance;

typedef struct Device {
    Link link; // the first member
    Faults faults;
    pthread_mutex_t mutex; // of the counts
    uint64_t allocations, objects, submits, waits, works;
    bool lost;
    uint64_t busy_until; // ns on the clock
    PFN_vkGetDeviceProcAddr next;
    DEVICE_FUNCTIONS(FIELD)
    MADE_FUNCTIONS(MADE_FIELD)
} Device;

static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;
static Link *instances, *devices;
static MoteVulkanFaults record;

static void add_to(Link **list, Link *link, const void *handle)
{
    pthread_mutex_lock(&lists);
    link->key = *(void *const *)handle;
    link->after = *list;
    *list = link;
    pthread_mutex_unlock(&lists);
}

static Link *find_in(Link *const *list, const void *handle)
{
    pthread_mutex_lock(&lists);
    Link *found = *list;
    while (found->key != *(void *const *)handle) {
        found = found->after;
    }
    pthread_mutex_unlock(&lists);
    return found;
}

static void take_from(Link **list, const Link *link)
{
    pthread_mutex_lock(&lists);
    while (*list != link) {
        list = &(*list)->after;
    }
    *list = link->after;
    pthread_mutex_unlock(&lists);
}

VK_LAYER_EXPORT MoteVulkanFaults mote_vulkan_faults_record(void)
{
    pthread_mutex_lock(&lists);
    const MoteVulkanFaults last = record;
    record = (MoteVulkanFaults){0};
    pthread_mutex_unlock(&lists);
    return last;
}

static void strike(void)
{
    pthread_mutex_lock(&lists);
    record.struck++;
    pthread_mutex_unlock(&lists);
}

static void keep_larger(uint64_t *kept, uint64_t count)
{
    *kept = *kept > count ? *kept : count;
}

static Instance *instance_of(const void *handle)
{
    return (Instance *)find_in(&instances, handle);
}

static Device *device_of(const void *handle)
{
    return (Device *)find_in(&devices, handle);
}

static bool is_turn(Turn turn, uint64_t number)
{
    return turn.number > 0 && (number == turn.number || (turn.and_later && number > turn.number));
}

// Counts one more of a kind; whether it is one that fails.
static bool fails(Device *device, uint64_t *count, Turn turn)
{
    pthread_mutex_lock(&device->mutex);
    const bool failing = is_turn(turn, ++*count);
    pthread_mutex_unlock(&device->mutex);
    if (failing) {
        strike();
    }
    return failing;
}

static bool refuses(Device *device)
{
    return fails(device, &device->objects, device->faults.refuse);
}

// ---- What a device is --------------------------------------------------------------------------------------

static VKAPI_ATTR VkResult VKAPI_CALL faulty_EnumerateDeviceExtensionProperties(VkPhysicalDevice physical,
                                                                                const char *layer, uint32_t *count,
                                                                                VkExtensionProperties *rows)
{
    Instance *instance = instance_of(physical);
    if (layer != NULL && strcmp(layer, LAYER_NAME) == 0) {
        *count = 0;
        return VK_SUCCESS;
    }
    uint32_t all = 0, kept = 0;
    VkResult result = instance->EnumerateDeviceExtensionProperties(physical, layer, &all, NULL);
    VkExtensionProperties *found = calloc(all + 1, sizeof *found);
    result = result == VK_SUCCESS ? instance->EnumerateDeviceExtensionProperties(physical, layer, &all, found) : result;
    for (uint32_t i = 0; i < all && result == VK_SUCCESS; i++) {
        bool hidden = false;
        for (uint32_t h = 0; h < instance->faults.hidden.count; h++) {
            hidden = hidden || strcmp(found[i].extensionName, instance->faults.hidden.rows[h]) == 0;
        }
        if (!hidden) {
            if (rows != NULL && kept < *count) {
                rows[kept] = found[i];
            }
            kept++;
        }
    }
    result = result == VK_SUCCESS && rows != NULL && *count < kept ? VK_INCOMPLETE : result;
    *count = rows != NULL && *count < kept ? *count : kept;
    free(found);
    return result;
}

// Features by name, and where they are.
typedef struct FeatureRow {
    const char *name;
    VkStructureType type;
    size_t offset;
} FeatureRow;
#define CORE(name)                                                                                                     \
    {                                                                                                                  \
#name, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, offsetof(VkPhysicalDeviceFeatures2, features.name)        \
    }
#define V12(name)                                                                                                      \
    {                                                                                                                  \
#name, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, offsetof(VkPhysicalDeviceVulkan12Features, name) \
    }
#define V13(name)                                                                                                      \
    {                                                                                                                  \
#name, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, offsetof(VkPhysicalDeviceVulkan13Features, name) \
    }
static const FeatureRow feature_rows[] = {
    CORE(shaderInt64),        V12(bufferDeviceAddress),  V12(scalarBlockLayout),
    V12(timelineSemaphore),   V13(dynamicRendering),     V13(synchronization2),
    V13(subgroupSizeControl), V13(computeFullSubgroups), V13(maintenance4),
};
enum { FEATURE_ROWS = sizeof feature_rows / sizeof feature_rows[0] };

static bool is_cleared(const Faults *faults, const char *name)
{
    for (uint32_t i = 0; i < faults->cleared.count; i++) {
        if (strcmp(faults->cleared.rows[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void check_names(const Faults *faults)
{
    for (uint32_t i = 0; i < faults->cleared.count; i++) {
        bool known = strcmp(faults->cleared.rows[i], "timestamps") == 0;
        for (uint32_t f = 0; f < FEATURE_ROWS; f++) {
            known = known || strcmp(faults->cleared.rows[i], feature_rows[f].name) == 0;
        }
        if (!known) {
            give_up("no such feature:", faults->cleared.rows[i]);
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL faulty_GetPhysicalDeviceFeatures(VkPhysicalDevice physical,
                                                                   VkPhysicalDeviceFeatures *out)
{
    Instance *instance = instance_of(physical);
    instance->GetPhysicalDeviceFeatures(physical, out);
    if (is_cleared(&instance->faults, "shaderInt64")) {
        out->shaderInt64 = VK_FALSE;
    }
}

static VKAPI_ATTR void VKAPI_CALL faulty_GetPhysicalDeviceFeatures2(VkPhysicalDevice physical,
                                                                    VkPhysicalDeviceFeatures2 *out)
{
    Instance *instance = instance_of(physical);
    instance->GetPhysicalDeviceFeatures2(physical, out);
    for (VkBaseOutStructure *part = (VkBaseOutStructure *)out; part != NULL; part = part->pNext) {
        for (uint32_t f = 0; f < FEATURE_ROWS; f++) {
            if (part->sType == feature_rows[f].type && is_cleared(&instance->faults, feature_rows[f].name)) {
                *(VkBool32 *)((char *)part + feature_rows[f].offset) = VK_FALSE;
            }
        }
    }
}

static void worsen(const Faults *faults, VkPhysicalDeviceProperties *properties)
{
    if (faults->minor > 0 && VK_API_VERSION_MINOR(properties->apiVersion) > faults->minor) {
        properties->apiVersion = VK_MAKE_API_VERSION(0, 1, faults->minor, 0);
    }
    if (faults->range > 0 && properties->limits.maxStorageBufferRange > faults->range) {
        properties->limits.maxStorageBufferRange = faults->range;
    }
}

static VKAPI_ATTR void VKAPI_CALL faulty_GetPhysicalDeviceProperties(VkPhysicalDevice physical,
                                                                     VkPhysicalDeviceProperties *out)
{
    Instance *instance = instance_of(physical);
    instance->GetPhysicalDeviceProperties(physical, out);
    worsen(&instance->faults, out);
}

static VKAPI_ATTR void VKAPI_CALL faulty_GetPhysicalDeviceProperties2(VkPhysicalDevice physical,
                                                                      VkPhysicalDeviceProperties2 *out)
{
    Instance *instance = instance_of(physical);
    instance->GetPhysicalDeviceProperties2(physical, out);
    worsen(&instance->faults, &out->properties);
}

static void shrink(const Faults *faults, VkPhysicalDeviceMemoryProperties *memory)
{
    for (uint32_t i = 0; i < memory->memoryHeapCount && faults->heap > 0; i++) {
        const VkDeviceSize size = memory->memoryHeaps[i].size;
        memory->memoryHeaps[i].size = size < faults->heap ? size : faults->heap;
    }
}

static VKAPI_ATTR void VKAPI_CALL faulty_GetPhysicalDeviceMemoryProperties(VkPhysicalDevice physical,
                                                                           VkPhysicalDeviceMemoryProperties *out)
{
    Instance *instance = instance_of(physical);
    instance->GetPhysicalDeviceMemoryProperties(physical, out);
    shrink(&instance->faults, out);
}

static VKAPI_ATTR void VKAPI_CALL faulty_GetPhysicalDeviceMemoryProperties2(VkPhysicalDevice physical,
                                                                            VkPhysicalDeviceMemoryProperties2 *out)
{
    Instance *instance = instance_of(physical);
    instance->GetPhysicalDeviceMemoryProperties2(physical, out);
    shrink(&instance->faults, &out->memoryProperties);
}

static VKAPI_ATTR void VKAPI_CALL faulty_GetPhysicalDeviceQueueFamilyProperties(VkPhysicalDevice physical,
                                                                                uint32_t *count,
                                                                                VkQueueFamilyProperties *rows)
{
    Instance *instance = instance_of(physical);
    instance->GetPhysicalDeviceQueueFamilyProperties(physical, count, rows);
    for (uint32_t i = 0; rows != NULL && i < *count && is_cleared(&instance->faults, "timestamps"); i++) {
        rows[i].timestampValidBits = 0;
    }
}

// ---- Memory and objects ------------------------------------------------------------------------------------

static VKAPI_ATTR VkResult VKAPI_CALL faulty_AllocateMemory(VkDevice handle, const VkMemoryAllocateInfo *info,
                                                            const VkAllocationCallbacks *callbacks, VkDeviceMemory *out)
{
    Device *device = device_of(handle);
    if (fails(device, &device->allocations, device->faults.exhaust)) {
        memset(out, 0xff, sizeof *out);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    return device->AllocateMemory(handle, info, callbacks, out);
}

#define MADE(name)                                                                                                     \
    static VKAPI_ATTR VkResult VKAPI_CALL faulty_Create##name(VkDevice handle, const Vk##name##CreateInfo *info,       \
                                                              const VkAllocationCallbacks *callbacks, Vk##name *out)   \
    {                                                                                                                  \
        Device *device = device_of(handle);                                                                            \
        if (refuses(device)) {                                                                                         \
            memset(out, 0xff, sizeof *out);                                                                            \
            return VK_ERROR_OUT_OF_DEVICE_MEMORY;                                                                      \
        }                                                                                                              \
        return device->Create##name(handle, info, callbacks, out);                                                     \
    }
MADE_FUNCTIONS(MADE)

// Of pipelines, sets and command buffers the specification promises that those which were not made are null.
#define PIPELINES(kind)                                                                                                \
    static VKAPI_ATTR VkResult VKAPI_CALL faulty_Create##kind##Pipelines(                                              \
        VkDevice handle, VkPipelineCache cache, uint32_t count, const Vk##kind##PipelineCreateInfo *infos,             \
        const VkAllocationCallbacks *callbacks, VkPipeline *out)                                                       \
    {                                                                                                                  \
        Device *device = device_of(handle);                                                                            \
        if (refuses(device)) {                                                                                         \
            memset(out, 0, count * sizeof *out);                                                                       \
            return VK_ERROR_OUT_OF_DEVICE_MEMORY;                                                                      \
        }                                                                                                              \
        return device->Create##kind##Pipelines(handle, cache, count, infos, callbacks, out);                           \
    }
PIPELINES(Compute)
PIPELINES(Graphics)

static VKAPI_ATTR VkResult VKAPI_CALL faulty_AllocateDescriptorSets(VkDevice handle,
                                                                    const VkDescriptorSetAllocateInfo *info,
                                                                    VkDescriptorSet *out)
{
    Device *device = device_of(handle);
    if (refuses(device)) {
        memset(out, 0, info->descriptorSetCount * sizeof *out);
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    return device->AllocateDescriptorSets(handle, info, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL faulty_AllocateCommandBuffers(VkDevice handle,
                                                                    const VkCommandBufferAllocateInfo *info,
                                                                    VkCommandBuffer *out)
{
    Device *device = device_of(handle);
    if (refuses(device)) {
        memset(out, 0, info->commandBufferCount * sizeof *out);
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    return device->AllocateCommandBuffers(handle, info, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL faulty_MapMemory(VkDevice handle, VkDeviceMemory memory, VkDeviceSize offset,
                                                       VkDeviceSize size, VkMemoryMapFlags flags, void **out)
{
    Device *device = device_of(handle);
    return refuses(device) ? VK_ERROR_MEMORY_MAP_FAILED : device->MapMemory(handle, memory, offset, size, flags, out);
}

static VKAPI_ATTR VkResult VKAPI_CALL faulty_EndCommandBuffer(VkCommandBuffer commands)
{
    Device *device = device_of(commands);
    const VkResult result = device->EndCommandBuffer(commands);
    return refuses(device) ? VK_ERROR_OUT_OF_DEVICE_MEMORY : result;
}

// ---- Taking long ------------------------------------------------------------------------------------------

#define SLOW_WORK UINT64_C(60000000000) // ns

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static void begin_work(Device *device)
{
    if (fails(device, &device->works, device->faults.slow)) {
        pthread_mutex_lock(&device->mutex);
        device->busy_until = now() + SLOW_WORK;
        pthread_mutex_unlock(&device->mutex);
        fprintf(stderr, LAYER_NAME ": slow\n");
    }
}

// Waits while the device is said to be busy; false where that is longer than `timeout`.
static bool pass_time(Device *device, uint64_t timeout)
{
    pthread_mutex_lock(&device->mutex);
    const uint64_t until = device->busy_until, begin = now();
    pthread_mutex_unlock(&device->mutex);
    const uint64_t left = until > begin ? until - begin : 0, end = begin + (left < timeout ? left : timeout);
    const struct timespec time = {(time_t)(end / UINT64_C(1000000000)), (long)(end % UINT64_C(1000000000))};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {} // signals do not end the work
    return left <= timeout;
}

// ---- Losing the device -------------------------------------------------------------------------------------

// A lost device's waits end and may say either (Vulkan 1.3, Lost Device). That all is idle is success here, after which
// the validation layers, too, take everything for done.
static bool is_lost(Device *device)
{
    pthread_mutex_lock(&device->mutex);
    const bool lost = device->lost;
    pthread_mutex_unlock(&device->mutex);
    return lost;
}

static void lose(Device *device)
{
    pthread_mutex_lock(&device->mutex);
    device->lost = true;
    pthread_mutex_unlock(&device->mutex);
}

static VKAPI_ATTR VkResult VKAPI_CALL faulty_QueueSubmit2(VkQueue queue, uint32_t count, const VkSubmitInfo2 *submits,
                                                          VkFence fence)
{
    Device *device = device_of(queue);
    if (is_lost(device) || fails(device, &device->submits, device->faults.lose)) {
        lose(device);
        return VK_ERROR_DEVICE_LOST;
    }
    begin_work(device);
    return device->QueueSubmit2(queue, count, submits, fence);
}

// Whatever was submitted before the device was lost is done, so that it can be destroyed; waits for what never began
// end at once, as the specification has it for a lost device.
static VkResult after_wait(Device *device, VkResult result)
{
    if (fails(device, &device->waits, device->faults.lose_wait)) {
        lose(device);
    }
    return is_lost(device) ? VK_ERROR_DEVICE_LOST : result;
}

static VKAPI_ATTR VkResult VKAPI_CALL faulty_WaitForFences(VkDevice handle, uint32_t count, const VkFence *fences,
                                                           VkBool32 all, uint64_t timeout)
{
    Device *device = device_of(handle);
    if (!pass_time(device, timeout)) {
        return VK_TIMEOUT;
    }
    return is_lost(device) ? VK_ERROR_DEVICE_LOST
                           : after_wait(device, device->WaitForFences(handle, count, fences, all, timeout));
}

static VKAPI_ATTR VkResult VKAPI_CALL faulty_WaitSemaphores(VkDevice handle, const VkSemaphoreWaitInfo *info,
                                                            uint64_t timeout)
{
    Device *device = device_of(handle);
    if (!pass_time(device, timeout)) {
        return VK_TIMEOUT;
    }
    return is_lost(device) ? VK_ERROR_DEVICE_LOST : after_wait(device, device->WaitSemaphores(handle, info, timeout));
}

static VKAPI_ATTR VkResult VKAPI_CALL faulty_GetFenceStatus(VkDevice handle, VkFence fence)
{
    Device *device = device_of(handle);
    return is_lost(device) ? VK_ERROR_DEVICE_LOST : device->GetFenceStatus(handle, fence);
}

static VKAPI_ATTR VkResult VKAPI_CALL faulty_GetQueryPoolResults(VkDevice handle, VkQueryPool pool, uint32_t first,
                                                                 uint32_t count, size_t bytes, void *values,
                                                                 VkDeviceSize stride, VkQueryResultFlags flags)
{
    Device *device = device_of(handle);
    return is_lost(device) ? VK_ERROR_DEVICE_LOST
                           : device->GetQueryPoolResults(handle, pool, first, count, bytes, values, stride, flags);
}

// ---- Life --------------------------------------------------------------------------------------------------

static PFN_vkVoidFunction find_instance_function(VkInstance instance, const char *name);
static PFN_vkVoidFunction find_device_function(VkDevice device, const char *name);

static VKAPI_ATTR VkResult VKAPI_CALL faulty_CreateInstance(const VkInstanceCreateInfo *info,
                                                            const VkAllocationCallbacks *callbacks, VkInstance *out)
{
    VkLayerInstanceCreateInfo *link = (VkLayerInstanceCreateInfo *)info->pNext;
    while (link->sType != VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO) {
        link = (VkLayerInstanceCreateInfo *)link->pNext;
    }
    const PFN_vkGetInstanceProcAddr next = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext; // the next layer finds its own
    const PFN_vkCreateInstance create = (PFN_vkCreateInstance)next(VK_NULL_HANDLE, "vkCreateInstance");
    const VkResult result = create(info, callbacks, out);
    if (result != VK_SUCCESS) {
        return result;
    }
    Instance *instance = calloc(1, sizeof *instance);
    const VkApplicationInfo *application = info->pApplicationInfo;
    instance->faults =
        read_faults(application != NULL && application->pApplicationName != NULL ? application->pApplicationName : "");
    check_names(&instance->faults);
    instance->handle = *out;
    instance->next = next;
#define FIND(name) instance->name = (PFN_vk##name)next(*out, "vk" #name);
    INSTANCE_FUNCTIONS(FIND)
#undef FIND
    add_to(&instances, &instance->link, *out);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL faulty_DestroyInstance(VkInstance handle, const VkAllocationCallbacks *callbacks)
{
    if (handle == VK_NULL_HANDLE) {
        return;
    }
    Instance *instance = instance_of(handle);
    instance->DestroyInstance(handle, callbacks);
    take_from(&instances, &instance->link);
    free(instance);
}

static VKAPI_ATTR VkResult VKAPI_CALL faulty_CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                                          const VkAllocationCallbacks *callbacks, VkDevice *out)
{
    Instance *instance = instance_of(physical);
    VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *)info->pNext;
    while (link->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO || link->function != VK_LAYER_LINK_INFO) {
        link = (VkLayerDeviceCreateInfo *)link->pNext;
    }
    const PFN_vkGetInstanceProcAddr next_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    const PFN_vkGetDeviceProcAddr next = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const PFN_vkCreateDevice create = (PFN_vkCreateDevice)next_instance(instance->handle, "vkCreateDevice");
    const VkResult result = create(physical, info, callbacks, out);
    if (result != VK_SUCCESS) {
        return result;
    }
    Device *device = calloc(1, sizeof *device);
    pthread_mutex_init(&device->mutex, NULL);
    device->faults = instance->faults;
    device->next = next;
#define FIND(name)      device->name = (PFN_vk##name)next(*out, "vk" #name);
#define FIND_MADE(name) device->Create##name = (PFN_vkCreate##name)next(*out, "vkCreate" #name);
    DEVICE_FUNCTIONS(FIND)
    MADE_FUNCTIONS(FIND_MADE)
#undef FIND
#undef FIND_MADE
    add_to(&devices, &device->link, *out);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL faulty_DestroyDevice(VkDevice handle, const VkAllocationCallbacks *callbacks)
{
    if (handle == VK_NULL_HANDLE) {
        return;
    }
    Device *device = device_of(handle);
    device->DestroyDevice(handle, callbacks);
    take_from(&devices, &device->link);
    pthread_mutex_lock(&lists);
    keep_larger(&record.allocations, device->allocations);
    keep_larger(&record.objects, device->objects);
    keep_larger(&record.submits, device->submits);
    keep_larger(&record.waits, device->waits);
    pthread_mutex_unlock(&lists);
    pthread_mutex_destroy(&device->mutex);
    free(device);
}

// ---- What the loader asks for ------------------------------------------------------------------------------

typedef struct FunctionRow {
    const char *name;
    PFN_vkVoidFunction function;
} FunctionRow;
#define ROW(name)      {"vk" #name, (PFN_vkVoidFunction)faulty_##name},
#define MADE_ROW(name) {"vkCreate" #name, (PFN_vkVoidFunction)faulty_Create##name},
static const FunctionRow instance_rows[] = {{"vkGetInstanceProcAddr", (PFN_vkVoidFunction)find_instance_function},
                                            ROW(CreateInstance) ROW(CreateDevice) INSTANCE_FUNCTIONS(ROW)};
static const FunctionRow device_rows[] = {{"vkGetDeviceProcAddr", (PFN_vkVoidFunction)find_device_function},
                                          DEVICE_FUNCTIONS(ROW) MADE_FUNCTIONS(MADE_ROW)};

static PFN_vkVoidFunction find_own(const FunctionRow *rows, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return rows[i].function;
        }
    }
    return NULL;
}

static PFN_vkVoidFunction find_own_of_device(const char *name)
{
    return find_own(device_rows, sizeof device_rows / sizeof device_rows[0], name);
}

static PFN_vkVoidFunction find_device_function(VkDevice device, const char *name)
{
    const PFN_vkVoidFunction own = find_own_of_device(name);
    return own != NULL ? own : device_of(device)->next(device, name);
}

static PFN_vkVoidFunction find_instance_function(VkInstance instance, const char *name)
{
    PFN_vkVoidFunction own = find_own(instance_rows, sizeof instance_rows / sizeof instance_rows[0], name);
    own = own != NULL ? own : find_own_of_device(name);
    return own != NULL || instance == VK_NULL_HANDLE ? own : instance_of(instance)->next(instance, name);
}

VK_LAYER_EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *asked)
{
    if (asked->loaderLayerInterfaceVersion < 2) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    asked->loaderLayerInterfaceVersion = 2;
    asked->pfnGetInstanceProcAddr = find_instance_function;
    asked->pfnGetDeviceProcAddr = find_device_function;
    asked->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
