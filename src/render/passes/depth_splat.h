// SPDX-License-Identifier: MIT
// depth_splat.h - the steps of shaders/render/depth_splat.glsl: which of many ellipsoids is the nearest at each pixel.
#ifndef MOTE_RENDER_PASSES_DEPTH_SPLAT_H
#define MOTE_RENDER_PASSES_DEPTH_SPLAT_H

#include "render/renderer.h"

enum { DEPTH_SPLAT_DEPTH, DEPTH_SPLAT_INDEX, DEPTH_SPLAT_LARGE_DEPTH, DEPTH_SPLAT_LARGE_INDEX, DEPTH_SPLAT_STEPS };

typedef struct DepthSplat {
    VkPipeline steps[DEPTH_SPLAT_STEPS];
    Buffer buffer; // depths, who has them, and a list of large ones
} DepthSplat;

// Of a shader that includes depth_splat.glsl and whose steps of this kind begin at `first_step`.
MoteResult depth_splat_create(MoteRenderer *renderer, const char *shader, uint32_t first_step, DepthSplat *out);
// Of at most `count` ellipsoids; who is in front only with `index`. `address` is where the shader looks for the buffer.
MoteResult depth_splat_record(MoteRenderer *renderer, DepthSplat *depth_splat, const char *name, uint32_t count,
                              bool index, uint64_t *address, VkCommandBuffer commands);
void depth_splat_destroy(MoteRenderer *renderer, void *state); // of a Nearest

#endif
