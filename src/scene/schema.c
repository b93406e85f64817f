// SPDX-License-Identifier: MIT
// schema.c - generates two documents from the table of keys: the JSON Schema for editors, and the reference.
#include "base/error.h"
#include "base/file.h"
#include "scene/build.h"
#include "scene/keys.h"
#include "scene/looks.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- JSON Schema -----------------------------------------------------------------------------------------------
// jansson's *_new functions take over their argument, accept NULL and then fail, so one check at the end of each
// builder is enough: a NULL anywhere makes the whole document NULL.

static json_t *finish(json_t *object, bool failed)
{
    if (failed) {
        json_decref(object);
        return NULL;
    }
    return object;
}

// Whole numbers are written without a fraction.
static json_t *json_of_number(double number)
{
    return number == floor(number) && fabs(number) < 9e15 ? json_integer((json_int_t)number) : json_real(number);
}

static json_t *json_of_default(const SceneKey *key)
{
    json_t *value = json_loads(key->standard, JSON_DECODE_ANY, NULL);
    if (json_is_number(value)) {
        json_t *number = json_of_number(json_number_value(value));
        json_decref(value);
        return number;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        if (json_array_set_new(value, i, json_of_number(json_number_value(json_array_get(value, i)))) != 0) {
            json_decref(value);
            return NULL;
        }
    }
    return value;
}

static json_t *json_of_choices(const char *choices)
{
    json_t *words = json_array();
    char word[SCENE_NAME_SIZE];
    bool failed = words == NULL;
    while (scene_choice_next(&choices, word)) {
        failed |= json_array_append_new(words, json_string(word)) != 0;
    }
    return finish(words, failed);
}

static json_t *schema_of_type(const char *type)
{
    return json_pack("{ss}", "type", type);
}

// The schema of one value, without its description.
static json_t *schema_of_value(const SceneKey *key)
{
    json_t *number = NULL;
    switch (key->type) {
    case SCENE_UINT:
    case SCENE_FLOAT:
    case SCENE_VEC3:
        number = json_pack("{sssoso}", "type", key->type == SCENE_UINT ? "integer" : "number", "minimum",
                           json_of_number(key->minimum), "maximum", json_of_number(key->maximum));
        return key->type != SCENE_VEC3
                   ? number
                   : json_pack("{sssosisi}", "type", "array", "items", number, "minItems", 3, "maxItems", 3);
    case SCENE_POINTS:
        number = json_pack("{sssoso}", "type", "number", "minimum", json_of_number(key->minimum), "maximum",
                           json_of_number(key->maximum));
        return json_pack("{ssso}", "type", "array", "items",
                         json_pack("{sssosisi}", "type", "array", "items", number, "minItems", 3, "maxItems", 3));
    case SCENE_BOOL:
        return schema_of_type("boolean");
    case SCENE_STRING:
        return json_pack("{sssisi}", "type", "string", "minLength", 1, "maxLength", SCENE_NAME_SIZE - 1);
    case SCENE_PATH:
    case SCENE_MESH:
        return schema_of_type("string");
    case SCENE_MESHES:
        return json_pack("{ssso}", "type", "array", "items", schema_of_type("string"));
    case SCENE_CHOICE:
        return json_pack("{so}", "enum", json_of_choices(key->choices));
    }
    return NULL;
}

// {"keyframes": [[time, value], ...], "interpolation": ...}
static json_t *schema_of_keyframes(const SceneKey *key)
{
    json_t *frame = json_pack("{sss[oo]sisi}", "type", "array", "prefixItems", schema_of_type("number"),
                              schema_of_value(key), "minItems", 2, "maxItems", 2);
    json_t *frames = json_pack("{sssosi}", "type", "array", "items", frame, "minItems", 1);
    json_t *interpolation = json_pack("{soss}", "enum", json_of_choices(SCENE_INTERPOLATIONS), "default", "linear");
    return json_pack("{sss{soso}s[s]sb}", "type", "object", "properties", "keyframes", frames, "interpolation",
                     interpolation, "required", "keyframes", "additionalProperties", 0);
}

static json_t *schema_of_key(const SceneKey *key)
{
    json_t *schema = json_object();
    char description[512];
    snprintf(description, sizeof description, "%s%s%s%s", key->meaning, key->unit[0] != '\0' ? " [" : "", key->unit,
             key->unit[0] != '\0' ? "]" : "");
    bool failed = json_object_set_new(schema, "description", json_string(description)) != 0;
    if (key->animation == SCENE_ANIMATED) {
        json_t *either = json_pack("[oo]", schema_of_value(key), schema_of_keyframes(key));
        failed |= json_object_set_new(schema, "anyOf", either) != 0;
    } else {
        json_t *value = schema_of_value(key);
        failed |= value == NULL || json_object_update(schema, value) != 0;
        json_decref(value);
    }
    if (key->animation != SCENE_REQUIRED) {
        failed |= json_object_set_new(schema, "default", json_of_default(key)) != 0;
    }
    return finish(schema, failed);
}

// Editors strike deprecated keys through.
static json_t *schema_of_former_key(const SceneFormerKey *former)
{
    json_t *schema = schema_of_key(scene_key_find(former->section, former->name));
    char description[SCENE_NAME_SIZE + 64];
    snprintf(description, sizeof description, "Former name of %s, accepted in this version only", former->name);
    const bool failed = json_object_set_new(schema, "description", json_string(description)) != 0 ||
                        json_object_set_new(schema, "deprecated", json_true()) != 0;
    return finish(schema, failed);
}

static json_t *schema_of_element(SceneSection section)
{
    json_t *properties = json_object(), *required = json_array();
    bool failed = properties == NULL || required == NULL;
    for (uint32_t i = 0; i < scene_key_count && !failed; i++) {
        const SceneKey *key = &scene_keys[i];
        if (key->section != section) {
            continue;
        }
        failed |= json_object_set_new(properties, key->name, schema_of_key(key)) != 0;
        if (key->animation == SCENE_REQUIRED) {
            failed |= json_array_append_new(required, json_string(key->name)) != 0;
        }
    }
    for (uint32_t i = 0; i < scene_former_key_count && !failed; i++) {
        const SceneFormerKey *former = &scene_former_keys[i];
        failed |= former->section == section &&
                  json_object_set_new(properties, former->former, schema_of_former_key(former)) != 0;
    }
    json_t *schema =
        json_pack("{sssosb}", "type", "object", "properties", finish(properties, failed), "additionalProperties", 0);
    if (!failed && json_array_size(required) > 0) {
        failed |= schema == NULL || json_object_set(schema, "required", required) != 0;
    }
    json_decref(required);
    return finish(schema, failed);
}

static json_t *schema_of_section(SceneSection section)
{
    const SceneSectionInfo *info = &scene_sections[section];
    json_t *element = schema_of_element(section);
    switch (info->kind) {
    case SCENE_OBJECT:
        return finish(element, json_object_set_new(element, "description", json_string(info->meaning)) != 0);
    case SCENE_ARRAY:
        return json_pack("{ssssso}", "description", info->meaning, "type", "array", "items", element);
    case SCENE_MAP:
        return json_pack("{sssss{sisi}so}", "description", info->meaning, "type", "object", "propertyNames",
                         "minLength", 1, "maxLength", SCENE_NAME_SIZE - 1, "additionalProperties", element);
    }
    return NULL;
}

// One of the looks with a name.
static json_t *schema_of_look(void)
{
    json_t *names = json_array();
    bool failed = names == NULL;
    const char *name, *meaning;
    for (uint32_t i = 0; scene_look(i, &name, &meaning) && !failed; i++) {
        failed = json_array_append_new(names, json_string(name)) != 0;
    }
    return json_pack("{ssso}", "description", "A look with a name, whose values the scene's own keys override", "enum",
                     finish(names, failed));
}

static json_t *schema_of_scene(void)
{
    json_t *properties = json_pack(
        "{s{ssss}s{ssss}s{ssss}so}", "$schema", "description", "Address of this schema, for editors; not read", "type",
        "string", "name", "description", "Name of the scene; the file's name if not given", "type", "string",
        "description", "description", "What the scene shows, for people", "type", "string", "look", schema_of_look());
    bool failed = properties == NULL;
    for (uint32_t s = 0; s < SCENE_SECTION_COUNT && !failed; s++) {
        failed |= json_object_set_new(properties, scene_sections[s].json_key, schema_of_section((SceneSection)s)) != 0;
    }
    return json_pack("{sssssssosb}", "$schema", "https://json-schema.org/draft/2020-12/schema", "title", "Mote scene",
                     "type", "object", "properties", finish(properties, failed), "additionalProperties", 0);
}

MoteResult scene_write_schema(const char *path)
{
    json_t *schema = schema_of_scene();
    char *text = schema != NULL ? json_dumps(schema, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(schema);
    if (text == NULL) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory to write it", path);
    }
    FileWriter writer;
    const MoteResult result = file_writer_open(&writer, path);
    if (result == MOTE_OK) {
        fprintf(writer.stream, "%s\n", text);
    }
    free(text);
    return result == MOTE_OK ? file_writer_commit(&writer) : result;
}

_Static_assert(SCENE_PARTICLE_LIMIT == 268435456, "the limit told below");

// ---- The reference ---------------------------------------------------------------------------------------------

static const char introduction[] =
    "<!-- Made from src/scene/keys.def by scene_write_format_document(); changes by hand are lost. -->\n"
    "# Scene files\n"
    "\n"
    "A scene is one JSON file. Lengths are in metres, masses in kilograms, times in seconds, angles in degrees; y "
    "points up. Every key has a default but the few marked *required*, so a scene says only what is special about "
    "it:\n"
    "\n"
    "```json\n"
    "{\n"
    "  \"$schema\": \"schema.json\",\n"
    "  \"description\": \"A block of water falls apart in a closed tank\",\n"
    "  \"solver\": { \"spacing\": 0.1 },\n"
    "  \"fluids\": [\n"
    "    { \"position\": [-1, 0.5, 0], \"size\": [1, 1, 1] }\n"
    "  ],\n"
    "  \"colliders\": [\n"
    "    { \"shape\": \"box\", \"inside_out\": true, \"position\": [0, 1, 0], \"size\": [3, 2, 1] }\n"
    "  ]\n"
    "}\n"
    "```\n"
    "\n"
    "`scenes/schema.json` is a JSON Schema (draft 2020-12) of the same table: an editor that knows it completes keys, "
    "shows their meaning and marks mistakes. `mote validate SCENE` checks a file as the simulator does.\n"
    "\n"
    "## The file\n"
    "\n"
    "| key | type | meaning |\n"
    "|---|---|---|\n"
    "| `$schema` | string | Address of the schema, for editors; not read |\n"
    "| `name` | string | Name of the scene; the file's name without folder and extension if not given |\n"
    "| `description` | string | What the scene shows, for people |\n"
    "| `look` | string | A look with a name, see [Looks](#looks) |\n";

static const char how_it_works[] =
    "\n"
    "## How fluids are filled\n"
    "\n"
    "A block is filled with round(size / spacing) particles along each axis, at least one, at the centres of cells "
    "of one spacing, centred on `position`: a block whose faces lie on a container's walls starts half a spacing from "
    "them, which is what the default `solver.collision_distance` keeps. A sphere is filled with the points of such a "
    "lattice, one of them at its centre, that are within `radius`. Particle counts are checked when the file is read: "
    "more than 268435456 in one fluid or 2147483648 in all are taken for a mistake.\n"
    "\n"
    "## Solids\n"
    "\n"
    "Two solid particles touch at the contact distance, `solver.spacing * solver.solid_distance`. A mesh is the path "
    "of "
    "an OBJ, PLY, STL, glTF, GLB, 3DS, OFF, DAE or FBX file relative to the scene file's folder; `package:PATH`, a "
    "file "
    "below the folders of XDG_DATA_DIRS, as in `package:glmark2/models/bunny.obj`; or `shape:NAME?KEY=VALUE&...`, made "
    "on the spot: box, sphere, torus, cylinder, cone, bowl, bowl_shell, hourglass, rocks, castle, broken. Meshes are "
    "loaded with the scene. `anchor` and the two scales act first, then `rotation`, then `position`.\n"
    "\n"
    "A body has a particle at each point of a lattice inside its mesh; its mass is the material's density times the "
    "volume of those cells, evenly shared. Bodies of equal shape, size and spacing are filled once. A body does not "
    "collide with itself. A grain has the mass of a cube as wide as the contact distance. Friction, restitution and "
    "adhesion of a contact come from both materials by their `combine`; the built-in `wall` has none, so that a scene "
    "with friction gives its colliders a material of their own. Scenes without liquid do with a "
    "`solver.smoothing_radius_ratio` of 1.5 to 1.6 and are faster for it.\n"
    "\n"
    "A mesh as a collider becomes a distance field of cells of `cell_size`: finer ones follow the mesh closer and take "
    "more memory. `inside` and `outside` need a closed surface, `shell` takes any. With `mesh_sequence` the field "
    "follows "
    "from step to step, and what touches it is pushed and rubbed by the vertices' velocities. Scales and anchor are "
    "the "
    "first pose's. The mesh should move by less than `band` cells in a step.\n"
    "\n"
    "## Built-in materials\n"
    "\n"
    "`water` and `wall` are built in with the defaults of the table above; a file may redefine them. Names have 1 to "
    "63 bytes.\n"
    "\n"
    "## Pictures\n"
    "\n"
    "`camera` takes the pictures unless one of `cameras` is asked for by name (`mote render --camera NAME`). Colours "
    "are "
    "linear RGB. Files, such as the picture of a sky, are named relative to the scene file's folder and must be there "
    "when the scene is read, with `--set` too.\n"
    "\n";

static const char how_to_animate[] =
    "\n"
    "## Keyframes\n"
    "\n"
    "A number or vector marked *animated* may be given as keyframes instead of one value:\n"
    "\n"
    "```json\n"
    "\"rotation\": { \"keyframes\": [[0, [0, 0, 0]], [1.5, [0, 0, 30]], [3, [0, 0, 0]]], \"interpolation\": "
    "\"smooth\" }\n"
    "```\n"
    "\n"
    "Each keyframe is `[time, value]`; times are in seconds and strictly increasing. Before the first keyframe and "
    "after the last, their values hold. Each component is interpolated on its own, angles included:\n"
    "\n"
    "- `linear` (the default): straight from keyframe to keyframe.\n"
    "- `step`: a keyframe's value holds until the next one.\n"
    "- `smooth`: a monotone cubic (Steffen 1990), with no jump in speed, flat at the first and last keyframe and at "
    "peaks and valleys; it never leaves the range between two neighbouring keyframes. Two keyframes make an "
    "ease-in, ease-out.\n"
    "\n"
    "Whole numbers are rounded to the nearest.\n"
    "\n"
    "## Overrides\n"
    "\n"
    "`--set path=value` (and the `overrides` of `mote_scene_load`) changes the JSON before it is read, any number of "
    "times, in order:\n"
    "\n"
    "```sh\n"
    "mote simulate scenes/dam_break.json --set solver.iterations=10 --set 'fluids[0].size=[1, 2, 3]' \\\n"
    "    --set materials.oil.density=900 --set solver.density_mode=unilateral\n"
    "```\n"
    "\n"
    "A value that is not JSON is taken as a string, so words need no quotes. Objects and arrays on the way that are "
    "missing are made; an index equal to an array's length adds an element. A key with other characters than "
    "letters, digits, `_`, `-` and `$` is written `materials[\"crude oil\"].density`.\n"
    "\n"
    "## Errors\n"
    "\n"
    "Nothing is guessed and nothing is ignored. Each mistake is one line with file, line, column, the value's path, "
    "what was found and what was expected; up to ten are told at once:\n"
    "\n"
    "```\n"
    "dam.json:4:5: solver.iteratons: found an unknown key, expected one of the keys of \"solver\"; did you mean "
    "\"iterations\"?\n"
    "dam.json:9:19: fluids[0].size: found [1, 2], expected an array of 3 numbers from 0 to 100000 m\n"
    "--set solver.spacing=0: solver.spacing: found 0, expected a number from 0.0001 to 1000 m\n"
    "```\n"
    "\n"
    "Positions count from 1; columns count characters. Keys given twice, files that are not UTF-8 or begin with a "
    "byte order mark, and files larger than 64 MiB are errors too.\n";

// What a saved state does not depend on, from the table's flags.
static void write_what_may_change(FILE *stream)
{
    fputs(
        "What only pictures and files depend on may change after a state was saved, so that saved frames can be drawn "
        "anew in another light: all of",
        stream);
    const char *separator = " ";
    for (uint32_t s = 0; s < SCENE_SECTION_COUNT; s++) {
        if (scene_sections[s].use == SCENE_OUTPUT) {
            fprintf(stream, "%s`%s`", separator, scene_sections[s].json_key);
            separator = ", ";
        }
    }
    fputs("; of others", stream);
    separator = " ";
    for (uint32_t i = 0; i < scene_key_count; i++) {
        if (scene_keys[i].look) {
            fprintf(stream, "%s`%s.%s`", separator, scene_sections[scene_keys[i].section].json_key, scene_keys[i].name);
            separator = ", ";
        }
    }
    fputs(". With any other change, a saved state belongs to another scene.\n", stream);
}

// Table cells: a bar would end the cell.
static void write_cell(FILE *stream, const char *text)
{
    fputc(' ', stream);
    for (; *text != '\0'; text++) {
        fputs(*text == '|' ? "\\" : "", stream);
        fputc(*text, stream);
    }
    fputs(" |", stream);
}

static void write_key(FILE *stream, const SceneKey *key)
{
    static const char *const types[] = {"whole number", "number", "3 numbers",       "true or false",   "string",
                                        "file",         "mesh",   "array of meshes", "array of points", "choice"};
    const bool numeric =
        key->type == SCENE_UINT || key->type == SCENE_FLOAT || key->type == SCENE_VEC3 || key->type == SCENE_POINTS;
    fprintf(stream, "| `%s` |", key->name);
    write_cell(stream, types[key->type]);
    write_cell(stream, key->unit);
    if (numeric) {
        fprintf(stream, " %.10g to %.10g |", key->minimum, key->maximum);
    } else if (key->type == SCENE_CHOICE) {
        const char *choices = key->choices;
        char word[SCENE_NAME_SIZE];
        for (int i = 0; scene_choice_next(&choices, word); i++) {
            fprintf(stream, "%s`%s`", i > 0 ? ", " : " ", word);
        }
        fputs(" |", stream);
    } else {
        fputs(key->type == SCENE_STRING ? " 1 to 63 bytes |" : " |", stream);
    }
    if (key->animation == SCENE_REQUIRED) {
        fputs(" *required* |", stream);
    } else {
        fprintf(stream, " `%s` |", key->standard);
    }
    write_cell(stream, key->animation == SCENE_ANIMATED ? "yes" : "no");
    write_cell(stream, key->meaning);
    fputc('\n', stream);
}

static void write_looks(FILE *stream)
{
    fputs("\n## Looks\n\n`look` names a set of values of the sections `sky`, `ground`, `liquid` and `picture`. A key "
          "that the "
          "scene has itself overrides the look's, as does `--set`; `--set look=NAME` shows any scene in another look. "
          "Their "
          "values are in src/scene/looks.def.\n\n| look | |\n|---|---|\n",
          stream);
    const char *name, *meaning;
    for (uint32_t i = 0; scene_look(i, &name, &meaning); i++) {
        fprintf(stream, "| `%s` |", name);
        write_cell(stream, meaning);
        fputc('\n', stream);
    }
}

MoteResult scene_write_format_document(const char *path)
{
    static const char *const kinds[] = {"object", "array of objects", "object of named objects"};
    FileWriter writer;
    const MoteResult result = file_writer_open(&writer, path);
    if (result != MOTE_OK) {
        return result;
    }
    FILE *stream = writer.stream;
    fputs(introduction, stream);
    for (uint32_t s = 0; s < SCENE_SECTION_COUNT; s++) {
        const SceneSectionInfo *info = &scene_sections[s];
        fprintf(stream, "| [`%s`](#%s) | %s | %s |\n", info->json_key, info->json_key, kinds[info->kind],
                info->meaning);
    }
    for (uint32_t s = 0; s < SCENE_SECTION_COUNT; s++) {
        const SceneSectionInfo *info = &scene_sections[s];
        fprintf(stream, "\n## `%s`\n\n%s. %s.\n\n", info->json_key, info->meaning,
                info->kind == SCENE_OBJECT  ? "One object"
                : info->kind == SCENE_ARRAY ? "An array of objects"
                                            : "An object of objects, whose keys are their names");
        fputs("| key | type | unit | range | default | animated | meaning |\n|---|---|---|---|---|---|---|\n", stream);
        for (uint32_t i = 0; i < scene_key_count; i++) {
            if (scene_keys[i].section == s) {
                write_key(stream, &scene_keys[i]);
            }
        }
    }
    write_looks(stream);
    fputs(how_it_works, stream);
    write_what_may_change(stream);
    fputs(how_to_animate, stream);
    return file_writer_commit(&writer);
}
