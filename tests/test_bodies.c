// test_bodies.c - rigid and soft bodies: momentum in free flight, friction on a ramp, stacks, separation.
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

// ---- Free flight ----

static void free_flight(void **state, MoteVec3 spin, float stiffness, double *linear, double *angular)
{
    MoteSettings settings = solid_settings(0.1f);
    settings.gravity = (MoteVec3){0, 0, 0};
    MoteWorld *world = make_world(*state, &settings);
    const TestBox box = {
        3,         4,
        6,         0.1f,
        {0, 0, 0}, no_turn,
        true,      {.mass = 1.0f, .velocity = {0.5f, 0.2f, -0.3f}, .angular_velocity = spin, .stiffness = stiffness}};
    add_box(world, &box);
    MoteStatistics before, after;
    expect_ok(mote_world_statistics(world, &before));
    // About the centre of mass, which starts at the origin and then moves with the momentum: L about the origin stays.
    run(world, 10.0, 120.0);
    expect_ok(mote_world_statistics(world, &after));
    *linear = relative_drift(before.momentum, after.momentum);
    *angular = relative_drift(before.angular_momentum, after.angular_momentum);
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

// ---- Friction ----

static double ramp_run(void **state, double angle, double mu, double rate, double seconds, double *speed)
{
    MoteSettings settings = solid_settings(0.1f);
    settings.iterations = 10;
    MoteWorld *world = make_world(*state, &settings);
    const MoteMaterial material = {.static_friction = (float)mu, .kinetic_friction = (float)mu};
    expect_ok(mote_world_set_materials(world, &material, 1));
    const MoteShape plane = sloped_plane(angle, (float)mu);
    expect_ok(mote_world_set_shapes(world, &plane, 1));
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

static void block_holds_and_slides(void **state)
{
    const double degree = 3.14159265358979 / 180.0;
    for (int r = 0; r < 2; r++) {
        const double rate = r == 0 ? 60.0 : 240.0;
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
            assert_true(slid > 0.1);
            expect_near(far, ideal, 0.1 * ideal, "distance slid");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(flight_keeps_momentum),
        ON_EVERY_BACKEND(block_holds_and_slides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
