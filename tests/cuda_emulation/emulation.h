// SPDX-License-Identifier: MIT
// emulation.h - what tests ask of the emulated CUDA runtime: that calls fail, how often the host stood still, whether
// memory was lost.
//
// MOTE_CUDA_SEED in the environment is the seed of the order that invocations run in (1 if there is none),
// MOTE_CUDA_THREADS how many threads run them (2), MOTE_CUDA_GUARD=1 leaves a closed page behind each
// buffer.
#ifndef MOTE_CUDA_EMULATION_H
#define MOTE_CUDA_EMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CudaCall {
    CUDA_CALL_ALLOCATE, // cudaMalloc, cudaMallocHost: out of memory
    CUDA_CALL_CREATE,   // streams, events and graphs: out of memory
    CUDA_CALL_IMPORT,   // external memory and semaphores, and mapping them: refused
    CUDA_CALL_CAPTURE,  // of graphs: not supported
    CUDA_CALL_SUBMIT,   // launches, copies and whatever else a stream is given: the device is lost
    CUDA_CALL_WAIT,     // for streams and events: the device is lost
    CUDA_CALL_KINDS
} CudaCall;

typedef struct CudaEmulationRecord {
    uint64_t calls[CUDA_CALL_KINDS];
    uint64_t struck;   // calls that failed because they were told to
    uint64_t stalls;   // times the host stood still, by whatever call: waits, cudaFree, copies of pageable memory
    uint64_t graphs;   // that were launched
    uint64_t launches; // of kernels, those in graphs too
} CudaEmulationRecord;

// From now on the call of this kind and number, from 1, fails; and later ones with it. Number 0: none does. A lost
// device stays lost until the next call of this function. Begins a new record.
void cuda_emulation_fail(CudaCall kind, uint64_t number, bool and_later);
CudaEmulationRecord cuda_emulation_record(void);
// The seed from now on.
void cuda_emulation_shuffle(uint32_t seed);
// What has not been freed or destroyed: buffers, pinned memory, streams, events, graphs, imports.
uint32_t cuda_emulation_live(void);

#ifdef __cplusplus
}
#endif
#endif
