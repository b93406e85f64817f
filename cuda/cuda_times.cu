// SPDX-License-Identifier: MIT
// cuda_times.cu - how long launches take: an event before and one after each, read when both have passed. Nobody waits
// for them: what a full ring has no place for is counted, but not timed.
#include "cuda_common.h"

#include <stdlib.h>

enum { RING = 8192 }; // launches

typedef struct PendingTime {
    int timer;
    cudaEvent_t start, stop;
} PendingTime;

// The row behind the last, with events; NULL if there is none.
static PendingTime *free_row(CudaTimes *times)
{
    if (times->rows == NULL) {
        times->rows = (PendingTime *)calloc(RING, sizeof *times->rows);
    }
    if (times->rows == NULL || times->count == RING) {
        return NULL;
    }
    PendingTime *row = &times->rows[(times->first + times->count) % RING];
    if ((row->start == NULL && cudaEventCreate(&row->start) != cudaSuccess) ||
        (row->stop == NULL && cudaEventCreate(&row->stop) != cudaSuccess)) {
        (void)cudaGetLastError(); // no device failure
        return NULL;
    }
    return row;
}

void cuda_times_collect(CudaTimes *times)
{
    while (times->count > 0) {
        const PendingTime *row = &times->rows[times->first];
        if (cudaEventQuery(row->stop) != cudaSuccess) {
            (void)cudaGetLastError();
            return;
        }
        float milliseconds = 0.0f;
        if (cudaEventElapsedTime(&milliseconds, row->start, row->stop) == cudaSuccess) {
            times->timers[row->timer].milliseconds += milliseconds;
        }
        times->first = (times->first + 1) % RING;
        times->count--;
    }
}

cudaError_t cuda_times_begin(CudaTimes *times, int timer, uint64_t invocations, cudaStream_t stream)
{
    times->timers[timer].launches++;
    times->timers[timer].invocations += invocations;
    if (!times->wanted) {
        return cudaSuccess;
    }
    if (times->count > RING / 2) {
        cuda_times_collect(times);
    }
    PendingTime *row = free_row(times);
    times->timing = row != NULL;
    if (row == NULL) {
        return cudaSuccess;
    }
    row->timer = timer;
    return cudaEventRecord(row->start, stream);
}

cudaError_t cuda_times_end(CudaTimes *times, cudaStream_t stream)
{
    if (!times->wanted || !times->timing) {
        return cudaSuccess;
    }
    return cudaEventRecord(times->rows[(times->first + times->count++) % RING].stop, stream);
}

void cuda_times_destroy(CudaTimes *times)
{
    for (int i = 0; i < RING && times->rows != NULL; i++) {
        if (times->rows[i].start != NULL) {
            (void)cudaEventDestroy(times->rows[i].start);
        }
        if (times->rows[i].stop != NULL) {
            (void)cudaEventDestroy(times->rows[i].stop);
        }
    }
    free(times->rows);
}
