// SPDX-License-Identifier: MIT
// settings.h - key bindings and saved preferences of the viewer: a JSON file in the user's configuration folder.
#ifndef MOTE_VIEWER_SETTINGS_H
#define MOTE_VIEWER_SETTINGS_H

#include "mote_render.h"

typedef enum Action {
#define ACTION(name, key, group, meaning) ACTION_##name,
#define HELD(name, key, group, meaning)   ACTION_##name,
#include "viewer/viewer_keys.def"
    ACTION_COUNT,
    ACTION_NONE = -1
} Action;

typedef struct ActionRow {
    const char *name, *key, *group, *meaning;
    bool held;
} ActionRow;
extern const ActionRow action_rows[ACTION_COUNT];

enum { SETTINGS_RECENT = 8, SETTINGS_PATH = 1024, SETTINGS_KEY = 32, SETTINGS_BOOKMARKS = 4 };

typedef struct Settings {
    char path[SETTINGS_PATH];                    // of the file; "" is none: nothing is read or written
    char keys[ACTION_COUNT][SETTINGS_KEY];       // as SDL names them
    char recent[SETTINGS_RECENT][SETTINGS_PATH]; // scenes, the last one first
    uint32_t recent_count;
    float ui_scale;  // of the panel; 0: by the display
    float max_rate;  // Hz, of the window
    bool help_shown; // the user knows of it
    MoteCamera bookmarks[SETTINGS_BOOKMARKS];
    bool has_bookmark[SETTINGS_BOOKMARKS];
} Settings;

// Reads the file at `path`, or where the user's settings are if NULL. A file that is not there is fine; one that is
// wrong is an error that names line and key, and then *out holds the defaults.
MoteResult settings_load(const char *path, Settings *out);
MoteResult settings_save(const Settings *settings);
void settings_add_recent(Settings *settings, const char *scene);

#endif
