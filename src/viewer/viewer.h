// SPDX-License-Identifier: MIT
// viewer.h - the interactive viewer, `mote view`.
#ifndef MOTE_VIEWER_H
#define MOTE_VIEWER_H

#include "mote_render.h"

typedef struct ViewerOptions {
    const char *scene;        // NULL: the scenes are shown to choose from
    const char *scenes;       // folder of scenes; NULL is none
    const char *out;          // folder for pictures, films and states
    const char *settings;     // file; NULL is the user's own, "" is none
    const char *shaders;      // folder of Mote's shaders, to be compiled when they change; NULL is none
    const char *script;       // file with events to be played (docs/viewer.md); NULL is none
    const char *view;         // NULL is the finished picture
    uint32_t width, height;   // of the window
    float scale;              // of the picture's size to the window's; 0: by what the device can
    bool paused, full_screen; // at the start
    bool no_panel;
    MoteRendererOptions renderer;
    MoteBackendOptions backend;
    const char *const *overrides;
    uint32_t override_count;
    int (*stop_signal)(void); // not 0: end
    void (*leave)(void);      // ends the program, where the device takes long for the last picture after such a signal
} ViewerOptions;

// Opens the window and stays until it is closed.
MoteResult viewer_run(const ViewerOptions *options);

// What each key does, as a table in Markdown, to standard output.
void viewer_print_keys(void);

#endif
