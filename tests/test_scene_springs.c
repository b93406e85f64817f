// SPDX-License-Identifier: MIT
// Springs of scene files: what they are attached to, ropes, what is refused, and states.
#define _POSIX_C_SOURCE 200809L // mkdtemp
#include "simulation_fixture.h"

#include <math.h>

static const char *const backends[] = {"cpu", "cuda", "vulkan"};

static void expect_near(double found, double expected, double tolerance, const char *what)
{
    if (!(fabs(found - expected) <= tolerance)) {
        fail_msg("%s is %.9g, expected %.9g within %.3g", what, found, expected, tolerance);
    }
}

#define HEAD                                                                                                           \
    "{\"name\": \"hanging\", \"solver\": {\"spacing\": 0.1, \"iterations\": 8, \"substeps\": 4}, "                     \
    "\"materials\": {\"stone\": {\"density\": 2000}, \"hemp\": {\"density\": 500}}, "                                  \
    "\"bodies\": [{\"mesh\": \"shape:box?x=0.3&y=0.3&z=0.3\", \"material\": \"stone\", \"position\": [0, 1, 0]}], "    \
    "\"springs\": "

// A block of stone, 54 kg, on one spring: it is attached to the middle of its top, and hangs lower by m g / k.
static void a_body_hangs_on_a_spring(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < 3; b++) {
        Running running = fixture_start(HEAD "[{\"from\": [0, 2, 0], \"from_fixed\": true, \"to\": [0, 1.12, 0], "
                                             "\"stiffness\": 5000, \"damping\": 1000}]}",
                                        backends[b]);
        assert_int_equal(mote_world_spring_count(running.world), 1);
        MoteBodyState body;
        MoteSpringState spring;
        expect_ok(mote_world_read_springs(running.world, &spring, 1));
        const double before = spring.length;
        expect_near(before, 0.9, 0.02, "length");
        fixture_advance(&running, 120);
        expect_ok(mote_world_read_springs(running.world, &spring, 1));
        expect_ok(mote_world_read_bodies(running.world, &body, 1));
        expect_near(body.mass, 54.0, 0.1, "mass");
        expect_near(spring.tension, body.mass * 9.81, 1.0, "tension");
        expect_near(spring.length - before, body.mass * 9.81 / 5000.0, 5e-4, "extension");
        fixture_stop(&running);
    }
}

// Of 20 segments: 19 particles and a fixed one more, as stiff as one spring, and it sags.
static void ropes_are_made_of_particles(void **state)
{
    (void)state;
    Running running =
        fixture_start("{\"name\": \"rope\", \"solver\": {\"spacing\": 0.1, \"iterations\": 20, \"damping\": 3, "
                      "\"substeps\": 8}, \"materials\": {\"hemp\": {\"density\": 500}}, \"springs\": ["
                      "{\"from\": [-1, 2, 0], \"from_fixed\": true, \"to\": [1, 2, 0], \"to_fixed\": true, "
                      "\"stiffness\": 200, \"damping\": 2, \"segments\": 20, \"slack\": true, "
                      "\"material\": \"hemp\"}, "
                      "{\"from\": [0, 1.98, 0], \"to\": [0, 1, 0], \"to_fixed\": true, \"stiffness\": 50, "
                      "\"rest_length\": 0.5}]}",
                      "cpu");
    assert_int_equal(mote_world_particle_count(running.world), 19 + 2 + 1);
    assert_int_equal(mote_world_spring_count(running.world), 21);
    MoteSpringState springs[21];
    expect_ok(mote_world_read_springs(running.world, springs, 21));
    for (uint32_t i = 0; i < 20; i++) {
        expect_near(springs[i].length, 0.1, 1e-5, "a segment");
    }
    expect_near(springs[20].length, 1.0, 1e-5, "the spring at the rope's middle");
    fixture_advance(&running, 240);
    expect_ok(mote_world_read_springs(running.world, springs, 21));
    // Its two ends carry the rope and what pulls at its middle.
    const MoteParticleView view = fixture_view(&running);
    double weight = 50.0 * ((double)springs[20].length - 0.5), low = 2.0;
    for (uint32_t i = 0; i < view.count; i++) {
        weight += view.positions[4 * i + 3] > 0.0f ? 9.81 / (double)view.positions[4 * i + 3] : 0.0;
        low = view.ids[i] < 21 ? fmin(low, (double)view.positions[4 * i + 1]) : low;
    }
    MoteParticleState ends[2];
    MoteParticleHandle handles[2];
    const uint32_t ids[] = {0, 2}; // the fixed end, and the particle next to it
    expect_ok(mote_world_make_handles(running.world, ids, 2, handles));
    expect_ok(mote_world_read_handles(running.world, handles, 2, ends));
    const double down = (double)(ends[0].position.y - ends[1].position.y) / (double)springs[0].length;
    expect_near(2.0 * down * (double)springs[0].tension, weight, 0.03 * weight, "what the ends carry");
    assert_true(low < 1.9);
    fixture_stop(&running);
}

static void expect_refused(const char *json, const char *text)
{
    MoteScene *scene = NULL;
    MoteSimulation *simulation = NULL;
    const MoteBackendOptions options = {.backend = "cpu"};
    fixture_write("bad.json", json, strlen(json));
    MoteResult result = mote_scene_load(fixture_path("bad.json"), NULL, 0, &scene);
    result = result == MOTE_OK ? mote_simulation_create(scene, &options, &simulation) : result;
    assert_int_equal(result, MOTE_ERROR_INPUT);
    expect_message(text);
    mote_scene_destroy(scene);
}

static void wrong_springs_are_refused(void **state)
{
    (void)state;
    expect_refused(HEAD "[{\"from\": [0, 3, 0], \"to\": [0, 1.1, 0]}]}",
                   "springs[0].from: the nearest particle is 1.9");
    expect_refused(HEAD "[{\"from\": [0, 1.1, 0], \"to\": [0, 1.11, 0]}]}", "nearest to the same particle");
    expect_refused(HEAD "[{\"from\": [0, 3, 0], \"from_fixed\": true, \"to\": [0, 1.1, 0], \"material\": \"silk\"}]}",
                   "silk");
    expect_refused(HEAD "[{\"from\": [0, 3, 0], \"from_fixed\": true}]}", "to");
    expect_refused(HEAD "[{\"from\": [0, 3, 0], \"to\": [0, 1, 0], \"stiffness\": 0}]}", "stiffness");
}

// A state continues to the bit, and does not fit a scene with other springs.
static void states_resume(void **state)
{
    (void)state;
    static const char json[] = HEAD "[{\"from\": [-0.5, 2, 0], \"from_fixed\": true, \"to\": [0.1, 1.1, 0], "
                                    "\"stiffness\": 3000, \"segments\": 6, \"material\": \"hemp\"}, "
                                    "{\"from\": [0.5, 2, 0], \"from_fixed\": true, \"to\": [-0.1, 1.1, 0.1]}]}";
    for (uint32_t b = 0; b < 3; b++) {
        Running running = fixture_start(json, backends[b]);
        fixture_advance(&running, 12);
        expect_ok(mote_simulation_save(running.simulation, fixture_path("springs.state")));
        fixture_advance(&running, 12);
        const uint64_t hash = fixture_hash(&running);
        Running resumed = fixture_start(json, backends[b]);
        expect_ok(mote_simulation_load(resumed.simulation, fixture_path("springs.state")));
        MoteSpringState springs[7];
        expect_ok(mote_world_read_springs(resumed.world, springs, 7));
        assert_true(springs[6].tension != 0.0f);
        fixture_advance(&resumed, 12);
        assert_true(fixture_hash(&resumed) == hash);
        fixture_stop(&resumed);
        fixture_stop(&running);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_hangs_on_a_spring),
        cmocka_unit_test(ropes_are_made_of_particles),
        cmocka_unit_test(wrong_springs_are_refused),
        cmocka_unit_test(states_resume),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
