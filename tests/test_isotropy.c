// SPDX-License-Identifier: MIT
// test_isotropy.c - isotropic pressure: an iteration makes no shear stress, conserves momentum and angular momentum,
// and a wall gets a push along its normal alone.
#include "backends.h"

enum { SIDE = 9, MOST = SIDE * SIDE * SIDE };

// The positions by ids before and after a step of one iteration, without any other force, and the masses.
typedef struct Moved {
    uint32_t count;
    double before[MOST][3], by[MOST][3], mass[MOST];
} Moved;

// A block too dense along x, sheared and shaken, of particles of two masses. Above the plane y = 0 it begins
// where particles touch the plane.
static void move_block(const TestBackend *backend, uint32_t dimensions, float isotropic, bool on_floor, Moved *moved)
{
    MoteSettings settings = measuring_settings(dimensions, 0.05f, 2.0f);
    settings.iterations = 1;
    settings.max_tension = settings.artificial_pressure = settings.max_correction = 0.0f;
    settings.isotropic_pressure = isotropic;
    MoteWorld *world = make_world(backend, &settings);
    if (on_floor) {
        const MoteCollider floor = still_collider(MOTE_COLLIDER_PLANE, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.0f);
        expect_ok(mote_world_set_colliders(world, &floor, 1));
    }
    static MoteVec3 positions[MOST], velocities[MOST];
    static float masses[MOST];
    const float d = settings.spacing;
    moved->count = dimensions == 2 ? SIDE * SIDE : MOST;
    for (uint32_t i = 0; i < moved->count; i++) {
        const float x = (float)(i % SIDE), y = (float)(i / SIDE % SIDE), z = (float)(i / (SIDE * SIDE));
        const float shake = 0.04f * d;
        positions[i] = (MoteVec3){d * (0.82f * x + 0.3f * y) + random_float(-shake, shake),
                                  d * (0.52f + 0.97f * y) + random_float(0.0f, shake),
                                  dimensions == 2 ? 0.0f : d * z + random_float(-shake, shake)};
        masses[i] = i % 2 == 0 ? 0.1f : 0.15f;
    }
    const MoteParticles particles = {.count = moved->count,
                                     .positions = positions,
                                     .velocities = velocities,
                                     .masses = masses,
                                     .phase = MOTE_PHASE_FLUID};
    expect_ok(mote_world_add_particles(world, &particles, NULL));
    run_steps(world, 1, 1e-2f);
    const MoteParticleView view = read_view(world);
    assert_int_equal(view.count, moved->count);
    for (uint32_t i = 0; i < view.count; i++) {
        const uint32_t id = view.ids[i];
        const float *start = &positions[id].x;
        for (int a = 0; a < 3; a++) {
            moved->before[id][a] = (double)start[a];
            moved->by[id][a] = (double)view.positions[4 * i + (uint32_t)a] - (double)start[a];
        }
        moved->mass[id] = (double)masses[id];
    }
    mote_world_destroy(world);
}

// What pressure moves momentum by: sum of m dx x^T, symmetric where angular momentum is conserved.
static void stress_of(const Moved *moved, double (*stress)[3])
{
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            stress[a][b] = 0.0;
            for (uint32_t i = 0; i < moved->count; i++) {
                stress[a][b] += moved->mass[i] * moved->by[i][a] * moved->before[i][b];
            }
        }
    }
}

// The stress of an iteration is a pressure, whatever the lattice: of the sheared one without correction it differs
// by 6 % between x and y in two dimensions, and 2 % in three.
static void pressure_makes_no_shear_stress(void **state)
{
    static Moved moved;
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        double stress[3][3];
        move_block(*state, dimensions, 0.0f, false, &moved);
        stress_of(&moved, stress);
        assert_true(fabs(stress[1][1] - stress[0][0]) > 0.015 * stress[0][0]);
        move_block(*state, dimensions, 0.9f, false, &moved);
        stress_of(&moved, stress);
        assert_true(stress[0][0] > 0.0);
        expect_near(stress[1][1], stress[0][0], 2e-3 * stress[0][0], "the stress along y over that along x");
        expect_near(stress[0][1], 0.0, 2e-3 * stress[0][0], "a shear stress");
        if (dimensions == 3) {
            expect_near(stress[2][2], stress[0][0], 2e-3 * stress[0][0], "the stress along z over that along x");
            expect_near(stress[1][2], 0.0, 2e-3 * stress[0][0], "another shear stress");
        }
    }
}

// Also where the correction is limited.
static void an_iteration_conserves_momentum(void **state)
{
    static Moved moved;
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        for (int limited = 0; limited < 2; limited++) {
            move_block(*state, dimensions, limited ? 0.05f : 0.9f, false, &moved);
            double sum[3] = {0, 0, 0}, all = 0.0, stress[3][3];
            for (uint32_t i = 0; i < moved.count; i++) {
                for (int a = 0; a < 3; a++) {
                    sum[a] += moved.mass[i] * moved.by[i][a];
                    all += fabs(moved.mass[i] * moved.by[i][a]);
                }
            }
            stress_of(&moved, stress);
            for (int a = 0; a < 3; a++) {
                const int b = (a + 1) % 3;
                expect_near(sum[a], 0.0, 1e-4 * all, "the momentum");
                expect_near(stress[a][b], stress[b][a], 1e-3 * stress[0][0], "the angular momentum");
            }
        }
    }
}

// Nothing holds a liquid along a frictionless wall.
static void a_wall_pushes_along_its_normal(void **state)
{
    static Moved moved;
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        move_block(*state, dimensions, 0.9f, true, &moved);
        double sum[3] = {0, 0, 0};
        for (uint32_t i = 0; i < moved.count; i++) {
            for (int a = 0; a < 3; a++) {
                sum[a] += moved.mass[i] * moved.by[i][a];
            }
        }
        assert_true(sum[1] > 0.0);
        expect_near(sum[0], 0.0, 1e-3 * sum[1], "the push along the wall");
        expect_near(sum[2], 0.0, 1e-3 * sum[1], "the push along the wall");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(pressure_makes_no_shear_stress),
        ON_EVERY_BACKEND(an_iteration_conserves_momentum),
        ON_EVERY_BACKEND(a_wall_pushes_along_its_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
