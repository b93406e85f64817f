// SPDX-License-Identifier: MIT
// give_way.h - the window comes first where there are fewer cores than threads that want them.
#ifndef MOTE_VIEWER_GIVE_WAY_H
#define MOTE_VIEWER_GIVE_WAY_H

// The calling thread, and those that it will start, as software drivers do, are served soon when they wake up.
void thread_come_first(void);
// The calling thread, and those that it will start, as solver and software driver do, run after the window's.
void thread_give_way(void);

#endif
