// SPDX-License-Identifier: MIT
// Meshes in memory: generators, reports, mending, normals, skinning.
#define _POSIX_C_SOURCE 200809L
#include "mesh_fixture.h"

// ---- Generators ----

static void shapes_are_closed_and_have_their_volume(void **state)
{
    (void)state;
    const double bowl = 2.0 / 3.0 * PI * (pow(0.5, 3) - pow(0.4, 3));
    const struct {
        const char *reference;
        double volume, tolerance; // relative
        uint32_t components;
    } rows[] = {
        {"shape:box?x=2&y=3&z=0.5", 3.0, 1e-6, 1},
        {"shape:sphere?radius=0.5&segments=256", PI / 6.0, 3e-4, 1},
        {"shape:torus?major=0.5&minor=0.2&segments=256", 2.0 * PI * PI * 0.5 * 0.04, 6e-4, 1},
        {"shape:cylinder?radius=0.5&height=2&segments=256", 0.5 * PI, 2e-4, 1},
        {"shape:cone?radius=0.5&height=3&segments=256", 0.25 * PI, 2e-4, 1},
        {"shape:bowl?radius=0.5&thickness=0.1&segments=256", bowl, 6e-4, 1},
        {"shape:hourglass", 0.150834, 1e-4, 1},
        {"shape:hourglass?thickness=0.02", 0.0326824, 1e-4, 2},
        {"shape:rocks", 2.94119, 1e-3, 1},
        {"shape:castle", 0.323609, 1e-4, 46},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Mesh mesh = load_mesh(rows[i].reference);
        const MeshReport report = report_of(&mesh);
        if (!report.closed || !report.manifold || !report.consistently_oriented || report.degenerate_triangles != 0) {
            fail_msg("%s: %u boundary edges, %u edges of more than two", rows[i].reference, report.boundary_edges,
                     report.non_manifold_edges);
        }
        assert_int_equal(report.components, rows[i].components);
        expect_near(report.volume, rows[i].volume, rows[i].tolerance * rows[i].volume, rows[i].reference);
        assert_non_null(mesh.normals);
        mesh_free(&mesh);
    }
}

static void sphere_converges_to_the_exact_one(void **state)
{
    (void)state;
    double last = 1.0;
    for (uint32_t segments = 16; segments <= 256; segments *= 2) {
        char reference[64];
        snprintf(reference, sizeof reference, "shape:sphere?radius=1&segments=%u", segments);
        Mesh mesh = load_mesh(reference);
        const MeshReport report = report_of(&mesh);
        const double error = fmax(fabs(report.volume / (4.0 / 3.0 * PI) - 1.0), fabs(report.area / (4.0 * PI) - 1.0));
        assert_true(error < 0.27 * last || last == 1.0); // second order
        last = error;
        mesh_free(&mesh);
    }
    assert_true(last < 4e-4);
}

static void open_and_broken_shapes_are_what_they_say(void **state)
{
    (void)state;
    Mesh shell = load_mesh("shape:bowl_shell?radius=0.5&segments=64");
    const MeshReport open = report_of(&shell);
    assert_false(open.closed);
    assert_true(open.manifold && open.consistently_oriented);
    assert_int_equal(open.boundary_edges, 64);
    expect_near(open.area, 0.5 * PI, 0.01, "area of half a sphere");
    mesh_free(&shell);
    Mesh broken = load_mesh("shape:broken");
    const MeshReport report = report_of(&broken);
    assert_false(report.closed || report.manifold || report.consistently_oriented);
    assert_true(report.boundary_edges > 10 && report.non_manifold_edges > 10 && report.components == 3);
    mesh_free(&broken);
}

static void wrong_references_are_named(void **state)
{
    (void)state;
    Mesh mesh;
    expect_error(mesh_load("shape:ball", NULL, &mesh), MOTE_ERROR_INPUT, "expected one of: box, sphere, torus");
    expect_error(mesh_load("shape:", NULL, &mesh), MOTE_ERROR_INPUT, "no such shape");
    expect_error(mesh_load("shape:torus?major", NULL, &mesh), MOTE_ERROR_INPUT,
                 "expected KEY=VALUE with one of: major");
    expect_error(mesh_load("shape:torus?radius=1", NULL, &mesh), MOTE_ERROR_INPUT, "\"radius=1\"");
    expect_error(mesh_load("shape:torus?major=", NULL, &mesh), MOTE_ERROR_INPUT, "major is \"\"");
    expect_error(mesh_load("shape:torus?major=nan", NULL, &mesh), MOTE_ERROR_INPUT, "expected a number from");
    expect_error(mesh_load("shape:torus?segments=4.5", NULL, &mesh), MOTE_ERROR_INPUT, "whole number from 4 to 2048");
    expect_error(mesh_load("shape:torus?segments=1e9", NULL, &mesh), MOTE_ERROR_INPUT, "whole number");
    expect_error(mesh_load("shape:torus?minor=0.6", NULL, &mesh), MOTE_ERROR_INPUT, "less than major");
    expect_error(mesh_load("", NULL, &mesh), MOTE_ERROR_INPUT, "empty");
    assert_null(mesh.positions);
}

// ---- Transforms and normals ----

static void transforms_keep_the_outside_outside(void **state)
{
    (void)state;
    const MoteVec3 scales[] = {{2, 2, 2}, {1, 2, 3}, {-1, 1, 1}, {-1, -2, 1}, {-2, -1, -1}};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        Mesh mesh = load_mesh("shape:sphere?radius=1&segments=64");
        const double before = report_of(&mesh).volume;
        const MoteVec3 s = scales[i];
        mesh_transform(&mesh, s, turn((MoteVec3){0.6f, 0.0f, 0.8f}, 1.0f), (MoteVec3){3, 4, 5});
        const MeshReport report = report_of(&mesh);
        expect_near(report.volume, before * fabsf(s.x * s.y * s.z), 1e-4, "volume");
        for (uint32_t v = 0; v < mesh.vertex_count; v++) {
            const MoteVec3 p = mesh.positions[v], n = mesh.normals[v];
            assert_true((p.x - 3) * n.x + (p.y - 4) * n.y + (p.z - 5) * n.z > 0.0f);
            expect_near(sqrtf(n.x * n.x + n.y * n.y + n.z * n.z), 1.0, 1e-5, "length of a normal");
        }
        mesh_free(&mesh);
    }
}

static void normals_are_smooth_but_not_over_creases(void **state)
{
    (void)state;
    Mesh box = load_mesh("shape:box");
    assert_int_equal(box.vertex_count, 24); // each corner once a face
    for (uint32_t v = 0; v < box.vertex_count; v++) {
        const MoteVec3 n = box.normals[v];
        assert_true(fabsf(n.x) + fabsf(n.y) + fabsf(n.z) == 1.0f);
    }
    mesh_free(&box);
    Mesh sphere = load_mesh("shape:sphere?radius=1&segments=64");
    for (uint32_t v = 0; v < sphere.vertex_count; v++) {
        const MoteVec3 p = sphere.positions[v], n = sphere.normals[v];
        assert_true(p.x * n.x + p.y * n.y + p.z * n.z > 0.9995f);
    }
    mesh_free(&sphere);
}

// ---- Mending ----

static void small_holes_are_closed_and_large_ones_refused(void **state)
{
    (void)state;
    Mesh mesh = load_mesh("shape:sphere?radius=1&segments=64");
    const double volume = report_of(&mesh).volume;
    drop_triangle(&mesh, 1000);
    drop_triangle(&mesh, 1200);
    drop_triangle(&mesh, 10); // at the pole
    assert_int_equal(report_of(&mesh).boundary_edges, 9);
    uint32_t closed = 0;
    expect_ok(mesh_close_holes(&mesh, MESH_HOLE_SHARE, "sphere", &closed));
    assert_int_equal(closed, 3);
    const MeshReport mended = report_of(&mesh);
    assert_true(mended.closed && mended.manifold && mended.consistently_oriented);
    expect_near(mended.volume, volume, 1e-5, "volume of the mended sphere");
    expect_ok(mesh_close_holes(&mesh, 0.0, "sphere", &closed));
    assert_int_equal(closed, 0); // nothing to do
    mesh_free(&mesh);
    Mesh bowl = load_mesh("shape:bowl_shell");
    const uint32_t triangles = bowl.triangle_count;
    expect_error(mesh_close_holes(&bowl, MESH_HOLE_SHARE, "bowl", NULL), MOTE_ERROR_INPUT,
                 "64 boundary edges around 1");
    assert_int_equal(bowl.triangle_count, triangles);
    expect_ok(mesh_close_holes(&bowl, 0.5, "bowl", &closed));
    expect_near(report_of(&bowl).volume, 2.0 / 3.0 * PI * 0.125, 2e-3, "volume of half a ball");
    mesh_free(&bowl);
    Mesh broken = load_mesh("shape:broken");
    Mesh solid;
    expect_error(mesh_solid(&broken, "broken", &solid), MOTE_ERROR_INPUT, "boundary edges");
    assert_null(solid.positions);
    mesh_free(&broken);
}

static void any_mixture_of_directions_is_oriented(void **state)
{
    (void)state;
    for (uint32_t modulus = 1; modulus <= 4; modulus++) {
        Mesh mesh = load_mesh("shape:torus?segments=32");
        const double volume = report_of(&mesh).volume;
        for (uint32_t t = 0; t < mesh.triangle_count; t++) {
            if (random_bits() % modulus == 0) {
                flip_triangle(&mesh, t);
            }
        }
        expect_ok(mesh_orient(&mesh));
        const MeshReport report = report_of(&mesh);
        assert_true(report.consistently_oriented);
        expect_near(report.volume, volume, 1e-6, "volume");
        mesh_free(&mesh);
    }
}

static void cavities_stay_and_turned_neighbours_do_not(void **state)
{
    (void)state;
    const MoteVec3 here = {0, 0, 0}, beside = {0.7f, 0, 0};
    for (uint32_t all = 0; all < 2; all++) {
        Mesh outer = load_mesh("shape:sphere?radius=0.5"), inner = load_mesh("shape:sphere?radius=0.25");
        const double large = report_of(&outer).volume, small = report_of(&inner).volume;
        mesh_transform(&inner, (MoteVec3){1, 1, 1}, turn((MoteVec3){1, 0, 0}, 0.3f), here);
        for (uint32_t t = 0; t < inner.triangle_count; t++) {
            flip_triangle(&inner, t);
        }
        Mesh shell, pair;
        expect_ok(mesh_copy(&outer, &shell));
        expect_ok(mesh_copy(&outer, &pair));
        append_copy(&shell, &inner, here);
        append_copy(&pair, &inner, beside);
        for (uint32_t t = 0; all == 1 && t < shell.triangle_count; t++) {
            flip_triangle(&shell, t); // the whole inside out
            flip_triangle(&pair, t);
        }
        expect_ok(mesh_orient(&shell));
        expect_ok(mesh_orient(&pair));
        expect_near(report_of(&shell).volume, large - small, 1e-5, "volume of a hollow sphere");
        expect_near(report_of(&pair).volume, large + small, 1e-5, "volume of two spheres");
        mesh_free(&shell);
        mesh_free(&pair);
        mesh_free(&outer);
        mesh_free(&inner);
    }
}

// ---- Skinning ----

static void skin_follows_rigid_motion_exactly_and_varies_smoothly(void **state)
{
    (void)state;
    Mesh mesh = load_mesh("shape:torus?segments=128");
    enum { COUNT = 400 };
    MoteVec3 particles[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        particles[i] = random_in_box((MoteVec3){0, 0, 0}, 0.7f);
    }
    uint32_t *indices = malloc(4 * mesh.vertex_count * sizeof *indices);
    float *weights = malloc(4 * mesh.vertex_count * sizeof *weights);
    assert_true(indices != NULL && weights != NULL);
    expect_ok(mesh_skin(&mesh, particles, COUNT, indices, weights));
    for (uint32_t v = 0; v < mesh.vertex_count; v++) {
        float sum = 0.0f;
        double kth[4];
        for (uint32_t k = 0; k < 4; k++) {
            const MoteVec3 a = mesh.positions[v], b = particles[indices[4 * v + k]];
            kth[k] = hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z);
            assert_true(weights[4 * v + k] >= -1e-7f && (k == 0 || kth[k] >= kth[k - 1]));
            assert_true(k == 0 || weights[4 * v + k] <= weights[4 * v + k - 1] + 1e-6f);
            sum += weights[4 * v + k];
        }
        assert_true(fabsf(sum - 1.0f) < 2e-7f);
        uint32_t nearer = 0; // by brute force: no other particle is nearer than the fourth
        for (uint32_t i = 0; i < COUNT; i++) {
            const MoteVec3 a = mesh.positions[v], b = particles[i];
            nearer += hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z) < kth[3];
        }
        assert_int_equal(nearer, 3);
    }
    // With a value at each particle that is linear in space, the skin's does not jump between close vertices.
    Mesh line;
    expect_ok(mesh_make(2000, 0, false, "line", &line));
    for (uint32_t v = 0; v < 2000; v++) {
        line.positions[v] = (MoteVec3){-0.5f + 0.0005f * (float)v, 0.05f, 0.02f};
    }
    indices = realloc(indices, 4 * 2000 * sizeof *indices);
    weights = realloc(weights, 4 * 2000 * sizeof *weights);
    expect_ok(mesh_skin(&line, particles, COUNT, indices, weights));
    double last = 0.0, largest = 0.0;
    for (uint32_t v = 0; v < 2000; v++) {
        double value = 0.0;
        for (uint32_t k = 0; k < 4; k++) {
            value += weights[4 * v + k] * particles[indices[4 * v + k]].x;
        }
        largest = v > 0 ? fmax(largest, fabs(value - last)) : 0.0;
        last = value;
    }
    assert_true(largest < 0.01); // 20 times the step; a jump between particles would be 0.1
    free(indices);
    free(weights);
    mesh_free(&line);
    mesh_free(&mesh);
}

static void skin_needs_few_particles(void **state)
{
    (void)state;
    Mesh mesh = load_mesh("shape:box");
    const MoteVec3 particles[5] = {{0, 0, 0}, {0, 0, 0}, {0.5f, 0.5f, 0.5f}, {0, 0, 0}, {0, 0, 0}};
    uint32_t indices[4 * 24];
    float weights[4 * 24];
    for (uint32_t count = 1; count <= 5; count++) {
        expect_ok(mesh_skin(&mesh, particles, count, indices, weights));
        for (uint32_t v = 0; v < 24; v++) {
            float sum = 0.0f;
            for (uint32_t k = 0; k < 4; k++) {
                assert_true(indices[4 * v + k] < count);
                assert_true(isfinite(weights[4 * v + k]));
                sum += weights[4 * v + k];
            }
            expect_near(sum, 1.0, 1e-6, "sum of weights");
        }
    }
    expect_error(mesh_skin(&mesh, particles, 0, indices, weights), MOTE_ERROR_INPUT, "at least one");
    mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_closed_and_have_their_volume),
        cmocka_unit_test(sphere_converges_to_the_exact_one),
        cmocka_unit_test(open_and_broken_shapes_are_what_they_say),
        cmocka_unit_test(wrong_references_are_named),
        cmocka_unit_test(transforms_keep_the_outside_outside),
        cmocka_unit_test(normals_are_smooth_but_not_over_creases),
        cmocka_unit_test(small_holes_are_closed_and_large_ones_refused),
        cmocka_unit_test(any_mixture_of_directions_is_oriented),
        cmocka_unit_test(cavities_stay_and_turned_neighbours_do_not),
        cmocka_unit_test(skin_follows_rigid_motion_exactly_and_varies_smoothly),
        cmocka_unit_test(skin_needs_few_particles),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
