// test_fluid_physics.c - what a liquid must do: conserve momentum, keep its volume, come to rest. Each on the CPU
// backend with its vectorised kernels and on the emulated CUDA backend.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "solver/world.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const MoteBackendOptions backends[] = {{.backend = "cpu"}, {.backend = "cuda"}};
enum { BACKEND_COUNT = sizeof backends / sizeof backends[0] };

static const MoteQuaternion upright = {0, 0, 0, 1};

static MoteWorld *make_world(const MoteSettings *settings, const MoteBackendOptions *options)
{
    MoteWorld *world = NULL;
    if (mote_world_create(settings, options, &world) != MOTE_OK) {
        fail_msg("%s", mote_error_message());
    }
    return world;
}

// A block of nx * ny * nz particles whose lowest cell begins at the corner; velocities from `spin` about its centre.
static void add_block(MoteWorld *world, int nx, int ny, int nz, MoteVec3 corner, MoteVec3 velocity, float spin)
{
    const float d = mote_world_settings(world).spacing;
    const uint32_t count = (uint32_t)(nx * ny * nz);
    MoteVec3 *positions = calloc(count, sizeof *positions), *velocities = calloc(count, sizeof *velocities);
    assert_non_null(positions);
    assert_non_null(velocities);
    uint32_t i = 0;
    for (int z = 0; z < nz; z++) {
        for (int y = 0; y < ny; y++) {
            for (int x = 0; x < nx; x++, i++) {
                const float dx = d * ((float)x + 0.5f), dy = d * ((float)y + 0.5f), dz = d * ((float)z + 0.5f);
                positions[i] = (MoteVec3){corner.x + dx, corner.y + dy, corner.z + dz};
                velocities[i] = (MoteVec3){velocity.x - spin * (dy - 0.5f * d * (float)ny),
                                           velocity.y + spin * (dx - 0.5f * d * (float)nx), velocity.z};
            }
        }
    }
    const MoteParticles particles = {.count = count,
                                     .positions = positions,
                                     .velocities = velocities,
                                     .mass = mote_world_particle_mass(world, 1000.0f),
                                     .phase = MOTE_PHASE_FLUID};
    assert_int_equal(mote_world_add_particles(world, &particles, NULL), MOTE_OK);
    free(positions);
    free(velocities);
}

static void set_container(MoteWorld *world, float width, float height, float depth)
{
    const MoteTransform pose = {{0.5f * width, 0.5f * height, 0.5f * depth}, upright};
    const MoteShape box = {.kind = MOTE_SHAPE_BOX,
                           .inside_out = true,
                           .half_size = {0.5f * width, 0.5f * height, 0.5f * depth},
                           .from = pose,
                           .to = pose};
    assert_int_equal(mote_world_set_shapes(world, &box, 1), MOTE_OK);
}

static MoteStatistics step(MoteWorld *world, float dt, int steps)
{
    for (int i = 0; i < steps; i++) {
        if (mote_world_step(world, dt) != MOTE_OK) {
            fail_msg("%s", mote_error_message());
        }
    }
    MoteStatistics statistics;
    assert_int_equal(mote_world_statistics(world, &statistics), MOTE_OK);
    return statistics;
}

static double length3(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// Corrections and viscosity act in pairs, so a blob in free fall keeps the momentum that gravity does not change.
static void linear_momentum_is_kept(void **state)
{
    (void)state;
    for (int b = 0; b < BACKEND_COUNT; b++) {
        for (int mode = 0; mode < 2; mode++) {
            MoteSettings settings = mote_default_settings();
            settings.density_mode = mode == 0 ? MOTE_DENSITY_BILATERAL : MOTE_DENSITY_UNILATERAL;
            settings.viscosity = 0.05f;
            settings.max_displacement = 0.0f; // it falls fast in the end
            settings.max_correction = 0.0f;   // a clamped correction is no longer half of a pair
            MoteWorld *world = make_world(&settings, &backends[b]);
            add_block(world, 12, 12, 12, (MoteVec3){0, 0, 0}, (MoteVec3){2, 1, -1}, 3.0f);
            MoteStatistics start;
            assert_int_equal(mote_world_statistics(world, &start), MOTE_OK);
            const int steps = 100;
            const float dt = 1.0f / 240.0f;
            const MoteStatistics end = step(world, dt, steps);
            const double fallen = end.mass * -9.81 * (double)dt * steps;
            const double drift[3] = {end.momentum[0] - start.momentum[0], end.momentum[1] - start.momentum[1] - fallen,
                                     end.momentum[2] - start.momentum[2]};
            const double relative = length3(drift) / length3(end.momentum);
            print_message("%s mode %d: linear momentum drift %.2e in %d steps\n", backends[b].backend, mode, relative,
                          steps);
            assert_true(relative < 1e-5);
            mote_world_destroy(world);
        }
    }
}

// Sets a world's particles turning about the z axis through the origin.
static void set_spin(MoteWorld *world, float spin)
{
    MoteParticleView view;
    assert_int_equal(mote_world_read(world, &view), MOTE_OK);
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
    (void)state;
    for (int b = 0; b < BACKEND_COUNT; b++) {
        MoteSettings settings = mote_default_settings();
        settings.gravity = (MoteVec3){0, 0, 0};
        settings.max_correction = 0.0f;
        settings.damping = 5.0f;
        MoteWorld *world = make_world(&settings, &backends[b]);
        add_block(world, 12, 12, 12, (MoteVec3){-0.3f, -0.3f, -0.3f}, (MoteVec3){0, 0, 0}, 0.0f);
        step(world, 1.0f / 240.0f, 480);
        settings.damping = settings.viscosity = 0.0f;
        assert_int_equal(mote_world_set_settings(world, &settings), MOTE_OK);
        set_spin(world, 1.0f);
        MoteStatistics start;
        assert_int_equal(mote_world_statistics(world, &start), MOTE_OK);
        const MoteStatistics end = step(world, 1.0f / 240.0f, 100);
        const double drift[3] = {end.angular_momentum[0] - start.angular_momentum[0],
                                 end.angular_momentum[1] - start.angular_momentum[1],
                                 end.angular_momentum[2] - start.angular_momentum[2]};
        const double relative = length3(drift) / length3(start.angular_momentum);
        print_message("%s: angular momentum drift %.2e in 100 steps\n", backends[b].backend, relative);
        assert_true(length3(start.angular_momentum) > 1.0);
        assert_true(relative < 1e-2);
        mote_world_destroy(world);
    }
}

// A dam break with ten iterations keeps its volume through the splash; the curve is PBF Fig. 4.
static void a_splash_is_not_compressed(void **state)
{
    (void)state;
    FILE *csv = fopen(MOTE_BINARY_DIR "/density_over_time.csv", "w");
    assert_non_null(csv);
    fprintf(csv, "backend,time,density_mean,compression_mean,compression_max\n");
    for (int b = 0; b < BACKEND_COUNT; b++) {
        MoteSettings settings = mote_default_settings();
        settings.iterations = 10;
        MoteWorld *world = make_world(&settings, &backends[b]);
        set_container(world, 2.0f, 3.0f, 0.6f);
        add_block(world, 16, 24, 12, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.0f);
        double worst = 0.0;
        for (int frame = 0; frame < 120; frame++) { // two seconds: fall, impact, return
            const MoteStatistics s = step(world, 1.0f / 240.0f, 4);
            worst = fmax(worst, s.density_error_mean);
            fprintf(csv, "%s,%.4f,%.6f,%.6f,%.6f\n", backends[b].backend, (frame + 1) / 60.0, s.density_mean,
                    s.density_error_mean, s.density_error_max);
        }
        print_message("%s: worst mean compression in the splash %.2f %%\n", backends[b].backend, 100.0 * worst);
        assert_true(worst < 0.03);
        mote_world_destroy(world);
    }
    fclose(csv);
}

// More iterations leave less error (PBF Fig. 6): the mean over half a second of the fall and impact.
static void iterations_converge(void **state)
{
    (void)state;
    const uint32_t iterations[] = {1, 2, 4, 8, 16};
    double before = INFINITY;
    for (size_t k = 0; k < sizeof iterations / sizeof iterations[0]; k++) {
        MoteSettings settings = mote_default_settings();
        settings.iterations = iterations[k];
        MoteWorld *world = make_world(&settings, &backends[0]);
        set_container(world, 2.0f, 3.0f, 0.6f);
        add_block(world, 16, 24, 12, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.0f);
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

// A column that starts at rest settles: its kinetic energy dies, its surface is where its volume puts it, and the
// mean density error is under one percent.
static void a_column_comes_to_rest(void **state)
{
    (void)state;
    for (int b = 0; b < BACKEND_COUNT; b++) {
        MoteSettings settings = mote_default_settings();
        settings.iterations = 10;
        MoteWorld *world = make_world(&settings, &backends[b]);
        const int width = 12, height = 16;
        set_container(world, 0.05f * (float)width, 3.0f, 0.05f * (float)width);
        add_block(world, width, height, width, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.0f);
        double peak = 0.0;
        MoteStatistics s = {0};
        for (int frame = 0; frame < 900; frame++) {
            s = step(world, 1.0f / 240.0f, 4);
            peak = fmax(peak, s.kinetic_energy);
        }
        const double surface = s.highest[1] + 0.5 * settings.spacing; // of the topmost layer
        print_message(
            "%s: kinetic energy %.1e of its peak, surface at %.3f m for a volume %.3f m high, compression %.2f %%\n",
            backends[b].backend, s.kinetic_energy / peak, surface, 0.05 * height, 100.0 * s.density_error_mean);
        assert_true(s.kinetic_energy < 1e-4 * peak);
        assert_true(fabs(surface - 0.05 * height) < settings.spacing);
        assert_true(s.density_error_mean < 0.01);
        mote_world_destroy(world);
    }
}

// After the splash a dam break lies flat with its average density error under one percent.
static void a_dam_break_comes_to_rest(void **state)
{
    (void)state;
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(&settings, &backends[0]);
    set_container(world, 1.6f, 3.0f, 0.5f);
    add_block(world, 16, 20, 10, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.0f);
    const MoteStatistics s = step(world, 1.0f / 240.0f, 240 * 20);
    print_message("dam break after 20 s: compression %.2f %%, kinetic energy %.4f J, surface %.3f m\n",
                  100.0 * s.density_error_mean, s.kinetic_energy, s.highest[1]);
    assert_int_equal(s.particles, 16 * 20 * 10);
    assert_true(s.density_error_mean < 0.01);
    mote_world_destroy(world);
}

// Water that turns like a rigid body has the vorticity twice its angular velocity, sign included: inside the block the
// estimate of PBF eq. 15 must find it.
static void vorticity_of_a_rigid_rotation(void **state)
{
    (void)state;
    for (int b = 0; b < BACKEND_COUNT; b++) {
        MoteSettings settings = mote_default_settings();
        settings.gravity = (MoteVec3){0, 0, 0};
        settings.vorticity = 1e-3f; // so that it is computed, and changes nothing
        settings.iterations = 0;
        MoteWorld *world = make_world(&settings, &backends[b]);
        add_block(world, 11, 11, 11, (MoteVec3){-0.275f, -0.275f, -0.275f}, (MoteVec3){0, 0, 0}, 3.0f);
        step(world, 1e-4f, 1);
        MoteParticleView view;
        assert_int_equal(mote_world_read(world, &view), MOTE_OK);
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
}

// Confinement gives a splash back some of the energy that the solver takes (PBF Fig. 5): more, the stronger it is.
static void confinement_gives_energy_back(void **state)
{
    (void)state;
    const float strengths[] = {0.0f, 10.0f, 20.0f};
    double energies[3] = {0.0, 0.0, 0.0};
    for (int k = 0; k < 3; k++) {
        MoteSettings settings = mote_default_settings();
        settings.vorticity = strengths[k];
        MoteWorld *world = make_world(&settings, &backends[0]);
        set_container(world, 2.0f, 3.0f, 0.6f);
        add_block(world, 16, 24, 12, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.0f);
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
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(&settings, &backends[0]);
    set_container(world, 0.6f, 2.0f, 0.6f);
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
    assert_int_equal(mote_world_read(world, &view), MOTE_OK);
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
        cmocka_unit_test(linear_momentum_is_kept),
        cmocka_unit_test(angular_momentum_is_kept),
        cmocka_unit_test(a_splash_is_not_compressed),
        cmocka_unit_test(iterations_converge),
        cmocka_unit_test(a_column_comes_to_rest),
        cmocka_unit_test(a_dam_break_comes_to_rest),
        cmocka_unit_test(vorticity_of_a_rigid_rotation),
        cmocka_unit_test(confinement_gives_energy_back),
        cmocka_unit_test(heavy_fluid_sinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
