// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "base/file.h"

#include "base/error.h"
#include "base/file_private.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

MoteResult file_fail(const char *what, const char *path, int error)
{
    return mote_fail(error == ENOMEM ? MOTE_ERROR_MEMORY : MOTE_ERROR_IO, "%s: cannot %s: %s", path, what,
                     strerror(error));
}

const char *file_kind(mode_t mode)
{
    return S_ISREG(mode)    ? NULL
           : S_ISDIR(mode)  ? "a folder"
           : S_ISFIFO(mode) ? "a FIFO"
           : S_ISSOCK(mode) ? "a socket"
           : S_ISCHR(mode)  ? "a character device"
           : S_ISBLK(mode)  ? "a block device"
                            : "no regular file";
}

// A number of digits alone, below a million; -1 otherwise.
static int small_number(const char *text)
{
    int number = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9' && number < 100000; c++) {
        number = 10 * number + (*c - '0');
    }
    return c > text && *c == '\0' ? number : -1;
}

int file_descriptor_of(const char *path)
{
    static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(path, names[i]) == 0) {
            return i;
        }
    }
    char own[48];
    snprintf(own, sizeof own, "/proc/%ld/fd/", (long)getpid());
    const char *const folders[] = {"/dev/fd/", "/proc/self/fd/", own};
    for (int i = 0; i < 3; i++) {
        const size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) == 0) {
            return small_number(path + length);
        }
    }
    return -1;
}

size_t file_folder_length(const char *path)
{
    const char *slash = file_descriptor_of(path) < 0 ? strrchr(path, '/') : NULL;
    return slash != NULL ? (size_t)(slash + 1 - path) : 0;
}

// ---- Reading ----

static MoteResult refuse_kind(const char *path, mode_t mode)
{
    return mote_fail(MOTE_ERROR_IO, "%s: is %s, expected a file", path, file_kind(mode));
}

// Looks before it opens, since opening alone does things to some devices and waits at a FIFO; and again after, since
// another may have taken the name meanwhile.
MoteResult file_open_input(const char *path, FILE **stream, uint64_t *size)
{
    *stream = NULL;
    struct stat status;
    if (stat(path, &status) != 0) {
        return file_fail("open", path, errno);
    }
    if (!S_ISREG(status.st_mode)) {
        return refuse_kind(path, status.st_mode);
    }
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0) {
        return file_fail("open", path, errno);
    }
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(descriptor);
        return refuse_kind(path, status.st_mode);
    }
    *stream = fdopen(descriptor, "rb");
    if (*stream == NULL) {
        const int error = errno;
        close(descriptor);
        return file_fail("open", path, error);
    }
    if (size != NULL) {
        *size = (uint64_t)status.st_size;
    }
    return MOTE_OK;
}

// Reads to the end in growing pieces rather than trusting a size: pipes have none. Closes the stream.
static MoteResult read_stream(FILE *stream, const char *path, size_t limit, char **bytes, size_t *size)
{
    size_t capacity = 1u << 16, length = 0;
    char *data = malloc(capacity + 1);
    while (data != NULL) {
        length += fread(data + length, 1, capacity - length, stream);
        if (length < capacity) {
            break;
        }
        if (limit != 0 && length > limit) {
            break;
        }
        capacity *= 2;
        char *grown = realloc(data, capacity + 1);
        if (grown == NULL) {
            free(data);
        }
        data = grown;
    }
    const int error = ferror(stream) ? errno : 0;
    fclose(stream);
    if (data == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to read it", path);
    }
    if (error != 0) {
        free(data);
        return file_fail("read", path, error);
    }
    if (limit != 0 && length > limit) {
        free(data);
        return mote_fail(MOTE_ERROR_INPUT, "%s: is larger than the %zu bytes that are read at most", path, limit);
    }
    data[length] = '\0';
    *bytes = data;
    *size = length;
    return MOTE_OK;
}

MoteResult file_read(const char *path, size_t limit, char **bytes, size_t *size)
{
    *bytes = NULL;
    *size = 0;
    FILE *stream;
    const MoteResult result = file_open_input(path, &stream, NULL);
    return result == MOTE_OK ? read_stream(stream, path, limit, bytes, size) : result;
}

MoteResult file_read_argument(const char *path, size_t limit, char **bytes, size_t *size)
{
    const int named = strcmp(path, "-") == 0 ? STDIN_FILENO : file_descriptor_of(path);
    if (named < 0) {
        return file_read(path, limit, bytes, size);
    }
    *bytes = NULL;
    *size = 0;
    struct stat status;
    const int descriptor = fcntl(named, F_DUPFD_CLOEXEC, 0);
    FILE *stream = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    if (stream == NULL || fstat(descriptor, &status) != 0) {
        const int error = errno;
        if (stream != NULL) {
            fclose(stream);
        } else if (descriptor >= 0) {
            close(descriptor);
        }
        return file_fail("open", path, error);
    }
    if (S_ISDIR(status.st_mode)) {
        fclose(stream);
        return refuse_kind(path, status.st_mode);
    }
    return read_stream(stream, path, limit, bytes, size);
}

// ---- Folders ----

MoteResult file_make_folder(const char *path)
{
    const size_t length = strlen(path);
    char *partial = malloc(length + 1);
    if (partial == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to make it", path);
    }
    int error = 0;
    for (size_t i = 1; i <= length && error == 0; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }
        memcpy(partial, path, i);
        partial[i] = '\0';
        struct stat status;
        if (mkdir(partial, 0777) != 0 && errno != EEXIST) {
            error = errno;
        } else if (stat(partial, &status) == 0 && !S_ISDIR(status.st_mode)) {
            error = ENOTDIR;
        }
    }
    free(partial);
    return error == 0 ? MOTE_OK : file_fail("make the folder", path, error);
}
