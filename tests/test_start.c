// SPDX-License-Identifier: MIT
// How scenes begin: what is left out because a collider is there, what is reported, what is refused; and that overlaps
// come apart without gaining speed.
#define _POSIX_C_SOURCE 200809L
#include "simulation_fixture.h"

#include "known_leaks.h"
#include "scene/simulation.h"
#include "short_tests.h"
#include <math.h>

static const char *const backends[] = {"cpu", "cuda", "vulkan"};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

static uint32_t count_notices(const Running *running, bool warning)
{
    const MoteNotice *rows;
    const uint32_t count = mote_simulation_notices(running->simulation, &rows);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        found += rows[i].warning == warning;
    }
    return found;
}

// Whether some notice has all of these words.
static bool is_said(const Running *running, bool warning, const char *first, const char *second)
{
    const MoteNotice *rows;
    const uint32_t count = mote_simulation_notices(running->simulation, &rows);
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].warning == warning && strstr(rows[i].text, first) != NULL && strstr(rows[i].text, second) != NULL) {
            return true;
        }
    }
    return false;
}

// ---- What is left out ----

static void expect_outside(const Running *running, float limit)
{
    const MoteParticleView view = fixture_view(running);
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * (size_t)i;
        MoteProbe probe;
        expect_ok(mote_world_probe(running->world, &(MoteVec3){p[0], p[1], p[2]}, 1, &probe));
        assert_true(probe.distance >= limit);
    }
}

// A block of 10 x 10 x 10 particles, half of it below the ground, and a ball in its middle.
static void liquid_is_not_put_inside_colliders(void **state)
{
    (void)state;
    static const char scene[] = "{ \"solver\": { \"spacing\": 0.1 },"
                                "  \"%s\": [{ \"material\": \"%s\", \"size\": [1, 1, 1]%s }],"
                                "  \"materials\": { \"sand\": {} },"
                                "  \"colliders\": [{ \"shape\": \"plane\" },"
                                "    { \"shape\": \"sphere\", \"radius\": 0.3, \"position\": [0, 0.25, 0] }] }";
    static const char *const sections[][2] = {{"fluids", "water"}, {"grains", "sand"}};
    for (uint32_t s = 0; s < 2; s++) {
        for (uint32_t b = 0; b < BACKENDS; b++) {
            char json[512];
            snprintf(json, sizeof json, scene, sections[s][0], sections[s][1], "");
            Running running = fixture_start(json, backends[b]);
            const uint32_t left = mote_world_particle_count(running.world);
            assert_true(left < 500 && left > 350);
            assert_true(is_said(&running, false, sections[s][0], "are left out"));
            assert_int_equal(count_notices(&running, true), 0);
            expect_outside(&running, 0.5f * 0.5f * 0.1f - 1e-6f);
            fixture_stop(&running);
        }
        char json[512];
        snprintf(json, sizeof json, scene, sections[s][0], sections[s][1], ", \"keep_inside_colliders\": true");
        Running kept = fixture_start(json, "cpu");
        assert_int_equal(mote_world_particle_count(kept.world), 1000);
        assert_true(is_said(&kept, true, sections[s][0], "begins"));
        fixture_stop(&kept);
    }
}

static void expect_refused(const char *json, const char *first, const char *second)
{
    MoteScene *scene = fixture_scene("scene.json", json);
    MoteSimulation *simulation = NULL;
    assert_int_equal(mote_simulation_create(scene, &(MoteBackendOptions){.backend = "cpu"}, &simulation),
                     MOTE_ERROR_INPUT);
    assert_null(simulation);
    expect_message(first);
    expect_message(second);
    mote_scene_destroy(scene);
}

static void liquid_that_is_all_inside_is_refused(void **state)
{
    (void)state;
    expect_refused("{ \"fluids\": [{ \"size\": [0.5, 0.5, 0.5] }],"
                   "  \"colliders\": [{ \"shape\": \"box\", \"size\": [2, 2, 2] }] }",
                   "fluids[0]", "colliders[0]");
}

// ---- Probing ----

// Distances and ways out of every kind of shape that has a formula.
static void points_know_their_distance(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < BACKENDS; b++) {
        Running running = fixture_start("{ \"colliders\": [{ \"shape\": \"plane\" },"
                                        "  { \"shape\": \"sphere\", \"radius\": 0.5, \"position\": [0, 3, 0] },"
                                        "  { \"shape\": \"box\", \"size\": [2, 2, 2], \"position\": [10, 5, 0] },"
                                        "  { \"shape\": \"box\", \"inside_out\": true, \"size\": [100, 100, 100] }] }",
                                        backends[b]);
        const MoteVec3 points[] = {{0, 1, 0}, {0, -0.25f, 0}, {0, 3.25f, 0}, {10.5f, 5, 0}, {0, 60, 0}};
        const MoteProbe expected[] = {
            {{0, 1, 0}, 1.0f, 0},  {{0, 1, 0}, -0.25f, 0},  {{0, 1, 0}, -0.25f, 1},
            {{1, 0, 0}, -0.5f, 2}, {{0, -1, 0}, -10.0f, 3},
        };
        MoteProbe found[5];
        expect_ok(mote_world_probe(running.world, points, 5, found));
        for (uint32_t i = 0; i < 5; i++) {
            assert_int_equal(found[i].shape, expected[i].shape);
            assert_true(fabsf(found[i].distance - expected[i].distance) < 1e-5f);
            assert_true(found[i].normal.x * expected[i].normal.x + found[i].normal.y * expected[i].normal.y > 0.999f);
        }
        fixture_stop(&running);
    }
    Running empty = fixture_start("{}", "cpu");
    MoteProbe probe;
    expect_ok(mote_world_probe(empty.world, &(MoteVec3){0, 0, 0}, 1, &probe));
    assert_int_equal(probe.shape, MOTE_NONE);
    fixture_stop(&empty);
}

// ---- What is reported and refused ----

#define STONE "\"materials\": { \"stone\": { \"density\": 2000, \"static_friction\": 0.3, \"kinetic_friction\": 0.2 } }"
#define BOX(size, more)                                                                                                \
    "{ \"mesh\": \"shape:box?x=" size "&y=0.4&z=0.4\", \"material\": \"stone\", \"position\": [0, 1, 0]" more " }"
#define TANK                                                                                                           \
    "\"colliders\": [{ \"shape\": \"box\", \"inside_out\": true, \"position\": [0, 1, 0], \"size\": [2, 2, 2] }]"

static void bodies_inside_something_are_named(void **state)
{
    (void)state;
    Running apart =
        fixture_start("{ \"solver\": { \"spacing\": 0.1 }, " STONE ", " TANK
                      ", \"bodies\": [" BOX("0.4", ", \"copies\": [2, 1, 1], \"copies_spacing\": [0.4, 0, 0]") "] }",
                      "cpu");
    assert_int_equal(count_notices(&apart, true), 0); // faces that touch do not overlap
    fixture_stop(&apart);
    Running inside = fixture_start(
        "{ \"solver\": { \"spacing\": 0.1 }, " STONE ", " TANK ", \"bodies\": [" BOX("0.4", "") ", " BOX(
            "0.4",
            ", \"rotation\": [0, 45, 0]") "],"
                                          "  \"fluids\": [{ \"position\": [0, 1, 0], \"size\": [1, 0.4, 0.4] }] }",
        "cpu");
    assert_true(is_said(&inside, true, "bodies[0] and bodies[1]", "inside each other"));
    assert_true(is_said(&inside, true, "fluids[0] and bodies[0]", "inside each other"));
    fixture_stop(&inside);
    Running wall = fixture_start("{ \"solver\": { \"spacing\": 0.1 }, " STONE ", " TANK ", \"bodies\": ["
                                 "{ \"mesh\": \"shape:box?x=0.4&y=0.4&z=0.4\", \"material\": \"stone\","
                                 "  \"position\": [1, 1, 0] }] }",
                                 "cpu");
    assert_true(is_said(&wall, true, "bodies[0] begins", "inside colliders[0]"));
    fixture_stop(&wall);
}

// Water falls through a box that it ignores as it falls through nothing, and neither is said to overlap the other.
static void ignored_materials_may_overlap(void **state)
{
    (void)state;
    double heights[2];
    for (uint32_t k = 0; k < 2; k++) {
        char json[1024];
        snprintf(json, sizeof json,
                 "{ \"solver\": { \"spacing\": 0.1, \"artificial_pressure\": 0 }, \"materials\": { \"stone\": { "
                 "\"density\": 2000,"
                 "  \"ignores\": \"oil, water\" }, \"oil\": {} }, \"fluids\": [{ \"position\": [0, 1, 0],"
                 "  \"size\": [0.4, 0.4, 0.4] }]%s }",
                 k == 0 ? ""
                        : ", \"bodies\": [{ \"mesh\": \"shape:box?x=0.4&y=0.4&z=0.4\", \"material\": \"stone\","
                          "  \"position\": [0, 0.8, 0] }]");
        Running running = fixture_start(json, "cpu");
        assert_int_equal(count_notices(&running, true), 0);
        fixture_advance(&running, 10);
        const MoteParticleView view = fixture_view(&running);
        heights[k] = 0.0;
        for (uint32_t i = 0; i < view.count; i++) {
            heights[k] +=
                mote_phase_kind(view.phases[i]) == MOTE_KIND_LIQUID ? (double)view.positions[4 * i + 1] / 64.0 : 0.0;
        }
        fixture_stop(&running);
    }
    assert_true(fabs(heights[0] - heights[1]) < 1e-6);
}

static void a_body_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    expect_refused("{ \"solver\": { \"spacing\": 0.1 }, " STONE ", " TANK ", \"bodies\": [" BOX("3", "") "] }",
                   "bodies[0] does not fit into colliders[0]", "wider than the room");
    Running fits = fixture_start("{ \"solver\": { \"spacing\": 0.1 }, " STONE ", " TANK
                                 ", \"bodies\": [" BOX("3", ", \"rotation\": [45, 0, 90], \"scale\": 0.6") "] }",
                                 "cpu");
    assert_int_equal(count_notices(&fits, true), 0);
    fixture_stop(&fits);
}

static void places_that_floats_cannot_hold_are_refused(void **state)
{
    (void)state;
    expect_refused("{ \"solver\": { \"spacing\": 0.1 }, \"fluids\": [{ \"position\": [1e6, 0, 0] }] }", "fluids[0]",
                   "within 2048 m of the origin");
    expect_refused("{ \"solver\": { \"spacing\": 0.1 }, \"emitters\": [{ \"position\": [0, 3000, 0] }] }",
                   "emitters[0]", "solver.spacing");
    Running far = fixture_start("{ \"solver\": { \"spacing\": 0.1 }, \"fluids\": [{ \"position\": [2000, 0, 0],"
                                " \"size\": [0.3, 0.3, 0.3] }] }",
                                "cpu");
    const float before = fixture_view(&far).positions[1];
    fixture_advance(&far, 12);
    const double fallen = (double)before - (double)fixture_view(&far).positions[1];
    assert_true(fabs(fallen - 0.5 * 9.81 * 0.04) < 0.02); // 0.2 s; it is not frozen
    fixture_stop(&far);
}

// ---- Coming apart ----

static double kinetic_energy(const Running *running)
{
    MoteStatistics statistics;
    expect_ok(mote_world_statistics(running->world, &statistics));
    return statistics.kinetic_energy;
}

// How a scene comes apart: the largest kinetic energy, and the largest share of the energy that constraints gained.
typedef struct Separation {
    double kinetic; // J
    double gain;
} Separation;

static Separation come_apart(const Running *running, uint32_t frames)
{
    Separation most = {0};
    for (uint32_t frame = 0; frame < frames; frame++) {
        fixture_advance(running, 1);
        const MoteWatch watch = mote_world_watch(running->world);
        most.kinetic = fmax(most.kinetic, kinetic_energy(running));
        most.gain = fmax(most.gain, watch.gained / watch.energy);
    }
    assert_int_equal(mote_simulation_escaped(running->simulation), 0);
    return most;
}

// Six boxes at one place, 128 kg each: stabilization lays them beside and upon each other. They flew apart with
// 169,000 J; one that falls by its own width has 500 J.
static void coincident_bodies_come_apart_slowly(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < BACKENDS; b++) {
        Running running =
            fixture_start("{ \"solver\": { \"spacing\": 0.1 }, " STONE ", \"colliders\": [{ \"shape\": \"plane\" }],"
                          "  \"bodies\": [{ \"mesh\": \"shape:box?x=0.4&y=0.4&z=0.4\", \"material\": \"stone\","
                          "  \"position\": [0, 0.3, 0], \"copies\": [6, 1, 1], \"copies_spacing\": [0, 0, 0] }],"
                          "  \"bounds\": { \"lower\": [-3, -0.1, -3], \"upper\": [3, 3, 3] } }",
                          backends[b]);
        assert_true(count_notices(&running, true) > 0);
        const Separation most = come_apart(&running, 45);
        print_message("%s: six coincident bodies move with at most %.0f J, and gain %.3g of their energy\n",
                      backends[b], most.kinetic, most.gain);
        assert_true(most.kinetic < 1000.0);
        assert_true(most.gain < 0.005);
        fixture_stop(&running);
    }
}

// 125 boxes that overlap by a quarter of their width, in a container that they do fit in.
static void squeezed_bodies_come_apart_slowly(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < BACKENDS; b++) {
        Running running = fixture_start(
            "{ \"solver\": { \"spacing\": 0.1 }, " STONE ", " TANK ", \"bodies\": [{ \"material\": \"stone\","
            "  \"mesh\": \"shape:box?x=0.2&y=0.2&z=0.2\", \"position\": [0, 0.5, 0], \"copies\": [5, 5, 5],"
            "  \"copies_spacing\": [0.15, 0.15, 0.15] }],"
            "  \"bounds\": { \"lower\": [-1, 0, -1], \"upper\": [1, 2, 1] } }",
            backends[b]);
        assert_true(is_said(&running, true, "more pairs", "inside each other"));
        const Separation most = come_apart(&running, 30);
        print_message("%s: 125 squeezed bodies gain %.3g of their energy\n", backends[b], most.gain);
        assert_true(most.gain < 0.005);
        fixture_stop(&running);
    }
}

// A thousand of them in a container of 2.2 by 3.2 by 2.2 m, 1.5 m wide and high where they would need 2.
static void a_thousand_bodies_come_apart_slowly(void **state)
{
    (void)state;
    Running running = fixture_start(
        "{ \"solver\": { \"spacing\": 0.1 }, " STONE ", \"colliders\": [{ \"shape\": \"box\", \"inside_out\": true,"
        "  \"position\": [0, 1.6, 0], \"size\": [2.2, 3.2, 2.2] }], \"bodies\": [{ \"material\": \"stone\","
        "  \"mesh\": \"shape:box?x=0.2&y=0.2&z=0.2\", \"position\": [0, 1, 0], \"copies\": [10, 10, 10],"
        "  \"copies_spacing\": [0.15, 0.15, 0.15] }],"
        "  \"bounds\": { \"lower\": [-1.15, -0.05, -1.15], \"upper\": [1.15, 3.25, 1.15] } }",
        "cpu");
    assert_true(is_said(&running, true, "more pairs", "inside each other"));
    const Separation most = come_apart(&running, 30);
    print_message("1,000 squeezed bodies move with at most %.0f J, and gain %.3g of their energy\n", most.kinetic,
                  most.gain);
    assert_true(most.gain < 0.005);
    fixture_stop(&running);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(liquid_is_not_put_inside_colliders),
        cmocka_unit_test(liquid_that_is_all_inside_is_refused),
        cmocka_unit_test(points_know_their_distance),
        cmocka_unit_test(bodies_inside_something_are_named),
        cmocka_unit_test(ignored_materials_may_overlap),
        cmocka_unit_test(a_body_that_does_not_fit_is_refused),
        cmocka_unit_test(places_that_floats_cannot_hold_are_refused),
        cmocka_unit_test(coincident_bodies_come_apart_slowly),
        cmocka_unit_test(squeezed_bodies_come_apart_slowly),
        cmocka_unit_test(a_thousand_bodies_come_apart_slowly),
    };
    static const char *const long_tests[] = {"a_thousand_bodies_come_apart_slowly", NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, fixture_open, fixture_close);
}
