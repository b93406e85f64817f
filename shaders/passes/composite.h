// SPDX-License-Identifier: MIT
// composite.h - constants of the composite pass.
#ifndef MOTE_PASSES_COMPOSITE_H
#define MOTE_PASSES_COMPOSITE_H

#include "render_shared.h"

struct CompositeConstants {
    vec4 foam_color; // rgb, linear
    float refraction;
    float scattering;
    uint edge_samples;  // a pixel of color_samples and depth_samples; 0 where no solid has an edge in them
    uint has_occlusion; // whether occlusion_means are there
};
SHARED_STRUCT(CompositeConstants)

#endif
