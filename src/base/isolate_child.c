// SPDX-License-Identifier: MIT
// isolate_child.c - the child's side of isolate.h: its limits, its filter of system calls, what it sends.
#define _GNU_SOURCE
#include "base/isolate_child.h"

#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

enum { STACK_LIMIT = 64 << 20, PIPE_FILE = 3 };

// ---- Sending ---------------------------------------------------------------------------------------------------

static void write_all(int file, struct iovec *parts, int count)
{
    while (count > 0) {
        const ssize_t written = writev(file, parts, count);
        if (written < 0 && errno != EINTR) {
            _exit(EXIT_UNREAD);
        }
        size_t done = written > 0 ? (size_t)written : 0;
        while (count > 0 && done >= parts->iov_len) {
            done -= parts->iov_len;
            parts++;
            count--;
        }
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + done;
            parts->iov_len -= done;
        }
    }
}

static void write_frame(int file, uint32_t kind, const void *bytes, size_t size)
{
    Frame frame = {kind, (uint32_t)size};
    struct iovec parts[2] = {{&frame, sizeof frame}, {(void *)(uintptr_t)bytes, size}};
    write_all(file, parts, 2);
}

static void flush(IsolatePipe *out)
{
    if (out->buffered > 0) {
        write_frame(out->file, FRAME_DATA, out->buffer, out->buffered);
        out->buffered = 0;
    }
}

void isolate_send(IsolatePipe *out, const void *bytes, size_t size)
{
    const char *from = bytes;
    while (size > 0 && out->file >= 0) {
        const size_t room = FRAME_LIMIT - out->buffered, part = size < room ? size : room;
        memcpy(out->buffer + out->buffered, from, part);
        out->buffered += part;
        from += part;
        size -= part;
        if (out->buffered == FRAME_LIMIT) {
            flush(out);
        }
    }
}

static void send_end(int file, MoteResult result)
{
    char end[sizeof(int32_t) + MESSAGE_LIMIT];
    const int32_t code = result;
    const char *message = result != MOTE_OK ? mote_error_message() : "";
    size_t size = strlen(message);
    size = size < MESSAGE_LIMIT ? size : MESSAGE_LIMIT;
    memcpy(end, &code, sizeof code);
    memcpy(end + sizeof code, message, size);
    write_frame(file, FRAME_END, end, sizeof code + size);
}

// ---- Limits ----------------------------------------------------------------------------------------------------

static void lower_limit(int resource, rlim_t soft, rlim_t hard)
{
    struct rlimit limit;
    if (getrlimit((__typeof__(RLIMIT_AS))resource, &limit) == 0) {
        limit.rlim_max = limit.rlim_max < hard ? limit.rlim_max : hard;
        limit.rlim_cur = limit.rlim_cur < soft ? limit.rlim_cur : soft;
        limit.rlim_cur = limit.rlim_cur < limit.rlim_max ? limit.rlim_cur : limit.rlim_max;
        setrlimit((__typeof__(RLIMIT_AS))resource, &limit);
    }
}

// Bytes of addresses in use; 0 where the system does not say.
static rlim_t address_space(void)
{
    unsigned long long pages = 0;
    char text[64] = "";
    const int file = open("/proc/self/statm", O_RDONLY);
    if (file >= 0) {
        const ssize_t size = read(file, text, sizeof text - 1);
        pages = size > 0 ? strtoull(text, NULL, 10) : 0;
        close(file);
    }
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void set_limits(const IsolateLimits *limits)
{
    const rlim_t before = address_space();
    if (!ISOLATE_WATCHES_MEMORY && before > 0) {
        lower_limit(RLIMIT_AS, before + limits->memory, before + limits->memory);
    }
    lower_limit(RLIMIT_CPU, limits->seconds, limits->seconds + 1);
    lower_limit(RLIMIT_STACK, STACK_LIMIT, STACK_LIMIT);
    lower_limit(RLIMIT_CORE, 0, 0);
    lower_limit(RLIMIT_FSIZE, 0, 0);
    lower_limit(RLIMIT_NOFILE, 0, 0);
#ifdef RLIMIT_NPROC
    lower_limit(RLIMIT_NPROC, 0, 0);
#endif
}

// Leaves the pipe as the only file. Without standard streams nothing that a reader prints is seen.
static void close_files(int file)
{
    if (file != PIPE_FILE) {
        dup2(file, PIPE_FILE);
    }
    for (int i = 0; i < PIPE_FILE; i++) {
        close(i);
    }
#if defined(__linux__) && defined(SYS_close_range)
    if (syscall(SYS_close_range, (unsigned)PIPE_FILE + 1, ~0u, 0u) == 0) {
        return;
    }
#endif
    const long most = sysconf(_SC_OPEN_MAX);
    for (int i = PIPE_FILE + 1; i < (most > 0 && most < 65536 ? most : 65536); i++) {
        close(i);
    }
}

static void reset_signals(void)
{
    for (int s = 1; s < NSIG; s++) {
        signal(s, SIG_DFL);
    }
    signal(SIGPIPE, SIG_IGN); // writing fails instead
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

// Readers allocate many megabytes (assimp's OBJ reader fills 16 MB for any file). In a new process each page of them is
// a fault; large pages make that 500 times fewer.
static void warm_heap(const IsolateLimits *limits)
{
#if defined(__GLIBC__) && defined(MADV_HUGEPAGE) && !ISOLATE_WATCHES_MEMORY
    enum { LARGE_PAGE = 2 << 20 };
    const size_t size = (size_t)(limits->memory / 4);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, LARGE_PAGE);
#if __GLIBC_PREREQ(2, 33)
    // What the parent had freed at the end of its heap would be copied page by page where the child writes: new pages
    // are quicker to have.
    const size_t old_size = mallinfo2().keepcost, margin = 4096;
    void *volatile old = old_size > margin ? malloc(old_size - margin) : NULL; // for good
    (void)old;
#endif
    char *room = malloc(size);
    if (room != NULL) {
        char *first = room + (LARGE_PAGE - (uintptr_t)room % LARGE_PAGE) % LARGE_PAGE;
        madvise(first, (size_t)(room + size - first) / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
        free(room);
    }
#else
    (void)limits;
#endif
}

// ---- System calls ----------------------------------------------------------------------------------------------

#if defined(__linux__) && defined(__x86_64__)
#define FILTER_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__linux__) && defined(__aarch64__)
#define FILTER_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef FILTER_ARCHITECTURE
// What computing takes, by any allocator.
static const int allowed[] = {
    SYS_read,
    SYS_write,
    SYS_writev,
    SYS_brk,
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_exit,
    SYS_exit_group,
    SYS_rt_sigreturn,
    SYS_rt_sigprocmask,
    SYS_rt_sigaction,
    SYS_getpid,
    SYS_gettid,
    SYS_getppid,
    SYS_getuid,
    SYS_clock_gettime,
    SYS_gettimeofday,
    SYS_getrusage,
    SYS_clock_getres,
    SYS_sigaltstack,
    SYS_getrandom,
    SYS_sched_getaffinity,
    SYS_restart_syscall,
    SYS_set_robust_list,
};

// What libraries ask for in passing and can do without: they are told no.
static const int refused[] = {
    SYS_close, SYS_fstat, SYS_newfstatat, SYS_statx,     SYS_faccessat, SYS_readlinkat, SYS_getcwd,  SYS_lseek,
    SYS_ioctl, SYS_fcntl, SYS_uname,      SYS_prlimit64, SYS_sysinfo,   SYS_prctl,      SYS_pread64,
#ifdef SYS_stat
    SYS_stat,  SYS_lstat, SYS_access,     SYS_readlink,
#endif
};
// clang-format off
enum { FILTER_SIZE = 160 };

typedef struct Filter {
    struct sock_filter code[FILTER_SIZE];
    unsigned short size;
} Filter;

static void add(Filter *filter, struct sock_filter instruction)
{
    MOTE_ASSERT(filter->size < FILTER_SIZE);
    filter->code[filter->size++] = instruction;
}

#define ADD_STATEMENT(...) add(filter, (struct sock_filter)BPF_STMT(__VA_ARGS__))
#define ADD_JUMP(...) add(filter, (struct sock_filter)BPF_JUMP(__VA_ARGS__))
#define REFUSE (SECCOMP_RET_ERRNO | (EACCES & SECCOMP_RET_DATA))
// clang-format on

static void add_call(Filter *filter, int call, uint32_t action)
{
    ADD_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1);
    ADD_STATEMENT(BPF_RET | BPF_K, action);
}

static uint32_t argument(int index)
{
    return (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (size_t)index); // its lower half: little-endian
}

// By any of these bits in an argument.
static void add_bits(Filter *filter, int call, int index, uint32_t bits, uint32_t set, uint32_t clear)
{
    ADD_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4);
    ADD_STATEMENT(BPF_LD | BPF_W | BPF_ABS, argument(index));
    ADD_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    ADD_STATEMENT(BPF_RET | BPF_K, set);
    ADD_STATEMENT(BPF_RET | BPF_K, clear);
}

// By an argument's value, after `mask`.
static void add_value(Filter *filter, int call, int index, uint32_t mask, uint32_t value)
{
    ADD_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 5);
    ADD_STATEMENT(BPF_LD | BPF_W | BPF_ABS, argument(index));
    ADD_STATEMENT(BPF_ALU | BPF_AND | BPF_K, mask);
    ADD_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    ADD_STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    ADD_STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
}

// A call that is not allowed comes here.
static void on_trap(int number, siginfo_t *info, void *machine)
{
    (void)number, (void)machine;
    const bool waits = info->si_syscall == SYS_futex || info->si_syscall == SYS_sched_yield;
    _exit(waits ? EXIT_LOCKED : EXIT_FORBIDDEN);
}

static void filter_calls(void)
{
    const uint32_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
    Filter storage = {.size = 0}, *filter = &storage;
    ADD_STATEMENT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, arch));
    ADD_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_ARCHITECTURE, 1, 0);
    ADD_STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    ADD_STATEMENT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
        add_call(filter, allowed[i], SECCOMP_RET_ALLOW);
    }
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        add_call(filter, refused[i], REFUSE);
    }
    add_bits(filter, SYS_mmap, 2, PROT_EXEC, REFUSE, SECCOMP_RET_ALLOW);
    add_bits(filter, SYS_mprotect, 2, PROT_EXEC, REFUSE, SECCOMP_RET_ALLOW);
    add_bits(filter, SYS_openat, 2, writing, SECCOMP_RET_TRAP, REFUSE);
#ifdef SYS_open
    add_bits(filter, SYS_open, 1, writing, SECCOMP_RET_TRAP, REFUSE);
#endif
    add_value(filter, SYS_futex, 1, (uint32_t)FUTEX_CMD_MASK, FUTEX_WAKE);
    add_value(filter, SYS_tgkill, 0, UINT32_MAX, (uint32_t)getpid()); // abort() signals itself
    ADD_STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);

    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &action, NULL);
    const struct sock_fprog program = {filter->size, filter->code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program); // a kernel without it leaves the other limits
    }
}
#else
static void filter_calls(void)
{
}
#endif

void isolate_work(int file, char *buffer, IsolateWork *work, void *context)
{
    IsolatePipe out = {.file = file, .buffer = buffer};
    const MoteResult result = work(context, &out);
    flush(&out);
    send_end(file, result);
}

_Noreturn void isolate_child(int file, int parent, char *buffer, const IsolateLimits *limits, IsolateWork *work,
                             void *context)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    const pid_t now = getppid();
    if (now != parent && now != 0) { // it died before this was set; 0: it is in another namespace
        _exit(EXIT_UNREAD);
    }
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#else
    (void)parent;
#endif
    // Nothing here takes a lock before the filter is there to see it: above all, nothing allocates.
    reset_signals();
    close_files(file);
    set_limits(limits);
    filter_calls();
    warm_heap(limits);
    isolate_work(PIPE_FILE, buffer, work, context);
    _exit(EXIT_DONE);
}
