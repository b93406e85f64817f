// SPDX-License-Identifier: MIT
#define _DEFAULT_SOURCE // madvise
#include "cpu/cpu_backend.h"

#include "base/clock.h"
#include "base/error.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { RANGES_A_THREAD = 8 };

typedef struct CpuBackend {
    Backend base;
    Threads *threads;
    bool portable;                        // no AVX2 kernels
    RangeFunction *kernels[KERNEL_COUNT]; // the twin where there is one, else the portable kernel
    Timer timers[TIMER_COUNT];
} CpuBackend;

static void destroy(Backend *backend)
{
    threads_destroy(((CpuBackend *)backend)->threads);
    free(backend);
}

// Whole pages, so that a graphics device can import them (VK_EXT_external_memory_host). Large buffers ask for huge
// pages: neighbours are read from all over them, and every miss of the page tables' cache costs as much as a dozen
// loads.
static void *allocate(Backend *backend, size_t bytes)
{
    (void)backend;
    const size_t huge_page = (size_t)2 << 20;
    const bool large = bytes >= huge_page;
    void *address = NULL;
    if (bytes > SIZE_MAX - HOST_PAGE) {
        return NULL;
    }
    const size_t rounded = (bytes + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE;
    if (posix_memalign(&address, large ? huge_page : HOST_PAGE, rounded) != 0) {
        return NULL;
    }
#if defined(MADV_HUGEPAGE)
    if (large) {
        madvise(address, rounded, MADV_HUGEPAGE); // a wish: nothing depends on it
    }
#endif
    memset(address, 0, rounded);
    return address;
}

static void release(Backend *backend, void *address, size_t bytes)
{
    (void)backend;
    (void)bytes;
    free(address);
}

static void copy(Backend *backend, void *target, const void *source, size_t bytes)
{
    (void)backend;
    memcpy(target, source, bytes);
}

static uint32_t memory_kind(const Backend *backend, const char **why)
{
    (void)backend;
    *why = "";
    return MOTE_MEMORY_HOST;
}

static void add_time(CpuBackend *cpu, KernelId timer, double since, uint64_t invocations)
{
    cpu->timers[timer].milliseconds += 1e3 * (clock_seconds() - since);
    cpu->timers[timer].launches++;
    cpu->timers[timer].invocations += invocations;
}

// Where the r-th of `ranges` parts begins and the one before it ends: at whole steps.
static uint range_end(uint32_t count, int r, int ranges)
{
    const uint64_t at = (uint64_t)count * (uint64_t)r / (uint64_t)ranges;
    return r == ranges ? count : (uint)(at / CPU_RANGE_STEP * CPU_RANGE_STEP);
}

typedef struct Launch {
    RangeFunction *function;
    const SolverData *view;
    uint32_t count;
    int ranges;
} Launch;

static void run_range(void *context, int range, int thread)
{
    (void)thread;
    const Launch *launch = context;
    launch->function(launch->view, range_end(launch->count, range, launch->ranges),
                     range_end(launch->count, range + 1, launch->ranges));
}

// Threads take ranges in turn, so that one which is held up holds up little; no result depends on where ranges end.
static void launch(Backend *backend, KernelId kernel, const SolverData *view)
{
    CpuBackend *cpu = (CpuBackend *)backend;
    const double start = clock_seconds();
    Launch launch = {cpu->kernels[kernel], view, kernel_invocations(kernel, view), 1};
    if (launch.count >= 512 && threads_count(cpu->threads) > 1) {
        launch.ranges = RANGES_A_THREAD * threads_count(cpu->threads);
    }
    threads_run(cpu->threads, launch.ranges, run_range, &launch);
    add_time(cpu, kernel, start, launch.count);
}

static void sort(Backend *backend, u64 *keys, uint *values, uint32_t count, void *scratch)
{
    CpuBackend *cpu = (CpuBackend *)backend;
    const double start = clock_seconds();
    cpu_sort(keys, values, count, scratch, cpu->threads);
    add_time(cpu, PRIMITIVE_SORT, start, count);
}

static void scan(Backend *backend, uint *values, uint32_t count)
{
    CpuBackend *cpu = (CpuBackend *)backend;
    const double start = clock_seconds();
    cpu_scan(values, count, cpu->threads);
    add_time(cpu, PRIMITIVE_SCAN, start, count);
}

static void find_bounds(Backend *backend, const vec4 *points, uint32_t count, vec4 *bounds)
{
    CpuBackend *cpu = (CpuBackend *)backend;
    const double start = clock_seconds();
    cpu_find_bounds(points, count, bounds, cpu->threads);
    add_time(cpu, PRIMITIVE_BOUNDS, start, count);
}

static bool build_lists(Backend *backend, const SolverData *view, uint32_t capacity)
{
    CpuBackend *cpu = (CpuBackend *)backend;
    const double start = clock_seconds();
    const bool built = !cpu->portable && cpu_build_lists(view, capacity, cpu->threads);
    if (built) {
        add_time(cpu, PRIMITIVE_LISTS, start, view->particle_count);
    }
    return built;
}

static void wait_for_all(Backend *backend)
{
    (void)backend; // every call returns when its work is done
}

static const char *failure(const Backend *backend)
{
    (void)backend;
    return NULL;
}

static void read_timers(Backend *backend, Timer timers[TIMER_COUNT])
{
    memcpy(timers, ((CpuBackend *)backend)->timers, sizeof(Timer) * TIMER_COUNT);
}

static void reset_timers(Backend *backend)
{
    memset(((CpuBackend *)backend)->timers, 0, sizeof(Timer) * TIMER_COUNT);
}

static const BackendFunctions functions = {
    .name = "cpu",
    .destroy = destroy,
    .allocate = allocate,
    .release = release,
    .upload = copy,
    .download = copy,
    .copy = copy,
    .memory_kind = memory_kind,
    .launch = launch,
    .sort = sort,
    .scan = scan,
    .find_bounds = find_bounds,
    .build_lists = build_lists,
    .wait = wait_for_all,
    .failure = failure,
    .read_timers = read_timers,
    .reset_timers = reset_timers,
};

bool cpu_backend_probe(char *device, size_t size)
{
    snprintf(device, size, "%d threads, %s kernels", threads_available(), cpu_features());
    return true;
}

MoteResult cpu_backend_create(const MoteBackendOptions *options, Backend **out)
{
    CpuBackend *cpu = calloc(1, sizeof *cpu);
    if (cpu == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the cpu backend");
    }
    cpu->base.functions = &functions;
    cpu->threads = threads_create(options->threads > 0 ? (int)options->threads : threads_available());
    if (cpu->threads == NULL) {
        free(cpu);
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the cpu backend's threads");
    }
    memcpy(cpu->kernels, cpu_kernels, sizeof cpu->kernels);
    RangeFunction *const *avx2_kernels = options->portable ? NULL : cpu_avx2_kernels();
    cpu->portable = avx2_kernels == NULL;
    for (int k = 0; k < KERNEL_COUNT && avx2_kernels != NULL; k++) {
        cpu->kernels[k] = avx2_kernels[k] != NULL ? avx2_kernels[k] : cpu->kernels[k];
    }
    *out = &cpu->base;
    return MOTE_OK;
}
