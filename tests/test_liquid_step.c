// SPDX-License-Identifier: MIT
// test_liquid_step.c - one step of a liquid against tests/liquid_reference.h, number by number: what a density
// iteration moves, how viscosity damps and how confinement pushes, for settings that each change something, on every
// backend.
#include "backends.h"
#include "liquid_reference.h"

// ---- A liquid, in a world and for the reference ----

// Gravity, the limits of speed, and what else would hide the part that is looked at, are off.
static MoteSettings bare_settings(uint32_t dimensions)
{
    MoteSettings settings = mote_default_settings();
    settings.dimensions = dimensions;
    settings.spacing = 0.05f;
    settings.smoothing_radius_ratio = 2.2f;
    settings.gravity = (MoteVec3){0, 0, 0};
    settings.stabilization_iterations = 0;
    settings.iterations = 0;
    settings.viscosity = settings.vorticity = settings.damping = settings.sleep_speed = 0.0f;
    settings.max_displacement = settings.max_speed = settings.max_acceleration = settings.max_correction = 0.0f;
    return settings;
}

// A lattice a little too dense, shaken: compressed within, rarefied at its surface. Masses differ by a factor of two.
static void shake(ReferenceLiquid *liquid, const MoteSettings *settings)
{
    const bool flat = settings->dimensions == 2;
    const uint32_t n = flat ? 16 : 7;
    const float step = 0.92f * settings->spacing;
    *liquid = (ReferenceLiquid){.settings = *settings, .count = flat ? n * n : n * n * n};
    assert_true(liquid->count <= REFERENCE_LIMIT);
    for (uint32_t i = 0; i < liquid->count; i++) {
        const uint32_t at[3] = {i % n, i / n % n, i / n / n};
        for (int a = 0; a < 3; a++) {
            const bool moves = a < 2 || !flat;
            const float half = 0.5f * step * (float)(n - 1);
            liquid->x[i][a] = moves ? (double)(step * (float)at[a] - half + random_float(-0.2f, 0.2f) * step) : 0.0;
        }
        const float mass = random_float(0.08f, 0.16f);
        liquid->inverse_mass[i] = 1.0 / (double)mass;
        liquid->before[i] = (double)(float)(i % 3 == 0 ? 0.0 : random_float(0.5f, 1.2f));
    }
}

static MoteWorld *world_of(const TestBackend *backend, const ReferenceLiquid *liquid)
{
    MoteWorld *world = make_world(backend, &liquid->settings);
    MoteVec3 positions[REFERENCE_LIMIT], velocities[REFERENCE_LIMIT];
    float masses[REFERENCE_LIMIT];
    for (uint32_t i = 0; i < liquid->count; i++) {
        const double *x = liquid->x[i], *v = liquid->v[i];
        positions[i] = (MoteVec3){(float)x[0], (float)x[1], (float)x[2]};
        velocities[i] = (MoteVec3){(float)v[0], (float)v[1], (float)v[2]};
        masses[i] = (float)(1.0 / liquid->inverse_mass[i]);
    }
    const MoteParticles particles = {.count = liquid->count,
                                     .positions = positions,
                                     .velocities = velocities,
                                     .masses = masses,
                                     .phase = MOTE_PHASE_FLUID};
    expect_ok(mote_world_add_particles(world, &particles, NULL));
    MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        view.velocities[4 * (size_t)i + 3] = (float)liquid->before[view.ids[i]];
    }
    expect_ok(mote_world_write(world, &view));
    return world;
}

// What one step of `time_step` made of the liquid, by ids, which are its indices.
typedef struct Stepped {
    double x[REFERENCE_LIMIT][3], v[REFERENCE_LIMIT][3];
} Stepped;

static void step_liquid(const TestBackend *backend, const ReferenceLiquid *liquid, float time_step, Stepped *stepped)
{
    MoteWorld *world = world_of(backend, liquid);
    run_steps(world, 1, time_step);
    const MoteParticleView view = read_view(world);
    assert_int_equal(view.count, liquid->count);
    for (uint32_t i = 0; i < view.count; i++) {
        for (int a = 0; a < 3; a++) {
            stepped->x[view.ids[i]][a] = (double)view.positions[4 * i + (uint32_t)a];
            stepped->v[view.ids[i]][a] = (double)view.velocities[4 * i + (uint32_t)a];
        }
    }
    mote_world_destroy(world);
}

// All vectors within `tolerance` times the longest of the expected ones.
static void expect_vectors(double (*found)[3], double (*expected)[3], uint32_t count, double tolerance,
                           const char *what)
{
    double longest = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        longest = fmax(longest, reference_length(expected[i]));
    }
    assert_true(longest > 0.0);
    for (uint32_t i = 0; i < count; i++) {
        for (int a = 0; a < 3; a++) {
            expect_near(found[i][a], expected[i][a], tolerance * longest, what);
        }
    }
}

// ---- A density iteration ----

// What one iteration moves the particles of a liquid that is at rest by.
static void corrections_of(const TestBackend *backend, const ReferenceLiquid *liquid, double (*corrections)[3])
{
    static Stepped stepped;
    step_liquid(backend, liquid, 1e-2f, &stepped);
    for (uint32_t i = 0; i < liquid->count; i++) {
        for (int a = 0; a < 3; a++) {
            corrections[i][a] = stepped.x[i][a] - (double)(float)liquid->x[i][a];
        }
    }
}

static MoteSettings iterating_settings(uint32_t dimensions)
{
    MoteSettings settings = bare_settings(dimensions);
    settings.iterations = 1;
    return settings;
}

static void expect_reference_corrections(const TestBackend *backend, ReferenceLiquid *liquid, const char *what)
{
    static double found[REFERENCE_LIMIT][3], expected[REFERENCE_LIMIT][3];
    reference_corrections(liquid, expected);
    corrections_of(backend, liquid, found);
    expect_vectors(found, expected, liquid->count, 5e-4, what);
}

// Each setting of the density constraint changes what an iteration moves by as the equations say.
static void an_iteration_is_as_its_settings_say(void **state)
{
    static ReferenceLiquid liquid;
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        const MoteSettings base = iterating_settings(dimensions);
        shake(&liquid, &base);
        MoteSettings *s = &liquid.settings;
        expect_reference_corrections(*state, &liquid, "a correction by the default settings");
        s->relaxation = 0.25f;
        expect_reference_corrections(*state, &liquid, "a correction with relaxation 0.25");
        s->max_tension = 0.2f;
        expect_reference_corrections(*state, &liquid, "a correction with max_tension 0.2");
        s->over_relaxation = 1.7f;
        expect_reference_corrections(*state, &liquid, "a correction with over_relaxation 1.7");
        s->artificial_pressure = 0.1f;
        s->artificial_pressure_power = 3;
        s->artificial_pressure_distance = 0.2f;
        expect_reference_corrections(*state, &liquid, "a correction with another artificial pressure");
        s->averaging = MOTE_AVERAGING_ALL;
        expect_reference_corrections(*state, &liquid, "an averaged correction");
        s->rest_density_scale = 0.9f;
        expect_reference_corrections(*state, &liquid, "a correction with rest_density_scale 0.9");
        *s = base;
        s->density_mode = MOTE_DENSITY_UNILATERAL;
        s->over_relaxation = 0.6f;
        expect_reference_corrections(*state, &liquid, "a correction in the unilateral mode");
        s->artificial_pressure = 0.0f;
        expect_reference_corrections(*state, &liquid, "a unilateral correction without artificial pressure");
    }
}

// UPP eq. 13: corrections are omega times those without it. UPP eq. 12: averaged, they are divided by the number of
// constraints that move the particle, its own and one for each neighbour.
static void corrections_scale_with_omega_and_the_number_of_constraints(void **state)
{
    static ReferenceLiquid liquid;
    static double half[REFERENCE_LIMIT][3], one_and_a_half[REFERENCE_LIMIT][3], averaged[REFERENCE_LIMIT][3];
    const MoteSettings settings = iterating_settings(3);
    shake(&liquid, &settings);
    liquid.settings.over_relaxation = 0.5f;
    corrections_of(*state, &liquid, half);
    liquid.settings.over_relaxation = 1.5f;
    corrections_of(*state, &liquid, one_and_a_half);
    liquid.settings.averaging = MOTE_AVERAGING_ALL;
    corrections_of(*state, &liquid, averaged);
    for (uint32_t i = 0; i < liquid.count; i++) {
        const double n = reference_neighbours(&liquid, i);
        for (int a = 0; a < 3; a++) {
            half[i][a] *= 3.0;
            averaged[i][a] *= 1.0 + n;
        }
    }
    expect_vectors(half, one_and_a_half, liquid.count, 1e-3, "three times the correction at a third of omega");
    expect_vectors(averaged, one_and_a_half, liquid.count, 5e-3, "n + 1 times the averaged correction");
}

// No iteration moves a particle beyond max_correction; those that would go farther go that far, the others as before.
static void no_correction_is_beyond_its_limit(void **state)
{
    static ReferenceLiquid liquid;
    static double unlimited[REFERENCE_LIMIT][3], limited[REFERENCE_LIMIT][3];
    const MoteSettings settings = iterating_settings(3);
    shake(&liquid, &settings);
    for (uint32_t i = 0; i < liquid.count; i++) {
        liquid.before[i] = 1.0; // all that is rare pulls
    }
    corrections_of(*state, &liquid, unlimited);
    liquid.settings.max_correction = 0.02f;
    corrections_of(*state, &liquid, limited);
    const double limit = 0.02 * 2.2 * 0.05;
    uint32_t beyond = 0;
    for (uint32_t i = 0; i < liquid.count; i++) {
        const double wanted = reference_length(unlimited[i]);
        expect_near(reference_length(limited[i]), fmin(wanted, limit), 1e-3 * limit, "the length of a correction");
        beyond += wanted > limit;
    }
    assert_true(beyond > liquid.count / 10 && beyond < liquid.count * 9 / 10);
    expect_reference_corrections(*state, &liquid, "a limited correction");
}

// ---- Viscosity ----

// A shear wave v_x = A sin(k y) on the lattice. XSPH makes of it, in a step and away from the surface, the same wave
// times 1 - c sum_j W_j / n0 (1 - cos(k y_j)), summed over the lattice around a particle.
static double shear_wave_rate(const MoteSettings *s, double k)
{
    double rate = 0.0;
    const int reach = 1 + (int)s->smoothing_radius_ratio, depth = s->dimensions == 2 ? 0 : reach;
    for (int x = -reach; x <= reach; x++) {
        for (int y = -reach; y <= reach; y++) {
            for (int z = -depth; z <= depth; z++) {
                const double r = (double)s->spacing * sqrt((double)(x * x + y * y + z * z));
                rate += (1.0 - cos(k * (double)s->spacing * y)) * reference_poly6(s, r);
            }
        }
    }
    return rate / reference_rest(s).number_density;
}

// The amplitude of a wave after `steps` steps over that before, by the particles that are `margin` inside.
static double decayed_wave(const TestBackend *backend, const MoteSettings *settings, double k, uint32_t steps)
{
    const float d = settings->spacing, amplitude = 1e-2f;
    const uint32_t across = 13, along = 21;
    MoteWorld *world = make_world(backend, settings);
    const MoteVec3 corner = {-0.5f * d * (float)(across - 1), -0.5f * d * (float)(along - 1),
                             settings->dimensions == 2 ? 0.0f : -0.5f * d * (float)(across - 1)};
    add_block(world, corner, across, along, settings->dimensions == 2 ? 1 : across);
    MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        view.velocities[4 * i] = amplitude * (float)sin(k * (double)view.positions[4 * i + 1]);
    }
    expect_ok(mote_world_write(world, &view));
    run_steps(world, steps, 1e-2f);
    view = read_view(world);
    const float margin =
        d * ((float)steps * 1.5f + 1.0f); // what the surface changes spreads by a layer and less a step
    double product = 0.0, square = 0.0;
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * (size_t)i;
        if (p[0] - corner.x > margin && -corner.x - p[0] > margin && p[1] - corner.y > margin &&
            -corner.y - p[1] > margin &&
            (settings->dimensions == 2 || (p[2] - corner.z > margin && -corner.z - p[2] > margin))) {
            const double wave = (double)amplitude * sin(k * (double)p[1]);
            product += wave * (double)view.velocities[4 * i];
            square += wave * wave;
        }
    }
    assert_true(square > 0.0);
    mote_world_destroy(world);
    return product / square;
}

static void xsph_damps_a_shear_wave(void **state)
{
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        double rates[2];
        for (int twice = 0; twice < 2; twice++) {
            MoteSettings settings = bare_settings(dimensions);
            settings.smoothing_radius_ratio = 1.9f; // reaches one layer
            settings.viscosity = twice == 0 ? 0.2f : 0.4f;
            const double k = 2.0 * acos(-1.0) / (6.0 * (double)settings.spacing); // six particles long
            const double rate = (double)settings.viscosity * shear_wave_rate(&settings, k);
            assert_true(rate > 0.02);
            rates[twice] = 1.0 - decayed_wave(*state, &settings, k, 1);
            expect_near(rates[twice], rate, 0.01 * rate, "what a shear wave loses in a step");
            const double left = pow(1.0 - rate, 3.0);
            expect_near(1.0 - decayed_wave(*state, &settings, k, 3), 1.0 - left, 0.01 * (1.0 - left),
                        "what a shear wave loses in three steps");
        }
        expect_near(rates[1], 2.0 * rates[0], 0.01 * rates[1], "the loss with twice the viscosity");
    }
}

// ---- Confinement ----

// A vortex about a slanted axis that is fastest at some distance from it: its vorticity has a magnitude with a slope.
static void stir(ReferenceLiquid *liquid)
{
    const double length = 0.1;
    for (uint32_t i = 0; i < liquid->count; i++) {
        const double axis[3] = {liquid->settings.dimensions == 2 ? 0.0 : 0.6, 0.0,
                                liquid->settings.dimensions == 2 ? 1.0 : 0.8};
        const double *x = liquid->x[i];
        double around[3];
        reference_cross(axis, x, around);
        const double squared = around[0] * around[0] + around[1] * around[1] + around[2] * around[2];
        for (int a = 0; a < 3; a++) {
            liquid->v[i][a] = 6.0 * around[a] * exp(-squared / (length * length));
        }
    }
}

// The velocities after a step without iterations: particles go on with theirs, then viscosity and confinement act on
// them where they are by then.
static void velocities_after(const TestBackend *backend, const ReferenceLiquid *before, double (*expected)[3],
                             double (*found)[3])
{
    static ReferenceLiquid liquid;
    static double accelerations[REFERENCE_LIMIT][3];
    static Stepped stepped;
    const double dt = (double)1e-2f;
    liquid = *before;
    for (uint32_t i = 0; i < liquid.count; i++) {
        for (int a = 0; a < 3; a++) {
            liquid.x[i][a] += dt * liquid.v[i][a];
        }
    }
    reference_measure_density(&liquid);
    reference_smooth(&liquid, expected);
    reference_confinement(&liquid, accelerations);
    step_liquid(backend, before, 1e-2f, &stepped);
    for (uint32_t i = 0; i < liquid.count; i++) { // changes: what stays the same would hide them
        for (int a = 0; a < 3; a++) {
            expected[i][a] += dt * accelerations[i][a] - before->v[i][a];
            found[i][a] = stepped.v[i][a] - before->v[i][a];
        }
    }
}

static void viscosity_and_confinement_follow_the_equations(void **state)
{
    static ReferenceLiquid liquid;
    static double expected[REFERENCE_LIMIT][3], found[REFERENCE_LIMIT][3], twice[REFERENCE_LIMIT][3];
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        const MoteSettings settings = bare_settings(dimensions);
        shake(&liquid, &settings);
        stir(&liquid);
        liquid.settings.viscosity = 0.3f;
        velocities_after(*state, &liquid, expected, found);
        expect_vectors(found, expected, liquid.count, 2e-3, "what viscosity changes of a velocity");

        liquid.settings.viscosity = 0.0f;
        liquid.settings.vorticity = 40.0f;
        velocities_after(*state, &liquid, expected, found);
        expect_vectors(found, expected, liquid.count, 2e-3, "what confinement changes of a velocity");

        liquid.settings.vorticity = 80.0f;
        velocities_after(*state, &liquid, expected, twice);
        expect_vectors(twice, expected, liquid.count, 2e-3, "what twice the confinement changes of a velocity");
        for (uint32_t i = 0; i < liquid.count; i++) {
            for (int a = 0; a < 3; a++) {
                found[i][a] *= 2.0;
            }
        }
        expect_vectors(twice, found, liquid.count, 1e-3, "the force of twice the confinement");

        liquid.settings.viscosity = 0.3f;
        velocities_after(*state, &liquid, expected, found);
        expect_vectors(found, expected, liquid.count, 2e-3, "what both change of a velocity");
    }
}

// ---- Settings of motion ----

// Particles two metres apart, all with one velocity: what a step makes of it. Enough of them for vectors of eight.
static double speed_after(const TestBackend *backend, const MoteSettings *settings, float speed, float time_step)
{
    enum { COUNT = 19 };
    MoteWorld *world = make_world(backend, settings);
    MoteVec3 positions[COUNT], velocities[COUNT];
    for (int i = 0; i < COUNT; i++) {
        positions[i] = (MoteVec3){2.0f * (float)i, 0.0f, 0.0f};
        velocities[i] = (MoteVec3){0.0f, speed, 0.0f};
    }
    const MoteParticles particles = {
        .count = COUNT, .positions = positions, .velocities = velocities, .mass = 1.0f, .phase = MOTE_PHASE_FLUID};
    expect_ok(mote_world_add_particles(world, &particles, NULL));
    run_steps(world, 1, time_step);
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) { // all went alike, and as far as their speed says
        assert_true(view.velocities[4 * i + 1] == view.velocities[1]);
        expect_near(view.positions[4 * i + 1], (double)view.velocities[1] * (double)time_step, 1e-6, "the way");
    }
    const double after = (double)view.velocities[1];
    mote_world_destroy(world);
    return after;
}

static void speed_is_limited_as_the_settings_say(void **state)
{
    const MoteSettings free_flight = bare_settings(3);
    expect_near(speed_after(*state, &free_flight, 30.0f, 1e-2f), 30.0, 1e-4, "the speed without limits");
    MoteSettings settings = free_flight;
    settings.damping = 7.0f;
    expect_near(speed_after(*state, &settings, 3.0f, 1e-2f), 3.0 * exp(-0.07), 1e-5, "the damped speed");
    settings = free_flight;
    settings.gravity = (MoteVec3){0, -4, 0};
    expect_near(speed_after(*state, &settings, 3.0f, 1e-2f), 3.0 - 0.04, 1e-5, "the speed after falling");
    settings = free_flight;
    settings.max_displacement = 0.4f; // of h = 0.11 m, in 0.01 s
    expect_near(speed_after(*state, &settings, 30.0f, 1e-2f), 4.4, 1e-4, "the speed that max_displacement leaves");
    settings.max_speed = 2.5f;
    expect_near(speed_after(*state, &settings, 30.0f, 1e-2f), 2.5, 1e-4, "the speed that max_speed leaves");
    settings = free_flight;
    settings.sleep_speed = 0.2f;
    expect_near(speed_after(*state, &settings, 0.19f, 1e-2f), 0.0, 0.0, "the speed of what sleeps");
    expect_near(speed_after(*state, &settings, 0.21f, 1e-2f), 0.21, 1e-5, "the speed of what does not");
}

// A drop at the top of its flight is as slow as what sleeps, and goes on falling; a puddle sleeps.
static void liquid_sleeps_only_where_it_is_carried(void **state)
{
    const float dt = 1.0f / 240.0f;
    MoteSettings settings = mote_default_settings();
    settings.sleep_speed = 0.1f; // more than gravity gives in two steps
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider floor = still_collider(MOTE_COLLIDER_PLANE, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.0f);
    expect_ok(mote_world_set_colliders(world, &floor, 1));
    MoteVec3 points[28], velocities[28] = {{0, 0, 0}};
    for (int i = 0; i < 27; i++) {
        points[i] = (MoteVec3){0.05f * (float)(i % 3), 2.0f + 0.05f * (float)(i / 3 % 3), 0.05f * (float)(i / 9)};
        velocities[i].y = 0.5f;
    }
    points[27] = (MoteVec3){1.0f, 0.025f, 0}; // one that lies on the floor
    const MoteParticles drop = {
        .count = 28, .positions = points, .velocities = velocities, .mass = 0.125f, .phase = MOTE_PHASE_FLUID};
    expect_ok(mote_world_add_particles(world, &drop, NULL));
    run_steps(world, 24, dt); // up and half of the way down
    const MoteParticleView view = read_view(world);
    double height = 0.0;
    for (uint32_t i = 0; i < 28; i++) {
        if (view.ids[i] == 27) {
            assert_true(view.velocities[4 * i] == 0.0f && view.velocities[4 * i + 1] == 0.0f);
            assert_true(view.positions[4 * i + 1] == 0.025f);
        } else {
            height += (double)view.positions[4 * i + 1] / 27.0;
        }
    }
    const double time = 24.0 / 240.0, fall = 9.81 * (double)dt * (double)dt * 24.0 * 25.0 / 2.0;
    expect_near(height, 2.05 + 0.5 * time - fall, 5e-4, "height of the drop's centre");
    mote_world_destroy(world);
}

// A step's artificial pressure is the same whatever the number of iterations, and with a body in the world.
static void artificial_pressure_is_of_a_step(void **state)
{
    double pushed[4];
    for (uint32_t k = 0; k < 4; k++) {
        MoteSettings settings = bare_settings(3);
        settings.iterations = k < 3 ? 1u << (2 * k) : 4; // 1, 4, 16, and 4 with a body
        settings.artificial_pressure = 0.005f;
        settings.max_tension = 0.0f;
        MoteWorld *world = make_world(*state, &settings);
        const MoteVec3 points[2] = {{0, 0, 0}, {0.8f * settings.spacing, 0, 0}}, far = {3, 0, 0};
        add_points(world, points, 2, MOTE_PHASE_FLUID);
        if (k == 3) {
            add_points(world, &far, 1, MOTE_PHASE(MOTE_KIND_GRAIN, 1));
        }
        run_steps(world, 1, 1e-2f);
        const MoteParticleView view = read_view(world);
        float x[3] = {0};
        for (uint32_t i = 0; i < view.count; i++) {
            x[view.ids[i]] = view.positions[4 * i];
        }
        pushed[k] = (double)(x[1] - x[0]) - 0.8 * (double)settings.spacing;
        mote_world_destroy(world);
    }
    print_message("pushed apart by %.3g m with 1 iteration, %.3g with 4, %.3g with 16, %.3g with 4 and a grain\n",
                  pushed[0], pushed[1], pushed[2], pushed[3]);
    assert_true(pushed[0] > 1e-4);
    expect_near(pushed[1], pushed[0], 0.02 * pushed[0], "push of 4 iterations");
    expect_near(pushed[2], pushed[1], 0.02 * pushed[0], "push of 16 iterations");
    expect_near(pushed[3], pushed[1], 0.0, "push with a grain far away");
}

// It is a force: in steps shorter than 1/240 s it pushes less far by the square of their length.
static void artificial_pressure_is_a_force(void **state)
{
    double pushed[3];
    for (uint32_t k = 0; k < 3; k++) {
        MoteSettings settings = bare_settings(3);
        settings.iterations = 1;
        settings.artificial_pressure = 0.02f;
        settings.max_tension = 0.0f;
        MoteWorld *world = make_world(*state, &settings);
        const MoteVec3 points[2] = {{0, 0, 0}, {0.8f * settings.spacing, 0, 0}};
        add_points(world, points, 2, MOTE_PHASE_FLUID);
        run_steps(world, 1, 1.0f / (float)(240u << k));
        const MoteParticleView view = read_view(world);
        pushed[k] = fabs((double)(view.positions[4] - view.positions[0])) - 0.8 * (double)settings.spacing;
        mote_world_destroy(world);
    }
    expect_near(pushed[1], pushed[0] / 4.0, 0.002 * pushed[0], "push of a step of 1/480 s");
    expect_near(pushed[2], pushed[0] / 16.0, 0.002 * pushed[0], "push of a step of 1/960 s");
}

// Constraints change no velocity by more than max_acceleration in a step, and up to it as before.
static void acceleration_is_limited_as_the_settings_say(void **state)
{
    static ReferenceLiquid liquid;
    static Stepped without, with;
    const MoteSettings settings = iterating_settings(3);
    const float time_step = 1e-2f, limit = 10.0f; // 0.1 m/s
    shake(&liquid, &settings);
    step_liquid(*state, &liquid, time_step, &without);
    liquid.settings.max_acceleration = limit;
    step_liquid(*state, &liquid, time_step, &with);
    uint32_t beyond = 0;
    for (uint32_t i = 0; i < liquid.count; i++) {
        const double wanted = reference_length(without.v[i]), most = (double)limit * (double)time_step;
        expect_near(reference_length(with.v[i]), fmin(wanted, most), 1e-3 * most, "a speed");
        beyond += wanted > most;
    }
    assert_true(beyond > 0 && beyond < liquid.count);
}

// ---- Walls ----

// A particle has its image behind a plane, which is a mirror half a spacing from where particles touch the plane.
static void a_wall_is_a_mirror(void **state)
{
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        for (int gap = 0; gap < 3; gap++) { // quarters of a spacing
            MoteSettings s = measuring_settings(dimensions, 0.05f, 2.7f);
            s.boundary_density_weight = gap == 0 ? 1.0f : 0.6f;
            MoteWorld *world = make_world(*state, &s);
            const MoteCollider floor =
                still_collider(MOTE_COLLIDER_PLANE, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.0f);
            expect_ok(mote_world_set_colliders(world, &floor, 1));
            const double d = (double)s.spacing, away = 0.25 * gap * d;
            const float touching = s.collision_distance * s.spacing;
            add_points(world, &(MoteVec3){0, touching + (float)away, 0}, 1, MOTE_PHASE_FLUID);
            run_steps(world, 1, 1e-2f);
            const MoteParticleView view = read_view(world);
            const double image = (double)s.boundary_density_weight * reference_poly6(&s, 2.0 * away + d);
            const double expected = (reference_poly6(&s, 0.0) + image) / reference_rest(&s).number_density;
            expect_near(view.velocities[3], expected, 1e-4 * expected, "the density at a wall");
            mote_world_destroy(world);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(an_iteration_is_as_its_settings_say),
        ON_EVERY_BACKEND(corrections_scale_with_omega_and_the_number_of_constraints),
        ON_EVERY_BACKEND(no_correction_is_beyond_its_limit),
        ON_EVERY_BACKEND(xsph_damps_a_shear_wave),
        ON_EVERY_BACKEND(viscosity_and_confinement_follow_the_equations),
        ON_EVERY_BACKEND(liquid_sleeps_only_where_it_is_carried),
        ON_EVERY_BACKEND(artificial_pressure_is_of_a_step),
        ON_EVERY_BACKEND(artificial_pressure_is_a_force),
        ON_EVERY_BACKEND(speed_is_limited_as_the_settings_say),
        ON_EVERY_BACKEND(acceleration_is_limited_as_the_settings_say),
        ON_EVERY_BACKEND(a_wall_is_a_mirror),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
