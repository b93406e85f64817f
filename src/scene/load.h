// SPDX-License-Identifier: MIT
// load.h - state that the files of the scene loader share: the text being read and the errors found in it so far.
#ifndef MOTE_SCENE_LOAD_H
#define MOTE_SCENE_LOAD_H

#include "base/error.h"
#include "scene/keys.h"
#include "scene/locate.h"
#include <jansson.h>

typedef struct SceneOverride {
    const char *text;  // "path=value", as given
    const char *value; // in text, after the '='
    char *keys;        // what the path's keys point into
    ScenePath path;
} SceneOverride;

// Where an error's position points.
typedef enum ScenePlace { SCENE_AT_VALUE, SCENE_AT_KEY } ScenePlace;

typedef struct SceneReader {
    const char *file, *text;
    size_t size;
    json_t *root;
    MoteScene *scene; // being filled
    SceneOverride *overrides;
    uint32_t override_count;
    uint32_t track_capacity;

    uint32_t errors, errors_told; // found, and in `message`
    bool values_are_right;        // no single key was wrong: no value is the default in place of another
    double fluid_particles;       // of the fluids that were checked
    bool no_memory;
    char message[3840]; // a line for each error
    size_t message_length;
} SceneReader;

// ---- Errors (load_report.c) ----

// Adds "FILE:LINE:COLUMN: path: " and the rest; or "--set path=value: path: " where an override gave the value.
void scene_report(SceneReader *reader, const ScenePath *path, ScenePlace place, const char *format, ...)
    MOTE_PRINTF(4, 5);
// The beginning of such a line, in `text`; returns its length.
size_t scene_describe_place(const SceneReader *reader, const ScenePath *path, ScenePlace place, char *text,
                            size_t size);
// Adds a line that has a beginning of its own.
void scene_report_line(SceneReader *reader, const char *format, ...) MOTE_PRINTF(2, 3);
// Whether an override gave this value, or one around it.
bool scene_is_overridden(const SceneReader *reader, const ScenePath *path);
// MOTE_OK, or the failure with all its lines.
MoteResult scene_report_result(const SceneReader *reader);

#define SCENE_VALUE_TEXT_SIZE 80
// A value as an error message quotes it; returns `text`.
const char *scene_describe(const json_t *value, char text[SCENE_VALUE_TEXT_SIZE]);

// What a key's value must be, as in "a number from 0 to 1 m"; `one` is for a single component of a vector.
#define SCENE_EXPECTED_TEXT_SIZE 256
const char *scene_expected(const SceneKey *key, bool one, char text[SCENE_EXPECTED_TEXT_SIZE]);

// ---- Overrides (load_overrides.c) ----

void scene_overrides_apply(SceneReader *reader, const char *const *texts, uint32_t count);
void scene_overrides_free(SceneReader *reader);

// ---- Looks with a name (load_look.c) ----

// Puts what the scene's look says into the JSON where the scene says nothing.
void scene_apply_look(SceneReader *reader);

// ---- Names of the version before (load_former.c) ----

// Gives keys that are in the JSON under a former name their present one, each with a warning among the scene's notices.
void scene_rename_former_keys(SceneReader *reader);
// Gives the keys of a section's JSON their former names back: states were saved under those.
void scene_restore_former_keys(SceneSection section, json_t *value);

// ---- Values and keyframes (load_values.c) ----

// Reads one key of the element-th element of its section into `element`; keyframes become a track of the scene.
void scene_read_key(SceneReader *reader, const SceneKey *key, json_t *value, const ScenePath *path,
                    uint32_t element_index, void *element);

// By section, element and key; scene_track_find needs it.
void scene_tracks_sort(MoteScene *scene);
// The keyframes of a key, or NULL.
const SceneTrack *scene_track_find(const MoteScene *scene, const SceneKey *key, uint32_t element);

// ---- Built-in materials (load.c) ----

enum { SCENE_BUILT_IN_MATERIALS = 2 };
extern const char *const scene_built_in_materials[SCENE_BUILT_IN_MATERIALS]; // the first of every scene's

// ---- What no single key can tell (load_check.c) ----

void scene_check(SceneReader *reader);
// scene_check_SECTION checks an element of a section.
#define CHECK(section) void scene_check_##section(SceneReader *reader, uint32_t element);
#include "keys.def"
// The way to an element, for messages.
ScenePath scene_element_path(const SceneReader *reader, SceneSection section, uint32_t element);
// Reports numbers of a key that are not above 0, at every keyframe. The bits of `components` tell which must be;
// `owner` is what needs them, as in "a sphere".
void scene_check_positive(SceneReader *reader, SceneSection section, uint32_t element, const char *name,
                          uint32_t components, const char *owner);

// ---- Which states fit (load_hash.c) ----

void scene_hash(SceneReader *reader);

#endif
