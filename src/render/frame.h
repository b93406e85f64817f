// frame.h - what renderer.c and frame.c know of each other.
#ifndef MOTE_RENDER_FRAME_H
#define MOTE_RENDER_FRAME_H

#include "render/renderer.h"

// Images of this size, and descriptors of them; keeps what is there if the size is the same. renderer.c
// `samples` a pixel of those that can have several, which the device must have; `edges`: EDGES_ bits of which to have.
MoteResult renderer_resize(MoteRenderer *renderer, uint32_t width, uint32_t height, uint32_t samples, uint32_t edges);

// mote_renderer_draw of a world whose arrays are these, and not what the world says of itself. frame.c
MoteResult renderer_draw_view(MoteRenderer *renderer, MoteWorld *world, const MoteRenderView *view,
                              const MoteRenderScene *scene, const MotePicture *picture);

// Waits for the picture that is being drawn, if any, and takes its timings: before anything of it is read, and before
// anything that its commands use is changed. frame.c
MoteResult renderer_finish(MoteRenderer *renderer);

#endif
