// SPDX-License-Identifier: MIT
// How a scene is drawn: the table's defaults and ranges, cameras, colliders' looks, files of skies, and that none of
// it makes a saved state foreign.
#define _POSIX_C_SOURCE 200809L
#include "simulation_fixture.h"

#include "scene/build.h"
#include "scene/keys.h"
#include "scene/looks.h"
#include "scene/simulation.h"
#include <math.h>

static MoteRenderScene look_of(const Running *running, const char *camera)
{
    MoteRenderScene look;
    memset(&look, 0x5a, sizeof look);
    expect_ok(mote_simulation_render_scene(running->simulation, camera, &look));
    return look;
}

static void expect_vector(MoteVec3 found, double x, double y, double z, double tolerance)
{
    if (fabs((double)found.x - x) > tolerance || fabs((double)found.y - y) > tolerance ||
        fabs((double)found.z - z) > tolerance) {
        fail_msg("[%g, %g, %g], expected [%g, %g, %g]", (double)found.x, (double)found.y, (double)found.z, x, y, z);
    }
}

// Loads a scene that must be refused; @ in `expected` stands for its path.
static void expect_refused(const char *json, const char *override, const char *expected)
{
    fixture_write("scene.json", json, strlen(json));
    MoteScene *scene = NULL;
    assert_int_equal(mote_scene_load(fixture_path("scene.json"), &override, override != NULL ? 1 : 0, &scene),
                     MOTE_ERROR_INPUT);
    assert_null(scene);
    char text[4096];
    size_t length = 0;
    for (; *expected != '\0'; expected++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%.*s",
                                   *expected == '@' ? (int)strlen(fixture_path("scene.json")) : 1,
                                   *expected == '@' ? fixture_path("scene.json") : expected);
    }
    assert_string_equal(mote_error_message(), text);
}

// ---- Defaults and ranges ---------------------------------------------------------------------------------------

static void check_default_look(const MoteRenderScene *look)
{
    expect_vector(look->camera.position, 0, 2, 5, 0);
    expect_vector(look->camera.target, 0, 0.5, 0, 0);
    assert_true(look->camera.field_of_view == 45.0f && look->camera.roll == 0.0f && look->camera.near_plane == 0.01f);
    const MoteLiquidLook *liquid = &look->liquid;
    assert_true(liquid->visible && liquid->anisotropy && liquid->smoothing == MOTE_SMOOTHING_NARROW_RANGE);
    assert_true(liquid->radius > 0.0f && liquid->isolated_radius > 0.0f && liquid->stretch >= 1.0f);
    assert_true(liquid->refraction == 1.33f && liquid->shadow == 1.0f && liquid->smoothing_passes >= 1);
    const MoteSkyLook *sky = &look->sky;
    assert_int_equal(sky->kind, MOTE_SKY_ANALYTIC);
    assert_string_equal(sky->image, "");
    expect_vector(sky->sun_color, 1, 0.95, 0.85, 1e-6);
    assert_true(sky->brightness == 0.8f && sky->sun_elevation == 40.0f && sky->sun_azimuth == 30.0f);
    const MoteGroundLook *ground = &look->ground;
    assert_true(ground->visible && ground->height == 0.0f && ground->grid == 1.0f && ground->fade == 100.0f);
    assert_true(look->picture.exposure == 0.0f && look->picture.antialias && look->picture.saturation == 1.1f);
    assert_true(look->material_count >= 1);
    expect_vector(look->materials[0].color, 0.2, 0.5, 0.8, 1e-6);
    assert_true(look->materials[0].absorption == 3.0f && look->materials[0].roughness == 0.5f);
    assert_int_equal(look->collider_count, 0);
}

// The part of a look that has a section of the table for itself, or NULL.
static const char *part_of(const MoteRenderScene *look, SceneSection section)
{
    switch (section) {
    case SCENE_SECTION_liquid:
        return (const char *)&look->liquid;
    case SCENE_SECTION_sky:
        return (const char *)&look->sky;
    case SCENE_SECTION_ground:
        return (const char *)&look->ground;
    case SCENE_SECTION_picture:
        return (const char *)&look->picture;
    default:
        return NULL;
    }
}

static void test_defaults(void **state)
{
    (void)state;
    const MoteRenderScene standard = mote_default_render_scene();
    check_default_look(&standard);
    assert_int_equal(standard.material_count, 1);
    assert_null(standard.colliders);

    // A scene that says nothing about its look has the same one, in every key.
    Running running = fixture_start("{}", "cpu");
    const MoteRenderScene look = look_of(&running, NULL);
    check_default_look(&look);
    assert_int_equal(look.material_count, 2);
    uint32_t compared = 0;
    for (uint32_t i = 0; i < scene_key_count; i++) { // key by key: there is padding after bools
        const SceneKey *key = &scene_keys[i];
        const char *have = part_of(&look, key->section), *want = part_of(&standard, key->section);
        if (have != NULL && key->type != SCENE_PATH) {
            const size_t size = key->type == SCENE_VEC3 ? 12 : key->type == SCENE_BOOL ? sizeof(bool) : 4;
            assert_memory_equal(have + key->offset, want + key->offset, size);
            compared++;
        }
    }
    assert_true(compared >= 30);
    fixture_stop(&running);
}

// Whether the scene takes the number for every component of the key.
static bool accepts(const SceneKey *key, double number)
{
    const SceneSectionInfo *info = &scene_sections[key->section];
    static const char *const places[] = {"", "[0]", ".a"};
    char override[256];
    snprintf(override, sizeof override, key->type == SCENE_VEC3 ? "%s%s.%s=[%.17g, %.17g, %.17g]" : "%s%s.%s=%.17g",
             info->json_key, places[info->kind], key->name, number, number, number);
    const char *const overrides[] = {override};
    MoteScene *scene = NULL;
    const MoteResult result = mote_scene_load(fixture_path("scene.json"), overrides, 1, &scene);
    mote_scene_destroy(scene);
    return result == MOTE_OK;
}

static void test_ranges(void **state)
{
    (void)state;
    static const char json[] = "{ \"colliders\": [{ \"shape\": \"plane\" }],"
                               "  \"springs\": [{ \"from\": [0, 0, 0], \"to\": [1, 0, 0] }],"
                               "  \"bodies\": [{ \"mesh\": \"shape:box\", \"material\": \"wall\" }] }";
    fixture_write("scene.json", json, strlen(json));
    uint32_t tried = 0;
    for (uint32_t i = 0; i < scene_key_count; i++) {
        const SceneKey *key = &scene_keys[i];
        const bool drawn = scene_sections[key->section].use == SCENE_OUTPUT || key->look;
        if (!drawn || key->type == SCENE_BOOL || key->type == SCENE_CHOICE || key->type == SCENE_PATH) {
            continue;
        }
        tried++;
        const double beyond = key->type == SCENE_UINT ? 1 : 1e-3 * fmax(1e-3, key->maximum - key->minimum);
        if (!accepts(key, key->minimum) || !accepts(key, key->maximum)) {
            fail_msg("%s.%s: %s", scene_sections[key->section].json_key, key->name, mote_error_message());
        }
        if (accepts(key, key->minimum - beyond) || accepts(key, key->maximum + beyond)) {
            fail_msg("%s.%s takes values out of its range", scene_sections[key->section].json_key, key->name);
        }
        assert_true(key->meaning[0] != '\0');
    }
    assert_true(tried >= 40);
}

static void test_errors(void **state)
{
    (void)state;
    expect_refused("{ \"sky\": {\n  \"haze\": 2 } }", NULL, "@:2:11: sky.haze: found 2, expected a number from 0 to 1");
    expect_refused("{ \"liquid\": { \"smoothing\": \"narow_range\" } }", NULL,
                   "@:1:28: liquid.smoothing: found \"narow_range\", expected one of \"narrow_range\", \"curvature\", "
                   "\"bilateral\", \"none\"; did you mean \"narrow_range\"?");
    expect_refused("{ \"colliders\": [{ \"shape\": \"box\", \"look\": \"glas\" }] }", NULL,
                   "@:1:43: colliders[0].look: found \"glas\", expected one of \"auto\", \"solid\", \"glass\", "
                   "\"wireframe\", \"hidden\"; did you mean \"glass\"?");
    expect_refused("{ \"cameras\": { \"side\": { \"fov\": 30 } } }", NULL,
                   "@:1:26: cameras.side.fov: found an unknown key, expected one of the keys of \"cameras\": position, "
                   "target, field_of_view, roll, near, orbit");
    expect_refused("{ \"cameras\": [] }", NULL, "@:1:14: cameras: found [], expected an object of named cameras");
    expect_refused("{ \"cameras\": { \"\": {} } }", NULL,
                   "@:1:16: cameras[\"\"]: found a name of 0 bytes, expected 1 to 63");
    expect_refused("{ \"camera\": { \"position\": [1, 2, 3], \"target\": [1, 2, 3] } }", NULL,
                   "@:1:27: camera.position: found [1, 2, 3], expected another point than the target");
    expect_refused("{ \"cameras\": { \"side\": { \"target\": [0, 2, 5] } } }", NULL,
                   "@:1:24: cameras.side.position: found [0, 2, 5], expected another point than the target");
    expect_refused(
        "{}", "cameras.side.orbit=fast",
        "--set cameras.side.orbit=fast: cameras.side.orbit: found \"fast\", expected a number from -100000 to "
        "100000 degrees/s");
    expect_refused("{ \"liquid\": { \"anisotropy\": { \"keyframes\": [[0, true]] } } }", NULL,
                   "@:1:29: liquid.anisotropy: found keyframes, expected true or false: this key cannot be animated");
}

// ---- Looks with a name ----

// A look gives what the scene does not say itself; --set has the last word, for the look as for its keys.
static void test_named_looks(void **state)
{
    (void)state;
    Running running = fixture_start("{ \"look\": \"pool\", \"ground\": { \"grid\": 0.75 } }", "cpu");
    MoteRenderScene look = look_of(&running, NULL);
    assert_int_equal(look.sky.kind, MOTE_SKY_CLOUDS);
    assert_int_equal(look.ground.pattern, MOTE_GROUND_TILES);
    assert_true(look.ground.grid == 0.75f && look.picture.contrast > 1.0f);
    fixture_stop(&running);

    static const char json[] = "{ \"look\": \"pool\" }";
    fixture_write("scene.json", json, strlen(json));
    const char *const overrides[] = {"look=studio", "sky.sun_elevation=12"};
    MoteScene *scene;
    expect_ok(mote_scene_load(fixture_path("scene.json"), overrides, 2, &scene));
    const MoteSkyLook *sky = SCENE_AT(&scene->values, sky, 0);
    assert_true(sky->kind == MOTE_SKY_STUDIO && sky->sun_elevation == 12.0f);
    mote_scene_destroy(scene);
    expect_refused("{ \"look\": \"pol\" }", NULL,
                   "@:1:11: look: found \"pol\", expected one of \"plain\", \"pool\", \"studio\", \"beach\", "
                   "\"terrace\", \"night\"; did you mean \"pool\"?");
    expect_refused("{ \"look\": 3 }", NULL,
                   "@:1:11: look: found 3, expected one of \"plain\", \"pool\", \"studio\", \"beach\", \"terrace\", "
                   "\"night\"");
}

// The values for a running scene are those that a scene with the look is loaded with.
static void test_looks_of_a_running_scene(void **state)
{
    (void)state;
    const char *name, *meaning;
    for (uint32_t look = 0; scene_look(look, &name, &meaning); look++) {
        char json[64];
        snprintf(json, sizeof json, "{ \"look\": \"%s\" }", name);
        fixture_write("scene.json", json, strlen(json));
        MoteScene *scene;
        expect_ok(mote_scene_load(fixture_path("scene.json"), NULL, 0, &scene));
        const SceneKey *key;
        double numbers[3], loaded[3];
        uint32_t count = 0;
        for (; scene_look_value(look, count, &key, numbers); count++) {
            scene_key_fetch(key, scene->values.sections[key->section].data, loaded);
            for (uint32_t k = 0; k < scene_key_components(key); k++) {
                assert_true((float)numbers[k] == (float)loaded[k]);
            }
        }
        assert_true(count > 12);
        mote_scene_destroy(scene);
    }
}

// Every look has values that the reader takes, and `plain` is what a scene without a look has.
static void test_every_look_loads(void **state)
{
    (void)state;
    const char *name, *meaning;
    uint32_t count = 0;
    for (; scene_look(count, &name, &meaning); count++) {
        char json[64];
        snprintf(json, sizeof json, "{ \"look\": \"%s\" }", name);
        Running running = fixture_start(json, "cpu");
        const MoteRenderScene look = look_of(&running, NULL);
        if (strcmp(name, "plain") == 0) {
            check_default_look(&look);
        } else {
            assert_true(look.sky.kind != MOTE_SKY_ANALYTIC && look.ground.pattern != MOTE_GROUND_LINES);
        }
        fixture_stop(&running);
    }
    assert_true(count >= 6);
}

// ---- Values at a time ------------------------------------------------------------------------------------------

static void test_keyframed_look(void **state)
{
    (void)state;
    Running running = fixture_start(
        "{ \"solver\": { \"frame_rate\": 4, \"substeps\": 2 },\n"
        "  \"camera\": { \"position\": { \"keyframes\": [[0, [0, 1, 4]], [1, [4, 3, 0]]] },\n"
        "    \"target\": { \"keyframes\": [[0, [0, 0, 0]], [1, [0, 1, 0]]] },\n"
        "    \"field_of_view\": { \"keyframes\": [[0, 20], [1, 60]] }, \"roll\": { \"keyframes\": [[0, 0], [1, 8]] },\n"
        "    \"near\": 0.25 },\n"
        "  \"sky\": { \"sun_elevation\": { \"keyframes\": [[0, 10], [1, 50]] } },\n"
        "  \"picture\": { \"exposure\": { \"keyframes\": [[0.5, -1], [1, 1]] } },\n"
        "  \"colliders\": [{ \"shape\": \"sphere\", \"radius\": { \"keyframes\": [[0, 1], [1, 2]] },\n"
        "    \"position\": { \"keyframes\": [[0, [0, 0, 0]], [1, [8, 0, 0]]] } }] }",
        "cpu");
    for (uint32_t frame = 0; frame <= 4; frame++) { // the values at the frame's time, not at the last step's beginning
        const double time = frame / 4.0;
        const MoteRenderScene look = look_of(&running, NULL);
        expect_vector(look.camera.position, 4 * time, 1 + 2 * time, 4 - 4 * time, 1e-6);
        expect_vector(look.camera.target, 0, time, 0, 1e-6);
        assert_float_equal(look.camera.field_of_view, 20 + 40 * time, 1e-5);
        assert_float_equal(look.camera.roll, 8 * time, 1e-5);
        assert_true(look.camera.near_plane == 0.25f);
        assert_float_equal(look.sky.sun_elevation, 10 + 40 * time, 1e-5);
        assert_float_equal(look.picture.exposure, time < 0.5 ? -1 : -1 + 4 * (time - 0.5), 1e-5);
        assert_int_equal(look.collider_count, 1);
        expect_vector(look.colliders[0].collider.to.position, 8 * time, 0, 0, 1e-6);
        assert_float_equal(look.colliders[0].collider.radius, 1 + time, 1e-6);
        if (frame < 4) {
            fixture_advance(&running, 1);
        }
    }
    fixture_stop(&running);
}

static void test_orbit(void **state)
{
    (void)state;
    // 30 degrees a second for 3 seconds is a quarter of a turn about the target: from +z to +x.
    Running running = fixture_start("{ \"solver\": { \"frame_rate\": 1, \"substeps\": 1 }, \"camera\": {\n"
                                    "  \"position\": [1, 4, 8], \"target\": [1, 2, 3], \"orbit\": 30 },\n"
                                    "  \"cameras\": { \"back\": { \"position\": [3, 1, 7], \"target\": [2, 5, 3],\n"
                                    "    \"orbit\": -45 } } }",
                                    "cpu");
    const MoteRenderScene start = look_of(&running, NULL);
    expect_vector(start.camera.position, 1, 4, 8, 0);
    fixture_advance(&running, 1);
    const MoteRenderScene later = look_of(&running, NULL);
    expect_vector(later.camera.position, 1 + 5 * 0.5, 4, 3 + 5 * sqrt(0.75), 1e-6);
    expect_vector(later.camera.target, 1, 2, 3, 0);
    fixture_advance(&running, 1);
    // The other way round: after two seconds x and z have changed places, with one sign.
    const MoteRenderScene back = look_of(&running, "back");
    expect_vector(back.camera.position, 2 - 4, 1, 3 + 1, 1e-6);
    fixture_advance(&running, 1);
    const MoteRenderScene quarter = look_of(&running, NULL);
    expect_vector(quarter.camera.position, 6, 4, 3, 1e-6);
    const MoteVec3 arm = {quarter.camera.position.x - 1.0f, quarter.camera.position.y - 2.0f,
                          quarter.camera.position.z - 3.0f};
    assert_float_equal(arm.x * arm.x + arm.y * arm.y + arm.z * arm.z, 29.0f, 1e-4);
    fixture_advance(&running, 9);
    const MoteRenderScene whole = look_of(&running, NULL); // once round
    expect_vector(whole.camera.position, 1, 4, 8, 1e-6);
    fixture_stop(&running);
}

// A keyframed orbit is the speed of that moment times the time, as the document says.
static void test_keyframed_orbit(void **state)
{
    (void)state;
    Running running = fixture_start("{ \"solver\": { \"frame_rate\": 1, \"substeps\": 1 }, \"camera\": {\n"
                                    "  \"position\": [0, 0, 2], \"target\": [0, 0, 0],\n"
                                    "  \"orbit\": { \"keyframes\": [[0, 0], [2, 45]] } } }",
                                    "cpu");
    fixture_advance(&running, 1);
    const MoteRenderScene first = look_of(&running, NULL);
    const double angle = 22.5 * 3.14159265358979323846 / 180;
    expect_vector(first.camera.position, 2 * sin(angle), 0, 2 * cos(angle), 1e-6);
    fixture_advance(&running, 1);
    const MoteRenderScene second = look_of(&running, NULL);
    expect_vector(second.camera.position, 2, 0, 0, 1e-6);
    fixture_stop(&running);
}

static void test_named_cameras(void **state)
{
    (void)state;
    Running running = fixture_start("{ \"camera\": { \"field_of_view\": 50 }, \"cameras\": {\n"
                                    "  \"side\": { \"position\": [9, 1, 0], \"roll\": 10 },\n"
                                    "  \"from above\": { \"position\": [0, 9, 1] } } }",
                                    "cpu");
    MoteRenderScene look = look_of(&running, "side");
    expect_vector(look.camera.position, 9, 1, 0, 0);
    assert_true(look.camera.roll == 10.0f && look.camera.field_of_view == 45.0f); // the table's, not `camera`'s
    look = look_of(&running, "from above");
    expect_vector(look.camera.position, 0, 9, 1, 0);
    look = look_of(&running, "");
    assert_true(look.camera.field_of_view == 50.0f);

    MoteRenderScene untouched;
    memset(&untouched, 0x5a, sizeof untouched);
    memcpy(&look, &untouched, sizeof look);
    assert_int_equal(mote_simulation_render_scene(running.simulation, "sid", &look), MOTE_ERROR_INPUT);
    assert_memory_equal(&look, &untouched, sizeof look);
    expect_message(
        "scene.json: found no camera \"sid\", expected one of \"cameras\": \"side\", \"from above\"; did you "
        "mean \"side\"?");
    assert_int_equal(mote_simulation_render_scene(running.simulation, "xyz", &look), MOTE_ERROR_INPUT);
    expect_message("\"cameras\": \"side\", \"from above\"");
    assert_null(strstr(mote_error_message(), "did you mean"));
    fixture_stop(&running);

    running = fixture_start("{}", "cpu");
    assert_int_equal(mote_simulation_render_scene(running.simulation, "side", &look), MOTE_ERROR_INPUT);
    expect_message("no camera \"side\": the scene has no \"cameras\"");
    fixture_stop(&running);
}

static void test_camera_led_to_its_target(void **state)
{
    (void)state;
    Running running = fixture_start("{ \"solver\": { \"frame_rate\": 1, \"substeps\": 1 }, \"cameras\": { \"fall\": {\n"
                                    "  \"position\": { \"keyframes\": [[0, [0, 2, 0]], [1, [0, 0.5, 0]]] } } } }",
                                    "cpu");
    MoteRenderScene look = look_of(&running, "fall");
    fixture_advance(&running, 1);
    assert_int_equal(mote_simulation_render_scene(running.simulation, "fall", &look), MOTE_ERROR_INPUT);
    expect_message("cameras.fall: found position and target both at [0, 0.5, 0] at 1 s");
    fixture_stop(&running);
}

// ---- Colliders and materials -----------------------------------------------------------------------------------

static void test_looks_of_colliders(void **state)
{
    (void)state;
    static const struct {
        const char *collider;
        MoteLook look;
    } rows[] = {
        {"{ \"shape\": \"box\" }", MOTE_LOOK_SOLID},
        {"{ \"shape\": \"sphere\" }", MOTE_LOOK_SOLID},
        {"{ \"shape\": \"capsule\" }", MOTE_LOOK_SOLID},
        {"{ \"shape\": \"box\", \"inside_out\": true }", MOTE_LOOK_GLASS},
        {"{ \"shape\": \"sphere\", \"inside_out\": true }", MOTE_LOOK_GLASS},
        {"{ \"shape\": \"capsule\", \"inside_out\": true }", MOTE_LOOK_GLASS},
        {"{ \"shape\": \"plane\", \"position\": [3, -0.5, 7] }", MOTE_LOOK_HIDDEN}, // the ground is at -0.5
        {"{ \"shape\": \"plane\", \"position\": [0, -0.5, 0], \"rotation\": [0, 77, 0] }", MOTE_LOOK_HIDDEN},
        {"{ \"shape\": \"plane\", \"position\": [0, -0.5, 0], \"rotation\": [180, 0, 0] }", MOTE_LOOK_HIDDEN},
        {"{ \"shape\": \"plane\", \"position\": [0, -0.5, 0], \"rotation\": [0, 0, 5] }", MOTE_LOOK_SOLID},
        {"{ \"shape\": \"plane\", \"position\": [0, -0.4, 0] }", MOTE_LOOK_SOLID},
        {"{ \"shape\": \"plane\", \"position\": [0, -0.5, 0], \"look\": \"wireframe\" }", MOTE_LOOK_WIREFRAME},
        {"{ \"shape\": \"box\", \"look\": \"glass\" }", MOTE_LOOK_GLASS},
        {"{ \"shape\": \"box\", \"inside_out\": true, \"look\": \"solid\" }", MOTE_LOOK_SOLID},
        {"{ \"shape\": \"box\", \"look\": \"hidden\" }", MOTE_LOOK_HIDDEN},
    };
    enum { ROWS = sizeof rows / sizeof rows[0] };
    for (int visible = 0; visible < 2; visible++) {
        char json[4096];
        int length =
            snprintf(json, sizeof json, "{ \"ground\": { \"height\": -0.5, \"visible\": %s }, \"colliders\": [",
                     visible ? "true" : "false");
        for (uint32_t i = 0; i < ROWS; i++) {
            length +=
                snprintf(json + length, sizeof json - (size_t)length, "%s%s", i > 0 ? ",\n" : "", rows[i].collider);
        }
        snprintf(json + length, sizeof json - (size_t)length, "] }");
        Running running = fixture_start(json, "cpu");
        const MoteRenderScene look = look_of(&running, NULL);
        assert_int_equal(look.collider_count, ROWS);
        for (uint32_t i = 0; i < ROWS; i++) {
            const bool on_hidden_ground = !visible && i >= 6 && i <= 8;
            const MoteLook expected = on_hidden_ground ? MOTE_LOOK_SOLID : rows[i].look;
            if (look.colliders[i].look != expected) {
                fail_msg("%s has look %u, expected %d", rows[i].collider, look.colliders[i].look, (int)expected);
            }
        }
        fixture_stop(&running);
    }
}

// Particles' groups and colliders' materials are indices into the same list.
static void test_materials(void **state)
{
    (void)state;
    Running running = fixture_start(
        "{ \"solver\": { \"spacing\": 0.1 },\n"
        "  \"materials\": { \"stone\": { \"color\": [0.5, 0.5, 0.5], \"roughness\": 1 },\n"
        "    \"oil\": { \"color\": [1, 0.5, 0], \"absorption\": 20 }, \"water\": { \"absorption\": 0.5 } },\n"
        "  \"fluids\": [{ \"material\": \"oil\", \"size\": [0.2, 0.2, 0.2] },\n"
        "    { \"position\": [2, 0, 0], \"size\": [0.2, 0.2, 0.2] }],\n"
        "  \"colliders\": [{ \"shape\": \"box\", \"material\": \"stone\", \"size\": [2, 4, 6],\n"
        "    \"position\": [0, -9, 0], \"rotation\": [0, 90, 0] }, { \"shape\": \"plane\", \"position\": [0, -20, 0] "
        "}]}",
        "cpu");
    const MoteRenderScene look = look_of(&running, NULL);
    assert_int_equal(look.material_count, 4);
    const MoteParticleView view = fixture_view(&running);
    assert_int_equal(view.count, 16);
    for (uint32_t i = 0; i < view.count; i++) {
        const uint32_t group = view.phases[i] & MOTE_PHASE_GROUP_MASK;
        assert_true(group < look.material_count);
        const bool oil = view.positions[4 * i] < 1.0f;
        assert_true(look.materials[group].absorption == (oil ? 20.0f : 0.5f));
        assert_true(look.materials[group].color.x == (oil ? 1.0f : 0.2f));
    }
    assert_int_equal(look.collider_count, 2);
    const MoteRenderCollider *box = &look.colliders[0];
    assert_true(look.materials[box->material].roughness == 1.0f);
    assert_int_equal(box->collider.kind, MOTE_COLLIDER_BOX);
    expect_vector(box->collider.half_size, 1, 2, 3, 0);
    expect_vector(scene_rotate(box->collider.to.rotation, (MoteVec3){0, 0, 1}), 1, 0, 0, 1e-6);
    assert_int_equal(look.colliders[1].material, 1); // the wall
    fixture_stop(&running);
}

// ---- Files -----------------------------------------------------------------------------------------------------

static void test_sky_image(void **state)
{
    (void)state;
    expect_refused("{ \"sky\": {\n  \"kind\": \"image\" } }", NULL,
                   "@:1:10: sky.image: found no file, expected one for a sky whose kind is \"image\"");
    expect_refused("{ \"sky\": { \"image\": 7 } }", NULL,
                   "@:1:21: sky.image: found 7, expected the path of a file, relative to the scene file's folder");
    char expected[1024];
    snprintf(expected, sizeof expected,
             "@:2:29: sky.image: found \"none.hdr\", expected a file that can be read: No such file or directory "
             "(%s/none.hdr)",
             fixture_folder);
    expect_refused("{ \"sky\": {\n  \"kind\": \"image\", \"image\": \"none.hdr\" } }", NULL, expected);
    snprintf(expected, sizeof expected,
             "--set sky.image=none.hdr: sky.image: found \"none.hdr\", expected a file that can be read: No such file "
             "or directory (%s/none.hdr)",
             fixture_folder);
    expect_refused("{}", "sky.image=none.hdr", expected);
    expect_refused("{ \"sky\": { \"image\": \"/\" } }", NULL,
                   "@:1:21: sky.image: found \"/\", expected a file that can be read: it is a folder (/)");

    // A name longer than a material's may be; relative to the scene's folder, wherever the program runs.
    static const char name[] = "a_sky_with_a_name_that_is_a_good_deal_longer_than_any_material_may_be_called.hdr";
    fixture_write(name, "sky", 3);
    char json[512];
    snprintf(json, sizeof json, "{ \"sky\": { \"kind\": \"image\", \"image\": \"%s\", \"image_rotation\": 90 } }",
             name);
    Running running = fixture_start(json, "cpu");
    const MoteRenderScene look = look_of(&running, NULL);
    assert_int_equal(look.sky.kind, MOTE_SKY_IMAGE);
    assert_string_equal(look.sky.image, fixture_path(name));
    assert_true(look.sky.image_rotation == 90.0f);
    fixture_stop(&running);

    snprintf(json, sizeof json, "{ \"sky\": { \"kind\": \"image\", \"image\": \"%s\" } }", fixture_path(name));
    running = fixture_start(json, "cpu"); // an absolute path stays as it is
    assert_string_equal(look_of(&running, NULL).sky.image, fixture_path(name));
    fixture_stop(&running);

    // A scene named without a folder: the file is beside it, in the working folder.
    char back[4096];
    assert_non_null(getcwd(back, sizeof back));
    assert_int_equal(chdir(fixture_folder), 0);
    snprintf(json, sizeof json, "sky.image=%s", name);
    const char *const overrides[] = {json};
    MoteScene *scene = NULL;
    fixture_write("plain.json", "{}", 2);
    expect_ok(mote_scene_load("plain.json", overrides, 1, &scene));
    assert_string_equal(SCENE_AT(&scene->values, sky, 0)->image, name);
    mote_scene_destroy(scene);
    assert_int_equal(chdir(back), 0);
}

// ---- Saved states ----------------------------------------------------------------------------------------------

static const char plain[] = "{ \"solver\": { \"spacing\": 0.1 }, \"fluids\": [{ \"size\": [0.3, 0.3, 0.3] }],\n"
                            "  \"materials\": { \"tin\": { \"static_friction\": 0.5 }, \"red\": {} },\n"
                            "  \"colliders\": [{ \"shape\": \"plane\", \"material\": \"tin\" }] }";

static MoteScene *load_with(const char *json, const char *override)
{
    MoteScene *scene = NULL;
    fixture_write("relit.json", json, strlen(json));
    expect_ok(mote_scene_load(fixture_path("relit.json"), &override, override != NULL ? 1 : 0, &scene));
    return scene;
}

static uint64_t hash_with(const char *json, const char *override)
{
    MoteScene *scene = load_with(json, override);
    const uint64_t hash = scene->hash;
    mote_scene_destroy(scene);
    return hash;
}

static void test_hash_ignores_looks(void **state)
{
    (void)state;
    const uint64_t hash = hash_with(plain, NULL);
    static const char *const looks[] = {
        "camera.position=[1, 2, 3]",
        "camera={\"orbit\": {\"keyframes\": [[0, 1]]}}",
        "cameras.side.roll=5",
        "liquid.radius=0.7",
        "liquid.smoothing=none",
        "sky.sun_elevation=5",
        "sky.haze={\"keyframes\": [[0, 1], [1, 0]]}",
        "ground.visible=false",
        "picture.exposure=1",
        "output.frames=5",
        "materials.water.color=[0, 0, 1]", // a built-in material that the file did not mention before
        "materials.water={\"absorption\": 1, \"color\": [1, 1, 1]}",
        "materials.wall.roughness=0.1",
        "materials.tin.color=[1, 0, 0]",
        "materials.red.absorption=9",
        "colliders[0].look=wireframe",
        "name=relit",
    };
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        if (hash_with(plain, looks[i]) != hash) {
            fail_msg("%s makes saved states foreign", looks[i]);
        }
    }
    static const char *const physics[] = {
        "solver.iterations=7",
        "materials.water.density=900",
        "materials.wall={\"restitution\": 0.5, \"color\": [1, 1, 1]}",
        "materials.tin.static_friction=0.4",
        "materials.blue={}", // phases count materials
        "colliders[0].position=[0, 1, 0]",
        "colliders[0].material=red",
        "fluids[0].velocity=[1, 0, 0]",
        "bounds.lower=[-1, -1, -1]",
    };
    for (size_t i = 0; i < sizeof physics / sizeof physics[0]; i++) {
        if (hash_with(plain, physics[i]) == hash) {
            fail_msg("saved states do not notice %s", physics[i]);
        }
    }
    // Order is nothing to an object, but a particle's phase is its material's place among all.
    assert_true(hash_with("{ \"materials\": { \"a\": {}, \"b\": {} } }", NULL) !=
                hash_with("{ \"materials\": { \"b\": {}, \"a\": {} } }", NULL));
    assert_true(hash_with("{ \"materials\": { \"wall\": { \"density\": 2 }, \"water\": {} } }", NULL) ==
                hash_with("{ \"materials\": { \"water\": {}, \"wall\": { \"density\": 2 } } }", NULL));
    assert_true(hash_with("{ \"materials\": {} }", NULL) == hash_with("{}", NULL));
}

// A run is saved; then its scene is given another light, and the state is loaded and drawn.
static void test_states_can_be_relit(void **state)
{
    (void)state;
    Running running = fixture_start(plain, "cpu");
    fixture_advance(&running, 3);
    expect_ok(mote_simulation_save(running.simulation, fixture_path("saved.mote")));
    const uint64_t saved = fixture_hash(&running);
    fixture_stop(&running);

    const MoteBackendOptions options = {.backend = "cpu", .threads = 1};
    running.scene = load_with(plain, "camera={\"position\": [0, 0, 1], \"target\": [0, 0, 0], \"orbit\": 1800}");
    expect_ok(mote_simulation_create(running.scene, &options, &running.simulation));
    running.world = mote_simulation_world(running.simulation);
    expect_ok(mote_simulation_load(running.simulation, fixture_path("saved.mote")));
    assert_true(fixture_hash(&running) == saved);
    // 3 frames are 0.05 s, and the camera has turned by 90 degrees.
    expect_vector(look_of(&running, NULL).camera.position, 1, 0, 0, 1e-6);
    fixture_stop(&running);

    running.scene = load_with(plain, "materials.tin.static_friction=0.4");
    expect_ok(mote_simulation_create(running.scene, &options, &running.simulation));
    assert_int_equal(mote_simulation_load(running.simulation, fixture_path("saved.mote")), MOTE_ERROR_INPUT);
    expect_message("is a state of another scene");
    fixture_stop(&running);
}

// ---- The scenes that come with Mote -----------------------------------------------------------------------------

// Where a point is in a picture of 16:9: x and y from -1 to 1 are inside. False behind the camera.
static bool project(const MoteCamera *camera, MoteVec3 point, double *x, double *y)
{
    const double forward[3] = {(double)(camera->target.x - camera->position.x),
                               (double)(camera->target.y - camera->position.y),
                               (double)(camera->target.z - camera->position.z)};
    const double flat = hypot(forward[0], forward[2]), length = hypot(flat, forward[1]);
    const double to[3] = {(double)(point.x - camera->position.x), (double)(point.y - camera->position.y),
                          (double)(point.z - camera->position.z)};
    const double depth = (to[0] * forward[0] + to[1] * forward[1] + to[2] * forward[2]) / length;
    const double right = (to[2] * forward[0] - to[0] * forward[2]) / flat;
    const double up = (to[1] * flat - forward[1] * (to[0] * forward[0] + to[2] * forward[2]) / flat) / length;
    const double half = tan((double)camera->field_of_view * 3.14159265358979323846 / 360);
    *x = right / (depth * half * 16 / 9);
    *y = up / (depth * half);
    return depth > (double)camera->near_plane;
}

static void expect_in_picture(const char *name, const MoteCamera *camera, MoteVec3 centre, MoteVec3 half)
{
    for (uint32_t corner = 0; corner < 8; corner++) {
        const MoteVec3 point = {centre.x + (corner & 1 ? half.x : -half.x), centre.y + (corner & 2 ? half.y : -half.y),
                                centre.z + (corner & 4 ? half.z : -half.z)};
        double x, y;
        if (!project(camera, point, &x, &y) || fabs(x) > 1 || fabs(y) > 1) {
            fail_msg("%s: [%g, %g, %g] is not in the picture (%g, %g)", name, (double)point.x, (double)point.y,
                     (double)point.z, x, y);
        }
    }
}

// At its beginning a scene has all its liquid and all its nozzles in the picture.
static void check_framing(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, MOTE_SOURCE_DIR "/scenes/%s.json", name);
    Running running = {0};
    const MoteBackendOptions options = {.backend = "cpu", .threads = 1};
    expect_ok(mote_scene_load(path, NULL, 0, &running.scene));
    expect_ok(mote_simulation_create(running.scene, &options, &running.simulation));
    const SceneValues *values = &running.scene->values;
    const MoteRenderScene look = look_of(&running, NULL);
    for (uint32_t i = 0; i < SCENE_COUNT(values, fluid); i++) {
        const SceneFluid *fluid = SCENE_AT(values, fluid, i);
        const bool flat = SCENE_AT(values, solver, 0)->dimensions == 2;
        const MoteVec3 half =
            fluid->shape == SCENE_FLUID_SPHERE
                ? (MoteVec3){fluid->radius, fluid->radius, fluid->radius}
                : (MoteVec3){0.5f * fluid->size.x, 0.5f * fluid->size.y, flat ? 0.0f : 0.5f * fluid->size.z};
        expect_in_picture(name, &look.camera, fluid->position, half);
    }
    for (uint32_t i = 0; i < SCENE_COUNT(values, emitter); i++) {
        expect_in_picture(name, &look.camera, SCENE_AT(values, emitter, i)->position, (MoteVec3){0, 0, 0});
    }
    for (uint32_t i = 0; i < look.collider_count; i++) { // all of the ground that is seen is where the scene stands
        const MoteCollider *collider = &look.colliders[i].collider;
        const bool level = collider->kind == MOTE_COLLIDER_BOX && fabsf(collider->to.rotation.w) > 0.999f;
        assert_true(!level || collider->to.position.y - collider->half_size.y > look.ground.height - 0.001f);
    }
    fixture_stop(&running);
}

static void test_scenes_are_framed(void **state)
{
    (void)state;
    static const char *const names[] = {"dam_break", "drop_in_pool",      "fountain",    "double_dam_break",
                                        "cup",       "buckets_in_motion", "dam_break_2d"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char small[64];
        snprintf(small, sizeof small, "small/%s", names[i]);
        check_framing(names[i]);
        check_framing(small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_named_looks),
        cmocka_unit_test(test_every_look_loads),
        cmocka_unit_test(test_looks_of_a_running_scene),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_keyframed_look),
        cmocka_unit_test(test_orbit),
        cmocka_unit_test(test_keyframed_orbit),
        cmocka_unit_test(test_named_cameras),
        cmocka_unit_test(test_camera_led_to_its_target),
        cmocka_unit_test(test_looks_of_colliders),
        cmocka_unit_test(test_materials),
        cmocka_unit_test(test_sky_image),
        cmocka_unit_test(test_hash_ignores_looks),
        cmocka_unit_test(test_states_can_be_relit),
        cmocka_unit_test(test_scenes_are_framed),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
