// SPDX-License-Identifier: MIT
// Bodies as particles: how many, where, how deep, which way out.
#define _POSIX_C_SOURCE 200809L
#include "mesh_fixture.h"

#include "geometry/voxelise.h"

static VoxelBody fill_mesh(const Mesh *mesh, float spacing)
{
    const VoxelOptions options = {.spacing = spacing};
    VoxelBody body;
    expect_ok(voxelise(mesh, &options, &body));
    expect_near(body.volume, body.count * pow(spacing, 3), 1e-6 * body.volume, "volume");
    return body;
}

static VoxelBody fill_reference(const char *reference, float spacing)
{
    Mesh mesh = load_mesh(reference);
    const VoxelBody body = fill_mesh(&mesh, spacing);
    mesh_free(&mesh);
    return body;
}

static void volumes_converge(void **state)
{
    (void)state;
    const struct {
        const char *reference;
        double volume;
    } rows[] = {
        {"shape:sphere?segments=128", PI / 6.0},
        {"shape:torus?segments=128", 2.0 * PI * PI * 0.5 * 0.04},
        {"shape:cone?segments=128", PI / 12.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double tolerances[3] = {0.1, 0.04, 0.015};
        for (uint32_t k = 0; k < 3; k++) {
            VoxelBody body = fill_reference(rows[i].reference, 0.08f / (float)(1u << k));
            expect_near(body.volume / rows[i].volume, 1.0, tolerances[k], rows[i].reference);
            voxel_body_free(&body);
        }
    }
}

static void a_box_is_filled_exactly(void **state)
{
    (void)state;
    VoxelBody body = fill_reference("shape:box?x=1&y=0.5&z=0.3", 0.1f);
    assert_int_equal(body.count, 150);
    for (uint32_t i = 0; i < body.count; i++) {
        const MoteVec3 p = body.positions[i], n = body.gradients[i];
        const double depth = fmin(0.5 - fabsf(p.x), fmin(0.25 - fabsf(p.y), 0.15 - fabsf(p.z)));
        expect_near(body.distances[i], -depth, 1e-6, "distance");
        assert_true(depth > 0.05 - 1e-6);
        expect_near(fabsf(n.x) + fabsf(n.y) + fabsf(n.z), 1.0, 1e-5, "a direction along an axis");
        // The gradient leads out: that far along it is the surface.
        const double x = fabs(p.x + depth * n.x) - 0.5, y = fabs(p.y + depth * n.y) - 0.25,
                     z = fabs(p.z + depth * n.z) - 0.15;
        expect_near(fmax(x, fmax(y, z)), 0.0, 1e-6, "end of the way out");
    }
    voxel_body_free(&body);
}

static void spheres_and_tori_have_their_distances(void **state)
{
    (void)state;
    VoxelBody sphere = fill_reference("shape:sphere?segments=512", 0.09f);
    assert_true(sphere.count > 500);
    for (uint32_t i = 0; i < sphere.count; i++) {
        const MoteVec3 p = sphere.positions[i], n = sphere.gradients[i];
        const double r = sqrt(p.x * p.x + p.y * p.y + p.z * p.z);
        expect_near(sphere.distances[i], r - 0.5, 2e-5, "distance");
        if (r > 0.1) {
            expect_near((n.x * p.x + n.y * p.y + n.z * p.z) / r, 1.0, 1e-3, "gradient along the radius");
        }
    }
    voxel_body_free(&sphere);
    VoxelBody torus = fill_reference("shape:torus?major=0.5&minor=0.2&segments=512", 0.06f);
    for (uint32_t i = 0; i < torus.count; i++) {
        const MoteVec3 p = torus.positions[i], n = torus.gradients[i];
        const double ring = sqrt(p.x * p.x + p.z * p.z), r = hypot(ring - 0.5, p.y);
        expect_near(torus.distances[i], r - 0.2, 5e-5, "distance");
        if (r > 0.04) {
            const double along = (n.x * p.x + n.z * p.z) / ring * (ring - 0.5) + n.y * p.y;
            expect_near(along / r, 1.0, 2e-3, "gradient away from the ring");
        }
    }
    voxel_body_free(&torus);
}

static void expect_same(const VoxelBody *a, const VoxelBody *b)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->positions, b->positions, a->count * sizeof *a->positions);
    for (uint32_t i = 0; i < a->count; i++) {
        expect_near(a->distances[i], b->distances[i], 1e-6, "distance");
    }
}

static void the_direction_of_triangles_does_not_matter(void **state)
{
    (void)state;
    Mesh mesh = load_mesh("shape:torus");
    VoxelBody outward = fill_mesh(&mesh, 0.05f);
    for (uint32_t t = 0; t < mesh.triangle_count; t++) {
        flip_triangle(&mesh, t);
    }
    VoxelBody inward = fill_mesh(&mesh, 0.05f);
    expect_same(&outward, &inward);
    for (uint32_t t = 0; t < mesh.triangle_count; t += 3) {
        flip_triangle(&mesh, t);
    }
    VoxelBody mixed = fill_mesh(&mesh, 0.05f);
    expect_same(&outward, &mixed);
    voxel_body_free(&outward);
    voxel_body_free(&inward);
    voxel_body_free(&mixed);
    mesh_free(&mesh);
}

static void overlapping_spheres_are_one_body(void **state)
{
    (void)state;
    // Two of radius 0.5 with centres 0.6 apart, the second turned inside out: their union, by the lens between them.
    Mesh mesh = load_mesh("shape:sphere?segments=96"), other = load_mesh("shape:sphere?segments=96");
    for (uint32_t t = 0; t < other.triangle_count; t++) {
        flip_triangle(&other, t);
    }
    append_copy(&mesh, &other, (MoteVec3){0.6f, 0, 0});
    const double lens = PI * (2.0 + 0.6) * pow(1.0 - 0.6, 2) / 12.0 * 1.0; // pi (4R + d)(2R - d)^2 / 12
    VoxelBody body = fill_mesh(&mesh, 0.03f);
    expect_near(body.volume / (2.0 * PI / 6.0 - lens), 1.0, 0.01, "volume of the union");
    // Inside the union the surface of the other sphere is none: depth is the larger of the two, where that sphere's
    // nearest point is outside of the other.
    uint32_t compared = 0;
    for (uint32_t i = 0; i < body.count; i++) {
        const MoteVec3 p = body.positions[i];
        const double a = 0.5 - sqrt(p.x * p.x + p.y * p.y + p.z * p.z);
        const double b = 0.5 - sqrt((p.x - 0.6) * (p.x - 0.6) + p.y * p.y + p.z * p.z);
        if (p.x < 0.0f || p.x > 0.6f) { // where the union's nearest point is on the nearer sphere's free part
            expect_near(-body.distances[i], fmax(a, b), 0.002, "depth in the union");
            compared++;
        }
        assert_true(-body.distances[i] > fmax(a, b) - 0.015); // walls within end half a spacing from the seam
    }
    assert_true(compared > body.count / 2);
    voxel_body_free(&body);
    mesh_free(&mesh);
    mesh_free(&other);
}

static void a_castle_of_many_parts_is_filled_once(void **state)
{
    (void)state;
    Mesh mesh = load_mesh("shape:castle");
    const MeshReport report = report_of(&mesh);
    VoxelBody body = fill_mesh(&mesh, 0.02f);
    assert_true(body.volume < 0.9 * report.volume); // the parts' sum counts overlaps twice
    assert_true(body.volume > 0.8 * report.volume);
    voxel_body_free(&body);
    mesh_free(&mesh);
}

static void hollow_bodies_stay_hollow(void **state)
{
    (void)state;
    VoxelBody body = fill_reference("shape:hourglass?thickness=0.06", 0.02f);
    for (uint32_t i = 0; i < body.count; i++) {
        const MoteVec3 p = body.positions[i];
        assert_true(fabsf(p.y) > 0.49f || p.x * p.x + p.z * p.z > 0.025f * 0.025f);
        assert_true(-body.distances[i] < 0.06); // at most half the wall, and its corners
    }
    voxel_body_free(&body);
}

static void a_shell_is_the_outermost_layer(void **state)
{
    (void)state;
    Mesh mesh = load_mesh("shape:sphere");
    VoxelBody all = fill_mesh(&mesh, 0.04f), shell;
    const VoxelOptions options = {.spacing = 0.04f, .surface_only = true, .shell = 0.06f};
    expect_ok(voxelise(&mesh, &options, &shell));
    uint32_t expected = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        expected += all.distances[i] >= -0.06f;
    }
    assert_int_equal(shell.count, expected);
    assert_true(shell.count < all.count / 2);
    expect_near(shell.volume, all.volume, 1e-9, "volume of the whole body");
    voxel_body_free(&all);
    voxel_body_free(&shell);
    mesh_free(&mesh);
}

static void an_inset_keeps_spheres_inside(void **state)
{
    (void)state;
    Mesh mesh = load_mesh("shape:sphere?segments=128");
    const VoxelOptions options = {.spacing = 0.1f, .inset = 0.05f};
    VoxelBody body;
    expect_ok(voxelise(&mesh, &options, &body));
    for (uint32_t i = 0; i < body.count; i++) {
        const MoteVec3 p = body.positions[i];
        const double depth = 0.5 - sqrt(p.x * p.x + p.y * p.y + p.z * p.z);
        assert_true(depth > 0.0495);
        expect_near(-body.distances[i], depth, 5e-4, "depth");
    }
    voxel_body_free(&body);
    mesh_free(&mesh);
}

static void thin_and_large_bodies_are_refused_with_a_spacing_that_works(void **state)
{
    (void)state;
    Mesh torus = load_mesh("shape:torus?major=0.5&minor=0.05");
    VoxelBody body;
    const VoxelOptions coarse = {.spacing = 1.5f};
    expect_error(voxelise(&torus, &coarse, &body), MOTE_ERROR_INPUT, "would do");
    assert_null(body.positions);
    float spacing = 0.0f;
    const char *text = strstr(mote_error_message(), "; a spacing of ");
    assert_non_null(text);
    assert_int_equal(sscanf(text, "; a spacing of %f", &spacing), 1);
    body = fill_mesh(&torus, spacing);
    assert_true(body.count > 0);
    voxel_body_free(&body);
    Mesh plate = load_mesh("shape:box?x=1&y=0.01&z=1");
    body = fill_mesh(&plate, 0.1f); // thinner than the spacing, but the lattice has a layer in it
    assert_int_equal(body.count, 100);
    voxel_body_free(&body);
    const VoxelOptions fine = {.spacing = 1e-5f}, few = {.spacing = 0.01f, .limit = 50};
    expect_error(voxelise(&torus, &fine, &body), MOTE_ERROR_INPUT, "would do");
    expect_error(voxelise(&plate, &few, &body), MOTE_ERROR_INPUT, "at most 50");
    const VoxelOptions none = {.spacing = 0.0f}, nan = {.spacing = NAN}, negative = {.spacing = 0.1f, .shell = -1.0f};
    expect_error(voxelise(&plate, &none, &body), MOTE_ERROR_INPUT, "spacing above 0");
    expect_error(voxelise(&plate, &nan, &body), MOTE_ERROR_INPUT, "spacing above 0");
    expect_error(voxelise(&plate, &negative, &body), MOTE_ERROR_INPUT, "0 or more");
    mesh_free(&torus);
    mesh_free(&plate);
    Mesh shell = load_mesh("shape:bowl_shell");
    const VoxelOptions usual = {.spacing = 0.05f};
    expect_error(voxelise(&shell, &usual, &body), MOTE_ERROR_INPUT, "is open: 64 boundary edges");
    mesh_free(&shell);
}

// UPP Table 1: a thousand bunnies of 44 particles. The spacing is 0.1687 of the bunny's height.
static void the_bunny_is_44_particles(void **state)
{
    (void)state;
    Mesh bunny = load_mesh("package:glmark2/models/bunny.obj");
    const MeshReport report = report_of(&bunny);
    assert_true(report.closed && report.manifold && report.consistently_oriented && report.volume > 0.0);
    assert_int_equal(bunny.triangle_count, 69666);
    const float height = report.bounds_max.y - report.bounds_min.y;
    VoxelBody body = fill_mesh(&bunny, 0.1687f * height);
    assert_int_equal(body.count, 44);
    voxel_body_free(&body);
    VoxelBody fine = fill_mesh(&bunny, 0.03f * height);
    expect_near(fine.volume / report.volume, 1.0, 0.01, "volume of the bunny's particles");
    voxel_body_free(&fine);
    // With a few triangles missing it is mended and the same.
    for (uint32_t i = 0; i < 50; i++) {
        drop_triangle(&bunny, 1000 * i);
    }
    body = fill_mesh(&bunny, 0.1687f * height);
    assert_int_equal(body.count, 44);
    voxel_body_free(&body);
    mesh_free(&bunny);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_converge),
        cmocka_unit_test(a_box_is_filled_exactly),
        cmocka_unit_test(spheres_and_tori_have_their_distances),
        cmocka_unit_test(the_direction_of_triangles_does_not_matter),
        cmocka_unit_test(overlapping_spheres_are_one_body),
        cmocka_unit_test(a_castle_of_many_parts_is_filled_once),
        cmocka_unit_test(hollow_bodies_stay_hollow),
        cmocka_unit_test(a_shell_is_the_outermost_layer),
        cmocka_unit_test(an_inset_keeps_spheres_inside),
        cmocka_unit_test(thin_and_large_bodies_are_refused_with_a_spacing_that_works),
        cmocka_unit_test(the_bunny_is_44_particles),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
