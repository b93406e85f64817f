// SPDX-License-Identifier: MIT
// cub.cuh - serial twins of the CUB calls that cuda/ makes, with the same calling convention: the first call, with
// a null address, only asks for the size of the temporary memory.
#ifndef MOTE_CUDA_EMULATION_CUB_H
#define MOTE_CUDA_EMULATION_CUB_H

#include <cuda_runtime.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace cub
{

template <typename T> struct DoubleBuffer {
    T *d_buffers[2];
    int selector;
    DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate}, selector(0) {}
    T *Current() const { return d_buffers[selector]; }
    T *Alternate() const { return d_buffers[selector ^ 1]; }
};

struct DeviceRadixSort {
    // Leaves the result in the alternate buffers, as an odd number of passes does.
    template <typename Key, typename Value>
    static cudaError_t SortPairs(void *temporary, size_t &bytes, DoubleBuffer<Key> &keys, DoubleBuffer<Value> &values,
                                 int count, int, int, cudaStream_t)
    {
        if (temporary == nullptr) {
            bytes = 1;
            return cudaSuccess;
        }
        std::vector<int> order(count);
        std::iota(order.begin(), order.end(), 0);
        const Key *k = keys.Current();
        std::stable_sort(order.begin(), order.end(), [k](int a, int b) { return k[a] < k[b]; });
        for (int i = 0; i < count; i++) {
            keys.Alternate()[i] = keys.Current()[order[i]];
            values.Alternate()[i] = values.Current()[order[i]];
        }
        keys.selector ^= 1;
        values.selector ^= 1;
        return cudaSuccess;
    }
};

struct DeviceScan {
    template <typename T>
    static cudaError_t ExclusiveSum(void *temporary, size_t &bytes, const T *input, T *output, int count, cudaStream_t)
    {
        if (temporary == nullptr) {
            bytes = 1;
            return cudaSuccess;
        }
        T sum = 0;
        for (int i = 0; i < count; i++) {
            const T value = input[i];
            output[i] = sum;
            sum += value;
        }
        return cudaSuccess;
    }
};

struct DeviceReduce {
    template <typename T, typename Operation>
    static cudaError_t Reduce(void *temporary, size_t &bytes, const T *input, T *output, int count, Operation operation,
                              T start, cudaStream_t)
    {
        if (temporary == nullptr) {
            bytes = 1;
            return cudaSuccess;
        }
        *output = std::accumulate(input, input + count, start, operation);
        return cudaSuccess;
    }
};

} // namespace cub

#endif
