// SPDX-License-Identifier: MIT
// vulkan_programs.c - the kernels as compute pipelines. All worlds on a device share them.
#include "vulkan/vulkan_backend.h"

#include "base/error.h"
#include "vulkan/shaders.h"
#include "vulkan/spirv.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(void *) == sizeof(VkDeviceAddress), "the view's pointers are device addresses");

static const char *const program_names[PROGRAM_COUNT] = {
#define KERNEL_ROW(name, stage, count) [KERNEL_ID_##name] = #name,
#include "kernels/kernels.def"
    [PROGRAM_SORT_DIFFER] = "sort_differ",   [PROGRAM_SORT_PLAN] = "sort_plan",
    [PROGRAM_SORT_COUNT] = "sort_count",     [PROGRAM_SORT_COLUMNS] = "sort_columns",
    [PROGRAM_SORT_SCATTER] = "sort_scatter", [PROGRAM_SORT_COPY] = "sort_copy",
    [PROGRAM_SORT_SMALL] = "sort_small",     [PROGRAM_SCAN_SUMS] = "scan_sums",
    [PROGRAM_SCAN_TILES] = "scan_tiles",     [PROGRAM_BOUNDS] = "bounds",
    [PROGRAM_SEARCH_COUNT] = "search_count", [PROGRAM_SEARCH_FILL] = "search_fill",
};

static const SolverShader *find_shader(ProgramId program)
{
    for (size_t i = 0; i < solver_shader_count; i++) {
        if (strcmp(solver_shaders[i].name, program_names[program]) == 0) {
            return &solver_shaders[i];
        }
    }
    MOTE_ASSERT(!"a shader for every program");
    return NULL;
}

// ---- The view ----------------------------------------------------------------------------------------------

// What arrays hold is as large for shaders as for the host.
static MoteResult check_element_sizes(void)
{
    static const struct {
        const char *name, *block;
        size_t size;
    } elements[] = {
#define ELEMENT(type, alignment) {#type, #type "_buffer", sizeof(type)},
#include "kernels/data.def"
    };
    const SolverShader *shader = find_shader((ProgramId)KERNEL_ID_predict);
    for (uint32_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        uint32_t stride = 0;
        if (!spirv_array_stride(shader->words, shader->count, elements[i].block, &stride) ||
            stride != elements[i].size) {
            return mote_fail(
                MOTE_ERROR_UNAVAILABLE,
                "backend vulkan: a %s has %u bytes in shaders, expected %zu: this build's compilers do not "
                "agree; try backend cpu",
                elements[i].name, stride, elements[i].size);
        }
    }
    return MOTE_OK;
}

// The struct that the host writes and the block that shaders read come from the same table, but from two compilers.
static MoteResult check_view_layout(void)
{
    static const struct {
        const char *name;
        size_t offset;
    } members[] = {
#define BUFFER(type, name, capacity, order, keep, render) {#name, offsetof(SolverData, name)},
#define EXTERNAL(type, name)                              {#name, offsetof(SolverData, name)},
#define PARAMETER_ROW(type, name)                         {#name, offsetof(SolverData, name)},
#include "kernels/data.def"
    };
    const SolverShader *shader = find_shader((ProgramId)KERNEL_ID_predict);
    for (uint32_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        uint32_t offset = UINT32_MAX;
        if (!spirv_member_offset(shader->words, shader->count, "SolverData", i, &offset) ||
            offset != members[i].offset) {
            return mote_fail(
                MOTE_ERROR_UNAVAILABLE,
                "backend vulkan: shaders see the view's %s at byte %u, expected %zu: this build's compilers "
                "do not agree; try backend cpu",
                members[i].name, offset, members[i].offset);
        }
    }
    return MOTE_OK;
}

// ---- Pipelines ---------------------------------------------------------------------------------------------

static VkResult compile(VulkanPrograms *programs, ProgramId program, uint32_t lacked_features, VkPipeline *out)
{
    const SolverShader *shader = find_shader(program);
    VkDevice device = programs->device->handle;
    size_t count = 0;
    uint32_t *words = spirv_without_contraction(shader->words, shader->count, &count);
    if (words == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const VkShaderModuleCreateInfo code = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = 4 * count, .pCode = words};
    VkShaderModule module = VK_NULL_HANDLE;
    VkResult result = MADE(vkCreateShaderModule(device, &code, NULL, &module), &module);
    free(words);
    if (result != VK_SUCCESS) {
        return result;
    }
    const VkPipelineShaderStageCreateFlags subgroups = // of any size, without invocations that are not there
        VK_PIPELINE_SHADER_STAGE_CREATE_ALLOW_VARYING_SUBGROUP_SIZE_BIT |
        VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    const uint32_t values[3] = {programs->group, lacked_features, programs->threads};
    const VkSpecializationMapEntry entries[3] = {{0, 0, 4}, {1, 4, 4}, {2, 8, 4}};
    const VkSpecializationInfo constants = {3, entries, sizeof values, values};
    const VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                              .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                        .flags = program == PROGRAM_SEARCH_COUNT ? subgroups : 0,
                                                        .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                        .module = module,
                                                        .pName = "main",
                                                        .pSpecializationInfo = &constants},
                                              .layout = programs->layout};
    result = vkCreateComputePipelines(device, programs->cache, 1, &info, NULL, out);
    vkDestroyShaderModule(device, module, NULL);
    if (result == VK_SUCCESS) {
        DEVICE_NAME(programs->device, PIPELINE, *out, program_names[program]);
    }
    return result;
}

// Kernels that take long and have much in them that most worlds lack. A device that runs both sides of a branch, as
// software does, runs all of that for every particle.
static bool has_variants(ProgramId program)
{
    switch ((int)program) {
    case KERNEL_ID_stabilize_contacts:
    case KERNEL_ID_solve_contacts:
    case KERNEL_ID_density_lambda:
    case KERNEL_ID_density_delta:
    case KERNEL_ID_update_velocity:
    case KERNEL_ID_smooth_velocity:
    case PROGRAM_SEARCH_COUNT:
    case PROGRAM_SEARCH_FILL:
        return true;
    default:
        return false;
    }
}

static uint32_t find_variant(VulkanPrograms *programs, uint32_t lacked_features)
{
    uint32_t v = 0;
    while (v < programs->variant_count && programs->variants[v] != lacked_features) {
        v++;
    }
    if (v == VARIANT_LIMIT) {
        return 0; // the one for every world
    }
    programs->variants[v] = lacked_features;
    programs->variant_count += v == programs->variant_count;
    return v;
}

VkPipeline vulkan_programs_pipeline(VulkanPrograms *programs, ProgramId program, uint32_t lacked_features)
{
    pthread_mutex_lock(&programs->mutex);
    const uint32_t variant = has_variants(program) ? find_variant(programs, lacked_features) : 0;
    VkPipeline *pipeline = &programs->pipelines[program][variant];
    if (*pipeline == VK_NULL_HANDLE) {
        const VkResult result = compile(programs, program, programs->variants[variant], pipeline);
        if (result != VK_SUCCESS) {
            *pipeline = VK_NULL_HANDLE;
            device_fail(result, program_names[program]);
        }
    }
    pthread_mutex_unlock(&programs->mutex);
    return *pipeline;
}

// ---- Life --------------------------------------------------------------------------------------------------

// Two or four subgroups hide each other's waiting, where a device does that; a software device has most of the work
// with starting workgroups and little with their size.
static void choose_sizes(VulkanPrograms *programs)
{
    VkPhysicalDeviceMaintenance4Properties limits = {.sType =
                                                         VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES};
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
                                               .pNext = &limits};
    VkPhysicalDeviceSubgroupSizeControlProperties sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES, .pNext = &driver};
    VkPhysicalDeviceSubgroupProperties subgroup = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
                                                   .pNext = &sizes};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &subgroup};
    vkGetPhysicalDeviceProperties2(programs->device->physical, &properties);
    programs->max_bytes = limits.maxBufferSize < programs->device->info.memory_bytes
                              ? limits.maxBufferSize
                              : programs->device->info.memory_bytes;
    programs->group = programs->device->info.software || subgroup.subgroupSize <= 16 ? 64 : 128;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const bool shared = programs->device->info.software && processors > 1 && processors <= THREAD_LIMIT;
    programs->threads = shared ? (uint32_t)processors : 1;
    const VkSubgroupFeatureFlags needed = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT;
    // Older software drivers end all loops of an invocation after 65535 turns, which cells of thousands of particles
    // take.
    int mesa = 0;
    const bool limited = driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE &&
                         (sscanf(driver.driverInfo, "Mesa %d", &mesa) != 1 || mesa < 24);
    programs->searches = !limited && (subgroup.supportedOperations & needed) == needed &&
                         (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                         programs->group % sizes.maxSubgroupSize == 0;
}

static MoteResult create_layouts(VulkanPrograms *programs)
{
    VkDevice device = programs->device->handle;
    const VkDescriptorSetLayoutBinding view = {.descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC,
                                               .descriptorCount = 1,
                                               .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 1, .pBindings = &view};
    VkResult result =
        MADE(vkCreateDescriptorSetLayout(device, &set, NULL, &programs->set_layout), &programs->set_layout);
    if (result == VK_SUCCESS) {
        const VkPushConstantRange constants = {VK_SHADER_STAGE_COMPUTE_BIT, 0, PUSH_CONSTANT_BYTES};
        const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                                   .setLayoutCount = 1,
                                                   .pSetLayouts = &programs->set_layout,
                                                   .pushConstantRangeCount = 1,
                                                   .pPushConstantRanges = &constants};
        result = MADE(vkCreatePipelineLayout(device, &layout, NULL, &programs->layout), &programs->layout);
    }
    if (result == VK_SUCCESS) {
        result = vulkan_cache_open(programs->device, &programs->cache, &programs->cache_hash);
    }
    return result == VK_SUCCESS ? MOTE_OK : device_fail(result, "setting up the solver");
}

static void destroy(VulkanPrograms *programs)
{
    if (programs->device != NULL && programs->device->handle != VK_NULL_HANDLE) {
        VkDevice device = programs->device->handle;
        for (int i = 0; i < PROGRAM_COUNT * VARIANT_LIMIT; i++) {
            vkDestroyPipeline(device, programs->pipelines[i / VARIANT_LIMIT][i % VARIANT_LIMIT], NULL);
        }
        if (programs->cache != VK_NULL_HANDLE) {
            vulkan_cache_save(programs->device, programs->cache, programs->cache_hash);
        }
        vkDestroyPipelineCache(device, programs->cache, NULL);
        vkDestroyPipelineLayout(device, programs->layout, NULL);
        vkDestroyDescriptorSetLayout(device, programs->set_layout, NULL);
    }
    device_destroy(&programs->own); // an empty struct where the device is a renderer's
    pthread_mutex_destroy(&programs->mutex);
    free(programs);
}

// The solver needs one feature beyond the renderer's.
static MoteResult check_device(const Device *device)
{
    return device->has_int64
               ? MOTE_OK
               : mote_fail(MOTE_ERROR_UNAVAILABLE, "Vulkan device %s lacks shaderInt64", device->info.name);
}

static MoteResult create(const MoteBackendOptions *options, VulkanPrograms **out)
{
    VulkanPrograms *programs = calloc(1, sizeof *programs);
    if (programs == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the vulkan backend");
    }
    pthread_mutex_init(&programs->mutex, NULL);
    programs->asked = options->vulkan_device;
    programs->validate = options->validate;
    programs->variant_count = 1; // the one without nothing
    MoteResult result = check_view_layout();
    result = result == MOTE_OK ? check_element_sizes() : result;
    if (result == MOTE_OK && options->shared_memory != NULL && options->shared_memory->vulkan_device != NULL) {
        programs->device = options->shared_memory->vulkan_device;
    } else if (result == MOTE_OK) {
        const MoteRendererOptions device = {.device = options->vulkan_device > 0 ? options->vulkan_device - 1
                                                                                 : MOTE_DEVICE_AUTO,
                                            .validate = options->validate};
        result = device_create(&device, &programs->own);
        programs->device = &programs->own;
    }
    result = result == MOTE_OK ? check_device(programs->device) : result;
    if (result == MOTE_OK) {
        choose_sizes(programs);
        result = create_layouts(programs);
    }
    if (result != MOTE_OK) {
        destroy(programs);
        return result;
    }
    *out = programs;
    return MOTE_OK;
}

// ---- Sharing -----------------------------------------------------------------------------------------------

static pthread_mutex_t all_mutex = PTHREAD_MUTEX_INITIALIZER;
static VulkanPrograms *all;

static bool serves(const VulkanPrograms *programs, const MoteBackendOptions *options)
{
    const MoteSharedMemory *shared = options->shared_memory;
    if (shared != NULL && shared->vulkan_device != NULL) {
        return programs->device == shared->vulkan_device;
    }
    return programs->device == &programs->own && programs->asked == options->vulkan_device &&
           programs->validate == options->validate;
}

MoteResult vulkan_programs_acquire(const MoteBackendOptions *options, VulkanPrograms **out)
{
    MoteResult result = MOTE_OK;
    pthread_mutex_lock(&all_mutex);
    VulkanPrograms *programs = all;
    while (programs != NULL && !serves(programs, options)) {
        programs = programs->next;
    }
    if (programs == NULL) {
        result = create(options, &programs);
        if (result == MOTE_OK) {
            programs->next = all;
            all = programs;
        }
    }
    if (result == MOTE_OK) {
        programs->users++;
        *out = programs;
    }
    pthread_mutex_unlock(&all_mutex);
    return result;
}

void vulkan_programs_release(VulkanPrograms *programs)
{
    pthread_mutex_lock(&all_mutex);
    if (--programs->users == 0) {
        VulkanPrograms **link = &all;
        while (*link != programs) {
            link = &(*link)->next;
        }
        *link = programs->next;
        destroy(programs);
    }
    pthread_mutex_unlock(&all_mutex);
}
