// SPDX-License-Identifier: MIT
// test_grains.c - single particles and heaps of them: no pop, friction and how it combines, restitution, adhesion, the
// angle of repose, limits of speed.
#define VULKAN_VALIDATE false // many steps
#include "solid_fixture.h"

static const MoteVec3 weightless = {0, 0, 0};

// ---- Particles that begin inside one another (UPP Fig. 4) ----

// Speed after one step over overlap / time step, of a grain half in the ground and of two grains in one another.
static void pop(void **state, uint32_t stabilization, double *ground, double *pair)
{
    const float d = 0.1f, overlap = 0.3f * d, dt = 1.0f / 60.0f;
    MoteSettings settings = solid_settings(d);
    settings.stabilization_iterations = stabilization;
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider plane = flat_ground(0.0f);
    expect_ok(mote_world_set_colliders(world, &plane, 1));
    const MoteVec3 low = {0, 0.5f * d - overlap, 0};
    const uint32_t id = add_grains(world, &low, NULL, 1, 0);
    run_steps(world, 1, dt);
    *ground = length_of(find_particle(world, id).velocity) / (overlap / dt);
    mote_world_destroy(world);

    settings.gravity = weightless;
    world = make_world(*state, &settings);
    const MoteVec3 two[] = {{0, 0, 0}, {0.6f * (d - overlap), 0.8f * (d - overlap), 0}};
    add_grains(world, two, NULL, 2, 0);
    run_steps(world, 1, dt);
    *pair = fastest(world) / (overlap / dt);
    const MoteVec3 a = find_particle(world, 0).position, b = find_particle(world, 1).position;
    expect_near(length_of((MoteVec3){b.x - a.x, b.y - a.y, b.z - a.z}), d, 1e-3 * d, "distance after a step");
    mote_world_destroy(world);
}

static void overlaps_do_not_pop(void **state)
{
    double ground, pair;
    pop(state, 1, &ground, &pair);
    print_message("speed over overlap / dt: with stabilisation %.2g (ground) and %.2g (pair)", ground, pair);
    assert_true(ground < 0.01 && pair < 0.01);
    pop(state, 0, &ground, &pair);
    print_message(", without %.2g and %.2g\n", ground, pair);
    assert_true(ground > 0.5 && pair > 0.25);
}

// ---- Friction ----

// How far a grain slides that starts at 2 m/s.
static double slide(void **state, float own, float other, uint32_t rule)
{
    MoteSettings settings = solid_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const MoteMaterial material = {
        .static_friction = own, .kinetic_friction = own, .rolling_friction = 1.0f, .combine = rule};
    expect_ok(mote_world_set_materials(world, &material, 1));
    const MoteCollider plane = flat_ground(other);
    expect_ok(mote_world_set_colliders(world, &plane, 1));
    const MoteVec3 start = {0, 0.05f, 0}, velocity = {2, 0, 0};
    const uint32_t id = add_grains(world, &start, &velocity, 1, 0);
    run(world, 5.0, 240.0);
    const TestParticle end = find_particle(world, id);
    assert_true(length_of(end.velocity) < 1e-3);
    mote_world_destroy(world);
    return end.position.x;
}

static void coefficients_combine(void **state)
{
    const double expected[] = {0.3, 0.1, 0.05, 0.5}; // average, minimum, product and maximum of 0.1 and 0.5
    for (uint32_t rule = MOTE_COMBINE_AVERAGE; rule <= MOTE_COMBINE_MAXIMUM; rule++) {
        const double distance = slide(state, 0.1f, 0.5f, rule), ideal = 2.0 * 2.0 / (2.0 * expected[rule] * 9.81);
        print_message("rule %u: slid %.3f m, v^2 / (2 mu g) is %.3f\n", rule, distance, ideal);
        expect_near(distance, ideal, 0.02 * ideal, "distance slid");
    }
}

// A ball that rolls down a slope without slipping has 5/7 of the acceleration of one that slides without friction;
// where rolling friction is 1 it slides, and with this friction stays.
static void grains_roll(void **state)
{
    const double angle = 0.3;
    double distances[2];
    for (int k = 0; k < 2; k++) {
        MoteSettings settings = solid_settings(0.1f);
        MoteWorld *world = make_world(*state, &settings);
        const MoteMaterial material = {.static_friction = 0.8f, .kinetic_friction = 0.8f, .rolling_friction = (float)k};
        expect_ok(mote_world_set_materials(world, &material, 1));
        const MoteCollider plane = sloped_plane(angle, 0.8f);
        expect_ok(mote_world_set_colliders(world, &plane, 1));
        const MoteVec3 start = {-0.05f * (float)sin(angle), 0.05f * (float)cos(angle), 0};
        const uint32_t id = add_grains(world, &start, NULL, 1, 0);
        run(world, 1.0, 240.0);
        const MoteVec3 end = find_particle(world, id).position;
        distances[k] = hypot(end.x - start.x, end.y - start.y);
        mote_world_destroy(world);
    }
    const double ideal = 0.5 * 5.0 / 7.0 * 9.81 * sin(angle);
    print_message("down a slope in 1 s: rolled %.3f m (ideal %.3f), kept from rolling %.2g m\n", distances[0], ideal,
                  distances[1]);
    expect_near(distances[0], ideal, 0.1 * ideal, "distance rolled");
    assert_true(distances[1] < 0.01);
}

// ---- Restitution ----

static void grains_bounce(void **state)
{
    for (int k = 0; k < 3; k++) {
        const float e = 0.4f + 0.25f * (float)k;
        MoteSettings settings = solid_settings(0.1f);
        MoteWorld *world = make_world(*state, &settings);
        MoteCollider plane = flat_ground(0.0f);
        plane.restitution = e;
        expect_ok(mote_world_set_colliders(world, &plane, 1));
        const MoteVec3 start = {0, 1.05f, 0};
        const uint32_t id = add_grains(world, &start, NULL, 1, 0);
        double top = 0.0;
        bool hit = false;
        for (int step = 0; step < 480; step++) {
            run_steps(world, 1, 1.0f / 480.0f);
            const TestParticle now = find_particle(world, id);
            hit = hit || now.velocity.y > 0.0f;
            top = hit ? fmax(top, now.position.y - 0.05) : 0.0;
        }
        print_message("restitution %.2f: dropped from 1 m, rose to %.3f m (e^2 is %.3f)\n", e, top, e * e);
        expect_near(top, e * e, 0.1 * e * e, "height of the bounce");
        mote_world_destroy(world);
    }
}

static void grains_collide(void **state)
{
    for (int k = 0; k < 6; k++) {
        const float e = 0.5f * (float)(k % 3), mass = k < 3 ? 1.0f : 3.0f; // of the second
        MoteSettings settings = solid_settings(0.1f);
        settings.gravity = weightless;
        MoteWorld *world = make_world(*state, &settings);
        const MoteMaterial material = {.restitution = e};
        expect_ok(mote_world_set_materials(world, &material, 1));
        const MoteVec3 points[] = {{-0.2f, 0, 0}, {0.2f, 0, 0}}, velocities[] = {{1.5f, 0, 0}, {-0.5f, 0, 0}};
        const float masses[] = {1.0f, mass};
        const MoteParticles pair = {
            .count = 2, .positions = points, .velocities = velocities, .masses = masses, .phase = MOTE_PHASE_SELF};
        expect_ok(mote_world_add_particles(world, &pair, NULL));
        const double before = read_statistics(world).momentum[0];
        run(world, 0.5, 240.0);
        const double after = read_statistics(world).momentum[0];
        const double apart = find_particle(world, 1).velocity.x - find_particle(world, 0).velocity.x;
        print_message("restitution %.1f, masses 1 and %.0f: parted at %.4f of the approach, momentum %.5f -> %.5f\n", e,
                      mass, apart / 2.0, before, after);
        expect_near(after, before, 1e-4, "momentum");
        expect_near(apart, 2.0 * e, 0.05 * 2.0, "speed of parting");
        mote_world_destroy(world);
    }
}

// ---- Adhesion ----

static double hang(void **state, float adhesion)
{
    MoteSettings settings = solid_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    MoteCollider ceiling = flat_ground(0.0f);
    ceiling.from.rotation = ceiling.to.rotation = (MoteQuaternion){0, 0, 1, 0};
    ceiling.adhesion = adhesion;
    expect_ok(mote_world_set_colliders(world, &ceiling, 1));
    const MoteVec3 start = {0, -0.05f, 0};
    const uint32_t id = add_grains(world, &start, NULL, 1, 0);
    run(world, 1.0, 120.0);
    const double fallen = -0.05 - find_particle(world, id).position.y;
    mote_world_destroy(world);
    return fallen;
}

static void adhesion_holds_what_is_lighter(void **state)
{
    const double held = hang(state, 15.0f), fell = hang(state, 5.0f), free_fall = hang(state, 0.0f);
    print_message("under a ceiling for 1 s: adhesion 15 m/s^2 fell %.4f m, 5 fell %.3f m, none %.3f m\n", held, fell,
                  free_fall);
    assert_true(held < 0.01);
    assert_true(fell > 1.0 && fell < free_fall);
    expect_near(free_fall, 4.905, 0.05, "free fall");
}

// ---- Limits ----

static void limits_hold(void **state)
{
    const float dt = 1.0f / 120.0f;
    MoteSettings settings = solid_settings(0.1f);
    settings.max_speed = 1.5f;
    MoteWorld *world = make_world(*state, &settings);
    const MoteVec3 start = {0, 2, 0}, quick = {0, 0, 4};
    add_grains(world, &start, &quick, 1, 0);
    for (int step = 0; step < 60; step++) {
        run_steps(world, 1, dt);
        assert_true(fastest(world) < 1.5 * 1.0001);
    }
    expect_near(fastest(world), 1.5, 1e-3, "speed at its limit");
    mote_world_destroy(world);

    // The ground would stop it at once; it may take 60 m/s^2 a step, gravity aside.
    settings.max_speed = 0.0f;
    settings.max_acceleration = 60.0f;
    world = make_world(*state, &settings);
    const MoteCollider plane = flat_ground(0.0f);
    expect_ok(mote_world_set_colliders(world, &plane, 1));
    const MoteVec3 above = {0, 0.06f, 0}, down = {0, -5, 0};
    const uint32_t id = add_grains(world, &above, &down, 1, 0);
    double largest = 0.0;
    for (int step = 0; step < 60; step++) {
        const double before = find_particle(world, id).velocity.y;
        run_steps(world, 1, dt);
        const double change = find_particle(world, id).velocity.y - (before - 9.81 * (double)dt);
        largest = fmax(largest, fabs(change) / (double)dt);
    }
    print_message("largest acceleration by a constraint %.3f m/s^2 of 60\n", largest);
    expect_near(largest, 60.0, 0.1, "largest acceleration");
    mote_world_destroy(world);

    settings.max_acceleration = 0.0f;
    settings.gravity = weightless;
    settings.damping = 2.0f;
    world = make_world(*state, &settings);
    add_grains(world, &start, &quick, 1, 0);
    run(world, 1.0, 120.0);
    expect_near(fastest(world), 4.0 * exp(-2.0), 1e-3, "damped speed");
    mote_world_destroy(world);
}

// ---- Forces ----

// One grain on another on the ground: what the upper one is pushed with, the lower one is pushed back with.
static void forces_of_contacts(void **state)
{
    const float d = 0.1f;
    MoteSettings settings = solid_settings(d);
    settings.iterations = 30;
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider plane = flat_ground(0.0f);
    expect_ok(mote_world_set_colliders(world, &plane, 1));
    expect_ok(mote_world_record_forces(world, true));
    const MoteVec3 points[] = {{0, 0.5f * d, 0}, {0, 1.5f * d, 0}};
    add_grains(world, points, NULL, 2, 0);
    run(world, 1.0, 120.0);
    float pairs[8], colliders[8];
    expect_ok(mote_world_read_forces(world, MOTE_FORCE_PAIRS, pairs));
    expect_ok(mote_world_read_forces(world, MOTE_FORCE_COLLIDERS, colliders));
    const uint32_t low = find_particle(world, 0).row, high = find_particle(world, 1).row;
    print_message("upper grain %.4f N, lower %.4f N by contact and %.4f N by the ground (weight 9.81 N each)\n",
                  pairs[4 * high + 1], pairs[4 * low + 1], colliders[4 * low + 1]);
    expect_near(pairs[4 * high + 1], 9.81, 0.01 * 9.81, "force on the upper grain");
    expect_near(pairs[4 * high + 1] + pairs[4 * low + 1], 0.0, 0.001 * 9.81, "sum of forces");
    expect_near(colliders[4 * low + 1], 2 * 9.81, 0.02 * 9.81, "force of the ground");
    mote_world_destroy(world);
}

// ---- Momentum ----

// Two blocks of grains of two masses. One flies into the other off its centre: surfaces and corners meet, where grains
// touch few others, with the inside, where they touch many.
static void add_colliding_blocks(MoteWorld *world)
{
    enum { ACROSS = 8, COUNT = ACROSS * ACROSS * ACROSS };
    const MoteVec3 corners[2] = {{-0.425f, -0.085f, -0.26f}, {0.0f, -0.2f, -0.2f}};
    for (int side = 0; side < 2; side++) {
        MoteVec3 points[COUNT], velocities[COUNT];
        for (int i = 0; i < COUNT; i++) {
            points[i] = (MoteVec3){corners[side].x + 0.05f * (float)(i % ACROSS),
                                   corners[side].y + 0.05f * (float)(i / ACROSS % ACROSS),
                                   corners[side].z + 0.05f * (float)(i / ACROSS / ACROSS)};
            velocities[i] = side == 0 ? (MoteVec3){3.0f, -1.0f, 0.5f} : (MoteVec3){0, 0, 0};
        }
        const MoteParticles added = {.count = COUNT,
                                     .positions = points,
                                     .velocities = velocities,
                                     .mass = side == 0 ? 0.2f : 0.1f,
                                     .phase = MOTE_PHASE_SELF};
        expect_ok(mote_world_add_particles(world, &added, NULL));
    }
}

// How far two momenta differ, over the first one.
static double change_of_momentum(const MoteStatistics *before, const MoteStatistics *after)
{
    double change = 0.0, size = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        change += pow(after->momentum[axis] - before->momentum[axis], 2.0);
        size += pow(before->momentum[axis], 2.0);
    }
    return sqrt(change / size);
}

// What one grain loses another gains: without friction, with it, with restitution, with friction on velocities.
static void grains_keep_momentum(void **state)
{
    static const char *const names[] = {"smooth", "friction, omega 1.5", "restitution 0.5", "friction on velocities"};
    for (int k = 0; k < 4; k++) {
        MoteSettings settings = solid_settings(0.05f);
        settings.gravity = (MoteVec3){0, 0, 0};
        settings.contact_relaxation = k == 1 ? 1.5f : 1.0f;
        settings.friction_model = k == 3 ? MOTE_FRICTION_VELOCITY : MOTE_FRICTION_POSITION;
        MoteWorld *world = make_world(*state, &settings);
        const float mu = k == 0 ? 0.0f : 0.5f;
        const MoteMaterial sand = {.static_friction = mu,
                                   .kinetic_friction = mu,
                                   .restitution = k == 2 ? 0.5f : 0.0f,
                                   .rolling_friction = 1.0f};
        expect_ok(mote_world_set_materials(world, &sand, 1));
        add_colliding_blocks(world);
        const MoteStatistics before = read_statistics(world);
        run(world, 0.2, 240.0);
        const MoteStatistics after = read_statistics(world);
        const double change = change_of_momentum(&before, &after);
        print_message("%s: momentum changed by %.1e, %.2f of the energy is left\n", names[k], change,
                      after.kinetic_energy / before.kinetic_energy);
        assert_true(after.kinetic_energy < 0.95 * before.kinetic_energy);
        expect_near(change, 0.0, 1e-5, "change of momentum");
        mote_world_destroy(world);
    }
}

// ---- Support that is remembered ----

enum { TOWER = 40 };

static MoteWorld *make_tower(void **state, float memory, float height)
{
    const float d = 0.1f;
    MoteSettings settings = solid_settings(d);
    settings.iterations = 4;
    settings.gravity_warm_start = memory;
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider plane = flat_ground(0.0f);
    expect_ok(mote_world_set_colliders(world, &plane, 1));
    MoteVec3 points[TOWER];
    for (uint32_t i = 0; i < TOWER; i++) {
        points[i] = (MoteVec3){0, height + ((float)i + 0.5f) * d, 0};
    }
    add_grains(world, points, NULL, TOWER, 0);
    return world;
}

// A tower of 40 grains with 4 iterations a step: the weight of the lowest needs 40 of them to be felt by all. With
// memory it swings up and down about once a second, so its height is the mean over some of that.
static void support_is_remembered(void **state)
{
    enum { SAMPLES = 80 };
    double heights[2];
    for (int k = 0; k < 2; k++) {
        MoteWorld *world = make_tower(state, k == 0 ? 0.0f : 0.9f, 0.0f);
        run(world, 1.0, 120.0);
        double sum = 0.0;
        for (int n = 0; n < SAMPLES; n++) {
            run(world, 0.05, 120.0);
            sum += (double)find_particle(world, TOWER - 1).position.y;
        }
        heights[k] = sum / SAMPLES / (0.1 * (TOWER - 0.5));
        mote_world_destroy(world);
    }
    print_message("mean height of a tower of 40 grains from 1 s to 5 s: %.3f of what it was, %.3f with memory\n",
                  heights[0], heights[1]);
    assert_true(heights[0] < 0.9);
    assert_true(heights[1] > 0.94 && heights[1] < 1.0001);
}

// What stands falls when the ground is gone: late by no more than the steps that memory lasts, and not at all late in
// flight, where no grain touches another.
static void support_ends(void **state)
{
    const float memory = 0.9f;
    MoteWorld *world = make_tower(state, memory, 2.0f);
    run(world, 0.5, 120.0);
    const double flown = 2.0 + 0.05 - (double)find_particle(world, 0).position.y;
    expect_near(flown, 0.5 * 9.81 * 0.25 * (1.0 + 1.0 / 60.0), 1e-3, "fall in flight");
    mote_world_destroy(world);

    world = make_tower(state, memory, 0.0f);
    run(world, 3.0, 120.0);
    // Its centre of mass: contacts within the tower cannot change how that flies on.
    const MoteStatistics before = read_statistics(world);
    expect_ok(mote_world_set_colliders(world, NULL, 0));
    run(world, 0.5, 120.0);
    const double flies_on = 0.5 * before.momentum[1] / TOWER; // of 1 kg each
    const double fallen = before.centre_of_mass[1] + flies_on - read_statistics(world).centre_of_mass[1];
    const double late = 9.81 / 120.0 / (1.0 - (double)memory) * 0.5; // m
    print_message("fallen %.3f m in 0.5 s, freely %.3f m\n", fallen, 0.5 * 9.81 * 0.25);
    assert_true(fallen > 0.5 * 9.81 * 0.25 - late && fallen < 0.5 * 9.81 * 0.25 * 1.02);
    mote_world_destroy(world);
}

// ---- Heaps ----

// Three thousand grains fall as a column on rough ground. The slope of a cone with their mean height and their mean
// distance from the axis: H / R = 2 z / r, for a cone has z = H / 4 and r = R / 2.
static double heap(void **state, float mu, uint32_t model)
{
    enum { ACROSS = 16, COUNT = 3000 };
    const float d = 0.05f;
    MoteSettings settings = solid_settings(d);
    settings.iterations = 6;
    settings.contact_relaxation = 1.5f;
    settings.sleep_speed = 0.05f;
    settings.friction_model = model;
    MoteWorld *world = make_world(*state, &settings);
    const MoteMaterial sand = {.static_friction = mu, .kinetic_friction = mu, .rolling_friction = 1.0f};
    expect_ok(mote_world_set_materials(world, &sand, 1));
    MoteCollider plane = flat_ground(0.6f); // rough: what slides is grain on grain
    plane.combine = MOTE_COMBINE_MAXIMUM;
    expect_ok(mote_world_set_colliders(world, &plane, 1));
    MoteVec3 *points = malloc(COUNT * sizeof *points);
    assert_non_null(points);
    uint32_t count = 0;
    for (int layer = 0; count < COUNT; layer++) {
        for (int k = 0; k < ACROSS * ACROSS && count < COUNT; k++) {
            const float x = ((float)(k % ACROSS) - 7.5f) * d, z = ((float)(k / ACROSS) - 7.5f) * d;
            if (x * x + z * z < 64.0f * d * d) {
                const float wobble = 0.01f * d * (float)((k * 7 + layer * 3) % 5 - 2); // no perfect columns
                points[count++] = (MoteVec3){x + wobble, ((float)layer + 0.5f) * d, z - wobble};
            }
        }
    }
    add_grains(world, points, NULL, COUNT, 0);
    free(points);
    run(world, 3.0, 120.0);
    const MoteParticleView view = read_view(world);
    double height = 0.0, radius = 0.0;
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * (size_t)i;
        height += (double)p[1] - 0.5 * (double)d;
        radius += sqrt((double)p[0] * p[0] + (double)p[2] * p[2]);
    }
    mote_world_destroy(world);
    return atan(2.0 * height / radius) * 180.0 / 3.14159265358979;
}

static void slope_grows_with_friction(void **state)
{
    double last = 0.0;
    for (int k = 1; k <= 4; k++) {
        const double angle = heap(state, 0.1f * (float)k, MOTE_FRICTION_POSITION);
        print_message("friction %.1f: angle %.1f degrees\n", 0.1 * k, angle);
        assert_true(angle > last + 0.5);
        last = angle;
    }
    const double creeping = heap(state, 0.4f, MOTE_FRICTION_VELOCITY);
    print_message("friction 0.4 on velocities: angle %.1f degrees\n", creeping);
    assert_true(creeping < 0.5 * last);
}

// Two pinned grains push one away by a tenth of the contact distance each, at right angles. UPP eq. 12 and 13: local,
// the sum is divided by the number of contacts, global it is not; both times omega.
static void contacts_are_averaged_as_chosen(void **state)
{
    for (int global = 0; global < 2; global++) {
        MoteSettings settings = mote_default_settings();
        settings.gravity = (MoteVec3){0, 0, 0};
        settings.iterations = 1;
        settings.stabilization_iterations = 0;
        settings.contact_averaging = global != 0 ? MOTE_CONTACTS_GLOBAL : MOTE_CONTACTS_LOCAL;
        settings.contact_relaxation = 0.7f;
        MoteWorld *world = make_world(*state, &settings);
        const float d = settings.solid_distance * settings.spacing;
        const MoteVec3 positions[] = {{0, 0, 0}, {-0.9f * d, 0, 0}, {0, -0.9f * d, 0}};
        const float masses[] = {1.0f, 0.0f, 0.0f};
        const MoteParticles particles = {
            .count = 3, .positions = positions, .masses = masses, .phase = MOTE_PHASE_SELF};
        expect_ok(mote_world_add_particles(world, &particles, NULL));
        run_steps(world, 1, 1e-2f);
        const MoteParticleView view = read_view(world);
        const double expected = 0.7 * 0.1 * (double)d * (global != 0 ? 1.0 : 0.5);
        for (uint32_t i = 0; i < view.count; i++) {
            if (view.ids[i] == 0) {
                expect_near(view.positions[4 * i], expected, 1e-3 * expected, "the way along x");
                expect_near(view.positions[4 * i + 1], expected, 1e-3 * expected, "the way along y");
            }
        }
        mote_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(contacts_are_averaged_as_chosen),
        ON_EVERY_BACKEND(overlaps_do_not_pop),
        ON_EVERY_BACKEND(coefficients_combine),
        ON_EVERY_BACKEND(grains_roll),
        ON_EVERY_BACKEND(grains_bounce),
        ON_EVERY_BACKEND(grains_collide),
        ON_EVERY_BACKEND(adhesion_holds_what_is_lighter),
        ON_EVERY_BACKEND(limits_hold),
        ON_EVERY_BACKEND(forces_of_contacts),
        ON_EVERY_BACKEND(grains_keep_momentum),
        ON_EVERY_BACKEND(support_is_remembered),
        ON_EVERY_BACKEND(support_ends),
        ON_BACKEND(slope_grows_with_friction, "cpu", 0),
    };
    static const char *const long_tests[] = {"slope_grows_with_friction", NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, NULL, NULL);
}
