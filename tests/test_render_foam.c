// SPDX-License-Identifier: MIT
// White water in pictures: the optical depth of one particle against its closed form, whole or in motion; before and
// behind the liquid's surface; the same picture for any order of the particles.
#include "render_fixture.h"

#include "mote_diffuse.h"

enum { WIDTH = 160, HEIGHT = 120 };
static const double PI = 3.14159265358979323846;
static const float SPACING = 0.1f, AWAY = 4.0f;

// A world of one liquid particle, and these passive ones: x, y, z, life, then velocity and class.
static MoteWorld *make_foam(MoteVec3 liquid, const float *rows, uint32_t count, bool backwards)
{
    MoteWorld *world = make_world("cpu", NULL, SPACING, 2.0f, &liquid, 1);
    MoteFoam foam = mote_default_foam();
    foam.capacity = count + 10;
    MUST(mote_world_set_foam(world, &foam));
    for (uint32_t i = 0; i < count; i++) {
        float row[8];
        memcpy(row, rows + 8 * (size_t)(backwards ? count - 1 - i : i), sizeof row);
        MUST(mote_world_add_diffuse(world, &(MoteDiffuse){.count = 1, .positions = row, .velocities = row + 4}));
    }
    return world;
}

// Looks along -z at the origin from AWAY metres. A particle of `pixels` radius there.
static MoteRenderScene foam_scene(double pixels, double depth)
{
    MoteRenderScene scene = make_scene((MoteVec3){0, 0, AWAY}, (MoteVec3){0, 0, 0}, 40.0f);
    const double focal = 0.5 * HEIGHT / tan(20.0 * PI / 180.0);
    scene.foam.radius = (float)(pixels * AWAY / focal) / SPACING;
    scene.foam.radius_spread = 0.0f;
    scene.foam.density = (float)depth;
    scene.foam.shutter = 0.0f;
    scene.foam.drops = 0;
    scene.picture.antialias = false;
    return scene;
}

static float *draw_foam(MoteRenderer *renderer, MoteWorld *world, const MoteRenderScene *scene, const char *layer)
{
    MotePicture picture = mote_default_picture();
    picture.width = WIDTH;
    picture.height = HEIGHT;
    picture.layers = true;
    MUST(mote_renderer_draw(renderer, world, scene, &picture));
    return read_layer(renderer, layer, WIDTH, HEIGHT);
}

static double sum_of(const float *values, int component)
{
    double sum = 0.0;
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++) {
        sum += (double)values[2 * i + (size_t)component];
    }
    return sum;
}

static const MoteVec3 FAR_AWAY = {50, 0, 0};

// The profile depth (1 - d^2)^2, half a pixel wider, of the same integral: pi / 3 r^2 times the depth.
static void one_puff_has_its_optical_depth(void **state)
{
    MoteRenderer *renderer = *state;
    const float row[8] = {0, 0, 0, 5, 0, 0, 0, 1};
    MoteWorld *world = make_foam(FAR_AWAY, row, 1, false);
    const double sizes[] = {0.2, 0.9, 6.0, 18.0}, depth = 0.8;
    for (int k = 0; k < 4; k++) {
        const double r = sizes[k];
        const MoteRenderScene scene = foam_scene(r, depth);
        float *values = draw_foam(renderer, world, &scene, "foam");
        const double expected = depth * PI / 3.0 * r * r;
        if (fabs(sum_of(values, 0) - expected) > (r < 1.0 ? 0.04 : 0.005) * expected) {
            fail_msg("radius %g: the sum is %g, expected %g", r, sum_of(values, 0), expected);
        }
        assert_true(sum_of(values, 1) == 0.0);
        for (int x = 0; x < 20 && r > 1.0; x++) {
            const double wide = r + 0.5, d2 = ((x + 0.5) * (x + 0.5) + 0.25) / (wide * wide),
                         inside = fmax(1.0 - d2, 0.0);
            const double here = depth * (r / wide) * (r / wide) * inside * inside;
            const double found = (double)values[2 * ((size_t)(HEIGHT / 2) * WIDTH + WIDTH / 2 + (size_t)x)];
            if (fabs(found - here) > 2e-3 * depth) {
                fail_msg("radius %g, %d pixels from the middle: %g, expected %g", r, x, found, here);
            }
        }
        free(values);
    }
    mote_world_destroy(world);
}

// What moves while the shutter is open is longer and thinner, and its depth adds up to the same.
static void a_streak_keeps_its_optical_depth(void **state)
{
    MoteRenderer *renderer = *state;
    const float row[8] = {0, 0, 0, 5, 3, 1.5f, 0, 1};
    MoteWorld *world = make_foam(FAR_AWAY, row, 1, false);
    MoteRenderScene scene = foam_scene(4.0, 0.8);
    float *still = draw_foam(renderer, world, &scene, "foam");
    scene.foam.shutter = 0.05f;
    float *moving = draw_foam(renderer, world, &scene, "foam");
    double before = 0.0, after = 0.0;
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++) {
        before = fmax(before, (double)still[2 * i]);
        after = fmax(after, (double)moving[2 * i]);
    }
    assert_true(fabs(sum_of(moving, 0) / sum_of(still, 0) - 1.0) < 0.01);
    assert_true(after < 0.6 * before && after > 0.05 * before);
    free(still);
    free(moving);
    mote_world_destroy(world);
}

// A ball of liquid at the origin: what is before it, and what is deep behind its surface.
static void depth_is_before_or_behind_the_surface(void **state)
{
    MoteRenderer *renderer = *state;
    for (int behind = 0; behind < 2; behind++) {
        const float row[8] = {0, 0, behind != 0 ? -0.4f : 0.4f, 5, 0, 0, 0, 1};
        MoteWorld *world = make_foam((MoteVec3){0, 0, 0}, row, 1, false);
        MoteRenderScene scene = foam_scene(3.0, 0.8);
        scene.liquid.isolated_radius = 3.0f;
        float *values = draw_foam(renderer, world, &scene, "foam");
        assert_true(sum_of(values, behind) > 1.0 && sum_of(values, 1 - behind) < 1e-6);
        free(values);
        mote_world_destroy(world);
    }
}

// An isolated particle of the liquid leaves its surface: it is so many drops, each with the optical depth of spray,
// that stay within a spacing of it.
static void an_isolated_particle_is_drops(void **state)
{
    MoteRenderer *renderer = *state;
    const MoteVec3 points[3] = {{0, 0, 0}, {50, 0, 0}, {50.15f, 0, 0}}; // so that there are lists of neighbours
    MoteWorld *world = make_world("cpu", NULL, SPACING, 2.0f, points, 3);
    MoteFoam foam = mote_default_foam();
    foam.capacity = 10;
    MUST(mote_world_set_foam(world, &foam));
    MUST(mote_world_step(world, 1e-4f));
    const double pixels = 3.0, depth = 0.5;
    double surface[2];
    for (uint32_t drops = 0; drops <= 8; drops += 8) {
        MoteRenderScene scene = foam_scene(pixels, depth);
        scene.foam.drops = drops;
        float *values = draw_foam(renderer, world, &scene, "foam");
        float *thickness = read_layer(renderer, "thickness", WIDTH, HEIGHT);
        const double expected = drops * 0.8 * depth * PI / 3.0 * pixels * pixels;
        const double reach = 0.5 * (double)SPACING * sqrt(2.0) * (0.5 * HEIGHT / tan(20.0 * PI / 180.0)) / (double)AWAY;
        assert_true(fabs(sum_of(values, 0) - expected) <= 0.02 * expected && sum_of(values, 1) == 0.0);
        surface[drops / 8] = 0.0;
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                const size_t at = (size_t)y * WIDTH + (size_t)x;
                surface[drops / 8] += (double)thickness[at];
                assert_true(values[2 * at] == 0.0f || hypot(x - WIDTH / 2, y - HEIGHT / 2) < reach + pixels + 2.0);
            }
        }
        free(values);
        free(thickness);
    }
    assert_true(surface[0] > 0.0 && surface[1] == 0.0);
    mote_world_destroy(world);
}

// Not even a bit depends on the order of particles.
static void pictures_do_not_depend_on_the_order(void **state)
{
    MoteRenderer *renderer = *state;
    enum { COUNT = 400 };
    static float rows[8 * COUNT];
    uint32_t bits = 12345;
    for (size_t i = 0; i < 8 * (size_t)COUNT; i++) {
        bits = bits * 1664525u + 1013904223u;
        rows[i] = (float)(bits >> 8) / 16777216.0f - 0.5f;
        rows[i] = i % 8 == 3 ? 0.1f + fabsf(rows[i]) : i % 8 == 7 ? rows[i] + 1.0f : rows[i];
    }
    float *pictures[2], *layers[2];
    for (int k = 0; k < 2; k++) {
        MoteWorld *world = make_foam((MoteVec3){0, 0, 0}, rows, COUNT, k != 0);
        MoteRenderScene scene = foam_scene(2.0, 0.5);
        scene.foam.shutter = 0.02f;
        scene.liquid.isolated_radius = 5.0f;
        layers[k] = draw_foam(renderer, world, &scene, "foam");
        pictures[k] = read_layer(renderer, "color", WIDTH, HEIGHT);
        mote_world_destroy(world);
    }
    assert_true(sum_of(layers[0], 0) > 100.0 && sum_of(layers[0], 1) > 1.0);
    assert_memory_equal(layers[0], layers[1], (size_t)WIDTH * HEIGHT * 2 * sizeof(float));
    assert_memory_equal(pictures[0], pictures[1], (size_t)WIDTH * HEIGHT * 4 * sizeof(float));
    for (int k = 0; k < 2; k++) {
        free(pictures[k]);
        free(layers[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_puff_has_its_optical_depth),        cmocka_unit_test(a_streak_keeps_its_optical_depth),
        cmocka_unit_test(depth_is_before_or_behind_the_surface), cmocka_unit_test(an_isolated_particle_is_drops),
        cmocka_unit_test(pictures_do_not_depend_on_the_order),
    };
    return cmocka_run_group_tests(tests, renderer_set_up, renderer_tear_down);
}
