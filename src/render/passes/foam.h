// SPDX-License-Identifier: MIT
// foam.h - what the passes foam and foam_front share.
#ifndef MOTE_RENDER_PASSES_FOAM_H
#define MOTE_RENDER_PASSES_FOAM_H

#include "passes/foam.h"
#include "render/renderer.h"

FoamConstants foam_constants(const Frame *frame);
// Whether isolated particles of the liquid are drawn as drops, by the pass foam.
bool draws_drops(const Frame *frame);

#endif
