// SPDX-License-Identifier: MIT
// What a renderer is given: arrays in place, neighbours whether or not the world has stepped, and a run that goes on as
// if nobody had looked.
#include "backends.h"

#include "base/hash.h"

static MoteRenderView render_view(MoteWorld *world)
{
    MoteRenderView view;
    expect_ok(mote_world_render_view(world, &view));
    return view;
}

// A copy of an array; free it.
static void *copy_out(MoteWorld *world, MoteArray array)
{
    void *copy = malloc(array.bytes + 1);
    assert_non_null(copy);
    expect_ok(mote_world_copy_out(world, copy, array.address, array.bytes));
    return copy;
}

typedef struct Lists {
    uint32_t *counts, *starts, *neighbours;
    uint32_t entries;
} Lists;

static Lists read_lists(MoteWorld *world)
{
    const MoteRenderView view = render_view(world);
    assert_true(view.neighbour_counts.bytes == (size_t)view.particle_count * 4);
    assert_true(view.neighbour_starts.bytes == (size_t)view.particle_count * 4);
    return (Lists){copy_out(world, view.neighbour_counts), copy_out(world, view.neighbour_starts),
                   copy_out(world, view.neighbours), (uint32_t)(view.neighbours.bytes / 4)};
}

static void free_lists(Lists *lists)
{
    free(lists->counts);
    free(lists->starts);
    free(lists->neighbours);
}

static int compare_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

// A world that has used most of what a world can do.
static MoteWorld *make_used_world(const TestBackend *backend)
{
    MoteSettings settings = mote_default_settings();
    settings.vorticity = 1.0f;
    MoteWorld *world = make_world(backend, &settings);
    build_dam_break(world, 6, 9, 6);
    expect_ok(mote_world_add_channel(world, "heat", 1));
    expect_ok(mote_world_add_channel(world, "colour", 3));
    return world;
}

// ---- Arrays ----

static void expect_array(MoteWorld *world, const MoteRenderView *view, MoteArray array, const void *expected,
                         size_t bytes)
{
    assert_true(array.bytes == bytes && array.capacity >= bytes && array.address != NULL);
    void *copy = copy_out(world, array);
    assert_memory_equal(copy, expected, bytes);
    free(copy);
    if (view->memory == MOTE_MEMORY_HOST) { // whole pages, all of them there
        assert_true((uintptr_t)array.address % 4096 == 0 && array.capacity % 4096 == 0);
        assert_memory_equal(array.address, expected, bytes);
        const volatile unsigned char last = ((const unsigned char *)array.address)[array.capacity - 1];
        (void)last; // read: the address sanitizer knows whether it is ours
    }
}

static void arrays_are_what_is_read(void **state)
{
    MoteWorld *world = make_used_world(*state);
    float *colours = malloc(mote_world_particle_count(world) * 3 * sizeof *colours);
    assert_non_null(colours);
    for (uint32_t k = 0; k < 3 * mote_world_particle_count(world); k++) {
        colours[k] = random_float(0.0f, 1.0f);
    }
    expect_ok(mote_world_write_channel(world, "colour", colours));
    for (int round = 0; round < 3; round++) { // before the first step, and after
        const MoteRenderView view = render_view(world);
        const bool host = strcmp(mote_world_backend(world), "cpu") == 0;
        assert_int_equal(view.memory, host ? MOTE_MEMORY_HOST : MOTE_MEMORY_PRIVATE);
        assert_true((view.why[0] == '\0') == host);
        const MoteSettings settings = mote_world_settings(world);
        assert_true(view.dimensions == 3 && view.spacing == settings.spacing);
        assert_true(view.smoothing_radius == settings.spacing * settings.smoothing_radius_ratio);
        const MoteParticleView read = read_view(world);
        assert_int_equal(view.particle_count, read.count);
        expect_array(world, &view, view.positions, read.positions, read.count * 16);
        expect_array(world, &view, view.velocities, read.velocities, read.count * 16);
        expect_array(world, &view, view.ids, read.ids, read.count * 4);
        expect_array(world, &view, view.phases, read.phases, read.count * 4);
        MoteArray channel;
        uint32_t components = 0;
        expect_ok(mote_world_channel_array(world, "colour", &channel, &components));
        assert_int_equal(components, 3);
        expect_ok(mote_world_read_channel(world, "colour", colours));
        expect_array(world, &view, channel, colours, read.count * 12);
        run_steps(world, 2, 0.01f);
    }
    MoteArray none = {&none, 1, 1};
    expect_error(mote_world_channel_array(world, "light", &none, NULL), MOTE_ERROR_INPUT, "\"light\"");
    assert_true(none.address == NULL && none.bytes == 0);
    free(colours);
    mote_world_destroy(world);
}

static void a_world_may_be_empty(void **state)
{
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(*state, &settings);
    expect_ok(mote_world_add_channel(world, "heat", 1));
    for (int round = 0; round < 3; round++) { // fresh, after a step, after the last particle is gone
        const MoteRenderView view = render_view(world);
        assert_int_equal(view.particle_count, 0);
        assert_true(view.positions.bytes == 0 && view.ids.bytes == 0 && view.neighbours.bytes == 0);
        assert_true(view.neighbour_counts.bytes == 0 && view.smoothing_radius > 0.0f);
        expect_ok(mote_world_copy_out(world, NULL, view.positions.address, 0));
        MoteArray channel;
        expect_ok(mote_world_channel_array(world, "heat", &channel, NULL));
        assert_true(channel.bytes == 0);
        if (round == 1) {
            const uint32_t id = add_grain(world, (MoteVec3){1, 2, 3}, (MoteVec3){0, 0, 0});
            assert_int_equal(render_view(world).particle_count, 1);
            Lists lists = read_lists(world);
            assert_true(lists.counts[0] == 0 && lists.entries == 0);
            free_lists(&lists);
            expect_ok(mote_world_remove_particles(world, &id, 1));
        }
        run_steps(world, 1, 0.01f);
    }
    mote_world_destroy(world);
}

// ---- Neighbours ----

// Every list is what brute force finds among the present positions, and padded to whole blocks with its own particle.
static void expect_lists_of_positions(MoteWorld *world)
{
    const MoteRenderView view = render_view(world);
    Lists lists = read_lists(world);
    vec4 *positions = copy_out(world, view.positions);
    uint32_t *expected = malloc(view.particle_count * sizeof *expected + 1);
    assert_non_null(expected);
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < view.particle_count; i++) {
        const uint32_t found = brute_force_neighbours(positions, view.particle_count,
                                                      view.smoothing_radius * view.smoothing_radius, i, expected);
        const uint32_t room = (found + 7) / 8 * 8;
        assert_int_equal(lists.counts[i], found);
        assert_true((uint64_t)lists.starts[i] * 8 + room <= lists.entries);
        uint32_t *list = lists.neighbours + (size_t)lists.starts[i] * 8;
        for (uint32_t k = found; k < room; k++) {
            assert_int_equal(list[k], i);
        }
        qsort(list, found, sizeof *list, compare_u32);
        assert_memory_equal(list, expected, found * sizeof *list);
        pairs += found;
    }
    assert_true(pairs > view.particle_count); // a test of something
    free(expected);
    free(positions);
    free_lists(&lists);
}

static void neighbours_are_found_without_a_step(void **state)
{
    for (uint32_t dimensions = 2; dimensions <= 3; dimensions++) {
        MoteSettings settings = mote_default_settings();
        settings.dimensions = dimensions;
        settings.spacing = 0.1f;
        settings.smoothing_radius_ratio = 2.0f;
        MoteWorld *world = make_world(*state, &settings);
        MoteVec3 points[900];
        for (int i = 0; i < 900; i++) {
            points[i] = random_in_box((MoteVec3){3, -2, 1}, 0.5f);
            points[i].z = dimensions == 2 ? 0.0f : points[i].z;
        }
        add_points(world, points, 700, MOTE_PHASE_FLUID);
        const MoteCollider most =
            still_collider(MOTE_COLLIDER_CAPSULE, (MoteVec3){3, -2, 0.5f}, (MoteVec3){0, 2, 0}, 0.6f);
        expect_ok(mote_world_set_kill_volumes(world, &most, 1)); // takes no one before the step
        assert_int_equal(render_view(world).particle_count, 700);
        expect_lists_of_positions(world);
        assert_true(read_statistics(world).neighbours_mean > 1.0);
        run_steps(world, 2, 0.01f);
        const uint32_t left = mote_world_particle_count(world);
        assert_true(left < 700);
        add_points(world, points + 700, 200, 0);
        assert_int_equal(render_view(world).particle_count, left + 200);
        expect_lists_of_positions(world);
        const MoteParticleView read = read_view(world);
        expect_ok(mote_world_remove_particles(world, read.ids, 50));
        expect_lists_of_positions(world);
        settings.smoothing_radius_ratio = 2.6f;
        expect_ok(mote_world_set_settings(world, &settings));
        expect_lists_of_positions(world);
        mote_world_destroy(world);
    }
}

// After a step the lists are of the predicted positions: pairs that are nearer than h by more than both may have moved
// since are in them.
static void neighbours_of_a_step_cover_the_near_ones(void **state)
{
    MoteSettings settings = mote_default_settings();
    settings.damping = settings.max_displacement = settings.sleep_speed = 0.0f;
    const float dt = 0.002f;
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t count = build_dam_break(world, 8, 12, 8); // enough for the CPU's lists in one search
    run_steps(world, 20, dt);
    MoteVec3 *predicted = malloc(count * sizeof *predicted);
    assert_non_null(predicted);
    const MoteParticleView before = read_view(world);
    for (uint32_t i = 0; i < count; i++) {
        const float *x = before.positions + 4 * (size_t)i, *v = before.velocities + 4 * (size_t)i;
        predicted[before.ids[i]] =
            (MoteVec3){x[0] + dt * v[0], x[1] + dt * (v[1] + dt * settings.gravity.y), x[2] + dt * v[2]};
    }
    run_steps(world, 1, dt);
    const MoteRenderView view = render_view(world);
    const MoteParticleView read = read_view(world);
    Lists lists = read_lists(world);
    float moved = 0.0f;
    for (uint32_t i = 0; i < count; i++) {
        const MoteVec3 p = predicted[read.ids[i]];
        const float *x = read.positions + 4 * (size_t)i;
        moved = fmaxf(moved,
                      sqrtf((x[0] - p.x) * (x[0] - p.x) + (x[1] - p.y) * (x[1] - p.y) + (x[2] - p.z) * (x[2] - p.z)));
    }
    const float reach = view.smoothing_radius - 2.0f * moved - 1e-5f;
    assert_true(moved > 0.0f && reach > 1.2f * settings.spacing);
    uint32_t *near = malloc(count * sizeof *near);
    assert_non_null(near);
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < count; i++) {
        const vec4 *positions = (const vec4 *)read.positions;
        const uint32_t found = brute_force_neighbours(positions, count, reach * reach, i, near);
        uint32_t *list = lists.neighbours + (size_t)lists.starts[i] * 8;
        assert_true((uint64_t)lists.starts[i] * 8 + lists.counts[i] <= lists.entries);
        qsort(list, lists.counts[i], sizeof *list, compare_u32);
        for (uint32_t k = 0; k < found; k++) {
            assert_non_null(bsearch(&near[k], list, lists.counts[i], sizeof *list, compare_u32));
        }
        pairs += found;
    }
    assert_true(pairs > 3 * (uint64_t)count);
    free(near);
    free(predicted);
    free_lists(&lists);
    mote_world_destroy(world);
}

// A state file may hold particles that are marked: they are drawn, alone, until the step that drops them.
static void marked_particles_have_no_neighbours(void **state)
{
    MoteWorld *world = make_used_world(*state);
    WorldSnapshot snapshot;
    expect_ok(world_snapshot_take(world, &snapshot));
    for (uint32_t i = 0; i < snapshot.particle_count; i += 3) {
        snapshot.arrays[SAVED_phases].words[i] |= MOTE_PHASE_REMOVED;
    }
    expect_ok(world_snapshot_restore(world, &snapshot));
    Lists lists = read_lists(world);
    assert_int_equal(render_view(world).particle_count, snapshot.particle_count);
    for (uint32_t i = 0; i < snapshot.particle_count; i++) {
        assert_true((lists.counts[i] == 0) == (i % 3 == 0));
        for (uint32_t k = 0; k < lists.counts[i]; k++) {
            const uint32_t j = lists.neighbours[(size_t)lists.starts[i] * 8 + k];
            assert_true(j < snapshot.particle_count && j % 3 != 0);
        }
    }
    free_lists(&lists);
    const uint32_t marked = (snapshot.particle_count + 2) / 3;
    run_steps(world, 1, 0.001f);
    assert_int_equal(mote_world_particle_count(world), snapshot.particle_count - marked);
    assert_true(read_statistics(world).removed == marked);

    for (uint32_t i = 0; i < snapshot.particle_count; i++) {
        snapshot.arrays[SAVED_phases].words[i] |= MOTE_PHASE_REMOVED;
    }
    expect_ok(world_snapshot_restore(world, &snapshot));
    assert_int_equal(render_view(world).neighbours.bytes, 0);
    world_snapshot_free(&snapshot);
    mote_world_destroy(world);
}

// ---- No trace ----

// Everything that can make lists out of date, with a look after each if `look`; hashes[] has one entry for each.
enum { LOOK_LIMIT = 16 };
static uint32_t run_and_look(const TestBackend *backend, bool look, uint64_t hashes[LOOK_LIMIT])
{
    MoteWorld *world = make_used_world(backend);
    const float d = mote_world_settings(world).spacing; // the drain is where the column falls to
    const MoteCollider volume =
        still_collider(MOTE_COLLIDER_BOX, (MoteVec3){9 * d, 0, 0}, (MoteVec3){2 * d, d, 5}, 0.0f);
    expect_ok(mote_world_set_kill_volumes(world, &volume, 1));
    float heat[6 * 9 * 6 + 100];
    for (uint32_t i = 0; i < mote_world_particle_count(world); i++) {
        heat[i] = (float)i;
    }
    expect_ok(mote_world_write_channel(world, "heat", heat));
    uint32_t n = 0;
    WorldSnapshot snapshot = {0};
    for (int turn = 0; turn < 8; turn++) {
        const MoteParticleView read = read_view(world);
        MoteSettings settings = mote_world_settings(world);
        switch (turn) {
        case 2:
            add_block(world, (MoteVec3){0.05f, 1.0f, 0.05f}, 4, 3, 3);
            break;
        case 3:
            expect_ok(mote_world_remove_particles(world, read.ids + 10, 20));
            break;
        case 4:
            for (uint32_t i = 0; i < read.count; i++) {
                read.positions[4 * i] += 0.01f * (float)(i % 5); // across cells
            }
            expect_ok(mote_world_write(world, &read));
            break;
        case 5:
            settings.smoothing_radius_ratio *= 1.1f;
            expect_ok(mote_world_set_settings(world, &settings));
            break;
        case 6:
            expect_ok(world_snapshot_take(world, &snapshot));
            break;
        case 7:
            expect_ok(world_snapshot_restore(world, &snapshot));
            break;
        default:
            break;
        }
        if (look) {
            const MoteRenderView first = render_view(world), second = render_view(world);
            assert_true(first.layout == second.layout && first.neighbours.bytes == second.neighbours.bytes);
            if (turn == 4) {
                expect_lists_of_positions(world);
            }
        }
        run_steps(world, turn == 0 ? 1 : 6, 0.008f);
        expect_ok(mote_world_read_channel(world, "heat", heat));
        hashes[n++] = hash_bytes(read_hash(world), heat, mote_world_particle_count(world) * sizeof *heat);
    }
    assert_true(read_statistics(world).removed > 20); // by the volume too
    world_snapshot_free(&snapshot);
    mote_world_destroy(world);
    return n;
}

static void a_look_leaves_no_trace(void **state)
{
    uint64_t plain[LOOK_LIMIT], looked_at[LOOK_LIMIT];
    const uint32_t n = run_and_look(*state, false, plain);
    assert_int_equal(run_and_look(*state, true, looked_at), n);
    for (uint32_t k = 0; k < n; k++) {
        if (plain[k] != looked_at[k]) {
            fail_msg("the runs differ after turn %u", k);
        }
    }
    assert_true(plain[n - 1] == plain[n - 2]); // the restored run does what the first did
}

// Whoever loads a state sees the same: on this backend, with other buffers, and on the portable CPU backend.
static uint64_t hash_of_view(MoteWorld *world)
{
    const MoteRenderView view = render_view(world);
    const MoteArray arrays[] = {view.positions,        view.velocities,       view.ids,       view.phases,
                                view.neighbour_counts, view.neighbour_starts, view.neighbours};
    uint64_t hash = HASH_START;
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
        void *copy = copy_out(world, arrays[k]);
        hash = hash_bytes(hash, copy, arrays[k].bytes);
        free(copy);
    }
    return hash;
}

static void a_loaded_state_looks_the_same_to_all(void **state)
{
    MoteWorld *world = make_used_world(*state);
    run_steps(world, 10, 0.008f);
    WorldSnapshot snapshot;
    expect_ok(world_snapshot_take(world, &snapshot));
    run_steps(world, 30, 0.008f);
    expect_ok(world_snapshot_restore(world, &snapshot));
    const uint64_t hash = hash_of_view(world);
    const MoteSettings settings = mote_world_settings(world);
    for (int b = 0; b < 3; b++) {
        MoteWorld *other = make_world(&test_backends[b], &settings);
        expect_ok(world_snapshot_restore(other, &snapshot));
        assert_true(hash_of_view(other) == hash);
        mote_world_destroy(other);
    }
    world_snapshot_free(&snapshot);
    mote_world_destroy(world);
}

// ---- Memory ----

static void the_layout_tells_of_moved_memory(void **state)
{
    MoteWorld *world = make_used_world(*state);
    run_steps(world, 5, 0.001f);
    const MoteRenderView first = render_view(world);
    run_steps(world, 1, 0.001f);
    const MoteRenderView second = render_view(world);
    assert_true(first.layout == second.layout);
    assert_true(first.positions.capacity == second.positions.capacity);

    uint64_t last = second.layout;
    add_block(world, (MoteVec3){0.1f, 2, 0.1f}, 20, 10, 5); // grows
    assert_true(render_view(world).layout != last);
    last = render_view(world).layout;
    WorldSnapshot snapshot;
    expect_ok(world_snapshot_take(world, &snapshot));
    expect_ok(world_snapshot_restore(world, &snapshot));
    assert_true(render_view(world).layout != last);
    last = render_view(world).layout;
    const MoteParticleView read = read_view(world);
    expect_ok(mote_world_remove_particles(world, read.ids, read.count - 30)); // shrinks
    assert_true(render_view(world).layout != last);
    last = render_view(world).layout;
    mote_world_destroy(world);
    world = make_used_world(*state); // perhaps at the same addresses
    assert_true(render_view(world).layout > last);
    mote_world_destroy(world);
    world_snapshot_free(&snapshot);
}

static struct {
    BackendFunctions failing;
    const BackendFunctions *plain;
    int left; // allocations that will succeed
} memory;

static void *allocate_or_fail(Backend *backend, size_t bytes)
{
    return memory.left-- > 0 ? memory.plain->allocate(backend, bytes) : NULL;
}

// Without memory for the lists there is an error, and the run goes on as without the look.
static void running_out_of_memory_leaves_no_trace(void **state)
{
    MoteWorld *plain = make_used_world(*state);
    run_steps(plain, 3, 0.008f);
    const uint64_t expected = read_hash(plain);
    mote_world_destroy(plain);
    int n = 0;
    for (bool done = false; !done; n++) {
        assert_true(n < 50);
        MoteWorld *world = make_used_world(*state);
        memory.plain = world->backend->functions;
        memory.failing = *memory.plain;
        memory.failing.allocate = allocate_or_fail;
        memory.left = n;
        world->backend->functions = &memory.failing;
        MoteRenderView view;
        const MoteResult result = mote_world_render_view(world, &view);
        world->backend->functions = memory.plain;
        done = result == MOTE_OK;
        if (!done) {
            expect_error(result, MOTE_ERROR_MEMORY, "no ");
            assert_true(view.positions.address == NULL);
        }
        run_steps(world, 3, 0.008f);
        assert_true(read_hash(world) == expected);
        mote_world_destroy(world);
    }
    assert_true(n > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(arrays_are_what_is_read),
        ON_EVERY_BACKEND(a_world_may_be_empty),
        ON_EVERY_BACKEND(neighbours_are_found_without_a_step),
        ON_EVERY_BACKEND(neighbours_of_a_step_cover_the_near_ones),
        ON_EVERY_BACKEND(marked_particles_have_no_neighbours),
        ON_EVERY_BACKEND(a_look_leaves_no_trace),
        ON_EVERY_BACKEND(a_loaded_state_looks_the_same_to_all),
        ON_EVERY_BACKEND(the_layout_tells_of_moved_memory),
        ON_EVERY_BACKEND(running_out_of_memory_leaves_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
