// SPDX-License-Identifier: MIT
// cub.cuh - serial twins of the CUB calls that cuda/ makes, with the same calling convention: the first call, with
// a null address, only asks for the size of the temporary memory. They are work of the stream, and write to all of the
// temporary memory.
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
                                 int count, int, int, cudaStream_t stream)
    {
        const size_t needed = 4096 + (size_t)count / 2;
        if (temporary == nullptr) {
            bytes = needed;
            return cudaSuccess;
        }
        const Key *const from = keys.Current();
        const Value *const from_values = values.Current();
        keys.selector ^= 1;
        values.selector ^= 1;
        Key *const to = keys.Current();
        Value *const to_values = values.Current();
        return emulated_work(stream, "DeviceRadixSort", [=] {
            std::memset(temporary, 0xa5, needed);
            std::vector<int> order((size_t)count);
            std::iota(order.begin(), order.end(), 0);
            std::stable_sort(order.begin(), order.end(), [from](int a, int b) { return from[a] < from[b]; });
            for (int i = 0; i < count; i++) {
                to[i] = from[order[(size_t)i]];
                to_values[i] = from_values[order[(size_t)i]];
            }
        });
    }
};

struct DeviceScan {
    template <typename T>
    static cudaError_t ExclusiveSum(void *temporary, size_t &bytes, const T *input, T *output, int count,
                                    cudaStream_t stream)
    {
        const size_t needed = 768 + (size_t)count / 64;
        if (temporary == nullptr) {
            bytes = needed;
            return cudaSuccess;
        }
        return emulated_work(stream, "DeviceScan", [=] {
            std::memset(temporary, 0xa5, needed);
            T sum = 0;
            for (int i = 0; i < count; i++) {
                const T value = input[i];
                output[i] = sum;
                sum += value;
            }
        });
    }
};

struct DeviceReduce {
    template <typename T, typename Operation>
    static cudaError_t Reduce(void *temporary, size_t &bytes, const T *input, T *output, int count, Operation operation,
                              T start, cudaStream_t stream)
    {
        const size_t needed = 256;
        if (temporary == nullptr) {
            bytes = needed;
            return cudaSuccess;
        }
        return emulated_work(stream, "DeviceReduce", [=] {
            std::memset(temporary, 0xa5, needed);
            *output = std::accumulate(input, input + count, start, operation);
        });
    }
};

} // namespace cub

#endif
