// SPDX-License-Identifier: MIT
// test_bodies.c - rigid and soft bodies by themselves and against colliders: momentum in free flight, degenerate
// bodies, friction on a ramp, bending, plasticity.
#define VULKAN_VALIDATE false // many steps
#include "solid_fixture.h"

static const MoteQuaternion no_turn = {0, 0, 0, 1};

static double length3(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double relative_drift(const double before[3], const double after[3])
{
    const double d[3] = {after[0] - before[0], after[1] - before[1], after[2] - before[2]};
    return length3(d) / length3(before);
}

// Angular momentum about the centre of mass.
static void spin_of(const MoteStatistics *statistics, double spin[3])
{
    const double *c = statistics->centre_of_mass, *p = statistics->momentum;
    for (int k = 0; k < 3; k++) {
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        spin[k] = statistics->angular_momentum[k] - (c[l] * p[m] - c[m] * p[l]);
    }
}

// ---- Free flight ----

static float soft_spacing; // m, between clusters

static void free_flight(void **state, MoteVec3 spin, float stiffness, double *linear, double *angular)
{
    MoteSettings settings = solid_settings(0.1f);
    settings.gravity = (MoteVec3){0, 0, 0};
    MoteWorld *world = make_world(*state, &settings);
    const TestBox box = {3,
                         4,
                         6,
                         0.1f,
                         {0, 0, 0},
                         no_turn,
                         true,
                         {.mass = 1.0f,
                          .velocity = {0.5f, 0.2f, -0.3f},
                          .angular_velocity = spin,
                          .stiffness = stiffness,
                          .cluster_spacing = soft_spacing,
                          .cluster_radius = 2.0f * soft_spacing}};
    add_box(world, &box);
    MoteStatistics before, after;
    expect_ok(mote_world_statistics(world, &before));
    run(world, 10.0, 120.0);
    expect_ok(mote_world_statistics(world, &after));
    *linear = relative_drift(before.momentum, after.momentum);
    // About the centre of mass, which is six metres away by now: about the origin, what six metres times the rounding
    // of the linear momentum makes would come on top.
    double spin_before[3], spin_after[3];
    spin_of(&before, spin_before);
    spin_of(&after, spin_after);
    *angular = relative_drift(spin_before, spin_after);
    mote_world_destroy(world);
}

static void flight_keeps_momentum(void **state)
{
    double linear, angular;
    free_flight(state, (MoteVec3){0, 3, 0}, 1.0f, &linear, &angular);
    print_message("about an axis: linear %.2g, angular %.2g\n", linear, angular);
    assert_true(linear < 1e-3 && angular < 1e-3);
    free_flight(state, (MoteVec3){2, 3, 1}, 1.0f, &linear, &angular);
    print_message("tumbling: linear %.2g, angular %.2g\n", linear, angular);
    assert_true(linear < 1e-3 && angular < 1e-3);
}

// Energy of a body that tumbles about its middle axis, over a thousand steps: the spin follows the turning inertia half
// way through each of them.
static void tumbling_keeps_energy(void **state)
{
    MoteSettings settings = solid_settings(0.1f);
    settings.gravity = (MoteVec3){0, 0, 0};
    settings.damping = settings.sleep_speed = settings.max_displacement = 0.0f;
    MoteWorld *world = make_world(*state, &settings);
    const TestBox box = {
        2,         3,       5,    0.1f,
        {0, 0, 0}, no_turn, true, {.mass = 1.0f, .angular_velocity = {0.2f, 8.0f, 0.1f}, .stiffness = 1.0f}};
    add_box(world, &box);
    const double before = read_statistics(world).kinetic_energy;
    double lowest = before, highest = before;
    for (int part = 0; part < 100; part++) {
        run_steps(world, 10, 1.0f / 120.0f);
        const double energy = read_statistics(world).kinetic_energy;
        lowest = fmin(lowest, energy);
        highest = fmax(highest, energy);
    }
    print_message("energy %.4f to %.4f of what it was\n", lowest / before, highest / before);
    mote_world_destroy(world);
    assert_true(lowest > 0.99 * before && highest < 1.01 * before);
}

// About its axis of symmetry a box turns as it was set turning, in rate and in angle; at the higher rate it does so by
// half a radian a step.
static void spin_is_kept(void **state)
{
    const double rates[] = {6.0, 60.0};
    for (int k = 0; k < 2; k++) {
        MoteSettings settings = solid_settings(0.1f);
        settings.gravity = (MoteVec3){0, 0, 0};
        settings.max_displacement = 0.0f; // of the corners, which are fast
        MoteWorld *world = make_world(*state, &settings);
        const float rate = (float)rates[k];
        const TestBox box = {
            4,         4,       6,    0.1f,
            {0, 0, 0}, no_turn, true, {.mass = 1.0f, .angular_velocity = {0, 0, rate}, .stiffness = 1.0f}};
        add_box(world, &box);
        run(world, 10.0, 120.0);
        const MoteBodyState end = body_state(world, 0);
        const double angle = 2.0 * atan2(end.pose.rotation.z, end.pose.rotation.w);
        const double late = remainder(angle - rates[k] * 10.0, 2.0 * 3.14159265358979);
        print_message("%2.0f rad/s for 10 s: rate off by %.2g, angle by %.2g rad of %.0f\n", rates[k],
                      end.angular_velocity.z / rates[k] - 1.0, late, rates[k] * 10.0);
        expect_near(end.angular_velocity.z, rates[k], 1e-3 * rates[k], "rate of rotation");
        expect_near(hypot(end.angular_velocity.x, end.angular_velocity.y), 0.0, 1e-3 * rates[k], "wobble");
        expect_near(late, 0.0, 1e-3 * rates[k] * 10.0, "angle");
        mote_world_destroy(world);
    }
}

// Soft bodies keep both, too: of one cluster, and of many that overlap; also when they turn far in a step.
static void soft_flight(void **state)
{
    const float spacings[] = {0.0f, 0.15f};
    const MoteVec3 spins[] = {{0, 3, 0}, {2, 3, 1}, {0, 20, 0}};
    for (int k = 0; k < 6; k++) {
        double linear, angular;
        soft_spacing = spacings[k % 2];
        free_flight(state, spins[k / 2], 0.5f, &linear, &angular);
        soft_spacing = 0.0f;
        print_message("soft, %s, %g rad/s about y: linear %.2g, angular %.2g\n",
                      k % 2 != 0 ? "clusters" : "one cluster", (double)spins[k / 2].y, linear, angular);
        assert_true(linear < 1e-3 && angular < 1e-3);
    }
}

// ---- Bodies of few particles ----

// One, two, three, five in a line, nine in a plane: they fall, land, lie on the ground and stay.
static void degenerate_bodies_rest(void **state)
{
    const uint32_t sizes[][2] = {{1, 1}, {2, 1}, {3, 0}, {5, 1}, {3, 3}};
    for (int k = 0; k < 5; k++) {
        const float d = 0.1f;
        MoteSettings settings = solid_settings(d);
        settings.sleep_speed = 0.03f; // less than gravity gives in a step: what floats cannot sleep
        MoteWorld *world = make_world(*state, &settings);
        const MoteCollider plane = flat_ground(0.5f);
        expect_ok(mote_world_set_colliders(world, &plane, 1));
        MoteVec3 points[9];
        uint32_t count = 0;
        const MoteQuaternion tilt = turn_about((MoteVec3){0.6f, 0, 0.8f}, 0.7);
        for (uint32_t j = 0; j < (sizes[k][1] > 0 ? sizes[k][1] : 2); j++) { // 3, 0 is a triangle
            for (uint32_t i = 0; i < (sizes[k][1] > 0 ? sizes[k][0] : 2 - j); i++) {
                const MoteVec3 p = turned(tilt, (MoteVec3){d * (float)i, 0, d * (float)j});
                points[count++] = (MoteVec3){p.x, p.y + 0.5f, p.z};
            }
        }
        assert_int_equal(count, sizes[k][1] > 0 ? sizes[k][0] * sizes[k][1] : 3);
        const MoteBody body = {.count = count, .positions = points, .mass = 0.5f, .stiffness = 1.0f};
        expect_ok(mote_world_add_body(world, &body, NULL, NULL));
        run(world, 3.0, 120.0);
        const double speed = fastest(world);
        const MoteStatistics end = read_statistics(world);
        print_message("%u particles: lie between %.5f and %.5f m (margin %.3f), speed %.2g m/s\n", count,
                      end.bounds_min[1], end.bounds_max[1], 0.05, speed);
        expect_near(end.bounds_min[1], 0.05, 0.01 * (double)d, "lowest");
        expect_near(end.bounds_max[1], 0.05, 0.02 * (double)d, "highest");
        assert_true(speed < 0.01);
        mote_world_destroy(world);
    }
}

// ---- Soft bodies ----

// A beam across a narrow support: how much lower its ends are than its middle.
static double sag(void **state, float cluster_spacing)
{
    const float d = 0.1f;
    MoteSettings settings = solid_settings(d);
    settings.damping = 2.0f;
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider block =
        still_collider(MOTE_COLLIDER_BOX, (MoteVec3){0, -0.5f, 0}, (MoteVec3){0.3f, 0.5f, 1}, 0.0f);
    expect_ok(mote_world_set_colliders(world, &block, 1));
    const TestBox beam = {20,
                          2,
                          2,
                          d,
                          {0, 0.1f, 0},
                          no_turn,
                          false,
                          {.mass = 1.0f,
                           .stiffness = 0.5f,
                           .cluster_spacing = cluster_spacing,
                           .cluster_radius = 2.0f * cluster_spacing}};
    add_box(world, &beam);
    run(world, 5.0, 60.0);
    fastest(world); // all finite
    double middle = 0.0, ends = 0.0;
    for (uint32_t id = 0; id < 80; id++) {
        const double y = find_particle(world, id).position.y;
        middle += id % 20 == 9 || id % 20 == 10 ? y / 8.0 : 0.0;
        ends += id % 20 == 0 || id % 20 == 19 ? y / 8.0 : 0.0;
    }
    mote_world_destroy(world);
    return middle - ends;
}

static void clusters_bend(void **state)
{
    const double one = sag(state, 0.0f), many = sag(state, 0.2f);
    print_message("beam of 2 m: ends sag by %.4f m with one cluster, %.4f m with many\n", one, many);
    assert_true(many > 0.05 && many < 1.0);
    assert_true(one < 0.2 * many);
}

// Presses a soft box to two thirds of its height between ground and a plane that comes down, and lets go. Returns the
// height in the end over the one in the beginning, and how many particles are plain spheres.
static double press(void **state, float yield, uint32_t *spheres)
{
    const float d = 0.1f, dt = 1.0f / 120.0f;
    MoteSettings settings = solid_settings(d);
    settings.damping = 1.0f;
    settings.gravity = (MoteVec3){0, 0, 0}; // under which a soft body sags
    MoteWorld *world = make_world(*state, &settings);
    const TestBox box = {
        6,
        6,
        6,
        d,
        {0, 0.3f, 0},
        no_turn,
        true,
        {.mass = 1.0f, .stiffness = 0.3f, .plastic_yield = yield, .plastic_creep = 20.0f, .plastic_limit = 0.1f}};
    add_box(world, &box);
    for (int step = 0; step < 480; step++) {
        const float begin = step < 120 ? 0.65f - 0.25f * (float)step / 120.0f : 0.4f;
        const float end = step < 120 ? 0.65f - 0.25f * (float)(step + 1) / 120.0f : 0.4f;
        MoteCollider colliders[] = {flat_ground(0.5f), flat_ground(0.0f)};
        colliders[1].from = (MoteTransform){{0, begin, 0}, {0, 0, 1, 0}};
        colliders[1].to = (MoteTransform){{0, end, 0}, {0, 0, 1, 0}};
        expect_ok(mote_world_set_colliders(world, colliders, step < 240 ? 2 : 1));
        run_steps(world, 1, dt);
    }
    fastest(world);
    const MoteStatistics after = read_statistics(world);
    const size_t bytes = 216 * MEMBER_FACES * sizeof(vec4);
    vec4 *fields = download_copy(world, world->view.member_fields, bytes);
    *spheres = 0;
    for (uint32_t m = 0; m < 216; m++) {
        *spheres += fields[m * MEMBER_FACES].w >= NO_FIELD;
    }
    free(fields);
    mote_world_destroy(world);
    return (after.bounds_max[1] - after.bounds_min[1]) / 0.5;
}

static void plastic_bodies_keep_their_dents(void **state)
{
    uint32_t spheres, plain;
    const double elastic = press(state, 0.0f, &plain), plastic = press(state, 0.02f, &spheres);
    print_message("pressed to 0.60 of their height: elastic came back to %.3f, plastic to %.3f; %u and %u of 216 "
                  "particles are plain spheres\n",
                  elastic, plastic, plain, spheres);
    expect_near(elastic, 1.0, 0.02, "height of the elastic body");
    assert_true(plastic < 0.85);
    assert_int_equal(plain, 0);
    assert_true(spheres > 20);
}

// ---- Friction ----

static double ramp_run(void **state, double angle, double mu, double rate, double seconds, double *speed)
{
    MoteSettings settings = solid_settings(0.1f);
    settings.iterations = 10;
    MoteWorld *world = make_world(*state, &settings);
    const MoteMaterial material = {.static_friction = (float)mu, .kinetic_friction = (float)mu};
    expect_ok(mote_world_set_materials(world, &material, 1));
    const MoteCollider plane = sloped_plane(angle, (float)mu);
    expect_ok(mote_world_set_colliders(world, &plane, 1));
    const MoteQuaternion q = turn_about((MoteVec3){0, 0, 1}, angle);
    const float lift = 0.05f * 4.0f;
    const MoteVec3 centre = turned(q, (MoteVec3){0, lift, 0});
    const TestBox box = {6, 4, 6, 0.1f, centre, q, true, {.mass = 1.0f, .stiffness = 1.0f}};
    add_box(world, &box);
    run(world, seconds, rate);
    const MoteBodyState end = body_state(world, 0);
    const MoteVec3 down = turned(q, (MoteVec3){-1, 0, 0});
    const MoteVec3 moved = {end.pose.position.x - centre.x, end.pose.position.y - centre.y,
                            end.pose.position.z - centre.z};
    *speed = end.velocity.x * down.x + end.velocity.y * down.y + end.velocity.z * down.z;
    mote_world_destroy(world);
    return moved.x * down.x + moved.y * down.y + moved.z * down.z;
}

static void ramps_at(void **state, double rate)
{
    const double degree = 3.14159265358979 / 180.0;
    for (int m = 0; m < 3; m++) {
        const double mu = 0.2 + 0.3 * m, theta = atan(mu);
        double held_speed, speed, fast;
        const double held = ramp_run(state, theta - 2 * degree, mu, rate, 2.0, &held_speed);
        const double slid = ramp_run(state, theta + 2 * degree, mu, rate, 2.0, &speed);
        const double expected = 0.5 * 9.81 * (sin(theta + 2 * degree) - mu * cos(theta + 2 * degree)) * 4.0;
        const double steep = theta + 15 * degree;
        const double far = ramp_run(state, steep, mu, rate, 1.0, &fast);
        const double ideal = 0.5 * 9.81 * (sin(steep) - mu * cos(steep));
        print_message("mu %.1f at %3.0f Hz: 2 degrees below moved %.2g m (%.2g m/s), above %.3f m (ideal %.3f), 15 "
                      "above %.3f (%.3f)\n",
                      mu, rate, held, held_speed, slid, expected, far, ideal);
        assert_true(held < 0.01);
        expect_near(slid, expected, 0.1 * expected, "distance slid at two degrees above");
        expect_near(far, ideal, 0.1 * ideal, "distance slid");
    }
}

static void block_holds_and_slides_at_60_hz(void **state)
{
    ramps_at(state, 60.0);
}

static void block_holds_and_slides_at_240_hz(void **state)
{
    ramps_at(state, 240.0);
}

// ---- Restitution ----

static void a_box_bounces(void **state)
{
    const float e = 0.7f;
    MoteSettings settings = solid_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    MoteCollider plane = flat_ground(0.3f);
    plane.restitution = e;
    expect_ok(mote_world_set_colliders(world, &plane, 1));
    const TestBox box = {4, 4, 4, 0.1f, {0, 1.2f, 0}, no_turn, true, {.mass = 1.0f, .stiffness = 1.0f}};
    add_box(world, &box);
    double top = 0.0, spin = 0.0;
    bool hit = false;
    for (int step = 0; step < 240; step++) {
        run_steps(world, 1, 1.0f / 240.0f);
        const MoteBodyState now = body_state(world, 0);
        hit = hit || now.velocity.y > 0.0f;
        top = hit ? fmax(top, now.pose.position.y - 0.2) : 0.0;
        spin = fmax(spin, length_of(now.angular_velocity));
    }
    print_message("a box dropped flat from 1 m with restitution 0.7 rose to %.3f m (ideal %.3f), spin %.2g rad/s\n",
                  top, e * e, spin);
    expect_near(top, e * e, 0.1 * e * e, "height of the bounce");
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_CPU_AND_GPUS(flight_keeps_momentum),
        ON_EVERY_BACKEND(spin_is_kept),
        ON_EVERY_BACKEND(tumbling_keeps_energy),
        ON_CPU_AND_GPUS(soft_flight),
        ON_EVERY_BACKEND(degenerate_bodies_rest),
        ON_CPU_AND_GPUS(clusters_bend),
        ON_CPU_AND_GPUS(plastic_bodies_keep_their_dents),
        ON_CPU_AND_GPUS(block_holds_and_slides_at_60_hz),
        ON_BACKEND(block_holds_and_slides_at_240_hz, "cpu", 0),
        ON_EVERY_BACKEND(a_box_bounces),
    };
    static const char *const long_tests[] = {"flight_keeps_momentum", "soft_flight", "block_holds_and_slides_at_60_hz",
                                             "block_holds_and_slides_at_240_hz", NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, NULL, NULL);
}
