// SPDX-License-Identifier: MIT
// frame.h - functions shared by renderer.c, descriptors.c, frame_constants.c and frame.c.
#ifndef MOTE_RENDER_FRAME_H
#define MOTE_RENDER_FRAME_H

#include "render/renderer.h"

// Creates images of this size and their descriptors; does nothing if the size is the same. renderer.c
// `samples` per pixel of multisampled images, which the device must support; `edges`: EDGES_ bits of the images to
// create.
MoteResult renderer_resize(MoteRenderer *renderer, uint32_t width, uint32_t height, uint32_t samples, uint32_t edges);

// mote_renderer_draw with these arrays instead of the world's own. frame.c
MoteResult renderer_draw_view(MoteRenderer *renderer, MoteWorld *world, const MoteRenderView *view,
                              const MoteRenderScene *scene, const MotePicture *picture);

// Waits for the picture that is being drawn, if any, and takes its timings: before anything of it is read, and before
// anything that its commands use is changed. frame.c
MoteResult renderer_finish(MoteRenderer *renderer);

// Fills frame->constants from scene, solver and picture. frame_constants.c
MoteResult frame_set_constants(MoteRenderer *renderer);
// The part of it that differs from sample to sample.
void frame_set_sample(MoteRenderer *renderer, uint32_t sample);

// Calls `prepare` of all passes. frame.c
MoteResult frame_prepare_passes(MoteRenderer *renderer);
// Records one pass, without barriers. frame.c
MoteResult frame_record_pass(MoteRenderer *renderer, PassId id, VkCommandBuffer commands);
// Uploads FrameConstants and the constants of the passes. frame.c
void frame_flush_constants(MoteRenderer *renderer);

// Descriptors of the images, blocks and samplers of resources.def. descriptors.c
MoteResult descriptors_create(MoteRenderer *renderer);
void descriptors_write(MoteRenderer *renderer); // after images were made
void descriptors_destroy(MoteRenderer *renderer);

#endif
