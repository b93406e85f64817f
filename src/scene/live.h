// SPDX-License-Identifier: MIT
// live.h - changing values of a scene while it runs, as a viewer's panel does.
#ifndef MOTE_SCENE_LIVE_H
#define MOTE_SCENE_LIVE_H

#include "scene/keys.h"

// Whether a key can change without building the simulation anew: what pictures are made with, solver values that may
// be keyframed, and the motion of colliders, emitters, kill volumes and force fields. Not where the scene has keyframes
// for it.
bool scene_key_is_live(const MoteScene *scene, const SceneKey *key, uint32_t element);

// Changes a live key for the steps and pictures to come. The numbers must be in the key's range.
void simulation_set_live(MoteScene *scene, MoteSimulation *simulation, const SceneKey *key, uint32_t element,
                         const double *numbers);

// The value of an element's key as an override (mote_scene_load): solver.gravity=[0, -9.81, 0]. Returns `text`.
const char *scene_override_text(const MoteScene *scene, const SceneKey *key, uint32_t element, const double *numbers,
                                char *text, size_t size);
// The same of a key whose value is words: materials, meshes, files. False where they do not fit, or are not UTF-8.
bool scene_override_words(const MoteScene *scene, const SceneKey *key, uint32_t element, const char *words, char *text,
                          size_t size);

#endif
