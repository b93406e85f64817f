// SPDX-License-Identifier: MIT
// test_fluid_physics.c - what a liquid must do: conserve momentum, keep its volume, come to rest. Each on the CPU
// backend with its vectorised kernels, on the emulated CUDA backend and, where that does not take long, on Vulkan.
#define VULKAN_VALIDATE false // many steps
#include "backends.h"

// Settings for liquid alone: a fiftieth of artificial pressure in each of the three iterations.
static MoteSettings pushing_settings(void)
{
    MoteSettings settings = mote_default_settings();
    settings.artificial_pressure = 0.06f;
    return settings;
}

// A block of nx * ny * nz particles whose first cell begins at the corner, turning about its centre.
static void add_turning_block(MoteWorld *world, uint32_t nx, uint32_t ny, uint32_t nz, MoteVec3 corner,
                              MoteVec3 velocity, float spin)
{
    const float d = mote_world_settings(world).spacing;
    const MoteVec3 centre = {corner.x + 0.5f * d * (float)nx, corner.y + 0.5f * d * (float)ny, 0.0f};
    add_block(world, (MoteVec3){corner.x + 0.5f * d, corner.y + 0.5f * d, corner.z + 0.5f * d}, nx, ny, nz);
    MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * i;
        view.velocities[4 * i] = velocity.x - spin * (p[1] - centre.y);
        view.velocities[4 * i + 1] = velocity.y + spin * (p[0] - centre.x);
        view.velocities[4 * i + 2] = velocity.z;
    }
    expect_ok(mote_world_write(world, &view));
}

// A block at rest in the corner of a container of that size.
static void add_water(MoteWorld *world, uint32_t nx, uint32_t ny, uint32_t nz, MoteVec3 container)
{
    const MoteVec3 half = {0.5f * container.x, 0.5f * container.y, 0.5f * container.z};
    const MoteCollider box = box_container(half, half);
    expect_ok(mote_world_set_colliders(world, &box, 1));
    add_turning_block(world, nx, ny, nz, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.0f);
}

static MoteStatistics step(MoteWorld *world, float time_step, uint32_t steps)
{
    run_steps(world, steps, time_step);
    return read_statistics(world);
}

static double length3(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// Corrections and viscosity act in pairs, so a blob in free fall keeps the momentum that gravity does not change.
static void linear_momentum_is_kept(void **state)
{
    const TestBackend *backend = *state;
    for (int mode = 0; mode < 2; mode++) {
        MoteSettings settings = pushing_settings();
        settings.density_mode = mode == 0 ? MOTE_DENSITY_BILATERAL : MOTE_DENSITY_UNILATERAL;
        settings.viscosity = 0.05f;
        settings.max_displacement = 0.0f; // it falls fast in the end
        settings.max_correction = 0.0f;   // a clamped correction is no longer half of a pair
        MoteWorld *world = make_world(backend, &settings);
        add_turning_block(world, 12, 12, 12, (MoteVec3){0, 0, 0}, (MoteVec3){2, 1, -1}, 3.0f);
        MoteStatistics start;
        expect_ok(mote_world_statistics(world, &start));
        const uint32_t steps = 100;
        const float dt = 1.0f / 240.0f;
        const MoteStatistics end = step(world, dt, steps);
        const double fallen = end.mass * -9.81 * (double)dt * steps;
        const double drift[3] = {end.momentum[0] - start.momentum[0], end.momentum[1] - start.momentum[1] - fallen,
                                 end.momentum[2] - start.momentum[2]};
        const double relative = length3(drift) / length3(end.momentum);
        print_message("%s mode %d: linear momentum drift %.2e in %d steps\n", backend->label, mode, relative, steps);
        assert_true(relative < 1e-5);
        mote_world_destroy(world);
    }
}

// Sets a world's particles turning about the z axis through the origin.
static void set_spin(MoteWorld *world, float spin)
{
    MoteParticleView view;
    assert_int_equal(read_particles(world, &view), MOTE_OK);
    for (uint32_t i = 0; i < view.count; i++) {
        view.velocities[4 * i] = -spin * view.positions[4 * i + 1];
        view.velocities[4 * i + 1] = spin * view.positions[4 * i];
        view.velocities[4 * i + 2] = 0.0f;
    }
    assert_int_equal(mote_world_write(world, &view), MOTE_OK);
}

// Without viscosity every correction is along the line between two particles. What remains is the solver's implicit
// Euler: it loses the fraction (spin dt)^2 a step, here 1.7e-3 in all. The blob has settled into its shape before.
static void angular_momentum_is_kept(void **state)
{
    const TestBackend *backend = *state;
    MoteSettings settings = pushing_settings();
    settings.gravity = (MoteVec3){0, 0, 0};
    settings.max_correction = 0.0f;
    settings.damping = 5.0f;
    MoteWorld *world = make_world(backend, &settings);
    add_turning_block(world, 12, 12, 12, (MoteVec3){-0.3f, -0.3f, -0.3f}, (MoteVec3){0, 0, 0}, 0.0f);
    step(world, 1.0f / 240.0f, 480);
    settings.damping = settings.viscosity = 0.0f;
    assert_int_equal(mote_world_set_settings(world, &settings), MOTE_OK);
    set_spin(world, 1.0f);
    MoteStatistics start;
    expect_ok(mote_world_statistics(world, &start));
    const MoteStatistics end = step(world, 1.0f / 240.0f, 100);
    const double drift[3] = {end.angular_momentum[0] - start.angular_momentum[0],
                             end.angular_momentum[1] - start.angular_momentum[1],
                             end.angular_momentum[2] - start.angular_momentum[2]};
    const double relative = length3(drift) / length3(start.angular_momentum);
    print_message("%s: angular momentum drift %.2e in 100 steps\n", backend->label, relative);
    assert_true(length3(start.angular_momentum) > 1.0);
    assert_true(relative < 1e-2);
    mote_world_destroy(world);
}

// A dam break with ten iterations keeps its volume through the splash; the curve is PBF Fig. 4.
static void a_splash_is_not_compressed(void **state)
{
    const TestBackend *backend = *state;
    char path[512];
    snprintf(path, sizeof path, MOTE_BINARY_DIR "/density_over_time_%s.csv", backend->options.backend);
    FILE *csv = fopen(path, "w");
    assert_non_null(csv);
    fprintf(csv, "time,density_mean,compression_mean,compression_max\n");
    MoteSettings settings = pushing_settings();
    settings.iterations = 10;
    MoteWorld *world = make_world(backend, &settings);
    add_water(world, 16, 24, 12, (MoteVec3){2.0f, 3.0f, 0.6f});
    double worst = 0.0;
    for (int frame = 0; frame < 120; frame++) { // two seconds: fall, impact, return
        const MoteStatistics s = step(world, 1.0f / 240.0f, 4);
        worst = fmax(worst, s.density_error_mean);
        fprintf(csv, "%.4f,%.6f,%.6f,%.6f\n", (frame + 1) / 60.0, s.density_mean, s.density_error_mean,
                s.density_error_max);
    }
    fclose(csv);
    print_message("%s: worst mean compression in the splash %.2f %%\n", backend->label, 100.0 * worst);
    assert_true(worst < 0.03);
    mote_world_destroy(world);
}

// More iterations leave less error (PBF Fig. 6): the mean over half a second of the fall and impact.
static void iterations_converge(void **state)
{
    (void)state;
    const uint32_t iterations[] = {1, 2, 4, 8, 16};
    double before = INFINITY;
    for (size_t k = 0; k < sizeof iterations / sizeof iterations[0]; k++) {
        MoteSettings settings = pushing_settings();
        settings.iterations = iterations[k];
        MoteWorld *world = make_world(&test_backends[0], &settings);
        add_water(world, 16, 24, 12, (MoteVec3){2.0f, 3.0f, 0.6f});
        double sum = 0.0;
        for (int frame = 0; frame < 60; frame++) {
            sum += step(world, 1.0f / 240.0f, 4).density_error_mean / 60.0;
        }
        print_message("%2u iterations: mean compression %.3f %%\n", iterations[k], 100.0 * sum);
        assert_true(sum < before);
        before = sum;
        mote_world_destroy(world);
    }
}

// A column that falls into a wider tank settles: its kinetic energy dies, its surface is where its volume puts it, and
// the mean density error is under one percent.
static void a_column_comes_to_rest(void **state)
{
    const TestBackend *backend = *state;
    MoteSettings settings = pushing_settings();
    settings.iterations = 10;
    settings.artificial_pressure = 0.1f;
    MoteWorld *world = make_world(backend, &settings);
    const bool emulated = backend != &test_backends[0]; // it is slower by far
    const uint32_t width = emulated ? 6 : 12, height = emulated ? 12 : 16;
    const uint32_t tank = 3 * width / 2;
    const double level = 0.05 * height * width / tank;
    add_water(world, width, height, width, (MoteVec3){0.05f * (float)tank, 3.0f, 0.05f * (float)width});
    double peak = 0.0;
    MoteStatistics s = {0};
    for (int frame = 0; frame < 900; frame++) {
        s = step(world, 1.0f / 240.0f, 4);
        peak = fmax(peak, s.kinetic_energy);
    }
    const double surface = s.bounds_max[1] + 0.5 * settings.spacing; // of the topmost layer
    print_message(
        "%s: kinetic energy %.1e of its peak, surface at %.3f m for a volume %.3f m high, compression %.2f %%\n",
        backend->label, s.kinetic_energy / peak, surface, level, 100.0 * s.density_error_mean);
    assert_true(s.kinetic_energy < 1e-4 * peak);
    assert_true(fabs(surface - level) < settings.spacing);
    assert_true(s.density_error_mean < 0.01);
    mote_world_destroy(world);
}

// After the splash a dam break lies flat with its average density error under one percent.
static void a_dam_break_comes_to_rest(void **state)
{
    (void)state;
    const MoteSettings settings = pushing_settings();
    MoteWorld *world = make_world(&test_backends[0], &settings);
    add_water(world, 16, 20, 10, (MoteVec3){1.6f, 3.0f, 0.5f});
    const MoteStatistics s = step(world, 1.0f / 240.0f, 240 * 20);
    print_message("dam break after 20 s: compression %.2f %%, kinetic energy %.4f J, surface %.3f m\n",
                  100.0 * s.density_error_mean, s.kinetic_energy, s.bounds_max[1]);
    assert_int_equal(s.particles, 16 * 20 * 10);
    assert_true(s.density_error_mean < 0.01);
    mote_world_destroy(world);
}

// Water that turns like a rigid body has the vorticity twice its angular velocity, sign included: inside the block the
// estimate of PBF eq. 15 must find it.
static void vorticity_of_a_rigid_rotation(void **state)
{
    const TestBackend *backend = *state;
    MoteSettings settings = pushing_settings();
    settings.gravity = (MoteVec3){0, 0, 0};
    settings.vorticity = 1e-3f; // so that it is computed, and changes nothing
    settings.iterations = 0;
    MoteWorld *world = make_world(backend, &settings);
    add_turning_block(world, 11, 11, 11, (MoteVec3){-0.275f, -0.275f, -0.275f}, (MoteVec3){0, 0, 0}, 3.0f);
    step(world, 1e-4f, 1);
    MoteParticleView view;
    assert_int_equal(read_particles(world, &view), MOTE_OK);
    vec4 *vorticities = calloc(view.count, sizeof *vorticities);
    assert_non_null(vorticities);
    world->backend->functions->download(world->backend, vorticities, world->view.vorticities,
                                        view.count * sizeof *vorticities);
    uint32_t inside = 0;
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * i;
        if (fabsf(p[0]) < 0.16f && fabsf(p[1]) < 0.16f && fabsf(p[2]) < 0.16f) {
            // The lattice integrates Spiky's gradient to within some percent.
            assert_true(fabsf(vorticities[i].z - 6.0f) < 0.6f);
            assert_true(fabsf(vorticities[i].x) < 0.05f && fabsf(vorticities[i].y) < 0.05f);
            inside++;
        }
    }
    assert_true(inside > 300);
    free(vorticities);
    mote_world_destroy(world);
}

// Confinement gives a splash back some of the energy that the solver takes (PBF Fig. 5): more, the stronger it is.
static void confinement_gives_energy_back(void **state)
{
    (void)state;
    const float strengths[] = {0.0f, 10.0f, 20.0f};
    double energies[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < 3; k++) {
        MoteSettings settings = pushing_settings();
        settings.vorticity = strengths[k];
        MoteWorld *world = make_world(&test_backends[0], &settings);
        add_water(world, 16, 24, 12, (MoteVec3){2.0f, 3.0f, 0.6f});
        step(world, 1.0f / 240.0f, 240);
        for (int frame = 0; frame < 60; frame++) { // the mean over the second second
            energies[k] += step(world, 1.0f / 240.0f, 4).kinetic_energy / 60.0;
        }
        print_message("confinement %2.0f: mean kinetic energy %.1f J\n", (double)strengths[k], energies[k]);
        mote_world_destroy(world);
    }
    assert_true(energies[1] > 1.05 * energies[0]);
    assert_true(energies[2] > 1.05 * energies[1]);
    assert_true(energies[2] < 3.0 * energies[0]);
}

// A heavy fluid above a light one of a quarter of its density changes places with it (UPP Fig. 13).
static void heavy_fluid_sinks(void **state)
{
    (void)state;
    const MoteSettings settings = pushing_settings();
    MoteWorld *world = make_world(&test_backends[0], &settings);
    const MoteCollider box = box_container((MoteVec3){0.3f, 1.0f, 0.3f}, (MoteVec3){0.3f, 1.0f, 0.3f});
    expect_ok(mote_world_set_colliders(world, &box, 1));
    MoteVec3 positions[12 * 12 * 12];
    for (int fluid = 0; fluid < 2; fluid++) { // the light one below
        uint32_t n = 0;
        for (int z = 0; z < 12; z++) {
            for (int y = 0; y < 6; y++) {
                for (int x = 0; x < 12; x++) {
                    positions[n++] = (MoteVec3){0.05f * ((float)x + 0.5f), 0.05f * ((float)(y + 6 * fluid) + 0.5f),
                                                0.05f * ((float)z + 0.5f)};
                }
            }
        }
        const MoteParticles particles = {.count = n,
                                         .positions = positions,
                                         .mass = mote_world_particle_mass(world, fluid == 0 ? 250.0f : 1000.0f),
                                         .phase = MOTE_PHASE_FLUID | (uint32_t)fluid};
        assert_int_equal(mote_world_add_particles(world, &particles, NULL), MOTE_OK);
    }
    step(world, 1.0f / 240.0f, 240 * 10);
    MoteParticleView view;
    assert_int_equal(read_particles(world, &view), MOTE_OK);
    double height[2] = {0.0, 0.0};
    for (uint32_t i = 0; i < view.count; i++) {
        height[view.phases[i] & MOTE_PHASE_GROUP_MASK] += view.positions[4 * i + 1] / (0.5 * view.count);
    }
    print_message("after 10 s the light fluid is at %.3f m, the heavy one at %.3f m\n", height[0], height[1]);
    assert_true(height[0] > height[1] + 0.1);
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_CPU_AND_GPUS(linear_momentum_is_kept),
        ON_CPU_AND_GPUS(angular_momentum_is_kept),
        ON_CPU_AND_CUDA(a_splash_is_not_compressed),
        ON_CPU_AND_CUDA(a_column_comes_to_rest),
        ON_CPU_AND_GPUS(vorticity_of_a_rigid_rotation),
        cmocka_unit_test(iterations_converge),
        cmocka_unit_test(a_dam_break_comes_to_rest),
        cmocka_unit_test(confinement_gives_energy_back),
        cmocka_unit_test(heavy_fluid_sinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
