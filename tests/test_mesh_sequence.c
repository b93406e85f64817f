// SPDX-License-Identifier: MIT
// Colliders whose mesh moves: what touches them gets the surface's velocity, across it by pushing and along it by
// friction; the run is the same every time, resumed or not; and what cannot be a sequence is refused.
#define _POSIX_C_SOURCE 200809L
#include "simulation_fixture.h"
#include "short_tests.h"

#include "mote_render.h"
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

// A box of the given edges about (x, y, z), as a file.
static void write_box(const char *name, double x, double y, double z, double width, double height, double depth)
{
    static const int faces[6][4] = {{1, 2, 4, 3}, {5, 7, 8, 6}, {1, 5, 6, 2}, {3, 4, 8, 7}, {1, 3, 7, 5}, {2, 6, 8, 4}};
    FILE *stream = fopen(fixture_path(name), "w");
    assert_non_null(stream);
    for (int i = 0; i < 8; i++) {
        fprintf(stream, "v %.9g %.9g %.9g\n", x + width * ((i & 1) - 0.5), y + height * ((i >> 1 & 1) - 0.5),
                z + depth * ((i >> 2) - 0.5));
    }
    for (int f = 0; f < 6; f++) { // seen from outside
        fprintf(stream, "f %d %d %d %d\n", faces[f][3], faces[f][2], faces[f][1], faces[f][0]);
    }
    assert_int_equal(fclose(stream), 0);
}

// ---- Speed --------------------------------------------------------------------------------------------------

// Where nothing pulls, a plate that rises under a grain throws it at the plate's own speed, and the grain keeps it when
// the plate has stopped.
static void a_rising_plate_throws(void **state)
{
    (void)state;
    write_box("rise_0.obj", 0, 0, 0, 0.6, 0.2, 0.6);
    write_box("rise_1.obj", 0, 0.2, 0, 0.6, 0.2, 0.6);
    static const char json[] =
        "{ \"solver\": { \"spacing\": 0.05, \"gravity\": [0, 0, 0], \"substeps\": 1 }, \"materials\": { \"sand\": {} },"
        "  \"grains\": [{ \"material\": \"sand\", \"position\": [0.02, 0.16, 0], \"size\": [0.05, 0.05, 0.05] }],"
        "  \"colliders\": [{ \"shape\": \"mesh\", \"mesh_sequence\": [\"rise_{0..1}.obj\"], \"sequence_rate\": 2,"
        "    \"anchor\": \"origin\", \"cell_size\": 0.08 }] }";
    for (int b = 0; b < BACKENDS; b++) {
        Running running = fixture_start(json, backends[b]);
        fixture_advance(&running, 20); // it touches after 0.0875 s
        MoteParticleView view = fixture_view(&running);
        expect_close((double)view.velocities[1], 0.4, 0.004, "speed of what is pushed");
        expect_close((double)view.positions[1], 0.1 + 0.4 * 20 / 60 + 0.025, 0.004, "height above the plate");
        fixture_advance(&running, 40);
        view = fixture_view(&running);
        expect_close((double)view.velocities[1], 0.4, 0.004, "speed after the plate has stopped");
        fixture_stop(&running);
    }
}

// A floor that sinks slower than things fall keeps what lies on it, and one that rises carries water up with it: the
// middle of the water rises by what the floor does.
static void water_rises_with_the_floor(void **state)
{
    (void)state;
    write_box("floor_0.obj", 0, -0.1, 0, 0.5, 0.2, 0.5);
    write_box("floor_1.obj", 0, 0.1, 0, 0.5, 0.2, 0.5);
    static const char json[] =
        "{ \"solver\": { \"spacing\": 0.05, \"substeps\": 2 },"
        "  \"fluids\": [{ \"position\": [0, 0.1, 0], \"size\": [0.3, 0.2, 0.3] }],"
        "  \"colliders\": [{ \"shape\": \"mesh\", \"mesh_sequence\": [\"floor_0.obj\", \"floor_1.obj\"],"
        "    \"sequence_rate\": 2, \"sequence_start\": 0.25, \"anchor\": \"origin\", \"cell_size\": 0.08 },"
        "    { \"shape\": \"box\", \"inside_out\": true, \"size\": [0.3, 4, 0.3] }] }";
    for (int b = 0; b < BACKENDS; b++) {
        Running running = fixture_start(json, backends[b]);
        MoteStatistics before, middle, after;
        fixture_advance(&running, 15);
        expect_ok(mote_world_statistics(running.world, &before));
        fixture_advance(&running, 20);
        expect_ok(mote_world_statistics(running.world, &middle));
        fixture_advance(&running, 40);
        expect_ok(mote_world_statistics(running.world, &after));
        print_message("%s: the middle of the water rises by %.4f m, at %.3f m/s on the way\n", backends[b],
                      after.centre_of_mass[1] - before.centre_of_mass[1], middle.momentum[1] / middle.mass);
        expect_close(middle.momentum[1] / middle.mass, 0.4, 0.04, "speed of the water");
        expect_close(after.centre_of_mass[1] - before.centre_of_mass[1], 0.2, 0.01, "rise of the water");
        fixture_stop(&running);
    }
}

// A belt that moves by 0.5 m/s under a grain: friction of 0.4 accelerates it by 3.92 m/s^2 until it goes along.
static void a_belt_carries(void **state)
{
    (void)state;
    write_box("belt_0.obj", 0, -0.1, 0, 3, 0.2, 0.4);
    write_box("belt_1.obj", 0.5, -0.1, 0, 3, 0.2, 0.4);
    static const char json[] =
        "{ \"solver\": { \"spacing\": 0.05, \"substeps\": 2 },"
        "  \"materials\": { \"sand\": { \"static_friction\": 0.4, \"kinetic_friction\": 0.4 } },"
        "  \"grains\": [{ \"material\": \"sand\", \"position\": [0, 0.025, 0], \"size\": [0.05, 0.05, 0.05] }],"
        "  \"colliders\": [{ \"shape\": \"mesh\", \"mesh_sequence\": [\"belt_{0..1}.obj\"], \"sequence_rate\": 1,"
        "    \"material\": \"sand\", \"anchor\": \"origin\", \"cell_size\": 0.1 }] }";
    for (int b = 0; b < BACKENDS; b++) {
        Running running = fixture_start(json, backends[b]);
        fixture_advance(&running, 4);
        MoteParticleView view = fixture_view(&running);
        expect_close((double)view.velocities[0], 0.4 * 9.81 * 4 / 60, 0.02, "speed of what begins to slide along");
        fixture_advance(&running, 16);
        view = fixture_view(&running);
        expect_close((double)view.velocities[0], 0.5, 0.01, "speed of what goes along");
        fixture_stop(&running);
    }
}

// ---- The same every time ------------------------------------------------------------------------------------

// A bowl that breathes under water: poses by a generator, in a loop.
#define BREATHING                                                                                                      \
    "{ \"solver\": { \"spacing\": 0.05, \"substeps\": 1 },"                                                            \
    "  \"fluids\": [{ \"position\": [0, 0.1, 0], \"size\": [0.4, 0.3, 0.4] }],"                                        \
    "  \"colliders\": [{ \"shape\": \"mesh\", \"mesh_sequence\": "                                                     \
    "[\"shape:bowl?radius=0.5&thickness=0.12&segments=12\","                                                           \
    "    \"shape:bowl?radius=0.42&thickness=0.12&segments=12\"], \"sequence_rate\": 3, \"sequence_end\": \"loop\","    \
    "    \"anchor\": \"origin\", \"wet_map\": 32, \"uv\": \"above\" }] }"

static void wet_map_of(const Running *running, float texels[32 * 32])
{
    expect_ok(mote_world_wet_map(running->world, running->simulation->collider_meshes[0].data, 32, 32, texels));
}

static void resumes_bit_for_bit(void **state)
{
    (void)state;
    for (int b = 0; b < BACKENDS; b++) {
        Running whole = fixture_start(BREATHING, backends[b]);
        fixture_advance(&whole, 22);
        expect_ok(mote_simulation_save(whole.simulation, fixture_path("breath.state")));
        fixture_advance(&whole, 7);
        Running resumed = fixture_start(BREATHING, backends[b]);
        fixture_advance(&resumed, 3); // somewhere else in the loop
        expect_ok(mote_simulation_load(resumed.simulation, fixture_path("breath.state")));
        fixture_advance(&resumed, 7);
        assert_true(fixture_hash(&whole) == fixture_hash(&resumed));
        float a[32 * 32], c[32 * 32];
        wet_map_of(&whole, a);
        wet_map_of(&resumed, c);
        assert_memory_equal(a, c, sizeof a);
        double wet = 0;
        for (int i = 0; i < 32 * 32; i++) {
            wet += (double)a[i];
        }
        assert_true(wet > 0.1); // particle-seconds
        fixture_stop(&resumed);
        fixture_stop(&whole);
    }
}

static void backends_agree(void **state)
{
    (void)state;
    uint64_t hashes[2];
    const MoteBackendOptions options[2] = {{.backend = "cpu", .threads = 2, .portable = true}, {.backend = "cuda"}};
    for (int b = 0; b < 2; b++) {
        Running running = {.scene = fixture_scene("scene.json", BREATHING)};
        expect_ok(mote_simulation_create(running.scene, &options[b], &running.simulation));
        running.world = mote_simulation_world(running.simulation);
        fixture_advance(&running, 20);
        hashes[b] = fixture_hash(&running);
        fixture_stop(&running);
    }
    assert_true(hashes[0] == hashes[1]);
}

// ---- Pictures -----------------------------------------------------------------------------------------------

static void the_drawn_mesh_follows(void **state)
{
    (void)state;
    write_box("draw_0.obj", 0, 0, 0, 1, 1, 1);
    write_box("draw_1.obj", 0, 1, 0, 2, 1, 1);
    Running running =
        fixture_start("{ \"solver\": { \"substeps\": 1 }, \"colliders\": [{ \"shape\": \"mesh\", \"scale\": 0.5,"
                      "  \"mesh_sequence\": [\"draw_{0..1}.obj\"], \"sequence_rate\": 2, \"anchor\": \"origin\", "
                      "\"cell_size\": 0.2 }] }",
                      "cpu");
    const MoteRenderMesh *meshes = NULL;
    uint32_t count = 0;
    MoteRenderScene look;
    expect_ok(mote_simulation_render_meshes(running.simulation, &meshes, &count));
    assert_int_equal(count, 1);
    assert_true(meshes[0].moves);
    fixture_advance(&running, 15); // half way between the two poses
    expect_ok(mote_simulation_render_scene(running.simulation, NULL, &look));
    assert_int_equal(look.pose_count, 1);
    assert_int_equal(look.poses[0].mesh, 0);
    double low = 9, high = -9, wide = 0;
    for (uint32_t v = 0; v < meshes[0].vertex_count; v++) {
        const MoteVec3 p = look.poses[0].positions[v], n = look.poses[0].normals[v];
        low = fmin(low, (double)p.y);
        high = fmax(high, (double)p.y);
        wide = fmax(wide, (double)p.x);
        // Edges stay sharp: a normal has one component.
        expect_close(fmax(fabs((double)n.x), fmax(fabs((double)n.y), fabs((double)n.z))), 1, 1e-6, "normal");
    }
    expect_close(low, 0.0, 1e-5, "lowest vertex");
    expect_close(high, 0.5, 1e-5, "highest vertex");
    expect_close(wide, 0.375, 1e-5, "widest vertex");
    fixture_stop(&running);
}

// ---- What is refused ----------------------------------------------------------------------------------------

static void expect_refused(const char *keys, const char *text)
{
    char json[1024];
    MoteScene *scene = NULL;
    snprintf(json, sizeof json, "{ \"colliders\": [{ \"shape\": \"mesh\", %s }] }", keys);
    fixture_write("refused.json", json, strlen(json));
    if (mote_scene_load(fixture_path("refused.json"), NULL, 0, &scene) == MOTE_OK) {
        MoteSimulation *simulation = NULL;
        const MoteResult result = mote_simulation_create(scene, &(MoteBackendOptions){.backend = "cpu"}, &simulation);
        MoteResult later = result;
        for (int i = 0; i < 30 && later == MOTE_OK; i++) {
            later = mote_simulation_advance_frame(simulation);
        }
        mote_simulation_destroy(simulation);
        mote_scene_destroy(scene);
        assert_int_not_equal(later, MOTE_OK);
    }
    expect_message(text);
}

static void what_is_no_sequence_is_refused(void **state)
{
    (void)state;
    write_box("one_0.obj", 0, 0, 0, 1, 1, 1);
    static const char nan[] = "v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n", flat[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    static const char turned[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 3 2\n";
    fixture_write("nan_0.obj", nan, strlen(nan));
    fixture_write("flat_0.obj", flat, strlen(flat));
    fixture_write("flat_1.obj", turned, strlen(turned));
    expect_refused("\"mesh_sequence\": [\"one_0.obj\"]", "colliders[0].mesh_sequence: found");
    expect_message("a sequence of 1 mesh, expected at least 2");
    expect_refused("\"mesh_sequence\": [\"one_{0..1}.obj\"]", "one_1.obj: ");
    expect_message("refused.json:1:53: colliders[0].mesh_sequence");
    expect_refused("\"mesh_sequence\": [\"one_0.obj\", \"flat_0.obj\"]", "only vertices may move");
    expect_refused("\"mesh_sequence\": [\"flat_0.obj\", \"nan_0.obj\"]", "nan_0.obj: ");
    expect_refused("\"mesh_sequence\": [\"one_{0..99999}.obj\"]", "more than 10000 poses");
    expect_refused("\"mesh_sequence\": \"one_0.obj\"", "expected an array of at least 2 meshes");
    expect_refused("\"mesh_sequence\": [1, 2]", "expected an array of at least 2 meshes");
    expect_refused("\"mesh_sequence\": []", "found no mesh, expected one");
    expect_refused("\"mesh_sequence\": [\"one_0.obj\", \"one_0.obj\"], \"mesh\": \"one_0.obj\"", "or a mass");
    expect_refused("\"mesh_sequence\": [\"one_0.obj\", \"one_0.obj\"], \"mass\": 1", "or a mass");
    // Closed at first, then all its vertices are in a plane.
    write_box("one_2.obj", 0, 0, 0, 1, 0, 0);
    expect_refused("\"mesh_sequence\": [\"one_0.obj\", \"one_2.obj\"], \"cell_size\": 0.2", "one_2.obj: ");
    expect_refused("\"mesh_sequence\": [\"flat_0.obj\", \"flat_0.obj\"]", "use mode shell");
    expect_refused("\"mesh_sequence\": [\"one_0.obj\", \"one_0.obj\"], \"wet_map\": 8", "no texture coordinates");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rising_plate_throws),
        cmocka_unit_test(water_rises_with_the_floor),
        cmocka_unit_test(a_belt_carries),
        cmocka_unit_test(resumes_bit_for_bit),
        cmocka_unit_test(backends_agree),
        cmocka_unit_test(the_drawn_mesh_follows),
        cmocka_unit_test(what_is_no_sequence_is_refused),
    };
    static const char *const long_tests[] = {"water_rises_with_the_floor", "resumes_bit_for_bit", NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, fixture_open, fixture_close);
}
