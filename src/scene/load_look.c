// SPDX-License-Identifier: MIT
// load_look.c - looks with a name (looks.def). What a look says is put into the JSON where the scene says nothing,
// before it is read: so a scene's own keys, and overrides, have the last word.
#include "scene/load.h"
#include "scene/looks.h"

#include "base/nearest.h"
#include <stdio.h>
#include <string.h>

typedef struct LookRow {
    const char *look, *meaning;        // of a look's first row
    const char *section, *key, *value; // of the others
} LookRow;

static const LookRow rows[] = {
#define LOOK(name, meaning)             {name, meaning, NULL, NULL, NULL},
#define LOOK_VALUE(section, key, value) {NULL, NULL, section, key, value},
#include "scene/looks.def"
};
enum { ROWS = sizeof rows / sizeof rows[0], LOOKS_TOLD = 32 };

bool scene_look(uint32_t number, const char **name, const char **meaning)
{
    for (uint32_t i = 0, found = 0; i < ROWS; i++) {
        if (rows[i].look != NULL && found++ == number) {
            *name = rows[i].look;
            *meaning = rows[i].meaning;
            return true;
        }
    }
    return false;
}

static const SceneKey *key_of(const LookRow *row)
{
    for (uint32_t s = 0; s < SCENE_SECTION_COUNT; s++) {
        if (strcmp(scene_sections[s].json_key, row->section) == 0) {
            return scene_key_find((SceneSection)s, row->key);
        }
    }
    return NULL;
}

static bool is_first_of_key(uint32_t row)
{
    for (uint32_t i = 0; i < row; i++) {
        if (rows[i].look == NULL && strcmp(rows[i].section, rows[row].section) == 0 &&
            strcmp(rows[i].key, rows[row].key) == 0) {
            return false;
        }
    }
    return true;
}

bool scene_look_value(uint32_t look, uint32_t number, const SceneKey **key, double numbers[3])
{
    uint32_t first = 0, found = 0;
    while (first < ROWS && (rows[first].look != NULL || !is_first_of_key(first) || found++ != number)) {
        first++;
    }
    if (first == ROWS) {
        return false;
    }
    *key = key_of(&rows[first]);
    MOTE_ASSERT(*key != NULL);
    const char *value = (*key)->standard;
    for (uint32_t i = 0, inside = 0; i < ROWS; i++) {
        inside += rows[i].look != NULL ? 1 : 0;
        if (rows[i].look == NULL && inside == look + 1 && key_of(&rows[i]) == *key) {
            value = rows[i].value;
        }
    }
    scene_key_numbers(*key, value, numbers);
    return true;
}

static void report_unknown_look(SceneReader *reader, const json_t *value)
{
    const char *words[LOOKS_TOLD], *meaning;
    char known[400] = "", found[SCENE_VALUE_TEXT_SIZE];
    size_t length = 0;
    uint32_t count = 0;
    while (count < LOOKS_TOLD && scene_look(count, &words[count], &meaning)) {
        length +=
            (size_t)snprintf(known + length, sizeof known - length, "%s\"%s\"", count > 0 ? ", " : "", words[count]);
        count++;
    }
    const char *nearest = json_is_string(value) ? nearest_word(json_string_value(value), words, count) : NULL;
    const ScenePath root = {0}, path = path_to_key(&root, "look");
    scene_report(reader, &path, SCENE_AT_VALUE, "found %s, expected one of %s%s%s%s", scene_describe(value, found),
                 known, nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
                 nearest != NULL ? "\"?" : "");
}

// Sets a key that the scene does not.
static void set_default(SceneReader *reader, const LookRow *row)
{
    json_t *section = json_object_get(reader->root, row->section);
    if (section == NULL) {
        section = json_object();
        reader->no_memory |= section == NULL || json_object_set_new(reader->root, row->section, section) != 0;
    }
    if (json_is_object(section) && json_object_get(section, row->key) == NULL) { // else an error when it is read
        json_t *value = json_loads(row->value, JSON_DECODE_ANY, NULL);
        reader->no_memory |= value == NULL || json_object_set_new(section, row->key, value) != 0;
    }
}

void scene_apply_look(SceneReader *reader)
{
    const json_t *look = json_is_object(reader->root) ? json_object_get(reader->root, "look") : NULL;
    if (look == NULL) {
        return;
    }
    bool inside = false, found = false;
    for (uint32_t i = 0; i < ROWS; i++) {
        if (rows[i].look != NULL) {
            inside = json_is_string(look) && strcmp(rows[i].look, json_string_value(look)) == 0;
            found = found || inside;
        } else if (inside) {
            set_default(reader, &rows[i]);
        }
    }
    if (!found) {
        report_unknown_look(reader, look);
    }
}
