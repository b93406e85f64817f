// SPDX-License-Identifier: MIT
// ropes.h - the scene's ropes: checked, and drawn as tubes along the frames that the ropes pass makes.
#ifndef MOTE_RENDER_ROPES_H
#define MOTE_RENDER_ROPES_H

#include "render/memory.h"

// Frames of the ropes that are drawn, in the order of the scene.
typedef struct RopeDraw {
    uint32_t first_frame, frame_count;
    uint32_t fabric;
} RopeDraw;

typedef struct Ropes {
    RopeDraw *draws;
    uint32_t draw_count, draw_room;
    uint32_t frame_count;
} Ropes;

typedef struct Frame Frame;
typedef struct MoteRenderer MoteRenderer;

// Before anything is drawn: nodes that are there, handles that are the world's.
MoteResult ropes_check(const Frame *frame);
// Draws all of them with a pipeline of rope.vert; to_sun: into the sun's map.
void ropes_draw(MoteRenderer *renderer, VkCommandBuffer commands, VkPipeline pipeline, bool to_sun);

#endif
