// SPDX-License-Identifier: MIT
// ray_fixture.h - what the tests of the drawn scene share: colliders in closed form, the rays of a picture's pixels,
// worlds without liquid.
#ifndef MOTE_TESTS_RAY_FIXTURE_H
#define MOTE_TESTS_RAY_FIXTURE_H

#include "render_fixture.h"

enum { WIDTH = 160, HEIGHT = 120 };
#define PI      3.14159265358979323846
#define UPRIGHT ((MoteQuaternion){0.0f, 0.0f, 0.0f, 1.0f})
#define TURNED  ((MoteQuaternion){0.2f, 0.4f, -0.1f, 0.8888194f})

typedef struct Vector {
    double x, y, z;
} Vector;

static inline Vector add(Vector a, double s, Vector b)
{
    return (Vector){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline double dot(Vector a, Vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline Vector cross(Vector a, Vector b)
{
    return (Vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline Vector unit(Vector a)
{
    return add((Vector){0, 0, 0}, 1.0 / sqrt(dot(a, a)), a);
}

static inline Vector vector(MoteVec3 v)
{
    return (Vector){v.x, v.y, v.z};
}

// By a quaternion, or by its inverse.
static inline Vector turn(MoteQuaternion q, Vector v, bool back)
{
    const Vector axis = {q.x, q.y, q.z};
    const Vector t = add(cross(axis, v), back ? -(double)q.w : (double)q.w, v);
    return add(v, 2.0, cross(axis, t));
}

// ---- Colliders in closed form ----

// Signed distance from a point to a box, sphere or capsule.
static inline double distance_to(const MoteCollider *collider, Vector point)
{
    const Vector p = turn(collider->to.rotation, add(point, -1.0, vector(collider->to.position)), true);
    const Vector h = collider->kind == MOTE_COLLIDER_BOX       ? vector(collider->half_size)
                     : collider->kind == MOTE_COLLIDER_CAPSULE ? (Vector){0, collider->half_size.y, 0}
                                                               : (Vector){0, 0, 0};
    const Vector q = {fabs(p.x) - h.x, fabs(p.y) - h.y, fabs(p.z) - h.z};
    const Vector out = {fmax(q.x, 0), fmax(q.y, 0), fmax(q.z, 0)};
    const double radius = collider->kind == MOTE_COLLIDER_BOX ? 0.0 : collider->radius;
    return sqrt(dot(out, out)) + fmin(fmax(q.x, fmax(q.y, q.z)), 0.0) - radius;
}

// Where a ray of unit direction first meets a collider from outside, or leaves it if `far_side`; infinite if it misses.
// The colliders are convex: the nearest approach is found first, then the surface between two points by bisection.
static inline double ray_hit(const MoteCollider *collider, Vector origin, Vector direction, bool far_side)
{
    const double reach = 2.0 + sqrt(dot(add(origin, -1.0, vector(collider->to.position)),
                                        add(origin, -1.0, vector(collider->to.position))));
    double low = 0.0, high = reach;
    for (int i = 0; i < 70; i++) { // the distance along a ray to a convex collider has one minimum
        const double a = low + (high - low) / 3.0, b = high - (high - low) / 3.0;
        if (distance_to(collider, add(origin, a, direction)) < distance_to(collider, add(origin, b, direction))) {
            high = b;
        } else {
            low = a;
        }
    }
    if (distance_to(collider, add(origin, low, direction)) > 0.0) {
        return INFINITY;
    }
    double outside = far_side ? reach : 0.0, inside = low;
    for (int i = 0; i < 50; i++) {
        const double middle = 0.5 * (outside + inside);
        if (distance_to(collider, add(origin, middle, direction)) > 0.0) {
            outside = middle;
        } else {
            inside = middle;
        }
    }
    return inside;
}

static inline MoteRenderCollider solid(uint32_t kind, MoteVec3 position, MoteQuaternion rotation)
{
    return (MoteRenderCollider){
        .collider = {.kind = kind, .half_size = {0.3f, 0.2f, 0.45f}, .radius = 0.25f, .to = {position, rotation}},
        .look = MOTE_LOOK_SOLID};
}

// ---- Pictures ----

typedef struct Camera {
    Vector eye, forward, right, up;
    double scale;
} Camera;

// From the documented camera alone: no code is shared with the renderer.
static inline Camera camera_of(const MoteRenderScene *scene)
{
    Camera c = {.eye = vector(scene->camera.position)};
    c.forward = unit(add(vector(scene->camera.target), -1.0, c.eye));
    c.right = unit(cross(c.forward, (Vector){0, 1, 0}));
    c.up = cross(c.right, c.forward);
    c.scale = tan(0.5 * scene->camera.field_of_view * PI / 180.0) / (0.5 * HEIGHT);
    return c;
}

// Its part along the view direction is 1.
static inline Vector pixel_ray(const Camera *c, uint32_t x, uint32_t y)
{
    const Vector level = add(c->forward, (x + 0.5 - 0.5 * WIDTH) * c->scale, c->right);
    return add(level, (0.5 * HEIGHT - y - 0.5) * c->scale, c->up);
}

// A world whose one particle nobody sees.
static inline MoteWorld *make_dry_world(void)
{
    return make_world("cpu", NULL, 0.05f, 2.0f, &(MoteVec3){0, 0.5f, 0}, 1);
}

static inline MoteRenderScene make_dry_scene(MoteVec3 eye, MoteVec3 target)
{
    MoteRenderScene scene = make_scene(eye, target, 45.0f);
    scene.liquid.visible = false;
    scene.picture.antialias = false;
    return scene;
}

static inline void draw(MoteRenderer *renderer, MoteWorld *world, const MoteRenderScene *scene)
{
    MUST(mote_renderer_draw(renderer, world, scene,
                            &(MotePicture){.width = WIDTH, .height = HEIGHT, .samples = 1, .layers = true}));
}

static inline float *draw_layer(MoteRenderer *renderer, MoteWorld *world, const MoteRenderScene *scene,
                                const char *layer)
{
    draw(renderer, world, scene);
    return read_layer(renderer, layer, WIDTH, HEIGHT);
}

// The colour of a pixel of a "color" layer.
static inline const float *at(const float *colors, uint32_t x, uint32_t y)
{
    return colors + 4 * ((size_t)y * WIDTH + x);
}

static inline Vector sun_of(const MoteRenderScene *scene)
{
    const double e = scene->sky.sun_elevation * PI / 180.0, a = scene->sky.sun_azimuth * PI / 180.0;
    return (Vector){cos(e) * sin(a), sin(e), cos(e) * cos(a)};
}

// ---- Shadows ----

// A white ground at y = 0 in sunlight alone.
static inline MoteRenderScene make_sunlit_ground(MoteVec3 eye, MoteVec3 target)
{
    MoteRenderScene scene = make_dry_scene(eye, target);
    scene.ground.visible = true;
    scene.ground.color = (MoteVec3){1, 1, 1};
    scene.ground.grid = 0.0f;
    scene.ground.fade = 1e5f;
    scene.sky.kind = MOTE_SKY_COLOR;
    scene.sky.color = (MoteVec3){0, 0, 0};
    scene.sky.sun_color = (MoteVec3){1, 1, 1};
    return scene;
}

// How many of the sun's rays towards places within `margin` of a point of the ground a collider keeps, of 16.
static inline int rays_kept(const MoteCollider *collider, Vector point, Vector sun, double sun_slope, double margin)
{
    const Vector side = unit(cross((Vector){0, 1, 0}, sun)), above = cross(sun, side);
    int kept = 0;
    for (int i = 0; i < 16; i++) {
        const double angle = 2.0 * PI * i / 16.0;
        const Vector off = add(add((Vector){0, 0, 0}, cos(angle), side), sin(angle), above);
        const Vector ray = unit(add(sun, sun_slope, off));
        kept += isfinite(ray_hit(collider, add(point, margin, off), ray, false)) ? 1 : 0;
    }
    return kept;
}

#endif
