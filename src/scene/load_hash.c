// SPDX-License-Identifier: MIT
// load_hash.c - a hash of all values that affect the simulation, and of no others: a saved state still fits the scene
// after a change of camera or colours.
#include "scene/load.h"

#include "base/hash.h"
#include "scene/meshes.h"
#include <stdlib.h>
#include <string.h>

static void drop_look_keys(SceneSection section, json_t *element)
{
    for (uint32_t i = 0; i < scene_key_count; i++) {
        if (scene_keys[i].section == section && scene_keys[i].look) {
            json_object_del(element, scene_keys[i].name);
        }
    }
}

static void drop_look(SceneSection section, json_t *value)
{
    const char *name;
    json_t *element;
    switch (scene_sections[section].kind) {
    case SCENE_OBJECT:
        drop_look_keys(section, value);
        break;
    case SCENE_ARRAY:
        for (size_t i = 0; i < json_array_size(value); i++) {
            drop_look_keys(section, json_array_get(value, i));
        }
        break;
    case SCENE_MAP:
        json_object_foreach(value, name, element)
        {
            drop_look_keys(section, element);
        }
        break;
    }
}

// A built-in material of which nothing is left is the same as one that the file does not mention.
static void drop_unchanged_materials(json_t *materials)
{
    for (uint32_t i = 0; i < SCENE_BUILT_IN_MATERIALS; i++) {
        if (json_object_size(json_object_get(materials, scene_built_in_materials[i])) == 0) {
            json_object_del(materials, scene_built_in_materials[i]);
        }
    }
}

// The file's JSON without what only pictures and files depend on; NULL if there is no memory for it.
static json_t *physics_of(const json_t *root)
{
    json_t *physics = json_object();
    for (uint32_t s = 0; s < SCENE_SECTION_COUNT; s++) {
        const json_t *given = json_object_get(root, scene_sections[s].json_key);
        if (given == NULL || scene_sections[s].use != SCENE_PHYSICS) {
            continue;
        }
        json_t *value = json_deep_copy(given);
        drop_look((SceneSection)s, value);
        scene_restore_former_keys((SceneSection)s, value); // states of the version before fit, too
        if (s == SCENE_SECTION_material) {
            drop_unchanged_materials(value);
            if (value != NULL && json_object_size(value) == 0) {
                json_decref(value);
                continue;
            }
        }
        if (json_object_set_new(physics, scene_sections[s].json_key, value) != 0) { // also where value is NULL
            json_decref(physics);
            return NULL;
        }
    }
    return physics;
}

void scene_hash(SceneReader *reader)
{
    json_t *physics = physics_of(reader->root);
    char *dump = physics != NULL ? json_dumps(physics, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    json_decref(physics);
    if (dump == NULL) {
        reader->no_memory = true;
        return;
    }
    MoteScene *scene = reader->scene;
    scene->hash = hash_bytes(HASH_START, dump, strlen(dump));
    free(dump);
    // Sorted, the order of materials is lost; but a particle's phase is its material's place.
    for (uint32_t i = SCENE_BUILT_IN_MATERIALS; i < SCENE_COUNT(&scene->values, material); i++) {
        const char *name = SCENE_AT(&scene->values, material, i)->name;
        scene->hash = hash_bytes(scene->hash, name, strlen(name));
    }
    scene->hash = scene_meshes_hash(scene, scene->hash); // a mesh file may change behind its name
}
