// SPDX-License-Identifier: MIT
// Liquids and solids of different density together: how stiff a liquid is depends on the particles that take part in
// its constraints, not on what else there is in the world.
#define VULKAN_VALIDATE false // many steps
#include "solid_fixture.h"

#include "solver/snapshot.h"

static const float DT = 1.0f / 240.0f;
static const MoteQuaternion no_turn = {0, 0, 0, 1};

enum { WIDTH = 10, DEPTH = 8, BOX_SIDE = 4 }; // particles

static const char *const modes[] = {[MOTE_DENSITY_BILATERAL] = "bilateral", [MOTE_DENSITY_UNILATERAL] = "unilateral"};

static MoteSettings pool_settings(uint32_t mode)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.05f;
    settings.density_mode = mode;
    settings.wall_density_weight = 1.0f;
    settings.viscosity = 0.05f;
    settings.damping = 0.5f;
    return settings;
}

// A pool, a shelf far above it.
static MoteWorld *make_pool(const TestBackend *backend, uint32_t mode)
{
    const MoteSettings settings = pool_settings(mode);
    const float d = settings.spacing, half = 0.5f * d * WIDTH;
    MoteWorld *world = make_world(backend, &settings);
    const MoteShape shapes[2] = {
        box_container((MoteVec3){half, 2.0f, half}, (MoteVec3){half, 2.0f, half}),
        still_shape(MOTE_SHAPE_BOX, (MoteVec3){half, 1.5f, half}, (MoteVec3){half, 0.1f, half}, 0)};
    expect_ok(mote_world_set_shapes(world, shapes, 2));
    add_block(world, (MoteVec3){0.5f * d, 0.5f * d, 0.5f * d}, WIDTH, DEPTH, WIDTH);
    return world;
}

static void add_light_box(MoteWorld *world, float height, float density)
{
    const float d = mote_world_settings(world).spacing, half = 0.5f * d * WIDTH;
    const TestBox box = {BOX_SIDE,
                         BOX_SIDE,
                         BOX_SIDE,
                         d,
                         {half, height, half},
                         no_turn,
                         true,
                         {.mass = mote_world_particle_mass(world, density), .stiffness = 1.0f}};
    add_box(world, &box);
}

static const float ON_SHELF = 1.7f, IN_WATER = 0.45f; // m, of the box's centre

// Mean compression of the liquid, and its height by the centre of mass.
typedef struct Water {
    double compression, height;
} Water;

static Water measure_water(MoteWorld *world)
{
    const MoteParticleView view = read_view(world);
    Water water = {0};
    double count = 0.0;
    for (uint32_t i = 0; i < view.count; i++) {
        if ((view.phases[i] & MOTE_PHASE_FLUID) != 0u) {
            water.compression += fmax(view.velocities[4 * i + 3] - 1.0, 0.0);
            water.height += 2.0 * view.positions[4 * i + 1];
            count += 1.0;
        }
    }
    water.compression /= count;
    water.height /= count;
    return water;
}

static void remove_solids(MoteWorld *world)
{
    const MoteParticleView view = read_view(world);
    uint32_t ids[WIDTH * WIDTH * WIDTH], count = 0;
    for (uint32_t i = 0; i < view.count; i++) {
        if ((view.phases[i] & MOTE_PHASE_FLUID) == 0u) {
            ids[count++] = view.ids[i];
        }
    }
    assert_int_equal(count, BOX_SIDE * BOX_SIDE * BOX_SIDE);
    expect_ok(mote_world_remove_particles(world, ids, count));
}

static void expect_as_stiff(const char *what, const char *mode, Water found, Water plain)
{
    print_message("%s, %s: compression %.4f, without %.4f; height %.4f m, without %.4f\n", mode, what,
                  found.compression, plain.compression, found.height, plain.height);
    expect_near(found.compression, plain.compression, 0.05 * plain.compression + 1e-4, "mean compression");
    expect_near(found.height, plain.height, 1e-3, "height of the water");
}

// A box of a hundredth of the water's density on a shelf, one that is gone, and one that was there when a state was
// saved: the water below is as stiff as ever.
static void a_light_box_elsewhere(void **state)
{
    const uint32_t steps = 60;
    for (uint32_t mode = 0; mode < 2; mode++) {
        MoteWorld *plain = make_pool(*state, mode), *shelf = make_pool(*state, mode), *gone = make_pool(*state, mode),
                  *saved = make_pool(*state, mode);
        run_steps(plain, steps, DT);
        const Water expected = measure_water(plain);
        assert_true(expected.compression < 0.01);

        add_light_box(shelf, ON_SHELF, 10.0f);
        run_steps(shelf, steps, DT);
        expect_as_stiff("box on the shelf", modes[mode], measure_water(shelf), expected);

        add_light_box(gone, ON_SHELF, 10.0f);
        run_steps(gone, 10, DT);
        remove_solids(gone);
        run_steps(gone, 10, DT);
        WorldSnapshot snapshot;
        expect_ok(world_snapshot_take(gone, &snapshot));
        run_steps(gone, steps - 20, DT);
        expect_as_stiff("box gone", modes[mode], measure_water(gone), expected);

        add_light_box(saved, ON_SHELF, 10.0f);
        expect_ok(world_snapshot_restore(saved, &snapshot));
        world_snapshot_free(&snapshot);
        run_steps(saved, steps - 20, DT);
        expect_as_stiff("box gone, state saved and loaded", modes[mode], measure_water(saved), expected);
        assert_true(read_hash(saved) == read_hash(gone));

        mote_world_destroy(plain);
        mote_world_destroy(shelf);
        mote_world_destroy(gone);
        mote_world_destroy(saved);
    }
}

// Boxes of a hundredth and a tenth of the water's density float on it without jitter.
static void a_light_box_floats(void **state)
{
    for (uint32_t mode = 0; mode < 2; mode++) {
        const float density = mode == 0 ? 10.0f : 100.0f;
        MoteWorld *world = make_pool(*state, mode);
        add_light_box(world, IN_WATER, density);
        run_steps(world, 240, DT);
        double speed = 0.0, lowest = 10.0, highest = 0.0;
        for (int step = 0; step < 20; step++) {
            run_steps(world, 1, DT);
            const MoteBodyState box = body_state(world, 0);
            speed = fmax(speed, length_of(box.velocity));
            lowest = fmin(lowest, box.pose.position.y);
            highest = fmax(highest, box.pose.position.y);
        }
        const Water water = measure_water(world);
        const double share = (water.height - (0.5 * (lowest + highest) - 0.1)) / 0.2;
        print_message("%s, density %g: box moves by %.4f m at %.3f m/s, %.3f of it below the water; compression %.4f\n",
                      modes[mode], (double)density, highest - lowest, speed, share, water.compression);
        expect_near(share, density / 1000.0, 0.06, "share of the box below the water");
        assert_true(highest - lowest < 0.01 && speed < 0.4 && fastest(world) < 0.4);
        assert_true(water.compression < 0.007);
        mote_world_destroy(world);
    }
}

// Two liquids that hit each other: corrections act in pairs whatever the masses.
static void mixtures_keep_momentum(void **state)
{
    for (uint32_t mode = 0; mode < 2; mode++) {
        MoteSettings settings = pool_settings(mode);
        settings.gravity = (MoteVec3){0, 0, 0};
        settings.max_displacement = settings.max_correction = settings.damping = 0.0f;
        settings.artificial_pressure = 0.05f;
        MoteWorld *world = make_world(*state, &settings);
        for (uint32_t liquid = 0; liquid < 2; liquid++) {
            MoteVec3 points[512], velocities[512];
            for (uint32_t i = 0; i < 512; i++) {
                const float d = settings.spacing;
                points[i] = (MoteVec3){d * (float)(i % 8 + 8 * liquid), d * (float)(i / 8 % 8), d * (float)(i / 64)};
                velocities[i] = (MoteVec3){liquid == 0 ? 2.0f : 0.0f, 0, 0};
            }
            const MoteParticles particles = {.count = 512,
                                             .positions = points,
                                             .velocities = velocities,
                                             .mass = mote_world_particle_mass(world, liquid == 0 ? 1000.0f : 50.0f),
                                             .phase = liquid | MOTE_PHASE_FLUID};
            expect_ok(mote_world_add_particles(world, &particles, NULL));
        }
        const MoteStatistics before = read_statistics(world);
        run_steps(world, 20, DT);
        const MoteStatistics after = read_statistics(world);
        for (int a = 0; a < 3; a++) {
            expect_near(after.momentum[a], before.momentum[a], 1e-5 * before.momentum[0], "momentum");
        }
        assert_true(after.kinetic_energy < 1.1 * before.kinetic_energy); // artificial pressure gives some
        mote_world_destroy(world);
    }
}

// Water flows below the oil beside it, which has a quarter of its density, and neither is compressed.
static void liquids_change_places(void **state)
{
    for (uint32_t mode = 0; mode < 2; mode++) {
        const MoteSettings settings = pool_settings(mode);
        const float d = settings.spacing;
        MoteWorld *world = make_world(*state, &settings);
        const MoteVec3 half = {0.5f * d * 16, 1.0f, 0.5f * d * 4};
        const MoteShape tank = box_container(half, half);
        expect_ok(mote_world_set_shapes(world, &tank, 1));
        for (uint32_t liquid = 0; liquid < 2; liquid++) { // side by side
            MoteVec3 points[8 * 12 * 4];
            for (uint32_t i = 0; i < 8 * 12 * 4; i++) {
                points[i] = (MoteVec3){d * ((float)(i % 8 + 8 * liquid) + 0.5f), d * ((float)(i / 8 % 12) + 0.5f),
                                       d * ((float)(i / 96) + 0.5f)};
            }
            const MoteParticles particles = {.count = 8 * 12 * 4,
                                             .positions = points,
                                             .mass = mote_world_particle_mass(world, liquid == 0 ? 1000.0f : 250.0f),
                                             .phase = liquid | MOTE_PHASE_FLUID};
            expect_ok(mote_world_add_particles(world, &particles, NULL));
        }
        run_steps(world, 240, DT);
        const MoteParticleView view = read_view(world);
        double heights[2] = {0};
        for (uint32_t i = 0; i < view.count; i++) {
            heights[view.phases[i] & 1u] += view.positions[4 * i + 1] / (0.5 * view.count);
        }
        const Water water = measure_water(world);
        print_message("%s: water at %.3f m, oil at %.3f m, compression %.4f\n", modes[mode], heights[0], heights[1],
                      water.compression);
        assert_true(heights[0] + 0.15 < heights[1]);
        assert_true(water.compression < 0.008);
        mote_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(a_light_box_elsewhere),
        ON_EVERY_BACKEND(a_light_box_floats),
        ON_EVERY_BACKEND(mixtures_keep_momentum),
        ON_EVERY_BACKEND(liquids_change_places),
    };
    static const char *const long_tests[] = {"a_light_box_elsewhere", "a_light_box_floats", "liquids_change_places",
                                             NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, NULL, NULL);
}
