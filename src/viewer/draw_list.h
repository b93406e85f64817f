// SPDX-License-Identifier: MIT
// draw_list.h - triangles for the window, as the panel makes them and the overlay draws them. Plain data.
#ifndef MOTE_VIEWER_DRAW_LIST_H
#define MOTE_VIEWER_DRAW_LIST_H

#include <stdbool.h>
#include <stdint.h>

typedef struct DrawVertex {
    float x, y, u, v; // x, y: pixels from the upper left corner
    uint32_t color;   // R in the lowest byte
} DrawVertex;

typedef struct DrawCommand {
    int32_t clip[4]; // pixels: left, top, right, bottom
    uint32_t texture;
    bool opaque; // covers what is behind it
    bool exact;  // its pixels are the window's: no need to look between them
    uint32_t first_index, index_count;
} DrawCommand;

typedef struct DrawList {
    DrawVertex *vertices;
    uint32_t *indices;
    DrawCommand *commands;
    uint32_t vertex_count, index_count, command_count;
    uint32_t vertex_room, index_room, command_room; // of the arrays, which their maker owns
} DrawList;

#endif
