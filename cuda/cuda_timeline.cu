// SPDX-License-Identifier: MIT
// cuda_timeline.cu - the order of the backend's stream and a renderer's work on the same device: a timeline semaphore
// that Vulkan exports and CUDA waits for and signals on its stream, so that neither waits on the host.
#include "cuda_common.h"

#include <string.h>
#include <unistd.h>

// Descriptors of successful imports belong to the driver.
static bool import_semaphore(CudaTimeline *order, int descriptor)
{
    cudaExternalSemaphoreHandleDesc exported;
    memset(&exported, 0, sizeof exported);
    exported.type = cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd;
    exported.handle.fd = descriptor;
    if (cudaImportExternalSemaphore(&order->semaphore, &exported) != cudaSuccess) {
        (void)cudaGetLastError(); // no device failure: the host waits
        close(descriptor);
        return false;
    }
    return true;
}

void cuda_timeline_create(CudaTimeline *order, MoteSharedMemory *shared)
{
    memset(order, 0, sizeof *order);
    order->shared = shared;
    if (shared == NULL || shared->make_timeline == NULL) {
        return;
    }
    int descriptor = -1;
    order->timeline = shared->make_timeline(shared, &descriptor);
    if (order->timeline != NULL && !import_semaphore(order, descriptor)) {
        shared->end_timeline(shared, order->timeline);
        order->timeline = NULL;
    }
    order->seen = order->timeline != NULL ? order->timeline->value : 0;
}

void cuda_timeline_destroy(CudaTimeline *order)
{
    if (order->timeline != NULL) {
        (void)cudaDestroyExternalSemaphore(order->semaphore);
        order->shared->end_timeline(order->shared, order->timeline);
        order->timeline = NULL;
    }
}

bool cuda_timeline_is_behind(const CudaTimeline *order)
{
    return order->timeline != NULL && order->timeline->value != order->seen;
}

cudaError_t cuda_timeline_follow(CudaTimeline *order, cudaStream_t stream)
{
    if (!cuda_timeline_is_behind(order)) {
        return cudaSuccess;
    }
    cudaExternalSemaphoreWaitParams wait;
    memset(&wait, 0, sizeof wait);
    wait.params.fence.value = order->timeline->value;
    order->seen = order->timeline->value;
    return cudaWaitExternalSemaphoresAsync(&order->semaphore, &wait, 1, stream);
}

cudaError_t cuda_timeline_signal(CudaTimeline *order, cudaStream_t stream)
{
    cudaExternalSemaphoreSignalParams signal;
    memset(&signal, 0, sizeof signal);
    signal.params.fence.value = order->timeline->value + 1;
    const cudaError_t error = cudaSignalExternalSemaphoresAsync(&order->semaphore, &signal, 1, stream);
    if (error == cudaSuccess) {
        order->seen = ++order->timeline->value; // promised only now: nobody waits for what will not come
    }
    return error;
}
