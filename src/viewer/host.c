// SPDX-License-Identifier: MIT
// host.c - implements PanelHost: the requests of the panel.
#include "viewer/app.h"

#include "scene/live.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t elements(void *data, uint32_t section)
{
    return simulator_elements(((App *)data)->simulator, (SceneSection)section);
}

static void element_name(void *data, uint32_t section, uint32_t element, char name[64])
{
    char whole[SCENE_NAME_SIZE];
    simulator_element_name(((App *)data)->simulator, (SceneSection)section, element, whole);
    snprintf(name, 64, "%.63s", whole);
}

static bool value(void *data, uint32_t key, uint32_t element, double numbers[3])
{
    return simulator_value(((App *)data)->simulator, key, element, numbers);
}

static bool is_live(void *data, uint32_t key, uint32_t element)
{
    return simulator_is_live(((App *)data)->simulator, key, element);
}

static void set(void *data, uint32_t key, uint32_t element, const double numbers[3])
{
    App *app = data;
    SimulatorCommand command = {.kind = COMMAND_SET, .key = key, .element = element};
    memcpy(command.numbers, numbers, sizeof command.numbers);
    if (scene_keys[key].section == SCENE_SECTION_camera) {
        app->own_camera = false; // so that it is seen
    }
    simulator_send(app->simulator, &command);
}

static bool text(void *data, uint32_t key, uint32_t element, char words[1024])
{
    return simulator_words(((App *)data)->simulator, key, element, words, 1024);
}

static void set_text(void *data, uint32_t key, uint32_t element, const char *words)
{
    const size_t size = strlen(words) + 1;
    SimulatorCommand command = {.kind = COMMAND_SET_WORDS, .key = key, .element = element, .text = malloc(size)};
    if (command.text != NULL) {
        memcpy(command.text, words, size);
        simulator_send(((App *)data)->simulator, &command);
    }
}

static void act(void *data, const char *action)
{
    for (int i = 0; i < ACTION_COUNT; i++) {
        if (strcmp(action_rows[i].name, action) == 0) {
            app_act(data, (Action)i);
        }
    }
}

static void set_speed(void *data, double speed)
{
    simulator_send(((App *)data)->simulator, &(SimulatorCommand){.kind = COMMAND_SPEED, .numbers = {speed}});
}

static bool view_at(void *data, uint32_t i, char name[64])
{
    return app_view_at(data, i, name);
}

static void set_view(void *data, const char *view)
{
    app_set_view(data, view);
}

static void open_scene(void *data, const char *scene)
{
    char path[1024]; // it may be a row of the list that is made anew
    snprintf(path, sizeof path, "%s", scene);
    app_open(data, path);
}

static void save_scene(void *data, const char *path)
{
    App *app = data;
    if (simulator_save_scene(app->simulator, path) == MOTE_OK) {
        app_say(app, "Saved the scene to %s", path);
    } else {
        app_fail(app);
    }
}

static void forget_changes(void *data)
{
    App *app = data;
    simulator_send(app->simulator, &(SimulatorCommand){.kind = COMMAND_FORGET});
    app_reset(app);
}

static void add_mesh(void *data, const char *section)
{
    app_add_mesh(data, section);
}

void app_host(App *app, PanelHost *host)
{
    *host = (PanelHost){app, elements,  element_name, value,    is_live,    set,        text,           set_text,
                        act, set_speed, view_at,      set_view, open_scene, save_scene, forget_changes, add_mesh};
}
