// SPDX-License-Identifier: MIT
// isolate.h with planted importers: whatever one does, this process gets one clear error, soon.
#define _GNU_SOURCE
#include "backends.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/isolate.h"
#include "base/isolate_child.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NUMBERS = 100000, MEGABYTE = 1 << 20 };
static const IsolateLimits usual = {64 * MEGABYTE, 1};

typedef struct ContactResponse {
    uint32_t numbers[NUMBERS];
    uint32_t wanted;
} ContactResponse;

static ContactResponse answer;

static MoteResult take_numbers(void *context, IsolatePipe *in)
{
    ContactResponse *out = context;
    return isolate_receive(in, out->numbers, out->wanted * sizeof *out->numbers);
}

static MoteResult run(IsolateWork *work, uint32_t wanted)
{
    answer.wanted = wanted;
    return isolate("bunny.fbx", "cannot be read as a mesh", &usual, work, take_numbers, &answer);
}

// The planted importer must give this error, within `seconds`.
static void expect_end(IsolateWork *work, MoteResult result, const char *text, double seconds)
{
    const double start = clock_seconds();
    expect_error(run(work, NUMBERS), result, text);
    assert_int_equal(strncmp(mote_error_message(), "bunny.fbx: ", 11), 0);
    assert_true(clock_seconds() - start < seconds);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); // no zombie
    assert_int_equal(errno, ECHILD);
}

// ---- Importers ----

static MoteResult count_up(void *context, IsolatePipe *out)
{
    (void)context;
    for (uint32_t i = 0; i < NUMBERS; i++) {
        isolate_send(out, &i, sizeof i);
    }
    return MOTE_OK;
}

static MoteResult refuse(void *context, IsolatePipe *out)
{
    (void)context, (void)out;
    return mote_fail(MOTE_ERROR_INPUT, "bunny.fbx: line 3: found a \033[31mfox\n");
}

static MoteResult lack_memory(void *context, IsolatePipe *out)
{
    (void)context, (void)out;
    return mote_fail(MOTE_ERROR_MEMORY, "nothing left");
}

static MoteResult abort_loudly(void *context, IsolatePipe *out)
{
    (void)context, (void)out;
    fprintf(stderr, "test_isolate: planted.c:1: Assertion `false' failed.\n");
    abort();
}

static MoteResult follow_null(void *context, IsolatePipe *out)
{
    (void)context, (void)out;
    volatile int *volatile nowhere = (volatile int *)16; // not 0, where the sanitizers look first
    return *nowhere == 0 ? MOTE_OK : MOTE_ERROR_IO;
}

static uint32_t recurse(volatile uint32_t *depth)
{
    volatile char room[1000];
    room[0] = (char)*depth;
    *depth += 1;
    return *depth > 0 ? recurse(depth) + (uint32_t)room[0] : 0;
}

static MoteResult overflow_the_stack(void *context, IsolatePipe *out)
{
    (void)context, (void)out;
    volatile uint32_t depth = 1;
    return recurse(&depth) == 0 ? MOTE_OK : MOTE_ERROR_IO;
}

static MoteResult loop_for_ever(void *context, IsolatePipe *out)
{
    (void)context, (void)out;
    for (volatile uint64_t i = 1; i > 0; i++) {}
    return MOTE_OK;
}

static MoteResult eat_memory(void *context, IsolatePipe *out)
{
    (void)context, (void)out;
    for (;;) {
        char *bytes = malloc(MEGABYTE);
        if (bytes == NULL) {
            return mote_fail(MOTE_ERROR_MEMORY, "bunny.fbx: no memory for a planted importer");
        }
        memset(bytes, 1, MEGABYTE);
    }
}

static MoteResult send_too_little(void *context, IsolatePipe *out)
{
    (void)context;
    isolate_send(out, answer.numbers, 12);
    return MOTE_OK;
}

static MoteResult send_too_much(void *context, IsolatePipe *out)
{
    count_up(context, out);
    return count_up(context, out);
}

static MoteResult send_without_end(void *context, IsolatePipe *out)
{
    while (count_up(context, out) == MOTE_OK) {}
    return MOTE_OK;
}

static MoteResult send_garbage(void *context, IsolatePipe *out)
{
    (void)context;
    const char text[] = "neither data nor the end of it";
    return write(out->file, text, sizeof text) > 0 ? MOTE_OK : MOTE_ERROR_IO;
}

static MoteResult send_a_huge_frame(void *context, IsolatePipe *out)
{
    (void)context;
    const Frame frame = {FRAME_DATA, UINT32_MAX};
    return write(out->file, &frame, sizeof frame) > 0 ? MOTE_OK : MOTE_ERROR_IO;
}

static MoteResult leave_early(void *context, IsolatePipe *out)
{
    isolate_send(out, context, 4);
    _exit(0);
}

static MoteResult open_a_socket(void *context, IsolatePipe *out)
{
    (void)context, (void)out;
    socket(AF_INET, SOCK_STREAM, 0);
    return mote_fail(MOTE_ERROR_INPUT, "went on after a socket");
}

static MoteResult write_a_file(void *context, IsolatePipe *out)
{
    (void)context, (void)out;
    const int file = open(MOTE_BINARY_DIR "/planted_by_an_importer", O_WRONLY | O_CREAT, 0600);
    return mote_fail(MOTE_ERROR_INPUT, "went on after opening file %d to write", file);
}

static MoteResult read_a_file(void *context, IsolatePipe *out)
{
    (void)context, (void)out;
    const int file = open("/etc/passwd", O_RDONLY);
    return mote_fail(MOTE_ERROR_INPUT, file < 0 ? "could not open it" : "opened it");
}

static MoteResult use_other_files(void *context, IsolatePipe *out)
{
    (void)context;
    uint32_t open_files = 0;
    for (int i = 0; i < 1024; i++) {
        open_files += i != out->file && write(i, "x", 0) == 0;
    }
    return mote_fail(MOTE_ERROR_INPUT, "found %u other files", open_files);
}

static MoteResult start_a_process(void *context, IsolatePipe *out)
{
    (void)context, (void)out;
    fork();
    return mote_fail(MOTE_ERROR_INPUT, "went on after a fork");
}

static MoteResult run_a_program(void *context, IsolatePipe *out)
{
    (void)context, (void)out;
    char *arguments[] = {"true", NULL};
    execv("/bin/true", arguments);
    return mote_fail(MOTE_ERROR_INPUT, "went on after exec");
}

static MoteResult kill_the_parent(void *context, IsolatePipe *out)
{
    (void)context, (void)out;
    kill(getppid(), SIGTERM);
    return mote_fail(MOTE_ERROR_INPUT, "went on after a kill");
}

static MoteResult sleep_long(void *context, IsolatePipe *out)
{
    (void)context, (void)out;
    sleep(1000);
    return mote_fail(MOTE_ERROR_INPUT, "went on after a sleep");
}

static MoteResult die_of_an_interrupt(void *context, IsolatePipe *out)
{
    (void)context, (void)out;
    raise(SIGINT);
    return mote_fail(MOTE_ERROR_INPUT, "went on after an interrupt");
}

// ---- Tests ----

static void bytes_arrive(void **state)
{
    (void)state;
    memset(&answer, 0, sizeof answer);
    expect_ok(run(count_up, NUMBERS));
    for (uint32_t i = 0; i < NUMBERS; i++) {
        assert_int_equal(answer.numbers[i], i);
    }
}

static void errors_arrive(void **state)
{
    (void)state;
    expect_end(refuse, MOTE_ERROR_INPUT, "bunny.fbx: line 3: found a  [31mfox ", 5.0); // no control characters
    expect_end(lack_memory, MOTE_ERROR_MEMORY, "bunny.fbx: cannot be read as a mesh: nothing left", 5.0);
}

static void crashes_are_errors(void **state)
{
    (void)state;
    expect_end(abort_loudly, MOTE_ERROR_INPUT, "its importer crashed (it aborted)", 5.0);
    expect_end(follow_null, MOTE_ERROR_INPUT, "its importer crashed (segmentation fault)", 5.0);
    expect_end(overflow_the_stack, MOTE_ERROR_INPUT, "its importer crashed (segmentation fault)", 5.0);
}

static void loops_end(void **state)
{
    (void)state;
    expect_end(loop_for_ever, MOTE_ERROR_INPUT, "it took more than", 10.0);
}

static void memory_has_an_end(void **state)
{
    (void)state;
    expect_end(eat_memory, MOTE_ERROR_MEMORY, "memory", 5.0);
}

static void wrong_answers_are_errors(void **state)
{
    (void)state;
    expect_end(send_too_little, MOTE_ERROR_INPUT, "less than it said", 5.0);
    expect_end(send_too_much, MOTE_ERROR_INPUT, "more than it said", 5.0);
    expect_end(send_without_end, MOTE_ERROR_INPUT, "more than it said", 5.0);
    expect_end(send_garbage, MOTE_ERROR_INPUT, "sent what is no answer", 5.0);
    expect_end(send_a_huge_frame, MOTE_ERROR_INPUT, "sent what is no answer", 5.0);
    expect_end(leave_early, MOTE_ERROR_INPUT, "ended before it was done", 5.0);
}

static void importers_have_only_their_pipe(void **state)
{
    (void)state;
    expect_end(use_other_files, MOTE_ERROR_INPUT, "found 0 other files", 5.0);
    expect_end(read_a_file, MOTE_ERROR_INPUT, "could not open it", 5.0);
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
    IsolateWork *const forbidden[] = {open_a_socket, write_a_file,    start_a_process,
                                      run_a_program, kill_the_parent, sleep_long};
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++) {
        expect_end(forbidden[i], MOTE_ERROR_INPUT, "a system call that none needs", 5.0);
    }
    assert_int_equal(access(MOTE_BINARY_DIR "/planted_by_an_importer", F_OK), -1);
#endif
}

// Says yes after some questions and some time.
typedef struct Asking {
    uint32_t questions, patience;
    double from; // s, on the clock
} Asking;

static bool ask(void *context)
{
    Asking *asking = context;
    return asking->questions++ >= asking->patience && clock_seconds() >= asking->from;
}

// Long before the limit of time, which is ten minutes here on the clock.
static void expect_stop(IsolateWork *work, uint32_t patience, double delay)
{
    const IsolateLimits limits = {64 * MEGABYTE, 200};
    Asking asking = {.patience = patience, .from = clock_seconds() + delay};
    answer.wanted = NUMBERS;
    mote_stop_when(ask, &asking);
    const MoteResult result = isolate("bunny.fbx", "cannot be read as a mesh", &limits, work, take_numbers, &answer);
    mote_stop_when(NULL, NULL);
    const double late = clock_seconds() - asking.from;
    expect_error(result, MOTE_ERROR_STOPPED, "stopped before it was done");
    assert_true(late < 2.0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); // the child is gone, too
    assert_int_equal(errno, ECHILD);
}

static void importers_stop(void **state)
{
    (void)state;
    expect_stop(loop_for_ever, 0, 0.0);
    expect_stop(loop_for_ever, 2, 0.3);
    // An interrupt from the terminal may end the child before its parent is asked again.
    expect_end(die_of_an_interrupt, MOTE_ERROR_INPUT, "ended by signal 2", 5.0);
    expect_stop(die_of_an_interrupt, 1, 0.0);
}

// ---- Hosts ----

static void a_host_may_ignore_its_children(void **state)
{
    (void)state;
    signal(SIGCHLD, SIG_IGN);
    expect_ok(run(count_up, NUMBERS));
    expect_end(follow_null, MOTE_ERROR_INPUT, "ended before it was done", 5.0);
    expect_end(refuse, MOTE_ERROR_INPUT, "line 3", 5.0);
    expect_end(loop_for_ever, MOTE_ERROR_INPUT, "", 10.0);
    signal(SIGCHLD, SIG_DFL);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile bool stop;

static MoteResult use_the_lock(void *context, IsolatePipe *out)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return count_up(context, out);
}

// Holds the lock most of the time: some forks find it held, and never free again.
static void *hold_the_lock(void *context)
{
    while (!stop) {
        pthread_mutex_lock(&lock);
        usleep(300);
        pthread_mutex_unlock(&lock);
        usleep(300);
    }
    return context;
}

static void a_lock_held_elsewhere_is_no_deadlock(void **state)
{
    (void)state;
    pthread_t thread;
    stop = false;
    assert_int_equal(pthread_create(&thread, NULL, hold_the_lock, NULL), 0);
    const double start = clock_seconds();
    for (int i = 0; i < 20; i++) {
        const MoteResult result = run(use_the_lock, NUMBERS);
        if (result != MOTE_OK) { // held at all forks
            assert_non_null(strstr(mote_error_message(), "waited for a lock of this program"));
        }
    }
    stop = true;
    pthread_join(thread, NULL);
    assert_true(clock_seconds() - start < 10.0);
    pthread_mutex_lock(&lock); // and one that is never let go
    expect_error(run(use_the_lock, NUMBERS), MOTE_ERROR_INPUT, "waited for a lock of this program");
    pthread_mutex_unlock(&lock);
}

// Threads that allocate all the time, beside threads that import.
static void *allocate(void *context)
{
    for (uint32_t i = 0; !stop; i++) {
        char *volatile bytes = malloc(16 + i % 100000);
        free(bytes);
        if (i % 64 == 0) {
            usleep(50);
        }
    }
    return context;
}

static void *import_often(void *context)
{
    uint32_t *failed = context;
    ContactResponse *own = malloc(sizeof *own);
    for (int i = 0; i < 20 && own != NULL; i++) {
        own->wanted = NUMBERS;
        memset(own->numbers, 0, sizeof own->numbers);
        const IsolateLimits limits = {64 * MEGABYTE, 5};
        const MoteResult result = isolate("busy", "cannot be read", &limits, count_up, take_numbers, own);
        *failed += result != MOTE_OK || own->numbers[NUMBERS - 1] != NUMBERS - 1;
    }
    free(own);
    return NULL;
}

static void threads_may_import_at_once(void **state)
{
    (void)state;
    pthread_t busy[2], importing[3];
    uint32_t failed[3] = {0};
    stop = false;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&busy[i], NULL, allocate, NULL), 0);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&importing[i], NULL, import_often, &failed[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(importing[i], NULL);
        assert_int_equal(failed[i], 0);
    }
    stop = true;
    for (int i = 0; i < 2; i++) {
        pthread_join(busy[i], NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_arrive),
        cmocka_unit_test(errors_arrive),
        cmocka_unit_test(crashes_are_errors),
        cmocka_unit_test(loops_end),
        cmocka_unit_test(memory_has_an_end),
        cmocka_unit_test(wrong_answers_are_errors),
        cmocka_unit_test(importers_have_only_their_pipe),
        cmocka_unit_test(importers_stop),
        cmocka_unit_test(a_host_may_ignore_its_children),
        cmocka_unit_test(a_lock_held_elsewhere_is_no_deadlock),
        cmocka_unit_test(threads_may_import_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
