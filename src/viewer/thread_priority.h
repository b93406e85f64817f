// SPDX-License-Identifier: MIT
// thread_priority.h - thread priorities: the window's thread takes precedence over solver and renderer.
#ifndef MOTE_VIEWER_THREAD_PRIORITY_H
#define MOTE_VIEWER_THREAD_PRIORITY_H

// The calling thread, and those that it will start, as software drivers do, are served soon when they wake up.
void thread_raise_priority(void);
// The calling thread, and those that it will start, as solver and software driver do, run after the window's.
void thread_lower_priority(void);

#endif
