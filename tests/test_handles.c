// SPDX-License-Identifier: MIT
// Handles: names of particles that last through sorting, removal, bodies that come later, and saved states.
#include "solid_fixture.h"

enum { CLOUD = 200 };

// Weightless points that fly through one another, so that their order changes with every step.
static MoteWorld *make_cloud(const TestBackend *backend)
{
    MoteSettings settings = solid_settings(0.1f);
    settings.gravity = (MoteVec3){0, 0, 0};
    MoteWorld *world = make_world(backend, &settings);
    MoteVec3 positions[CLOUD], velocities[CLOUD];
    for (uint32_t i = 0; i < CLOUD; i++) {
        positions[i] = random_in_box((MoteVec3){0, 0, 0}, 2.0f);
        velocities[i] = (MoteVec3){-4.0f * positions[i].x, -4.0f * positions[i].y, -4.0f * positions[i].z};
    }
    const MoteParticles cloud = {.count = CLOUD,
                                 .positions = positions,
                                 .velocities = velocities,
                                 .mass = 1.0f,
                                 .phase = MOTE_PHASE(MOTE_KIND_BODY, 0)};
    expect_ok(mote_world_add_particles(world, &cloud, NULL));
    return world;
}

static uint32_t slot_of(const MoteParticleView *view, uint32_t id)
{
    for (uint32_t i = 0; i < view->count; i++) {
        if (view->ids[i] == id) {
            return i;
        }
    }
    return MOTE_NONE;
}

// Every handle names the particle with its id, where that is now.
static void expect_names(MoteWorld *world, const MoteParticleHandle *handles, const uint32_t *ids, uint32_t count)
{
    MoteParticleState states[CLOUD];
    expect_ok(mote_world_read_handles(world, handles, count, states));
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slot = slot_of(&view, ids[i]);
        assert_int_equal(states[i].present, slot != MOTE_NONE);
        assert_int_equal(states[i].id, slot != MOTE_NONE ? ids[i] : MOTE_NONE);
        if (slot != MOTE_NONE) {
            assert_memory_equal(&states[i].position, view.positions + 4 * slot, sizeof(MoteVec3));
            assert_memory_equal(&states[i].velocity, view.velocities + 4 * slot, sizeof(MoteVec3));
        }
    }
}

// A run with handles is the same as one without them, to the bit, and what a handle names does not change.
static void handles_follow_their_particles(void **state)
{
    MoteWorld *world = make_cloud(*state);
    enum { NAMED = 50 };
    uint32_t ids[NAMED];
    MoteParticleHandle handles[NAMED], again[NAMED];
    for (uint32_t i = 0; i < NAMED; i++) {
        ids[i] = (37 * i + 11) % CLOUD;
    }
    expect_ok(mote_world_make_handles(world, ids, NAMED, handles));
    const MoteParticleView first = read_view(world);
    uint32_t order[CLOUD];
    memcpy(order, first.ids, sizeof order);
    expect_names(world, handles, ids, NAMED);
    for (uint32_t k = 0; k < 5; k++) {
        expect_ok(mote_world_steps(world, 0.05f, 7, NULL));
        expect_names(world, handles, ids, NAMED);
    }
    assert_memory_not_equal(order, read_view(world).ids, sizeof order);
    expect_ok(mote_world_make_handles(world, ids, NAMED, again)); // a particle has one handle
    assert_memory_equal(handles, again, sizeof handles);
    mote_world_destroy(world);
}

static void removed_particles_are_gone(void **state)
{
    MoteWorld *world = make_cloud(*state);
    uint32_t ids[CLOUD];
    MoteParticleHandle handles[CLOUD];
    for (uint32_t i = 0; i < CLOUD; i++) {
        ids[i] = i;
    }
    expect_ok(mote_world_make_handles(world, ids, CLOUD, handles));
    expect_ok(mote_world_remove_particles(world, ids + 20, 30));
    expect_names(world, handles, ids, CLOUD);
    const MoteCollider kill = still_collider(MOTE_COLLIDER_SPHERE, (MoteVec3){0.5f, 0, 0}, (MoteVec3){0, 0, 0}, 1.0f);
    expect_ok(mote_world_set_kill_volumes(world, &kill, 1));
    const uint32_t before = mote_world_particle_count(world);
    expect_ok(mote_world_steps(world, 0.02f, 8, NULL)); // while the host does not look, on a GPU
    assert_true(mote_world_particle_count(world) < before && mote_world_particle_count(world) > 0);
    expect_names(world, handles, ids, CLOUD);
    mote_world_destroy(world);
}

static void wrong_handles_are_refused(void **state)
{
    MoteWorld *world = make_cloud(*state);
    const uint32_t ids[] = {3, CLOUD, 5}, good[] = {3, 5, 3};
    MoteParticleHandle handles[3] = {{0}};
    expect_error(mote_world_make_handles(world, ids, 3, handles), MOTE_ERROR_INPUT, "particle 200 is not in the world");
    assert_int_equal(world->view.handle_count, 0);
    expect_ok(mote_world_make_handles(world, good, 3, handles));
    assert_int_equal(world->view.handle_count, 2);
    assert_int_equal(handles[0].value, handles[2].value);
    MoteParticleState found;
    const MoteParticleHandle none = {0}, later = {handles[1].value + 1};
    expect_error(mote_world_read_handles(world, &none, 1, &found), MOTE_ERROR_INPUT, "none that this world has made");
    expect_error(mote_world_read_handles(world, &later, 1, &found), MOTE_ERROR_INPUT, "none that this world has made");
    mote_world_destroy(world);
}

// Bodies that come later take rows before those of the other handles; members have handles of their own.
static void bodies_and_single_particles_share_the_map(void **state)
{
    MoteWorld *world = make_cloud(*state);
    const TestBox box = {.nx = 3,
                         .ny = 3,
                         .nz = 3,
                         .spacing = 0.1f,
                         .rotation = {0, 0, 0, 1},
                         .body = {.mass = 1.0f, .stiffness = 1.0f, .angular_velocity = {0, 3, 0}}};
    add_box(world, &box);
    uint32_t ids[60];
    MoteParticleHandle handles[60];
    for (uint32_t i = 0; i < 20; i++) {
        ids[i] = i;
        ids[20 + i] = CLOUD + i;      // of the first body
        ids[40 + i] = CLOUD + 27 + i; // of the second one
    }
    expect_ok(mote_world_make_handles(world, ids, 40, handles));
    assert_int_equal(world->view.handle_count, 20 + 27); // a member's handle is its row
    expect_ok(mote_world_steps(world, 0.05f, 3, NULL));
    TestBox second = box;
    second.centre = (MoteVec3){3, 0, 0};
    add_box(world, &second);
    expect_names(world, handles, ids, 40);
    expect_ok(mote_world_steps(world, 0.05f, 5, NULL));
    expect_ok(mote_world_make_handles(world, ids + 40, 20, handles + 40));
    assert_int_equal(world->view.handle_count, 20 + 2 * 27);
    expect_names(world, handles, ids, 60);
    assert_int_equal(body_state(world, 0).present, 27);
    mote_world_destroy(world);
}

// Where nobody has a handle, they take no memory and no time.
static void liquid_without_handles_pays_nothing(void **state)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.1f;
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t count = add_block(world, (MoteVec3){0, 1, 0}, 6, 6, 6), id = 7;
    run_steps(world, 2, 0.001f);
    assert_null(world->view.handles);
    const uint64_t before = world->memory_bytes;
    MoteTiming timings[TIMER_COUNT];
    const uint32_t rows = mote_world_timings(world, timings, TIMER_COUNT);
    for (uint32_t i = 0; i < rows; i++) {
        assert_true(strcmp(timings[i].stage, "handles") != 0 || timings[i].launches == 0);
    }
    MoteParticleHandle handle;
    expect_ok(mote_world_make_handles(world, &id, 1, &handle));
    const uint64_t more = world->memory_bytes - before;
    assert_true(more > 0 && more <= 4 * (count + count / 8 + 1) + 4); // a word a particle, and one of the map
    expect_names(world, &handle, &id, 1);
    mote_world_destroy(world);
}

// A snapshot brings its handles along, also to a world that has made none.
static void snapshots_keep_handles(void **state)
{
    MoteWorld *world = make_cloud(*state), *other = make_cloud(*state);
    const uint32_t ids[] = {5, 190, 77};
    MoteParticleHandle handles[3];
    expect_ok(mote_world_make_handles(world, ids, 3, handles));
    expect_ok(mote_world_steps(world, 0.05f, 4, NULL));
    WorldSnapshot snapshot;
    expect_ok(world_snapshot_take(world, &snapshot));
    expect_ok(world_snapshot_restore(other, &snapshot));
    expect_names(other, handles, ids, 3);
    expect_ok(mote_world_steps(world, 0.05f, 9, NULL));
    expect_ok(mote_world_steps(other, 0.05f, 9, NULL));
    assert_int_equal(read_hash(world), read_hash(other));
    expect_names(other, handles, ids, 3);

    const uint64_t hash = read_hash(other);
    uint32_t *words = snapshot.arrays[SAVED_handles].words, slot = 0;
    while (words[slot] == MOTE_NONE) {
        slot++;
    }
    words[(slot + 1) % CLOUD] = words[slot];
    expect_error(world_snapshot_restore(other, &snapshot), MOTE_ERROR_INPUT, "for the second time");
    words[slot] = 4;
    expect_error(world_snapshot_restore(other, &snapshot), MOTE_ERROR_INPUT, "expected members below 0");
    words[slot] = HANDLE_SINGLE + 1000;
    expect_error(world_snapshot_restore(other, &snapshot), MOTE_ERROR_INPUT, "expected fewer handles than the 200 ids");
    assert_int_equal(read_hash(other), hash);
    world_snapshot_free(&snapshot);
    mote_world_destroy(world);
    mote_world_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(handles_follow_their_particles),
        ON_EVERY_BACKEND(removed_particles_are_gone),
        ON_EVERY_BACKEND(wrong_handles_are_refused),
        ON_EVERY_BACKEND(bodies_and_single_particles_share_the_map),
        ON_EVERY_BACKEND(liquid_without_handles_pays_nothing),
        ON_EVERY_BACKEND(snapshots_keep_handles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
