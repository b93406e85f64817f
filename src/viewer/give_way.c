#define _GNU_SOURCE // SCHED_BATCH
#include "viewer/give_way.h"

#include <sched.h>
#include <sys/resource.h>

void thread_give_way(void)
{
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 10); // on Linux 0 is the thread, and threads inherit it
#ifdef SCHED_BATCH
    // One that wakes up, as those of a solver do at every barrier, does not push the window's thread aside.
    const struct sched_param none = {0};
    sched_setscheduler(0, SCHED_BATCH, &none);
#endif
}
