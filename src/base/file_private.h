// SPDX-License-Identifier: MIT
// file_private.h - what file.c and file_writer.c share.
#ifndef MOTE_BASE_FILE_PRIVATE_H
#define MOTE_BASE_FILE_PRIVATE_H

#include "mote.h"

// "PATH: cannot WHAT: ..." with the words for an errno.
MoteResult file_fail(const char *what, const char *path, int error);

#endif
