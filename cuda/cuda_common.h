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
