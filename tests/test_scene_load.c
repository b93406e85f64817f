// SPDX-License-Identifier: MIT
// The scene loader: defaults, values, keyframes, overrides, and the text of its errors.
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scene/build.h"
#include "scene/keys.h"
#include "scene/locate.h"
#include <dirent.h>
#include <jansson.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char scene_path[] = MOTE_BINARY_DIR "/test_scene_load.json";

static void write_scene(const char *text, size_t size)
{
    FILE *stream = fopen(scene_path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(text, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

static MoteScene *load(const char *text, const char *const *overrides, uint32_t count)
{
    write_scene(text, strlen(text));
    MoteScene *scene;
    if (mote_scene_load(scene_path, overrides, count, &scene) != MOTE_OK) {
        fail_msg("%s", mote_error_message());
    }
    return scene;
}

// `expected` has @ for the scene's path.
static void check_message(const char *expected)
{
    char text[8192];
    size_t length = 0;
    for (; *expected != '\0'; expected++) {
        if (*expected == '@') {
            length += (size_t)snprintf(text + length, sizeof text - length, "%s", scene_path);
        } else {
            text[length++] = *expected;
        }
        assert_true(length < sizeof text - 1);
    }
    text[length] = '\0';
    assert_string_equal(mote_error_message(), text);
}

static void fails(const char *text, const char *expected)
{
    write_scene(text, strlen(text));
    MoteScene *scene = (MoteScene *)&scene;
    assert_int_equal(mote_scene_load(scene_path, NULL, 0, &scene), MOTE_ERROR_INPUT);
    assert_null(scene);
    check_message(expected);
}

static void override_fails(const char *text, const char *override, const char *expected)
{
    write_scene(text, strlen(text));
    MoteScene *scene;
    assert_int_equal(mote_scene_load(scene_path, &override, 1, &scene), MOTE_ERROR_INPUT);
    assert_null(scene);
    check_message(expected);
}

// ---- Values ----------------------------------------------------------------------------------------------------

// What the table says, read by other means than the loader's.
static void check_element_is_default(SceneSection section, const void *element)
{
    for (uint32_t i = 0; i < scene_key_count; i++) {
        const SceneKey *key = &scene_keys[i];
        if (key->section != section || key->animation == SCENE_REQUIRED) {
            continue;
        }
        json_t *standard = json_loads(key->standard, JSON_DECODE_ANY, NULL);
        assert_non_null(standard);
        const char *field = (const char *)element + key->offset;
        if (key->type == SCENE_STRING) {
            assert_string_equal(field, json_string_value(standard));
        } else if (key->type == SCENE_PATH || key->type == SCENE_MESH) {
            assert_string_equal(*(const char *const *)field, json_string_value(standard));
        } else if (key->type == SCENE_CHOICE) {
            const char *found = strstr(key->choices, json_string_value(standard));
            assert_non_null(found);
            uint32_t bars = 0;
            for (const char *c = key->choices; c < found; c++) {
                bars += *c == '|';
            }
            assert_int_equal(*(const uint32_t *)field, bars);
        } else if (key->type == SCENE_UINT) {
            assert_true((double)*(const uint32_t *)field == json_number_value(standard));
        } else if (key->type == SCENE_BOOL) {
            assert_true(*(const bool *)field == json_is_true(standard));
        } else {
            for (uint32_t c = 0; c < scene_key_components(key); c++) {
                const json_t *number = key->type == SCENE_VEC3 ? json_array_get(standard, c) : standard;
                assert_true(((const float *)field)[c] == (float)json_number_value(number));
                assert_true(json_number_value(number) >= key->minimum && json_number_value(number) <= key->maximum);
            }
        }
        json_decref(standard);
    }
}

// A value for a key that must have one.
static json_t *some_value(const SceneKey *key)
{
    char word[SCENE_NAME_SIZE];
    const char *choices = key->choices;
    switch (key->type) {
    case SCENE_STRING:
        return json_string("wall"); // a material
    case SCENE_MESH:
        return json_string("shape:box");
    case SCENE_VEC3:
        return json_pack("[fff]", key->maximum, key->maximum, key->maximum);
    case SCENE_POINTS:
        return json_pack("[[fff][fff]]", key->minimum, 0.0, 0.0, key->maximum, 0.0, 0.0);
    case SCENE_CHOICE:
        assert_true(scene_choice_next(&choices, word));
        return json_string(word);
    default:
        return json_real(key->maximum);
    }
}

// A scene with one element in each section, which has nothing but what it must have.
static MoteScene *load_defaults(void)
{
    json_t *root = json_object();
    for (uint32_t s = 0; s < SCENE_SECTION_COUNT; s++) {
        json_t *element = json_object();
        for (uint32_t i = 0; i < scene_key_count; i++) {
            if (scene_keys[i].section == s && scene_keys[i].animation == SCENE_REQUIRED) {
                json_object_set_new(element, scene_keys[i].name, some_value(&scene_keys[i]));
            }
        }
        const SceneSectionKind kind = scene_sections[s].kind;
        json_t *value = kind == SCENE_ARRAY ? json_pack("[o]", element)
                        : kind == SCENE_MAP ? json_pack("{so}", "wall", element)
                                            : element;
        json_object_set_new(root, scene_sections[s].json_key, value);
    }
    char *text = json_dumps(root, 0);
    MoteScene *scene = load(text, NULL, 0);
    free(text);
    json_decref(root);
    return scene;
}

static void test_defaults(void **state)
{
    (void)state;
    const MoteSettings settings = mote_default_settings();
    check_element_is_default(SCENE_SECTION_solver, &settings);
    assert_true(settings.gravity.y == -9.81f);

    MoteScene *scene = load_defaults();
    for (uint32_t s = 0; s < SCENE_SECTION_COUNT; s++) {
        const SceneElements *elements = &scene->values.sections[s];
        assert_int_equal(elements->count, s == SCENE_SECTION_material ? 2 : 1);
        for (uint32_t i = 0; i < elements->count; i++) {
            check_element_is_default((SceneSection)s,
                                     (const char *)elements->data + i * scene_sections[s].element_size);
        }
    }
    assert_string_equal(scene->name, "test_scene_load");
    assert_string_equal(scene->path, scene_path);
    assert_int_equal(scene->track_count, 0);
    assert_non_null(scene_material(&scene->values, "water"));
    assert_non_null(scene_material(&scene->values, "wall"));
    assert_null(scene_material(&scene->values, "oil"));
    mote_scene_destroy(scene);
    mote_scene_destroy(NULL);
}

static void test_defaults_in_any_locale(void **state)
{
    (void)state;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
        skip(); // no locale with a decimal comma on this machine
    }
    const MoteSettings settings = mote_default_settings();
    setlocale(LC_ALL, "C");
    assert_true(settings.spacing == 0.05f);
}

static void test_values(void **state)
{
    (void)state;
    MoteScene *scene = load("{ \"name\": \"values\", \"description\": \"d\", \"$schema\": \"s\",\n"
                            "  \"solver\": { \"dimensions\": 2, \"substeps\": 2.0, \"density_mode\": \"unilateral\",\n"
                            "                \"gravity\": [1, 2.5, -3e0], \"spacing\": 1e-1 },\n"
                            "  \"materials\": { \"wall\": { \"restitution\": 0.5 }, \"oil\": { \"density\": 900 } },\n"
                            "  \"fluids\": [{ \"material\": \"oil\", \"shape\": \"sphere\" }, { \"radius\": 0 }],\n"
                            "  \"colliders\": [{ \"shape\": \"capsule\", \"inside_out\": true, \"height\": 0 }],\n"
                            "  \"output\": { \"frames\": 0 } }\n",
                            NULL, 0);
    const SceneValues *values = &scene->values;
    const MoteSettings *solver = SCENE_AT(values, solver, 0);
    assert_string_equal(scene->name, "values");
    assert_int_equal(solver->dimensions, 2);
    assert_int_equal(solver->substeps, 2);
    assert_int_equal(solver->density_mode, MOTE_DENSITY_UNILATERAL);
    assert_true(solver->gravity.x == 1.0f && solver->gravity.y == 2.5f && solver->gravity.z == -3.0f);
    assert_true(solver->spacing == 0.1f);
    assert_int_equal(SCENE_COUNT(values, material), 3);
    assert_true(scene_material(values, "wall")->restitution == 0.5f);
    assert_true(scene_material(values, "wall")->density == 1000.0f);
    assert_true(scene_material(values, "oil")->density == 900.0f);
    assert_int_equal(SCENE_COUNT(values, fluid), 2);
    assert_string_equal(SCENE_AT(values, fluid, 0)->material, "oil");
    assert_int_equal(SCENE_AT(values, fluid, 0)->shape, SCENE_FLUID_SPHERE);
    assert_true(SCENE_AT(values, fluid, 1)->radius == 0.0f); // not used by a block, so it may be 0
    assert_int_equal(SCENE_AT(values, collider, 0)->shape, MOTE_COLLIDER_CAPSULE);
    assert_true(SCENE_AT(values, collider, 0)->inside_out);
    assert_int_equal(SCENE_AT(values, output, 0)->frames, 0);

    SceneValues copy;
    assert_int_equal(scene_values_copy(scene, &copy), MOTE_OK);
    assert_ptr_not_equal(copy.sections[SCENE_SECTION_fluid].data, values->sections[SCENE_SECTION_fluid].data);
    assert_int_equal(SCENE_COUNT(&copy, fluid), 2);
    assert_string_equal(SCENE_AT(&copy, fluid, 0)->material, "oil");
    assert_int_equal(SCENE_COUNT(&copy, emitter), 0);
    scene_values_free(&copy);
    mote_scene_destroy(scene);
}

// ---- Keyframes -------------------------------------------------------------------------------------------------

static float damping_at(const MoteScene *scene, double time)
{
    SceneValues values;
    assert_int_equal(scene_values_copy(scene, &values), MOTE_OK);
    scene_values_at(scene, time, &values);
    const float damping = SCENE_AT(&values, solver, 0)->damping;
    scene_values_free(&values);
    return damping;
}

static void test_keyframes(void **state)
{
    (void)state;
    MoteScene *scene =
        load("{ \"solver\": { \"damping\": { \"keyframes\": [[-1, 4], [1, 8], [3, 2]] },\n"
             "    \"iterations\": { \"keyframes\": [[0, 1], [1, 4]] } },\n"
             "  \"colliders\": [{ \"shape\": \"plane\" },\n"
             "    { \"shape\": \"box\", \"position\": { \"keyframes\": [[0, [0, 1, 2]], [2, [2, 1, 0]]],\n"
             "      \"interpolation\": \"step\" } }] }",
             NULL, 0);
    assert_int_equal(scene->track_count, 3);
    assert_true(SCENE_AT(&scene->values, solver, 0)->damping == 6.0f); // at time 0
    assert_true(damping_at(scene, -1e300) == 4.0f);
    assert_true(damping_at(scene, -1) == 4.0f);
    assert_true(damping_at(scene, 0.5) == 7.0f);
    assert_true(damping_at(scene, 1) == 8.0f);
    assert_true(damping_at(scene, 2) == 5.0f);
    assert_true(damping_at(scene, 3) == 2.0f);
    assert_true(damping_at(scene, 1e300) == 2.0f);

    SceneValues values;
    assert_int_equal(scene_values_copy(scene, &values), MOTE_OK);
    assert_int_equal(SCENE_AT(&values, solver, 0)->iterations, 1);
    scene_values_at(scene, 0.6, &values);
    assert_int_equal(SCENE_AT(&values, solver, 0)->iterations, 3); // 2.8, rounded
    scene_values_at(scene, 1.99, &values);
    assert_true(SCENE_AT(&values, collider, 1)->position.x == 0.0f);
    scene_values_at(scene, 2, &values);
    const MoteVec3 position = SCENE_AT(&values, collider, 1)->position;
    assert_true(position.x == 2.0f && position.y == 1.0f && position.z == 0.0f);
    assert_true(SCENE_AT(&values, collider, 0)->position.x == 0.0f);
    scene_values_free(&values);
    mote_scene_destroy(scene);
}

static void test_smooth_keyframes(void **state)
{
    (void)state;
    MoteScene *scene = load("{ \"solver\": { \"damping\": { \"interpolation\": \"smooth\",\n"
                            "    \"keyframes\": [[0, 0], [2, 8], [3, 9], [4, 9], [6, 1]] } } }",
                            NULL, 0);
    const double times[] = {0, 2, 3, 4, 6};
    const float at_keyframes[] = {0, 8, 9, 9, 1};
    for (int i = 0; i < 5; i++) {
        assert_true(damping_at(scene, times[i]) == at_keyframes[i]);
    }
    const double tiny = 1e-4;
    for (int i = 0; i < 5; i++) { // the speed has no jump at a keyframe
        const double before = ((double)damping_at(scene, times[i]) - (double)damping_at(scene, times[i] - tiny)) / tiny;
        const double after = ((double)damping_at(scene, times[i] + tiny) - (double)damping_at(scene, times[i])) / tiny;
        assert_true(before - after < 0.05 && after - before < 0.05);
    }
    float last = 0;
    for (int i = 0; i <= 300; i++) { // monotone between keyframes, so never out of range
        const float value = damping_at(scene, i * 0.01);
        assert_true(value >= last && value <= 9.0f);
        last = value;
    }
    assert_true(damping_at(scene, 3.5) == 9.0f);
    mote_scene_destroy(scene);

    scene = load("{ \"solver\": { \"damping\": { \"interpolation\": \"smooth\",\n"
                 "    \"keyframes\": [[0, 0], [2, 8]] } } }",
                 NULL, 0);
    assert_true(damping_at(scene, 1) == 4.0f);
    assert_true(damping_at(scene, 0.5) == 1.25f); // 8 (3 u^2 - 2 u^3)
    mote_scene_destroy(scene);
}

// Where a gentle stretch meets a steep one, the mean of their slopes, 5 a second, would lead the gentle one past its
// end: Steffen's limit is twice the gentler slope. Then the curve on 0..1 is u^2 (3 - 2 u) + 2 (u^3 - u^2) = u^2.
static void test_smooth_keyframes_do_not_overshoot(void **state)
{
    (void)state;
    MoteScene *scene = load("{ \"solver\": { \"damping\": { \"interpolation\": \"smooth\",\n"
                            "    \"keyframes\": [[0, 0], [1, 1], [2, 10], [3, 11], [4, 11]] } } }",
                            NULL, 0);
    for (int i = 0; i <= 100; i++) {
        const double u = i * 0.01;
        assert_float_equal(damping_at(scene, u), u * u, 1e-6);
    }
    float last = -1.0f;
    for (int i = 0; i <= 300;
         i++) { // always upwards: clamped to the keyframes' range, it would stand still before them
        const float value = damping_at(scene, i * 0.01);
        assert_true(value > last);
        last = value;
    }
    mote_scene_destroy(scene);

    // Within the limit it is the slope of the parabola through three keyframes: here (2 * 2 + 1.5 * 1) / 3.
    scene = load("{ \"solver\": { \"damping\": { \"interpolation\": \"smooth\",\n"
                 "    \"keyframes\": [[0, 0], [1, 2], [3, 5]] } } }",
                 NULL, 0);
    assert_float_equal(damping_at(scene, 0.5), 1.0 - 5.5 / 3.0 / 8.0, 1e-6);
    assert_float_equal(damping_at(scene, 2.0), 3.5 + 2.0 * 5.5 / 3.0 / 8.0, 1e-6);
    mote_scene_destroy(scene);
}

// Keyframes at the ends of what a double can say must not make a value that is not a number.
static void test_extreme_keyframe_times(void **state)
{
    (void)state;
    static const char *const names[] = {"linear", "step", "smooth"};
    for (int i = 0; i < 3; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{ \"solver\": { \"damping\": { \"interpolation\": \"%s\", \"keyframes\":\n"
                 "  [[-1.7e308, 1], [0, 2], [5e-324, 3], [1e-323, 4], [1.5e-323, 5], [1.7e308, 6]] } } }",
                 names[i]);
        MoteScene *scene = load(text, NULL, 0);
        const double times[] = {-1.79e308, -1e308, -1, 0, 5e-324, 1e-323, 1.5e-323, 1, 1e308, 1.79e308};
        for (int t = 0; t < 10; t++) {
            const float value = damping_at(scene, times[t]);
            assert_true(value >= 1.0f && value <= 6.0f);
        }
        mote_scene_destroy(scene);
    }
}

// ---- Overrides and hash ----------------------------------------------------------------------------------------

static void test_overrides(void **state)
{
    (void)state;
    const char *const overrides[] = {
        "solver.iterations=10",
        "fluids[0].size=[1, 2, 3]",
        "materials.oil.density=900",
        "materials[\"crude oil\"].density=870",
        "fluids[1].material=crude oil",
        "solver.density_mode=unilateral",
        "emitters[0].speed=3",
        "solver.gravity[1]=-1",
        "solver.damping={\"keyframes\": [[0, 1], [1, 3]]}",
        "solver.iterations=11",
        "name=named",
        "output.frames=7",
    };
    MoteScene *scene = load("{ \"fluids\": [{}], \"solver\": { \"gravity\": [0, 0, 0] } }", overrides,
                            sizeof overrides / sizeof overrides[0]);
    const SceneValues *values = &scene->values;
    assert_int_equal(SCENE_AT(values, solver, 0)->iterations, 11);
    assert_true(SCENE_AT(values, fluid, 0)->size.z == 3.0f);
    assert_true(scene_material(values, "oil")->density == 900.0f);
    assert_int_equal(SCENE_COUNT(values, fluid), 2);
    assert_string_equal(SCENE_AT(values, fluid, 1)->material, "crude oil");
    assert_int_equal(SCENE_AT(values, solver, 0)->density_mode, MOTE_DENSITY_UNILATERAL);
    assert_true(SCENE_AT(values, emitter, 0)->speed == 3.0f);
    assert_true(SCENE_AT(values, solver, 0)->gravity.y == -1.0f);
    assert_true(damping_at(scene, 0.5) == 2.0f);
    assert_string_equal(scene->name, "named");
    assert_int_equal(SCENE_AT(values, output, 0)->frames, 7);
    mote_scene_destroy(scene);
}

static void test_override_errors(void **state)
{
    (void)state;
    static const char scene[] = "{ \"fluids\": [{ \"size\": [1, 1, 1] }] }";
    override_fails(scene, "solver.iterations=-1",
                   "--set solver.iterations=-1: solver.iterations: found -1, expected a whole number from 0 to 1000");
    override_fails(scene, "solver.iteratons=5",
                   "--set solver.iteratons=5: solver.iteratons: found an unknown key, expected one of the keys of "
                   "\"solver\"; did you mean \"iterations\"?");
    override_fails(scene, "fluids[0].size=[1, 2",
                   "--set fluids[0].size=[1, 2: fluids[0].size: found \"[1, 2\", expected an array of 3 numbers from 0 "
                   "to 100000 m");
    override_fails(scene, "fluids[0].size[1]=0",
                   "--set fluids[0].size[1]=0: fluids[0].size[1]: found 0, expected more than 0 m for a block");
    override_fails(scene, "fluids[2].size=[1, 1, 1]",
                   "--set fluids[2].size=[1, 1, 1]: fluids: found index 2, expected at most 1, which adds one at the "
                   "end");
    override_fails(scene, "fluids.size=[1, 1, 1]",
                   "--set fluids.size=[1, 1, 1]: fluids: found an array of 1, expected an object");
    override_fails(scene, "colliders[0].size=[1, 1, 1]",
                   "--set colliders[0].size=[1, 1, 1]: colliders[0].shape: found nothing, expected one of \"plane\", "
                   "\"box\", \"sphere\", \"capsule\", \"hull\", \"mesh\"");
    override_fails(scene, "solver.iterations",
                   "--set solver.iterations: found no =, expected path=value, as in solver.iterations=10");
    override_fails(scene, "", "--set : found no =, expected path=value, as in solver.iterations=10");
    override_fails(scene, "fluids[0=1",
                   "--set fluids[0=1: found \"[0=1\", expected path=value, as in "
                   "solver.iterations=10");
    override_fails(scene, "a\xff=1", "--set: override 1 is not UTF-8, expected path=value");
    override_fails(
        scene, "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q=1",
        "--set a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q=1: found a path of more than 16 steps, expected path=value");
    // The file's own mistakes keep their position.
    override_fails("{ \"solver\": {\n  \"spacing\": 0 } }", "solver.iterations=5",
                   "@:2:14: solver.spacing: found 0, expected a number from 0.0001 to 1000 m");
}

static uint64_t hash_of(const char *text, const char *override)
{
    MoteScene *scene = load(text, &override, override != NULL ? 1 : 0);
    const uint64_t hash = scene->hash;
    mote_scene_destroy(scene);
    return hash;
}

static void test_hash(void **state)
{
    (void)state;
    static const char scene[] = "{ \"solver\": { \"spacing\": 0.1, \"substeps\": 2 }, \"fluids\": [{}] }";
    const uint64_t hash = hash_of(scene, NULL);
    assert_true(hash != 0);
    assert_true(hash == hash_of("{\"fluids\":[{}],\"solver\":{\"substeps\":2,\"spacing\":1e-1}}", NULL));
    assert_true(hash == hash_of(scene, "output.frames=3"));
    assert_true(hash == hash_of(scene, "camera.field_of_view=30"));
    assert_true(hash == hash_of(scene, "name=other"));
    assert_true(hash == hash_of(scene, "description=other"));
    assert_true(hash == hash_of(scene, "$schema=other"));
    assert_true(hash != hash_of(scene, "solver.substeps=3"));
    assert_true(hash != hash_of(scene, "fluids[0].position=[0, 1, 0]"));
}

// ---- Errors ----------------------------------------------------------------------------------------------------

static void test_error_texts(void **state)
{
    (void)state;
    fails("{\n  \"solver\": {\n    \"iteratons\": 4\n  }\n}\n",
          "@:3:5: solver.iteratons: found an unknown key, expected one of the keys of \"solver\"; did you mean "
          "\"iterations\"?");
    fails("{ \"fluid\": [] }",
          "@:1:3: fluid: found an unknown key, expected one of a scene's keys; did you mean \"fluids\"?");
    char known[1024] = "";
    for (uint32_t section = 0; section < SCENE_SECTION_COUNT; section++) {
        strcat(strcat(known, scene_sections[section].json_key), ", ");
    }
    char expected[sizeof known + 256];
    snprintf(expected, sizeof expected,
             "@:1:3: zzz: found an unknown key, expected one of a scene's keys: %s$schema, name, description, look",
             known);
    fails("{ \"zzz\": [] }", expected);
    fails("{ \"name\": \"h\xc3\xa9h\xc3\xa9\", \"solver\": { \"spacing\": \"0.05\" } }", // columns are characters
          "@:1:42: solver.spacing: found \"0.05\", expected a number from 0.0001 to 1000 m");
    fails("{ \"forces\": [{ \"kind\": \"box\", \"falloff\": \"inverse_square\" }] }",
          "@:1:42: forces[0].falloff: found \"inverse_square\" for a box or uniform field, expected \"constant\", "
          "\"linear\" or \"quadratic\"");
    fails("{ \"forces\": [{ \"kind\": \"point\", \"falloff\": \"linear\", \"radius\": 0 }] }",
          "@:1:64: forces[0].radius: found 0 with a linear or quadratic falloff, expected the radius above 0 that it "
          "falls off over");
    fails("{ \"forces\": [{ \"kind\": \"point\", \"materials\": \"water, wter\" }] }",
          "@:1:46: forces[0].materials: found \"wter\", expected the name of a material; did you mean \"water\"?");
    fails("{ \"fluids\": [{}, { \"size\": [1, 2] }] }",
          "@:1:28: fluids[1].size: found [1, 2], expected an array of 3 numbers from 0 to 100000 m");
    fails("{ \"fluids\": [{}, { \"si\\u007ae\": [1, 2, -3] }] }", // an escaped key is the same key
          "@:1:40: fluids[1].size[2]: found -3, expected a number from 0 to 100000 m");
    fails("{ \"fluids\": [{ \"shape\": \"blok\" }] }",
          "@:1:25: fluids[0].shape: found \"blok\", expected one of \"block\", \"sphere\"; did you mean \"block\"?");
    fails("{ \"colliders\": [{ \"shape\": \"box\" },\n { \"size\": [1, 1, 1] }] }",
          "@:2:2: colliders[1].shape: found nothing, expected one of \"plane\", \"box\", \"sphere\", \"capsule\", "
          "\"hull\", \"mesh\"");
    fails("{ \"fluids\": [{ \"material\": \"watr\" }] }",
          "@:1:28: fluids[0].material: found \"watr\", expected the name of a material; did you mean \"water\"?");
    fails("{ \"materials\": { \"ghost\": { \"ignores\": \"wall, watr\" } } }",
          "@:1:40: materials.ghost.ignores: found \"watr\", expected the name of a material; did you mean \"water\"?");
    fails("{ \"solver\": { \"spacing\": { \"keyframes\": [[0, 1]] } } }",
          "@:1:26: solver.spacing: found keyframes, expected a number from 0.0001 to 1000 m: this key cannot be "
          "animated");
    fails("{ \"solver\": { \"damping\": { \"keyframes\": [[0, 1], [0, 2]] } } }",
          "@:1:51: solver.damping.keyframes[1][0]: found 0, expected a time after 0 s, the keyframe before");
    fails("{ \"solver\": { \"spacing\": 0.1,\n \"spacing\": 0.2 } }",
          "@:2:10: solver.spacing: found this key a second time, expected it once");
    fails("{ \"solver\": { \"spacing\": 0.1 ",
          "@:1:29: solver.spacing: found invalid JSON: '}' expected near end of file");
    fails("", "@:1:1: found invalid JSON: '[' or '{' expected near end of file");
    fails("[1, 2]", "@:1:1: found [1, 2], expected an object: a scene");
    fails("{ \"bounds\": { \"lower\": [0, 1, 0], \"upper\": [1, 1, 1] } }",
          "@:1:28: bounds.lower[1]: found 1, expected less than bounds.upper's 1 m");
    fails("{ \"emitters\": [{ \"start\": 2, \"stop\": 1 }] }",
          "@:1:38: emitters[0].stop: found 1, expected at least the start at 2 s");
    fails("{ \"solver\": { \"spacing\": 0.001 }, \"fluids\": [{ \"size\": [10, 10, 10] }] }",
          "@:1:56: fluids[0].size: found a fluid of 1000000000000 particles at spacing 0.001 m, expected at most "
          "268435456");
    fails("{ \"materials\": { \"a b\": { \"density\": null } } }",
          "@:1:38: materials[\"a b\"].density: found null, expected a number from 0.001 to 1000000 kg/m^3");
}

static void test_many_errors(void **state)
{
    (void)state;
    fails("{ \"solver\": { \"spacing\": 0,\n \"substeps\": 0 },\n \"output\": { \"every\": 0 } }",
          "@:1:26: solver.spacing: found 0, expected a number from 0.0001 to 1000 m\n"
          "@:2:14: solver.substeps: found 0, expected a whole number from 1 to 1000\n"
          "@:3:23: output.every: found 0, expected a whole number from 1 to 1000000000");
    write_scene("{ \"fluids\": [1,1,1,1,1,1,1,1,1,1,1,1] }", 39);
    MoteScene *scene;
    assert_int_equal(mote_scene_load(scene_path, NULL, 0, &scene), MOTE_ERROR_INPUT);
    const char *message = mote_error_message();
    uint32_t lines = 1;
    for (const char *c = message; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    assert_int_equal(lines, 11);
    assert_non_null(strstr(message, "json: and 2 more errors"));
}

static void test_files_that_cannot_be_read(void **state)
{
    (void)state;
    MoteScene *scene;
    assert_int_equal(mote_scene_load(MOTE_BINARY_DIR "/no/such/scene.json", NULL, 0, &scene), MOTE_ERROR_IO);
    assert_null(scene);
    assert_int_equal(mote_scene_load(MOTE_BINARY_DIR, NULL, 0, &scene), MOTE_ERROR_IO);
    assert_null(scene);
    write_scene("{}", 2);
    assert_int_equal(truncate(scene_path, ((off_t)64 << 20) + 1), 0);
    assert_int_equal(mote_scene_load(scene_path, NULL, 0, &scene), MOTE_ERROR_INPUT);
    assert_null(scene);
    check_message("@: is larger than the 67108864 bytes that are read at most");
    assert_int_equal(remove(scene_path), 0);
}

// ---- Folders of scenes -----------------------------------------------------------------------------------------

static uint32_t for_each_scene(const char *folder, void (*visit)(const char *path))
{
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    uint32_t count = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot == NULL || strcmp(dot, ".json") != 0 || strcmp(entry->d_name, "schema.json") == 0) {
            continue;
        }
        char path[4096];
        assert_true((size_t)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < sizeof path);
        visit(path);
        count++;
    }
    closedir(directory);
    return count;
}

static void check_valid(const char *path)
{
    MoteScene *scene;
    if (mote_scene_load(path, NULL, 0, &scene) != MOTE_OK) {
        fail_msg("%s", mote_error_message());
    }
    mote_scene_destroy(scene);
}

static void test_scenes_are_valid(void **state)
{
    (void)state;
    assert_true(for_each_scene(MOTE_SOURCE_DIR "/scenes", check_valid) >= 7);
    assert_true(for_each_scene(MOTE_SOURCE_DIR "/scenes/small", check_valid) >= 7);
    assert_true(for_each_scene(MOTE_SOURCE_DIR "/scenes/bench", check_valid) >= 2);
    assert_true(for_each_scene(MOTE_SOURCE_DIR "/scenes/validation", check_valid) >= 6);
}

static void check_malformed(const char *path)
{
    MoteScene *scene = (MoteScene *)&scene;
    const MoteResult result = mote_scene_load(path, NULL, 0, &scene);
    const char *message = mote_error_message();
    const size_t length = strlen(path);
    int line = 0, column = 0, used = 0;
    if (result != MOTE_ERROR_INPUT || scene != NULL || strncmp(message, path, length) != 0 ||
        sscanf(message + length, ":%d:%d: %n", &line, &column, &used) != 2 || used == 0 || line < 1 || column < 1 ||
        strstr(message, "found") == NULL) {
        fail_msg("%s: result %d, message: %s", path, (int)result, message);
    }
}

static void test_malformed_scenes(void **state)
{
    (void)state;
    assert_true(for_each_scene(MOTE_SOURCE_DIR "/tests/malformed_scenes", check_malformed) >= 50);
}

static void check_block(const char *path, uint32_t fluid, uint64_t x, uint64_t y, uint64_t z)
{
    MoteScene *scene;
    assert_int_equal(mote_scene_load(path, NULL, 0, &scene), MOTE_OK);
    const double spacing = (double)SCENE_AT(&scene->values, solver, 0)->spacing;
    const MoteVec3 size = SCENE_AT(&scene->values, fluid, fluid)->size;
    assert_int_equal(scene_lattice_cells((double)size.x, spacing), x);
    assert_int_equal(scene_lattice_cells((double)size.y, spacing), y);
    assert_int_equal(scene_lattice_cells((double)size.z, spacing), z);
    mote_scene_destroy(scene);
}

static void test_scene_sizes(void **state)
{
    (void)state;
    check_block(MOTE_SOURCE_DIR "/scenes/dam_break.json", 0, 50, 40, 50);
    check_block(MOTE_SOURCE_DIR "/scenes/double_dam_break.json", 0, 25, 40, 50);
    check_block(MOTE_SOURCE_DIR "/scenes/double_dam_break.json", 1, 25, 40, 50);
    check_block(MOTE_SOURCE_DIR "/scenes/drop_in_pool.json", 0, 60, 20, 60);
    check_block(MOTE_SOURCE_DIR "/scenes/bench/dam_break_peer.json", 0, 50, 40, 50);
    check_block(MOTE_SOURCE_DIR "/scenes/bench/dam_break_peer_large.json", 0, 125, 80, 100);
}

// ---- Positions -------------------------------------------------------------------------------------------------

static void test_locate(void **state)
{
    (void)state;
    static const char text[] = "{ \"a\": [1, {\"b\": \"]}\\\"\"}, [[], {}]],\n  \"c\\u0064\": {} }";
    const ScenePath root = {0};
    const ScenePath a = path_to_key(&root, "a"), a1 = path_to_index(&a, 1), a2 = path_to_index(&a, 2);
    const ScenePath b = path_to_key(&a1, "b"), a21 = path_to_index(&a2, 1), cd = path_to_key(&root, "cd");
    const ScenePath missing = path_to_key(&a21, "x");
    ScenePosition position;
    assert_int_equal(locate_path(text, strlen(text), &b, false, &position), 3);
    assert_true(position.line == 1 && position.column == 18);
    assert_int_equal(locate_path(text, strlen(text), &b, true, &position), 3);
    assert_true(position.line == 1 && position.column == 13);
    assert_int_equal(locate_path(text, strlen(text), &a21, false, &position), 3);
    assert_true(position.line == 1 && position.column == 32);
    assert_int_equal(locate_path(text, strlen(text), &missing, true, &position), 3);
    assert_true(position.line == 1 && position.column == 32);
    assert_int_equal(locate_path(text, strlen(text), &cd, true, &position), 1);
    assert_true(position.line == 2 && position.column == 3);
    // Half a text, as after a syntax error, must not be read beyond its end.
    for (size_t size = 0; size <= strlen(text); size++) {
        char *part = malloc(size > 0 ? size : 1);
        assert_non_null(part);
        memcpy(part, text, size);
        char path[64];
        locate_path(part, size, &b, true, &position);
        locate_path(part, size, &cd, false, &position);
        locate_offset(part, size, size, path, sizeof path);
        free(part);
    }
    char path[64];
    locate_offset(text, strlen(text), 20, path, sizeof path);
    assert_string_equal(path, "a[1].b");
    path_print(&a21, path, sizeof path);
    assert_string_equal(path, "a[2][1]");
    path_print(&a21, path, 8);
    assert_string_equal(path, "a[2]...");
}

// ---- Names of the version before ---------------------------------------------------------------------------------

#define FORMER_OVERRIDE "solver.support_ratio=1.8"
#define FORMER_NAME     "support_ratio"
#define FORMER_BESIDE   "{ \"solver\": { \"smoothing_radius_ratio\": 2, \"support_ratio\": 2 } }"
#define FORMER_WRONG    "{ \"solver\": { \"support_ratio\": 9 } }"

static void expect_notice(const MoteScene *scene, uint32_t i, const char *place, const char *name)
{
    char text[1024];
    snprintf(text, sizeof text, "%sthis key is now called \"%s\"; its former name is accepted in this version only",
             place, name);
    assert_true(i < scene->notices.count && scene->notices.rows[i].warning);
    assert_string_equal(scene->notices.rows[i].text, text);
}

static void test_former_keys_are_read_with_a_warning(void **state)
{
    (void)state;
    static const char path[] = MOTE_SOURCE_DIR "/tests/former_keys.json";
    static const struct {
        const char *former, *name;
    } rows[] = {
        {.former = "3:9: solver.support_ratio", .name = "smoothing_radius_ratio"},
        {.former = "4:9: solver.support_memory", .name = "gravity_warm_start"},
        {.former = "5:9: solver.wall_density_weight", .name = "boundary_density_weight"},
        {.former = "7:14: sky.image_turn", .name = "image_rotation"},
    };
    MoteScene *scene;
    assert_int_equal(mote_scene_load(path, NULL, 0, &scene), MOTE_OK);
    assert_int_equal(scene->notices.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        char place[512];
        snprintf(place, sizeof place, "%s:%s: ", path, rows[i].former);
        expect_notice(scene, i, place, rows[i].name);
    }
    const MoteSettings *settings = SCENE_AT(&scene->values, solver, 0);
    assert_true(settings->smoothing_radius_ratio == 1.75f && settings->boundary_density_weight == 0.5f);
    assert_true(settings->gravity_warm_start == 0.5f && scene->track_count == 1);
    assert_true(SCENE_AT(&scene->values, sky, 0)->image_rotation == 30.0f);

    // A state fits both names' scenes.
    MoteScene *renamed = load("{ \"solver\": { \"smoothing_radius_ratio\": 1.75, \"boundary_density_weight\": 0.5, "
                              "\"gravity_warm_start\": { \"keyframes\": [[0, 0.5], [1, 0.25]] } }, "
                              "\"fluids\": [{ \"size\": [1, 1, 1] }] }",
                              NULL, 0);
    assert_int_equal(renamed->notices.count, 0);
    assert_true(renamed->hash == scene->hash);
    mote_scene_destroy(renamed);
    mote_scene_destroy(scene);
}

static void test_former_keys_in_overrides(void **state)
{
    (void)state;
    const char *const overrides[] = {FORMER_OVERRIDE};
    MoteScene *scene = load("{ \"solver\": { \"smoothing_radius_ratio\": 2 } }", overrides, 1);
    assert_true(SCENE_AT(&scene->values, solver, 0)->smoothing_radius_ratio == 1.8f);
    assert_int_equal(scene->notices.count, 1);
    assert_non_null(strstr(scene->notices.rows[0].text, "--set " FORMER_OVERRIDE ": "));
    mote_scene_destroy(scene);
    fails(FORMER_BESIDE,
          "@:1:44: solver." FORMER_NAME ": found the former name of \"smoothing_radius_ratio\" beside that "
          "key, expected one of them");
    fails(FORMER_WRONG, "@:1:13: solver.smoothing_radius_ratio: found 9, expected a number from 1.5 to 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_defaults_in_any_locale),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_keyframes),
        cmocka_unit_test(test_smooth_keyframes),
        cmocka_unit_test(test_smooth_keyframes_do_not_overshoot),
        cmocka_unit_test(test_extreme_keyframe_times),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_override_errors),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_error_texts),
        cmocka_unit_test(test_many_errors),
        cmocka_unit_test(test_files_that_cannot_be_read),
        cmocka_unit_test(test_scenes_are_valid),
        cmocka_unit_test(test_malformed_scenes),
        cmocka_unit_test(test_scene_sizes),
        cmocka_unit_test(test_locate),
        cmocka_unit_test(test_former_keys_are_read_with_a_warning),
        cmocka_unit_test(test_former_keys_in_overrides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
