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
    settings.boundary_density_weight = 1.0f;
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
    const MoteCollider colliders[2] = {
        box_container((MoteVec3){half, 2.0f, half}, (MoteVec3){half, 2.0f, half}),
        still_collider(MOTE_COLLIDER_BOX, (MoteVec3){half, 1.5f, half}, (MoteVec3){half, 0.1f, half}, 0)};
    expect_ok(mote_world_set_colliders(world, colliders, 2));
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

// The water's particles, of which add_block made WIDTH * DEPTH * WIDTH, are where they are in another world, with the
// same velocities and densities, to the bit.
static void expect_same_water(const char *what, const char *mode, MoteWorld *found, MoteWorld *expected)
{
    enum { COUNT = WIDTH * DEPTH * WIDTH };
    static float states[COUNT][8];
    const MoteParticleView plain = read_view(expected);
    for (uint32_t i = 0; i < plain.count; i++) {
        memcpy(states[plain.ids[i]], &plain.positions[4 * i], 16);
        memcpy(states[plain.ids[i]] + 4, &plain.velocities[4 * i], 16);
    }
    const MoteParticleView view = read_view(found);
    uint32_t differ = 0, compared = 0;
    for (uint32_t i = 0; i < view.count; i++) {
        if (view.ids[i] < COUNT) {
            const float *state = states[view.ids[i]];
            differ +=
                memcmp(state, &view.positions[4 * i], 16) != 0 || memcmp(state + 4, &view.velocities[4 * i], 16) != 0;
            compared++;
        }
    }
    const Water water = measure_water(found);
    print_message("%s, %s: compression %.4f, %u of %u particles differ\n", mode, what, water.compression, differ,
                  compared);
    assert_int_equal(compared, COUNT);
    assert_int_equal(differ, 0);
}

enum { POOL_STEPS = 40 };

// What is far from the water changes nothing of it: a box of a hundredth or a thousandth of its density on a shelf, one
// that is gone, one that was there when a state was saved.
static void a_light_box_elsewhere(void **state)
{
    for (uint32_t mode = 0; mode < 2; mode++) {
        MoteWorld *plain = make_pool(*state, mode);
        run_steps(plain, POOL_STEPS, DT);
        assert_true(measure_water(plain).compression < 0.01);
        const float density = mode == 0 ? 10.0f : 1.0f;
        MoteWorld *shelf = make_pool(*state, mode), *gone = make_pool(*state, mode), *saved = make_pool(*state, mode);
        add_light_box(shelf, ON_SHELF, density);
        run_steps(shelf, POOL_STEPS, DT);
        expect_same_water("box on the shelf", modes[mode], shelf, plain);

        add_light_box(gone, ON_SHELF, density);
        run_steps(gone, 10, DT);
        remove_solids(gone);
        run_steps(gone, 10, DT);
        WorldSnapshot snapshot;
        expect_ok(world_snapshot_take(gone, &snapshot));
        run_steps(gone, POOL_STEPS - 20, DT);
        expect_same_water("box gone", modes[mode], gone, plain);

        add_light_box(saved, ON_SHELF, density);
        expect_ok(world_snapshot_restore(saved, &snapshot));
        world_snapshot_free(&snapshot);
        run_steps(saved, POOL_STEPS - 20, DT);
        expect_same_water("box gone, state saved and loaded", modes[mode], saved, plain);

        mote_world_destroy(shelf);
        mote_world_destroy(gone);
        mote_world_destroy(saved);
        mote_world_destroy(plain);
    }
}

// A puddle of another liquid on the shelf, lighter or heavier than the water, changes nothing of the water either.
static void another_liquid_elsewhere(void **state)
{
    for (uint32_t mode = 0; mode < 2; mode++) {
        MoteWorld *plain = make_pool(*state, mode);
        run_steps(plain, POOL_STEPS, DT);
        for (int k = 0; k < 3; k++) {
            static const float densities[] = {100.0f, 8000.0f, 0.0f}; // foam, quicksilver, and water that is pinned
            MoteWorld *shelf = make_pool(*state, mode);
            MoteVec3 points[27];
            for (int i = 0; i < 27; i++) {
                points[i] = (MoteVec3){0.2f + 0.05f * (float)(i % 3), 1.65f + 0.05f * (float)(i / 3 % 3),
                                       0.2f + 0.05f * (float)(i / 9)};
            }
            const MoteParticles puddle = {.count = 27,
                                          .positions = points,
                                          .mass = mote_world_particle_mass(shelf, densities[k]),
                                          .phase = MOTE_PHASE(MOTE_KIND_LIQUID, 1)};
            expect_ok(mote_world_add_particles(shelf, &puddle, NULL));
            run_steps(shelf, POOL_STEPS, DT);
            expect_same_water("another liquid on the shelf", modes[mode], shelf, plain);
            mote_world_destroy(shelf);
        }
        mote_world_destroy(plain);
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
        const MoteCollider tank = box_container(half, half);
        expect_ok(mote_world_set_colliders(world, &tank, 1));
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
        ON_EVERY_BACKEND(a_light_box_elsewhere), ON_EVERY_BACKEND(another_liquid_elsewhere),
        ON_EVERY_BACKEND(a_light_box_floats),    ON_EVERY_BACKEND(mixtures_keep_momentum),
        ON_EVERY_BACKEND(liquids_change_places),
    };
    static const char *const long_tests[] = {"a_light_box_elsewhere", "another_liquid_elsewhere", "a_light_box_floats",
                                             "liquids_change_places", NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, NULL, NULL);
}
