// SPDX-License-Identifier: MIT
// smoke.h - what the passes smoke_light and smoke share.
#ifndef MOTE_RENDER_PASSES_SMOKE_H
#define MOTE_RENDER_PASSES_SMOKE_H

#include "passes/smoke.h"
#include "render/renderer.h"

// Cells of level l of a pyramid, and of the levels before it, as smoke_particles.glsl has them.
uint32_t smoke_level_cells(uint32_t width, uint32_t height, uint32_t depth, uint32_t level);
uint32_t smoke_level_start(uint32_t width, uint32_t height, uint32_t depth, uint32_t level);
// Without the addresses of buffers.
SmokeConstants smoke_constants(const Frame *frame);
// Of the mean light of the sky around each coarse cell: set by smoke_light.
VkDeviceAddress smoke_open_light(const MoteRenderer *renderer);

#endif
