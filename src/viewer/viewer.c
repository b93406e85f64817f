// SPDX-License-Identifier: MIT
// viewer.c - starts and stops the viewer; its main loop: events, requests to the two threads, drawing of the window.
#include "viewer/app.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "viewer/thread_priority.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Messages ----

void app_say(App *app, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(app->notice, sizeof app->notice, format, values);
    va_end(values);
    app->error[0] = '\0';
    app->notice_time = clock_seconds();
    app->redraw = true;
}

void app_fail(App *app)
{
    snprintf(app->error, sizeof app->error, "%s", mote_error_message());
    app->redraw = true;
}

// ---- Beginning and end ----

// From the other threads: the window's loop has something to look at.
static void wake(void *data)
{
    App *app = data;
    if (app->render_thread != NULL) {
        render_thread_wake(app->render_thread);
    }
    if (!atomic_exchange(&app->wake_pending, true)) {
        SDL_Event event = {.type = app->wake_event};
        SDL_PushEvent(&event);
    }
}

static MoteResult open_window(App *app)
{
    const ViewerOptions *options = app->options;
    if (SDL_Init(SDL_INIT_VIDEO) != 0) {
        return mote_fail(MOTE_ERROR_UNAVAILABLE,
                         "no display to open a window on (%s). `mote render` makes pictures and films without one",
                         SDL_GetError());
    }
    const char *driver = SDL_GetCurrentVideoDriver();
    if (driver == NULL || strcmp(driver, "offscreen") == 0 || strcmp(driver, "dummy") == 0) {
        return mote_fail(MOTE_ERROR_UNAVAILABLE,
                         "no display to open a window on (is DISPLAY or WAYLAND_DISPLAY set?). `mote render` makes "
                         "pictures and films without one");
    }
    if (SDL_Vulkan_LoadLibrary(NULL) != 0) {
        return mote_fail(MOTE_ERROR_UNAVAILABLE,
                         "no Vulkan for windows here (%s): install libvulkan1 and a driver for your GPU, or "
                         "mesa-vulkan-drivers, which needs no GPU",
                         SDL_GetError());
    }
    const Uint32 flags = SDL_WINDOW_VULKAN | SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI |
                         (options->full_screen ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0);
    app->window = SDL_CreateWindow("Mote", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, (int)options->width,
                                   (int)options->height, flags);
    if (app->window == NULL) {
        return mote_fail(MOTE_ERROR_UNAVAILABLE, "no window: %s", SDL_GetError());
    }
    SDL_SetWindowMinimumSize(app->window, 160, 120);
    SDL_InitSubSystem(SDL_INIT_GAMECONTROLLER); // where there are none to be had, there are none
    app->full_screen = options->full_screen;
    app->wake_event = SDL_RegisterEvents(1);
    return gpu_create(app->window, options->renderer.device, options->renderer.validate, &app->gpu);
}

static float display_scale(const App *app)
{
    int width, drawable;
    SDL_GetWindowSize(app->window, &width, NULL);
    SDL_Vulkan_GetDrawableSize(app->window, &drawable, NULL);
    float dots = 96.0f;
    SDL_GetDisplayDPI(SDL_GetWindowDisplayIndex(app->window), NULL, &dots, NULL);
    const float by_pixels = width > 0 ? (float)drawable / (float)width : 1.0f;
    const float by_dots = dots > 144.0f ? roundf(dots / 48.0f) / 2.0f : 1.0f;
    return fminf(fmaxf(fmaxf(by_pixels, by_dots), 1.0f), 4.0f);
}

static MoteResult begin(App *app)
{
    thread_raise_priority();
    const ViewerOptions *options = app->options;
    if (options->settings == NULL || options->settings[0] != '\0') {
        if (settings_load(options->settings, &app->settings) != MOTE_OK) {
            app_fail(app); // and the defaults hold
        }
    } else {
        settings_load("", &app->settings);
    }
    for (int i = 0; i < ACTION_COUNT; i++) {
        app->keys[i] = SDL_GetKeyFromName(app->settings.keys[i]);
    }
    MoteResult result = options->script != NULL ? script_load(options->script, &app->script) : MOTE_OK;
    result = result == MOTE_OK ? open_window(app) : result;
    result = result == MOTE_OK ? overlay_create(&app->gpu, &app->overlay) : result;
    if (result != MOTE_OK) {
        return result;
    }
    app->ui_scale = app->settings.ui_scale > 0.0f ? app->settings.ui_scale : display_scale(app);
    if (!panel_create(app->ui_scale)) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the panel");
    }
    uint32_t width, height;
    const uint8_t *font = panel_font(&width, &height);
    result = overlay_set_texture(&app->overlay, TEXTURE_FONT, width, height, font);
    const SimulatorOptions simulator = {.backend = options->backend,
                                        .overrides = options->overrides,
                                        .override_count = options->override_count,
                                        .paused = options->paused,
                                        .wake = wake,
                                        .wake_data = app};
    result = result == MOTE_OK ? simulator_start(&simulator, &app->simulator) : result;
    if (result == MOTE_OK) {
        result = render_thread_start(&options->renderer, app->simulator, wake, app, &app->render_thread);
    }
    return result;
}

static int stop_signal(const App *app)
{
    return app->options->stop_signal != NULL ? app->options->stop_signal() : 0;
}

static void end(App *app)
{
    if (app->window != NULL) {
        SDL_HideWindow(app->window); // the last frame, picture or film may take a while to complete
    }
    if (settings_save(&app->settings) != MOTE_OK) {
        fprintf(stderr, "mote: %s\n", mote_error_message());
    }
    if (app->simulator != NULL) {
        simulator_stop(app->simulator);
    }
    if (app->render_thread != NULL) {
        render_thread_stop(app->render_thread, stop_signal(app) != 0 ? app->options->leave : NULL);
    }
    simulator_destroy(app->simulator);
    panel_destroy();
    overlay_destroy(&app->overlay);
    gpu_destroy(&app->gpu);
    if (app->gamepad != NULL) {
        SDL_GameControllerClose(app->gamepad);
    }
    if (app->window != NULL) {
        SDL_DestroyWindow(app->window);
    }
    SDL_Vulkan_UnloadLibrary();
    SDL_Quit();
    script_free(&app->script);
    free(app->list.vertices);
    free(app->list.indices);
    free(app->list.commands);
}

// ---- A turn of the loop ----

static void take_picture(void *data, const RenderThreadPicture *picture, const uint8_t *pixels)
{
    App *app = data;
    app->picture = *picture;
    if (overlay_set_texture(&app->overlay, TEXTURE_SCENE, picture->shown_width, picture->shown_height, pixels) !=
        MOTE_OK) {
        app_fail(app);
    }
    app->redraw = true;
}

// Adds a value to every plot for each snapshot; a new scene clears them.
static void note_history(App *app)
{
    if (app->status.snapshot == app->history_snapshot) {
        return;
    }
    app->history_snapshot = app->status.snapshot;
    if (app->status.model != app->history_model) {
        app->history_model = app->status.model;
        app->history_at = app->history_count = 0;
    }
    const SimulatorStatus *status = &app->status;
    const MoteStatistics *s = &status->statistics;
    const bool known = status->has_statistics;
    const double values[PANEL_HISTORIES] = {1e3 * status->frame_seconds,
                                            1e3 * app->picture.seconds,
                                            known ? 100.0 * s->density_error_mean : 0.0,
                                            100.0 * status->measures.overlap_mean,
                                            known ? s->kinetic_energy : 0.0,
                                            known ? s->kinetic_energy + s->potential_energy : 0.0};
    for (int i = 0; i < PANEL_HISTORIES; i++) {
        app->history[i][app->history_at] = (float)values[i];
    }
    for (uint32_t i = 0; i < status->timing_count && i < STATUS_TIMINGS; i++) {
        app->history_timings[i][app->history_at] =
            status->timing_frames > 0 ? (float)(status->timings[i].milliseconds / (double)status->timing_frames) : 0.0f;
    }
    for (uint32_t i = 0; i < app->drawing.pass_count && i < RENDER_THREAD_PASSES; i++) {
        app->history_passes[i][app->history_at] = (float)app->drawing.passes[i].milliseconds;
    }
    app->history_at = (app->history_at + 1) % PANEL_HISTORY;
    app->history_count += app->history_count < PANEL_HISTORY ? 1 : 0;
}

static void measure_rates(App *app, double now)
{
    if (app->rate_model != app->status.model || app->status.frame < app->rate_frame) {
        app->rate_model = app->status.model;
        app->rate_frame = app->status.frame;
        app->rate_time = now;
        app->rate_pictures = app->picture.number;
    }
    const double seconds = now - app->rate_time;
    if (seconds > 0.5) {
        app->frames_a_second = (double)(app->status.frame - app->rate_frame) / seconds;
        app->pictures_a_second = (double)(app->picture.number - app->rate_pictures) / seconds;
        app->rate_time = now;
        app->rate_frame = app->status.frame;
        app->rate_pictures = app->picture.number;
    }
}

// What the other threads have to say.
static MoteResult listen(App *app, double now)
{
    simulator_status(app->simulator, &app->status);
    render_thread_status(app->render_thread, &app->drawing);
    if (app->drawing.failed) {
        return mote_fail(MOTE_ERROR_UNAVAILABLE, "%s", app->drawing.error);
    }
    if (app->status.notices != app->simulator_notices) {
        app->simulator_notices = app->status.notices;
        if (app->status.error[0] == '\0' && app->status.notice[0] != '\0') {
            app_say(app, "%s", app->status.notice);
        }
    }
    if (app->drawing.notices != app->render_thread_notices) {
        app->render_thread_notices = app->drawing.notices;
        if (app->drawing.error[0] == '\0' && app->drawing.notice[0] != '\0') {
            app_say(app, "%s", app->drawing.notice);
        }
    }
    if (render_thread_picture(app->render_thread, app->picture.number, take_picture, app)) {
        if (app->first_picture == 0.0) {
            app->first_picture = now - app->start;
        }
        if (!app->own_camera) {
            app->camera = app->picture.camera;
        }
    }
    note_history(app);
    app_follow_pick(app);
    app_show_inspected(app);
    measure_rates(app, now);
    return MOTE_OK;
}

static void ask(App *app)
{
    int width, height;
    SDL_Vulkan_GetDrawableSize(app->window, &width, &height);
    const bool hidden = (SDL_GetWindowFlags(app->window) & SDL_WINDOW_MINIMIZED) != 0;
    RenderThreadRequest request;
    memset(&request, 0, sizeof request); // it is compared as bytes
    request.width = hidden ? 0 : (uint32_t)width;
    request.height = hidden ? 0 : (uint32_t)height;
    request.scale = app->options->scale;
    request.examined = app->script.path != NULL;
    request.own_camera = app->own_camera;
    if (app->own_camera) {
        request.camera = app->camera;
    }
    snprintf(request.view, sizeof request.view, "%s", app_view(app));
    app->request = render_thread_ask(app->render_thread, &request);
}

static void fill_facts(App *app, double now, PanelFacts *facts)
{
    static PanelAction actions[ACTION_COUNT]; // names of keys stay where they are
    for (int i = 0; i < ACTION_COUNT; i++) {
        actions[i] = (PanelAction){app->settings.keys[i], action_rows[i].group, action_rows[i].meaning};
    }
    const SimulatorStatus *s = &app->status;
    static char hint[160];
    snprintf(hint, sizeof hint, "%s: help   left drag: turn   wheel: nearer   %s: pause   Shift + drag: hold",
             app->settings.keys[ACTION_help], app->settings.keys[ACTION_pause]);
    *facts = (PanelFacts){
        .panel = app->panel,
        .help = app->help,
        .browser = app->browser,
        .loading = s->loading,
        .paused = s->paused,
        .failed = s->failed,
        .recording = app->drawing.recording,
        .has_scene = s->model > 0,
        .camera_is_own = app->own_camera,
        .name = s->name,
        .path = s->path,
        .error = app->error[0] != '\0'           ? app->error
                 : s->error[0] != '\0'           ? s->error
                 : app->drawing.error[0] != '\0' ? app->drawing.error
                                                 : "",
        .notice = now - app->notice_time < 5.0 ? app->notice : "",
        .frame = s->frame,
        .recorded = app->drawing.recorded,
        .time = s->time,
        .speed = s->speed,
        .frame_seconds = s->frame_seconds,
        .picture_seconds = app->picture.seconds,
        .frame_rate = s->frame_rate,
        .pictures_a_second = app->pictures_a_second,
        .frames_a_second = app->frames_a_second,
        .picture_width = app->picture.width,
        .picture_height = app->picture.height,
        .particles = s->particles,
        .bodies = s->bodies,
        .changes = s->changes,
        .backend = s->backend,
        .statistics = s->has_statistics ? &s->statistics : NULL,
        .timings = s->timings,
        .timing_count = s->timing_count,
        .timing_frames = s->timing_frames,
        .passes = app->drawing.passes,
        .pass_count = app->drawing.pass_count,
        .device = &app->drawing.device,
        .interop = &app->drawing.interop,
        .view = app_view(app),
        .history = app->history[0],
        .history_timings = app->history_timings[0],
        .history_passes = app->history_passes[0],
        .history_at = app->history_at,
        .history_count = app->history_count,
        .actions = actions,
        .action_count = ACTION_COUNT,
        .scenes = app->scenes,
        .scene_count = app->scene_count,
        .recent = app->recent,
        .recent_count = app->recent_count,
        .dropped = app->dropped,
        .inspected = app->inspected,
        .marks = app->marks,
        .mark_count = app->mark_count,
        .measures = &s->measures,
        .hint = app->settings.help_shown ? "" : hint,
    };
}

// How long the events took that the window shows now, for the first time.
static void note_answer(App *app)
{
    if (app->pending > 0.0 && app->picture.number > 0) {
        const double seconds = clock_seconds() - app->pending;
        app->worst_answer = fmax(app->worst_answer, seconds);
        app->answers[app->answer_count++ % APP_ANSWERS] = seconds;
    }
    app->pending = 0.0;
}

static MoteResult show(App *app, double now)
{
    int width, height;
    SDL_Vulkan_GetDrawableSize(app->window, &width, &height);
    if (app->window_width != width || app->window_height != height) { // not every system tells of it by an event
        app->gpu.stale = true;
        app->window_width = width;
        app->window_height = height;
    }
    PanelFacts facts;
    PanelHost host;
    fill_facts(app, now, &facts);
    app_host(app, &host);
    if (!panel_build((uint32_t)width, (uint32_t)height, now - app->last_shown, &facts, &host, &app->list)) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the panel");
    }
    bool shown;
    const MoteResult result = overlay_show(&app->overlay, &app->list, &shown);
    app->shown += shown ? 1 : 0;
    note_answer(app);
    app->last_shown = now;
    app->redraw = false;
    return result;
}

// Handles all events that are there, after waiting for one.
static void take_events(App *app, int wait)
{
    SDL_Event event;
    bool there = SDL_PollEvent(&event) != 0;
    double came = app->drained; // what is there already can be as old as that
    if (!there && wait > 0) {
        there = SDL_WaitEventTimeout(&event, wait) != 0;
        came = clock_seconds();
    }
    for (; there; there = SDL_PollEvent(&event) != 0) {
        if (event.type == app->wake_event) {
            atomic_store(&app->wake_pending, false);
            continue;
        }
        app->redraw = true;
        app->pending = app->pending > 0.0 ? app->pending : came;
        app_event(app, &event);
    }
    app->drained = clock_seconds();
}

static MoteResult turn(App *app)
{
    const double turn_start = clock_seconds();
    app->turns++;
    const double period = 1.0 / (double)app->settings.max_rate;
    MoteResult result = app->script.path != NULL ? script_play(&app->script, app) : MOTE_OK;
    const double due = app->last_shown + (app->redraw ? period : 0.1) - clock_seconds();
    const bool flying = app->held[ACTION_fly_forward] || app->held[ACTION_fly_back] || app->held[ACTION_fly_left] ||
                        app->held[ACTION_fly_right] || app->held[ACTION_fly_up] || app->held[ACTION_fly_down] ||
                        app_gamepad_moves(app);
    const int wait = (int)(1e3 * fmin(due, app->script.path != NULL || flying ? 0.01 : 0.1));
    const double waiting = clock_seconds();
    take_events(app, wait);
    const double now = clock_seconds();
    app_move(app, fmin(now - turn_start, 0.1));
    result = result == MOTE_OK ? listen(app, now) : result;
    if (result != MOTE_OK) {
        return result;
    }
    ask(app);
    app_watch_scene(app);
    app_watch_shaders(app);
    app_load_pictures(app);
    if (now - app->last_shown >= (app->redraw ? period : 0.1)) {
        result = show(app, now);
    }
    if (app->picture.number > 0) { // all but the waiting: so long an event may have to wait
        const double busy = clock_seconds() - now + (waiting - turn_start);
        app->worst_wait = busy > app->worst_wait ? busy : app->worst_wait;
    }
    app->quit = app->quit || stop_signal(app) != 0;
    return result;
}

MoteResult viewer_run(const ViewerOptions *options)
{
    App *app = calloc(1, sizeof *app);
    if (app == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "no memory for the viewer");
    }
    app->options = options;
    app->start = clock_seconds();
    app->panel = !options->no_panel;
    atomic_init(&app->wake_pending, false);
    MoteResult result = begin(app);
    if (result == MOTE_OK) {
        app_set_view(app, options->view != NULL ? options->view : mote_render_view_name(0));
        app_list_scenes(app);
        if (options->scene != NULL) {
            app_open(app, options->scene);
        } else {
            app->browser = true;
        }
    }
    while (result == MOTE_OK && !app->quit) {
        result = turn(app);
    }
    char message[2048];
    snprintf(message, sizeof message, "%s", mote_error_message());
    end(app);
    const uint32_t messages = app->gpu.validation_messages + mote_renderer_validation_messages(NULL);
    free(app);
    if (result != MOTE_OK) {
        return mote_fail(result, "%s", message); // closing may have said something else
    }
    if (options->renderer.validate && messages > 0) {
        return mote_fail(MOTE_ERROR_UNAVAILABLE, "%u messages of the Vulkan validation layers", messages);
    }
    return MOTE_OK;
}
