// SPDX-License-Identifier: MIT
// Force fields and impulses: accelerations, orbits, terminal velocities, momenta in closed form; on particles, bodies
// and dynamic colliders; and that their work is not taken for energy out of nothing.
#define VULKAN_VALIDATE true
#include "backends.h"

#include "mote_forces.h"

static const MoteVec3 NOWHERE = {0, 0, 0};
static const double PI = 3.14159265358979323846;
static const float DT = 1.0f / 240.0f;

// Nothing but what a test adds moves anything.
static MoteSettings still_settings(float spacing)
{
    MoteSettings settings = measuring_settings(3, spacing, 2.0f);
    settings.max_displacement = 0.0f;
    settings.damping = settings.sleep_speed = 0.0f;
    return settings;
}

static MoteForceFieldId add_field(MoteWorld *world, const MoteForceField *field)
{
    MoteForceFieldId id;
    expect_ok(mote_world_add_force_field(world, field, &id));
    return id;
}

typedef struct Point {
    double x[3], v[3];
} Point;

static Point read_point(MoteWorld *world, uint32_t id)
{
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        if (view.ids[i] == id) {
            const float *p = view.positions + 4 * (size_t)i, *v = view.velocities + 4 * (size_t)i;
            return (Point){{(double)p[0], (double)p[1], (double)p[2]}, {(double)v[0], (double)v[1], (double)v[2]}};
        }
    }
    fail_msg("there is no particle %u", id);
    return (Point){0};
}

static void expect_velocity(MoteWorld *world, uint32_t id, double x, double y, double z, double tolerance)
{
    const Point point = read_point(world, id);
    const double expected[3] = {x, y, z};
    for (int a = 0; a < 3; a++) {
        expect_near(point.v[a], expected[a], tolerance, "velocity");
    }
}

static double length3(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// ---- Kinds ----

// A box that is turned by 45 degrees: inside its corner, not beyond, and half as much in the middle of its border. Each
// step adds a dt to the velocity, then moves by it.
static void a_box_accelerates_what_is_inside(void **state)
{
    const MoteSettings settings = still_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t corner = add_grain(world, (MoteVec3){1.3f, 0.0f, 0.0f}, NOWHERE);
    const uint32_t beyond = add_grain(world, (MoteVec3){0.9f, 0.9f, 0.0f}, NOWHERE);
    MoteForceField box = {.kind = MOTE_FORCE_FIELD_BOX,
                          .pose = {{0, 0, 0}, turn((MoteVec3){0, 0, 1}, (float)(PI / 4))},
                          .half_size = {1, 1, 1},
                          .strength = 3.0f,
                          .direction = {0, 0, 2}};
    const MoteForceFieldId id = add_field(world, &box);
    const uint32_t steps = 12;
    run_steps(world, steps, DT);
    const Point point = read_point(world, corner);
    expect_near(point.v[2], 6.0 * steps * (double)DT, 1e-5, "velocity");
    expect_near(point.x[2], 6.0 * (double)DT * (double)DT * steps * (steps + 1) / 2, 1e-5, "way");
    expect_velocity(world, beyond, 0, 0, 0, 0.0);

    box.falloff = MOTE_FALLOFF_LINEAR;
    box.border = 0.4f; // the first is sqrt(0.5) * 1.3 along both axes, 0.0808 deep
    expect_ok(mote_world_set_force_field(world, id, &box));
    run_steps(world, 1, DT);
    const double more = read_point(world, corner).v[2] - point.v[2];
    expect_near(more, 6.0 * (double)DT * (1.0 - sqrt(0.5) * 1.3) / 0.4, 1e-5, "velocity from the border");
    box.falloff = MOTE_FALLOFF_QUADRATIC;
    expect_ok(mote_world_set_force_field(world, id, &box));
    run_steps(world, 1, DT);
    const double less = read_point(world, corner).v[2] - point.v[2] - more;
    expect_near(less, more * (1.0 - sqrt(0.5) * 1.3) / 0.4, 1e-5, "velocity by a quadratic falloff");
    mote_world_destroy(world);
}

// Outward and around an axis along x, within its height and radius.
static void a_radial_field_swirls(void **state)
{
    const MoteSettings settings = still_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t inside = add_grain(world, (MoteVec3){0.5f, 2.0f, 0.0f}, NOWHERE);
    const uint32_t above = add_grain(world, (MoteVec3){1.5f, 2.0f, 0.0f}, NOWHERE);
    const uint32_t outside = add_grain(world, (MoteVec3){0.5f, 4.5f, 0.0f}, NOWHERE);
    const MoteForceField field = {.kind = MOTE_FORCE_FIELD_RADIAL,
                                  .falloff = MOTE_FALLOFF_LINEAR,
                                  .pose = {{0, 0, 0}, turn((MoteVec3){0, 0, 1}, (float)(-PI / 2))},
                                  .half_size = {0, 1, 0},
                                  .radius = 4.0f,
                                  .strength = -2.0f,
                                  .swirl = 8.0f};
    add_field(world, &field);
    run_steps(world, 1, 0.5f);
    // Half of the radius away, so half as strong, for half a second; x times y is z.
    expect_velocity(world, inside, 0.0, -0.5, 2.0, 1e-5);
    expect_velocity(world, above, 0, 0, 0, 0.0);
    expect_velocity(world, outside, 0, 0, 0, 0.0);
    mote_world_destroy(world);
}

// A circular orbit: v^2 / r is the acceleration. Symplectic Euler stays on it to first order in the step.
static void a_point_attracts_in_orbits(void **state)
{
    const MoteSettings settings = still_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t id = add_grain(world, (MoteVec3){3.0f, 1.0f, 0.0f}, (MoteVec3){0.0f, 0.0f, 2.0f});
    const MoteForceField sun = {.kind = MOTE_FORCE_FIELD_POINT,
                                .falloff = MOTE_FALLOFF_INVERSE_SQUARE,
                                .pose.position = {2, 1, 0},
                                .strength = -4.0f};
    add_field(world, &sun);
    const uint32_t steps = 600;
    expect_ok(mote_world_steps(world, (float)(PI / steps), steps, NULL)); // 2 pi r / v
    const Point point = read_point(world, id);
    const double away[3] = {point.x[0] - 2.0, point.x[1] - 1.0, point.x[2]};
    expect_near(length3(away), 1.0, 0.01, "radius of the orbit");
    expect_near(length3(point.v), 2.0, 0.02, "speed");
    expect_near(away[0], 1.0, 0.01, "where it began");
    mote_world_destroy(world);
}

// What falls towards a softened point trades the potential of Plummer's sphere for speed.
static void a_point_has_a_potential(void **state)
{
    const MoteSettings settings = still_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t id = add_grain(world, (MoteVec3){1.0f, 0.0f, 0.0f}, NOWHERE);
    const MoteForceField well = {
        .kind = MOTE_FORCE_FIELD_POINT, .falloff = MOTE_FALLOFF_INVERSE_SQUARE, .softening = 0.3f, .strength = -4.0f};
    add_field(world, &well);
    const double begun = -4.0 / sqrt(1.0 + 0.09);
    double deepest = 1.0;
    for (int i = 0; i < 16; i++) {
        expect_ok(mote_world_steps(world, 1.0f / 1000.0f, 40, NULL));
        const Point point = read_point(world, id);
        const double r = length3(point.x), v = length3(point.v);
        expect_near(0.5 * v * v - 4.0 / sqrt(r * r + 0.09), begun, 0.005 * 4.0 / 0.3, "energy");
        deepest = fmin(deepest, r);
    }
    assert_true(deepest < 0.3);
    mote_world_destroy(world);
}

// Drag against gravity: u + g / drag, to the last digits, and never past it, however long the step.
static void wind_has_a_terminal_velocity(void **state)
{
    MoteSettings settings = still_settings(0.1f);
    settings.gravity = (MoteVec3){0, -10, 0};
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t id = add_grain(world, NOWHERE, NOWHERE);
    const MoteForceField wind = {
        .kind = MOTE_FORCE_FIELD_UNIFORM, .velocity = {3, 0, -1}, .drag = 4.0f, .spares_colliders = true};
    add_field(world, &wind);
    expect_ok(mote_world_steps(world, 0.25f, 1, NULL));
    expect_velocity(world, id, 1.5, -2.5, -0.5, 1e-6); // k = 1: half of the way; then gravity
    expect_ok(mote_world_steps(world, 0.01f, 400, NULL));
    const double k = 0.04; // gravity comes after the drag of a step: v (1 - 1 / (1 + k)) = g dt
    expect_velocity(world, id, 3.0, -0.1 * (1 + k) / k, -1.0, 2e-3); // 12 m away, floats are 1e-6 m apart
    mote_world_destroy(world);
}

// ---- On whom, and how ----

static void masses_and_filters(void **state)
{
    const MoteSettings settings = still_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const MoteMaterial materials[3] = {{0}};
    expect_ok(mote_world_set_materials(world, materials, 3));
    const MoteVec3 places[4] = {{0, 0, 0}, {2, 0, 0}, {4, 0, 0}, {6, 0, 0}};
    const float masses[4] = {1.0f, 4.0f, 2.0f, 0.0f}; // the last is pinned
    const uint32_t phases[4] = {MOTE_PHASE(MOTE_KIND_BODY, 1), MOTE_PHASE(MOTE_KIND_GRAIN, 2),
                                MOTE_PHASE(MOTE_KIND_LIQUID, 2), MOTE_PHASE(MOTE_KIND_GRAIN, 2)};
    uint32_t ids[4];
    for (int i = 0; i < 4; i++) {
        const MoteParticles one = {.count = 1, .positions = &places[i], .mass = masses[i], .phase = phases[i]};
        expect_ok(mote_world_add_particles(world, &one, &ids[i]));
    }
    const struct {
        MoteParticleFilter filter;
        double found[4]; // of a force of 8 N in half a second
    } rows[] = {
        {{0}, {4, 1, 2, 0}},
        {{.kinds = 1u << MOTE_KIND_GRAIN}, {0, 1, 0, 0}},
        {{.kinds = 1u << MOTE_KIND_GRAIN | 1u << MOTE_KIND_BODY}, {4, 1, 0, 0}},
        {{.materials = 1u << 2}, {0, 1, 2, 0}},
        {{.one_group = true, .group = 1}, {4, 0, 0, 0}},
        {{.one_particle = true, .id = ids[2]}, {0, 0, 2, 0}},
        {{.one_particle = true, .id = ids[3]}, {0, 0, 0, 0}},
    };
    MoteForceField force = {
        .kind = MOTE_FORCE_FIELD_UNIFORM, .mode = MOTE_FORCE_MODE_FORCE, .strength = 8.0f, .direction = {0, 1, 0}};
    const MoteForceFieldId field = add_field(world, &force);
    double sums[4] = {0};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        force.filter = rows[r].filter;
        expect_ok(mote_world_set_force_field(world, field, &force));
        run_steps(world, 1, 0.5f);
        for (int i = 0; i < 4; i++) {
            sums[i] += rows[r].found[i];
            expect_velocity(world, ids[i], 0, sums[i], 0, 1e-5);
        }
    }
    mote_world_destroy(world);
}

// A field that is linear across a collider: what angular acceleration about a far point gives a box is the velocity of
// its centre on the circle, and the same angular velocity about itself, whatever its sides and however it lies.
static void colliders_feel_fields_throughout(void **state)
{
    const MoteSettings settings = still_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    MoteCollider crate = still_collider(MOTE_COLLIDER_BOX, (MoteVec3){3, 0, 0}, (MoteVec3){0.5f, 0.2f, 0.1f}, 0.0f);
    crate.from.rotation = crate.to.rotation = turn((MoteVec3){0.6f, 0.0f, 0.8f}, 1.1f);
    crate.mass = 5.0f;
    expect_ok(mote_world_set_colliders(world, &crate, 1));
    MoteForceField field = {.kind = MOTE_FORCE_FIELD_UNIFORM, .pose.position = {1, 0, 0}, .angular = {0, 2, 0}};
    const MoteForceFieldId id = add_field(world, &field);
    run_steps(world, 1, 0.01f);
    MoteColliderState found;
    expect_ok(mote_world_read_colliders(world, &found, 1));
    expect_near(found.velocity.z, -0.02 * 2.0, 1e-5, "velocity of the centre");
    expect_near(found.velocity.x, 0.0, 1e-5, "velocity towards the middle");
    expect_near(found.angular_velocity.x, 0.0, 1e-4, "spin about x");
    expect_near(found.angular_velocity.y, 0.02, 1e-4, "spin about y");
    expect_near(found.angular_velocity.z, 0.0, 1e-4, "spin about z");

    field = (MoteForceField){
        .kind = MOTE_FORCE_FIELD_UNIFORM, .mode = MOTE_FORCE_MODE_FORCE, .strength = 10.0f, .direction = {0, 1, 0}};
    expect_ok(mote_world_set_force_field(world, id, &field));
    run_steps(world, 1, 0.01f);
    const float before = found.angular_velocity.y;
    expect_ok(mote_world_read_colliders(world, &found, 1));
    expect_near(found.velocity.y, 10.0 * 0.01 / 5.0, 1e-5, "velocity by a force");
    expect_near(found.angular_velocity.y, before, 1e-4, "spin by a force");
    field.spares_colliders = true;
    expect_ok(mote_world_set_force_field(world, id, &field));
    run_steps(world, 1, 0.01f);
    expect_ok(mote_world_read_colliders(world, &found, 1));
    expect_near(found.velocity.y, 10.0 * 0.01 / 5.0, 1e-5, "velocity of a spared one");
    mote_world_destroy(world);
}

// A rigid body of 4 x 3 x 2 particles turns about itself as one.
static void bodies_feel_fields_through_particles(void **state)
{
    MoteSettings settings = still_settings(0.1f);
    settings.iterations = 2;
    MoteWorld *world = make_world(*state, &settings);
    MoteVec3 positions[24];
    for (int i = 0; i < 24; i++) {
        positions[i] = (MoteVec3){0.1f * (float)(i % 4), 0.1f * (float)(i / 4 % 3), 0.1f * (float)(i / 12)};
    }
    const MoteBody body = {.count = 24, .positions = positions, .mass = 0.5f, .stiffness = 1.0f};
    expect_ok(mote_world_add_body(world, &body, NULL, NULL));
    const MoteForceField field = {
        .kind = MOTE_FORCE_FIELD_UNIFORM, .strength = 1.0f, .direction = {1, 0, 0}, .angular = {0, 0, 3}};
    add_field(world, &field);
    run_steps(world, 10, DT);
    MoteBodyState found;
    expect_ok(mote_world_read_bodies(world, &found, 1));
    const double t = 10 * (double)DT;
    expect_near(found.angular_velocity.z, 3.0 * t, 1e-3 * t, "spin");
    expect_near(found.velocity.x, t * (1.0 - 3.0 * 0.1), 0.02 * t, "velocity");  // its centre is at (0.15, 0.1, 0.05)
    expect_near(found.velocity.y, t * 3.0 * 0.15, 0.02 * t, "velocity upwards"); // to first order
    mote_world_destroy(world);
}

// ---- Impulses ----

// Over a lattice, linear and at once: what is reported is what the statistics gain, and the sum in closed form.
static void impulses_give_their_momentum(void **state)
{
    const MoteSettings settings = still_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t count = add_block(world, (MoteVec3){-0.5f, -0.5f, -0.5f}, 11, 11, 7);
    MoteForceField push = {.kind = MOTE_FORCE_FIELD_POINT,
                           .mode = MOTE_FORCE_MODE_IMPULSE,
                           .falloff = MOTE_FALLOFF_LINEAR,
                           .pose.position = {0.2f, 0.1f, 0.05f},
                           .radius = 0.55f,
                           .strength = 0.25f};
    const MoteParticleView view = read_view(world);
    double expected[3] = {0};
    for (uint32_t i = 0; i < count; i++) {
        const float *p = view.positions + 4 * (size_t)i;
        const double d[3] = {(double)p[0] - (double)push.pose.position.x, (double)p[1] - (double)push.pose.position.y,
                             (double)p[2] - (double)push.pose.position.z};
        const double r = length3(d);
        for (int a = 0; a < 3 && r > 0.0 && r < 0.55; a++) {
            expected[a] += 0.25 * (1.0 - r / 0.55) * d[a] / r;
        }
    }
    MoteVec3 given;
    expect_ok(mote_world_apply_impulse(world, &push, &given));
    const MoteStatistics after = read_statistics(world);
    const float found[3] = {given.x, given.y, given.z};
    for (int a = 0; a < 3; a++) {
        expect_near(found[a], expected[a], 1e-3, "momentum that was reported");
        expect_near(after.momentum[a], expected[a], 1e-3, "momentum of the particles");
    }
    assert_true(fabs(expected[0]) > 0.1);

    // A blow on everything, a collider included: mass times velocity. It takes nothing along that was spared.
    MoteCollider ball = still_collider(MOTE_COLLIDER_SPHERE, (MoteVec3){5, 0, 0}, NOWHERE, 0.3f);
    ball.mass = 7.0f;
    expect_ok(mote_world_set_colliders(world, &ball, 1));
    push = (MoteForceField){.kind = MOTE_FORCE_FIELD_UNIFORM,
                            .mode = MOTE_FORCE_MODE_VELOCITY_CHANGE,
                            .strength = 2.0f,
                            .direction = {0, 0, 1}};
    expect_ok(mote_world_apply_impulse(world, &push, &given));
    expect_near(given.z, 2.0 * (after.mass + 7.0), 1e-4 * after.mass, "momentum of a blow");
    MoteColliderState collider;
    expect_ok(mote_world_read_colliders(world, &collider, 1));
    expect_near(collider.velocity.z, 2.0, 1e-6, "velocity of the collider");
    push = (MoteForceField){.kind = MOTE_FORCE_FIELD_UNIFORM,
                            .mode = MOTE_FORCE_MODE_VELOCITY_CHANGE,
                            .drag = 0.75f,
                            .spares_colliders = true}; // three quarters of every velocity go
    const double energy = read_statistics(world).kinetic_energy;
    expect_ok(mote_world_apply_impulse(world, &push, NULL));
    expect_near(read_statistics(world).kinetic_energy, energy / 16.0, 1e-4 * energy, "energy after drag");
    expect_ok(mote_world_read_colliders(world, &collider, 1));
    expect_near(collider.velocity.z, 2.0, 1e-6, "velocity of a spared collider");
    mote_world_destroy(world);
}

// ---- Limits and energy ----

static void the_speed_limit_holds(void **state)
{
    MoteSettings settings = still_settings(0.1f);
    settings.max_speed = 5.0f;
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t id = add_grain(world, NOWHERE, NOWHERE);
    const MoteForceField field = {.kind = MOTE_FORCE_FIELD_UNIFORM, .strength = 1e6f, .direction = {1, 0, 0}};
    add_field(world, &field);
    run_steps(world, 3, DT);
    expect_near(length3(read_point(world, id).v), 5.0, 1e-4, "speed");
    mote_world_destroy(world);
}

// Liquid in a tank that is stirred, pulled together and blown at, with a crate in it: far more energy comes in than it
// had, and the watch calls none of it gained.
static void work_of_fields_is_not_out_of_nothing(void **state)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.1f;
    MoteWorld *world = make_world(*state, &settings);
    MoteCollider colliders[2] = {
        box_container((MoteVec3){0.8f, 0.8f, 0.5f}, (MoteVec3){0.8f, 0.8f, 0.5f}),
        still_collider(MOTE_COLLIDER_BOX, (MoteVec3){0.8f, 1.2f, 0.5f}, (MoteVec3){0.15f, 0.1f, 0.1f}, 0)};
    colliders[1].density = 400.0f;
    expect_ok(mote_world_set_colliders(world, colliders, 2));
    add_block(world, (MoteVec3){0.05f, 0.05f, 0.05f}, 16, 8, 10);
    run_steps(world, 30, DT);
    const MoteForceField fields[3] = {
        {.kind = MOTE_FORCE_FIELD_RADIAL, .pose.position = {0.8f, 0, 0.5f}, .swirl = 25.0f, .strength = -5.0f},
        {.kind = MOTE_FORCE_FIELD_POINT,
         .falloff = MOTE_FALLOFF_INVERSE_SQUARE,
         .pose.position = {0.8f, 1.0f, 0.5f},
         .softening = 0.2f,
         .strength = -2.0f},
        {.kind = MOTE_FORCE_FIELD_BOX,
         .pose.position = {0.8f, 1.0f, 0.5f},
         .half_size = {1, 0.5f, 1},
         .velocity = {6, 2, 0},
         .drag = 10.0f}};
    for (int i = 0; i < 3; i++) {
        add_field(world, &fields[i]);
    }
    const double before = read_statistics(world).kinetic_energy;
    double most = 0.0;
    for (int i = 0; i < 40; i++) {
        expect_ok(mote_world_steps(world, DT, 4, NULL));
        const MoteWatch watch = mote_world_watch(world);
        most = fmax(most, watch.gained / watch.energy);
    }
    const double energy = read_statistics(world).kinetic_energy;
    print_message("kinetic energy %.3g J, before %.3g J; gained %.2g of it\n", energy, before, most);
    assert_true(energy > 10.0 * before + 100.0);
    assert_true(most < 0.02);
    mote_world_destroy(world);
}

// A world that has had a field, and has none any more, is as one that never had; and steps that the host does not look
// at between are as those that it does.
static void fields_leave_nothing_behind(void **state)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.1f;
    uint64_t hashes[4];
    for (int i = 0; i < 4; i++) { // without; added and removed; with, a step at a time; with, all at once
        MoteWorld *world = make_world(*state, &settings);
        build_dam_break(world, 6, 6, 4);
        run_steps(world, 2, DT);
        const MoteForceField field = {.kind = MOTE_FORCE_FIELD_RADIAL, .swirl = 3.0f, .radius = 1.0f};
        if (i > 0) {
            const MoteForceFieldId id = add_field(world, &field);
            assert_int_equal(mote_world_force_field_count(world), 1);
            if (i == 1) {
                expect_ok(mote_world_remove_force_field(world, id));
            }
        }
        if (i == 3) {
            expect_ok(mote_world_steps(world, DT, 10, NULL));
        } else {
            run_steps(world, 10, DT);
        }
        hashes[i] = read_hash(world);
        mote_world_destroy(world);
    }
    assert_true(hashes[0] == hashes[1]);
    assert_true(hashes[2] == hashes[3]);
    assert_true(hashes[0] != hashes[2]);
}

// ---- Names and mistakes ----

static void ids_name_one_field(void **state)
{
    const MoteSettings settings = still_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t grain = add_grain(world, NOWHERE, NOWHERE);
    MoteForceField fields[3] = {mote_default_force_field(), mote_default_force_field(), mote_default_force_field()};
    MoteForceFieldId ids[3];
    for (int i = 0; i < 3; i++) {
        fields[i].kind = MOTE_FORCE_FIELD_UNIFORM;
        fields[i].strength = 1.0f;
        fields[i].direction = (MoteVec3){i == 0, i == 1, i == 2};
        ids[i] = add_field(world, &fields[i]);
    }
    expect_ok(mote_world_remove_force_field(world, ids[1]));
    fields[2].strength = 2.0f;
    expect_ok(mote_world_set_force_field(world, ids[2], &fields[2])); // it is the second row now
    run_steps(world, 1, 0.5f);
    expect_velocity(world, grain, 0.5, 0.0, 1.0, 1e-6);
    MoteForceField found;
    assert_false(mote_world_force_field(world, ids[1], &found));
    assert_true(mote_world_force_field(world, ids[2], &found));
    assert_true(found.direction.z == 1.0f);
    const MoteForceFieldId again = add_field(world, &fields[1]); // in the place of the one that is gone
    assert_int_equal(again.index, ids[1].index);
    assert_true(again.generation != ids[1].generation);
    expect_error(mote_world_set_force_field(world, ids[1], &fields[1]), MOTE_ERROR_INPUT, "no force field {1, 1}");
    expect_error(mote_world_remove_force_field(world, (MoteForceFieldId){0, 0}), MOTE_ERROR_INPUT, "no force field");
    run_steps(world, 1, 0.5f);
    expect_velocity(world, grain, 1.0, 0.5, 2.0, 1e-6);
    mote_world_destroy(world);
}

static void mistakes_are_told(void **state)
{
    const MoteSettings settings = still_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const struct {
        MoteForceField field;
        const char *text;
    } rows[] = {
        {{.strength = NAN}, "strength is nan"},
        {{.radius = -1.0f}, "radius is -1, expected a number not below 0"},
        {{.drag = -1.0f}, "drag is -1"},
        {{.kind = (MoteForceFieldKind)7}, "kind 7"},
        {{.mode = MOTE_FORCE_MODE_IMPULSE}, "acts at once"},
        {{.kind = MOTE_FORCE_FIELD_BOX, .falloff = MOTE_FALLOFF_INVERSE_SQUARE}, "point or radial"},
        {{.falloff = MOTE_FALLOFF_LINEAR}, "radius is 0"},
        {{.pose.rotation = {2, 0, 0, 0}}, "rotation has length 2"},
    };
    MoteForceFieldId id;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect_error(mote_world_add_force_field(world, &rows[i].field, &id), MOTE_ERROR_INPUT, rows[i].text);
        assert_int_equal(id.generation, 0);
    }
    assert_int_equal(mote_world_force_field_count(world), 0);
    const MoteForceField lasting = {.mode = MOTE_FORCE_MODE_FORCE};
    expect_error(mote_world_apply_impulse(world, &lasting, NULL), MOTE_ERROR_INPUT, "a mode that lasts");
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(a_box_accelerates_what_is_inside),
        ON_EVERY_BACKEND(a_radial_field_swirls),
        ON_CPU_AND_CUDA(a_point_attracts_in_orbits),
        ON_CPU_AND_CUDA(a_point_has_a_potential),
        ON_CPU_AND_CUDA(wind_has_a_terminal_velocity),
        ON_EVERY_BACKEND(masses_and_filters),
        ON_EVERY_BACKEND(colliders_feel_fields_throughout),
        ON_EVERY_BACKEND(bodies_feel_fields_through_particles),
        ON_EVERY_BACKEND(impulses_give_their_momentum),
        ON_EVERY_BACKEND(the_speed_limit_holds),
        ON_CPU_AND_CUDA(work_of_fields_is_not_out_of_nothing),
        ON_EVERY_BACKEND(fields_leave_nothing_behind),
        ON_EVERY_BACKEND(ids_name_one_field),
        ON_EVERY_BACKEND(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
