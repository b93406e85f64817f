// SPDX-License-Identifier: MIT
// grains.h - the steps of shaders/render/grains.comp.
#ifndef MOTE_RENDER_PASSES_GRAINS_H
#define MOTE_RENDER_PASSES_GRAINS_H

#include "render/renderer.h"

enum { GRAINS_LIST, GRAINS_LIST_ALL, GRAINS_MAP, GRAINS_DEPTH_SPLAT }; // and those of depth_splat.h

#endif
