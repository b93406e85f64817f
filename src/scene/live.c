// SPDX-License-Identifier: MIT
#include "scene/live.h"

#include "scene/simulation.h"
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

bool scene_key_is_live(const MoteScene *scene, const SceneKey *key, uint32_t element)
{
    for (uint32_t i = 0; i < scene->track_count; i++) {
        if (&scene_keys[scene->tracks[i].key] == key && scene->tracks[i].element == element) {
            return false;
        }
    }
    if (key->type == SCENE_STRING || key->type == SCENE_PATH || key->type == SCENE_MESH) {
        return false;
    }
    switch (key->section) {
    case SCENE_SECTION_solver:
    case SCENE_SECTION_collider:
    case SCENE_SECTION_emitter:
    case SCENE_SECTION_kill_volume:
    case SCENE_SECTION_force:
    case SCENE_SECTION_air:
    case SCENE_SECTION_attachment:
        return key->animation == SCENE_ANIMATED;
    case SCENE_SECTION_spring:
        return key->look;
    case SCENE_SECTION_cloth:
        return key->look || (key->animation == SCENE_ANIMATED && !scene_key_eases(key)); // else states would not fit
    case SCENE_SECTION_material:
        return key->look || key->animation == SCENE_ANIMATED;
    default:
        return scene_sections[key->section].use == SCENE_OUTPUT;
    }
}

static void store(SceneValues *values, const SceneKey *key, uint32_t element, const double *numbers)
{
    SceneElements *elements = &values->sections[key->section];
    if (element < elements->count) {
        scene_key_store(key, (char *)elements->data + element * scene_sections[key->section].element_size, numbers);
    }
}

void simulation_set_live(MoteScene *scene, MoteSimulation *simulation, const SceneKey *key, uint32_t element,
                         const double *numbers)
{
    SceneValues *all[] = {&scene->values, &simulation->before, &simulation->from, &simulation->to,
                          &simulation->look.values};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        store(all[i], key, element, numbers);
    }
    if (key->section == SCENE_SECTION_collider || key->section == SCENE_SECTION_kill_volume ||
        key->section == SCENE_SECTION_force || key->section == SCENE_SECTION_attachment ||
        (key->section == SCENE_SECTION_cloth && !key->look) || (key->section == SCENE_SECTION_material && !key->look)) {
        simulation->animated[key->section] = true; // the world is told of them with every step from now on
    }
    if (key->section == SCENE_SECTION_material) {
        simulation_look_material(simulation, element);
    }
}

// The element's place in a file: fluids[1], materials["sand"].
static void write_place(const MoteScene *scene, const SceneSectionInfo *section, SceneSection kind, uint32_t element,
                        char *place, size_t size)
{
    place[0] = '\0';
    if (section->kind == SCENE_ARRAY) {
        snprintf(place, size, "[%u]", element);
    } else if (section->kind == SCENE_MAP) {
        const char *name = (const char *)scene->values.sections[kind].data + element * section->element_size;
        size_t length = (size_t)snprintf(place, size, "[\"");
        for (; *name != '\0' && length + 4 < size; name++) {
            if (*name == '"' || *name == '\\') {
                place[length++] = '\\';
            }
            place[length++] = *name;
        }
        snprintf(place + length, size - length, "\"]");
    }
}

const char *scene_override_text(const MoteScene *scene, const SceneKey *key, uint32_t element, const double *numbers,
                                char *text, size_t size)
{
    const SceneSectionInfo *section = &scene_sections[key->section];
    char place[SCENE_NAME_SIZE * 2 + 8], value[128];
    write_place(scene, section, key->section, element, place, sizeof place);
    if (key->type == SCENE_BOOL) {
        snprintf(value, sizeof value, "%s", numbers[0] != 0.0 ? "true" : "false");
    } else if (key->type == SCENE_CHOICE) {
        const char *choices = key->choices;
        char word[SCENE_NAME_SIZE] = "";
        for (double i = numbers[0]; i >= 0.0 && scene_choice_next(&choices, word); i -= 1.0) {}
        snprintf(value, sizeof value, "\"%s\"", word);
    } else if (key->type == SCENE_VEC3) {
        snprintf(value, sizeof value, "[%.7g, %.7g, %.7g]", numbers[0], numbers[1], numbers[2]);
    } else {
        snprintf(value, sizeof value, "%.*g", key->type == SCENE_UINT ? 10 : 7, numbers[0]);
    }
    snprintf(text, size, "%s%s.%s=%s", section->json_key, place, key->name, value);
    return text;
}

bool scene_override_words(const MoteScene *scene, const SceneKey *key, uint32_t element, const char *words, char *text,
                          size_t size)
{
    const SceneSectionInfo *section = &scene_sections[key->section];
    char place[SCENE_NAME_SIZE * 2 + 8];
    write_place(scene, section, key->section, element, place, sizeof place);
    json_t *value = json_string(words); // NULL where it is not UTF-8
    char *quoted = value != NULL ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    const bool fits =
        quoted != NULL && snprintf(text, size, "%s%s.%s=%s", section->json_key, place, key->name, quoted) < (int)size;
    free(quoted);
    json_decref(value);
    return fits;
}
