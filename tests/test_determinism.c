// SPDX-License-Identifier: MIT
// The same scene gives the same bits: for any number of threads, in every run, and whether or not anyone looks.
#define VULKAN_VALIDATE false // many steps
#include "backends.h"

#include <omp.h>

enum { STEPS = 40, STOP = 17 };

// Water of about 4000 particles with everything switched on, some of it lost to a kill volume.
static MoteWorld *make_lively_world(const MoteBackendOptions *options)
{
    MoteSettings settings = mote_default_settings();
    settings.vorticity = 3.0f;
    settings.viscosity = 0.02f;
    const TestBackend backend = {"", *options};
    MoteWorld *world = make_world(&backend, &settings);
    assert_in_range(build_dam_break(world, 18, 16, 14), 4000, 4100);
    expect_ok(mote_world_add_channel(world, "tag", 3));
    const MoteCollider hole =
        still_collider(MOTE_COLLIDER_SPHERE, (MoteVec3){1.0f, 0.05f, 0.4f}, (MoteVec3){0, 0, 0}, 0.15f);
    expect_ok(mote_world_set_kill_volumes(world, &hole, 1));
    return world;
}

// The hash after STOP steps and after all of them; `looking` reads everything that can be read after each step.
typedef struct Outcome {
    uint64_t halfway, end;
    uint32_t particles;
} Outcome;

static Outcome run(const MoteBackendOptions *options, bool looking)
{
    MoteWorld *world = make_lively_world(options);
    Outcome outcome = {0};
    for (int step = 1; step <= STEPS; step++) {
        run_steps(world, 1, 1.0f / 100.0f);
        if (step == STOP) {
            outcome.halfway = read_hash(world);
        }
        if (looking) {
            read_statistics(world);
            read_view(world);
            read_hash(world);
            float *values = malloc(mote_world_particle_count(world) * 3 * sizeof *values);
            expect_ok(mote_world_read_channel(world, "tag", values));
            free(values);
        }
    }
    outcome.end = read_hash(world);
    outcome.particles = mote_world_particle_count(world);
    assert_true(outcome.particles < 4032); // the hole took some
    mote_world_destroy(world);
    return outcome;
}

static void expect_equal(Outcome found, Outcome expected)
{
    assert_int_equal(found.particles, expected.particles);
    assert_true(found.halfway == expected.halfway);
    assert_true(found.end == expected.end);
}

// The CPU backend is told its number of threads; the emulated CUDA backend takes OpenMP's.
static void threads_do_not_matter(void **state)
{
    const TestBackend *backend = *state;
    const int before = omp_get_max_threads();
    Outcome first = {0};
    for (uint32_t threads = 1; threads <= 3; threads++) {
        MoteBackendOptions options = backend->options;
        options.threads = threads;
        omp_set_num_threads((int)threads);
        const Outcome outcome = run(&options, false);
        if (threads == 1) {
            first = outcome;
        }
        expect_equal(outcome, first);
    }
    omp_set_num_threads(before);
}

static void runs_repeat_and_looking_changes_nothing(void **state)
{
    const TestBackend *backend = *state;
    const Outcome first = run(&backend->options, false);
    expect_equal(run(&backend->options, false), first);
    expect_equal(run(&backend->options, true), first);
}

// A world that was saved and restored goes on to the same bits as one that was not.
static void a_snapshot_continues_to_the_bit(void **state)
{
    const TestBackend *backend = *state;
    const Outcome expected = run(&backend->options, false);
    MoteWorld *first = make_lively_world(&backend->options), *second = make_lively_world(&backend->options);
    WorldSnapshot snapshot;
    run_steps(first, STOP, 1.0f / 100.0f);
    expect_ok(world_snapshot_take(first, &snapshot));
    mote_world_destroy(first);
    run_steps(second, 5, 1.0f / 30.0f); // all this is to be forgotten
    expect_ok(world_snapshot_restore(second, &snapshot));
    world_snapshot_free(&snapshot);
    assert_true(read_hash(second) == expected.halfway);
    run_steps(second, STEPS - STOP, 1.0f / 100.0f);
    assert_true(read_hash(second) == expected.end);
    mote_world_destroy(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(threads_do_not_matter),
        ON_EVERY_BACKEND(runs_repeat_and_looking_changes_nothing),
        ON_EVERY_BACKEND(a_snapshot_continues_to_the_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
