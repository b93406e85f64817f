// SPDX-License-Identifier: MIT
// external_memory.h - cudaImportExternalMemory and its kin for memory that Mesa's software Vulkan driver (lavapipe)
// exports: there an opaque file descriptor is a file in memory with a header, the data behind it.
#ifndef MOTE_CUDA_EMULATION_EXTERNAL_MEMORY_H
#define MOTE_CUDA_EMULATION_EXTERNAL_MEMORY_H

#include <cstdint>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// The emulated devices: one of its own, and one that stands for lavapipe's, which it shares memory with.
enum { EMULATED_DEVICE_ALONE, EMULATED_DEVICE_LAVAPIPE, EMULATED_DEVICE_COUNT };
static thread_local int emulated_device; // the current one, as in CUDA a matter of each thread

// Lavapipe's UUID is "mesa" and then its version, of which the emulation need not know: the name alone is compared.
static const char emulated_uuids[EMULATED_DEVICE_COUNT][17] = {"emulated on CPU.", "mesa............"};
#define MOTE_SAME_DEVICE(a, b) (std::memcmp(a, b, 4) == 0)

// What stands at the beginning of the file, as Mesa 22.3 and 25.0 write it.
struct LavapipeHeader {
    uint64_t size;   // bytes, of the whole file
    uint64_t offset; // bytes, where the data begin
    unsigned char driver[16];
};

typedef struct EmulatedExternalMemory {
    unsigned char *file; // all of it, mapped
    size_t file_size;
    unsigned char *data;
    size_t size;
    int mappings; // buffers that have not been freed
} * cudaExternalMemory_t;

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

// The buffers that cudaFree must take for mappings.
static std::map<void *, cudaExternalMemory_t> emulated_mappings;
static std::mutex emulated_mappings_lock;

static inline cudaError_t cudaImportExternalMemory(cudaExternalMemory_t *memory,
                                                   const cudaExternalMemoryHandleDesc *exported)
{
    struct stat status;
    if (exported->type != cudaExternalMemoryHandleTypeOpaqueFd || exported->flags != cudaExternalMemoryDedicated ||
        exported->size == 0 || fstat(exported->handle.fd, &status) != 0 ||
        (size_t)status.st_size < sizeof(LavapipeHeader)) {
        return cudaErrorInvalidValue;
    }
    if (emulated_device != EMULATED_DEVICE_LAVAPIPE) {
        return cudaErrorInvalidDevice;
    }
    const size_t file_size = (size_t)status.st_size;
    void *file = mmap(nullptr, file_size, PROT_READ | PROT_WRITE, MAP_SHARED, exported->handle.fd, 0);
    if (file == MAP_FAILED) {
        return cudaErrorOperatingSystem;
    }
    LavapipeHeader header;
    std::memcpy(&header, file, sizeof header);
    if (header.size != file_size || header.offset < sizeof header || header.offset > file_size ||
        exported->size > file_size - header.offset) {
        munmap(file, file_size);
        return cudaErrorInvalidValue;
    }
    unsigned char *const bytes = static_cast<unsigned char *>(file);
    *memory = new EmulatedExternalMemory{bytes, file_size, bytes + header.offset, (size_t)exported->size, 0};
    close(exported->handle.fd); // it is the driver's now
    return cudaSuccess;
}

static inline cudaError_t cudaExternalMemoryGetMappedBuffer(void **address, cudaExternalMemory_t memory,
                                                            const cudaExternalMemoryBufferDesc *buffer)
{
    if (buffer->flags != 0 || buffer->size == 0 || buffer->offset > memory->size ||
        buffer->size > memory->size - buffer->offset) {
        return cudaErrorInvalidValue;
    }
    const std::lock_guard<std::mutex> guard(emulated_mappings_lock);
    *address = memory->data + buffer->offset;
    emulated_mappings[*address] = memory;
    memory->mappings++;
    return cudaSuccess;
}

static inline cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t memory)
{
    const std::lock_guard<std::mutex> guard(emulated_mappings_lock);
    if (memory->mappings != 0) {
        return cudaErrorInvalidValue; // its buffers go first
    }
    munmap(memory->file, memory->file_size);
    delete memory;
    return cudaSuccess;
}

// True if the address was that of such a buffer, which is now freed.
static inline bool emulated_unmap(void *address)
{
    const std::lock_guard<std::mutex> guard(emulated_mappings_lock);
    const auto found = emulated_mappings.find(address);
    if (found == emulated_mappings.end()) {
        return false;
    }
    found->second->mappings--;
    emulated_mappings.erase(found);
    return true;
}

#endif
