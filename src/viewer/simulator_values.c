// SPDX-License-Identifier: MIT
// simulator_values.c - access of the panel, on the window's thread, to the scene's values.
#include "viewer/simulator_private.h"

#include "base/error.h"
#include "scene/live.h"
#include "scene/save.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Change *simulator_change(Simulator *simulator, uint32_t key, uint32_t element)
{
    for (uint32_t i = 0; i < simulator->change_count; i++) {
        if (simulator->changes[i].key == key && simulator->changes[i].element == element) {
            return &simulator->changes[i];
        }
    }
    return NULL;
}

bool simulator_value(Simulator *simulator, uint32_t key, uint32_t element, double numbers[3])
{
    const SceneKey *row = &scene_keys[key];
    bool found = false;
    mtx_lock(&simulator->mutex);
    const Change *change = simulator_change(simulator, key, element);
    if (change != NULL) {
        memcpy(numbers, change->numbers, sizeof change->numbers);
        found = true;
    } else if (simulator->model != NULL) {
        const SceneElements *elements = &simulator->model->scene->values.sections[row->section];
        found = element < elements->count;
        if (found) {
            scene_key_fetch(row, (const char *)elements->data + element * scene_sections[row->section].element_size,
                            numbers);
        }
    }
    mtx_unlock(&simulator->mutex);
    return found;
}

bool simulator_words(Simulator *simulator, uint32_t key, uint32_t element, char *words, size_t size)
{
    const SceneKey *row = &scene_keys[key];
    bool found = false;
    mtx_lock(&simulator->mutex);
    const Change *change = simulator_change(simulator, key, element);
    const SceneElements *elements =
        simulator->model != NULL ? &simulator->model->scene->values.sections[row->section] : NULL;
    if (change != NULL) {
        snprintf(words, size, "%s", change->words);
        found = true;
    } else if (elements != NULL && element < elements->count) {
        const char *field =
            (const char *)elements->data + element * scene_sections[row->section].element_size + row->offset;
        const bool is_list = row->type == SCENE_MESHES || row->type == SCENE_POINTS;
        const void *const *pointed = (const void *const *)(const void *)field;
        const char *text = row->type == SCENE_STRING ? field : NULL;
        if (is_list) {
            text = *pointed == NULL ? "" : row->type == SCENE_MESHES ? "a sequence" : "points";
        } else if (text == NULL) {
            text = *pointed;
        }
        snprintf(words, size, "%s", text != NULL ? text : "");
        found = true;
    }
    mtx_unlock(&simulator->mutex);
    return found;
}

bool simulator_is_live(Simulator *simulator, uint32_t key, uint32_t element)
{
    mtx_lock(&simulator->mutex);
    const bool live = simulator->model != NULL && scene_key_is_live(simulator->model->scene, &scene_keys[key], element);
    mtx_unlock(&simulator->mutex);
    return live;
}

uint32_t simulator_elements(Simulator *simulator, SceneSection section)
{
    mtx_lock(&simulator->mutex);
    const uint32_t count = simulator->model != NULL ? simulator->model->scene->values.sections[section].count : 0;
    mtx_unlock(&simulator->mutex);
    return count;
}

void simulator_element_name(Simulator *simulator, SceneSection section, uint32_t element, char name[SCENE_NAME_SIZE])
{
    name[0] = '\0';
    mtx_lock(&simulator->mutex);
    if (simulator->model != NULL && scene_sections[section].kind == SCENE_MAP) {
        const SceneElements *elements = &simulator->model->scene->values.sections[section];
        if (element < elements->count) {
            snprintf(name, SCENE_NAME_SIZE, "%s",
                     (const char *)elements->data + element * scene_sections[section].element_size);
        }
    }
    mtx_unlock(&simulator->mutex);
}

const char **simulator_overrides(const Simulator *simulator, uint32_t *count)
{
    const uint32_t given = simulator->options.override_count;
    const char **texts = calloc(given + simulator->change_count + 1u, sizeof *texts);
    if (texts == NULL) {
        mote_fail(MOTE_ERROR_MEMORY, "no memory for %u changes of the scene", simulator->change_count);
        return NULL;
    }
    *count = 0;
    for (uint32_t i = 0; i < given; i++) {
        texts[(*count)++] = simulator->options.overrides[i];
    }
    for (uint32_t i = 0; i < simulator->change_count; i++) {
        texts[(*count)++] = simulator->changes[i].text;
    }
    return texts;
}

MoteResult simulator_save_scene(Simulator *simulator, const char *path)
{
    mtx_lock(&simulator->mutex);
    MoteResult result = mote_fail(MOTE_ERROR_INPUT, "there is no scene to save");
    uint32_t count;
    const char **texts = simulator_overrides(simulator, &count);
    if (simulator->model != NULL && texts != NULL) {
        result = scene_save(simulator->status.path, texts, count, path);
    }
    free(texts);
    mtx_unlock(&simulator->mutex);
    return result;
}
