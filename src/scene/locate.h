// SPDX-License-Identifier: MIT
// locate.h - paths to values of a JSON text, and their positions in the text. The JSON library does not store
// positions, so the text is scanned again to find that of an error.
#ifndef MOTE_SCENE_LOCATE_H
#define MOTE_SCENE_LOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCENE_PATH_DEPTH 16

typedef struct ScenePathStep {
    const char *key; // of an object; NULL for an array
    size_t index;    // of an array
} ScenePathStep;

// From the top-level object down, as in fluids[2].size: {"fluids"}, {2}, {"size"}.
typedef struct ScenePath {
    uint32_t depth;
    ScenePathStep steps[SCENE_PATH_DEPTH];
} ScenePath;

ScenePath path_to_key(const ScenePath *object, const char *key);
ScenePath path_to_index(const ScenePath *array, size_t index);

// As people write it: fluids[2].size, materials["crude oil"].density. Cut short with "..." if it does not fit.
void path_print(const ScenePath *path, char *out, size_t out_size);

typedef struct ScenePosition {
    size_t line, column; // from 1; columns count characters, not bytes
} ScenePosition;

ScenePosition locate_position(const char *text, size_t size, size_t offset);

// The position of the value at `path` in a valid JSON text, or with at_key of its key. Where the text ends earlier
// than the path, the position of the deepest value that is there. Returns how many steps of the path are there.
uint32_t locate_path(const char *text, size_t size, const ScenePath *path, bool at_key, ScenePosition *out);

// Prints the path of the value that byte `offset` belongs to. The text need not be valid JSON.
void locate_offset(const char *text, size_t size, size_t offset, char *out, size_t out_size);

#endif
