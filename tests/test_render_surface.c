// SPDX-License-Identifier: MIT
// The liquid's surface where it is hardest to draw: droplets in front of a pool leave no glints that water has not;
// and a million particles of it.
#include "render_fixture.h"

enum { W = 320, H = 240 };
static const float spacing = 0.05f;

// A look in which whatever mirrors the sky stands out: white all around, no sun, dark water.
static MoteRenderScene mirror_scene(MoteVec3 eye, MoteVec3 target, const MoteRenderMaterial *ink)
{
    MoteRenderScene scene = make_scene(eye, target, 30.0f);
    scene.liquid.smoothing = MOTE_SMOOTHING_NARROW_RANGE;
    scene.sky.kind = MOTE_SKY_COLOR;
    scene.sky.color = (MoteVec3){1.0f, 1.0f, 1.0f};
    scene.sky.brightness = 1.0f;
    scene.sky.sun_brightness = 0.0f;
    scene.materials = ink;
    scene.material_count = 1;
    return scene;
}

static float *draw_layer(MoteRenderer *renderer, MoteWorld *world, const MoteRenderScene *scene, const char *layer)
{
    MUST(mote_renderer_draw(renderer, world, scene,
                            &(MotePicture){.width = W, .height = H, .samples = 1, .layers = true}));
    return read_layer(renderer, layer, W, H);
}

static const MoteRenderMaterial ink = {.color = {0.02f, 0.02f, 0.02f}, .absorption = 60.0f};

// Droplets of one particle above a pool, from one that touches it to one six spacings up. A sphere of water mirrors
// more than a quarter of the sky only in the outermost 4 % of its area: a pixel in a hundred at this size, not a ring
// of them.
static void test_droplets_have_no_rings(void **state)
{
    enum { SIDE = 48, LAYERS = 4, POOL = SIDE * SIDE * LAYERS, DROPS = 25 };
    MoteRenderer *renderer = *state;
    MoteVec3 *points = malloc((POOL + DROPS) * sizeof *points);
    for (int i = 0; i < POOL; i++) {
        const int x = i % SIDE, z = i / SIDE % SIDE, y = i / SIDE / SIDE;
        points[i] = (MoteVec3){spacing * ((float)x - 23.5f), spacing * (float)y, spacing * ((float)z - 23.5f)};
    }
    for (int i = 0; i < DROPS; i++) {
        const float up = LAYERS + 6.0f * (float)i / (DROPS - 1);
        points[POOL + i] =
            (MoteVec3){spacing * 5.0f * (float)(i % 5 - 2), spacing * up, spacing * 5.0f * (float)(i / 5 - 2)};
    }
    const MoteRenderScene scene = mirror_scene((MoteVec3){0.2f, 1.6f, 1.8f}, (MoteVec3){0, 0.15f, 0}, &ink);
    uint32_t bright[2] = {0, 0}, changed = 0;
    float *colors[2];
    for (int with = 0; with < 2; with++) {
        MoteWorld *world = make_world("cpu", NULL, spacing, 2.0f, points, POOL + (with != 0 ? DROPS : 0));
        colors[with] = draw_layer(renderer, world, &scene, "color");
        mote_world_destroy(world);
        for (uint32_t y = H / 8; y < 7 * H / 8; y++) {
            for (uint32_t x = W / 4; x < 3 * W / 4; x++) {
                bright[with] += colors[with][4 * (y * W + x)] > 0.25f ? 1 : 0;
                changed += with != 0 && fabsf(colors[1][4 * (y * W + x)] - colors[0][4 * (y * W + x)]) > 0.005f;
            }
        }
    }
    printf("droplets: %u pixels changed, %u mirror the sky (%u without them)\n", changed, bright[1], bright[0]);
    assert_int_equal(bright[0], 0);
    assert_true(changed > 25 * DROPS); // they are there
    assert_true(bright[1] < changed / 100);
    free(colors[0]);
    free(colors[1]);
    free(points);
}

// A million particles: a block of two metres, as thick as it is, with every buffer as large as that takes.
static void test_a_million_particles(void **state)
{
    enum { SIDE = 100, COUNT = SIDE * SIDE * SIDE };
    MoteRenderer *renderer = *state;
    const float step = 0.02f;
    MoteVec3 *points = malloc(COUNT * sizeof *points);
    for (int i = 0; i < COUNT; i++) {
        const int x = i % SIDE, y = i / SIDE % SIDE, z = i / SIDE / SIDE;
        points[i] = (MoteVec3){step * ((float)x - 49.5f), step * ((float)y - 49.5f), step * ((float)z - 49.5f)};
    }
    MoteWorld *world = make_world("cpu", NULL, step, 2.0f, points, COUNT);
    free(points);
    MoteRenderScene scene = make_scene((MoteVec3){0, 0, 40.0f}, (MoteVec3){0, 0, 0}, 4.0f);
    scene.liquid.smoothing = MOTE_SMOOTHING_NARROW_RANGE;
    float *thickness = draw_layer(renderer, world, &scene, "thickness");
    float *depth = read_layer(renderer, "depth", W, H);
    double thick = 0.0, front = 0.0; // means over the middle: a lattice's columns beat with the texels'
    for (uint32_t i = 0; i < W * H / 16; i++) {
        const uint32_t pixel = (3 * H / 8 + i / (W / 4)) * W + 3 * W / 8 + i % (W / 4);
        thick += 16.0 / (W * H) * (double)thickness[pixel];
        front += 16.0 / (W * H) * (double)depth[pixel];
    }
    printf("a million: %.4f m thick, its front at %.4f m\n", thick, front);
    assert_true(fabs(thick - 2.0) < 0.02);
    assert_true(fabs(front - 39.0) < 0.02);
    free(thickness);
    free(depth);
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_droplets_have_no_rings),
        cmocka_unit_test(test_a_million_particles),
    };
    return cmocka_run_group_tests(tests, renderer_set_up, renderer_tear_down);
}
