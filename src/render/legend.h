// SPDX-License-Identifier: MIT
// legend.h - the legend of a debug view: a title and optionally a colour bar with numbers. The host draws it into a
// small panel, which the antialias pass blends over the lower left corner of the picture (legend.comp).
#ifndef MOTE_RENDER_LEGEND_H
#define MOTE_RENDER_LEGEND_H

#include "render_views.h"
#include <stdbool.h>

enum { LEGEND_TICKS = 5 };

typedef struct Legend {
    char title[96]; // with the unit; empty for no legend at all
    uint map;       // MAP_* of render_views.h; MAP_NONE has no bar
    float lowest, highest;
} Legend;

// A panel before it is enlarged: RGBA of 8 bits, red in the lowest, display-referred, not premultiplied; top row first.
enum { PANEL_MAX_WIDTH = 640, PANEL_MAX_HEIGHT = 128 };
typedef struct Panel {
    uint32_t width, height;
    uint32_t *pixels; // room for PANEL_MAX_WIDTH * PANEL_MAX_HEIGHT
} Panel;

// Paints a panel at most `max_width` wide and `max_height` high. Where a bar has no room, the title says the range; a
// title that is too long ends in dots. The panel is empty (width 0) if there is nothing to say or no room for it.
void legend_paint(const Legend *legend, uint32_t max_width, uint32_t max_height, Panel *panel);

// How many pixels of the picture a pixel of the panel becomes each way: 2 at 720 rows, 3 at 1080.
uint32_t legend_scale(uint32_t picture_height);

// The number of a tick, 0 at `lowest` and LEGEND_TICKS - 1 at `highest`, with as many digits as tell the ticks apart.
void legend_number(float lowest, float highest, uint32_t tick, char *text, uint32_t size);

// The smallest of 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten that is not below `value`; 1 for 0 or less
// and for what is not finite.
float nice_ceiling(float value);

#endif
