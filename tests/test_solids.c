// SPDX-License-Identifier: MIT
// test_solids.c - bodies and grains with one another: separation, stacks, forces, and that runs repeat to the bit.
#define VULKAN_VALIDATE false // many steps
#include "solid_fixture.h"

#include <omp.h>

static const MoteQuaternion no_turn = {0, 0, 0, 1};

// ---- Separation (UPP Fig. 6) ----

// Two boxes that overlap by half of one: how far their centres are apart after a second, and the fastest that any
// particle was.
static double separate(void **state, bool field, uint32_t stabilization, double *speed)
{
    const float d = 0.1f;
    MoteSettings settings = solid_settings(d);
    settings.gravity = (MoteVec3){0, 0, 0};
    settings.stabilization_iterations = stabilization;
    MoteWorld *world = make_world(*state, &settings);
    for (int k = 0; k < 2; k++) {
        const MoteVec3 centre = {k == 0 ? 0.0f : 0.33f, k == 0 ? 0.0f : 0.02f, k == 0 ? 0.0f : -0.03f};
        const TestBox box = {6, 6, 6, d, centre, no_turn, field, {.mass = 1.0f, .stiffness = 1.0f}};
        add_box(world, &box);
    }
    *speed = 0.0;
    for (int step = 0; step < 60; step++) {
        run_steps(world, 1, 1.0f / 60.0f);
        *speed = fmax(*speed, fastest(world));
    }
    const MoteVec3 a = body_state(world, 0).pose.position, b = body_state(world, 1).pose.position;
    mote_world_destroy(world);
    return length_of((MoteVec3){b.x - a.x, b.y - a.y, b.z - a.z});
}

static void bodies_pushed_into_each_other_separate(void **state)
{
    double calm, quick, locked;
    const double apart = separate(state, true, 16, &calm), bare = separate(state, true, 0, &quick);
    const double spheres = separate(state, false, 16, &locked);
    print_message("boxes of 0.6 m, centres 0.33 m apart, after 1 s: %.3f m (at most %.2g m/s); without stabilisation "
                  "%.3f m (%.2g m/s); plain spheres %.3f m (%.2g m/s)\n",
                  apart, calm, bare, quick, spheres, locked);
    assert_true(apart > 0.6 * 0.98);
    assert_true(calm < 0.5);                       // m/s; the overlap over the time step is 16 m/s
    assert_true(apart < 1.0);                      // and it does not fly off
    assert_true(bare > 0.6 * 0.98 && quick < 8.0); // half of the overlap over the time step, each
    assert_true(spheres < 0.6 * 0.9);              // spheres of both lattices hold one another
}

// A rigid box that begins a little in the ground, and one in another box, leave without speed.
static void bodies_do_not_pop(void **state)
{
    const float d = 0.1f, overlap = 0.02f, dt = 1.0f / 60.0f;
    for (int k = 0; k < 2; k++) {
        MoteSettings settings = solid_settings(d);
        settings.stabilization_iterations = 8;
        settings.gravity = (MoteVec3){0, 0, 0};
        MoteWorld *world = make_world(*state, &settings);
        const MoteCollider plane = flat_ground(0.0f);
        expect_ok(mote_world_set_colliders(world, &plane, k == 0 ? 1 : 0));
        const float low = k == 0 ? 0.2f - overlap : 0.2f;
        const TestBox first = {4, 4, 4, d, {0, low, 0}, no_turn, true, {.mass = 1.0f, .stiffness = 1.0f}};
        const TestBox second = {4, 4, 4, d, {0, 0.6f - overlap, 0}, no_turn, true, {.mass = 1.0f, .stiffness = 1.0f}};
        add_box(world, &first);
        if (k == 1) {
            add_box(world, &second);
        }
        run_steps(world, 1, dt);
        const double speed = fastest(world) / (double)(overlap / dt);
        print_message("a box 2 cm in %s: speed after a step %.2g of overlap / dt\n", k == 0 ? "the ground" : "another",
                      speed);
        assert_true(speed < 0.01);
        mote_world_destroy(world);
    }
}

// ---- The stack (UPP Fig. 10) ----

// With this stiffness a box is matched to its particles as in UPP section 5, each of which contacts move by itself;
// with 1 contacts push against the box's mass (docs/solids.md).
static const float MATCHED = 0.999f;

// Ten boxes of 20 cm. Heights of the top face over time go to a file for tools/plot-stack. Returns the last one over
// the right one, and the farthest that a box went in the last quarter of the time.
static double stack(void **state, float scaling, float stiffness, double seconds, const char *path, double *moved)
{
    const float d = 0.05f;
    MoteSettings settings = solid_settings(d);
    settings.iterations = 8;
    settings.stack_scaling = scaling;
    settings.contact_relaxation = 1.5f;
    settings.sleep_speed = 0.03f;
    MoteWorld *world = make_world(*state, &settings);
    const MoteMaterial wood = {.static_friction = 0.5f, .kinetic_friction = 0.4f};
    expect_ok(mote_world_set_materials(world, &wood, 1));
    const MoteCollider plane = flat_ground(0.5f);
    expect_ok(mote_world_set_colliders(world, &plane, 1));
    for (int k = 0; k < 10; k++) {
        const TestBox box = {
            4, 4, 4, d, {0, 0.1f + 0.2f * (float)k, 0}, no_turn, true, {.mass = 0.075f, .stiffness = stiffness}};
        add_box(world, &box);
    }
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file != NULL) {
        fprintf(file, "time_s,height_m\n0,2\n");
    }
    double top = 0.0;
    const int steps = (int)(seconds * 120.0);
    MoteVec3 places[10] = {{0, 0, 0}};
    *moved = 0.0;
    for (int step = 1; step <= steps; step++) {
        run_steps(world, 1, 1.0f / 120.0f);
        for (uint32_t k = 0; k < 10 && step >= steps * 3 / 4; k++) {
            const MoteVec3 p = body_state(world, k).pose.position;
            places[k] = step == steps * 3 / 4 ? p : places[k];
            *moved = fmax(*moved, length_of((MoteVec3){p.x - places[k].x, p.y - places[k].y, p.z - places[k].z}));
        }
        if (step % 4 == 0) {
            top = 0.0;
            for (uint32_t k = 0; k < 10; k++) { // wherever they are: the highest of them
                top = fmax(top, body_state(world, k).pose.position.y + 0.1);
            }
            if (file != NULL) {
                fprintf(file, "%.4f,%.5f\n", step / 120.0, top);
            }
        }
    }
    if (file != NULL) {
        assert_int_equal(fclose(file), 0);
    }
    mote_world_destroy(world);
    return top / 2.0;
}

// As in UPP Fig. 10, with the paper's bodies: without mass scaling the stack swings for a while and stays compressed,
// the more the fewer iterations there are. Bodies that contacts push as a whole need no such help to be stiff, but
// scaling to stand (a_stack_begins_to_stand).
static void a_stack_stands(void **state)
{
    double still, matched_still, moving;
    const double rigid = stack(state, 3.0f, 1.0f, 8.0, MOTE_BINARY_DIR "/stack_3_rigid.csv", &still);
    const double scaled = stack(state, 3.0f, MATCHED, 8.0, MOTE_BINARY_DIR "/stack_3.csv", &matched_still);
    const double plain = stack(state, 0.0f, MATCHED, 8.0, MOTE_BINARY_DIR "/stack_0.csv", &moving);
    print_message("ten boxes after 8 s: %.4f of their height with k = 3, none went farther than %.2g mm in the last 2 "
                  "s; as matched shapes %.4f and %.2g mm, with k = 0 %.4f and %.2g mm\n",
                  rigid, 1000.0 * still, scaled, 1000.0 * matched_still, plain, 1000.0 * moving);
    expect_near(rigid, 1.0, 0.005, "height of the stack of rigid boxes");
    expect_near(scaled, 1.0, 0.02, "height of the scaled stack");
    assert_true(still < 0.002 && matched_still < 0.002 && moving < 0.002);
    expect_near(plain, 0.975, 0.006, "height of the stack without scaling");
    assert_true(1.0 - plain > 1.3 * (1.0 - scaled));
}

// Without scaling, rigid boxes are compressed several times as much while they stand: what gives way at each of nine
// faces lets the column buckle, and it falls in the second second.
static void a_stack_begins_to_stand(void **state)
{
    double moved;
    const double scaled = stack(state, 3.0f, 1.0f, 0.5, NULL, &moved);
    const double plain = stack(state, 0.0f, 1.0f, 0.5, NULL, &moved);
    print_message("ten boxes after 0.5 s: %.4f of their height with k = 3, %.4f without\n", scaled, plain);
    expect_near(scaled, 1.0, 0.002, "height of the scaled stack");
    expect_near(plain, 0.994, 0.003, "height of the stack without scaling");
}

// ---- Forces ----

static void the_ground_carries_a_box(void **state)
{
    MoteSettings settings = solid_settings(0.1f);
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider plane = flat_ground(0.5f);
    expect_ok(mote_world_set_colliders(world, &plane, 1));
    expect_ok(mote_world_record_forces(world, true));
    const TestBox box = {4, 4, 4, 0.1f, {0, 0.2f, 0}, no_turn, true, {.mass = 0.5f, .stiffness = 1.0f}};
    add_box(world, &box);
    run(world, 1.0, 120.0);
    double ground[3], own[3], pairs[3];
    sum_forces(world, MOTE_FORCE_COLLIDERS, ground);
    sum_forces(world, MOTE_FORCE_BODIES, own);
    sum_forces(world, MOTE_FORCE_PAIRS, pairs);
    const double weight = 64 * 0.5 * 9.81;
    print_message("box of %.2f N: the ground pushes with %.4f, %.2f, %.4f N; its own constraint with %.4f N\n", weight,
                  ground[0], ground[1], ground[2], own[1]);
    expect_near(ground[1], weight, 0.01 * weight, "force of the ground");
    expect_near(hypot(ground[0], ground[2]), 0.0, 0.01 * weight, "sideways force of the ground");
    expect_near(pairs[1], 0.0, 1e-6, "force of contacts that are not there");
    expect_near(length_of((MoteVec3){(float)own[0], (float)own[1], (float)own[2]}), 0.0, 0.01 * weight,
                "sum of inner forces");
    mote_world_destroy(world);
}

// One box on another: what contacts do to them is equal and opposite.
static void boxes_push_each_other_alike(void **state)
{
    MoteSettings settings = solid_settings(0.1f);
    settings.iterations = 20;
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider plane = flat_ground(0.5f);
    expect_ok(mote_world_set_colliders(world, &plane, 1));
    expect_ok(mote_world_record_forces(world, true));
    for (int k = 0; k < 2; k++) {
        const TestBox box = {
            4, 4, 4, 0.1f, {0, 0.2f + 0.4f * (float)k, 0}, no_turn, true, {.mass = 0.5f, .stiffness = 1.0f}};
        add_box(world, &box);
    }
    run(world, 2.0, 120.0);
    const double weight = 64 * 0.5 * 9.81;
    double sum[3], ground[3], upper = 0.0;
    sum_forces(world, MOTE_FORCE_PAIRS, sum);
    sum_forces(world, MOTE_FORCE_COLLIDERS, ground);
    float *pairs = malloc(128 * 4 * sizeof *pairs);
    assert_non_null(pairs);
    expect_ok(mote_world_read_forces(world, MOTE_FORCE_PAIRS, pairs));
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        upper += view.ids[i] >= 64 ? pairs[4 * i + 1] : 0.0;
    }
    free(pairs);
    print_message("upper box carried with %.2f N of %.2f; sum over both %.3f N; ground %.2f N\n", upper, weight, sum[1],
                  ground[1]);
    expect_near(sum[1], 0.0, 0.01 * weight, "sum of contact forces");
    expect_near(upper, weight, 0.05 * weight, "force on the upper box");
    expect_near(ground[1], 2.0 * weight, 0.02 * weight, "force of the ground");
    mote_world_destroy(world);
}

// ---- To the bit ----

enum { STEPS = 40, STOP = 17 };

// Liquid, grains, a rigid, a soft, a soft clustered and a plastic body in a tank, all meeting in the first steps.
static MoteWorld *make_mixed_world(const MoteBackendOptions *options)
{
    const float d = 0.05f;
    MoteSettings settings = mote_default_settings();
    settings.spacing = d;
    settings.viscosity = 0.02f;
    settings.sleep_speed = 0.01f;
    settings.stack_scaling = 2.0f;
    const TestBackend backend = {"", *options};
    MoteWorld *world = make_world(&backend, &settings);
    const MoteMaterial materials[] = {
        {.static_friction = 0.5f, .kinetic_friction = 0.4f, .restitution = 0.3f},
        {.static_friction = 0.3f, .kinetic_friction = 0.3f, .adhesion = 1.0f, .rolling_friction = 0.5f}};
    expect_ok(mote_world_set_materials(world, materials, 2));
    MoteCollider tank = box_container((MoteVec3){0.5f, 0.5f, 0.25f}, (MoteVec3){0.5f, 0.5f, 0.25f});
    tank.static_friction = tank.kinetic_friction = 0.3f;
    tank.restitution = 0.2f;
    expect_ok(mote_world_set_colliders(world, &tank, 1));
    add_block(world, (MoteVec3){0.5f * d, 0.5f * d, 0.5f * d}, 8, 6, 10);
    MoteVec3 grains[300];
    for (int i = 0; i < 300; i++) {
        grains[i] =
            (MoteVec3){0.45f + d * (float)(i % 5), 0.03f + d * (float)(i / 50), 0.03f + d * (float)(i / 5 % 10)};
    }
    add_grains(world, grains, NULL, 300, 1);
    const MoteBody kinds[] = {
        {.mass = 0.1f, .velocity = {0, -3, 0}, .angular_velocity = {1, 2, 3}, .stiffness = 1.0f},
        {.mass = 0.1f, .velocity = {0, -3, 0}, .stiffness = 0.5f, .material = 1},
        {.mass = 0.1f, .velocity = {0, -3, 0}, .stiffness = 0.5f, .cluster_spacing = 0.1f, .cluster_radius = 0.15f},
        {.mass = 0.1f,
         .velocity = {0, -4, 0},
         .stiffness = 0.4f,
         .plastic_yield = 0.01f,
         .plastic_creep = 30.0f,
         .plastic_limit = 0.2f}};
    for (int k = 0; k < 4; k++) {
        const TestBox box = {
            4,    4,       4, d, {0.12f + 0.24f * (float)k, 0.5f, 0.2f}, turn_about((MoteVec3){0, 0, 1}, 0.3 * k),
            true, kinds[k]};
        add_box(world, &box);
    }
    return world;
}

static uint64_t run_mixed(const MoteBackendOptions *options, uint32_t steps)
{
    MoteWorld *world = make_mixed_world(options);
    run_steps(world, steps, 1.0f / 120.0f);
    const uint64_t hash = read_hash(world);
    mote_world_destroy(world);
    return hash;
}

static void threads_do_not_matter(void **state)
{
    const TestBackend *backend = *state;
    const int before = omp_get_max_threads();
    const uint32_t counts[] = {1, 2, 4};
    uint64_t first = 0;
    for (int k = 0; k < 3; k++) {
        MoteBackendOptions options = backend->options;
        options.threads = counts[k];
        omp_set_num_threads((int)counts[k]); // which the emulated CUDA backend takes
        const uint64_t hash = run_mixed(&options, STEPS);
        first = k == 0 ? hash : first;
        assert_true(hash == first);
    }
    omp_set_num_threads(before);
}

static void a_snapshot_continues_to_the_bit(void **state)
{
    const TestBackend *backend = *state;
    MoteWorld *first = make_mixed_world(&backend->options), *second = make_mixed_world(&backend->options);
    WorldSnapshot snapshot;
    run_steps(first, STOP, 1.0f / 120.0f);
    expect_ok(world_snapshot_take(first, &snapshot));
    const uint64_t halfway = read_hash(first);
    run_steps(first, STEPS - STOP, 1.0f / 120.0f);
    run_steps(second, 5, 1.0f / 60.0f); // all this is to be forgotten
    expect_ok(world_snapshot_restore(second, &snapshot));
    world_snapshot_free(&snapshot);
    assert_true(read_hash(second) == halfway);
    run_steps(second, STEPS - STOP, 1.0f / 120.0f);
    assert_true(read_hash(second) == read_hash(first));
    mote_world_destroy(first);
    mote_world_destroy(second);
}

static void recording_forces_changes_nothing(void **state)
{
    const TestBackend *backend = *state;
    MoteWorld *world = make_mixed_world(&backend->options);
    expect_ok(mote_world_record_forces(world, true));
    run_steps(world, STEPS, 1.0f / 120.0f);
    assert_true(read_hash(world) == run_mixed(&backend->options, STEPS));
    mote_world_destroy(world);
}

static void backends_are_equal_to_the_bit(void **state)
{
    (void)state;
    assert_int_equal(keep_vulkan(&test_backends[3].options), 0);
    const uint64_t once = run_mixed(&test_backends[1].options, 1), often = run_mixed(&test_backends[1].options, 20);
    for (int b = 2; b < 4; b++) {
        assert_true(run_mixed(&test_backends[b].options, 1) == once || vulkan_may_differ(b));
        assert_true(run_mixed(&test_backends[b].options, 20) == often || vulkan_may_differ(b));
    }
}

// A kill volume takes particles out of every body, and at last all of them.
static void bodies_lose_particles(void **state)
{
    const TestBackend *backend = *state;
    MoteWorld *world = make_mixed_world(&backend->options);
    run_steps(world, 10, 1.0f / 120.0f);
    const MoteCollider hole =
        still_collider(MOTE_COLLIDER_BOX, (MoteVec3){0.5f, 0, 0.25f}, (MoteVec3){1, 0.15f, 1}, 0.0f);
    expect_ok(mote_world_set_kill_volumes(world, &hole, 1));
    run_steps(world, 15, 1.0f / 120.0f);
    MoteBodyState bodies[4];
    expect_ok(mote_world_read_bodies(world, bodies, 4));
    uint32_t left = 0;
    for (int k = 0; k < 4; k++) {
        left += bodies[k].present;
        assert_true(isfinite(bodies[k].pose.position.y) && isfinite(length_of(bodies[k].angular_velocity)));
    }
    print_message("of 256 particles of bodies %u are left\n", left);
    assert_true(left > 0 && left < 256);
    fastest(world);
    run_steps(world, 60, 1.0f / 120.0f);
    fastest(world);
    assert_int_equal(mote_world_body_count(world), 4);
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(bodies_pushed_into_each_other_separate),
        ON_EVERY_BACKEND(bodies_do_not_pop),
        ON_BACKEND(a_stack_stands, "cpu", 0),
        ON_EVERY_BACKEND(a_stack_begins_to_stand),
        ON_EVERY_BACKEND(the_ground_carries_a_box),
        ON_EVERY_BACKEND(boxes_push_each_other_alike),
        ON_EVERY_BACKEND(threads_do_not_matter),
        ON_EVERY_BACKEND(a_snapshot_continues_to_the_bit),
        ON_EVERY_BACKEND(recording_forces_changes_nothing),
        cmocka_unit_test(backends_are_equal_to_the_bit),
        ON_EVERY_BACKEND(bodies_lose_particles),
    };
    static const char *const long_tests[] = {"a_stack_stands", NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, NULL, NULL);
}
