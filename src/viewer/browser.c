// SPDX-License-Identifier: MIT
// browser.c - lists the scenes of a folder with their pictures; watches the scene file and shaders for changes on disk.
#define _POSIX_C_SOURCE 200809L
#include "viewer/app.h"

#include "base/clock.h"
#include "base/error.h"
#include "image/image.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- The list ----

static int by_name(const void *a, const void *b)
{
    return strcmp(((const PanelScene *)a)->name, ((const PanelScene *)b)->name);
}

// The file's name without folder and ending.
static void name_scene(PanelScene *scene)
{
    const char *slash = strrchr(scene->path, '/');
    snprintf(scene->name, sizeof scene->name, "%.127s", slash != NULL ? slash + 1 : scene->path);
    char *dot = strrchr(scene->name, '.');
    if (dot != NULL) {
        *dot = '\0';
    }
}

// FOLDER/pictures/NAME.png, next to the scene; or next to its folder, which has the same scenes in another size.
static bool find_picture(const PanelScene *scene, char path[2048])
{
    const char *slash = strrchr(scene->path, '/');
    const int length = slash != NULL ? (int)(slash - scene->path) : 1;
    const char *folder = slash != NULL ? scene->path : ".";
    snprintf(path, 2048, "%.*s/pictures/%s.png", length, folder, scene->name);
    if (access(path, R_OK) != 0) {
        snprintf(path, 2048, "%.*s/../pictures/%s.png", length, folder, scene->name);
    }
    return access(path, R_OK) == 0;
}

static bool load_picture(App *app, const char *path, uint32_t slot)
{
    Image image;
    bool loaded = false;
    if (image_read(path, &image) != MOTE_OK) {
        return false; // a scene without a picture is shown by its name
    }
    const size_t count = (size_t)image.width * image.height;
    uint8_t *pixels = malloc(4 * count);
    if (pixels != NULL && image.width <= 4096 && image.height <= 4096) {
        for (size_t i = 0; i < count; i++) {
            float rgba[4];
            image_pixel(&image, (uint32_t)(i % image.width), (uint32_t)(i / image.width), rgba);
            for (int k = 0; k < 4; k++) {
                pixels[4 * i + (size_t)k] = (uint8_t)(rgba[k] * 255.0f + 0.5f);
            }
        }
        loaded = overlay_set_texture(&app->overlay, slot, image.width, image.height, pixels) == MOTE_OK;
    }
    free(pixels);
    image_destroy(&image);
    return loaded;
}

// Recently used scenes have the pictures of those in the folder.
static void share_pictures(App *app)
{
    for (uint32_t i = 0; i < app->recent_count; i++) {
        for (uint32_t k = 0; k < app->scene_count; k++) {
            if (strcmp(app->scenes[k].name, app->recent[i].name) == 0) {
                app->recent[i].texture = app->scenes[k].texture;
            }
        }
    }
}

// One a turn of the window's loop: all at once would keep it from answering.
void app_load_pictures(App *app)
{
    for (uint32_t i = 0; i < app->scene_count && app->browser; i++) {
        PanelScene *scene = &app->scenes[i];
        const uint32_t slot = TEXTURE_BROWSER + i;
        char path[2048];
        struct stat status;
        if (scene->texture != 0 || app->tiles[i].tried || slot >= OVERLAY_TEXTURES) {
            continue;
        }
        app->tiles[i].tried = true;
        if (!find_picture(scene, path) || stat(path, &status) != 0) {
            continue;
        }
        const bool same = strcmp(app->tiles[i].path, scene->path) == 0 && app->tiles[i].seconds == status.st_mtime;
        if (same || load_picture(app, path, slot)) {
            scene->texture = slot;
            memcpy(app->tiles[i].path, scene->path, sizeof scene->path);
            app->tiles[i].seconds = status.st_mtime;
            share_pictures(app);
            app->redraw = true;
        } else {
            app->tiles[i].path[0] = '\0';
        }
        if (!same) {
            return;
        }
    }
}

static bool is_scene(const char *name)
{
    const size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".json") == 0 && strcmp(name, "schema.json") != 0 && name[0] != '.';
}

static void list_folder(App *app, const char *folder)
{
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        mote_fail(MOTE_ERROR_IO, "%s: the folder of scenes cannot be read", folder);
        app_fail(app);
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(entries)) != NULL && app->scene_count < BROWSER_LIMIT) {
        PanelScene *scene = &app->scenes[app->scene_count];
        *scene = (PanelScene){0};
        const int length = snprintf(scene->path, sizeof scene->path, "%s/%s", folder, entry->d_name);
        if (is_scene(entry->d_name) && length < (int)sizeof scene->path) {
            name_scene(scene);
            app->scene_count++;
        }
    }
    closedir(entries);
    qsort(app->scenes, app->scene_count, sizeof *app->scenes, by_name);
}

void app_list_scenes(App *app)
{
    app->scene_count = 0;
    if (app->options->scenes != NULL) {
        list_folder(app, app->options->scenes);
    }
    for (uint32_t i = 0; i < app->scene_count; i++) {
        app->tiles[i].tried = false;
    }
    app->recent_count = 0;
    for (uint32_t i = 0; i < app->settings.recent_count; i++) {
        if (access(app->settings.recent[i], R_OK) == 0) {
            PanelScene *recent = &app->recent[app->recent_count++];
            *recent = (PanelScene){0};
            memcpy(recent->path, app->settings.recent[i], sizeof recent->path);
            name_scene(recent);
        }
    }
}

void app_neighbour(App *app, int step)
{
    app_list_scenes(app);
    if (app->scene_count == 0) {
        app_say(app, "There is no folder of scenes");
        return;
    }
    PanelScene shown = {0};
    snprintf(shown.path, sizeof shown.path, "%s", app->status.path);
    name_scene(&shown);
    uint32_t at = 0;
    while (at < app->scene_count && strcmp(app->scenes[at].name, shown.name) != 0) {
        at++;
    }
    const int count = (int)app->scene_count, from = at < app->scene_count ? (int)at : step > 0 ? -1 : count;
    char path[sizeof shown.path];
    snprintf(path, sizeof path, "%s", app->scenes[(from + step + count) % count].path);
    app_open(app, path);
}

// ---- The scene's file ----

static bool stamp_of(const char *path, FileStamp *out)
{
    struct stat status;
    *out = (FileStamp){0};
    if (path[0] == '\0' || stat(path, &status) != 0) {
        return false;
    }
    *out = (FileStamp){status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size, status.st_ino};
    return true;
}

void app_stamp_scene(App *app)
{
    stamp_of(app->status.path, &app->stamp);
    app->stamp_time = clock_seconds();
}

void app_watch_scene(App *app)
{
    FileStamp now;
    if (app->status.loading || clock_seconds() - app->stamp_time < 0.2 || !stamp_of(app->status.path, &now)) {
        return;
    }
    app->stamp_time = clock_seconds();
    if (memcmp(&now.seconds, &app->stamp.seconds, sizeof now.seconds) != 0 || now.bytes != app->stamp.bytes ||
        now.nanoseconds != app->stamp.nanoseconds || now.node != app->stamp.node) {
        app->stamp = now;
        app->reloads++;
        app_say(app, "%s has changed: loading it again", app->status.path);
        app_reset(app);
    }
}

void app_watch_shaders(App *app)
{
    static char changed[SHADER_FILES][SHADER_NAME];
    if (app->options->shaders == NULL || clock_seconds() - app->shader_time < 0.3) {
        return;
    }
    app->shader_time = clock_seconds();
    app->shaders.folder = app->options->shaders;
    const uint32_t count = shader_watch_changes(&app->shaders, changed);
    if (count > 0) {
        render_thread_reload(app->render_thread, app->options->shaders, changed, count);
    }
}
