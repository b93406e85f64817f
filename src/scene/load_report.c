// SPDX-License-Identifier: MIT
// load_report.c - error messages of scene files, with their position.
#include "scene/load.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ERRORS_TOLD = 10, PATH_TEXT_SIZE = 200, LINE_SIZE = 1200, OVERRIDE_TEXT_LENGTH = 60 };

// ---- Collecting ------------------------------------------------------------------------------------------------

static void add_line(SceneReader *reader, const char *line)
{
    reader->errors++;
    const size_t length = strlen(line);
    // Lines are told whole or not at all; the last one says how many are not.
    if (reader->errors > ERRORS_TOLD || reader->errors_told + 1 != reader->errors ||
        reader->message_length + length + 2 > sizeof reader->message) {
        return;
    }
    if (reader->message_length > 0) {
        reader->message[reader->message_length++] = '\n';
    }
    memcpy(reader->message + reader->message_length, line, length + 1);
    reader->message_length += length;
    reader->errors_told++;
}

void scene_report_line(SceneReader *reader, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    add_line(reader, line);
}

static uint32_t common_steps(const ScenePath *a, const ScenePath *b)
{
    uint32_t i = 0;
    for (; i < a->depth && i < b->depth; i++) {
        const ScenePathStep *x = &a->steps[i], *y = &b->steps[i];
        if ((x->key == NULL) != (y->key == NULL)) {
            break;
        }
        if (x->key != NULL ? strcmp(x->key, y->key) != 0 : x->index != y->index) {
            break;
        }
    }
    return i;
}

// The last override that gave the value at `path` or one around it.
static const SceneOverride *override_of(const SceneReader *reader, const ScenePath *path)
{
    for (uint32_t i = reader->override_count; i > 0; i--) {
        const SceneOverride *override = &reader->overrides[i - 1];
        if (common_steps(&override->path, path) == override->path.depth) {
            return override;
        }
    }
    return NULL;
}

bool scene_is_overridden(const SceneReader *reader, const ScenePath *path)
{
    return override_of(reader, path) != NULL;
}

// The override that made what is at the first `depth` steps of `path`, for values that are not in the file.
static const SceneOverride *maker_of(const SceneReader *reader, const ScenePath *path, uint32_t depth)
{
    for (uint32_t i = reader->override_count; i > 0; i--) {
        if (common_steps(&reader->overrides[i - 1].path, path) > depth) {
            return &reader->overrides[i - 1];
        }
    }
    return NULL;
}

size_t scene_describe_place(const SceneReader *reader, const ScenePath *path, ScenePlace place, char *text, size_t size)
{
    ScenePosition position = {1, 1};
    const SceneOverride *override = override_of(reader, path);
    if (override == NULL) {
        const uint32_t depth = locate_path(reader->text, reader->size, path, place == SCENE_AT_KEY, &position);
        override = depth < path->depth ? maker_of(reader, path, depth) : NULL;
    }
    if (override != NULL) {
        const bool cut = strlen(override->text) > OVERRIDE_TEXT_LENGTH;
        snprintf(text, size, "--set %.*s%s: ", OVERRIDE_TEXT_LENGTH, override->text, cut ? "..." : "");
    } else {
        snprintf(text, size, "%s:%zu:%zu: ", reader->file, position.line, position.column);
    }
    const size_t length = strlen(text);
    char path_text[PATH_TEXT_SIZE];
    path_print(path, path_text, sizeof path_text);
    if (path->depth > 0) {
        snprintf(text + length, size - length, "%s: ", path_text);
    }
    return strlen(text);
}

void scene_report(SceneReader *reader, const ScenePath *path, ScenePlace place, const char *format, ...)
{
    if (reader->errors >= ERRORS_TOLD) {
        reader->errors++; // only counted: finding the position of each of a million errors would take hours
        return;
    }
    char line[LINE_SIZE];
    const size_t length = scene_describe_place(reader, path, place, line, sizeof line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + length, sizeof line - length, format, arguments);
    va_end(arguments);
    add_line(reader, line);
}

MoteResult scene_report_result(const SceneReader *reader)
{
    if (reader->no_memory) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to read it", reader->file);
    }
    if (reader->errors == 0) {
        return MOTE_OK;
    }
    const uint32_t rest = reader->errors - reader->errors_told;
    if (rest == 0) {
        return mote_fail(MOTE_ERROR_INPUT, "%s", reader->message);
    }
    return mote_fail(MOTE_ERROR_INPUT, "%s\n%s: and %u more error%s", reader->message, reader->file, rest,
                     rest == 1 ? "" : "s");
}

// ---- Wording ---------------------------------------------------------------------------------------------------

// Copies, and ends with "..." where the rest does not fit, between two UTF-8 characters.
static void copy_cut(char *out, size_t out_size, const char *text)
{
    const size_t length = strlen(text);
    if (length < out_size) {
        memcpy(out, text, length + 1);
        return;
    }
    size_t kept = out_size - 4;
    while (kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80) {
        kept--;
    }
    memcpy(out, text, kept);
    memcpy(out + kept, "...", 4);
}

static bool is_short_list(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (json_is_object(json_array_get(value, i)) || json_is_array(json_array_get(value, i))) {
            return false;
        }
    }
    return json_array_size(value) <= 4;
}

const char *scene_describe(const json_t *value, char text[SCENE_VALUE_TEXT_SIZE])
{
    if (json_is_object(value)) {
        const bool keyframes = json_object_get(value, "keyframes") != NULL;
        copy_cut(text, SCENE_VALUE_TEXT_SIZE, keyframes ? "keyframes" : "an object");
        return text;
    }
    if (json_is_array(value) && !is_short_list(value)) {
        snprintf(text, SCENE_VALUE_TEXT_SIZE, "an array of %zu", json_array_size(value));
        return text;
    }
    char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
    copy_cut(text, SCENE_VALUE_TEXT_SIZE, dump != NULL ? dump : "a value");
    free(dump);
    return text;
}

static void append(char *text, size_t size, const char *more)
{
    const size_t length = strlen(text);
    copy_cut(text + length, size - length, more);
}

const char *scene_expected(const SceneKey *key, bool one, char text[SCENE_EXPECTED_TEXT_SIZE])
{
    text[0] = '\0';
    switch (key->type) {
    case SCENE_UINT:
    case SCENE_FLOAT:
    case SCENE_VEC3:
        snprintf(text, SCENE_EXPECTED_TEXT_SIZE, "%s from %.10g to %.10g%s%s",
                 key->type == SCENE_UINT           ? "a whole number"
                 : key->type == SCENE_FLOAT || one ? "a number"
                                                   : "an array of 3 numbers",
                 key->minimum, key->maximum, key->unit[0] != '\0' ? " " : "", key->unit);
        break;
    case SCENE_BOOL:
        append(text, SCENE_EXPECTED_TEXT_SIZE, "true or false");
        break;
    case SCENE_STRING:
        snprintf(text, SCENE_EXPECTED_TEXT_SIZE, "a string of 1 to %d bytes", SCENE_NAME_SIZE - 1);
        break;
    case SCENE_PATH:
        append(text, SCENE_EXPECTED_TEXT_SIZE, "the path of a file, relative to the scene file's folder");
        break;
    case SCENE_MESH:
        append(text, SCENE_EXPECTED_TEXT_SIZE,
               "a mesh: the path of a file, relative to the scene file's folder, package:PATH or shape:NAME");
        break;
    case SCENE_MESHES:
        append(text, SCENE_EXPECTED_TEXT_SIZE,
               "an array of at least 2 meshes: paths of files, package:PATH or shape:NAME");
        break;
    case SCENE_POINTS:
        snprintf(text, SCENE_EXPECTED_TEXT_SIZE, "an array of points, of 3 numbers from %.10g to %.10g%s%s each",
                 key->minimum, key->maximum, key->unit[0] != '\0' ? " " : "", key->unit);
        break;
    case SCENE_CHOICE: {
        const char *choices = key->choices;
        char choice[SCENE_NAME_SIZE];
        append(text, SCENE_EXPECTED_TEXT_SIZE, "one of");
        for (int i = 0; scene_choice_next(&choices, choice); i++) {
            append(text, SCENE_EXPECTED_TEXT_SIZE, i == 0 ? " \"" : ", \"");
            append(text, SCENE_EXPECTED_TEXT_SIZE, choice);
            append(text, SCENE_EXPECTED_TEXT_SIZE, "\"");
        }
        break;
    }
    }
    return text;
}
