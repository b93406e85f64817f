// SPDX-License-Identifier: MIT
// Frames of scenes in which something happens between the steps: on a GPU they are run one after the other before the
// host looks, and come to what they come to when it looks within every step, bit for bit.
#define _POSIX_C_SOURCE 200809L
#include "simulation_fixture.h"

#include "cuda_emulation/emulation.h"
#include "scene/scene.h"
#include "scene/simulation.h"
#include "solver/world.h"

static const char *const backends[] = {"cpu", "cuda", "vulkan"};
enum { BACKENDS = sizeof backends / sizeof backends[0], FRAMES = 6 };

typedef enum Look {
    LOOK_AFTER_FRAMES,
    LOOK_IN_STEPS, // as if the backend did not guess
    MISSPECULATED, // as if there had been a single cell, or no lists, in the last step
} Look;

typedef struct Outcome {
    uint64_t hash, removed, emitted;
    uint32_t particles;
    uint64_t waits, wrong; // of the host, and its failed speculations, in all frames after the first
    uint64_t stalls;       // of the host by whatever call of CUDA, in the same frames
} Outcome;

static Outcome run(MoteScene *scene, const char *backend, Look look, uint32_t frames)
{
    static BackendFunctions looking; // lasts as long as the world
    Running running = {.scene = scene};
    const MoteBackendOptions options = {.backend = backend, .threads = 2};
    expect_ok(mote_simulation_create(scene, &options, &running.simulation));
    running.world = mote_simulation_world(running.simulation);
    if (look == LOOK_IN_STEPS) {
        looking = *running.world->backend->functions;
        looking.speculates = false;
        running.world->backend->functions = &looking;
    }
    uint64_t waits = 0, wrong = 0, stalls = 0;
    for (uint32_t frame = 0; frame < frames; frame++) {
        if (look == MISSPECULATED && frame % 3 > 0) {
            running.world->last_cells = frame % 3 == 1 ? 1 : running.world->last_cells;
            running.world->last_blocks = 0;
        }
        fixture_advance(&running, 1);
        waits = frame == 0 ? mote_world_host_waits(running.world) : waits;
        wrong = frame == 0 ? running.world->misspeculations : wrong;
        stalls = frame == 0 ? cuda_emulation_record().stalls : stalls;
    }
    waits = mote_world_host_waits(running.world) - waits;
    stalls = cuda_emulation_record().stalls - stalls;
    const Outcome outcome = {
        .waits = waits,
        .stalls = stalls,
        .wrong = running.world->misspeculations - wrong,
        .hash = fixture_hash(&running),
        .removed = running.world->removed,
        .emitted = mote_simulation_emitted(running.simulation),
        .particles = mote_world_particle_count(running.world),
    };
    mote_simulation_destroy(running.simulation);
    return outcome;
}

static bool same(Outcome a, Outcome b)
{
    return a.hash == b.hash && a.removed == b.removed && a.emitted == b.emitted && a.particles == b.particles;
}

// The same on every backend however the host looks. On GPUs it waits once a frame, when that ends, if `steady`: there
// are always particles.
static Outcome check(const char *json, bool steady)
{
    MoteScene *scene = fixture_scene("scene.json", json);
    Outcome outcome = {0};
    for (int b = 0; b < BACKENDS; b++) {
        const Outcome looking = run(scene, backends[b], LOOK_IN_STEPS, FRAMES);
        outcome = run(scene, backends[b], LOOK_AFTER_FRAMES, FRAMES);
        assert_true(same(outcome, looking));
        assert_true(same(run(scene, backends[b], MISSPECULATED, FRAMES), looking));
        if (steady && strcmp(backends[b], "cpu") != 0) {
            assert_int_equal(outcome.waits, FRAMES - 1 + outcome.wrong);
            assert_true(looking.waits > 4 * (uint64_t)FRAMES); // what there would be to be counted
        } else if (strcmp(backends[b], "cpu") == 0) {
            assert_int_equal(outcome.waits, 0);
        }
        if (strcmp(backends[b], "cuda") == 0) {
            assert_int_equal(outcome.stalls, outcome.waits); // no call stalls that is not counted
        }
    }
    mote_scene_destroy(scene);
    return outcome;
}

// Water in a box whose gravity turns, a paddle that goes to and fro: eight steps a frame.
#define STIRRED(setting, colliders, more)                                                                              \
    "{\"solver\": {\"spacing\": 0.05, \"frame_rate\": 30, \"substeps\": 8, " setting                                   \
    "   \"gravity\": {\"keyframes\": [[0, [0, -9.81, 0]], [0.3, [6, -7, 0]]]}},"                                       \
    " \"fluids\": [{\"position\": [-0.3, 0.3, 0], \"size\": [0.4, 0.5, 0.4]}]," more                                   \
    " \"colliders\": [{\"shape\": \"box\", \"inside_out\": true, \"position\": [0, 1, 0], \"size\": [1.2, 2, "         \
    "0.5]}," colliders                                                                                                 \
    "   {\"shape\": \"box\", \"size\": {\"keyframes\": [[0, [0.1, 0.4, 0.4]], [0.2, [0.14, 0.3, 0.4]]]},"              \
    "    \"position\": {\"keyframes\": [[0, [0.3, 0.2, 0]], [0.15, [-0.1, 0.2, 0]], [0.3, [0.3, 0.2, 0]]]}}]}"

// A nozzle pours more into it, faster and faster, while a kill volume rises.
static void particles_come_and_go(void **state)
{
    (void)state;
    const Outcome outcome = check(
        STIRRED("\"iterations\": 2,", "",
                "\"emitters\": [{\"shape\": \"box\", \"position\": [0.3, 1, 0], \"rotation\": [0, 0, 180],"
                "   \"size\": [0.2, 0, 0.2], \"speed\": {\"keyframes\": [[0, 1], [0.2, 4]]}}],"
                "\"kill_volumes\": [{\"shape\": \"box\", \"size\": [2, 0.1, 1],"
                "   \"position\": {\"keyframes\": [[0, [0, -0.2, 0]], [0.1, [0, -0.05, 0]], [0.2, [0, 0, 0]]]}}],"),
        true);
    assert_true(outcome.emitted > 100 && outcome.removed > 100);
    assert_in_range(outcome.particles, 300, 639 + outcome.emitted);
}

// The last ones go between two frames' ends, and then others come.
static void all_of_them_go(void **state)
{
    (void)state;
    const Outcome outcome =
        check(STIRRED("\"iterations\": 2,", "{\"shape\": \"box\", \"position\": [0, 1.2, 0], \"density\": 500},",
                      "\"emitters\": [{\"radius\": 0.1, \"position\": [0.3, 1.8, 0], \"rotation\": [0, 0, 180],"
                      "   \"speed\": 4, \"start\": 0.115}],"
                      "\"kill_volumes\": [{\"shape\": \"plane\","
                      "   \"position\": {\"keyframes\": [[0.05, [0, -1, 0]], [0.09, [0, 1.5, 0]]]}}],"),
              false);
    assert_true(outcome.particles > 0 && outcome.removed >= 640);
}

// Settings that need memory (vorticity), change a body's tables (iterations) and how far lists reach into one another.
static void settings_change(void **state)
{
    (void)state;
    check(STIRRED("\"viscosity\": {\"keyframes\": [[0, 0.01], [0.1, 0.2]]},"
                  "\"vorticity\": {\"keyframes\": [[0.04, 0], [0.08, 5], [0.1, 5], [0.13, 0]]},"
                  "\"iterations\": {\"keyframes\": [[0, 1], [0.1, 5]]},"
                  "\"damping\": {\"keyframes\": [[0, 0], [0.1, 1]]},",
                  "",
                  "\"bodies\": [{\"mesh\": \"shape:box?x=0.2&y=0.2&z=0.2\", \"material\": \"rubber\","
                  "   \"position\": [0, 0.8, 0], \"stiffness\": 0.3}], \"materials\": {\"rubber\": {}},"),
          true);
}

static void colliders_with_a_mass_are_beside(void **state)
{
    (void)state;
    check(STIRRED("\"iterations\": 3,",
                  "{\"shape\": \"box\", \"size\": [0.2, 0.2, 0.2], \"position\": [0.1, 0.5, 0], \"density\": 400,"
                  " \"angular_velocity\": [0, 90, 30]},",
                  ""),
          true);
}

// A bowl that breathes in water: poses by a generator, in a loop, so that the field changes its size.
static void meshes_move(void **state)
{
    (void)state;
    check("{ \"solver\": { \"spacing\": 0.05, \"substeps\": 5, \"iterations\": 2 },"
          "  \"fluids\": [{ \"position\": [0, 0.1, 0], \"size\": [0.4, 0.3, 0.4] }],"
          "  \"colliders\": [{ \"shape\": \"mesh\", \"mesh_sequence\": "
          "[\"shape:bowl?radius=0.4&thickness=0.12&segments=12\","
          "    \"shape:bowl?radius=0.5&thickness=0.12&segments=12\"], \"sequence_rate\": 8, \"sequence_end\": \"loop\","
          "    \"anchor\": \"origin\", \"wet_map\": 32, \"uv\": \"above\" }] }",
          true);
}

// A stock scene whose jets are cut off in the air, so that particles go in nearly every step: 120 in frames of four.
static void a_fountain_runs_without_waiting(void **state)
{
    (void)state;
    MoteScene *scene = NULL;
    const char *const overrides[] = {"kill_volumes[1].position=[0, 0, 0]", "kill_volumes[1].size=[6, 1.7, 6]"};
    expect_ok(mote_scene_load(MOTE_SOURCE_DIR "/scenes/small/fountain.json", overrides, 2, &scene));
    for (int b = 1; b < BACKENDS; b++) {
        const Outcome outcome = run(scene, backends[b], LOOK_AFTER_FRAMES, 31);
        print_message("%s: %llu removed, %llu emitted\n", backends[b], (unsigned long long)outcome.removed,
                      (unsigned long long)outcome.emitted);
        assert_in_range(outcome.removed, 150, 400); // of those that were emitted
        assert_int_equal(outcome.wrong, 0);
        assert_int_equal(outcome.waits, 30);
    }
    mote_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(particles_come_and_go), cmocka_unit_test(all_of_them_go),
        cmocka_unit_test(settings_change),       cmocka_unit_test(colliders_with_a_mass_are_beside),
        cmocka_unit_test(meshes_move),           cmocka_unit_test(a_fountain_runs_without_waiting),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
