// SPDX-License-Identifier: MIT
// test_cup.c - liquid in thin-walled vessels for twenty seconds, poured or standing, made of boxes or of a mesh: not
// one particle may leak.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mote.h"
#include <inttypes.h>
#include <stdio.h>

// Runs a small scene for `frames` frames, in which at least `expected` particles are put in, and counts what left it,
// by `escaped` at the end: what is out stays out.
static void run(const char *name, const char *const *overrides, uint32_t override_count, const char *backend,
                int frames, uint64_t expected)
{
    MoteScene *scene = NULL;
    MoteSimulation *simulation = NULL;
    char path[512];
    snprintf(path, sizeof path, MOTE_SOURCE_DIR "/scenes/small/%s.json", name);
    const MoteBackendOptions options = {.backend = backend};
    if (mote_scene_load(path, overrides, override_count, &scene) != MOTE_OK ||
        mote_simulation_create(scene, &options, &simulation) != MOTE_OK) {
        fail_msg("%s", mote_error_message());
    }
    MoteWorld *world = mote_simulation_world(simulation);
    const uint64_t filled = mote_world_particle_count(world);
    for (int frame = 0; frame < frames; frame++) {
        if (mote_simulation_advance_frame(simulation) != MOTE_OK) {
            fail_msg("%s", mote_error_message());
        }
    }
    const uint64_t put_in = filled + mote_simulation_emitted(simulation);
    print_message("%s, %s: %" PRIu64 " put in, %u there, %" PRIu64 " escaped after %.0f s\n", name, backend, put_in,
                  mote_world_particle_count(world), mote_simulation_escaped(simulation),
                  mote_simulation_time(simulation));
    assert_true(put_in >= expected);
    assert_int_equal(put_in, mote_world_particle_count(world));
    assert_int_equal(mote_simulation_escaped(simulation), 0);
    mote_simulation_destroy(simulation);
    mote_scene_destroy(scene);
}

static void pouring_for_twenty_seconds(void **state)
{
    (void)state;
    run("cup", NULL, 0, "cpu", 1200, 1000);
}

static void pouring_on_emulated_cuda(void **state)
{
    (void)state;
    run("cup", NULL, 0, "cuda", 150, 500);
}

// The bilateral constraint pulls as well as pushes: a full cup that is dropped in from above and sloshes.
static void standing_for_twenty_seconds(void **state)
{
    (void)state;
    const char *overrides[] = {"solver.density_mode=bilateral", "emitters=[]",
                               "fluids=[{\"position\": [0, 0.55, 0], \"size\": [0.45, 0.8, 0.45]}]"};
    run("cup", overrides, 3, "cpu", 1200, 1000);
}

// A bowl that is a mesh: its distance field has a wall of two cells.
static void a_bowl_for_twenty_seconds(void **state)
{
    (void)state;
    run("bowl", NULL, 0, "cpu", 1200, 1000);
}

static void a_bowl_on_emulated_cuda(void **state)
{
    (void)state;
    run("bowl", NULL, 0, "cuda", 120, 800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pouring_for_twenty_seconds), cmocka_unit_test(pouring_on_emulated_cuda),
        cmocka_unit_test(standing_for_twenty_seconds), cmocka_unit_test(a_bowl_for_twenty_seconds),
        cmocka_unit_test(a_bowl_on_emulated_cuda)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
