// SPDX-License-Identifier: MIT
// keys.h - access to the table of keys, for the loader, the keyframe tracks and the generated documents.
#ifndef MOTE_SCENE_KEYS_H
#define MOTE_SCENE_KEYS_H

#include "scene/scene.h"

// SceneInterpolation's names, in its order, as the table writes choices.
#define SCENE_INTERPOLATIONS "linear|step|smooth"

// Numbers one value of this key is made of: 3 for VEC3, else 1.
uint32_t scene_key_components(const SceneKey *key);

// Writes numbers (a CHOICE's index, 0 or 1 for BOOL) into the key's field of `element`. Not for STRING,
// PATH and MESH.
void scene_key_store(const SceneKey *key, void *element, const double *numbers);
// Copies the string for STRING; PATH and MESH keep the pointer.
void scene_key_store_string(const SceneKey *key, void *element, const char *string);

// Reads the numbers back. Not for STRING, PATH and MESH.
void scene_key_fetch(const SceneKey *key, const void *element, double *numbers);

// Names that the version before had for keys.
typedef struct SceneFormerKey {
    SceneSection section;
    const char *former, *name;
} SceneFormerKey;
extern const SceneFormerKey scene_former_keys[];
extern const uint32_t scene_former_key_count;

// The key of that name in a section, or NULL.
const SceneKey *scene_key_find(SceneSection section, const char *name);

// Copies the next of the words separated by '|' at *choices and moves on; false after the last one.
bool scene_choice_next(const char **choices, char word[SCENE_NAME_SIZE]);
// The number of the choice, or -1.
int scene_choice_index(const SceneKey *key, const char *word);

// Whether it is the stiffness of links, which the world changes without a jerk.
bool scene_key_eases(const SceneKey *key);

// The numbers that a table's own JSON text stands for, for a key that scene_key_store takes. A mistake in it is a
// programmer's error.
void scene_key_numbers(const SceneKey *key, const char *text, double numbers[3]);

// Fills an element (element_size bytes) with the table's defaults; required keys are zero.
void scene_defaults(SceneSection section, void *element);

#endif
