// SPDX-License-Identifier: MIT
// isolate.h - a function run in a child process of its own, with limits, that hands bytes back over a pipe.
//
// For readers of files that cannot be trusted (assimp, OpenVDB): whatever a file makes them do, this process goes on. A
// crash, an endless loop, memory without end or a system call that a reader has no need of becomes a MoteResult and a
// sentence.
//
// Why a fork, not a program of its own: the library must work where nothing but it is installed, and a fork begins in a
// fraction of a millisecond where a program first has its libraries to load. What a fork must take care of:
//   - Locks. Of a process with threads only the one that forks lives on in the child. A lock that another one held is
//     held for ever. glibc sees to those of malloc; for all others the child's filter of system calls knows better than
//     to wait: a child has one thread, so waiting for a lock is waiting for nobody. It ends there, and the parent forks
//     again. Where there is no such filter, the limit of time ends it.
//   - Memory. The child sees the parent's as it was, so that `work` reads its input through `context`: it needs no
//   file.
//     Its limit is what it may take beyond that. A fork copies page tables: docs/security.md has how long that takes.
//   - Signals. The child handles none of the host's, and dies of an interrupt from the terminal as the parent does.
//   - Exit. The child leaves by _exit: no buffer of the host is written twice, no leak is looked for.
//
// The child can: compute, allocate up to its limit, write to its pipe. It has no other file, cannot open one, cannot
// start a thread or a process, use the network, or signal others. Linux has all of this. Elsewhere the limits of
// setrlimit stay, and the child's files are closed.
//
// The parent believes nothing: it reads as many bytes as it asked for, within the limit of time, and `take` checks what
// they say. A host that ignores SIGCHLD or reaps all children leaves no exit status: errors then say less, no more.
#ifndef MOTE_BASE_ISOLATE_H
#define MOTE_BASE_ISOLATE_H

#include "mote.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct IsolateLimits {
    uint64_t memory;  // bytes, beyond what the process has when it begins
    uint32_t seconds; // of the child's CPU time; of the clock's time three times as many, for machines with other work
} IsolateLimits;

// For the reader of a file of this size: 256 MB and 40 bytes more for each of the file's, at most 16 GB; 10 s and one
// more for each 4 MB (docs/security.md).
IsolateLimits isolate_limits_of(uint64_t file_size);

// The pipe's two ends. In the child `file` is where it writes; -1 sends to nowhere (work without a child, for fuzzing).
typedef struct IsolatePipe {
    int file;
    char *buffer; // of the child: bytes not yet written
    size_t buffered;
    // Of the parent:
    const char *name, *purpose; // for messages
    uint64_t left;              // bytes of the present frame
    double deadline;            // by clock_seconds
    uint64_t memory;            // limit, where the parent must watch it; 0: it need not
    uint64_t memory_at_start;
    int child;     // 0: none, the file is all there is
    bool received; // some bytes have come
    bool ended;    // nothing more will be read
    bool cut;      // the bytes ended before the child's last word
    bool timed_out, too_large, stopped;
} IsolatePipe;

// In the child. Bytes are sent in order; once nobody reads, the child ends. A failure (mote_fail) goes to the parent
// with its sentence.
typedef MoteResult IsolateWork(void *context, IsolatePipe *out);
void isolate_send(IsolatePipe *out, const void *bytes, size_t size);

// In the parent, while the child works; begins by receiving, because it may be called again for another child.
// isolate_receive gives exactly `size` bytes, or fails as the child did.
typedef MoteResult IsolateTake(void *context, IsolatePipe *in);
MoteResult isolate_receive(IsolatePipe *in, void *bytes, size_t size);

// Runs `work` in a child, `take` here, and then sees that the child is gone. MOTE_OK only if both succeeded and `take`
// has taken all that was sent; otherwise `take` may have failed with half of it, so that `context` must be freed either
// way. Messages are "NAME: PURPOSE: what happened", with PURPOSE such as "cannot be read as a mesh".
// A request to stop (base/stop.h) ends the child within a tenth of a second: MOTE_ERROR_STOPPED.
// May be called from several threads at a time.
MoteResult isolate(const char *name, const char *purpose, const IsolateLimits *limits, IsolateWork *work,
                   IsolateTake *take, void *context);

#ifdef __cplusplus
}
#endif

#endif
