// SPDX-License-Identifier: MIT
// file_writer.c - files that are complete or not there, through links, and streams to what is no file.
#define _DEFAULT_SOURCE // flock
#include "base/file.h"

#include "base/error.h"
#include "base/file_private.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    LINK_LIMIT = 40,     // as the kernel has it
    NAME_ATTEMPTS = 100, // of temporary names that others have already
    READER_WAIT = 10,    // s, for somebody to read a FIFO
};

// ---- Where a path leads ----

typedef struct Target {
    char *path;     // after all links; from malloc
    int descriptor; // the open one that the path names; -1: none
    bool exists;
    struct stat status;  // if it does
    bool belongs_to_any; // a file of another user in a folder where everybody may put files
} Target;

// The folder of a path, from malloc; NULL without memory.
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? strdup(".") : strndup(path, slash > path ? (size_t)(slash - path) : 1);
}

// In /tmp and its like anybody can have put a link or a FIFO where a file is expected. As the kernel does
// (fs.protected_symlinks), only those of this user and of the folder's owner are trusted there.
static bool is_planted(const char *path, const struct stat *status)
{
    struct stat folder_status;
    char *folder = folder_of(path);
    const bool known = folder != NULL && stat(folder, &folder_status) == 0;
    free(folder);
    if (!known) {
        return true;
    }
    const mode_t shared = S_ISVTX | S_IWOTH;
    return (folder_status.st_mode & shared) == shared && status->st_uid != geteuid() &&
           status->st_uid != folder_status.st_uid;
}

// What the link at `path` says, as a path from here; NULL after a failure, with errno.
static char *read_link(const char *path, size_t length)
{
    const size_t room = length > 0 ? length + 1 : 4096; // links of /proc do not tell their length
    char *folder = folder_of(path);
    const size_t prefix = folder != NULL ? strlen(folder) + 1 : 0;
    char *joined = malloc(prefix + room + 1);
    ssize_t written = -1;
    if (folder != NULL && joined != NULL) {
        snprintf(joined, prefix + 1, "%s/", folder);
        written = readlink(path, joined + prefix, room);
        if (written >= 0 && (size_t)written == room) {
            written = -1; // it has grown meanwhile
            errno = ENAMETOOLONG;
        }
    } else {
        errno = ENOMEM;
    }
    free(folder);
    if (written < 0) {
        free(joined);
        return NULL;
    }
    joined[prefix + (size_t)written] = '\0';
    if (joined[prefix] == '/') {
        memmove(joined, joined + prefix, (size_t)written + 1);
    }
    return joined;
}

// Follows links by hand, because what they lead to is replaced by a rename, which does not.
static MoteResult find_target(const char *path, Target *target)
{
    *target = (Target){.path = strdup(path), .descriptor = -1};
    int error = target->path != NULL ? 0 : ENOMEM;
    for (int links = 0; error == 0; links++) {
        target->descriptor = file_descriptor_of(target->path);
        if (target->descriptor >= 0) {
            break;
        }
        if (lstat(target->path, &target->status) != 0) {
            error = errno == ENOENT ? 0 : errno;
            break;
        }
        target->exists = true;
        const bool link = S_ISLNK(target->status.st_mode);
        const bool planted = is_planted(target->path, &target->status);
        if (planted && !S_ISREG(target->status.st_mode)) {
            const MoteResult result = mote_fail(
                MOTE_ERROR_IO, "%s: cannot write: %s is %s of another user in a folder where everybody may put files",
                path, target->path, link ? "a link" : file_kind(target->status.st_mode));
            free(target->path);
            target->path = NULL;
            return result;
        }
        target->belongs_to_any = planted;
        if (!link) {
            break;
        }
        char *next = links < LINK_LIMIT ? read_link(target->path, (size_t)target->status.st_size) : NULL;
        error = next != NULL ? 0 : links < LINK_LIMIT ? errno : ELOOP;
        free(target->path);
        target->path = next;
        target->exists = false;
    }
    if (error != 0) {
        free(target->path);
        target->path = NULL;
        return file_fail("write", path, error);
    }
    return MOTE_OK;
}

static MoteResult refuse_target(const char *path, const Target *target, bool regular_only)
{
    const bool exists = target->exists;
    const mode_t mode = target->status.st_mode;
    if (target->descriptor >= 0) {
        return regular_only ? mote_fail(MOTE_ERROR_IO,
                                        "%s: cannot write: it is an open stream, and this format needs a file", path)
                            : MOTE_OK;
    }
    if (exists && S_ISDIR(mode)) {
        return file_fail("write", path, EISDIR);
    }
    if (exists && (S_ISSOCK(mode) || S_ISBLK(mode))) {
        return mote_fail(MOTE_ERROR_IO, "%s: cannot write: it is %s", path, file_kind(mode));
    }
    if (exists && !S_ISREG(mode) && regular_only) {
        return mote_fail(MOTE_ERROR_IO, "%s: cannot write: it is %s, and this format needs a file", path,
                         file_kind(mode));
    }
    return MOTE_OK;
}

static bool is_streamed(const Target *target)
{
    return target->descriptor >= 0 || (target->exists && !S_ISREG(target->status.st_mode));
}

// ---- What dead programs left ----

#define PARTIAL_MARK   ".mote-"
#define PARTIAL_ENDING ".partial"

static size_t digits_before(const char *name, size_t end)
{
    size_t start = end;
    while (start > 0 && name[start - 1] >= '0' && name[start - 1] <= '9') {
        start--;
    }
    return end - start;
}

// Whether it is NAME.mote-PID-NUMBER.partial.
static bool is_partial_name(const char *name)
{
    const size_t length = strlen(name), ending = strlen(PARTIAL_ENDING), mark = strlen(PARTIAL_MARK);
    if (length <= ending || strcmp(name + length - ending, PARTIAL_ENDING) != 0) {
        return false;
    }
    size_t end = length - ending;
    const size_t number = digits_before(name, end);
    end -= number;
    if (number == 0 || end == 0 || name[end - 1] != '-') {
        return false;
    }
    end--;
    const size_t process = digits_before(name, end);
    end -= process;
    return process > 0 && end > mark && strncmp(name + end - mark, PARTIAL_MARK, mark) == 0;
}

// A writer holds its lock until the file has its name or is gone, and the kernel takes it back from the dead: a number
// of a process says less, since another may have it by now, or it may be another machine's.
static void remove_if_dead(int folder, const char *name)
{
    const int descriptor = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status;
    if (descriptor < 0) {
        return;
    }
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
        unlinkat(folder, name, 0);
    }
    close(descriptor);
}

static void remove_dead_in(const char *path)
{
    DIR *stream = opendir(path);
    if (stream == NULL) {
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(stream)) != NULL) {
        if (is_partial_name(entry->d_name)) {
            remove_if_dead(dirfd(stream), entry->d_name);
        }
    }
    closedir(stream);
}

// Once a folder and run: a folder can hold very many files.
static void tidy_folder_of(const char *path)
{
    enum { KNOWN = 16 };
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        dev_t device;
        ino_t file;
    } known[KNOWN];
    static unsigned count;
    struct stat status;
    char *folder = folder_of(path);
    if (folder == NULL || stat(folder, &status) != 0) {
        free(folder);
        return;
    }
    pthread_mutex_lock(&mutex);
    bool found = false;
    for (unsigned i = 0; i < KNOWN && i < count; i++) {
        found = found || (known[i].device == status.st_dev && known[i].file == status.st_ino);
    }
    if (!found) {
        known[count % KNOWN].device = status.st_dev;
        known[count % KNOWN].file = status.st_ino;
        count++;
    }
    pthread_mutex_unlock(&mutex);
    if (!found) {
        remove_dead_in(folder);
    }
    free(folder);
}

// ---- Opening ----

// A new file with its lock. False if another made or removed it at the same time: then another name is tried.
static bool make_temporary(FileWriter *writer, mode_t mode, int *error)
{
    writer->lock = open(writer->temporary_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    *error = writer->lock >= 0 ? 0 : errno;
    if (writer->lock < 0) {
        return *error != EEXIST;
    }
    // Where the file system has no locks, nobody else gets one either, and nothing of the dead is removed.
    const bool refused = flock(writer->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    struct stat status;
    if (!refused && fstat(writer->lock, &status) == 0 && status.st_nlink > 0) {
        return true;
    }
    close(writer->lock); // somebody who tidies the folder was faster than the lock, and removes it
    writer->lock = -1;
    *error = EEXIST;
    return false;
}

static MoteResult open_temporary(FileWriter *writer, const Target *target)
{
    static atomic_uint numbers;
    const size_t size = strlen(writer->target) + 64;
    const bool kept = target->exists && !target->belongs_to_any;
    const mode_t mode = kept ? (target->status.st_mode & 0666) | 0600 : 0666;
    int error = ENOMEM;
    writer->temporary_path = malloc(size);
    bool made = false;
    for (int i = 0; writer->temporary_path != NULL && !made; i++) {
        snprintf(writer->temporary_path, size, "%s" PARTIAL_MARK "%ld-%u" PARTIAL_ENDING, writer->target,
                 (long)getpid(), atomic_fetch_add(&numbers, 1u));
        made = make_temporary(writer, mode, &error) || i == NAME_ATTEMPTS;
    }
    const int descriptor = made && error == 0 ? fcntl(writer->lock, F_DUPFD_CLOEXEC, 0) : -1;
    if (made && error == 0) {
        writer->stream = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
        error = writer->stream != NULL ? 0 : errno;
    } else { // it is not ours to remove
        free(writer->temporary_path);
        writer->temporary_path = NULL;
    }
    if (error != 0 && descriptor >= 0) {
        close(descriptor);
    }
    return error == 0 ? MOTE_OK : file_fail("write", writer->path, error);
}

// Opens what is there and is neither file nor folder, without waiting for ever at a FIFO that nobody reads.
static int open_special(const Target *target, int *error)
{
    int descriptor = -1;
    const struct timespec pause = {.tv_nsec = 20000000};
    for (int i = 0; i <= READER_WAIT * 50; i++) {
        descriptor = open(target->path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
        *error = descriptor >= 0 ? 0 : errno;
        if (descriptor >= 0 || errno != ENXIO || !S_ISFIFO(target->status.st_mode)) {
            break;
        }
        nanosleep(&pause, NULL);
    }
    struct stat status;
    if (descriptor >= 0 &&
        (fstat(descriptor, &status) != 0 || (status.st_mode & S_IFMT) != (target->status.st_mode & S_IFMT))) {
        close(descriptor); // another has taken the name meanwhile
        *error = EAGAIN;
        return -1;
    }
    if (descriptor >= 0) {
        fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
    }
    return descriptor;
}

static MoteResult open_stream(FileWriter *writer, const Target *target)
{
    int error = 0, descriptor;
    if (target->descriptor >= 0) {
        fflush(target->descriptor == STDOUT_FILENO ? stdout : NULL); // what was said before stays before
        descriptor = fcntl(target->descriptor, F_DUPFD_CLOEXEC, 0);
        error = descriptor >= 0 ? 0 : errno;
    } else {
        descriptor = open_special(target, &error);
    }
    writer->stream = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (writer->stream != NULL) {
        return MOTE_OK;
    }
    if (descriptor >= 0) {
        error = errno;
        close(descriptor);
    }
    if (error == ENXIO && S_ISFIFO(target->status.st_mode)) {
        return mote_fail(MOTE_ERROR_IO, "%s: cannot write: it is a FIFO that nobody has read for %d s", writer->path,
                         READER_WAIT);
    }
    return file_fail("write", writer->path, error);
}

static MoteResult open_writer(FileWriter *writer, const char *path, bool regular_only)
{
    *writer = (FileWriter){.lock = -1};
    Target target;
    MoteResult result = find_target(path, &target);
    if (result != MOTE_OK) {
        return result;
    }
    writer->target = target.path;
    writer->path = strdup(path);
    if (writer->path == NULL) {
        result = file_fail("write", path, ENOMEM);
    }
    if (result == MOTE_OK) {
        result = refuse_target(path, &target, regular_only);
    }
    if (result == MOTE_OK && is_streamed(&target)) {
        result = open_stream(writer, &target);
    } else if (result == MOTE_OK) {
        tidy_folder_of(target.path);
        result = open_temporary(writer, &target);
    }
    if (result != MOTE_OK) {
        file_writer_discard(writer);
    }
    return result;
}

MoteResult file_writer_open(FileWriter *writer, const char *path)
{
    return open_writer(writer, path, false);
}

MoteResult file_writer_open_regular(FileWriter *writer, const char *path)
{
    return open_writer(writer, path, true);
}

// ---- Closing ----

// Why a write failed some time ago: stdio only remembers that it did. More bytes after those, in a file that nobody
// will see, most likely fail for the same reason.
static int find_reason(const FileWriter *writer)
{
    static const char bytes[1 << 16];
    for (int i = 0; i < 2 && writer->temporary_path != NULL; i++) { // the first may find room for a part
        if (write(writer->lock, bytes, sizeof bytes) < 0) {
            return errno;
        }
    }
    return EIO;
}

// What went wrong with the stream so far, as an errno; 0: nothing. Flushes it if asked.
static int stream_error(const FileWriter *writer, bool flush)
{
    errno = 0;
    if (flush && fflush(writer->stream) != 0) {
        return errno != 0 ? errno : find_reason(writer);
    }
    return ferror(writer->stream) ? find_reason(writer) : 0;
}

MoteResult file_writer_check(FileWriter *writer)
{
    const int error = stream_error(writer, writer->temporary_path == NULL);
    return error != 0 ? file_fail("write", writer->path, error) : MOTE_OK;
}

// Gives the new file the permissions, and if it may, the owner of the one that it replaces.
static int keep_permissions(const FileWriter *writer)
{
    struct stat status;
    if (lstat(writer->target, &status) != 0) {
        return errno == ENOENT ? 0 : errno;
    }
    if (!S_ISREG(status.st_mode)) { // somebody has put something else there meanwhile
        return S_ISDIR(status.st_mode) ? EISDIR : EEXIST;
    }
    if (is_planted(writer->target, &status)) {
        return 0;
    }
    const int owned = geteuid() == 0 ? fchown(writer->lock, status.st_uid, status.st_gid)
                                     : fchown(writer->lock, (uid_t)-1, status.st_gid);
    (void)owned; // of a group that this user is not in: the file is the user's, as any new one
    return fchmod(writer->lock, status.st_mode & 0777) == 0 ? 0 : errno;
}

// The temporary file gets its name while the lock still holds.
static int finish_temporary(FileWriter *writer, int error)
{
    if (error == 0 && fsync(writer->lock) != 0 && errno != EINVAL && errno != EROFS) {
        error = errno;
    }
    if (fclose(writer->stream) != 0 && error == 0) {
        error = errno;
    }
    writer->stream = NULL;
    if (error == 0) {
        error = keep_permissions(writer);
    }
    if (error == 0 && rename(writer->temporary_path, writer->target) != 0) {
        error = errno;
    }
    if (error == 0) {
        free(writer->temporary_path);
        writer->temporary_path = NULL; // it is the real file now
    }
    return error;
}

MoteResult file_writer_commit(FileWriter *writer)
{
    int error = stream_error(writer, true);
    if (writer->temporary_path != NULL) {
        error = finish_temporary(writer, error);
    } else {
        if (fclose(writer->stream) != 0 && error == 0) {
            error = errno;
        }
        writer->stream = NULL;
    }
    const MoteResult result = error == 0 ? MOTE_OK : file_fail("write", writer->path, error);
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
    if (writer->path != NULL && writer->lock >= 0) { // an empty struct of zeros has none
        close(writer->lock);
    }
    free(writer->temporary_path);
    free(writer->target);
    free(writer->path);
    *writer = (FileWriter){0};
}

// ---- Asking ----

MoteResult file_check_writable(const char *path, bool regular_only)
{
    Target target;
    MoteResult result = find_target(path, &target);
    if (result != MOTE_OK) {
        return result;
    }
    const bool streamed = is_streamed(&target);
    result = refuse_target(path, &target, regular_only);
    if (result == MOTE_OK && streamed) {
        const bool open = target.descriptor >= 0 && fcntl(target.descriptor, F_GETFD) >= 0;
        const bool writable = target.descriptor < 0 && access(target.path, W_OK) == 0;
        result = open || writable ? MOTE_OK : file_fail("write", path, errno);
    }
    free(target.path);
    if (result != MOTE_OK || streamed) {
        return result;
    }
    FileWriter writer;
    result = file_writer_open(&writer, path);
    if (result == MOTE_OK) {
        file_writer_discard(&writer);
    }
    return result;
}

void file_remove_output(const char *path)
{
    Target target;
    if (find_target(path, &target) == MOTE_OK) {
        if (target.exists && S_ISREG(target.status.st_mode)) {
            remove(target.path);
        }
        free(target.path);
    }
}
