// SPDX-License-Identifier: MIT
// worker.c - runs a fuzz target whose reader may crash in a worker process that lives for many inputs. isolate() forks
// a process for each file, which under the sanitizers takes longer than all else; in the worker it is replaced (linker
// option --wrap) by one that calls the importer and the receiver after one another. An importer that crashes, loops or
// takes all memory ends the worker: that is what the true isolate() is for, so it is counted, and a new worker goes on.
// Anything else that ends the worker is a finding. The worker's coverage is handed to libFuzzer with its answer.
#define FUZZ_WITHOUT_TARGET
#include "fuzz.h"
#include "base/clock.h"
#include "base/isolate_child.h"
#include <errno.h>
#include <poll.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

enum { LARGEST = 1 << 20, INPUTS = 2000, LOOK_INTERVAL = 20, EXIT_LEAK = 55 }; // bytes; of a worker; ms
#define IMPORT_SECONDS 2.0                                                     // of CPU time
#define IMPORT_MEMORY  ((uint64_t)1 << 30)                                     // bytes

typedef struct Shared {
    _Atomic bool importing;
    size_t size;
    uint8_t data[LARGEST];
    uint8_t counters[LARGEST]; // of the worker, for the last input
} Shared;

extern uint8_t __start___sancov_cntrs[], __stop___sancov_cntrs[]; // edges, counted by instrumented code

static Shared *shared;
static int worker, to_worker, from_worker;
static uint32_t inputs; // that the worker has had
static uint32_t workers, crashed, slow, large;

static size_t counter_count(void)
{
    const size_t count = (size_t)(__stop___sancov_cntrs - __start___sancov_cntrs);
    return count < LARGEST ? count : LARGEST;
}

// ---- In the worker ----

MoteResult __wrap_isolate(const char *name, const char *purpose, const IsolateLimits *limits, IsolateWork *work,
                          IsolateTake *take, void *context);
MoteResult __wrap_isolate(const char *name, const char *purpose, const IsolateLimits *limits, IsolateWork *work,
                          IsolateTake *take, void *context)
{
    (void)limits;
    static char buffer[FRAME_LIMIT];
    const int file = memfd_create("importer", 0);
    FUZZ_CHECK(file >= 0);
    __lsan_disable(); // a process of its own would not be looked at
    shared->importing = true;
    isolate_work(file, buffer, work, context);
    shared->importing = false;
    __lsan_enable();
    lseek(file, 0, SEEK_SET);
    IsolatePipe in = {.file = file, .name = name, .purpose = purpose, .deadline = clock_seconds() + 1e3};
    const MoteResult result = isolate_take(&in, take, context);
    close(file);
    return result;
}

static void nothing(void)
{
}

static _Noreturn void be_worker(int in, int out)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int deadly[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGINT, SIGTERM, SIGXFSZ, SIGALRM};
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++) {
        signal(deadly[i], SIG_DFL); // libFuzzer's are the parent's business
    }
    __sanitizer_set_death_callback(nothing);
    for (char byte; read(in, &byte, 1) == 1;) {
        uint8_t *exact = malloc(shared->size > 0 ? shared->size : 1);
        FUZZ_CHECK(exact != NULL);
        memcpy(exact, shared->data, shared->size);
        memset(__start___sancov_cntrs, 0, counter_count());
        fuzz_target(exact, shared->size);
        memcpy(shared->counters, __start___sancov_cntrs, counter_count());
        free(exact);
        if (write(out, &byte, 1) != 1) {
            break;
        }
    }
    _exit(__lsan_do_recoverable_leak_check() != 0 ? EXIT_LEAK : 0);
}

// ---- In libFuzzer's process ----

static void report(void)
{
    fprintf(stderr, "stat::importers_ended: %u crashed, %u slow, %u large; %u workers\n", crashed, slow, large,
            workers);
}

static void start_worker(void)
{
    if (shared == NULL) {
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        FUZZ_CHECK(shared != MAP_FAILED);
        atexit(report);
    }
    int forth[2], back[2];
    FUZZ_CHECK(pipe(forth) == 0 && pipe(back) == 0);
    shared->importing = false;
    worker = fork();
    FUZZ_CHECK(worker >= 0);
    if (worker == 0) {
        close(forth[1]);
        close(back[0]);
        be_worker(forth[0], back[1]);
    }
    close(forth[0]);
    close(back[1]);
    to_worker = forth[1];
    from_worker = back[0];
    inputs = 0;
    workers++;
}

// Its exit status, once it has no more to do or is gone.
static int end_worker(void)
{
    int status = 0;
    close(to_worker);
    while (waitpid(worker, &status, 0) < 0 && errno == EINTR) {}
    close(from_worker);
    worker = 0;
    return status;
}

static double worker_seconds(void)
{
    clockid_t clock;
    struct timespec time = {0};
    return clock_getcpuclockid(worker, &clock) == 0 && clock_gettime(clock, &time) == 0
               ? (double)time.tv_sec + 1e-9 * (double)time.tv_nsec
               : 0.0;
}

static uint64_t worker_memory(void)
{
    char path[64];
    unsigned long long all = 0, resident = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", worker);
    FILE *stream = fopen(path, "re");
    const bool known = stream != NULL && fscanf(stream, "%llu %llu", &all, &resident) == 2;
    if (stream != NULL) {
        fclose(stream);
    }
    return known ? resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

// Where FUZZ_KEEP names a folder, the last few inputs that crashed the importer are left there, for those who mend it.
static void keep_input(void)
{
    enum { KEPT = 20 };
    const char *folder = getenv("FUZZ_KEEP");
    char path[1024];
    snprintf(path, sizeof path, "%s/input_%u", folder != NULL ? folder : "", crashed % KEPT);
    FILE *file = folder != NULL ? fopen(path, "wb") : NULL;
    if (file != NULL) {
        fwrite(shared->data, 1, shared->size, file);
        fclose(file);
    }
}

// True with its answer; false if it ended, or was ended, in the importer.
static bool wait_for_worker(void)
{
    const double begin = worker_seconds();
    const uint64_t memory = worker_memory();
    for (;;) {
        struct pollfd answer = {.fd = from_worker, .events = POLLIN};
        char byte;
        if (poll(&answer, 1, LOOK_INTERVAL) > 0) {
            if (read(from_worker, &byte, 1) == 1) {
                return true;
            }
            FUZZ_CHECK(shared->importing); // the worker has said what it died of
            keep_input();
            crashed++;
            return false;
        }
        const bool too_slow = worker_seconds() > begin + IMPORT_SECONDS,
                   too_large = worker_memory() > memory + IMPORT_MEMORY;
        if (shared->importing && (too_slow || too_large)) {
            kill(worker, SIGKILL);
            slow += too_slow;
            large += !too_slow;
            return false;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LARGEST) {
        return -1;
    }
    if (worker == 0) {
        start_worker();
    }
    memcpy(shared->data, data, size);
    shared->size = size;
    FUZZ_CHECK(write(to_worker, "x", 1) == 1);
    const bool answered = wait_for_worker();
    if (answered) {
        memcpy(__start___sancov_cntrs, shared->counters, counter_count());
    }
    if (!answered || ++inputs == INPUTS) {
        const int status = end_worker();
        FUZZ_CHECK(!answered || status == 0); // of its inputs, not of the last alone
    }
    return 0;
}
