// SPDX-License-Identifier: MIT
// The CUDA backend in memory of another device interface: here a provider of files in memory with the header that
// Mesa's software Vulkan driver writes, which the emulated CUDA runtime imports.
#define _GNU_SOURCE // memfd_create
#include "backends.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DATA_OFFSET = 4096, BLOCK_LIMIT = 256 };

typedef struct Block {
    unsigned char *file; // as the other side sees it; NULL: a free entry
    size_t file_size, size;
    const void *address; // as the backend named it
} Block;

typedef struct Provider {
    MoteSharedMemory memory; // first member
    Block blocks[BLOCK_LIMIT];
    int live, allocations, releases;
    int left;        // allocations that will succeed; negative is no limit
    bool bad_header; // what no driver could import
} Provider;

static bool provider_allocate(MoteSharedMemory *memory, size_t bytes, int *descriptor, size_t *size, void **handle)
{
    Provider *provider = (Provider *)memory;
    provider->allocations++;
    if (provider->left == 0 || provider->live == BLOCK_LIMIT || bytes > (size_t)1 << 40) {
        return false;
    }
    provider->left -= provider->left > 0;
    Block *block = provider->blocks;
    while (block->file != NULL) {
        block++;
    }
    block->size = (bytes + 255) / 256 * 256; // a device rounds up
    block->file_size = DATA_OFFSET + block->size;
    *descriptor = memfd_create("shared", 0);
    assert_true(*descriptor >= 0 && ftruncate(*descriptor, (off_t)block->file_size) == 0);
    block->file = mmap(NULL, block->file_size, PROT_READ | PROT_WRITE, MAP_SHARED, *descriptor, 0);
    assert_true(block->file != MAP_FAILED);
    memset(block->file, 0x5a, block->file_size); // not zeroed
    memset(block->file, 0, 64);
    const uint64_t header[2] = {block->file_size, provider->bad_header ? block->file_size : DATA_OFFSET};
    memcpy(block->file, header, sizeof header);
    strcpy((char *)block->file + 32, memory->dedicated ? "dedicated" : "not dedicated"); // padded with zeros
    *size = block->size;
    *handle = block;
    provider->live++;
    return true;
}

static void provider_name(MoteSharedMemory *memory, void *handle, const void *address)
{
    (void)memory;
    Block *block = handle;
    assert_true(block->file != NULL && block->address == NULL && address != NULL);
    assert_true(address != block->file + DATA_OFFSET); // a mapping of its own
    block->address = address;
}

static void provider_release(MoteSharedMemory *memory, void *handle)
{
    Provider *provider = (Provider *)memory;
    Block *block = handle;
    assert_non_null(block->file); // not twice
    munmap(block->file, block->file_size);
    *block = (Block){0};
    provider->live--;
    provider->releases++;
}

// `uuid`: "mesa" is how those of lavapipe begin.
static Provider *make_provider(const char *uuid)
{
    Provider *provider = calloc(1, sizeof *provider);
    assert_non_null(provider);
    memcpy(provider->memory.device_uuid, uuid, strlen(uuid));
    provider->memory.allocate = provider_allocate;
    provider->memory.name = provider_name;
    provider->memory.release = provider_release;
    provider->left = -1;
    return provider;
}

static int open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    int count = 0;
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

static MoteWorld *make_cuda_world(Provider *provider)
{
    const MoteSettings settings = mote_default_settings();
    TestBackend backend = test_backends[2];
    backend.options.shared_memory = provider != NULL ? &provider->memory : NULL;
    MoteWorld *world = make_world(&backend, &settings);
    build_dam_break(world, 6, 9, 6);
    expect_ok(mote_world_add_channel(world, "heat", 1));
    return world;
}

static MoteRenderView render_view(MoteWorld *world)
{
    MoteRenderView view;
    expect_ok(mote_world_render_view(world, &view));
    return view;
}

static uint64_t hash_of_plain_run(uint32_t steps)
{
    MoteWorld *world = make_cuda_world(NULL);
    run_steps(world, steps, 0.005f);
    const uint64_t hash = read_hash(world);
    mote_world_destroy(world);
    return hash;
}

// What the provider's own mapping of the array holds.
static const void *seen_by_provider(const Provider *provider, MoteArray array)
{
    for (int i = 0; i < BLOCK_LIMIT; i++) {
        const Block *block = &provider->blocks[i];
        if (block->file != NULL && block->address == array.address) {
            assert_true(array.bytes <= array.capacity && array.capacity <= block->size);
            return block->file + DATA_OFFSET;
        }
    }
    fail_msg("an array has an address that was not named");
    return NULL;
}

static void expect_shared(Provider *provider, MoteWorld *world)
{
    const MoteRenderView view = render_view(world);
    assert_int_equal(view.memory, MOTE_MEMORY_SHARED);
    assert_string_equal(view.why, "");
    const MoteParticleView read = read_view(world);
    assert_int_equal(view.particle_count, read.count);
    assert_memory_equal(seen_by_provider(provider, view.positions), read.positions, read.count * 16);
    assert_memory_equal(seen_by_provider(provider, view.velocities), read.velocities, read.count * 16);
    assert_memory_equal(seen_by_provider(provider, view.ids), read.ids, read.count * 4);
    assert_memory_equal(seen_by_provider(provider, view.phases), read.phases, read.count * 4);
    const MoteArray lists[] = {view.neighbour_counts, view.neighbour_starts, view.neighbours};
    for (int k = 0; k < 3; k++) {
        void *copy = download_copy(world, lists[k].address, lists[k].bytes);
        assert_true(lists[k].bytes > 0);
        assert_memory_equal(seen_by_provider(provider, lists[k]), copy, lists[k].bytes);
        free(copy);
    }
    MoteArray heat;
    expect_ok(mote_world_channel_array(world, "heat", &heat, NULL));
    seen_by_provider(provider, heat);
}

static void expect_private(MoteWorld *world, const char *why)
{
    const MoteRenderView view = render_view(world);
    assert_int_equal(view.memory, MOTE_MEMORY_PRIVATE);
    assert_non_null(strstr(view.why, why));
    const MoteParticleView read = read_view(world);
    float *positions = malloc(read.count * 16);
    assert_non_null(positions);
    expect_ok(mote_world_copy_out(world, positions, view.positions.address, view.positions.bytes));
    assert_memory_equal(positions, read.positions, read.count * 16);
    free(positions);
}

// ---- Tests ----

static void both_sides_see_the_same(void **state)
{
    (void)state;
    const int descriptors = open_descriptors();
    Provider *provider = make_provider("mesa25.0.7");
    MoteWorld *world = make_cuda_world(provider);
    expect_shared(provider, world); // before a step
    run_steps(world, 10, 0.005f);
    expect_shared(provider, world);
    assert_true(read_hash(world) == hash_of_plain_run(10));
    assert_true(open_descriptors() == descriptors); // the driver has taken them all

    const uint64_t layout = render_view(world).layout;
    add_block(world, (MoteVec3){0.1f, 2, 0.1f}, 20, 10, 5); // grows
    run_steps(world, 2, 0.005f);
    expect_shared(provider, world);
    assert_true(render_view(world).layout != layout && provider->releases > 0);
    WorldSnapshot snapshot;
    expect_ok(world_snapshot_take(world, &snapshot));
    expect_ok(world_snapshot_restore(world, &snapshot));
    world_snapshot_free(&snapshot);
    expect_shared(provider, world);
    mote_world_destroy(world);
    assert_true(provider->live == 0 && provider->releases == provider->allocations);
    assert_true(open_descriptors() == descriptors);
    free(provider);
}

static void two_worlds_may_share_it(void **state)
{
    (void)state;
    Provider *provider = make_provider("mesa22.3.6");
    MoteWorld *first = make_cuda_world(provider), *alone = make_cuda_world(NULL), *second = make_cuda_world(provider);
    run_steps(first, 3, 0.005f); // each on its own device
    run_steps(alone, 3, 0.005f);
    run_steps(second, 3, 0.005f);
    expect_shared(provider, first);
    expect_private(alone, "without memory to share");
    mote_world_destroy(first);
    add_block(second, (MoteVec3){0.1f, 2, 0.1f}, 20, 10, 5);
    run_steps(second, 1, 0.005f);
    expect_shared(provider, second);
    mote_world_destroy(alone);
    mote_world_destroy(second);
    assert_int_equal(provider->live, 0);
    free(provider);
}

static void *grow_elsewhere(void *world)
{
    add_block(world, (MoteVec3){0.1f, 2, 0.1f}, 20, 10, 5);
    run_steps(world, 2, 0.005f);
    return NULL;
}

// The current device is a matter of each thread, and a world may go to another one.
static void another_thread_may_go_on(void **state)
{
    (void)state;
    Provider *provider = make_provider("mesa22.3.6");
    MoteWorld *world = make_cuda_world(provider);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, grow_elsewhere, world), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    expect_shared(provider, world);
    mote_world_destroy(world);
    assert_int_equal(provider->live, 0);
    free(provider);
}

static void another_device_keeps_its_own_memory(void **state)
{
    (void)state;
    Provider *provider = make_provider("a GPU of others");
    MoteWorld *world = make_cuda_world(provider);
    run_steps(world, 10, 0.005f);
    expect_private(world, "not one that CUDA has");
    assert_true(read_hash(world) == hash_of_plain_run(10));
    mote_world_destroy(world);
    assert_int_equal(provider->allocations, 0);
    free(provider);
}

// At whatever allocation the provider has no more: the world goes on in memory of its own.
static void running_out_of_shared_memory_is_no_failure(void **state)
{
    (void)state;
    const uint64_t expected = hash_of_plain_run(5);
    const int descriptors = open_descriptors();
    int n = 0;
    for (bool shared = false; !shared; n++) {
        assert_true(n < 200);
        Provider *provider = make_provider("mesa22.3.6");
        provider->left = n;
        MoteWorld *world = make_cuda_world(provider);
        run_steps(world, 5, 0.005f);
        assert_true(read_hash(world) == expected);
        shared = render_view(world).memory == MOTE_MEMORY_SHARED;
        if (!shared) {
            expect_private(world, "no memory to share for ");
            assert_int_equal(provider->allocations, n + 1); // it is not asked again
        }
        mote_world_destroy(world);
        assert_true(provider->live == 0 && open_descriptors() == descriptors);
        free(provider);
    }
    assert_true(n > 20);
}

// CUDA is told whether allocations are dedicated as the provider says; the emulation refuses them otherwise.
static void dedicated_on_both_sides_or_neither(void **state)
{
    (void)state;
    for (int dedicated = 0; dedicated < 2; dedicated++) {
        Provider *provider = make_provider("mesa25.0.7");
        provider->memory.dedicated = dedicated != 0;
        MoteWorld *world = make_cuda_world(provider);
        run_steps(world, 1, 0.005f);
        expect_shared(provider, world);
        mote_world_destroy(world);
        assert_int_equal(provider->live, 0);
        free(provider);
    }
}

static void memory_that_cannot_be_imported_is_given_back(void **state)
{
    (void)state;
    const int descriptors = open_descriptors();
    Provider *provider = make_provider("mesa22.3.6");
    provider->bad_header = true;
    MoteWorld *world = make_cuda_world(provider);
    run_steps(world, 5, 0.005f);
    expect_private(world, "could not import");
    assert_true(provider->live == 0 && provider->allocations == 1 && open_descriptors() == descriptors);
    assert_true(read_hash(world) == hash_of_plain_run(5));
    mote_world_destroy(world);
    free(provider);
}

// Where neither has memory it is the usual error, and what is shared stays so.
static void running_out_of_all_memory_is_an_error(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip(); // the sanitizer's malloc does not fail, it stops
#endif
    Provider *provider = make_provider("mesa22.3.6");
    MoteWorld *world = make_cuda_world(provider);
    run_steps(world, 2, 0.005f);
    const uint64_t hash = read_hash(world);
    const int live = provider->live;
    assert_null(world->backend->functions->allocate(world->backend, (size_t)1 << 62));
    assert_null(world->backend->functions->failure(world->backend));
    assert_true(provider->live == live && read_hash(world) == hash);
    expect_shared(provider, world);
    mote_world_destroy(world);
    free(provider);
}

// ---- Timelines ----

// A timeline as the emulated runtime knows it: a file in memory with the value that was reached.
typedef struct TestTimeline {
    MoteTimeline promised; // first member
    _Atomic uint64_t *reached;
} TestTimeline;

static int live_timelines, timeline_bytes;

static MoteTimeline *make_timeline(MoteSharedMemory *memory, int *descriptor)
{
    (void)memory;
    TestTimeline *timeline = calloc(1, sizeof *timeline);
    *descriptor = memfd_create("timeline", 0);
    assert_true(timeline != NULL && *descriptor >= 0 && ftruncate(*descriptor, timeline_bytes) == 0);
    timeline->reached = mmap(NULL, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, *descriptor, 0);
    assert_true(timeline->reached != MAP_FAILED);
    live_timelines++;
    return &timeline->promised;
}

static void end_timeline(MoteSharedMemory *memory, MoteTimeline *ended)
{
    (void)memory;
    TestTimeline *timeline = (TestTimeline *)ended;
    munmap((void *)timeline->reached, sizeof(uint64_t));
    free(timeline);
    live_timelines--;
}

static Provider *make_provider_with_timelines(void)
{
    Provider *provider = make_provider("mesa25.0.7");
    provider->memory.make_timeline = make_timeline;
    provider->memory.end_timeline = end_timeline;
    timeline_bytes = sizeof(uint64_t);
    return provider;
}

// A renderer's work on a device: waits for the arrays, reads them for a while, then says that it is done.
typedef struct Reader {
    TestTimeline *timeline;
    uint64_t ready, done; // values
    const void *positions;
    size_t bytes;
    _Atomic bool ended;
    bool changed;
    void *copy;
} Reader;

static void *read_for_a_while(void *user)
{
    Reader *reader = user;
    while (atomic_load(reader->timeline->reached) < reader->ready) {
        usleep(100);
    }
    memcpy(reader->copy, reader->positions, reader->bytes);
    for (int i = 0; i < 20; i++) { // many times as long as a step takes
        usleep(1000);
        reader->changed |= memcmp(reader->copy, reader->positions, reader->bytes) != 0;
    }
    atomic_store(&reader->ended, true);
    atomic_store(reader->timeline->reached, reader->done);
    return NULL;
}

// The step that follows a picture does not write to the arrays before the picture is done with them, though nobody
// waits for it on the host.
static void a_step_waits_for_who_reads(void **state)
{
    (void)state;
    enum { STEPS = 6 };
    const int descriptors = open_descriptors();
    Provider *provider = make_provider_with_timelines();
    MoteWorld *world = make_cuda_world(provider);
    run_steps(world, 1, 0.005f);
    uint64_t before = 0;
    for (uint32_t step = 1; step < STEPS; step++) {
        MoteRenderView view;
        expect_ok(mote_world_hand_over(world, &view));
        assert_non_null(view.timeline);
        assert_true(view.timeline->value == before + 1); // one for each picture, one for each hand-over
        Reader reader = {.timeline = (TestTimeline *)view.timeline,
                         .ready = view.timeline->value,
                         .done = view.timeline->value + 1,
                         .positions = seen_by_provider(provider, view.positions),
                         .bytes = view.positions.bytes,
                         .copy = malloc(view.positions.bytes)};
        assert_non_null(reader.copy);
        before = view.timeline->value = reader.done; // promised, and not reached
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, read_for_a_while, &reader), 0);
        if (step == 3) { // whatever touches the arrays: here they move to larger ones, and back
            add_block(world, (MoteVec3){0.1f, 2, 0.1f}, 20, 10, 5);
            mote_world_destroy(world); // frees them
            assert_true(atomic_load(&reader.ended));
            assert_int_equal(pthread_join(thread, NULL), 0);
            assert_false(reader.changed);
            free(reader.copy);
            break;
        }
        run_steps(world, 1, 0.005f);
        assert_true(atomic_load(&reader.ended));
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_false(reader.changed);
        expect_ok(mote_world_render_view(world, &view));
        assert_true(view.timeline == NULL); // the host has waited
        assert_memory_not_equal(reader.copy, seen_by_provider(provider, view.positions), reader.bytes);
        free(reader.copy);
        assert_true(read_hash(world) == hash_of_plain_run(step + 1));
    }
    assert_true(provider->live == 0 && live_timelines == 0 && open_descriptors() == descriptors);
    free(provider);
}

// As a renderer's queue waits: the solver's stream gets there without the host.
static bool is_reached(const MoteTimeline *timeline, uint64_t value)
{
    for (int i = 0; i < 10000 && atomic_load(((const TestTimeline *)timeline)->reached) < value; i++) {
        usleep(1000);
    }
    return atomic_load(((const TestTimeline *)timeline)->reached) == value;
}

// Nobody drew what was handed over: nothing to wait for. The value grows, as a timeline's must.
static void pictures_may_be_left_out(void **state)
{
    (void)state;
    Provider *provider = make_provider_with_timelines();
    MoteWorld *world = make_cuda_world(provider);
    for (uint64_t n = 1; n <= 4; n++) {
        MoteRenderView view;
        run_steps(world, 1, 0.005f);
        expect_ok(mote_world_hand_over(world, &view));
        assert_true(view.timeline->value == n && is_reached(view.timeline, n));
        const MoteParticleView read = read_view(world); // the box goes with the step
        for (uint32_t i = 0; i < read.count; i++) {
            assert_true(read.positions[4 * i + 1] >= view.bounds_min.y &&
                        read.positions[4 * i + 1] <= view.bounds_max.y);
        }
    }
    mote_world_destroy(world);
    assert_int_equal(live_timelines, 0);
    free(provider);
}

// Without a timeline, or with one that CUDA does not take, the host waits.
static void without_a_timeline_the_host_waits(void **state)
{
    (void)state;
    const int descriptors = open_descriptors();
    for (int kind = 0; kind < 2; kind++) {
        Provider *provider = kind == 0 ? make_provider("mesa25.0.7") : make_provider_with_timelines();
        timeline_bytes = 12; // no semaphore's
        MoteWorld *world = make_cuda_world(provider);
        run_steps(world, 2, 0.005f);
        MoteRenderView view;
        expect_ok(mote_world_hand_over(world, &view));
        assert_true(view.timeline == NULL && view.memory == MOTE_MEMORY_SHARED);
        expect_shared(provider, world);
        mote_world_destroy(world);
        assert_true(live_timelines == 0 && open_descriptors() == descriptors);
        free(provider);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_see_the_same),
        cmocka_unit_test(two_worlds_may_share_it),
        cmocka_unit_test(another_thread_may_go_on),
        cmocka_unit_test(another_device_keeps_its_own_memory),
        cmocka_unit_test(running_out_of_shared_memory_is_no_failure),
        cmocka_unit_test(dedicated_on_both_sides_or_neither),
        cmocka_unit_test(memory_that_cannot_be_imported_is_given_back),
        cmocka_unit_test(running_out_of_all_memory_is_an_error),
        cmocka_unit_test(a_step_waits_for_who_reads),
        cmocka_unit_test(pictures_may_be_left_out),
        cmocka_unit_test(without_a_timeline_the_host_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
