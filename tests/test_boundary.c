// SPDX-License-Identifier: MIT
// test_boundary.c - liquids at colliders that count in their density (src/kernels/fluid/boundary_density.h).
#include "backends.h"

#define BLOCK 7

typedef enum Corner { PLANES, CONTAINER, BOXES, HULL_CONTAINER, FIELD_CONTAINER, CORNER_KINDS } Corner;

static const char *const corner_names[CORNER_KINDS] = {"planes", "a container", "boxes", "a hull", "a field"};

static const MoteVec3 nowhere = {0, 0, 0};

// The corners and triangles of the box from the origin to `size`.
static void make_box(MoteVec3 size, MoteVec3 corners[8], uint32_t triangles[36])
{
    static const uint32_t sides[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                       2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    for (uint32_t k = 0; k < 8; k++) {
        corners[k] = (MoteVec3){k & 1 ? size.x : 0.0f, k & 2 ? size.y : 0.0f, k & 4 ? size.z : 0.0f};
    }
    memcpy(triangles, sides, sizeof sides);
}

// A distance field of a box between two corners, with cells of half a spacing.
static MoteCollider box_field(MoteWorld *world, MoteVec3 size, MoteVec3 lower)
{
    MoteVec3 corners[8];
    uint32_t triangles[36];
    make_box(size, corners, triangles);
    MoteFieldOptions options = mote_default_field_options();
    options.positions = corners;
    options.position_count = 8;
    options.triangles = triangles;
    options.triangle_count = 12;
    options.cell_size = 0.5f * mote_world_settings(world).spacing;
    options.band = 16;
    MoteField *field = NULL;
    expect_ok(mote_field_create(&options, &field));
    MoteCollider collider = still_collider(MOTE_COLLIDER_FIELD, lower, nowhere, 0.0f);
    expect_ok(mote_world_add_field(world, field, &collider.data));
    mote_field_destroy(field);
    return collider;
}

// Colliders whose walls are x = 0, y = 0 and z = 0.
static void add_corner(MoteWorld *world, Corner kind)
{
    const float size = 40.0f * mote_world_settings(world).spacing, half = 0.5f * size;
    const float s = sqrtf(0.5f);
    MoteVec3 corners[8];
    uint32_t triangles[36];
    MoteCollider rows[3];
    uint32_t count = 1;
    make_box((MoteVec3){size, size, size}, corners, triangles);
    if (kind == PLANES || kind == BOXES) {
        count = 3;
        for (uint32_t k = 0; k < 3; k++) {
            rows[k] = still_collider(MOTE_COLLIDER_PLANE, nowhere, nowhere, 0.0f);
        }
        rows[0].from.rotation = rows[0].to.rotation = (MoteQuaternion){0, 0, -s, s}; // y to x
        rows[2].from.rotation = rows[2].to.rotation = (MoteQuaternion){s, 0, 0, s};  // y to z
    }
    if (kind == BOXES) {
        const MoteVec3 half_size = {half, half, half};
        const MoteVec3 centres[3] = {
            {-half, 0.4f * half, 0.4f * half}, {0.4f * half, -half, 0.4f * half}, {0.4f * half, 0.4f * half, -half}};
        for (uint32_t k = 0; k < 3; k++) {
            rows[k] = still_collider(MOTE_COLLIDER_BOX, centres[k], half_size, 0.0f);
        }
    }
    if (kind == CONTAINER) {
        rows[0] = box_container((MoteVec3){half, half, half}, (MoteVec3){half, half, half});
    }
    if (kind == HULL_CONTAINER) {
        rows[0] = still_collider(MOTE_COLLIDER_HULL, nowhere, nowhere, 0.0f);
        rows[0].inside_out = true;
        expect_ok(mote_world_add_hull(world, corners, 8, &rows[0].data));
    }
    if (kind == FIELD_CONTAINER) {
        rows[0] = box_field(world, (MoteVec3){size, size, size}, nowhere);
        rows[0].inside_out = true;
    }
    expect_ok(mote_world_set_colliders(world, rows, count));
}

// A block on its rest lattice in the corner of three walls: those of its particles that have all their neighbours, in
// the block or behind walls, have the rest density, and the first step moves none of them.
static void a_lattice_is_at_rest_in_a_corner(void **state)
{
    static const float ratios[] = {1.8f, 2.0f, 2.4f, 3.0f};
    for (int kind = 0; kind < CORNER_KINDS; kind++) {
        for (size_t r = 0; r < sizeof ratios / sizeof ratios[0]; r++) {
            MoteSettings settings = mote_default_settings();
            settings.smoothing_radius_ratio = ratios[r];
            settings.boundary_density_weight = 1.0f;
            settings.gravity = nowhere;
            settings.artificial_pressure = 0.0f; // it pushes at free surfaces
            MoteWorld *world = make_world(*state, &settings);
            add_corner(world, (Corner)kind);
            const float d = settings.spacing;
            const uint32_t count = add_block(world, (MoteVec3){0.5f * d, 0.5f * d, 0.5f * d}, BLOCK, BLOCK, BLOCK);
            run_steps(world, 1, 1.0f / 240.0f);
            const MoteParticleView view = read_view(world);
            assert_int_equal(view.count, count);
            double density = 0.0, moved = 0.0;
            for (uint32_t i = 0; i < count; i++) {
                const uint32_t at[3] = {view.ids[i] % BLOCK, view.ids[i] / BLOCK % BLOCK, view.ids[i] / BLOCK / BLOCK};
                bool whole = true;
                for (int a = 0; a < 3; a++) {
                    const float start = d * (0.5f + (float)at[a]);
                    moved = fmax(moved, fabs((double)(view.positions[4 * i + (uint32_t)a] - start)) / (double)d);
                    whole = whole && (float)(BLOCK - 1u - at[a]) >= floorf(ratios[r]);
                }
                density = whole ? fmax(density, fabs((double)view.velocities[4 * i + 3] - 1.0)) : density;
            }
            print_message("%s, h = %.1f spacings: density within %.2e of 1, moved by %.2e spacings\n",
                          corner_names[kind], (double)ratios[r], density, moved);
            assert_true(density < 0.005);
            assert_true(moved < 1e-3);
            mote_world_destroy(world);
        }
    }
}

// What is added twice counts once: a tank that stands on the ground.
static void walls_in_one_place_count_once(void **state)
{
    double densities[2];
    for (uint32_t colliders = 1; colliders <= 2; colliders++) {
        MoteSettings settings = measuring_settings(3, 0.05f, 2.0f);
        settings.boundary_density_weight = 1.0f;
        MoteWorld *world = make_world(*state, &settings);
        const MoteCollider rows[2] = {box_container((MoteVec3){0, 1, 0}, (MoteVec3){1, 1, 1}),
                                      still_collider(MOTE_COLLIDER_PLANE, nowhere, nowhere, 0.0f)};
        expect_ok(mote_world_set_colliders(world, rows, colliders));
        add_block(world, (MoteVec3){-0.975f, 0.025f, 0}, 6, 6, 6);
        run_steps(world, 1, 1.0f / 240.0f);
        densities[colliders - 1] = read_statistics(world).density_mean;
        mote_world_destroy(world);
    }
    expect_near(densities[1], densities[0], 1e-6, "mean density in a tank on the ground");
}

// A layer of liquid that is pulled off a wall is not held back.
static void walls_do_not_pull(void **state)
{
    double heights[2];
    for (int walls = 0; walls < 2; walls++) {
        MoteSettings settings = mote_default_settings();
        settings.boundary_density_weight = (float)walls;
        settings.gravity = (MoteVec3){0, 40.0f, 0};
        settings.artificial_pressure = 0.0f;
        settings.viscosity = 0.0f;
        MoteWorld *world = make_world(*state, &settings);
        const MoteCollider floor = still_collider(MOTE_COLLIDER_PLANE, nowhere, nowhere, 0.0f);
        expect_ok(mote_world_set_colliders(world, &floor, 1));
        add_block(world, (MoteVec3){0, 0.025f, 0}, 6, 3, 6);
        run_steps(world, 10, 1.0f / 240.0f);
        heights[walls] = read_statistics(world).centre_of_mass[1];
        mote_world_destroy(world);
    }
    print_message("centre of mass at %.5f m without walls, %.5f m with\n", heights[0], heights[1]);
    expect_near(heights[1], heights[0], 1e-4, "height of a layer that leaves the floor");
}

// A plate thinner than the smoothing radius stands in a pool, as a box or as a distance field two cells thick: each
// side sees liquid on the other one, which has no image, and water stays calm.
static void a_thin_plate_makes_no_energy(void **state)
{
    for (int field = 0; field < 2; field++) {
        MoteSettings settings = mote_default_settings();
        settings.artificial_pressure = 0.0f;
        MoteWorld *world = make_world(*state, &settings);
        const float d = settings.spacing;
        const MoteVec3 half = {8.5f * d, 6.0f * d, 3.0f * d}, plate = {0.5f * d, 3.0f * d, 4.0f * d};
        MoteCollider rows[2] = {box_container((MoteVec3){0, half.y, 0}, half),
                                still_collider(MOTE_COLLIDER_BOX, (MoteVec3){0, 2.0f * d, 0}, plate, 0.0f)};
        if (field == 1) {
            const MoteVec3 size = {2.0f * plate.x, 2.0f * plate.y, 2.0f * plate.z};
            rows[1] = box_field(world, size, (MoteVec3){-plate.x, 2.0f * d - plate.y, -plate.z});
        }
        expect_ok(mote_world_set_colliders(world, rows, 2));
        for (int side = 0; side < 2; side++) {
            add_block(world, (MoteVec3){side == 0 ? -8.0f * d : 1.0f * d, 0.5f * d, -2.5f * d}, 8, 6, 6);
        }
        double gain = 0.0, kinetic = 0.0;
        for (int frame = 0; frame < 60; frame++) {
            run_steps(world, 4, 1.0f / 240.0f);
            const MoteWatch watch = mote_world_watch(world);
            gain = fmax(gain, watch.gained / watch.energy);
            kinetic = read_statistics(world).kinetic_energy;
        }
        print_message("%s: gains %.3f %%, %.4f J at the end\n", field == 1 ? "a field" : "a box", 100.0 * gain,
                      kinetic);
        assert_true(gain < 0.006);
        mote_world_destroy(world);
    }
}

// The pressure of a pool at rest is on its walls: that of the floor is its weight, that of a side the sum of rho g y.
// It comes to rest, and its level is that of its volume.
static void a_pool_presses_on_its_walls(void **state)
{
    MoteSettings settings = mote_default_settings();
    settings.boundary_density_weight = 1.0f;
    settings.viscosity = 0.05f;
    settings.damping = 1.0f;
    MoteWorld *world = make_world(*state, &settings);
    const MoteVec3 half = {0.25f, 0.5f, 0.25f};
    const MoteCollider tank = box_container(half, half);
    expect_ok(mote_world_set_colliders(world, &tank, 1));
    const uint32_t count = add_block(world, (MoteVec3){0.025f, 0.025f, 0.025f}, 10, 8, 10);
    run_steps(world, 600, 1.0f / 240.0f);
    expect_ok(mote_world_record_forces(world, true));
    double floor = 0.0, side = 0.0;
    enum { STEPS = 60 };
    for (int step = 0; step < STEPS; step++) {
        run_steps(world, 1, 1.0f / 240.0f);
        float *forces = malloc(4 * count * sizeof *forces);
        assert_non_null(forces);
        expect_ok(mote_world_read_forces(world, MOTE_FORCE_COLLIDERS, forces));
        const MoteParticleView view = read_view(world);
        for (uint32_t i = 0; i < count; i++) {
            floor += (double)forces[4 * i + 1] / STEPS;
            side += view.positions[4 * i] < half.x ? (double)forces[4 * i] / STEPS : 0.0;
        }
        free(forces);
    }
    const double weight = 9.81 * 1000.0 * 0.5 * 0.4 * 0.5, pressure = 9.81 * 1000.0 * 0.5 * 0.4 * 0.4 * 0.5;
    const MoteStatistics s = read_statistics(world);
    print_message("floor %.4f of the weight, side %.4f of rho g H^2 w / 2, centre at %.4f m\n", floor / weight,
                  side / pressure, s.centre_of_mass[1]);
    expect_near(floor, weight, 0.01 * weight, "force on the floor");
    // Pressure begins below the topmost of eight layers, so that the sum is lower by nearly an eighth.
    expect_near(side, 0.93 * pressure, 0.04 * pressure, "force on a side");
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(a_lattice_is_at_rest_in_a_corner),
        ON_EVERY_BACKEND(walls_in_one_place_count_once),
        ON_EVERY_BACKEND(walls_do_not_pull),
        ON_EVERY_BACKEND(a_thin_plate_makes_no_energy),
        ON_CPU_AND_CUDA(a_pool_presses_on_its_walls),
    };
    static const char *const long_tests[] = {NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, NULL, NULL);
}
