// SPDX-License-Identifier: MIT
// cuda_primitives.cu - sort, scan and bounds by CUB.
#include "cuda_common.h"

#include <cub/cub.cuh>

// CUB asks twice: first how much temporary memory, then for the work.
#define WITH_TEMPORARY(temporary, call)                                                                                \
    do {                                                                                                               \
        size_t bytes = 0;                                                                                              \
        void *address = NULL;                                                                                          \
        cudaError_t error = call;                                                                                      \
        if (error == cudaSuccess) {                                                                                    \
            error = reserve(temporary, bytes);                                                                         \
        }                                                                                                              \
        if (error != cudaSuccess) {                                                                                    \
            return error;                                                                                              \
        }                                                                                                              \
        address = (temporary)->address;                                                                                \
        bytes = (temporary)->bytes;                                                                                    \
        error = call;                                                                                                  \
        if (error != cudaSuccess) {                                                                                    \
            return error;                                                                                              \
        }                                                                                                              \
    } while (0)

static cudaError_t reserve(CudaTemporary *temporary, size_t bytes)
{
    if (bytes <= temporary->bytes) {
        return cudaSuccess;
    }
    void *larger = NULL;
    const size_t room = bytes + bytes / 4;
    const cudaError_t error = cudaMalloc(&larger, room);
    if (error != cudaSuccess) {
        return error;
    }
    if (temporary->address != NULL && !cuda_memory_release_later(temporary->memory, temporary->address)) {
        (void)cudaFree(larger);
        return cudaErrorMemoryAllocation;
    }
    temporary->address = larger;
    temporary->bytes = room;
    return cudaSuccess;
}

cudaError_t cuda_sort(CudaTemporary *temporary, u64 *keys, uint *values, uint32_t count, void *scratch,
                      cudaStream_t stream)
{
    u64 *const other_keys = (u64 *)scratch;
    uint *const other_values = (uint *)(other_keys + count);
    cub::DoubleBuffer<u64> both_keys(keys, other_keys);
    cub::DoubleBuffer<uint> both_values(values, other_values);
    WITH_TEMPORARY(temporary,
                   cub::DeviceRadixSort::SortPairs(address, bytes, both_keys, both_values, (int)count, 0, 64, stream));
    cudaError_t error = cudaSuccess;
    if (both_keys.Current() != keys) {
        error = cudaMemcpyAsync(keys, both_keys.Current(), count * sizeof *keys, cudaMemcpyDeviceToDevice, stream);
    }
    if (error == cudaSuccess && both_values.Current() != values) {
        error =
            cudaMemcpyAsync(values, both_values.Current(), count * sizeof *values, cudaMemcpyDeviceToDevice, stream);
    }
    return error;
}

// The exclusive sum of count + 1 elements does not read the last one and leaves the total there.
cudaError_t cuda_scan(CudaTemporary *temporary, uint *values, uint32_t count, cudaStream_t stream)
{
    WITH_TEMPORARY(temporary, cub::DeviceScan::ExclusiveSum(address, bytes, values, values, (int)(count + 1), stream));
    return cudaSuccess;
}

// What has a w below 0 is passed over.
struct SmallerCorner {
    __host__ __device__ vec4 operator()(const vec4 &a, const vec4 &b) const
    {
        if (a.w < 0.0f || b.w < 0.0f) {
            return a.w < 0.0f ? b : a;
        }
        vec4 c = {a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z, 0.0f};
        return c;
    }
};

struct LargerCorner {
    __host__ __device__ vec4 operator()(const vec4 &a, const vec4 &b) const
    {
        if (a.w < 0.0f || b.w < 0.0f) {
            return a.w < 0.0f ? b : a;
        }
        vec4 c = {a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z, 0.0f};
        return c;
    }
};

cudaError_t cuda_find_bounds(CudaTemporary *temporary, const vec4 *points, uint32_t count, vec4 *bounds,
                             cudaStream_t stream)
{
    const float far_away = 3.0e38f;
    const vec4 highest = {far_away, far_away, far_away, 0.0f};
    const vec4 lowest = {-far_away, -far_away, -far_away, 0.0f};
    WITH_TEMPORARY(temporary, cub::DeviceReduce::Reduce(address, bytes, points, bounds, (int)count, SmallerCorner(),
                                                        highest, stream));
    WITH_TEMPORARY(temporary, cub::DeviceReduce::Reduce(address, bytes, points, bounds + 1, (int)count, LargerCorner(),
                                                        lowest, stream));
    return cudaSuccess;
}
