// SPDX-License-Identifier: MIT
// simulator_private.h - the definition of Simulator, for simulator*.c.
#ifndef MOTE_VIEWER_SIMULATOR_PRIVATE_H
#define MOTE_VIEWER_SIMULATOR_PRIVATE_H

#include "viewer/manipulator.h"
#include "viewer/simulator.h"
#include <stdatomic.h>

enum { QUEUE_SIZE = 256, CHANGE_LIMIT = 512, OVERRIDE_SIZE = 2048, WORDS_SIZE = 1024 };

// A value that the panel changed. It is also an override, for the scene's next loading.
typedef struct Change {
    uint32_t key, element; // key MOTE_NONE: something that was added
    double numbers[3];
    char words[WORDS_SIZE]; // of a key whose value is words
    char text[OVERRIDE_SIZE];
} Change;

struct Simulator {
    SimulatorOptions options;
    thrd_t thread;
    bool started;
    atomic_bool ending; // a long frame or a large scene is not waited for
    mtx_t mutex;        // of everything down to the line
    cnd_t called;
    SimulatorCommand queue[QUEUE_SIZE];
    uint32_t queued;
    uint64_t loads_wanted, loads_done;
    bool waiting; // for a command, with nothing else to do
    SimulatorStatus status;
    bool hold;
    Model *model; // written by the thread under the mutex, its scene's values too
    Change changes[CHANGE_LIMIT];
    uint32_t change_count;
    // ---- of the thread alone
    FrameSnapshotPool pool;
    Manipulator manipulator;
    uint64_t models;
    bool paused, failed, forces_wanted;
    bool unseen; // a scene was loaded, and no picture of it was drawn yet
    uint32_t steps_wanted;
    double speed, next_frame, frame_seconds, statistics_time;
    uint64_t timing_start;
};

// These with the mutex held.
// The change of that key that was made last, or NULL.
Change *simulator_change(Simulator *simulator, uint32_t key, uint32_t element);
// All overrides: of the command line, then of the panel. The array is the caller's, the texts are not; NULL: no memory.
const char **simulator_overrides(const Simulator *simulator, uint32_t *count);

#endif
