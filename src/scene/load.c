// SPDX-License-Identifier: MIT
// load.c - a scene file from text to values.
#include "scene/load.h"

#include "base/file.h"
#include "base/nearest.h"
#include "base/stop.h"
#include "scene/meshes.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_LIMIT ((size_t)64 << 20) // bytes; a scene is written by people, or by a program with a mistake in it

static const char *const text_keys[] = {"$schema", "name", "description", "look"};
enum { TEXT_KEY_COUNT = sizeof text_keys / sizeof text_keys[0] };

const char *const scene_built_in_materials[SCENE_BUILT_IN_MATERIALS] = {"water", "wall"};

// ---- Sections --------------------------------------------------------------------------------------------------

enum { WORDS = 64 };

// `words` are what could have been meant, `of` where they belong to.
static void report_unknown_key(SceneReader *reader, const ScenePath *path, const char *name, const char *of,
                               const char *const *words, uint32_t count)
{
    const char *nearest = nearest_word(name, words, count);
    if (nearest != NULL) {
        scene_report(reader, path, SCENE_AT_KEY, "found an unknown key, expected one of %s; did you mean \"%s\"?", of,
                     nearest);
        return;
    }
    char known[700] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < count && length < sizeof known - 1; i++) {
        snprintf(known + length, sizeof known - length, "%s%s", i > 0 ? ", " : "", words[i]);
        length = strlen(known);
    }
    scene_report(reader, path, SCENE_AT_KEY, "found an unknown key, expected one of %s: %s", of, known);
}

static void report_unknown_key_of_section(SceneReader *reader, SceneSection section, const char *name,
                                          const ScenePath *path)
{
    const char *words[WORDS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < scene_key_count && count < WORDS; i++) {
        if (scene_keys[i].section == section) {
            words[count++] = scene_keys[i].name;
        }
    }
    char of[SCENE_NAME_SIZE];
    snprintf(of, sizeof of, "the keys of \"%s\"", scene_sections[section].json_key);
    report_unknown_key(reader, path, name, of, words, count);
}

static void read_element(SceneReader *reader, SceneSection section, uint32_t index, json_t *object,
                         const ScenePath *path, void *element)
{
    if (!json_is_object(object)) {
        char found[SCENE_VALUE_TEXT_SIZE];
        scene_report(reader, path, SCENE_AT_VALUE, "found %s, expected an object", scene_describe(object, found));
        return;
    }
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        const ScenePath at = path_to_key(path, name);
        const SceneKey *key = scene_key_find(section, name);
        if (key == NULL) {
            report_unknown_key_of_section(reader, section, name, &at);
        } else {
            scene_read_key(reader, key, value, &at, index, element);
        }
    }
    for (uint32_t i = 0; i < scene_key_count; i++) {
        const SceneKey *key = &scene_keys[i];
        if (key->section == section && key->animation == SCENE_REQUIRED && json_object_get(object, key->name) == NULL) {
            const ScenePath at = path_to_key(path, key->name);
            char expected[SCENE_EXPECTED_TEXT_SIZE];
            scene_report(reader, &at, SCENE_AT_VALUE, "found nothing, expected %s",
                         scene_expected(key, false, expected));
        }
    }
}

// Room for `count` elements that hold the defaults.
static bool allocate_section(SceneReader *reader, SceneSection section, size_t count)
{
    SceneElements *elements = &reader->scene->values.sections[section];
    const size_t size = scene_sections[section].element_size;
    free(elements->data);
    *elements = (SceneElements){count > 0 ? malloc(count * size) : NULL, (uint32_t)count};
    if (count > 0 && elements->data == NULL) {
        elements->count = 0;
        reader->no_memory = true;
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (i == 0) {
            scene_defaults(section, elements->data);
        } else {
            memcpy((char *)elements->data + i * size, elements->data, size);
        }
    }
    return true;
}

static void read_array(SceneReader *reader, SceneSection section, json_t *array, const ScenePath *path)
{
    char found[SCENE_VALUE_TEXT_SIZE];
    if (!json_is_array(array)) {
        scene_report(reader, path, SCENE_AT_VALUE, "found %s, expected an array of objects",
                     scene_describe(array, found));
        return;
    }
    if (!allocate_section(reader, section, json_array_size(array))) {
        return;
    }
    SceneElements *elements = &reader->scene->values.sections[section];
    for (uint32_t i = 0; i < elements->count && !reader->no_memory; i++) {
        const ScenePath at = path_to_index(path, i);
        read_element(reader, section, i, json_array_get(array, i), &at,
                     (char *)elements->data + i * scene_sections[section].element_size);
    }
}

// The built-in elements, which only materials have, then the file's, which may redefine them.
static void read_map(SceneReader *reader, SceneSection section, json_t *map, const ScenePath *path)
{
    const SceneSectionInfo *info = &scene_sections[section];
    if (map != NULL && !json_is_object(map)) {
        char found[SCENE_VALUE_TEXT_SIZE];
        scene_report(reader, path, SCENE_AT_VALUE, "found %s, expected an object of named %s",
                     scene_describe(map, found), info->json_key);
    }
    const uint32_t built_in = section == SCENE_SECTION_material ? SCENE_BUILT_IN_MATERIALS : 0;
    if (!allocate_section(reader, section, built_in + json_object_size(map))) {
        return;
    }
    SceneElements *elements = &reader->scene->values.sections[section];
    for (elements->count = 0; elements->count < built_in; elements->count++) {
        snprintf(SCENE_AT(&reader->scene->values, material, elements->count)->name, SCENE_NAME_SIZE, "%s",
                 scene_built_in_materials[elements->count]);
    }
    const char *name;
    json_t *value;
    json_object_foreach(map, name, value)
    {
        const ScenePath at = path_to_key(path, name);
        const size_t length = strlen(name);
        if (length == 0 || length >= SCENE_NAME_SIZE) {
            scene_report(reader, &at, SCENE_AT_KEY, "found a name of %zu bytes, expected 1 to %d", length,
                         SCENE_NAME_SIZE - 1);
            continue;
        }
        uint32_t index = 0;
        while (index < built_in && strcmp(scene_built_in_materials[index], name) != 0) {
            index++;
        }
        index = index < built_in ? index : elements->count++;
        char *element = (char *)elements->data + index * info->element_size;
        memcpy(element, name, length + 1); // a MAP's first field
        read_element(reader, section, index, value, &at, element);
    }
}

// ---- The file --------------------------------------------------------------------------------------------------

static char *copy_bytes(SceneReader *reader, const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy == NULL) {
        reader->no_memory = true;
        return NULL;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

static void report_unknown_section(SceneReader *reader, const char *name, const ScenePath *path)
{
    const char *words[TEXT_KEY_COUNT + SCENE_SECTION_COUNT];
    uint32_t count = 0;
    for (uint32_t s = 0; s < SCENE_SECTION_COUNT; s++) {
        words[count++] = scene_sections[s].json_key;
    }
    for (uint32_t i = 0; i < TEXT_KEY_COUNT; i++) {
        words[count++] = text_keys[i];
    }
    report_unknown_key(reader, path, name, "a scene's keys", words, count);
}

static void read_section(SceneReader *reader, SceneSection section, json_t *value, const ScenePath *path)
{
    switch (scene_sections[section].kind) {
    case SCENE_OBJECT:
        read_element(reader, section, 0, value, path, reader->scene->values.sections[section].data);
        break;
    case SCENE_ARRAY:
        read_array(reader, section, value, path);
        break;
    case SCENE_MAP:
        read_map(reader, section, value, path);
        break;
    }
}

static void read_top_level(SceneReader *reader, const char *name, json_t *value)
{
    const ScenePath root = {0};
    const ScenePath path = path_to_key(&root, name);
    for (uint32_t i = 0; i < TEXT_KEY_COUNT; i++) {
        if (strcmp(name, text_keys[i]) == 0) {
            if (!json_is_string(value) && strcmp(name, "look") != 0) { // load_look.c has told of a look
                char found[SCENE_VALUE_TEXT_SIZE];
                scene_report(reader, &path, SCENE_AT_VALUE, "found %s, expected a string",
                             scene_describe(value, found));
            } else if (strcmp(name, "name") == 0) {
                reader->scene->name = copy_bytes(reader, json_string_value(value), json_string_length(value));
            }
            return;
        }
    }
    for (uint32_t s = 0; s < SCENE_SECTION_COUNT; s++) {
        if (strcmp(name, scene_sections[s].json_key) == 0) {
            read_section(reader, (SceneSection)s, value, &path);
            return;
        }
    }
    report_unknown_section(reader, name, &path);
}

static void name_after_file(SceneReader *reader)
{
    const char *slash = strrchr(reader->file, '/');
    const char *base = slash != NULL ? slash + 1 : reader->file;
    const char *dot = strrchr(base, '.');
    reader->scene->name = copy_bytes(reader, base, dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base));
}

static void read_scene(SceneReader *reader)
{
    for (uint32_t s = 0; s < SCENE_SECTION_COUNT; s++) {
        if (scene_sections[s].kind == SCENE_OBJECT && !allocate_section(reader, (SceneSection)s, 1)) {
            return;
        }
    }
    const ScenePath root = {0};
    if (!json_is_object(reader->root)) {
        char found[SCENE_VALUE_TEXT_SIZE];
        scene_report(reader, &root, SCENE_AT_VALUE, "found %s, expected an object: a scene",
                     scene_describe(reader->root, found));
        return;
    }
    read_map(reader, SCENE_SECTION_material, NULL, &root); // the built-in ones, should the file have none
    const char *name;
    json_t *value;
    json_object_foreach(reader->root, name, value)
    {
        if (reader->no_memory) {
            return;
        }
        read_top_level(reader, name, value);
    }
    if (reader->scene->name == NULL) {
        name_after_file(reader);
    }
    if (reader->no_memory) {
        return; // what was read may be half made
    }
    scene_tracks_sort(reader->scene);
    scene_check(reader);
    if (reader->errors == 0) {
        scene_hash(reader);
        scene_values_at(reader->scene, 0, &reader->scene->values);
    }
}

// ---- Syntax ----------------------------------------------------------------------------------------------------

static void report_syntax(SceneReader *reader, const json_error_t *error)
{
    // The parser's columns count from 1, but stand at 0 before a line's first character.
    const int line = error->line > 0 ? error->line : 1, column = error->column > 0 ? error->column : 1;
    char path[200];
    locate_offset(reader->text, reader->size, error->position > 0 ? (size_t)error->position : 0, path, sizeof path);
    const char *separator = path[0] != '\0' ? ": " : "";
    if (json_error_code(error) == json_error_duplicate_key) {
        scene_report_line(reader, "%s:%d:%d: %s%sfound this key a second time, expected it once", reader->file, line,
                          column, path, separator);
        return;
    }
    if (json_error_code(error) == json_error_null_character) {
        scene_report_line(reader, "%s:%d:%d: %s%sfound the character \\u0000, expected text without it", reader->file,
                          line, column, path, separator);
        return;
    }
    char text[JSON_ERROR_TEXT_LENGTH];
    snprintf(text, sizeof text, "%s", error->text);
    for (char *c = text; *c != '\0'; c++) {
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c; // a bad string may quote a line break
    }
    scene_report_line(reader, "%s:%d:%d: %s%sfound invalid JSON: %s", reader->file, line, column, path, separator,
                      text);
}

static bool parse(SceneReader *reader)
{
    if (reader->size >= 3 && memcmp(reader->text, "\xef\xbb\xbf", 3) == 0) {
        scene_report_line(reader, "%s:1:1: found a byte order mark, expected UTF-8 without one", reader->file);
        return false;
    }
    const char *zero = memchr(reader->text, '\0', reader->size); // the parser would take it for the end
    if (zero != NULL) {
        const ScenePosition at = locate_position(reader->text, reader->size, (size_t)(zero - reader->text));
        scene_report_line(reader, "%s:%zu:%zu: found a zero byte, expected JSON text", reader->file, at.line,
                          at.column);
        return false;
    }
    json_error_t error;
    reader->root = json_loadb(reader->text, reader->size, JSON_REJECT_DUPLICATES, &error);
    if (reader->root != NULL) {
        return true;
    }
    if (json_error_code(&error) == json_error_out_of_memory) {
        reader->no_memory = true;
    } else {
        report_syntax(reader, &error);
    }
    return false;
}

MoteResult mote_scene_load(const char *path, const char *const *overrides, uint32_t override_count, MoteScene **out)
{
    *out = NULL;
    char *text;
    size_t size;
    MoteResult result = file_read_argument(path, FILE_LIMIT, &text, &size);
    if (result != MOTE_OK) {
        return result;
    }
    SceneReader *reader = calloc(1, sizeof *reader);
    MoteScene *scene = calloc(1, sizeof *scene);
    if (reader == NULL || scene == NULL) {
        result = mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to read it", path);
    } else {
        reader->file = path;
        reader->text = text;
        reader->size = size;
        reader->scene = scene;
        scene->path = copy_bytes(reader, path, strlen(path));
        if (parse(reader)) {
            scene_overrides_apply(reader, overrides, override_count);
            scene_rename_former_keys(reader);
            scene_apply_look(reader);
            read_scene(reader);
        }
        result = stop_check(); // then what was read may lack meshes
        result = result == MOTE_OK ? scene_report_result(reader) : result;
        scene_overrides_free(reader);
        json_decref(reader->root);
    }
    free(reader);
    free(text);
    if (result != MOTE_OK) {
        mote_scene_destroy(scene);
        return result;
    }
    *out = scene;
    return MOTE_OK;
}

static void points_free(ScenePoints *points)
{
    for (ScenePoints *next; points != NULL; points = next) {
        next = points->next;
        free(points);
    }
}

void mote_scene_destroy(MoteScene *scene)
{
    if (scene == NULL) {
        return;
    }
    for (uint32_t i = 0; i < scene->track_count; i++) {
        free(scene->tracks[i].times);
        free(scene->tracks[i].values);
    }
    free(scene->tracks);
    scene_values_free(&scene->values);
    scene_meshes_free(scene);
    points_free(scene->points);
    notices_clear(&scene->notices);
    for (SceneText *text = scene->texts, *next; text != NULL; text = next) {
        next = text->next;
        free(text);
    }
    free(scene->path);
    free(scene->name);
    free(scene);
}
