// SPDX-License-Identifier: MIT
// keys.c - the rows of keys.def as data, and the defaults they hold.
#include "scene/keys.h"

#include "base/error.h"
#include <jansson.h>
#include <string.h>

// A row whose type does not fit the C type of its field is found here, by the compiler.
#define FITS_UINT(field)   _Generic((field), uint32_t : 1, default : 0)
#define FITS_FLOAT(field)  _Generic((field), float : 1, default : 0)
#define FITS_VEC3(field)   _Generic((field), MoteVec3 : 1, default : 0)
#define FITS_BOOL(field)   _Generic((field), bool : 1, default : 0)
#define FITS_STRING(field) _Generic(&(field), char(*)[SCENE_NAME_SIZE] : 1, default : 0)
#define FITS_PATH(field)   _Generic((field), const char * : 1, default : 0)
#define FITS_MESH(field)   FITS_PATH(field)
#define FITS_MESHES(field) _Generic((field), const SceneSequence * : 1, default : 0)
#define FITS_POINTS(field) _Generic((field), const ScenePoints * : 1, default : 0)
#define FITS_CHOICE(field) (sizeof(field) == sizeof(uint32_t) && FITS_UINT(field)) // an enum without negative values
#define KEY(section, field, type, unit, minimum, maximum, standard, animation, choices, meaning)                       \
    _Static_assert(FITS_##type(((scene_type_##section *)0)->field), #section "." #field " is not a " #type);
#include "scene/keys.def"

#define NAMED_OBJECT(type) 1
#define NAMED_ARRAY(type)  1
#define NAMED_MAP(type)    (offsetof(type, name) == 0 && FITS_STRING(((type *)0)->name))
#define SECTION(section, type, json_key, kind, use, meaning)                                                           \
    _Static_assert(NAMED_##kind(type), #type " does not begin with its name");
#include "scene/keys.def"

const SceneSectionInfo scene_sections[SCENE_SECTION_COUNT] = {
#define SECTION(section, type, json_key, kind, use, meaning)                                                           \
    {#section, json_key, meaning, SCENE_##kind, SCENE_##use, sizeof(type)},
#include "scene/keys.def"
};

const SceneKey scene_keys[] = {
#define KEY(...)      ROW(false, __VA_ARGS__)
#define LOOK_KEY(...) ROW(true, __VA_ARGS__)
#define ROW(look, section, field, type, unit, minimum, maximum, standard, animation, choices, meaning)                 \
    {SCENE_SECTION_##section,                                                                                          \
     #field,                                                                                                           \
     SCENE_##type,                                                                                                     \
     unit,                                                                                                             \
     minimum,                                                                                                          \
     maximum,                                                                                                          \
     standard,                                                                                                         \
     SCENE_##animation,                                                                                                \
     choices,                                                                                                          \
     meaning,                                                                                                          \
     offsetof(scene_type_##section, field),                                                                            \
     look},
#include "scene/keys.def"
};
const uint32_t scene_key_count = sizeof scene_keys / sizeof scene_keys[0];

#define FORMER_KEY(section, former, field)                                                                             \
    _Static_assert(sizeof(((scene_type_##section *)0)->field) > 0, #section "." #field " is no key");
#include "scene/keys.def"

const SceneFormerKey scene_former_keys[] = {
#define FORMER_KEY(section, former, field) {SCENE_SECTION_##section, #former, #field},
#include "scene/keys.def"
};
const uint32_t scene_former_key_count = sizeof scene_former_keys / sizeof scene_former_keys[0];

uint32_t scene_key_components(const SceneKey *key)
{
    return key->type == SCENE_VEC3 ? 3 : 1;
}

bool scene_key_eases(const SceneKey *key)
{
    static const char *const of_cloth[] = {"stretch_compliance", "shear_compliance", "bend_compliance"};
    bool eases = key->section == SCENE_SECTION_spring && strcmp(key->name, "stiffness") == 0;
    for (size_t k = 0; k < sizeof of_cloth / sizeof *of_cloth; k++) {
        eases |= key->section == SCENE_SECTION_cloth && strcmp(key->name, of_cloth[k]) == 0;
    }
    return eases;
}

void scene_key_store(const SceneKey *key, void *element, const double *numbers)
{
    void *field = (char *)element + key->offset;
    switch (key->type) {
    case SCENE_UINT:
    case SCENE_CHOICE:
        *(uint32_t *)field = (uint32_t)numbers[0];
        break;
    case SCENE_FLOAT:
        *(float *)field = (float)numbers[0];
        break;
    case SCENE_VEC3:
        *(MoteVec3 *)field = (MoteVec3){(float)numbers[0], (float)numbers[1], (float)numbers[2]};
        break;
    case SCENE_BOOL:
        *(bool *)field = numbers[0] != 0;
        break;
    default: // the others are no numbers
        mote_assert_failed(key->name, __FILE__, __LINE__);
    }
}

void scene_key_store_string(const SceneKey *key, void *element, const char *string)
{
    void *field = (char *)element + key->offset;
    if (key->type == SCENE_PATH || key->type == SCENE_MESH) {
        *(const char **)field = string;
        return;
    }
    const size_t length = strlen(string);
    MOTE_ASSERT(key->type == SCENE_STRING && length < SCENE_NAME_SIZE);
    memcpy(field, string, length + 1);
}

void scene_key_fetch(const SceneKey *key, const void *element, double *numbers)
{
    const void *field = (const char *)element + key->offset;
    switch (key->type) {
    case SCENE_UINT:
    case SCENE_CHOICE:
        numbers[0] = *(const uint32_t *)field;
        break;
    case SCENE_FLOAT:
        numbers[0] = (double)*(const float *)field;
        break;
    case SCENE_VEC3: {
        const MoteVec3 *vector = field;
        numbers[0] = (double)vector->x;
        numbers[1] = (double)vector->y;
        numbers[2] = (double)vector->z;
        break;
    }
    case SCENE_BOOL:
        numbers[0] = *(const bool *)field ? 1 : 0;
        break;
    default: // the others are no numbers
        mote_assert_failed(key->name, __FILE__, __LINE__);
    }
}

const SceneKey *scene_key_find(SceneSection section, const char *name)
{
    for (uint32_t i = 0; i < scene_key_count; i++) {
        if (scene_keys[i].section == section && strcmp(scene_keys[i].name, name) == 0) {
            return &scene_keys[i];
        }
    }
    return NULL;
}

bool scene_choice_next(const char **choices, char word[SCENE_NAME_SIZE])
{
    const size_t length = strcspn(*choices, "|");
    if (length == 0) {
        return false;
    }
    MOTE_ASSERT(length < SCENE_NAME_SIZE);
    memcpy(word, *choices, length);
    word[length] = '\0';
    *choices += length + ((*choices)[length] == '|');
    return true;
}

int scene_choice_index(const SceneKey *key, const char *word)
{
    const char *choices = key->choices;
    char choice[SCENE_NAME_SIZE];
    for (int i = 0; scene_choice_next(&choices, choice); i++) {
        if (strcmp(choice, word) == 0) {
            return i;
        }
    }
    return -1;
}

void scene_key_numbers(const SceneKey *key, const char *text, double numbers[3])
{
    // jansson rather than strtod, which reads "0.5" as 0 where the locale has a decimal comma.
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    MOTE_ASSERT(value != NULL);
    numbers[0] = numbers[1] = numbers[2] = 0.0;
    if (key->type == SCENE_CHOICE) {
        const int choice = scene_choice_index(key, json_string_value(value));
        MOTE_ASSERT(choice >= 0);
        numbers[0] = choice;
    } else if (key->type == SCENE_BOOL) {
        numbers[0] = json_is_true(value) ? 1 : 0;
    } else if (key->type == SCENE_VEC3) {
        MOTE_ASSERT(json_array_size(value) == 3);
        for (size_t i = 0; i < 3; i++) {
            numbers[i] = json_number_value(json_array_get(value, i));
        }
    } else {
        MOTE_ASSERT(json_is_number(value));
        numbers[0] = json_number_value(value);
    }
    json_decref(value);
}

static void store_default(const SceneKey *key, void *element)
{
    json_t *value = json_loads(key->standard, JSON_DECODE_ANY, NULL);
    MOTE_ASSERT(value != NULL);
    if (key->type == SCENE_STRING || key->type == SCENE_PATH || key->type == SCENE_MESH) {
        MOTE_ASSERT(key->type == SCENE_STRING || json_string_length(value) == 0);
        scene_key_store_string(key, element, key->type == SCENE_STRING ? json_string_value(value) : "");
        json_decref(value);
        return;
    }
    if (key->type == SCENE_MESHES || key->type == SCENE_POINTS) { // the element was cleared: none
        MOTE_ASSERT(json_is_array(value) && json_array_size(value) == 0);
        json_decref(value);
        return;
    }
    json_decref(value);
    double numbers[3];
    scene_key_numbers(key, key->standard, numbers);
    scene_key_store(key, element, numbers);
}

void scene_defaults(SceneSection section, void *element)
{
    memset(element, 0, scene_sections[section].element_size);
    for (uint32_t i = 0; i < scene_key_count; i++) {
        if (scene_keys[i].section == section && scene_keys[i].animation != SCENE_REQUIRED) {
            store_default(&scene_keys[i], element);
        }
    }
}

MoteSettings mote_default_settings(void)
{
    MoteSettings settings;
    scene_defaults(SCENE_SECTION_solver, &settings);
    return settings;
}
