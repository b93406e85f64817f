// SPDX-License-Identifier: MIT
// cuda_memory.cu - the backend's device memory: its own, or memory of another device interface (Vulkan) that CUDA
// imports, so that both read the same arrays.
#include "cuda_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct SharedBlock {
    void *address;
    cudaExternalMemory_t memory;
    void *handle; // the provider's
} SharedBlock;

// ---- The device --------------------------------------------------------------------------------------------

int cuda_memory_choose_device(CudaMemory *memory, MoteSharedMemory *shared)
{
    memset(memory, 0, sizeof *memory);
    memory->shared = shared;
    if (shared == NULL) {
        snprintf(memory->why, sizeof memory->why, "the world was made without memory to share");
        return 0;
    }
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
        (void)cudaGetLastError();
    }
    for (int device = 0; device < count; device++) {
        cudaDeviceProp properties;
        if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
            (void)cudaGetLastError();
        } else if (MOTE_SAME_DEVICE(properties.uuid.bytes, shared->device_uuid)) {
            memory->sharing = true;
            return device;
        }
    }
    snprintf(memory->why, sizeof memory->why, "the renderer's device is not one that CUDA has");
    return 0;
}

// ---- Shared memory -----------------------------------------------------------------------------------------

static bool reserve_block(CudaMemory *memory)
{
    if (memory->block_count < memory->block_capacity) {
        return true;
    }
    const int capacity = 2 * memory->block_capacity + 32;
    SharedBlock *blocks = (SharedBlock *)realloc(memory->blocks, (size_t)capacity * sizeof *blocks);
    if (blocks == NULL) {
        return false;
    }
    memory->blocks = blocks;
    memory->block_capacity = capacity;
    return true;
}

// Descriptors of successful imports belong to the driver.
static cudaError_t import_block(SharedBlock *block, int descriptor, size_t size, bool dedicated)
{
    cudaExternalMemoryHandleDesc exported;
    memset(&exported, 0, sizeof exported);
    exported.type = cudaExternalMemoryHandleTypeOpaqueFd;
    exported.handle.fd = descriptor;
    exported.size = size;
    exported.flags = dedicated ? cudaExternalMemoryDedicated : 0;
    cudaError_t error = cudaImportExternalMemory(&block->memory, &exported);
    if (error != cudaSuccess) {
        close(descriptor);
        return error;
    }
    cudaExternalMemoryBufferDesc whole;
    memset(&whole, 0, sizeof whole);
    whole.size = size;
    error = cudaExternalMemoryGetMappedBuffer(&block->address, block->memory, &whole);
    if (error != cudaSuccess) {
        cudaDestroyExternalMemory(block->memory);
    }
    return error;
}

// NULL with the reason in `why`.
static void *allocate_shared(CudaMemory *memory, size_t bytes, char *why, size_t why_size)
{
    MoteSharedMemory *shared = memory->shared;
    int descriptor = -1;
    size_t size = 0;
    SharedBlock block = {NULL, NULL, NULL};
    if (!reserve_block(memory)) {
        snprintf(why, why_size, "no host memory left");
        return NULL;
    }
    if (!shared->allocate(shared, bytes, &descriptor, &size, &block.handle)) {
        snprintf(why, why_size, "the renderer's device has no memory to share for %zu bytes", bytes);
        return NULL;
    }
    const cudaError_t error = import_block(&block, descriptor, size, shared->dedicated);
    if (error != cudaSuccess) {
        (void)cudaGetLastError();
        snprintf(why, why_size, "CUDA could not import %zu bytes of the renderer's device: %s", size,
                 cudaGetErrorString(error));
        shared->release(shared, block.handle);
        return NULL;
    }
    shared->name(shared, block.handle, block.address);
    memory->blocks[memory->block_count++] = block;
    return block.address;
}

// ---- Both --------------------------------------------------------------------------------------------------

void *cuda_memory_allocate(CudaMemory *memory, size_t bytes)
{
    char why[sizeof memory->why] = "";
    void *address = memory->sharing ? allocate_shared(memory, bytes, why, sizeof why) : NULL;
    if (address != NULL) {
        return address;
    }
    if (cudaMalloc(&address, bytes) != cudaSuccess) {
        (void)cudaGetLastError(); // the caller reports it: no device failure
        return NULL;
    }
    if (memory->sharing) { // from now on a part cannot be read in place: all of it is copied
        memory->sharing = false;
        memcpy(memory->why, why, sizeof why);
    }
    return address;
}

static cudaError_t free_one(CudaMemory *memory, void *address)
{
    cudaError_t error = cudaFree(address); // a mapping before what it maps
    for (int i = 0; i < memory->block_count; i++) {
        const SharedBlock block = memory->blocks[i];
        if (block.address == address) {
            const cudaError_t destroyed = cudaDestroyExternalMemory(block.memory);
            error = error == cudaSuccess ? destroyed : error;
            memory->shared->release(memory->shared, block.handle);
            memory->blocks[i] = memory->blocks[--memory->block_count];
            break;
        }
    }
    return error;
}

bool cuda_memory_release_later(CudaMemory *memory, void *address)
{
    if (memory->dead_count == memory->dead_capacity) {
        const int capacity = 2 * memory->dead_capacity + 64;
        void **dead = (void **)realloc(memory->dead, (size_t)capacity * sizeof *dead);
        if (dead == NULL) {
            return false;
        }
        memory->dead = dead;
        memory->dead_capacity = capacity;
    }
    memory->dead[memory->dead_count++] = address;
    return true;
}

cudaError_t cuda_memory_bury(CudaMemory *memory)
{
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < memory->dead_count; i++) {
        const cudaError_t freed = free_one(memory, memory->dead[i]);
        error = error == cudaSuccess ? freed : error;
    }
    memory->dead_count = 0;
    return error;
}

void cuda_memory_destroy(CudaMemory *memory)
{
    free(memory->blocks);
    free(memory->dead);
}
