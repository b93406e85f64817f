// How much of the sky surfaces mirror, from the pixels of pictures, against Schlick's formula: F0 + (1 - F0) (1 -
// cos)^5. Under a sky that is 1 everywhere, without a sun, what a black surface sends to the eye is what it mirrors.
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

// Compares a column of pixels from the ball's centre to its top. `cosines` is the cosine of the angle between the view
// and the normal for each pixel of the picture, or NAN where the ball is not. Up to 82 degrees: beyond is the outline.
static void expect_schlick(const float *colors, const double *cosines, double f0)
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
        const double expected = schlick(f0, cosines[y]), found = (double)at(colors, x, y)[1];
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
static void test_water_mirrors_as_schlick_says(void **state)
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
        expect_schlick(colors, cosines, pow((refractions[k] - 1.0) / (refractions[k] + 1.0), 2.0));
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
    MoteRenderShape ball = solid(MOTE_SHAPE_SPHERE, (MoteVec3){0, 0, 0}, UPRIGHT);
    MoteRenderScene scene = mirror_scene(ball.shape.radius);
    scene.liquid.visible = false;
    scene.shapes = &ball;
    scene.shape_count = 1;
    float *colors = draw_layer(renderer, world, &scene, "color");
    const Camera camera = camera_of(&scene);
    double cosines[HEIGHT];
    for (uint32_t y = 0; y < HEIGHT; y++) {
        const Vector ray = unit(pixel_ray(&camera, WIDTH / 2, y));
        const double hit = ray_hit(&ball.shape, camera.eye, ray, false);
        cosines[y] = isfinite(hit) ? -dot(ray, unit(add(camera.eye, hit, ray))) : NAN;
    }
    expect_schlick(colors, cosines, 0.04); // of refraction 1.5
    free(colors);
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_water_mirrors_as_schlick_says),
        cmocka_unit_test(test_solids_mirror_as_schlick_says),
    };
    return cmocka_run_group_tests(tests, renderer_set_up, renderer_tear_down);
}
