// SPDX-License-Identifier: MIT
// isolate_child.h - what the two sides of isolate.h agree on.
#ifndef MOTE_BASE_ISOLATE_CHILD_H
#define MOTE_BASE_ISOLATE_CHILD_H

#include "base/isolate.h"

// The pipe carries frames: of bytes, and one at the end with the result and its sentence.
enum { FRAME_DATA = 0x4d4f4401, FRAME_END = 0x4d4f4502 };
enum { FRAME_LIMIT = 1 << 16, MESSAGE_LIMIT = 4095 };

typedef struct Frame {
    uint32_t kind, size; // bytes that follow
} Frame;

// How a child ends that has more to say than its last frame.
enum {
    EXIT_DONE = 0,
    EXIT_LOCKED = 101,    // waited for a lock that a thread of the parent held: the same again may succeed
    EXIT_FORBIDDEN = 102, // a system call that was not allowed
    EXIT_UNREAD = 103     // nobody reads the pipe
};

// What the process is from here on: closes files, sets limits, runs `work`, sends its result. `buffer` has FRAME_LIMIT
// bytes.
_Noreturn void isolate_child(int file, int parent, char *buffer, const IsolateLimits *limits, IsolateWork *work,
                             void *context);

// The two ends of the pipe without the process, limits and filter, for fuzzing: what `work` sends and its result go to
// `file`; `take` gets them from `in`, and nothing may be left. `buffer` has FRAME_LIMIT bytes.
void isolate_work(int file, char *buffer, IsolateWork *work, void *context);
MoteResult isolate_take(IsolatePipe *in, IsolateTake *take, void *context);

// The sanitizers' shadow memory makes a limit of addresses useless: the parent watches what is in use.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ISOLATE_WATCHES_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ISOLATE_WATCHES_MEMORY 1
#endif
#endif
#ifndef ISOLATE_WATCHES_MEMORY
#define ISOLATE_WATCHES_MEMORY 0
#endif

#endif
