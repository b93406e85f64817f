// SPDX-License-Identifier: MIT
// looks.h - the table of looks with a name (looks.def).
#ifndef MOTE_SCENE_LOOKS_H
#define MOTE_SCENE_LOOKS_H

#include "scene/keys.h"

// The name and meaning of a look; false beyond the last one.
bool scene_look(uint32_t number, const char **name, const char **meaning);

// For a scene that is running: one after the other, the keys that any look has, with this look's value or, where it has
// none, the default. False beyond the last one.
bool scene_look_value(uint32_t look, uint32_t number, const SceneKey **key, double numbers[3]);

#endif
