// SPDX-License-Identifier: MIT
// start.h - the initial state of a scene: the source of each particle, particles left out because a collider is there,
// and checks of the rest.
//
// The solver separates particles that start inside a collider or inside each other without adding velocity (UPP section
// 4.4), but rarely to where the user wanted them. So liquid and grains are not created inside colliders. Bodies, which
// cannot be cut, are reported with the name of what they overlap. A rigid body wider than its container is an error.
#ifndef MOTE_SCENE_START_H
#define MOTE_SCENE_START_H

#include "scene/bodies_build.h"
#include "scene/notices.h"
#include "scene/scene.h"

// What some of the first particles came from: an element of the scene, and of a body which copy.
typedef struct StartSource {
    SceneSection section;
    uint32_t element, copy;
    uint32_t first_id, count;
    MoteVec3 bounds_min, bounds_max; // m, box around its particles
} StartSource;

typedef struct SceneStart {
    const MoteScene *scene;
    MoteWorld *world;
    Notices *notices;
    SceneBodies *bodies;             // what is built of them, which the simulation keeps
    const MoteColliderId *colliders; // one a collider of the scene
    uint32_t *pin_sets;              // one an attachment: the world's set of pins, or MOTE_NONE
    uint32_t *first_spring;          // of the section springs, of the world's
    StartSource *sources;
    uint32_t source_count, source_capacity;
} SceneStart;

void scene_start_free(SceneStart *start);
// Notes that `count` particles from `first_id` on are an element's.
MoteResult scene_start_source(SceneStart *start, SceneSection section, uint32_t element, uint32_t copy,
                              uint32_t first_id, const MoteVec3 *positions, uint32_t count);
// Drops those of an element's points that are inside a collider; it is an error if none is left.
MoteResult scene_start_outside(SceneStart *start, SceneSection section, uint32_t element, MoteVec3 *points,
                               uint32_t *count);
// Once all is there: refuses places so far away that floats cannot tell neighbours apart, and rigid bodies that do not
// fit; warns of everything that begins inside something else. start_check.c
MoteResult scene_start_check(SceneStart *start);
// "bodies[2] (copy 7)"; at most START_NAME_SIZE bytes.
#define START_NAME_SIZE 64
void scene_start_name(const SceneStart *start, const StartSource *source, char *name);

#endif
