// SPDX-License-Identifier: MIT
// What a viewer's user holds comes to where the mouse is, be it liquid, a grain or a body, and a gust moves all: on
// every backend, and without reading the particles.
#define _POSIX_C_SOURCE 200809L
#include "simulation_fixture.h"

#include "known_leaks.h"
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
        cmocka_unit_test(a_gust_gives_its_velocity),
        cmocka_unit_test(what_is_gone_is_let_go),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
