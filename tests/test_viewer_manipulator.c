// SPDX-License-Identifier: MIT
// What a viewer's user holds comes to where the mouse is, be it liquid, a grain or a body, and a gust moves all: on
// every backend, and without reading the particles.
#define _POSIX_C_SOURCE 200809L
#include "simulation_fixture.h"

#include "known_leaks.h"
#include "mote_cloth.h"
#include "scene/simulation.h"
#include "solver/world.h"
#include "viewer/manipulator.h"
#include <math.h>

static const char *const backends[] = {"cpu", "cuda", "vulkan"};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

static const char *const SCENE =
    "{ \"solver\": { \"spacing\": 0.05, \"substeps\": 2, \"iterations\": 3 },"
    "  \"materials\": { \"wood\": { \"density\": 600 }, \"sand\": { \"density\": 1600 } },"
    "  \"fluids\": [{ \"position\": [0, 0.15, 0], \"size\": [0.6, 0.3, 0.6] }],"
    "  \"grains\": [{ \"material\": \"sand\", \"position\": [0.6, 0.1, 0], \"size\": [0.1, 0.1, 0.1] }],"
    "  \"bodies\": [{ \"material\": \"wood\", \"mesh\": \"shape:box?x=0.3&y=0.1&z=0.2\","
    "    \"position\": [-0.8, 0.06, 0] }],"
    "  \"colliders\": [{ \"shape\": \"plane\" }, { \"shape\": \"box\", \"inside_out\": true,"
    "    \"position\": [0, 1, 0], \"size\": [3, 2, 0.6] }] }";

// The particle that is first met from above.
static uint32_t pick(MoteWorld *world, MoteVec3 at)
{
    const MoteRay ray = {
        .origin = {at.x, 1.5f, at.z}, .direction = {0, -1, 0}, .particle_radius = 0.05f, .skip_colliders = true};
    MoteRayHit hit;
    expect_ok(mote_world_cast_rays(world, &ray, 1, &hit));
    assert_true(hit.particle != MOTE_NONE);
    return hit.particle;
}

static double distance_to(MoteVec3 a, MoteVec3 b)
{
    const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return sqrt((double)(x * x + y * y + z * z));
}

// Holds what is below `at` for 40 frames, and expects it at the target, with `least` particles at least.
static void hold(const char *backend, MoteVec3 at, MoteVec3 target, uint32_t least, double tolerance)
{
    Running running = fixture_start(SCENE, backend);
    fixture_advance(&running, 2);
    Model model = {.scene = running.scene, .simulation = running.simulation};
    Manipulator manipulator = {0};
    const uint32_t id = pick(running.world, at);
    expect_ok(manipulator_grab(&manipulator, &model, id, target));
    assert_in_range(manipulator.held_count, least, 4000);
    for (int i = 0; i < 40; i++) {
        expect_ok(manipulator_pull(&manipulator, &model));
        fixture_advance(&running, 1);
    }
    MoteParticleSums held;
    expect_ok(mote_world_sum_particles(running.world, &(MoteParticleFilter){.one_particle = true, .id = id}, &held));
    if (!(distance_to(held.centre, target) < tolerance)) {
        fail_msg("what is held is at (%g, %g, %g), expected (%g, %g, %g) within %g m", (double)held.centre.x,
                 (double)held.centre.y, (double)held.centre.z, (double)target.x, (double)target.y, (double)target.z,
                 tolerance);
    }
    manipulator_let_go(&manipulator);
    assert_int_equal(manipulator.held_count, 0);
    fixture_stop(&running);
}

static void what_is_held_follows(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < BACKENDS; b++) {
        // Gravity pulls it down by about g / (rate of the hand in a frame) each frame: less than a spacing.
        hold(backends[b], (MoteVec3){0, 0, 0}, (MoteVec3){0, 0.8f, 0}, 30, 0.05);
        hold(backends[b], (MoteVec3){0.6f, 0, 0}, (MoteVec3){0.8f, 0.9f, 0}, 1, 0.05);
        // The body at its end: it hangs from there, turned.
        hold(backends[b], (MoteVec3){-0.92f, 0, 0}, (MoteVec3){-0.8f, 0.9f, 0}, 48, 0.05);
    }
}

// ---- Cloth ----

static const char *const SHEET =
    "{ \"solver\": { \"spacing\": 0.05, \"substeps\": 1, \"small_steps\": 10, \"max_displacement\": 0 },"
    "  \"materials\": { \"linen\": { \"density\": 500 } },"
    "  \"cloths\": [{ \"material\": \"linen\", \"columns\": 21, \"rows\": 21, \"size\": [1, 1, 0], \"position\": [0, "
    "0.5, 0],"
    "    \"rotation\": [-90, 0, 0], \"pins\": \"%s\", \"tear_stretch\": %g }] }";

// Drags the vertex in the middle of a sheet 0.6 m up, and returns how often the sheet was split; *away is how far the
// vertex is from where the hand is.
static uint32_t drag_sheet(const char *backend, const char *pins, double tear_stretch, double *away)
{
    char scene[1024];
    snprintf(scene, sizeof scene, SHEET, pins, tear_stretch);
    Running running = fixture_start(scene, backend);
    Model model = {.scene = running.scene, .simulation = running.simulation};
    Manipulator manipulator = {0};
    const MoteVec3 target = {0, 1.1f, 0};
    const uint32_t id = pick(running.world, (MoteVec3){0, 0, 0});
    expect_ok(manipulator_grab(&manipulator, &model, id, target));
    assert_true(manipulator.held_count >= 1);
    for (int i = 0; i < 60; i++) {
        expect_ok(manipulator_pull(&manipulator, &model));
        fixture_advance(&running, 1);
    }
    MoteParticleSums held;
    expect_ok(mote_world_sum_particles(running.world, &(MoteParticleFilter){.one_particle = true, .id = id}, &held));
    *away = distance_to(held.centre, target);
    MoteClothInfo info;
    expect_ok(mote_world_cloth_info(running.world, 0, &info));
    const MoteWatch watch = mote_world_watch(running.world);
    print_message("%s, pins %s: %.3f m from the hand, %u splits, watched energy %.3g J\n", backend, pins, *away,
                  info.splits, watch.energy);
    fixture_stop(&running);
    return info.splits;
}

// Throws a ball up at a sheet that is pinned all round, and returns how often the sheet was split.
static uint32_t throw_at_sheet(const char *backend, float speed)
{
    char scene[1024];
    snprintf(scene, sizeof scene, SHEET, "top, bottom, left, right", 1.3);
    Running running = fixture_start(scene, backend);
    Model model = {.scene = running.scene, .simulation = running.simulation};
    expect_ok(manipulator_throw(&(Manipulator){0}, &model, (MoteVec3){0, 0.1f, 0}, (MoteVec3){0, speed, 0}));
    fixture_advance(&running, 20);
    MoteClothInfo info;
    expect_ok(mote_world_cloth_info(running.world, 0, &info));
    print_message("%s, a ball of %g m/s: %u splits\n", backend, (double)speed, info.splits);
    fixture_stop(&running);
    return info.splits;
}

// A sheet hangs from the hand; pins keep it back, and do not give way: a handful of vertices has too little mass to
// tear links that do not stretch. A ball that is thrown has enough.
static void cloth_is_dragged_and_torn(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < BACKENDS; b++) {
        double away;
        assert_int_equal(drag_sheet(backends[b], "top_left", 0.0, &away), 0);
        assert_true(away < 0.25); // its weight hangs from a handful of vertices; let go, it hangs 1.3 m away
        assert_int_equal(drag_sheet(backends[b], "top, bottom, left, right", 0.0, &away), 0);
        assert_true(away > 0.2 && away < 0.55);
        assert_true(throw_at_sheet(backends[b], 15.0f) > 10);
        assert_int_equal(throw_at_sheet(backends[b], 2.0f), 0);
    }
}

static void a_gust_gives_its_velocity(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < BACKENDS; b++) {
        Running running = fixture_start(SCENE, backends[b]);
        Model model = {.scene = running.scene, .simulation = running.simulation};
        MoteParticleSums before, after;
        expect_ok(mote_world_sum_particles(running.world, &(MoteParticleFilter){0}, &before));
        expect_ok(manipulator_gust(&model, (MoteVec3){2, 1, -0.5f}));
        expect_ok(mote_world_sum_particles(running.world, &(MoteParticleFilter){0}, &after));
        assert_int_equal(after.count, before.count);
        assert_float_equal(after.velocity.x - before.velocity.x, 2.0, 1e-4);
        assert_float_equal(after.velocity.y - before.velocity.y, 1.0, 1e-4);
        assert_float_equal(after.velocity.z - before.velocity.z, -0.5, 1e-4);
        fixture_stop(&running);
    }
}

// A particle that is gone is let go of.
static void what_is_gone_is_let_go(void **state)
{
    (void)state;
    Running running = fixture_start(SCENE, "cpu");
    Model model = {.scene = running.scene, .simulation = running.simulation};
    Manipulator manipulator = {0};
    const uint32_t id = pick(running.world, (MoteVec3){0, 0, 0});
    expect_ok(manipulator_grab(&manipulator, &model, id, (MoteVec3){0, 1, 0}));
    assert_true(manipulator.held_count > 0);
    expect_ok(mote_world_remove_particles(running.world, &id, 1));
    expect_ok(manipulator_pull(&manipulator, &model));
    assert_int_equal(manipulator.held_count, 0);
    fixture_stop(&running);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_held_follows),
        cmocka_unit_test(cloth_is_dragged_and_torn),
        cmocka_unit_test(a_gust_gives_its_velocity),
        cmocka_unit_test(what_is_gone_is_let_go),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
