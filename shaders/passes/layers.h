// SPDX-License-Identifier: MIT
// layers.h - constants of the layers pass.
#ifndef MOTE_PASSES_LAYERS_H
#define MOTE_PASSES_LAYERS_H

#include "render_shared.h"

struct LayersConstants {
    ADDRESS(UintTarget)
    layers;          // LAYER_FLOATS a pixel: color (4), depth, normal (3), thickness, id, foam (2), smoke (4)
    uint has_foam;   // whether frame.foam is there
    uint has_grains; // whether solid particles are drawn as spheres of the scene
};
SHARED_STRUCT(LayersConstants)

#endif
