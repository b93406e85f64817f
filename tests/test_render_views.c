// SPDX-License-Identifier: MIT
// Debug views, and the last passes of every picture: sum, tone curve, edges.
#include "render_fixture.h"

#include "expect.h"
#include "render/frame.h"
#include "render/passes/views.h"
#include "render_views.h"

enum { WIDTH = 160, HEIGHT = 120, PIXELS = WIDTH * HEIGHT };

typedef struct Pixel {
    uint16_t r, g, b, a;
} Pixel;

static double srgb_encode(double x)
{
    return x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1.0 / 2.4) - 0.055;
}

static double srgb_decode(double x)
{
    return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

// ---- The last passes ---------------------------------------------------------------------------------------

// Puts colours into the `color` image: through the image of sums, which holds floats, and a blit that rounds them.
static void fill_color(MoteRenderer *renderer, const Buffer *colors, VkCommandBuffer commands)
{
    const VkImageSubresourceLayers whole = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    const VkBufferImageCopy copy = {.imageSubresource = whole, .imageExtent = {WIDTH, HEIGHT, 1}};
    const VkImage sums = renderer->images[RESOURCE_accumulated].handle, color = renderer->images[RESOURCE_color].handle;
    vkCmdCopyBufferToImage(commands, colors->handle, sums, VK_IMAGE_LAYOUT_GENERAL, 1, &copy);
    device_full_barrier(commands);
    const VkImageBlit blit = {.srcSubresource = whole,
                              .srcOffsets = {{0, 0, 0}, {WIDTH, HEIGHT, 1}},
                              .dstSubresource = whole,
                              .dstOffsets = {{0, 0, 0}, {WIDTH, HEIGHT, 1}}};
    vkCmdBlitImage(commands, sums, VK_IMAGE_LAYOUT_GENERAL, color, VK_IMAGE_LAYOUT_GENERAL, 1, &blit,
                   VK_FILTER_NEAREST);
    device_full_barrier(commands);
}

typedef struct LastPasses {
    uint32_t samples;
    bool antialias;
    float exposure, saturation;
} LastPasses;

// What accumulate, tonemap and finish make of `colors` (4 floats a pixel), each sample the same.
static void run_last_passes(MoteRenderer *renderer, const LastPasses *how, const float *colors, Pixel *out)
{
    MUST(renderer_resize(renderer, WIDTH, HEIGHT, 1, 0));
    Buffer upload;
    MUST(buffer_create(&renderer->device, "colours", BUFFER_UPLOAD, PIXELS * 4 * sizeof(float), &upload));
    memcpy(upload.mapped, colors, PIXELS * 4 * sizeof(float));
    buffer_flush(&renderer->device, &upload);
    const MotePicture picture = {.width = WIDTH, .height = HEIGHT, .samples = how->samples};
    const MoteRenderScene scene = {
        .picture = {.antialias = how->antialias, .saturation = how->saturation, .contrast = 1.0f}};
    renderer->frame = (Frame){.view = VIEW_liquid, .picture = &picture, .scene = &scene};
    FrameConstants *c = &renderer->frame.constants;
    c->width = WIDTH;
    c->height = HEIGHT;
    c->pixels = renderer->pixels.address;
    c->exposure = how->exposure;
    c->sample_count = how->samples;

    MUST(device_begin(&renderer->device));
    const VkCommandBuffer commands = renderer->device.commands;
    fill_color(renderer, &upload, commands);
    for (uint32_t sample = 0; sample < how->samples; sample++) {
        renderer->frame.sample = sample;
        MUST(frame_record_pass(renderer, PASS_accumulate, commands));
        device_full_barrier(commands);
    }
    MUST(frame_record_pass(renderer, PASS_tonemap, commands));
    device_full_barrier(commands);
    MUST(frame_record_pass(renderer, PASS_antialias, commands));
    device_full_barrier(commands);
    frame_flush_constants(renderer);
    MUST(device_submit(&renderer->device));
    buffer_invalidate(&renderer->device, &renderer->pixels);
    memcpy(out, renderer->pixels.mapped, PIXELS * sizeof *out);
    buffer_destroy(&renderer->device, &upload);
    renderer->frame.picture = NULL;
    renderer->frame.scene = NULL;
}

static void test_equal_samples(void **state)
{
    MoteRenderer *renderer = *state;
    static float colors[PIXELS * 4];
    static Pixel one[PIXELS], many[PIXELS];
    for (size_t i = 0; i < PIXELS * 4; i++) {
        colors[i] = (float)(i * 2654435761u % 4096u) / 1024.0f;
    }
    run_last_passes(renderer, &(LastPasses){1, false, 1.0f, 1.0f}, colors, one);
    for (uint32_t samples = 2; samples <= 7; samples += 5) {
        memset(many, 0, sizeof many);
        run_last_passes(renderer, &(LastPasses){samples, true, 1.0f, 1.0f}, colors, many);
        for (size_t i = 0; i < PIXELS; i++) {
            assert_true(abs(one[i].r - many[i].r) <= 1 && abs(one[i].g - many[i].g) <= 1 &&
                        abs(one[i].b - many[i].b) <= 1 && one[i].a == 65535 && many[i].a == 65535);
        }
    }
    assert_true(one[0].r != one[1].r);
}

// The curve on a ramp of greys: from black to white, rising, mid-grey where it was; colours keep their order.
static void test_tone_curve(void **state)
{
    MoteRenderer *renderer = *state;
    static float colors[PIXELS * 4];
    static Pixel pixels[PIXELS];
    for (uint32_t i = 0; i < PIXELS; i++) { // black, mid-grey, then 14 stops
        const float grey = i == 0 ? 0.0f : i == 1 ? 0.18f : 1e-3f * exp2f(14.0f * (float)i / (PIXELS - 1));
        for (int c = 0; c < 4; c++) {
            colors[4 * i + (uint32_t)c] = grey;
        }
    }
    run_last_passes(renderer, &(LastPasses){1, false, 1.0f, 1.0f}, colors, pixels);
    assert_true(pixels[0].r == 0 && pixels[0].g == 0 && pixels[0].b == 0);
    expect_near(srgb_decode(pixels[1].r / 65535.0), 0.18, 1e-3, "mid-grey");
    for (uint32_t i = 3; i < PIXELS; i++) {
        assert_true(pixels[i].r == pixels[i].g && pixels[i].g == pixels[i].b && pixels[i].r >= pixels[i - 1].r);
    }
    assert_true(pixels[PIXELS / 2].r > pixels[PIXELS / 4].r && pixels[PIXELS - 1].r == 65535);

    // A stop more of exposure is twice the light; without saturation all is grey; what is no number is black.
    const float sky[4] = {0.2f, 0.45f, 1.0f, 1.0f}, bad[4] = {NAN, INFINITY, -1.0f, 1.0f};
    for (uint32_t i = 0; i < PIXELS; i++) {
        memcpy(colors + 4 * i, i == 0 ? bad : sky, sizeof sky);
    }
    Pixel expected;
    run_last_passes(renderer, &(LastPasses){1, false, 2.0f, 1.0f}, colors, pixels);
    expected = pixels[5];
    assert_true(pixels[0].r == 0 && pixels[0].b == 0);
    assert_true(pixels[5].b > pixels[5].g && pixels[5].g > pixels[5].r); // blue stays blue, by a good part
    assert_true(srgb_decode(pixels[5].b / 65535.0) > 2.0 * srgb_decode(pixels[5].r / 65535.0));
    for (uint32_t i = 0; i < 4 * PIXELS; i++) {
        colors[i] *= 2.0f;
    }
    run_last_passes(renderer, &(LastPasses){1, false, 1.0f, 1.0f}, colors, pixels);
    assert_true(abs(pixels[5].r - expected.r) <= 16 && abs(pixels[5].g - expected.g) <= 16 &&
                abs(pixels[5].b - expected.b) <= 16);
    run_last_passes(renderer, &(LastPasses){1, false, 1.0f, 0.0f}, colors, pixels);
    assert_true(pixels[5].r == pixels[5].g && pixels[5].g == pixels[5].b && pixels[5].r > 0);
    assert_int_equal(mote_renderer_validation_messages(renderer), 0);
}

// A slanted hard edge between two greys.
static void test_edges(void **state)
{
    MoteRenderer *renderer = *state;
    static float colors[PIXELS * 4];
    static Pixel hard[PIXELS], smooth[PIXELS];
    for (uint32_t i = 0; i < PIXELS; i++) {
        const float x = (float)(i % WIDTH), y = (float)(i / WIDTH);
        for (uint32_t c = 0; c < 4; c++) {
            colors[4 * i + c] = x > 60.3f + 0.21f * y ? 0.6f : 0.05f;
        }
    }
    run_last_passes(renderer, &(LastPasses){1, false, 1.0f, 1.0f}, colors, hard);
    run_last_passes(renderer, &(LastPasses){1, true, 1.0f, 1.0f}, colors, smooth);
    const uint16_t dark = hard[0].r, bright = hard[WIDTH - 1].r;
    assert_true(dark < bright);
    uint32_t between = 0;
    for (uint32_t i = 0; i < PIXELS; i++) {
        assert_true(hard[i].r == dark || hard[i].r == bright);
        assert_true(smooth[i].r >= dark && smooth[i].r <= bright && smooth[i].a == 65535);
        between += smooth[i].r > dark + 1000 && smooth[i].r < bright - 1000;
        const double from_edge = i % WIDTH - (60.3 + 0.21 * (i / WIDTH));
        if (fabs(from_edge) > 2.0) {
            assert_int_equal(smooth[i].r, hard[i].r); // a flat area is not touched
        }
    }
    assert_true(between > HEIGHT / 2);
    // The edge is where it was: each row has as much light as before, within half a pixel's.
    double straighter = 0.0, stairs = 0.0;
    for (uint32_t y = 10; y + 10 < HEIGHT; y++) {
        double light[2] = {0.0, 0.0};
        for (uint32_t x = 0; x < WIDTH; x++) {
            light[0] += (double)(hard[y * WIDTH + x].r - dark) / (bright - dark);
            light[1] += (double)(smooth[y * WIDTH + x].r - dark) / (bright - dark);
        }
        expect_near(light[1], light[0], 0.75, "light of a row");
        const double exact = WIDTH - (60.3 + 0.21 * y) - 0.5; // area right of the edge, with pixel centres at halves
        stairs += fabs(light[0] - exact);
        straighter += fabs(light[1] - exact);
    }
    assert_true(straighter < 0.6 * stairs);
    assert_int_equal(mote_renderer_validation_messages(renderer), 0);
}

// ---- Views -------------------------------------------------------------------------------------------------

typedef struct ViewTest {
    MoteWorld *world;
    MoteRenderScene scene;
    MoteRenderCollider colliders[2];
    Pixel pixels[PIXELS];
} ViewTest;

// A block of water of two phases, with channels, a container around it and a ball in front of its right half.
static void make_view_test(ViewTest *test)
{
    enum { SIDE = 8, COUNT = SIDE * SIDE * SIDE };
    MoteVec3 points[COUNT], velocities[COUNT];
    float heat[COUNT], flow[3 * COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        points[i].x = 0.1f * (float)(i % SIDE) - 0.35f;
        points[i].y = 0.1f * (float)(i / SIDE % SIDE) - 0.35f;
        points[i].z = 0.1f * (float)(i / SIDE / SIDE) - 0.35f;
        velocities[i] = (MoteVec3){0.0f, (float)(i % SIDE) / SIDE, 0.0f};
        heat[i] = (float)i;
        flow[3 * i] = (float)i;
        flow[3 * i + 1] = flow[3 * i + 2] = 1.0f;
    }
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.1f;
    MUST(mote_world_create(&settings, &(MoteBackendOptions){.backend = "cpu"}, &test->world));
    for (uint32_t phase = 0; phase < 2; phase++) {
        const MoteParticles half = {.count = COUNT / 2,
                                    .positions = points + phase * COUNT / 2,
                                    .velocities = velocities + phase * COUNT / 2,
                                    .mass = 1.0f,
                                    .phase = MOTE_PHASE_FLUID | phase};
        MUST(mote_world_add_particles(test->world, &half, NULL));
    }
    MUST(mote_world_add_channel(test->world, "heat", 1));
    MUST(mote_world_add_channel(test->world, "flow", 3));
    MUST(mote_world_write_channel(test->world, "heat", heat));
    MUST(mote_world_write_channel(test->world, "flow", flow));
    test->scene = make_scene((MoteVec3){0.9f, 0.6f, 1.8f}, (MoteVec3){0.0f, 0.0f, 0.0f}, 45.0f);
    const MoteQuaternion upright = {0.0f, 0.0f, 0.0f, 1.0f};
    test->colliders[0] = (MoteRenderCollider){.collider = {.kind = MOTE_COLLIDER_BOX,
                                                           .inside_out = true,
                                                           .half_size = {0.45f, 0.45f, 0.45f},
                                                           .to = {{0.0f, 0.0f, 0.0f}, upright}},
                                              .look = MOTE_LOOK_HIDDEN};
    test->colliders[1] = (MoteRenderCollider){
        .collider = {.kind = MOTE_COLLIDER_SPHERE, .radius = 0.2f, .to = {{0.45f, 0.1f, 0.6f}, upright}},
        .look = MOTE_LOOK_SOLID};
    test->scene.liquid.smoothing = MOTE_SMOOTHING_NARROW_RANGE;
    test->scene.colliders = test->colliders;
    test->scene.collider_count = 2;
}

static void draw(MoteRenderer *renderer, ViewTest *test, const char *view, uint32_t samples)
{
    const MotePicture picture = {.width = WIDTH, .height = HEIGHT, .samples = samples, .view = view};
    MUST(mote_renderer_draw(renderer, test->world, &test->scene, &picture));
    MUST(mote_renderer_read_rgba16(renderer, (uint16_t *)test->pixels));
}

static uint32_t differences(const Pixel *a, const Pixel *b)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < PIXELS; i++) {
        count += memcmp(&a[i], &b[i], sizeof *a) != 0;
    }
    return count;
}

static void test_every_view(void **state)
{
    MoteRenderer *renderer = *state;
    ViewTest *test = calloc(1, sizeof *test);
    Pixel *last = calloc(PIXELS, sizeof *last), *empty = calloc(PIXELS, sizeof *empty);
    assert_true(test != NULL && last != NULL && empty != NULL);
    make_view_test(test);
    for (uint32_t v = 0; mote_render_view_name(v) != NULL; v++) {
        const char *name = mote_render_view_name(v);
        // Of which there is none here: test_render_foam.c, test_render_golden.c, test_render_smoke.c.
        if (strncmp(name, "foam", 4) == 0 || strncmp(name, "smoke", 5) == 0) {
            continue;
        }
        const char *views[] = {strcmp(name, "channel") == 0 ? "channel:heat" : name, "channel:flow"};
        for (uint32_t k = 0; k < (strcmp(name, "channel") == 0 ? 2u : 1u); k++) {
            test->scene.liquid.visible = false; // nothing but the scene and the legend
            draw(renderer, test, views[k], 1);
            memcpy(empty, test->pixels, PIXELS * sizeof *empty);
            test->scene.liquid.visible = true;
            draw(renderer, test, views[k], 1);
            const uint32_t drawn = differences(test->pixels, empty), changed = differences(test->pixels, last);
            if (drawn < PIXELS / 20 || changed < PIXELS / 40) {
                fail_msg("view %s: the liquid changes %u pixels, and %u are not as in the view before it", views[k],
                         drawn, changed);
            }
            memcpy(last, test->pixels, PIXELS * sizeof *last);
            draw(renderer, test, views[k], 1);
            assert_int_equal(differences(test->pixels, last), 0); // the same again, bit for bit
            draw(renderer, test, views[k], 3);
            assert_true(differences(test->pixels, last) > 100); // jittered samples
            assert_int_equal(mote_renderer_validation_messages(renderer), 0);
        }
    }
    mote_world_destroy(test->world);
    free(test);
    free(last);
    free(empty);
}

// Three particles far apart: one of 1 m/s in the middle of the picture, a fast one that sets the range, one at rest.
static MoteWorld *make_three(const char *backend)
{
    const MoteVec3 points[] = {{0.0f, 0.0f, 0.0f}, {0.5f, 0.0f, 0.0f}, {-0.5f, 0.0f, 0.0f}};
    const MoteVec3 velocities[] = {{0.0f, 0.0f, 1.0f}, {0.0f, -1.95f, 0.0f}, {0.0f, 0.0f, 0.0f}};
    MoteWorld *world;
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.2f;
    MUST(mote_world_create(&settings, &(MoteBackendOptions){.backend = backend}, &world));
    const MoteParticles particles = {
        .count = 3, .positions = points, .velocities = velocities, .mass = 1.0f, .phase = MOTE_PHASE_FLUID};
    MUST(mote_world_add_particles(world, &particles, NULL));
    return world;
}

// The middle one's colour is the map's, darker by a factor that the lamp's direction gives; solids hide what is behind
// them. The host may read the arrays in place (cpu) or not (cuda).
static void test_color_of_speed(void **state)
{
    MoteRenderer *renderer = *state;
    enum { W = 161, H = 121, MIDDLE = H / 2 * W + W / 2 };
    static Pixel pixels[W * H], others[W * H];
    MoteWorld *world = make_three("cpu"), *copied = make_three("cuda");
    MoteRenderScene scene = make_scene((MoteVec3){0.0f, 0.0f, 3.0f}, (MoteVec3){0.0f, 0.0f, 0.0f}, 30.0f);
    scene.picture.antialias = false;
    scene.picture.exposure = 1.0f; // must not matter
    const MotePicture picture = {.width = W, .height = H, .samples = 1, .view = "speed"};
    MUST(mote_renderer_draw(renderer, copied, &scene, &picture));
    MUST(mote_renderer_read_rgba16(renderer, (uint16_t *)others));
    MUST(mote_renderer_draw(renderer, world, &scene, &picture));
    MUST(mote_renderer_read_rgba16(renderer, (uint16_t *)pixels));
    assert_memory_equal(pixels, others, sizeof pixels);
    const double found[3] = {pixels[MIDDLE].r / 65535.0, pixels[MIDDLE].g / 65535.0, pixels[MIDDLE].b / 65535.0};
    const double shade = 0.3 + 0.7 / sqrt(0.4 * 0.4 + 0.6 * 0.6 + 1.0); // of a normal towards the eye
    for (uint32_t c = 0; c < 3; c++) {
        const double expected = srgb_encode(shade * srgb_decode(map_color(MAP_SEQUENTIAL, c, 0.5f)));
        expect_near(found[c], expected, 2e-3, "a component of the colour of 1 m/s, of 0 to 2");
    }

    // Half a metre at this distance is 0.5 / 3 of the focal length.
    const double focal = 0.5 * H / tan(15.0 * 3.14159265358979323846 / 180.0);
    const int offset = (int)lround(focal * 0.5 / 3.0);
    const Pixel fast = pixels[MIDDLE + offset], slow = pixels[MIDDLE - offset];
    assert_true(fast.r > 45000 && fast.g > 45000 && fast.b < 30000);   // yellow
    assert_true(slow.r > slow.g && slow.b > slow.r && slow.b < 30000); // violet

    MoteRenderCollider ball = {.collider = {.kind = MOTE_COLLIDER_SPHERE,
                                            .radius = 0.2f,
                                            .to = {{-0.45f, 0.0f, 0.5f}, {0.0f, 0.0f, 0.0f, 1.0f}}},
                               .look = MOTE_LOOK_SOLID};
    scene.colliders = &ball;
    scene.collider_count = 1;
    for (int behind = 0; behind < 2; behind++) {
        ball.collider.to.position.z = behind ? -0.5f : 0.5f;
        MUST(mote_renderer_draw(renderer, world, &scene, &picture));
        MUST(mote_renderer_read_rgba16(renderer, (uint16_t *)pixels));
        assert_int_equal(memcmp(&pixels[MIDDLE - offset], &slow, sizeof slow) == 0, behind);
    }
    assert_int_equal(mote_renderer_validation_messages(renderer), 0);
    mote_world_destroy(world);
    mote_world_destroy(copied);
}

// Pixels that are orange as the lines of containers are, and how strongly the strongest is.
static uint32_t count_orange(const Pixel *pixels, int *strongest)
{
    uint32_t count = 0;
    *strongest = 0;
    for (uint32_t i = 0; i < PIXELS; i++) {
        const int orange = pixels[i].r - pixels[i].b;
        count += orange > 2000;
        *strongest = orange > *strongest ? orange : *strongest;
    }
    return count;
}

static void test_lines(void **state)
{
    MoteRenderer *renderer = *state;
    ViewTest *test = calloc(1, sizeof *test);
    Pixel *hidden = calloc(PIXELS, sizeof *hidden);
    assert_true(test != NULL && hidden != NULL);
    make_view_test(test);
    test->scene.picture.antialias = false;
    test->scene.materials = &(MoteRenderMaterial){.color = {0.05f, 0.1f, 0.8f}, .absorption = 1.0f};
    test->scene.material_count = 1;
    test->scene.collider_count = 1;
    int strongest = 0, faint = 0;
    draw(renderer, test, "colliders", 1);
    assert_true(count_orange(test->pixels, &strongest) > 200);
    // Inside a large ball it is fainter, but there.
    test->scene.collider_count = 2;
    test->colliders[1].collider.radius = 0.9f;
    test->colliders[1].collider.to.position = (MoteVec3){0.0f, 0.0f, 0.0f};
    draw(renderer, test, "colliders", 1);
    const uint32_t seen = count_orange(test->pixels, &faint);
    if (seen < 200 || strongest < 30000 || faint > strongest / 2) {
        fail_msg("%u pixels of hidden lines, at most %d orange; %d where they are not hidden", seen, faint, strongest);
    }

    // In the finished picture only what looks like a wire frame is drawn so; each kind of collider is.
    test->scene.collider_count = 1;
    test->colliders[0].collider.half_size = (MoteVec3){0.45f, 0.45f, 0.45f};
    test->colliders[0].collider.radius = 0.4f;
    for (uint32_t kind = MOTE_COLLIDER_PLANE; kind <= MOTE_COLLIDER_CAPSULE; kind++) {
        test->colliders[0].collider.kind = kind;
        test->colliders[0].look = MOTE_LOOK_HIDDEN;
        draw(renderer, test, "liquid", 1);
        memcpy(hidden, test->pixels, PIXELS * sizeof *hidden);
        test->colliders[0].look = MOTE_LOOK_WIREFRAME;
        draw(renderer, test, "liquid", 1);
        assert_true(differences(test->pixels, hidden) > 300);
        draw(renderer, test, "depth", 1); // an image that is measured has no lines
        memcpy(hidden, test->pixels, PIXELS * sizeof *hidden);
        test->scene.collider_count = 0;
        draw(renderer, test, "depth", 1);
        assert_int_equal(differences(test->pixels, hidden), 0);
        test->scene.collider_count = 1;
    }
    assert_int_equal(mote_renderer_validation_messages(renderer), 0);
    mote_world_destroy(test->world);
    free(test);
    free(hidden);
}

// Values that a colour cannot stand for, and pictures too small for anything.
static void test_odd_cases(void **state)
{
    MoteRenderer *renderer = *state;
    ViewTest *test = calloc(1, sizeof *test);
    float *values = calloc(512, sizeof *values);
    assert_true(test != NULL && values != NULL);
    make_view_test(test);
    draw(renderer, test, "channel:heat", 1);
    for (uint32_t i = 0; i < 512; i++) {
        values[i] = NAN;
    }
    MUST(mote_world_write_channel(test->world, "heat", values));
    draw(renderer, test, "channel:heat", 1);
    uint32_t magenta = 0;
    for (uint32_t i = 0; i < PIXELS; i++) {
        magenta += test->pixels[i].r > 20000 && test->pixels[i].g < 5000 && test->pixels[i].b > 20000;
    }
    assert_true(magenta > PIXELS / 20);
    for (uint32_t i = 0; i < 512; i++) {
        values[i] = 7.0f; // all the same: the middle of the map
    }
    MUST(mote_world_write_channel(test->world, "heat", values));
    draw(renderer, test, "channel:heat", 1);
    const Legend legend = view_legend(renderer);
    expect_near(legend.lowest, 6.65, 1e-4, "the range's beginning");
    expect_near(legend.highest, 7.35, 1e-4, "the range's end");

    const MotePicture wrong = {.width = WIDTH, .height = HEIGHT, .samples = 1, .view = "channel:cold"};
    assert_int_equal(mote_renderer_draw(renderer, test->world, &test->scene, &wrong), MOTE_ERROR_INPUT);
    const uint32_t sizes[][2] = {{1, 1}, {3, 200}, {200, 3}, {33, 31}, {2000, 9}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (uint32_t v = 0; mote_render_view_name(v) != NULL; v++) {
            const char *name = mote_render_view_name(v);
            const MotePicture picture = {.width = sizes[i][0],
                                         .height = sizes[i][1],
                                         .samples = 1,
                                         .view = strcmp(name, "channel") == 0 ? "channel:heat" : name};
            MUST(mote_renderer_draw(renderer, test->world, &test->scene, &picture));
        }
    }
    assert_int_equal(mote_renderer_validation_messages(renderer), 0);
    mote_world_destroy(test->world);
    free(test);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_samples), cmocka_unit_test(test_tone_curve),     cmocka_unit_test(test_edges),
        cmocka_unit_test(test_every_view),    cmocka_unit_test(test_color_of_speed), cmocka_unit_test(test_lines),
        cmocka_unit_test(test_odd_cases),
    };
    return cmocka_run_group_tests(tests, renderer_set_up, renderer_tear_down);
}
