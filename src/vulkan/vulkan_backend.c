// SPDX-License-Identifier: MIT
// vulkan_backend.c - the Vulkan backend: the kernel table expanded into compute pipelines on one queue, which a
// renderer of the same device shares.
#define _GNU_SOURCE // pipe2, RTLD_NOLOAD
#include "vulkan/vulkan_backend.h"

#include "base/clock.h"
#include "base/error.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_SECONDS = 30 }; // for drivers to say what devices there are

// ---- Work --------------------------------------------------------------------------------------------------

// What counting keeps for filling lies behind what a scan between them needs.
static void search(VulkanBackend *vulkan, KernelId kernel, const SolverData *view)
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

static void launch(Backend *backend, KernelId kernel, const SolverData *view)
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

static void *native_handle(Backend *backend)
{
    return ((VulkanBackend *)backend)->device->handle;
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
    vulkan_finish(vulkan);
    // A failure ends waiting for batches that may still run. Where there is none, a software driver's queue still has
    // work to do behind the semaphore that it signalled, with the pipelines that are about to go.
    device_wait_idle(vulkan->device);
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
    .speculates = true,
    .destroy = destroy,
    .allocate = vulkan_allocate,
    .release = vulkan_release,
    .upload = vulkan_upload,
    .download = vulkan_download,
    .copy = vulkan_copy,
    .memory_kind = memory_kind,
    .memory_device = memory_device,
    .native_handle = native_handle,
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

static void look(Probe *found)
{
    enum { LIMIT = 16 };
    MoteDeviceInfo rows[LIMIT];
    const uint32_t count = device_list(rows, LIMIT);
    snprintf(found->device, sizeof found->device, "%.120s", count == 0 ? mote_error_message() : "");
    for (uint32_t i = 0; i < count && i < LIMIT; i++) {
        const bool usable = rows[i].usable && rows[i].computes;
        if (usable && (!found->usable || (found->software && !rows[i].software))) {
            found->usable = true;
            found->software = rows[i].software;
            snprintf(found->device, sizeof found->device, "%.80s%s", rows[i].name,
                     rows[i].software ? ", software: auto prefers cpu" : "");
        } else if (!found->usable) {
            snprintf(found->device, sizeof found->device, "%.50s lacks %.50s", rows[i].name,
                     rows[i].usable ? "shaderInt64" : rows[i].lacks);
        }
    }
    found->done = true;
}

static void read_answer(int file, pid_t child, Probe *out)
{
    const double deadline = clock_seconds() + CHILD_SECONDS;
    size_t received = 0;
    bool open = true;
    while (open && received < sizeof *out) {
        struct pollfd waiting = {.fd = file, .events = POLLIN};
        const double left = deadline - clock_seconds();
        const int ready = left > 0.0 ? poll(&waiting, 1, (int)(1e3 * left) + 1) : 0;
        if (ready > 0) {
            const ssize_t bytes = read(file, (char *)out + received, sizeof *out - received);
            open = bytes > 0 || (bytes < 0 && errno == EINTR);
            received += bytes > 0 ? (size_t)bytes : 0;
        } else if (ready == 0 || errno != EINTR) {
            kill(child, SIGKILL);
            open = false;
        }
    }
    if (received < sizeof *out) {
        *out = (Probe){0};
    }
}

// Looks in a child process. Drivers bring compilers with them, tens of megabytes that stay when the last instance is
// destroyed and the loader closed (libLLVM does not unload): a process that then computes on the CPU is spared them,
// and is not taken down by a driver that crashes. False if there is no answer: `why` is then empty, or says what
// happened.
static bool look_from_child(Probe *out, char *why, size_t size)
{
    int ends[2];
    why[0] = '\0';
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    const pid_t child = fork();
    if (child == 0) {
        Probe found = {0};
        look(&found);
        const ssize_t written = write(ends[1], &found, sizeof found);
        _exit(written == (ssize_t)sizeof found ? 0 : 1);
    }
    close(ends[1]);
    if (child > 0) {
        int status = 0;
        pid_t ended;
        read_answer(ends[0], child, out);
        do {
            ended = waitpid(child, &status, 0);
        } while (ended < 0 && errno == EINTR);
        if (!out->done && ended == child && WIFSIGNALED(status)) {
            snprintf(why, size, "a Vulkan driver on this machine %s",
                     WTERMSIG(status) == SIGKILL ? "hangs" : "crashes");
        }
    }
    close(ends[0]);
    return out->done;
}

// Whether this process has Vulkan's loader already, as one with a renderer or a window: then a child spares nothing,
// and locks that another thread holds would be held in it for ever.
static bool has_loader(void)
{
    void *loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (loader != NULL) {
        dlclose(loader);
    }
    return loader != NULL;
}

static Probe probe(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static Probe found;
    pthread_mutex_lock(&mutex);
    if (!found.done) {
        char why[sizeof found.device];
        if (has_loader() || (!look_from_child(&found, why, sizeof why) && why[0] == '\0')) {
            look(&found);
        } else if (!found.done) {
            found.done = true;
            snprintf(found.device, sizeof found.device, "%s", why);
        }
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
