// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // sched_getaffinity
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { SPINS = 2000 }; // some tens of microseconds

typedef struct Worker {
    Threads *threads;
    pthread_t handle;
    int index;
} Worker;

struct Threads {
    // The job's number in the upper half, how many of its parts are not taken yet in the lower: one word, so that a
    // part is never taken of a job that has ended meanwhile. Whoever takes one may read the job, which then lasts at
    // least until that part is done.
    _Alignas(64) _Atomic uint64_t turn;
    PartFunction *function;
    void *context;
    int parts;

    _Alignas(64) _Atomic int done;     // parts of the job
    _Alignas(64) _Atomic int sleepers; // workers that wait for `work`
    atomic_bool caller_sleeps;         // waits for `finished`
    atomic_bool ending;
    pthread_mutex_t mutex;
    pthread_cond_t work, finished;

    int count; // with the caller
    Worker *workers;
    int worker_count;
};

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static uint32_t job_number(uint64_t turn)
{
    return (uint32_t)(turn >> 32);
}

static uint32_t parts_left(uint64_t turn)
{
    return (uint32_t)turn;
}

static void take_parts(Threads *threads, int thread)
{
    uint64_t turn = atomic_load(&threads->turn);
    while (parts_left(turn) > 0) {
        if (!atomic_compare_exchange_weak(&threads->turn, &turn, turn - 1)) {
            continue; // `turn` is what it is now
        }
        const int parts = threads->parts;
        threads->function(threads->context, parts - (int)parts_left(turn), thread);
        if (atomic_fetch_add(&threads->done, 1) + 1 == parts && atomic_load(&threads->caller_sleeps)) {
            pthread_mutex_lock(&threads->mutex);
            pthread_cond_signal(&threads->finished);
            pthread_mutex_unlock(&threads->mutex);
        }
        turn = atomic_load(&threads->turn);
    }
}

// Returns the number of a job that is not the `last` one.
static uint32_t wait_for_job(Threads *threads, uint32_t last)
{
    for (int spin = 0; spin < SPINS; spin++) {
        const uint32_t job = job_number(atomic_load(&threads->turn));
        if (job != last) {
            return job;
        }
        pause_briefly();
    }
    pthread_mutex_lock(&threads->mutex);
    atomic_fetch_add(&threads->sleepers, 1); // before looking again: whoever starts a job then sees one or the other
    while (job_number(atomic_load(&threads->turn)) == last) {
        pthread_cond_wait(&threads->work, &threads->mutex);
    }
    atomic_fetch_sub(&threads->sleepers, 1);
    pthread_mutex_unlock(&threads->mutex);
    return job_number(atomic_load(&threads->turn));
}

static void *work(void *argument)
{
    const Worker *worker = argument;
    Threads *threads = worker->threads;
    uint32_t job = 0;
    for (;;) {
        job = wait_for_job(threads, job);
        if (atomic_load(&threads->ending)) {
            return NULL;
        }
        take_parts(threads, worker->index);
    }
}

static void begin_job(Threads *threads, uint32_t parts)
{
    const uint32_t job = job_number(atomic_load(&threads->turn)) + 1u;
    atomic_store(&threads->turn, (uint64_t)job << 32 | parts);
    if (atomic_load(&threads->sleepers) > 0) {
        pthread_mutex_lock(&threads->mutex);
        pthread_cond_broadcast(&threads->work);
        pthread_mutex_unlock(&threads->mutex);
    }
}

static void wait_for_parts(Threads *threads, int parts)
{
    for (int spin = 0; spin < SPINS; spin++) {
        if (atomic_load(&threads->done) == parts) {
            return;
        }
        pause_briefly();
    }
    pthread_mutex_lock(&threads->mutex);
    atomic_store(&threads->caller_sleeps, true);
    while (atomic_load(&threads->done) != parts) {
        pthread_cond_wait(&threads->finished, &threads->mutex);
    }
    atomic_store(&threads->caller_sleeps, false);
    pthread_mutex_unlock(&threads->mutex);
}

void threads_run(Threads *threads, int parts, PartFunction *function, void *context)
{
    if (parts <= 1 || threads->worker_count == 0) {
        for (int part = 0; part < parts; part++) {
            function(context, part, 0);
        }
        return;
    }
    threads->function = function;
    threads->context = context;
    threads->parts = parts;
    atomic_store(&threads->done, 0);
    begin_job(threads, (uint32_t)parts);
    take_parts(threads, 0);
    wait_for_parts(threads, parts);
}

Threads *threads_create(int count)
{
    Threads *threads = aligned_alloc(_Alignof(Threads), sizeof *threads);
    Worker *workers = calloc(count > 1 ? (size_t)count - 1 : 1, sizeof *workers);
    if (threads == NULL || workers == NULL) {
        free(threads);
        free(workers);
        return NULL;
    }
    *threads = (Threads){.count = count > 1 ? count : 1, .workers = workers};
    pthread_mutex_init(&threads->mutex, NULL);
    pthread_cond_init(&threads->work, NULL);
    pthread_cond_init(&threads->finished, NULL);
    // Where the system has no more threads to give, those that there are do all the work.
    for (int w = 0; w < count - 1; w++) {
        workers[w] = (Worker){.threads = threads, .index = w + 1};
        if (pthread_create(&workers[w].handle, NULL, work, &workers[w]) != 0) {
            break;
        }
        threads->worker_count++;
    }
    return threads;
}

void threads_destroy(Threads *threads)
{
    if (threads == NULL) {
        return;
    }
    atomic_store(&threads->ending, true);
    begin_job(threads, 0);
    for (int w = 0; w < threads->worker_count; w++) {
        pthread_join(threads->workers[w].handle, NULL);
    }
    pthread_cond_destroy(&threads->finished);
    pthread_cond_destroy(&threads->work);
    pthread_mutex_destroy(&threads->mutex);
    free(threads->workers);
    free(threads);
}

int threads_count(const Threads *threads)
{
    return threads->count;
}

int threads_available(void)
{
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) == 0 && CPU_COUNT(&usable) > 0) {
        return CPU_COUNT(&usable);
    }
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 0 ? (int)processors : 1;
}
