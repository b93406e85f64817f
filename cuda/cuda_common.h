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

// The argument of a kernel: read where the launch has put it, not copied.
#if !defined(MOTE_ARGUMENT)
#define MOTE_ARGUMENT(type, name) const __grid_constant__ type name
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
    void **dead; // released, but work of the stream may still use them
    int dead_count, dead_capacity;
} CudaMemory;

// Returns the device that `shared` belongs to, or 0 with the reason in `why` where there is none.
int cuda_memory_choose_device(CudaMemory *memory, MoteSharedMemory *shared);
void *cuda_memory_allocate(CudaMemory *memory, size_t bytes); // more than 0; NULL if there is none left
// Frees it with the next cuda_memory_bury; false if there is no host memory to remember it.
bool cuda_memory_release_later(CudaMemory *memory, void *address);
cudaError_t cuda_memory_bury(CudaMemory *memory); // the stream has nothing left to do
void cuda_memory_destroy(CudaMemory *memory);     // all buffers have been released

// Pinned memory that copies between host and device go through, so that the host does not wait for them
// (cuda_staging.cu).
enum { STAGING_BYTES = 1 << 20, STAGING_LIMIT = 256 };
typedef struct CudaStaging {
    void *chunks[STAGING_LIMIT];
    int current;
    size_t used; // bytes of the current chunk
    void *download;
} CudaStaging;

// Room for at most `*bytes`, which becomes what there is; NULL if all is in use or cannot be had.
void *cuda_staging_take(CudaStaging *staging, size_t *bytes);
void *cuda_staging_download(CudaStaging *staging); // STAGING_BYTES; NULL if there is none
void cuda_staging_reset(CudaStaging *staging);     // the stream has nothing left to do
void cuda_staging_destroy(CudaStaging *staging);

// Times of launches, once someone has asked for them (cuda_times.cu).
typedef struct CudaTimes {
    bool wanted;
    Timer timers[TIMER_COUNT];
    struct PendingTime *rows; // a ring: launches whose events may not have passed yet
    int first, count;
    bool timing; // the launch between begin and end has a row
} CudaTimes;

cudaError_t cuda_times_begin(CudaTimes *times, int timer, uint64_t invocations, cudaStream_t stream);
cudaError_t cuda_times_end(CudaTimes *times, cudaStream_t stream);
void cuda_times_collect(CudaTimes *times); // of what has passed; does not wait
void cuda_times_destroy(CudaTimes *times);

// Repeated work as graphs (cuda_graph.cu). What a stream is given between begin and end is captured, and launched at
// the end: as the graph of earlier work of the same signature, updated, or as a new one.
enum { GRAPH_LIMIT = 8 }; // kinds of steps that are kept
typedef struct CudaGraphs {
    bool usable, capturing;
    uint64_t signature; // of what has been captured so far
    struct {
        uint64_t signature;
        cudaGraphExec_t exec;
    } kept[GRAPH_LIMIT];
    int next; // to be replaced
} CudaGraphs;

void cuda_graphs_create(CudaGraphs *graphs, cudaStream_t stream); // finds out whether they can be used
void cuda_graphs_destroy(CudaGraphs *graphs, cudaStream_t stream);
void cuda_graphs_begin(CudaGraphs *graphs, cudaStream_t stream);
void cuda_graphs_note(CudaGraphs *graphs, uint32_t what); // of the signature
cudaError_t cuda_graphs_end(CudaGraphs *graphs, cudaStream_t stream);

// What a renderer and the backend's stream follow each other by (cuda_timeline.cu); without one all do nothing.
typedef struct CudaTimeline {
    MoteSharedMemory *shared;
    MoteTimeline *timeline; // NULL: the host waits
    cudaExternalSemaphore_t semaphore;
    uint64_t seen; // the value that the stream has waited for or signals
} CudaTimeline;

void cuda_timeline_create(CudaTimeline *order, MoteSharedMemory *shared); // shared: the current device's, or NULL
void cuda_timeline_destroy(CudaTimeline *order);                          // the stream has nothing left to do
bool cuda_timeline_is_behind(const CudaTimeline *order);                  // others have promised something since
// What follows on the stream waits for that.
cudaError_t cuda_timeline_follow(CudaTimeline *order, cudaStream_t stream);
cudaError_t cuda_timeline_signal(CudaTimeline *order, cudaStream_t stream); // only with a timeline

// Device memory that CUB works in, kept from call to call.
typedef struct CudaTemporary {
    CudaMemory *memory;
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
