// SPDX-License-Identifier: MIT
#include "viewer/camera.h"

#include "base/vec.h"
#include <math.h>

static const float radians = 3.14159265f / 180.0f;

MoteVec3 camera_forward(const MoteCamera *camera)
{
    return vec3_normalize(vec3_sub(camera->target, camera->position), 1e-12f, (MoteVec3){0.0f, 0.0f, -1.0f});
}

typedef struct Axes {
    MoteVec3 right, up, forward;
} Axes;

// As the renderer has them (src/render/frame.c): level, then turned by the roll.
static Axes axes_of(const MoteCamera *camera)
{
    const MoteVec3 forward = camera_forward(camera);
    const MoteVec3 level =
        vec3_normalize(vec3_cross(forward, (MoteVec3){0.0f, 1.0f, 0.0f}), 1e-12f, (MoteVec3){1.0f, 0.0f, 0.0f});
    const MoteVec3 above = vec3_cross(level, forward);
    const float c = cosf(camera->roll * radians), s = sinf(camera->roll * radians);
    const MoteVec3 zero = {0.0f, 0.0f, 0.0f};
    return (Axes){vec3_add_scaled(vec3_add_scaled(zero, level, c), above, -s),
                  vec3_add_scaled(vec3_add_scaled(zero, level, s), above, c), forward};
}

static float distance_of(const MoteCamera *camera)
{
    return fmaxf(vec3_length(vec3_sub(camera->position, camera->target)), 1e-4f);
}

// A direction as angles: about y from +z, and above the horizon. Straight up and down are left out, where the first
// would have no meaning.
static MoteVec3 turned(MoteVec3 direction, float turn, float tilt)
{
    const float limit = 89.0f * radians;
    const float azimuth = atan2f(direction.x, direction.z) + turn;
    const float height = asinf(fmaxf(-1.0f, fminf(1.0f, direction.y))) + tilt;
    const float elevation = fmaxf(-limit, fminf(limit, height));
    return (MoteVec3){cosf(elevation) * sinf(azimuth), sinf(elevation), cosf(elevation) * cosf(azimuth)};
}

void camera_orbit(MoteCamera *camera, float dx, float dy, float height)
{
    const float distance = distance_of(camera), scale = 3.14159265f / height; // the picture's height is half a turn
    const MoteVec3 back =
        vec3_normalize(vec3_sub(camera->position, camera->target), 1e-12f, (MoteVec3){0.0f, 0.0f, 1.0f});
    camera->position = vec3_add_scaled(camera->target, turned(back, -dx * scale, dy * scale), distance);
}

void camera_look(MoteCamera *camera, float dx, float dy, float height)
{
    const float distance = distance_of(camera), scale = camera->field_of_view * radians / height;
    camera->target =
        vec3_add_scaled(camera->position, turned(camera_forward(camera), -dx * scale, -dy * scale), distance);
}

static void shift(MoteCamera *camera, MoteVec3 by, float s)
{
    camera->position = vec3_add_scaled(camera->position, by, s);
    camera->target = vec3_add_scaled(camera->target, by, s);
}

void camera_pan(MoteCamera *camera, float dx, float dy, float height)
{
    const Axes axes = axes_of(camera);
    const float pixel = 2.0f * distance_of(camera) * tanf(0.5f * camera->field_of_view * radians) / height;
    shift(camera, axes.right, -dx * pixel);
    shift(camera, axes.up, dy * pixel);
}

void camera_zoom(MoteCamera *camera, float steps)
{
    const float distance = distance_of(camera) * powf(0.9f, steps);
    const float nearest = 2.0f * camera->near_plane, clamped = fminf(fmaxf(distance, nearest), 1e5f);
    const MoteVec3 back =
        vec3_normalize(vec3_sub(camera->position, camera->target), 1e-12f, (MoteVec3){0.0f, 0.0f, 1.0f});
    camera->position = vec3_add_scaled(camera->target, back, clamped);
}

void camera_fly(MoteCamera *camera, float right, float up, float forward)
{
    const Axes axes = axes_of(camera);
    const float distance = distance_of(camera);
    shift(camera, axes.right, right * distance);
    shift(camera, (MoteVec3){0.0f, 1.0f, 0.0f}, up * distance);
    shift(camera, axes.forward, forward * distance);
}

void camera_frame(MoteCamera *camera, MoteVec3 bounds_min, MoteVec3 bounds_max, float aspect)
{
    const MoteVec3 middle =
        vec3_add_scaled((MoteVec3){0.5f * bounds_min.x, 0.5f * bounds_min.y, 0.5f * bounds_min.z}, bounds_max, 0.5f);
    const float radius = fmaxf(0.5f * vec3_length(vec3_sub(bounds_max, bounds_min)), 1e-3f);
    const float half = 0.5f * camera->field_of_view * radians;
    const float narrower = aspect < 1.0f ? atanf(tanf(half) * aspect) : half;
    const MoteVec3 back =
        vec3_normalize(vec3_sub(camera->position, camera->target), 1e-12f, (MoteVec3){0.0f, 0.0f, 1.0f});
    camera->target = middle;
    camera->position = vec3_add_scaled(middle, back, radius / sinf(narrower));
}

CameraRay camera_ray(const MoteCamera *camera, float x, float y, float width, float height)
{
    const Axes axes = axes_of(camera);
    const float focal = 0.5f * height / tanf(0.5f * camera->field_of_view * radians);
    const float across = (x + 0.5f - 0.5f * width) / focal, down = (y + 0.5f - 0.5f * height) / focal;
    const MoteVec3 direction = vec3_add_scaled(vec3_add_scaled(axes.forward, axes.right, across), axes.up, -down);
    return (CameraRay){camera->position, vec3_normalize(direction, 1e-12f, axes.forward)};
}

bool camera_project(const MoteCamera *camera, MoteVec3 point, float width, float height, float *x, float *y)
{
    const Axes axes = axes_of(camera);
    const float focal = 0.5f * height / tanf(0.5f * camera->field_of_view * radians);
    const MoteVec3 from_eye = vec3_sub(point, camera->position);
    const float z = vec3_dot(from_eye, axes.forward);
    if (!(z > 1e-6f)) {
        return false;
    }
    *x = 0.5f * width + focal * vec3_dot(from_eye, axes.right) / z - 0.5f;
    *y = 0.5f * height - focal * vec3_dot(from_eye, axes.up) / z - 0.5f;
    return true;
}
