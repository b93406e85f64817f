// SPDX-License-Identifier: MIT
// test_coupling.c - bodies in water: what floats and how deep, and that momentum goes both ways (UPP section 7.1).
#include "solid_fixture.h"

#include "liquid_reference.h"

static const MoteQuaternion no_turn = {0, 0, 0, 1};

// ---- Buoyancy ----

enum { SIDE = 4 }; // particles along a box

typedef struct Pool {
    double depths[3];    // share of each box that is below the water
    double centres[3];   // m, heights of the boxes
    double level;        // m, of the water in the end
    double level_before; // m, without the boxes
} Pool;

// The water's surface: the mean of the highest particle, and half a spacing, over columns that are two spacings wide
// and hold no solid.
static double water_level(MoteWorld *world, double d)
{
    enum { COLUMNS = 32 };
    double highest[COLUMNS][COLUMNS] = {{0}};
    bool solid[COLUMNS][COLUMNS] = {{false}};
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * (size_t)i;
        const int x = (int)fmin(fmax(p[0] / d / 2.0, 0.0), COLUMNS - 1.0);
        const int z = (int)fmin(fmax(p[2] / d / 2.0, 0.0), COLUMNS - 1.0);
        if ((view.phases[i] & MOTE_PHASE_FLUID) != 0u) {
            highest[x][z] = fmax(highest[x][z], p[1] + 0.5 * d);
        } else {
            solid[x][z] = true;
        }
    }
    double sum = 0.0;
    int columns = 0;
    for (int c = 0; c < COLUMNS * COLUMNS; c++) {
        if (highest[c / COLUMNS][c % COLUMNS] > 0.0 && !solid[c / COLUMNS][c % COLUMNS]) {
            sum += highest[c / COLUMNS][c % COLUMNS];
            columns++;
        }
    }
    return sum / columns;
}

// Boxes of 0.5, 0.9 and 2 times the density of water are let go above a pool that has settled, and settle.
static Pool float_boxes(void **state, double seconds, uint32_t iterations)
{
    const float d = 0.05f;
    MoteSettings settings = mote_default_settings();
    settings.spacing = d;
    settings.iterations = iterations;
    settings.boundary_density_weight = 1.0f;
    settings.viscosity = 0.05f;
    settings.damping = 0.5f;
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider tank = box_container((MoteVec3){0.6f, 0.5f, 0.2f}, (MoteVec3){0.6f, 0.5f, 0.2f});
    expect_ok(mote_world_set_colliders(world, &tank, 1));
    add_block(world, (MoteVec3){0.5f * d, 0.5f * d, 0.5f * d}, 24, 10, 8);
    Pool pool = {.level = 0.0};
    run(world, 0.5 * seconds, 240.0);
    pool.level_before = water_level(world, d);
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

static void print_pool(const Pool *pool, uint32_t iterations)
{
    print_message("%u iterations: water at %.3f m, before %.3f; boxes of density 0.5, 0.9 and 2 at %.3f, %.3f and %.3f "
                  "m: %.2f, %.2f and %.2f of them below the water (ideal 0.50, 0.90, 1)\n",
                  iterations, pool->level, pool->level_before, pool->centres[0], pool->centres[1], pool->centres[2],
                  pool->depths[0], pool->depths[1], pool->depths[2]);
}

// How much the water would rise by what of the boxes is below it.
static double ideal_rise(const Pool *pool)
{
    const double box = pow(SIDE * 0.05, 3.0), area = 1.2 * 0.4;
    return (pool->depths[0] + pool->depths[1] + pool->depths[2]) * box / area;
}

// Each floats as deep as Archimedes says, whatever the number of iterations, and the water makes room for it; a layer
// of water stays below the one that sinks (what_sinks_keeps_one_layer).
static void boxes_float_by_density(void **state)
{
    const uint32_t iterations[] = {4, 12};
    for (int n = 0; n < 2; n++) {
        const Pool pool = float_boxes(state, 3.0, iterations[n]);
        print_pool(&pool, iterations[n]);
        expect_near(pool.level_before, 0.5, 0.02, "height of the water without boxes");
        const double rise = pool.level - pool.level_before;
        print_message("the water rose by %.4f m, of %.4f that the boxes displace\n", rise, ideal_rise(&pool));
        expect_near(rise / ideal_rise(&pool), 1.0, 0.2, "rise of the water over what is displaced");
        expect_near(pool.depths[0], 0.5, 0.09, "share of the box of density 0.5 below the water");
        expect_near(pool.depths[1], 0.92, 0.08, "share of the box of density 0.9 below the water");
        assert_true(pool.depths[2] == 1.0 && pool.centres[2] < 0.1 + 1.1 * 0.05);
    }
}

// How far above the ground a box of 0.2 m and of twice the water's density comes to rest, in spacings, and how many
// particles of water lie below it.
static double resting_gap(void **state, uint32_t side, uint32_t *below)
{
    const float d = 0.2f / (float)side;
    MoteSettings settings = mote_default_settings();
    settings.spacing = d;
    settings.iterations = 4;
    settings.boundary_density_weight = 1.0f;
    settings.viscosity = 0.05f;
    settings.damping = 0.5f;
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider tank = box_container((MoteVec3){0.2f, 0.4f, 0.2f}, (MoteVec3){0.2f, 0.4f, 0.2f});
    expect_ok(mote_world_set_colliders(world, &tank, 1));
    add_block(world, (MoteVec3){0.5f * d, 0.5f * d, 0.5f * d}, 2 * side, side * 3 / 2, 2 * side);
    const TestBox box = {
        side, side, side, d, {0.2f, 0.45f, 0.2f}, no_turn, true, {.mass = 2000.0f * d * d * d, .stiffness = 1.0f}};
    add_box(world, &box);
    run(world, 2.0, 240.0);
    const MoteVec3 centre = body_state(world, 0).pose.position;
    const MoteParticleView view = read_view(world);
    *below = 0;
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * (size_t)i;
        const bool under = fabsf(p[0] - centre.x) < 0.1f && fabsf(p[2] - centre.z) < 0.1f && p[1] < centre.y - 0.1f;
        *below += (view.phases[i] & MOTE_PHASE_FLUID) != 0u && under;
    }
    mote_world_destroy(world);
    return (centre.y - 0.1) / d;
}

// Water is made of particles, which contacts keep from being pressed flat: what sinks comes to rest on one layer of
// them, whose thickness goes down with their size.
static void what_sinks_keeps_one_layer(void **state)
{
    const uint32_t sides[] = {SIDE, 2 * SIDE};
    for (int n = 0; n < 2; n++) {
        uint32_t below;
        const double gap = resting_gap(state, sides[n], &below);
        print_message("spacing %.3f m: box of density 2 at %.2f spacings above the ground, on %u particles\n",
                      0.2 / sides[n], gap, below);
        assert_true(gap > 0.0 && gap < 1.15);
        assert_true(below <= sides[n] * sides[n] * 5 / 4);
    }
}

// After a second they are nearly there.
static void the_order_is_right(void **state)
{
    const Pool pool = float_boxes(state, 1.0, 4);
    print_pool(&pool, 4);
    expect_near(pool.depths[0], 0.5, 0.15, "share of the box of density 0.5 below the water");
    expect_near(pool.depths[1], 0.9, 0.15, "share of the box of density 0.9 below the water");
    assert_true(pool.centres[0] > pool.centres[1] && pool.centres[1] > pool.centres[2] && pool.depths[2] == 1.0);
}

// ---- Walls ----

// A tank that is just filled by the lattice: with walls that count it is everywhere as dense as at rest, at faces,
// edges and corners; without, a particle in a corner has half of that.
static void walls_count_in_density(void **state)
{
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        double least[2], most[2];
        for (int k = 0; k < 2; k++) {
            const float d = 0.1f;
            MoteSettings settings = measuring_settings(dimensions, d, 2.0f);
            settings.boundary_density_weight = (float)k;
            MoteWorld *world = make_world(*state, &settings);
            const MoteCollider tank = box_container((MoteVec3){0.3f, 0.3f, 0.3f}, (MoteVec3){0.3f, 0.3f, 0.3f});
            expect_ok(mote_world_set_colliders(world, &tank, 1));
            add_block(world, (MoteVec3){0.5f * d, 0.5f * d, 0.5f * d}, 6, 6, dimensions == 2 ? 1 : 6);
            run_steps(world, 1, 1.0f / 240.0f);
            least[k] = 10.0, most[k] = 0.0;
            const MoteParticleView view = read_view(world);
            for (uint32_t i = 0; i < view.count; i++) {
                least[k] = fmin(least[k], view.velocities[4 * i + 3]);
                most[k] = fmax(most[k], view.velocities[4 * i + 3]);
            }
            mote_world_destroy(world);
        }
        print_message("%uD: density %.3f to %.3f without walls, %.3f to %.3f with them\n", dimensions, least[0],
                      most[0], least[1], most[1]);
        assert_true(least[0] < 0.65);
        expect_near(least[1], 1.0, 0.02, "least density");
        expect_near(most[1], 1.0, 0.01, "largest density");
    }
}

// ---- Solids in a liquid's density ----

// Densities by id of a lattice of which the half x > 0 is pinned grains; `iterations` of a step that moves nothing.
static void half_solid(void **state, float weight, uint32_t iterations, bool with_solids, float densities[512])
{
    const float d = 0.1f;
    MoteSettings settings = measuring_settings(3, d, 2.0f);
    settings.solid_density_weight = weight;
    settings.iterations = iterations;
    settings.artificial_pressure = 0.0f;
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t liquid = add_block(world, (MoteVec3){-3.5f * d, 0, 0}, 4, 8, 8);
    MoteVec3 points[256];
    for (int i = 0; i < 256; i++) {
        points[i] = (MoteVec3){d * ((float)(i % 4) + 0.5f), d * (float)(i / 4 % 8), d * (float)(i / 32)};
    }
    const MoteParticles grains = {.count = 256, .positions = points, .phase = 3};
    if (with_solids) {
        expect_ok(mote_world_add_particles(world, &grains, NULL));
    }
    run_steps(world, 1, 1.0f / 240.0f);
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        if (view.ids[i] < liquid) {
            densities[view.ids[i]] = view.velocities[4 * i + 3];
        }
    }
    mote_world_destroy(world);
}

// s of UPP eq. 27: the density beside a solid is the liquid's own and s times what the solid adds.
static void solids_count_by_their_weight(void **state)
{
    float none[512], densities[3][512];
    for (uint32_t iterations = 0; iterations < 2; iterations++) {
        half_solid(state, 1.0f, iterations, false, none);
        for (int s = 0; s < 3; s++) {
            half_solid(state, (float)s, iterations, true, densities[s]);
        }
        double most = 0.0;
        for (int i = 0; i < 256; i++) {
            const double added = densities[1][i] - none[i];
            most = fmax(most, added);
            expect_near(densities[0][i], none[i], 1e-5, "density beside solids that do not count");
            expect_near(densities[2][i] - none[i], 2.0 * added, 1e-5, "what solids that count twice add");
        }
        const double within = densities[1][3 + 4 * 3 + 32 * 3]; // at the face, amid the lattice
        print_message("%u iterations: solids add up to %.3f\n", iterations, most);
        expect_near(within, 1.0, 1e-3, "density of a lattice of which half is solid");
        assert_true(most > 0.15);
    }
}

// ---- Faces ----

// A drop above the hollows of a box's face, which counts so much in its density that it is pushed away: along the
// normal alone, for a flat face is smooth, however its particles lie. The box gets the opposite.
static void flat_faces_push_along_their_normal(void **state)
{
    const float d = 0.1f, mass = 1000.0f * d * d * d;
    for (int k = 0; k < 2; k++) { // a face with normals, and the same particles without
        MoteSettings settings = solid_settings(d);
        settings.gravity = (MoteVec3){0, 0, 0};
        settings.smoothing_radius_ratio = 1.6f; // the face's own layer alone, each of whose particles faces the drop
        settings.iterations = 1;
        settings.solid_density_weight = 10.0f;
        settings.artificial_pressure = settings.viscosity = 0.0f;
        settings.max_correction = settings.max_displacement = 0.0f; // they cut what pushes and what is taken back apart
        MoteWorld *world = make_world(*state, &settings);
        const TestBox box = {8, 3, 8, d, {0, -1.5f * d, 0}, no_turn, k == 0, {.mass = mass, .stiffness = 1.0f}};
        add_box(world, &box);
        const MoteVec3 drop = {0.2f * d, 0.5f * d, 0.35f * d};
        const MoteParticles one = {
            .count = 1, .positions = &drop, .mass = mass, .phase = MOTE_PHASE(MOTE_KIND_LIQUID, 1)};
        uint32_t id;
        expect_ok(mote_world_add_particles(world, &one, &id));
        run_steps(world, 1, 1.0f / 240.0f);
        const MoteVec3 v = find_particle(world, id).velocity, back = body_state(world, 0).velocity;
        const double along = sqrt((double)v.x * v.x + (double)v.z * v.z);
        print_message("%s normals: the drop leaves with %.4f m/s, %.2g of it along the face\n",
                      k == 0 ? "with" : "without", (double)v.y, along / (double)v.y);
        assert_true(v.y > 0.1f && back.y < 0.0f);
        assert_true(k == 0 ? along < 1e-4 * (double)v.y : along > 0.02 * (double)v.y);
        if (k == 0) {
            expect_near(sqrt((double)back.x * back.x + (double)back.z * back.z), 0.0, 1e-4 * (double)fabsf(back.y),
                        "the box's speed along its face");
        }
        mote_world_destroy(world);
    }
}

// A solid particle that counts s pushes and is pushed s times as hard: the gradient of a density has the factor as
// well.
static void gradients_have_the_weight_of_solids(void **state)
{
    for (uint32_t mode = 0; mode < 2; mode++) {
        double moved[2][2];
        for (int k = 0; k < 2; k++) { // s of 1 and 2
            MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
            settings.density_mode = mode;
            settings.iterations = 1;
            settings.artificial_pressure = 0.0f;
            settings.max_correction = 0.0f;
            settings.rest_density_scale = 0.1f; // two particles are compressed
            settings.solid_density_weight = k == 0 ? 1.0f : 2.0f;
            MoteWorld *world = make_world(*state, &settings);
            const MoteVec3 liquid = {0, 0, 0}, solid = {0.12f, 0, 0}; // beyond the reach of their contact
            add_points(world, &liquid, 1, MOTE_PHASE_FLUID);
            add_points(world, &solid, 1, MOTE_PHASE(MOTE_KIND_GRAIN, 1));
            run_steps(world, 1, 1e-2f);
            const MoteParticleView view = read_view(world);
            for (uint32_t i = 0; i < 2; i++) {
                moved[k][view.ids[i]] = (double)view.positions[4 * i] - (view.ids[i] == 0 ? 0.0 : 0.12);
            }
            mote_world_destroy(world);
        }
        // C = (W(0) + s W(r)) / rest - 1, and |grad C| = s |grad W| / rest for both particles; masses are 1 kg.
        const MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
        MoteSettings scaled = settings;
        scaled.rest_density_scale = 0.1f;
        const ReferenceRest rest = reference_rest(&scaled);
        const double stiffening = reference_stiffening(&scaled);
        for (int k = 0; k < 2; k++) {
            const double s = k + 1.0, slope = -reference_spiky_slope(&scaled, 0.12) / rest.number_density;
            const double error =
                (reference_poly6(&scaled, 0.0) + s * reference_poly6(&scaled, 0.12)) / rest.number_density - 1.0;
            const double denominator = mode == MOTE_DENSITY_UNILATERAL
                                           ? rest.squared_gradients * stiffening
                                           : 2.0 * s * s * slope * slope + rest.squared_gradients;
            const double expected = error * s * slope / denominator;
            expect_near(moved[k][0], -expected, 1e-3 * expected, "what the liquid particle moves");
            expect_near(moved[k][1], expected, 1e-3 * expected, "what the solid particle moves");
        }
    }
}

// ---- Momentum ----

typedef struct Exchange {
    double before, after, water; // kg m/s along x
} Exchange;

// A box, or 27 grains, of 3 m/s hit a block of water in free space.
static Exchange hit_water(void **state, bool grains, uint32_t averaging)
{
    const float d = 0.05f;
    MoteSettings settings = mote_default_settings();
    settings.spacing = d;
    settings.gravity = (MoteVec3){0, 0, 0};
    settings.contact_averaging = averaging;
    settings.contact_relaxation = averaging == MOTE_CONTACTS_GLOBAL ? 0.25f : 1.0f;
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t count = add_block(world, (MoteVec3){0, 0, 0}, 8, 8, 8);
    const MoteVec3 velocity = {3, 0, 0};
    const float mass = 1000.0f * d * d * d;
    if (grains) {
        MoteVec3 points[27], velocities[27];
        for (int i = 0; i < 27; i++) {
            points[i] =
                (MoteVec3){-0.2f + d * (float)(i % 3), 0.125f + d * (float)(i / 3 % 3), 0.125f + d * (float)(i / 9)};
            velocities[i] = velocity;
        }
        const MoteParticles added = {.count = 27,
                                     .positions = points,
                                     .velocities = velocities,
                                     .mass = 2.0f * mass,
                                     .phase = 1 | MOTE_PHASE_SELF};
        expect_ok(mote_world_add_particles(world, &added, NULL));
    } else {
        const TestBox box = {4,
                             4,
                             4,
                             d,
                             {-0.3f, 0.175f, 0.175f},
                             no_turn,
                             true,
                             {.mass = mass, .velocity = velocity, .stiffness = 1.0f}};
        add_box(world, &box);
    }
    Exchange exchange = {.before = read_statistics(world).momentum[0]};
    run(world, 0.2, 240.0);
    exchange.after = read_statistics(world).momentum[0];
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        exchange.water += view.ids[i] < count ? (double)view.velocities[4 * i] / view.positions[4 * i + 3] : 0.0;
    }
    mote_world_destroy(world);
    return exchange;
}

// What a solid loses the water gets, with bodies but for contacts that were not counted when masses were split. It was
// not so, by 14 % with grains, where each particle's corrections were divided by the number of its own contacts (UPP
// eq. 12): two partners divide by different numbers.
static void momentum_goes_both_ways(void **state)
{
    for (int k = 0; k < 4; k++) {
        const bool grains = k % 2 == 1, global = k < 2;
        const Exchange e = hit_water(state, grains, global ? MOTE_CONTACTS_GLOBAL : MOTE_CONTACTS_LOCAL);
        print_message("%s, %s averaging: momentum %.4f -> %.4f kg m/s (%.1e), the water has %.3f of it\n",
                      grains ? "grains" : "a box", global ? "global" : "local", e.before, e.after,
                      e.after / e.before - 1.0, e.water);
        assert_true(e.water > 0.2 * e.before);
        expect_near(e.after, e.before, (grains ? 1e-5 : (global ? 0.01 : 0.05)) * e.before, "momentum");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BACKEND(boxes_float_by_density, "cpu", 0),
        ON_BACKEND(what_sinks_keeps_one_layer, "cpu", 0),
        ON_EVERY_BACKEND(the_order_is_right),
        ON_EVERY_BACKEND(walls_count_in_density),
        ON_EVERY_BACKEND(solids_count_by_their_weight),
        ON_EVERY_BACKEND(momentum_goes_both_ways),
        ON_EVERY_BACKEND(flat_faces_push_along_their_normal),
        ON_EVERY_BACKEND(gradients_have_the_weight_of_solids),
    };
    static const char *const long_tests[] = {"boxes_float_by_density", "what_sinks_keeps_one_layer",
                                             "the_order_is_right", NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, NULL, NULL);
}
