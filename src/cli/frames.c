// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "cli/frames.h"

#include "base/error.h"
#include "base/file.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define STATE_EXTENSION ".state"
static const uint64_t FRAME_LIMIT = 1000000000; // as output.frames has it

// ---- Ranges ----

// Digits at *text, which moves behind them. False if there are none, or too many.
static bool read_number(const char **text, uint64_t *out)
{
    const char *start = *text;
    uint64_t number = 0;
    while (**text >= '0' && **text <= '9' && number <= FRAME_LIMIT) {
        number = number * 10 + (uint64_t)(*(*text)++ - '0');
    }
    *out = number;
    return *text > start && number <= FRAME_LIMIT;
}

bool frame_range_parse(const char *text, FrameRange *out)
{
    *out = (FrameRange){0};
    if (*text != ':') {
        out->has_first = read_number(&text, &out->first);
        if (!out->has_first) {
            return false;
        }
        if (*text == '\0') {
            out->last = out->first;
            out->has_last = true;
            return true;
        }
    }
    if (*text++ != ':') {
        return false;
    }
    if (*text == '\0') {
        return true;
    }
    out->has_last = read_number(&text, &out->last);
    return out->has_last && *text == '\0' && out->first <= out->last;
}

// ---- Names ----

static char *no_memory_for_name(const char *of)
{
    mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for the name of a frame", of);
    return NULL;
}

char *frame_path(const char *folder, uint64_t frame, const char *suffix)
{
    const size_t size = strlen(folder) + strlen(suffix) + 32;
    char *path = malloc(size);
    if (path == NULL) {
        return no_memory_for_name(folder);
    }
    snprintf(path, size, "%s/frame_%06" PRIu64 "%s", folder, frame, suffix);
    return path;
}

bool is_frame_pattern(const char *name)
{
    return strstr(name, FRAME_PLACEHOLDER) != NULL;
}

bool is_wrong_frame_pattern(const char *name)
{
    const char *place = strstr(name, FRAME_PLACEHOLDER);
    return place != NULL && (strchr(place, '/') != NULL || is_frame_pattern(place + 1));
}

char *frame_pattern_path(const char *name, uint64_t frame)
{
    const char *place = strstr(name, FRAME_PLACEHOLDER);
    const size_t size = strlen(name) + 32;
    char *path = malloc(size);
    if (path == NULL) {
        return no_memory_for_name(name);
    }
    if (place != NULL) {
        snprintf(path, size, "%.*s%06" PRIu64 "%s", (int)(place - name), name, frame,
                 place + strlen(FRAME_PLACEHOLDER));
    } else {
        snprintf(path, size, "%s", name);
    }
    return path;
}

MoteResult make_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path) {
        return MOTE_OK;
    }
    char *folder = strndup(path, (size_t)(slash - path));
    if (folder == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for the name of its folder", path);
    }
    const MoteResult result = file_make_folder(folder);
    free(folder);
    return result;
}

// ---- Saved states ----

void state_list_free(StateList *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        free(list->files[i].path);
    }
    free(list->files);
    *list = (StateList){0};
}

// Takes `path`, which comes from malloc.
static MoteResult append(StateList *list, uint64_t frame, char *path)
{
    StateFile *grown = NULL;
    if (path != NULL) {
        const bool full = (list->count & (list->count - 1)) == 0; // room is a power of two
        grown =
            full ? realloc(list->files, (list->count > 0 ? 2 * (size_t)list->count : 1) * sizeof *grown) : list->files;
    }
    if (grown == NULL) {
        free(path);
        return mote_fail(MOTE_ERROR_MEMORY, "no memory to list saved states");
    }
    list->files = grown;
    list->files[list->count++] = (StateFile){frame, path};
    return MOTE_OK;
}

static int compare_states(const void *a, const void *b)
{
    const StateFile *x = a, *y = b;
    if (x->frame != y->frame) {
        return x->frame < y->frame ? -1 : 1;
    }
    return strcmp(x->path, y->path);
}

// The number that stands between `before` and `after` in a name.
static bool number_between(const char *name, const char *before, const char *after, uint64_t *frame)
{
    const size_t length = strlen(before);
    if (strncmp(name, before, length) != 0) {
        return false;
    }
    name += length;
    return read_number(&name, frame) && strcmp(name, after) == 0;
}

// The number that the name ends in before its extension.
static bool number_of_state(const char *name, uint64_t *frame)
{
    const size_t length = strlen(name), extension = strlen(STATE_EXTENSION);
    if (length <= extension || strcmp(name + length - extension, STATE_EXTENSION) != 0) {
        return false;
    }
    const char *digits = name + length - extension;
    while (digits > name && digits[-1] >= '0' && digits[-1] <= '9') {
        digits--;
    }
    return read_number(&digits, frame);
}

static char *join(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL) {
        snprintf(path, size, "%s/%s", folder, name);
    }
    return path;
}

// All states in a folder; of a pattern those whose names are `before`, a number and `after`.
static MoteResult list_folder(const char *folder, const char *before, const char *after, StateList *list)
{
    DIR *stream = opendir(folder);
    if (stream == NULL) {
        return mote_fail(MOTE_ERROR_IO, "%s: cannot open the folder: %s", folder, strerror(errno));
    }
    MoteResult result = MOTE_OK;
    const struct dirent *entry;
    while (result == MOTE_OK && (entry = readdir(stream)) != NULL) {
        const char *name = entry->d_name;
        uint64_t frame;
        if (before != NULL ? number_between(name, before, after, &frame) : number_of_state(name, &frame)) {
            result = append(list, frame, join(folder, name));
        }
    }
    closedir(stream);
    return result;
}

static MoteResult list_pattern(const char *pattern, StateList *list)
{
    const char *place = strstr(pattern, FRAME_PLACEHOLDER), *after = place + strlen(FRAME_PLACEHOLDER);
    const char *name = place;
    while (name > pattern && name[-1] != '/') {
        name--;
    }
    char *folder = name > pattern ? strndup(pattern, (size_t)(name - pattern)) : strdup(".");
    char *before = strndup(name, (size_t)(place - name));
    MoteResult result = mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to look for states", pattern);
    if (folder != NULL && before != NULL) {
        result = list_folder(folder, before, after, list);
    }
    free(folder);
    free(before);
    return result;
}

static MoteResult list_one(const char *path, MoteSimulation *simulation, StateList *list)
{
    const MoteResult result = mote_simulation_load(simulation, path);
    return result == MOTE_OK ? append(list, mote_simulation_frame(simulation), strdup(path)) : result;
}

static MoteResult sort_and_check(const char *from, StateList *list)
{
    if (list->count == 0) {
        return mote_fail(
            MOTE_ERROR_INPUT,
            "%s: found no saved state, expected files as mote simulate --save-state NAME_" FRAME_PLACEHOLDER
                STATE_EXTENSION " --every 1 writes them",
            from);
    }
    qsort(list->files, list->count, sizeof *list->files, compare_states);
    for (uint32_t i = 1; i < list->count; i++) {
        const StateFile *files = &list->files[i - 1];
        if (files[0].frame == files[1].frame) {
            return mote_fail(MOTE_ERROR_INPUT,
                             "%s: found two states of frame %" PRIu64 ": %s and %s; name the ones that are meant by a "
                             "pattern with " FRAME_PLACEHOLDER,
                             from, files[0].frame, files[0].path, files[1].path);
        }
    }
    return MOTE_OK;
}

MoteResult state_list_find(const char *from, MoteSimulation *simulation, StateList *out)
{
    *out = (StateList){0};
    struct stat status;
    MoteResult result;
    if (is_frame_pattern(from)) {
        result = list_pattern(from, out);
    } else if (stat(from, &status) == 0 && S_ISDIR(status.st_mode)) {
        result = list_folder(from, NULL, NULL, out);
    } else {
        result = list_one(from, simulation, out);
    }
    if (result == MOTE_OK) {
        result = sort_and_check(from, out);
    }
    if (result != MOTE_OK) {
        state_list_free(out);
    }
    return result;
}

MoteResult state_file_load(const StateFile *state, MoteSimulation *simulation)
{
    const MoteResult result = mote_simulation_load(simulation, state->path);
    if (result == MOTE_OK && mote_simulation_frame(simulation) != state->frame) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: holds frame %" PRIu64 ", not frame %" PRIu64 " as its name says",
                         state->path, mote_simulation_frame(simulation), state->frame);
    }
    return result;
}
