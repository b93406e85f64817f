// SPDX-License-Identifier: MIT
// vulkan_backend.h - what the files of the Vulkan backend share.
#ifndef MOTE_VULKAN_BACKEND_H
#define MOTE_VULKAN_BACKEND_H

#include "render/memory.h"
#include "solver/backend.h"

#include <pthread.h>

// ---- Programs: what all worlds on one device share (vulkan_programs.c) -------------------------------------

// Kernels of the table come first, by their KernelId.
typedef enum ProgramId {
    PROGRAM_SORT_DIFFER = KERNEL_COUNT,
    PROGRAM_SORT_PLAN,
    PROGRAM_SORT_COUNT,
    PROGRAM_SORT_COLUMNS,
    PROGRAM_SORT_SCATTER,
    PROGRAM_SORT_COPY,
    PROGRAM_SORT_SMALL,
    PROGRAM_SCAN_SUMS,
    PROGRAM_SCAN_TILES,
    PROGRAM_BOUNDS,
    PROGRAM_SEARCH_COUNT, // a cell at a time: instead of count_neighbours and fill_neighbours
    PROGRAM_SEARCH_FILL,
    PROGRAM_COUNT
} ProgramId;

enum {
    PUSH_CONSTANT_BYTES = 64,
    SEARCH_CELLS = 8, // of a workgroup: shaders/solver/search_count.comp
    KEPT_BYTES = 24,  // a particle, between counting and filling: KEPT_BEYOND of shaders/solver/search.glsl
    THREAD_LIMIT = 16,
    VARIANT_LIMIT = 8 // of a kernel: one for every world, and some for those that lack something
};

typedef struct VulkanPrograms {
    Device *device; // `own`, or a renderer's
    Device own;
    uint32_t asked;     // the device that was asked for, and whether it is to be validated
    bool validate;      //
    uint32_t users;     // worlds
    uint32_t group;     // invocations of a workgroup, a power of two
    uint32_t threads;   // of a software device, if it gives each a piece of a launch: shaders/solver/groups.glsl
    uint64_t max_bytes; // of a buffer
    bool searches;      // can run PROGRAM_SEARCH_*
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout; // the view as a dynamic uniform buffer, and push constants
    VkPipelineCache cache;
    uint64_t cache_hash;   // of the file's contents
    pthread_mutex_t mutex; // of what follows
    VkPipeline pipelines[PROGRAM_COUNT][VARIANT_LIMIT];
    uint32_t variants[VARIANT_LIMIT]; // LACKS_* of data.h; the first 0
    uint32_t variant_count;
    struct VulkanPrograms *next;
} VulkanPrograms;

// The programs of the device that `options` ask for: made with the first world on it, gone with the last.
MoteResult vulkan_programs_acquire(const MoteBackendOptions *options, VulkanPrograms **out);
void vulkan_programs_release(VulkanPrograms *programs);
// Compiled when it is first used; VK_NULL_HANDLE and a message if that fails.
// For worlds without something (LACKS_*) it may be one that is faster.
VkPipeline vulkan_programs_pipeline(VulkanPrograms *programs, ProgramId program, uint32_t lacked_features);

// ---- Pipelines between runs (vulkan_cache.c) ---------------------------------------------------------------

// From the user's cache folder. A file that is not there, broken or of another driver is an empty cache.
VkResult vulkan_cache_open(Device *device, VkPipelineCache *out, uint64_t *hash);
// What the driver gave, into its file; nobody is told if that cannot be done.
void vulkan_cache_write(Device *device, const void *bytes, size_t size);
// Writes what is new.
void vulkan_cache_save(Device *device, VkPipelineCache cache, uint64_t hash);

// ---- A world's backend -------------------------------------------------------------------------------------

enum {
    VIEW_SLOTS = 4096,      // views that can wait for the device
    BATCH_LIMIT = 16,       // recordings that are kept
    TIME_SLOTS = 8192,      // timed launches that can
    UPLOAD_BYTES = 4 << 20, // a piece of staging memory
    UPLOAD_LIMIT = 64,      // pieces that can be filled before the host waits
    DOWNLOAD_BYTES = 4 << 20,
    NO_TIMER = -1,
};

// A command as it is remembered before it is recorded. What is not used is 0, so that bytes can be compared.
typedef struct VulkanCommand {
    uint32_t kind; // CommandKind of vulkan_commands.c
    uint32_t view; // offset of a launch's view
    VkPipeline pipeline;
    VkBuffer source, target;
    VkDeviceSize source_offset, target_offset, bytes;
    uint32_t groups; // workgroups of a dispatch whose number is known
    uint32_t constant_bytes;
    uint32_t query;
    uint32_t unused;
    uint8_t constants[PUSH_CONSTANT_BYTES];
} VulkanCommand;

// Commands that are run at once, recorded. The next step runs them again if its own are the same: views and numbers of
// invocations are not part of them.
typedef struct VulkanBatch {
    VkCommandBuffer recorded;
    VulkanCommand *commands;
    uint32_t count, capacity;
    uint64_t last_use; // 0: it holds nothing
} VulkanBatch;

typedef struct VulkanBlock {
    VkDeviceAddress address;
    Buffer buffer;
} VulkanBlock;

typedef struct VulkanBackend {
    Backend base;
    VulkanPrograms *programs;
    Device *device;
    bool same_device;         // as the renderer that it was made for
    MoteSharedMemory *shared; // the renderer's, of same_device
    DeviceTimeline *timeline; // of same_device, if there is one

    // Commands (vulkan_commands.c)
    VkCommandPool pool;
    VulkanBatch batches[BATCH_LIMIT];
    VulkanCommand *commands; // since the last run
    uint32_t command_count, command_capacity;
    uint64_t runs, recordings; // of batches
    VkFence fence;
    bool started; // a batch that nobody has waited for yet
    VkDescriptorPool descriptor_pool;
    VkDescriptorSet set;
    VkQueryPool queries;
    bool recording;
    Buffer views;
    uint32_t view_stride, view_count; // bytes a slot, slots in use
    SolverData last_view;             // in the last slot
    Buffer sizes;                     // of launches: VkDispatchIndirectCommand
    uint32_t size_count;
    int pending[TIME_SLOTS]; // the timer of each query, or NO_TIMER
    uint32_t pending_count;
    bool untimed; // commands since the last query that belong to no timer

    // Memory (vulkan_memory.c)
    VulkanBlock *blocks; // ascending by address
    uint32_t block_count, block_capacity;
    Buffer *dead; // released, but perhaps still used by recorded commands
    uint32_t dead_count, dead_capacity;
    Buffer uploads[UPLOAD_LIMIT]; // the first ones that were needed so far
    uint32_t upload;              // the one that is being filled,
    size_t upload_used;           // up to here
    Buffer download;
    Buffer temporary; // of sort, scan and bounds

    Timer timers[TIMER_COUNT];
    char failure[256]; // the first error, or empty
} VulkanBackend;

// Notes the first failure; false if there was one.
bool vulkan_check(VulkanBackend *vulkan, VkResult result, const char *what);

// ---- Commands (vulkan_commands.c) --------------------------------------------------------------------------

MoteResult vulkan_commands_create(VulkanBackend *vulkan);
void vulkan_commands_destroy(VulkanBackend *vulkan);
// Ready for commands; false after a failure.
bool vulkan_begin(VulkanBackend *vulkan);
// Runs what was recorded and waits for it; false after a failure.
bool vulkan_finish(VulkanBackend *vulkan);
// Runs what was recorded without waiting; the timeline's value says when it is done.
void vulkan_start(VulkanBackend *vulkan);
// A renderer may be reading buffers still.
void vulkan_wait_for_renderer(VulkanBackend *vulkan);
// Each of these sees what the ones before it wrote.
void vulkan_launch(VulkanBackend *vulkan, ProgramId kernel, const SolverData *view, uint32_t invocations,
                   const void *constants, uint32_t bytes);
void vulkan_dispatch(VulkanBackend *vulkan, ProgramId program, const void *constants, uint32_t bytes, uint32_t groups);
// With as many workgroups as the device has written at `offset` of `sizes`.
void vulkan_dispatch_planned(VulkanBackend *vulkan, ProgramId program, const void *constants, uint32_t bytes,
                             VkBuffer sizes, VkDeviceSize offset);
void vulkan_fill_zero(VulkanBackend *vulkan, VkBuffer target, VkDeviceSize bytes);
void vulkan_copy_buffer(VulkanBackend *vulkan, VkBuffer source, VkDeviceSize source_offset, VkBuffer target,
                        VkDeviceSize target_offset, VkDeviceSize bytes);
// Recordings may speak of buffers that are going to be destroyed.
void vulkan_forget_batches(VulkanBackend *vulkan);
// Ready to record a timed launch, by running what is recorded if there is no room for more; false after a failure.
bool vulkan_begin_timed(VulkanBackend *vulkan);
// What was recorded since then belongs to `timer`.
void vulkan_time(VulkanBackend *vulkan, int timer, uint64_t invocations);

// ---- Memory (vulkan_memory.c) ------------------------------------------------------------------------------

MoteResult vulkan_memory_create(VulkanBackend *vulkan);
void vulkan_memory_destroy(VulkanBackend *vulkan);
void *vulkan_allocate(Backend *backend, size_t bytes);
void vulkan_release(Backend *backend, void *address, size_t bytes);
void vulkan_upload(Backend *backend, void *target, const void *source, size_t bytes);
void vulkan_download(Backend *backend, void *target, const void *source, size_t bytes);
void vulkan_copy(Backend *backend, void *target, const void *source, size_t bytes);
// Once the device is done with everything.
void vulkan_bury(VulkanBackend *vulkan);
// Makes `temporary` hold `bytes`; what was in it may be lost.
bool vulkan_reserve_temporary(VulkanBackend *vulkan, size_t bytes);

// ---- Primitives (vulkan_primitives.c) ----------------------------------------------------------------------

void vulkan_sort(Backend *backend, u64 *keys, uint *values, uint32_t count, void *scratch);
// Of the temporary: what a scan needs.
size_t vulkan_scan_bytes(uint32_t count);
void vulkan_scan(Backend *backend, uint *values, uint32_t count);
void vulkan_find_bounds(Backend *backend, const vec4 *points, uint32_t count, vec4 *bounds);

#endif
