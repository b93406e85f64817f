// solid_fixture.h - boxes of particles as bodies, and planes, for tests of solids.
#ifndef MOTE_TESTS_SOLID_FIXTURE_H
#define MOTE_TESTS_SOLID_FIXTURE_H

#include "backends.h"

static inline MoteSettings solid_settings(float spacing)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = spacing;
    settings.support_ratio = 1.6f;
    settings.iterations = 4;
    settings.substeps = 1;
    return settings;
}

static inline MoteQuaternion turn_about(MoteVec3 axis, double angle)
{
    const float s = (float)sin(0.5 * angle);
    return (MoteQuaternion){s * axis.x, s * axis.y, s * axis.z, (float)cos(0.5 * angle)};
}

static inline MoteVec3 turned(MoteQuaternion q, MoteVec3 v)
{
    const MoteVec3 t = {2 * (q.y * v.z - q.z * v.y), 2 * (q.z * v.x - q.x * v.z), 2 * (q.x * v.y - q.y * v.x)};
    return (MoteVec3){v.x + q.w * t.x + (q.y * t.z - q.z * t.y), v.y + q.w * t.y + (q.z * t.x - q.x * t.z),
                      v.z + q.w * t.z + (q.x * t.y - q.y * t.x)};
}

// A box of nx by ny by nz particles about `centre`, turned by `rotation`.
typedef struct TestBox {
    uint32_t nx, ny, nz;
    float spacing;
    MoteVec3 centre;
    MoteQuaternion rotation;
    bool field;    // with the box's signed distance
    MoteBody body; // everything but the particles
} TestBox;

static inline void add_box(MoteWorld *world, const TestBox *box)
{
    const uint32_t count = box->nx * box->ny * box->nz;
    MoteVec3 *positions = malloc(count * sizeof *positions), *gradients = malloc(count * sizeof *gradients);
    float *distances = malloc(count * sizeof *distances);
    assert_true(positions != NULL && gradients != NULL && distances != NULL);
    const float half[3] = {0.5f * (float)box->nx, 0.5f * (float)box->ny, 0.5f * (float)box->nz};
    uint32_t n = 0;
    for (uint32_t k = 0; k < box->nz; k++) {
        for (uint32_t j = 0; j < box->ny; j++) {
            for (uint32_t i = 0; i < box->nx; i++, n++) {
                const float p[3] = {(float)i + 0.5f - half[0], (float)j + 0.5f - half[1], (float)k + 0.5f - half[2]};
                const MoteVec3 local = {p[0] * box->spacing, p[1] * box->spacing, p[2] * box->spacing};
                const MoteVec3 offset = turned(box->rotation, local);
                positions[n] = (MoteVec3){box->centre.x + offset.x, box->centre.y + offset.y, box->centre.z + offset.z};
                int axis = 0;
                for (int a = 1; a < 3; a++) {
                    axis = half[a] - fabsf(p[a]) < half[axis] - fabsf(p[axis]) ? a : axis;
                }
                const float side = p[axis] < 0.0f ? -1.0f : 1.0f;
                const MoteVec3 g = {axis == 0 ? side : 0.0f, axis == 1 ? side : 0.0f, axis == 2 ? side : 0.0f};
                gradients[n] = turned(box->rotation, g);
                distances[n] = (fabsf(p[axis]) - half[axis]) * box->spacing;
            }
        }
    }
    MoteBody body = box->body;
    body.count = count;
    body.positions = positions;
    body.gradients = box->field ? gradients : NULL;
    body.distances = box->field ? distances : NULL;
    expect_ok(mote_world_add_body(world, &body, NULL, NULL));
    free(positions);
    free(gradients);
    free(distances);
}

static inline MoteBodyState body_state(MoteWorld *world, uint32_t number)
{
    MoteBodyState rows[64];
    assert_true(number < 64);
    expect_ok(mote_world_read_bodies(world, rows, 64));
    return rows[number];
}

// A plane through the origin, turned about z.
static inline MoteShape sloped_plane(double angle, float friction)
{
    const MoteQuaternion q = turn_about((MoteVec3){0, 0, 1}, angle);
    return (MoteShape){.kind = MOTE_SHAPE_PLANE,
                       .from.rotation = q,
                       .to.rotation = q,
                       .static_friction = friction,
                       .kinetic_friction = friction};
}

static inline void run(MoteWorld *world, double seconds, double rate)
{
    for (int i = 0; i < (int)(seconds * rate + 0.5); i++) {
        expect_ok(mote_world_step(world, (float)(1.0 / rate)));
    }
}

#endif
