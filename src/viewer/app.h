// SPDX-License-Identifier: MIT
// app.h - the viewer's state; only the window's thread uses it.
#ifndef MOTE_VIEWER_APP_H
#define MOTE_VIEWER_APP_H

#include "base/error.h"
#include "viewer/render_thread.h"
#include "viewer/overlay.h"
#include "viewer/panel.h"
#include "viewer/script.h"
#include "viewer/settings.h"
#include "viewer/viewer.h"
#include <SDL.h>
#include <SDL_vulkan.h>
#include <sys/types.h>
#include <time.h>

typedef enum Drag { DRAG_NONE, DRAG_ORBIT, DRAG_LOOK, DRAG_PAN, DRAG_GRAB, DRAG_THROW, DRAG_INSPECT } Drag;

enum { BROWSER_LIMIT = 56, NOTICE_TEXT = 1280, APP_VIEW = 64, APP_ANSWERS = 512 };

// A scene file as it was when it was loaded.
typedef struct FileStamp {
    time_t seconds;
    long nanoseconds;
    off_t bytes;
    ino_t node;
} FileStamp;

typedef struct App {
    const ViewerOptions *options;
    Settings settings;
    SDL_Window *window;
    int window_width, window_height; // pixels, when it was shown last
    float ui_scale;                  // of the panel
    Uint32 wake_event;
    atomic_bool wake_pending;
    Gpu gpu;
    Overlay overlay;
    Simulator *simulator;
    RenderThread *render_thread;
    Script script;
    DrawList list;
    bool quit, panel, help, browser, redraw, full_screen;

    // Input.
    SDL_Keycode keys[ACTION_COUNT];
    bool held[ACTION_COUNT];
    bool shift, control, alt;
    float mouse_x, mouse_y, drag_x, drag_y; // pixels
    SDL_GameController *gamepad;            // NULL: none
    float axes[SDL_CONTROLLER_AXIS_MAX];    // -1 to 1
    Drag drag;
    uint64_t pick_awaited; // number of the pick that a grab or an inspection waits for
    bool pick_inspects;    // it is an inspection
    bool grabbing;
    MoteVec3 grab_point; // m, on the plane that it is moved in
    uint32_t grab_id;    // the particle that was picked; MOTE_NONE for a collider alone
    bool grab_may_be_collider;
    bool inspecting; // a particle is followed
    char inspected[INSPECT_TEXT];
    PanelMark marks[INSPECT_NEIGHBOURS + 1]; // around it and its neighbours
    uint32_t mark_count;
    char dropped[1024]; // a mesh file, until it is said what it is to be

    // What is drawn.
    bool own_camera;
    MoteCamera camera;
    char view[APP_VIEW]; // of the renderer's, or channel:NAME
    bool forces;         // are recorded, because they are looked at
    uint64_t request;
    RenderThreadPicture picture;
    SimulatorStatus status;
    RenderThreadStatus drawing;

    // Scenes.
    PanelScene scenes[BROWSER_LIMIT], recent[SETTINGS_RECENT];
    uint32_t scene_count, recent_count;
    struct { // what is in the textures of the browser
        char path[1024];
        time_t seconds;
        bool tried;
    } tiles[BROWSER_LIMIT];
    FileStamp stamp;
    double stamp_time;
    uint64_t reloads;
    ShaderWatch shaders;
    double shader_time;

    // Messages.
    char notice[NOTICE_TEXT], error[NOTICE_TEXT]; // error: of the window's own thread
    double notice_time;
    uint64_t simulator_notices, render_thread_notices;
    uint64_t capture_count;

    // Measured.
    double start, last_shown, first_picture, rate_time, frames_a_second, pictures_a_second;
    uint64_t turns; // of the loop
    uint64_t shown, rate_frame, rate_pictures, rate_model;
    double worst_wait;           // s, that an event had to wait for the window since the first picture
    double drained;              // s on the clock, when there was no event left
    double pending;              // the earliest that an event can have come which is not shown yet; 0 is none
    double worst_answer;         // s, from an event to the window that shows what it did
    double answers[APP_ANSWERS]; // the last ones, a ring
    uint64_t answer_count;       // all
    float history[PANEL_HISTORIES][PANEL_HISTORY];
    float history_timings[STATUS_TIMINGS][PANEL_HISTORY], history_passes[RENDER_THREAD_PASSES][PANEL_HISTORY];
    uint32_t history_at, history_count;
    uint64_t history_snapshot, history_model;
} App;

void app_say(App *app, const char *format, ...) MOTE_PRINTF(2, 3); // a notice
void app_fail(App *app);                                           // what mote_error_message() says
void app_act(App *app, Action action);                             // actions.c
void app_open(App *app, const char *path);
void app_reset(App *app);
void app_drop(App *app, const char *path);
void app_add_mesh(App *app, const char *section);
void app_set_view(App *app, const char *view);
bool app_view_at(const App *app, uint32_t i, char name[APP_VIEW]);
void app_inspect(App *app, uint32_t id);
const char *app_view(const App *app);
void app_event(App *app, const SDL_Event *event); // input.c
void app_move(App *app, double seconds);          // of keys that are down
void app_follow_pick(App *app);
void app_show_inspected(App *app);
void app_gamepad_event(App *app, const SDL_Event *event); // gamepad.c
void app_gamepad_move(App *app, double seconds);
bool app_gamepad_moves(const App *app);
void app_list_scenes(App *app);   // browser.c
void app_load_pictures(App *app); // one a call, while the browser is open
void app_neighbour(App *app, int step);
void app_watch_scene(App *app); // reloads it when its file changes
void app_stamp_scene(App *app);
void app_watch_shaders(App *app);
void app_host(App *app, PanelHost *host); // host.c

#endif
