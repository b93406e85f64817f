// SPDX-License-Identifier: MIT
// load_values.c - reads the value or the keyframes of one key, and checks them against its row of the table.
#define _POSIX_C_SOURCE 200809L
#include "scene/load.h"

#include "base/file.h"
#include "base/nearest.h"
#include "scene/meshes.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void report_value(SceneReader *reader, const SceneKey *key, const json_t *value, const ScenePath *path, bool one)
{
    char found[SCENE_VALUE_TEXT_SIZE], expected[SCENE_EXPECTED_TEXT_SIZE];
    scene_report(reader, path, SCENE_AT_VALUE, "found %s, expected %s", scene_describe(value, found),
                 scene_expected(key, one, expected));
}

static bool read_number(SceneReader *reader, const SceneKey *key, const json_t *value, const ScenePath *path,
                        double *number)
{
    const double given = json_number_value(value);
    const bool right = json_is_number(value) && isfinite(given) && given >= key->minimum && given <= key->maximum &&
                       (key->type != SCENE_UINT || given == floor(given));
    if (!right) {
        report_value(reader, key, value, path, true);
        return false;
    }
    *number = given;
    return true;
}

// One value of a UINT, FLOAT or VEC3 key.
static bool read_numbers(SceneReader *reader, const SceneKey *key, const json_t *value, const ScenePath *path,
                         double numbers[3])
{
    if (key->type != SCENE_VEC3) {
        return read_number(reader, key, value, path, numbers);
    }
    if (!json_is_array(value) || json_array_size(value) != 3) {
        report_value(reader, key, value, path, false);
        return false;
    }
    bool right = true;
    for (size_t i = 0; i < 3; i++) {
        const ScenePath at = path_to_index(path, i);
        right &= read_number(reader, key, json_array_get(value, i), &at, &numbers[i]);
    }
    return right;
}

static void report_choice(SceneReader *reader, const SceneKey *key, const json_t *value, const ScenePath *path)
{
    const char *choices = key->choices;
    char words[8][SCENE_NAME_SIZE];
    const char *known[8];
    uint32_t count = 0;
    for (; count < 8 && scene_choice_next(&choices, words[count]); count++) {
        known[count] = words[count];
    }
    const char *nearest = json_is_string(value) ? nearest_word(json_string_value(value), known, count) : NULL;
    char found[SCENE_VALUE_TEXT_SIZE], expected[SCENE_EXPECTED_TEXT_SIZE];
    scene_describe(value, found);
    scene_expected(key, false, expected);
    if (nearest != NULL) {
        scene_report(reader, path, SCENE_AT_VALUE, "found %s, expected %s; did you mean \"%s\"?", found, expected,
                     nearest);
    } else {
        scene_report(reader, path, SCENE_AT_VALUE, "found %s, expected %s", found, expected);
    }
}

// ---- Keyframes -------------------------------------------------------------------------------------------------

static int compare_tracks(const void *a, const void *b)
{
    const SceneTrack *x = a, *y = b;
    const SceneSection x_section = scene_keys[x->key].section, y_section = scene_keys[y->key].section;
    if (x_section != y_section) {
        return x_section < y_section ? -1 : 1;
    }
    if (x->element != y->element) {
        return x->element < y->element ? -1 : 1;
    }
    return (x->key > y->key) - (x->key < y->key);
}

void scene_tracks_sort(MoteScene *scene)
{
    if (scene->track_count > 1) {
        qsort(scene->tracks, scene->track_count, sizeof *scene->tracks, compare_tracks);
    }
}

const SceneTrack *scene_track_find(const MoteScene *scene, const SceneKey *key, uint32_t element)
{
    if (scene->track_count == 0) {
        return NULL;
    }
    const SceneTrack wanted = {.key = (uint32_t)(key - scene_keys), .element = element};
    return bsearch(&wanted, scene->tracks, scene->track_count, sizeof wanted, compare_tracks);
}

// A new track with room for `count` keyframes, at the end of the scene's list.
static SceneTrack *add_track(SceneReader *reader, size_t count, uint32_t components)
{
    MoteScene *scene = reader->scene;
    if (scene->track_count == reader->track_capacity) {
        const uint32_t capacity = reader->track_capacity > 0 ? 2 * reader->track_capacity : 8;
        SceneTrack *grown = realloc(scene->tracks, capacity * sizeof *grown);
        if (grown == NULL) {
            reader->no_memory = true;
            return NULL;
        }
        scene->tracks = grown;
        reader->track_capacity = capacity;
    }
    SceneTrack *track = &scene->tracks[scene->track_count++];
    *track = (SceneTrack){.components = components, .count = (uint32_t)count};
    track->times = calloc(count, sizeof *track->times);
    track->values = calloc(count * components, sizeof *track->values);
    if (track->times == NULL || track->values == NULL) {
        reader->no_memory = true;
        return NULL;
    }
    return track;
}

static void read_keyframe(SceneReader *reader, const SceneKey *key, const json_t *frame, const ScenePath *path,
                          SceneTrack *track, size_t i)
{
    char found[SCENE_VALUE_TEXT_SIZE];
    if (!json_is_array(frame) || json_array_size(frame) != 2) {
        scene_report(reader, path, SCENE_AT_VALUE, "found %s, expected a keyframe [time, value]",
                     scene_describe(frame, found));
        return;
    }
    const json_t *time = json_array_get(frame, 0);
    const ScenePath time_path = path_to_index(path, 0);
    track->times[i] = json_number_value(time);
    if (!json_is_number(time) || !isfinite(track->times[i])) {
        scene_report(reader, &time_path, SCENE_AT_VALUE, "found %s, expected a time in s", scene_describe(time, found));
    } else if (i > 0 && !(track->times[i] > track->times[i - 1])) {
        scene_report(reader, &time_path, SCENE_AT_VALUE, "found %s, expected a time after %.9g s, the keyframe before",
                     scene_describe(time, found), track->times[i - 1]);
    }
    const ScenePath value_path = path_to_index(path, 1);
    double numbers[3] = {0, 0, 0};
    if (read_numbers(reader, key, json_array_get(frame, 1), &value_path, numbers)) {
        for (uint32_t c = 0; c < track->components; c++) {
            track->values[i * track->components + c] = (float)numbers[c];
        }
    }
}

static void read_interpolation(SceneReader *reader, const json_t *value, const ScenePath *path, SceneTrack *track)
{
    static const SceneKey row = {.type = SCENE_CHOICE, .choices = SCENE_INTERPOLATIONS};
    const int choice = json_is_string(value) ? scene_choice_index(&row, json_string_value(value)) : -1;
    if (choice < 0) {
        report_choice(reader, &row, value, path);
    } else {
        track->interpolation = (SceneInterpolation)choice;
    }
}

// {"keyframes": [[time, value], ...], "interpolation": "linear"}
static void read_keyframes(SceneReader *reader, const SceneKey *key, json_t *object, const ScenePath *path,
                           uint32_t element_index)
{
    const uint32_t errors = reader->errors;
    const json_t *frames = json_object_get(object, "keyframes");
    const ScenePath frames_path = path_to_key(path, "keyframes");
    char found[SCENE_VALUE_TEXT_SIZE], expected[SCENE_EXPECTED_TEXT_SIZE];
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        if (strcmp(name, "keyframes") != 0 && strcmp(name, "interpolation") != 0) {
            const ScenePath at = path_to_key(path, name);
            scene_report(reader, &at, SCENE_AT_KEY,
                         "found an unknown key, expected \"keyframes\" and \"interpolation\"");
        }
    }
    if (frames == NULL) {
        scene_report(reader, path, SCENE_AT_VALUE,
                     "found an object without \"keyframes\", expected %s, or {\"keyframes\": [[time, value], ...]}",
                     scene_expected(key, false, expected));
        return;
    }
    const size_t count = json_array_size(frames);
    if (!json_is_array(frames) || count == 0 || count > UINT32_MAX) {
        scene_report(reader, &frames_path, SCENE_AT_VALUE,
                     "found %s, expected an array of at least one keyframe [time, value]",
                     scene_describe(frames, found));
        return;
    }
    SceneTrack *track = add_track(reader, count, scene_key_components(key));
    if (track == NULL) {
        return;
    }
    track->key = (uint32_t)(key - scene_keys);
    track->element = element_index;
    for (size_t i = 0; i < count && !reader->no_memory; i++) {
        const ScenePath at = path_to_index(&frames_path, i);
        read_keyframe(reader, key, json_array_get(frames, i), &at, track, i);
    }
    const json_t *interpolation = json_object_get(object, "interpolation");
    if (interpolation != NULL) {
        const ScenePath at = path_to_key(path, "interpolation");
        read_interpolation(reader, interpolation, &at, track);
    }
    if (reader->errors > errors) { // wrong keyframes are told once, not again by the checks that follow
        free(track->times);
        free(track->values);
        reader->scene->track_count--;
    }
}

// ---- Files -----------------------------------------------------------------------------------------------------

// A file's path as fopen wants it, kept by the scene. "" stays "".
static const char *resolve_path(SceneReader *reader, const char *path)
{
    const size_t folder = path[0] != '/' && path[0] != '\0' ? file_folder_length(reader->file) : 0;
    const size_t length = strlen(path);
    SceneText *text = malloc(sizeof *text + folder + length + 1);
    if (text == NULL) {
        reader->no_memory = true;
        return NULL;
    }
    memcpy(text->text, reader->file, folder);
    memcpy(text->text + folder, path, length + 1);
    text->next = reader->scene->texts;
    reader->scene->texts = text;
    return text->text;
}

enum { TROUBLE_SIZE = 256 };

// Why the file cannot be read, in `text`, or NULL. A scene is not to make anybody read devices and FIFOs, either.
static const char *trouble_with_file(const char *path, char text[TROUBLE_SIZE])
{
    struct stat status;
    if (stat(path, &status) != 0 || access(path, R_OK) != 0) {
        return strerror(errno);
    }
    const char *kind = file_kind(status.st_mode);
    snprintf(text, TROUBLE_SIZE, "it is %s", kind != NULL ? kind : "");
    return kind != NULL ? text : NULL;
}

static void read_path(SceneReader *reader, const SceneKey *key, const json_t *value, const ScenePath *path,
                      void *element)
{
    if (!json_is_string(value)) {
        report_value(reader, key, value, path, false);
        return;
    }
    const char *resolved = resolve_path(reader, json_string_value(value));
    if (resolved == NULL) {
        return;
    }
    char text[TROUBLE_SIZE];
    const char *trouble = resolved[0] != '\0' ? trouble_with_file(resolved, text) : NULL;
    if (trouble != NULL) {
        char found[SCENE_VALUE_TEXT_SIZE];
        scene_report(reader, path, SCENE_AT_VALUE, "found %s, expected a file that can be read: %s (%s)",
                     scene_describe(value, found), trouble, resolved);
        return;
    }
    scene_key_store_string(key, element, resolved);
}

// A mesh is loaded here, so that whatever is wrong with it is told with its place in the scene.
static void read_mesh(SceneReader *reader, const SceneKey *key, const json_t *value, const ScenePath *path,
                      void *element)
{
    if (!json_is_string(value) || (key->animation == SCENE_REQUIRED && json_string_length(value) == 0)) {
        report_value(reader, key, value, path, false);
        return;
    }
    if (json_string_length(value) == 0) {
        return;
    }
    const char *reference;
    const MoteResult result = scene_mesh_load(reader->scene, json_string_value(value), &reference);
    if (result == MOTE_ERROR_MEMORY) {
        reader->no_memory = true;
    } else if (result != MOTE_OK) {
        char found[SCENE_VALUE_TEXT_SIZE];
        scene_report(reader, path, SCENE_AT_VALUE, "found %s, expected a mesh: %s", scene_describe(value, found),
                     mote_error_message());
    } else {
        scene_key_store_string(key, element, reference);
    }
}

// ---- Sequences of meshes ---------------------------------------------------------------------------------------

enum { SEQUENCE_LIMIT = 10000 }; // poses

typedef struct Names {
    char *items[SEQUENCE_LIMIT];
    uint32_t count;
} Names;

// {A..B} in a name: where it begins and ends, and the numbers. As many digits as A has are written at least.
typedef struct Span {
    size_t begin, end;
    int digits;
    unsigned int first, last;
} Span;

static bool find_span(const char *name, Span *span)
{
    const char *brace = strchr(name, '{');
    int digits = 0, used = 0;
    if (brace == NULL || sscanf(brace, "{%5u%n..%5u}%n", &span->first, &digits, &span->last, &used) != 2 || used == 0) {
        return false;
    }
    span->begin = (size_t)(brace - name);
    span->end = span->begin + (size_t)used;
    span->digits = digits - 1;
    return true;
}

// Adds what a name stands for; false if there is no memory or there are too many.
static bool add_names(Names *names, const char *name)
{
    Span span = {.begin = strlen(name), .end = strlen(name)};
    const bool many = find_span(name, &span);
    const unsigned int low = span.first < span.last ? span.first : span.last;
    const unsigned int high = span.first < span.last ? span.last : span.first;
    for (unsigned int i = 0; i <= high - low; i++) {
        const size_t size = strlen(name) + 16;
        char *item = names->count < SEQUENCE_LIMIT ? malloc(size) : NULL;
        if (item == NULL) {
            return false;
        }
        if (many) {
            const unsigned int number = span.first < span.last ? span.first + i : span.first - i;
            snprintf(item, size, "%.*s%0*u%s", (int)span.begin, name, span.digits, number, name + span.end);
        } else {
            memcpy(item, name, strlen(name) + 1);
        }
        names->items[names->count++] = item;
    }
    return true;
}

static void read_meshes(SceneReader *reader, const SceneKey *key, const json_t *value, const ScenePath *path,
                        void *element)
{
    for (size_t i = 0; i < json_array_size(value) || !json_is_array(value); i++) {
        if (!json_is_string(json_array_get(value, i))) {
            report_value(reader, key, value, path, false);
            return;
        }
    }
    Names *names = json_array_size(value) > 0 ? calloc(1, sizeof *names) : NULL;
    if (names == NULL) {
        reader->no_memory |= json_array_size(value) > 0;
        return;
    }
    bool listed = true;
    for (size_t i = 0; i < json_array_size(value) && listed; i++) {
        listed = add_names(names, json_string_value(json_array_get(value, i)));
    }
    const SceneSequence *sequence = NULL;
    MoteResult result = MOTE_ERROR_MEMORY;
    if (listed) {
        result = scene_sequence_load(reader->scene, (const char *const *)names->items, names->count, &sequence);
    } else if (names->count == SEQUENCE_LIMIT) {
        result = mote_fail(MOTE_ERROR_INPUT, "more than %d poses", SEQUENCE_LIMIT);
    }
    if (result == MOTE_OK) {
        *(const SceneSequence **)((char *)element + key->offset) = sequence;
    } else if (result == MOTE_ERROR_MEMORY) {
        reader->no_memory = true;
    } else {
        char found[SCENE_VALUE_TEXT_SIZE];
        scene_report(reader, path, SCENE_AT_VALUE, "found %s, expected poses of one mesh: %s",
                     scene_describe(value, found), mote_error_message());
    }
    for (uint32_t i = 0; i < names->count; i++) {
        free(names->items[i]);
    }
    free(names);
}

static void read_points(SceneReader *reader, const SceneKey *key, const json_t *value, const ScenePath *path,
                        void *element)
{
    static const SceneKey one = {.type = SCENE_VEC3}; // an item: its range is the list's
    if (!json_is_array(value)) {
        report_value(reader, key, value, path, false);
        return;
    }
    const size_t count = json_array_size(value);
    ScenePoints *points = malloc(sizeof *points + count * sizeof *points->at);
    if (points == NULL) {
        reader->no_memory = true;
        return;
    }
    *points = (ScenePoints){.next = reader->scene->points, .count = (uint32_t)count};
    reader->scene->points = points;
    SceneKey item = one;
    item.unit = key->unit;
    item.minimum = key->minimum;
    item.maximum = key->maximum;
    for (size_t i = 0; i < count; i++) {
        double numbers[3] = {0, 0, 0};
        const ScenePath at = path_to_index(path, i);
        read_numbers(reader, &item, json_array_get(value, i), &at, numbers);
        points->at[i] = (MoteVec3){(float)numbers[0], (float)numbers[1], (float)numbers[2]};
    }
    *(const ScenePoints **)(void *)((char *)element + key->offset) = count > 0 ? points : NULL;
}

// ---- Keys ------------------------------------------------------------------------------------------------------

void scene_read_key(SceneReader *reader, const SceneKey *key, json_t *value, const ScenePath *path,
                    uint32_t element_index, void *element)
{
    double numbers[3] = {0, 0, 0};
    if (json_is_object(value) && key->animation == SCENE_ANIMATED) {
        read_keyframes(reader, key, value, path, element_index);
        return;
    }
    if (json_object_get(value, "keyframes") != NULL) {
        char expected[SCENE_EXPECTED_TEXT_SIZE];
        scene_report(reader, path, SCENE_AT_VALUE, "found keyframes, expected %s: this key cannot be animated",
                     scene_expected(key, false, expected));
        return;
    }
    switch (key->type) {
    case SCENE_UINT:
    case SCENE_FLOAT:
    case SCENE_VEC3:
        if (read_numbers(reader, key, value, path, numbers)) {
            scene_key_store(key, element, numbers);
        }
        break;
    case SCENE_BOOL:
        if (!json_is_boolean(value)) {
            report_value(reader, key, value, path, false);
        } else {
            numbers[0] = json_is_true(value) ? 1 : 0;
            scene_key_store(key, element, numbers);
        }
        break;
    case SCENE_CHOICE: {
        const int choice = json_is_string(value) ? scene_choice_index(key, json_string_value(value)) : -1;
        if (choice < 0) {
            report_choice(reader, key, value, path);
        } else {
            numbers[0] = choice;
            scene_key_store(key, element, numbers);
        }
        break;
    }
    case SCENE_STRING: {
        const size_t length = json_is_string(value) ? json_string_length(value) : 0;
        if (length == 0 || length >= SCENE_NAME_SIZE) {
            report_value(reader, key, value, path, false);
        } else {
            scene_key_store_string(key, element, json_string_value(value));
        }
        break;
    }
    case SCENE_PATH:
        read_path(reader, key, value, path, element);
        break;
    case SCENE_MESH:
        read_mesh(reader, key, value, path, element);
        break;
    case SCENE_MESHES:
        read_meshes(reader, key, value, path, element);
        break;
    case SCENE_POINTS:
        read_points(reader, key, value, path, element);
        break;
    }
}
