// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "cli/running.h"

#include "base/clock.h"
#include "base/threads.h"
#include "cli/command.h"
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <threads.h>
#include <unistd.h>

static volatile sig_atomic_t caught;
static volatile sig_atomic_t creating; // a simulation, in create_or_leave

static void ask_to_stop(int signal_number)
{
    caught = signal_number;
    if (creating) {
        alarm(1); // s
    }
}

void catch_stop_signals(void)
{
    // SA_RESETHAND: the second signal has its usual effect, should a frame never end.
    const struct sigaction action = {.sa_handler = ask_to_stop, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (uint32_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction before;
        // Whoever started us may have said that a signal is not for us, as shells do for background jobs.
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            sigaction(signals[i], &action, NULL);
        }
    }
    // A reader that goes away is a failed write, with its message and its cleaning up, not an end in the middle.
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignored, NULL);
}

// ---- Calls that come back late ----

#define STOP_PATIENCE 1.0 // s

typedef struct LateCalls {
    void (*close)(void *context); // NULL: they are waited for
    void *context;
    thrd_t thread; // that they are made in; Mote's own threads ask, too
    double told;   // when a call was told to stop; 0: none was
} LateCalls;

static LateCalls late;

void stop_late_calls(void (*close)(void *context), void *context)
{
    late = (LateCalls){.close = close, .context = context, .thread = thrd_current()};
}

_Noreturn void leave_program(void)
{
    fflush(stdout);
    _exit(status_of_run());
}

static void leave_if_late(void)
{
    const double now = clock_seconds();
    late.told = late.told > 0.0 ? late.told : now;
    if (now - late.told > STOP_PATIENCE) {
        stop_long_calls(false); // closing is not to be stopped
        late.close(late.context);
        leave_program();
    }
}

static void leave_creation(int signal_number)
{
    (void)signal_number;
    if (creating && caught != 0) { // a signal handler: neither stdio nor locks
        static const char message[] = "mote: stopped before the scene was made, as was asked for\n";
        const ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
        (void)written;
        _exit(128 + (int)caught);
    }
}

MoteResult create_or_leave(const MoteScene *scene, const MoteBackendOptions *backend, MoteSimulation **out)
{
    const struct sigaction action = {.sa_handler = leave_creation, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    creating = 1;
    const MoteResult result = mote_simulation_create(scene, backend, out);
    creating = 0;
    return result;
}

static bool is_asked_to_stop(void *context)
{
    (void)context;
    if (caught != 0 && late.close != NULL && thrd_equal(thrd_current(), late.thread)) {
        leave_if_late();
    }
    return caught != 0;
}

void stop_long_calls(bool stop)
{
    mote_stop_when(stop ? is_asked_to_stop : NULL, NULL);
}

MoteResult advance_or_stop(MoteSimulation *simulation)
{
    stop_long_calls(true);
    const MoteResult result = mote_simulation_advance_frame(simulation);
    stop_long_calls(false);
    return result;
}

int stop_signal(void)
{
    return (int)caught;
}

int status_of_failure(MoteResult result)
{
    return result == MOTE_ERROR_STOPPED ? status_of_run() : STATUS_FAILED;
}

int status_of_run(void)
{
    return caught != 0 ? 128 + (int)caught : STATUS_FINE;
}

// ---- Drivers ----

enum { FOLDER_SIZE = 1024 };

// Where Mesa keeps compiled shaders; false where nobody knows.
static bool find_driver_cache(char folder[FOLDER_SIZE])
{
    const char *const names[] = {"MESA_SHADER_CACHE_DIR", "MESA_GLSL_CACHE_DIR", "XDG_CACHE_HOME"};
    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL) { // empty ones, too, are where some versions look
            return snprintf(folder, FOLDER_SIZE, "%s", value) < FOLDER_SIZE;
        }
    }
    const struct passwd *user = getpwuid(geteuid()); // as Mesa does, whatever HOME says
    return user != NULL && snprintf(folder, FOLDER_SIZE, "%s/.cache", user->pw_dir) < FOLDER_SIZE;
}

static bool is_writable_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode) && access(path, W_OK | X_OK) == 0;
}

void quiet_drivers(void)
{
    char folder[FOLDER_SIZE];
    bool usable = find_driver_cache(folder);
    if (usable && mkdir(folder, 0700) != 0) { // Mesa makes this one folder, not those above it
        usable = is_writable_folder(folder);
    }
    if (!usable) {
        setenv("MESA_SHADER_CACHE_DISABLE", "true", 0);
        setenv("MESA_GLSL_CACHE_DISABLE", "true", 0); // of Mesa before 21.3
    }
}

int check_overrides(const char *command, const OptionList *overrides)
{
    for (uint32_t i = 0; i < overrides->count; i++) {
        if (strchr(overrides->items[i], '=') == NULL) {
            return usage_error(command, "--set: found '%s', expected PATH=VALUE, as in solver.iterations=10",
                               overrides->items[i]);
        }
    }
    return STATUS_FINE;
}

enum { BACKEND_LIMIT = 8 };

// What a simulation with these options runs on.
static const char *backend_of(const char *asked)
{
    if (strcmp(asked, "auto") != 0) {
        return asked;
    }
    MoteBackendInfo rows[BACKEND_LIMIT];
    const uint32_t count = mote_backends(rows, BACKEND_LIMIT);
    for (uint32_t i = 0; i < count && i < BACKEND_LIMIT; i++) {
        if (rows[i].automatic) {
            return rows[i].name;
        }
    }
    return "";
}

void report_threads(const MoteBackendOptions *asked)
{
    const int cores = threads_available();
    if (asked->threads > (uint32_t)cores && strcmp(backend_of(asked->backend), "cpu") == 0) {
        fprintf(stderr,
                "mote: --threads %u: this machine has %d %s; %u threads are used and take turns, slower than %d would "
                "be; results are the same\n",
                asked->threads, cores, cores == 1 ? "core" : "cores", asked->threads, cores);
    }
}

void report_backend(MoteSimulation *simulation, const MoteBackendOptions *asked)
{
    report_threads(asked);
    if (strcmp(asked->backend, "auto") != 0) {
        return;
    }
    MoteBackendInfo rows[BACKEND_LIMIT];
    const char *chosen = mote_world_backend(mote_simulation_world(simulation));
    const uint32_t count = mote_backends(rows, BACKEND_LIMIT);
    if (strcmp(rows[0].name, chosen) != 0) {
        fprintf(stderr, "mote: running on %s (", chosen);
        for (uint32_t i = 0; i < count && i < BACKEND_LIMIT && strcmp(rows[i].name, chosen) != 0; i++) {
            fprintf(stderr, "%s%s: %s", i == 0 ? "" : "; ", rows[i].name, rows[i].device);
        }
        fprintf(stderr, ")\n");
    }
}
