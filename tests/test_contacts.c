// SPDX-License-Identifier: MIT
// Contacts against their formulas: the gap that is kept from every kind of shape, the speed below which nothing
// bounces, what holds a body from step to step, and heights of stacks.
#define VULKAN_VALIDATE false // many worlds
#include "solid_fixture.h"

static const MoteVec3 NOWHERE = {0, 0, 0};
static const MoteQuaternion no_turn = {0, 0, 0, 1};
static const float D = 0.1f;
static const double GRAVITY = 9.81;

// ---- Gaps ----

enum { KINDS = 6 }; // MOTE_SHAPE_*

static const char *const kind_names[KINDS] = {"plane", "box", "sphere", "capsule", "hull", "field"};

static const MoteVec3 HALF = {0.5f, 0.4f, 0.6f};

static uint32_t box_corners(MoteVec3 corners[8])
{
    for (int i = 0; i < 8; i++) {
        corners[i] = (MoteVec3){i & 1 ? HALF.x : -HALF.x, i & 2 ? HALF.y : -HALF.y, i & 4 ? HALF.z : -HALF.z};
    }
    return 8;
}

// A shape about the origin whose surface is at y = 0.4 and, but for a plane, at y = -0.4.
static MoteShape make_shape(MoteWorld *world, uint32_t kind, bool container)
{
    const uint32_t triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                    2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    MoteVec3 corners[8];
    box_corners(corners);
    MoteShape shape = still_shape(kind, NOWHERE, NOWHERE, 0.0f);
    shape.inside_out = container && kind != MOTE_SHAPE_FIELD;
    switch (kind) {
    case MOTE_SHAPE_PLANE:
        shape.from.position.y = shape.to.position.y = HALF.y;
        break;
    case MOTE_SHAPE_BOX:
        shape.half_size = HALF;
        break;
    case MOTE_SHAPE_SPHERE:
        shape.radius = HALF.y;
        break;
    case MOTE_SHAPE_CAPSULE: // upright
        shape.radius = 0.25f;
        shape.half_size.y = HALF.y - shape.radius;
        break;
    case MOTE_SHAPE_HULL:
        expect_ok(mote_world_add_hull(world, corners, 8, &shape.data));
        break;
    default: {
        const MoteFieldOptions options = {.positions = corners,
                                          .position_count = 8,
                                          .triangles = triangles,
                                          .triangle_count = 12,
                                          .cell_size = 0.02f,
                                          .band = 16,
                                          .mode = container ? MOTE_FIELD_OUTSIDE : MOTE_FIELD_INSIDE};
        MoteField *field = NULL;
        expect_ok(mote_field_create(&options, &field));
        expect_ok(mote_world_add_field(world, field, &shape.data));
        mote_field_destroy(field);
    }
    }
    return shape;
}

// A grain that lies on the shape, one that is pressed to it from below, and inside of a container the same: the gap is
// the margin, to a fiftieth of it.
static void every_shape_keeps_the_margin(void **state)
{
    for (uint32_t k = 0; k < 4 * KINDS; k++) {
        const uint32_t kind = k % KINDS;
        const bool container = k / KINDS % 2 == 1, below = k / KINDS / 2 == 1;
        if (kind == MOTE_SHAPE_PLANE && below == container) {
            continue; // a plane has one side: above it, or below it when it is inside out
        }
        MoteSettings settings = solid_settings(D);
        settings.collision_distance = 0.6f;
        const float margin = settings.collision_distance * D;
        const float side = below ? -1.0f : 1.0f;        // of the shape where the grain is
        const float outward = container ? -side : side; // from the surface to the grain
        const float surface = kind == MOTE_SHAPE_PLANE ? HALF.y : side * HALF.y;
        const float towards = kind == MOTE_SHAPE_PLANE ? (container ? -1.0f : 1.0f) : outward;
        settings.gravity.y = -(float)GRAVITY * towards;
        MoteWorld *world = make_world(*state, &settings);
        const MoteShape shape = make_shape(world, kind, container);
        expect_ok(mote_world_set_shapes(world, &shape, 1));
        const MoteVec3 start = {0, surface + towards * 1.5f * margin, 0};
        const uint32_t id = add_grains(world, &start, NULL, 1, 0);
        run_steps(world, 40, 1.0f / 120.0f);
        const double gap = towards * (find_particle(world, id).position.y - surface);
        if (!(fabs(gap - margin) < 0.02 * margin)) {
            fail_msg("%s%s, %s: the gap is %.5f m, expected %.5f", kind_names[kind], container ? " as a container" : "",
                     below ? "below" : "above", gap, (double)margin);
        }
        mote_world_destroy(world);
    }
}

// ---- Bounces ----

typedef enum Bouncer { GRAIN_ON_SHAPE, GRAIN_ON_GRAIN, BODY_ON_SHAPE, SHAPE_ON_SHAPE, BOUNCERS } Bouncer;

static const char *const bouncer_names[BOUNCERS] = {"a grain on a shape", "a grain on a grain", "a body on a shape",
                                                    "a dynamic shape on a shape"};

// The speed upward after a step that ends with an impact at `speed`.
static double rebound(void **state, Bouncer bouncer, float restitution, float speed, float dt)
{
    MoteSettings settings = solid_settings(D);
    settings.damping = settings.sleep_speed = 0.0f;
    settings.stabilization_iterations = 0;
    MoteWorld *world = make_world(*state, &settings);
    const MoteMaterial material = {.restitution = restitution, .rolling_friction = 1.0f};
    expect_ok(mote_world_set_materials(world, &material, 1));
    MoteShape shapes[2] = {flat_ground(0.0f), still_shape(MOTE_SHAPE_SPHERE, (MoteVec3){0, D, 0}, NOWHERE, D)};
    shapes[0].restitution = shapes[1].restitution = restitution;
    shapes[1].mass = 1.0f;
    const MoteVec3 velocity = {0, -speed + (float)GRAVITY * dt, 0}; // before gravity acts
    const MoteVec3 points[2] = {{0, 0.5f * D, 0}, {0, 1.5f * D, 0}}, velocities[2] = {NOWHERE, velocity};
    const float masses[2] = {0.0f, 1.0f};
    const MoteParticles pair = {
        .count = 2, .positions = points, .velocities = velocities, .masses = masses, .phase = MOTE_PHASE_SELF};
    const TestBox box = {2, 2, 2, D, {0, D, 0}, no_turn, true, {.mass = 1.0f, .stiffness = 1.0f, .velocity = velocity}};
    double up = 0.0;
    if (bouncer != GRAIN_ON_GRAIN) {
        expect_ok(mote_world_set_shapes(world, shapes, bouncer == SHAPE_ON_SHAPE ? 2 : 1));
    }
    if (bouncer == GRAIN_ON_SHAPE) {
        add_grains(world, &points[0], &velocity, 1, 0);
    } else if (bouncer == GRAIN_ON_GRAIN) {
        expect_ok(mote_world_add_particles(world, &pair, NULL));
    } else if (bouncer == BODY_ON_SHAPE) {
        add_box(world, &box);
    } else {
        expect_ok(set_motion(world, 1, velocity, NOWHERE));
    }
    run_steps(world, 1, dt);
    if (bouncer == SHAPE_ON_SHAPE) {
        MoteShapeState states[2];
        expect_ok(mote_world_read_shapes(world, states, 2));
        up = states[1].velocity.y;
    } else {
        up = bouncer == BODY_ON_SHAPE ? body_state(world, 0).velocity.y
                                      : find_particle(world, bouncer == GRAIN_ON_GRAIN).velocity.y;
    }
    mote_world_destroy(world);
    return up;
}

// What comes slower than twice what gravity gives in a step stays, or it would bounce for ever; what comes faster goes
// with the restitution's share of its speed.
static void slow_impacts_do_not_bounce(void **state)
{
    const float restitution = 0.8f;
    for (int k = 0; k < 2 * BOUNCERS; k++) {
        const Bouncer bouncer = (Bouncer)(k / 2);
        const float dt = k % 2 == 0 ? 1.0f / 60.0f : 1.0f / 240.0f;
        const float limit = 2.0f * (float)GRAVITY * dt;
        const double slow = rebound(state, bouncer, restitution, 0.9f * limit, dt);
        const double fast = rebound(state, bouncer, restitution, 1.1f * limit, dt);
        print_message("%s, %.0f Hz: limit %.3f m/s, rebounds at %.4f and %.4f m/s\n", bouncer_names[bouncer], 1.0 / dt,
                      (double)limit, slow, fast);
        expect_near(slow, 0.0, 0.02 * limit, "rebound below the limit");
        expect_near(fast, restitution * 1.1 * limit, 0.05 * limit, "rebound above the limit");
    }
}

// ---- Holds ----

// A box that rests on a slope goes on resting when the time step changes: what held it in the last step is a momentum
// times that step, and begins the next one for its own.
static void holds_follow_the_time_step(void **state)
{
    const double angle = atan(0.3);
    for (int k = 0; k < 2; k++) {
        const float steps[2] = {1.0f / 60.0f, 1.0f / 240.0f};
        const float first = steps[k], second = steps[1 - k];
        MoteSettings settings = solid_settings(D);
        settings.gravity = (MoteVec3){(float)(GRAVITY * sin(angle)), (float)(-GRAVITY * cos(angle)), 0};
        settings.damping = settings.sleep_speed = 0.0f;
        settings.iterations = 1;
        MoteWorld *world = make_world(*state, &settings);
        const MoteShape plane = flat_ground(0.6f);
        expect_ok(mote_world_set_shapes(world, &plane, 1));
        const TestBox box = {4, 2, 4, D, {0, D, 0}, no_turn, true, {.mass = 1.0f, .stiffness = 1.0f}};
        add_box(world, &box);
        run_steps(world, 120, first);
        const double before = length_of(body_state(world, 0).velocity);
        run_steps(world, 1, second);
        const MoteBodyState after = body_state(world, 0);
        const double given = GRAVITY * second;                       // what gravity gives in the step
        const double spin = length_of(after.angular_velocity) * 0.2; // of a corner
        print_message("from %.4f to %.4f s: %.5f m/s before, %.5f and %.5f by its spin after, gravity gives %.4f\n",
                      (double)first, (double)second, before, length_of(after.velocity), spin, given);
        assert_true(before < 1e-3 * given);
        assert_true(length_of(after.velocity) < 5e-3 * given && spin < 5e-3 * given);
        mote_world_destroy(world);
    }
}

// ---- Heights of stacks ----

// By contacts: heights are above what a stack stands on, here a block of a metre.
static void stacks_are_measured_along_contacts(void **state)
{
    enum { GRAINS = 4 };
    MoteSettings settings = solid_settings(D);
    settings.stack_scaling = 2.0f;
    settings.stack_height = MOTE_STACK_CONTACTS;
    settings.stack_ground = 0.3f; // of no account
    MoteWorld *world = make_world(*state, &settings);
    const MoteShape shapes[2] = {flat_ground(0.5f),
                                 still_shape(MOTE_SHAPE_BOX, (MoteVec3){0, 0.5f, 0}, (MoteVec3){0.5f, 0.5f, 0.5f}, 0)};
    expect_ok(mote_world_set_shapes(world, shapes, 2));
    MoteVec3 points[GRAINS];
    for (int i = 0; i < GRAINS; i++) {
        points[i] = (MoteVec3){0, 1.0f + D * ((float)i + 0.5f), 0};
    }
    const uint32_t first = add_grains(world, points, NULL, GRAINS, 0);
    run_steps(world, GRAINS + 1, 1.0f / 240.0f); // a contact a step
    float heights[GRAINS];
    expect_ok(mote_world_read_channel(world, STACK_HEIGHT_CHANNEL, heights));
    for (uint32_t i = 0; i < GRAINS; i++) {
        expect_near(heights[find_particle(world, first + i).row], (double)i * D, 0.05 * D, "height above the block");
    }
    mote_world_destroy(world);
}

// Two grains that overlap part by e^(k h), h above the ground: below it all are alike (UPP eq. 21).
static void stacks_are_measured_from_the_ground(void **state)
{
    const float grounds[] = {0.0f, 1.0f, 1.03f, 2.0f}, scaling = 15.0f, low = 1.0f, high = 1.06f;
    for (int k = 0; k < 4; k++) {
        MoteSettings settings = solid_settings(D);
        settings.gravity = NOWHERE;
        settings.stabilization_iterations = 0;
        settings.iterations = 1;
        settings.stack_scaling = scaling;
        settings.stack_height = MOTE_STACK_GROUND;
        settings.stack_ground = grounds[k];
        MoteWorld *world = make_world(*state, &settings);
        const MoteVec3 points[2] = {{0, low, 0}, {0, high, 0}};
        const uint32_t first = add_grains(world, points, NULL, 2, 0);
        run_steps(world, 1, 1.0f / 60.0f);
        const double down = low - find_particle(world, first).position.y;
        const double up = find_particle(world, first + 1).position.y - high;
        const double lower = fmax(low - grounds[k], 0.0), upper = fmax(high - grounds[k], 0.0);
        expect_near(up / down, exp(scaling * (upper - lower)), 0.01 * exp(scaling * (upper - lower)),
                    "the upper grain's way over the lower one's");
        mote_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(every_shape_keeps_the_margin),        ON_EVERY_BACKEND(slow_impacts_do_not_bounce),
        ON_EVERY_BACKEND(holds_follow_the_time_step),          ON_EVERY_BACKEND(stacks_are_measured_along_contacts),
        ON_EVERY_BACKEND(stacks_are_measured_from_the_ground),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
