// SPDX-License-Identifier: MIT
// external_semaphore.h - cudaImportExternalSemaphore and its kin. Lavapipe exports no semaphores, so a timeline
// semaphore is here a file in memory that holds its value, 64 bits, which both sides map. A stream runs its work at
// once: a wait on it lasts until the other side has signalled, for at most a minute.
#ifndef MOTE_CUDA_EMULATION_EXTERNAL_SEMAPHORE_H
#define MOTE_CUDA_EMULATION_EXTERNAL_SEMAPHORE_H

#include <thread>

enum { cudaErrorTimeout = 909 };

typedef struct EmulatedExternalSemaphore {
    uint64_t *value; // mapped
} * cudaExternalSemaphore_t;

enum cudaExternalSemaphoreHandleType { cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd = 9 };

struct cudaExternalSemaphoreHandleDesc {
    cudaExternalSemaphoreHandleType type;
    union {
        int fd;
    } handle;
    unsigned int flags;
};

struct EmulatedSemaphoreParams {
    struct {
        struct {
            unsigned long long value;
        } fence;
    } params;
    unsigned int flags;
};
typedef EmulatedSemaphoreParams cudaExternalSemaphoreWaitParams, cudaExternalSemaphoreSignalParams;

static inline cudaError_t cudaImportExternalSemaphore(cudaExternalSemaphore_t *semaphore,
                                                      const cudaExternalSemaphoreHandleDesc *exported)
{
    struct stat status;
    if (exported->type != cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd || exported->flags != 0 ||
        fstat(exported->handle.fd, &status) != 0 || status.st_size != (off_t)sizeof(uint64_t)) {
        return cudaErrorInvalidValue;
    }
    if (emulated_device != EMULATED_DEVICE_LAVAPIPE) {
        return cudaErrorInvalidDevice;
    }
    void *value = mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, exported->handle.fd, 0);
    if (value == MAP_FAILED) {
        return cudaErrorOperatingSystem;
    }
    *semaphore = new EmulatedExternalSemaphore{static_cast<uint64_t *>(value)};
    close(exported->handle.fd); // it is the driver's now
    return cudaSuccess;
}

static inline cudaError_t cudaDestroyExternalSemaphore(cudaExternalSemaphore_t semaphore)
{
    munmap(semaphore->value, sizeof(uint64_t));
    delete semaphore;
    return cudaSuccess;
}

static inline cudaError_t cudaWaitExternalSemaphoresAsync(const cudaExternalSemaphore_t *semaphores,
                                                          const cudaExternalSemaphoreWaitParams *waits, unsigned count,
                                                          cudaStream_t)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    for (unsigned i = 0; i < count; i++) {
        while (__atomic_load_n(semaphores[i]->value, __ATOMIC_ACQUIRE) < waits[i].params.fence.value) {
            if (std::chrono::steady_clock::now() > end) {
                return cudaErrorTimeout;
            }
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }
    return cudaSuccess;
}

// A timeline never goes back or stays.
static inline cudaError_t cudaSignalExternalSemaphoresAsync(const cudaExternalSemaphore_t *semaphores,
                                                            const cudaExternalSemaphoreSignalParams *signals,
                                                            unsigned count, cudaStream_t)
{
    for (unsigned i = 0; i < count; i++) {
        if (signals[i].params.fence.value <= __atomic_load_n(semaphores[i]->value, __ATOMIC_ACQUIRE)) {
            return cudaErrorInvalidValue;
        }
        __atomic_store_n(semaphores[i]->value, signals[i].params.fence.value, __ATOMIC_RELEASE);
    }
    return cudaSuccess;
}

#endif
