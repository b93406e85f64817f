// SPDX-License-Identifier: MIT
// cuda_common.h - what the CUDA translation units share. The same files are compiled by nvcc and, against
// tests/cuda_emulation, by the C++ compiler.
#ifndef MOTE_CUDA_COMMON_H
#define MOTE_CUDA_COMMON_H

#include <cuda_runtime.h>

#include "solver/backend.h"

// The only place that launches: the emulation has its own.
#if !defined(MOTE_LAUNCH)
#define MOTE_LAUNCH(kernel, blocks, threads, stream, argument) kernel<<<blocks, threads, 0, stream>>>(argument)
#endif

// Whether two UUIDs of 16 bytes name the same device. The emulation has its own here too.
#if !defined(MOTE_SAME_DEVICE)
#define MOTE_SAME_DEVICE(a, b) (memcmp(a, b, 16) == 0)
#endif

// The world's buffers (cuda_memory.cu).
typedef struct CudaMemory {
    MoteSharedMemory *shared;   // may be NULL
    bool sharing;               // every buffer is of `shared`
    char why[256];              // why not, or empty
    struct SharedBlock *blocks; // buffers of `shared`
    int block_count, block_capacity;
} CudaMemory;

// Returns the device that `shared` belongs to, or 0 with the reason in `why` where there is none.
int cuda_memory_choose_device(CudaMemory *memory, MoteSharedMemory *shared);
void *cuda_memory_allocate(CudaMemory *memory, size_t bytes); // more than 0; NULL if there is none left
cudaError_t cuda_memory_release(CudaMemory *memory, void *address);
void cuda_memory_destroy(CudaMemory *memory); // all buffers have been released

// What a renderer and the backend's stream follow each other by (cuda_timeline.cu); without one all do nothing.
typedef struct CudaTimeline {
    MoteSharedMemory *shared;
    MoteTimeline *timeline; // NULL: the host waits
    cudaExternalSemaphore_t semaphore;
    uint64_t seen; // the value that the stream has waited for or signals
} CudaTimeline;

void cuda_timeline_create(CudaTimeline *order, MoteSharedMemory *shared); // shared: the current device's, or NULL
void cuda_timeline_destroy(CudaTimeline *order);                          // the stream has nothing left to do
// What follows on the stream waits for what was promised by others since.
cudaError_t cuda_timeline_follow(CudaTimeline *order, cudaStream_t stream);
cudaError_t cuda_timeline_signal(CudaTimeline *order, cudaStream_t stream); // only with a timeline

// Device memory that CUB works in, kept from call to call.
typedef struct CudaTemporary {
    void *address;
    size_t bytes;
} CudaTemporary;

// cuda_primitives.cu: CUB takes long to compile and has a file of its own.
cudaError_t cuda_sort(CudaTemporary *temporary, u64 *keys, uint *values, uint32_t count, void *scratch,
                      cudaStream_t stream);
cudaError_t cuda_scan(CudaTemporary *temporary, uint *values, uint32_t count, cudaStream_t stream);
cudaError_t cuda_find_bounds(CudaTemporary *temporary, const vec4 *points, uint32_t count, vec4 *bounds,
                             cudaStream_t stream);

#endif
