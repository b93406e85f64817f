// SPDX-License-Identifier: MIT
// Colliders: their distances, and what particles do that meet them.
#define VULKAN_VALIDATE false // many steps
#include "backends.h"

#include "kernels/kernels.h"
#include <omp.h>

static const MoteVec3 NOWHERE = {0, 0, 0};
static const MoteVec3 X = {1, 0, 0}, Z = {0, 0, 1};

// ---- Distances ----

// The signed distance of the solid collider in its own frame.
static double reference_distance(const MoteCollider *collider, const double p[3])
{
    const double half[3] = {collider->half_size.x, collider->half_size.y, collider->half_size.z};
    if (collider->kind == MOTE_COLLIDER_PLANE) {
        return p[1];
    }
    if (collider->kind == MOTE_COLLIDER_SPHERE) {
        return sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - collider->radius;
    }
    if (collider->kind == MOTE_COLLIDER_CAPSULE) {
        const double along = p[1] > half[1] ? p[1] - half[1] : p[1] < -half[1] ? p[1] + half[1] : 0.0;
        return sqrt(p[0] * p[0] + along * along + p[2] * p[2]) - collider->radius;
    }
    double outside = 0.0, inside = -INFINITY;
    for (int axis = 0; axis < 3; axis++) {
        const double beyond = fabs(p[axis]) - half[axis];
        outside += beyond > 0.0 ? beyond * beyond : 0.0;
        inside = fmax(inside, beyond);
    }
    return outside > 0.0 ? sqrt(outside) : inside;
}

// The same at a point of the world, with the collider as it is at the end of a step, and as particles feel it.
static double felt_distance(const MoteCollider *collider, const float *point)
{
    const double q[4] = {-collider->to.rotation.x, -collider->to.rotation.y, -collider->to.rotation.z,
                         collider->to.rotation.w};
    const double v[3] = {(double)point[0] - collider->to.position.x, (double)point[1] - collider->to.position.y,
                         (double)point[2] - collider->to.position.z};
    const double t[3] = {2.0 * (q[1] * v[2] - q[2] * v[1]), 2.0 * (q[2] * v[0] - q[0] * v[2]),
                         2.0 * (q[0] * v[1] - q[1] * v[0])};
    const double local[3] = {v[0] + q[3] * t[0] + q[1] * t[2] - q[2] * t[1],
                             v[1] + q[3] * t[1] + q[2] * t[0] - q[0] * t[2],
                             v[2] + q[3] * t[2] + q[0] * t[1] - q[1] * t[0]};
    const double distance = reference_distance(collider, local);
    return collider->inside_out ? -distance : distance;
}

static void distances_and_normals(void **state)
{
    (void)state;
    for (uint32_t kind = MOTE_COLLIDER_PLANE; kind <= MOTE_COLLIDER_CAPSULE; kind++) {
        const MoteCollider collider = still_collider(kind, NOWHERE, (MoteVec3){0.5f, 0.8f, 0.3f}, 0.4f);
        const Collider kernel_collider = {.kind = kind, .half_size = v3(0.5f, 0.8f, 0.3f), .radius = 0.4f};
        int compared = 0;
        for (int n = 0; n < 4000; n++) {
            const MoteVec3 point = random_in_box(NOWHERE, n % 2 == 0 ? 0.6f : 2.0f);
            const double p[3] = {point.x, point.y, point.z};
            const vec4 found = solid_distance(NULL, kernel_collider, v3(point.x, point.y, point.z));
            expect_near(found.w, reference_distance(&collider, p), 1e-6, "a signed distance");
            expect_near(v3_length(v3_from_v4(found)), 1.0, 1e-5, "the length of a normal");
            const float normal[3] = {found.x, found.y, found.z};
            const double step = 1e-4;
            double slopes[3], squared = 0.0;
            for (int axis = 0; axis < 3; axis++) {
                double up[3] = {p[0], p[1], p[2]}, down[3] = {p[0], p[1], p[2]};
                up[axis] += step;
                down[axis] -= step;
                slopes[axis] = (reference_distance(&collider, up) - reference_distance(&collider, down)) / (2.0 * step);
                squared += slopes[axis] * slopes[axis];
            }
            if (fabs(squared - 1.0) < 1e-4) { // not across an edge, nor at a centre
                compared++;
                for (int axis = 0; axis < 3; axis++) {
                    expect_near(normal[axis], slopes[axis], 2e-3, "a component of a normal");
                }
            }
            Collider container = kernel_collider;
            container.inside_out = 1;
            const vec4 turned = collider_distance(NULL, container, v3(point.x, point.y, point.z));
            assert_true(turned.w == -found.w && turned.x == -found.x && turned.y == -found.y && turned.z == -found.z);
        }
        assert_true(compared > 3500);
    }
    const Collider sphere = {.kind = MOTE_COLLIDER_SPHERE,
                             .radius = 2.0f}; // its centre has no nearest point, but one is chosen
    assert_true(solid_distance(NULL, sphere, v3(0, 0, 0)).w == -2.0f &&
                solid_distance(NULL, sphere, v3(0, 0, 0)).y == 1.0f);
}

// ---- Containers and kill volumes ----

static MoteCollider tilted(MoteCollider collider)
{
    collider.from.rotation = collider.to.rotation = turn((MoteVec3){0.6f, 0.0f, 0.8f}, 0.7f);
    return collider;
}

static void containers_take_everything_in(void **state)
{
    MoteSettings settings = mote_default_settings();
    settings.max_displacement = 0.0f;
    const double margin = settings.collision_distance * settings.spacing;
    for (uint32_t kind = MOTE_COLLIDER_PLANE; kind <= MOTE_COLLIDER_CAPSULE; kind++) {
        for (int variant = 0; variant < 4; variant++) {
            settings.stabilization_iterations = variant / 2u;
            MoteCollider collider = still_collider(kind, (MoteVec3){1, 2, -1}, (MoteVec3){0.5f, 0.8f, 0.4f}, 0.6f);
            collider.inside_out = kind != MOTE_COLLIDER_PLANE || variant == 1;
            collider = variant % 2 == 1 ? tilted(collider) : collider;
            MoteWorld *world = make_world(*state, &settings);
            expect_ok(mote_world_set_colliders(world, &collider, 1));
            for (uint32_t phase = 0; phase <= MOTE_PHASE_FLUID; phase += MOTE_PHASE_FLUID) {
                MoteVec3 points[300], velocities[300];
                for (int i = 0; i < 300; i++) {
                    points[i] = random_in_box((MoteVec3){1, 2, -1}, i < 150 ? 1.0f : 100.0f);
                    velocities[i] = random_in_box(NOWHERE, i % 2 == 0 ? 1.0f : 200.0f);
                }
                const MoteParticles particles = {
                    .count = 300, .positions = points, .velocities = velocities, .mass = 0.1f, .phase = phase};
                expect_ok(mote_world_add_particles(world, &particles, NULL));
            }
            for (int step = 0; step < 5; step++) {
                run_steps(world, 1, 1.0f / 60.0f);
                const MoteParticleView view = read_view(world);
                for (uint32_t i = 0; i < view.count; i++) {
                    assert_true(felt_distance(&collider, view.positions + 4 * (size_t)i) >
                                margin - 1e-3 * settings.spacing);
                }
            }
            mote_world_destroy(world);
        }
    }
}

static void kill_volumes_take_what_is_inside(void **state)
{
    const MoteSettings settings = measuring_settings(3, 0.05f, 2.0f);
    for (uint32_t kind = MOTE_COLLIDER_PLANE; kind <= MOTE_COLLIDER_CAPSULE; kind++) {
        MoteCollider collider =
            tilted(still_collider(kind, (MoteVec3){0.1f, -0.2f, 0.3f}, (MoteVec3){0.5f, 0.8f, 0.4f}, 0.6f));
        for (int inside_out = 0; inside_out < 2; inside_out++) {
            collider.inside_out = inside_out != 0;
            MoteWorld *world = make_world(*state, &settings);
            expect_ok(mote_world_set_kill_volumes(world, &collider, 1));
            MoteVec3 points[800];
            uint32_t outside = 0;
            for (int i = 0; i < 800;) {
                points[i] = random_in_box(NOWHERE, 1.5f);
                const float p[3] = {points[i].x, points[i].y, points[i].z};
                const double distance = felt_distance(&collider, p);
                if (fabs(distance) > 1e-5) { // clear of the surface
                    outside += distance > 0.0;
                    i++;
                }
            }
            add_points(world, points, 800, 0);
            run_steps(world, 1, 0.01f);
            assert_int_equal(mote_world_particle_count(world), outside);
            assert_int_equal(read_statistics(world).removed, 800 - outside);
            const MoteParticleView view = read_view(world);
            for (uint32_t i = 0; i < view.count; i++) {
                assert_true(felt_distance(&collider, view.positions + 4 * (size_t)i) > 0.0);
            }
            mote_world_destroy(world);
        }
    }
}

// ---- Bullets ----

static MoteSettings weightless(void)
{
    MoteSettings settings = mote_default_settings();
    settings.gravity = NOWHERE;
    return settings;
}

// Steps until a particle of that speed has had the time to be well behind what it is shot at.
static uint32_t steps_for(const MoteSettings *settings, float speed, float time_step)
{
    const float h = settings->spacing * settings->smoothing_radius_ratio;
    const float longest = settings->max_displacement > 0.0f ? settings->max_displacement * h : INFINITY;
    return 3u + (uint32_t)(2.0f / fminf(speed * time_step, longest));
}

static void check_bullets(const TestBackend *backend, const MoteSettings *settings, const MoteCollider *wall,
                          float speed, float time_step)
{
    MoteWorld *world = make_world(backend, settings);
    expect_ok(mote_world_set_colliders(world, wall, 1));
    enum { COUNT = 24 };
    MoteVec3 points[COUNT], velocities[COUNT];
    for (int i = 0; i < COUNT; i++) { // straight and askew, from near and far, beside one another
        points[i] = (MoteVec3){-1.0f + 0.037f * (float)i, 0.3f * (float)(i % 5), 0.3f * (float)(i / 5)};
        const float slope = i % 3 == 0 ? 0.0f : random_float(-1.0f, 1.0f);
        velocities[i] = (MoteVec3){speed / sqrtf(1.0f + slope * slope), speed * slope / sqrtf(1.0f + slope * slope), 0};
    }
    for (uint32_t phase = 0; phase <= MOTE_PHASE_FLUID; phase += MOTE_PHASE_FLUID) {
        const MoteParticles particles = {
            .count = COUNT, .positions = points, .velocities = velocities, .mass = 0.1f, .phase = phase};
        expect_ok(mote_world_add_particles(world, &particles, NULL));
    }
    const float face = wall->to.position.x - wall->half_size.x;
    const uint32_t steps = steps_for(settings, speed, time_step);
    for (uint32_t step = 0; step < steps; step++) {
        run_steps(world, 1, time_step);
        const MoteParticleView view = read_view(world);
        for (uint32_t i = 0; i < view.count; i++) {
            if (view.positions[4 * i] > face) {
                fail_msg("a particle at %g m/s and steps of %g s is at %g, behind the wall at %g", speed, time_step,
                         view.positions[4 * i], face);
            }
        }
    }
    const MoteStatistics statistics = read_statistics(world);
    assert_true(statistics.bounds_max[0] > face - settings->spacing); // they did arrive
    mote_world_destroy(world);
}

static void walls_stop_bullets(void **state)
{
    const float speeds[] = {100.0f, 1000.0f}, time_steps[] = {1.0f / 60.0f, 1.0f / 240.0f};
    for (int limited = 0; limited < 2; limited++) {
        for (int s = 0; s < 2; s++) {
            for (int t = 0; t < 2; t++) {
                MoteSettings settings = weightless();
                settings.max_displacement = limited != 0 ? settings.max_displacement : 0.0f;
                assert_true(limited == 0 || settings.max_displacement > 0.0f);
                // Two spacings thick; so wide that nothing flies around it.
                const MoteCollider wall = still_collider(MOTE_COLLIDER_BOX, (MoteVec3){0.05f, 0, 0},
                                                         (MoteVec3){settings.spacing, 1000.0f, 1000.0f}, 0.0f);
                check_bullets(*state, &settings, &wall, speeds[s], time_steps[t]);
            }
        }
    }
}

// At balls and capsules, in the middle and off it, and at a wall that stands askew: never inside, never behind.
static void solids_stop_bullets(void **state)
{
    MoteSettings settings = weightless();
    settings.max_displacement = 0.0f;
    const float margin = settings.collision_distance * settings.spacing;
    for (uint32_t kind = MOTE_COLLIDER_BOX; kind <= MOTE_COLLIDER_CAPSULE; kind++) {
        for (int n = 0; n < 40; n++) {
            MoteCollider collider =
                tilted(still_collider(kind, (MoteVec3){0, 0, 0}, (MoteVec3){0.05f, 0.6f, 0.6f}, 0.3f));
            MoteWorld *world = make_world(*state, &settings);
            expect_ok(mote_world_set_colliders(world, &collider, 1));
            const MoteVec3 start = {-3.0f, 0, 0};
            const MoteVec3 aim = random_in_box(NOWHERE, n % 4 == 0 ? 0.0f : 0.05f);
            const float speed = n % 2 == 0 ? 100.0f : 1000.0f;
            add_grain(world, start, (MoteVec3){speed, speed * aim.y / 3.0f, speed * aim.z / 3.0f});
            for (int step = 0; step < 5; step++) {
                run_steps(world, 1, 1.0f / 60.0f);
                const MoteParticleView view = read_view(world);
                assert_true(felt_distance(&collider, view.positions) > margin - 0.02f * settings.spacing);
                if (step == 0) { // it may slide off the side later, but not come out at the back
                    assert_true(view.positions[0] < 5.0f && fabsf(view.positions[0]) < 10.0f);
                }
            }
            mote_world_destroy(world);
        }
    }
}

// ---- Moving colliders ----

static void moving_walls_push(void **state)
{
    const float time_steps[] = {1.0f / 60.0f, 1.0f / 240.0f}, speeds[] = {1.0f, 20.0f, 100.0f};
    for (int k = 0; k < 12; k++) {
        const float time_step = time_steps[k % 2], speed = speeds[k / 2 % 3], head_on = k < 6 ? 0.0f : -100.0f;
        MoteSettings settings = weightless();
        settings.max_displacement = 0.0f;
        MoteWorld *world = make_world(*state, &settings);
        for (int i = 0; i < 20; i++) {
            add_grain(world, (MoteVec3){0.1f + 0.2f * (float)i, 0, 0.3f * (float)i}, (MoteVec3){head_on, 0, 0});
        }
        MoteCollider wall = still_collider(MOTE_COLLIDER_BOX, NOWHERE, (MoteVec3){0.05f, 1000.0f, 1000.0f}, 0.0f);
        for (int step = 0; step < 30; step++) {
            wall.from = wall.to;
            wall.to.position.x += speed * time_step;
            expect_ok(mote_world_set_colliders(world, &wall, 1));
            run_steps(world, 1, time_step);
            const MoteParticleView view = read_view(world);
            for (uint32_t i = 0; i < view.count; i++) {
                assert_true(view.positions[4 * i] > wall.to.position.x + 0.05f);
            }
        }
        // What it has met first moves with it by now, and nothing is faster: it is no bat.
        const MoteParticleView view = read_view(world);
        for (uint32_t i = 0; i < view.count; i++) {
            assert_true(view.velocities[4 * i] < 1.01f * speed);
            if (view.ids[i] == 0) {
                expect_near(view.velocities[4 * i], speed, 0.01 * speed, "the speed of a pushed particle");
            }
        }
        mote_world_destroy(world);
    }
}

// A paddle that turns about one end of itself sweeps particles before it, also when it is thin against what it moves
// in a step.
static void turning_walls_push(void **state)
{
    const float time_steps[] = {1.0f / 60.0f, 1.0f / 240.0f};
    for (int k = 0; k < 2; k++) {
        MoteSettings settings = weightless();
        settings.max_displacement = 0.0f;
        MoteWorld *world = make_world(*state, &settings);
        const float half_length = 2.0f, half_width = 0.05f;
        for (int i = 0; i < 12; i++) {
            const float angle = 0.15f + 0.1f * (float)(i % 4), radius = 0.4f + 0.1f * (float)i;
            add_grain(world, (MoteVec3){radius * cosf(angle), radius * sinf(angle), 0}, NOWHERE);
        }
        MoteCollider paddle =
            still_collider(MOTE_COLLIDER_BOX, NOWHERE, (MoteVec3){half_length, half_width, 5.0f}, 0.0f);
        const int steps = (int)lroundf(0.12f / time_steps[k]);
        for (int step = 1; step <= steps; step++) {
            paddle.from = paddle.to;
            const float angle = 10.0f * time_steps[k] * (float)step;
            paddle.to.rotation = turn(Z, angle);
            expect_ok(mote_world_set_colliders(world, &paddle, 1));
            run_steps(world, 1, time_steps[k]);
            const MoteParticleView view = read_view(world);
            for (uint32_t i = 0; i < view.count; i++) {
                const float x = view.positions[4 * i], y = view.positions[4 * i + 1];
                const float along = x * cosf(angle) + y * sinf(angle), before = y * cosf(angle) - x * sinf(angle);
                assert_true(along > half_length || before > half_width);
            }
        }
        mote_world_destroy(world);
    }
}

// ---- Friction ----

static MoteCollider ground(float angle, float friction, float restitution)
{
    MoteCollider plane = still_collider(MOTE_COLLIDER_PLANE, NOWHERE, NOWHERE, 0.0f);
    plane.from.rotation = plane.to.rotation = turn(Z, angle);
    plane.static_friction = plane.kinetic_friction = friction;
    plane.restitution = restitution;
    return plane;
}

// A grain on the ground, as far above it as contacts keep it; tangential is (cos, sin, 0) of the angle.
static MoteWorld *make_slope(const TestBackend *backend, float angle, float friction, float speed)
{
    MoteSettings settings = mote_default_settings();
    settings.max_displacement = 0.0f;
    const float margin = settings.collision_distance * settings.spacing;
    MoteWorld *world = make_world(backend, &settings);
    const MoteCollider plane = ground(angle, friction, 0.0f);
    expect_ok(mote_world_set_colliders(world, &plane, 1));
    add_grain(world, (MoteVec3){-margin * sinf(angle), margin * cosf(angle), 0},
              (MoteVec3){speed * cosf(angle), speed * sinf(angle), 0});
    return world;
}

static double speed_along(MoteWorld *world, float angle)
{
    const MoteParticleView view = read_view(world);
    return view.velocities[0] * cosf(angle) + view.velocities[1] * sinf(angle);
}

static void friction_slows_by_mu_g(void **state)
{
    const float time_steps[] = {1.0f / 60.0f, 1.0f / 240.0f};
    for (int k = 0; k < 2; k++) {
        for (float friction = 0.1f; friction < 0.7f; friction += 0.25f) {
            MoteWorld *world = make_slope(*state, 0.0f, friction, 5.0f);
            const uint32_t steps = (uint32_t)lroundf(0.5f / time_steps[k]);
            run_steps(world, steps, time_steps[k]);
            const double slowing = (5.0 - speed_along(world, 0.0f)) / 0.5;
            expect_near(slowing, friction * 9.81, 0.1 * friction * 9.81, "the deceleration");
            run_steps(world, 12 * steps, time_steps[k]);
            assert_true(speed_along(world, 0.0f) == 0.0); // it has stopped, for good
            mote_world_destroy(world);
        }
    }
    MoteWorld *world = make_slope(*state, 0.0f, 0.0f, 5.0f);
    run_steps(world, 240, 1.0f / 240.0f);
    expect_near(speed_along(world, 0.0f), 5.0, 0.01, "the speed on ice");
    mote_world_destroy(world);
}

static void slopes_hold_below_the_friction_angle(void **state)
{
    const float friction = 0.5f, degree = 0.01745329f; // atan(0.5) is 26.6 degrees
    for (float angle = 5.0f; angle < 26.0f; angle += 5.0f) {
        MoteWorld *world = make_slope(*state, angle * degree, friction, 0.0f);
        run_steps(world, 240, 1.0f / 120.0f);
        const MoteParticleView view = read_view(world);
        assert_true(hypot(view.positions[0], view.positions[1]) < 0.03);
        assert_true(fabs(speed_along(world, angle * degree)) < 1e-4);
        mote_world_destroy(world);
    }
    for (float angle = 30.0f; angle < 60.0f; angle += 10.0f) {
        MoteWorld *world = make_slope(*state, angle * degree, friction, 0.0f);
        run_steps(world, 60, 1.0f / 120.0f);
        const double expected = 9.81 * (sin(angle * degree) - friction * cos(angle * degree)) * 0.5;
        expect_near(-speed_along(world, angle * degree), expected, 0.1 * expected, "the speed down a slope");
        mote_world_destroy(world);
    }
}

// A conveyor belt: friction follows the surface.
static void friction_carries_along(void **state)
{
    MoteWorld *world = make_slope(*state, 0.0f, 0.5f, 0.0f);
    MoteCollider belt = ground(0.0f, 0.5f, 0.0f);
    for (int step = 0; step < 120; step++) {
        belt.from = belt.to;
        belt.to.position.x += 2.0f / 120.0f;
        expect_ok(mote_world_set_colliders(world, &belt, 1));
        run_steps(world, 1, 1.0f / 120.0f);
    }
    expect_near(speed_along(world, 0.0f), 2.0, 0.02, "the speed on a belt");
    mote_world_destroy(world);
}

// ---- Restitution and stabilisation ----

static void bounces_reach_e_squared(void **state)
{
    const float bounces[] = {0.0f, 0.3f, 0.5f, 0.8f, 1.0f};
    for (int k = 0; k < 5; k++) {
        MoteSettings settings = mote_default_settings();
        settings.max_displacement = 0.0f;
        const float margin = settings.collision_distance * settings.spacing;
        MoteWorld *world = make_world(*state, &settings);
        const MoteCollider plane = ground(0.0f, 0.0f, bounces[k]);
        expect_ok(mote_world_set_colliders(world, &plane, 1));
        add_grain(world, (MoteVec3){0, margin + 1.0f, 0}, NOWHERE);
        bool landed = false;
        double height = 0.0;
        for (int step = 0; step < 480; step++) {
            run_steps(world, 1, 1.0f / 480.0f);
            const MoteParticleView view = read_view(world);
            const double above = view.positions[1] - margin;
            assert_true(above > -1e-5);
            landed = landed || above < 1e-3;
            height = landed && above > height ? above : height;
        }
        assert_true(landed);
        const double expected = bounces[k] * bounces[k];
        expect_near(height, expected, 0.1 * expected + 1e-3, "the height of a bounce");
        mote_world_destroy(world);
    }
}

static float speed_after_overlap(const TestBackend *backend, uint32_t stabilization_iterations,
                                 const MoteCollider *collider, MoteVec3 position)
{
    MoteSettings settings = mote_default_settings();
    settings.stabilization_iterations = stabilization_iterations;
    settings.gravity = (MoteVec3){0, -9.81f, 0};
    MoteWorld *world = make_world(backend, &settings);
    expect_ok(mote_world_set_colliders(world, collider, 1));
    add_grain(world, position, NOWHERE);
    run_steps(world, 1, 1.0f / 240.0f);
    const MoteParticleView view = read_view(world);
    const float margin = settings.collision_distance * settings.spacing;
    assert_true(felt_distance(collider, view.positions) > margin - 1e-5);
    const float speed = sqrtf(view.velocities[0] * view.velocities[0] + view.velocities[1] * view.velocities[1] +
                              view.velocities[2] * view.velocities[2]);
    mote_world_destroy(world);
    return speed;
}

static void overlaps_become_no_speed(void **state)
{
    const MoteSettings settings = mote_default_settings();
    const float margin = settings.collision_distance * settings.spacing, overlap = 0.5f * settings.spacing;
    const float kick = overlap * 240.0f; // m/s: what the correction would be as a velocity
    const MoteCollider plane = ground(0.0f, 0.0f, 0.0f);
    const MoteCollider floor_box = still_collider(MOTE_COLLIDER_BOX, (MoteVec3){0, -1, 0}, (MoteVec3){5, 1, 5}, 0.0f);
    const MoteCollider tank = box_container((MoteVec3){0, 1, 0}, (MoteVec3){1, 1, 1});
    const MoteVec3 below = {0, margin - overlap, 0}, wall = {1.0f - margin + overlap, 1.0f, 0};
    assert_true(speed_after_overlap(*state, 1, &plane, below) < 0.01f * kick);
    assert_true(speed_after_overlap(*state, 1, &floor_box, below) < 0.01f * kick);
    assert_true(speed_after_overlap(*state, 1, &tank, below) < 0.01f * kick);
    // Beside a wall it falls, which is no kick.
    expect_near(speed_after_overlap(*state, 1, &tank, wall), 9.81 / 240.0, 0.01 * kick, "the speed beside a wall");
    // Without stabilisation the correction is a velocity: so it is this that is tested here.
    expect_near(speed_after_overlap(*state, 0, &plane, below), kick, 0.05 * kick, "the speed without stabilisation");
}

// A plane that is tilted about another axis, with gravity askew: contact frames are turned the right way round.
static void rotated_planes_hold(void **state)
{
    MoteSettings settings = mote_default_settings();
    settings.gravity = (MoteVec3){3, -9, 2};
    MoteCollider plane = still_collider(MOTE_COLLIDER_PLANE, (MoteVec3){0, 1, 0}, NOWHERE, 0.0f);
    plane.from.rotation = plane.to.rotation = turn(X, 1.0f);
    MoteWorld *world = make_world(*state, &settings);
    expect_ok(mote_world_set_colliders(world, &plane, 1));
    add_grain(world, (MoteVec3){0, 3, 0}, (MoteVec3){0, -30, 0});
    for (int step = 0; step < 100; step++) {
        run_steps(world, 1, 1.0f / 100.0f);
        const MoteParticleView view = read_view(world);
        assert_true(felt_distance(&plane, view.positions) > settings.collision_distance * settings.spacing - 1e-4);
    }
    mote_world_destroy(world);
}

// Liquid in a tank on a plane that rises, with another collider that is far away, or without.
static MoteWorld *make_tank(const TestBackend *backend, uint32_t collider_count)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.1f;
    settings.stabilization_iterations = 1;
    MoteWorld *world = make_world(backend, &settings);
    add_block(world, (MoteVec3){-0.35f, 0.1f, -0.45f}, 8, 8, 10);
    MoteCollider colliders[3] = {
        still_collider(MOTE_COLLIDER_BOX, (MoteVec3){0, 1, 0}, (MoteVec3){0.5f, 1.0f, 0.6f}, 0.0f),
        still_collider(MOTE_COLLIDER_PLANE, NOWHERE, NOWHERE, 0.0f),
        still_collider(MOTE_COLLIDER_SPHERE, (MoteVec3){0, 1000, 0}, NOWHERE, 1.0f),
    };
    colliders[0].inside_out = 1;
    colliders[0].static_friction = colliders[0].kinetic_friction = 0.2f;
    colliders[1].from.position.y = 0.01f;
    colliders[1].to.position.y = 0.02f;
    expect_ok(mote_world_set_colliders(world, colliders, collider_count));
    run_steps(world, 30, 1.0f / 120.0f);
    return world;
}

// Particles in the room that walls leave are not compared with them. With a sphere among them there is none.
static void room_changes_nothing(void **state)
{
    MoteWorld *with = make_tank(*state, 2), *without = make_tank(*state, 3);
    const vec3 lower = with->view.clear_box_lower, upper = with->view.clear_box_upper;
    const float margin = with->view.margin;
    expect_near(lower.x, -0.5f + margin, 1e-4, "the room's left side");
    expect_near(upper.x, 0.5f - margin, 1e-4, "its right side");
    expect_near(lower.y, 0.02f + margin, 1e-4, "its floor, the higher one");
    expect_near(upper.y, 2.0f - margin, 1e-4, "its ceiling");
    assert_true(lower.x > -0.5f + margin && upper.z < 0.6f - margin); // not a bit too large
    assert_true(without->view.clear_box_lower.x > without->view.clear_box_upper.x);
    assert_true(read_hash(with) == read_hash(without));
    mote_world_destroy(with);
    mote_world_destroy(without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_and_normals),
        ON_EVERY_BACKEND(containers_take_everything_in),
        ON_EVERY_BACKEND(kill_volumes_take_what_is_inside),
        ON_EVERY_BACKEND(walls_stop_bullets),
        ON_EVERY_BACKEND(solids_stop_bullets),
        ON_EVERY_BACKEND(moving_walls_push),
        ON_EVERY_BACKEND(turning_walls_push),
        ON_EVERY_BACKEND(friction_slows_by_mu_g),
        ON_EVERY_BACKEND(slopes_hold_below_the_friction_angle),
        ON_EVERY_BACKEND(friction_carries_along),
        ON_EVERY_BACKEND(bounces_reach_e_squared),
        ON_EVERY_BACKEND(overlaps_become_no_speed),
        ON_EVERY_BACKEND(rotated_planes_hold),
        ON_EVERY_BACKEND(room_changes_nothing),
    };
    omp_set_num_threads(1); // worlds of a few particles: threads would only wait for one another
    return cmocka_run_group_tests(tests, NULL, NULL);
}
