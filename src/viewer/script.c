// SPDX-License-Identifier: MIT
#include "viewer/script.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "viewer/app.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 10, NUMBER_LIMIT = 1000000 };
#define PATIENCE 120.0 // s, that a line may wait unless the script says otherwise

MoteResult script_load(const char *path, Script *out)
{
    *out = (Script){.patience = PATIENCE};
    size_t size;
    const MoteResult result = file_read(path, (size_t)1 << 24, &out->text, &size);
    if (result == MOTE_OK) {
        out->path = path;
        out->next = out->text;
    }
    return result;
}

void script_free(Script *script)
{
    free(script->text);
    *script = (Script){0};
}

// ---- Events ----

static void push_key(App *app, SDL_Keycode code, bool down, Uint16 mod)
{
    SDL_Event event = {.key = {.type = down ? SDL_KEYDOWN : SDL_KEYUP,
                               .windowID = SDL_GetWindowID(app->window),
                               .state = down ? SDL_PRESSED : SDL_RELEASED,
                               .keysym = {.scancode = SDL_GetScancodeFromKey(code), .sym = code, .mod = mod}}};
    SDL_PushEvent(&event);
}

static void push_motion(App *app, double x, double y)
{
    SDL_Event event = {
        .motion = {.type = SDL_MOUSEMOTION, .windowID = SDL_GetWindowID(app->window), .x = (Sint32)x, .y = (Sint32)y}};
    SDL_PushEvent(&event);
}

static void push_button(App *app, uint32_t button, bool down, double x, double y)
{
    SDL_Event event = {.button = {.type = down ? SDL_MOUSEBUTTONDOWN : SDL_MOUSEBUTTONUP,
                                  .windowID = SDL_GetWindowID(app->window),
                                  .button = (Uint8)button,
                                  .state = down ? SDL_PRESSED : SDL_RELEASED,
                                  .clicks = 1,
                                  .x = (Sint32)x,
                                  .y = (Sint32)y}};
    SDL_PushEvent(&event);
}

enum { MOD_SHIFT = 1, MOD_CTRL = 2, MOD_ALT = 4 };

static void push_mods(App *app, uint32_t mods, bool down)
{
    const SDL_Keycode codes[] = {SDLK_LSHIFT, SDLK_LCTRL, SDLK_LALT};
    const Uint16 bits[] = {KMOD_LSHIFT, KMOD_LCTRL, KMOD_LALT};
    for (uint32_t i = 0; i < 3; i++) {
        if ((mods >> i & 1u) != 0) {
            push_key(app, codes[i], down, down ? bits[i] : KMOD_NONE);
        }
    }
}

// ---- What is: the `state` line ----

static json_t *vector(MoteVec3 v)
{
    return json_pack("[f,f,f]", (double)v.x, (double)v.y, (double)v.z);
}

// Bytes of memory that the process has in use now; 0 where the system does not say.
static json_int_t resident_bytes(void)
{
    unsigned long long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    const bool known = file != NULL && fscanf(file, "%llu %llu", &all, &resident) == 2;
    if (file != NULL) {
        fclose(file);
    }
    return known ? (json_int_t)(resident * 4096u) : 0;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// What that share of the last answers to events took at most, s.
static double answer_at(const App *app, double share)
{
    double sorted[APP_ANSWERS];
    const uint64_t count = app->answer_count < APP_ANSWERS ? app->answer_count : APP_ANSWERS;
    memcpy(sorted, app->answers, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_size);
    return count > 0 ? sorted[(uint64_t)(share * (double)(count - 1))] : 0.0;
}

static MoteResult write_state(App *app, const char *path)
{
    const SimulatorStatus *s = &app->status;
    const RenderThreadPicture *p = &app->picture;
    int width, height;
    SDL_Vulkan_GetDrawableSize(app->window, &width, &height);
    const char *error = app->error[0] != '\0' ? app->error : s->error[0] != '\0' ? s->error : app->drawing.error;
    char hash[32];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)app->picture.hash);
    json_t *root = json_pack("{s:s,s:s,s:I,s:f,s:b,s:b,s:f,s:I,s:i,s:i,s:I}", "scene", s->name, "path", s->path,
                             "frame", (json_int_t)s->frame, "time", s->time, "paused", s->paused, "loading", s->loading,
                             "speed", s->speed, "model", (json_int_t)s->model, "particles", (int)s->particles, "bodies",
                             (int)s->bodies, "reloads", (json_int_t)app->reloads);
    json_t *more =
        json_pack("{s:I,s:I,s:f,s:s,s:[f,f,f],s:i,s:i,s:i,s:i,s:s,s:b,s:b,s:b,s:b}", "pictures", (json_int_t)p->number,
                  "picture_frame", (json_int_t)p->frame, "picture_seconds", p->seconds, "picture_hash", hash,
                  "picture_mean", p->mean[0], p->mean[1], p->mean[2], "picture_width", (int)p->width, "picture_height",
                  (int)p->height, "width", width, "height", height, "view", app_view(app), "panel", app->panel, "help",
                  app->help, "browser", app->browser, "own_camera", app->own_camera);
    json_t *rest = json_pack(
        "{s:s,s:s,s:s,s:i,s:i,s:i,s:b,s:I,s:f,s:f,s:I,s:I,s:i}", "error", error, "notice", app->notice, "inspected",
        app->inspected, "changes", (int)s->changes, "grabbed", (int)s->grabbed, "scenes", (int)app->scene_count,
        "recording", app->drawing.recording, "recorded", (json_int_t)app->drawing.recorded, "first_picture_seconds",
        app->first_picture, "worst_wait_seconds", app->worst_wait, "worst_lag_pictures",
        (json_int_t)app->drawing.worst_lag, "shown", (json_int_t)app->shown, "swapchains", (int)app->gpu.swapchains);
    if (root == NULL || more == NULL || rest == NULL) {
        json_decref(root);
        json_decref(more);
        json_decref(rest);
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to write it", path);
    }
    json_object_update(root, more);
    json_object_update(root, rest);
    json_decref(more);
    json_decref(rest);
    json_object_set_new(root, "camera_position", vector(app->camera.position));
    json_object_set_new(root, "camera_target", vector(app->camera.target));
    json_object_set_new(root, "held", vector(s->held));
    json_object_set_new(root, "held_collider", json_boolean(s->grabbed_collider));
    json_object_set_new(root, "marks", json_integer(app->mark_count));
    json_object_set_new(root, "surfaces", json_integer(app->gpu.surfaces));
    json_object_set_new(root, "contacts", json_integer((json_int_t)s->measures.contacts));
    json_object_set_new(root, "worst_answer_seconds", json_real(app->worst_answer));
    json_object_set_new(root, "median_answer_seconds", json_real(answer_at(app, 0.5)));
    json_object_set_new(root, "most_answer_seconds", json_real(answer_at(app, 0.95)));
    json_object_set_new(root, "answers", json_integer((json_int_t)app->answer_count));
    json_object_set_new(root, "resident_bytes", json_integer(resident_bytes()));
    char *clipboard = SDL_GetClipboardText();
    json_object_set_new(root, "clipboard", json_string(clipboard != NULL ? clipboard : ""));
    SDL_free(clipboard);
    json_object_set_new(root, "ui_scale", json_real((double)app->ui_scale));
    json_object_set_new(root, "colliders", json_integer(s->measures.colliders));
    json_object_set_new(root, "recent", json_integer(app->recent_count));
    json_object_set_new(root, "backend", json_string(s->backend));
    json_object_set_new(root, "shader_reloads", json_integer((json_int_t)app->drawing.reloads));
    json_object_set_new(
        root, "validation_messages",
        json_integer((json_int_t)app->gpu.validation_messages + mote_renderer_validation_messages(NULL)));
    if (s->has_statistics) {
        const double *c = s->statistics.centre_of_mass;
        json_object_set_new(root, "centre_of_mass", json_pack("[f,f,f]", c[0], c[1], c[2]));
        json_object_set_new(root, "kinetic_energy", json_real(s->statistics.kinetic_energy));
    }
    FileWriter writer;
    MoteResult result = file_writer_open(&writer, path);
    if (result == MOTE_OK) {
        json_dumpf(root, writer.stream, JSON_INDENT(1));
        result = file_writer_commit(&writer);
    }
    json_decref(root);
    return result;
}

// ---- Lines ----

static MoteResult fail_line(const Script *script, const char *what)
{
    return mote_fail(MOTE_ERROR_INPUT, "%s:%u: %s", script->path, script->line, what);
}

// Beyond NUMBER_LIMIT a coordinate or a count would not fit the whole number that it becomes.
static MoteResult read_number(const Script *script, const char *word, double *out)
{
    char *end;
    *out = strtod(word, &end);
    if (end == word || *end != '\0' || !(fabs(*out) <= NUMBER_LIMIT)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s:%u: found \"%.40s\", expected a number from -%d to %d", script->path,
                         script->line, word, NUMBER_LIMIT, NUMBER_LIMIT);
    }
    return MOTE_OK;
}

// `count` numbers, of which the line is known to have as many.
static MoteResult read_numbers(const Script *script, char **words, uint32_t count, double *out)
{
    for (uint32_t i = 0; i < count; i++) {
        if (read_number(script, words[i], &out[i]) != MOTE_OK) {
            return MOTE_ERROR_INPUT;
        }
    }
    return MOTE_OK;
}

static uint32_t read_mods(char **words, uint32_t count)
{
    uint32_t mods = 0;
    for (uint32_t i = 0; i < count; i++) {
        mods |= strcmp(words[i], "shift") == 0  ? MOD_SHIFT
                : strcmp(words[i], "ctrl") == 0 ? MOD_CTRL
                : strcmp(words[i], "alt") == 0  ? MOD_ALT
                                                : 0;
    }
    return mods;
}

static MoteResult play_key(Script *script, App *app, char **words, uint32_t count)
{
    const SDL_Keycode code = SDL_GetKeyFromName(words[1]);
    if (code == SDLK_UNKNOWN) {
        return fail_line(script, "expected the name of a key, such as Space or F11");
    }
    const uint32_t mods = read_mods(words + 2, count - 2);
    push_mods(app, mods, true);
    if (strcmp(words[0], "release") != 0) {
        push_key(app, code, true, KMOD_NONE);
    }
    if (strcmp(words[0], "hold") != 0) {
        push_key(app, code, false, KMOD_NONE);
    }
    push_mods(app, mods, false);
    return MOTE_OK;
}

static MoteResult read_button(Script *script, const char *word)
{
    const char *buttons[] = {"left", "middle", "right"};
    for (uint32_t i = 0; i < 3; i++) {
        if (strcmp(word, buttons[i]) == 0) {
            script->drag_button = i + 1;
            return MOTE_OK;
        }
    }
    return fail_line(script, "expected left, middle or right");
}

// Begins to move the mouse from where it is pressed or was moved to last, in steps of a frame of the window each.
static void begin_moving(Script *script, const App *app, const double to[2], double steps, bool presses, bool lifts)
{
    for (int k = 0; k < 2; k++) {
        script->drag_from[k] = script->drag_to[k];
        script->drag_to[k] = to[k];
    }
    script->drag_steps = (uint32_t)fmin(fmax(steps, 1.0), 10000.0);
    script->drag_step = presses ? 0 : 1;
    script->drag_lifts = lifts;
    script->drag_shown = app->shown + 1; // one may be on its way that knows nothing of the mouse yet
}

// drag BUTTON X Y X Y STEPS [MODS], click X Y [MODS], press BUTTON X Y [MODS], move X Y STEPS, lift
static MoteResult play_drag(Script *script, App *app, char **words, uint32_t count)
{
    const bool is_drag = strcmp(words[0], "drag") == 0, is_click = strcmp(words[0], "click") == 0;
    const bool is_press = strcmp(words[0], "press") == 0, is_move = strcmp(words[0], "move") == 0;
    const uint32_t first = is_drag || is_press ? 2 : 1, numbers = is_drag                ? 5
                                                                  : is_move              ? 3
                                                                  : is_click || is_press ? 2
                                                                                         : 0;
    double values[5] = {0};
    if (count < first + numbers) {
        return fail_line(script, "expected: drag BUTTON X Y X Y STEPS, click X Y, press BUTTON X Y, move X Y STEPS, or "
                                 "lift; with shift, ctrl or alt behind");
    }
    if (read_numbers(script, words + first, numbers, values) != MOTE_OK) {
        return MOTE_ERROR_INPUT;
    }
    if (is_move || (!is_drag && !is_click && !is_press)) {
        begin_moving(script, app, is_move ? values : script->drag_to, values[2], false, !is_move);
        return MOTE_OK;
    }
    script->drag_button = 1;
    if (!is_click && read_button(script, words[1]) != MOTE_OK) {
        return MOTE_ERROR_INPUT;
    }
    script->drag_to[0] = values[0];
    script->drag_to[1] = values[1];
    script->drag_mods = read_mods(words + first + numbers, count - first - numbers);
    begin_moving(script, app, is_drag ? values + 2 : values, values[4], true, !is_press);
    push_motion(app, values[0], values[1]);
    push_mods(app, script->drag_mods, true);
    return MOTE_OK;
}

// The next part of a drag, one a frame of the window, so that the panel sees the mouse come and go.
static void go_on_dragging(Script *script, App *app)
{
    const double *from = script->drag_from, *to = script->drag_to;
    const bool picking = (script->drag_mods & (MOD_SHIFT | MOD_ALT)) != 0 && app->pick_awaited != 0;
    if (app->shown <= script->drag_shown || (script->drag_step > 0 && picking)) { // what is held must be known first
        return;
    }
    script->drag_shown = app->shown;
    const uint32_t step = script->drag_step++;
    if (step == 0) {
        push_button(app, script->drag_button, true, from[0], from[1]);
    } else if (step <= script->drag_steps) {
        const double t = (double)step / script->drag_steps;
        push_motion(app, from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1]));
    } else {
        if (script->drag_lifts) {
            push_button(app, script->drag_button, false, to[0], to[1]);
            push_mods(app, script->drag_mods, false);
        }
        script->drag_steps = 0;
    }
}

static MoteResult play_wait(Script *script, App *app, char **words, uint32_t count)
{
    const char *what = words[1];
    double number = 1.0;
    if (count > 2 && strcmp(what, "file") != 0 && read_number(script, words[2], &number) != MOTE_OK) {
        return MOTE_ERROR_INPUT;
    }
    script->began = clock_seconds();
    script->began_turn = app->turns;
    if (strcmp(what, "seconds") == 0) {
        script->wait_until = clock_seconds() + fmin(fmax(number, 0.0), script->patience);
    } else if (strcmp(what, "pictures") == 0) {
        script->wait_pictures = app->picture.number + (uint64_t)fmax(number, 1.0);
    } else if (strcmp(what, "shown") == 0) {
        script->wait_shown = app->shown + (uint64_t)fmax(number, 1.0);
    } else if (strcmp(what, "frame") == 0) {
        script->wait_frame = (uint64_t)fmax(number, 0.0);
    } else if (strcmp(what, "steps") == 0) {
        script->wait_frame = (app->picture.frame > app->status.frame ? app->picture.frame : app->status.frame) +
                             (uint64_t)fmax(number, 1.0);
    } else if (strcmp(what, "reload") == 0) {
        script->wait_reloads = (uint64_t)fmax(number, 0.0);
    } else if (strcmp(what, "shaders") == 0) {
        script->wait_shaders = (uint64_t)fmax(number, 0.0);
    } else if (strcmp(what, "settled") == 0) {
        script->waits_to_settle = true;
    } else if (strcmp(what, "loaded") == 0) {
        script->waits_for_model = true;
    } else if (strcmp(what, "file") == 0 && count > 2) {
        script->waits_for_file = true;
        snprintf(script->file, sizeof script->file, "%s", words[2]);
    } else {
        return fail_line(script,
                         "expected: wait seconds, pictures, shown, frame, steps, reload or shaders N, wait loaded, "
                         "wait settled, or wait file NAME");
    }
    return MOTE_OK;
}

// pad AXIS VALUE, pad BUTTON: as SDL names them, leftx or a.
static MoteResult play_pad(Script *script, char **words, uint32_t count)
{
    const SDL_GameControllerAxis axis = SDL_GameControllerGetAxisFromString(words[1]);
    const SDL_GameControllerButton button = SDL_GameControllerGetButtonFromString(words[1]);
    SDL_Event event = {0};
    if (axis != SDL_CONTROLLER_AXIS_INVALID && count > 2) {
        double value;
        if (read_number(script, words[2], &value) != MOTE_OK) {
            return MOTE_ERROR_INPUT;
        }
        value = fmin(fmax(value, -1.0), 1.0);
        event.caxis = (SDL_ControllerAxisEvent){
            .type = SDL_CONTROLLERAXISMOTION, .axis = (Uint8)axis, .value = (Sint16)(32767.0 * value)};
    } else if (button != SDL_CONTROLLER_BUTTON_INVALID) {
        event.cbutton = (SDL_ControllerButtonEvent){.type = SDL_CONTROLLERBUTTONDOWN, .button = (Uint8)button};
    } else {
        return fail_line(script, "expected an axis of a game controller with a number from -1 to 1, or a button");
    }
    SDL_PushEvent(&event);
    return MOTE_OK;
}

static MoteResult play_words(Script *script, App *app, char **words, uint32_t count)
{
    const char *verb = words[0];
    const bool two = count >= 2, three = count >= 3;
    double values[2] = {0};
    if (strcmp(verb, "wait") == 0 && two) {
        return play_wait(script, app, words, count);
    }
    if ((strcmp(verb, "key") == 0 || strcmp(verb, "hold") == 0 || strcmp(verb, "release") == 0) && two) {
        return play_key(script, app, words, count);
    }
    if (strcmp(verb, "drag") == 0 || strcmp(verb, "click") == 0 || strcmp(verb, "press") == 0 ||
        strcmp(verb, "move") == 0 || strcmp(verb, "lift") == 0) {
        return play_drag(script, app, words, count);
    }
    const bool is_mouse = strcmp(verb, "mouse") == 0 && three, is_wheel = strcmp(verb, "wheel") == 0 && two;
    const bool is_resize = strcmp(verb, "resize") == 0 && three, is_patience = strcmp(verb, "patience") == 0 && two;
    if ((is_mouse || is_wheel || is_resize || is_patience) &&
        read_numbers(script, words + 1, is_wheel || is_patience ? 1 : 2, values) != MOTE_OK) {
        return MOTE_ERROR_INPUT;
    }
    if (is_mouse) {
        push_motion(app, values[0], values[1]);
    } else if (is_wheel) {
        SDL_Event event = {.wheel = {.type = SDL_MOUSEWHEEL, .y = (Sint32)values[0]}};
        SDL_PushEvent(&event);
    } else if (strcmp(verb, "text") == 0 && two) {
        SDL_Event event = {.text = {.type = SDL_TEXTINPUT}};
        snprintf(event.text.text, sizeof event.text.text, "%s", words[1]);
        SDL_PushEvent(&event);
    } else if (is_patience) {
        script->patience = values[0];
    } else if (is_resize) {
        SDL_SetWindowSize(app->window, (int)values[0], (int)values[1]);
    } else if (strcmp(verb, "drop") == 0 && two) {
        SDL_Event event = {.drop = {.type = SDL_DROPFILE, .file = SDL_strdup(words[1])}};
        SDL_PushEvent(&event);
    } else if (strcmp(verb, "pad") == 0 && two) {
        return play_pad(script, words, count);
    } else if (strcmp(verb, "lose") == 0) {
        app->gpu.lose = app->gpu.stale = true;
    } else if (strcmp(verb, "state") == 0 && two) {
        return write_state(app, words[1]);
    } else if (strcmp(verb, "quit") == 0) {
        SDL_Event event = {.type = SDL_QUIT};
        SDL_PushEvent(&event);
    } else {
        return fail_line(script,
                         "expected wait, key, hold, release, drag, click, press, move, lift, mouse, wheel, text, "
                         "resize, drop, pad, lose, patience, state or quit, with what it needs");
    }
    return MOTE_OK;
}

// Whether all that was asked for is done, and what is shown is what is.
static bool is_settled(const App *app)
{
    return app->status.idle && !app->status.loading && app->pick_awaited == 0 && app->request > 0 &&
           app->picture.request == app->request && app->picture.snapshot == app->status.snapshot &&
           !(app->picture.interpolation < 1.0) && app->turns > app->script.began_turn + 2;
}

static bool is_waiting(Script *script, const App *app)
{
    FILE *file = NULL;
    if (script->waits_for_file) {
        (void)file_open_input(script->file, &file, NULL); // NULL as long as it is not there
    }
    const bool waiting =
        script->drag_steps > 0 || (script->wait_until > 0.0 && clock_seconds() < script->wait_until) ||
        app->picture.number < script->wait_pictures || app->shown < script->wait_shown ||
        (script->wait_frame > 0 && (app->picture.frame < script->wait_frame)) || app->reloads < script->wait_reloads ||
        app->drawing.reloads < script->wait_shaders ||
        (script->waits_for_model &&
         (app->status.loading || (app->status.error[0] == '\0' && app->picture.model != app->status.model))) ||
        (script->waits_for_file && file == NULL) || (script->waits_to_settle && !is_settled(app));
    if (file != NULL) {
        fclose(file);
    }
    return waiting;
}

static void wait_for_nothing(Script *script)
{
    script->wait_until = 0.0;
    script->wait_pictures = script->wait_frame = script->wait_shown = script->wait_reloads = 0;
    script->wait_shaders = 0;
    script->waits_for_model = script->waits_for_file = script->waits_to_settle = false;
}

MoteResult script_play(Script *script, struct App *app)
{
    while (script->drag_steps == 0) {
        if (is_waiting(script, app)) {
            return clock_seconds() - script->began < script->patience
                       ? MOTE_OK
                       : mote_fail(MOTE_ERROR_INPUT, "%s:%u: waited %g s for what did not come", script->path,
                                   script->line, script->patience);
        }
        wait_for_nothing(script);
        if (*script->next == '\0') {
            script->path = NULL; // the user goes on
            return MOTE_OK;
        }
        char *line = script->next;
        script->line++;
        char *end = line + strcspn(line, "\n");
        script->next = *end != '\0' ? end + 1 : end;
        *end = '\0';
        char *words[WORDS];
        uint32_t count = 0;
        for (char *word = strtok(line, " \t\r"); word != NULL && word[0] != '#' && count < WORDS;
             word = strtok(NULL, " \t\r")) {
            words[count++] = word;
        }
        const MoteResult result = count > 0 ? play_words(script, app, words, count) : MOTE_OK;
        if (result != MOTE_OK) {
            return result;
        }
        if (count > 0 && strcmp(words[0], "wait") != 0 && strcmp(words[0], "state") != 0) {
            return MOTE_OK; // one event a turn: what it does is seen before the next
        }
    }
    go_on_dragging(script, app);
    return MOTE_OK;
}
