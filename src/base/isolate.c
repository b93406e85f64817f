// SPDX-License-Identifier: MIT
// isolate.c - the parent's side of isolate.h: starts the child, reads what it sends, says how it ended.
#define _GNU_SOURCE
#include "base/isolate.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/isolate_child.h"
#include "base/stop.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CLOCK_PER_CPU = 3, ATTEMPTS = 16, PIPE_SIZE = 1 << 20 };
#define PATIENCE 2.0                               // s
enum { LOOK_INTERVAL = 100, WATCH_INTERVAL = 10 }; // ms

// ---- Receiving -------------------------------------------------------------------------------------------------

// Bytes that the child has in memory, 0 where the system does not say.
static uint64_t memory_of(int child)
{
    char path[64], text[64] = "";
    snprintf(path, sizeof path, "/proc/%d/statm", child);
    FILE *stream = fopen(path, "re");
    if (stream == NULL) {
        return 0;
    }
    unsigned long long all = 0, resident = 0;
    const bool known = fgets(text, sizeof text, stream) != NULL && sscanf(text, "%llu %llu", &all, &resident) == 2;
    fclose(stream);
    return known ? resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static bool is_gone(const IsolatePipe *in)
{
    siginfo_t info = {.si_pid = 0};
    const int result = waitid(P_PID, (id_t)in->child, &info, WEXITED | WNOHANG | WNOWAIT);
    return result == 0 ? info.si_pid == in->child : errno == ECHILD;
}

// Waits until there is something to read; false once there will be nothing more.
static bool wait_for_bytes(IsolatePipe *in)
{
    for (bool gone = false;;) {
        const double left = in->deadline - clock_seconds();
        if (left <= 0.0) {
            in->timed_out = true;
            return false;
        }
        if (stop_asked()) {
            in->stopped = true;
            return false;
        }
        const int longest = in->memory > 0 ? WATCH_INTERVAL : LOOK_INTERVAL;
        struct pollfd poll_file = {.fd = in->file, .events = POLLIN};
        const int ready = poll(&poll_file, 1, left * 1e3 < longest ? (int)(left * 1e3) + 1 : longest);
        if (ready > 0) {
            return true;
        }
        if (ready < 0 && errno != EINTR && errno != EAGAIN) {
            return false;
        }
        if (in->child == 0) {
            continue;
        }
        // A process that the host forked in between may keep the pipe open after the child's end: look for that, too,
        // and once more for what was written before it.
        if (gone) {
            return false;
        }
        gone = is_gone(in);
        if (in->memory > 0 && memory_of(in->child) > in->memory_at_start + in->memory) {
            in->too_large = true;
            return false;
        }
    }
}

// False where the child's bytes end before.
static bool read_bytes(IsolatePipe *in, void *bytes, size_t size)
{
    char *to = bytes;
    while (size > 0) {
        if (!wait_for_bytes(in)) {
            in->cut = true;
            return false;
        }
        const ssize_t got = read(in->file, to, size);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
            in->cut = true;
            return false;
        }
        if (got > 0) {
            to += got;
            size -= (size_t)got;
        }
    }
    return true;
}

// The child may be anybody's by now: its sentence has no control characters, and begins with the name.
static MoteResult pass_on(const IsolatePipe *in, int32_t code, char *message)
{
    for (char *c = message; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = ' ';
        }
    }
    const MoteResult result = code == MOTE_ERROR_MEMORY || code == MOTE_ERROR_IO ? (MoteResult)code : MOTE_ERROR_INPUT;
    const bool named = strncmp(message, in->name, strlen(in->name)) == 0;
    return named ? mote_fail(result, "%s", message) : mote_fail(result, "%s: %s: %s", in->name, in->purpose, message);
}

// Reads the next frame's head; of the last one the rest, too. A failure of the child fails here.
static MoteResult next_frame(IsolatePipe *in)
{
    Frame frame;
    in->ended = true; // unless there is more
    if (!read_bytes(in, &frame, sizeof frame)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: %s: its importer ended before it was done", in->name, in->purpose);
    }
    if (frame.kind == FRAME_DATA && frame.size > 0 && frame.size <= FRAME_LIMIT) {
        in->left = frame.size;
        in->ended = false;
        return MOTE_OK;
    }
    int32_t code;
    char message[MESSAGE_LIMIT + 1] = "";
    if (frame.kind != FRAME_END || frame.size < sizeof code || frame.size > sizeof code + MESSAGE_LIMIT ||
        !read_bytes(in, &code, sizeof code) || !read_bytes(in, message, frame.size - sizeof code)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: %s: its importer sent what is no answer", in->name, in->purpose);
    }
    return code == MOTE_OK ? MOTE_OK : pass_on(in, code, message);
}

MoteResult isolate_receive(IsolatePipe *in, void *bytes, size_t size)
{
    char *to = bytes;
    while (size > 0) {
        if (in->left == 0 && !in->ended) {
            const MoteResult result = next_frame(in);
            if (result != MOTE_OK) {
                return result;
            }
        }
        const size_t part = size < in->left ? size : (size_t)in->left;
        if (part == 0 || !read_bytes(in, to, part)) {
            in->ended = true;
            return mote_fail(MOTE_ERROR_INPUT, "%s: %s: its importer sent %zu bytes less than it said", in->name,
                             in->purpose, size);
        }
        to += part;
        size -= part;
        in->left -= part;
        in->received = true;
    }
    return MOTE_OK;
}

// After `take` has all it wanted: the child must have nothing more to say than that it succeeded.
static MoteResult receive_end(IsolatePipe *in)
{
    MoteResult result = in->left == 0 && !in->ended ? next_frame(in) : MOTE_OK;
    if (result == MOTE_OK && (in->left > 0 || !in->ended)) {
        result = mote_fail(MOTE_ERROR_INPUT, "%s: %s: its importer sent more than it said", in->name, in->purpose);
    }
    return result;
}

MoteResult isolate_take(IsolatePipe *in, IsolateTake *take, void *context)
{
    const MoteResult result = take(context, in);
    return result == MOTE_OK ? receive_end(in) : result;
}

// ---- How it ended ----------------------------------------------------------------------------------------------

// The child's status once it is gone; -1 where the host has taken it.
static int see_off(const IsolatePipe *in)
{
    // One whose pipe has ended is about to end by itself, and how is worth knowing. All others have no business any
    // more.
    const double patience =
        clock_seconds() + (in->cut && !in->timed_out && !in->too_large && !in->stopped ? PATIENCE : 0.0);
    bool gone = is_gone(in);
    while (!gone && clock_seconds() < patience) {
        poll(NULL, 0, 1);
        gone = is_gone(in);
    }
    if (!gone) {
        kill(in->child, SIGKILL);
    }
    int status = -1;
    pid_t result;
    do {
        result = waitpid(in->child, &status, 0);
    } while (result < 0 && errno == EINTR);
    return result == in->child ? status : -1;
}

static const char *signal_name(int number)
{
    return number == SIGSEGV   ? "segmentation fault"
           : number == SIGABRT ? "it aborted"
           : number == SIGBUS  ? "bus error"
           : number == SIGFPE  ? "arithmetic error"
           : number == SIGILL  ? "illegal instruction"
           : number == SIGTRAP ? "trap"
                               : NULL;
}

static MoteResult fail_by_memory(const IsolatePipe *in, const IsolateLimits *limits)
{
    return mote_fail(MOTE_ERROR_MEMORY, "%s: %s: it needs more than %llu MB of memory", in->name, in->purpose,
                     (unsigned long long)(limits->memory >> 20));
}

static MoteResult fail_by_time(const IsolatePipe *in, uint32_t seconds)
{
    return mote_fail(MOTE_ERROR_INPUT, "%s: %s: it took more than %u s", in->name, in->purpose, seconds);
}

// What the end of the child says, where that is more than `result`, which reading gave.
static MoteResult judge(const IsolatePipe *in, const IsolateLimits *limits, int status, MoteResult result)
{
    // An interrupt from the terminal goes to the child, too, which may be gone before anybody was asked.
    if (in->stopped || (status != -1 && WIFSIGNALED(status) && stop_asked())) {
        return stop_fail();
    }
    if (in->too_large) {
        return fail_by_memory(in, limits);
    }
    if (in->timed_out) {
        return fail_by_time(in, limits->seconds * CLOCK_PER_CPU);
    }
    if (status == -1) {
        return result;
    }
    if (WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        if (number == SIGXCPU) {
            return fail_by_time(in, limits->seconds);
        }
        if (number == SIGSYS) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: %s: its importer made a system call that none needs", in->name,
                             in->purpose);
        }
        if (number == SIGKILL) {
            return mote_fail(MOTE_ERROR_MEMORY, "%s: %s: the system ended its importer, as it does without memory",
                             in->name, in->purpose);
        }
        const char *name = signal_name(number);
        return name != NULL
                   ? mote_fail(MOTE_ERROR_INPUT, "%s: %s: its importer crashed (%s)", in->name, in->purpose, name)
                   : mote_fail(MOTE_ERROR_INPUT, "%s: %s: its importer was ended by signal %d", in->name, in->purpose,
                               number);
    }
    if (WEXITSTATUS(status) == EXIT_FORBIDDEN) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: %s: its importer made a system call that none needs", in->name,
                         in->purpose);
    }
    if (WEXITSTATUS(status) == EXIT_LOCKED) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: %s: its importer waited for a lock of this program, %d times", in->name,
                         in->purpose, ATTEMPTS);
    }
    return result;
}

// ---- Running ---------------------------------------------------------------------------------------------------

static int open_pipe(int ends[2])
{
#ifdef __linux__
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    (void)fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE); // fewer turns; less is fine
    return 0;
#else
    return pipe(ends);
#endif
}

// The child's process, or -1. No signal handler of the host's runs in it.
static int start(int ends[2], char *buffer, const IsolateLimits *limits, IsolateWork *work, void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int parent = (int)getpid();
    const int child = (int)fork();
    if (child == 0) {
        isolate_child(ends[1], parent, buffer, limits, work, context);
    }
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return child;
}

// One attempt. `again` says that the child met a lock before it sent anything.
static MoteResult attempt(const char *name, const char *purpose, const IsolateLimits *limits, IsolateWork *work,
                          IsolateTake *take, void *context, bool *again)
{
    int ends[2];
    *again = false;
    if (open_pipe(ends) != 0) {
        return mote_fail(MOTE_ERROR_IO, "%s: %s: no pipe to its importer: %s", name, purpose, strerror(errno));
    }
    char *buffer = malloc(FRAME_LIMIT);
    const int child = buffer != NULL ? start(ends, buffer, limits, work, context) : -1;
    const int error = errno;
    free(buffer);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return mote_fail(error == ENOMEM ? MOTE_ERROR_MEMORY : MOTE_ERROR_IO,
                         "%s: %s: no process for its importer could be started: %s", name, purpose, strerror(error));
    }
    IsolatePipe in = {.file = ends[0],
                      .name = name,
                      .purpose = purpose,
                      .deadline = clock_seconds() + (double)limits->seconds * CLOCK_PER_CPU,
                      .memory = ISOLATE_WATCHES_MEMORY ? limits->memory : 0,
                      .child = child};
    in.memory_at_start = in.memory > 0 ? memory_of(child) : 0;
    const MoteResult result = isolate_take(&in, take, context);
    close(in.file);
    const int status = see_off(&in);
    *again = status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_LOCKED && !in.received;
    return in.cut ? judge(&in, limits, status, result) : result;
}

IsolateLimits isolate_limits_of(uint64_t file_size)
{
    const uint64_t base = (uint64_t)256 << 20, most = (uint64_t)16 << 30, memory = base + 40 * file_size;
    return (IsolateLimits){.memory = memory < most ? memory : most, .seconds = 10 + (uint32_t)(file_size >> 22)};
}

MoteResult isolate(const char *name, const char *purpose, const IsolateLimits *limits, IsolateWork *work,
                   IsolateTake *take, void *context)
{
    MoteResult result = MOTE_OK;
    bool again = true;
    for (int i = 0; i < ATTEMPTS && again; i++) {
        result = attempt(name, purpose, limits, work, take, context, &again);
    }
    return result;
}
