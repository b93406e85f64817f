// SPDX-License-Identifier: MIT
// Everything but the liquid: depth and shadows of solids against closed forms, the looks of all shapes.
#include "ray_fixture.h"
#include "short_tests.h"

// ---- Depth ----

// Compares the depth of one shape with rays; returns how many pixels see it. Within a pixel of the outline either
// answer is right, for a sphere's mesh is a little inside of the sphere.
static uint32_t compare_depth(const float *depth, const MoteRenderScene *scene, const MoteShape *shape,
                              double tolerance)
{
    const Camera camera = camera_of(scene);
    uint32_t seen = 0;
    for (uint32_t y = 1; y + 1 < HEIGHT; y++) {
        for (uint32_t x = 1; x + 1 < WIDTH; x++) {
            const double drawn = depth[y * WIDTH + x];
            bool some = false, all = true;
            for (uint32_t k = 0; k < 9; k++) {
                const Vector ray = unit(pixel_ray(&camera, x + k % 3 - 1, y + k / 3 - 1));
                const bool meets = isfinite(ray_hit(shape, camera.eye, ray, false));
                some = some || meets;
                all = all && meets;
            }
            if (!some && isfinite(drawn)) {
                fail_msg("pixel %u, %u: something at %g, expected nothing", x, y, drawn);
            }
            if (all) {
                const Vector ray = unit(pixel_ray(&camera, x, y));
                const double expected = ray_hit(shape, camera.eye, ray, shape->inside_out) * dot(ray, camera.forward);
                if (!(fabs(drawn - expected) <= tolerance)) {
                    fail_msg("pixel %u, %u: depth %.7g, expected %.7g", x, y, drawn, expected);
                }
                seen++;
            }
        }
    }
    return seen;
}

static void test_depth_of_solids(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_dry_world();
    for (uint32_t kind = MOTE_SHAPE_BOX; kind <= MOTE_SHAPE_CAPSULE; kind++) {
        for (uint32_t inside_out = 0; inside_out < 2; inside_out++) {
            MoteRenderScene scene = make_dry_scene((MoteVec3){0.5f, 0.6f, 2.0f}, (MoteVec3){0.1f, 0.0f, 0.0f});
            MoteRenderShape shape = solid(kind, (MoteVec3){0.15f, 0.1f, -0.2f}, TURNED);
            shape.shape.inside_out = inside_out != 0;
            scene.shapes = &shape;
            scene.shape_count = 1;
            float *depth = draw_layer(renderer, world, &scene, "depth");
            // Along the ray, a mesh of 64 x 32 facets is off by r / 800 over the cosine of the incidence.
            const double tolerance = kind == MOTE_SHAPE_BOX ? 2e-4 : 0.004;
            assert_true(compare_depth(depth, &scene, &shape.shape, tolerance) > 300);
            free(depth);
        }
    }
    mote_world_destroy(world);
    end_renderer(renderer);
}

static void test_depth_of_ground_and_plane(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_dry_world();
    MoteRenderScene scene = make_dry_scene((MoteVec3){0.5f, 0.9f, 3.0f}, (MoteVec3){0.1f, 0.5f, 0.0f});
    MoteRenderShape plane = solid(MOTE_SHAPE_PLANE, (MoteVec3){0.0f, -0.2f, 0.0f}, TURNED);
    scene.ground.visible = true;
    scene.ground.height = -0.3f;
    scene.ground.fade = 1e6f;
    scene.shapes = &plane;
    scene.shape_count = 1;
    float *depth = draw_layer(renderer, world, &scene, "depth");
    const Camera camera = camera_of(&scene);
    const Vector n = turn(TURNED, (Vector){0, 1, 0}, false), up = {0, 1, 0};
    uint32_t on_ground = 0, on_plane = 0, nothing = 0;
    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t x = 0; x < WIDTH; x++) {
            const Vector ray = pixel_ray(&camera, x, y);
            const double ground = -(camera.eye.y + 0.3) / dot(ray, up);
            const double tilted = -dot(add(camera.eye, 0.2, up), n) / dot(ray, n);
            const double nearest = fmin(ground > 0.0 ? ground : INFINITY, tilted > 0.0 ? tilted : INFINITY);
            const double drawn = depth[y * WIDTH + x];
            if (nearest > 200.0) { // grazing, faded away, or sky
                assert_true(drawn > 190.0);
                nothing++;
            } else if (!(fabs(drawn - nearest) <= 1e-4 * nearest)) {
                fail_msg("pixel %u, %u: depth %.7g, expected %.7g", x, y, drawn, nearest);
            }
            on_ground += isfinite(nearest) && nearest == ground ? 1 : 0;
            on_plane += isfinite(nearest) && nearest == tilted ? 1 : 0;
        }
    }
    assert_true(on_ground > 1000 && on_plane > 1000 && nothing > 100);
    free(depth);
    mote_world_destroy(world);
    end_renderer(renderer);
}

// However many samples: a ball in the middle of the picture stays there, in even light, and its edge is between.
static void test_samples_stay_in_place(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_dry_world();
    MoteRenderScene scene = make_dry_scene((MoteVec3){0, 0, 4}, (MoteVec3){0, 0, 0});
    scene.sky.kind = MOTE_SKY_COLOR;
    scene.sky.color = (MoteVec3){1, 1, 1};
    scene.sky.sun_brightness = 0.0f;
    MoteRenderShape ball = solid(MOTE_SHAPE_SPHERE, (MoteVec3){0, 0, 0}, UPRIGHT);
    scene.shapes = &ball;
    scene.shape_count = 1;
    const uint32_t counts[] = {1, 2, 3, 4, 5, 8, 16};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        MUST(
            mote_renderer_draw(renderer, world, &scene,
                               &(MotePicture){.width = WIDTH, .height = HEIGHT, .samples = counts[k], .layers = true}));
        float *colors = read_layer(renderer, "color", WIDTH, HEIGHT);
        double sum = 0.0, sum_x = 0.0, sum_y = 0.0;
        for (uint32_t y = 0; y < HEIGHT; y++) {
            for (uint32_t x = 0; x < WIDTH; x++) {
                const double dark = 1.0 - (double)at(colors, x, y)[1];
                sum += dark;
                sum_x += dark * (x + 0.5 - 0.5 * WIDTH);
                sum_y += dark * (y + 0.5 - 0.5 * HEIGHT);
            }
        }
        printf("%2u samples: the ball is off by %.4f, %.4f pixels\n", counts[k], sum_x / sum, sum_y / sum);
        assert_true(sum > 100.0);
        assert_true(fabs(sum_x / sum) < 0.02 && fabs(sum_y / sum) < 0.02);
        free(colors);
    }
    mote_world_destroy(world);
    end_renderer(renderer);
}

// ---- Shadows ----

// Umbra is black and what no ray of the sun is kept from is fully lit; in between lies the penumbra.
static void test_shadows_of_solids(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_dry_world();
    for (uint32_t kind = MOTE_SHAPE_BOX; kind <= MOTE_SHAPE_CAPSULE; kind++) {
        MoteRenderScene scene = make_sunlit_ground((MoteVec3){0.3f, 2.5f, 2.2f}, (MoteVec3){-0.1f, 0.2f, -0.1f});
        scene.sky.sun_azimuth = 60.0f + 40.0f * (float)kind;
        scene.sky.sun_elevation = 50.0f;
        MoteRenderShape shape = solid(kind, (MoteVec3){0.0f, 0.55f, 0.0f}, TURNED);
        scene.shapes = &shape;
        scene.shape_count = 1;
        float *colors = draw_layer(renderer, world, &scene, "color");
        const Camera camera = camera_of(&scene);
        const Vector sun = sun_of(&scene);
        const double lit = scene.sky.sun_brightness * sun.y / PI, slope = tan(0.5 * scene.sky.sun_size * PI / 180.0);
        uint32_t dark = 0, bright = 0, half = 0;
        for (uint32_t y = 0; y < HEIGHT; y++) {
            for (uint32_t x = 0; x < WIDTH; x++) {
                const Vector ray = pixel_ray(&camera, x, y);
                const Vector point = add(camera.eye, -camera.eye.y / ray.y, ray);
                if (isfinite(ray_hit(&shape.shape, camera.eye, unit(ray), false))) {
                    continue;
                }
                const int kept = rays_kept(&shape.shape, point, sun, 1.3 * slope, 0.015);
                const double seen = at(colors, x, y)[1] / lit;
                if (kept == 16 && seen > 0.02) {
                    fail_msg("pixel %u, %u: %g of the sun in the umbra", x, y, seen);
                }
                if (kept == 0 && seen > 1e-3 && fabs(seen - 1.0) > 0.01) {
                    fail_msg("pixel %u, %u: %g of the sun, expected all", x, y, seen);
                }
                dark += kept == 16 ? 1 : 0;
                bright += kept == 0 && seen > 0.99 ? 1 : 0;
                half += seen > 0.25 && seen < 0.75 ? 1 : 0;
            }
        }
        assert_true(dark > 300 && bright > 5000 && half > 10);
        free(colors);
    }
    mote_world_destroy(world);
    end_renderer(renderer);
}

// A block of liquid colours the light behind it by its depth along the sun's rays, and nothing else.
static void test_shadow_of_liquid(void **state)
{
    (void)state;
    enum { SIDE = 20 };
    static MoteVec3 points[SIDE * SIDE * SIDE];
    const float spacing = 0.05f, low = -0.5f * spacing * SIDE;
    for (uint32_t i = 0; i < SIDE * SIDE * SIDE; i++) {
        const uint32_t x = i % SIDE, y = i / SIDE % SIDE, z = i / (SIDE * SIDE);
        points[i] = (MoteVec3){low + spacing * ((float)x + 0.5f), 0.6f + spacing * ((float)y + 0.5f),
                               low + spacing * ((float)z + 0.5f)};
    }
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_world("cpu", NULL, spacing, 2.0f, points, SIDE * SIDE * SIDE);
    MoteRenderScene scene = make_sunlit_ground((MoteVec3){-2.5f, 2.5f, 0.5f}, (MoteVec3){-1.0f, 0.0f, 0.0f});
    scene.liquid.visible = true;
    scene.sky.sun_azimuth = 90.0f;
    scene.sky.sun_elevation = 45.0f;
    const MoteRenderMaterial ink = {.color = {0.9f, 0.5f, 0.1f}, .absorption = 1.0f};
    scene.materials = &ink;
    float *colors = draw_layer(renderer, world, &scene, "color"), *depth = read_layer(renderer, "depth", WIDTH, HEIGHT);
    const MoteShape block = {
        .kind = MOTE_SHAPE_BOX, .half_size = {0.5f, 0.5f, 0.5f}, .to = {{0.0f, 1.1f, 0.0f}, UPRIGHT}};
    const Camera camera = camera_of(&scene);
    const Vector sun = sun_of(&scene);
    const double lit = scene.sky.sun_brightness * sun.y / PI;
    uint32_t shaded = 0, bright = 0;
    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t x = 0; x < WIDTH; x++) {
            const Vector ray = pixel_ray(&camera, x, y);
            const double z = -camera.eye.y / ray.y;
            if (z < 0.0 || fabs(depth[y * WIDTH + x] - z) > 1e-3 * z) {
                continue; // not the ground
            }
            const Vector point = add(camera.eye, z, ray);
            const double seen[3] = {at(colors, x, y)[0] / lit, at(colors, x, y)[1] / lit, at(colors, x, y)[2] / lit};
            const double enters = ray_hit(&block, point, sun, false);
            const double metres = isfinite(enters) ? ray_hit(&block, point, sun, true) - enters : 0.0;
            if (metres > 0.4 && rays_kept(&block, point, sun, 0.0, 0.15) == 16) {
                for (int k = 0; k < 3; k++) {
                    const double expected = exp(-(k == 0 ? 0.1 : k == 1 ? 0.5 : 0.9) * metres);
                    // The surface itself takes 10 to 20 percent, and the column is smoothed over a spacing or two.
                    if (seen[k] > 0.97 * expected || seen[k] < 0.7 * expected) {
                        fail_msg("pixel %u, %u: %g of colour %d behind %g m, expected about %g", x, y, seen[k], k,
                                 metres, 0.85 * expected);
                    }
                }
                shaded++;
            } else if (rays_kept(&block, point, sun, 0.0, 0.2) == 0 && metres == 0.0) {
                assert_true(fabs(seen[1] - 1.0) < 0.01);
                bright++;
            }
        }
    }
    assert_true(shaded > 300 && bright > 1000);
    free(depth);
    free(colors);

    scene.liquid.shadow = 0.0f;
    colors = draw_layer(renderer, world, &scene, "color");
    for (uint32_t x = 0; x < WIDTH; x++) {
        assert_true(fabs(at(colors, x, HEIGHT - 1)[2] / lit - 1.0) < 0.01); // the lowest row is ground
    }
    free(colors);
    mote_world_destroy(world);
    end_renderer(renderer);
}

// ---- Looks ----

static double mean_difference(const float *a, const float *b)
{
    double sum = 0.0;
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT * 4; i++) {
        sum += fabs((double)a[i] - (double)b[i]);
    }
    return sum / (WIDTH * HEIGHT * 4);
}

static void test_looks(void **state)
{
    (void)state;
    MoteRenderer *renderer = make_renderer(MOTE_SPLAT_AUTO);
    MoteWorld *world = make_dry_world();
    MoteRenderScene scene = make_dry_scene((MoteVec3){0.8f, 1.0f, 2.0f}, (MoteVec3){0, 0.3f, 0});
    scene.ground.visible = true;
    float *empty = draw_layer(renderer, world, &scene, "color");
    float *empty_depth = read_layer(renderer, "depth", WIDTH, HEIGHT);
    for (uint32_t i = 0; i < SHAPE_KINDS * 2; i++) {
        MoteRenderShape shape = solid(i / 2, (MoteVec3){0, 0.5f, 0}, UPRIGHT);
        shape.shape.inside_out = i % 2 == 1;
        scene.shapes = &shape;
        scene.shape_count = 1;
        float *colors[MOTE_LOOK_HIDDEN + 1] = {NULL};
        for (uint32_t look = MOTE_LOOK_SOLID; look <= MOTE_LOOK_HIDDEN; look++) {
            shape.look = look;
            colors[look] = draw_layer(renderer, world, &scene, "color");
            float *depth = read_layer(renderer, "depth", WIDTH, HEIGHT);
            const bool same = memcmp(depth, empty_depth, (size_t)WIDTH * HEIGHT * sizeof *depth) == 0;
            // A plane that is turned away from the camera is not drawn.
            const bool drawn = look == MOTE_LOOK_SOLID && !(shape.shape.kind == MOTE_SHAPE_PLANE && i % 2 == 1);
            assert_int_equal(same, !drawn);
            free(depth);
        }
        assert_memory_equal(colors[MOTE_LOOK_HIDDEN], empty, (size_t)WIDTH * HEIGHT * 4 * sizeof(float));
        const double glass = mean_difference(colors[MOTE_LOOK_GLASS], empty);
        if (shape.shape.kind != MOTE_SHAPE_PLANE) { // a plane is everywhere
            assert_true(glass > 1e-4 && glass < 0.02);
            assert_true(mean_difference(colors[MOTE_LOOK_SOLID], empty) > glass);
        }
        for (uint32_t look = 0; look <= MOTE_LOOK_HIDDEN; look++) {
            free(colors[look]);
        }
    }
    free(empty);
    free(empty_depth);
    mote_world_destroy(world);
    end_renderer(renderer);
}

// Many shapes of all kinds and looks: more than there is room for in the frame's constants.
static uint32_t make_crowd(MoteRenderShape *shapes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const float angle = 0.7f * (float)i;
        shapes[i] = solid(i % 4 == 0 && i > 3 ? MOTE_SHAPE_BOX : i % 4,
                          (MoteVec3){1.2f * sinf(angle), 0.2f + 0.02f * (float)i, 1.2f * cosf(angle)}, TURNED);
        shapes[i].shape.radius = shapes[i].shape.half_size.x = 0.1f;
        shapes[i].shape.inside_out = i % 7 == 3;
        shapes[i].look = i % 3 == 2 ? MOTE_LOOK_GLASS : MOTE_LOOK_SOLID;
        shapes[i].material = i % 5;
    }
    return count;
}

static void test_equal_pixels(void **state)
{
    (void)state;
    enum { CROWD = 40 };
    MoteRenderShape shapes[CROWD];
    const size_t size = (size_t)WIDTH * HEIGHT * 4;
    uint16_t *pixels[3];
    MoteWorld *world = make_world("cpu", NULL, 0.2f, 2.0f, &(MoteVec3){0, 0.5f, 0}, 1);
    MoteRenderScene scene = make_scene((MoteVec3){1, 1.5f, 3}, (MoteVec3){0, 0.3f, 0}, 45.0f);
    scene.ground.visible = true;
    scene.shapes = shapes;
    scene.shape_count = make_crowd(shapes, CROWD);
    const MotePicture picture = {.width = WIDTH, .height = HEIGHT, .samples = 2};
    MoteRenderer *first = make_renderer(MOTE_SPLAT_AUTO), *second = make_renderer(MOTE_SPLAT_AUTO);
    for (uint32_t i = 0; i < 3; i++) {
        MoteRenderer *renderer = i == 1 ? second : first;
        pixels[i] = malloc(size * sizeof(uint16_t));
        if (i == 2) { // something else between
            MoteRenderScene other = scene;
            other.sky.sun_azimuth += 50.0f;
            other.shape_count = 3;
            MUST(mote_renderer_draw(renderer, world, &other, &picture));
        }
        MUST(mote_renderer_draw(renderer, world, &scene, &picture));
        MUST(mote_renderer_read_rgba16(renderer, pixels[i]));
    }
    assert_memory_equal(pixels[0], pixels[1], size * sizeof(uint16_t));
    assert_memory_equal(pixels[0], pixels[2], size * sizeof(uint16_t));
    for (uint32_t i = 0; i < 3; i++) {
        free(pixels[i]);
    }
    end_renderer(first);
    end_renderer(second);
    mote_world_destroy(world);
}

// What the defaults say can be drawn as it is, and numbers that are no enumerators are refused.
static void test_defaults(void **state)
{
    (void)state;
    const MoteRendererOptions best = mote_default_renderer_options();
    assert_int_equal(best.device, MOTE_DEVICE_AUTO);
    MoteRenderer *renderer = make_renderer(best.splat);
    MoteWorld *world = make_dry_world();
    const MoteVec3 corners[] = {{0, 1, 0}, {1, 1, 0}, {0, 2, 0}};
    const uint32_t triangle[] = {0, 1, 2};
    MoteRenderMesh mesh = mote_default_render_mesh();
    mesh.vertex_count = 3;
    mesh.triangle_count = 1;
    mesh.positions = corners;
    mesh.triangles = triangle;
    MUST(mote_renderer_set_meshes(renderer, &mesh, 1));
    const MoteRenderMaterial material = mote_default_render_material();
    MoteRenderShape plane = mote_default_render_collider();
    MoteRenderInstance instance = mote_default_render_instance();
    MoteRenderScene scene = mote_default_render_scene();
    assert_memory_equal(&material, scene.materials, sizeof material);
    scene.shapes = &plane;
    scene.instances = &instance;
    scene.shape_count = scene.instance_count = 1;
    MotePicture picture = mote_default_picture();
    picture.width = WIDTH;
    picture.height = HEIGHT;
    MUST(mote_renderer_draw(renderer, world, &scene, &picture));
    instance.look = (MoteLook)9;
    assert_int_equal(mote_renderer_draw(renderer, world, &scene, &picture), MOTE_ERROR_INPUT);
    assert_string_equal(mote_error_message(), "instance 0 has look 9, expected a MoteLook");
    instance.look = MOTE_LOOK_GLASS;
    plane.look = (MoteLook)7;
    assert_int_equal(mote_renderer_draw(renderer, world, &scene, &picture), MOTE_ERROR_INPUT);
    scene.shape_count = 0;
    scene.liquid.smoothing = (MoteSmoothing)6;
    assert_int_equal(mote_renderer_draw(renderer, world, &scene, &picture), MOTE_ERROR_INPUT);
    MoteRenderer *none = NULL;
    const MoteRendererOptions wrong = {.splat = (MoteSplatMethod)5};
    assert_int_equal(mote_renderer_create(&wrong, &none), MOTE_ERROR_INPUT);
    end_renderer(renderer);
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_depth_of_solids),
        cmocka_unit_test(test_depth_of_ground_and_plane),
        cmocka_unit_test(test_samples_stay_in_place),
        cmocka_unit_test(test_shadows_of_solids),
        cmocka_unit_test(test_shadow_of_liquid),
        cmocka_unit_test(test_looks),
        cmocka_unit_test(test_equal_pixels),
    };
    // They compare each pixel with a ray that the test itself follows.
    static const char *const long_tests[] = {"test_depth_of_solids", "test_shadows_of_solids", NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, NULL, NULL);
}
