// SPDX-License-Identifier: MIT
// foam.h - constants of the passes foam and foam_front, and what a pixel of their buffer holds.
#ifndef MOTE_PASSES_FOAM_H
#define MOTE_PASSES_FOAM_H

#include "render_shared.h"

// Sums of a pixel, in fixed point: whatever the order of atomics they are the same.
#define FOAM_WORDS        5u // a pixel
#define FOAM_FRONT        0u // optical depth in front of the liquid's surface, or on it,
#define FOAM_FRONT_LIGHT  1u // times the sun's light that reaches it; in the view foam_class times the class
#define FOAM_BEHIND       2u // the same of what is behind the surface,
#define FOAM_BEHIND_LIGHT 3u
#define FOAM_BEHIND_WAY   4u      // and times the metres of liquid before it
#define FOAM_UNIT         65536.0 // of an optical depth of 1
#define FOAM_WAY_UNIT     4096.0  // of an optical depth of 1 behind a metre
#define FOAM_LONGEST      24.0    // pixels, of a streak
#define FOAM_SMALLEST     1.0     // pixels, of a radius: what is smaller is drawn so large, and thinner

struct FoamConstants {
    vec4 color;       // rgb, linear
    uint capacity;    // slots
    float radius;     // m, median
    float spread;     // of the radius's logarithm
    float density;    // optical depth through the middle
    float shutter;    // s
    uint drops;       // of an isolated particle of liquid
    uint shows_class; // 1: sums of light are of classes
};
SHARED_STRUCT(FoamConstants)

#endif
