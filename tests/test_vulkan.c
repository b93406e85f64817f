// SPDX-License-Identifier: MIT
// The Vulkan backend where it is unlike the others: what its shaders are made of, commands that wait to be run, memory
// by device address, pipelines that worlds share and that last from run to run, and what it says when it cannot run.
// The validation layers, with their checks for hazards, must have nothing to say about any of it.
#include "solid_fixture.h"

#include "base/file.h"
#include "base/hash.h"
#include "solver/batch.h"
#include "vulkan/shaders.h"
#include "vulkan/spirv.h"
#include "vulkan/vulkan_backend.h"
#include <unistd.h>

enum { CPU, PORTABLE, CUDA, VULKAN }; // rows of test_backends

static VulkanBackend *open_vulkan(void)
{
    Backend *backend = NULL;
    assert_int_equal(keep_vulkan(&test_backends[VULKAN].options), 0);
    expect_ok(backend_create(&test_backends[VULKAN].options, &backend));
    return (VulkanBackend *)backend;
}

static void close_vulkan(VulkanBackend *vulkan)
{
    assert_null(vulkan->base.functions->failure(&vulkan->base));
    vulkan->base.functions->destroy(&vulkan->base);
}

// ---- Against the CPU ----

// Water, grains that roll, a rigid and a soft body, a floating box that has a mass, and a channel.
static MoteWorld *make_crowd(const TestBackend *backend)
{
    MoteSettings settings = solid_settings(0.05f);
    settings.vorticity = 2.0f;
    settings.stabilization_iterations = 1;
    MoteWorld *world = make_world(backend, &settings);
    expect_ok(mote_world_add_channel(world, "tag", 2));
    add_block(world, (MoteVec3){0.05f, 0.05f, 0.05f}, 14, 8, 10);
    MoteVec3 grains[40];
    for (int i = 0; i < 40; i++) {
        grains[i] = (MoteVec3){0.1f + 0.051f * (float)(i % 8), 0.6f + 0.051f * (float)(i / 8), 0.3f};
    }
    add_grains(world, grains, NULL, 40, 2);
    add_box(world, &(TestBox){4, 4, 4, 0.05f, {0.8f, 0.5f, 0.3f}, {0, 0, 0, 1}, true, {.mass = 30.0f, .stiffness = 1}});
    add_box(world,
            &(TestBox){4, 3, 4, 0.05f, {0.3f, 0.9f, 0.3f}, {0, 0, 0, 1}, false, {.mass = 20.0f, .stiffness = 0.5f}});
    MoteShape shapes[2] = {
        box_container((MoteVec3){0.6f, 0.6f, 0.3f}, (MoteVec3){0.6f, 0.6f, 0.3f}),
        still_shape(MOTE_SHAPE_BOX, (MoteVec3){0.4f, 0.5f, 0.15f}, (MoteVec3){0.1f, 0.05f, 0.1f}, 0.0f)};
    shapes[0].static_friction = shapes[0].kinetic_friction = 0.3f;
    shapes[1].mass = 2.0f;
    expect_ok(mote_world_set_shapes(world, shapes, 2));
    return world;
}

// After a step from the same state: within 1e-5 of the tank and of what that is over the step, on every channel.
static void a_step_is_the_cpus(void **state)
{
    (void)state;
    const float time_step = 1.0f / 120.0f, tank = 1.2f;
    assert_int_equal(keep_vulkan(&test_backends[VULKAN].options), 0);
    MoteWorld *a = make_crowd(&test_backends[PORTABLE]), *b = make_crowd(&test_backends[VULKAN]);
    WorldSnapshot snapshot;
    run_steps(a, 15, time_step);
    expect_ok(world_snapshot_take(a, &snapshot));
    expect_ok(world_snapshot_restore(b, &snapshot));
    world_snapshot_free(&snapshot);
    run_steps(a, 1, time_step);
    run_steps(b, 1, time_step);
    const MoteParticleView x = read_view(a), y = read_view(b);
    assert_int_equal(x.count, y.count);
    assert_memory_equal(x.ids, y.ids, x.count * sizeof *x.ids);
    assert_memory_equal(x.phases, y.phases, x.count * sizeof *x.phases);
    for (size_t k = 0; k < 4 * (size_t)x.count; k++) {
        const bool last = k % 4 == 3;
        expect_near(y.positions[k], x.positions[k], last ? 0.0 : 1e-5 * tank, "a position");
        expect_near(y.velocities[k], x.velocities[k], last ? 1e-5 : 1e-5 * tank / time_step, "a velocity");
    }
    for (uint32_t c = 0; c < mote_world_channel_count(a); c++) {
        uint32_t components;
        const char *name = mote_world_channel_name(a, c, &components);
        float *v = malloc(x.count * components * sizeof *v), *w = malloc(x.count * components * sizeof *w);
        expect_ok(mote_world_read_channel(a, name, v));
        expect_ok(mote_world_read_channel(b, name, w));
        for (size_t k = 0; k < (size_t)x.count * components; k++) {
            expect_near(w[k], v[k], 1e-5, name);
        }
        free(v);
        free(w);
    }
    run_steps(a, 14, time_step);
    run_steps(b, 14, time_step);
    assert_true(read_hash(a) == read_hash(b) || vulkan_may_differ(VULKAN));
    mote_world_destroy(a);
    mote_world_destroy(b);
}

// Against the vectorised kernels, which sum in another order: after two seconds the water is as high and as fast.
static void water_sloshes_like_the_cpus(void **state)
{
    (void)state;
    const MoteSettings settings = mote_default_settings();
    MoteStatistics found[2];
    for (int b = 0; b < 2; b++) {
        const TestBackend *backend = &test_backends[b == 0 ? CPU : VULKAN];
        assert_int_equal(keep_vulkan(&backend->options), 0);
        MoteWorld *world = make_world(backend, &settings);
        build_dam_break(world, 12, 16, 10);
        run_steps(world, 240, 1.0f / 120.0f);
        found[b] = read_statistics(world);
        mote_world_destroy(world);
    }
    for (int axis = 0; axis < 3; axis++) {
        expect_near(found[1].centre_of_mass[axis], found[0].centre_of_mass[axis], 0.01 * 36.0 * settings.spacing,
                    "the centre of mass");
    }
    expect_near(found[1].density_error_mean, found[0].density_error_mean, 0.005, "the mean error of density");
    expect_near(found[1].neighbours_mean, found[0].neighbours_mean, 1.0, "the mean number of neighbours");
}

// ---- Commands and memory ----

// More launches, each with a view of its own, than there is room for at once; none is lost, and each sees its own.
static void launches_wait_in_order(void **state)
{
    (void)state;
    VulkanBackend *vulkan = open_vulkan();
    const BackendFunctions *functions = vulkan->base.functions;
    enum { COUNT = 3 * VIEW_SLOTS + 7 };
    uint source[COUNT], order[1] = {0}, found[COUNT];
    for (uint i = 0; i < COUNT; i++) {
        source[i] = 1000u + i;
    }
    uint *from = functions->allocate(&vulkan->base, sizeof source);
    uint *to = functions->allocate(&vulkan->base, sizeof source);
    MoteView view = {.particle_count = 1, .gather_components = 1};
    view.order = functions->allocate(&vulkan->base, sizeof order);
    assert_true(from != NULL && to != NULL && view.order != NULL);
    functions->upload(&vulkan->base, from, source, sizeof source);
    for (uint i = 0; i < COUNT; i += 4) { // buffers of kernels begin at multiples of 16 bytes
        view.gather_source_words = from + i;
        view.gather_target_words = to + i;
        functions->launch(&vulkan->base, KERNEL_ID_gather_words, &view);
    }
    for (uint i = 0; i < 2 * COUNT; i++) {
        view.time_step = (float)i;
        functions->launch(&vulkan->base, KERNEL_ID_gather_words, &view);
    }
    functions->download(&vulkan->base, found, to, sizeof found);
    for (uint i = 0; i < COUNT; i++) {
        assert_int_equal(found[i], i % 4 == 0 ? source[i] : 0);
    }
    Timer timers[TIMER_COUNT];
    functions->read_timers(&vulkan->base, timers);
    assert_int_equal(timers[KERNEL_ID_gather_words].launches, (COUNT + 3) / 4 + 2 * COUNT);
    assert_true(timers[KERNEL_ID_gather_words].milliseconds > 0.0);
    functions->reset_timers(&vulkan->base);
    functions->read_timers(&vulkan->base, timers);
    assert_int_equal(timers[KERNEL_ID_gather_words].launches, 0);
    close_vulkan(vulkan); // and frees what was not released
}

// Gravity turns with every step.
static MoteResult turn_gravity(void *context, uint32_t before)
{
    MoteSettings settings = mote_world_settings(context);
    settings.gravity = (MoteVec3){0.1f * (float)before, -9.81f, 0.0f};
    return mote_world_set_settings(context, &settings);
}

// A drop falls in before every step.
static MoteResult add_drop(void *context, uint32_t before)
{
    const MoteVec3 position = {0.2f, 0.5f + 0.1f * (float)before, 0.2f};
    const MoteParticles drop = {.count = 1, .positions = &position, .mass = 0.1f, .phase = MOTE_PHASE_FLUID};
    return mote_world_add_particles(context, &drop, NULL);
}

// A step is recorded once for each order that its arrays come to lie in, and then run again.
static void recorded_steps_are_run_again(void **state)
{
    (void)state;
    assert_int_equal(keep_vulkan(&test_backends[VULKAN].options), 0);
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(&test_backends[VULKAN], &settings);
    build_dam_break(world, 8, 10, 6);
    const VulkanBackend *vulkan = (const VulkanBackend *)world->backend;
    run_steps(world, 40, 1e-4f);
    const uint64_t runs = vulkan->runs, recordings = vulkan->recordings;
    run_steps(world, 20, 1e-4f);
    printf("%llu batches of 20 steps, %llu of them recorded anew\n", (unsigned long long)(vulkan->runs - runs),
           (unsigned long long)(vulkan->recordings - recordings));
    assert_int_equal(vulkan->runs - runs, 20);         // the host waits once a step
    assert_true(vulkan->recordings - recordings <= 5); // memory that grows makes a step a new one
    const uint64_t before = vulkan->runs;
    expect_ok(mote_world_steps(world, 1e-4f, 20, NULL));
    assert_int_equal(vulkan->runs - before, (20 + STEP_BATCH - 1) / STEP_BATCH); // or for several at once
    const uint64_t prepared = vulkan->runs;
    expect_ok(world_prepared_steps(world, 1e-4f, STEP_BATCH, turn_gravity, world, NULL));
    assert_int_equal(vulkan->runs - prepared, 1); // whatever happens between them
    assert_true(world_expect_particles(world, STEP_BATCH, MOTE_PHASE_FLUID));
    mote_world_read(world, &(MoteParticleView){.capacity = UINT32_MAX}); // what moving to larger buffers has recorded
    const uint64_t expected = vulkan->runs;
    expect_ok(world_prepared_steps(world, 1e-4f, STEP_BATCH, add_drop, world, NULL));
    assert_int_equal(vulkan->runs - expected, 1);
    mote_world_destroy(world);
}

// Larger than the staging memory, at odd places, and released while commands that use it are waiting.
static void memory_keeps_what_it_is_given(void **state)
{
    (void)state;
    VulkanBackend *vulkan = open_vulkan();
    const BackendFunctions *functions = vulkan->base.functions;
    const size_t bytes = 2 * (size_t)UPLOAD_BYTES + 4099;
    uint8_t *source = malloc(bytes), *found = malloc(bytes);
    assert_true(source != NULL && found != NULL);
    for (size_t i = 0; i < bytes; i++) {
        source[i] = (uint8_t)(i * 7 + i / 251);
    }
    uint8_t *first = functions->allocate(&vulkan->base, bytes + 64),
            *second = functions->allocate(&vulkan->base, bytes);
    assert_true(first != NULL && second != NULL);
    functions->download(&vulkan->base, found, first, bytes);
    for (size_t i = 0; i < bytes; i++) {
        assert_int_equal(found[i], 0);
    }
    functions->upload(&vulkan->base, first + 61, source, bytes);
    functions->copy(&vulkan->base, second, first + 61, bytes);
    functions->release(&vulkan->base, first, bytes + 64);
    functions->download(&vulkan->base, found, second, bytes);
    assert_memory_equal(found, source, bytes);
    functions->download(&vulkan->base, found, second + 13, 29);
    assert_memory_equal(found, source + 13, 29);
    assert_null(functions->allocate(&vulkan->base, (size_t)1 << 50));
    assert_null(functions->allocate(&vulkan->base, SIZE_MAX));
    functions->release(&vulkan->base, second, bytes);
    free(source);
    free(found);
    close_vulkan(vulkan);
}

// A device without the operations of subgroups runs count_neighbours and fill_neighbours themselves.
static void lists_do_not_depend_on_subgroups(void **state)
{
    (void)state;
    uint64_t hashes[2];
    for (int with = 0; with < 2; with++) {
        MoteWorld *world = make_crowd(&test_backends[VULKAN]);
        VulkanPrograms *programs = ((VulkanBackend *)world->backend)->programs;
        const bool can = programs->searches;
        programs->searches = can && with != 0;
        run_steps(world, 5, 1.0f / 120.0f);
        programs->searches = can;
        hashes[with] = read_hash(world);
        mote_world_destroy(world);
    }
    assert_true(hashes[0] == hashes[1]);
}

// Liquid that falls has no pressure until it meets the other: density_delta leaves it out, and it makes no difference.
static void liquid_without_pressure_is_left_out(void **state)
{
    (void)state;
    uint64_t hashes[4];
    for (int b = PORTABLE; b <= VULKAN; b++) {
        MoteSettings settings = mote_default_settings();
        settings.spacing = 0.05f;
        settings.density_mode = MOTE_DENSITY_UNILATERAL;
        settings.artificial_pressure = 0.0f;
        MoteWorld *world = make_world(&test_backends[b], &settings);
        add_block(world, (MoteVec3){0.03f, 0.03f, 0.03f}, 12, 6, 12);
        add_block(world, (MoteVec3){0.1f, 0.42f, 0.1f}, 8, 8, 8);
        const MoteShape tank = box_container((MoteVec3){0.3f, 0.6f, 0.3f}, (MoteVec3){0.3f, 0.6f, 0.3f});
        expect_ok(mote_world_set_shapes(world, &tank, 1));
        run_steps(world, 24, 1.0f / 120.0f);
        assert_int_equal(world->view.notes_pressure, b != PORTABLE);
        const MoteParticleView view = read_view(world);
        uint32_t pressed = 0;
        for (uint32_t i = 0; i < view.count; i++) {
            pressed += view.velocities[4 * (size_t)i + 3] > 1.0f; // the density
        }
        assert_in_range(pressed, view.count / 20, view.count * 19 / 20);
        hashes[b] = read_hash(world);
        mote_world_destroy(world);
    }
    assert_true(hashes[CUDA] == hashes[PORTABLE]);
    assert_true(vulkan_may_differ(VULKAN) || hashes[VULKAN] == hashes[PORTABLE]);
}

static void worlds_share_pipelines(void **state)
{
    (void)state;
    VulkanBackend *a = open_vulkan(), *b = open_vulkan();
    assert_ptr_equal(a->programs, b->programs);
    assert_int_equal(a->programs->users, 3); // with the one that stays
    close_vulkan(a);
    close_vulkan(b);
}

// ---- Shaders ----

static void no_shader_may_contract(void **state)
{
    (void)state;
    assert_true(solver_shader_count == PROGRAM_COUNT);
    for (size_t s = 0; s < solver_shader_count; s++) {
        const SolverShader *shader = &solver_shaders[s];
        size_t count = 0, marks = 0, sums = 0;
        uint32_t *words = spirv_without_contraction(shader->words, shader->count, &count);
        assert_non_null(words);
        for (size_t at = 5; at < count; at += words[at] >> 16) {
            const uint32_t operation = words[at] & 0xffff;
            marks += operation == 71 && words[at + 2] == 42;                  // OpDecorate NoContraction
            sums += operation == 129 || operation == 131 || operation == 133; // OpFAdd, OpFSub, OpFMul
        }
        assert_true(marks >= sums);
        assert_int_equal(count, shader->count + 3 * marks);
        assert_true(sums > 0 || strcmp(shader->name, "density_lambda") != 0);
        free(words);
    }
    uint32_t broken[8] = {0x07230203, 0, 0, 0, 0, 0x00000000, 0xffff0001, 0};
    size_t count;
    assert_null(spirv_without_contraction(broken, 8, &count));
    assert_null(spirv_without_contraction(broken, 3, &count));
}

static void offsets_are_found(void **state)
{
    (void)state;
    uint32_t offset = 77;
    const SolverShader *shader = &solver_shaders[0];
    assert_true(spirv_member_offset(shader->words, shader->count, "MoteView", 1, &offset));
    assert_int_equal(offset, 8);
    assert_false(spirv_member_offset(shader->words, shader->count, "MoteView", 5000, &offset));
    assert_false(spirv_member_offset(shader->words, shader->count, "Nothing", 0, &offset));
    uint32_t stride = 77;
    assert_true(spirv_array_stride(shader->words, shader->count, "Shape_buffer", &stride));
    assert_int_equal(stride, sizeof(Shape));
    assert_true(spirv_array_stride(shader->words, shader->count, "u64_buffer", &stride));
    assert_int_equal(stride, 8);
    assert_false(spirv_array_stride(shader->words, shader->count, "Shape", &stride)); // begins with no array
    assert_false(spirv_array_stride(shader->words, shader->count, "Nothing", &stride));
}

// ---- Pipelines from run to run ----

// Whatever the file holds, the cache opens; what the driver gives is read back.
static uint64_t open_cache(VulkanBackend *vulkan)
{
    VkPipelineCache cache = VK_NULL_HANDLE;
    uint64_t hash = 1;
    assert_int_equal(vulkan_cache_open(vulkan->device, &cache, &hash), VK_SUCCESS);
    assert_true(cache != VK_NULL_HANDLE);
    vkDestroyPipelineCache(vulkan->device->handle, cache, NULL);
    return hash;
}

// What a driver gives comes back from its file. Mesa's software driver gives a header alone: some bytes follow it here.
static void check_round_trip(VulkanBackend *vulkan, const char *path, const VkPhysicalDeviceProperties *properties)
{
    char bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)random_bits();
    }
    VkPipelineCacheHeaderVersionOne header = {.headerSize = sizeof header,
                                              .headerVersion = VK_PIPELINE_CACHE_HEADER_VERSION_ONE,
                                              .vendorID = properties->vendorID,
                                              .deviceID = properties->deviceID};
    memcpy(header.pipelineCacheUUID, properties->pipelineCacheUUID, VK_UUID_SIZE);
    const size_t sizes[3] = {sizeof header, 200, sizeof bytes}; // a later file takes the place of an earlier one
    memcpy(bytes, &header, sizeof header);
    for (int i = 0; i < 3; i++) {
        vulkan_cache_write(vulkan->device, bytes, sizes[i]);
        assert_true(open_cache(vulkan) == hash_bytes(HASH_START, bytes, sizes[i]));
    }
    FILE *file = fopen(path, "r+b"); // one bit of it changes
    assert_non_null(file);
    fseek(file, 500, SEEK_SET);
    fputc(bytes[500 - 8] ^ 1, file);
    fclose(file);
    assert_true(open_cache(vulkan) == 0);
    header.pipelineCacheUUID[3] ^= 1; // another driver's
    memcpy(bytes, &header, sizeof header);
    vulkan_cache_write(vulkan->device, bytes, sizeof bytes);
    assert_true(open_cache(vulkan) == 0);
}

static void a_broken_cache_is_an_empty_one(void **state)
{
    (void)state;
    VulkanBackend *vulkan = open_vulkan();
    char folder[] = "/tmp/mote_cache_XXXXXX", path[512];
    assert_non_null(mkdtemp(folder));
    setenv("XDG_CACHE_HOME", folder, 1);
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(vulkan->device->physical, &properties);
    snprintf(path, sizeof path, "%s/mote", folder);
    expect_ok(file_make_folder(path));
    int length = snprintf(path, sizeof path, "%s/mote/pipelines-", folder);
    for (size_t i = 0; i < VK_UUID_SIZE; i++) {
        length += snprintf(path + length, sizeof path - (size_t)length, "%02x", properties.pipelineCacheUUID[i]);
    }
    const size_t sizes[] = {0, 1, 7, 8, 9, 40, 5000};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        for (size_t i = 0; i < sizes[s]; i++) {
            fputc((int)(random_bits() & 255), file);
        }
        fclose(file);
        VkPipelineCache cache = VK_NULL_HANDLE;
        uint64_t hash = 1;
        assert_int_equal(vulkan_cache_open(vulkan->device, &cache, &hash), VK_SUCCESS);
        assert_true(cache != VK_NULL_HANDLE && hash == 0);
        vulkan_cache_save(vulkan->device, cache, hash);
        vkDestroyPipelineCache(vulkan->device->handle, cache, NULL);
    }
    check_round_trip(vulkan, path, &properties);
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1); // which cannot be written to
    vulkan_cache_save(vulkan->device, vulkan->programs->cache, 0);
    unsetenv("XDG_CACHE_HOME");
    remove(path);
    snprintf(path, sizeof path, "%s/mote", folder);
    rmdir(path);
    rmdir(folder);
    close_vulkan(vulkan);
}

// ---- What it says ----

static void errors_name_what_is_missing(void **state)
{
    (void)state;
    Backend *backend = NULL;
    const MoteBackendOptions beyond = {.backend = "vulkan", .vulkan_device = 100};
    expect_error(backend_create(&beyond, &backend), MOTE_ERROR_UNAVAILABLE, "no Vulkan device 99");
    assert_non_null(strstr(mote_error_message(), "try backend cpu"));
    assert_null(backend);

    VulkanBackend *vulkan = open_vulkan();
    vulkan_check(vulkan, VK_ERROR_DEVICE_LOST, "running the solver");
    vulkan_check(vulkan, VK_ERROR_OUT_OF_HOST_MEMORY, "the second");
    const char *said = vulkan->base.functions->failure(&vulkan->base);
    assert_true(strstr(said, "device was lost") != NULL && strstr(said, "try backend cpu") != NULL);
    assert_null(strstr(said, "second"));
    uint word = 5; // nothing more is done, and what is read is defined
    vulkan->base.functions->launch(&vulkan->base, KERNEL_ID_clear_counters, &(MoteView){.counter_count = 5});
    uint *address = vulkan->base.functions->allocate(&vulkan->base, 64);
    vulkan->base.functions->download(&vulkan->base, &word, address, sizeof word);
    assert_int_equal(word, 0);
    vulkan->base.functions->destroy(&vulkan->base);
}

static void software_is_never_chosen(void **state)
{
    (void)state;
    MoteBackendInfo rows[4];
    const uint32_t count = mote_backends(rows, 4);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, "vulkan") == 0) {
            assert_true(rows[i].available);
            assert_int_equal(rows[i].automatic, strstr(rows[i].device, "software") == NULL);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_the_cpus),
        cmocka_unit_test(water_sloshes_like_the_cpus),
        cmocka_unit_test(launches_wait_in_order),
        cmocka_unit_test(recorded_steps_are_run_again),
        cmocka_unit_test(memory_keeps_what_it_is_given),
        cmocka_unit_test(lists_do_not_depend_on_subgroups),
        cmocka_unit_test(liquid_without_pressure_is_left_out),
        cmocka_unit_test(worlds_share_pipelines),
        cmocka_unit_test(no_shader_may_contract),
        cmocka_unit_test(offsets_are_found),
        cmocka_unit_test(a_broken_cache_is_an_empty_one),
        cmocka_unit_test(errors_name_what_is_missing),
        cmocka_unit_test(software_is_never_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
