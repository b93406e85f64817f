#define _XOPEN_SOURCE 700 // setpriority
#include "viewer/give_way.h"

#include <sys/resource.h>

void thread_give_way(void)
{
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 5); // on Linux 0 is the thread, and threads inherit it
}
