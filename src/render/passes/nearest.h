// SPDX-License-Identifier: MIT
// nearest.h - the steps of shaders/render/nearest.glsl: which of many ellipsoids is the nearest at each pixel.
#ifndef MOTE_RENDER_PASSES_NEAREST_H
#define MOTE_RENDER_PASSES_NEAREST_H

#include "render/renderer.h"

enum { NEAREST_DEPTH, NEAREST_INDEX, NEAREST_LARGE_DEPTH, NEAREST_LARGE_INDEX, NEAREST_STEPS };

typedef struct Nearest {
    VkPipeline steps[NEAREST_STEPS];
    Buffer buffer; // depths, who has them, and a list of large ones
} Nearest;

// Of a shader that includes nearest.glsl and whose steps of this kind begin at `first_step`.
MoteResult nearest_create(MoteRenderer *renderer, const char *shader, uint32_t first_step, Nearest *out);
// Of at most `count` ellipsoids; who is in front only with `index`. `address` is where the shader looks for the buffer.
MoteResult nearest_record(MoteRenderer *renderer, Nearest *nearest, const char *name, uint32_t count, bool index,
                          uint64_t *address, VkCommandBuffer commands);
void nearest_destroy(MoteRenderer *renderer, void *state); // of a Nearest

#endif
