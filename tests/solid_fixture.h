// SPDX-License-Identifier: MIT
// solid_fixture.h - boxes of particles as bodies, and planes, for tests of solids.
#ifndef MOTE_TESTS_SOLID_FIXTURE_H
#define MOTE_TESTS_SOLID_FIXTURE_H

#include "backends.h"

static inline MoteSettings solid_settings(float spacing)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = spacing;
    settings.smoothing_radius_ratio = 1.6f;
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
static inline MoteCollider sloped_plane(double angle, float friction)
{
    const MoteQuaternion q = turn_about((MoteVec3){0, 0, 1}, angle);
    return (MoteCollider){.kind = MOTE_COLLIDER_PLANE,
                          .from.rotation = q,
                          .to.rotation = q,
                          .static_friction = friction,
                          .kinetic_friction = friction};
}

// The ground at y = 0.
static inline MoteCollider flat_ground(float friction)
{
    return sloped_plane(0.0, friction);
}

// Grains of 1 kg that collide with one another; the group is their material as well. Returns the first id.
static inline uint32_t add_grains(MoteWorld *world, const MoteVec3 *positions, const MoteVec3 *velocities,
                                  uint32_t count, uint32_t group)
{
    const MoteParticles particles = {.count = count,
                                     .positions = positions,
                                     .velocities = velocities,
                                     .mass = 1.0f,
                                     .phase = group | MOTE_PHASE_SELF};
    uint32_t first = 0;
    expect_ok(mote_world_add_particles(world, &particles, &first));
    return first;
}

typedef struct TestParticle {
    uint32_t row; // in the order of mote_world_read
    MoteVec3 position, velocity;
} TestParticle;

static inline TestParticle find_particle(MoteWorld *world, uint32_t id)
{
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        if (view.ids[i] == id) {
            const float *p = view.positions + 4 * (size_t)i, *v = view.velocities + 4 * (size_t)i;
            return (TestParticle){i, {p[0], p[1], p[2]}, {v[0], v[1], v[2]}};
        }
    }
    fail_msg("particle %u is gone", id);
    return (TestParticle){0};
}

static inline double length_of(MoteVec3 v)
{
    return sqrt((double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z);
}

// Of all particles that there are, which must be finite.
static inline double fastest(MoteWorld *world)
{
    const MoteParticleView view = read_view(world);
    double most = 0.0;
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * (size_t)i, *v = view.velocities + 4 * (size_t)i;
        assert_true(isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]));
        const double speed = length_of((MoteVec3){v[0], v[1], v[2]});
        assert_true(isfinite(speed));
        most = fmax(most, speed);
    }
    return most;
}

// The sum over all particles of what constraints of this kind did in the last step, N.
static inline void sum_forces(MoteWorld *world, uint32_t kind, double sum[3])
{
    const uint32_t count = mote_world_particle_count(world);
    float *values = malloc(4 * sizeof *values * count);
    assert_non_null(values);
    expect_ok(mote_world_read_forces(world, kind, values));
    sum[0] = sum[1] = sum[2] = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        for (int axis = 0; axis < 3; axis++) {
            sum[axis] += values[4 * (size_t)i + (size_t)axis];
        }
    }
    free(values);
}

static inline void run(MoteWorld *world, double seconds, double rate)
{
    expect_ok(mote_world_steps(world, (float)(1.0 / rate), (uint32_t)(seconds * rate + 0.5), NULL));
}

// The share of a ball of radius r that is under water which stood at `level` without it, in a pool of `area`: the
// surface rises by what the ball displaces.
static inline double share_under_water(double r, double bottom, double level, double area)
{
    const double pi = 3.14159265358979323846, volume = 4.0 / 3 * pi * r * r * r;
    double low = 0.0, high = 1.0;
    for (int n = 0; n < 50; n++) {
        const double share = 0.5 * (low + high);
        const double h = fmin(fmax(level + share * volume / area - bottom, 0.0), 2 * r);
        const bool more = pi * h * h * (r - h / 3) > share * volume;
        low = more ? share : low;
        high = more ? high : share;
    }
    return low;
}

#endif
