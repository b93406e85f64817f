// SPDX-License-Identifier: MIT
// scene.h - constants of the scene pass.
#ifndef MOTE_PASSES_SCENE_H
#define MOTE_PASSES_SCENE_H

#include "render_shared.h"

#define BLOCKERS 8

struct SceneConstants {
    vec4 grid_color;                // w is metres between grid lines, 0 for none
    vec4 blocker_spheres[BLOCKERS]; // how far blockers darken the ground: centre, radius
    Collider blockers[BLOCKERS];    // solids that darken the ground near them, as many as have room
    uint blocker_count;
    uint pattern; // MoteGroundPattern
};
SHARED_STRUCT(SceneConstants)

// Of planes, the ground among them.
struct PlanePush {
    vec4 plane;    // normal; w is the height of the origin above it
    vec4 material; // rgb, roughness
};
SHARED_STRUCT(PlanePush)

// Of the light of meshes and grains.
struct SolidsPush {
    uint surface; // of those at a pixel
};
SHARED_STRUCT(SolidsPush)

#endif
