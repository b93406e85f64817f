// SPDX-License-Identifier: MIT
// load_check.c - checks that involve several keys: sizes that a shape needs, ordered pairs, names that must exist.
#include "scene/load.h"

#include "base/nearest.h"
#include "scene/build.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// In all fluids: ids and counts are 32 bits, and half of the range is kept for particles that come later.
#define TOTAL_PARTICLE_LIMIT 2147483648.0

static const void *element_of(const SceneReader *reader, SceneSection section, uint32_t element)
{
    return (const char *)reader->scene->values.sections[section].data + element * scene_sections[section].element_size;
}

ScenePath scene_element_path(const SceneReader *reader, SceneSection section, uint32_t element)
{
    const ScenePath root = {0};
    ScenePath path = path_to_key(&root, scene_sections[section].json_key);
    if (scene_sections[section].kind == SCENE_ARRAY) {
        path = path_to_index(&path, element);
    } else if (scene_sections[section].kind == SCENE_MAP) {
        path = path_to_key(&path, element_of(reader, section, element)); // which begins with its name
    }
    return path;
}

// ---- Sizes -----------------------------------------------------------------------------------------------------

static void check_positive_numbers(SceneReader *reader, const SceneKey *key, const ScenePath *path,
                                   const double *numbers, uint32_t components, const char *owner)
{
    for (uint32_t c = 0; c < scene_key_components(key); c++) {
        const ScenePath at = key->type == SCENE_VEC3 ? path_to_index(path, c) : *path;
        if ((components >> c & 1u) != 0 && !(numbers[c] > 0)) {
            scene_report(reader, &at, SCENE_AT_VALUE, "found %.7g, expected more than 0 m for %s", numbers[c], owner);
        }
    }
}

void scene_check_positive(SceneReader *reader, SceneSection section, uint32_t element, const char *name,
                          uint32_t components, const char *owner)
{
    const SceneKey *key = scene_key_find(section, name);
    const ScenePath parent = scene_element_path(reader, section, element);
    const ScenePath path = path_to_key(&parent, name);
    const SceneTrack *track = scene_track_find(reader->scene, key, element);
    double numbers[3] = {0, 0, 0};
    if (track == NULL) {
        scene_key_fetch(key, element_of(reader, section, element), numbers);
        check_positive_numbers(reader, key, &path, numbers, components, owner);
        return;
    }
    const ScenePath frames = path_to_key(&path, "keyframes");
    for (uint32_t i = 0; i < track->count; i++) {
        for (uint32_t c = 0; c < track->components; c++) {
            numbers[c] = (double)track->values[i * track->components + c];
        }
        const ScenePath frame = path_to_index(&frames, i), value = path_to_index(&frame, 1);
        check_positive_numbers(reader, key, &value, numbers, components, owner);
    }
}

static void check_shape(SceneReader *reader, SceneSection section, uint32_t element, uint32_t shape)
{
    if (shape == MOTE_COLLIDER_BOX) {
        scene_check_positive(reader, section, element, "size", 7, "a box");
    } else if (shape == MOTE_COLLIDER_SPHERE) {
        scene_check_positive(reader, section, element, "radius", 1, "a sphere");
    } else if (shape == MOTE_COLLIDER_CAPSULE) {
        scene_check_positive(reader, section, element, "radius", 1, "a capsule");
    }
}

void scene_check_kill_volume(SceneReader *reader, uint32_t i)
{
    check_shape(reader, SCENE_SECTION_kill_volume, i, SCENE_AT(&reader->scene->values, kill_volume, i)->shape);
}

void scene_check_emitter(SceneReader *reader, uint32_t i)
{
    const bool flat = SCENE_AT(&reader->scene->values, solver, 0)->dimensions == 2;
    const SceneEmitter *emitter = SCENE_AT(&reader->scene->values, emitter, i);
    if (emitter->shape == SCENE_EMITTER_DISC) {
        scene_check_positive(reader, SCENE_SECTION_emitter, i, "radius", 1, "a disc");
    } else {
        scene_check_positive(reader, SCENE_SECTION_emitter, i, "size", flat ? 1 : 5, "a box nozzle");
    }
    if (emitter->stop < emitter->start) {
        const ScenePath parent = scene_element_path(reader, SCENE_SECTION_emitter, i);
        const ScenePath start = path_to_key(&parent, "start"), stop = path_to_key(&parent, "stop");
        if (scene_is_overridden(reader, &start)) {
            scene_report(reader, &start, SCENE_AT_VALUE, "found %.7g, expected at most the stop at %.7g s",
                         (double)emitter->start, (double)emitter->stop);
        } else {
            scene_report(reader, &stop, SCENE_AT_VALUE, "found %.7g, expected at least the start at %.7g s",
                         (double)emitter->stop, (double)emitter->start);
        }
    }
}

void scene_check_bounds(SceneReader *reader, uint32_t i)
{
    const SceneBounds *bounds = SCENE_AT(&reader->scene->values, bounds, i);
    const double lower[3] = {(double)bounds->lower.x, (double)bounds->lower.y, (double)bounds->lower.z};
    const double upper[3] = {(double)bounds->upper.x, (double)bounds->upper.y, (double)bounds->upper.z};
    const ScenePath parent = scene_element_path(reader, SCENE_SECTION_bounds, i);
    const ScenePath lower_path = path_to_key(&parent, "lower"), upper_path = path_to_key(&parent, "upper");
    for (uint32_t c = 0; c < 3; c++) {
        if (lower[c] < upper[c]) {
            continue;
        }
        const ScenePath lower_at = path_to_index(&lower_path, c), upper_at = path_to_index(&upper_path, c);
        if (scene_is_overridden(reader, &upper_at)) {
            scene_report(reader, &upper_at, SCENE_AT_VALUE, "found %.7g, expected more than bounds.lower's %.7g m",
                         upper[c], lower[c]);
        } else {
            scene_report(reader, &lower_at, SCENE_AT_VALUE, "found %.7g, expected less than bounds.upper's %.7g m",
                         lower[c], upper[c]);
        }
    }
}

// ---- Looks -----------------------------------------------------------------------------------------------------

// A camera at its target looks nowhere. Keyframes may still lead it there; mote_simulation_render_scene tells then.
static void check_camera(SceneReader *reader, SceneSection section, uint32_t element)
{
    const SceneCamera *camera = element_of(reader, section, element);
    const MoteVec3 position = camera->position, target = camera->target;
    if (scene_track_find(reader->scene, scene_key_find(section, "position"), element) != NULL ||
        scene_track_find(reader->scene, scene_key_find(section, "target"), element) != NULL || position.x != target.x ||
        position.y != target.y || position.z != target.z) {
        return;
    }
    const ScenePath parent = scene_element_path(reader, section, element);
    const ScenePath path = path_to_key(&parent, "position");
    scene_report(reader, &path, SCENE_AT_VALUE, "found [%.7g, %.7g, %.7g], expected another point than the target",
                 (double)position.x, (double)position.y, (double)position.z);
}

void scene_check_camera(SceneReader *reader, uint32_t i)
{
    check_camera(reader, SCENE_SECTION_camera, i);
}

void scene_check_cameras(SceneReader *reader, uint32_t i)
{
    check_camera(reader, SCENE_SECTION_cameras, i);
}

void scene_check_sky(SceneReader *reader, uint32_t i)
{
    const MoteSkyLook *sky = SCENE_AT(&reader->scene->values, sky, i);
    // A file that is missing was told already.
    if (reader->values_are_right && sky->kind == MOTE_SKY_IMAGE && sky->image[0] == '\0') {
        const ScenePath parent = scene_element_path(reader, SCENE_SECTION_sky, i);
        const ScenePath path = path_to_key(&parent, "image");
        scene_report(reader, &path, SCENE_AT_VALUE, "found no file, expected one for a sky whose kind is \"image\"");
    }
}

// ---- Particle counts -------------------------------------------------------------------------------------------

void scene_check_fluid(SceneReader *reader, uint32_t i)
{
    const MoteSettings *settings = SCENE_AT(&reader->scene->values, solver, 0);
    const SceneFluid *fluid = SCENE_AT(&reader->scene->values, fluid, i);
    const bool flat = settings->dimensions == 2;
    const double spacing = (double)settings->spacing, pi = 3.14159265358979323846;
    const uint32_t errors = reader->errors;
    const ScenePath parent = scene_element_path(reader, SCENE_SECTION_fluid, i);
    double *total = &reader->fluid_particles, count;
    if (!reader->values_are_right) { // counting would mislead
        return;
    }
    if (fluid->shape == SCENE_FLUID_BLOCK) {
        scene_check_positive(reader, SCENE_SECTION_fluid, i, "size", flat ? 3 : 7, "a block");
        const double size[3] = {(double)fluid->size.x, (double)fluid->size.y, (double)fluid->size.z};
        count = 1;
        for (uint32_t c = 0; c < (flat ? 2u : 3u); c++) {
            count *= fmax(1, round(size[c] / spacing));
        }
    } else {
        scene_check_positive(reader, SCENE_SECTION_fluid, i, "radius", 1, "a sphere");
        const double r = (double)fluid->radius / spacing;
        count = floor(flat ? pi * r * r : 4.0 / 3.0 * pi * r * r * r);
    }
    if (reader->errors > errors) {
        return;
    }
    const ScenePath at = path_to_key(&parent, fluid->shape == SCENE_FLUID_BLOCK ? "size" : "radius");
    if (count > SCENE_PARTICLE_LIMIT) {
        scene_report(reader, &at, SCENE_AT_VALUE,
                     "found a fluid of %.0f particles at spacing %.7g m, expected at most %u", count, spacing,
                     SCENE_PARTICLE_LIMIT);
    } else if (*total <= TOTAL_PARTICLE_LIMIT && *total + count > TOTAL_PARTICLE_LIMIT) { // told once
        scene_report(reader, &at, SCENE_AT_VALUE,
                     "found %.0f particles up to this fluid at spacing %.7g m, expected at most %.0f in all",
                     *total + count, spacing, TOTAL_PARTICLE_LIMIT);
    }
    *total += count;
}

// ---- Bodies and grains -----------------------------------------------------------------------------------------

#define BODY_LIMIT 1000000.0 // bodies of one entry; groups have 24 bits

void scene_check_body(SceneReader *reader, uint32_t i)
{
    const MoteSettings *settings = SCENE_AT(&reader->scene->values, solver, 0);
    const SceneBody *body = SCENE_AT(&reader->scene->values, body, i);
    const ScenePath parent = scene_element_path(reader, SCENE_SECTION_body, i);
    const ScenePath copies = path_to_key(&parent, "copies"), radius = path_to_key(&parent, "cluster_radius");
    const double counts[3] = {(double)body->copies.x, (double)body->copies.y, (double)body->copies.z};
    if (!reader->values_are_right) { // what is required may be missing
        return;
    }
    for (uint32_t c = 0; c < 3; c++) {
        if (counts[c] != floor(counts[c])) {
            const ScenePath at = path_to_index(&copies, c);
            scene_report(reader, &at, SCENE_AT_VALUE, "found %.7g, expected a whole number", counts[c]);
        }
    }
    if (counts[0] * counts[1] * counts[2] > BODY_LIMIT) {
        scene_report(reader, &copies, SCENE_AT_VALUE, "found %.0f copies, expected at most %.0f",
                     counts[0] * counts[1] * counts[2], BODY_LIMIT);
    }
    if (body->cluster_radius > 0.0f && body->cluster_radius < body->cluster_spacing) {
        scene_report(reader, &radius, SCENE_AT_VALUE, "found %.7g, expected 0 or at least the cluster_spacing of %.7g",
                     (double)body->cluster_radius, (double)body->cluster_spacing);
    }
    if (settings->dimensions == 2) {
        scene_report(reader, &parent, SCENE_AT_VALUE, "found a body, expected none in 2D: solver.dimensions is 2");
    }
}

void scene_check_grain(SceneReader *reader, uint32_t i)
{
    const MoteSettings *settings = SCENE_AT(&reader->scene->values, solver, 0);
    const SceneGrains *grains = SCENE_AT(&reader->scene->values, grain, i);
    const ScenePath parent = scene_element_path(reader, SCENE_SECTION_grain, i);
    const ScenePath mesh = path_to_key(&parent, "mesh");
    if (!reader->values_are_right) {
        return;
    }
    switch (grains->shape) {
    case SCENE_GRAINS_BLOCK:
        scene_check_positive(reader, SCENE_SECTION_grain, i, "size", settings->dimensions == 2 ? 3 : 7, "a block");
        break;
    case SCENE_GRAINS_SPHERE:
        scene_check_positive(reader, SCENE_SECTION_grain, i, "radius", 1, "a sphere");
        break;
    case SCENE_GRAINS_CYLINDER:
        scene_check_positive(reader, SCENE_SECTION_grain, i, "radius", 1, "a cylinder");
        scene_check_positive(reader, SCENE_SECTION_grain, i, "height", 1, "a cylinder");
        break;
    default:
        break;
    }
    if ((grains->shape == SCENE_GRAINS_MESH) != (grains->mesh[0] != '\0')) {
        scene_report(reader, &mesh, SCENE_AT_VALUE,
                     grains->shape == SCENE_GRAINS_MESH
                         ? "found no mesh, expected one for grains whose shape is \"mesh\""
                         : "found a mesh, expected none unless the shape is \"mesh\"");
    }
}

static void check_collider_mesh(SceneReader *reader, uint32_t i)
{
    const SceneCollider *collider = SCENE_AT(&reader->scene->values, collider, i);
    const bool needed = collider->shape == MOTE_COLLIDER_HULL || collider->shape == MOTE_COLLIDER_FIELD;
    const ScenePath parent = scene_element_path(reader, SCENE_SECTION_collider, i);
    const ScenePath mesh = path_to_key(&parent, "mesh"), inside_out = path_to_key(&parent, "inside_out");
    const ScenePath sequence = path_to_key(&parent, "mesh_sequence");
    if (collider->mesh_sequence != NULL &&
        (collider->shape != MOTE_COLLIDER_FIELD || collider->mesh[0] != '\0' || scene_collider_has_mass(collider))) {
        scene_report(reader, &sequence, SCENE_AT_VALUE,
                     collider->shape != MOTE_COLLIDER_FIELD
                         ? "found a sequence, expected none unless the shape is \"mesh\""
                         : "found a sequence, expected none for a collider with a \"mesh\" or a mass");
    }
    if (collider->mesh_sequence == NULL && needed != (collider->mesh[0] != '\0')) {
        scene_report(reader, &mesh, SCENE_AT_VALUE,
                     needed ? "found no mesh, expected one for a hull or mesh"
                            : "found a mesh, expected none unless the shape is \"hull\" or \"mesh\"");
    }
    if (collider->inside_out && collider->shape == MOTE_COLLIDER_FIELD) {
        scene_report(reader, &inside_out, SCENE_AT_VALUE,
                     "found true, expected false for a mesh: \"field_mode\": \"outside\" makes a container");
    }
}

// A plane or a container has no volume of its own.
static void check_collider_mass(SceneReader *reader, uint32_t i)
{
    const SceneCollider *collider = SCENE_AT(&reader->scene->values, collider, i);
    const bool endless = collider->shape == MOTE_COLLIDER_PLANE || collider->inside_out ||
                         (collider->shape == MOTE_COLLIDER_FIELD && collider->field_mode == MOTE_FIELD_OUTSIDE);
    if (scene_collider_has_mass(collider) && endless) {
        const ScenePath parent = scene_element_path(reader, SCENE_SECTION_collider, i);
        const ScenePath path = path_to_key(&parent, collider->mass > 0.0f ? "mass" : "density");
        scene_report(reader, &path, SCENE_AT_VALUE, "found a %s for a plane or container, expected 0",
                     collider->mass > 0.0f ? "mass" : "density");
    }
}

void scene_check_collider(SceneReader *reader, uint32_t i)
{
    check_shape(reader, SCENE_SECTION_collider, i, SCENE_AT(&reader->scene->values, collider, i)->shape);
    if (reader->values_are_right) {
        check_collider_mesh(reader, i);
        check_collider_mass(reader, i);
    }
}

// ---- Names -----------------------------------------------------------------------------------------------------

static void check_material_at(SceneReader *reader, SceneSection section, uint32_t element, const char *key,
                              const char *name)
{
    const SceneValues *values = &reader->scene->values;
    if (scene_material(values, name) != NULL) {
        return;
    }
    const char *known[64];
    uint32_t count = 0;
    for (; count < SCENE_COUNT(values, material) && count < 64; count++) {
        known[count] = SCENE_AT(values, material, count)->name;
    }
    const char *nearest = nearest_word(name, known, count);
    const ScenePath parent = scene_element_path(reader, section, element);
    const ScenePath path = path_to_key(&parent, key);
    json_t *word = json_string(name);
    char found[SCENE_VALUE_TEXT_SIZE];
    scene_describe(word, found);
    json_decref(word);
    if (nearest != NULL) {
        scene_report(reader, &path, SCENE_AT_VALUE, "found %s, expected the name of a material; did you mean \"%s\"?",
                     found, nearest);
    } else {
        scene_report(reader, &path, SCENE_AT_VALUE,
                     "found %s, expected the name of a material: \"water\", \"wall\" or a key of \"materials\"", found);
    }
}

// The key `material`, in whichever section. One that is required and missing was told already.
static void check_material(SceneReader *reader, SceneSection section, uint32_t element)
{
    const SceneKey *key = scene_key_find(section, "material");
    if (key != NULL) {
        const char *name = (const char *)element_of(reader, section, element) + key->offset;
        if (name[0] != '\0' || key->animation != SCENE_REQUIRED) {
            check_material_at(reader, section, element, key->name, name);
        }
    }
}

// Materials by name, separated by commas, each of which there is a bit for.
static void check_material_list(SceneReader *reader, SceneSection section, uint32_t element, const char *key,
                                const char *list)
{
    enum { MATERIAL_BITS = 32 };
    const SceneValues *values = &reader->scene->values;
    char name[SCENE_NAME_SIZE];
    while (scene_next_name(&list, name)) {
        const SceneMaterial *material = scene_material(values, name);
        if (material == NULL) {
            check_material_at(reader, section, element, key, name);
        } else if (scene_material_index(values, material) >= MATERIAL_BITS) {
            const ScenePath parent = scene_element_path(reader, section, element);
            const ScenePath path = path_to_key(&parent, key);
            scene_report(reader, &path, SCENE_AT_VALUE,
                         "found \"%s\", which is material %u, expected one of the first %d", name,
                         scene_material_index(values, material) + 1, MATERIAL_BITS);
        }
    }
}

void scene_check_material(SceneReader *reader, uint32_t i)
{
    check_material_list(reader, SCENE_SECTION_material, i, "ignores",
                        SCENE_AT(&reader->scene->values, material, i)->ignores);
}

// What the world would refuse, where the file says it.
void scene_check_force(SceneReader *reader, uint32_t element)
{
    const SceneForce *force = SCENE_AT(&reader->scene->values, force, element);
    const bool round = force->kind == MOTE_FORCE_FIELD_POINT || force->kind == MOTE_FORCE_FIELD_RADIAL;
    const bool over_radius = force->falloff == MOTE_FALLOFF_LINEAR || force->falloff == MOTE_FALLOFF_QUADRATIC;
    const ScenePath parent = scene_element_path(reader, SCENE_SECTION_force, element);
    const ScenePath falloff = path_to_key(&parent, "falloff"), radius = path_to_key(&parent, "radius");
    check_material_list(reader, SCENE_SECTION_force, element, "materials", force->materials);
    if (force->falloff == MOTE_FALLOFF_INVERSE_SQUARE && !round) {
        scene_report(reader, &falloff, SCENE_AT_VALUE,
                     "found \"inverse_square\" for a box or uniform field, expected \"constant\", \"linear\" or "
                     "\"quadratic\"");
    }
    if (round && over_radius && force->radius <= 0.0f) {
        scene_report(reader, &radius, SCENE_AT_VALUE,
                     "found 0 with a linear or quadratic falloff, expected the radius above 0 that it falls off over");
    }
}

void scene_check(SceneReader *reader)
{
    static void (*const checks[SCENE_SECTION_COUNT])(SceneReader *, uint32_t) = {
#define CHECK(section) [SCENE_SECTION_##section] = scene_check_##section,
#include "scene/keys.def"
    };
    reader->values_are_right = reader->errors == 0;
    for (uint32_t section = 0; section < SCENE_SECTION_COUNT; section++) {
        for (uint32_t i = 0; i < reader->scene->values.sections[section].count; i++) {
            check_material(reader, (SceneSection)section, i);
            if (checks[section] != NULL) {
                checks[section](reader, i);
            }
        }
    }
}
