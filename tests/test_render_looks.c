// SPDX-License-Identifier: MIT
// What looks are made of: patterns of the ground against their means, tone curves and contrast against their formulas
// in double precision, skies that are made, and light that liquids scatter.
#include "ray_fixture.h"

// Seen straight from above, lit evenly by a sky of one colour alone: a pixel shows the ground's albedo.
static MoteRenderScene even_ground(float height)
{
    MoteRenderScene scene = make_dry_scene((MoteVec3){0.37f, height, 0.21f}, (MoteVec3){0.37f, 0, 0.2f});
    scene.sky.kind = MOTE_SKY_COLOR;
    scene.sky.color = (MoteVec3){1, 1, 1};
    scene.sky.brightness = 1.0f;
    scene.sky.sun_brightness = 0.0f;
    scene.ground.visible = true;
    scene.ground.fade = 1e5f;
    scene.ground.color = (MoteVec3){0.6f, 0.6f, 0.6f};
    scene.ground.grid_color = (MoteVec3){0.2f, 0.2f, 0.2f};
    scene.ground.grid = 0.25f;
    return scene;
}

typedef struct Spread {
    double mean, least, most;
} Spread;

static Spread spread_of(MoteRenderer *renderer, MoteWorld *world, const MoteRenderScene *scene)
{
    float *colors = draw_layer(renderer, world, scene, "color");
    Spread spread = {0.0, INFINITY, -INFINITY};
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        const double value = (double)colors[4 * i + 1];
        spread.mean += value / (WIDTH * HEIGHT);
        spread.least = fmin(spread.least, value);
        spread.most = fmax(spread.most, value);
    }
    free(colors);
    return spread;
}

// Near, both colours are there, half and half. From far away all is their mean: nothing shimmers.
static void test_checker_keeps_its_mean(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_dry_world();
    MoteRenderScene scene = even_ground(4.0f);
    scene.ground.pattern = MOTE_GROUND_CHECKER;
    const Spread near = spread_of(renderer, world, &scene);
    assert_true(fabs(near.least - 0.2) < 0.004 && fabs(near.most - 0.6) < 0.006);
    assert_true(fabs(near.mean - 0.4) < 0.02);
    scene = even_ground(4000.0f);
    scene.ground.pattern = MOTE_GROUND_CHECKER;
    const Spread far = spread_of(renderer, world, &scene);
    assert_true(far.least > 0.385 && far.most < 0.415 && fabs(far.mean - 0.4) < 0.004);
    mote_world_destroy(world);
}

// Every pattern has details near the eye, none that a pixel cannot hold, and about the ground's brightness.
static void test_patterns(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_dry_world();
    for (int pattern = MOTE_GROUND_TILES; pattern <= MOTE_GROUND_SAND; pattern++) {
        MoteRenderScene scene = even_ground(1.5f);
        scene.ground.pattern = (MoteGroundPattern)pattern;
        const Spread near = spread_of(renderer, world, &scene);
        scene = even_ground(3000.0f);
        scene.ground.pattern = (MoteGroundPattern)pattern;
        const Spread far = spread_of(renderer, world, &scene);
        if (near.most - near.least < 0.05 || far.most - far.least > 0.03 || far.mean < 0.3 || far.mean > 0.65) {
            fail_msg("pattern %d: %g to %g near, %g to %g far, mean %g", pattern, near.least, near.most, far.least,
                     far.most, far.mean);
        }
    }
    mote_world_destroy(world);
}

// ---- From light to a screen ----

static double shown_green(MoteRenderer *renderer, MoteWorld *world, const MoteRenderScene *scene, double rgb[3])
{
    draw(renderer, world, scene);
    uint16_t *pixels = malloc((size_t)WIDTH * HEIGHT * 4 * sizeof *pixels);
    MUST(mote_renderer_read_rgba16(renderer, pixels));
    for (int k = 0; k < 3; k++) {
        rgb[k] = pixels[4 * (WIDTH * (HEIGHT / 2) + WIDTH / 2) + (uint32_t)k] / 65535.0;
    }
    free(pixels);
    return rgb[1];
}

static double srgb(double linear)
{
    return linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1.0 / 2.4) - 0.055;
}

static void agx(const double linear[3], double out[3])
{
    static const double inset[3][3] = {{0.842479062253094, 0.0784335999999992, 0.0792237451477643},
                                       {0.0423282422610123, 0.878468636469772, 0.0791661274605434},
                                       {0.0423756549057051, 0.0784336, 0.879142973793104}};
    static const double outset[3][3] = {{1.19687900512017, -0.0980208811401368, -0.0990297440797205},
                                        {-0.0528968517574562, 1.15190312990417, -0.0989611768448433},
                                        {-0.0529716355144438, -0.0980434501171241, 1.15107367264116}};
    double curve[3];
    for (int row = 0; row < 3; row++) {
        double sum = 0.0;
        for (int k = 0; k < 3; k++) {
            sum += inset[row][k] * linear[k];
        }
        const double x = (fmin(fmax(log2(fmax(sum, 1e-10)), -12.47393), 4.026069) + 12.47393) / (4.026069 + 12.47393);
        curve[row] = 15.5 * pow(x, 6) - 40.14 * pow(x, 5) + 31.96 * pow(x, 4) - 6.868 * pow(x, 3) + 0.4298 * x * x +
                     0.1191 * x - 0.00232;
    }
    for (int row = 0; row < 3; row++) {
        double sum = 0.0;
        for (int k = 0; k < 3; k++) {
            sum += outset[row][k] * curve[k];
        }
        out[row] = srgb(pow(fmin(fmax(sum, 0.0), 1.0), 2.2));
    }
}

static void test_agx(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_dry_world();
    MoteRenderScene scene = make_dry_scene((MoteVec3){0, 1, 0}, (MoteVec3){0, 3, 1});
    scene.sky.kind = MOTE_SKY_COLOR;
    scene.sky.brightness = 1.0f;
    scene.sky.sun_elevation = -80.0f;
    scene.picture.saturation = 1.0f;
    scene.picture.tone = MOTE_TONE_AGX;
    static const MoteVec3 lights[] = {{0.18f, 0.18f, 0.18f}, {0.9f, 0.1f, 0.05f}, {8, 4, 1}, {0.01f, 0.02f, 0.3f}};
    for (int i = 0; i < 4; i++) {
        scene.sky.color = lights[i];
        double found[3], expected[3];
        shown_green(renderer, world, &scene, found);
        agx((const double[3]){(double)lights[i].x, (double)lights[i].y, (double)lights[i].z}, expected);
        for (int k = 0; k < 3; k++) {
            if (fabs(found[k] - expected[k]) > 0.004) {
                fail_msg("light %d, component %d: %g, expected %g", i, k, found[k], expected[k]);
            }
        }
    }
    mote_world_destroy(world);
}

// Mid-grey stays where it is; a stop above it becomes `contrast` stops, and so does a stop below.
static void test_contrast(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_dry_world();
    MoteRenderScene scene = make_dry_scene((MoteVec3){0, 1, 0}, (MoteVec3){0, 3, 1});
    scene.sky.kind = MOTE_SKY_COLOR;
    scene.sky.brightness = 1.0f;
    scene.sky.sun_elevation = -80.0f;
    static const float stops[] = {-1.0f, 0.0f, 1.0f};
    for (int i = 0; i < 3; i++) {
        double contrasted[3], plain[3];
        const float grey = 0.18f * exp2f(stops[i]), steeper = 0.18f * exp2f(1.5f * stops[i]);
        scene.sky.color = (MoteVec3){grey, grey, grey};
        scene.picture.contrast = 1.5f;
        shown_green(renderer, world, &scene, contrasted);
        scene.sky.color = (MoteVec3){steeper, steeper, steeper};
        scene.picture.contrast = 1.0f;
        shown_green(renderer, world, &scene, plain);
        assert_true(fabs(contrasted[1] - plain[1]) < 0.002);
    }
    mote_world_destroy(world);
}

// ---- Skies ----

// Trees stand before the sky; the studio is dark but for its lights; an evening is warm; the clouds turn with the
// picture.
static void test_made_skies(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_dry_world();
    MoteRenderScene scene = make_dry_scene((MoteVec3){0, 1, 0}, (MoteVec3){0.3f, 1.12f, 1});
    scene.sky.brightness = 1.0f;
    scene.sky.sun_elevation = 60.0f;
    scene.sky.kind = MOTE_SKY_CLOUDS;
    float *day = draw_layer(renderer, world, &scene, "color");
    scene.sky.image_rotation = 40.0f;
    float *turned = draw_layer(renderer, world, &scene, "color");
    scene.sky.image_rotation = 0.0f;
    float *again = draw_layer(renderer, world, &scene, "color");
    scene.sky.kind = MOTE_SKY_EVENING;
    float *evening = draw_layer(renderer, world, &scene, "color");
    assert_memory_equal(day, again, (size_t)WIDTH * HEIGHT * 4 * sizeof *day);
    double changed = 0.0, brightest = 0.0, darkest = INFINITY, red = 0.0, blue = 0.0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        changed += fabs((double)(day[4 * i] - turned[4 * i])) / (WIDTH * HEIGHT);
        brightest = fmax(brightest, (double)day[4 * i + 1]);
        darkest = fmin(darkest, (double)day[4 * i + 1]);
        red += (double)evening[4 * i];
        blue += (double)evening[4 * i + 2];
    }
    assert_true(changed > 0.01 && brightest > 0.5 && darkest < 0.15 && red > 1.2 * blue);

    scene = make_dry_scene((MoteVec3){0, 1, 0}, (MoteVec3){0.35f, 2, 0.25f});
    scene.sky.brightness = 1.0f;
    scene.sky.sun_elevation = -60.0f;
    scene.sky.kind = MOTE_SKY_STUDIO;
    const Spread up = spread_of(renderer, world, &scene);
    assert_true(up.most > 4.0 && up.least < 0.2);
    free(day);
    free(turned);
    free(again);
    free(evening);
    mote_world_destroy(world);
}

// What a liquid scatters is proportional to the key; 0 leaves what it transmits and mirrors.
static void test_scattering(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_world("cpu", NULL, 1.0f, 2.0f, &(MoteVec3){0, 0, 0}, 1);
    const MoteRenderMaterial water = {.color = {0.2f, 0.5f, 0.8f}, .absorption = 2.0f, .roughness = 0.5f};
    double light[3];
    for (int k = 0; k < 3; k++) {
        MoteRenderScene scene = make_scene((MoteVec3){0, 0, 6}, (MoteVec3){0, 0, 0}, 30.0f);
        scene.picture.antialias = false;
        scene.materials = &water;
        scene.material_count = 1;
        scene.liquid.scattering = (float)k;
        float *colors = draw_layer(renderer, world, &scene, "color");
        light[k] = (double)at(colors, WIDTH / 2, HEIGHT / 2)[2];
        free(colors);
    }
    assert_true(light[1] > light[0] + 0.004);
    assert_true(fabs((light[2] - light[1]) / (light[1] - light[0]) - 1.0) < 0.1);
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checker_keeps_its_mean),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_agx),
        cmocka_unit_test(test_contrast),
        cmocka_unit_test(test_made_skies),
        cmocka_unit_test(test_scattering),
    };
    return cmocka_run_group_tests_name("render_looks", tests, renderer_set_up, renderer_tear_down);
}
