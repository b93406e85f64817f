// test_coupling.c - bodies in water: what floats and how deep, and that momentum goes both ways (UPP section 7.1).
#include "solid_fixture.h"

static const MoteQuaternion no_turn = {0, 0, 0, 1};

// ---- Buoyancy ----

enum { SIDE = 4 }; // particles along a box

typedef struct Pool {
    double depths[3];    // share of each box that is below the water
    double centres[3];   // m, heights of the boxes
    double level;        // m, of the water in the end
    double level_before; // m, without the boxes
} Pool;

// The water's surface: the mean over its columns of the highest particle that no box is near, and half a spacing.
static double water_level(MoteWorld *world, double d)
{
    double highest[64] = {0};
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * (size_t)i;
        if ((view.phases[i] & MOTE_PHASE_FLUID) != 0u) {
            const int column = (int)fmin(fmax(p[0] / d / 2.0, 0.0), 63.0);
            highest[column] = fmax(highest[column], p[1] + 0.5 * d);
        }
    }
    double sum = 0.0;
    int columns = 0;
    for (int c = 0; c < 64; c++) {
        sum += highest[c];
        columns += highest[c] > 0.0;
    }
    return sum / columns;
}

// Boxes of 0.5, 0.9 and 2 times the density of water are let go in a pool and left to settle.
static Pool float_boxes(void **state, double seconds)
{
    const float d = 0.05f;
    MoteSettings settings = mote_default_settings();
    settings.spacing = d;
    settings.iterations = 4;
    settings.viscosity = 0.05f;
    settings.damping = 0.5f;
    MoteWorld *world = make_world(*state, &settings);
    const MoteShape tank = box_container((MoteVec3){0.6f, 0.5f, 0.2f}, (MoteVec3){0.6f, 0.5f, 0.2f});
    expect_ok(mote_world_set_shapes(world, &tank, 1));
    add_block(world, (MoteVec3){0.5f * d, 0.5f * d, 0.5f * d}, 24, 10, 8);
    Pool pool = {.level_before = 0.5};
    const float densities[] = {500.0f, 900.0f, 2000.0f};
    for (int k = 0; k < 3; k++) {
        const TestBox box = {SIDE,
                             SIDE,
                             SIDE,
                             d,
                             {0.2f + 0.4f * (float)k, 0.62f, 0.2f},
                             no_turn,
                             true,
                             {.mass = densities[k] * d * d * d, .stiffness = 1.0f}};
        add_box(world, &box);
    }
    run(world, seconds, 240.0);
    pool.level = water_level(world, d);
    for (uint32_t k = 0; k < 3; k++) {
        const double y = body_state(world, k).pose.position.y, half = 0.5 * SIDE * d;
        pool.centres[k] = y;
        pool.depths[k] = fmin(fmax((pool.level - (y - half)) / (2.0 * half), 0.0), 1.0);
        assert_true(isfinite(y));
    }
    mote_world_destroy(world);
    return pool;
}

static void boxes_float_by_density(void **state)
{
    const Pool pool = float_boxes(state, 6.0);
    print_message("water at %.3f m; boxes of density 0.5, 0.9 and 2 at %.3f, %.3f and %.3f m: %.2f, %.2f and %.2f of "
                  "them below the water (ideal 0.50, 0.90, 1)\n",
                  pool.level, pool.centres[0], pool.centres[1], pool.centres[2], pool.depths[0], pool.depths[1],
                  pool.depths[2]);
    assert_true(pool.centres[0] > pool.centres[1] && pool.centres[1] > pool.centres[2]);
    assert_true(pool.depths[0] > 0.2 && pool.depths[0] < 0.8);
    assert_true(pool.depths[1] > pool.depths[0]);
    expect_near(pool.centres[2], 0.1, 0.03, "height of the box that sinks"); // on the ground
    assert_true(pool.level > pool.level_before);                             // displaced
}

// After a second the order is already right.
static void the_order_is_right(void **state)
{
    const Pool pool = float_boxes(state, 1.0);
    assert_true(pool.centres[0] > pool.centres[2] && pool.centres[1] > pool.centres[2]);
}

// ---- Momentum ----

// A box hits a block of water in free space: what one loses the other gets.
static void momentum_goes_both_ways(void **state)
{
    const float d = 0.05f;
    MoteSettings settings = mote_default_settings();
    settings.spacing = d;
    settings.gravity = (MoteVec3){0, 0, 0};
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t count = add_block(world, (MoteVec3){0, 0, 0}, 8, 8, 8);
    const TestBox box = {4,
                         4,
                         4,
                         d,
                         {-0.3f, 0.175f, 0.175f},
                         no_turn,
                         true,
                         {.mass = 1000.0f * d * d * d, .velocity = {3, 0, 0}, .stiffness = 1.0f}};
    add_box(world, &box);
    const MoteStatistics before = read_statistics(world);
    run(world, 0.2, 240.0);
    const MoteStatistics after = read_statistics(world);
    const MoteBodyState body = body_state(world, 0);
    double water = 0.0;
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        water += view.ids[i] < count ? (double)view.velocities[4 * i] / view.positions[4 * i + 3] : 0.0;
    }
    print_message("momentum %.4f before, after %.4f: the body's %.3f, the water's %.3f kg m/s\n", before.momentum[0],
                  after.momentum[0], (double)body.mass * body.velocity.x, water);
    expect_near(after.momentum[0], before.momentum[0], 0.02 * before.momentum[0], "momentum");
    assert_true(water > 0.2 * before.momentum[0]);
    expect_near((double)body.mass * body.velocity.x + water, before.momentum[0], 0.02 * before.momentum[0], "sum");
    mote_world_destroy(world);
}

// The same with grains.
static void grains_and_water_share_momentum(void **state)
{
    const float d = 0.05f;
    MoteSettings settings = mote_default_settings();
    settings.spacing = d;
    settings.gravity = (MoteVec3){0, 0, 0};
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t count = add_block(world, (MoteVec3){0, 0, 0}, 6, 6, 6);
    MoteVec3 points[27], velocities[27];
    for (int i = 0; i < 27; i++) {
        points[i] =
            (MoteVec3){-0.2f + d * (float)(i % 3), 0.075f + d * (float)(i / 3 % 3), 0.075f + d * (float)(i / 9)};
        velocities[i] = (MoteVec3){3, 0, 0};
    }
    const MoteParticles grains = {.count = 27,
                                  .positions = points,
                                  .velocities = velocities,
                                  .mass = 2000.0f * d * d * d,
                                  .phase = 1 | MOTE_PHASE_SELF};
    expect_ok(mote_world_add_particles(world, &grains, NULL));
    const double before = read_statistics(world).momentum[0];
    run(world, 0.15, 240.0);
    const double after = read_statistics(world).momentum[0];
    double water = 0.0;
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        water += view.ids[i] < count ? (double)view.velocities[4 * i] / view.positions[4 * i + 3] : 0.0;
    }
    print_message("momentum %.4f before, after %.4f, the water has %.3f kg m/s of it\n", before, after, water);
    expect_near(after, before, 0.02 * before, "momentum");
    assert_true(water > 0.2 * before);
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BACKEND(boxes_float_by_density, "cpu", 0),
        ON_EVERY_BACKEND(the_order_is_right),
        ON_EVERY_BACKEND(momentum_goes_both_ways),
        ON_EVERY_BACKEND(grains_and_water_share_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
