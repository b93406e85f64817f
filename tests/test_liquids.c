// SPDX-License-Identifier: MIT
// Liquids with parameters of their own in one world: each behaves as it does alone, and what happens between two of
// them conserves momentum.
#define VULKAN_VALIDATE false // many steps
#include "solid_fixture.h"

#include "liquid_reference.h"

static const float DT = 1.0f / 240.0f;

static MoteSettings weightless_settings(void)
{
    MoteSettings settings = mote_default_settings();
    settings.gravity = (MoteVec3){0, 0, 0};
    settings.max_displacement = settings.max_correction = settings.damping = 0.0f;
    settings.vorticity = settings.artificial_pressure = settings.max_tension = 0.0f;
    return settings;
}

static void add_liquid(MoteWorld *world, const MoteVec3 *positions, const MoteVec3 *velocities, uint32_t count,
                       float density, uint32_t group)
{
    const MoteParticles particles = {.count = count,
                                     .positions = positions,
                                     .velocities = velocities,
                                     .mass = mote_world_particle_mass(world, density),
                                     .phase = MOTE_PHASE(MOTE_KIND_LIQUID, group)};
    expect_ok(mote_world_add_particles(world, &particles, NULL));
}

// Honey and water, as rows of materials.
static void set_viscosities(MoteWorld *world, float first, float second)
{
    MoteMaterial materials[2] = {mote_default_material(), mote_default_material()};
    materials[0].viscosity = first;
    materials[1].viscosity = second;
    expect_ok(mote_world_set_materials(world, materials, 2));
}

// ---- Shear waves ----

enum { WAVE_X = 11, WAVE_Y = 23, WAVE_STEPS = 2 };

// A block in which v_x is a sine along y, whose crest is in the middle.
static void add_wave(MoteWorld *world, float x, uint32_t group, double wave_number)
{
    static MoteVec3 points[WAVE_X * WAVE_Y * WAVE_X], velocities[WAVE_X * WAVE_Y * WAVE_X];
    const float d = mote_world_settings(world).spacing;
    uint32_t n = 0;
    for (int k = 0; k < WAVE_X; k++) {
        for (int j = 0; j < WAVE_Y; j++) {
            for (int i = 0; i < WAVE_X; i++, n++) {
                const float y = d * (float)(j - WAVE_Y / 2);
                points[n] = (MoteVec3){x + d * (float)(i - WAVE_X / 2), y, d * (float)(k - WAVE_X / 2)};
                velocities[n] = (MoteVec3){(float)cos(wave_number * (double)y), 0, 0};
            }
        }
    }
    add_liquid(world, points, velocities, n, 1000.0f, group);
}

// The wave's amplitude at the crest in the middle of a block around x.
static double amplitude_at(MoteWorld *world, float x)
{
    const MoteParticleView view = read_view(world);
    const double half = 0.5 * (double)mote_world_settings(world).spacing;
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = &view.positions[4 * i];
        if (fabs((double)p[0] - (double)x) < half && fabs((double)p[1]) < half && fabs((double)p[2]) < half) {
            return (double)view.velocities[4 * i];
        }
    }
    fail_msg("there is no particle at the crest");
    return 0.0;
}

// What viscosity c leaves of a wave in the middle of a lattice in a step: each neighbour takes its weight of the
// difference (PBF eq. 17).
static double wave_left(const MoteSettings *settings, double c, double wave_number)
{
    const double rest = reference_rest(settings).number_density;
    double left = 1.0;
    for (int i = -3; i <= 3; i++) {
        for (int j = -3; j <= 3; j++) {
            for (int k = -3; k <= 3; k++) {
                const double r = (double)settings->spacing * sqrt((double)(i * i + j * j + k * k));
                const double difference = 1.0 - cos(wave_number * (double)settings->spacing * j);
                left -= c * reference_poly6(settings, r) / rest * difference;
            }
        }
    }
    return left;
}

// Two waves in one world decay as each does alone, and as the sums over the lattice say.
static void each_liquid_has_its_viscosity(void **state)
{
    MoteSettings settings = weightless_settings();
    settings.iterations = settings.stabilization_iterations = 0;
    settings.viscosity = 0.5f;
    const double wave_number = 2.0 * acos(-1.0) / (10.0 * (double)settings.spacing);
    const float viscosities[2] = {0.8f, 0.1f}, places[2] = {0.0f, 2.0f};
    MoteWorld *both = make_world(*state, &settings);
    set_viscosities(both, viscosities[0], viscosities[1]);
    add_wave(both, places[0], 0, wave_number);
    add_wave(both, places[1], 1, wave_number);
    run_steps(both, WAVE_STEPS, 1e-3f);
    assert_int_equal(both->view.liquids_differ, 1);
    for (uint32_t k = 0; k < 2; k++) {
        MoteWorld *alone = make_world(*state, &settings);
        set_viscosities(alone, viscosities[0], viscosities[1]);
        add_wave(alone, places[k], k, wave_number);
        run_steps(alone, WAVE_STEPS, 1e-3f);
        assert_int_equal(alone->view.liquids_differ, 0); // its parameters are those of all
        const double expected = pow(wave_left(&settings, (double)viscosities[k], wave_number), WAVE_STEPS);
        const double found = amplitude_at(both, places[k]), single = amplitude_at(alone, places[k]);
        print_message("viscosity %g: %.5f of the wave is left, alone %.5f, expected %.5f\n", (double)viscosities[k],
                      found, single, expected);
        expect_near(found, single, 1e-6, "amplitude beside another liquid");
        expect_near(1.0 - found, 1.0 - expected, 0.005 * (1.0 - expected) + 2e-4, "decay of the wave");
        mote_world_destroy(alone);
    }
    mote_world_destroy(both);
}

// ---- Pairs ----

// Two particles side by side; what a step changes of the velocity of each. A liquid and a solid by themselves are a
// world of one liquid, so they have another liquid far away, unless neither states anything.
typedef struct Pair {
    float viscosities[2], pressures[2], densities[2];
    uint32_t kinds[2];
} Pair;

static bool is_liquid(uint32_t kind)
{
    return kind == MOTE_KIND_LIQUID;
}

static void step_pair(const TestBackend *backend, const MoteSettings *settings, const Pair *pair, double change[2][3])
{
    MoteWorld *world = make_world(backend, settings);
    MoteMaterial materials[3] = {mote_default_material(), mote_default_material(), mote_default_material()};
    const MoteVec3 velocities[2] = {{0, 1, 0}, {0, 0, 0}}, far = {100.0f * settings->spacing, 0, 0};
    bool states = false;
    for (int k = 0; k < 2; k++) {
        materials[k].viscosity = pair->viscosities[k];
        materials[k].artificial_pressure = pair->pressures[k];
        states = states || pair->viscosities[k] >= 0.0f || pair->pressures[k] >= 0.0f;
    }
    const bool beside = states && !(is_liquid(pair->kinds[0]) && is_liquid(pair->kinds[1]));
    materials[2].viscosity = beside ? 0.4f : -1.0f;
    expect_ok(mote_world_set_materials(world, materials, 3));
    for (uint32_t k = 0; k < 2; k++) {
        const MoteVec3 position = {(float)k * 0.8f * settings->spacing, 0, 0};
        const MoteParticles one = {.count = 1,
                                   .positions = &position,
                                   .velocities = &velocities[k],
                                   .mass = mote_world_particle_mass(world, pair->densities[k]),
                                   .phase = MOTE_PHASE(pair->kinds[k], k)};
        expect_ok(mote_world_add_particles(world, &one, NULL));
    }
    if (beside) {
        add_liquid(world, &far, NULL, 1, 1000.0f, 2);
    }
    run_steps(world, 1, 1e-3f);
    assert_int_equal(world->view.liquids_differ, states);
    const MoteParticleView view = read_view(world);
    assert_int_equal(view.count, beside ? 3 : 2);
    for (uint32_t i = 0; i < view.count; i++) {
        if (view.ids[i] >= 2) {
            continue;
        }
        const MoteVec3 v = velocities[view.ids[i]];
        const double before[3] = {(double)v.x, (double)v.y, (double)v.z};
        for (uint32_t a = 0; a < 3; a++) {
            change[view.ids[i]][a] = (double)view.velocities[4 * i + a] - before[a];
        }
    }
    mote_world_destroy(world);
}

// Of two liquids the smaller viscosity counts (DYV eq. 8), of a liquid and a solid the liquid's; what one gets the
// other loses, whatever their masses.
static void viscosity_between_two(void **state)
{
    MoteSettings settings = weightless_settings();
    settings.iterations = settings.stabilization_iterations = 0;
    const struct {
        Pair pair;
        double viscosity;
    } cases[] = {{{{0.8f, 0.2f}, {-1, -1}, {1000, 1000}, {MOTE_KIND_LIQUID, MOTE_KIND_LIQUID}}, 0.2},
                 {{{0.2f, 0.8f}, {-1, -1}, {1000, 250}, {MOTE_KIND_LIQUID, MOTE_KIND_LIQUID}}, 0.2},
                 {{{0.0f, 0.8f}, {-1, -1}, {1000, 250}, {MOTE_KIND_LIQUID, MOTE_KIND_LIQUID}}, 0.0},
                 {{{0.8f, 0.2f}, {-1, -1}, {500, 2000}, {MOTE_KIND_LIQUID, MOTE_KIND_GRAIN}}, 0.8},
                 {{{0.2f, 0.7f}, {-1, -1}, {500, 2000}, {MOTE_KIND_GRAIN, MOTE_KIND_LIQUID}}, 0.7}};
    const double rest = reference_rest(&settings).number_density;
    const double at_pair = reference_poly6(&settings, 0.8 * (double)settings.spacing);
    const double density = (reference_poly6(&settings, 0.0) + at_pair) / rest;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double change[2][3];
        step_pair(*state, &settings, &cases[k].pair, change);
        const double a = (double)cases[k].pair.densities[0], b = (double)cases[k].pair.densities[1];
        const double exchanged = cases[k].viscosity * at_pair / rest / density; // of the difference, for equal masses
        expect_near(change[0][1], -exchanged * 2.0 * b / (a + b), 2e-4, "velocity lost to the other");
        expect_near(change[1][1], exchanged * 2.0 * a / (a + b), 2e-4, "velocity got from the other");
    }
}

// Two liquids push each other apart by the mean of their artificial pressures.
static void artificial_pressure_between_two(void **state)
{
    MoteSettings settings = weightless_settings();
    settings.viscosity = 0.0f;
    settings.iterations = 1;
    const Pair mixed = {{-1, -1}, {0.1f, 0.3f}, {1000, 1000}, {MOTE_KIND_LIQUID, MOTE_KIND_LIQUID}};
    const Pair with_solid = {{-1, -1}, {0.2f, 0.9f}, {1000, 4000}, {MOTE_KIND_LIQUID, MOTE_KIND_BODY}};
    const Pair plain = {{-1, -1}, {-1, -1}, {1000, 1000}, {MOTE_KIND_LIQUID, MOTE_KIND_LIQUID}};
    const Pair plain_solid = {{-1, -1}, {-1, -1}, {1000, 4000}, {MOTE_KIND_LIQUID, MOTE_KIND_BODY}};
    double found[2][3], expected[2][3];
    settings.artificial_pressure = 0.2f;
    step_pair(*state, &settings, &plain, expected);
    settings.artificial_pressure = 0.7f; // which neither of them heeds
    step_pair(*state, &settings, &mixed, found);
    assert_true(expected[1][0] > 0.05);
    expect_near(found[0][0], expected[0][0], 1e-3 * expected[1][0], "push of the mean artificial pressure");
    expect_near(found[0][0] + found[1][0], 0.0, 1e-3 * expected[1][0], "momentum");
    settings.artificial_pressure = 0.2f;
    step_pair(*state, &settings, &plain_solid, expected);
    settings.artificial_pressure = 0.7f;
    step_pair(*state, &settings, &with_solid, found);
    expect_near(found[0][0], expected[0][0], 1e-3 * fabs(expected[0][0]), "push between liquid and solid");
}

// Two blocks of liquids that differ in everything, a heavy and a light one, hit each other.
static void interfaces_keep_momentum(void **state)
{
    for (uint32_t mode = 0; mode < 2; mode++) {
        MoteSettings settings = weightless_settings();
        settings.density_mode = mode;
        MoteWorld *world = make_world(*state, &settings);
        MoteMaterial materials[2] = {mote_default_material(), mote_default_material()};
        materials[0].viscosity = 0.9f;
        materials[0].max_tension = 0.3f;
        materials[1].artificial_pressure = 0.1f;
        materials[1].viscosity = 0.05f;
        expect_ok(mote_world_set_materials(world, materials, 2));
        for (uint32_t liquid = 0; liquid < 2; liquid++) {
            MoteVec3 points[512], velocities[512];
            for (uint32_t i = 0; i < 512; i++) {
                const float d = settings.spacing;
                points[i] = (MoteVec3){d * (float)(i % 8 + 8 * liquid), d * (float)(i / 8 % 8), d * (float)(i / 64)};
                velocities[i] = liquid == 0 ? (MoteVec3){2, 1, 0} : (MoteVec3){0, 0, 0};
            }
            add_liquid(world, points, velocities, 512, liquid == 0 ? 1400.0f : 200.0f, liquid);
        }
        const MoteStatistics before = read_statistics(world);
        run_steps(world, 30, DT);
        const MoteStatistics after = read_statistics(world);
        assert_int_equal(world->view.liquids_differ, 1);
        for (int a = 0; a < 3; a++) {
            expect_near(after.momentum[a], before.momentum[a], 1e-5 * before.momentum[0], "momentum");
        }
        assert_true(after.kinetic_energy < before.kinetic_energy);
        mote_world_destroy(world);
    }
}

// ---- Dams ----

enum { DAM_X = 8, DAM_Y = 12, DAM_Z = 6, DAM = DAM_X * DAM_Y * DAM_Z };

// It turns about an axis along z through its middle by `rate` in rad/s, and swells by half as much in each direction.
static void add_dam(MoteWorld *world, float x, uint32_t group, float rate)
{
    MoteVec3 points[DAM], velocities[DAM];
    const float d = mote_world_settings(world).spacing;
    for (uint32_t i = 0; i < DAM; i++) {
        const float r[3] = {d * ((float)(i % DAM_X) + 0.5f), d * ((float)(i / DAM_X % DAM_Y) + 0.5f),
                            d * ((float)(i / (DAM_X * DAM_Y)) + 0.5f)};
        const float from[3] = {r[0] - 0.5f * d * DAM_X, r[1] - 0.5f * d * DAM_Y, r[2] - 0.5f * d * DAM_Z};
        points[i] = (MoteVec3){x + r[0], r[1], r[2]};
        velocities[i] =
            (MoteVec3){rate * (0.5f * from[0] - from[1]), rate * (from[0] + 0.5f * from[1]), 0.5f * rate * from[2]};
    }
    add_liquid(world, points, velocities, DAM, group == 0 ? 1400.0f : 1000.0f, group);
}

static MoteWorld *make_dams(const TestBackend *backend, bool honey, bool water)
{
    MoteSettings settings = mote_default_settings();
    settings.viscosity = 0.02f;
    MoteWorld *world = make_world(backend, &settings);
    MoteMaterial materials[2] = {mote_default_material(), mote_default_material()};
    materials[0].viscosity = 0.9f;
    materials[0].artificial_pressure = 0.01f;
    materials[0].max_tension = 0.1f;
    materials[1].vorticity = 4.0f;
    expect_ok(mote_world_set_materials(world, materials, 2));
    const MoteCollider floor = still_collider(MOTE_COLLIDER_PLANE, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.0f);
    expect_ok(mote_world_set_colliders(world, &floor, 1));
    if (honey) {
        add_dam(world, 0.0f, 0, 0.0f);
    }
    if (water) {
        add_dam(world, 6.0f, 1, 0.0f);
    }
    return world;
}

static double settings_spacing(const MoteWorld *world)
{
    return (double)mote_world_settings(world).spacing;
}

// The root mean square of how far the particles of a group are from where those of its dam are in another world; and
// how wide its puddle is.
static double distance_between(MoteWorld *one, MoteWorld *other, uint32_t group, double *width)
{
    float places[DAM][3];
    double sum = 0.0, squares = 0.0, mean = 0.0;
    const MoteParticleView b = read_view(other);
    for (uint32_t i = 0; i < b.count; i++) {
        if ((b.phases[i] & MOTE_PHASE_GROUP_MASK) == group) {
            memcpy(places[b.ids[i] % DAM], &b.positions[4 * i], sizeof places[0]);
        }
    }
    const MoteParticleView a = read_view(one);
    for (uint32_t i = 0; i < a.count; i++) {
        if ((a.phases[i] & MOTE_PHASE_GROUP_MASK) == group) {
            const float *p = &a.positions[4 * i], *q = places[a.ids[i] % DAM];
            sum += pow((double)(p[0] - q[0]), 2) + pow((double)(p[1] - q[1]), 2) + pow((double)(p[2] - q[2]), 2);
            mean += (double)p[0] / DAM;
            squares += (double)p[0] * (double)p[0] / DAM;
        }
    }
    *width = sqrt(squares - mean * mean);
    return sqrt(sum / DAM);
}

// A dam of honey and one of water far apart flow as each does alone; the honey stays behind.
static void dams_far_apart(void **state)
{
    MoteWorld *both = make_dams(*state, true, true);
    run_steps(both, 80, DT);
    assert_int_equal(both->view.liquids_differ, 1);
    assert_true(read_statistics(both).density_mean > 0.5); // where one material's vorticity has used the memory
    double widths[2];
    for (uint32_t k = 0; k < 2; k++) {
        MoteWorld *alone = make_dams(*state, k == 0, k == 1);
        run_steps(alone, 80, DT);
        assert_int_equal(alone->view.liquids_differ, 0);
        double width;
        distance_between(alone, alone, k, &width);
        const double apart = distance_between(both, alone, k, &widths[k]);
        print_message("liquid %u: width %.4f m, alone %.4f m; particles are %.2g m from where they are alone\n", k,
                      widths[k], width, apart);
        // Sums are in another order, and a splash makes much of little.
        expect_near(widths[k], width, 0.01 * width, "width of the puddle");
        assert_true(apart < (k == 0 ? 1e-3 : settings_spacing(both)));
        mote_world_destroy(alone);
    }
    assert_true(widths[1] > 1.2 * widths[0]);
    mote_world_destroy(both);
}

// What a material states equals what the settings say: to the bit where there is one liquid, and where kernels look at
// each particle's own, but for a hundredth of what it does to a dam that turns and swells.
static void stated_by_material_or_settings(void **state)
{
    const float values[4] = {0.3f, 8.0f, 0.2f, 0.15f};
    const char *names[4] = {"viscosity", "vorticity", "max_tension", "artificial_pressure"};
    for (int parameter = 0; parameter < 4; parameter++) {
        MoteWorld *worlds[4];
        for (int w = 0; w < 4; w++) { // by the settings, by the material, beside another liquid, not at all
            MoteSettings settings = mote_default_settings();
            settings.vorticity = 1.0f;
            MoteMaterial materials[2] = {mote_default_material(), mote_default_material()};
            float *in_settings[] = {&settings.viscosity, &settings.vorticity, &settings.max_tension,
                                    &settings.artificial_pressure};
            float *in_material[] = {&materials[0].viscosity, &materials[0].vorticity, &materials[0].max_tension,
                                    &materials[0].artificial_pressure};
            if (w < 3) {
                *(w == 0 ? in_settings : in_material)[parameter] = values[parameter];
            }
            worlds[w] = make_world(*state, &settings);
            expect_ok(mote_world_set_materials(worlds[w], materials, 2));
            const MoteCollider floor =
                still_collider(MOTE_COLLIDER_PLANE, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.0f);
            expect_ok(mote_world_set_colliders(worlds[w], &floor, 1));
            add_dam(worlds[w], 0.0f, 0, 8.0f);
            if (w == 2) {
                const MoteVec3 far = {5, 0.5f, 0};
                add_liquid(worlds[w], &far, NULL, 1, 1400.0f, 1);
            }
            run_steps(worlds[w], 12, DT);
        }
        assert_true(read_hash(worlds[0]) == read_hash(worlds[1]));
        assert_int_equal(worlds[2]->view.liquids_differ, 1);
        double width;
        const double effect = distance_between(worlds[3], worlds[0], 0, &width);
        const double apart = distance_between(worlds[2], worlds[0], 0, &width);
        print_message("%s moves particles by %.2g m; beside another liquid they are %.2g m away\n", names[parameter],
                      effect, apart);
        assert_true(effect > 1e-4);
        assert_true(apart < 0.01 * effect);
        for (int w = 0; w < 4; w++) {
            mote_world_destroy(worlds[w]);
        }
    }
}

static void bad_values_are_refused(void **state)
{
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(*state, &settings);
    MoteMaterial material = mote_default_material();
    material.viscosity = 1.5f;
    expect_error(mote_world_set_materials(world, &material, 1), MOTE_ERROR_INPUT,
                 "material 0 has viscosity 1.5, expected 0 to 1");
    material = mote_default_material();
    material.artificial_pressure = NAN;
    expect_error(mote_world_set_materials(world, &material, 1), MOTE_ERROR_INPUT, "artificial_pressure");
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(each_liquid_has_its_viscosity),
        ON_EVERY_BACKEND(viscosity_between_two),
        ON_EVERY_BACKEND(artificial_pressure_between_two),
        ON_EVERY_BACKEND(interfaces_keep_momentum),
        ON_EVERY_BACKEND(dams_far_apart),
        ON_EVERY_BACKEND(stated_by_material_or_settings),
        ON_EVERY_BACKEND(bad_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
