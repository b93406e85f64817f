// SPDX-License-Identifier: MIT
// cuda_runtime.h - as much of the CUDA runtime as cuda/ uses, on the CPU: device memory is host memory, a launch is
// a loop over blocks and threads, a stream has always finished. Tests run the CUDA backend's own code this way.
// Memory that lavapipe exports is imported as the driver would (external_memory.h), and timeline semaphores, which it
// does not export, as files in memory (external_semaphore.h).
// Not covered by it: races between threads, the order of streams, host access to device pointers.
#ifndef MOTE_CUDA_EMULATION_RUNTIME_H
#define MOTE_CUDA_EMULATION_RUNTIME_H

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define __global__
#define __device__
#define __host__
#define __grid_constant__

typedef int cudaError_t;
enum {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorOperatingSystem = 304,
};
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaStreamNonBlocking = 1 };

#include "external_memory.h"

struct dim3 {
    unsigned x, y, z;
};
static thread_local dim3 blockIdx, blockDim, threadIdx;

typedef struct EmulatedStream *cudaStream_t;
typedef struct EmulatedEvent {
    std::chrono::steady_clock::time_point time;
} * cudaEvent_t;

struct cudaUUID_t {
    char bytes[16];
};

struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    int major, minor;
};

// The kernels' threads are independent: any order will do. Waking another CPU for a few blocks takes longer than they
// do.
#define MOTE_LAUNCH(kernel, blocks, threads, stream, argument)                                                         \
    do {                                                                                                               \
        const unsigned launch_blocks = (blocks);                                                                       \
        const auto launch_argument = (argument);                                                                       \
        _Pragma("omp parallel for schedule(static) if (launch_blocks > 4)") for (unsigned launch_block = 0;            \
                                                                                 launch_block < launch_blocks;         \
                                                                                 launch_block++)                       \
        {                                                                                                              \
            blockIdx.x = launch_block;                                                                                 \
            blockDim.x = (threads);                                                                                    \
            for (unsigned launch_thread = 0; launch_thread < blockDim.x; launch_thread++) {                            \
                threadIdx.x = launch_thread;                                                                           \
                kernel(launch_argument);                                                                               \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

static inline const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaSuccess                 ? "no error"
           : error == cudaErrorMemoryAllocation ? "out of memory"
           : error == cudaErrorInvalidDevice    ? "invalid device ordinal"
           : error == cudaErrorOperatingSystem  ? "OS call failed or operation not supported on this OS"
                                                : "invalid argument";
}

static inline cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}

static inline cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= EMULATED_DEVICE_COUNT) {
        return cudaErrorInvalidDevice;
    }
    emulated_device = device;
    return cudaSuccess;
}

static inline cudaError_t cudaGetDeviceCount(int *count)
{
    *count = EMULATED_DEVICE_COUNT;
    return cudaSuccess;
}

static inline cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 12000;
    return cudaSuccess;
}

static inline cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = 12000;
    return cudaSuccess;
}

static inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    if (device < 0 || device >= EMULATED_DEVICE_COUNT) {
        return cudaErrorInvalidDevice;
    }
    std::memcpy(properties->uuid.bytes, emulated_uuids[device], sizeof properties->uuid.bytes);
    std::snprintf(properties->name, sizeof properties->name, "emulated on the CPU");
    properties->major = properties->minor = 0;
    return cudaSuccess;
}

// Fresh memory holds garbage, as a device's does.
static inline cudaError_t cudaMalloc(void **address, size_t bytes)
{
    if (posix_memalign(address, 256, (bytes + 255) / 256 * 256) != 0) {
        return cudaErrorMemoryAllocation;
    }
    std::memset(*address, 0xa5, bytes);
    return cudaSuccess;
}

static inline cudaError_t cudaFree(void *address)
{
    if (!emulated_unmap(address)) {
        std::free(address);
    }
    return cudaSuccess;
}

static inline cudaError_t cudaMemsetAsync(void *address, int value, size_t bytes, cudaStream_t)
{
    std::memset(address, value, bytes);
    return cudaSuccess;
}

static inline cudaError_t cudaMemcpyAsync(void *target, const void *source, size_t bytes, cudaMemcpyKind, cudaStream_t)
{
    std::memcpy(target, source, bytes);
    return cudaSuccess;
}

static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    *stream = nullptr;
    return cudaSuccess;
}

static inline cudaError_t cudaStreamDestroy(cudaStream_t)
{
    return cudaSuccess;
}
static inline cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return cudaSuccess;
}

#include "external_semaphore.h"

static inline cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = new EmulatedEvent();
    return cudaSuccess;
}

static inline cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}

static inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t)
{
    event->time = std::chrono::steady_clock::now();
    return cudaSuccess;
}

static inline cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop)
{
    *milliseconds = std::chrono::duration<float, std::milli>(stop->time - start->time).count();
    return cudaSuccess;
}

#endif
