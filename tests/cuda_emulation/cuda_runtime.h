// SPDX-License-Identifier: MIT
// cuda_runtime.h - as much of the CUDA runtime as cuda/ uses, on the CPU, and as unforgiving as a device may be:
//
// - Launches, copies, memsets and event records run only when the host waits for them (streams.cpp), or a while after
//   a semaphore is signalled behind them: what is missing a wait finds nothing done.
// - Device memory cannot be read or written outside of that (device_memory.cpp), nor beside a buffer, nor after it was
//   freed. Fresh memory holds garbage.
// - The invocations of a launch run in an order of their own, over several threads (launches.cpp).
// - Any call can be made to fail (emulation.h).
//
// Memory that lavapipe exports is imported as the driver would, and timeline semaphores, which it does not export, as
// files in memory (external.cpp). Not covered: how long anything takes, caches, memory between the host's threads while
// one of them waits, and what Vulkan itself does with memory that both share.
#ifndef MOTE_CUDA_EMULATION_RUNTIME_H
#define MOTE_CUDA_EMULATION_RUNTIME_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(threads, blocks)
#define MOTE_ARGUMENT(type, name) const type &name // by value it would be copied for every invocation

typedef int cudaError_t;
enum {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorOperatingSystem = 304,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorLaunchFailure = 719,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901,
    cudaErrorTimeout = 909,
    cudaErrorGraphExecUpdateFailure = 910,
};
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaStreamNonBlocking = 1 };
enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed,
};

struct dim3 {
    unsigned x, y, z;
};
[[maybe_unused]] static thread_local dim3 blockIdx, blockDim, threadIdx;

typedef struct EmulatedStream *cudaStream_t;
typedef struct EmulatedEvent *cudaEvent_t;
typedef struct EmulatedGraph *cudaGraph_t;
typedef struct EmulatedGraphExec *cudaGraphExec_t;
typedef struct EmulatedExternalMemory *cudaExternalMemory_t;
typedef struct EmulatedExternalSemaphore *cudaExternalSemaphore_t;

struct cudaUUID_t {
    char bytes[16];
};

struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    int major, minor;
};

struct cudaGraphExecUpdateResultInfo {
    int result;
};

enum cudaExternalMemoryHandleType { cudaExternalMemoryHandleTypeOpaqueFd = 1 };
enum { cudaExternalMemoryDedicated = 1 };

struct cudaExternalMemoryHandleDesc {
    cudaExternalMemoryHandleType type;
    union {
        int fd;
    } handle;
    unsigned long long size;
    unsigned int flags;
};

struct cudaExternalMemoryBufferDesc {
    unsigned long long offset, size;
    unsigned int flags;
};

enum cudaExternalSemaphoreHandleType { cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd = 9 };

struct cudaExternalSemaphoreHandleDesc {
    cudaExternalSemaphoreHandleType type;
    union {
        int fd;
    } handle;
    unsigned int flags;
};

struct EmulatedSemaphoreParams {
    struct {
        struct {
            unsigned long long value;
        } fence;
    } params;
    unsigned int flags;
};
typedef EmulatedSemaphoreParams cudaExternalSemaphoreWaitParams, cudaExternalSemaphoreSignalParams;

// Lavapipe's UUID is "mesa" and then its version, of which the emulation need not know: the name alone is compared.
#define MOTE_SAME_DEVICE(a, b) (std::memcmp(a, b, 4) == 0)

const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);

cudaError_t cudaMalloc(void **address, size_t bytes);
cudaError_t cudaFree(void *address);
cudaError_t cudaMallocHost(void **address, size_t bytes);
cudaError_t cudaFreeHost(void *address);
cudaError_t cudaMemsetAsync(void *address, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void *target, const void *source, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaDeviceSynchronize();

cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop);

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *result);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);

cudaError_t cudaImportExternalMemory(cudaExternalMemory_t *memory, const cudaExternalMemoryHandleDesc *exported);
cudaError_t cudaExternalMemoryGetMappedBuffer(void **address, cudaExternalMemory_t memory,
                                              const cudaExternalMemoryBufferDesc *buffer);
cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t memory);
cudaError_t cudaImportExternalSemaphore(cudaExternalSemaphore_t *semaphore,
                                        const cudaExternalSemaphoreHandleDesc *exported);
cudaError_t cudaDestroyExternalSemaphore(cudaExternalSemaphore_t semaphore);
cudaError_t cudaWaitExternalSemaphoresAsync(const cudaExternalSemaphore_t *semaphores,
                                            const cudaExternalSemaphoreWaitParams *waits, unsigned count,
                                            cudaStream_t stream);
cudaError_t cudaSignalExternalSemaphoresAsync(const cudaExternalSemaphore_t *semaphores,
                                              const cudaExternalSemaphoreSignalParams *signals, unsigned count,
                                              cudaStream_t stream);

// ---- Launches ----

// Threads of one block that run one after the other: the first, how many, and in which order.
struct EmulatedLanes {
    unsigned block, block_size, first, count, stride, offset;
};

// `kernel` names it, so that graphs can tell one from another.
void emulated_launch(cudaStream_t stream, const char *kernel, unsigned blocks, unsigned threads,
                     std::function<void(const EmulatedLanes &)> run);
// Work of the stream that is not a kernel's: CUB's.
cudaError_t emulated_work(cudaStream_t stream, const char *name, std::function<void()> run);

#define MOTE_LAUNCH(kernel, blocks, threads, stream, argument)                                                         \
    do {                                                                                                               \
        const auto launch_argument = (argument);                                                                       \
        emulated_launch(stream, #kernel, blocks, threads, [launch_argument](const EmulatedLanes &lanes) {              \
            blockIdx.x = lanes.block;                                                                                  \
            blockDim.x = lanes.block_size;                                                                             \
            for (unsigned launch_lane = 0; launch_lane < lanes.count; launch_lane++) {                                 \
                threadIdx.x = lanes.first + (launch_lane * lanes.stride + lanes.offset) % lanes.count;                 \
                kernel(launch_argument);                                                                               \
            }                                                                                                          \
        });                                                                                                            \
    } while (0)

#endif
