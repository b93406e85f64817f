// SPDX-License-Identifier: MIT
// Lines of picture.outline: the area, place and width of those around a ball and a drop of known projection, and along
// the edge of a box. Off, a picture is what it was.
#include "render_fixture.h"

enum { SIZE = 200, PIXELS = SIZE * SIZE };
static const double EYE = 4.0, FIELD_OF_VIEW = 40.0, PI = 3.14159265358979323846;

typedef struct OutlineTest {
    MoteWorld *world;
    MoteRenderScene scene;
} OutlineTest;

// Under a sky of one colour; `spacing` metres between the particles of a world that has `count` of them.
static OutlineTest make_test(float spacing, uint32_t count)
{
    const MoteVec3 origin = {0, 0, 0};
    OutlineTest test = {.world = make_world("cpu", NULL, spacing, 2.0f, &origin, count),
                        .scene = make_scene((MoteVec3){0, 0, (float)EYE}, origin, (float)FIELD_OF_VIEW)};
    test.scene.sky.kind = MOTE_SKY_COLOR;
    test.scene.sky.color = (MoteVec3){0.5f, 0.6f, 0.7f};
    test.scene.sky.sun_brightness = 0.5f;
    return test;
}

static float *draw_color(MoteRenderer *renderer, const OutlineTest *test, float outline)
{
    MoteRenderScene scene = test->scene;
    scene.picture.outline = outline;
    const MotePicture picture = {.width = SIZE, .height = SIZE, .samples = 1, .layers = true};
    MUST(mote_renderer_draw(renderer, test->world, &scene, &picture));
    return read_layer(renderer, "color", SIZE, SIZE);
}

// How much of each pixel lines cover: they are black.
static void measure_cover(MoteRenderer *renderer, const OutlineTest *test, float outline, double *cover)
{
    float *without = draw_color(renderer, test, 0.0f), *with = draw_color(renderer, test, outline);
    for (uint32_t i = 0; i < PIXELS; i++) {
        assert_true(without[4 * i + 1] > 1e-3f);
        cover[i] = 1.0 - (double)with[4 * i + 1] / (double)without[4 * i + 1];
        assert_true(cover[i] > -1e-6 && cover[i] < 1.0 + 1e-6);
    }
    free(without);
    free(with);
}

static double focal_length(void)
{
    return 0.5 * SIZE / tan(0.5 * FIELD_OF_VIEW * PI / 180.0); // pixels
}

// Of a sphere in the middle of the picture, whose outline is a circle: a ring of area 2 pi r w around it, and nothing
// elsewhere. The pixels inside of a circle of 13.75 have stairs around them whose middles make the ring 4 to 5 % wider,
// 0.16 farther out, by the same sum without a renderer; larger circles 3 to 4 %, and nearer to their place.
static void expect_ring(MoteRenderer *renderer, const OutlineTest *test, double radius, double width, double tolerance)
{
    static double cover[PIXELS];
    measure_cover(renderer, test, (float)width, cover);
    const double circle = focal_length() * radius / sqrt(EYE * EYE - radius * radius);
    double area = 0.0, moment = 0.0;
    for (uint32_t i = 0; i < PIXELS; i++) {
        const double x = i % SIZE + 0.5 - 0.5 * SIZE, y = i / SIZE + 0.5 - 0.5 * SIZE, r = sqrt(x * x + y * y);
        area += cover[i];
        moment += cover[i] * r;
        if (fabs(r - circle) > 0.5 * width + 1.5 && cover[i] > 1e-6) {
            fail_msg("a line of %g pixels covers %g of a pixel %g from a circle of %g", width, cover[i], r - circle,
                     circle);
        }
        if (width >= 4.0 && fabs(r - circle) < 0.5 * width - 1.5 && cover[i] < 1.0 - 1e-3) {
            fail_msg("a line of %g pixels leaves %g of a pixel %g from a circle of %g", width, 1.0 - cover[i],
                     r - circle, circle);
        }
    }
    const double drawn = area / (2.0 * PI * circle), place = moment / area;
    print_message("a circle of %.2f pixels, a line of %g: %.3f wide, at %.3f\n", circle, width, drawn, place);
    assert_true(fabs(drawn - width) < tolerance * width);
    assert_true(fabs(place - (circle + width * width / (12.0 * circle))) < 0.2); // a ring has more area outside
}

static MoteRenderCollider solid(MoteCollider collider, MoteQuaternion rotation)
{
    collider.from = collider.to = (MoteTransform){{0, 0, 0}, rotation};
    return (MoteRenderCollider){.collider = collider, .look = MOTE_LOOK_SOLID};
}

static void test_ball(void **state)
{
    MoteRenderer *renderer = *state;
    OutlineTest test = make_test(0.1f, 1);
    test.scene.liquid.visible = false;
    for (float radius = 0.2f; radius < 1.0f; radius += 0.35f) {
        const MoteRenderCollider ball =
            solid((MoteCollider){.kind = MOTE_COLLIDER_SPHERE, .radius = radius}, (MoteQuaternion){0, 0, 0, 1});
        test.scene.colliders = &ball;
        test.scene.collider_count = 1;
        for (double width = 2.0; width <= 8.0; width *= 2.0) {
            expect_ring(renderer, &test, (double)radius, width, 0.06);
        }
        expect_ring(renderer, &test, (double)radius, 1.0, 0.12); // thinner where it slants
    }
    mote_world_destroy(test.world);
}

static void test_drop(void **state)
{
    MoteRenderer *renderer = *state;
    OutlineTest test = make_test(0.5f, 1);
    test.scene.liquid.anisotropy = false;
    expect_ring(renderer, &test, (double)(test.scene.liquid.radius * 0.5f), 2.0, 0.06);
    expect_ring(renderer, &test, (double)(test.scene.liquid.radius * 0.5f), 4.0, 0.06);
    mote_world_destroy(test.world);
}

// A box that turns an edge to the eye: an upright line in the middle of the picture, as wide as asked for, and nothing
// on the faces beside it.
static void test_crease(void **state)
{
    MoteRenderer *renderer = *state;
    static double cover[PIXELS];
    OutlineTest test = make_test(0.1f, 1);
    test.scene.liquid.visible = false;
    const double eighth = PI / 8.0; // half of the angle that it is turned by
    const MoteRenderCollider box = solid((MoteCollider){.kind = MOTE_COLLIDER_BOX, .half_size = {0.6f, 0.9f, 0.6f}},
                                         (MoteQuaternion){0, (float)sin(eighth), 0, (float)cos(eighth)});
    test.scene.colliders = &box;
    test.scene.collider_count = 1;
    for (double width = 1.0; width <= 4.0; width += 1.0) {
        measure_cover(renderer, &test, (float)width, cover);
        for (uint32_t y = SIZE / 2 - 30; y < SIZE / 2 + 30; y++) {
            double drawn = 0.0, moment = 0.0;
            for (uint32_t x = SIZE / 2 - 25; x < SIZE / 2 + 25; x++) {
                drawn += cover[y * SIZE + x];
                moment += cover[y * SIZE + x] * (x + 0.5 - 0.5 * SIZE);
            }
            if (fabs(drawn - width) > 0.02 * width || fabs(moment / drawn) > 1.0) {
                fail_msg("row %u: a line of %g pixels is %g wide, %g off its place", y, width, drawn, moment / drawn);
            }
        }
    }
    mote_world_destroy(test.world);
}

// Above ground that fades away 30 m off, there is a line around a ball, and none along the horizon.
static void test_ground(void **state)
{
    MoteRenderer *renderer = *state;
    OutlineTest test = make_test(0.1f, 1);
    test.scene.liquid.visible = false;
    test.scene.ground.visible = true;
    test.scene.ground.height = -2.0f;
    test.scene.ground.fade = 30.0f;
    const MoteRenderCollider ball =
        solid((MoteCollider){.kind = MOTE_COLLIDER_SPHERE, .radius = 0.5f}, (MoteQuaternion){0, 0, 0, 1});
    test.scene.colliders = &ball;
    test.scene.collider_count = 1;
    expect_ring(renderer, &test, 0.5, 2.0, 0.06);
    mote_world_destroy(test.world);
}

static void test_off(void **state)
{
    MoteRenderer *renderer = *state;
    OutlineTest test = make_test(0.5f, 1);
    assert_true(test.scene.picture.outline == 0.0f); // the default
    const MotePicture picture = {.width = SIZE, .height = SIZE, .samples = 1};
    static uint16_t before[4 * PIXELS], lines[4 * PIXELS], after[4 * PIXELS], view[4 * PIXELS], view_lines[4 * PIXELS];
    MUST(mote_renderer_draw(renderer, test.world, &test.scene, &picture));
    MUST(mote_renderer_read_rgba16(renderer, before));
    const MotePicture normals = {.width = SIZE, .height = SIZE, .samples = 1, .view = "normals"};
    MUST(mote_renderer_draw(renderer, test.world, &test.scene, &normals));
    MUST(mote_renderer_read_rgba16(renderer, view));
    test.scene.picture.outline = 3.0f;
    MUST(mote_renderer_draw(renderer, test.world, &test.scene, &normals));
    MUST(mote_renderer_read_rgba16(renderer, view_lines));
    MUST(mote_renderer_draw(renderer, test.world, &test.scene, &picture));
    MUST(mote_renderer_read_rgba16(renderer, lines));
    test.scene.picture.outline = 0.0f;
    MUST(mote_renderer_draw(renderer, test.world, &test.scene, &picture));
    MUST(mote_renderer_read_rgba16(renderer, after));
    assert_memory_equal(before, after, sizeof before);
    assert_memory_equal(view, view_lines, sizeof view);
    assert_memory_not_equal(before, lines, sizeof before);
    mote_world_destroy(test.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ball),   cmocka_unit_test(test_drop), cmocka_unit_test(test_crease),
        cmocka_unit_test(test_ground), cmocka_unit_test(test_off),
    };
    return cmocka_run_group_tests(tests, renderer_set_up, renderer_tear_down);
}
