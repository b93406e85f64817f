// SPDX-License-Identifier: MIT
// picture.bloom spreads a share of the light around a small bright ball, and nothing else: no light is lost or gained,
// it is linear in the amount and in the light (there is no threshold), even on all sides, and steady as the ball moves.
// Light is computed back from displayed pixels through the tone curve.
#include "render_fixture.h"

#define PI 3.14159265358979323846
static const double EYE = 20.0, FIELD_OF_VIEW = 30.0, RADIUS = 0.08;

typedef struct Spot {
    MoteWorld *world;
    MoteRenderCollider ball;
    MoteRenderMaterial white;
    MoteRenderScene scene;
    uint32_t width, height, samples;
} Spot;

// In sunlight alone: `sun` is its irradiance. `shift` moves the ball to the right, in pixels.
static Spot make_spot(uint32_t width, uint32_t height, float sun, double shift)
{
    const double pixel = 2.0 * EYE * tan(0.5 * FIELD_OF_VIEW * PI / 180.0) / height;
    Spot spot = {.world = make_world("cpu", NULL, 0.05f, 2.0f, &(MoteVec3){0, 0.5f, 0}, 1),
                 .white = {.color = {0.8f, 0.8f, 0.8f}, .absorption = 1.0f, .roughness = 1.0f},
                 .scene = make_scene((MoteVec3){0, 0, (float)EYE}, (MoteVec3){0, 0, 0}, (float)FIELD_OF_VIEW),
                 .width = width,
                 .height = height,
                 .samples = 1};
    spot.ball = mote_default_render_collider();
    spot.ball.collider.kind = MOTE_COLLIDER_SPHERE;
    spot.ball.collider.radius = (float)RADIUS;
    spot.ball.collider.to.position.x = (float)(shift * pixel);
    spot.ball.collider.from = spot.ball.collider.to;
    spot.scene.liquid.visible = false;
    spot.scene.picture.antialias = false;
    spot.scene.sky.kind = MOTE_SKY_COLOR;
    spot.scene.sky.color = (MoteVec3){0, 0, 0};
    spot.scene.sky.sun_color = (MoteVec3){1, 1, 1};
    spot.scene.sky.sun_brightness = sun;
    spot.scene.sky.sun_azimuth = 0.0f; // behind the camera
    spot.scene.sky.sun_elevation = 0.0f;
    return spot;
}

// The inverse of filmic_curve() in display.glsl, which is all that grey light goes through.
static double light_of(double shown)
{
    const double linear = shown <= 0.04045 ? shown / 12.92 : pow((shown + 0.055) / 1.055, 2.4);
    const double a = 4.5123 - 4.4127 * linear, b = 0.6 - 1.4958 * linear;
    return (-b + sqrt(b * b + 4.0 * a * linear)) / (2.0 * a);
}

// The light of each pixel; free() it.
static double *draw_light(MoteRenderer *renderer, Spot *spot, float bloom)
{
    const size_t count = (size_t)spot->width * spot->height;
    spot->scene.colliders = &spot->ball;
    spot->scene.collider_count = spot->ball.collider.radius > 0.0f ? 1 : 0;
    spot->scene.materials = &spot->white;
    spot->scene.material_count = 1;
    spot->scene.picture.bloom = bloom;
    const MotePicture picture = {.width = spot->width, .height = spot->height, .samples = spot->samples};
    MUST(mote_renderer_draw(renderer, spot->world, &spot->scene, &picture));
    uint16_t *pixels = malloc(count * 4 * sizeof *pixels);
    double *light = malloc(count * sizeof *light);
    MUST(mote_renderer_read_rgba16(renderer, pixels));
    for (size_t i = 0; i < count; i++) {
        light[i] = light_of(pixels[4 * i + 1] / 65535.0);
    }
    free(pixels);
    return light;
}

// The mean of a ring of pixels around a point `shift` to the right of the picture's middle; `side` 1 is its right half,
// -1 its left one, 0 all of it.
static double ring_mean(const Spot *spot, const double *light, double shift, double from, double to, int side)
{
    double sum = 0.0, count = 0.0;
    for (uint32_t i = 0; i < spot->width * spot->height; i++) {
        const double x = i % spot->width + 0.5 - 0.5 * spot->width - shift;
        const double y = i / spot->width + 0.5 - 0.5 * spot->height, r = sqrt(x * x + y * y);
        if (r >= from && r < to && x * side >= 0.0) {
            sum += light[i];
            count += 1.0;
        }
    }
    return sum / count;
}

static double sum_of(const Spot *spot, const double *light)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < spot->width * spot->height; i++) {
        sum += light[i];
    }
    return sum;
}

static double halo(MoteRenderer *renderer, Spot *spot, float bloom, double shift)
{
    double *light = draw_light(renderer, spot, bloom);
    const double mean = ring_mean(spot, light, shift, 12.0, 30.0, 0);
    free(light);
    return mean;
}

static void test_no_light_is_lost(void **state)
{
    const uint32_t sizes[2][2] = {{512, 512}, {509, 387}};
    for (int k = 0; k < 2; k++) {
        Spot spot = make_spot(sizes[k][0], sizes[k][1], 6.0f, 0.0);
        double *without = draw_light(*state, &spot, 0.0f), *with = draw_light(*state, &spot, 0.2f);
        const double kept = sum_of(&spot, with) / sum_of(&spot, without);
        print_message("%u x %u: %.4f of the light is kept\n", spot.width, spot.height, kept);
        assert_true(fabs(kept - 1.0) < 0.01);
        const double rings[5] = {ring_mean(&spot, with, 0.0, 8.0, 12.0, 0), ring_mean(&spot, with, 0.0, 16.0, 24.0, 0),
                                 ring_mean(&spot, with, 0.0, 32.0, 48.0, 0), ring_mean(&spot, with, 0.0, 64.0, 96.0, 0),
                                 ring_mean(&spot, with, 0.0, 120.0, 160.0, 0)};
        for (int r = 1; r < 5; r++) {
            print_message("ring %d: %.3e\n", r, rings[r]);
            assert_true(rings[r] > 0.01 * rings[r - 1] && rings[r] < 0.6 * rings[r - 1]);
        }
        const double right = ring_mean(&spot, with, 0.0, 16.0, 48.0, 1),
                     left = ring_mean(&spot, with, 0.0, 16.0, 48.0, -1);
        assert_true(fabs(right / left - 1.0) < 0.05);
        free(without);
        free(with);
        mote_world_destroy(spot.world);
    }
}

static void test_linear_without_threshold(void **state)
{
    Spot spot = make_spot(256, 256, 6.0f, 0.0), dim = make_spot(256, 256, 0.6f, 0.0);
    const double one = halo(*state, &spot, 0.05f, 0.0), two = halo(*state, &spot, 0.1f, 0.0);
    const double tenth = halo(*state, &dim, 0.1f, 0.0);
    print_message("halo %.6f, of twice the amount %.3f times that, of a tenth of the light %.4f\n", one, two / one,
                  tenth / two);
    assert_true(fabs(two / one - 2.0) < 0.03);
    assert_true(fabs(tenth / two - 0.1) < 0.003);
    double *without = draw_light(*state, &spot, 0.0f);
    spot.samples = 4; // other samples of the ball's edge: relative to the light that there is
    double *of_four = draw_light(*state, &spot, 0.0f);
    const double same = halo(*state, &spot, 0.1f, 0.0) / two * sum_of(&spot, without) / sum_of(&spot, of_four);
    print_message("of four samples %.4f times that\n", same);
    assert_true(fabs(same - 1.0) < 0.01);
    free(without);
    free(of_four);
    mote_world_destroy(spot.world);
    mote_world_destroy(dim.world);
}

// A light that is the same everywhere stays as it is; so do debug views and the layers.
static void test_what_it_leaves_alone(void **state)
{
    MoteRenderer *renderer = *state;
    Spot spot = make_spot(160, 90, 6.0f, 0.0);
    spot.ball.collider.radius = 0.0f;
    spot.scene.sky.color = (MoteVec3){0.5f, 0.5f, 0.5f};
    double *light = draw_light(renderer, &spot, 1.0f);
    for (uint32_t i = 0; i < spot.width * spot.height; i++) {
        assert_true(fabs(light[i] / (0.5 * (double)spot.scene.sky.brightness) - 1.0) < 2e-3);
    }
    free(light);
    mote_world_destroy(spot.world);

    spot = make_spot(160, 90, 6.0f, 0.0);
    light = draw_light(renderer, &spot, 0.0f);
    free(light);
    const size_t bytes = (size_t)spot.width * spot.height * 4 * sizeof(float);
    float *layers[2];
    for (int k = 0; k < 2; k++) {
        spot.scene.picture.bloom = (float)k;
        const MotePicture picture = {.width = spot.width, .height = spot.height, .samples = 1, .layers = true};
        MUST(mote_renderer_draw(renderer, spot.world, &spot.scene, &picture));
        layers[k] = read_layer(renderer, "color", spot.width, spot.height);
    }
    assert_memory_equal(layers[0], layers[1], bytes);
    free(layers[0]);
    free(layers[1]);
    mote_world_destroy(spot.world);
}

// A ball that moves by parts of a pixel takes its halo along.
static void test_steady_as_it_moves(void **state)
{
    double least = INFINITY, most = 0.0;
    for (int k = 0; k < 8; k++) {
        const double shift = 0.5 * k;
        Spot spot = make_spot(256, 256, 6.0f, shift);
        double *without = draw_light(*state, &spot, 0.0f);
        const double found = halo(*state, &spot, 0.1f, shift) / sum_of(&spot, without); // its edge is not always even
        least = fmin(least, found);
        most = fmax(most, found);
        free(without);
        mote_world_destroy(spot.world);
    }
    print_message("as the ball moves, its halo changes by %.2f %%\n", 100.0 * (most / least - 1.0));
    assert_true(most / least < 1.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_light_is_lost),
        cmocka_unit_test(test_linear_without_threshold),
        cmocka_unit_test(test_what_it_leaves_alone),
        cmocka_unit_test(test_steady_as_it_moves),
    };
    return cmocka_run_group_tests(tests, renderer_set_up, renderer_tear_down);
}
