// SPDX-License-Identifier: MIT
// cuda_backend.cu - the CUDA backend: the kernel table expanded into __global__s on one stream.
#include "cuda_common.h"

#include "base/error.h"
#include "kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_SIZE = 128 }; // threads; the kernels use few registers and no shared memory

// At least one block a multiprocessor: without that number ptxas of CUDA 13 spills registers to fit more blocks.
#define KERNEL_BODY(name, invocations)                                                                                 \
    static __global__ void __launch_bounds__(BLOCK_SIZE, 1)                                                            \
    name##_global(MOTE_ARGUMENT(SolverData, view))                                                                     \
    {                                                                                                                  \
        const uint i = blockIdx.x * blockDim.x + threadIdx.x;                                                          \
        if (i < (invocations) && !kernels_aborted(&view)) {                                                            \
            name(&view, i);                                                                                            \
        }                                                                                                              \
    }
#define KERNEL_ROW(name, stage, count) KERNEL_BODY(name, view.count)
#define PARTICLE_ROW(name, stage)      KERNEL_BODY(name, particles_left(&view))
#include "kernels/kernels.def"

typedef struct CudaBackend {
    Backend base;
    int device;
    cudaStream_t stream;
    CudaMemory memory;
    CudaTimeline order;
    CudaTemporary temporary;
    CudaStaging staging;
    CudaTimes times;
    CudaGraphs graphs;
    char failure[256]; // the first error, or empty
} CudaBackend;

static void check(CudaBackend *cuda, cudaError_t error, const char *what)
{
    if (error != cudaSuccess && cuda->failure[0] == '\0') {
        snprintf(cuda->failure, sizeof cuda->failure, "%s: %s; try backend cpu", what, cudaGetErrorString(error));
    }
}

// After a failure some work is missing, and what follows would use what it did not make: nothing more is submitted.
static bool has_failed(const CudaBackend *cuda)
{
    return cuda->failure[0] != '\0';
}

// What has been captured so far begins to run.
static void end_graph(CudaBackend *cuda)
{
    check(cuda, cuda_graphs_end(&cuda->graphs, cuda->stream), "the graph of a step");
}

// At the beginning of every function: the current device is the calling thread's, which may be another one now, or
// may have worked on a world of another device. And a renderer may have been given the buffers since: whatever comes
// next waits for it.
static CudaBackend *cuda_of(Backend *backend)
{
    CudaBackend *cuda = (CudaBackend *)backend; // base is the first member
    check(cuda, cudaSetDevice(cuda->device), "choosing the device");
    if (cuda_timeline_is_behind(&cuda->order)) {
        end_graph(cuda);
        check(cuda, cuda_timeline_follow(&cuda->order, cuda->stream), "waiting for the renderer");
    }
    return cuda;
}

// The same, for what cannot be part of a graph.
static CudaBackend *cuda_without_graph(Backend *backend)
{
    CudaBackend *cuda = cuda_of(backend);
    end_graph(cuda);
    return cuda;
}

// Then nothing uses what was released, nor the staging memory.
static void wait_for_stream(CudaBackend *cuda, const char *what)
{
    end_graph(cuda);
    cuda->base.waits++;
    check(cuda, cudaStreamSynchronize(cuda->stream), what);
    cuda_staging_reset(&cuda->staging);
    check(cuda, cuda_memory_bury(&cuda->memory), "freeing memory");
}

// ---- Timers ------------------------------------------------------------------------------------------------

static void begin_time(CudaBackend *cuda, int timer, uint64_t invocations)
{
    cuda_graphs_note(&cuda->graphs, (uint32_t)timer);
    check(cuda, cuda_times_begin(&cuda->times, timer, invocations, cuda->stream), "timing");
}

static void end_time(CudaBackend *cuda)
{
    check(cuda, cuda_times_end(&cuda->times, cuda->stream), "timing");
}

// From the first question on launches are timed, one by one.
static void read_timers(Backend *backend, Timer timers[TIMER_COUNT])
{
    CudaBackend *cuda = cuda_without_graph(backend);
    cuda_times_collect(&cuda->times);
    cuda->times.wanted = true;
    memcpy(timers, cuda->times.timers, sizeof(Timer) * TIMER_COUNT);
}

static void reset_timers(Backend *backend)
{
    CudaBackend *cuda = cuda_without_graph(backend);
    cuda_times_collect(&cuda->times);
    cuda->times.wanted = true;
    memset(cuda->times.timers, 0, sizeof(Timer) * TIMER_COUNT);
}

// ---- Memory ------------------------------------------------------------------------------------------------

static void *allocate(Backend *backend, size_t bytes)
{
    CudaBackend *cuda = cuda_without_graph(backend);
    void *address = cuda_memory_allocate(&cuda->memory, bytes > 0 ? bytes : 1);
    if (address == NULL && cuda->memory.dead_count > 0) {
        wait_for_stream(cuda, "waiting for memory"); // what was released may be enough
        address = cuda_memory_allocate(&cuda->memory, bytes > 0 ? bytes : 1);
    }
    if (address == NULL) {
        check(cuda, cudaGetLastError(), "allocating memory"); // a lost device says so again and again; no memory does not
    } else {
        check(cuda, cudaMemsetAsync(address, 0, bytes, cuda->stream), "clearing memory");
    }
    return address;
}

// Work that was submitted may still use it.
static void release(Backend *backend, void *address, size_t bytes)
{
    (void)bytes;
    CudaBackend *cuda = cuda_without_graph(backend);
    while (!cuda_memory_release_later(&cuda->memory, address)) {
        wait_for_stream(cuda, "waiting for the device"); // the list is empty then
    }
}

static void upload(Backend *backend, void *target, const void *source, size_t bytes)
{
    CudaBackend *cuda = cuda_of(backend);
    while (bytes > 0 && !has_failed(cuda)) {
        size_t part = bytes;
        void *staged = cuda_staging_take(&cuda->staging, &part);
        if (staged == NULL) {
            wait_for_stream(cuda, "upload"); // all of it is free again
            part = bytes;
            staged = cuda_staging_take(&cuda->staging, &part);
        }
        if (staged != NULL) {
            memcpy(staged, source, part);
        }
        cuda_graphs_note(&cuda->graphs, TIMER_COUNT);
        check(cuda,
              cudaMemcpyAsync(target, staged != NULL ? staged : source, part, cudaMemcpyHostToDevice, cuda->stream),
              "upload");
        if (staged == NULL) {
            wait_for_stream(cuda, "upload"); // the caller may free `source` at once
        }
        source = (const char *)source + part;
        target = (char *)target + part;
        bytes -= part;
    }
}

static void download(Backend *backend, void *target, const void *source, size_t bytes)
{
    CudaBackend *cuda = cuda_without_graph(backend);
    memset(target, 0, bytes); // defined, should the device fail
    while (bytes > 0 && !has_failed(cuda)) {
        void *staged = cuda_staging_download(&cuda->staging);
        const size_t part = bytes < STAGING_BYTES || staged == NULL ? bytes : (size_t)STAGING_BYTES;
        check(cuda,
              cudaMemcpyAsync(staged != NULL ? staged : target, source, part, cudaMemcpyDeviceToHost, cuda->stream),
              "download");
        wait_for_stream(cuda, "download");
        if (staged != NULL && !has_failed(cuda)) {
            memcpy(target, staged, part);
        }
        source = (const char *)source + part;
        target = (char *)target + part;
        bytes -= part;
    }
}

static void copy(Backend *backend, void *target, const void *source, size_t bytes)
{
    CudaBackend *cuda = cuda_of(backend);
    if (has_failed(cuda)) {
        return;
    }
    cuda_graphs_note(&cuda->graphs, TIMER_COUNT + 1);
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
    return cuda_without_graph(backend)->stream; // what users give it follows the renderer, too
}

// ---- Work --------------------------------------------------------------------------------------------------

static void launch(Backend *backend, KernelId kernel, const SolverData *view)
{
    CudaBackend *cuda = cuda_of(backend);
    if (has_failed(cuda)) {
        return;
    }
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
    if (has_failed(cuda)) {
        return;
    }
    begin_time(cuda, PRIMITIVE_SORT, count);
    check(cuda, cuda_sort(&cuda->temporary, keys, values, count, scratch, cuda->stream), "sort");
    end_time(cuda);
}

static void scan(Backend *backend, uint *values, uint32_t count)
{
    CudaBackend *cuda = cuda_of(backend);
    if (has_failed(cuda)) {
        return;
    }
    begin_time(cuda, PRIMITIVE_SCAN, count);
    check(cuda, cuda_scan(&cuda->temporary, values, count, cuda->stream), "scan");
    end_time(cuda);
}

static void find_bounds(Backend *backend, const vec4 *points, uint32_t count, vec4 *bounds)
{
    CudaBackend *cuda = cuda_of(backend);
    if (has_failed(cuda)) {
        return;
    }
    begin_time(cuda, PRIMITIVE_BOUNDS, count);
    check(cuda, cuda_find_bounds(&cuda->temporary, points, count, bounds, cuda->stream), "bounds");
    end_time(cuda);
}

static void begin_step(Backend *backend)
{
    CudaBackend *cuda = cuda_without_graph(backend);
    if (!cuda->times.wanted && !has_failed(cuda)) { // by the stream alone
        cuda_graphs_begin(&cuda->graphs, cuda->stream);
    }
}

static void wait_for_all(Backend *backend)
{
    CudaBackend *cuda = cuda_of(backend);
    wait_for_stream(cuda, "waiting for the device");
}

static MoteTimeline *hand_over(Backend *backend)
{
    CudaBackend *cuda = cuda_without_graph(backend);
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
    if (cuda->stream != NULL) {
        cuda_graphs_destroy(&cuda->graphs, cuda->stream);
        (void)cudaStreamSynchronize(cuda->stream);
    }
    (void)cuda_memory_bury(&cuda->memory);
    (void)cudaFree(cuda->temporary.address);
    cuda_staging_destroy(&cuda->staging);
    cuda_times_destroy(&cuda->times);
    cuda_timeline_destroy(&cuda->order);
    if (cuda->stream != NULL) {
        (void)cudaStreamDestroy(cuda->stream);
    }
    cuda_memory_destroy(&cuda->memory);
    free(cuda);
}

static const BackendFunctions functions = {
    "cuda", true, destroy, allocate, release, upload, download, copy, memory_kind, NULL, native_handle, begin_step, launch, sort, scan, find_bounds,
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
    cuda->temporary.memory = &cuda->memory;
    if (!has_failed(cuda)) {
        cuda_graphs_create(&cuda->graphs, cuda->stream);
    }
    if (cuda->failure[0] != '\0') {
        const MoteResult result = mote_fail(MOTE_ERROR_UNAVAILABLE, "backend cuda: %s", cuda->failure);
        destroy(&cuda->base);
        return result;
    }
    *out = &cuda->base;
    return MOTE_OK;
}
