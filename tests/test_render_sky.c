// SPDX-License-Identifier: MIT
// The sky: its light in closed form, its sun, its files.
#include "ray_fixture.h"

#include "image/image.h"

static void expect_color(const float *color, double r, double g, double b, double tolerance)
{
    const double expected[3] = {r, g, b};
    for (int k = 0; k < 3; k++) {
        if (fabs(color[k] - expected[k]) > tolerance * fmax(expected[k], 0.05)) {
            fail_msg("colour %g %g %g, expected %g %g %g", (double)color[0], (double)color[1], (double)color[2], r, g,
                     b);
        }
    }
}

// Under a sky of one colour and no sun, a matte ground sends back its albedo times that colour: the irradiance is pi
// times the radiance, wherever it comes from.
static void test_sky_of_one_color(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_dry_world();
    MoteRenderScene scene = make_dry_scene((MoteVec3){0, 1.5f, 3}, (MoteVec3){0, 1.5f, 0});
    scene.sky.kind = MOTE_SKY_COLOR;
    scene.sky.color = (MoteVec3){0.2f, 0.4f, 0.6f};
    scene.sky.brightness = 1.5f;
    scene.sky.sun_brightness = 0.0f;
    scene.ground.visible = true;
    scene.ground.color = (MoteVec3){0.5f, 0.25f, 1.0f};
    scene.ground.grid = 0.0f;
    float *colors = draw_layer(renderer, world, &scene, "color");
    expect_color(at(colors, WIDTH / 2, 5), 0.3, 0.6, 0.9, 0.002);
    expect_color(at(colors, WIDTH / 2, HEIGHT - 5), 0.15, 0.15, 0.9, 0.01);
    expect_color(at(colors, WIDTH / 2, HEIGHT / 2 + 1), 0.3, 0.6, 0.9, 0.02); // faded into the horizon
    free(colors);
    mote_world_destroy(world);
    end_renderer(renderer);
}

// It is brighter towards the sun than away from it, bluer above than at the horizon, warmer when the sun is low; and
// what a change of the sky made is gone when the change is undone.
static void test_clear_sky(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_dry_world();
    MoteRenderScene scene = make_dry_scene((MoteVec3){0, 1, 0}, (MoteVec3){0, 2.5f, 2});
    scene.sky.sun_azimuth = 0.0f;
    scene.sky.sun_elevation = 30.0f;
    float *towards = draw_layer(renderer, world, &scene, "color");
    scene.sky.sun_azimuth = 180.0f;
    float *away = draw_layer(renderer, world, &scene, "color");
    const float *sky = at(away, WIDTH / 2, 2), *by_sun = at(towards, WIDTH / 2, HEIGHT - 20);
    assert_true(by_sun[0] > 1.5f * at(away, WIDTH / 2, HEIGHT - 20)[0]);
    assert_true(sky[2] > 1.5f * sky[0] && sky[2] > 0.05f && sky[2] < 1.0f);
    scene.sky.sun_elevation = 3.0f;
    float *low = draw_layer(renderer, world, &scene, "color");
    assert_true(at(low, WIDTH / 2, HEIGHT - 2)[2] / at(low, WIDTH / 2, HEIGHT - 2)[0] <
                at(away, WIDTH / 2, HEIGHT - 2)[2] / at(away, WIDTH / 2, HEIGHT - 2)[0]);
    scene.sky.sun_elevation = 30.0f;
    float *again = draw_layer(renderer, world, &scene, "color");
    assert_memory_equal(again, away, (size_t)WIDTH * HEIGHT * 4 * sizeof *away);
    // In a picture of another size all images are new: the sky is made again.
    MUST(mote_renderer_draw(renderer, world, &scene, &(MotePicture){.width = 32, .height = 24, .samples = 2}));
    free(again);
    again = draw_layer(renderer, world, &scene, "color");
    assert_memory_equal(again, away, (size_t)WIDTH * HEIGHT * 4 * sizeof *away);
    free(towards);
    free(away);
    free(low);
    free(again);
    mote_world_destroy(world);
    end_renderer(renderer);
}

// The sun stands where its angles say.
static void test_sun_disc(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_dry_world();
    MoteRenderScene scene = make_dry_scene((MoteVec3){1, 2, 3}, (MoteVec3){2, 2, 3});
    scene.sky.sun_azimuth = 75.0f;
    scene.sky.sun_elevation = 10.0f;
    scene.sky.sun_size = 4.0f;
    float *colors = draw_layer(renderer, world, &scene, "color");
    const Camera camera = camera_of(&scene);
    const Vector sun = sun_of(&scene);
    uint32_t inside = 0;
    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t x = 0; x < WIDTH; x++) {
            const double off = acos(fmin(dot(unit(pixel_ray(&camera, x, y)), sun), 1.0)) * 180.0 / PI;
            assert_true(off > 1.5 || at(colors, x, y)[1] > 20.0f);
            assert_true(off < 2.5 || at(colors, x, y)[1] < 10.0f);
            inside += off < 1.5 ? 1 : 0;
        }
    }
    assert_true(inside > 50);
    free(colors);
    mote_world_destroy(world);
    end_renderer(renderer);
}

static char image_path[600];

// Under a name of its own each time: the renderer reads a file once.
static void write_panorama(const char *extension, uint32_t width, uint32_t height)
{
    snprintf(image_path, sizeof image_path, "%s/test_render_sky_%u.%s", MOTE_BINARY_DIR, width, extension);
    Image image;
    MUST(image_create(&image, width, height, 3));
    // Quarters around the directions +z (the middle), +x (left of it), -z and -x, dimmer below the horizon.
    const float quarters[4][3] = {{0.2f, 0.9f, 0.2f}, {0.9f, 0.1f, 0.1f}, {0.5f, 0.5f, 0.5f}, {0.1f, 0.2f, 0.9f}};
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            const double around = 0.5 - (x + 0.5) / width; // of a turn, from +z towards +x
            const uint32_t quarter = (uint32_t)floor(4.0 * (around + 1.0) + 0.5) % 4u;
            for (uint32_t c = 0; c < 3; c++) {
                image.pixels[((size_t)y * width + x) * 3 + c] = quarters[quarter][c] * (y < height / 2 ? 1.0f : 0.5f);
            }
        }
    }
    if (strcmp(extension, "png") == 0) {
        MUST(image_write_png(image_path, &image, 16));
    } else {
        ImageChannel channels[3];
        for (uint32_t c = 0; c < 3; c++) {
            channels[c] = (ImageChannel){.name = (const char *[]){"R", "G", "B"}[c],
                                         .type = IMAGE_FLOAT,
                                         .data = image.pixels + c,
                                         .pixel_stride = 3 * sizeof(float),
                                         .row_stride = (size_t)3 * width * sizeof(float)};
        }
        MUST(image_write_exr(image_path, width, height, channels, 3, NULL, 0));
    }
    image_destroy(&image);
}

static double srgb_to_linear(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

// What is seen above the horizon in a direction, at the middle of a picture.
static void expect_sky(MoteRenderer *renderer, MoteWorld *world, MoteRenderScene *scene, MoteVec3 to, const double *rgb)
{
    scene->camera.position = (MoteVec3){0, 0, 0};
    scene->camera.target = to;
    float *colors = draw_layer(renderer, world, scene, "color");
    expect_color(at(colors, WIDTH / 2, HEIGHT / 2), rgb[0], rgb[1], rgb[2], 0.003);
    free(colors);
}

static void test_sky_from_files(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_dry_world();
    const struct {
        const char *extension;
        uint32_t width, height;
        bool display; // values for display, not light
    } files[] = {{"exr", 64, 32, false}, {"exr", 1200, 600, false}, {"png", 256, 128, true}, {"exr", 8200, 64, false}};
    for (uint32_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        write_panorama(files[i].extension, files[i].width, files[i].height);
        MoteRenderScene scene = make_dry_scene((MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 1});
        scene.sky.kind = MOTE_SKY_IMAGE;
        scene.sky.image = image_path;
        scene.sky.sun_brightness = 0.0f;
        scene.sky.brightness = 2.0f;
        double colors[3][3] = {{0.2, 0.9, 0.2}, {0.9, 0.1, 0.1}, {0.5, 0.5, 0.5}};
        for (uint32_t k = 0; k < 9; k++) {
            double *value = &colors[k / 3][k % 3];
            *value = 2.0 * (files[i].display ? srgb_to_linear(*value) : *value);
        }
        scene.sky.image_rotation = 0.0f;
        expect_sky(renderer, world, &scene, (MoteVec3){0, 0.2f, 1}, colors[0]);
        expect_sky(renderer, world, &scene, (MoteVec3){1, 0.2f, 0}, colors[1]);
        expect_sky(renderer, world, &scene, (MoteVec3){0, 0.2f, -1}, colors[2]);
        scene.sky.image_rotation = 90.0f; // what was at +z is at +x now
        expect_sky(renderer, world, &scene, (MoteVec3){1, 0.2f, 0}, colors[0]);
        remove(image_path);
    }
    mote_world_destroy(world);
    end_renderer(renderer);
}

static void test_sky_file_errors(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_dry_world();
    MoteRenderScene scene = make_dry_scene((MoteVec3){0, 1, 3}, (MoteVec3){0, 1, 0});
    const MotePicture picture = {.width = WIDTH, .height = HEIGHT, .samples = 1, .layers = true};
    float *before = draw_layer(renderer, world, &scene, "color");
    scene.sky.kind = MOTE_SKY_IMAGE;
    const char *const files[] = {"", "no_such_sky.exr", __FILE__};
    const char *const told[] = {"none is named", "no_such_sky.exr", "test_render_scene.c"};
    for (uint32_t i = 0; i < 3; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s%s", i == 2 ? MOTE_SOURCE_DIR "/tests/" : "",
                 i == 2 ? "test_render_scene.c" : files[i]);
        scene.sky.image = path;
        assert_int_not_equal(mote_renderer_draw(renderer, world, &scene, &picture), MOTE_OK);
        assert_non_null(strstr(mote_error_message(), told[i]));
    }
    scene.sky.kind = MOTE_SKY_ANALYTIC;
    float *after = draw_layer(renderer, world, &scene, "color");
    assert_memory_equal(after, before, (size_t)WIDTH * HEIGHT * 4 * sizeof *after);
    free(before);
    free(after);
    mote_world_destroy(world);
    end_renderer(renderer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sky_of_one_color), cmocka_unit_test(test_clear_sky),
        cmocka_unit_test(test_sun_disc),         cmocka_unit_test(test_sky_from_files),
        cmocka_unit_test(test_sky_file_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
