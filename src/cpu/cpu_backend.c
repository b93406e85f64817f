// SPDX-License-Identifier: MIT
#define _DEFAULT_SOURCE // madvise
#include "cpu/cpu_backend.h"

#include "base/clock.h"
#include "base/error.h"
#include "cpu/cpu_sparse.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { RANGES_A_THREAD = 8 };

// A range takes a few microseconds at least, or sharing out the work takes longer than the work: a small step of cloth
// has a launch for each colour.
static const double SHORTEST_RANGE = 4e-6; // s

typedef struct CpuBackend {
    Backend base;
    Threads *threads;
    SparseSearch *sparse;
    bool portable;                        // no AVX2 kernels
    RangeFunction *kernels[KERNEL_COUNT]; // the twin where there is one, else the portable kernel
    double costs[KERNEL_COUNT];           // s, of an invocation on one thread, as low as it lately was; 0: never run
    Timer timers[TIMER_COUNT];
} CpuBackend;

static void destroy(Backend *backend)
{
    CpuBackend *cpu = (CpuBackend *)backend;
    threads_destroy(cpu->threads);
    cpu_sparse_destroy(cpu->sparse);
    free(cpu);
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

// Returns the seconds.
static double add_time(CpuBackend *cpu, KernelId timer, double since, uint64_t invocations)
{
    const double seconds = clock_seconds() - since;
    cpu->timers[timer].milliseconds += 1e3 * seconds;
    cpu->timers[timer].launches++;
    cpu->timers[timer].invocations += invocations;
    return seconds;
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

// How many ranges a launch has: threads take them in turn, so that one which is held up holds up little. No result
// depends on where ranges end.
static int count_ranges(const CpuBackend *cpu, KernelId kernel, uint32_t count)
{
    const int threads = threads_count(cpu->threads), most = RANGES_A_THREAD * threads;
    if (count < 512 || threads == 1) {
        return 1;
    }
    const double worth = cpu->costs[kernel] * count / SHORTEST_RANGE;
    if (cpu->costs[kernel] <= 0.0 || worth >= most) {
        return most;
    }
    return worth < 1.5 ? 1 : worth < threads ? threads : (int)worth;
}

// What else the machine does only ever adds to a time.
static void note_cost(CpuBackend *cpu, KernelId kernel, const Launch *launch, double seconds)
{
    const int threads = threads_count(cpu->threads);
    const double cost = seconds * (launch->ranges < threads ? launch->ranges : threads) / (launch->count + 1.0);
    const double before = 1.01 * cpu->costs[kernel];
    cpu->costs[kernel] = before > 0.0 && before < cost ? before : cost;
}

static void launch(Backend *backend, KernelId kernel, const SolverData *view)
{
    CpuBackend *cpu = (CpuBackend *)backend;
    const double start = clock_seconds();
    Launch launch = {cpu->kernels[kernel], view, kernel_invocations(kernel, view), 1};
    launch.ranges = count_ranges(cpu, kernel, launch.count);
    threads_run(cpu->threads, launch.ranges, run_range, &launch);
    note_cost(cpu, kernel, &launch, add_time(cpu, kernel, start, launch.count));
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

static bool count_sparse(Backend *backend, const SolverData *view)
{
    CpuBackend *cpu = (CpuBackend *)backend;
    const double start = clock_seconds();
    const bool counted = !cpu->portable && cpu_sparse_count(cpu->sparse, view, cpu->threads);
    if (counted) {
        add_time(cpu, PRIMITIVE_LISTS, start, view->particle_count);
    }
    return counted;
}

static void fill_sparse(Backend *backend, const SolverData *view)
{
    const CpuBackend *cpu = (CpuBackend *)backend;
    cpu_sparse_fill(cpu->sparse, view, cpu->threads);
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
    .count_sparse = count_sparse,
    .fill_sparse = fill_sparse,
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
    cpu->sparse = cpu_sparse_create();
    if (cpu->threads == NULL || cpu->sparse == NULL) {
        destroy(&cpu->base);
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
