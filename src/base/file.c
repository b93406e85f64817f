#define _POSIX_C_SOURCE 200809L
#include "base/file.h"

#include "base/error.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static MoteResult fail_with_errno(const char *what, const char *path, int error)
{
    return mote_fail(error == ENOMEM ? MOTE_ERROR_MEMORY : MOTE_ERROR_IO, "%s: cannot %s: %s", path, what,
                     strerror(error));
}

MoteResult file_read(const char *path, size_t limit, char **bytes, size_t *size)
{
    *bytes = NULL;
    *size = 0;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return fail_with_errno("open", path, errno);
    }
    struct stat status;
    if (fstat(fileno(stream), &status) == 0 && S_ISDIR(status.st_mode)) {
        fclose(stream);
        return mote_fail(MOTE_ERROR_IO, "%s: is a folder, expected a file", path);
    }
    // Read in growing pieces rather than trusting a size: pipes have none.
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
        return fail_with_errno("read", path, error);
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

MoteResult file_writer_open(FileWriter *writer, const char *path)
{
    *writer = (FileWriter){0};
    const size_t length = strlen(path);
    writer->path = malloc(length + 1);
    writer->temporary_path = malloc(length + 32);
    if (writer->path == NULL || writer->temporary_path == NULL) {
        file_writer_discard(writer);
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to write it", path);
    }
    memcpy(writer->path, path, length + 1);
    snprintf(writer->temporary_path, length + 32, "%s.%ld.partial", path, (long)getpid());
    writer->stream = fopen(writer->temporary_path, "wb");
    if (writer->stream == NULL) {
        const int error = errno;
        file_writer_discard(writer);
        return fail_with_errno("write", path, error);
    }
    return MOTE_OK;
}

MoteResult file_writer_commit(FileWriter *writer)
{
    int error = 0;
    errno = 0;
    if (fflush(writer->stream) != 0 || ferror(writer->stream)) {
        error = errno != 0 ? errno : EIO;
    }
    if (error == 0 && fsync(fileno(writer->stream)) != 0 && errno != EINVAL && errno != EROFS) {
        error = errno;
    }
    if (fclose(writer->stream) != 0 && error == 0) {
        error = errno;
    }
    writer->stream = NULL;
    if (error == 0 && rename(writer->temporary_path, writer->path) != 0) {
        error = errno;
    }
    MoteResult result = MOTE_OK;
    if (error != 0) {
        result = fail_with_errno("write", writer->path, error);
    } else {
        free(writer->temporary_path);
        writer->temporary_path = NULL; // it is the real file now
    }
    file_writer_discard(writer);
    return result;
}

void file_writer_discard(FileWriter *writer)
{
    if (writer->stream != NULL) {
        fclose(writer->stream);
    }
    if (writer->temporary_path != NULL) {
        remove(writer->temporary_path);
    }
    free(writer->temporary_path);
    free(writer->path);
    *writer = (FileWriter){0};
}

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
    return error == 0 ? MOTE_OK : fail_with_errno("make the folder", path, error);
}
