// SPDX-License-Identifier: MIT
// The renderer's geometry against closed forms: spheres and ellipsoids, the axes of sheets and lines, a flat pool.
#include "render_fixture.h"

enum { WIDTH = 160, HEIGHT = 120 };
static const double PI = 3.14159265358979323846;

typedef struct Ray {
    double direction[3]; // its part along the view direction is 1
} Ray;

// The pixel's ray, from the documented camera alone: no code is shared with the renderer.
static Ray ray_of(const MoteCamera *camera, uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
    const double f[3] = {(double)camera->target.x - camera->position.x, (double)camera->target.y - camera->position.y,
                         (double)camera->target.z - camera->position.z};
    const double length = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
    const double forward[3] = {f[0] / length, f[1] / length, f[2] / length};
    const double flat = sqrt(forward[0] * forward[0] + forward[2] * forward[2]);
    const double right[3] = {-forward[2] / flat, 0.0, forward[0] / flat};
    const double up[3] = {right[1] * forward[2] - right[2] * forward[1], right[2] * forward[0] - right[0] * forward[2],
                          right[0] * forward[1] - right[1] * forward[0]};
    const double scale = tan(0.5 * camera->field_of_view * PI / 180.0) / (0.5 * height);
    const double sx = (x + 0.5 - 0.5 * width) * scale, sy = (0.5 * height - y - 0.5) * scale;
    Ray ray;
    for (int k = 0; k < 3; k++) {
        ray.direction[k] = forward[k] + sx * right[k] + sy * up[k];
    }
    return ray;
}

// An ellipsoid with these three axes (rows, as long as its radii), which are orthogonal. Returns the discriminant of
// the ray's quadratic (0 on the outline, 1 through the middle) and the nearer hit, or infinity.
static double hit(const double centre[3], double axes[3][3], const double eye[3], const Ray *ray, double *depth)
{
    double dd = 0.0, od = 0.0, oo = 0.0;
    for (int k = 0; k < 3; k++) {
        double squared = 0.0, d = 0.0, o = 0.0;
        for (int j = 0; j < 3; j++) {
            squared += axes[k][j] * axes[k][j];
            d += axes[k][j] * ray->direction[j];
            o += axes[k][j] * (eye[j] - centre[j]);
        }
        dd += d * d / (squared * squared);
        od += o * d / (squared * squared);
        oo += o * o / (squared * squared);
    }
    const double inside = 1.0 - (oo - od * od / dd);
    *depth = inside >= 0.0 ? -od / dd - sqrt(inside / dd) : INFINITY;
    return inside;
}

// Compares a drawn depth with the nearest of these ellipsoids at every pixel; returns how many pixels see one.
static uint32_t compare_depth(const float *depth, const MoteCamera *camera, const float *rows, uint32_t count)
{
    const double eye[3] = {camera->position.x, camera->position.y, camera->position.z};
    uint32_t seen = 0;
    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t x = 0; x < WIDTH; x++) {
            const Ray ray = ray_of(camera, x, y, WIDTH, HEIGHT);
            double nearest = INFINITY;
            bool outline = false; // within rounding of some ellipsoid's outline either answer is right
            for (uint32_t i = 0; i < count; i++) {
                const float *m = rows + 12 * i;
                const double centre[3] = {m[3], m[7], m[11]};
                double axes[3][3];
                for (int k = 0; k < 3; k++) {
                    for (int j = 0; j < 3; j++) {
                        axes[k][j] = m[4 * j + k];
                    }
                }
                double z;
                outline |= fabs(hit(centre, axes, eye, &ray, &z)) < 2e-4;
                nearest = fmin(nearest, z);
            }
            const double drawn = depth[y * WIDTH + x];
            seen += isfinite(drawn) ? 1 : 0;
            if (!outline && isinf(nearest) != isinf(drawn)) {
                fail_msg("pixel %u, %u: %g drawn, %g expected", x, y, drawn, nearest);
            }
            if (!outline && isfinite(nearest) && fabs(drawn - nearest) > 1e-4 * nearest) {
                fail_msg("pixel %u, %u: depth %.7g, expected %.7g", x, y, drawn, nearest);
            }
        }
    }
    return seen;
}

static float *draw_depth(MoteRenderer *renderer, MoteWorld *world, const MoteRenderScene *scene)
{
    MUST(mote_renderer_draw(renderer, world, scene,
                            &(MotePicture){.width = WIDTH, .height = HEIGHT, .samples = 1, .layers = true}));
    return read_layer(renderer, "depth", WIDTH, HEIGHT);
}

static float *read_ellipsoids(MoteRenderer *renderer, uint32_t count)
{
    const SimplePass *pass = renderer->states[PASS_anisotropy];
    return read_buffer(renderer, &pass->buffer, (size_t)count * 12 * sizeof(float));
}

static const uint32_t methods[] = {MOTE_SPLAT_COMPUTE, MOTE_SPLAT_QUADS};

// A sphere large and small, in the middle of the screen, at its edges and across them.
static void test_sphere_depth(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        MoteRenderer *renderer = make_renderer(methods[m]);
        const float places[][3] = {{0, 0, 0}, {1.25f, 0.0f, 0}, {-1.3f, 0.9f, 0}, {0.4f, -1.0f, 0.5f}, {0, 0, 1.4f}};
        for (uint32_t p = 0; p < sizeof places / sizeof places[0]; p++) {
            for (float radius = 0.05f; radius < 1.0f; radius *= 4.0f) {
                const MoteVec3 point = {places[p][0], places[p][1], places[p][2]};
                MoteWorld *world = make_world("cpu", NULL, radius, 2.0f, &point, 1);
                MoteRenderScene scene = make_scene((MoteVec3){0.3f, 0.2f, 3.0f}, (MoteVec3){0, 0, 0}, 45.0f);
                scene.liquid.anisotropy = false;
                scene.liquid.radius = 1.0f;
                float *depth = draw_depth(renderer, world, &scene);
                const float rows[12] = {radius, 0, 0, point.x, 0, radius, 0, point.y, 0, 0, radius, point.z};
                assert_true(compare_depth(depth, &scene.camera, rows, 1) > 3);
                free(depth);
                mote_world_destroy(world);
            }
        }
        end_renderer(renderer);
    }
}

// A crumpled sheet, whose ellipsoids are all different.
static void test_ellipsoid_depth(void **state)
{
    (void)state;
    enum { SIDE = 7, COUNT = SIDE * SIDE };
    MoteVec3 points[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const float x = (float)(i % SIDE - SIDE / 2), z = (float)(i / SIDE - SIDE / 2);
        points[i] = (MoteVec3){0.1f * x, 0.05f * sinf(1.3f * x + 0.4f * z), 0.1f * z};
    }
    for (int m = 0; m < 2; m++) {
        MoteRenderer *renderer = make_renderer(methods[m]);
        MoteWorld *world = make_world("cpu", NULL, 0.1f, 2.2f, points, COUNT);
        MoteRenderScene scene = make_scene((MoteVec3){0.5f, 0.9f, 1.1f}, (MoteVec3){0, 0, 0}, 50.0f);
        scene.liquid.isolated_below = 3;
        float *depth = draw_depth(renderer, world, &scene);
        float *rows = read_ellipsoids(renderer, COUNT);
        assert_true(compare_depth(depth, &scene.camera, rows, COUNT) > 2000);
        free(rows);
        free(depth);
        mote_world_destroy(world);
        end_renderer(renderer);
    }
}

// Spheres that fill the screen, of which a single one has more pixels than some drivers let a loop go round: every
// pixel is there, of the nearest of them.
static void test_spheres_as_large_as_the_screen(void **state)
{
    (void)state;
    enum { WIDE = 480, HIGH = 320, COUNT = 3 };
    const MoteVec3 points[COUNT] = {{0, 0, 0}, {1.1f, 0.2f, 0.1f}, {-0.9f, -0.5f, 0.35f}};
    const double eye = 1.9, radius = 1.0;
    for (int kind = 0; kind < 3; kind++) { // liquid by both ways, then grains
        MoteRenderer *renderer = make_renderer(methods[kind % 2]);
        MoteSettings settings = mote_default_settings();
        MoteRenderScene scene = make_scene((MoteVec3){0, 0, (float)eye}, (MoteVec3){0, 0, 0}, 40.0f);
        settings.spacing = (float)radius / (kind < 2 ? scene.liquid.isolated_radius : 0.5f * settings.solid_distance);
        MoteWorld *world;
        MUST(mote_world_create(&settings, &(MoteBackendOptions){.backend = "cpu"}, &world));
        MUST(mote_world_add_particles(world,
                                      &(MoteParticles){.count = COUNT,
                                                       .positions = points,
                                                       .mass = 1.0f,
                                                       .phase = kind < 2 ? MOTE_PHASE_FLUID : MOTE_PHASE_SELF},
                                      NULL));
        MUST(mote_renderer_draw(renderer, world, &scene,
                                &(MotePicture){.width = WIDE, .height = HIGH, .samples = 1, .layers = true}));
        float *depth = read_layer(renderer, "depth", WIDE, HIGH), *ids = read_layer(renderer, "id", WIDE, HIGH);
        uint32_t seen = 0;
        for (uint32_t i = 0; i < WIDE * HIGH; i++) {
            const Ray ray = ray_of(&scene.camera, i % WIDE, i / WIDE, WIDE, HIGH);
            double nearest[COUNT], first = INFINITY, second = INFINITY;
            bool outline = false;
            for (int k = 0; k < COUNT; k++) {
                const double centre[3] = {points[k].x, points[k].y, points[k].z}, from[3] = {0, 0, eye};
                double axes[3][3] = {{radius, 0, 0}, {0, radius, 0}, {0, 0, radius}};
                outline |= fabs(hit(centre, axes, from, &ray, &nearest[k])) < 2e-4;
                second = fmin(second, fmax(first, nearest[k]));
                first = fmin(first, nearest[k]);
            }
            const double drawn = depth[i];
            if (outline || (isinf(first) && isinf(drawn))) {
                continue;
            }
            seen++;
            if (!(fabs(drawn - first) <= 1e-4 * first)) {
                fail_msg("kind %d, pixel %u, %u: depth %g, expected %g", kind, i % WIDE, i / WIDE, drawn, first);
            }
            uint32_t who; // id + 1, as bits
            memcpy(&who, &ids[i], sizeof who);
            assert_true(second - first < 1e-3 || (who > 0 && who <= COUNT && nearest[who - 1] == first));
        }
        assert_true(seen > 100000);
        free(depth);
        free(ids);
        mote_world_destroy(world);
        end_renderer(renderer);
    }
}

// Radii of an ellipsoid, longest first, with their directions.
static void sort_axes(const float *rows, double radii[3], double directions[3][3])
{
    int order[3] = {0, 1, 2};
    double length[3];
    for (int k = 0; k < 3; k++) {
        length[k] =
            sqrt((double)rows[k] * rows[k] + (double)rows[4 + k] * rows[4 + k] + (double)rows[8 + k] * rows[8 + k]);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < 2; k++) {
            if (length[order[k]] < length[order[k + 1]]) {
                const int swap = order[k];
                order[k] = order[k + 1];
                order[k + 1] = swap;
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        radii[k] = length[order[k]];
        for (int j = 0; j < 3; j++) {
            directions[k][j] = rows[4 * j + order[k]] / radii[k];
        }
    }
}

// A flat sheet in a tilted plane: thin along its normal, round in it. A line: long along itself.
static void test_axes_of_sheet_and_line(void **state)
{
    (void)state;
    const double tilt = 0.6;
    const double along[3] = {cos(tilt), sin(tilt), 0}, normal[3] = {-sin(tilt), cos(tilt), 0};
    enum { SIDE = 11 };
    MoteVec3 sheet[SIDE * SIDE], line[SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        const double u = 0.1 * (i % SIDE - SIDE / 2), v = 0.1 * (i / SIDE - SIDE / 2);
        sheet[i] = (MoteVec3){(float)(u * along[0]), (float)(u * along[1]), (float)v};
    }
    for (int i = 0; i < SIDE; i++) {
        const double u = 0.1 * (i - SIDE / 2);
        line[i] = (MoteVec3){(float)(u * along[0]), (float)(u * along[1]), 0.0f};
    }
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteRenderScene scene = make_scene((MoteVec3){0, 2, 3}, (MoteVec3){0, 0, 0}, 45.0f);
    scene.liquid.isolated_below = 1;
    scene.liquid.stretch = 4.0f;
    double radii[3], axes[3][3];

    MoteWorld *world = make_world("cpu", NULL, 0.1f, 3.0f, sheet, SIDE * SIDE);
    free(draw_depth(renderer, world, &scene));
    float *rows = read_ellipsoids(renderer, SIDE * SIDE);
    sort_axes(rows + 12 * (SIDE * SIDE / 2), radii, axes);
    assert_true(fabs(radii[0] / radii[1] - 1.0) < 1e-3);
    assert_true(fabs(radii[0] / radii[2] - 4.0) < 1e-3);
    assert_true(fabs(axes[2][0] * normal[0] + axes[2][1] * normal[1]) > 1.0 - 1e-6);
    free(rows);
    mote_world_destroy(world);

    world = make_world("cpu", NULL, 0.1f, 3.0f, line, SIDE);
    free(draw_depth(renderer, world, &scene));
    rows = read_ellipsoids(renderer, SIDE);
    sort_axes(rows + 12 * (SIDE / 2), radii, axes);
    assert_true(fabs(axes[0][0] * along[0] + axes[0][1] * along[1]) > 1.0 - 1e-6);
    assert_true(fabs(radii[0] / radii[1] - 4.0) < 1e-3 && fabs(radii[0] / radii[2] - 4.0) < 1e-3);
    free(rows);
    mote_world_destroy(world);
    end_renderer(renderer);
}

// Deep inside a lattice an ellipsoid is a ball of the draw radius, and its centre stays where it is.
static void test_inside_is_round(void **state)
{
    (void)state;
    enum { SIDE = 7, COUNT = SIDE * SIDE * SIDE };
    MoteVec3 points[COUNT];
    for (int i = 0; i < COUNT; i++) {
        points[i] =
            (MoteVec3){0.1f * (float)(i % SIDE), 0.1f * (float)(i / SIDE % SIDE), 0.1f * (float)(i / SIDE / SIDE)};
    }
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_world("cpu", NULL, 0.1f, 2.0f, points, COUNT);
    MoteRenderScene scene = make_scene((MoteVec3){0.3f, 1, 3}, (MoteVec3){0.3f, 0.3f, 0.3f}, 45.0f);
    free(draw_depth(renderer, world, &scene));
    float *rows = read_ellipsoids(renderer, COUNT);
    double radii[3], axes[3][3];
    sort_axes(rows + 12 * (COUNT / 2), radii, axes);
    for (int k = 0; k < 3; k++) {
        assert_true(fabs(radii[k] / (0.1 * scene.liquid.radius) - 1.0) < 0.05);
        assert_true(fabs(rows[12 * (COUNT / 2) + 4 * k + 3] - 0.3) < 1e-6);
    }
    free(rows);
    mote_world_destroy(world);
    end_renderer(renderer);
}

// A still pool: after smoothing, the surface is a plane to a hundredth of a particle's radius, seen at a slant.
static void test_pool_is_flat(void **state)
{
    (void)state;
    enum { SIDE = 48, LAYERS = 4, COUNT = SIDE * SIDE * LAYERS, W = 320, H = 240 };
    const float spacing = 0.05f;
    MoteVec3 *points = malloc(COUNT * sizeof *points);
    for (int i = 0; i < COUNT; i++) {
        const int x = i % SIDE, z = i / SIDE % SIDE, y = i / SIDE / SIDE;
        points[i] = (MoteVec3){spacing * ((float)x - 23.5f), spacing * (float)y, spacing * ((float)z - 23.5f)};
    }
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_world("cpu", NULL, spacing, 2.0f, points, COUNT);
    const uint32_t smoothers[] = {MOTE_SMOOTHING_NARROW_RANGE, MOTE_SMOOTHING_BILATERAL};
    for (int s = 0; s < 2; s++) {
        MoteRenderScene scene = make_scene((MoteVec3){0.2f, 1.6f, 1.8f}, (MoteVec3){0, 0.15f, 0}, 30.0f);
        scene.liquid.smoothing = smoothers[s];
        MUST(mote_renderer_draw(renderer, world, &scene,
                                &(MotePicture){.width = W, .height = H, .samples = 1, .layers = true}));
        float *depth = read_layer(renderer, "depth", W, H);
        double lowest = INFINITY, highest = -INFINITY;
        for (uint32_t y = H / 4; y < 3 * H / 4; y++) {
            for (uint32_t x = W / 4; x < 3 * W / 4; x++) {
                const Ray ray = ray_of(&scene.camera, x, y, W, H);
                const double height = scene.camera.position.y + depth[y * W + x] * ray.direction[1];
                lowest = fmin(lowest, height);
                highest = fmax(highest, height);
            }
        }
        printf("smoother %d: the pool's surface lies between %.5f and %.5f m\n", s, lowest, highest);
        assert_true(highest - lowest < 0.01 * spacing * scene.liquid.radius);
        free(depth);
    }
    free(points);
    mote_world_destroy(world);
    end_renderer(renderer);
}

// A block of liquid, seen from the front and from far away: as thick as it is, at any resolution.
static void test_thickness_of_a_block(void **state)
{
    (void)state;
    enum { SIDE = 20, COUNT = SIDE * SIDE * SIDE };
    const float spacing = 0.05f;
    MoteVec3 *points = malloc(COUNT * sizeof *points);
    for (int i = 0; i < COUNT; i++) {
        points[i] = (MoteVec3){spacing * ((float)(i % SIDE) - 9.5f), spacing * ((float)(i / SIDE % SIDE) - 9.5f),
                               spacing * ((float)(i / SIDE / SIDE) - 9.5f)};
    }
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_world("cpu", NULL, spacing, 2.0f, points, COUNT);
    const uint32_t widths[] = {40, 160, 640}; // particles less than a pixel apart, and many
    for (int w = 0; w < 3; w++) {
        const uint32_t width = widths[w], height = width * 3 / 4;
        const MoteRenderScene scene = make_scene((MoteVec3){0, 0, 20}, (MoteVec3){0, 0, 0}, 5.0f);
        MUST(mote_renderer_draw(renderer, world, &scene,
                                &(MotePicture){.width = width, .height = height, .samples = 1, .layers = true}));
        float *thickness = read_layer(renderer, "thickness", width, height);
        double sum = 0.0;
        uint32_t count = 0;
        for (uint32_t y = height * 2 / 5; y < height * 3 / 5; y++) {
            for (uint32_t x = width * 2 / 5; x < width * 3 / 5; x++) {
                sum += thickness[y * width + x];
                count++;
            }
        }
        printf("width %u: %.4f m in the middle, expected 1\n", width, sum / count);
        assert_true(fabs(sum / count - 1.0) < 0.03);
        free(thickness);
    }
    free(points);
    mote_world_destroy(world);
    end_renderer(renderer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sphere_depth),
        cmocka_unit_test(test_ellipsoid_depth),
        cmocka_unit_test(test_spheres_as_large_as_the_screen),
        cmocka_unit_test(test_axes_of_sheet_and_line),
        cmocka_unit_test(test_inside_is_round),
        cmocka_unit_test(test_pool_is_flat),
        cmocka_unit_test(test_thickness_of_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
