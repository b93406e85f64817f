// SPDX-License-Identifier: MIT
// fuzz.h - what the fuzz targets share. A target is a file with fuzz_target(): it hands bytes to one of Mote's readers
// and says whether they were taken. Whatever the bytes are, the reader must give a result or an error; a crash, a
// sanitizer's report, a leak or a hang is a finding. With clang a target becomes a libFuzzer program (preset fuzz,
// tools/fuzz), elsewhere it is linked with replay.c, which runs the corpus and mutations of it (preset asan, CTest).
#ifndef MOTE_TESTS_FUZZ_H
#define MOTE_TESTS_FUZZ_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef FUZZ_WITHOUT_TARGET // the target has them
#include "known_leaks.h"
#endif
#include "mote.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// True if the reader took the bytes: replay.c fails where it takes nothing of the corpus, which is then out of date.
bool fuzz_target(const uint8_t *data, size_t size);

#if defined(FUZZ_WITH_LIBFUZZER) && !defined(FUZZ_WITH_WORKER) // worker.c has its own
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_target(data, size);
    return 0;
}
#endif

// A property that must hold of what was read.
#define FUZZ_CHECK(condition)                                                                                          \
    ((condition)                                                                                                       \
         ? (void)0                                                                                                     \
         : (fprintf(stderr, "%s:%d: not true: %s: %s\n", __FILE__, __LINE__, #condition, mote_error_message()),        \
            abort()))

static char fuzz_path_[256];

static inline void fuzz_remove_file_(void)
{
    unlink(fuzz_path_);
}

// The path of this process's file with that extension, in TMPDIR or in memory; it is removed at the end.
static inline const char *fuzz_path(const char *extension)
{
    if (fuzz_path_[0] == '\0') {
        const char *folder = getenv("TMPDIR");
        folder = folder != NULL ? folder : access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        snprintf(fuzz_path_, sizeof fuzz_path_, "%s/mote_fuzz_%ld.%s", folder, (long)getpid(), extension);
        atexit(fuzz_remove_file_);
    }
    return fuzz_path_;
}

// The same with these bytes in it: most readers take a path.
static inline const char *fuzz_file(const char *extension, const uint8_t *data, size_t size)
{
    const char *path = fuzz_path(extension);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(1); // the machine's failure, no finding
    }
    return path;
}

#endif
