// SPDX-License-Identifier: MIT
// drawing.h - what the commands that draw share: the renderer as the command line asks for it.
#ifndef MOTE_CLI_DRAWING_H
#define MOTE_CLI_DRAWING_H

#include "mote_render.h"

typedef struct DrawingOptions {
    const char *size, *device, *splat, *view; // as given
    bool validate, no_share;
    uint32_t width, height;       // what drawing_options_check made of the size,
    MoteRendererOptions renderer; // and of the rest
} DrawingOptions;

#define DRAWING_DEFAULTS                                                                                               \
    (DrawingOptions)                                                                                                   \
    {                                                                                                                  \
        .size = "1280x720", .device = "auto", .splat = "auto"                                                          \
    }
#define DRAWING_SPLATS "auto|compute|quads" // in the order of MoteSplatMethod

// "liquid, particles, ..." for help and messages; returns `text`.
#define DRAWING_VIEWS_SIZE 512
const char *drawing_views(char text[DRAWING_VIEWS_SIZE]);

// Returns STATUS_FINE, or STATUS_USAGE after a message.
int drawing_options_check(const char *command, DrawingOptions *options);

// The options for a world that this renderer is to draw: GPU backends get its memory.
MoteBackendOptions drawing_backend(const MoteBackendOptions *asked, MoteRenderer *renderer);

// Gives the renderer the meshes of a simulation, before its first picture.
MoteResult drawing_meshes(MoteSimulation *simulation, MoteRenderer *renderer);

#endif
