// file.h - reading whole files, and writing files that are either complete or not there.
#ifndef MOTE_BASE_FILE_H
#define MOTE_BASE_FILE_H

#include "mote.h"
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

// The file's bytes with a zero after them; free() them. Refuses files larger than `limit` bytes (0: no limit).
MoteResult file_read(const char *path, size_t limit, char **bytes, size_t *size);

// A file being written under a temporary name in the same folder. Write to `stream`, then commit, which checks
// every error so far, flushes to disk and renames; or discard, which removes it. After either the struct is empty.
typedef struct FileWriter {
    FILE *stream;
    char *path, *temporary_path;
} FileWriter;

MoteResult file_writer_open(FileWriter *writer, const char *path);
MoteResult file_writer_commit(FileWriter *writer);
void file_writer_discard(FileWriter *writer);

// Makes the folder and its parents; a folder that is there already is fine.
MoteResult file_make_folder(const char *path);

#ifdef __cplusplus
}
#endif

#endif
