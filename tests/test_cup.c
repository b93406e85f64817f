// test_cup.c - liquid poured into a thin-walled cup for twenty seconds: not one particle may leak.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mote.h"
#include <inttypes.h>

static void pour(const char *mode, const char *backend, int frames)
{
    const char *overrides[] = {mode};
    MoteScene *scene = NULL;
    MoteSimulation *simulation = NULL;
    const MoteBackendOptions options = {.backend = backend};
    if (mote_scene_load(MOTE_SOURCE_DIR "/scenes/small/cup.json", overrides, 1, &scene) != MOTE_OK ||
        mote_simulation_create(scene, &options, &simulation) != MOTE_OK) {
        fail_msg("%s", mote_error_message());
    }
    for (int frame = 0; frame < frames; frame++) {
        if (mote_simulation_advance_frame(simulation) != MOTE_OK) {
            fail_msg("%s", mote_error_message());
        }
    }
    print_message("%s, %s: %" PRIu64 " poured, %u in the cup, %" PRIu64 " escaped after %.0f s\n", mode, backend,
                  mote_simulation_emitted(simulation), mote_world_particle_count(mote_simulation_world(simulation)),
                  mote_simulation_escaped(simulation), mote_simulation_time(simulation));
    assert_true(mote_simulation_emitted(simulation) >= 500);
    assert_int_equal(mote_simulation_emitted(simulation), mote_world_particle_count(mote_simulation_world(simulation)));
    assert_int_equal(mote_simulation_escaped(simulation), 0);
    mote_simulation_destroy(simulation);
    mote_scene_destroy(scene);
}

static void bilateral(void **state)
{
    (void)state;
    pour("solver.density_mode=bilateral", "cpu", 1200);
}

static void unilateral(void **state)
{
    (void)state;
    pour("solver.density_mode=unilateral", "cpu", 1200);
}

static void emulated_cuda(void **state)
{
    (void)state;
    pour("solver.density_mode=bilateral", "cuda", 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bilateral), cmocka_unit_test(unilateral),
                                       cmocka_unit_test(emulated_cuda)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
