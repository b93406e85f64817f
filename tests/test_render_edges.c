// SPDX-License-Identifier: MIT
// Edges of solids with several samples a pixel: their coverage against the closed form, how they move, and how near
// they come to a picture of many samples.
#include "render_fixture.h"

enum { WIDTH = 160, HEIGHT = 90, PIXELS = WIDTH * HEIGHT };
static const float EYE = 5.0f, FIELD_OF_VIEW = 40.0f;

static float half_to_float(uint16_t bits)
{
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const float value = exponent == 0 ? ldexpf((float)fraction, -24) : ldexpf((float)(fraction + 1024), exponent - 25);
    return bits >> 15 != 0 ? -value : value;
}

// The luminance of the scene behind the liquid, linear.
static void read_scene(MoteRenderer *renderer, float *luminance)
{
    Device *device = &renderer->device;
    Buffer host;
    MUST(buffer_create(device, "read back", BUFFER_READBACK, (size_t)PIXELS * 8, &host));
    MUST(device_begin(device));
    const VkBufferImageCopy region = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                      .imageExtent = {WIDTH, HEIGHT, 1}};
    vkCmdCopyImageToBuffer(device->commands, renderer->images[RESOURCE_scene_color].handle, VK_IMAGE_LAYOUT_GENERAL,
                           host.handle, 1, &region);
    MUST(device_submit(device));
    buffer_invalidate(device, &host);
    const uint16_t *pixels = host.mapped;
    for (uint32_t i = 0; i < PIXELS; i++) {
        luminance[i] = 0.2126f * half_to_float(pixels[4 * i]) + 0.7152f * half_to_float(pixels[4 * i + 1]) +
                       0.0722f * half_to_float(pixels[4 * i + 2]);
    }
    buffer_destroy(device, &host);
}

// ---- A half-plane ----

// The face of a plate, whose other faces are too thin to be seen, that fills the picture below a line, which rises by
// `angle` and lies `shift` pixels above the middle.
static MoteRenderCollider half_plane(double angle, double shift)
{
    const double focal = 0.5 * HEIGHT / tan(0.5 * FIELD_OF_VIEW * 3.14159265358979 / 180.0), side = 10.0;
    const double up = shift * EYE / focal - side; // of the box's middle, along the line's normal
    const MoteTransform place = {{(float)(-sin(angle) * up), (float)(cos(angle) * up), -0.0005f},
                                 {0, 0, (float)sin(0.5 * angle), (float)cos(0.5 * angle)}};
    return (MoteRenderCollider){
        .collider = {.kind = MOTE_COLLIDER_BOX, .half_size = {10, 10, 0.0005f}, .from = place, .to = place},
        .look = MOTE_LOOK_SOLID};
}

static void draw_half_plane(MoteRenderer *renderer, MoteWorld *world, uint32_t multisampling, double angle,
                            double shift, float *luminance)
{
    const MoteRenderCollider collider = half_plane(angle, shift);
    const MoteRenderMaterial dark = {.color = {0.02f, 0.02f, 0.02f}, .roughness = 1.0f};
    MoteRenderScene scene = make_scene((MoteVec3){0, 0, EYE}, (MoteVec3){0, 0, 0}, FIELD_OF_VIEW);
    scene.colliders = &collider;
    scene.collider_count = 1;
    scene.materials = &dark;
    scene.material_count = 1;
    scene.liquid.visible = false;
    scene.picture.multisampling = multisampling;
    MUST(mote_renderer_draw(renderer, world, &scene, &(MotePicture){.width = WIDTH, .height = HEIGHT, .samples = 1}));
    read_scene(renderer, luminance);
}

// How far a place of the picture is below the line, in pixels.
static double below(double x, double y, double angle, double shift)
{
    return (y - 0.5 * HEIGHT) * cos(angle) + (x - 0.5 * WIDTH) * sin(angle) + shift;
}

// The area of a pixel below the line: what is left of its square (Sutherland and Hodgman 1974).
static double exact_cover(uint32_t column, uint32_t row, double angle, double shift)
{
    const double corners[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    double points[8][2], area = 0.0;
    int count = 0;
    for (int i = 0; i < 4; i++) {
        const double ax = column + corners[i][0], ay = row + corners[i][1];
        const double bx = column + corners[(i + 1) % 4][0], by = row + corners[(i + 1) % 4][1];
        const double a = below(ax, ay, angle, shift), b = below(bx, by, angle, shift);
        if (a >= 0.0) {
            points[count][0] = ax;
            points[count++][1] = ay;
        }
        if ((a >= 0.0) != (b >= 0.0)) {
            points[count][0] = ax + a / (a - b) * (bx - ax);
            points[count++][1] = ay + a / (a - b) * (by - ay);
        }
    }
    for (int i = 0; i < count; i++) {
        const int next = (i + 1) % count;
        area += 0.5 * (points[i][0] * points[next][1] - points[next][0] * points[i][1]);
    }
    return area;
}

// What Vulkan's standard locations of four samples see of it; negative where one of them is so close to the line that
// rasterisers, which round to 1/256 of a pixel, may count it or not.
static double four_samples_cover(uint32_t column, uint32_t row, double angle, double shift)
{
    const double places[4][2] = {{0.375, 0.125}, {0.875, 0.375}, {0.125, 0.625}, {0.625, 0.875}};
    double share = 0.0;
    bool sure = true;
    for (int k = 0; k < 4; k++) {
        const double distance = below(column + places[k][0], row + places[k][1], angle, shift);
        share += distance > 0.0 ? 0.25 : 0.0;
        sure = sure && fabs(distance) > 0.02;
    }
    return sure ? share : -1.0;
}

typedef struct EdgeErrors {
    double root_mean_square, largest; // of the coverage of pixels that the edge goes through
    double from_samples;              // the largest difference from what four samples see
    uint32_t pixels, unsure;
} EdgeErrors;

static EdgeErrors edge_errors(MoteRenderer *renderer, MoteWorld *world, uint32_t multisampling)
{
    static float sky[PIXELS], face[PIXELS], edge[PIXELS];
    EdgeErrors errors = {0};
    double sum = 0.0;
    for (int a = 0; a < 6; a++) {
        const double angle = 0.05 + 0.27 * a, shift = 0.17 * a;
        draw_half_plane(renderer, world, multisampling, angle, -100.0, sky);
        draw_half_plane(renderer, world, multisampling, angle, 100.0, face);
        draw_half_plane(renderer, world, multisampling, angle, shift, edge);
        for (uint32_t i = 0; i < PIXELS; i++) {
            const double cover = exact_cover(i % WIDTH, i / WIDTH, angle, shift);
            const double found = (edge[i] - sky[i]) / (face[i] - sky[i]);
            if (cover > 0.0 && cover < 1.0) {
                sum += (found - cover) * (found - cover);
                errors.largest = fmax(errors.largest, fabs(found - cover));
                const double seen = four_samples_cover(i % WIDTH, i / WIDTH, angle, shift);
                errors.from_samples = fmax(errors.from_samples, seen >= 0.0 ? fabs(found - seen) : 0.0);
                errors.unsure += seen < 0.0;
                errors.pixels++;
            } else {
                assert_true(fabs(found - cover) < 0.01);
            }
        }
    }
    errors.root_mean_square = sqrt(sum / errors.pixels);
    printf(
        "coverage of %u pixels of edges (%u unsure), %u samples: error %.3f rms, %.3f largest; %.3f from what 4 see\n",
        errors.pixels, errors.unsure, mote_renderer_multisampling(renderer, multisampling), errors.root_mean_square,
        errors.largest, errors.from_samples);
    return errors;
}

static void test_coverage(void **state)
{
    MoteWorld *world = make_world("cpu", NULL, 0.05f, 2.0f, &(MoteVec3){0, 50, 0}, 1);
    const EdgeErrors one = edge_errors(*state, world, 1), four = edge_errors(*state, world, 4);
    assert_true(one.pixels > 800);
    assert_true(one.root_mean_square > 0.2 && one.largest > 0.45);
    assert_true(four.largest < 0.31 && four.root_mean_square < 0.11 &&
                four.root_mean_square < 0.45 * one.root_mean_square);
    assert_true(four.from_samples < 0.02 && four.unsure < four.pixels / 4); // exactly the standard four
    mote_world_destroy(world);
}

// The edge moves by a tenth of a pixel a picture: no pixel may jump by more than a sample or two.
static double largest_jump(MoteRenderer *renderer, MoteWorld *world, uint32_t multisampling, double *mean)
{
    static float sky[PIXELS], face[PIXELS], films[2][PIXELS];
    const double angle = 0.1; // at which no two of the standard four lie within 0.1 pixels of a line
    double largest = 0.0, sum = 0.0;
    draw_half_plane(renderer, world, multisampling, angle, -100.0, sky);
    draw_half_plane(renderer, world, multisampling, angle, 100.0, face);
    for (int f = 0; f < 20; f++) {
        float *now = films[f % 2], *before = films[(f + 1) % 2];
        draw_half_plane(renderer, world, multisampling, angle, 0.1 * f, now);
        for (uint32_t i = 0; i < PIXELS && f > 0; i++) {
            const double jump = fabs(((double)now[i] - before[i]) / ((double)face[i] - sky[i]));
            largest = fmax(largest, jump);
            sum += jump * jump;
        }
    }
    *mean = sqrt(sum / (19.0 * PIXELS));
    printf("an edge that creeps, %u samples: jumps of %.4f rms, %.3f at most\n",
           mote_renderer_multisampling(renderer, multisampling), *mean, largest);
    return largest;
}

static void test_creeping_edge(void **state)
{
    MoteWorld *world = make_world("cpu", NULL, 0.05f, 2.0f, &(MoteVec3){0, 50, 0}, 1);
    double one_mean, four_mean;
    const double one = largest_jump(*state, world, 1, &one_mean), four = largest_jump(*state, world, 4, &four_mean);
    assert_true(one > 0.99);
    assert_true(four < 0.27 && four_mean < 0.55 * one_mean);
    mote_world_destroy(world);
}

// ---- A scene of many edges ----

enum { COLLIDERS = 4, WIDE = 320, HIGH = 180 };

static MoteRenderScene many_edges(MoteRenderCollider *colliders)
{
    const MoteTransform places[COLLIDERS] = {{{-0.6f, 0.35f, 0}, {0, 0.2588f, 0, 0.9659f}},
                                             {{0.2f, 0.3f, 0.3f}, {0, 0, 0, 1}},
                                             {{0.7f, 0.4f, -0.2f}, {0, 0, 0.2588f, 0.9659f}},
                                             {{0.1f, 0.5f, -0.9f}, {0.1305f, 0, 0, 0.9914f}}};
    const MoteVec3 sizes[COLLIDERS] = {{0.3f, 0.35f, 0.2f}, {0, 0, 0}, {0, 0.25f, 0}, {1.0f, 0.4f, 0.05f}};
    const uint32_t kinds[COLLIDERS] = {MOTE_COLLIDER_BOX, MOTE_COLLIDER_SPHERE, MOTE_COLLIDER_CAPSULE,
                                       MOTE_COLLIDER_BOX};
    for (int i = 0; i < COLLIDERS; i++) {
        colliders[i] = (MoteRenderCollider){
            .collider = {.kind = kinds[i], .half_size = sizes[i], .from = places[i], .to = places[i]},
            .look = i == 3 ? MOTE_LOOK_GLASS : MOTE_LOOK_SOLID};
        colliders[i].collider.radius = kinds[i] == MOTE_COLLIDER_SPHERE    ? 0.3f
                                       : kinds[i] == MOTE_COLLIDER_CAPSULE ? 0.12f
                                                                           : 0.0f;
    }
    MoteRenderScene scene = make_scene((MoteVec3){0.4f, 1.1f, 2.4f}, (MoteVec3){0, 0.3f, 0}, 45.0f);
    scene.ground.visible = true;
    scene.ground.grid = 0.0f;
    scene.liquid.visible = false;
    scene.colliders = colliders;
    scene.collider_count = COLLIDERS;
    return scene;
}

static uint16_t *draw_many(MoteRenderer *renderer, MoteWorld *world, uint32_t multisampling, uint32_t samples,
                           bool antialias)
{
    MoteRenderCollider colliders[COLLIDERS];
    MoteRenderScene scene = many_edges(colliders);
    scene.picture.multisampling = multisampling;
    scene.picture.antialias = antialias;
    MUST(
        mote_renderer_draw(renderer, world, &scene, &(MotePicture){.width = WIDE, .height = HIGH, .samples = samples}));
    uint16_t *pixels = malloc((size_t)WIDE * HIGH * 4 * sizeof *pixels);
    MUST(mote_renderer_read_rgba16(renderer, pixels));
    return pixels;
}

// In dB, of 16-bit colours as displayed.
static double signal_to_noise(const uint16_t *a, const uint16_t *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < (size_t)WIDE * HIGH * 4; i++) {
        const double d = ((double)a[i] - b[i]) / 65535.0;
        sum += i % 4 < 3 ? d * d : 0.0;
    }
    return -10.0 * log10(sum / (3.0 * WIDE * HIGH));
}

static void test_like_many_samples(void **state)
{
    MoteWorld *world = make_world("cpu", NULL, 0.05f, 2.0f, &(MoteVec3){0, 50, 0}, 1);
    uint16_t *reference = draw_many(*state, world, 1, 64, true);
    double noise[2][2];
    for (int m = 0; m < 2; m++) {
        for (int a = 0; a < 2; a++) {
            uint16_t *picture = draw_many(*state, world, m == 0 ? 1 : 4, 1, a == 1);
            noise[m][a] = signal_to_noise(picture, reference);
            printf("multisampling %d, antialias %d: %.2f dB\n", m == 0 ? 1 : 4, a, noise[m][a]);
            free(picture);
        }
    }
    assert_true(noise[1][1] > noise[0][1] + 2.0); // over smoothing along edges alone
    assert_true(noise[1][0] > noise[0][0] + 5.0);
    free(reference);
    mote_world_destroy(world);
}

// Bit for bit: again, after pictures of another number of samples, and by another renderer.
static void test_repeats(void **state)
{
    MoteWorld *world = make_world("cpu", NULL, 0.05f, 2.0f, &(MoteVec3){0, 50, 0}, 1);
    const size_t bytes = (size_t)WIDE * HIGH * 4 * sizeof(uint16_t);
    uint16_t *first = draw_many(*state, world, 4, 1, true), *again = draw_many(*state, world, 4, 1, true);
    assert_memory_equal(first, again, bytes);
    free(again);
    free(draw_many(*state, world, 1, 1, true));
    free(draw_many(*state, world, 4, 2, true));
    again = draw_many(*state, world, 4, 1, true);
    assert_memory_equal(first, again, bytes);
    free(again);
    MoteRenderer *other = make_renderer(MOTE_SPLAT_AUTO);
    again = draw_many(other, world, 4, 1, true);
    assert_memory_equal(first, again, bytes);
    end_renderer(other);
    free(again);
    free(first);
    mote_world_destroy(world);
}

// The next count that the device has, and never more than was asked for.
static void test_sample_counts(void **state)
{
    const MoteRenderer *renderer = *state;
    assert_int_equal(mote_renderer_multisampling(renderer, 1), 1);
    assert_int_equal(mote_renderer_multisampling(renderer, 4), 4); // all devices have it
    assert_int_equal(mote_renderer_multisampling(renderer, 7), 4);
    for (uint32_t wanted = 1; wanted <= MOTE_MULTISAMPLING_MOST; wanted++) {
        const uint32_t samples = mote_renderer_multisampling(renderer, wanted);
        assert_true(samples >= 1 && samples <= wanted && (samples & (samples - 1)) == 0);
    }
    MoteWorld *world = make_world("cpu", NULL, 0.05f, 2.0f, &(MoteVec3){0, 50, 0}, 1);
    free(draw_many(*state, world, 8, 1, true));
    assert_int_equal(renderer->samples, mote_renderer_multisampling(renderer, 8));
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage), cmocka_unit_test(test_creeping_edge), cmocka_unit_test(test_like_many_samples),
        cmocka_unit_test(test_repeats),  cmocka_unit_test(test_sample_counts),
    };
    return cmocka_run_group_tests(tests, renderer_set_up, renderer_tear_down);
}
