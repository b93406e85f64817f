// SPDX-License-Identifier: MIT
// load_former.c - accepts the key names of the previous version (FORMER_KEY rows of keys.def).
#include "scene/load.h"

#include <string.h>

typedef struct Renaming {
    SceneReader *reader;
    const SceneFormerKey *key;
} Renaming;

typedef void ElementFunction(void *context, json_t *element, const ScenePath *path);

// Calls `function` for each object of a section, whatever is wrong with the others.
static void for_each_element(SceneSection section, json_t *value, const ScenePath *path, ElementFunction *function,
                             void *context)
{
    const char *name;
    json_t *element;
    switch (scene_sections[section].kind) {
    case SCENE_OBJECT:
        function(context, value, path);
        break;
    case SCENE_ARRAY:
        for (size_t i = 0; i < json_array_size(value); i++) {
            const ScenePath at = path_to_index(path, i);
            function(context, json_array_get(value, i), &at);
        }
        break;
    case SCENE_MAP:
        json_object_foreach(value, name, element)
        {
            const ScenePath at = path_to_key(path, name);
            function(context, element, &at);
        }
        break;
    }
}

// False if there is no memory.
static bool move_value(json_t *element, const char *from, const char *to)
{
    json_t *value = json_object_get(element, from);
    const bool moved = value == NULL || json_object_set(element, to, value) == 0;
    if (moved) {
        json_object_del(element, from);
    }
    return moved;
}

static void rename_key(void *context, json_t *element, const ScenePath *path)
{
    const Renaming *renaming = context;
    SceneReader *reader = renaming->reader;
    const char *former = renaming->key->former, *name = renaming->key->name;
    if (json_object_get(element, former) == NULL) {
        return;
    }
    const ScenePath at = path_to_key(path, former);
    if (json_object_get(element, name) != NULL && !scene_is_overridden(reader, &at)) {
        scene_report(reader, &at, SCENE_AT_KEY, "found the former name of \"%s\" beside that key, expected one of them",
                     name);
        json_object_del(element, former);
        return;
    }
    char place[512];
    scene_describe_place(reader, &at, SCENE_AT_KEY, place, sizeof place);
    notices_add(&reader->scene->notices, true, 0.0,
                "%sthis key is now called \"%s\"; its former name is accepted in this version only", place, name);
    reader->no_memory |= !move_value(element, former, name);
}

void scene_rename_former_keys(SceneReader *reader)
{
    const ScenePath root = {0};
    for (uint32_t i = 0; i < scene_former_key_count; i++) {
        Renaming renaming = {reader, &scene_former_keys[i]};
        const SceneSection section = renaming.key->section;
        const ScenePath path = path_to_key(&root, scene_sections[section].json_key);
        for_each_element(section, json_object_get(reader->root, scene_sections[section].json_key), &path, rename_key,
                         &renaming);
    }
}

static void restore_key(void *context, json_t *element, const ScenePath *path)
{
    (void)path;
    const SceneFormerKey *key = context;
    move_value(element, key->name, key->former); // without memory for it the dump fails, too
}

void scene_restore_former_keys(SceneSection section, json_t *value)
{
    const ScenePath nowhere = {0};
    for (uint32_t i = 0; i < scene_former_key_count; i++) {
        SceneFormerKey key = scene_former_keys[i];
        if (key.section == section) {
            for_each_element(section, value, &nowhere, restore_key, &key);
        }
    }
}
