// SPDX-License-Identifier: MIT
// gamepad.c - the camera and a few actions from a game controller, where one is plugged in.
#include "viewer/app.h"

#include "viewer/camera.h"
#include <math.h>

static const struct {
    SDL_GameControllerButton button;
    Action action;
} buttons[] = {
    {SDL_CONTROLLER_BUTTON_A, ACTION_pause},
    {SDL_CONTROLLER_BUTTON_B, ACTION_step},
    {SDL_CONTROLLER_BUTTON_X, ACTION_reset},
    {SDL_CONTROLLER_BUTTON_Y, ACTION_frame_all},
    {SDL_CONTROLLER_BUTTON_START, ACTION_panel},
    {SDL_CONTROLLER_BUTTON_BACK, ACTION_help},
    {SDL_CONTROLLER_BUTTON_LEFTSHOULDER, ACTION_previous_view},
    {SDL_CONTROLLER_BUTTON_RIGHTSHOULDER, ACTION_next_view},
    {SDL_CONTROLLER_BUTTON_DPAD_LEFT, ACTION_previous_scene},
    {SDL_CONTROLLER_BUTTON_DPAD_RIGHT, ACTION_next_scene},
    {SDL_CONTROLLER_BUTTON_DPAD_UP, ACTION_faster},
    {SDL_CONTROLLER_BUTTON_DPAD_DOWN, ACTION_slower},
};

// -1 to 1, with what a stick at rest may say left out.
static float deflection(Sint16 value)
{
    const float dead = 0.2f, x = fminf(fmaxf((float)value / 32767.0f, -1.0f), 1.0f);
    return fabsf(x) > dead ? copysignf((fabsf(x) - dead) / (1.0f - dead), x) : 0.0f;
}

void app_gamepad_event(App *app, const SDL_Event *event)
{
    switch (event->type) {
    case SDL_CONTROLLERDEVICEADDED:
        if (app->gamepad == NULL && (app->gamepad = SDL_GameControllerOpen(event->cdevice.which)) != NULL) {
            const char *name = SDL_GameControllerName(app->gamepad);
            app_say(app, "Game controller: %s", name != NULL ? name : "of no name");
        }
        break;
    case SDL_CONTROLLERDEVICEREMOVED:
        if (app->gamepad != NULL && app->gamepad == SDL_GameControllerFromInstanceID(event->cdevice.which)) {
            SDL_GameControllerClose(app->gamepad);
            app->gamepad = NULL;
            for (int i = 0; i < SDL_CONTROLLER_AXIS_MAX; i++) {
                app->axes[i] = 0.0f;
            }
        }
        break;
    case SDL_CONTROLLERAXISMOTION:
        if (event->caxis.axis < SDL_CONTROLLER_AXIS_MAX) {
            app->axes[event->caxis.axis] = deflection(event->caxis.value);
        }
        break;
    case SDL_CONTROLLERBUTTONDOWN:
        for (size_t i = 0; i < sizeof buttons / sizeof buttons[0]; i++) {
            if (event->cbutton.button == buttons[i].button) {
                app_act(app, buttons[i].action);
            }
        }
        break;
    default:
        break;
    }
}

bool app_gamepad_moves(const App *app)
{
    bool moves = false;
    for (int i = 0; i < SDL_CONTROLLER_AXIS_MAX; i++) {
        moves = moves || app->axes[i] != 0.0f;
    }
    return moves;
}

// The left stick flies, the right one looks around, the triggers go down and up.
void app_gamepad_move(App *app, double seconds)
{
    if (!app_gamepad_moves(app)) {
        return;
    }
    const float *a = app->axes, step = 0.8f * (float)seconds, turn = 1.5f * (float)seconds; // of a picture's height
    app->own_camera = true;
    camera_fly(&app->camera, step * a[SDL_CONTROLLER_AXIS_LEFTX],
               step * (a[SDL_CONTROLLER_AXIS_TRIGGERRIGHT] - a[SDL_CONTROLLER_AXIS_TRIGGERLEFT]),
               -step * a[SDL_CONTROLLER_AXIS_LEFTY]);
    camera_look(&app->camera, turn * a[SDL_CONTROLLER_AXIS_RIGHTX], turn * a[SDL_CONTROLLER_AXIS_RIGHTY], 1.0f);
    app->redraw = true;
}
