// SPDX-License-Identifier: MIT
// load_overrides.c - "path=value" from the command line, applied to the JSON before it is read.
#include "scene/load.h"

#include <stdlib.h>
#include <string.h>

// One step of the path at *cursor; false if there is none that can be understood. Keys are copied to *keys.
static bool parse_step(const char **cursor, bool first, char **keys, ScenePathStep *step)
{
    const char *c = *cursor;
    *step = (ScenePathStep){NULL, 0};
    if (*c == '[' && c[1] == '"') {
        const char *end = c + 2;
        while (*end != '\0' && *end != '"') {
            end += *end == '\\' && end[1] != '\0' ? 2 : 1;
        }
        if (end[0] != '"' || end[1] != ']') {
            return false;
        }
        json_t *decoded = json_loadb(c + 1, (size_t)(end + 1 - (c + 1)), JSON_DECODE_ANY, NULL);
        if (!json_is_string(decoded)) {
            json_decref(decoded);
            return false;
        }
        memcpy(*keys, json_string_value(decoded), json_string_length(decoded) + 1);
        step->key = *keys;
        *keys += json_string_length(decoded) + 1;
        json_decref(decoded);
        *cursor = end + 2;
        return true;
    }
    if (*c == '[') {
        size_t digits = 0;
        for (c++; *c >= '0' && *c <= '9' && digits < 9; c++, digits++) {
            step->index = step->index * 10 + (size_t)(*c - '0');
        }
        *cursor = c + 1;
        return digits > 0 && *c == ']';
    }
    c += !first && *c == '.';
    const size_t length = strcspn(c, ".[]=");
    if (length == 0 || (!first && c == *cursor)) {
        return false;
    }
    memcpy(*keys, c, length);
    (*keys)[length] = '\0';
    step->key = *keys;
    *keys += length + 1;
    *cursor = c + length;
    return true;
}

static bool parse_path(SceneReader *reader, SceneOverride *override)
{
    const char *cursor = override->text;
    char *keys = override->keys;
    while (override->path.depth == 0 || *cursor != '=') {
        if (override->path.depth == SCENE_PATH_DEPTH) {
            scene_report_line(reader, "--set %.60s: found a path of more than %d steps, expected path=value",
                              override->text, SCENE_PATH_DEPTH);
            return false;
        }
        const char *before = cursor;
        if (!parse_step(&cursor, override->path.depth == 0, &keys, &override->path.steps[override->path.depth])) {
            scene_report_line(reader, "--set %.60s: found %s%.20s%s, expected path=value, as in solver.iterations=10",
                              override->text, *before != '\0' ? "\"" : "no =", before, *before != '\0' ? "\"" : "");
            return false;
        }
        override->path.depth++;
    }
    override->value = cursor + 1;
    return true;
}

static json_t *parse_value(SceneReader *reader, const SceneOverride *override)
{
    json_t *value = json_loads(override->value, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    if (value == NULL) {
        value = json_string(override->value); // so that words need no quotes: solver.density_mode=unilateral
    }
    reader->no_memory |= value == NULL;
    return value;
}

// Sets or gets the child of a container; `value` NULL gets. A step that does not fit the container is reported.
static json_t *child(SceneReader *reader, const SceneOverride *override, json_t *node, uint32_t depth, json_t *value)
{
    const ScenePathStep *step = &override->path.steps[depth];
    ScenePath at = override->path;
    at.depth = depth;
    char path_text[200], found[SCENE_VALUE_TEXT_SIZE];
    path_print(&at, path_text, sizeof path_text);
    if (step->key != NULL ? !json_is_object(node) : !json_is_array(node)) {
        scene_report_line(reader, "--set %.60s: %s: found %s, expected %s", override->text,
                          depth > 0 ? path_text : "the scene", scene_describe(node, found),
                          step->key != NULL ? "an object" : "an array");
        json_decref(value);
        return NULL;
    }
    if (step->key != NULL) {
        if (value != NULL && json_object_set_new(node, step->key, value) != 0) {
            reader->no_memory = true;
        }
        return json_object_get(node, step->key);
    }
    const size_t size = json_array_size(node);
    if (step->index > size) {
        scene_report_line(reader, "--set %.60s: %s: found index %zu, expected at most %zu, which adds one at the end",
                          override->text, depth > 0 ? path_text : "the scene", step->index, size);
        json_decref(value);
        return NULL;
    }
    if (value != NULL && (step->index == size ? json_array_append_new(node, value)
                                              : json_array_set_new(node, step->index, value)) != 0) {
        reader->no_memory = true;
    }
    return json_array_get(node, step->index);
}

static void apply(SceneReader *reader, const SceneOverride *override)
{
    json_t *node = reader->root;
    for (uint32_t depth = 0; depth + 1 < override->path.depth; depth++) {
        const uint32_t errors = reader->errors;
        json_t *next = child(reader, override, node, depth, NULL);
        if (reader->errors > errors) {
            return;
        }
        if (next == NULL) {
            json_t *made = override->path.steps[depth + 1].key != NULL ? json_object() : json_array();
            next = made != NULL ? child(reader, override, node, depth, made) : NULL;
        }
        if (next == NULL) {
            reader->no_memory = true;
            return;
        }
        node = next;
    }
    json_t *value = parse_value(reader, override);
    if (value != NULL) {
        child(reader, override, node, override->path.depth - 1, value);
    }
}

void scene_overrides_apply(SceneReader *reader, const char *const *texts, uint32_t count)
{
    if (count == 0) {
        return;
    }
    reader->overrides = calloc(count, sizeof *reader->overrides);
    if (reader->overrides == NULL) {
        reader->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        json_t *utf8 = json_string(texts[i]);
        if (utf8 == NULL) {
            scene_report_line(reader, "--set: override %u is not UTF-8, expected path=value", i + 1);
            continue;
        }
        json_decref(utf8);
        SceneOverride *override = &reader->overrides[reader->override_count];
        *override = (SceneOverride){.text = texts[i], .keys = malloc(strlen(texts[i]) + 1)};
        if (override->keys == NULL) {
            reader->no_memory = true;
            return;
        }
        if (parse_path(reader, override)) {
            reader->override_count++;
            apply(reader, override);
        } else {
            free(override->keys);
        }
    }
}

void scene_overrides_free(SceneReader *reader)
{
    for (uint32_t i = 0; i < reader->override_count; i++) {
        free(reader->overrides[i].keys);
    }
    free(reader->overrides);
    reader->overrides = NULL;
    reader->override_count = 0;
}
