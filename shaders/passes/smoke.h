// SPDX-License-Identifier: MIT
// smoke.h - constants of the passes smoke_light and smoke, and how their volumes lie in memory.
#ifndef MOTE_PASSES_SMOKE_H
#define MOTE_PASSES_SMOKE_H

#include "render_shared.h"

// The light volume: cells along x and y across the sun's direction, and along it.
#define SMOKE_LIGHT_SIDE  128
#define SMOKE_LIGHT_DEEP  64
#define SMOKE_LAMPS       8u  // parts of a fire, one above the other, that light what is around it
#define SMOKE_LEVELS      5   // of the pyramids that particles are added up in
#define SMOKE_MAP_SIDE    256 // texels of the map of the first and the last smoke, of SMOKE_MODE_MAP
#define SMOKE_OPEN_SIDE   32  // the same of the volume of light from the sky
#define SMOKE_OPEN_DEEP   16
#define SMOKE_MODE_VOLUME 0u // MoteSmokeMode
#define SMOKE_MODE_MAP    1u
#define SMOKE_MODE_SPLATS 2u

// Words of frame.smoke_light. The bounds are made by atomicMax of ordered_bits(): of the lower ones reversed.
#define SMOKE_LOWER  0u  // 6: lowest place in the sun's frame, view z, pixel
#define SMOKE_UPPER  6u  // 6: highest
#define SMOKE_ORIGIN 12u // 3 floats: corner of the light volume, in the sun's frame
#define SMOKE_CELL   15u // 2 floats: width across and along the sun's direction, m
#define SMOKE_VIEW   17u // 2 floats: view z where the view volume begins, and a slice's depth
#define SMOKE_RECT                                                                                                     \
    19u // 4 ints: columns of the view volume that have any: the first in x and y, the one behind the last
#define SMOKE_COARSE 23u // not 0 where the light volume has particles on coarser levels than the first
#define SMOKE_HOT    24u // not 0 where any glows
#define SMOKE_LAMP                                                                                                     \
    32u // SMOKE_LAMPS times 8 floats: where fire is (m), its radius squared, radiant intensity (rgb), nothing
#define SMOKE_TAU 96u // the light volume: the sun's optical depth up to the far side of each cell, floats

#define SMOKE_CELLS      (SMOKE_LIGHT_SIDE * SMOKE_LIGHT_SIDE * SMOKE_LIGHT_DEEP)
#define SMOKE_OPEN_CELLS (SMOKE_OPEN_SIDE * SMOKE_OPEN_SIDE * SMOKE_OPEN_DEEP)

// Sums are in fixed point, so that the order of atomics does not matter.
#define SMOKE_HOTTEST 4096.0 // K above the environment: what sums of temperatures can hold
#define SMOKE_AROUND  293.0  // K, of the environment

// What the march collects instead of light, for debug views.
#define SMOKE_SHOWS_LIGHT       0u
#define SMOKE_SHOWS_AGE         1u
#define SMOKE_SHOWS_TEMPERATURE 2u
#define SMOKE_SHOWS_SUN         3u // the sun's optical depth

struct SmokeConstants {
    ADDRESS(UintTarget) sums;       // smoke: of the view volume's pyramid: two words a cell
    ADDRESS(UintTarget) open_sums;  // smoke_light: three words a cell: extinction, hot smoke, its temperature
    ADDRESS(UintTarget) sprites;    // smoke_sprites: how many are seen, then 4 words each: key, id, slot, nothing
    ADDRESS(Vec4Target) lights;     // smoke_sprites: light of each slot
    ADDRESS(Vec4Target) open_light; // radiance of the sky, mean of all directions; both passes
    vec4 color;                     // albedo
    vec4 hot_color;                 // w: K above the environment where it is reached
    uint capacity;                  // slots of passive particles
    uint first_level;               // word of the light volume's second level, in frame.smoke_light
    float section;                  // m^2, optical cross-section of a new particle
    float unit;                     // of sums, of a new particle
    float radius;                   // m
    float growth;                   // 1/s
    float fade;                     // share of the life
    float asymmetry;                // of Henyey and Greenstein
    float fire;                     // radiance of red at 1800 K
    uint octaves;
    float cell;                       // pixels
    uint shows;                       // SMOKE_SHOWS_
    uint edge_samples, has_occlusion; // as in CompositeConstants
};
SHARED_STRUCT(SmokeConstants)

struct SmokePush {
    uint level; // that is added up, or raised
};

// A step of a bitonic sort: elements `distance` apart, in runs of `run` that are sorted up and down by turns.
struct SmokeSortPush {
    uint run, distance;
};
SHARED_STRUCT(SmokeSortPush)

SHARED_STRUCT(SmokePush)

#endif
