// SPDX-License-Identifier: MIT
// cloth_yard.h - a scene's cloth on its way into the world (cloth_build.c), and what holds it (attachments_build.c).
#ifndef MOTE_SCENE_CLOTH_YARD_H
#define MOTE_SCENE_CLOTH_YARD_H

#include "scene/build.h"

typedef struct ClothYard {
    const SceneCloth *cloth;
    char what[512]; // begins messages
    uint32_t vertex_count, triangle_count;
    uint32_t columns, rows; // of a grid
    MoteVec3 *positions;    // m, a vertex
    uint32_t *triangles;    // 3 a triangle
    float *uvs;             // 6 a triangle
    float *masses;          // kg, a vertex
} ClothYard;

// Vertices by a list of words and by a box, and what messages call these.
typedef struct ClothChoice {
    const char *what, *words_key, *words, *box_key;
    MoteVec3 position, size;
} ClothChoice;

// Marks the vertices of a choice.
MoteResult cloth_yard_choose(const ClothYard *yard, const ClothChoice *choice, bool *chosen);

// What is attached to keyframes or colliders has no mass; then, once the particles are there, the attachments.
MoteResult attachments_pin(SceneStart *start, ClothYard *yard, uint32_t element);
MoteResult attachments_add(SceneStart *start, const ClothYard *yard, uint32_t element, uint32_t first_id);

#endif
