// SPDX-License-Identifier: MIT
// Snapshots bring a world back, bad ones are refused without a trace; and so is work that there is no memory for.
#include "backends.h"

static MoteWorld *make_used_world(const TestBackend *backend)
{
    MoteSettings settings = mote_default_settings();
    settings.vorticity = 1.0f;
    MoteWorld *world = make_world(backend, &settings);
    build_dam_break(world, 5, 8, 6);
    expect_ok(mote_world_add_channel(world, "heat", 1));
    expect_ok(mote_world_add_channel(world, "colour", 3));
    run_steps(world, 3, 0.01f);
    const uint32_t gone[] = {3, 77};
    expect_ok(mote_world_remove_particles(world, gone, 2));
    return world;
}

// ---- Snapshots ----

static void a_snapshot_brings_a_world_back(void **state)
{
    MoteWorld *world = make_used_world(*state);
    const uint32_t count = mote_world_particle_count(world);
    float *colours = malloc(count * 3 * sizeof *colours), *found = malloc(count * 3 * sizeof *found);
    assert_true(colours != NULL && found != NULL);
    for (uint32_t k = 0; k < 3 * count; k++) {
        colours[k] = random_float(0.0f, 1.0f);
    }
    expect_ok(mote_world_write_channel(world, "colour", colours));
    const uint64_t hash = read_hash(world);
    WorldSnapshot snapshot;
    expect_ok(world_snapshot_take(world, &snapshot));
    assert_int_equal(snapshot.particle_count, count);

    add_block(world, (MoteVec3){0.1f, 2, 0.1f}, 20, 3, 3);
    expect_ok(mote_world_add_channel(world, "third", 2));
    run_steps(world, 5, 0.01f);
    expect_ok(world_snapshot_restore(world, &snapshot));
    assert_true(read_hash(world) == hash);
    assert_int_equal(mote_world_channel_count(world), 2);
    expect_ok(mote_world_read_channel(world, "colour", found));
    assert_memory_equal(found, colours, count * 3 * sizeof *found);
    const MoteStatistics statistics = read_statistics(world);
    assert_true(statistics.steps == 3 && statistics.removed == 2);
    const MoteVec3 one = {0.5f, 0.5f, 0.2f};
    assert_int_equal(add_points(world, &one, 1, 0), 240); // ids go on where they were
    run_steps(world, 3, 0.01f);                           // and the tank is still there
    assert_true(read_statistics(world).bounds_min[1] > 0.0);

    WorldSnapshot again, nothing = {0};
    expect_ok(world_snapshot_restore(world, &nothing)); // that of a fresh world
    assert_int_equal(mote_world_particle_count(world), 0);
    run_steps(world, 1, 0.01f);
    expect_ok(world_snapshot_take(world, &again));
    assert_true(again.particle_count == 0 && again.steps == 1 && again.arrays[SAVED_positions].count == 0);
    world_snapshot_free(&again);
    world_snapshot_free(&snapshot);
    free(colours);
    free(found);
    mote_world_destroy(world);
}

static void expect_refused(MoteWorld *world, const WorldSnapshot *bad, uint64_t hash, const char *text)
{
    const uint64_t memory = world->memory_bytes;
    expect_error(world_snapshot_restore(world, bad), MOTE_ERROR_INPUT, text);
    assert_true(read_hash(world) == hash && world->memory_bytes == memory);
    assert_true(mote_world_channel_count(world) == 2 && world->steps == 3 && world->tally.next_id == 240);
}

static void bad_snapshots_are_refused(void **state)
{
    MoteWorld *world = make_used_world(*state);
    const uint64_t hash = read_hash(world);
    WorldSnapshot taken;
    expect_ok(world_snapshot_take(world, &taken));

    float *const positions = taken.arrays[SAVED_positions].floats, *const velocities =
                                                                       taken.arrays[SAVED_velocities].floats;
    float *const numbers[] = {&positions[41], &velocities[42], &velocities[43]};
    for (int k = 0; k < 3; k++) {
        const float good = *numbers[k];
        *numbers[k] = k == 1 ? INFINITY : NAN;
        expect_refused(world, &taken, hash, "element 10");
        *numbers[k] = good;
    }
    const float inverse_mass = positions[43];
    positions[43] = -1.0f;
    expect_refused(world, &taken, hash, "element 10");
    positions[43] = inverse_mass;

    uint32_t *const ids = taken.arrays[SAVED_ids].words, id = ids[5];
    ids[5] = ids[200];
    expect_refused(world, &taken, hash, "twice");
    ids[5] = 240;
    expect_refused(world, &taken, hash, "id 240");
    ids[5] = id;

    WorldSnapshot bad = taken;
    bad.liquid_inverse_mass = NAN;
    expect_refused(world, &bad, hash, "inverse mass of liquid");
    bad = taken;
    bad.last_time_step = -1.0f;
    expect_refused(world, &bad, hash, "time step");
    for (int a = 0; a < SAVED_ARRAY_COUNT; a++) { // none may be too long, and only what is attached may be missing
        bad = taken;
        bad.arrays[a].count++;
        expect_refused(world, &bad, hash, saved_array_infos[a].name);
        bad.arrays[a].count = 0;
        if (taken.arrays[a].count > 0 && !saved_array_infos[a].attached) {
            expect_refused(world, &bad, hash, saved_array_infos[a].name);
        }
    }
    bad = taken;
    bad.channels[1].components = 5;
    expect_refused(world, &bad, hash, "channel");
    bad = taken;
    memset(bad.channels[0].name, 'x', sizeof bad.channels[0].name); // without an end
    expect_refused(world, &bad, hash, "channel");
    bad = taken;
    bad.channels[0].name[0] = '\0';
    expect_refused(world, &bad, hash, "channel");
    bad = taken;
    memcpy(bad.channels[0].name, "colour", 7); // the other one's name
    expect_refused(world, &bad, hash, "already");
    bad = taken;
    bad.channel_count = WORLD_CHANNEL_LIMIT + 1;
    expect_refused(world, &bad, hash, "channel");

    expect_ok(world_snapshot_restore(world, &taken)); // and the good one is taken
    assert_true(read_hash(world) == hash);
    world_snapshot_free(&taken);
    mote_world_destroy(world);
}

// ---- No memory ----

static struct {
    const BackendFunctions *plain;
    BackendFunctions failing;
    int left; // allocations that succeed before one fails; negative: all do
} memory;

static void *allocate_or_fail(Backend *backend, size_t bytes)
{
    if (memory.left == 0) {
        memory.left = -1;
        return NULL;
    }
    memory.left -= memory.left > 0;
    return memory.plain->allocate(backend, bytes);
}

typedef MoteResult Work(MoteWorld *world);

static MoteResult work_add(MoteWorld *world)
{
    MoteVec3 points[700];
    for (int i = 0; i < 700; i++) {
        points[i] = (MoteVec3){0.05f * (float)(i % 10), 1.0f + 0.05f * (float)(i / 10 % 10), 0.05f * (float)(i / 100)};
    }
    const MoteParticles particles = {.count = 700, .positions = points, .mass = 0.1f, .phase = MOTE_PHASE_FLUID};
    return mote_world_add_particles(world, &particles, NULL);
}

static MoteResult work_remove(MoteWorld *world)
{
    const MoteParticleView view = read_view(world);
    return mote_world_remove_particles(world, view.ids, view.count - 20);
}

static MoteResult work_step(MoteWorld *world) // cells and lists have to grow: everything has come together
{
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        view.positions[4 * i] = 0.1f + 0.0008f * (float)i;
    }
    expect_ok(mote_world_write(world, &view));
    return mote_world_step(world, 0.01f);
}

static MoteResult work_kill(MoteWorld *world) // in the middle of a step
{
    const MoteCollider all = still_collider(MOTE_COLLIDER_BOX, (MoteVec3){0, 0, 0}, (MoteVec3){100, 100, 0.3f}, 0.0f);
    const MoteResult result = mote_world_set_kill_volumes(world, &all, 1);
    return result == MOTE_OK ? mote_world_step(world, 0.01f) : result;
}

static MoteResult work_settings(MoteWorld *world) // buffers for vorticity
{
    MoteSettings settings = mote_world_settings(world);
    settings.vorticity = 0.0f;
    expect_ok(mote_world_set_settings(world, &settings));
    settings.vorticity = 3.0f;
    return mote_world_set_settings(world, &settings);
}

static MoteResult work_channel(MoteWorld *world)
{
    return mote_world_add_channel(world, "another", 4);
}

static MoteResult work_colliders(MoteWorld *world)
{
    MoteCollider colliders[20];
    for (int i = 0; i < 20; i++) {
        colliders[i] = still_collider(MOTE_COLLIDER_PLANE, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.0f);
    }
    return mote_world_set_colliders(world, colliders, 20);
}

static MoteResult work_restore(MoteWorld *world)
{
    WorldSnapshot snapshot;
    expect_ok(world_snapshot_take(world, &snapshot));
    const MoteResult result = world_snapshot_restore(world, &snapshot);
    world_snapshot_free(&snapshot);
    return result;
}

// Whatever allocation fails, the call says so, and the world can be used as before. Where the call promises to do all
// or nothing, nothing has changed. (Under the address sanitizer this also finds buffers that are too short then.)
static void check_failures(const TestBackend *backend, Work *work, bool all_or_nothing)
{
    uint32_t failures = 0;
    for (int n = 0; n < 100; n++) {
        MoteWorld *world = make_used_world(backend);
        const uint64_t before = read_hash(world);
        memory.plain = world->backend->functions;
        memory.failing = *memory.plain;
        memory.failing.allocate = allocate_or_fail;
        world->backend->functions = &memory.failing;
        memory.left = n;
        const MoteResult result = work(world);
        const bool tried = memory.left < 0; // an allocation has failed
        memory.left = -1;
        if (result != MOTE_OK) {
            expect_error(result, MOTE_ERROR_MEMORY, "no ");
            assert_true(tried);
            failures++;
            assert_true(!all_or_nothing || read_hash(world) == before);
        }
        run_steps(world, 2, 0.01f);
        add_block(world, (MoteVec3){0.1f, 1.0f, 0.1f}, 8, 8, 5);
        expect_ok(mote_world_add_channel(world, "later", 2));
        run_steps(world, 2, 0.01f);
        read_statistics(world);
        const MoteParticleView view = read_view(world);
        for (uint32_t k = 0; k < 4 * view.count; k++) {
            assert_true(isfinite(view.positions[k]) && isfinite(view.velocities[k]));
        }
        world->backend->functions = memory.plain;
        mote_world_destroy(world);
        if (!tried) {
            assert_true(n > 0); // it did need memory
            return;
        }
    }
    fail_msg("still failing after %u failures", failures);
}

static void running_out_of_memory_does_no_harm(void **state)
{
    check_failures(*state, work_add, true);
    check_failures(*state, work_remove, false); // a smaller array is not worth failing for
    check_failures(*state, work_step, false);
    check_failures(*state, work_kill, false);
    check_failures(*state, work_settings, true);
    check_failures(*state, work_channel, true);
    check_failures(*state, work_colliders, true);
    check_failures(*state, work_restore, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(a_snapshot_brings_a_world_back),
        ON_EVERY_BACKEND(bad_snapshots_are_refused),
        ON_EVERY_BACKEND(running_out_of_memory_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
