// The CUDA backend in memory of another device interface: here a provider of files in memory with the header that
// Mesa's software Vulkan driver writes, which the emulated CUDA runtime imports.
#define _GNU_SOURCE // memfd_create
#include "backends.h"

#include <dirent.h>
#include <pthread.h>
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
    const uint64_t header[2] = {block->file_size, provider->bad_header ? block->file_size : DATA_OFFSET};
    memcpy(block->file, header, sizeof header);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_see_the_same),
        cmocka_unit_test(two_worlds_may_share_it),
        cmocka_unit_test(another_thread_may_go_on),
        cmocka_unit_test(another_device_keeps_its_own_memory),
        cmocka_unit_test(running_out_of_shared_memory_is_no_failure),
        cmocka_unit_test(memory_that_cannot_be_imported_is_given_back),
        cmocka_unit_test(running_out_of_all_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
