// SPDX-License-Identifier: MIT
// Springs: Hooke's law, periods, momentum, ropes, springs of rigid bodies, and what happens when an end is removed.
// Those of scene files: what they are attached to, ropes, what is refused, and states.
#include "solid_fixture.h"

#include "simulation_fixture.h"

#define PI 3.14159265358979323846

static const MoteVec3 weightless = {0, 0, 0};

static MoteSettings spring_settings(void)
{
    MoteSettings settings = solid_settings(0.1f);
    settings.sleep_speed = 0.0f;
    return settings;
}

static uint32_t add_point(MoteWorld *world, MoteVec3 position, float mass)
{
    const MoteParticles one = {
        .count = 1, .positions = &position, .mass = mass, .phase = MOTE_PHASE(MOTE_KIND_BODY, 0)};
    uint32_t id = 0;
    expect_ok(mote_world_add_particles(world, &one, &id));
    return id;
}

static MoteSpring between(MoteWorld *world, uint32_t a, uint32_t b, float stiffness)
{
    const uint32_t ids[] = {a, b};
    MoteSpring spring = mote_default_spring();
    spring.stiffness = stiffness;
    expect_ok(mote_world_make_handles(world, ids, 2, spring.ends));
    return spring;
}

static void add_spring(MoteWorld *world, MoteSpring spring)
{
    expect_ok(mote_world_add_springs(world, &spring, 1, NULL));
}

static MoteParticleState state_of(MoteWorld *world, uint32_t id)
{
    MoteParticleHandle handle;
    MoteParticleState found;
    expect_ok(mote_world_make_handles(world, &id, 1, &handle));
    expect_ok(mote_world_read_handles(world, &handle, 1, &found));
    return found;
}

static MoteSpringState spring_state(MoteWorld *world, uint32_t number)
{
    MoteSpringState rows[64];
    expect_ok(mote_world_read_springs(world, rows, 64));
    return rows[number];
}

// A mass that hangs at rest stretches its spring by m g / k, and is held by m g.
static void a_hanging_mass_obeys_hooke(void **state)
{
    const MoteSettings settings = spring_settings();
    MoteWorld *world = make_world(*state, &settings);
    const double g = -settings.gravity.y, mass = 2.0, k = 200.0;
    const uint32_t pin = add_point(world, (MoteVec3){0, 2, 0}, 0.0f);
    const uint32_t weight = add_point(world, (MoteVec3){0, 1, 0}, (float)mass);
    MoteSpring spring = between(world, pin, weight, (float)k);
    spring.damping = (float)(2.0 * sqrt(k * mass)); // critical
    add_spring(world, spring);
    expect_ok(mote_world_record_forces(world, true));
    expect_ok(mote_world_steps(world, 1.0f / 120.0f, 360, NULL));
    const MoteSpringState held = spring_state(world, 0);
    expect_near(held.length, 1.0 + mass * g / k, 2e-5, "length");
    expect_near(held.tension, mass * g, 2e-3, "tension");
    expect_near(state_of(world, weight).position.y, 1.0 - mass * g / k, 2e-5, "height");
    assert_true(state_of(world, pin).position.y == 2.0f);

    const MoteParticleView view = read_view(world);
    float forces[2][4];
    expect_ok(mote_world_read_forces(world, MOTE_FORCE_SPRINGS, forces[0]));
    assert_string_equal(mote_force_name(MOTE_FORCE_SPRINGS), "force_springs");
    for (uint32_t i = 0; i < 2; i++) {
        expect_near(forces[i][1], view.ids[i] == weight ? mass * g : 0.0, 2e-2, "recorded force");
    }
    mote_world_destroy(world);
}

// When the coordinate has passed its rest for the `turns`-th time, in seconds.
static double crossing_time(MoteWorld *world, uint32_t id, float rest, uint32_t turns, float dt)
{
    float before = state_of(world, id).position.x - rest;
    for (uint32_t step = 1; step < 20000; step++) {
        expect_ok(mote_world_step(world, dt));
        const float now = state_of(world, id).position.x - rest;
        if ((now < 0.0f) != (before < 0.0f) && --turns == 0) {
            return dt * ((double)step - (double)now / ((double)now - (double)before));
        }
        before = now;
    }
    fail_msg("it does not swing");
    return 0.0;
}

// The period is 2 pi sqrt(m / k), whatever the number of iterations.
static void the_period_follows_from_mass_and_stiffness(void **state)
{
    for (uint32_t iterations = 1; iterations <= 8; iterations += 7) {
        MoteSettings settings = spring_settings();
        settings.gravity = weightless;
        settings.iterations = iterations;
        MoteWorld *world = make_world(*state, &settings);
        const double mass = 0.5, k = 50.0;
        const uint32_t pin = add_point(world, (MoteVec3){0, 0, 0}, 0.0f);
        const uint32_t weight = add_point(world, (MoteVec3){1.1f, 0, 0}, (float)mass);
        MoteSpring spring = between(world, pin, weight, (float)k);
        spring.rest_length = 1.0f;
        add_spring(world, spring);
        const double quarter = 0.5 * PI * sqrt(mass / k);
        expect_near(crossing_time(world, weight, 1.0f, 2, 1e-3f), 3.0 * quarter, 0.01 * quarter, "3/4 of a period");
        mote_world_destroy(world);
    }
}

// A tangle of masses, pairs of them linked again and again, and a rigid body among them: momentum stays, to rounding.
static void momentum_is_conserved(void **state)
{
    MoteSettings settings = spring_settings();
    settings.gravity = weightless;
    settings.max_displacement = 0.0f; // which would take momentum
    MoteWorld *world = make_world(*state, &settings);
    const MoteMaterial ghosts[] = {{.ignored_materials = 3}, {.ignored_materials = 3}}; // without contacts
    expect_ok(mote_world_set_materials(world, ghosts, 2));
    enum { POINTS = 30, SPRINGS = 60 };
    for (uint32_t i = 0; i < POINTS; i++) {
        const MoteVec3 position = random_in_box(weightless, 2.0f), velocity = random_in_box((MoteVec3){1, 0, 0}, 0.5f);
        const MoteParticles one = {.count = 1,
                                   .positions = &position,
                                   .velocities = &velocity,
                                   .mass = random_float(0.2f, 3.0f),
                                   .phase = MOTE_PHASE(MOTE_KIND_BODY, 0)};
        expect_ok(mote_world_add_particles(world, &one, NULL));
    }
    const TestBox box = {.nx = 3,
                         .ny = 3,
                         .nz = 3,
                         .spacing = 0.1f,
                         .centre = {4, 0, 0},
                         .rotation = {0, 0, 0, 1},
                         .body = {.mass = 0.3f, .stiffness = 1.0f, .angular_velocity = {0, 2, 1}, .material = 1}};
    add_box(world, &box);
    MoteSpring springs[SPRINGS];
    for (uint32_t i = 0; i < SPRINGS; i++) {
        const uint32_t a = (uint32_t)(random_bits() % (POINTS + 27)), b = (uint32_t)(random_bits() % POINTS);
        springs[i] = between(world, a, a == b ? (b + 1) % POINTS : b, random_float(10.0f, 1000.0f));
        springs[i].damping = i % 2 == 0 ? 3.0f : 0.0f;
        springs[i].slack = i % 3 == 0;
        springs[i].rest_length = i % 4 == 0 ? random_float(0.5f, 3.0f) : -1.0f;
    }
    expect_ok(mote_world_add_springs(world, springs, SPRINGS / 2, NULL));
    expect_ok(mote_world_add_springs(world, springs + SPRINGS / 2, SPRINGS - SPRINGS / 2, NULL));
    assert_int_equal(mote_world_spring_count(world), SPRINGS);
    const MoteStatistics before = read_statistics(world);
    expect_ok(mote_world_steps(world, 1.0f / 120.0f, 240, NULL));
    const MoteStatistics after = read_statistics(world);
    for (int axis = 0; axis < 3; axis++) {
        expect_near(after.momentum[axis], before.momentum[axis], 0.01, "momentum");
    }
    mote_world_destroy(world);
}

// Ten masses on a chain: each spring carries those below it.
static void a_chain_carries_what_hangs_below(void **state)
{
    MoteSettings settings = spring_settings();
    settings.damping = 4.0f;
    MoteWorld *world = make_world(*state, &settings);
    enum { LINKS = 10 };
    const double g = -settings.gravity.y, mass = 0.1, k = 500.0;
    MoteSpring springs[LINKS];
    uint32_t last = add_point(world, (MoteVec3){0, 3, 0}, 0.0f);
    for (uint32_t i = 0; i < LINKS; i++) {
        const uint32_t next = add_point(world, (MoteVec3){0, 2.8f - 0.2f * (float)i, 0}, (float)mass);
        springs[i] = between(world, last, next, (float)k);
        springs[i].damping = 5.0f;
        last = next;
    }
    expect_ok(mote_world_add_springs(world, springs, LINKS, NULL));
    expect_ok(mote_world_steps(world, 1.0f / 600.0f, 2400, NULL));
    for (uint32_t i = 0; i < LINKS; i++) {
        const double load = (LINKS - i) * mass * g;
        expect_near(spring_state(world, i).tension, load, 0.01 * load, "tension");
        expect_near(spring_state(world, i).length, 0.2 + load / k, 0.01 * load / k + 1e-5, "length");
    }
    mote_world_destroy(world);
}

// Links at one particle share its mass: each of four that pull alike removes its part of what they are too long, so
// that one iteration removes all of it, and not four times as much.
static void links_share_a_particle(void **state)
{
    MoteSettings settings = spring_settings();
    settings.gravity = weightless;
    settings.iterations = 1;
    MoteWorld *world = make_world(*state, &settings);
    const double pull = 1e-3;
    const uint32_t weight = add_point(world, weightless, 1.0f);
    for (uint32_t i = 0; i < 4; i++) {
        const float height = 1.0f + 0.25f * (float)i;
        MoteSpring link = between(world, add_point(world, (MoteVec3){0, height, 0}, 0.0f), weight, INFINITY);
        link.rest_length = height - (float)pull;
        add_spring(world, link);
    }
    run_steps(world, 1, 1.0f / 240.0f);
    expect_near(state_of(world, weight).position.y, pull, 0.01 * pull, "height");
    mote_world_destroy(world);
}

// A slack rope is not there; a tight one holds at its length.
static void ropes_only_pull(void **state)
{
    MoteSettings settings = spring_settings();
    MoteWorld *world = make_world(*state, &settings), *free_fall = make_world(*state, &settings);
    const uint32_t pin = add_point(world, (MoteVec3){0, 2, 0}, 0.0f);
    const uint32_t weight = add_point(world, (MoteVec3){0, 1.5f, 0}, 1.0f);
    add_point(free_fall, (MoteVec3){0, 2, 0}, 0.0f);
    add_point(free_fall, (MoteVec3){0, 1.5f, 0}, 1.0f);
    MoteSpring rope = between(world, pin, weight, INFINITY);
    rope.rest_length = 1.0f;
    rope.slack = true;
    add_spring(world, rope);
    run_steps(world, 36, 1.0f / 120.0f); // half of g t^2 is 0.44 m
    run_steps(free_fall, 36, 1.0f / 120.0f);
    assert_int_equal(read_hash(world), read_hash(free_fall));
    assert_true(spring_state(world, 0).tension == 0.0f);
    run_steps(world, 240, 1.0f / 120.0f);
    expect_near(spring_state(world, 0).length, 1.0, 1e-5, "length");
    expect_near(spring_state(world, 0).tension, -settings.gravity.y, 1e-2, "tension");
    mote_world_destroy(world);
    mote_world_destroy(free_fall);
}

// A rigid box of 27 particles on a spring is as heavy as all of it, not as the particle that the spring ends at.
static void a_rigid_body_hangs_and_swings_as_a_whole(void **state)
{
    for (uint32_t k = 0; k < 2; k++) { // hanging, swinging
        MoteSettings settings = spring_settings();
        settings.gravity = k == 0 ? settings.gravity : weightless;
        MoteWorld *world = make_world(*state, &settings);
        const double g = -settings.gravity.y, mass = 27 * 0.2, stiffness = 400.0;
        const TestBox box = {.nx = 3,
                             .ny = 3,
                             .nz = 3,
                             .spacing = 0.1f,
                             .centre = {k == 0 ? 0.0f : 1.1f, 0, 0},
                             .rotation = {0, 0, 0, 1},
                             .body = {.mass = 0.2f, .stiffness = 1.0f}};
        add_box(world, &box);
        const uint32_t pin = add_point(world, k == 0 ? (MoteVec3){0, 1, 0} : weightless, 0.0f);
        MoteSpring spring = between(world, pin, 13, (float)stiffness); // its middle
        spring.rest_length = 1.0f;
        spring.damping = k == 0 ? (float)(2.0 * sqrt(stiffness * mass)) : 0.0f;
        add_spring(world, spring);
        if (k == 0) {
            expect_ok(mote_world_steps(world, 1.0f / 240.0f, 720, NULL));
            expect_near(spring_state(world, 0).length, 1.0 + mass * g / stiffness, 1e-4, "length");
            expect_near(body_state(world, 0).pose.position.y, -mass * g / stiffness, 1e-4, "height");
        } else {
            const double quarter = 0.5 * PI * sqrt(mass / stiffness);
            expect_near(crossing_time(world, 13, 1.0f, 2, 1e-3f), 3.0 * quarter, 0.02 * quarter, "3/4 of a period");
        }
        mote_world_destroy(world);
    }
}

// A plank on four stiff ropes at its corners: each carries its part, and nothing rings.
static void a_plank_hangs_on_four_ropes(void **state)
{
    MoteSettings settings = spring_settings();
    MoteWorld *world = make_world(*state, &settings);
    const TestBox box = {.nx = 5,
                         .ny = 1,
                         .nz = 5,
                         .spacing = 0.1f,
                         .rotation = {0, 0, 0, 1},
                         .body = {.mass = 0.2f, .stiffness = 1.0f}};
    add_box(world, &box);
    const uint32_t corners[] = {0, 4, 20, 24};
    for (uint32_t i = 0; i < 4; i++) {
        const MoteVec3 p = state_of(world, corners[i]).position;
        const uint32_t pin = add_point(world, (MoteVec3){p.x, 1, p.z}, 0.0f);
        MoteSpring rope = between(world, pin, corners[i], 1e5f);
        rope.slack = true;
        add_spring(world, rope);
    }
    expect_ok(mote_world_steps(world, 1.0f / 240.0f, 480, NULL));
    const double load = 25 * 0.2 * -settings.gravity.y;
    double sum = 0.0;
    for (uint32_t i = 0; i < 4; i++) {
        sum += spring_state(world, i).tension;
        expect_near(spring_state(world, i).tension, 0.25 * load, 0.02 * load, "tension");
    }
    expect_near(sum, load, 0.01 * load, "tension of all");
    expect_near(body_state(world, 0).velocity.y, 0.0, 2e-3, "speed");
    mote_world_destroy(world);
}

// A rod that is pulled across at its end gives way as its mass and its inertia say: one iteration shortens a stiff link
// by all that it is too long, the middle moves by the rod's share of that, and the rest is by turning.
static void a_rod_turns_where_it_is_pulled(void **state)
{
    enum { PARTICLES = 7 };
    MoteSettings settings = spring_settings();
    settings.gravity = weightless;
    settings.iterations = 1;
    MoteWorld *world = make_world(*state, &settings);
    const TestBox rod = {.nx = PARTICLES,
                         .ny = 1,
                         .nz = 1,
                         .spacing = 0.1f,
                         .rotation = {0, 0, 0, 1},
                         .body = {.mass = 0.2f, .stiffness = 1.0f}};
    add_box(world, &rod);
    const double reach = 0.1 * (PARTICLES / 2), pull = 1e-3;
    const uint32_t pin = add_point(world, (MoteVec3){(float)reach, 1, 0}, 0.0f);
    MoteSpring link = between(world, pin, PARTICLES - 1, INFINITY);
    link.rest_length = (float)(1.0 - pull);
    add_spring(world, link);
    double inertia = 0.0;
    for (int i = 0; i < PARTICLES; i++) {
        inertia += 0.2 * pow(0.1 * (i - PARTICLES / 2), 2);
    }
    run_steps(world, 1, 1.0f / 240.0f);
    const double share = 1.0 / (1.0 + 0.2 * PARTICLES * reach * reach / inertia); // a quarter for a long rod
    print_message("length %.6f, middle %.6f, expected %.6f\n", spring_state(world, 0).length,
                  (double)body_state(world, 0).pose.position.y, share * pull);
    expect_near(spring_state(world, 0).length, 1.0 - pull, 0.02 * pull, "length");
    expect_near(body_state(world, 0).pose.position.y, share * pull, 0.02 * pull, "height of the middle");
    mote_world_destroy(world);
}

static void a_spring_breaks_with_its_particle(void **state)
{
    MoteSettings settings = spring_settings();
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t pin = add_point(world, (MoteVec3){0, 2, 0}, 0.0f);
    const uint32_t weight = add_point(world, (MoteVec3){0, 1, 0}, 1.0f);
    const uint32_t other = add_point(world, (MoteVec3){1, 1, 0}, 1.0f);
    add_spring(world, between(world, pin, weight, 1e4f));
    add_spring(world, between(world, pin, other, 1e4f));
    add_spring(world, between(world, weight, other, 10.0f));
    run_steps(world, 10, 0.01f);
    assert_true(spring_state(world, 0).tension > 5.0f);
    const uint32_t gone[] = {pin, other};
    const float speed = state_of(world, weight).velocity.y;
    expect_ok(mote_world_remove_particles(world, gone, 2));
    expect_ok(mote_world_steps(world, 0.01f, 20, NULL));
    for (uint32_t i = 0; i < 3; i++) {
        const MoteSpringState broken = spring_state(world, i);
        assert_true(broken.broken && broken.tension == 0.0f && broken.length == 0.0f);
    }
    expect_near(state_of(world, weight).velocity.y, speed + 0.2 * (double)settings.gravity.y, 1e-4, "speed");
    mote_world_destroy(world);
}

// A catapult gives what it held: for the watch that is no energy out of nothing.
static void elastic_energy_is_watched(void **state)
{
    MoteSettings settings = spring_settings();
    settings.gravity = weightless;
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t pin = add_point(world, (MoteVec3){0, 0, 0}, 0.0f);
    const uint32_t left = add_point(world, (MoteVec3){0.5f, 0, 0}, 1.0f);
    const uint32_t right = add_point(world, (MoteVec3){1.0f, 0, 0}, 1.0f);
    MoteSpring springs[] = {between(world, pin, left, 400.0f), between(world, left, right, 400.0f)};
    springs[0].rest_length = springs[1].rest_length = 1.0f;
    expect_ok(mote_world_add_springs(world, springs, 2, NULL)); // 100 J
    for (uint32_t i = 0; i < 20; i++) {
        run_steps(world, 5, 1e-3f);
        expect_near(mote_world_watch(world).gained, 0.0, 0.05, "energy out of nothing");
    }
    assert_true(read_statistics(world).kinetic_energy > 60.0);
    mote_world_destroy(world);
}

// ---- The same run, however it is run ----

static MoteWorld *make_net(const MoteBackendOptions *options)
{
    MoteSettings settings = spring_settings();
    MoteWorld *world = NULL;
    expect_ok(mote_world_create(&settings, options, &world));
    enum { SIDE = 12 };
    uint32_t ids[SIDE][SIDE];
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        const bool corner = i == 0 || i == SIDE - 1 || i == SIDE * SIDE - SIDE || i == SIDE * SIDE - 1;
        const MoteVec3 p = {0.2f * (float)(i % SIDE), 2, 0.2f * (float)(i / SIDE)};
        ids[i / SIDE][i % SIDE] = add_point(world, p, corner ? 0.0f : 0.05f);
    }
    for (uint32_t i = 0; i < SIDE; i++) {
        for (uint32_t j = 0; j + 1 < SIDE; j++) {
            MoteSpring pair[] = {between(world, ids[i][j], ids[i][j + 1], 2000.0f),
                                 between(world, ids[j][i], ids[j + 1][i], 2000.0f)};
            pair[0].slack = pair[1].slack = true;
            pair[0].damping = pair[1].damping = 0.1f;
            expect_ok(mote_world_add_springs(world, pair, 2, NULL));
        }
    }
    add_block(world, (MoteVec3){0.6f, 2.3f, 0.6f}, 8, 6, 8);
    const TestBox box = {.nx = 4,
                         .ny = 3,
                         .nz = 3,
                         .spacing = 0.1f,
                         .centre = {1.1f, 3.2f, 1.1f},
                         .rotation = {0, 0, 0, 1},
                         .body = {.mass = 0.5f, .stiffness = 1.0f}};
    add_box(world, &box);
    const MoteCollider drain = still_collider(MOTE_COLLIDER_PLANE, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.0f);
    expect_ok(mote_world_set_kill_volumes(world, &drain, 1));
    return world;
}

static void runs_repeat_bit_for_bit(void **state)
{
    const TestBackend *backend = *state;
    MoteWorld *one = make_net(&backend->options), *many = make_net(&backend->options);
    run_steps(one, 60, 1.0f / 120.0f);
    for (uint32_t i = 0; i < 2; i++) {
        expect_ok(mote_world_steps(many, 1.0f / 120.0f, 30, NULL));
    }
    assert_int_equal(read_hash(one), read_hash(many));
    WorldSnapshot snapshot;
    expect_ok(world_snapshot_take(one, &snapshot));
    MoteSpringState before[64], after[64];
    expect_ok(mote_world_read_springs(one, before, 64));
    expect_ok(mote_world_steps(one, 1.0f / 120.0f, 30, NULL));
    MoteWorld *resumed = make_net(&backend->options);
    expect_ok(world_snapshot_restore(resumed, &snapshot));
    expect_ok(mote_world_read_springs(resumed, after, 64));
    assert_memory_equal(before, after, sizeof before);
    expect_ok(mote_world_steps(resumed, 1.0f / 120.0f, 30, NULL));
    assert_int_equal(read_hash(one), read_hash(resumed));
    const uint64_t hash = read_hash(one);
    world_snapshot_free(&snapshot);
    mote_world_destroy(many);
    mote_world_destroy(resumed);
    if (strcmp(backend->options.backend, "cpu") == 0) {
        const MoteBackendOptions threads = {.backend = "cpu", .threads = 3, .portable = backend->options.portable};
        MoteWorld *other = make_net(&threads);
        expect_ok(mote_world_steps(other, 1.0f / 120.0f, 90, NULL));
        assert_int_equal(read_hash(other), hash);
        mote_world_destroy(other);
    } else if (!vulkan_may_differ((int)(backend - test_backends))) {
        MoteWorld *other = make_net(&test_backends[1].options); // the portable kernels
        expect_ok(mote_world_steps(other, 1.0f / 120.0f, 90, NULL));
        assert_int_equal(read_hash(other), hash);
        mote_world_destroy(other);
    }
    mote_world_destroy(one);
}

static void wrong_springs_are_refused(void **state)
{
    MoteSettings settings = spring_settings();
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t a = add_point(world, (MoteVec3){0, 2, 0}, 0.0f), b = add_point(world, (MoteVec3){0, 1, 0}, 1.0f);
    const MoteSpring good = between(world, a, b, 100.0f);
    MoteSpring bad[2] = {good, good};
    bad[1].stiffness = 0.0f;
    expect_error(mote_world_add_springs(world, bad, 2, NULL), MOTE_ERROR_INPUT, "spring 1 has stiffness 0 N/m");
    bad[1] = good;
    bad[1].damping = -1.0f;
    expect_error(mote_world_add_springs(world, bad, 2, NULL), MOTE_ERROR_INPUT, "damping -1 N s/m");
    bad[1] = good;
    bad[1].ends[1] = bad[1].ends[0];
    expect_error(mote_world_add_springs(world, bad, 2, NULL), MOTE_ERROR_INPUT, "one particle at both ends");
    bad[1].ends[1].value += 7;
    expect_error(mote_world_add_springs(world, bad, 2, NULL), MOTE_ERROR_INPUT, "none that this world has made");
    assert_int_equal(mote_world_spring_count(world), 0);
    uint32_t first = 9;
    expect_ok(mote_world_add_springs(world, &good, 1, &first));
    assert_int_equal(first, 0);
    expect_ok(mote_world_remove_particles(world, &b, 1));
    expect_error(mote_world_add_springs(world, &good, 1, NULL), MOTE_ERROR_INPUT, "particle that was removed");
    assert_int_equal(mote_world_spring_count(world), 1);
    mote_world_destroy(world);
}

// ---- Scene files -------------------------------------------------------------------------------------------

static const char *backend_name(void **state)
{
    return ((const TestBackend *)*state)->options.backend;
}

#define HEAD                                                                                                           \
    "{\"name\": \"hanging\", \"solver\": {\"spacing\": 0.1, \"iterations\": 8, \"substeps\": 4}, "                     \
    "\"materials\": {\"stone\": {\"density\": 2000}, \"hemp\": {\"density\": 500}}, "                                  \
    "\"bodies\": [{\"mesh\": \"shape:box?x=0.3&y=0.3&z=0.3\", \"material\": \"stone\", \"position\": [0, 1, 0]}], "    \
    "\"springs\": "

// A block of stone, 54 kg, on one spring: it is attached to the middle of its top, and hangs lower by m g / k.
static void a_body_of_a_scene_hangs_on_a_spring(void **state)
{
    Running running = fixture_start(HEAD "[{\"from\": [0, 2, 0], \"from_fixed\": true, \"to\": [0, 1.12, 0], "
                                         "\"stiffness\": 5000, \"damping\": 1000}]}",
                                    backend_name(state));
    assert_int_equal(mote_world_spring_count(running.world), 1);
    MoteBodyState body;
    MoteSpringState spring;
    expect_ok(mote_world_read_springs(running.world, &spring, 1));
    const double before = spring.length;
    expect_near(before, 0.9, 0.02, "length");
    fixture_advance(&running, 120);
    expect_ok(mote_world_read_springs(running.world, &spring, 1));
    expect_ok(mote_world_read_bodies(running.world, &body, 1));
    expect_near(body.mass, 54.0, 0.1, "mass");
    expect_near(spring.tension, body.mass * 9.81, 1.0, "tension");
    expect_near(spring.length - before, body.mass * 9.81 / 5000.0, 5e-4, "extension");
    fixture_stop(&running);
}

// Of 20 segments: 19 particles and a fixed one more, as stiff as one spring, and it sags.
static void ropes_are_made_of_particles(void **state)
{
    (void)state;
    Running running =
        fixture_start("{\"name\": \"rope\", \"solver\": {\"spacing\": 0.1, \"iterations\": 20, \"damping\": 3, "
                      "\"substeps\": 8}, \"materials\": {\"hemp\": {\"density\": 500}}, \"springs\": ["
                      "{\"from\": [-1, 2, 0], \"from_fixed\": true, \"to\": [1, 2, 0], \"to_fixed\": true, "
                      "\"stiffness\": 200, \"damping\": 2, \"segments\": 20, \"slack\": true, "
                      "\"material\": \"hemp\"}, "
                      "{\"from\": [0, 1.98, 0], \"to\": [0, 1, 0], \"to_fixed\": true, \"stiffness\": 50, "
                      "\"rest_length\": 0.5}]}",
                      "cpu");
    assert_int_equal(mote_world_particle_count(running.world), 19 + 2 + 1);
    assert_int_equal(mote_world_spring_count(running.world), 21);
    MoteSpringState springs[21];
    expect_ok(mote_world_read_springs(running.world, springs, 21));
    for (uint32_t i = 0; i < 20; i++) {
        expect_near(springs[i].length, 0.1, 1e-5, "a segment");
    }
    expect_near(springs[20].length, 1.0, 1e-5, "the spring at the rope's middle");
    fixture_advance(&running, 240);
    expect_ok(mote_world_read_springs(running.world, springs, 21));
    // Its two ends carry the rope and what pulls at its middle.
    const MoteParticleView view = fixture_view(&running);
    double weight = 50.0 * ((double)springs[20].length - 0.5), low = 2.0;
    for (uint32_t i = 0; i < view.count; i++) {
        weight += view.positions[4 * i + 3] > 0.0f ? 9.81 / (double)view.positions[4 * i + 3] : 0.0;
        low = view.ids[i] < 21 ? fmin(low, (double)view.positions[4 * i + 1]) : low;
    }
    MoteParticleState ends[2];
    MoteParticleHandle handles[2];
    const uint32_t ids[] = {0, 2}; // the fixed end, and the particle next to it
    expect_ok(mote_world_make_handles(running.world, ids, 2, handles));
    expect_ok(mote_world_read_handles(running.world, handles, 2, ends));
    const double down = (double)(ends[0].position.y - ends[1].position.y) / (double)springs[0].length;
    expect_near(2.0 * down * (double)springs[0].tension, weight, 0.03 * weight, "what the ends carry");
    assert_true(low < 1.9);
    fixture_stop(&running);
}

static void expect_scene_refused(const char *json, const char *text)
{
    MoteScene *scene = NULL;
    MoteSimulation *simulation = NULL;
    const MoteBackendOptions options = {.backend = "cpu"};
    fixture_write("bad.json", json, strlen(json));
    MoteResult result = mote_scene_load(fixture_path("bad.json"), NULL, 0, &scene);
    result = result == MOTE_OK ? mote_simulation_create(scene, &options, &simulation) : result;
    expect_error(result, MOTE_ERROR_INPUT, text);
    mote_scene_destroy(scene);
}

static void wrong_sections_are_refused(void **state)
{
    (void)state;
    expect_scene_refused(HEAD "[{\"from\": [0, 3, 0], \"to\": [0, 1.1, 0]}]}",
                         "springs[0].from: the nearest particle is 1.9");
    expect_scene_refused(HEAD "[{\"from\": [0, 1.1, 0], \"to\": [0, 1.11, 0]}]}", "nearest to the same particle");
    expect_scene_refused(
        HEAD "[{\"from\": [0, 3, 0], \"from_fixed\": true, \"to\": [0, 1.1, 0], \"material\": \"silk\"}]}", "silk");
    expect_scene_refused(HEAD "[{\"from\": [0, 3, 0], \"from_fixed\": true}]}", "to");
    expect_scene_refused(HEAD "[{\"from\": [0, 3, 0], \"to\": [0, 1, 0], \"stiffness\": 0}]}", "stiffness");
}

// A state continues to the bit, and does not fit a scene with other springs.
static void states_of_scenes_resume(void **state)
{
    static const char json[] = HEAD "[{\"from\": [-0.5, 2, 0], \"from_fixed\": true, \"to\": [0.1, 1.1, 0], "
                                    "\"stiffness\": 3000, \"segments\": 6, \"material\": \"hemp\"}, "
                                    "{\"from\": [0.5, 2, 0], \"from_fixed\": true, \"to\": [-0.1, 1.1, 0.1]}]}";
    Running running = fixture_start(json, backend_name(state));
    fixture_advance(&running, 12);
    expect_ok(mote_simulation_save(running.simulation, fixture_path("springs.state")));
    fixture_advance(&running, 12);
    const uint64_t hash = fixture_hash(&running);
    Running resumed = fixture_start(json, backend_name(state));
    expect_ok(mote_simulation_load(resumed.simulation, fixture_path("springs.state")));
    MoteSpringState springs[7];
    expect_ok(mote_world_read_springs(resumed.world, springs, 7));
    assert_true(springs[6].tension != 0.0f);
    fixture_advance(&resumed, 12);
    assert_true(fixture_hash(&resumed) == hash);
    fixture_stop(&resumed);
    fixture_stop(&running);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(a_hanging_mass_obeys_hooke),
        ON_CPU_AND_GPUS(the_period_follows_from_mass_and_stiffness),
        ON_EVERY_BACKEND(momentum_is_conserved),
        ON_CPU_AND_GPUS(a_chain_carries_what_hangs_below),
        ON_EVERY_BACKEND(ropes_only_pull),
        ON_CPU_AND_GPUS(a_rigid_body_hangs_and_swings_as_a_whole),
        ON_CPU_AND_GPUS(links_share_a_particle),
        ON_CPU_AND_GPUS(a_plank_hangs_on_four_ropes),
        ON_CPU_AND_GPUS(a_rod_turns_where_it_is_pulled),
        ON_EVERY_BACKEND(a_spring_breaks_with_its_particle),
        ON_EVERY_BACKEND(elastic_energy_is_watched),
        ON_EVERY_BACKEND(runs_repeat_bit_for_bit),
        ON_EVERY_BACKEND(wrong_springs_are_refused),
        ON_CPU_AND_GPUS(a_body_of_a_scene_hangs_on_a_spring),
        cmocka_unit_test(ropes_are_made_of_particles),
        cmocka_unit_test(wrong_sections_are_refused),
        ON_CPU_AND_GPUS(states_of_scenes_resume),
    };
    static const char *const long_tests[] = {NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, fixture_open, fixture_close);
}
