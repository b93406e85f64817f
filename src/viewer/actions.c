// SPDX-License-Identifier: MIT
// actions.c - performs the actions of viewer_keys.def.
#define _XOPEN_SOURCE 700 // realpath
#include "viewer/app.h"

#include "base/error.h"
#include "base/file.h"
#include "viewer/camera.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- Views ----

const char *app_view(const App *app)
{
    return app->view;
}

// Forces are recorded only while they are looked at: as a view, or of the particle that is followed.
static void record_forces(App *app)
{
    const bool wanted = app->inspecting || strncmp(app->view, "channel:force_", 14) == 0;
    if (wanted != app->forces) {
        app->forces = wanted;
        simulator_send(app->simulator, &(SimulatorCommand){.kind = COMMAND_FORCES, .flag = wanted});
    }
}

// Row `i` of all views: the renderer's, and behind them the scene's channels. False beyond the last.
bool app_view_at(const App *app, uint32_t i, char name[APP_VIEW])
{
    const char *row;
    for (uint32_t k = 0; (row = mote_render_view_name(k)) != NULL; k++) {
        if (strcmp(row, "channel") != 0 && i-- == 0) {
            snprintf(name, APP_VIEW, "%s", row);
            return true;
        }
    }
    if (i < app->status.channel_count) {
        snprintf(name, APP_VIEW, "channel:%s", app->status.channels[i]);
    }
    return i < app->status.channel_count;
}

void app_set_view(App *app, const char *view)
{
    snprintf(app->view, sizeof app->view, "%s", view);
    record_forces(app);
}

// The one that is `step` rows further in the list, which is a ring; step is 1 or -1.
static void change_view(App *app, int step)
{
    uint32_t count = 0, at = 0;
    char name[APP_VIEW];
    for (; app_view_at(app, count, name); count++) {
        at = strcmp(name, app->view) == 0 ? count : at;
    }
    app_view_at(app, (at + count + (uint32_t)step) % count, name);
    app_set_view(app, name);
}

// Follows the particle from now on, MOTE_NONE: none any more.
void app_inspect(App *app, uint32_t id)
{
    app->inspecting = id != MOTE_NONE;
    app->inspected[0] = '\0';
    app->mark_count = 0;
    render_thread_inspect(app->render_thread, id);
    record_forces(app);
}

// ---- Scenes ----

void app_open(App *app, const char *path)
{
    char *whole = realpath(path, NULL);
    settings_add_recent(&app->settings, whole != NULL ? whole : path);
    free(whole);
    app->own_camera = false;
    app->browser = false;
    app_inspect(app, MOTE_NONE);
    app->error[0] = '\0';
    simulator_send_text(app->simulator, COMMAND_LOAD, path);
    snprintf(app->status.path, sizeof app->status.path, "%s", path);
    app->status.loading = true;
    app_stamp_scene(app);
    char title[256];
    const char *slash = strrchr(path, '/');
    snprintf(title, sizeof title, "%.200s - Mote", slash != NULL ? slash + 1 : path);
    SDL_SetWindowTitle(app->window, title);
}

// What ends as scenes do is one; anything else may be a mesh.
void app_drop(App *app, const char *path)
{
    const char *dot = strrchr(path, '.');
    if (dot == NULL || strcmp(dot, ".json") == 0 || app->status.model == 0) {
        app_open(app, path);
    } else {
        snprintf(app->dropped, sizeof app->dropped, "%s", path);
    }
}

// The mesh that was dropped, as high as a seventh of the distance to it, where the camera looks; a body a
// little above. Larger ones would hardly fit into a tank that fills the picture.
void app_add_mesh(App *app, const char *section)
{
    const MoteVec3 e = app->camera.position, t = app->camera.target;
    const float distance = sqrtf((t.x - e.x) * (t.x - e.x) + (t.y - e.y) * (t.y - e.y) + (t.z - e.z) * (t.z - e.z));
    char *whole = realpath(app->dropped, NULL);
    json_t *path = json_string(whole != NULL ? whole : app->dropped);
    char *quoted = path != NULL ? json_dumps(path, JSON_ENCODE_ANY) : NULL;
    if (section != NULL && quoted != NULL) {
        const bool body = strcmp(section, "bodies") == 0;
        const SceneSection kind = body ? SCENE_SECTION_body : SCENE_SECTION_collider;
        char text[2048];
        snprintf(text, sizeof text,
                 "%s[%u]={\"mesh\": %.1400s, \"material\": \"wall\", \"fit_height\": %.4g, \"position\": [%.4g, %.4g, "
                 "%.4g]%s}",
                 section, simulator_elements(app->simulator, kind), quoted, (double)distance / 7.0, (double)t.x,
                 (double)(t.y + (body ? 0.25f * distance : 0.0f)), (double)t.z, body ? "" : ", \"shape\": \"mesh\"");
        app->status.loading = true;
        simulator_send_text(app->simulator, COMMAND_ADD, text);
    }
    free(quoted);
    json_decref(path);
    free(whole);
    app->dropped[0] = '\0';
}

void app_reset(App *app)
{
    app->status.loading = true; // until the thread says otherwise
    simulator_send(app->simulator, &(SimulatorCommand){.kind = COMMAND_RESET});
}

// ---- Camera ----

static void copy_camera(App *app)
{
    const MoteCamera *c = &app->camera;
    char text[512];
    snprintf(text, sizeof text,
             "\"camera\": {\"position\": [%.5g, %.5g, %.5g], \"target\": [%.5g, %.5g, %.5g], \"field_of_view\": %.5g, "
             "\"roll\": %.5g}",
             (double)c->position.x, (double)c->position.y, (double)c->position.z, (double)c->target.x,
             (double)c->target.y, (double)c->target.z, (double)c->field_of_view, (double)c->roll);
    SDL_SetClipboardText(text);
    app_say(app, "Copied %s", text);
}

static void bookmark(App *app, uint32_t i)
{
    if (app->control) {
        app->settings.bookmarks[i] = app->camera;
        app->settings.has_bookmark[i] = true;
        app_say(app, "Bookmark %u set", i + 1);
    } else if (app->settings.has_bookmark[i]) {
        app->camera = app->settings.bookmarks[i];
        app->own_camera = true;
    } else {
        app_say(app, "Bookmark %u is not set: Ctrl and its key set it", i + 1);
    }
}

static void frame_all(App *app)
{
    int width, height;
    SDL_Vulkan_GetDrawableSize(app->window, &width, &height);
    if (app->status.particles > 0 && height > 0) {
        camera_frame(&app->camera, app->picture.bounds_min, app->picture.bounds_max, (float)width / (float)height);
        app->own_camera = true;
    }
}

// ---- Manipulation ----

static void pour(App *app)
{
    int width, height;
    SDL_Vulkan_GetDrawableSize(app->window, &width, &height);
    const CameraRay ray = camera_ray(&app->camera, app->mouse_x, app->mouse_y, (float)width, (float)height);
    const MoteVec3 e = app->camera.position, t = app->camera.target, d = ray.direction;
    const float away = sqrtf((t.x - e.x) * (t.x - e.x) + (t.y - e.y) * (t.y - e.y) + (t.z - e.z) * (t.z - e.z));
    simulator_send(
        app->simulator,
        &(SimulatorCommand){.kind = COMMAND_POUR, .numbers = {e.x + away * d.x, e.y + away * d.y, e.z + away * d.z}});
}

static void gust(App *app)
{
    const MoteVec3 f = camera_forward(&app->camera);
    const float level = fmaxf(sqrtf(f.x * f.x + f.z * f.z), 1e-3f), speed = 2.0f; // m/s
    simulator_send(
        app->simulator,
        &(SimulatorCommand){.kind = COMMAND_GUST, .vector = {speed * f.x / level, 0.5f * speed, speed * f.z / level}});
}

static void flip_gravity(App *app)
{
    const SceneKey *key = scene_key_find(SCENE_SECTION_solver, "gravity");
    SimulatorCommand command = {.kind = COMMAND_SET, .key = (uint32_t)(key - scene_keys)};
    if (simulator_value(app->simulator, command.key, 0, command.numbers)) {
        for (int i = 0; i < 3; i++) {
            command.numbers[i] = 0.0 - command.numbers[i];
        }
        simulator_send(app->simulator, &command);
    }
}

// ---- Files ----

// A name in the folder for results that is not taken: OUT/NAME_0001.png.
static bool new_name(App *app, const char *ending, char path[1024])
{
    if (file_make_folder(app->options->out) != MOTE_OK) {
        app_fail(app);
        return false;
    }
    char name[128];
    snprintf(name, sizeof name, "%s", app->status.name[0] != '\0' ? app->status.name : "mote");
    for (char *c = name; *c != '\0'; c++) {
        *c = *c == '/' || (unsigned char)*c < ' ' || (*c == '.' && c == name) ? '_' : *c;
    }
    do {
        const int length = snprintf(path, 1024, "%s/%s_%04llu%s", app->options->out, name,
                                    (unsigned long long)++app->capture_count, ending);
        if (length >= 1024) {
            mote_fail(MOTE_ERROR_INPUT, "%.100s...: the folder's name is too long", app->options->out);
            app_fail(app);
            return false;
        }
    } while (access(path, F_OK) == 0);
    return true;
}

static void record(App *app)
{
    char path[1024];
    render_thread_status(app->render_thread, &app->drawing);
    if (app->drawing.recording) {
        render_thread_record(app->render_thread, NULL);
    } else if (new_name(app, ".mp4", path)) {
        render_thread_record(app->render_thread, path);
    }
}

static void capture(App *app, const char *ending)
{
    char path[1024];
    if (new_name(app, ending, path)) {
        render_thread_capture(app->render_thread, path);
    }
}

static void state(App *app, bool save)
{
    char path[1200];
    if (file_make_folder(app->options->out) != MOTE_OK) {
        app_fail(app);
        return;
    }
    snprintf(path, sizeof path, "%.1000s/%.120s.state", app->options->out, app->status.name);
    simulator_send_text(app->simulator, save ? COMMAND_SAVE_STATE : COMMAND_LOAD_STATE, path);
}

// ---- All of them ----

static void full_screen(App *app, bool on)
{
    app->full_screen = on;
    SDL_SetWindowFullscreen(app->window, on ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0);
    app->gpu.stale = true;
}

static void change_speed(App *app, double factor)
{
    const double speed = fmin(fmax(app->status.speed * factor, 1.0 / 64.0), 8.0);
    app->status.speed = speed; // until the thread says so: the key may come again before
    simulator_send(app->simulator, &(SimulatorCommand){.kind = COMMAND_SPEED, .numbers = {speed}});
    app_say(app, "%.4g times real time", speed);
}

static void leave(App *app)
{
    if (app->help || app->browser || app->dropped[0] != '\0') {
        app->help = app->browser = false;
        app->dropped[0] = '\0';
    } else if (app->full_screen) {
        full_screen(app, false);
    } else if (app->inspecting) {
        app_inspect(app, MOTE_NONE);
    } else {
        app->error[0] = '\0';
    }
}

void app_act(App *app, Action action)
{
    app->redraw = true;
    switch (action) {
    case ACTION_pause: {
        const bool pause = !app->status.paused;
        app->status.paused = pause;
        simulator_send(app->simulator, &(SimulatorCommand){.kind = COMMAND_PAUSE, .flag = pause});
        break;
    }
    case ACTION_step:
    case ACTION_step_too:
        app->status.paused = true;
        simulator_send(app->simulator, &(SimulatorCommand){.kind = COMMAND_STEP});
        break;
    case ACTION_reset:
        app_reset(app);
        break;
    case ACTION_slower:
        change_speed(app, 0.5);
        break;
    case ACTION_faster:
        change_speed(app, 2.0);
        break;
    case ACTION_frame_all:
        frame_all(app);
        break;
    case ACTION_scene_camera:
        app->own_camera = false;
        break;
    case ACTION_copy_camera:
        copy_camera(app);
        break;
    case ACTION_bookmark_1:
    case ACTION_bookmark_2:
    case ACTION_bookmark_3:
    case ACTION_bookmark_4:
        bookmark(app, (uint32_t)(action - ACTION_bookmark_1));
        break;
    case ACTION_next_view:
        change_view(app, 1);
        break;
    case ACTION_previous_view:
        change_view(app, -1);
        break;
    case ACTION_panel:
        app->panel = !app->panel;
        break;
    case ACTION_help:
        app->help = !app->help;
        app->settings.help_shown = true;
        break;
    case ACTION_full_screen:
        full_screen(app, !app->full_screen);
        break;
    case ACTION_browse:
        app->browser = !app->browser;
        app_list_scenes(app);
        break;
    case ACTION_next_scene:
        app_neighbour(app, 1);
        break;
    case ACTION_previous_scene:
        app_neighbour(app, -1);
        break;
    case ACTION_pour:
        pour(app);
        break;
    case ACTION_gust:
        gust(app);
        break;
    case ACTION_flip_gravity:
        flip_gravity(app);
        break;
    case ACTION_capture:
        capture(app, ".png");
        break;
    case ACTION_capture_exr:
        capture(app, ".exr");
        break;
    case ACTION_record:
        record(app);
        break;
    case ACTION_save_state:
    case ACTION_load_state:
        state(app, action == ACTION_save_state);
        break;
    case ACTION_leave:
        leave(app);
        break;
    case ACTION_quit:
        app->quit = true;
        break;
    default:
        break; // HELD
    }
}
