// SPDX-License-Identifier: MIT
// How much of the sky surfaces mirror, from the pixels of pictures: of liquid against Fresnel's equations, of solids
// against Schlick's formula, F0 + (1 - F0) (1 - cos)^5. Under a sky that is 1 everywhere, without a sun, what a black
// surface sends to the eye is what it mirrors.
#include "ray_fixture.h"

static const MoteRenderMaterial black = {.color = {0, 0, 0}, .absorption = 1e4f, .roughness = 0.0f};

// The upper half of a ball of this radius around the origin fills the picture's height: there, what is mirrored comes
// from above the horizon.
static MoteRenderScene mirror_scene(float radius)
{
    const float middle = 0.52f * radius, away = 20.0f * radius;
    MoteRenderScene scene = make_scene((MoteVec3){0, middle, away}, (MoteVec3){0, middle, 0},
                                       (float)(2.0 * atan(0.56 / 20.0) * 180.0 / PI));
    scene.picture.antialias = false;
    scene.sky.kind = MOTE_SKY_COLOR;
    scene.sky.color = (MoteVec3){1, 1, 1};
    scene.sky.brightness = 1.0f;
    scene.sky.sun_brightness = 0.0f;
    scene.materials = &black;
    scene.material_count = 1;
    return scene;
}

static double schlick(double f0, double cosine)
{
    return f0 + (1.0 - f0) * pow(1.0 - cosine, 5.0);
}

// The mean of both polarisations, by the angles on both sides.
static double fresnel(double refraction, double cosine)
{
    const double in = acos(fmin(cosine, 1.0)), out = asin(sin(in) / refraction);
    if (in < 1e-6) {
        return pow((refraction - 1.0) / (refraction + 1.0), 2.0);
    }
    const double s = sin(in - out) / sin(in + out), p = tan(in - out) / tan(in + out);
    return 0.5 * (s * s + p * p);
}

// Compares a column of pixels from the ball's centre to its top. `cosines` is the cosine of the angle between the view
// and the normal for each pixel of the picture, or NAN where the ball is not. Up to 82 degrees: beyond is the outline.
static void expect_mirror(const float *colors, const double *cosines, double (*formula)(double, double), double value)
{
    double nearest[3] = {90.0, 90.0, 90.0};
    const double angles[3] = {0.0, 60.0, 80.0};
    const uint32_t centre = HEIGHT - 5; // below it, mirrored rays go down
    for (uint32_t y = 1; y < centre; y++) {
        const uint32_t x = WIDTH / 2;
        const double angle = acos(fmin(cosines[y], 1.0)) * 180.0 / PI;
        if (!(angle < 82.0) || isnan(cosines[y - 1])) { // a pixel at the outline is no mirror
            continue;
        }
        const double expected = formula(value, cosines[y]), found = (double)at(colors, x, y)[1];
        if (fabs(found - expected) > 0.04 * expected + 1e-3) {
            fail_msg("at %.2f degrees %.5f of the light is mirrored, expected %.5f", angle, found, expected);
        }
        for (int k = 0; k < 3; k++) {
            nearest[k] = fmin(nearest[k], fabs(angle - angles[k]));
        }
    }
    assert_true(nearest[0] < 3.0 && nearest[1] < 3.0 && nearest[2] < 3.0); // all of them were looked at
}

// A ball of water: one particle alone. The normals are those that the picture was shaded with, which
// test_render_geometry.c compares with spheres.
static void test_water_mirrors_as_fresnel_says(void **state)
{
    MoteRenderer *renderer = *state;
    const float spacing = 1.0f, refractions[2] = {1.33f, 1.6f};
    MoteWorld *world = make_world("cpu", NULL, spacing, 2.0f, &(MoteVec3){0, 0, 0}, 1);
    for (int k = 0; k < 2; k++) {
        MoteRenderScene scene = mirror_scene(spacing);
        scene.liquid.anisotropy = false;
        scene.liquid.radius = 1.0f; // spacing
        scene.liquid.refraction = refractions[k];
        float *colors = draw_layer(renderer, world, &scene, "color");
        float *normals = read_layer(renderer, "normal", WIDTH, HEIGHT);
        const Camera camera = camera_of(&scene);
        double cosines[HEIGHT];
        for (uint32_t y = 0; y < HEIGHT; y++) {
            const float *n = normals + 3 * ((size_t)y * WIDTH + WIDTH / 2);
            const Vector normal = {n[0], n[1], n[2]};
            cosines[y] = dot(normal, normal) > 0.5 ? -dot(unit(pixel_ray(&camera, WIDTH / 2, y)), normal) : NAN;
        }
        expect_mirror(colors, cosines, fresnel, refractions[k]);
        free(colors);
        free(normals);
    }
    mote_world_destroy(world);
}

// A smooth ball that is solid: the normals are a sphere's.
static void test_solids_mirror_as_schlick_says(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_dry_world();
    MoteRenderCollider ball = solid(MOTE_COLLIDER_SPHERE, (MoteVec3){0, 0, 0}, UPRIGHT);
    MoteRenderScene scene = mirror_scene(ball.collider.radius);
    scene.liquid.visible = false;
    scene.colliders = &ball;
    scene.collider_count = 1;
    float *colors = draw_layer(renderer, world, &scene, "color");
    const Camera camera = camera_of(&scene);
    double cosines[HEIGHT];
    for (uint32_t y = 0; y < HEIGHT; y++) {
        const Vector ray = unit(pixel_ray(&camera, WIDTH / 2, y));
        const double hit = ray_hit(&ball.collider, camera.eye, ray, false);
        cosines[y] = isfinite(hit) ? -dot(ray, unit(add(camera.eye, hit, ray))) : NAN;
    }
    expect_mirror(colors, cosines, schlick, 0.04); // of refraction 1.5
    free(colors);
    mote_world_destroy(world);
}

// ---- Absorption ----

// Through a ball of liquid the sky is seen with exp(-(1 - colour) absorption metres) of its light, and of what is
// missing a quarter is scattered back in the liquid's colour. The metres are those of the picture's own layer, which
// test_render_surface.c compares with a block's.
static void test_liquids_absorb_by_beer_and_lambert(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_world("cpu", NULL, 1.0f, 2.0f, &(MoteVec3){0, 0, 0}, 1);
    for (int k = 0; k < 3; k++) {
        const MoteRenderMaterial water = {.color = {0.2f, 0.5f, 0.9f}, .absorption = 0.8f * (float)k};
        MoteRenderScene scene = mirror_scene(1.0f);
        scene.liquid.anisotropy = false;
        scene.liquid.radius = 1.0f;
        scene.materials = &water;
        float *colors = draw_layer(renderer, world, &scene, "color");
        float *normals = read_layer(renderer, "normal", WIDTH, HEIGHT);
        float *thickness = read_layer(renderer, "thickness", WIDTH, HEIGHT);
        const Camera camera = camera_of(&scene);
        const double shares[3] = {0.2, 0.5, 0.9};
        uint32_t compared = 0;
        for (uint32_t y = HEIGHT / 3; y < HEIGHT - 8; y++) {
            const size_t pixel = (size_t)y * WIDTH + WIDTH / 2;
            const Vector normal = {normals[3 * pixel], normals[3 * pixel + 1], normals[3 * pixel + 2]};
            const double cosine = -dot(unit(pixel_ray(&camera, WIDTH / 2, y)), normal);
            const double mirrored = fresnel((double)scene.liquid.refraction, cosine);
            assert_true(thickness[pixel] > 0.1f);
            for (int c = 0; c < 3; c++) {
                const double left = exp(-(1.0 - shares[c]) * (double)water.absorption * (double)thickness[pixel]);
                const double expected = (1.0 - mirrored) * (left + 0.25 * shares[c] * (1.0 - left)) + mirrored;
                const double found = (double)colors[4 * pixel + (size_t)c];
                if (fabs(found - expected) > 0.01) {
                    fail_msg("absorption %g, row %u, colour %d: %.4f, expected %.4f", (double)water.absorption, y, c,
                             found, expected);
                }
                compared++;
            }
        }
        assert_true(compared > 150);
        free(colors);
        free(normals);
        free(thickness);
    }
    mote_world_destroy(world);
}

// ---- The screen ----

static double filmic_curve(double x)
{
    return fmin(x * (4.5123 * x + 0.6) / (x * (4.4127 * x + 1.4958) + 1.0), 1.0);
}

static double srgb(double linear)
{
    return linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1.0 / 2.4) - 0.055;
}

// What shaders/render/display.glsl says of a colour: saturation about its luminance, the filmic curve, 0.35 of it by
// the strongest colour's factor, sRGB.
static void shown_color(const double linear[3], double exposure, double saturation, double shown[3])
{
    const double factor = exp2(exposure);
    const double grey = factor * (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]);
    double bright[3], peak = 0.0;
    for (int c = 0; c < 3; c++) {
        bright[c] = fmax(grey + saturation * (factor * linear[c] - grey), 0.0);
        peak = fmax(peak, bright[c]);
    }
    for (int c = 0; c < 3; c++) {
        const double kept = bright[c] * filmic_curve(peak) / fmax(peak, 1e-6);
        shown[c] = srgb(fmin(0.65 * filmic_curve(bright[c]) + 0.35 * kept, 1.0));
    }
}

static void test_the_screen_shows_exposure_and_saturation(void **state)
{
    MoteRenderer *renderer = *state;
    MoteWorld *world = make_dry_world();
    const double skies[3][3] = {{0.18, 0.18, 0.18}, {0.1, 0.3, 0.7}, {1.5, 0.4, 0.05}};
    const double exposures[3] = {0.0, 1.5, -2.0}, saturations[3] = {1.0, 0.4, 1.6};
    assert_true(fabs(filmic_curve(0.18) - 0.18) < 1e-3 && fabs(filmic_curve(1.0) - 0.74) < 1e-2); // as it promises
    uint16_t *pixels = malloc((size_t)WIDTH * HEIGHT * 4 * sizeof *pixels);
    for (int sky = 0; sky < 3; sky++) {
        for (int k = 0; k < 3; k++) {
            MoteRenderScene scene = make_dry_scene((MoteVec3){0, 0, 4}, (MoteVec3){0, 1, 0});
            scene.sky.kind = MOTE_SKY_COLOR;
            scene.sky.color = (MoteVec3){(float)skies[sky][0], (float)skies[sky][1], (float)skies[sky][2]};
            scene.sky.brightness = 1.0f;
            scene.sky.sun_brightness = 0.0f;
            scene.picture.exposure = (float)exposures[k];
            scene.picture.saturation = (float)saturations[k];
            draw(renderer, world, &scene);
            MUST(mote_renderer_read_rgba16(renderer, pixels));
            double shown[3];
            shown_color(skies[sky], exposures[k], saturations[k], shown);
            for (int c = 0; c < 3; c++) {
                const double found = pixels[4 * ((size_t)10 * WIDTH + WIDTH / 2) + (size_t)c] / 65535.0;
                if (fabs(found - shown[c]) > 2e-3) {
                    fail_msg("sky %d, look %d, colour %d: %.5f, expected %.5f", sky, k, c, found, shown[c]);
                }
            }
        }
    }
    free(pixels);
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_water_mirrors_as_fresnel_says),
        cmocka_unit_test(test_solids_mirror_as_schlick_says),
        cmocka_unit_test(test_liquids_absorb_by_beer_and_lambert),
        cmocka_unit_test(test_the_screen_shows_exposure_and_saturation),
    };
    return cmocka_run_group_tests(tests, renderer_set_up, renderer_tear_down);
}
