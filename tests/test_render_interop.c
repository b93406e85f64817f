// SPDX-License-Identifier: MIT
// Where the renderer reads the world's arrays from makes no difference to a pixel; nor does drawing twice, or the way
// splats are drawn. Nothing leaks over many frames and many renderers, and what cannot be done is said clearly.
#include "render_fixture.h"

enum { WIDTH = 160, HEIGHT = 96, BYTES = WIDTH * HEIGHT * 8, SIDE = 10, COUNT = SIDE * SIDE * SIDE };

// A small block of liquid that has fallen and spread for a few steps on a floor.
static MoteWorld *make_splash(const char *backend, MoteSharedMemory *shared)
{
    MoteVec3 points[COUNT];
    for (int i = 0; i < COUNT; i++) {
        points[i] = (MoteVec3){0.05f * (float)(i % SIDE) - 0.25f, 0.03f + 0.05f * (float)(i / SIDE % SIDE),
                               0.05f * (float)(i / SIDE / SIDE) - 0.25f};
    }
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.05f;
    MoteWorld *world;
    MUST(mote_world_create(
        &settings, &(MoteBackendOptions){.backend = backend, .portable = true, .shared_memory = shared}, &world));
    MUST(mote_world_add_particles(
        world, &(MoteParticles){.count = COUNT, .positions = points, .mass = 0.125f, .phase = MOTE_PHASE_FLUID}, NULL));
    const MoteTransform still = {{0, 0, 0}, {0, 0, 0, 1}};
    MUST(mote_world_set_colliders(world, &(MoteCollider){.kind = MOTE_COLLIDER_PLANE, .from = still, .to = still}, 1));
    for (int step = 0; step < 60; step++) {
        MUST(mote_world_step(world, 1.0f / 240.0f));
    }
    return world;
}

static MoteRenderScene splash_scene(void)
{
    MoteRenderScene scene = make_scene((MoteVec3){0.7f, 0.9f, 1.6f}, (MoteVec3){0, 0.15f, 0}, 40.0f);
    scene.ground.visible = true;
    scene.liquid.smoothing = MOTE_SMOOTHING_NARROW_RANGE;
    return scene;
}

static uint16_t *draw(MoteRenderer *renderer, MoteWorld *world, const char *view)
{
    const MoteRenderScene scene = splash_scene();
    MUST(mote_renderer_draw(renderer, world, &scene,
                            &(MotePicture){.width = WIDTH, .height = HEIGHT, .samples = 1, .view = view}));
    uint16_t *pixels = malloc(BYTES);
    MUST(mote_renderer_read_rgba16(renderer, pixels));
    return pixels;
}

static void test_equal_pixels_from_every_path(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_splash("cpu", NULL);
    uint16_t *host = draw(renderer, world, NULL);
    MoteInteropReport report = mote_renderer_interop(renderer);
    assert_string_equal(report.path, "host import");
    assert_int_equal(report.bytes_copied, 0);
    assert_true(report.bytes_shared > COUNT * 40);
    uint16_t *again = draw(renderer, world, NULL);
    assert_memory_equal(host, again, BYTES); // bit for bit from run to run
    free(again);
    end_renderer(renderer);

    // The emulated CUDA backend in memory that Vulkan exports, on another device object.
    renderer = make_renderer(MOTE_SPLAT_AUTO);
    assert_non_null(mote_renderer_shared_memory(renderer));
    MoteWorld *on_cuda = make_splash("cuda", mote_renderer_shared_memory(renderer));
    uint16_t *shared = draw(renderer, on_cuda, NULL);
    report = mote_renderer_interop(renderer);
    assert_string_equal(report.path, "shared memory");
    assert_string_equal(report.order, renderer->device.info.exports_semaphores ? "timeline semaphore" : "host");
    assert_int_equal(report.bytes_copied, 0);
    assert_memory_equal(host, shared, BYTES);
    free(shared);
    mote_world_destroy(on_cuda);

    // The Vulkan backend on the renderer's own device: its buffers are the renderer's.
    MoteWorld *on_vulkan = make_splash("vulkan", mote_renderer_shared_memory(renderer));
    for (int frame = 0; frame < 2; frame++) { // a step between two pictures
        uint16_t *same = draw(renderer, on_vulkan, NULL);
        report = mote_renderer_interop(renderer);
        assert_string_equal(report.path, "same device");
        assert_int_equal(report.bytes_copied, 0);
        assert_true(report.bytes_shared > COUNT * 40);
        assert_true(frame == 1 || memcmp(host, same, BYTES) == 0);
        free(same);
        MUST(mote_world_step(on_vulkan, 1.0f / 240.0f));
    }
    mote_world_destroy(on_vulkan);

    // On a device of its own: copied. So are those of another renderer's.
    on_vulkan = make_splash("vulkan", NULL);
    uint16_t *apart = draw(renderer, on_vulkan, NULL);
    report = mote_renderer_interop(renderer);
    assert_string_equal(report.path, "staging");
    assert_true(report.bytes_copied > COUNT * 40 && strstr(report.why, "device") != NULL);
    assert_memory_equal(host, apart, BYTES);
    free(apart);
    mote_world_destroy(on_vulkan);
    MoteRenderer *another = make_renderer(MOTE_SPLAT_AUTO);
    on_vulkan = make_splash("vulkan", mote_renderer_shared_memory(another));
    apart = draw(renderer, on_vulkan, NULL);
    report = mote_renderer_interop(renderer);
    assert_string_equal(report.path, "staging");
    assert_string_equal(report.why, "the world is on another renderer's device");
    assert_memory_equal(host, apart, BYTES);
    free(apart);
    mote_world_destroy(on_vulkan);
    end_renderer(another);

    // CUDA in memory of its own: copied.
    on_cuda = make_splash("cuda", NULL);
    uint16_t *copied = draw(renderer, on_cuda, NULL);
    report = mote_renderer_interop(renderer);
    assert_string_equal(report.path, "staging");
    assert_true(report.bytes_copied > COUNT * 40 && report.why[0] != '\0');
    assert_memory_equal(host, copied, BYTES);
    free(copied);
    mote_world_destroy(on_cuda);
    end_renderer(renderer);

    MUST(mote_renderer_create(
        &(MoteRendererOptions){.device = MOTE_DEVICE_AUTO, .validate = true, .force_staging = true}, &renderer));
    uint16_t *staged = draw(renderer, world, NULL);
    assert_string_equal(mote_renderer_interop(renderer).path, "staging");
    assert_null(mote_renderer_shared_memory(renderer));
    assert_memory_equal(host, staged, BYTES);
    free(staged);
    end_renderer(renderer);
    free(host);
    mote_world_destroy(world);
}

// On one device the solver and the renderer follow each other by a timeline: a picture is read after the world has
// stepped on, grown or gone, and is that of the moment it was drawn at.
static void test_steps_behind_pictures(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *here = make_splash("cpu", NULL);
    MoteWorld *there = make_splash("vulkan", mote_renderer_shared_memory(renderer));
    const MoteRenderScene scene = splash_scene();
    const MoteVec3 point = {0, 0.8f, 0};
    const MoteParticles more = {.count = 1, .positions = &point, .mass = 0.125f, .phase = MOTE_PHASE_FLUID};
    uint16_t *pixels = malloc(BYTES);
    for (uint32_t frame = 0; frame < 6; frame++) {
        const MotePicture picture = {.width = WIDTH, .height = HEIGHT, .samples = 1 + frame % 2};
        MUST(mote_renderer_draw(renderer, there, &scene, &picture));
        assert_string_equal(mote_renderer_interop(renderer).order, "timeline semaphore");
        const uint64_t promised = renderer->interop.timeline->shared.value;
        assert_true(renderer->drawing && promised > 0);
        MUST(mote_world_step(there, 1.0f / 240.0f)); // the arrays that are being drawn
        if (frame == 3) {
            MUST(mote_world_add_particles(there, &more, NULL));
        }
        if (frame == 5) {
            mote_world_destroy(there);
        }
        MUST(mote_renderer_read_rgba16(renderer, pixels));
        assert_false(renderer->drawing);

        MUST(mote_renderer_draw(renderer, here, &scene, &picture));
        assert_string_equal(mote_renderer_interop(renderer).order, "host");
        assert_false(renderer->drawing);
        assert_memory_equal(pixels, renderer->pixels.mapped, BYTES);
        MUST(mote_world_step(here, 1.0f / 240.0f));
        if (frame == 3) {
            MUST(mote_world_add_particles(here, &more, NULL));
        }
    }
    free(pixels);
    mote_world_destroy(here);
    end_renderer(renderer);
}

// Compute and quads draw the same, but for pixels on outlines where the two round differently.
static void test_splat_methods_agree(void **state)
{
    (void)state;
    MoteWorld *world = make_splash("cpu", NULL);
    const char *views[] = {NULL, "particles", "ellipsoids"};
    for (int v = 0; v < 3; v++) {
        MoteRenderer *compute = make_renderer(MOTE_SPLAT_COMPUTE), *quads = make_renderer(MOTE_SPLAT_QUADS);
        uint16_t *a = draw(compute, world, views[v]), *b = draw(quads, world, views[v]);
        uint32_t different = 0;
        for (uint32_t i = 0; i < WIDTH * HEIGHT * 4; i++) {
            different += abs((int)a[i] - (int)b[i]) > 655 ? 1 : 0; // a hundredth
        }
        printf("view %d: %u of %d values differ by more than a hundredth\n", v, different, WIDTH * HEIGHT * 4);
        assert_true(different < WIDTH * HEIGHT * 4 / 200);
        free(a);
        free(b);
        end_renderer(compute);
        end_renderer(quads);
    }
    mote_world_destroy(world);
}

// A world that grows and shrinks between frames moves its arrays: imports must follow.
static void test_arrays_that_move(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_splash("cpu", NULL);
    free(draw(renderer, world, NULL));
    for (int round = 0; round < 12; round++) {
        MoteVec3 points[500];
        for (int i = 0; i < 500; i++) {
            points[i] = (MoteVec3){0.05f * (float)(i % 10) - 0.25f, 1.0f + 0.05f * (float)(i / 100),
                                   0.05f * (float)(i / 10 % 10) - 0.25f};
        }
        uint32_t first;
        const MoteParticles more = {.count = 500, .positions = points, .mass = 0.1f, .phase = MOTE_PHASE_FLUID};
        MUST(mote_world_add_particles(world, &more, &first));
        free(draw(renderer, world, NULL));
        MUST(mote_world_step(world, 0.002f));
        uint16_t *imported = draw(renderer, world, NULL);
        renderer->interop.force_staging = true;
        uint16_t *copied = draw(renderer, world, NULL);
        renderer->interop.force_staging = false;
        assert_memory_equal(imported, copied, BYTES);
        free(imported);
        free(copied);
        if (round % 3 == 2) {
            uint32_t ids[1000];
            for (uint32_t i = 0; i < 500; i++) {
                ids[i] = first + i;
            }
            MUST(mote_world_remove_particles(world, ids, 500));
        }
    }
    mote_world_destroy(world);
    end_renderer(renderer);
}

static void test_no_particles(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world;
    MUST(mote_world_create(&settings, &(MoteBackendOptions){.backend = "cpu"}, &world));
    for (uint32_t v = 0; mote_render_view_name(v) != NULL; v++) {
        if (strcmp(mote_render_view_name(v), "channel") != 0) {
            free(draw(renderer, world, mote_render_view_name(v)));
        }
    }
    mote_world_destroy(world);
    end_renderer(renderer);
}

// 200 frames of changing size and samples: the device's memory ends as it was after the first of each.
static void test_memory_stays_flat(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_splash("cpu", NULL);
    const MoteRenderScene scene = splash_scene();
    uint64_t early = 0;
    for (int frame = 0; frame < 200; frame++) {
        const MotePicture picture = {.width = frame % 50 == 49 ? 64 : 48,
                                     .height = 32,
                                     .samples = frame % 20 == 19 ? 2 : 1,
                                     .layers = frame % 10 == 9};
        MUST(mote_renderer_draw(renderer, world, &scene, &picture));
        if (frame == 50) {
            early = mote_renderer_interop(renderer).device_bytes;
        }
    }
    MUST(mote_renderer_draw(renderer, world, &scene, &(MotePicture){.width = 48, .height = 32, .samples = 1}));
    assert_int_equal(mote_renderer_interop(renderer).device_bytes, early);
    mote_world_destroy(world);
    end_renderer(renderer);
}

static void test_many_renderers(void **state)
{
    (void)state;
    MoteWorld *world = make_splash("cpu", NULL);
    const MoteRenderScene scene = splash_scene();
    for (int i = 0; i < 50; i++) {
        MoteRenderer *renderer;
        // Validation is slow to start; every fifth is enough.
        MUST(mote_renderer_create(&(MoteRendererOptions){.device = MOTE_DEVICE_AUTO, .validate = i % 5 == 0},
                                  &renderer));
        if (i % 10 == 0) {
            MUST(mote_renderer_draw(renderer, world, &scene, &(MotePicture){.width = 32, .height = 32, .samples = 1}));
        }
        end_renderer(renderer);
    }
    mote_world_destroy(world);
}

static void expect_failure(MoteResult result, MoteResult expected, const char *part)
{
    assert_int_equal(result, expected);
    if (strstr(mote_error_message(), part) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", mote_error_message(), part);
    }
}

static void test_clear_errors(void **state)
{
    (void)state;
    MoteRenderer *renderer;
    expect_failure(mote_renderer_create(&(MoteRendererOptions){.device = 99}, &renderer), MOTE_ERROR_UNAVAILABLE,
                   "no Vulkan device 99");
    assert_null(renderer);

    renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_splash("cpu", NULL);
    const MoteRenderScene scene = splash_scene();
    uint16_t pixels[4];
    float values[4];
    expect_failure(mote_renderer_read_rgba16(renderer, pixels), MOTE_ERROR_INPUT, "no picture");
    expect_failure(mote_renderer_read_layer(renderer, "depth", values), MOTE_ERROR_INPUT, "no picture");
    MotePicture picture = {.width = 0, .height = 10, .samples = 1};
    expect_failure(mote_renderer_draw(renderer, world, &scene, &picture), MOTE_ERROR_INPUT, "0 x 10 pixels");
    picture = (MotePicture){.width = 1u << 20, .height = 10, .samples = 1};
    expect_failure(mote_renderer_draw(renderer, world, &scene, &picture), MOTE_ERROR_INPUT, "expected 1 to");
    picture = (MotePicture){.width = 10, .height = 10, .samples = 0};
    expect_failure(mote_renderer_draw(renderer, world, &scene, &picture), MOTE_ERROR_INPUT, "samples");
    picture = (MotePicture){.width = 10, .height = 10, .samples = 1, .view = "speeed"};
    expect_failure(mote_renderer_draw(renderer, world, &scene, &picture), MOTE_ERROR_INPUT, "did you mean \"speed\"");
    picture = (MotePicture){.width = 10, .height = 10, .samples = 1, .view = "channel:heat"};
    expect_failure(mote_renderer_draw(renderer, world, &scene, &picture), MOTE_ERROR_INPUT, "heat");
    // More than the device has, whatever that is.
    const uint64_t before = renderer->device.info.memory_bytes;
    renderer->device.info.memory_bytes = (uint64_t)1 << 20;
    picture = (MotePicture){.width = 1000, .height = 1000, .samples = 1};
    expect_failure(mote_renderer_draw(renderer, world, &scene, &picture), MOTE_ERROR_MEMORY, "draw a smaller one");
    renderer->device.info.memory_bytes = before;
    // And it goes on working.
    free(draw(renderer, world, NULL));
    mote_world_destroy(world);
    end_renderer(renderer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_pixels_from_every_path),
        cmocka_unit_test(test_steps_behind_pictures),
        cmocka_unit_test(test_splat_methods_agree),
        cmocka_unit_test(test_arrays_that_move),
        cmocka_unit_test(test_no_particles),
        cmocka_unit_test(test_memory_stays_flat),
        cmocka_unit_test(test_many_renderers),
        cmocka_unit_test(test_clear_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
