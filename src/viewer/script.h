// SPDX-License-Identifier: MIT
// script.h - plays a session from a file: events go through SDL's queue like those of a user, so that demonstrations,
// tutorials and tests use the same code. docs/viewer.md describes the language.
#ifndef MOTE_VIEWER_SCRIPT_H
#define MOTE_VIEWER_SCRIPT_H

#include "mote.h"

typedef struct Script {
    char *text, *next; // the file, and the line to come
    const char *path;  // NULL: there is no script
    uint32_t line;
    double wait_until; // s on the clock; 0 is none
    uint64_t wait_pictures, wait_frame, wait_shown, wait_reloads, wait_shaders;
    bool waits_for_model, waits_for_file, waits_to_settle;
    uint64_t began_turn; // of the window's loop, when the waiting began
    char file[1024];
    double began;    // waiting, s on the clock
    double patience; // s, that a line may wait
    // A drag that is under way.
    uint32_t drag_step, drag_steps, drag_button;
    double drag_from[2], drag_to[2];
    uint32_t drag_mods;
    bool drag_lifts;     // the button goes up at its end
    uint64_t drag_shown; // frames of the window when its last step was made
} Script;

struct App;

MoteResult script_load(const char *path, Script *out);
void script_free(Script *script);
// Plays lines until one waits. A line that is not understood, or waits for too long, is an error and ends the viewer.
MoteResult script_play(Script *script, struct App *app);

#endif
