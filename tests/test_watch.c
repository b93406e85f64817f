// SPDX-License-Identifier: MIT
// What steps see on the device: energy out of nothing, and nothing of the kind where colliders do work or soft bodies
// give back what they took; particles outside the bounds; particles between colliders that leave no room. And all
// shipped scenes, for a second.
#define _POSIX_C_SOURCE 200809L
#include "simulation_fixture.h"

#include "known_leaks.h"
#include "scene/simulation.h"
#include "short_tests.h"
#include <glob.h>
#include <math.h>
#include <time.h>

static const char *const backends[] = {"cpu", "cuda", "vulkan"};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

// The largest share of the energy that was gained in so many frames.
static double gain_of(const Running *running, uint32_t frames)
{
    double most = 0.0;
    for (uint32_t i = 0; i < frames; i++) {
        fixture_advance(running, 1);
        const MoteWatch watch = mote_world_watch(running->world);
        assert_true(watch.energy > 0.0);
        most = fmax(most, watch.gained / watch.energy);
    }
    return most;
}

static bool is_warned(const Running *running, const char *text)
{
    const MoteNotice *rows;
    const uint32_t count = mote_simulation_notices(running->simulation, &rows);
    for (uint32_t i = 0; i < count; i++) {
        if (rows[i].warning && rows[i].time > 0.0 && strstr(rows[i].text, text) != NULL) {
            return true;
        }
    }
    return false;
}

// Grains that overlap by half their width and have no stabilization to come apart by: each pair gains what moving its
// halves by a quarter of a spacing in a step is.
static void overlaps_make_energy(void **state)
{
    (void)state;
    double found[BACKENDS];
    for (uint32_t b = 0; b < BACKENDS; b++) {
        Running running =
            fixture_start("{ \"solver\": { \"spacing\": 0.1, \"stabilization_iterations\": 0, \"gravity\": [0, 0, 0] },"
                          "  \"materials\": { \"sand\": {} },"
                          "  \"grains\": [{ \"material\": \"sand\", \"size\": [0.5, 0.5, 0.5], \"distance\": 0.5 }] }",
                          backends[b]);
        found[b] = gain_of(&running, 1);
        assert_true(is_warned(&running, "out of nothing"));
        assert_true(is_warned(&running, "particle"));
        fixture_stop(&running);
    }
    print_message("overlapping grains gain %.3g of their energy\n", found[0]);
    assert_true(found[0] > 0.5);
    for (uint32_t b = 1; b < BACKENDS; b++) {
        assert_true(fabs(found[b] / found[0] - 1.0) < 1e-3);
    }
}

// Two balls that have a mass and overlap by half their width, likewise.
static void overlapping_colliders_make_energy(void **state)
{
    (void)state;
    double found[BACKENDS];
    for (uint32_t b = 0; b < BACKENDS; b++) {
        Running running =
            fixture_start("{ \"solver\": { \"spacing\": 0.1, \"stabilization_iterations\": 0, \"gravity\": [0, 0, 0] },"
                          "  \"colliders\": [{ \"shape\": \"sphere\", \"radius\": 0.3, \"mass\": 10 },"
                          "    { \"shape\": \"sphere\", \"radius\": 0.3, \"mass\": 10, \"position\": [0.3, 0, 0] }] }",
                          backends[b]);
        found[b] = gain_of(&running, 1);
        assert_true(is_warned(&running, "some colliders are fast"));
        fixture_stop(&running);
    }
    print_message("overlapping colliders gain %.3g of their energy\n", found[0]);
    assert_true(found[0] > 0.5);
    for (uint32_t b = 1; b < BACKENDS; b++) {
        assert_true(fabs(found[b] / found[0] - 1.0) < 1e-3);
    }
}

// A piston lifts a heap of grains, a paddle stirs water, a soft ball bounces, a piston lifts a ball that has a mass,
// such a ball falls into water: none of it comes out of nothing.
static void work_is_not_out_of_nothing(void **state)
{
    (void)state;
    static const char *const scenes[] = {
        "{ \"solver\": { \"spacing\": 0.1 }, \"materials\": { \"sand\": { \"static_friction\": 0.5 } },"
        "  \"grains\": [{ \"material\": \"sand\", \"position\": [0, 0.3, 0], \"size\": [0.5, 0.4, 0.5] }],"
        "  \"colliders\": [{ \"shape\": \"box\", \"size\": [2, 0.2, 2], \"position\": { \"keyframes\": ["
        "    [0, [0, 0, 0]], [1, [0, 4, 0]]] } }] }",
        "{ \"solver\": { \"spacing\": 0.1 }, \"fluids\": [{ \"position\": [0, 0.3, 0], \"size\": [1.8, 0.6, 0.6] }],"
        "  \"colliders\": [{ \"shape\": \"box\", \"inside_out\": true, \"position\": [0, 1, 0], \"size\": [2, 2, 0.6] "
        "},"
        "    { \"shape\": \"box\", \"size\": [0.2, 1.5, 0.7], \"position\": { \"keyframes\": ["
        "    [0, [-1.05, 0.8, 0]], [0.5, [0, 0.8, 0]]] } }] }",
        "{ \"solver\": { \"spacing\": 0.1 }, \"materials\": { \"rubber\": {} }, \"colliders\": [{ \"shape\": \"plane\" "
        "}],"
        "  \"bodies\": [{ \"mesh\": \"shape:sphere?radius=0.3\", \"material\": \"rubber\", \"position\": [0, 1, 0],"
        "  \"stiffness\": 0.2, \"cluster_spacing\": 2 }] }",
        "{ \"solver\": { \"spacing\": 0.1 }, \"colliders\": [{ \"shape\": \"sphere\", \"radius\": 0.3, \"mass\": 20,"
        "  \"position\": [0, 0.5, 0] }, { \"shape\": \"box\", \"size\": [2, 0.2, 2], \"position\": { \"keyframes\": ["
        "    [0, [0, 0, 0]], [1, [0, 4, 0]]] } }] }",
        "{ \"solver\": { \"spacing\": 0.1 }, \"fluids\": [{ \"position\": [0, 0.3, 0], \"size\": [1.2, 0.6, 1.2] }],"
        "  \"colliders\": [{ \"shape\": \"box\", \"inside_out\": true, \"position\": [0, 1, 0], \"size\": [1.2, 2, "
        "1.2] },"
        "    { \"shape\": \"sphere\", \"radius\": 0.25, \"density\": 600, \"position\": [0, 1.2, 0] }] }",
    };
    for (uint32_t s = 0; s < sizeof scenes / sizeof scenes[0]; s++) {
        for (uint32_t b = 0; b < BACKENDS; b++) {
            Running running = fixture_start(scenes[s], backends[b]);
            const double gain = gain_of(&running, 45);
            if (b == 0) {
                print_message("scene %u gains %.3g of its energy\n", s, gain);
            }
            assert_true(gain < 0.02);
            fixture_stop(&running);
        }
    }
}

static void escapes_are_reported(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < BACKENDS; b++) {
        Running running = fixture_start("{ \"fluids\": [{ \"size\": [0.2, 0.2, 0.2] }],"
                                        "  \"bounds\": { \"lower\": [-1, -0.5, -1], \"upper\": [1, 1, 1] } }",
                                        backends[b]);
        fixture_advance(&running, 10);
        assert_int_equal(mote_world_watch(running.world).escaped, 0);
        assert_false(is_warned(&running, "bounds"));
        fixture_advance(&running, 20); // 1.2 m
        assert_int_equal(mote_world_watch(running.world).escaped, mote_world_particle_count(running.world));
        assert_true(is_warned(&running, "outside the scene's bounds"));
        fixture_stop(&running);
    }
}

// A lid comes down to where it leaves the water no room.
static void squeezed_particles_are_reported(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < BACKENDS; b++) {
        Running running = fixture_start(
            "{ \"solver\": { \"spacing\": 0.1 }, \"fluids\": [{ \"position\": [0, 0.15, 0], \"size\": [0.9, 0.3, 0.9] "
            "}],"
            "  \"colliders\": [{ \"shape\": \"box\", \"inside_out\": true, \"position\": [0, 1, 0], \"size\": [1, 2, "
            "1] },"
            "    { \"shape\": \"box\", \"size\": [3, 1, 3], \"position\": { \"keyframes\": ["
            "    [0, [0, 1, 0]], [0.2, [0, 0.3, 0]]] } }] }",
            backends[b]);
        fixture_advance(&running, 40);
        assert_true(mote_world_watch(running.world).squeezed > 0);
        assert_true(is_warned(&running, "caught between colliders"));
        fixture_stop(&running);
    }
}

// The same with a rigid box, which cannot flow out of the way.
static void squeezed_bodies_are_reported(void **state)
{
    (void)state;
    for (uint32_t b = 0; b < BACKENDS; b++) {
        Running running =
            fixture_start("{ \"solver\": { \"spacing\": 0.1 }, \"materials\": { \"stone\": { \"density\": 2000 } },"
                          "  \"bodies\": [{ \"mesh\": \"shape:box?x=0.4&y=0.4&z=0.4\", \"material\": \"stone\","
                          "    \"position\": [0, 0.2, 0] }],"
                          "  \"colliders\": [{ \"shape\": \"plane\" }, { \"shape\": \"box\", \"size\": [3, 1, 3],"
                          "    \"position\": { \"keyframes\": [[0, [0, 1, 0]], [0.2, [0, 0.7, 0]]] } }] }",
                          backends[b]);
        fixture_advance(&running, 3);
        assert_int_equal(mote_world_watch(running.world).squeezed, 0);
        fixture_advance(&running, 37);
        assert_true(mote_world_watch(running.world).squeezed > 0);
        assert_true(is_warned(&running, "caught between colliders"));
        fixture_stop(&running);
    }
}

// ---- Shipped scenes ----

static const double GAIN_BAR = 0.005; // of the energy, in about a second
static const double COMPRESSION_BAR = 0.03;

// What was seen of a scene, at most.
typedef struct Sight {
    double gain, compression;
    uint32_t frames, escaped, squeezed;
} Sight;

// Runs a scene for up to a second, or until `seconds` have gone by.
static Sight look_at(const char *path, double seconds)
{
    Running running = {0};
    expect_ok(mote_scene_load(path, NULL, 0, &running.scene));
    expect_ok(mote_simulation_create(running.scene, &(MoteBackendOptions){.backend = "cpu"}, &running.simulation));
    running.world = mote_simulation_world(running.simulation);
    Sight sight = {0};
    const time_t begun = time(NULL);
    while (sight.frames < 60 && difftime(time(NULL), begun) < seconds) {
        fixture_advance(&running, 1);
        MoteStatistics statistics;
        expect_ok(mote_world_statistics(running.world, &statistics));
        const MoteWatch watch = mote_world_watch(running.world);
        sight.frames++;
        sight.gain = fmax(sight.gain, watch.energy > 0.0 ? watch.gained / watch.energy : 0.0);
        sight.compression = fmax(sight.compression, statistics.density_error_mean);
        sight.escaped = watch.escaped > sight.escaped ? watch.escaped : sight.escaped;
        sight.squeezed = watch.squeezed > sight.squeezed ? watch.squeezed : sight.squeezed;
    }
    fixture_stop(&running);
    return sight;
}

// With MOTE_FULL_SCENES the scenes themselves, by hand: for so many seconds each, as far as that goes.
static void shipped_scenes_are_sound(void **state)
{
    (void)state;
    const char *patience = getenv("MOTE_FULL_SCENES");
    const bool full = patience != NULL;
    glob_t scenes;
    assert_int_equal(
        glob(full ? MOTE_SOURCE_DIR "/scenes/*.json" : MOTE_SOURCE_DIR "/scenes/small/*.json", 0, NULL, &scenes), 0);
    uint32_t unsound = 0;
    for (size_t i = 0; i < scenes.gl_pathc; i++) {
        const char *path = scenes.gl_pathv[i], *name = strrchr(path, '/') + 1;
        if (strcmp(name, "schema.json") == 0) {
            continue;
        }
        const Sight sight = look_at(path, full ? strtod(patience, NULL) : 1e6);
        print_message("%-23s %2u frames: gains %.3f %%, mean compression at most %.2f %%, %u escaped, %u squeezed\n",
                      name, sight.frames, 100.0 * sight.gain, 100.0 * sight.compression, sight.escaped, sight.squeezed);
        unsound += sight.gain > GAIN_BAR || sight.compression > COMPRESSION_BAR || sight.escaped > 0 ||
                   sight.squeezed > 0 || sight.frames == 0;
    }
    globfree(&scenes);
    assert_int_equal(unsound, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlaps_make_energy),
        cmocka_unit_test(work_is_not_out_of_nothing),
        cmocka_unit_test(escapes_are_reported),
        cmocka_unit_test(squeezed_particles_are_reported),
        cmocka_unit_test(overlapping_colliders_make_energy),
        cmocka_unit_test(squeezed_bodies_are_reported),
        cmocka_unit_test(shipped_scenes_are_sound),
    };
    static const char *const long_tests[] = {"shipped_scenes_are_sound", NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, fixture_open, fixture_close);
}
