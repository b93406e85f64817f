// SPDX-License-Identifier: MIT
// external.cpp - cudaImportExternalMemory and its kin for memory that Mesa's software Vulkan driver (lavapipe) exports:
// there an opaque file descriptor is a file in memory with a header, the data behind it. Lavapipe exports no
// semaphores: a timeline semaphore is here a file in memory that holds its value, 64 bits, which both sides map.
#include "emulator.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char emulated_uuids[EMULATED_DEVICE_COUNT][17] = {"emulated on CPU.", "mesa............"};

// What stands at the beginning of the file, as Mesa 22.3 and 25.0 write it.
struct LavapipeHeader {
    uint64_t size;   // bytes, of the whole file
    uint64_t offset; // bytes, where the data begin
    unsigned char driver[16];
};

// Behind it a test's exporter may say how the memory was allocated, which the importer must say, too.
static const char dedicated_mark[16] = "dedicated", pooled_mark[16] = "not dedicated";

struct EmulatedExternalMemory {
    unsigned char *file; // all of it, mapped
    unsigned char *data;
    size_t size;
    int mappings; // buffers that have not been freed
};

struct EmulatedExternalSemaphore {
    uint64_t *value; // mapped
};

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = EMULATED_DEVICE_COUNT;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    if (device < 0 || device >= EMULATED_DEVICE_COUNT) {
        return emulated_fail(cudaErrorInvalidDevice);
    }
    std::memset(properties, 0, sizeof *properties);
    std::memcpy(properties->uuid.bytes, emulated_uuids[device], sizeof properties->uuid.bytes);
    std::strcpy(properties->name, "emulated on the CPU");
    return cudaSuccess;
}

// ---- Memory ----

cudaError_t cudaImportExternalMemory(cudaExternalMemory_t *memory, const cudaExternalMemoryHandleDesc *exported)
{
    CALL(CUDA_CALL_IMPORT);
    struct stat status;
    if (exported->type != cudaExternalMemoryHandleTypeOpaqueFd || exported->flags > cudaExternalMemoryDedicated ||
        exported->size == 0 || fstat(exported->handle.fd, &status) != 0 ||
        (size_t)status.st_size < sizeof(LavapipeHeader)) {
        return emulated_fail(cudaErrorInvalidValue);
    }
    if (emulated_device != EMULATED_DEVICE_LAVAPIPE) {
        return emulated_fail(cudaErrorInvalidDevice);
    }
    const size_t file_size = (size_t)status.st_size;
    LavapipeHeader header;
    char mark[16] = "";
    if (pread(exported->handle.fd, &header, sizeof header, 0) != (ssize_t)sizeof header || header.size != file_size ||
        header.offset < sizeof header || header.offset > file_size || exported->size > file_size - header.offset ||
        pread(exported->handle.fd, mark, sizeof mark, sizeof header) < 0) {
        return emulated_fail(cudaErrorInvalidValue);
    }
    const bool dedicated = exported->flags == cudaExternalMemoryDedicated;
    if (std::memcmp(mark, dedicated ? pooled_mark : dedicated_mark, sizeof mark) == 0) {
        return emulated_fail(cudaErrorInvalidValue);
    }
    unsigned char *const file = memory_map(file_size, exported->handle.fd);
    if (file == nullptr) {
        return emulated_fail(cudaErrorOperatingSystem);
    }
    memory_close(file);
    *memory = new EmulatedExternalMemory{file, file + header.offset, (size_t)exported->size, 0};
    emulated_live++;
    close(exported->handle.fd); // it is the driver's now
    return cudaSuccess;
}

cudaError_t cudaExternalMemoryGetMappedBuffer(void **address, cudaExternalMemory_t memory,
                                              const cudaExternalMemoryBufferDesc *buffer)
{
    CALL(CUDA_CALL_IMPORT);
    if (buffer->flags != 0 || buffer->size == 0 || buffer->offset > memory->size ||
        buffer->size > memory->size - buffer->offset ||
        !memory_add_mapping(memory->data + buffer->offset, buffer->size, memory)) {
        return emulated_fail(cudaErrorInvalidValue);
    }
    *address = memory->data + buffer->offset;
    memory->mappings++;
    emulated_live++;
    return cudaSuccess;
}

void external_unmapped(cudaExternalMemory_t memory)
{
    memory->mappings--;
}

cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t memory)
{
    if (memory->mappings != 0) {
        emulated_complain("cudaDestroyExternalMemory before its buffers were freed:", memory);
    }
    if (streams_run_all()) {
        emulated_note_stall();
    }
    memory_unmap(memory->file);
    delete memory;
    emulated_live--;
    return emulated_lost() ? emulated_fail(cudaErrorLaunchFailure) : cudaSuccess;
}

// ---- Semaphores ----

cudaError_t cudaImportExternalSemaphore(cudaExternalSemaphore_t *semaphore,
                                        const cudaExternalSemaphoreHandleDesc *exported)
{
    CALL(CUDA_CALL_IMPORT);
    struct stat status;
    if (exported->type != cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd || exported->flags != 0 ||
        fstat(exported->handle.fd, &status) != 0 || status.st_size != (off_t)sizeof(uint64_t)) {
        return emulated_fail(cudaErrorInvalidValue);
    }
    if (emulated_device != EMULATED_DEVICE_LAVAPIPE) {
        return emulated_fail(cudaErrorInvalidDevice);
    }
    void *value = mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, exported->handle.fd, 0);
    if (value == MAP_FAILED) {
        return emulated_fail(cudaErrorOperatingSystem);
    }
    *semaphore = new EmulatedExternalSemaphore{static_cast<uint64_t *>(value)};
    emulated_live++;
    close(exported->handle.fd); // it is the driver's now
    return cudaSuccess;
}

cudaError_t cudaDestroyExternalSemaphore(cudaExternalSemaphore_t semaphore)
{
    (void)streams_run_all(); // what still signals it, or waits
    munmap(semaphore->value, sizeof(uint64_t));
    delete semaphore;
    emulated_live--;
    return cudaSuccess;
}

// The stream waits, for at most a minute; the host does not.
cudaError_t cudaWaitExternalSemaphoresAsync(const cudaExternalSemaphore_t *semaphores,
                                            const cudaExternalSemaphoreWaitParams *waits, unsigned count,
                                            cudaStream_t stream)
{
    CALL(CUDA_CALL_SUBMIT);
    cudaError_t error = cudaSuccess;
    for (unsigned i = 0; i < count && error == cudaSuccess; i++) {
        const uint64_t *const value = semaphores[i]->value;
        const uint64_t wanted = waits[i].params.fence.value;
        const auto wait = [value, wanted]() -> cudaError_t {
            const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
            while (__atomic_load_n(value, __ATOMIC_ACQUIRE) < wanted) {
                if (std::chrono::steady_clock::now() > end) {
                    return cudaErrorTimeout;
                }
                std::this_thread::sleep_for(std::chrono::microseconds(50));
            }
            return cudaSuccess;
        };
        error = stream_add(stream, {"wait for a semaphore", wait, false, false});
    }
    return error;
}

// A timeline never goes back or stays.
cudaError_t cudaSignalExternalSemaphoresAsync(const cudaExternalSemaphore_t *semaphores,
                                              const cudaExternalSemaphoreSignalParams *signals, unsigned count,
                                              cudaStream_t stream)
{
    CALL(CUDA_CALL_SUBMIT);
    cudaError_t error = cudaSuccess;
    for (unsigned i = 0; i < count && error == cudaSuccess; i++) {
        uint64_t *const value = semaphores[i]->value;
        const uint64_t reached = signals[i].params.fence.value;
        const auto signal = [value, reached]() -> cudaError_t {
            if (reached <= __atomic_load_n(value, __ATOMIC_ACQUIRE)) {
                return cudaErrorInvalidValue;
            }
            __atomic_store_n(value, reached, __ATOMIC_RELEASE);
            return cudaSuccess;
        };
        error = stream_add(stream, {"signal a semaphore", signal, false, false});
    }
    if (error == cudaSuccess) {
        stream_run_soon(stream);
    }
    return error;
}
