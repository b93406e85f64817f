// SPDX-License-Identifier: MIT
// test_robustness.c - nothing a user does makes a NaN come out, or a crash.
#include "backends.h"

// A closed tank about (0, 1, 0), with a thousand particles of water in it or none.
static MoteWorld *make_tank(const TestBackend *backend, MoteSettings settings, bool with_water)
{
    MoteWorld *world = make_world(backend, &settings);
    const MoteShape tank = box_container((MoteVec3){0, 1, 0}, (MoteVec3){0.5f, 1, 0.5f});
    expect_ok(mote_world_set_shapes(world, &tank, 1));
    if (with_water) {
        add_block(world, (MoteVec3){-0.4f, 0.1f, -0.4f}, 10, 10, 10);
    }
    return world;
}

// Steps, and looks at every number that comes out.
static void step_and_check(MoteWorld *world, float time_step, uint32_t steps)
{
    run_steps(world, steps, time_step);
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count * 4; i++) {
        if (!isfinite(view.positions[i]) || !isfinite(view.velocities[i])) {
            fail_msg("particle %u has position component %g, velocity component %g", i / 4, (double)view.positions[i],
                     (double)view.velocities[i]);
        }
        if (i % 4 != 3 && fabsf(view.positions[i]) > 3.0f) {
            fail_msg("particle %u left the tank: %g m", i / 4, (double)view.positions[i]);
        }
    }
}

static void any_time_step(void **state)
{
    const TestBackend *backend = *state;
    const float steps[] = {1e-6f, 1e-4f, 1.0f / 60.0f, 0.1f, 1.0f};
    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) {
        for (uint32_t mode = 0; mode < 2; mode++) {
            MoteSettings settings = mote_default_settings();
            settings.density_mode = mode;
            settings.vorticity = 5.0f;
            MoteWorld *world = make_tank(backend, settings, true);
            step_and_check(world, steps[k], 40);
            mote_world_destroy(world);
        }
    }
}

static void clamps_switched_off(void **state)
{
    const TestBackend *backend = *state;
    MoteSettings settings = mote_default_settings();
    settings.max_correction = settings.max_displacement = 0.0f;
    MoteWorld *world = make_tank(backend, settings, true);
    step_and_check(world, 0.1f, 20);
    mote_world_destroy(world);
}

static void coincident_particles(void **state)
{
    const TestBackend *backend = *state;
    for (uint32_t mode = 0; mode < 2; mode++) {
        MoteSettings settings = mote_default_settings();
        settings.density_mode = mode;
        settings.vorticity = 5.0f;
        MoteWorld *world = make_tank(backend, settings, false);
        MoteVec3 positions[1000];
        for (int i = 0; i < 1000; i++) {
            positions[i] = (MoteVec3){0.01f, 0.5f, 0.02f};
        }
        const MoteParticles particles = {
            .count = 1000, .positions = positions, .mass = 0.125f, .phase = MOTE_PHASE_FLUID};
        assert_int_equal(mote_world_add_particles(world, &particles, NULL), MOTE_OK);
        step_and_check(world, 1.0f / 240.0f, 10);
        mote_world_destroy(world);
    }
}

static void bad_particles_are_refused(void **state)
{
    const TestBackend *backend = *state;
    const MoteVec3 good = {0, 1, 0};
    const MoteVec3 bad[] = {{NAN, 0, 0}, {0, INFINITY, 0}, {0, 0, -INFINITY}};
    MoteWorld *world = make_tank(backend, mote_default_settings(), true);
    for (int k = 0; k < 3; k++) {
        MoteParticles particles = {.count = 1, .positions = &bad[k], .mass = 1, .phase = MOTE_PHASE_FLUID};
        assert_int_equal(mote_world_add_particles(world, &particles, NULL), MOTE_ERROR_INPUT);
        particles.positions = &good;
        particles.velocities = &bad[k];
        assert_int_equal(mote_world_add_particles(world, &particles, NULL), MOTE_ERROR_INPUT);
    }
    const float masses[] = {NAN, -1.0f, INFINITY, 1e-45f};
    for (int k = 0; k < 4; k++) {
        const MoteParticles particles = {.count = 1, .positions = &good, .mass = masses[k], .phase = MOTE_PHASE_FLUID};
        assert_int_equal(mote_world_add_particles(world, &particles, NULL), MOTE_ERROR_INPUT);
    }
    assert_int_equal(mote_world_particle_count(world), 1000);
    step_and_check(world, 1.0f / 240.0f, 5);
    mote_world_destroy(world);
}

// Mass 0 pins a particle: it stays exactly where it is, and the liquid flows around it.
static void pinned_particles_stay(void **state)
{
    const TestBackend *backend = *state;
    MoteWorld *world = make_tank(backend, mote_default_settings(), true);
    const MoteVec3 position = {0.1f, 0.2f, 0.1f};
    const MoteParticles particles = {.count = 1, .positions = &position, .mass = 0, .phase = MOTE_PHASE_FLUID};
    uint32_t id = 0;
    assert_int_equal(mote_world_add_particles(world, &particles, &id), MOTE_OK);
    step_and_check(world, 1.0f / 240.0f, 60);
    MoteParticleView view;
    assert_int_equal(read_particles(world, &view), MOTE_OK);
    for (uint32_t i = 0; i < view.count; i++) {
        if (view.ids[i] == id) {
            assert_true(view.positions[4 * i] == position.x && view.positions[4 * i + 1] == position.y &&
                        view.positions[4 * i + 2] == position.z);
        }
    }
    mote_world_destroy(world);
}

// Masses a million apart, and speeds near the largest float, are strange but no reason to fail.
static void extreme_values(void **state)
{
    const TestBackend *backend = *state;
    MoteWorld *world = make_tank(backend, mote_default_settings(), true);
    const MoteVec3 positions[] = {{0, 0.3f, 0}, {0.02f, 0.3f, 0}, {0.1f, 0.6f, 0}};
    const MoteVec3 velocities[] = {{1e30f, 0, 0}, {0, -3e38f, 0}, {1e19f, 1e19f, 1e19f}};
    const float masses[] = {1e-6f, 1e6f, 1.0f};
    const MoteParticles particles = {
        .count = 3, .positions = positions, .velocities = velocities, .masses = masses, .phase = MOTE_PHASE_FLUID};
    assert_int_equal(mote_world_add_particles(world, &particles, NULL), MOTE_OK);
    step_and_check(world, 1.0f / 240.0f, 60);
    mote_world_destroy(world);
}

// An instability is reported, and the world stays readable: here gravity overflows in an endless step without limits.
static void overflow_is_reported(void **state)
{
    const TestBackend *backend = *state;
    MoteSettings settings = mote_default_settings();
    settings.max_displacement = 0.0f;
    settings.gravity = (MoteVec3){0, -1e4f, 0};
    MoteWorld *world = make_tank(backend, settings, true);
    assert_int_equal(mote_world_set_shapes(world, NULL, 0), MOTE_OK);
    MoteResult result = MOTE_OK;
    for (int s = 0; s < 10 && result == MOTE_OK; s++) {
        result = mote_world_step(world, 1e36f);
    }
    assert_int_equal(result, MOTE_ERROR_UNSTABLE);
    assert_non_null(strstr(mote_error_message(), "not finite"));
    MoteParticleView view;
    assert_int_equal(read_particles(world, &view), MOTE_OK);
    for (uint32_t i = 0; i < view.count * 4; i++) {
        assert_true(isfinite(view.positions[i]) && isfinite(view.velocities[i]));
    }
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(any_time_step),         ON_EVERY_BACKEND(clamps_switched_off),
        ON_EVERY_BACKEND(coincident_particles),  ON_EVERY_BACKEND(bad_particles_are_refused),
        ON_EVERY_BACKEND(pinned_particles_stay), ON_EVERY_BACKEND(extreme_values),
        ON_EVERY_BACKEND(overflow_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
