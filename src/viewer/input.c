// SPDX-License-Identifier: MIT
// input.c - handles mouse and keyboard events.
#include "viewer/app.h"

#include "viewer/camera.h"
#include <math.h>
#include <stdio.h>

static float window_height(const App *app)
{
    int height;
    SDL_Vulkan_GetDrawableSize(app->window, NULL, &height);
    return (float)height;
}

static float window_width(const App *app)
{
    int width;
    SDL_Vulkan_GetDrawableSize(app->window, &width, NULL);
    return (float)width;
}

// Pixels a unit of SDL's coordinates: above 1 on displays of high density.
static float pixel_ratio(const App *app)
{
    int width;
    SDL_GetWindowSize(app->window, &width, NULL);
    return width > 0 ? window_width(app) / (float)width : 1.0f;
}

// ---- Manipulation ----

// Where the mouse's ray meets the plane through `point` that faces the camera.
static MoteVec3 point_under_mouse(const App *app, MoteVec3 point)
{
    const CameraRay ray = camera_ray(&app->camera, app->mouse_x, app->mouse_y, window_width(app), window_height(app));
    const MoteVec3 f = camera_forward(&app->camera), d = ray.direction, o = ray.origin;
    const float depth = (point.x - o.x) * f.x + (point.y - o.y) * f.y + (point.z - o.z) * f.z;
    const float along = depth / fmaxf(d.x * f.x + d.y * f.y + d.z * f.z, 1e-3f);
    return (MoteVec3){o.x + along * d.x, o.y + along * d.y, o.z + along * d.z};
}

static void send_grab(App *app)
{
    const MoteVec3 at = point_under_mouse(app, app->grab_point);
    simulator_send(app->simulator,
                   &(SimulatorCommand){.kind = COMMAND_GRAB,
                                       .id = app->grab_id,
                                       .flag = app->grab_may_be_collider,
                                       .numbers = {at.x, at.y, at.z},
                                       .vector = {app->grab_point.x, app->grab_point.y, app->grab_point.z}});
    app->grab_may_be_collider = false; // once: from now on what is held is moved
}

// The answer to a pick begins a grab, if the mouse is still down, or tells of the particle.
void app_follow_pick(App *app)
{
    if (app->pick_awaited == 0) {
        return;
    }
    const RenderThreadPick pick = render_thread_pick_result(app->render_thread);
    if (pick.number < app->pick_awaited) {
        return;
    }
    app->pick_awaited = 0;
    app->redraw = true;
    if (app->drag == DRAG_GRAB && pick.hit) {
        app->grabbing = true;
        app->grab_id = pick.found ? pick.id : MOTE_NONE;
        app->grab_may_be_collider = !pick.seen;
        app->grab_point = pick.point;
        send_grab(app);
    } else if (!pick.found) {
        app_say(app, "There is no particle here");
    }
    if (app->pick_inspects) {
        app_inspect(app, pick.found ? pick.id : MOTE_NONE);
    }
}

// Lines and circles about the particle that is followed.
void app_show_inspected(App *app)
{
    static Inspection inspection; // of the window's thread
    if (!app->inspecting || !render_thread_inspection(app->render_thread, &inspection)) {
        return;
    }
    inspect_text(&inspection, app->inspected, sizeof app->inspected);
    const MoteCamera *camera = &app->picture.camera;
    const MoteVec3 f = camera_forward(camera), e = camera->position;
    const float width = window_width(app), height = window_height(app);
    const float focal = 0.5f * height / tanf(0.5f * camera->field_of_view * 3.14159265f / 180.0f);
    app->mark_count = 0;
    for (uint32_t i = 0; i <= inspection.listed && inspection.found; i++) { // the particle itself last, on top
        const bool self = i == inspection.listed;
        const MoteVec3 p = self ? inspection.position : inspection.list[i].position;
        const float depth = (p.x - e.x) * f.x + (p.y - e.y) * f.y + (p.z - e.z) * f.z;
        PanelMark mark = {.kind = self                         ? PANEL_MARK_PICKED
                                  : inspection.list[i].contact ? PANEL_MARK_CONTACT
                                                               : PANEL_MARK_NEIGHBOUR};
        if (camera_project(camera, p, width, height, &mark.x, &mark.y)) {
            mark.radius = fmaxf(inspection.radius * focal / depth, self ? 3.0f : 1.5f);
            app->marks[app->mark_count++] = mark;
        }
    }
}

static void throw_ball(App *app)
{
    const CameraRay ray = camera_ray(&app->camera, app->mouse_x, app->mouse_y, window_width(app), window_height(app));
    const MoteVec3 e = app->camera.position, t = app->camera.target, d = ray.direction;
    const float distance = sqrtf((t.x - e.x) * (t.x - e.x) + (t.y - e.y) * (t.y - e.y) + (t.z - e.z) * (t.z - e.z));
    const float dx = app->mouse_x - app->drag_x, dy = app->mouse_y - app->drag_y;
    const float pull = sqrtf(dx * dx + dy * dy) / window_height(app); // of the window's height
    const float speed = distance * (1.0f + 4.0f * pull), away = 0.4f * distance;
    simulator_send(app->simulator,
                   &(SimulatorCommand){.kind = COMMAND_THROW,
                                       .numbers = {e.x + away * d.x, e.y + away * d.y, e.z + away * d.z},
                                       .vector = {speed * d.x, speed * d.y, speed * d.z}});
}

// ---- Mouse ----

static void press(App *app, Uint8 button)
{
    app->drag_x = app->mouse_x;
    app->drag_y = app->mouse_y;
    if (button == SDL_BUTTON_RIGHT) {
        app->drag = DRAG_LOOK;
    } else if (button == SDL_BUTTON_MIDDLE) {
        app->drag = DRAG_PAN;
    } else if (button == SDL_BUTTON_LEFT && app->shift) {
        app->drag = DRAG_GRAB;
    } else if (button == SDL_BUTTON_LEFT && app->control) {
        app->drag = DRAG_THROW;
    } else if (button == SDL_BUTTON_LEFT && app->alt) {
        app->drag = DRAG_INSPECT;
    } else if (button == SDL_BUTTON_LEFT) {
        app->drag = DRAG_ORBIT;
    }
    if (app->drag == DRAG_GRAB || app->drag == DRAG_INSPECT) {
        app->pick_inspects = app->drag == DRAG_INSPECT;
        app->pick_awaited = render_thread_pick_result(app->render_thread).number + 1;
        render_thread_pick(app->render_thread, app->mouse_x, app->mouse_y);
    }
}

static void release(App *app)
{
    if (app->drag == DRAG_THROW) {
        throw_ball(app);
    }
    if (app->drag == DRAG_GRAB) {
        simulator_send(app->simulator, &(SimulatorCommand){.kind = COMMAND_RELEASE});
        app->grabbing = false;
        app->pick_awaited = 0;
    }
    app->drag = DRAG_NONE;
}

static void move(App *app, float dx, float dy)
{
    const float height = window_height(app);
    switch (app->drag) {
    case DRAG_ORBIT:
        camera_orbit(&app->camera, dx, dy, height);
        break;
    case DRAG_LOOK:
        camera_look(&app->camera, dx, dy, height);
        break;
    case DRAG_PAN:
        camera_pan(&app->camera, dx, dy, height);
        break;
    case DRAG_GRAB:
        if (app->grabbing) {
            send_grab(app);
        }
        return;
    default:
        return;
    }
    app->own_camera = app->own_camera || dx != 0.0f || dy != 0.0f;
}

// ---- Keys ----

void app_move(App *app, double seconds)
{
    const float step = (float)(0.8 * seconds) * (app->shift ? 3.0f : 1.0f);
    const bool *held = app->held;
    const float right = (float)held[ACTION_fly_right] - (float)held[ACTION_fly_left];
    const float up = (float)held[ACTION_fly_up] - (float)held[ACTION_fly_down];
    const float forward = (float)held[ACTION_fly_forward] - (float)held[ACTION_fly_back];
    if (right != 0.0f || up != 0.0f || forward != 0.0f) {
        app->own_camera = true;
        camera_fly(&app->camera, step * right, step * up, step * forward);
        app->redraw = true;
    }
    app_gamepad_move(app, seconds);
}

static void key(App *app, const SDL_KeyboardEvent *event)
{
    const bool down = event->type == SDL_KEYDOWN;
    switch (event->keysym.sym) {
    case SDLK_LSHIFT:
    case SDLK_RSHIFT:
        app->shift = down;
        return;
    case SDLK_LCTRL:
    case SDLK_RCTRL:
        app->control = down;
        return;
    case SDLK_LALT:
    case SDLK_RALT:
        app->alt = down;
        return;
    default:
        break;
    }
    if (down && panel_wants_keyboard()) {
        return;
    }
    for (int i = 0; i < ACTION_COUNT; i++) {
        if (app->keys[i] == event->keysym.sym && app->keys[i] != SDLK_UNKNOWN) {
            if (action_rows[i].held) {
                app->held[i] = down;
            } else if (down && event->repeat == 0) {
                app_act(app, (Action)i);
            }
        }
    }
}

// ---- Events ----

// A key that goes up while another window has the keyboard is never heard of.
static void forget_keys(App *app)
{
    app->shift = app->control = app->alt = false;
    for (int i = 0; i < ACTION_COUNT; i++) {
        app->held[i] = false;
    }
    if (app->drag != DRAG_NONE) {
        app->drag = app->drag == DRAG_THROW ? DRAG_NONE : app->drag;
        release(app);
    }
}

// In pixels, whatever the display's density.
static void to_pixels(const App *app, SDL_Event *event)
{
    const float ratio = pixel_ratio(app);
    if (event->type == SDL_MOUSEMOTION) {
        event->motion.x = (Sint32)((float)event->motion.x * ratio);
        event->motion.y = (Sint32)((float)event->motion.y * ratio);
    } else if (event->type == SDL_MOUSEBUTTONDOWN || event->type == SDL_MOUSEBUTTONUP) {
        event->button.x = (Sint32)((float)event->button.x * ratio);
        event->button.y = (Sint32)((float)event->button.y * ratio);
    }
}

void app_event(App *app, const SDL_Event *given)
{
    SDL_Event event = *given;
    to_pixels(app, &event);
    const bool dragging = app->drag != DRAG_NONE;
    if (!dragging || event.type == SDL_KEYDOWN || event.type == SDL_KEYUP) {
        panel_event(&event);
    }
    switch (event.type) {
    case SDL_QUIT:
        app->quit = true;
        break;
    case SDL_WINDOWEVENT:
        if (event.window.event == SDL_WINDOWEVENT_SIZE_CHANGED) {
            app->gpu.stale = true;
        } else if (event.window.event == SDL_WINDOWEVENT_FOCUS_LOST) {
            forget_keys(app);
        }
        break;
    case SDL_DROPFILE:
        app_drop(app, event.drop.file);
        SDL_free(given->drop.file);
        break;
    case SDL_MOUSEMOTION: {
        const float x = (float)event.motion.x, y = (float)event.motion.y;
        const float dx = x - app->mouse_x, dy = y - app->mouse_y;
        app->mouse_x = x;
        app->mouse_y = y;
        move(app, dx, dy);
        break;
    }
    case SDL_MOUSEBUTTONDOWN:
        app->mouse_x = (float)event.button.x;
        app->mouse_y = (float)event.button.y;
        if (!dragging && !panel_wants_mouse()) {
            press(app, event.button.button);
        }
        break;
    case SDL_MOUSEBUTTONUP:
        if (dragging) {
            app->mouse_x = (float)event.button.x;
            app->mouse_y = (float)event.button.y;
            release(app);
            panel_event(&event); // it knows where the mouse is now
        }
        break;
    case SDL_MOUSEWHEEL:
        if (!panel_wants_mouse()) {
            app->own_camera = true;
            camera_zoom(&app->camera, (float)event.wheel.y);
        }
        break;
    case SDL_KEYDOWN:
    case SDL_KEYUP:
        key(app, &event.key);
        break;
    default:
        app_gamepad_event(app, &event);
        break;
    }
}
