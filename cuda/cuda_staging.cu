// SPDX-License-Identifier: MIT
// cuda_staging.cu - pinned memory on the way between host and device. Copies of ordinary host memory may make the host
// wait for the stream; these do not, and the caller's memory is free at once.
#include "cuda_common.h"

static void *pinned(size_t bytes)
{
    void *address = NULL;
    if (cudaMallocHost(&address, bytes) != cudaSuccess) {
        (void)cudaGetLastError(); // no device failure: the host waits instead
        return NULL;
    }
    return address;
}

void *cuda_staging_take(CudaStaging *staging, size_t *bytes)
{
    if (staging->used == STAGING_BYTES) {
        staging->current++;
        staging->used = 0;
    }
    if (staging->current == STAGING_LIMIT) {
        return NULL;
    }
    void **chunk = &staging->chunks[staging->current];
    if (*chunk == NULL) {
        *chunk = pinned(STAGING_BYTES);
    }
    if (*chunk == NULL) {
        return NULL;
    }
    void *const address = (char *)*chunk + staging->used;
    const size_t room = STAGING_BYTES - staging->used;
    *bytes = *bytes < room ? *bytes : room;
    staging->used += (*bytes + 63) / 64 * 64 < room ? (*bytes + 63) / 64 * 64 : room;
    return address;
}

void *cuda_staging_download(CudaStaging *staging)
{
    if (staging->download == NULL) {
        staging->download = pinned(STAGING_BYTES);
    }
    return staging->download;
}

void cuda_staging_reset(CudaStaging *staging)
{
    staging->current = 0;
    staging->used = 0;
}

void cuda_staging_destroy(CudaStaging *staging)
{
    for (int i = 0; i < STAGING_LIMIT && staging->chunks[i] != NULL; i++) {
        (void)cudaFreeHost(staging->chunks[i]);
    }
    (void)cudaFreeHost(staging->download);
}
