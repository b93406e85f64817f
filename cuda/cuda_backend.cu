// SPDX-License-Identifier: MIT
// cuda_backend.cu - the CUDA backend: the kernel table expanded into __global__s on one stream.
#include "cuda_common.h"

#include "base/error.h"
#include "kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_SIZE = 128,   // threads; the kernels use few registers and no shared memory
    PENDING_LIMIT = 256 // timed launches whose events have not been read yet
};

#define KERNEL_BODY(name, invocations)                                                                                 \
    static __global__ void name##_global(const __grid_constant__ SolverData view)                                        \
    {                                                                                                                  \
        const uint i = blockIdx.x * blockDim.x + threadIdx.x;                                                          \
        if (i < (invocations) && !kernels_aborted(&view)) {                                                             \
            name(&view, i);                                                                                            \
        }                                                                                                              \
    }
#define KERNEL_ROW(name, stage, count) KERNEL_BODY(name, view.count)
#define PARTICLE_ROW(name, stage)      KERNEL_BODY(name, particles_left(&view))
#include "kernels/kernels.def"

typedef struct PendingTime {
    int timer;
    cudaEvent_t start, stop;
} PendingTime;

typedef struct CudaBackend {
    Backend base;
    int device;
    cudaStream_t stream;
    CudaMemory memory;
    CudaTimeline order;
    CudaTemporary temporary;
    Timer timers[TIMER_COUNT];
    PendingTime pending[PENDING_LIMIT];
    int pending_count;
    char failure[256]; // the first error, or empty
} CudaBackend;

static void check(CudaBackend *cuda, cudaError_t error, const char *what)
{
    if (error != cudaSuccess && cuda->failure[0] == '\0') {
        snprintf(cuda->failure, sizeof cuda->failure, "%s: %s", what, cudaGetErrorString(error));
    }
}

static void wait_for_stream(CudaBackend *cuda, const char *what)
{
    cuda->base.waits++;
    check(cuda, cudaStreamSynchronize(cuda->stream), what);
}

// At the beginning of every function: the current device is the calling thread's, which may be another one now, or
// may have worked on a world of another device. And a renderer may have been given the buffers since: whatever comes
// next waits for it.
static CudaBackend *cuda_of(Backend *backend)
{
    CudaBackend *cuda = (CudaBackend *)backend; // base is the first member
    check(cuda, cudaSetDevice(cuda->device), "choosing the device");
    check(cuda, cuda_timeline_follow(&cuda->order, cuda->stream), "waiting for the renderer");
    return cuda;
}

// ---- Timers ------------------------------------------------------------------------------------------------

static void collect_times(CudaBackend *cuda)
{
    wait_for_stream(cuda, "waiting for the device");
    for (int i = 0; i < cuda->pending_count; i++) {
        float milliseconds = 0.0f;
        if (cudaEventElapsedTime(&milliseconds, cuda->pending[i].start, cuda->pending[i].stop) == cudaSuccess) {
            cuda->timers[cuda->pending[i].timer].milliseconds += milliseconds;
        }
    }
    cuda->pending_count = 0;
}

static void begin_time(CudaBackend *cuda, int timer, uint64_t invocations)
{
    if (cuda->pending_count == PENDING_LIMIT) {
        collect_times(cuda);
    }
    cuda->timers[timer].launches++;
    cuda->timers[timer].invocations += invocations;
    cuda->pending[cuda->pending_count].timer = timer;
    check(cuda, cudaEventRecord(cuda->pending[cuda->pending_count].start, cuda->stream), "timing");
}

static void end_time(CudaBackend *cuda)
{
    check(cuda, cudaEventRecord(cuda->pending[cuda->pending_count].stop, cuda->stream), "timing");
    cuda->pending_count++;
}

static void read_timers(Backend *backend, Timer timers[TIMER_COUNT])
{
    CudaBackend *cuda = cuda_of(backend);
    collect_times(cuda);
    memcpy(timers, cuda->timers, sizeof(Timer) * TIMER_COUNT);
}

static void reset_timers(Backend *backend)
{
    CudaBackend *cuda = cuda_of(backend);
    collect_times(cuda);
    memset(cuda->timers, 0, sizeof(Timer) * TIMER_COUNT);
}

// ---- Memory ------------------------------------------------------------------------------------------------

static void *allocate(Backend *backend, size_t bytes)
{
    CudaBackend *cuda = cuda_of(backend);
    void *address = cuda_memory_allocate(&cuda->memory, bytes > 0 ? bytes : 1);
    if (address != NULL) {
        check(cuda, cudaMemsetAsync(address, 0, bytes, cuda->stream), "clearing memory");
    }
    return address;
}

static void release(Backend *backend, void *address, size_t bytes)
{
    (void)bytes;
    CudaBackend *cuda = cuda_of(backend);
    wait_for_stream(cuda, "waiting for the device");
    check(cuda, cuda_memory_release(&cuda->memory, address), "freeing memory");
}

static void upload(Backend *backend, void *target, const void *source, size_t bytes)
{
    CudaBackend *cuda = cuda_of(backend);
    check(cuda, cudaMemcpyAsync(target, source, bytes, cudaMemcpyHostToDevice, cuda->stream), "upload");
    wait_for_stream(cuda, "upload"); // the caller may free `source` at once
}

static void download(Backend *backend, void *target, const void *source, size_t bytes)
{
    CudaBackend *cuda = cuda_of(backend);
    memset(target, 0, bytes); // defined, should the device fail
    check(cuda, cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToHost, cuda->stream), "download");
    wait_for_stream(cuda, "download");
}

static void copy(Backend *backend, void *target, const void *source, size_t bytes)
{
    CudaBackend *cuda = cuda_of(backend);
    check(cuda, cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, cuda->stream), "copy");
}

static uint32_t memory_kind(const Backend *backend, const char **why)
{
    const CudaMemory *memory = &((const CudaBackend *)backend)->memory;
    *why = memory->why;
    return memory->sharing ? MOTE_MEMORY_SHARED : MOTE_MEMORY_PRIVATE;
}

static void *native_handle(Backend *backend)
{
    return cuda_of(backend)->stream; // what users give it follows the renderer, too
}

// ---- Work --------------------------------------------------------------------------------------------------

static void launch(Backend *backend, KernelId kernel, const SolverData *view)
{
    CudaBackend *cuda = cuda_of(backend);
    switch (kernel) {
#define KERNEL_ROW(name, stage, count)                                                                                 \
    case KERNEL_ID_##name:                                                                                             \
        if (view->count > 0) {                                                                                         \
            begin_time(cuda, KERNEL_ID_##name, view->count);                                                           \
            MOTE_LAUNCH(name##_global, (view->count + BLOCK_SIZE - 1) / BLOCK_SIZE, BLOCK_SIZE, cuda->stream, *view);  \
            end_time(cuda);                                                                                            \
            check(cuda, cudaGetLastError(), "kernel " #name);                                                          \
        }                                                                                                              \
        break;
#include "kernels/kernels.def"
    default:
        MOTE_ASSERT(!"a kernel of the table");
    }
}

static void sort(Backend *backend, u64 *keys, uint *values, uint32_t count, void *scratch)
{
    CudaBackend *cuda = cuda_of(backend);
    begin_time(cuda, PRIMITIVE_SORT, count);
    check(cuda, cuda_sort(&cuda->temporary, keys, values, count, scratch, cuda->stream), "sort");
    end_time(cuda);
}

static void scan(Backend *backend, uint *values, uint32_t count)
{
    CudaBackend *cuda = cuda_of(backend);
    begin_time(cuda, PRIMITIVE_SCAN, count);
    check(cuda, cuda_scan(&cuda->temporary, values, count, cuda->stream), "scan");
    end_time(cuda);
}

static void find_bounds(Backend *backend, const vec4 *points, uint32_t count, vec4 *bounds)
{
    CudaBackend *cuda = cuda_of(backend);
    begin_time(cuda, PRIMITIVE_BOUNDS, count);
    check(cuda, cuda_find_bounds(&cuda->temporary, points, count, bounds, cuda->stream), "bounds");
    end_time(cuda);
}

static void wait_for_all(Backend *backend)
{
    CudaBackend *cuda = cuda_of(backend);
    wait_for_stream(cuda, "waiting for the device");
}

static MoteTimeline *hand_over(Backend *backend)
{
    CudaBackend *cuda = cuda_of(backend);
    if (cuda->order.timeline == NULL || !cuda->memory.sharing) {
        return NULL;
    }
    check(cuda, cuda_timeline_signal(&cuda->order, cuda->stream), "telling the renderer");
    return cuda->order.timeline;
}

static const char *failure(const Backend *backend)
{
    const CudaBackend *cuda = (const CudaBackend *)backend;
    return cuda->failure[0] != '\0' ? cuda->failure : NULL;
}

// ---- Life --------------------------------------------------------------------------------------------------

static void destroy(Backend *backend)
{
    CudaBackend *cuda = cuda_of(backend);
    for (int i = 0; i < PENDING_LIMIT; i++) {
        if (cuda->pending[i].start != NULL) {
            cudaEventDestroy(cuda->pending[i].start);
        }
        if (cuda->pending[i].stop != NULL) {
            cudaEventDestroy(cuda->pending[i].stop);
        }
    }
    cudaFree(cuda->temporary.address);
    cudaStreamSynchronize(cuda->stream);
    cuda_timeline_destroy(&cuda->order);
    if (cuda->stream != NULL) {
        cudaStreamDestroy(cuda->stream);
    }
    cuda_memory_destroy(&cuda->memory);
    free(cuda);
}

static const BackendFunctions functions = {
    "cuda", true, destroy, allocate, release, upload, download, copy, memory_kind, NULL, native_handle, launch, sort, scan, find_bounds,
    NULL, NULL, NULL, // build_lists and sparse ones: counting and filling suit a GPU
    wait_for_all, hand_over, failure, read_timers, reset_timers,
};

// Why there is no device, in words for who has no NVIDIA GPU and wants none. Without any driver the runtime says that
// the driver's version is insufficient.
static void say_what_lacks(cudaError_t error, char *out, size_t size)
{
    int driver = 0, runtime = 0; // as 1000 major + 10 minor; 0 if there is none
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&runtime);
    if (driver == 0) {
        snprintf(out, size, "no NVIDIA driver on this machine");
    } else if (error == cudaSuccess || error == cudaErrorNoDevice) {
        snprintf(out, size, "no NVIDIA GPU on this machine");
    } else if (error == cudaErrorInsufficientDriver) {
        snprintf(out, size, "the NVIDIA driver is for CUDA %d.%d, this program needs %d.%d or newer", driver / 1000,
                 driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    } else {
        snprintf(out, size, "the NVIDIA GPU cannot be used: %s", cudaGetErrorString(error));
    }
}

bool cuda_backend_probe(char *device, size_t size)
{
    int count = 0; // without a driver the call fails and does not write it
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        (void)cudaGetLastError();
        say_what_lacks(error, device, size);
        return false;
    }
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) {
        snprintf(device, size, "the GPU does not answer");
        return false;
    }
    snprintf(device, size, "%.100s, compute capability %d.%d", properties.name, properties.major, properties.minor);
    return true;
}

MoteResult cuda_backend_create(const MoteBackendOptions *options, Backend **out)
{
    CudaBackend *cuda = (CudaBackend *)calloc(1, sizeof *cuda);
    if (cuda == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the cuda backend");
    }
    cuda->base.functions = &functions;
    cuda->device = cuda_memory_choose_device(&cuda->memory, options->shared_memory);
    check(cuda, cudaSetDevice(cuda->device), "choosing the device");
    cuda_timeline_create(&cuda->order, cuda->memory.sharing ? options->shared_memory : NULL);
    check(cuda, cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking), "creating a stream");
    for (int i = 0; i < PENDING_LIMIT; i++) {
        check(cuda, cudaEventCreate(&cuda->pending[i].start), "creating an event");
        check(cuda, cudaEventCreate(&cuda->pending[i].stop), "creating an event");
    }
    if (cuda->failure[0] != '\0') {
        const MoteResult result = mote_fail(MOTE_ERROR_UNAVAILABLE, "backend cuda: %s; try backend cpu", cuda->failure);
        destroy(&cuda->base);
        return result;
    }
    *out = &cuda->base;
    return MOTE_OK;
}
