// vulkan_backend.c - the Vulkan backend: the kernel table expanded into compute pipelines on one queue, which a
// renderer of the same device shares.
#include "vulkan/vulkan_backend.h"

#include "base/error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Work --------------------------------------------------------------------------------------------------

// What counting keeps for filling lies behind what a scan between them needs.
static void search(VulkanBackend *vulkan, KernelId kernel, const MoteView *view)
{
    const uint32_t count = view->particle_count, cells = view->cell_count;
    const size_t scan = vulkan_scan_bytes(count);
    if (!vulkan_reserve_temporary(vulkan, scan + KEPT_BYTES * (size_t)count)) {
        return;
    }
    const VkDeviceAddress kept = vulkan->temporary.address + scan; // search.glsl: Arguments
    if (kernel == KERNEL_ID_count_neighbours) {
        vulkan_launch(vulkan, PROGRAM_SEARCH_COUNT, view,
                      (cells + SEARCH_CELLS - 1) / SEARCH_CELLS * vulkan->programs->group, &kept, sizeof kept);
    } else {
        vulkan_launch(vulkan, PROGRAM_SEARCH_FILL, view, count, &kept, sizeof kept);
    }
}

static void launch(Backend *backend, KernelId kernel, const MoteView *view)
{
    VulkanBackend *vulkan = (VulkanBackend *)backend;
    const uint32_t count = kernel_invocations(kernel, view);
    const bool searches = kernel == KERNEL_ID_count_neighbours || kernel == KERNEL_ID_fill_neighbours;
    if (count > 0 && vulkan_begin_timed(vulkan)) {
        if (searches && vulkan->programs->searches && view->ignoring == 0u) { // search.glsl knows groups alone
            search(vulkan, kernel, view);
        } else {
            vulkan_launch(vulkan, (ProgramId)kernel, view, count, NULL, 0);
        }
        vulkan_time(vulkan, (int)kernel, count);
    }
}

static void wait_for_all(Backend *backend)
{
    vulkan_finish((VulkanBackend *)backend);
}

static MoteTimeline *hand_over(Backend *backend)
{
    VulkanBackend *vulkan = (VulkanBackend *)backend;
    if (vulkan->timeline == NULL) {
        return NULL;
    }
    vulkan_start(vulkan);
    return &vulkan->timeline->shared;
}

static const char *failure(const Backend *backend)
{
    const VulkanBackend *vulkan = (const VulkanBackend *)backend;
    return vulkan->failure[0] != '\0' ? vulkan->failure : NULL;
}

static uint32_t memory_kind(const Backend *backend, const char **why)
{
    const VulkanBackend *vulkan = (const VulkanBackend *)backend;
    *why = vulkan->same_device ? "" : "the world was made without the renderer's device";
    return vulkan->same_device ? MOTE_MEMORY_DEVICE : MOTE_MEMORY_PRIVATE;
}

static const void *memory_device(const Backend *backend)
{
    return ((const VulkanBackend *)backend)->device;
}

static void read_timers(Backend *backend, Timer timers[TIMER_COUNT])
{
    VulkanBackend *vulkan = (VulkanBackend *)backend;
    vulkan_finish(vulkan);
    memcpy(timers, vulkan->timers, sizeof vulkan->timers);
}

static void reset_timers(Backend *backend)
{
    VulkanBackend *vulkan = (VulkanBackend *)backend;
    vulkan_finish(vulkan);
    memset(vulkan->timers, 0, sizeof vulkan->timers);
}

// ---- Life --------------------------------------------------------------------------------------------------

static void destroy(Backend *backend)
{
    VulkanBackend *vulkan = (VulkanBackend *)backend;
    if (!vulkan_finish(vulkan)) {
        device_wait_idle(vulkan->device); // a failure ends waiting for batches that may still run
    }
    vulkan_wait_for_renderer(vulkan);
    if (vulkan->timeline != NULL) {
        vulkan->shared->end_timeline(vulkan->shared, &vulkan->timeline->shared);
    }
    vulkan_memory_destroy(vulkan);
    vulkan_commands_destroy(vulkan);
    vulkan_programs_release(vulkan->programs);
    free(vulkan);
}

static const BackendFunctions functions = {
    .name = "vulkan",
    .guesses = true,
    .destroy = destroy,
    .allocate = vulkan_allocate,
    .release = vulkan_release,
    .upload = vulkan_upload,
    .download = vulkan_download,
    .copy = vulkan_copy,
    .memory_kind = memory_kind,
    .memory_device = memory_device,
    .launch = launch,
    .sort = vulkan_sort,
    .scan = vulkan_scan,
    .find_bounds = vulkan_find_bounds,
    .wait = wait_for_all,
    .hand_over = hand_over,
    .failure = failure,
    .read_timers = read_timers,
    .reset_timers = reset_timers,
};

MoteResult vulkan_backend_create(const MoteBackendOptions *options, Backend **out)
{
    VulkanBackend *vulkan = calloc(1, sizeof *vulkan);
    if (vulkan == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the vulkan backend");
    }
    MoteResult result = vulkan_programs_acquire(options, &vulkan->programs);
    if (result != MOTE_OK) {
        free(vulkan);
        return mote_fail(result, "backend vulkan: %s; try backend cpu", mote_error_message());
    }
    vulkan->base.functions = &functions;
    vulkan->device = vulkan->programs->device;
    vulkan->same_device = vulkan->device != &vulkan->programs->own;
    if (vulkan->same_device && options->shared_memory->make_timeline != NULL) {
        vulkan->shared = options->shared_memory;
        vulkan->timeline = (DeviceTimeline *)vulkan->shared->make_timeline(vulkan->shared, NULL); // its first member
    }
    result = vulkan_commands_create(vulkan);
    result = result == MOTE_OK ? vulkan_memory_create(vulkan) : result;
    if (result != MOTE_OK) {
        destroy(&vulkan->base);
        return mote_fail(result, "backend vulkan: %s; try backend cpu", mote_error_message());
    }
    *out = &vulkan->base;
    return MOTE_OK;
}

// ---- What is there -----------------------------------------------------------------------------------------

// Asking takes a while, and devices do not come and go: once a process.
typedef struct Probe {
    bool done, usable, software;
    char device[128];
} Probe;

static Probe probe(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static Probe found;
    pthread_mutex_lock(&mutex);
    if (!found.done) {
        enum { LIMIT = 16 };
        MoteDeviceInfo rows[LIMIT];
        const uint32_t count = device_list(rows, LIMIT);
        snprintf(found.device, sizeof found.device, "%.120s", count == 0 ? mote_error_message() : "");
        for (uint32_t i = 0; i < count && i < LIMIT; i++) {
            const bool usable = rows[i].usable && rows[i].computes;
            if (usable && (!found.usable || (found.software && !rows[i].software))) {
                found.usable = true;
                found.software = rows[i].software;
                snprintf(found.device, sizeof found.device, "%.80s%s", rows[i].name,
                         rows[i].software ? " (software: never chosen by auto)" : "");
            } else if (!found.usable) {
                snprintf(found.device, sizeof found.device, "%.50s lacks %.50s", rows[i].name,
                         rows[i].usable ? "shaderInt64" : rows[i].lacks);
            }
        }
        found.done = true;
    }
    const Probe result = found;
    pthread_mutex_unlock(&mutex);
    return result;
}

bool vulkan_backend_probe(char *device, size_t size)
{
    const Probe found = probe();
    snprintf(device, size, "%s", found.device);
    return found.usable;
}

bool vulkan_backend_is_hardware(void)
{
    const Probe found = probe();
    return found.usable && !found.software;
}
