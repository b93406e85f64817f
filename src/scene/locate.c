// SPDX-License-Identifier: MIT
#include "scene/locate.h"

#include "base/error.h"
#include <jansson.h>
#include <stdio.h>
#include <string.h>

// ---- Paths ---------------------------------------------------------------------------------------------------

ScenePath path_to_key(const ScenePath *object, const char *key)
{
    MOTE_ASSERT(object->depth < SCENE_PATH_DEPTH);
    ScenePath path = *object;
    path.steps[path.depth++] = (ScenePathStep){key, 0};
    return path;
}

ScenePath path_to_index(const ScenePath *array, size_t index)
{
    MOTE_ASSERT(array->depth < SCENE_PATH_DEPTH);
    ScenePath path = *array;
    path.steps[path.depth++] = (ScenePathStep){NULL, index};
    return path;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '$';
}

// Appends to a string, and says "..." at its end where the rest does not fit.
typedef struct Printer {
    char *out;
    size_t size, length;
    bool full;
} Printer;

static void print_bytes(Printer *printer, const char *bytes, size_t count)
{
    if (printer->full) {
        return;
    }
    if (printer->length + count + 4 > printer->size) {
        memcpy(printer->out + printer->length, "...", 4);
        printer->full = true;
        return;
    }
    memcpy(printer->out + printer->length, bytes, count);
    printer->length += count;
    printer->out[printer->length] = '\0';
}

static void print_index(Printer *printer, size_t index)
{
    char text[32];
    print_bytes(printer, text, (size_t)snprintf(text, sizeof text, "[%zu]", index));
}

static void print_key(Printer *printer, const char *key, size_t length)
{
    bool plain = length > 0;
    for (size_t i = 0; i < length; i++) {
        plain = plain && is_plain(key[i]);
    }
    if (plain) {
        if (printer->length > 0) {
            print_bytes(printer, ".", 1);
        }
        print_bytes(printer, key, length);
        return;
    }
    char text[64] = "[\"";
    size_t used = 2;
    for (size_t i = 0; i < length && used + 8 < sizeof text; i++) {
        const unsigned char c = (unsigned char)key[i];
        text[used++] = c < 0x20 || c == 0x7f ? '?' : key[i]; // no control characters on the reader's terminal
        if (used + 8 >= sizeof text && i + 1 < length) {
            while (used > 2 && ((unsigned char)text[used - 1] & 0xc0) == 0x80) {
                used--; // a character is printed whole or not at all
            }
            used -= (unsigned char)text[used - 1] >= 0xc0;
            memcpy(text + used, "...", 3);
            used += 3;
            break;
        }
    }
    memcpy(text + used, "\"]", 2);
    print_bytes(printer, text, used + 2);
}

void path_print(const ScenePath *path, char *out, size_t out_size)
{
    MOTE_ASSERT(out_size >= 4);
    out[0] = '\0';
    Printer printer = {out, out_size, 0, false};
    for (uint32_t i = 0; i < path->depth; i++) {
        if (path->steps[i].key != NULL) {
            print_key(&printer, path->steps[i].key, strlen(path->steps[i].key));
        } else {
            print_index(&printer, path->steps[i].index);
        }
    }
}

// ---- Walking valid JSON ----------------------------------------------------------------------------------------

static size_t skip_space(const char *text, size_t size, size_t at)
{
    while (at < size && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) {
        at++;
    }
    return at;
}

// From an opening quote to after the closing one.
static size_t skip_string(const char *text, size_t size, size_t at)
{
    for (at++; at < size && text[at] != '"'; at++) {
        at += text[at] == '\\';
    }
    return at < size ? at + 1 : size;
}

// From the first character of a value to after its last; by counting brackets, so depth costs nothing.
static size_t skip_value(const char *text, size_t size, size_t at)
{
    size_t depth = 0;
    while (at < size) {
        const char c = text[at];
        if (c == '"') {
            at = skip_string(text, size, at);
        } else if (c == '{' || c == '[') {
            depth++;
            at++;
        } else if (c == '}' || c == ']') {
            if (depth == 0) {
                return at;
            }
            depth--;
            at++;
        } else if (depth > 0) {
            at++;
            continue;
        } else {
            while (at < size && strchr(" \t\r\n,]}", text[at]) == NULL) {
                at++; // a number or word
            }
        }
        if (depth == 0) {
            return at;
        }
    }
    return size;
}

// Whether the string token text[from..to), quotes included, says `key`.
static bool token_is(const char *text, size_t from, size_t to, const char *key)
{
    const size_t length = strlen(key);
    if (memchr(text + from, '\\', to - from) == NULL) {
        return to - from == length + 2 && memcmp(text + from + 1, key, length) == 0;
    }
    json_t *decoded = json_loadb(text + from, to - from, JSON_DECODE_ANY, NULL);
    const bool equal = json_is_string(decoded) && strcmp(json_string_value(decoded), key) == 0;
    json_decref(decoded);
    return equal;
}

// Steps from the container at *at to one of its values; false if there is no such value.
static bool find_child(const char *text, size_t size, const ScenePathStep *step, size_t *at, size_t *key_at)
{
    if (*at >= size || text[*at] != (step->key != NULL ? '{' : '[')) {
        return false;
    }
    size_t cursor = skip_space(text, size, *at + 1);
    for (size_t i = 0; cursor < size && text[cursor] != '}' && text[cursor] != ']'; i++) {
        bool found = step->key == NULL && i == step->index;
        const size_t start = cursor;
        if (step->key != NULL) {
            cursor = skip_string(text, size, cursor);
            found = token_is(text, start, cursor, step->key);
            cursor = skip_space(text, size, cursor) + 1; // the colon
            cursor = skip_space(text, size, cursor < size ? cursor : size);
        }
        if (found) {
            *key_at = start;
            *at = cursor;
            return true;
        }
        cursor = skip_space(text, size, skip_value(text, size, cursor));
        if (cursor < size && text[cursor] == ',') {
            cursor = skip_space(text, size, cursor + 1);
        }
    }
    return false;
}

ScenePosition locate_position(const char *text, size_t size, size_t offset)
{
    ScenePosition position = {1, 1};
    for (size_t i = 0; i < offset && i < size; i++) {
        if (text[i] == '\n') {
            position.line++;
            position.column = 1;
        } else {
            position.column += ((unsigned char)text[i] & 0xc0) != 0x80; // the bytes that begin a character
        }
    }
    return position;
}

uint32_t locate_path(const char *text, size_t size, const ScenePath *path, bool at_key, ScenePosition *out)
{
    size_t at = skip_space(text, size, 0), key_at = at;
    uint32_t depth = 0;
    while (depth < path->depth && find_child(text, size, &path->steps[depth], &at, &key_at)) {
        depth++;
    }
    *out = locate_position(text, size, at_key && depth == path->depth ? key_at : at);
    return depth;
}

// ---- Walking any text ------------------------------------------------------------------------------------------

typedef struct Level {
    bool object, value_next; // value_next: after the colon
    size_t key, key_length;  // of an object; key 0 is none yet
    size_t index;            // of an array
} Level;

void locate_offset(const char *text, size_t size, size_t offset, char *out, size_t out_size)
{
    MOTE_ASSERT(out_size >= 4);
    Level levels[SCENE_PATH_DEPTH];
    size_t depth = 0;
    offset = offset < size ? offset : size;
    for (size_t at = 0; at < offset;) {
        Level *level = depth > 0 && depth <= SCENE_PATH_DEPTH ? &levels[depth - 1] : NULL;
        const size_t start = at;
        const char c = text[at];
        at = c == '"' ? skip_string(text, size, at) : at + 1;
        if (c == '{' || c == '[') {
            if (depth < SCENE_PATH_DEPTH) {
                levels[depth] = (Level){.object = c == '{'};
            }
            depth++;
        } else if (c == '}' || c == ']') {
            depth -= depth > 0;
        } else if (level == NULL) {
            continue;
        } else if (c == ',') {
            level->index++;
            level->value_next = false;
            level->key = 0;
        } else if (c == ':') {
            level->value_next = true;
        } else if (c == '"' && level->object && !level->value_next && at <= offset && at - start >= 2) {
            level->key = start + 1;
            level->key_length = at - start - 2;
        }
    }
    out[0] = '\0';
    Printer printer = {out, out_size, 0, false};
    for (size_t i = 0; i < depth && i < SCENE_PATH_DEPTH; i++) {
        if (!levels[i].object) {
            print_index(&printer, levels[i].index);
        } else if (levels[i].key > 0) {
            print_key(&printer, text + levels[i].key, levels[i].key_length);
        }
    }
    if (depth > SCENE_PATH_DEPTH) {
        print_bytes(&printer, "...", 3);
    }
}
