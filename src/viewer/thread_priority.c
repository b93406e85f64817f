// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // syscall
#include "viewer/thread_priority.h"

#include <stdint.h>
#include <sys/resource.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

// How long the thread would like to run at a time, ns. Linux from 6.12 on lets those that want less have it sooner, at
// no more than their share; elsewhere nothing happens. glibc 2.36 has neither the call nor its struct.
static void set_slice(uint64_t nanoseconds)
{
#ifdef SYS_sched_setattr
    const struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = {sizeof attributes, 0, 0, getpriority(PRIO_PROCESS, 0), 0, nanoseconds, 0, 0};
    syscall(SYS_sched_setattr, 0, &attributes, 0);
#else
    (void)nanoseconds;
#endif
}

void thread_raise_priority(void)
{
    set_slice(500000);
}

void thread_lower_priority(void)
{
    // On Linux 0 is the thread, and threads inherit it. With 5 less, the window's thread waited up to 110 ms for a
    // core.
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 15);
    set_slice(10000000);
}
