// SPDX-License-Identifier: MIT
// What scene files say of colliders and contacts, in numbers: wet maps, friction by a texture, masses, heights of
// stacks along contacts, grains that roll.
#define _POSIX_C_SOURCE 200809L
#include "simulation_fixture.h"

#include "image/image.h"
#include "scene/simulation.h"
#include <math.h>

static const char *const backends[] = {"cpu", "cuda"};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

static void expect_close(double found, double expected, double tolerance, const char *what)
{
    if (!(fabs(found - expected) <= tolerance)) {
        fail_msg("%s is %.9g, expected %.9g within %g", what, found, expected, tolerance);
    }
}

// ---- Wet maps -----------------------------------------------------------------------------------------------

// Water in a square shaft of 0.6 m over a slab of 1 m: the shaft's middle is 0.1 m right of the slab's and 0.1 m up in
// the picture, which is towards -z.
#define SHAFT                                                                                                          \
    "{ \"solver\": { \"spacing\": 0.05, \"substeps\": 2 },"                                                            \
    "  \"fluids\": [{ \"position\": [0.1, 0.075, -0.1], \"size\": [0.6, 0.15, 0.6] }],"                                \
    "  \"colliders\": [{ \"shape\": \"mesh\", \"mesh\": \"shape:box?x=1&y=0.2&z=1\", \"position\": [0, -0.1, 0],"      \
    "    \"wet_map\": 20, \"wet_time\": 0.05, \"uv\": \"above\" },"                                                    \
    "    { \"shape\": \"box\", \"inside_out\": true, \"size\": [0.6, 2, 0.6], \"position\": [0.1, 0, -0.1] }] }"

static void water_wets_the_area_it_stands_on(void **state)
{
    (void)state;
    for (int b = 0; b < BACKENDS; b++) {
        Running running = fixture_start(SHAFT, backends[b]);
        expect_ok(mote_simulation_export_wet_maps(running.simulation, fixture_folder));
        fixture_advance(&running, 30);
        expect_ok(mote_simulation_export_wet_maps(running.simulation, fixture_folder));
        Image dry, wet;
        expect_ok(image_read(fixture_path("wet_0_000000.png"), &dry));
        expect_ok(image_read(fixture_path("wet_0_000030.png"), &wet));
        assert_int_equal(wet.width, 20);
        assert_int_equal(wet.height, 20);
        double area = 0, x = 0, y = 0;
        for (uint32_t i = 0; i < 400; i++) {
            assert_true(dry.pixels[i * dry.channels] == 0.0f);
            if (wet.pixels[i * wet.channels] > 0.5f) {
                area += 0.05 * 0.05;
                x += 0.05 * 0.05 * ((i % 20 + 0.5) / 20 - 0.5);
                y += 0.05 * 0.05 * ((i / 20 + 0.5) / 20 - 0.5);
            }
        }
        print_message("%s: %.4f m^2 became wet, the shaft has %.4f\n", backends[b], area, 0.6 * 0.6);
        expect_close(area, 0.36, 0.06, "wet area"); // half a texel all round
        expect_close(x / area, 0.1, 0.02, "middle of the wet area, to the right");
        expect_close(y / area, -0.1, 0.02, "middle of the wet area, downwards");
        image_destroy(&dry);
        image_destroy(&wet);
        fixture_stop(&running);
    }
}

static void a_resumed_run_writes_the_same_wet_map(void **state)
{
    (void)state;
    Running whole = fixture_start(SHAFT, "cpu");
    fixture_advance(&whole, 8);
    expect_ok(mote_simulation_save(whole.simulation, fixture_path("shaft.state")));
    fixture_advance(&whole, 8);
    expect_ok(mote_simulation_export_wet_maps(whole.simulation, fixture_folder));
    size_t size, other;
    char *before = fixture_read("wet_0_000016.png", &size);
    fixture_stop(&whole);
    Running resumed = fixture_start(SHAFT, "cpu");
    expect_ok(mote_simulation_load(resumed.simulation, fixture_path("shaft.state")));
    fixture_advance(&resumed, 8);
    expect_ok(mote_simulation_export_wet_maps(resumed.simulation, fixture_folder));
    char *after = fixture_read("wet_0_000016.png", &other);
    assert_int_equal(size, other);
    assert_memory_equal(before, after, size);
    free(before);
    free(after);
    fixture_stop(&resumed);
}

// ---- Friction by a texture ----------------------------------------------------------------------------------

// A slope of 15 degrees (tangent 0.27) whose far half, z below 0, is rough and whose near half is ice: the upper row of
// the picture is white, the lower one black. A block and a grain on each.
static void half_of_a_slope_is_ice(void **state)
{
    (void)state;
    static const uint8_t halves[2] = {255, 0};
    expect_ok(image_write_png8(fixture_path("halves.png"), 1, 2, 1, halves, 0));
    static const char json[] =
        "{ \"solver\": { \"spacing\": 0.05, \"support_ratio\": 1.6, \"substeps\": 4 },"
        "  \"materials\": { \"stone\": { \"static_friction\": 0.5, \"kinetic_friction\": 0.5 } },"
        "  \"bodies\": [{ \"mesh\": \"shape:box?x=0.15&y=0.1&z=0.15\", \"material\": \"stone\", \"rotation\": [0, 0, "
        "-15],"
        "      \"position\": [0.0387, 0.1442, -0.5] },"
        "    { \"mesh\": \"shape:box?x=0.15&y=0.1&z=0.15\", \"material\": \"stone\", \"rotation\": [0, 0, -15],"
        "      \"position\": [0.0387, 0.1442, 0.5] }],"
        "  \"grains\": [{ \"material\": \"stone\", \"position\": [0.0323, 0.1207, -0.2], \"size\": [0.05, 0.05, 0.05] "
        "},"
        "    { \"material\": \"stone\", \"position\": [0.0323, 0.1207, 0.2], \"size\": [0.05, 0.05, 0.05] }],"
        "  \"colliders\": [{ \"shape\": \"mesh\", \"mesh\": \"shape:box?x=3&y=0.2&z=1.6\", \"material\": \"stone\","
        "    \"rotation\": [0, 0, -15], \"friction_texture\": \"halves.png\", \"uv\": \"above\" }] }";
    const double slope = 15 * 3.14159265358979 / 180, time = 0.5;
    const double ideal = 0.5 * 9.81 * sin(slope) * time * time;
    for (int b = 0; b < BACKENDS; b++) {
        Running running = fixture_start(json, backends[b]);
        MoteBodyState before[2], after[2];
        expect_ok(mote_world_read_bodies(running.world, before, 2));
        fixture_advance(&running, 30);
        expect_ok(mote_world_read_bodies(running.world, after, 2));
        double ways[4];
        for (int i = 0; i < 2; i++) {
            ways[i] = ((double)after[i].pose.position.x - (double)before[i].pose.position.x) / cos(slope);
        }
        const MoteParticleView view = fixture_view(&running);
        for (uint32_t i = 0; i < view.count; i++) {
            const float *p = view.positions + 4 * (size_t)i;
            if ((view.phases[i] & MOTE_PHASE_SELF) != 0) {
                ways[p[2] < 0.0f ? 2 : 3] = ((double)p[0] - 0.0323) / cos(slope);
            }
        }
        print_message("%s: blocks slid %.4f m on stone, %.3f on ice; grains %.4f and %.3f; ideal on ice %.3f\n",
                      backends[b], ways[0], ways[1], ways[2], ways[3], ideal);
        expect_close(ways[0], 0, 0.005, "way of the block on stone");
        expect_close(ways[1], ideal, 0.05 * ideal, "way of the block on ice");
        expect_close(ways[2], 0, 0.005, "way of the grain on stone");
        expect_close(ways[3], ideal, 0.05 * ideal, "way of the grain on ice");
        fixture_stop(&running);
    }
}

// ---- Masses -------------------------------------------------------------------------------------------------

// A ball with a mass, and a box and a mesh with a density, fly freely and come to rest on the ground.
static void colliders_have_the_mass_of_the_file(void **state)
{
    (void)state;
    static const char json[] =
        "{ \"colliders\": [{ \"shape\": \"sphere\", \"radius\": 0.2, \"mass\": 3, \"position\": [0, 5, 0],"
        "      \"velocity\": [1, 2, 0], \"angular_velocity\": [0, 90, 0] },"
        "    { \"shape\": \"box\", \"size\": [0.2, 0.3, 0.5], \"density\": 600, \"position\": [3, 5, 0] },"
        "    { \"shape\": \"mesh\", \"mesh\": \"shape:box?x=0.4&y=0.4&z=0.4\", \"density\": 500, \"position\": [6, 5, "
        "0] },"
        "    { \"shape\": \"plane\" }] }";
    for (int b = 0; b < BACKENDS; b++) {
        Running running = fixture_start(json, backends[b]);
        fixture_advance(&running, 30);
        MoteShapeState rows[4];
        expect_ok(mote_world_read_shapes(running.world, rows, 4));
        expect_close((double)rows[0].mass, 3, 1e-5, "mass of the ball");
        expect_close((double)rows[1].mass, 600 * 0.2 * 0.3 * 0.5, 1e-3, "mass of the box");
        expect_close((double)rows[2].mass, 500 * 0.4 * 0.4 * 0.4, 0.04 * 32, "mass of the mesh"); // by cells of 5 cm
        const double fall = 0.5 * 9.81 * 0.25;
        expect_close((double)rows[0].pose.position.x, 0.5, 1e-3, "x of the ball");
        expect_close((double)rows[0].pose.position.y, 5 + 1 - fall, 0.02, "y of the ball");
        expect_close((double)rows[0].velocity.y, 2 - 9.81 * 0.5, 1e-3, "speed of the ball");
        expect_close((double)rows[0].angular_velocity.y, 1.5707963, 1e-3, "spin of the ball");
        expect_close(2 * atan2((double)rows[0].pose.rotation.y, (double)rows[0].pose.rotation.w), 0.7853982, 0.01,
                     "turn of the ball");
        expect_close((double)rows[1].pose.position.y, 5 - fall, 0.02, "y of the box");
        expect_close((double)rows[2].pose.position.y, 5 - fall, 0.02, "y of the mesh");
        fixture_advance(&running, 210); // 4 s in all: they lie on the ground
        expect_ok(mote_world_read_shapes(running.world, rows, 4));
        expect_close((double)rows[0].pose.position.y, 0.2, 0.01, "y of the ball on the ground");
        expect_close((double)rows[1].pose.position.y, 0.15, 0.01, "y of the box on the ground");
        expect_close((double)rows[2].pose.position.y, 0.2, 0.02, "y of the mesh on the ground");
        fixture_stop(&running);
    }
}

// Degrees a second in the file are radians in the world, about each axis; a ball keeps its spin.
static void colliders_spin_as_the_file_says(void **state)
{
    (void)state;
    static const char json[] = "{ \"colliders\": [{ \"shape\": \"sphere\", \"radius\": 0.2, \"mass\": 3,"
                               "      \"position\": [0, 5, 0], \"angular_velocity\": [60, -45, 30] }] }";
    for (int b = 0; b < BACKENDS; b++) {
        Running running = fixture_start(json, backends[b]);
        fixture_advance(&running, 2);
        MoteShapeState row;
        expect_ok(mote_world_read_shapes(running.world, &row, 1));
        expect_close((double)row.angular_velocity.x, 1.0471976, 1e-3, "spin about x");
        expect_close((double)row.angular_velocity.y, -0.7853982, 1e-3, "spin about y");
        expect_close((double)row.angular_velocity.z, 0.5235988, 1e-3, "spin about z");
        fixture_stop(&running);
    }
}

// A program adds a collider to the world of a scene with keyframes, and takes one of the scene's away: the others move
// on as the file says, what was removed is not drawn and does not come back.
static void programs_change_a_scenes_colliders(void **state)
{
    (void)state;
    static const char json[] =
        "{ \"colliders\": [{ \"shape\": \"box\", \"size\": [1, 1, 1], \"position\": [9, 0, 0] },"
        "    { \"shape\": \"sphere\", \"radius\": 0.2,"
        "      \"position\": {\"interpolation\": \"linear\", \"keyframes\": [[0, [0, 0, 0]], [2, [2, 0, 0]]]} },"
        "    { \"shape\": \"sphere\", \"radius\": 0.2, \"mass\": 3, \"position\": [0, 50, 0], \"velocity\": [1, 0, 0] "
        "}] }";
    for (int b = 0; b < BACKENDS; b++) {
        Running running = fixture_start(json, backends[b]);
        fixture_advance(&running, 30);
        MoteColliderId ids[4], added;
        assert_int_equal(mote_world_collider_ids(running.world, ids, 4), 3);
        MoteShape wall = mote_default_collider();
        wall.kind = MOTE_SHAPE_BOX;
        wall.from.position.x = wall.to.position.x = -7.0f;
        expect_ok(mote_world_add_collider(running.world, &wall, &added));
        expect_ok(mote_world_remove_collider(running.world, ids[0]));
        fixture_advance(&running, 30);
        MoteShapeState rows[4];
        assert_int_equal(mote_world_collider_ids(running.world, NULL, 0), 3);
        expect_ok(mote_world_read_shapes(running.world, rows, 4));
        expect_close((double)rows[0].pose.position.x, 1, 1e-5, "x by the keyframes");
        expect_close((double)rows[1].pose.position.x, 1, 1e-4, "x of the one with a mass");
        expect_close((double)rows[2].pose.position.x, -7, 1e-6, "x of the added one");
        assert_true(rows[1].id.generation == ids[2].generation && rows[2].id.generation == added.generation);
        MoteRenderScene look;
        expect_ok(mote_simulation_render_scene(running.simulation, NULL, &look));
        assert_int_equal(look.shape_count, 2);
        expect_close((double)look.shapes[0].shape.to.position.x, 1, 1e-5, "x as it is drawn");
        fixture_stop(&running);
    }
}

// ---- Stacks that do not stand on y = 0 ----------------------------------------------------------------------

// How high a column of ten soft-solved boxes stands over the box it was put on, over its height at the start.
static double column(const char *backend, const char *stack_keys)
{
    char json[2048];
    snprintf(json, sizeof json,
             "{ \"solver\": { \"spacing\": 0.1, \"support_ratio\": 1.6, \"substeps\": 2, \"iterations\": 3%s },"
             "  \"materials\": { \"wood\": { \"density\": 600, \"static_friction\": 0.5, \"kinetic_friction\": 0.4 } },"
             "  \"bodies\": [{ \"mesh\": \"shape:box?x=0.2&y=0.2&z=0.2\", \"material\": \"wood\","
             "    \"position\": [0, 4, 0], \"copies\": [1, 10, 1], \"copies_spacing\": [0, 0.2, 0] }],"
             "  \"colliders\": [{ \"shape\": \"box\", \"material\": \"wood\", \"size\": [1, 1, 1],"
             "    \"position\": [0, 2.5, 0] }] }",
             stack_keys);
    Running running = fixture_start(json, backend);
    fixture_advance(&running, 60);
    MoteBodyState rows[10];
    expect_ok(mote_world_read_bodies(running.world, rows, 10));
    const double height = (double)rows[9].pose.position.y - 3.0;
    fixture_stop(&running);
    return height / 1.9;
}

static void stacks_stand_by_their_contacts(void **state)
{
    (void)state;
    for (int b = 0; b < BACKENDS; b++) {
        const double plain = column(backends[b], "");
        const double scaled = column(backends[b], ", \"stack_scaling\": 3, \"stack_height\": \"contacts\"");
        print_message("%s: a column on a block 3 m above the ground keeps %.3f of its height, without scaling %.3f\n",
                      backends[b], scaled, plain);
        expect_close(scaled, 1, 0.02, "height along contacts");
        assert_true(scaled > plain + 0.005);
    }
}

// ---- Grains that roll ---------------------------------------------------------------------------------------

// Of scenes/small/marbles.json the first grains are glass, which rolls down the slope with 5/7 of what a frictionless
// slide has; the others are clay, which does not roll and stays.
static void marbles_roll(void **state)
{
    (void)state;
    const double slope = 12 * 3.14159265358979 / 180, time = 0.75;
    const double ideal = 0.5 * 5.0 / 7.0 * 9.81 * sin(slope) * time * time * cos(slope);
    for (int b = 0; b < BACKENDS; b++) {
        Running running = {0};
        const MoteBackendOptions options = {.backend = backends[b], .threads = 2};
        expect_ok(mote_scene_load(MOTE_SOURCE_DIR "/scenes/small/marbles.json", NULL, 0, &running.scene));
        expect_ok(mote_simulation_create(running.scene, &options, &running.simulation));
        running.world = mote_simulation_world(running.simulation);
        double means[2][2] = {{0}};
        uint32_t counts[2] = {0};
        for (int when = 0; when < 2; when++) {
            const MoteParticleView view = fixture_view(&running);
            for (uint32_t i = 0; i < view.count; i++) {
                const int clay = (view.phases[i] & MOTE_PHASE_GROUP_MASK) == 3;
                means[clay][when] += (double)view.positions[4 * (size_t)i];
                counts[clay] += when == 0;
            }
            fixture_advance(&running, when == 0 ? 45 : 0);
        }
        const double glass = (means[0][1] - means[0][0]) / counts[0], clay = (means[1][1] - means[1][0]) / counts[1];
        print_message("%s: %u marbles rolled %.3f m, ideal %.3f; %u of clay %.4f m\n", backends[b], counts[0], glass,
                      ideal, counts[1], clay);
        expect_close(glass, ideal, 0.1 * ideal, "way of the marbles");
        expect_close(clay, 0, 0.01, "way of the clay");
        fixture_stop(&running);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(water_wets_the_area_it_stands_on), cmocka_unit_test(a_resumed_run_writes_the_same_wet_map),
        cmocka_unit_test(half_of_a_slope_is_ice),           cmocka_unit_test(colliders_have_the_mass_of_the_file),
        cmocka_unit_test(colliders_spin_as_the_file_says),  cmocka_unit_test(programs_change_a_scenes_colliders),
        cmocka_unit_test(stacks_stand_by_their_contacts),   cmocka_unit_test(marbles_roll),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
