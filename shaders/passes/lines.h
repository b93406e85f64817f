// SPDX-License-Identifier: MIT
// lines.h - constants of the lines pass.
#ifndef MOTE_PASSES_LINES_H
#define MOTE_PASSES_LINES_H

#include "render_shared.h"

struct LinesPush {
    ADDRESS(Vec4Array) lines; // three a line: end and its opacity, other end and its opacity, colour
    float half_width;         // pixels
    uint edges;               // of a mesh: how many,
    uint first_index;         // of its triangles' corners,
    uint instance;            // and which of its instances
    vec4 rgb;                 // w: 1, or 0 where an instance's own colour is taken, times rgb
};
SHARED_STRUCT(LinesPush)

#endif
