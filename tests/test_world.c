// SPDX-License-Identifier: MIT
// What users put into a world and take out of it, every way it refuses, and what it reports of itself.
#include "backends.h"

#include "base/error.h"

// ---- A world and what must not change when a call fails ----

typedef struct Fingerprint {
    uint64_t hash, steps, removed, memory_bytes;
    MoteSettings settings;
    uint32_t particles, next_id, colliders, kill_volumes, channels;
    float largest_inverse_mass;
} Fingerprint;

static Fingerprint fingerprint_of(MoteWorld *world)
{
    Fingerprint print;
    memset(&print, 0, sizeof print); // padding is compared too
    print.hash = read_hash(world);
    print.steps = world->steps;
    print.removed = world->removed;
    print.memory_bytes = world->memory_bytes;
    print.settings = mote_world_settings(world);
    print.particles = mote_world_particle_count(world);
    print.next_id = world->tally.next_id;
    print.colliders = world->view.collider_count;
    print.kill_volumes = world->view.kill_volume_count;
    print.channels = mote_world_channel_count(world);
    print.largest_inverse_mass = world->tally.largest_inverse_mass;
    return print;
}

static void expect_unchanged(MoteWorld *world, const Fingerprint *before)
{
    const Fingerprint after = fingerprint_of(world);
    assert_memory_equal(&after, before, sizeof after);
}

// A refusal that leaves no trace.
static void expect_refused(MoteWorld *world, const Fingerprint *before, MoteResult result, const char *text)
{
    expect_error(result, MOTE_ERROR_INPUT, text);
    expect_unchanged(world, before);
}

// Some water that has moved, in a box.
static MoteWorld *make_used_world(const TestBackend *backend)
{
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(backend, &settings);
    build_dam_break(world, 6, 6, 6);
    expect_ok(mote_world_add_channel(world, "heat", 1));
    run_steps(world, 3, 0.01f);
    return world;
}

// ---- Adding and removing ----

static void ids_are_consecutive_and_never_used_twice(void **state)
{
    const MoteSettings settings = measuring_settings(3, 0.05f, 2.0f);
    MoteWorld *world = make_world(*state, &settings);
    MoteVec3 points[100];
    for (int i = 0; i < 100; i++) {
        points[i] = random_in_box((MoteVec3){0, 0, 0}, 1.0f);
    }
    assert_int_equal(add_points(world, points, 100, 0), 0);
    assert_int_equal(add_points(world, points, 0, 0), 100);
    assert_int_equal(add_points(world, points, 50, 3), 100);
    run_steps(world, 1, 0.01f);
    const uint32_t gone[] = {149, 7, 100, 7}; // in any order, and one of them twice
    expect_ok(mote_world_remove_particles(world, gone, 4));
    assert_int_equal(mote_world_particle_count(world), 147);
    assert_int_equal(add_points(world, points, 2, 0), 150);
    run_steps(world, 1, 0.01f);

    bool seen[152] = {false};
    const MoteParticleView view = read_view(world);
    assert_int_equal(view.count, 149);
    for (uint32_t i = 0; i < view.count; i++) {
        assert_true(view.ids[i] < 152 && !seen[view.ids[i]]);
        seen[view.ids[i]] = true;
        assert_int_equal(view.phases[i], view.ids[i] >= 100 && view.ids[i] < 150 ? 3 : 0);
        const MoteVec3 p = points[view.ids[i] < 100   ? view.ids[i]
                                  : view.ids[i] < 150 ? view.ids[i] - 100
                                                      : view.ids[i] - 150];
        assert_true(view.positions[4 * i] == p.x && view.positions[4 * i + 1] == p.y &&
                    view.positions[4 * i + 2] == p.z);
    }
    assert_false(seen[7] || seen[100] || seen[149]);
    assert_int_equal(read_statistics(world).removed, 3);
    mote_world_destroy(world);
}

static void removing_the_unknown_removes_nothing(void **state)
{
    MoteWorld *world = make_used_world(*state);
    const uint32_t first[] = {5};
    expect_ok(mote_world_remove_particles(world, first, 1));
    const Fingerprint before = fingerprint_of(world);
    const uint32_t unknown[] = {1, 2, 99999, 3}, gone[] = {5, 6}, both[] = {5, 99999, 5};
    expect_refused(world, &before, mote_world_remove_particles(world, unknown, 4), "1 of the 4");
    expect_refused(world, &before, mote_world_remove_particles(world, gone, 2), "1 of the 2");
    expect_refused(world, &before, mote_world_remove_particles(world, both, 3), "2 of the 2");
    expect_ok(mote_world_remove_particles(world, NULL, 0));
    expect_unchanged(world, &before);
    mote_world_destroy(world);
}

static void bad_particles_are_not_added(void **state)
{
    MoteWorld *world = make_used_world(*state);
    const Fingerprint before = fingerprint_of(world);
    const float bad_numbers[] = {NAN, INFINITY, -INFINITY};
    for (int n = 0; n < 3; n++) {
        for (int axis = 0; axis < 3; axis++) {
            MoteVec3 points[3] = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}}, velocities[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
            float *const number = axis == 0 ? &points[2].x : axis == 1 ? &points[1].y : &velocities[2].z;
            *number = bad_numbers[n];
            const MoteParticles particles = {.count = 3, .positions = points, .velocities = velocities, .mass = 1e-9f};
            uint32_t first = 0;
            expect_refused(world, &before, mote_world_add_particles(world, &particles, &first),
                           axis == 2 ? "velocity" : "position");
        }
    }
    const MoteVec3 points[2] = {{0, 0, 0}, {1, 0, 0}};
    const float bad_masses[] = {-1.0f, NAN, INFINITY, 1e-44f}; // the last has no inverse
    for (int m = 0; m < 4; m++) {
        const float masses[2] = {1e-9f, bad_masses[m]};
        MoteParticles particles = {.count = 2, .positions = points, .masses = masses};
        expect_refused(world, &before, mote_world_add_particles(world, &particles, NULL), "particle 1 has mass");
        particles = (MoteParticles){.count = 2, .positions = points, .mass = bad_masses[m]};
        expect_refused(world, &before, mote_world_add_particles(world, &particles, NULL), "particle 0 has mass");
    }
    const MoteParticles nowhere = {.count = 2, .mass = 1.0f};
    expect_refused(world, &before, mote_world_add_particles(world, &nowhere, NULL), "NULL");
    const MoteParticles too_many = {.count = UINT32_MAX, .positions = points, .mass = 1.0f};
    expect_refused(world, &before, mote_world_add_particles(world, &too_many, NULL), "ids");
    mote_world_destroy(world);
}

static void memory_follows_the_particles(void **state)
{
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(*state, &settings);
    expect_ok(mote_world_add_channel(world, "heat", 4));
    const uint64_t empty = read_statistics(world).memory_bytes;
    uint64_t last = empty;
    for (int k = 0; k < 6; k++) { // in pieces, so that arrays grow several times
        add_block(world, (MoteVec3){0, 0, 0.5f * (float)k}, 10, 10, 10);
        run_steps(world, 1, 0.01f);
        assert_true(read_statistics(world).memory_bytes > last);
        last = read_statistics(world).memory_bytes;
    }
    assert_true(last < 6000 * 2000); // bytes: a few hundred a particle and its lists

    uint32_t *ids = malloc(5500 * sizeof *ids);
    assert_non_null(ids);
    for (uint32_t i = 0; i < 5500; i++) {
        ids[i] = i + 200;
    }
    expect_ok(mote_world_remove_particles(world, ids, 5500));
    free(ids);
    run_steps(world, 2, 0.01f);
    const uint64_t fewer = read_statistics(world).memory_bytes;
    assert_true(fewer < last / 6);
    MoteParticleView view = read_view(world);
    assert_int_equal(view.count, 500);
    for (uint32_t i = 0; i < view.count; i++) {
        assert_true(view.ids[i] < 200 || view.ids[i] >= 5700);
    }

    expect_ok(mote_world_remove_particles(world, view.ids, view.count));
    assert_int_equal(mote_world_particle_count(world), 0);
    run_steps(world, 2, 0.01f);
    assert_true(read_statistics(world).memory_bytes < fewer);
    add_block(world, (MoteVec3){0, 0, 0}, 5, 5, 5);
    run_steps(world, 2, 0.01f);
    view = read_view(world);
    assert_int_equal(view.count, 125);
    assert_true(view.ids[0] >= 6000);
    assert_int_equal(read_statistics(world).removed, 6000);
    mote_world_destroy(world);
}

// ---- Channels ----

static void write_ids(MoteWorld *world)
{
    const MoteParticleView view = read_view(world);
    float *values = malloc((size_t)view.count * 7 * sizeof *values);
    assert_non_null(values);
    for (uint32_t i = 0; i < view.count; i++) {
        values[i] = (float)view.ids[i];
    }
    expect_ok(mote_world_write_channel(world, "id", values));
    for (uint32_t i = 0; i < 4 * view.count; i++) {
        values[i] = (float)view.ids[i / 4] + 0.25f * (float)(i % 4);
    }
    expect_ok(mote_world_write_channel(world, "four", values));
    free(values);
}

// Particles whose id is at least `fresh` were added since: they hold zeros.
static void check_ids(MoteWorld *world, uint32_t fresh)
{
    const MoteParticleView view = read_view(world);
    float *one = malloc(view.count * sizeof *one), *four = malloc((size_t)view.count * 4 * sizeof *four);
    assert_true(one != NULL && four != NULL);
    expect_ok(mote_world_read_channel(world, "id", one));
    expect_ok(mote_world_read_channel(world, "four", four));
    for (uint32_t i = 0; i < view.count; i++) {
        const float expected = view.ids[i] < fresh ? (float)view.ids[i] : 0.0f;
        assert_true(one[i] == expected);
        for (int c = 0; c < 4; c++) {
            assert_true(four[4 * i + c] == (view.ids[i] < fresh ? expected + 0.25f * (float)c : 0.0f));
        }
    }
    free(one);
    free(four);
}

static void channels_stay_with_their_particles(void **state)
{
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t count = build_dam_break(world, 10, 12, 8);
    expect_ok(mote_world_add_channel(world, "id", 1));
    add_block(world, (MoteVec3){0.8f, 0.1f, 0.1f}, 4, 4, 4); // after the channel, and before the other one
    expect_ok(mote_world_add_channel(world, "four", 4));
    check_ids(world, 0);
    write_ids(world);
    const MoteCollider hole =
        still_collider(MOTE_COLLIDER_BOX, (MoteVec3){1.2f, 0, 0.2f}, (MoteVec3){0.1f, 0.2f, 0.5f}, 0.0f);
    expect_ok(mote_world_set_kill_volumes(world, &hole, 1));
    uint32_t fresh = count + 64;
    for (int step = 0; step < 50; step++) {
        run_steps(world, 1, 0.015f);
        if (step == 20) {
            const MoteParticleView view = read_view(world);
            expect_ok(mote_world_remove_particles(world, view.ids + 100, 300));
        }
        if (step == 30) { // into memory that others left behind
            add_block(world, (MoteVec3){0.1f, 1.0f, 0.1f}, 5, 5, 5);
        }
        check_ids(world, fresh);
    }
    const MoteStatistics statistics = read_statistics(world);
    assert_true(statistics.removed > 300); // the hole took some
    assert_int_equal(statistics.particles + statistics.removed, count + 64 + 125);
    assert_int_equal(mote_world_channel_count(world), 2);
    uint32_t components = 0;
    assert_string_equal(mote_world_channel_name(world, 1, &components), "four");
    assert_int_equal(components, 4);
    mote_world_destroy(world);
}

static void bad_channels_are_refused(void **state)
{
    MoteWorld *world = make_used_world(*state);
    Fingerprint before = fingerprint_of(world);
    float values[1] = {0};
    expect_refused(world, &before, mote_world_add_channel(world, "", 1), "0 bytes");
    expect_refused(world, &before, mote_world_add_channel(world, "a name that is thirty-two long ..", 1),
                   "expected 1 to 31");
    expect_refused(world, &before, mote_world_add_channel(world, "none", 0), "0 components");
    expect_refused(world, &before, mote_world_add_channel(world, "five", 5), "5 components");
    expect_refused(world, &before, mote_world_add_channel(world, "heat", 1), "already");
    expect_refused(world, &before, mote_world_read_channel(world, "cold", values), "\"cold\"");
    expect_refused(world, &before, mote_world_write_channel(world, "cold", values), "\"cold\"");
    for (int c = 1; c < WORLD_CHANNEL_LIMIT; c++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", c);
        expect_ok(mote_world_add_channel(world, name, 1));
    }
    before = fingerprint_of(world);
    expect_refused(world, &before, mote_world_add_channel(world, "more", 1), "one more than the 16");
    mote_world_destroy(world);
}

// What one thread's last failed call said stays until another call fails.
static void success_leaves_no_message(void **state)
{
    MoteWorld *world = make_used_world(*state);
    mote_fail(MOTE_ERROR_INPUT, "a sentence");
    expect_ok(mote_world_add_channel(world, "new", 2));
    run_steps(world, 1, 0.01f);
    assert_string_equal(mote_error_message(), "a sentence");
    mote_world_destroy(world);
}

// ---- Reading and writing ----

static void what_is_written_is_read(void **state)
{
    MoteWorld *world = make_used_world(*state);
    MoteParticleView view = read_view(world);
    const uint32_t count = view.count;
    float *positions = malloc(count * 16), *velocities = malloc(count * 16);
    assert_true(positions != NULL && velocities != NULL);
    for (uint32_t k = 0; k < 4 * count; k++) {
        positions[k] = random_float(0.1f, 0.9f);
        velocities[k] = random_float(0.1f, 1.0f);
    }
    view.positions = positions;
    view.velocities = velocities;
    expect_ok(mote_world_write(world, &view));
    view = read_view(world);
    assert_memory_equal(view.positions, positions, count * 16);
    assert_memory_equal(view.velocities, velocities, count * 16);
    run_steps(world, 2, 0.01f);
    free(positions);
    free(velocities);
    mote_world_destroy(world);
}

static void bad_writes_change_nothing(void **state)
{
    MoteWorld *world = make_used_world(*state);
    const Fingerprint before = fingerprint_of(world);
    MoteParticleView view = read_view(world);
    view.count--;
    expect_refused(world, &before, mote_world_write(world, &view), "expected the world's 216");
    const float bad[] = {NAN, INFINITY};
    for (int n = 0; n < 2; n++) {
        view = read_view(world);
        view.positions[3] = 1e6f; // allowed, but what follows is not: it must not be remembered either
        view.positions[4 * 200 + 1] = bad[n];
        expect_refused(world, &before, mote_world_write(world, &view), "particle 200");
        view = read_view(world);
        view.velocities[4 * 17] = bad[n];
        expect_refused(world, &before, mote_world_write(world, &view), "particle 17");
    }
    view = read_view(world);
    view.positions[4 * 9 + 3] = -1.0f;
    expect_refused(world, &before, mote_world_write(world, &view), "inverse mass");
    mote_world_destroy(world);
}

// ---- Settings, colliders, steps ----

static void bad_settings_are_refused(void **state)
{
    MoteWorld *world = make_used_world(*state);
    const Fingerprint before = fingerprint_of(world);
    enum { CASES = 20 };
    MoteSettings bad[CASES];
    for (int k = 0; k < CASES; k++) {
        bad[k] = mote_default_settings();
    }
    bad[0].dimensions = 4;
    bad[1].spacing = 0.0f;
    bad[2].spacing = NAN;
    bad[3].smoothing_radius_ratio = 1.0f;
    bad[4].smoothing_radius_ratio = 1e9f;
    bad[5].rest_density_scale = -1.0f;
    bad[6].gravity.y = INFINITY;
    bad[7].relaxation = -0.1f;
    bad[8].over_relaxation = 0.0f;
    bad[9].artificial_pressure = NAN;
    bad[10].artificial_pressure_power = 0;
    bad[11].artificial_pressure_distance = 1.0f;
    bad[12].viscosity = -1.0f;
    bad[13].vorticity = INFINITY;
    bad[14].damping = -1.0f;
    bad[15].max_displacement = NAN;
    bad[16].max_correction = -1.0f;
    bad[17].collision_distance = -1.0f;
    bad[18].density_mode = 2;
    bad[19].averaging = 2;
    for (int k = 0; k < CASES; k++) {
        expect_refused(world, &before, mote_world_set_settings(world, &bad[k]), "settings.");
        MoteWorld *none = world;
        expect_error(mote_world_create(&bad[k], NULL, &none), MOTE_ERROR_INPUT, "settings.");
        assert_null(none);
    }
    MoteSettings flat = mote_default_settings();
    flat.dimensions = 2;
    expect_refused(world, &before, mote_world_set_settings(world, &flat), "cannot change");
    mote_world_destroy(world);
}

static void settings_may_change_between_steps(void **state)
{
    MoteWorld *world = make_used_world(*state);
    MoteSettings settings = mote_world_settings(world);
    for (int k = 0; k < 6; k++) {
        settings.vorticity = k % 2 == 0 ? 5.0f : 0.0f; // its buffers come and go
        settings.density_mode = (uint32_t)k % 2;
        settings.iterations = (uint32_t)k;
        settings.spacing = 0.05f + 0.001f * (float)k;
        expect_ok(mote_world_set_settings(world, &settings));
        run_steps(world, 2, 0.005f);
        read_statistics(world);
    }
    const MoteSettings after = mote_world_settings(world);
    assert_memory_equal(&after, &settings, sizeof after);
    mote_world_destroy(world);
}

static void bad_colliders_are_refused(void **state)
{
    MoteWorld *world = make_used_world(*state);
    const Fingerprint before = fingerprint_of(world);
    const MoteCollider good = still_collider(MOTE_COLLIDER_SPHERE, (MoteVec3){0, 0, 0}, (MoteVec3){1, 1, 1}, 1.0f);
    enum { CASES = 11 };
    MoteCollider bad[CASES];
    for (int k = 0; k < CASES; k++) {
        bad[k] = good;
    }
    bad[0].kind = 99;
    bad[1].radius = -1.0f;
    bad[2].radius = NAN;
    bad[3].half_size.y = INFINITY;
    bad[4].from.position.x = NAN;
    bad[5].to.position.z = INFINITY;
    bad[6].from.rotation.w = 2.0f;
    bad[7].to.rotation = (MoteQuaternion){0, 0, 0, 0};
    bad[8].static_friction = -0.5f;
    bad[9].kinetic_friction = NAN;
    bad[10].restitution = 1.5f;
    for (int k = 0; k < CASES; k++) {
        const MoteCollider colliders[3] = {good, bad[k], good};
        expect_refused(world, &before, mote_world_set_colliders(world, colliders, 3), "collider 1");
        expect_refused(world, &before, mote_world_set_kill_volumes(world, colliders, 3), "kill volume 1");
    }
    run_steps(world, 20, 0.01f);
    const MoteParticleView view = read_view(world); // the tank from before still holds
    for (uint32_t i = 0; i < view.count; i++) {
        assert_true(view.positions[4 * i + 1] > 0.0f && view.positions[4 * i] > 0.0f);
    }
    expect_ok(mote_world_set_colliders(world, NULL, 0));
    expect_ok(mote_world_set_kill_volumes(world, NULL, 0));
    run_steps(world, 1, 0.01f);
    mote_world_destroy(world);
}

static void bad_time_steps_are_refused(void **state)
{
    MoteWorld *world = make_used_world(*state);
    const Fingerprint before = fingerprint_of(world);
    const float bad[] = {0.0f, -0.01f, NAN, INFINITY, -INFINITY, 1e-42f}; // the last has no inverse
    for (int k = 0; k < 6; k++) {
        expect_refused(world, &before, mote_world_step(world, bad[k]), "time step");
    }
    run_steps(world, 1, 1e-30f); // small, but a number like any other
    run_steps(world, 1, 0.01f);
    mote_world_destroy(world);
}

static void unknown_backends_are_refused(void **state)
{
    (void)state;
    const MoteSettings settings = mote_default_settings();
    const MoteBackendOptions options = {.backend = "abacus"};
    MoteWorld *world = (MoteWorld *)&settings;
    expect_error(mote_world_create(&settings, &options, &world), MOTE_ERROR_UNAVAILABLE, "backend abacus");
    assert_null(world);
    assert_non_null(strstr(mote_error_message(), "auto, cuda, vulkan, cpu"));
    mote_world_destroy(NULL);

    MoteBackendInfo rows[4];
    assert_int_equal(mote_backends(rows, 4), 3);
    assert_int_equal(mote_backends(NULL, 0), 3);
    assert_string_equal(rows[1].name, "vulkan");
    assert_string_equal(rows[2].name, "cpu");
    assert_true(rows[2].available && rows[2].automatic && rows[2].device[0] != '\0');
    expect_ok(mote_world_create(&settings, NULL, &world)); // the best there is
    assert_string_equal(mote_world_backend(world), rows[0].name);
    mote_world_destroy(world);
}

// ---- Odd worlds ----

static void an_empty_world_steps(void **state)
{
    MoteSettings settings = mote_default_settings();
    settings.vorticity = 1.0f;
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider all = still_collider(MOTE_COLLIDER_SPHERE, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 100.0f);
    expect_ok(mote_world_set_colliders(world, &all, 1));
    const uint64_t hash = read_hash(world);
    run_steps(world, 3, 0.01f);
    assert_true(read_hash(world) == hash);
    assert_int_equal(read_view(world).count, 0);
    MoteStatistics statistics = read_statistics(world);
    assert_true(statistics.steps == 3 && statistics.particles == 0 && statistics.mass == 0.0);

    expect_ok(mote_world_set_kill_volumes(world, &all, 1)); // takes the last ones in the middle of a step
    add_block(world, (MoteVec3){0, 0, 0}, 9, 9, 9);
    run_steps(world, 3, 0.01f);
    statistics = read_statistics(world);
    assert_true(statistics.steps == 6 && statistics.particles == 0 && statistics.removed == 729);
    assert_true(read_hash(world) == hash);
    mote_world_destroy(world);
}

static void pinned_particles_stay(void **state)
{
    MoteSettings settings = mote_default_settings();
    settings.vorticity = 1.0f;
    settings.relaxation = 0.0f;
    MoteWorld *world = make_world(*state, &settings);
    MoteVec3 points[600], velocities[600];
    for (int i = 0; i < 600; i++) {
        points[i] = random_in_box((MoteVec3){0, 0, 0}, 0.2f);
        velocities[i] = (MoteVec3){1, 2, 3};
    }
    const MoteParticles particles = {
        .count = 600, .positions = points, .velocities = velocities, .phase = MOTE_PHASE_FLUID}; // mass 0
    expect_ok(mote_world_add_particles(world, &particles, NULL));
    const MoteCollider ball = still_collider(MOTE_COLLIDER_SPHERE, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.1f);
    expect_ok(mote_world_set_colliders(world, &ball, 1));
    run_steps(world, 5, 0.01f);
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        const MoteVec3 p = points[view.ids[i]];
        const float *q = view.positions + 4 * (size_t)i, *v = view.velocities + 4 * (size_t)i;
        assert_true(q[0] == p.x && q[1] == p.y && q[2] == p.z && q[3] == 0.0f);
        assert_true(v[0] == 0.0f && v[1] == 0.0f && v[2] == 0.0f);
    }
    const MoteStatistics statistics = read_statistics(world);
    assert_true(statistics.mass == 0.0 && statistics.kinetic_energy == 0.0 && statistics.density_mean > 0.0);
    mote_world_destroy(world);
}

// Coincident particles have no direction to part along: they stay together, without relaxation too, and harm no one.
static void coincident_particles_do_no_harm(void **state)
{
    for (int variant = 0; variant < 4; variant++) {
        MoteSettings settings = mote_default_settings();
        settings.relaxation = variant % 2 == 0 ? 0.0f : 1.0f;
        settings.density_mode = (uint32_t)variant / 2;
        settings.vorticity = 1.0f;
        MoteWorld *world = make_world(*state, &settings);
        const MoteVec3 points[5] = {{0, 0, 0}, {0, 0, 0}, {3, 0, 0}, {3, 0, 0}, {3.01f, 0, 0}};
        add_points(world, points, 5, MOTE_PHASE_FLUID);
        run_steps(world, 5, 0.01f);
        const MoteParticleView view = read_view(world);
        for (uint32_t k = 0; k < 4 * view.count; k++) {
            assert_true(isfinite(view.positions[k]) && isfinite(view.velocities[k]));
        }
        mote_world_destroy(world);
    }
}

// Positions may be any finite numbers.
static void particles_may_be_anywhere(void **state)
{
    MoteSettings settings = mote_default_settings();
    settings.gravity = (MoteVec3){0, 0, 0};
    MoteWorld *world = make_world(*state, &settings);
    add_block(world, (MoteVec3){0, 0, 0}, 3, 3, 3);
    const MoteVec3 far_away[] = {{1e30f, 1e30f, 1e30f}, {-1e30f, 0, 0}, {3e38f, 0, 0}, {-3e38f, 0, 0}};
    add_points(world, far_away, 4, MOTE_PHASE_FLUID);
    run_steps(world, 2, 0.01f);
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        const uint32_t id = view.ids[i];
        assert_true(id < 27 || view.positions[4 * i] == far_away[id - 27].x);
    }
    mote_world_destroy(world);
}

// ---- Statistics and timings ----

static void statistics_of_known_particles(void **state)
{
    MoteSettings settings = measuring_settings(3, 0.05f, 2.0f);
    settings.gravity = (MoteVec3){3, -10, -1};
    MoteWorld *world = make_world(*state, &settings);
    const MoteVec3 points[] = {{1, 2, 3}, {-1, 0, 5}, {10, -20, 30}}, velocities[] = {{4, 0, 0}, {0, -2, 1}, {9, 9, 9}};
    const float masses[] = {2.0f, 0.5f, 0.0f}; // the third is pinned
    const MoteParticles particles = {.count = 3, .positions = points, .velocities = velocities, .masses = masses};
    expect_ok(mote_world_add_particles(world, &particles, NULL));
    const MoteStatistics s = read_statistics(world);
    assert_int_equal(s.particles, 3);
    expect_near(s.mass, 2.5, 1e-9, "mass");
    expect_near(s.kinetic_energy, 0.5 * 2 * 16 + 0.5 * 0.5 * 5, 1e-9, "kinetic energy");
    expect_near(s.potential_energy, 2 * (-3 * 1 + 10 * 2 + 1 * 3) + 0.5 * (3 * 1 + 1 * 5), 1e-9, "potential energy");
    const double momentum[3] = {8, -1, 0.5}, centre[3] = {1.5 / 2.5, 4 / 2.5, 8.5 / 2.5};
    // 2 (1, 2, 3) x (4, 0, 0) + 0.5 (-1, 0, 5) x (0, -2, 1)
    const double angular[3] = {0 + 0.5 * 10, 2 * 12 + 0.5 * 1, 2 * -8 + 0.5 * 2};
    const double lowest[3] = {-1, -20, 3}, highest[3] = {10, 2, 30};
    for (int axis = 0; axis < 3; axis++) {
        expect_near(s.momentum[axis], momentum[axis], 1e-9, "momentum");
        expect_near(s.centre_of_mass[axis], centre[axis], 1e-9, "centre of mass");
        expect_near(s.angular_momentum[axis], angular[axis], 1e-9, "angular momentum");
        expect_near(s.bounds_min[axis], lowest[axis], 0, "lowest corner");
        expect_near(s.bounds_max[axis], highest[axis], 0, "highest corner");
    }
    mote_world_destroy(world);
}

// Before the first step, densities and neighbours are those of the positions as they are. In 3 x 3 x 3 particles of the
// rest lattice with h = 1.9 spacings, neighbours are up to a cube's diagonal away, and the one in the centre has them
// all.
static void statistics_before_the_first_step(void **state)
{
    const MoteSettings settings = measuring_settings(3, 0.05f, 1.9f);
    MoteWorld *world = make_world(*state, &settings);
    add_block(world, (MoteVec3){1, 2, 3}, 3, 3, 3);
    const MoteStatistics s = read_statistics(world);
    double w[4]; // Poly6 at the distances 0, 1, sqrt(2) and sqrt(3)
    for (int k = 0; k < 4; k++) {
        w[k] = pow(1.9 * 1.9 - k, 3.0);
    }
    const double centre = w[0] + 6 * w[1] + 12 * w[2] + 8 * w[3], face = w[0] + 5 * w[1] + 8 * w[2] + 4 * w[3];
    const double edge = w[0] + 4 * w[1] + 5 * w[2] + 2 * w[3], corner = w[0] + 3 * w[1] + 3 * w[2] + w[3];
    assert_true(s.measured);
    assert_int_equal(s.steps, 0);
    assert_int_equal(s.liquid_particles, 27);
    expect_near(s.density_mean, (centre + 6 * face + 12 * edge + 8 * corner) / (27 * centre), 1e-5, "mean density");
    expect_near(s.density_error_max, 0, 1e-5, "largest compression");
    expect_near(s.neighbours_mean, (26 + 6 * 17 + 12 * 11 + 8 * 7) / 27.0, 1e-9, "mean neighbours");
    assert_int_equal(s.neighbours_max, 26);
    run_steps(world, 1, 0.01f);
    const MoteStatistics after = read_statistics(world);
    expect_near(after.density_mean, s.density_mean, 1e-6, "mean density after a step at rest");
    expect_near(after.neighbours_mean, s.neighbours_mean, 0, "mean neighbours after a step at rest");
    mote_world_destroy(world);
    world = make_world(*state, &settings);
    add_grain(world, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0});
    assert_true(!read_statistics(world).measured); // no liquid, and no step
    run_steps(world, 1, 0.01f);
    const MoteStatistics grain = read_statistics(world);
    assert_true(grain.measured && grain.liquid_particles == 0);
    mote_world_destroy(world);
}

// Measuring changes no bit of what follows: at the start, and where particles were added to a run.
static void statistics_change_nothing(void **state)
{
    uint64_t hashes[2];
    for (int looks = 0; looks < 2; looks++) {
        MoteSettings settings = mote_default_settings();
        settings.vorticity = 2.0f;
        MoteWorld *world = make_world(*state, &settings);
        build_dam_break(world, 6, 8, 4);
        for (int part = 0; part < 2; part++) {
            if (looks != 0) {
                const uint64_t before = read_hash(world);
                assert_true(read_statistics(world).density_mean > 0.3);
                assert_true(read_hash(world) == before);
            }
            run_steps(world, 6, 1.0f / 240.0f);
            add_block(world, (MoteVec3){0.6f, 0.5f, 0.1f}, 3, 3, 2);
        }
        run_steps(world, 6, 1.0f / 240.0f);
        hashes[looks] = read_hash(world);
        mote_world_destroy(world);
    }
    assert_true(hashes[0] == hashes[1]);
}

// Two states have one hash only if positions, velocities and phases are the same to the bit.
static void hashes_tell_states_apart(void **state)
{
    const MoteSettings settings = measuring_settings(3, 0.05f, 2.0f);
    uint64_t hashes[4];
    for (int k = 0; k < 4; k++) {
        MoteWorld *world = make_world(*state, &settings);
        const MoteVec3 points[] = {{1, 2, 3}, {-1, k == 1 ? 1e-6f : 0.0f, 5}};
        const MoteVec3 velocities[] = {{4, 0, 0}, {0, -2, k == 2 ? 1.0000001f : 1.0f}};
        const MoteParticles particles = {.count = 2,
                                         .positions = points,
                                         .velocities = velocities,
                                         .mass = 1.0f,
                                         .phase = k == 3 ? MOTE_PHASE_FLUID | 1u : MOTE_PHASE_FLUID};
        expect_ok(mote_world_add_particles(world, &particles, NULL));
        hashes[k] = read_hash(world);
        for (int other = 0; other < k; other++) {
            assert_true(hashes[k] != hashes[other]);
        }
        mote_world_destroy(world);
    }
}

static void timings_count_launches(void **state)
{
    MoteWorld *world = make_used_world(*state);
    MoteTiming rows[TIMER_COUNT];
    const uint32_t count = mote_world_timings(world, rows, TIMER_COUNT);
    assert_in_range(count, 10, TIMER_COUNT);
    assert_int_equal(mote_world_timings(world, NULL, 0), count);
    mote_world_reset_timings(world);
    run_steps(world, 4, 0.01f);
    assert_int_equal(mote_world_timings(world, rows, TIMER_COUNT), count);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(rows[i].name[0] != '\0' && rows[i].stage[0] != '\0' && rows[i].milliseconds >= 0.0);
        for (uint32_t j = 0; j < i; j++) {
            assert_string_not_equal(rows[i].name, rows[j].name);
        }
        if (strcmp(rows[i].name, "predict") == 0) {
            assert_true(rows[i].launches == 4 && rows[i].invocations == 4 * 216);
        }
        if (strcmp(rows[i].name, "density_lambda") == 0) {
            assert_true(rows[i].launches == 4 * mote_default_settings().iterations);
        }
    }
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(ids_are_consecutive_and_never_used_twice),
        ON_EVERY_BACKEND(removing_the_unknown_removes_nothing),
        ON_EVERY_BACKEND(bad_particles_are_not_added),
        ON_EVERY_BACKEND(memory_follows_the_particles),
        ON_EVERY_BACKEND(channels_stay_with_their_particles),
        ON_EVERY_BACKEND(bad_channels_are_refused),
        ON_EVERY_BACKEND(success_leaves_no_message),
        ON_EVERY_BACKEND(what_is_written_is_read),
        ON_EVERY_BACKEND(bad_writes_change_nothing),
        ON_EVERY_BACKEND(bad_settings_are_refused),
        ON_EVERY_BACKEND(settings_may_change_between_steps),
        ON_EVERY_BACKEND(bad_colliders_are_refused),
        ON_EVERY_BACKEND(bad_time_steps_are_refused),
        cmocka_unit_test(unknown_backends_are_refused),
        ON_EVERY_BACKEND(an_empty_world_steps),
        ON_EVERY_BACKEND(pinned_particles_stay),
        ON_EVERY_BACKEND(coincident_particles_do_no_harm),
        ON_EVERY_BACKEND(particles_may_be_anywhere),
        ON_EVERY_BACKEND(statistics_of_known_particles),
        ON_EVERY_BACKEND(statistics_before_the_first_step),
        ON_EVERY_BACKEND(statistics_change_nothing),
        ON_EVERY_BACKEND(hashes_tell_states_apart),
        ON_EVERY_BACKEND(timings_count_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
