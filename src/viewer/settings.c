// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "viewer/settings.h"

#include "base/error.h"
#include "base/file.h"
#include "base/nearest.h"
#include "viewer/viewer.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const ActionRow action_rows[ACTION_COUNT] = {
#define ACTION(name, key, group, meaning) {#name, key, group, meaning, false},
#define HELD(name, key, group, meaning)   {#name, key, group, meaning, true},
#include "viewer/viewer_keys.def"
};

static void set_defaults(Settings *settings)
{
    char path[SETTINGS_PATH];
    memcpy(path, settings->path, sizeof path);
    *settings = (Settings){.max_rate = 60.0f};
    memcpy(settings->path, path, sizeof path);
    for (uint32_t i = 0; i < ACTION_COUNT; i++) {
        snprintf(settings->keys[i], SETTINGS_KEY, "%s", action_rows[i].key);
    }
}

// $XDG_CONFIG_HOME/mote/viewer.json or ~/.config/mote/viewer.json.
static void find_path(const char *given, char path[SETTINGS_PATH])
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int length = 0;
    if (given != NULL) {
        length = snprintf(path, SETTINGS_PATH, "%s", given);
    } else if (config != NULL && config[0] == '/') {
        length = snprintf(path, SETTINGS_PATH, "%s/mote/viewer.json", config);
    } else if (home != NULL && home[0] == '/') {
        length = snprintf(path, SETTINGS_PATH, "%s/.config/mote/viewer.json", home);
    }
    path[length < SETTINGS_PATH ? length : 0] = '\0'; // one that does not fit is none
}

static MoteResult read_keys(Settings *settings, const json_t *keys)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)keys, name, value)
    {
        uint32_t i = 0;
        const char *names[ACTION_COUNT];
        for (uint32_t k = 0; k < ACTION_COUNT; k++) {
            names[k] = action_rows[k].name;
        }
        while (i < ACTION_COUNT && strcmp(names[i], name) != 0) {
            i++;
        }
        if (i == ACTION_COUNT) {
            const char *nearest = nearest_word(name, names, ACTION_COUNT);
            return mote_fail(MOTE_ERROR_INPUT, "%s: keys.%.40s: found an unknown action%s%s%s", settings->path, name,
                             nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
                             nearest != NULL ? "\"?" : "");
        }
        const char *key = json_string_value(value);
        if (key == NULL || strlen(key) >= SETTINGS_KEY) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: keys.%.40s: expected the name of a key, such as \"Space\"",
                             settings->path, name);
        }
        snprintf(settings->keys[i], SETTINGS_KEY, "%s", key);
    }
    return MOTE_OK;
}

static MoteResult read_number(Settings *settings, const json_t *root, const char *name, double lowest, double highest,
                              float *out)
{
    const json_t *value = json_object_get(root, name);
    const double number = json_number_value(value);
    if (value == NULL) {
        return MOTE_OK;
    }
    if (!json_is_number(value) || !(number >= lowest && number <= highest)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: %s: expected a number from %g to %g", settings->path, name, lowest,
                         highest);
    }
    *out = (float)number;
    return MOTE_OK;
}

// As far as a scene's camera may be (scene/keys.def).
static bool is_coordinate(double value)
{
    return fabs(value) <= 1e6;
}

// "bookmarks": a camera each, or null.
static MoteResult read_bookmarks(Settings *settings, const json_t *bookmarks)
{
    for (size_t i = 0; i < json_array_size(bookmarks) && i < SETTINGS_BOOKMARKS; i++) {
        json_t *row = json_array_get(bookmarks, i);
        if (json_is_null(row)) {
            continue;
        }
        double p[3], t[3], angle = 0.0, roll = 0.0, nearest = 0.0;
        json_error_t error;
        const bool read = json_unpack_ex(row, &error, 0, "{s:[F,F,F], s:[F,F,F], s:F, s:F, s:F}", "position", &p[0],
                                         &p[1], &p[2], "target", &t[0], &t[1], &t[2], "field_of_view", &angle, "roll",
                                         &roll, "near", &nearest) == 0;
        const bool near_enough = read && is_coordinate(p[0]) && is_coordinate(p[1]) && is_coordinate(p[2]) &&
                                 is_coordinate(t[0]) && is_coordinate(t[1]) && is_coordinate(t[2]);
        if (!near_enough || !is_coordinate(roll) || !(angle > 0.0 && angle < 180.0) ||
            !(nearest > 0.0 && is_coordinate(nearest))) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "%s: bookmarks[%zu]: expected null or an object with position, target (3 numbers each), "
                             "field_of_view, roll and near, none beyond 1e6%s%s",
                             settings->path, i, read ? "" : ": ", read ? "" : error.text);
        }
        settings->bookmarks[i] = (MoteCamera){{(float)p[0], (float)p[1], (float)p[2]},
                                              {(float)t[0], (float)t[1], (float)t[2]},
                                              (float)angle,
                                              (float)roll,
                                              (float)nearest};
        settings->has_bookmark[i] = true;
    }
    return MOTE_OK;
}

static json_t *write_bookmarks(const Settings *settings)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < SETTINGS_BOOKMARKS; i++) {
        const MoteCamera *c = &settings->bookmarks[i];
        json_array_append_new(rows, settings->has_bookmark[i]
                                        ? json_pack("{s:[f,f,f], s:[f,f,f], s:f, s:f, s:f}", "position",
                                                    (double)c->position.x, (double)c->position.y, (double)c->position.z,
                                                    "target", (double)c->target.x, (double)c->target.y,
                                                    (double)c->target.z, "field_of_view", (double)c->field_of_view,
                                                    "roll", (double)c->roll, "near", (double)c->near_plane)
                                        : json_null());
    }
    return rows;
}

static MoteResult read_settings(Settings *settings, const json_t *root)
{
    if (!json_is_object(root)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: expected a JSON object", settings->path);
    }
    MoteResult result = read_keys(settings, json_object_get(root, "keys"));
    result = result == MOTE_OK ? read_number(settings, root, "ui_scale", 0.0, 8.0, &settings->ui_scale) : result;
    result = result == MOTE_OK ? read_number(settings, root, "max_rate", 1.0, 1000.0, &settings->max_rate) : result;
    result = result == MOTE_OK ? read_bookmarks(settings, json_object_get(root, "bookmarks")) : result;
    settings->help_shown = json_is_true(json_object_get(root, "help_shown"));
    const json_t *recent = json_object_get(root, "recent");
    for (size_t i = 0; i < json_array_size(recent) && settings->recent_count < SETTINGS_RECENT; i++) {
        const char *path = json_string_value(json_array_get(recent, i));
        if (path != NULL && strlen(path) < SETTINGS_PATH) {
            snprintf(settings->recent[settings->recent_count++], SETTINGS_PATH, "%s", path);
        }
    }
    return result;
}

MoteResult settings_load(const char *path, Settings *out)
{
    find_path(path, out->path);
    set_defaults(out);
    if (out->path[0] == '\0' || access(out->path, F_OK) != 0) {
        return MOTE_OK;
    }
    char *text;
    size_t size;
    MoteResult result = file_read(out->path, (size_t)1 << 20, &text, &size);
    if (result != MOTE_OK) {
        return result;
    }
    json_error_t error;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) {
        result = mote_fail(MOTE_ERROR_INPUT, "%s:%d:%d: found invalid JSON: %s", out->path, error.line, error.column,
                           error.text);
    } else {
        result = read_settings(out, root);
    }
    if (result != MOTE_OK) {
        set_defaults(out);
    }
    json_decref(root);
    free(text);
    return result;
}

static MoteResult make_folder(const char *path)
{
    char folder[SETTINGS_PATH];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL || slash == folder) {
        return MOTE_OK;
    }
    *slash = '\0';
    return file_make_folder(folder);
}

MoteResult settings_save(const Settings *settings)
{
    if (settings->path[0] == '\0') {
        return MOTE_OK;
    }
    json_t *root = json_object(), *keys = json_object(), *recent = json_array();
    for (uint32_t i = 0; i < ACTION_COUNT; i++) {
        json_object_set_new(keys, action_rows[i].name, json_string(settings->keys[i]));
    }
    for (uint32_t i = 0; i < settings->recent_count; i++) {
        json_array_append_new(recent, json_string(settings->recent[i]));
    }
    json_object_set_new(root, "keys", keys);
    json_object_set_new(root, "recent", recent);
    json_object_set_new(root, "ui_scale", json_real((double)settings->ui_scale));
    json_object_set_new(root, "max_rate", json_real((double)settings->max_rate));
    json_object_set_new(root, "bookmarks", write_bookmarks(settings));
    json_object_set_new(root, "help_shown", json_boolean(settings->help_shown));
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    json_decref(root);
    MoteResult result = text != NULL ? make_folder(settings->path)
                                     : mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to write it", settings->path);
    FileWriter writer;
    result = result == MOTE_OK ? file_writer_open(&writer, settings->path) : result;
    if (result == MOTE_OK) {
        fprintf(writer.stream, "%s\n", text);
        result = file_writer_commit(&writer);
    }
    free(text);
    return result;
}

void settings_add_recent(Settings *settings, const char *scene)
{
    if (strlen(scene) >= SETTINGS_PATH) {
        return;
    }
    uint32_t at = 0;
    while (at < settings->recent_count && strcmp(settings->recent[at], scene) != 0) {
        at++;
    }
    if (at == settings->recent_count) {
        at = settings->recent_count < SETTINGS_RECENT ? settings->recent_count++ : SETTINGS_RECENT - 1;
    }
    memmove(settings->recent[1], settings->recent[0], at * sizeof settings->recent[0]);
    snprintf(settings->recent[0], SETTINGS_PATH, "%s", scene);
}

void viewer_print_keys(void)
{
    printf("| key | name in the settings | what it does |\n| --- | --- | --- |\n");
    for (uint32_t i = 0; i < ACTION_COUNT; i++) {
        printf("| %s | %s | %s |\n", action_rows[i].key, action_rows[i].name, action_rows[i].meaning);
    }
}
