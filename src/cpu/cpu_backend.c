#define _POSIX_C_SOURCE 200809L
#include "cpu/cpu_backend.h"

#include "base/clock.h"
#include "base/error.h"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct CpuBackend {
    Backend base;
    int threads;
    RangeFunction *kernels[KERNEL_COUNT]; // the twin where there is one, else the portable kernel
    Timer timers[TIMER_COUNT];
} CpuBackend;

static void destroy(Backend *backend)
{
    free(backend);
}

static void *allocate(Backend *backend, size_t bytes)
{
    (void)backend;
    void *address = NULL;
    const size_t rounded = (bytes + 63) / 64 * 64;
    if (posix_memalign(&address, rounded >= 1u << 21 ? 4096 : 64, rounded) != 0) {
        return NULL;
    }
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

static void add_time(CpuBackend *cpu, KernelId timer, double since, uint64_t invocations)
{
    cpu->timers[timer].milliseconds += 1e3 * (clock_seconds() - since);
    cpu->timers[timer].launches++;
    cpu->timers[timer].invocations += invocations;
}

static uint32_t invocations_of(KernelId kernel, const MoteView *view)
{
    switch (kernel) {
#define KERNEL_ROW(name, stage, count)                                                                                 \
    case KERNEL_ID_##name:                                                                                             \
        return view->count;
#include "kernels/kernels.def"
    default:
        MOTE_ASSERT(!"a kernel of the table");
        return 0;
    }
}

// Each thread takes one contiguous range: best for the caches, and no result depends on where ranges end.
static void launch(Backend *backend, KernelId kernel, const MoteView *view)
{
    CpuBackend *cpu = (CpuBackend *)backend;
    const double start = clock_seconds();
    const uint32_t count = invocations_of(kernel, view);
    RangeFunction *const function = cpu->kernels[kernel];
    if (count < 512 || cpu->threads == 1) {
        function(view, 0, count);
    } else {
#pragma omp parallel num_threads(cpu->threads)
        {
            const uint64_t thread = (uint64_t)omp_get_thread_num(), threads = (uint64_t)omp_get_num_threads();
            function(view, (uint)(count * thread / threads), (uint)(count * (thread + 1) / threads));
        }
    }
    add_time(cpu, kernel, start, count);
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
    .launch = launch,
    .sort = sort,
    .scan = scan,
    .find_bounds = find_bounds,
    .wait = wait_for_all,
    .failure = failure,
    .read_timers = read_timers,
    .reset_timers = reset_timers,
};

bool cpu_backend_probe(char *device, size_t size)
{
    snprintf(device, size, "%d threads, %s kernels", omp_get_num_procs(), cpu_features());
    return true;
}

MoteResult cpu_backend_create(const MoteBackendOptions *options, Backend **out)
{
    CpuBackend *cpu = calloc(1, sizeof *cpu);
    if (cpu == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the cpu backend");
    }
    cpu->base.functions = &functions;
    cpu->threads = options->threads > 0 ? (int)options->threads : omp_get_num_procs();
    memcpy(cpu->kernels, cpu_kernels, sizeof cpu->kernels);
    RangeFunction *const *twins = options->portable ? NULL : cpu_twins();
    for (int k = 0; k < KERNEL_COUNT && twins != NULL; k++) {
        cpu->kernels[k] = twins[k] != NULL ? twins[k] : cpu->kernels[k];
    }
    *out = &cpu->base;
    return MOTE_OK;
}
