// SPDX-License-Identifier: MIT
// Convex hulls: their faces, their distances, and particles that meet them.
#include "backends.h"

#include "geometry/hull.h"
#include "kernels/kernels.h"

static const MoteVec3 NOWHERE = {0, 0, 0};

static uint32_t cube_points(MoteVec3 half, MoteVec3 *points)
{
    for (uint32_t i = 0; i < 8; i++) {
        points[i].x = (i & 1u) != 0 ? half.x : -half.x;
        points[i].y = (i & 2u) != 0 ? half.y : -half.y;
        points[i].z = (i & 4u) != 0 ? half.z : -half.z;
    }
    return 8;
}

// Every edge has a triangle on either side, and no point lies above a face.
static void check_hull(const Hull *hull, const MoteVec3 *points, uint32_t count, double tolerance)
{
    double volume = 0.0;
    for (uint32_t t = 0; t < hull->triangle_count; t++) {
        const HullTriangle *a = &hull->triangles[t];
        const MoteVec3 n = a->normal;
        expect_near(sqrt((double)n.x * n.x + (double)n.y * n.y + (double)n.z * n.z), 1.0, 1e-6,
                    "the length of a normal");
        for (uint32_t i = 0; i < count; i++) {
            const double height =
                (double)n.x * points[i].x + (double)n.y * points[i].y + (double)n.z * points[i].z - a->offset;
            assert_true(height < tolerance);
        }
        for (int k = 0; k < 3; k++) {
            const MoteVec3 from = a->corners[k], to = a->corners[(k + 1) % 3];
            int avx2_kernels = 0;
            for (uint32_t s = 0; s < hull->triangle_count; s++) {
                for (int l = 0; l < 3; l++) {
                    const MoteVec3 *b = &hull->triangles[s].corners[l], *c = &hull->triangles[s].corners[(l + 1) % 3];
                    avx2_kernels += memcmp(b, &to, sizeof to) == 0 && memcmp(c, &from, sizeof from) == 0;
                }
            }
            assert_int_equal(avx2_kernels, 1);
        }
        const MoteVec3 p = a->corners[0], q = a->corners[1], r = a->corners[2];
        volume += ((double)p.x * ((double)q.y * r.z - (double)q.z * r.y) +
                   (double)p.y * ((double)q.z * r.x - (double)q.x * r.z) +
                   (double)p.z * ((double)q.x * r.y - (double)q.y * r.x)) /
                  6.0;
    }
    assert_true(volume > 0.0);
}

static void hulls_are_closed_and_convex(void **state)
{
    (void)state;
    Hull *hull = malloc(sizeof *hull);
    MoteVec3 points[2000];
    const uint32_t corners = cube_points((MoteVec3){0.5f, 0.7f, 0.3f}, points);
    expect_ok(hull_make(points, corners, hull));
    assert_int_equal(hull->triangle_count, 12);
    check_hull(hull, points, corners, 1e-6);
    // The same cube with every corner twice, and points in its faces, edges and inside.
    uint32_t count = corners;
    cube_points((MoteVec3){0.5f, 0.7f, 0.3f}, points + count);
    count += 8;
    for (int n = 0; n < 125; n++) {
        points[count++] =
            (MoteVec3){0.25f * (float)(n % 5 - 2), 0.35f * (float)(n / 5 % 5 - 2), 0.15f * (float)(n / 25 - 2)};
    }
    expect_ok(hull_make(points, count, hull));
    assert_int_equal(hull->triangle_count, 12);
    check_hull(hull, points, count, 1e-6);
    // A cylinder of 40 sides: caps of many points in one plane.
    for (uint32_t i = 0; i < 80; i++) {
        const float angle = 6.2831853f * (float)(i / 2) / 40.0f;
        points[i] = (MoteVec3){cosf(angle), i % 2 == 0 ? -1.0f : 1.0f, sinf(angle)};
    }
    expect_ok(hull_make(points, 80, hull));
    assert_int_equal(hull->triangle_count, 2 * 80 - 4);
    check_hull(hull, points, 80, 1e-6);
    for (int trial = 0; trial < 60; trial++) { // random clouds, far off and thin ones too
        const float stretch = trial % 3 == 0 ? 0.01f : 1.0f, far = trial % 4 == 0 ? 20.0f : 0.0f;
        const uint32_t n = 4 + (uint32_t)(random_bits() % 60);
        for (uint32_t i = 0; i < n; i++) {
            const MoteVec3 p = random_in_box(NOWHERE, 1.0f);
            points[i] = (MoteVec3){p.x + far, p.y * stretch, p.z};
        }
        expect_ok(hull_make(points, n, hull));
        check_hull(hull, points, n, 4e-7 * (1.0 + (double)far) * 8.0);
    }
    free(hull);
}

static void hulls_that_cannot_be(void **state)
{
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(*state, &settings);
    MoteVec3 points[1000];
    uint32_t hull;
    expect_error(mote_world_add_hull(world, points, 3, &hull), MOTE_ERROR_INPUT, "3 points, expected at least 4");
    for (int i = 0; i < 1000; i++) {
        points[i] = (MoteVec3){1, 2, 3};
    }
    expect_error(mote_world_add_hull(world, points, 10, &hull), MOTE_ERROR_INPUT, "at one place");
    points[4].x = 2.0f;
    expect_error(mote_world_add_hull(world, points, 10, &hull), MOTE_ERROR_INPUT, "on a line");
    points[5].y = 7.0f;
    expect_error(mote_world_add_hull(world, points, 10, &hull), MOTE_ERROR_INPUT, "in a plane");
    points[6].z = NAN;
    expect_error(mote_world_add_hull(world, points, 10, &hull), MOTE_ERROR_INPUT, "point 6 of a hull");
    for (int i = 0; i < 1000; i++) {
        MoteVec3 p = random_in_box(NOWHERE, 1.0f);
        const float length = sqrtf(p.x * p.x + p.y * p.y + p.z * p.z);
        points[i] = (MoteVec3){p.x / length, p.y / length, p.z / length};
    }
    expect_error(mote_world_add_hull(world, points, 1000, &hull), MOTE_ERROR_INPUT, "more than 256 triangles");
    MoteCollider collider = still_collider(MOTE_COLLIDER_HULL, NOWHERE, NOWHERE, 0.0f);
    expect_error(mote_world_set_colliders(world, &collider, 1), MOTE_ERROR_INPUT,
                 "refers to hull 0, expected less than the world's 0");
    mote_world_destroy(world);
}

// Distances and normals of a cube's hull are the box's.
static void a_cube_s_hull_is_a_box(void **state)
{
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(*state, &settings);
    MoteVec3 points[8];
    const MoteVec3 half = {0.5f, 0.7f, 0.3f};
    uint32_t first, second;
    expect_ok(mote_world_add_hull(world, points, cube_points((MoteVec3){1, 1, 1}, points), &first));
    expect_ok(mote_world_add_hull(world, points, cube_points(half, points), &second));
    assert_true(first == 0 && second == 1);
    MoteCollider collider = still_collider(MOTE_COLLIDER_HULL, NOWHERE, NOWHERE, 0.0f);
    collider.data = second;
    expect_ok(mote_world_set_colliders(world, &collider, 1));
    const Collider hull = world->view.colliders[0];
    expect_near(hull.bounding_radius, sqrt(0.25 + 0.49 + 0.09), 1e-6, "the bounding radius");
    const Collider box = {.kind = COLLIDER_BOX, .half_size = v3(0.5f, 0.7f, 0.3f)};
    for (int n = 0; n < 5000; n++) {
        const MoteVec3 p = random_in_box(NOWHERE, n % 2 == 0 ? 0.8f : 3.0f);
        const vec4 found = solid_distance(&world->view, hull, v3(p.x, p.y, p.z));
        const vec4 expected = solid_distance(&world->view, box, v3(p.x, p.y, p.z));
        expect_near(found.w, expected.w, 2e-6, "a distance");
        const double turned = v3_length(v3_sub(v3_from_v4(found), v3_from_v4(expected)));
        expect_near(turned, 0.0, 2e-3,
                    "a normal's difference"); // where faces, edges and corners meet, rounding decides
    }
    mote_world_destroy(world);
}

// Grains rain on a tetrahedron and fill a container of the same form: none is ever inside or outside.
static void particles_stay_on_their_side(void **state)
{
    MoteSettings settings = mote_default_settings();
    const double margin = settings.collision_distance * settings.spacing;
    const MoteVec3 points[4] = {{-1, 0, -1}, {1, 0, -1}, {0, 0, 1.2f}, {0, 1.3f, 0}};
    for (int inside_out = 0; inside_out < 2; inside_out++) {
        MoteWorld *world = make_world(*state, &settings);
        MoteCollider collider = still_collider(MOTE_COLLIDER_HULL, NOWHERE, NOWHERE, 0.0f);
        expect_ok(mote_world_add_hull(world, points, 4, &collider.data));
        collider.inside_out = inside_out != 0;
        collider.from.rotation = collider.to.rotation = turn((MoteVec3){0, 1, 0}, 0.3f);
        expect_ok(mote_world_set_colliders(world, &collider, 1));
        MoteVec3 grains[200];
        for (int i = 0; i < 200; i++) {
            grains[i] = random_in_box((MoteVec3){0, inside_out != 0 ? 0.3f : 2.0f, 0}, inside_out != 0 ? 0.15f : 0.5f);
        }
        add_points(world, grains, 200, 0);
        const Collider *kernel_collider = download_copy(world, world->view.colliders, sizeof(Collider));
        vec4 *rows = download_copy(world, world->view.hull_rows, 4 * sizeof(vec4) * 4);
        const SolverData host = {.hull_rows = rows};
        int near = 0;
        double lowest = 1.0;
        for (int step = 0; step < 90; step++) {
            run_steps(world, 1, 1.0f / 60.0f);
            const MoteParticleView view = read_view(world);
            for (uint32_t i = 0; i < view.count; i++) {
                const float *p = view.positions + 4 * (size_t)i;
                const float d =
                    collider_distance(&host, *kernel_collider, to_collider(*kernel_collider, v3(p[0], p[1], p[2]))).w;
                lowest = fmin(lowest, d);
                near += d < 1.5 * margin;
            }
        }
        printf("a hull %s: %d contacts, the nearest at %.3f of the margin\n", inside_out != 0 ? "around" : "below",
               near, lowest / margin);
        assert_true(near > 1000);
        assert_true(lowest > (inside_out != 0 ? 0.5 : 0.9) * margin); // in a sharp corner walls push by turns
        free(rows);
        free((void *)(uintptr_t)kernel_collider);
        mote_world_destroy(world);
    }
}

// A hull's centre of mass, wherever in its frame that is.
static void a_hull_knows_its_centre_of_mass(void **state)
{
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(*state, &settings);
    MoteVec3 corners[8];
    for (int i = 0; i < 8; i++) {
        corners[i] = (MoteVec3){i & 1 ? 0.9f : -0.1f, i & 2 ? 0.1f : -0.5f, i & 4 ? 0.9f : 0.5f};
    }
    MoteCollider collider = still_collider(MOTE_COLLIDER_HULL, (MoteVec3){0, 0, 0}, (MoteVec3){0, 0, 0}, 0.0f);
    collider.density = 2000.0f;
    expect_ok(mote_world_add_hull(world, corners, 8, &collider.data));
    expect_ok(mote_world_set_colliders(world, &collider, 1));
    MoteColliderState found;
    expect_ok(mote_world_read_colliders(world, &found, 1));
    expect_near(found.mass, 2000.0 * 1.0 * 0.6 * 0.4, 0.01, "mass");
    expect_near(found.centre.x, 0.4, 1e-5, "x of the centre of mass");
    expect_near(found.centre.y, -0.2, 1e-5, "y of the centre of mass");
    expect_near(found.centre.z, 0.7, 1e-5, "z of the centre of mass");
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hulls_are_closed_and_convex),         ON_BACKEND(hulls_that_cannot_be, "portable cpu", 1),
        ON_BACKEND(a_cube_s_hull_is_a_box, "portable cpu", 1), ON_EVERY_BACKEND(a_hull_knows_its_centre_of_mass),
        ON_EVERY_BACKEND(particles_stay_on_their_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
