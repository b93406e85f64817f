// SPDX-License-Identifier: MIT
// The viewer's mathematics without a window: its camera, and what lies between two snapshots.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "expect.h"
#include "viewer/interpolate.h"
#include "viewer/camera.h"

enum { WIDTH = 640, HEIGHT = 400 };
static const double PI = 3.14159265358979323846;

static void expect_vec3(MoteVec3 found, double x, double y, double z, const char *what)
{
    expect_near((double)found.x, x, 1e-4, what);
    expect_near((double)found.y, y, 1e-4, what);
    expect_near((double)found.z, z, 1e-4, what);
}

// Four metres before the origin, which it looks at, along -z.
static MoteCamera level_camera(void)
{
    return (MoteCamera){.position = {0, 0, 4}, .target = {0, 0, 0}, .field_of_view = 60.0f, .near_plane = 0.05f};
}

// A drag over the picture's height is half a turn: to the right, the eye goes to the left; down, it goes up.
static void test_orbit(void **state)
{
    (void)state;
    MoteCamera camera = level_camera();
    camera_orbit(&camera, HEIGHT / 2.0f, 0.0f, HEIGHT); // a quarter turn
    expect_vec3(camera.position, -4.0, 0.0, 0.0, "the eye after a drag to the right");
    camera = level_camera();
    camera_orbit(&camera, 0.0f, HEIGHT / 6.0f, HEIGHT); // 30 degrees
    expect_vec3(camera.position, 0.0, 2.0, 4.0 * cos(PI / 6.0), "the eye after a drag down");
    expect_vec3(camera.target, 0.0, 0.0, 0.0, "the target");
    camera_orbit(&camera, 0.0f, 2.0f * HEIGHT, HEIGHT);
    expect_near((double)camera.position.y, 4.0 * sin(89.0 * PI / 180.0), 1e-4, "the highest eye");
}

// The head turns so that what is under the mouse stays under it: by the angle of view over the picture's height.
static void test_look(void **state)
{
    (void)state;
    MoteCamera camera = level_camera();
    camera_look(&camera, 0.0f, -HEIGHT / 2.0f, HEIGHT); // by 30 degrees, up
    expect_vec3(camera.target, 0.0, 2.0, 4.0 - 4.0 * cos(PI / 6.0), "the target after a look up");
    expect_vec3(camera.position, 0.0, 0.0, 4.0, "the eye");
}

// What is at the target's distance stays under the mouse.
static void test_pan(void **state)
{
    (void)state;
    MoteCamera camera = level_camera();
    camera.roll = 20.0f;
    const MoteVec3 point = {0.3f, -0.2f, 0.0f}; // in the target's plane
    float before[2], after[2];
    assert_true(camera_project(&camera, point, WIDTH, HEIGHT, &before[0], &before[1]));
    camera_pan(&camera, 50.0f, -30.0f, HEIGHT);
    assert_true(camera_project(&camera, point, WIDTH, HEIGHT, &after[0], &after[1]));
    expect_near((double)after[0] - (double)before[0], 50.0, 0.01, "how far a point went along x");
    expect_near((double)after[1] - (double)before[1], -30.0, 0.01, "how far a point went along y");
}

static void test_zoom(void **state)
{
    (void)state;
    MoteCamera camera = level_camera();
    camera_zoom(&camera, 2.0f);
    expect_vec3(camera.position, 0.0, 0.0, 4.0 * 0.81, "the eye two steps nearer");
    camera_zoom(&camera, 1000.0f);
    expect_vec3(camera.position, 0.0, 0.0, 0.1, "the nearest eye"); // twice the near plane
    camera_zoom(&camera, -1000.0f);
    expect_near((double)camera.position.z, 1e5, 1.0, "the farthest eye");
}

static void test_fly(void **state)
{
    (void)state;
    MoteCamera camera = level_camera();
    camera_fly(&camera, 0.25f, 0.5f, 0.125f); // of the distance of 4 m
    expect_vec3(camera.position, 1.0, 2.0, 3.5, "the eye");
    expect_vec3(camera.target, 1.0, 2.0, -0.5, "the target");
}

// The sphere around a box touches the picture's edges: above and below, or left and right in a tall window.
static void test_frame(void **state)
{
    (void)state;
    const MoteVec3 lowest = {1, 2, 3}, highest = {3, 6, 7};
    const double radius = 3.0;
    MoteCamera camera = level_camera();
    camera_frame(&camera, lowest, highest, 1.6f);
    expect_vec3(camera.target, 2.0, 4.0, 5.0, "the box's middle");
    expect_vec3(camera.position, 2.0, 4.0, 5.0 + radius / sin(PI / 6.0), "the eye of a wide window");
    camera = level_camera();
    camera_frame(&camera, lowest, highest, 0.5f);
    const double half = atan(0.5 * tan(PI / 6.0));
    expect_vec3(camera.position, 2.0, 4.0, 5.0 + radius / sin(half), "the eye of a tall window");
}

// A ray through a pixel's centre meets what is drawn there; its direction by the angle of view alone.
static void test_rays(void **state)
{
    (void)state;
    MoteCamera camera = level_camera();
    const CameraRay corner = camera_ray(&camera, -0.5f, -0.5f, WIDTH, HEIGHT); // the picture's outermost corner
    const double slope = tan(PI / 6.0), across = slope * WIDTH / HEIGHT;
    const double length = sqrt(1.0 + slope * slope + across * across);
    expect_vec3(corner.direction, -across / length, slope / length, -1.0 / length, "the ray of a corner");
    expect_vec3(corner.origin, 0.0, 0.0, 4.0, "where it starts");
    camera.position = (MoteVec3){1, 2, 3};
    camera.roll = -35.0f;
    for (int i = 0; i < 20; i++) {
        const float x = 31.0f * (float)i, y = 19.0f * (float)i;
        const CameraRay ray = camera_ray(&camera, x, y, WIDTH, HEIGHT);
        const MoteVec3 point = {ray.origin.x + 2.5f * ray.direction.x, ray.origin.y + 2.5f * ray.direction.y,
                                ray.origin.z + 2.5f * ray.direction.z};
        float found[2];
        assert_true(camera_project(&camera, point, WIDTH, HEIGHT, &found[0], &found[1]));
        expect_near((double)found[0], (double)x, 0.01, "x of a point on a pixel's ray");
        expect_near((double)found[1], (double)y, 0.01, "y of a point on a pixel's ray");
    }
    float none[2];
    assert_false(camera_project(&camera, (MoteVec3){2, 4, 6}, WIDTH, HEIGHT, &none[0], &none[1])); // behind the eye
}

// ---- Between moments ----

static MoteQuaternion about_z(double degrees, float sign)
{
    const double half = degrees * PI / 360.0;
    return (MoteQuaternion){0.0f, 0.0f, sign * (float)sin(half), sign * (float)cos(half)};
}

// Up to a sign.
static void expect_rotation(MoteQuaternion found, MoteQuaternion expected, const char *what)
{
    const double along = (double)found.x * (double)expected.x + (double)found.y * (double)expected.y +
                         (double)found.z * (double)expected.z + (double)found.w * (double)expected.w;
    expect_near(fabs(along), 1.0, 1e-5, what);
}

// Half way, particles and colliders are in the middle, and what turns has turned by half the angle, the short way,
// whichever of a rotation's two quaternions it is given as.
static void test_between_two_snapshots(void **state)
{
    (void)state;
    static FrameSnapshotPool pool;
    expect_near(snapshot_pool_create(&pool), MOTE_OK, 0.0, "the pool");
    float now[4] = {1.0f, 2.0f, 3.0f, 0.5f}, before[4] = {3.0f, 2.0f, -1.0f, 0.5f};
    MoteQuaternion turn_now = about_z(100.0, -1.0f), turn_before = about_z(20.0, 1.0f);
    MoteRenderCollider collider_now = {.collider.to = {{1, 0, 0}, about_z(90.0, 1.0f)}};
    MoteRenderCollider collider_before = {.collider.to = {{0, 1, 0}, about_z(30.0, -1.0f)}};
    FrameSnapshot snapshot = {.has_before = true,
                              .positions_before = {before, sizeof before},
                              .rotations_before = {&turn_before, sizeof turn_before},
                              .rotations_before_count = 1,
                              .colliders_before = {&collider_before, sizeof collider_before},
                              .colliders_before_count = 1};
    snapshot.look.colliders = &collider_now;
    snapshot.look.collider_count = 1;
    MoteRenderView view = {.particle_count = 1, .cluster_count = 1};
    view.positions = (MoteArray){now, sizeof now, sizeof now};
    view.cluster_rotations = (MoteArray){&turn_now, sizeof turn_now, sizeof turn_now};
    MoteRenderScene look = snapshot.look;
    Interpolation interpolation = {0};
    expect_near(interpolate_snapshots(&interpolation, &pool, &snapshot, 0.5f, &view, &look), MOTE_OK, 0.0,
                "what is in between");
    const float *found = view.positions.address;
    expect_vec3((MoteVec3){found[0], found[1], found[2]}, 2.0, 2.0, 1.0, "the particle");
    const MoteQuaternion *turned = view.cluster_rotations.address;
    expect_rotation(*turned, about_z(60.0, 1.0f), "the body's rotation");
    expect_vec3(look.colliders[0].collider.to.position, 0.5, 0.5, 0.0, "the collider");
    expect_rotation(look.colliders[0].collider.to.rotation, about_z(60.0, 1.0f), "the collider's rotation");
    interpolation_free(&interpolation);
    snapshot_pool_destroy(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orbit), cmocka_unit_test(test_look),
        cmocka_unit_test(test_pan),   cmocka_unit_test(test_zoom),
        cmocka_unit_test(test_fly),   cmocka_unit_test(test_frame),
        cmocka_unit_test(test_rays),  cmocka_unit_test(test_between_two_snapshots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
