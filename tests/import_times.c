// SPDX-License-Identifier: MIT
// import_times.c - what reading a mesh in a process of its own costs (docs/security.md): import_times FILE...
// Programs that import in themselves and in a child take turns, each four times: the first import of a program and the
// later ones are told apart. Prints medians in ms.
#define _POSIX_C_SOURCE 200809L
#include "base/clock.h"
#include "geometry/mesh_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { IMPORTS = 4, ROUNDS = 24 };

static double seconds_of(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double processor_seconds(void)
{
    return seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN);
}

// ---- One program: lines of clock and CPU time ----

static MoteResult import_once(const MeshSource *source, bool in_child)
{
    Mesh mesh = {0};
    IsolatePipe nowhere = {.file = -1};
    const MoteResult result = in_child
                                  ? mesh_import_in_child(source, &mesh)
                                  : mesh_import(source, isolate_limits_of(mesh_source_size(source)).memory, &nowhere);
    mesh_free(&mesh);
    return result;
}

static int import_often(const char *path, bool in_child)
{
    const char *dot = strrchr(path, '.');
    MeshSource source = {.path = path};
    snprintf(source.own_name, sizeof source.own_name, "mesh%s", dot != NULL ? dot : "");
    MoteResult result = mesh_source_add(&source, path, source.own_name);
    for (int i = 0; i < IMPORTS && result == MOTE_OK; i++) {
        const double clock = clock_seconds(), processor = processor_seconds();
        result = import_once(&source, in_child);
        printf("%.3f %.3f\n", 1e3 * (clock_seconds() - clock), 1e3 * (processor_seconds() - processor));
    }
    if (result != MOTE_OK) {
        fprintf(stderr, "import_times: %s\n", mote_error_message());
    }
    mesh_source_free(&source);
    return result == MOTE_OK ? 0 : 1;
}

// ---- All of them ----

typedef struct Times {
    double clock[ROUNDS * IMPORTS], processor[ROUNDS * IMPORTS];
    size_t count;
} Times;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return values[count / 2];
}

static bool run_program(const char *program, const char *path, bool in_child, Times *first, Times *later)
{
    char command[4096];
    snprintf(command, sizeof command, "'%s' --%s '%s'", program, in_child ? "child" : "self", path);
    FILE *stream = popen(command, "r");
    if (stream == NULL) {
        return false;
    }
    double clock, processor;
    for (Times *times = first; fscanf(stream, "%lf %lf", &clock, &processor) == 2; times = later) {
        times->clock[times->count] = clock;
        times->processor[times->count++] = processor;
    }
    return pclose(stream) == 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strncmp(argv[1], "--", 2) == 0) {
        return import_often(argv[2], strcmp(argv[1], "--child") == 0);
    }
    for (int file = 1; file < argc; file++) {
        static Times times[2][2]; // first or later, in the program or in a child
        memset(times, 0, sizeof times);
        for (int i = 0; i < 2 * ROUNDS; i++) {
            if (!run_program(argv[0], argv[file], i % 2 == 1, &times[0][i % 2], &times[1][i % 2])) {
                return 1;
            }
        }
        for (int i = 0; i < 2; i++) {
            printf("%s, %s: clock %.1f ms, in a child %.1f; CPU time %.1f ms, in a child %.1f\n", argv[file],
                   i == 0 ? "first" : "later", median(times[i][0].clock, times[i][0].count),
                   median(times[i][1].clock, times[i][1].count), median(times[i][0].processor, times[i][0].count),
                   median(times[i][1].processor, times[i][1].count));
        }
    }
    return 0;
}
