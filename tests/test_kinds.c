// SPDX-License-Identifier: MIT
// Kinds of particles and their traits: what is refused, who rolls, and materials that ignore each other.
#include "solid_fixture.h"

static const MoteVec3 weightless = {0, 0, 0};

static void unknown_kinds_are_refused(void **state)
{
    MoteSettings settings = solid_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const MoteVec3 point = {0, 1, 0};
    for (uint32_t kind = 0; kind < 8; kind++) {
        const MoteParticles one = {.count = 1, .positions = &point, .mass = 1.0f, .phase = MOTE_PHASE(kind, 5)};
        if (kind < MOTE_KIND_COUNT) {
            expect_ok(mote_world_add_particles(world, &one, NULL));
            assert_int_equal(mote_phase_kind(read_view(world).phases[kind]), kind);
        } else {
            expect_error(mote_world_add_particles(world, &one, NULL), MOTE_ERROR_INPUT, "MoteParticleKind");
        }
    }
    WorldSnapshot snapshot;
    expect_ok(world_snapshot_take(world, &snapshot));
    snapshot.arrays[SAVED_phases].words[1] |= MOTE_PHASE_KIND_MASK;
    expect_error(world_snapshot_restore(world, &snapshot), MOTE_ERROR_INPUT, "kind 7 at element 1 of phases");
    world_snapshot_free(&snapshot);
    mote_world_destroy(world);
}

// On a rough slope a grain turns, and a point of kind body, which has the same material, does not.
static void only_grains_roll(void **state)
{
    MoteSettings settings = solid_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const MoteMaterial rough = {.static_friction = 0.8f, .kinetic_friction = 0.8f};
    expect_ok(mote_world_set_materials(world, &rough, 1));
    MoteCollider plane = still_collider(MOTE_COLLIDER_PLANE, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.0f);
    plane.static_friction = plane.kinetic_friction = 0.8f;
    plane.from.rotation = plane.to.rotation = turn_about((MoteVec3){0, 0, 1}, -0.3);
    expect_ok(mote_world_set_colliders(world, &plane, 1));
    const float across = 0.05f * sinf(0.3f), above = 0.05f * cosf(0.3f);
    const MoteVec3 points[] = {{across, above, 0}, {across, above, 1}};
    const uint32_t grain = add_points(world, points, 1, MOTE_PHASE(MOTE_KIND_GRAIN, 0));
    add_points(world, points + 1, 1, MOTE_PHASE(MOTE_KIND_BODY, 1));
    run_steps(world, 30, 1.0f / 120.0f);
    float spins[2][4];
    expect_ok(mote_world_read_channel(world, ANGULAR_VELOCITY_CHANNEL, spins[0]));
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < 2; i++) {
        const double spin = sqrt(spins[i][0] * spins[i][0] + spins[i][1] * spins[i][1] + spins[i][2] * spins[i][2]);
        // Rolling down it has 5/7 g sin(angle) t = 0.52 m/s after a quarter of a second: 10 rad/s.
        assert_true(view.ids[i] == grain ? fabs(spin - 10.3) < 1.5 : spin == 0.0);
    }
    mote_world_destroy(world);
}

// Two that fly at each other: where their materials meet they exchange their momenta, where one ignores the other they
// go on as if they were alone, to the bit.
static void fly_past(const TestBackend *backend, uint32_t ignored_a, uint32_t ignored_b, bool meet)
{
    MoteSettings settings = solid_settings(0.1f);
    settings.gravity = weightless;
    MoteWorld *world = make_world(backend, &settings), *alone = make_world(backend, &settings);
    const MoteMaterial materials[] = {{.ignored_materials = ignored_a}, {.ignored_materials = ignored_b}};
    expect_ok(mote_world_set_materials(world, materials, 2));
    expect_ok(mote_world_set_materials(alone, materials, 2));
    for (uint32_t k = 0; k < 2; k++) {
        const MoteVec3 position = {k == 0 ? -0.3f : 0.3f, 1, 0}, velocity = {k == 0 ? 1.0f : -1.0f, 0, 0};
        const MoteParticles one = {.count = 1,
                                   .positions = &position,
                                   .velocities = &velocity,
                                   .mass = 1.0f,
                                   .phase = MOTE_PHASE(MOTE_KIND_GRAIN, k)};
        expect_ok(mote_world_add_particles(world, &one, NULL));
        if (k == 0) {
            expect_ok(mote_world_add_particles(alone, &one, NULL));
        }
    }
    run_steps(world, 60, 1.0f / 120.0f);
    run_steps(alone, 60, 1.0f / 120.0f);
    const MoteParticleView view = read_view(world);
    const float expected = read_view(alone).positions[0];
    for (uint32_t i = 0; i < 2; i++) {
        const float x = view.positions[4 * i];
        const bool first = view.ids[i] == 0;
        assert_true(meet ? fabsf(x) < 0.3f && (x < 0.0f) == first : first ? x == expected : x < -0.15f);
    }
    mote_world_destroy(world);
    mote_world_destroy(alone);
}

static void ignored_particles_pass_through(void **state)
{
    fly_past(*state, 0, 0, true);
    fly_past(*state, 2, 0, false);
    fly_past(*state, 0, 1, false); // whichever says so
    fly_past(*state, 1, 2, true);  // each its own kind, not the other
}

// Water that a solid lattice stands in is as dense as water alone where it ignores the solid, and denser where not.
static void ignored_particles_do_not_count(void **state)
{
    float densities[3];
    for (uint32_t k = 0; k < 3; k++) { // alone, ignoring, not ignoring
        MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
        MoteWorld *world = make_world(*state, &settings);
        const MoteMaterial materials[] = {{.ignored_materials = k == 1 ? 2 : 0}, {.combine = MOTE_COMBINE_AVERAGE}};
        expect_ok(mote_world_set_materials(world, materials, 2));
        const uint32_t water = add_block(world, (MoteVec3){0, 0, 0}, 5, 5, 5);
        for (uint32_t i = 0; i < 27 && k > 0; i++) { // in the gaps between the water's particles
            const MoteVec3 point = {0.15f + 0.1f * (float)(i % 3), 0.15f + 0.1f * (float)(i / 3 % 3),
                                    0.15f + 0.1f * (float)(i / 9)};
            add_points(world, &point, 1, MOTE_PHASE(MOTE_KIND_GRAIN, 1));
        }
        run_steps(world, 1, 0.001f);
        const MoteParticleView view = read_view(world);
        for (uint32_t i = 0; i < view.count; i++) {
            densities[k] = view.ids[i] == water / 2 ? view.velocities[4 * i + 3] : densities[k];
        }
        mote_world_destroy(world);
    }
    print_message("density alone %.4f, around what it ignores %.4f, around solids %.4f\n", (double)densities[0],
                  (double)densities[1], (double)densities[2]);
    assert_true(densities[1] == densities[0] && densities[2] > 1.5f * densities[0]);
}

// A drop and a grain that begin too near each other come apart to 0.9 spacings (LIQUID_REACH in solver/step.c), two
// grains to solid_distance.
static void liquid_and_solid_touch_at_their_distance(void **state)
{
    for (uint32_t k = 0; k < 2; k++) {
        MoteSettings settings = solid_settings(0.1f);
        settings.gravity = weightless;
        settings.density_mode = MOTE_DENSITY_UNILATERAL;
        settings.artificial_pressure = settings.viscosity = 0.0f;
        MoteWorld *world = make_world(*state, &settings);
        const MoteVec3 points[] = {{-0.02f, 1, 0}, {0.02f, 1, 0}};
        add_points(world, points, 1, MOTE_PHASE(k == 0 ? MOTE_KIND_LIQUID : MOTE_KIND_GRAIN, 0));
        add_points(world, points + 1, 1, MOTE_PHASE(MOTE_KIND_GRAIN, 1));
        run_steps(world, 60, 1.0f / 120.0f);
        const MoteParticleView view = read_view(world);
        const double apart = fabs((double)view.positions[0] - (double)view.positions[4]);
        expect_near(apart, k == 0 ? 0.09 : 0.1, 0.002, k == 0 ? "distance of drop and grain" : "distance of grains");
        mote_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(unknown_kinds_are_refused),
        ON_EVERY_BACKEND(only_grains_roll),
        ON_EVERY_BACKEND(ignored_particles_pass_through),
        ON_EVERY_BACKEND(ignored_particles_do_not_count),
        ON_EVERY_BACKEND(liquid_and_solid_touch_at_their_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
