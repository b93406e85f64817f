// SPDX-License-Identifier: MIT
// file.h - reading whole files, and writing files that are either complete or not there. Whatever Mote opens by a name
// that a user or a scene gave is opened here: what is no regular file is refused or written to as what it is.
#ifndef MOTE_BASE_FILE_H
#define MOTE_BASE_FILE_H

#include "mote.h"
#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FILE_STANDARD_OUTPUT "/dev/stdout"

// ---- Reading ----

// "a folder", "a FIFO", ...; NULL for a regular file.
const char *file_kind(mode_t mode);

// Opens a regular file. Folders, devices, FIFOs and sockets are refused, at once and without a byte read from them.
// `size` may be NULL.
MoteResult file_open_input(const char *path, FILE **stream, uint64_t *size);

// The file's bytes with a zero after them; free() them. Refuses files larger than `limit` bytes (0: no limit).
MoteResult file_read(const char *path, size_t limit, char **bytes, size_t *size);

// The same, but "-" is standard input, and it and other open descriptors by their names (/dev/stdin, /dev/fd/3) are
// read whatever they are: for what the user names, never for what a file names.
MoteResult file_read_argument(const char *path, size_t limit, char **bytes, size_t *size);

// How much of a path is its folder, with the last slash; 0 if it has none, and for open descriptors: what is read from
// them names files as seen from the present folder.
size_t file_folder_length(const char *path);

// The open descriptor that /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N name; -1: none.
int file_descriptor_of(const char *path);

// ---- Writing ----

// A regular file is written under a temporary name in its folder. Write to `stream`, then commit, which checks every
// error so far, flushes to disk and renames; or discard, which removes it. After either the struct is empty.
// Symbolic links are followed: what they lead to is replaced, or made. A replaced file's permissions stay. Character
// devices, FIFOs and open descriptors are written to as the bytes come; other things are refused.
// Temporary files that a killed program left in the folder are removed when it is first written to.
typedef struct FileWriter {
    FILE *stream;
    char *path;           // as it was given
    char *target;         // where its links lead
    char *temporary_path; // NULL where bytes go to `target` as they come
    int lock;             // descriptor of the temporary file: locked as long as its writer lives
} FileWriter;

MoteResult file_writer_open(FileWriter *writer, const char *path);
// For formats that are not written from front to back, and where another program writes: only regular files.
MoteResult file_writer_open_regular(FileWriter *writer, const char *path);
// Whether all went well so far. What is not a regular file has all bytes after that.
MoteResult file_writer_check(FileWriter *writer);
MoteResult file_writer_commit(FileWriter *writer);
void file_writer_discard(FileWriter *writer);

// Fails now if `path` could not be written later, by file_writer_open or by file_writer_open_regular; leaves nothing
// behind, and no reader of a FIFO notices.
MoteResult file_check_writable(const char *path, bool regular_only);
// Removes the regular file that `path` leads to, if there is one; nothing else.
void file_remove_output(const char *path);

// Makes the folder and its parents; a folder that is there already is fine.
MoteResult file_make_folder(const char *path);

#ifdef __cplusplus
}
#endif
#endif
