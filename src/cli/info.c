// info.c - `mote info`: what this build is and what it finds on this machine.
#define _POSIX_C_SOURCE 200809L
#include "cli/command.h"
#include "cli/options.h"
#include "mote.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

enum { BACKEND_LIMIT = 8 };

static const Usage usage = {
    .command = "info",
    .arguments = "",
    .meaning = "Shows the version, the backends with their device or why there is none, the CPU and the compiler.",
};

// The CPU's name as the kernel gives it, or the kind of machine where it gives none (as on ARM).
static void cpu_model(char *out, size_t size)
{
    struct utsname machine;
    snprintf(out, size, "%s", uname(&machine) == 0 ? machine.machine : "unknown");
    FILE *stream = fopen("/proc/cpuinfo", "r");
    char line[512];
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && value != NULL) {
            value += strspn(value, ": \t");
            snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
            break;
        }
    }
    if (stream != NULL) {
        fclose(stream);
    }
}

static void print_cpu_features(void)
{
    printf("CPU features:");
#if defined(__x86_64__)
    __builtin_cpu_init();
    printf("%s", __builtin_cpu_supports("sse4.2") ? " sse4.2" : "");
    printf("%s", __builtin_cpu_supports("avx") ? " avx" : "");
    printf("%s", __builtin_cpu_supports("avx2") ? " avx2" : "");
    printf("%s", __builtin_cpu_supports("fma") ? " fma" : "");
    printf("%s", __builtin_cpu_supports("bmi2") ? " bmi2" : "");
    printf("%s", __builtin_cpu_supports("avx512f") ? " avx512f" : "");
#else
    printf(" none that the vectorised kernels use");
#endif
    printf("\n");
}

static void print_backends(void)
{
    MoteBackendInfo rows[BACKEND_LIMIT];
    uint32_t count = mote_backends(rows, BACKEND_LIMIT);
    count = count < BACKEND_LIMIT ? count : BACKEND_LIMIT;
    const char *chosen = "none";
    for (uint32_t i = count; i-- > 0;) {
        chosen = rows[i].available ? rows[i].name : chosen;
    }
    printf("Backends:\n");
    for (uint32_t i = 0; i < count; i++) {
        printf("  %-8s %s%s\n", rows[i].name, rows[i].available ? "" : "not available: ", rows[i].device);
    }
    printf("  %-8s would choose %s\n", "auto", chosen);
}

int command_info(int argc, char **argv)
{
    OptionList arguments = {0};
    const OptionsOutcome outcome = options_parse(&usage, NULL, 0, argc, argv, &arguments);
    option_list_free(&arguments);
    if (outcome != OPTIONS_PARSED) {
        return outcome == OPTIONS_WRONG ? STATUS_USAGE : STATUS_FINE;
    }
    char model[256];
    cpu_model(model, sizeof model);
    printf("Mote %s\n", mote_version());
    print_backends();
    printf("CPU: %s\n", model);
    print_cpu_features();
    printf("Threads: %d (of %d processors)\n", omp_get_max_threads(), omp_get_num_procs());
#if defined(__clang__)
    printf("Compiler: %s\n", __VERSION__);
#else
    printf("Compiler: GCC %s\n", __VERSION__);
#endif
    return STATUS_FINE;
}
