// SPDX-License-Identifier: MIT
// Dynamic colliders: rigid bodies that particles drive (DYV section 5.3).
#define VULKAN_VALIDATE false // many steps
#include "solid_fixture.h"

#include <omp.h>

static const MoteVec3 NOWHERE = {0, 0, 0};
static const MoteVec3 Y = {0, 1, 0};
static const float DT = 1.0f / 240.0f;
static const double PI = 3.14159265358979323846;

static MoteSettings free_settings(float spacing)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = spacing;
    settings.gravity = NOWHERE;
    settings.viscosity = settings.vorticity = settings.damping = 0.0f;
    settings.sleep_speed = 0.0f;
    return settings;
}

static MoteCollider heavy(uint32_t kind, MoteVec3 position, MoteVec3 half_size, float radius, float mass)
{
    MoteCollider collider = still_collider(kind, position, half_size, radius);
    collider.mass = mass;
    return collider;
}

static MoteColliderState read_collider(MoteWorld *world, uint32_t i)
{
    MoteColliderState states[16];
    expect_ok(mote_world_read_colliders(world, states, 16));
    return states[i];
}

// ---- Mass ----

static void expect_inertia(MoteWorld *world, const MoteCollider *collider, double mass, const double inertia[3],
                           double tolerance)
{
    expect_ok(mote_world_set_colliders(world, collider, 1));
    const Cluster *body = &world->dynamics[0].body;
    const float found[3] = {body->inertia_diagonal.x, body->inertia_diagonal.y, body->inertia_diagonal.z};
    const float inverse[3] = {body->inverse_diagonal.x, body->inverse_diagonal.y, body->inverse_diagonal.z};
    const float rest[3] = {body->inertia_offdiagonal.x, body->inertia_offdiagonal.y, body->inertia_offdiagonal.z};
    expect_near(body->mass, mass, tolerance * mass, "mass");
    for (int a = 0; a < 3; a++) {
        expect_near(found[a], inertia[a], tolerance * inertia[a], "moment of inertia");
        expect_near(inverse[a] * found[a], 1.0, 1e-3, "inertia times its inverse");
        expect_near(rest[a], 0.0, 1e-2 * tolerance + 2e-3 * inertia[a], "deviation moment");
    }
    expect_ok(mote_world_set_colliders(world, NULL, 0));
}

// Boxes, balls and capsules by their formulas, a hull and a field of the same box by theirs.
static void mass_and_inertia(void **state)
{
    const MoteSettings settings = free_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const MoteVec3 half = {0.5f, 0.3f, 0.2f};
    const double m = 2000.0 * 8 * 0.5 * 0.3 * 0.2;
    const double box[3] = {m / 3 * (0.09 + 0.04), m / 3 * (0.25 + 0.04), m / 3 * (0.25 + 0.09)};
    MoteCollider collider = still_collider(MOTE_COLLIDER_BOX, NOWHERE, half, 0.0f);
    collider.density = 2000.0f;
    expect_inertia(world, &collider, m, box, 1e-5);

    MoteVec3 corners[8];
    for (int i = 0; i < 8; i++) {
        corners[i] = (MoteVec3){i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z};
    }
    collider.kind = MOTE_COLLIDER_HULL;
    expect_ok(mote_world_add_hull(world, corners, 8, &collider.data));
    expect_inertia(world, &collider, m, box, 1e-5);

    const uint32_t triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                    2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    const MoteFieldOptions options = {
        .positions = corners, .position_count = 8, .triangles = triangles, .triangle_count = 12, .cell_size = 0.02f};
    MoteField *field = NULL;
    expect_ok(mote_field_create(&options, &field));
    collider.kind = MOTE_COLLIDER_FIELD;
    expect_ok(mote_world_add_field(world, field, &collider.data));
    expect_inertia(world, &collider, m, box, 0.03);
    mote_field_destroy(field);

    collider = heavy(MOTE_COLLIDER_SPHERE, NOWHERE, NOWHERE, 0.4f, 3.0f);
    const double ball = 0.4 * 3 * 0.16;
    expect_inertia(world, &collider, 3.0, (const double[3]){ball, ball, ball}, 1e-5);
    const double r = 0.2, h = 0.5, tube = 2 * PI * r * r * h, caps = 4.0 / 3 * PI * r * r * r;
    collider = still_collider(MOTE_COLLIDER_CAPSULE, NOWHERE, (MoteVec3){0, 0.5f, 0}, 0.2f);
    collider.density = 10.0f;
    const double across = 10 * (tube * (r * r / 4 + h * h / 3) + caps * (0.4 * r * r + h * h + 0.75 * h * r));
    const double along = 10 * (tube * r * r / 2 + caps * 0.4 * r * r);
    expect_inertia(world, &collider, 10 * (tube + caps), (const double[3]){across, along, across}, 1e-5);
    mote_world_destroy(world);
}

static void bad_colliders(void **state)
{
    const MoteSettings settings = free_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    MoteCollider collider = heavy(MOTE_COLLIDER_PLANE, NOWHERE, NOWHERE, 0.0f, 1.0f);
    expect_error(mote_world_set_colliders(world, &collider, 1), MOTE_ERROR_INPUT, "plane with a mass");
    collider = box_container(NOWHERE, (MoteVec3){1, 1, 1});
    collider.density = 1.0f;
    expect_error(mote_world_set_colliders(world, &collider, 1), MOTE_ERROR_INPUT, "container with a mass");
    collider = heavy(MOTE_COLLIDER_SPHERE, NOWHERE, NOWHERE, 0.0f, 1.0f);
    expect_error(mote_world_set_colliders(world, &collider, 1), MOTE_ERROR_INPUT, "no volume");
    collider = heavy(MOTE_COLLIDER_SPHERE, NOWHERE, NOWHERE, 1.0f, -1.0f);
    expect_error(mote_world_set_colliders(world, &collider, 1), MOTE_ERROR_INPUT, "not below 0");
    collider = heavy(MOTE_COLLIDER_BOX, NOWHERE, (MoteVec3){1, 1, 1}, 0.0f, 1e-45f);
    expect_error(mote_world_set_colliders(world, &collider, 1), MOTE_ERROR_INPUT, "no inertia");
    collider = still_collider(MOTE_COLLIDER_SPHERE, NOWHERE, NOWHERE, 1.0f);
    expect_ok(mote_world_set_colliders(world, &collider, 1));
    expect_error(set_motion(world, 0, Y, Y), MOTE_ERROR_INPUT, "has no mass");
    collider.mass = 1.0f;
    expect_ok(mote_world_set_colliders(world, &collider, 1));
    expect_error(set_motion(world, 0, (MoteVec3){NAN, 0, 0}, Y), MOTE_ERROR_INPUT, "not finite");
    mote_world_destroy(world);
}

// ---- Motion ----

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// A box that tumbles about its middle axis keeps energy, momentum and angular momentum, and flies along a parabola.
static void free_flight(void **state)
{
    MoteSettings settings = free_settings(0.1f);
    settings.gravity = (MoteVec3){0, -9.81f, 0};
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider box = heavy(MOTE_COLLIDER_BOX, NOWHERE, (MoteVec3){0.5f, 0.3f, 0.2f}, 0.0f, 6.0f);
    const double inertia[3] = {2 * (0.09 + 0.04), 2 * (0.25 + 0.04), 2 * (0.25 + 0.09)};
    expect_ok(mote_world_set_colliders(world, &box, 1));
    expect_ok(set_motion(world, 0, (MoteVec3){1, 8, 0}, (MoteVec3){0.05f, 3, 0.02f}));
    const double momentum[3] = {0.05 * inertia[0], 3 * inertia[1], 0.02 * inertia[2]};
    const double spin[3] = {0.05, 3, 0.02};
    double worst = 0.0, turned = 0.0;
    for (int step = 0; step < 480; step++) {
        expect_ok(mote_world_step(world, DT));
        const MoteColliderState now = read_collider(world, 0);
        const MoteQuaternion q = now.pose.rotation;
        const vec4 rotation = v4(q.x, q.y, q.z, q.w);
        const vec3 w =
            rotate_back(rotation, v3(now.angular_velocity.x, now.angular_velocity.y, now.angular_velocity.z));
        const vec3 l = rotate(rotation, v3(w.x * (float)inertia[0], w.y * (float)inertia[1], w.z * (float)inertia[2]));
        const double off[3] = {l.x - momentum[0], l.y - momentum[1], l.z - momentum[2]};
        worst = fmax(worst, sqrt(dot(off, off) / dot(momentum, momentum)));
        const double local[3] = {w.x, w.y, w.z};
        const double energy =
            local[0] * local[0] * inertia[0] + local[1] * local[1] * inertia[1] + local[2] * local[2] * inertia[2];
        const double first =
            spin[0] * spin[0] * inertia[0] + spin[1] * spin[1] * inertia[1] + spin[2] * spin[2] * inertia[2];
        expect_near(energy, first, 5e-3 * first, "energy of rotation");
        turned = fmin(turned, w.y);
    }
    assert_true(worst < 1e-4);
    const MoteColliderState now = read_collider(world, 0);
    const double t = 480.0 * DT;
    expect_near(now.pose.position.x, t, 1e-3, "distance flown");
    expect_near(now.velocity.y, 8 - 9.81 * t, 1e-3, "speed of the fall");
    expect_near(now.pose.position.y, 8 * t - 0.5 * 9.81 * t * (t + DT), 2e-3, "height"); // semi-implicit Euler
    mote_world_destroy(world);
}

// The same without gravity and over a thousand steps of a 120th of a second: no drift.
static void tumbling_keeps_energy(void **state)
{
    const MoteSettings settings = free_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider box = heavy(MOTE_COLLIDER_BOX, NOWHERE, (MoteVec3){0.1f, 0.15f, 0.25f}, 0.0f, 6.0f);
    const float inertia[3] = {2 * (0.0225f + 0.0625f), 2 * (0.01f + 0.0625f), 2 * (0.01f + 0.0225f)};
    expect_ok(mote_world_set_colliders(world, &box, 1));
    expect_ok(set_motion(world, 0, NOWHERE, (MoteVec3){0.2f, 8, 0.1f}));
    const double before = 0.04 * inertia[0] + 64.0 * inertia[1] + 0.01 * inertia[2];
    double lowest = 1.0, highest = 1.0;
    for (int part = 0; part < 100; part++) {
        run_steps(world, 10, 1.0f / 120.0f);
        const MoteColliderState now = read_collider(world, 0);
        const MoteQuaternion q = now.pose.rotation;
        const vec3 w = rotate_back(v4(q.x, q.y, q.z, q.w),
                                   v3(now.angular_velocity.x, now.angular_velocity.y, now.angular_velocity.z));
        const double energy = (w.x * w.x * inertia[0] + w.y * w.y * inertia[1] + w.z * w.z * inertia[2]) / before;
        lowest = fmin(lowest, energy);
        highest = fmax(highest, energy);
    }
    print_message("energy %.4f to %.4f of what it was\n", lowest, highest);
    assert_true(lowest > 0.99 && highest < 1.01);
    mote_world_destroy(world);
}

// v and the spin decay with e^(-damping t).
static void damping_slows_colliders(void **state)
{
    MoteSettings settings = free_settings(0.1f);
    settings.damping = 0.7f;
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider ball = heavy(MOTE_COLLIDER_SPHERE, NOWHERE, NOWHERE, 0.3f, 6.0f);
    expect_ok(mote_world_set_colliders(world, &ball, 1));
    expect_ok(set_motion(world, 0, (MoteVec3){2, 0, 0}, (MoteVec3){1, 3, -2}));
    run_steps(world, 240, DT);
    const MoteColliderState now = read_collider(world, 0);
    expect_near(now.velocity.x, 2.0 * exp(-0.7), 1e-3, "speed after a second");
    expect_near(now.angular_velocity.x, exp(-0.7), 1e-3, "spin about x after a second");
    expect_near(now.angular_velocity.y, 3.0 * exp(-0.7), 1e-3, "spin about y after a second");
    expect_near(now.angular_velocity.z, -2.0 * exp(-0.7), 1e-3, "spin about z after a second");
    mote_world_destroy(world);
}

// Momentum of particles and colliders together.
static void total_momentum(MoteWorld *world, uint32_t colliders, double linear[3], double angular[3])
{
    const MoteStatistics statistics = read_statistics(world);
    MoteColliderState states[16];
    expect_ok(mote_world_read_colliders(world, states, 16));
    memcpy(linear, statistics.momentum, 3 * sizeof *linear);
    memcpy(angular, statistics.angular_momentum, 3 * sizeof *angular);
    for (uint32_t i = 0; i < colliders; i++) {
        const MoteColliderState *s = &states[i];
        const double v[3] = {s->velocity.x, s->velocity.y, s->velocity.z};
        const double c[3] = {s->centre.x, s->centre.y, s->centre.z};
        const vec4 q = v4(s->pose.rotation.x, s->pose.rotation.y, s->pose.rotation.z, s->pose.rotation.w);
        const vec3 spin = v3(s->angular_velocity.x, s->angular_velocity.y, s->angular_velocity.z);
        for (uint32_t row = 0; row < world->view.dynamic_count; row++) {
            if (world->dynamics[row].index == i) {
                const Cluster *body = &world->dynamics[row].body;
                const vec3 local = rotate_back(q, spin);
                const vec3 l = rotate(q, v3(body->inertia_diagonal.x * local.x, body->inertia_diagonal.y * local.y,
                                            body->inertia_diagonal.z * local.z));
                angular[0] += l.x, angular[1] += l.y, angular[2] += l.z;
            }
        }
        for (int a = 0; a < 3; a++) {
            const int b = (a + 1) % 3, d = (a + 2) % 3;
            linear[a] += s->mass * v[a];
            angular[a] += s->mass * (c[b] * v[d] - c[d] * v[b]);
        }
    }
}

// One drop hits a box that is free: nothing of its momentum is lost, and the two do not part (restitution 0).
static void one_drop(void **state)
{
    const MoteSettings settings = free_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider box = heavy(MOTE_COLLIDER_BOX, NOWHERE, (MoteVec3){0.2f, 0.2f, 0.2f}, 0.0f, 3.0f);
    expect_ok(mote_world_set_colliders(world, &box, 1));
    add_grain(world, (MoteVec3){-0.6f, 0.0f, 0.0f}, (MoteVec3){4, 0, 0});
    run_steps(world, 60, DT);
    const MoteParticleView view = read_view(world);
    const MoteColliderState now = read_collider(world, 0);
    expect_near(now.velocity.x * 3.0 + view.velocities[0], 4.0, 4e-4, "momentum");
    expect_near(now.velocity.x, 1.0, 0.03, "speed of the box after an inelastic impact");
    expect_near(view.velocities[0], 1.0, 0.1, "speed of the drop");
    mote_world_destroy(world);
}

// The same with restitution 1: v' = 2 m / (m + M) v.
static void bouncing_drop(void **state)
{
    const MoteSettings settings = free_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const MoteMaterial material = {.restitution = 1.0f};
    expect_ok(mote_world_set_materials(world, &material, 1));
    MoteCollider box = heavy(MOTE_COLLIDER_BOX, NOWHERE, (MoteVec3){0.2f, 0.2f, 0.2f}, 0.0f, 3.0f);
    box.restitution = 1.0f;
    expect_ok(mote_world_set_colliders(world, &box, 1));
    add_grain(world, (MoteVec3){-0.6f, 0.0f, 0.0f}, (MoteVec3){4, 0, 0});
    run_steps(world, 60, DT);
    const MoteParticleView view = read_view(world);
    const MoteColliderState now = read_collider(world, 0);
    expect_near(now.velocity.x * 3.0 + view.velocities[0], 4.0, 4e-4, "momentum");
    expect_near(now.velocity.x, 2.0, 0.1, "speed of the box after an elastic impact");
    mote_world_destroy(world);
}

// A jet of water against the edge of a box of its own mass that floats in space.
static void jet(void **state)
{
    MoteSettings settings = free_settings(0.05f);
    settings.viscosity = 0.01f;
    MoteWorld *world = make_world(*state, &settings);
    MoteCollider colliders[2] = {
        heavy(MOTE_COLLIDER_BOX, (MoteVec3){0, 0.1f, 0}, (MoteVec3){0.1f, 0.2f, 0.15f}, 0.0f, 8.0f),
        heavy(MOTE_COLLIDER_SPHERE, (MoteVec3){0.3f, 0.1f, 0}, NOWHERE, 0.15f, 2.0f),
    };
    expect_ok(mote_world_set_colliders(world, colliders, 2));
    const uint32_t count = add_block(world, (MoteVec3){-0.8f, 0.05f, -0.1f}, 12, 4, 4);
    MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < count; i++) {
        view.velocities[4 * i] = 3.0f;
    }
    expect_ok(mote_world_write(world, &view));
    double before[3], after[3], turning[3], turned[3];
    total_momentum(world, 2, before, turning);
    run_steps(world, 120, DT);
    total_momentum(world, 2, after, turned);
    for (int a = 0; a < 3; a++) {
        expect_near(after[a], before[a], 1e-4 * before[0], "momentum");
    }
    expect_near(turned[2], turning[2], 0.02 * fabs(before[0]) * 0.2, "angular momentum"); // 2 % of an arm of 0.2 m
    const MoteColliderState box = read_collider(world, 0), ball = read_collider(world, 1);
    assert_true(box.velocity.x > 0.5f && ball.velocity.x > box.velocity.x - 0.5f);
    print_message("box %.3f m/s, spin %.3f; ball %.3f m/s; angular momentum %.4f of %.4f\n", (double)box.velocity.x,
                  (double)box.angular_velocity.z, (double)ball.velocity.x, turned[2], turning[2]);
    mote_world_destroy(world);
}

// ---- Many colliders at once ----

typedef enum Thrown { GRAIN, BODY, WATER, THROWN_COUNT } Thrown;

static const char *const thrown_names[THROWN_COUNT] = {"a grain", "a body of 8 particles", "water"};

// Its front particles are at `front`.
static void throw_along_x(MoteWorld *world, Thrown thrown, float front)
{
    const float d = mote_world_settings(world).spacing;
    const MoteVec3 velocity = {4, 0, 0};
    MoteVec3 points[8], velocities[8];
    for (int i = 0; i < 8; i++) {
        points[i] = (MoteVec3){front - (i & 1 ? d : 0.0f), 0.5f * (i & 2 ? d : -d), 0.5f * (i & 4 ? d : -d)};
        velocities[i] = velocity;
    }
    if (thrown == GRAIN) {
        add_grain(world, (MoteVec3){front, 0, 0}, velocity);
    } else if (thrown == BODY) {
        const MoteBody body = {.count = 8, .positions = points, .mass = 0.2f, .stiffness = 1.0f, .velocity = velocity};
        expect_ok(mote_world_add_body(world, &body, NULL, NULL));
    } else {
        const MoteParticles water = {
            .count = 8, .positions = points, .velocities = velocities, .mass = 0.2f, .phase = MOTE_PHASE_FLUID};
        expect_ok(mote_world_add_particles(world, &water, NULL));
    }
}

// The deepest that a particle is inside a ball, over the radius that particles keep off colliders with.
static double deepest_in_balls(MoteWorld *world, uint32_t balls, float radius)
{
    const MoteParticleView view = read_view(world);
    const double margin = world->view.margin;
    double deepest = 0.0;
    for (uint32_t b = 0; b < balls; b++) {
        const MoteVec3 c = read_collider(world, b).pose.position;
        for (uint32_t i = 0; i < view.count; i++) {
            const float *p = view.positions + 4 * (size_t)i;
            const double distance =
                sqrt((p[0] - c.x) * (p[0] - c.x) + (p[1] - c.y) * (p[1] - c.y) + (double)(p[2] - c.z) * (p[2] - c.z));
            deepest = fmax(deepest, (radius + margin - distance) / margin);
        }
    }
    return deepest;
}

// What is thrown into a ring of balls, or at balls that lie in one another, touches all of them at once: nothing of its
// momentum is lost, whatever their number, and it does not stay inside any.
static void many_colliders_at_once(void **state)
{
    enum { MOST = 6 };
    const float radius = 0.2f;
    for (uint32_t balls = 1; balls <= MOST; balls++) {
        for (int k = 0; k < 4 * THROWN_COUNT; k++) {
            const Thrown thrown = (Thrown)(k % THROWN_COUNT);
            const bool ring = k < 2 * THROWN_COUNT, bounces = k / THROWN_COUNT % 2 == 1;
            MoteSettings settings = free_settings(0.1f);
            settings.stabilization_iterations = 0;
            settings.max_correction = settings.max_displacement = 0.0f; // unlimited: they do not keep momentum
            settings.iterations = balls % 2 == 0 ? 4 : 1;               // with one, colliders wait for other steps
            MoteWorld *world = make_world(*state, &settings);
            const MoteMaterial material = {.restitution = bounces ? 0.5f : 0.0f};
            expect_ok(mote_world_set_materials(world, &material, 1));
            const float across = ring ? 0.23f : 0.04f; // a grain touches up to 0.25 m
            MoteCollider colliders[MOST];
            for (uint32_t b = 0; b < balls; b++) {
                const float angle = 2.0f * (float)PI * (float)b / (float)balls;
                const MoteVec3 at = {0, across * cosf(angle), across * sinf(angle)};
                colliders[b] = heavy(MOTE_COLLIDER_SPHERE, at, NOWHERE, radius, 1.0f);
                colliders[b].restitution = bounces ? 0.5f : 0.0f;
                colliders[b].static_friction = colliders[b].kinetic_friction = 0.2f;
            }
            expect_ok(mote_world_set_colliders(world, colliders, balls));
            throw_along_x(world, thrown, ring ? -0.09f : -0.24f); // before the balls have left one another
            double before[3], after[3], angular[3], pushed = 0.0, worst = 0.0;
            total_momentum(world, balls, before, angular);
            for (int step = 0; step < 60; step++) {
                expect_ok(mote_world_step(world, DT));
                total_momentum(world, balls, after, angular);
                for (int a = 0; a < 3; a++) {
                    worst = fmax(worst, fabs(after[a] - before[a]));
                }
            }
            for (uint32_t b = 0; b < balls; b++) {
                pushed += read_collider(world, b).velocity.x;
            }
            const double deep = deepest_in_balls(world, balls, radius);
            if (worst > 4e-5 * before[0] || pushed < 0.1 || deep > 0.3) {
                fail_msg("%s, %u balls %s, restitution %g: %.3g of the momentum lost, %.3g kg m/s given, %.2f of the "
                         "margin too deep",
                         thrown_names[thrown], balls, ring ? "in a ring" : "in one another", bounces ? 0.5 : 0.0,
                         worst / before[0], pushed, deep);
            }
            mote_world_destroy(world);
        }
    }
}

// ---- On the ground ----

static uint32_t ground_and(const MoteCollider *collider, MoteCollider colliders[2])
{
    colliders[0] = still_collider(MOTE_COLLIDER_PLANE, NOWHERE, NOWHERE, 0.0f);
    colliders[0].static_friction = colliders[0].kinetic_friction = 0.5f;
    colliders[1] = *collider;
    colliders[1].static_friction = colliders[1].kinetic_friction = 0.5f;
    return 2;
}

// A box, a ball and a capsule that fall come to rest on the plane: on a face, on the lowest point, on their side.
static void rests_on_ground(void **state)
{
    MoteSettings settings = free_settings(0.1f);
    settings.gravity = (MoteVec3){0, -9.81f, 0};
    settings.sleep_speed = 0.01f;
    MoteWorld *world = make_world(*state, &settings);
    MoteCollider falling[3] = {
        heavy(MOTE_COLLIDER_BOX, (MoteVec3){0, 1, 0}, (MoteVec3){0.3f, 0.2f, 0.25f}, 0.0f, 5.0f),
        heavy(MOTE_COLLIDER_SPHERE, (MoteVec3){0, 1, 0}, NOWHERE, 0.25f, 5.0f),
        heavy(MOTE_COLLIDER_CAPSULE, (MoteVec3){0, 1, 0}, (MoteVec3){0, 0.3f, 0}, 0.15f, 5.0f),
    };
    const float heights[3] = {0.2f, 0.25f, 0.15f};
    const float tilts[3] = {0.3f, 0.0f, 1.2f};
    for (int k = 0; k < 3; k++) {
        MoteCollider colliders[2];
        falling[k].from.rotation = turn((MoteVec3){0, 0, 1}, tilts[k]);
        expect_ok(mote_world_set_colliders(world, NULL, 0));
        expect_ok(mote_world_set_colliders(world, colliders, ground_and(&falling[k], colliders)));
        run_steps(world, 720, DT);
        const MoteColliderState now = read_collider(world, 1);
        expect_near(now.pose.position.y, heights[k], 0.004, "height at rest");
        const double speed = sqrt((double)now.velocity.x * now.velocity.x + (double)now.velocity.y * now.velocity.y);
        expect_near(speed, 0.0, 0.02, "speed at rest");
    }
    mote_world_destroy(world);
}

// Without restitution a box that falls flat stays where it hits; one that hits with an edge or a corner may turn, but
// what it has of energy afterwards is less than it fell with, and it comes to rest.
static void falls_do_not_rebound(void **state)
{
    MoteSettings settings = free_settings(0.1f);
    settings.gravity = (MoteVec3){0, -9.81f, 0};
    settings.sleep_speed = 0.01f;
    MoteWorld *world = make_world(*state, &settings);
    const float fall = 5.0f, half = 0.3f;
    const MoteVec3 axes[3] = {{0, 0, 1}, {0, 0, 1}, {0.6f, 0, 0.8f}};
    const float tilts[3] = {0.0f, 0.4f, 0.7f};
    for (int k = 0; k < 3; k++) {
        MoteCollider box =
            heavy(MOTE_COLLIDER_BOX, (MoteVec3){0, half + fall, 0}, (MoteVec3){half, half, half}, 0.0f, 5.0f);
        box.from.rotation = turn(axes[k], tilts[k]);
        MoteCollider colliders[2];
        expect_ok(mote_world_set_colliders(world, NULL, 0));
        expect_ok(mote_world_set_colliders(world, colliders, ground_and(&box, colliders)));
        double most = 0.0, up = 0.0; // of a unit of mass, once it has hit
        bool hit = false;
        for (int step = 0; step < 480; step++) {
            expect_ok(mote_world_step(world, DT));
            const MoteColliderState now = read_collider(world, 1);
            const MoteVec3 v = now.velocity, w = now.angular_velocity;
            const double inertia = 2.0 / 3.0 * half * half; // a cube's, about any axis
            const double energy = 9.81 * (now.pose.position.y - half) + 0.5 * (v.x * v.x + v.y * v.y + v.z * v.z) +
                                  0.5 * inertia * (w.x * w.x + w.y * w.y + w.z * w.z);
            hit |= now.pose.position.y < 2.0f * half && v.y > -5.0f;
            most = hit ? fmax(most, energy) : 0.0;
            up = hit ? fmax(up, v.y) : 0.0;
        }
        const MoteColliderState now = read_collider(world, 1);
        print_message("tilted by %.1f: energy at most %.3f of the fall's, up at %.2f m/s\n", (double)tilts[k],
                      most / (9.81 * fall), up);
        assert_true(hit);
        assert_true(most < (k == 0 ? 0.01 : 0.6) * 9.81 * fall);
        expect_near(now.pose.position.y, half, 0.01, "height at rest");
        expect_near(now.velocity.y, 0.0, 0.02, "speed at rest");
    }
    mote_world_destroy(world);
}

// v^2 / (2 mu g), and nothing moves where friction holds.
static void slides_and_stops(void **state)
{
    MoteSettings settings = free_settings(0.1f);
    settings.gravity = (MoteVec3){0, -9.81f, 0};
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider box = heavy(MOTE_COLLIDER_BOX, (MoteVec3){0, 0.1f, 0}, (MoteVec3){0.3f, 0.1f, 0.3f}, 0.0f, 5.0f);
    MoteCollider colliders[2];
    expect_ok(mote_world_set_colliders(world, colliders, ground_and(&box, colliders)));
    expect_ok(set_motion(world, 1, (MoteVec3){3, 0, 0}, NOWHERE));
    run_steps(world, 360, DT);
    const MoteColliderState now = read_collider(world, 1);
    const double expected = 9.0 / (2 * 0.5 * 9.81);
    expect_near(now.pose.position.x, expected, 0.1 * expected, "distance slid");
    expect_near(now.velocity.x, 0.0, 0.01, "speed at the end");
    expect_near(now.pose.position.y, 0.1, 0.002, "height");
    mote_world_destroy(world);
}

// Restitution e: a ball dropped from H rises to e^2 H. Two balls that meet head on exchange their velocities.
static void bounces(void **state)
{
    MoteSettings settings = free_settings(0.1f);
    settings.gravity = (MoteVec3){0, -9.81f, 0};
    MoteWorld *world = make_world(*state, &settings);
    MoteCollider colliders[2] = {still_collider(MOTE_COLLIDER_PLANE, NOWHERE, NOWHERE, 0.0f),
                                 heavy(MOTE_COLLIDER_SPHERE, (MoteVec3){0, 1.2f, 0}, NOWHERE, 0.2f, 2.0f)};
    colliders[0].restitution = colliders[1].restitution = 0.8f;
    expect_ok(mote_world_set_colliders(world, colliders, 2));
    float highest = 0.0f;
    bool fell = false;
    for (int step = 0; step < 240; step++) {
        expect_ok(mote_world_step(world, DT));
        const MoteColliderState now = read_collider(world, 1);
        fell |= now.velocity.y > 0.0f;
        highest = fell ? fmaxf(highest, now.pose.position.y - 0.2f) : 0.0f;
    }
    expect_near(highest, 0.64, 0.06, "height of the rebound");

    settings.gravity = NOWHERE;
    expect_ok(mote_world_set_settings(world, &settings));
    MoteCollider balls[2] = {heavy(MOTE_COLLIDER_SPHERE, (MoteVec3){-0.5f, 0, 0}, NOWHERE, 0.2f, 2.0f),
                             heavy(MOTE_COLLIDER_SPHERE, (MoteVec3){0.5f, 0, 0}, NOWHERE, 0.2f, 2.0f)};
    balls[0].restitution = balls[1].restitution = 1.0f;
    expect_ok(mote_world_set_colliders(world, NULL, 0));
    expect_ok(mote_world_set_colliders(world, balls, 2));
    expect_ok(set_motion(world, 0, (MoteVec3){2, 0, 0}, NOWHERE));
    run_steps(world, 120, DT);
    expect_near(read_collider(world, 0).velocity.x, 0.0, 1e-3, "speed of the first ball");
    expect_near(read_collider(world, 1).velocity.x, 2.0, 1e-3, "speed of the second");
    mote_world_destroy(world);
}

// Three boxes on one another, set again before each step as simulations do, with the pose they began with.
static void stack_of_boxes(void **state)
{
    MoteSettings settings = free_settings(0.1f);
    settings.gravity = (MoteVec3){0, -9.81f, 0};
    settings.iterations = 8;
    MoteWorld *world = make_world(*state, &settings);
    MoteCollider colliders[4] = {still_collider(MOTE_COLLIDER_PLANE, NOWHERE, NOWHERE, 0.0f)};
    for (int k = 0; k < 3; k++) {
        colliders[k + 1] = heavy(MOTE_COLLIDER_BOX, (MoteVec3){0.02f * (float)k, 0.2f + 0.401f * (float)k, 0},
                                 (MoteVec3){0.2f, 0.2f, 0.2f}, 0.0f, 8.0f);
    }
    for (int k = 0; k < 4; k++) {
        colliders[k].static_friction = colliders[k].kinetic_friction = 0.6f;
    }
    for (int step = 0; step < 480; step++) {
        expect_ok(mote_world_set_colliders(world, colliders, 4));
        expect_ok(mote_world_step(world, DT));
    }
    for (uint32_t k = 0; k < 3; k++) {
        const MoteColliderState now = read_collider(world, k + 1);
        expect_near(now.pose.position.y, 0.2 + 0.4 * k, 0.012, "height in the stack");
        expect_near(now.pose.position.x, 0.02 * k, 0.02, "place in the stack");
    }
    mote_world_destroy(world);
}

// ---- In water ----

enum { POOL = 16, POOL_DEPTH = 10 }; // particles

static const float BALL = 0.18f; // m, radius

static MoteWorld *make_pool(const TestBackend *backend, float density, float *level)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.05f;
    settings.boundary_density_weight = 1.0f;
    MoteWorld *world = make_world(backend, &settings);
    const float d = settings.spacing, width = d * POOL;
    MoteCollider colliders[2] = {
        box_container((MoteVec3){0.5f * width, width, 0.5f * width}, (MoteVec3){0.5f * width, width, 0.5f * width})};
    add_block(world, (MoteVec3){0.5f * d, 0.5f * d, 0.5f * d}, POOL, POOL_DEPTH, POOL);
    *level = POOL_DEPTH * d;
    const MoteVec3 above = {0.5f * width, *level + BALL, 0.5f * width};
    colliders[1] = still_collider(MOTE_COLLIDER_SPHERE, above, NOWHERE, BALL);
    colliders[1].density = density;
    expect_ok(mote_world_set_colliders(world, colliders, 2));
    return world;
}

// A ball on a pool is carried by the water's force, its weight, and has its density's share under water. Where a step
// takes long, only one that floats and one that sinks.
static void floats_or_sinks(void **state)
{
    const float densities[4] = {100.0f, 500.0f, 1000.0f, 3000.0f};
    const bool all = *state == &test_backends[0];
    double depths[4] = {0};
    for (int k = all ? 0 : 1; k < 4; k += all ? 1 : 2) {
        float level;
        MoteWorld *world = make_pool(*state, densities[k], &level);
        double height = 0.0, force = 0.0, fastest = 0.0;
        for (int step = 0; step < 420; step++) {
            expect_ok(mote_world_step(world, DT));
            const MoteColliderState now = read_collider(world, 1);
            fastest = fmax(fastest, fabs((double)now.velocity.y));
            height += step >= 240 ? now.pose.position.y / 180.0 : 0.0;
            force += step >= 240 ? now.force.y / 180.0 : 0.0;
        }
        const double width = 0.05 * POOL, weight = read_collider(world, 1).mass * 9.81;
        depths[k] = share_under_water(BALL, height - BALL, level, width * width);
        print_message("density %4.0f: centre at %.3f m, %.2f of it under water, force %.1f N of weight %.1f N, fastest "
                      "%.2f m/s\n",
                      (double)densities[k], height, depths[k], force, weight, fastest);
        if (densities[k] <= 1000.0f) {
            expect_near(force, weight, 0.08 * weight, "the force that carries it");
        } else { // it lies on the ground: Archimedes' force is left, 0.68 to 0.9 of it by the order of sums
            expect_near(height, BALL, 0.01, "height of the centre");
            expect_near(force, weight * 1000.0 / densities[k], 0.35 * weight * 1000.0 / densities[k], "buoyancy");
        }
        assert_true(fastest < 3.0);
        mote_world_destroy(world);
    }
    expect_near(depths[1], 0.5, 0.05, "share under water at density 0.5");
    if (all) {
        expect_near(depths[0], 0.1, 0.04, "share under water at density 0.1");
        assert_true(depths[2] > 0.95);
        assert_true(depths[0] < depths[1] && depths[1] < depths[2] && depths[3] >= depths[2]);
    }
}

// A rigid body of particles that lands on a box which floats in space: momentum, also about the common centre, and no
// passing through. Pinned particles stop a box as a wall would.
static void bodies_and_pins(void **state)
{
    MoteSettings settings = free_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider box = heavy(MOTE_COLLIDER_BOX, NOWHERE, (MoteVec3){0.4f, 0.2f, 0.4f}, 0.0f, 20.0f);
    expect_ok(mote_world_set_colliders(world, &box, 1));
    MoteVec3 cube[27];
    for (int i = 0; i < 27; i++) {
        cube[i] = (MoteVec3){0.1f * (float)(i % 3), 0.5f + 0.1f * (float)(i / 3 % 3), 0.1f * (float)(i / 9) - 0.1f};
    }
    const MoteBody body = {.count = 27, .positions = cube, .mass = 0.5f, .velocity = {0, -2, 0}, .stiffness = 1.0f};
    expect_ok(mote_world_add_body(world, &body, NULL, NULL));
    double before[3], after[3], turning[3], turned[3];
    total_momentum(world, 1, before, turning);
    run_steps(world, 120, DT);
    total_momentum(world, 1, after, turned);
    const MoteColliderState now = read_collider(world, 0);
    for (int a = 0; a < 3; a++) {
        expect_near(after[a], before[a], 1e-4 * 27, "momentum");
    }
    expect_near(turned[2], turning[2], 0.03 * 2.7, "angular momentum");
    const double common = -27.0 / 33.5;
    expect_near(now.velocity.y, common, 0.2 * fabs(common), "speed of the box after the impact");
    MoteBodyState landed;
    expect_ok(mote_world_read_bodies(world, &landed, 1));
    assert_true(landed.pose.position.y > now.pose.position.y + 0.3f); // it is 0.15 to 0.2 above the box's face
    mote_world_destroy(world);

    world = make_world(*state, &settings);
    expect_ok(mote_world_set_colliders(world, &box, 1));
    expect_ok(set_motion(world, 0, (MoteVec3){0, -1, 0}, NOWHERE));
    MoteVec3 pins[9];
    for (int i = 0; i < 9; i++) {
        pins[i] = (MoteVec3){0.3f * (float)(i % 3 - 1), -0.4f, 0.3f * (float)(i / 3 - 1)};
    }
    const MoteParticles particles = {.count = 9, .positions = pins, .mass = 0.0f};
    expect_ok(mote_world_add_particles(world, &particles, NULL));
    run_steps(world, 120, DT);
    const MoteColliderState stopped = read_collider(world, 0);
    assert_true(stopped.pose.position.y > -0.4f + 0.05f + 0.2f - 0.005f);
    expect_near(stopped.velocity.y, 0.06, 0.1, "speed off pins"); // what is left of the overlap gives a little
    expect_near(read_view(world).positions[1], -0.4f, 0.0, "height of a pin");
    mote_world_destroy(world);
}

// ---- Repeatability ----

static MoteWorld *make_splash(const MoteBackendOptions *options)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.05f;
    MoteWorld *world = NULL;
    expect_ok(mote_world_create(&settings, options, &world));
    build_dam_break(world, 12, 12, 12);
    MoteCollider colliders[4] = {
        box_container((MoteVec3){0.9f, 0.6f, 0.325f}, (MoteVec3){0.9f, 0.6f, 0.325f}),
        still_collider(MOTE_COLLIDER_BOX, (MoteVec3){0.85f, 0.1f, 0.3f}, (MoteVec3){0.1f, 0.1f, 0.1f}, 0),
        still_collider(MOTE_COLLIDER_SPHERE, (MoteVec3){0.3f, 0.8f, 0.3f}, NOWHERE, 0.12f),
        still_collider(MOTE_COLLIDER_CAPSULE, (MoteVec3){1.2f, 0.2f, 0.3f}, (MoteVec3){0, 0.1f, 0}, 0.08f)};
    for (int k = 0; k < 4; k++) {
        colliders[k].density = k > 0 ? 300.0f * (float)k : 0.0f;
        colliders[k].static_friction = colliders[k].kinetic_friction = 0.3f;
        colliders[k].restitution = 0.2f;
    }
    expect_ok(mote_world_set_colliders(world, colliders, 4));
    return world;
}

static void expect_same_colliders(MoteWorld *a, MoteWorld *b)
{
    MoteColliderState one[4], other[4];
    expect_ok(mote_world_read_colliders(a, one, 4));
    expect_ok(mote_world_read_colliders(b, other, 4));
    assert_memory_equal(one, other, sizeof one);
    assert_int_equal(read_hash(a), read_hash(b));
}

static void threads_do_not_matter(void **state)
{
    TestBackend one = *(const TestBackend *)*state, many = one;
    one.options.threads = 1;
    many.options.threads = 3;
    MoteWorld *a = make_splash(&one.options), *b = make_splash(&many.options);
    run_steps(a, 40, DT);
    run_steps(b, 40, DT);
    expect_same_colliders(a, b);
    assert_true(fabsf(read_collider(a, 1).velocity.x) + fabsf(read_collider(a, 2).velocity.y) > 0.1f);
    mote_world_destroy(a);
    mote_world_destroy(b);
}

static void backends_agree(void **state)
{
    (void)state;
    assert_int_equal(keep_vulkan(&test_backends[3].options), 0);
    MoteWorld *a = make_splash(&test_backends[1].options);
    run_steps(a, 40, DT);
    for (int other = 2; other < 4 && !vulkan_may_differ(other); other++) {
        MoteWorld *b = make_splash(&test_backends[other].options);
        run_steps(b, 40, DT);
        expect_same_colliders(a, b);
        mote_world_destroy(b);
    }
    mote_world_destroy(a);
}

static void snapshots(void **state)
{
    const TestBackend *backend = *state;
    MoteWorld *world = make_splash(&backend->options), *other = make_splash(&backend->options);
    run_steps(world, 20, DT);
    WorldSnapshot snapshot;
    expect_ok(world_snapshot_take(world, &snapshot));
    run_steps(world, 20, DT);
    run_steps(other, 3, DT);
    expect_ok(world_snapshot_restore(other, &snapshot));
    run_steps(other, 20, DT);
    expect_same_colliders(world, other);

    const SavedArray *motions = &snapshot.arrays[SAVED_dynamic_motions];
    motions->floats[motions->count * saved_array_infos[SAVED_dynamic_motions].words - 2] = NAN; // the last one's spin
    expect_error(world_snapshot_restore(other, &snapshot), MOTE_ERROR_INPUT, "not finite in dynamic_motions");
    expect_same_colliders(world, other);
    expect_ok(mote_world_set_colliders(other, NULL, 0));
    expect_error(world_snapshot_restore(other, &snapshot), MOTE_ERROR_INPUT, "elements of dynamic_motions");
    world_snapshot_free(&snapshot);
    mote_world_destroy(world);
    mote_world_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(mass_and_inertia),
        ON_EVERY_BACKEND(bad_colliders),
        ON_EVERY_BACKEND(free_flight),
        ON_EVERY_BACKEND(one_drop),
        ON_EVERY_BACKEND(tumbling_keeps_energy),
        ON_EVERY_BACKEND(damping_slows_colliders),
        ON_EVERY_BACKEND(bouncing_drop),
        ON_CPU_AND_GPUS(jet),
        ON_EVERY_BACKEND(rests_on_ground),
        ON_CPU_AND_GPUS(falls_do_not_rebound),
        ON_EVERY_BACKEND(slides_and_stops),
        ON_EVERY_BACKEND(bounces),
        ON_EVERY_BACKEND(many_colliders_at_once),
        ON_CPU_AND_GPUS(stack_of_boxes),
        ON_CPU_AND_GPUS(floats_or_sinks),
        ON_EVERY_BACKEND(bodies_and_pins),
        ON_EVERY_BACKEND(threads_do_not_matter),
        ON_EVERY_BACKEND(snapshots),
        cmocka_unit_test(backends_agree),
    };
    static const char *const long_tests[] = {"jet", "falls_do_not_rebound", "floats_or_sinks", "stack_of_boxes", NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, NULL, NULL);
}
