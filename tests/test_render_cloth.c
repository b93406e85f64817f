// SPDX-License-Identifier: MIT
// Cloth against closed forms: which pixels a sheet covers, how far away and turned how it is there, what of the sun's
// and the sky's light it sends back and lets through, and what happens where triangles are gone.
#include "cloth_fixture.h"
#include "golden_fixture.h"

enum { COLUMNS = 9, ROWS = 6 };
static const float SHEET_WIDTH = 1.0f, SHEET_HEIGHT = 0.625f;

static Sheet small_sheet(void)
{
    return make_sheet(COLUMNS, ROWS, SHEET_WIDTH, SHEET_HEIGHT);
}

// Only the sun, from straight ahead of the sheet's front, or only a white sky.
static MoteRenderScene dark_scene(MoteVec3 eye, const MoteRenderCloth *cloth)
{
    MoteRenderScene scene = make_dry_scene(eye, (MoteVec3){0, 0, 0});
    scene.sky.kind = MOTE_SKY_COLOR;
    scene.sky.color = (MoteVec3){0, 0, 0};
    scene.sky.sun_color = (MoteVec3){1, 1, 1};
    scene.sky.sun_brightness = 3.0f;
    scene.sky.sun_elevation = 0.0f;
    scene.sky.sun_azimuth = 0.0f;
    scene.picture.occlusion = false;
    scene.cloths = cloth;
    scene.cloth_count = 1;
    return scene;
}

// Where the ray of a pixel meets the plane z = height; the share of the sheet's size that is left to its nearest side.
static double margin_at(const Camera *camera, uint32_t pixel, double height, double *depth)
{
    const Vector ray = pixel_ray(camera, pixel % WIDTH, pixel / WIDTH);
    *depth = (height - camera->eye.z) / ray.z;
    const Vector p = add(camera->eye, *depth, ray);
    return fmin(0.5 * (double)SHEET_WIDTH - fabs(p.x), 0.5 * (double)SHEET_HEIGHT - fabs(p.y));
}

static void expect_flat(const MoteRenderScene *scene, const float *depth, const float *normals, double height,
                        double facing)
{
    const Camera camera = camera_of(scene);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        double z;
        const double margin = margin_at(&camera, i, height, &z);
        if (margin < -2e-3 && isfinite(depth[i])) {
            fail_msg("pixel %u, %u: depth %g beside the sheet", i % WIDTH, i / WIDTH, (double)depth[i]);
        }
        if (margin > 2e-3) {
            if (!(fabs(depth[i] - z) < 1e-4 * z)) {
                fail_msg("pixel %u, %u: depth %.7g, expected %.7g", i % WIDTH, i / WIDTH, (double)depth[i], z);
            }
            const float *n = normals + 3 * (size_t)i;
            assert_true(fabsf(n[0]) + fabsf(n[1]) < 1e-3f && fabs(n[2] - facing) < 1e-3);
            seen++;
        }
    }
    assert_true(seen > 2000);
}

// From the front, from behind, and with a thickness: then a face is half of it nearer.
static void test_flat_sheet(void **state)
{
    MoteRenderer *renderer = *state;
    Sheet sheet = small_sheet();
    for (int k = 0; k < 4; k++) {
        const float side = k % 2 == 0 ? 1.0f : -1.0f;
        MoteRenderCloth cloth = plain_cloth();
        cloth.thickness = k / 2 == 0 ? 0.0f : 0.4f;
        const MoteRenderScene scene = dark_scene((MoteVec3){0.3f, 0.2f, 1.5f * side}, &cloth);
        float *depth = draw_sheet(renderer, &sheet, &scene, "depth");
        float *normals = read_layer(renderer, "normal", WIDTH, HEIGHT);
        if (k / 2 == 0) {
            expect_flat(&scene, depth, normals, 0.0, side);
        } else {
            const Camera camera = camera_of(&scene);
            const double face = side * 0.4 * sheet.view.solid_radius;
            for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
                double z;
                if (margin_at(&camera, i, face, &z) > 2e-3) {
                    assert_true(fabs(depth[i] - z) < 1e-4 * z);
                }
            }
        }
        free(depth);
        free(normals);
    }
    end_sheet(&sheet);
}

// A sheet on a cylinder: depths lie between those of the circle and of its chords, normals are the circle's to the
// angle of half a quad.
static void test_bent_sheet(void **state)
{
    MoteRenderer *renderer = *state;
    enum { FINE = 41 };
    Sheet sheet = make_sheet(FINE, ROWS, SHEET_WIDTH, SHEET_HEIGHT);
    const double radius = 0.5;
    for (uint32_t v = 0; v < sheet.count; v++) {
        const double angle = ((double)(v % FINE) / (FINE - 1) - 0.5) * (double)SHEET_WIDTH / radius;
        sheet_move(&sheet, v,
                   (MoteVec3){(float)(radius * sin(angle)), sheet.positions[4 * (size_t)sheet_slot(&sheet, v) + 1],
                              (float)(radius * cos(angle))});
    }
    sheet_changed(&sheet);
    const MoteRenderCloth cloth = plain_cloth();
    const MoteRenderScene scene = dark_scene((MoteVec3){0.1f, 0.1f, 2.0f}, &cloth);
    float *depth = draw_sheet(renderer, &sheet, &scene, "depth");
    float *normals = read_layer(renderer, "normal", WIDTH, HEIGHT);
    const Camera camera = camera_of(&scene);
    const double half = 0.5 * (double)SHEET_WIDTH / radius / (FINE - 1);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        if (isfinite(depth[i])) {
            const Vector p = add(camera.eye, depth[i], pixel_ray(&camera, i % WIDTH, i / WIDTH));
            const double away = sqrt(p.x * p.x + p.z * p.z);
            assert_true(away < radius * (1.0 + 1e-4) && away > radius * cos(half) * (1.0 - 1e-4));
            const float *n = normals + 3 * (size_t)i;
            const bool inside = fabs(p.y) < 0.45 * (double)SHEET_HEIGHT && fabs(atan2(p.x, p.z)) < 0.9;
            assert_true(!inside || (n[0] * p.x + n[2] * p.z) / away > cos(0.3 * half));
            seen++;
        }
    }
    assert_true(seen > 1500);
    free(depth);
    free(normals);
    end_sheet(&sheet);
}

static const float *middle_of(const float *colors)
{
    return at(colors, WIDTH / 2, HEIGHT / 2);
}

static void expect_color(const float *found, MoteVec3 color, double times)
{
    const float wanted[3] = {color.x, color.y, color.z};
    for (int k = 0; k < 3; k++) {
        if (!(fabs(found[k] - wanted[k] * times) < 0.004 * fmax(wanted[k] * times, 0.05))) {
            fail_msg("component %d is %.5f, expected %.5f", k, (double)found[k], wanted[k] * times);
        }
    }
}

// Matte: (1 - tau) c E / pi of the sun in front, tau c E / pi of the sun behind, and c L of a sky of radiance L.
static void test_light(void **state)
{
    MoteRenderer *renderer = *state;
    Sheet sheet = small_sheet();
    const double through = 0.3, radiance = 0.7, sun = 3.0;
    for (int k = 0; k < 6; k++) {
        MoteRenderCloth cloth = plain_cloth();
        cloth.color = (MoteVec3){0.8f, 0.1f, 0.2f};
        cloth.back_color = (MoteVec3){0.1f, 0.3f, 0.9f};
        cloth.transmission = (float)through;
        cloth.thickness = k < 4 ? 0.0f : 1.0f; // which takes nothing away from the light that comes through
        const bool behind = k % 2 == 1;        // the eye
        MoteRenderScene scene = dark_scene((MoteVec3){0, 0, behind ? -1.5f : 1.5f}, &cloth);
        scene.sky.sun_elevation = 60.0f;
        if (k == 2 || k == 3) {
            scene.sky.sun_brightness = 0.0f;
            scene.sky.color = (MoteVec3){(float)radiance, (float)radiance, (float)radiance};
            scene.sky.brightness = 1.0f;
        }
        float *colors = draw_sheet(renderer, &sheet, &scene, "color");
        const double lit = k == 2 || k == 3 ? radiance : (behind ? through : 1.0 - through) * sun * 0.5 / PI;
        expect_color(middle_of(colors), behind ? cloth.back_color : cloth.color, lit);
        free(colors);
    }
    end_sheet(&sheet);
}

// Charlie's distribution over 4 (nl + nv - nl nv), as a BRDF.
static double sheen_of(double nh, double nl, double nv, double roughness)
{
    const double d = (2.0 + 1.0 / roughness) * pow(sin(acos(fmin(nh, 1.0))), 1.0 / roughness) / (2.0 * PI);
    return d / (4.0 * (nl + nv - nl * nv));
}

// What it sends to the eye of light from everywhere.
static double sheen_integral(double nv, double roughness)
{
    enum { RINGS = 100, TURNS = 200 };
    double sum = 0.0;
    for (int i = 0; i < RINGS * TURNS; i++) {
        const double nl = (i / TURNS + 0.5) / RINGS, turn = (i % TURNS + 0.5) / TURNS * 2.0 * PI;
        const double out = sqrt(1.0 - nl * nl);
        const Vector light = {out * cos(turn), out * sin(turn), nl}, eye = {sqrt(1.0 - nv * nv), 0.0, nv};
        sum += sheen_of(unit(add(light, 1.0, eye)).z, nl, nv, roughness) * nl;
    }
    return 2.0 * PI * sum / (RINGS * TURNS);
}

// The sun on fibres in closed form; what they take from the matte part is their integral.
static void test_sheen(void **state)
{
    MoteRenderer *renderer = *state;
    Sheet sheet = small_sheet();
    for (int k = 0; k < 3; k++) {
        MoteRenderCloth cloth = plain_cloth();
        cloth.color = (MoteVec3){0.25f, 0.25f, 0.25f};
        cloth.sheen = 1.0f;
        cloth.roughness = 0.4f;
        const double eye_angle = 0.2 + 0.5 * k, sun_angle = 0.5;
        const MoteVec3 eye = {(float)(1.5 * sin(eye_angle)), 0, (float)(1.5 * cos(eye_angle))};
        MoteRenderScene scene = dark_scene(eye, &cloth);
        scene.sky.sun_azimuth = (float)(-sun_angle * 180.0 / PI);
        float *with = draw_sheet(renderer, &sheet, &scene, "color");
        const double nl = cos(sun_angle), nv = cos(eye_angle);
        const double turned =
            fabs(0.5 * (eye_angle - sun_angle)); // from the normal to halfway: they are at its two sides
        cloth.sheen = 0.0f;
        float *without = draw_sheet(renderer, &sheet, &scene, "color");
        assert_true(fabs(middle_of(without)[0] - 0.25 * 3.0 * nl / PI) < 0.002);
        const double fibres = sqrt(0.25) * sheen_of(cos(turned), nl, nv, 0.4) * 3.0 * nl;
        const double taken = 1.0 - (middle_of(with)[0] - fibres) / middle_of(without)[0];
        printf("sheen: %.3f of the light, by the integral %.3f\n", taken, sheen_integral(nv, 0.4));
        assert_true(fabs(taken - sheen_integral(nv, 0.4)) < 0.03);
        free(with);
        free(without);
    }
    end_sheet(&sheet);
}

// The mean over many threads or stripes is the cloth's colour, near and far, and a pixel shows one stripe.
static void test_patterns(void **state)
{
    MoteRenderer *renderer = *state;
    Sheet sheet = small_sheet();
    MoteRenderCloth cloth = plain_cloth();
    cloth.color = (MoteVec3){1, 1, 1};
    cloth.pattern_color = (MoteVec3){0, 0, 0};
    cloth.pattern_size = 0.25f;
    cloth.uv_size[0] = SHEET_WIDTH;
    cloth.uv_size[1] = SHEET_HEIGHT;
    MoteRenderScene scene = dark_scene((MoteVec3){0, 0, 1.2f}, &cloth);
    scene.sky.sun_brightness = (float)PI;
    const Camera camera = camera_of(&scene);
    for (uint32_t pattern = MOTE_PATTERN_STRIPES; pattern <= MOTE_PATTERN_GINGHAM; pattern++) {
        cloth.pattern = pattern;
        float *colors = draw_sheet(renderer, &sheet, &scene, "color");
        for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
            double z;
            const double margin = margin_at(&camera, i, 0.0, &z);
            const Vector p = add(camera.eye, z, pixel_ray(&camera, i % WIDTH, i / WIDTH));
            const double u = (p.x + 0.5 * (double)SHEET_WIDTH) / 0.25, v = (0.5 * (double)SHEET_HEIGHT - p.y) / 0.25;
            const bool between = fabs(u - round(u)) < 0.05 || fabs(v - round(v)) < 0.05;
            const int second_u = (int)floor(u) % 2, second_v = (int)floor(v) % 2;
            const double shares[] = {0.0, second_u, second_v, second_u ^ second_v, 0.5 * (second_u + second_v)};
            if (margin > 2e-3 && !between) {
                if (!(fabs(colors[4 * (size_t)i] - (1.0 - shares[pattern])) < 0.005)) {
                    fail_msg("pattern %u at %.3f, %.3f: %.4f, expected %.4f", pattern, u, v,
                             (double)colors[4 * (size_t)i], 1.0 - shares[pattern]);
                }
            }
        }
        free(colors);
    }
    for (int k = 0; k < 3; k++) { // stripes finer than pixels; threads, nearer and farther
        cloth.pattern = k == 0 ? MOTE_PATTERN_GINGHAM : MOTE_PATTERN_PLAIN;
        cloth.pattern_size = 0.002f;
        cloth.weave = k == 0 ? 0.0f : k == 1 ? 0.05f : 0.002f;
        cloth.color = (MoteVec3){0.5f, 0.5f, 0.5f};
        float *colors = draw_sheet(renderer, &sheet, &scene, "color");
        double sum = 0.0, least = 1.0, most = 0.0;
        uint32_t count = 0;
        for (uint32_t y = HEIGHT / 2 - 20; y < HEIGHT / 2 + 20; y++) {
            for (uint32_t x = WIDTH / 2 - 30; x < WIDTH / 2 + 30; x++) {
                const double c = at(colors, x, y)[0];
                sum += c;
                least = fmin(least, c);
                most = fmax(most, c);
                count++;
            }
        }
        const double mean = sum / count, wanted = k == 0 ? 0.25 : 0.5;
        printf("fine pattern %d: mean %.4f, %.4f to %.4f\n", k, mean, least, most);
        assert_true(k == 1 ? mean > 0.8 * wanted && mean < wanted : fabs(mean - wanted) < 0.01 * wanted);
        assert_true(k == 1 ? most - least > 0.1 : most - least < 0.02);
        free(colors);
    }
    end_sheet(&sheet);
}

// The sheet lies level, half a metre over a white ground.
static void test_shadow(void **state)
{
    MoteRenderer *renderer = *state;
    Sheet sheet = small_sheet();
    for (uint32_t v = 0; v < sheet.count; v++) {
        const float *p = sheet.positions + 4 * (size_t)sheet_slot(&sheet, v);
        sheet_move(&sheet, v, (MoteVec3){p[0], 0.5f, -p[1]});
    }
    sheet_changed(&sheet);
    const MoteRenderCloth cloth = plain_cloth();
    MoteRenderScene scene = make_sunlit_ground((MoteVec3){0.5f, 1.6f, 2.2f}, (MoteVec3){-0.2f, 0, 0});
    scene.sky.sun_elevation = 60.0f;
    scene.sky.sun_azimuth = 90.0f;
    scene.cloths = &cloth;
    scene.cloth_count = 1;
    float *colors = draw_sheet(renderer, &sheet, &scene, "color");
    float *depth = read_layer(renderer, "depth", WIDTH, HEIGHT);
    const Camera camera = camera_of(&scene);
    const double shift = 0.5 / tan(60.0 * PI / 180.0); // away from the sun, which is at +x
    uint32_t dark = 0, bright = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        const Vector p = add(camera.eye, depth[i], pixel_ray(&camera, i % WIDTH, i / WIDTH));
        if (isfinite(depth[i]) && fabs(p.y) < 1e-3) {
            const double inside =
                fmin(0.5 * (double)SHEET_WIDTH - fabs(p.x + shift), 0.5 * (double)SHEET_HEIGHT - fabs(p.z));
            if (inside > 0.03) {
                assert_true(colors[4 * (size_t)i] < 0.02f);
                dark++;
            } else if (inside < -0.03) {
                assert_true(colors[4 * (size_t)i] > 0.5f);
                bright++;
            }
        }
    }
    assert_true(dark > 300 && bright > 3000);
    free(colors);
    free(depth);
    end_sheet(&sheet);
}

static bool covers(const float *depth, const Camera *camera, double x, double y)
{
    const Vector p = add((Vector){x, y, 0}, -1.0, camera->eye);
    const double z = dot(p, camera->forward);
    const uint32_t column = (uint32_t)(0.5 * WIDTH + dot(p, camera->right) / z / camera->scale);
    const uint32_t row = (uint32_t)(0.5 * HEIGHT - dot(p, camera->up) / z / camera->scale);
    return isfinite(depth[row * WIDTH + column]);
}

// A triangle without corners, one whose particle is gone, and cloth of which all is gone.
static void test_gone_triangles(void **state)
{
    MoteRenderer *renderer = *state;
    Sheet sheet = small_sheet();
    MoteRenderCloth cloth = plain_cloth();
    const MoteRenderScene scene = dark_scene((MoteVec3){0, 0, 1.5f}, &cloth);
    const Camera camera = camera_of(&scene);
    const double quad = (double)SHEET_WIDTH / (COLUMNS - 1);
    const uint32_t torn = 6 * (2 * (COLUMNS - 1) + 3), vertex = 1 * COLUMNS + 6; // both halves of row 2, column 3
    for (uint32_t k = 0; k < 6; k++) {
        sheet.corners[torn + k] = MOTE_NONE;
    }
    sheet.slots[sheet.handles[vertex] - MOTE_HANDLE_SINGLE] = MOTE_NONE;
    for (int k = 0; k < 2; k++) {
        cloth.thickness = (float)k;
        float *depth = draw_sheet(renderer, &sheet, &scene, "depth");
        const double left = -0.5 * (double)SHEET_WIDTH, top = 0.5 * (double)SHEET_HEIGHT;
        assert_false(covers(depth, &camera, left + 3.5 * quad, top - 2.5 * quad));
        assert_true(covers(depth, &camera, left + 2.5 * quad, top - 2.5 * quad));
        assert_true(covers(depth, &camera, left + 3.5 * quad, top - 3.5 * quad));
        assert_false(covers(depth, &camera, left + 6.0 * quad, top - 1.0 * quad));
        assert_false(covers(depth, &camera, left + 6.2 * quad, top - 1.2 * quad));
        assert_true(covers(depth, &camera, left + 7.5 * quad, top - 1.5 * quad));
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
            wrong += isnan(depth[i]) ? 1 : 0;
        }
        assert_int_equal(wrong, 0);
        free(depth);
    }
    for (uint32_t k = 0; k < sheet.count; k++) {
        sheet.slots[k] = MOTE_NONE;
    }
    float *depth = draw_sheet(renderer, &sheet, &scene, "depth");
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        assert_true(isinf(depth[i]));
    }
    free(depth);
    end_sheet(&sheet);
}

// Borders of a sheet with holes, of a quad that was torn out and of a particle that is gone: those of its outline and
// of the holes, and no other.
static void test_borders(void **state)
{
    MoteRenderer *renderer = *state;
    Sheet sheet = small_sheet();
    const MoteRenderCloth cloth = plain_cloth();
    const MoteRenderScene scene = dark_scene((MoteVec3){0, 0, 1.5f}, &cloth);
    for (int k = 0; k < 3; k++) {
        const uint32_t torn = 6 * (2 * (COLUMNS - 1) + 3);
        for (uint32_t c = 0; c < 6 && k == 1; c++) {
            sheet.corners[torn + c] = MOTE_NONE;
        }
        const uint32_t lost = k == 2 ? 3 * COLUMNS + 6 : MOTE_NONE; // beside neither the outline nor the other hole
        if (k == 2) {
            sheet.slots[sheet.handles[lost] - MOTE_HANDLE_SINGLE] = MOTE_NONE;
        }
        free(draw_sheet(renderer, &sheet, &scene, "depth"));
        const SimplePass *pass = renderer->states[PASS_cloth];
        const size_t first = sheet.count * sizeof(BodyVertex), bytes = first + sheet.triangles * sizeof(uint32_t);
        char *read = read_buffer(renderer, &pass->buffer, bytes);
        const uint32_t *borders = (const uint32_t *)(void *)(read + first);
        uint32_t count = 0;
        for (uint32_t t = 0; t < sheet.triangles; t++) {
            const uint32_t *c = sheet.corners + 3 * (size_t)t;
            if (lost != MOTE_NONE && (c[0] == lost || c[1] == lost || c[2] == lost)) {
                continue; // is not drawn
            }
            count += (borders[t] & 1u) + (borders[t] >> 1 & 1u) + (borders[t] >> 2 & 1u);
        }
        assert_int_equal(count, 2 * (COLUMNS - 1 + ROWS - 1) + (k > 0 ? 4 : 0) + (k > 1 ? 6 : 0));
        free(read);
    }
    end_sheet(&sheet);
}

// Spheres of the particles where views show particles, and nothing but the ground where the cloth is hidden.
static void test_views_and_looks(void **state)
{
    MoteRenderer *renderer = *state;
    Sheet sheet = small_sheet();
    MoteRenderCloth cloth = plain_cloth();
    cloth.look = MOTE_CLOTH_HIDDEN;
    MoteRenderScene scene = dark_scene((MoteVec3){0, 0, 1.5f}, &cloth);
    float *depth = draw_sheet(renderer, &sheet, &scene, "depth");
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        assert_true(isinf(depth[i]));
    }
    free(depth);
    scene.liquid.visible = true;
    MUST(mote_renderer_draw_arrays(
        renderer, &sheet.view, NULL, &scene,
        &(MotePicture){.width = WIDTH, .height = HEIGHT, .samples = 1, .view = "particles", .layers = true}));
    float *ids = read_layer(renderer, "id", WIDTH, HEIGHT);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
        uint32_t id;
        memcpy(&id, &ids[i], sizeof id);
        seen += id > 0 ? 1 : 0;
    }
    assert_true(seen > 1000);
    free(ids);
    cloth.look = (MoteClothLook)7;
    assert_int_equal(mote_renderer_draw_arrays(renderer, &sheet.view, NULL, &scene,
                                               &(MotePicture){.width = WIDTH, .height = HEIGHT, .samples = 1}),
                     MOTE_ERROR_INPUT);
    assert_non_null(strstr(mote_error_message(), "cloth 0"));
    end_sheet(&sheet);
}

// Before a white sky, seen from the front (drawn after the liquid) and from behind (before it): of colour c, the share
// exp(-(1 - c) a / nv) of what is not mirrored comes through, a quarter of the rest is scattered, F of the sky is
// mirrored.
static void test_translucent(void **state)
{
    MoteRenderer *renderer = *state;
    Sheet sheet = small_sheet();
    MoteRenderCloth cloth = plain_cloth();
    cloth.look = MOTE_CLOTH_TRANSLUCENT;
    cloth.color = (MoteVec3){0.9f, 0.2f, 0.3f};
    cloth.back_color = (MoteVec3){0.3f, 0.6f, 1.0f};
    cloth.absorption = 1.2f;
    for (int k = 0; k < 4; k++) {
        const double angle = k / 2 == 0 ? 0.0 : 1.0;
        const MoteVec3 eye = {(float)(1.5 * sin(angle)), 0, (float)(k % 2 == 0 ? 1.5 * cos(angle) : -1.5 * cos(angle))};
        MoteRenderScene scene = dark_scene(eye, &cloth);
        scene.sky.sun_elevation = 60.0f; // its disc is not behind the sheet
        scene.sky.sun_brightness = 0.0f;
        scene.sky.color = (MoteVec3){1, 1, 1};
        scene.sky.brightness = 1.0f;
        float *colors = draw_sheet(renderer, &sheet, &scene, "color");
        const double nv = cos(angle), mirrored = 0.04 + 0.96 * pow(1.0 - nv, 5.0);
        const MoteVec3 dye = k % 2 == 0 ? cloth.color : cloth.back_color;
        const double dyes[3] = {dye.x, dye.y, dye.z};
        double wanted[3];
        for (int c = 0; c < 3; c++) {
            const double through = exp(-(1.0 - dyes[c]) * 1.2 / nv);
            wanted[c] = (1.0 - mirrored) * (through + 0.25 * (1.0 - through) * dyes[c]) + mirrored;
        }
        expect_color(middle_of(colors), (MoteVec3){(float)wanted[0], (float)wanted[1], (float)wanted[2]}, 1.0);
        assert_true(fabsf(at(colors, 2, 2)[0] - 1.0f) < 0.003f); // beside it
        free(colors);
    }
    end_sheet(&sheet);
}

// A wavy cloth with a hole on a line, in the light of a clear sky, from behind its lit side: as in tests/golden.
static void test_golden_picture(void **state)
{
    MoteRenderer *renderer = *state;
    enum { WIDE = 61, HIGH = 41, PICTURE_WIDTH = 320, PICTURE_HEIGHT = 180 };
    Sheet sheet = make_sheet(WIDE, HIGH, 1.5f, 1.0f);
    for (uint32_t v = 0; v < sheet.count; v++) {
        const double u = (double)(v % WIDE) / (WIDE - 1), down = (double)(v / WIDE) / (HIGH - 1);
        const double fold = (0.02 + 0.08 * down) * sin(14.0 * u + 2.0 * down);
        sheet_move(&sheet, v, (MoteVec3){(float)(1.4 * u - 0.7), (float)(1.15 - down), (float)fold});
    }
    for (uint32_t k = 0; k < 9 * 6; k++) {
        sheet.corners[6 * (15 * (WIDE - 1) + 20) + k % 18 + k / 18 * 6 * (WIDE - 1)] = MOTE_NONE;
    }
    sheet_changed(&sheet);
    MoteRenderCloth cloth = mote_default_render_cloth();
    cloth.back_color = (MoteVec3){0.1f, 0.2f, 0.5f};
    cloth.pattern = MOTE_PATTERN_STRIPES;
    cloth.uv_size[0] = 1.5f;
    cloth.weave = 0.02f;
    MoteParticleHandle nodes[WIDE];
    for (uint32_t v = 0; v < WIDE; v++) {
        nodes[v] = (MoteParticleHandle){sheet.handles[v] + 1};
    }
    MoteRenderRope rope = mote_default_render_rope();
    rope.node_count = WIDE;
    rope.radius = 0.02f;
    rope.length = 1.5f;
    MoteRenderScene scene = mote_default_render_scene();
    scene.camera.position = (MoteVec3){0.7f, 1.1f, -1.9f};
    scene.camera.target = (MoteVec3){0.05f, 0.6f, 0};
    scene.cloths = &cloth;
    scene.cloth_count = 1;
    scene.ropes = &rope;
    scene.rope_count = 1;
    scene.rope_nodes = nodes;
    scene.rope_node_count = WIDE;
    bool right = true;
    for (int k = 0; k < 2; k++) {
        scene.camera.position.z = k == 0 ? -1.9f : 1.9f;
        MUST(mote_renderer_draw_arrays(renderer, &sheet.view, NULL, &scene,
                                       &(MotePicture){.width = PICTURE_WIDTH, .height = PICTURE_HEIGHT, .samples = 1}));
        Image image = read_image(renderer, PICTURE_WIDTH, PICTURE_HEIGHT);
        right = looks_right(&image, k == 0 ? "cloth_back" : "cloth_front") && right;
        image_destroy(&image);
    }
    assert_true(right);
    end_sheet(&sheet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat_sheet),      cmocka_unit_test(test_bent_sheet),
        cmocka_unit_test(test_light),           cmocka_unit_test(test_sheen),
        cmocka_unit_test(test_patterns),        cmocka_unit_test(test_shadow),
        cmocka_unit_test(test_borders),         cmocka_unit_test(test_gone_triangles),
        cmocka_unit_test(test_views_and_looks), cmocka_unit_test(test_golden_picture),
        cmocka_unit_test(test_translucent),
    };
    return cmocka_run_group_tests(tests, renderer_set_up, renderer_tear_down);
}
