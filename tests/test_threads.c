// SPDX-License-Identifier: MIT
// test_threads.c - the CPU backend's threads: every part of every job is done once, whether the threads turn, sleep or
// are kept from running, and a job's results are there when it returns.
#define _DEFAULT_SOURCE // usleep
#include "base/threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { PART_LIMIT = 512 };

typedef struct Job {
    int parts, threads;
    uint32_t number;
    uint32_t results[PART_LIMIT]; // not atomic: threads_run is what makes them visible
    atomic_int busy[16];          // parts that a thread is at
    atomic_bool wrong;
} Job;

static void do_part(void *context, int part, int thread)
{
    Job *job = context;
    if (part < 0 || part >= job->parts || thread < 0 || thread >= job->threads ||
        atomic_fetch_add(&job->busy[thread], 1) != 0) {
        atomic_store(&job->wrong, true);
        return;
    }
    job->results[part] += job->number + (uint32_t)part;
    atomic_fetch_sub(&job->busy[thread], 1);
}

static void run_and_check(Threads *threads, Job *job, int parts, uint32_t number)
{
    memset(job->results, 0, sizeof job->results);
    job->parts = parts;
    job->number = number;
    threads_run(threads, parts, do_part, job);
    assert_false(atomic_load(&job->wrong));
    for (int part = 0; part < PART_LIMIT; part++) {
        assert_int_equal(job->results[part], part < parts ? number + (uint32_t)part : 0);
    }
}

static void every_part_is_done_once(void **state)
{
    (void)state;
    for (int count = 1; count <= 9; count += count < 3 ? 1 : 3) {
        Threads *threads = threads_create(count);
        assert_non_null(threads);
        assert_int_equal(threads_count(threads), count);
        Job job = {.threads = count};
        uint32_t random = 7;
        for (uint32_t number = 1; number <= 3000; number++) {
            random = random * 1664525u + 1013904223u;
            run_and_check(threads, &job, (int)(random >> 24), number); // none at all, too
        }
        run_and_check(threads, &job, PART_LIMIT, 1);
        threads_destroy(threads);
    }
}

// Between jobs long enough for all to fall asleep, and while they are about to.
static void sleepers_wake(void **state)
{
    (void)state;
    Threads *threads = threads_create(3);
    Job job = {.threads = 3};
    for (uint32_t number = 1; number <= 300; number++) {
        usleep(number % 3 == 0 ? 2000 : number % 100);
        run_and_check(threads, &job, 24, number);
    }
    threads_destroy(threads);
}

static void sleep_long(void *context, int part, int thread)
{
    (void)thread;
    if (part == 0) {
        usleep(20000);
    }
    atomic_fetch_add((atomic_int *)context, 1);
}

// The caller waits for the slowest part, asleep, and not for longer: threads that are done take the others' parts.
static void slow_parts_are_waited_for(void **state)
{
    (void)state;
    Threads *threads = threads_create(2);
    for (int repeat = 0; repeat < 5; repeat++) {
        atomic_int done = 0;
        struct timespec before, after;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
        threads_run(threads, 64, sleep_long, &done);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
        assert_int_equal(atomic_load(&done), 64);
        const double busy =
            1e3 * (double)(after.tv_sec - before.tv_sec) + 1e-6 * (double)(after.tv_nsec - before.tv_nsec);
        assert_true(busy < 10.0); // of 20 ms that went by
    }
    threads_destroy(threads);
}

static void threads_come_and_go(void **state)
{
    (void)state;
    for (int repeat = 0; repeat < 200; repeat++) {
        Threads *threads = threads_create(1 + repeat % 5);
        Job job = {.threads = 1 + repeat % 5};
        if (repeat % 2 == 0) {
            run_and_check(threads, &job, 10, 1);
        }
        threads_destroy(threads);
    }
    threads_destroy(NULL);
    assert_true(threads_available() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_is_done_once),
        cmocka_unit_test(sleepers_wake),
        cmocka_unit_test(slow_parts_are_waited_for),
        cmocka_unit_test(threads_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
