// SPDX-License-Identifier: MIT
// backends.h - one test body for every backend: the list of backends, and the few things that tests of the solver
// build their worlds from. To be included first.
#ifndef MOTE_TESTS_BACKENDS_H
#define MOTE_TESTS_BACKENDS_H

#define _POSIX_C_SOURCE 200809L // setenv

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
#include "known_leaks.h"
#include "mote.h"
#include "mote_render.h"
#include "particle_fixture.h"
#include "short_tests.h"
#include "solver/world.h"

// Vulkan runs under the validation layers with their checks for hazards, and any message fails the test (end_vulkan).
// A test that would take too long with them says so.
#if !defined(VULKAN_VALIDATE)
#define VULKAN_VALIDATE true
#endif

typedef struct TestBackend {
    const char *label;
    MoteBackendOptions options;
} TestBackend;

// Two threads on any machine: enough to go through the parallel code.
static const TestBackend test_backends[] = {
    {"cpu", {.backend = "cpu", .threads = 2}},
    {"portable cpu", {.backend = "cpu", .threads = 2, .portable = true}},
    {"cuda", {.backend = "cuda"}}, // emulated, see tests/cuda_emulation
    {"vulkan", {.backend = "vulkan", .validate = VULKAN_VALIDATE}},
};

// A device's pipelines are compiled once for all its worlds, and go with the last of them: one stays until the program
// ends. By then the validation layers, which also look for hazards between launches, must have had nothing to say.
static Backend *kept_vulkan;

static inline void end_vulkan(void)
{
    if (!KEEP_DRIVERS) {
        kept_vulkan->functions->destroy(kept_vulkan);
    }
    if (mote_renderer_validation_messages(NULL) > 0) {
        fprintf(stderr, "the validation layers have found something: see above\n");
        _Exit(1);
    }
}

static inline int keep_vulkan(const MoteBackendOptions *options)
{
    if (strcmp(options->backend, "vulkan") != 0 || kept_vulkan != NULL) {
        return 0;
    }
    setenv("LP_NUM_THREADS", "0", 0); // Mesa: for worlds of few particles, waking threads takes longer than the work
    if (backend_create(options, &kept_vulkan) != MOTE_OK) {
        fprintf(stderr, "%s\n", mote_error_message());
        return -1;
    }
    return atexit(end_vulkan);
}

// Whether this backend is Vulkan on a GPU: divisions and roots there may be off by a last bit, elsewhere they are IEEE
// 754's, and results are equal to the bit.
static inline bool vulkan_may_differ(int number)
{
    MoteDeviceInfo device;
    return strcmp(test_backends[number].options.backend, "vulkan") == 0 && mote_render_devices(&device, 1) > 0 &&
           !device.software;
}

static inline int set_up_backend(void **state)
{
    return keep_vulkan(&((const TestBackend *)*state)->options);
}

// A row for each backend of a table of tests: the body gets its TestBackend through `state`.
#define ON_BACKEND(test, label, number) test_row(#test " [" label "]", test, &test_backends[number])
#define ON_EVERY_BACKEND(test)                                                                                         \
    ON_BACKEND(test, "cpu", 0), ON_BACKEND(test, "portable cpu", 1), ON_BACKEND(test, "cuda", 2),                      \
        ON_BACKEND(test, "vulkan", 3)
// Tests that take long: the portable kernels are those of the emulated CUDA backend, to the bit.
#define ON_CPU_AND_CUDA(test) ON_BACKEND(test, "cpu", 0), ON_BACKEND(test, "cuda", 2)
#define ON_CPU_AND_GPUS(test) ON_CPU_AND_CUDA(test), ON_BACKEND(test, "vulkan", 3)

static inline struct CMUnitTest test_row(const char *name, CMUnitTestFunction body, const TestBackend *backend)
{
    return (struct CMUnitTest){
        .name = name, .test_func = body, .setup_func = set_up_backend, .initial_state = (void *)(uintptr_t)backend};
}

// ---- Numbers that are the same in every run ----

static inline uint64_t random_bits(void)
{
    static uint64_t state = 1;
    state += 0x9e3779b97f4a7c15u; // splitmix64
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline float random_float(float low, float high)
{
    return low + (high - low) * ((float)(random_bits() >> 40) / 16777216.0f);
}

static inline MoteVec3 random_in_box(MoteVec3 centre, float half)
{
    MoteVec3 p;
    p.x = random_float(centre.x - half, centre.x + half);
    p.y = random_float(centre.y - half, centre.y + half);
    p.z = random_float(centre.z - half, centre.z + half);
    return p;
}

// ---- Worlds ----

// A step with these settings moves nothing that is at rest: it sorts, lists neighbours and measures densities.
static inline MoteSettings measuring_settings(uint32_t dimensions, float spacing, float smoothing_radius_ratio)
{
    MoteSettings settings = mote_default_settings();
    settings.dimensions = dimensions;
    settings.spacing = spacing;
    settings.smoothing_radius_ratio = smoothing_radius_ratio;
    settings.iterations = 0;
    settings.stabilization_iterations = 0;
    settings.gravity = (MoteVec3){0, 0, 0};
    settings.viscosity = settings.vorticity = 0.0f;
    return settings;
}

static inline MoteWorld *make_world(const TestBackend *backend, const MoteSettings *settings)
{
    MoteWorld *world = NULL;
    expect_ok(mote_world_create(settings, &backend->options, &world));
    assert_string_equal(mote_world_backend(world), backend->options.backend);
    return world;
}

// Particles of 1 kg at rest; returns the first id.
static inline uint32_t add_points(MoteWorld *world, const MoteVec3 *positions, uint32_t count, uint32_t phase)
{
    MoteParticles particles = mote_default_particles();
    particles.count = count;
    particles.positions = positions;
    particles.phase = phase;
    uint32_t first = 0;
    expect_ok(mote_world_add_particles(world, &particles, &first));
    return first;
}

// One particle of 1 kg that is no fluid.
static inline uint32_t add_grain(MoteWorld *world, MoteVec3 position, MoteVec3 velocity)
{
    const MoteParticles particles = {.count = 1, .positions = &position, .velocities = &velocity, .mass = 1.0f};
    uint32_t first = 0;
    expect_ok(mote_world_add_particles(world, &particles, &first));
    return first;
}

// A block of nx by ny by nz water particles on the rest lattice, the first at `corner`; returns how many there are.
static inline uint32_t add_block(MoteWorld *world, MoteVec3 corner, uint32_t nx, uint32_t ny, uint32_t nz)
{
    const float d = mote_world_settings(world).spacing;
    const uint32_t count = nx * ny * nz;
    MoteVec3 *positions = malloc(count * sizeof *positions);
    assert_non_null(positions);
    for (uint32_t i = 0; i < count; i++) {
        positions[i].x = corner.x + d * (float)(i % nx);
        positions[i].y = corner.y + d * (float)(i / nx % ny);
        positions[i].z = corner.z + d * (float)(i / nx / ny);
    }
    MoteParticles particles = mote_default_particles();
    particles.count = count;
    particles.positions = positions;
    particles.mass = mote_world_particle_mass(world, 1000.0f);
    expect_ok(mote_world_add_particles(world, &particles, NULL));
    free(positions);
    return count;
}

static inline void run_steps(MoteWorld *world, uint32_t count, float time_step)
{
    for (uint32_t i = 0; i < count; i++) {
        expect_ok(mote_world_step(world, time_step));
    }
}

static inline MoteParticleView read_view(MoteWorld *world)
{
    MoteParticleView view;
    expect_ok(read_particles(world, &view));
    return view;
}

static inline uint64_t read_hash(MoteWorld *world)
{
    uint64_t hash = 0;
    expect_ok(mote_world_state_hash(world, &hash));
    return hash;
}

static inline MoteStatistics read_statistics(MoteWorld *world)
{
    MoteStatistics statistics;
    expect_ok(mote_world_statistics(world, &statistics));
    return statistics;
}

// A copy of a backend buffer; free it.
static inline void *download_copy(MoteWorld *world, const void *address, size_t bytes)
{
    void *copy = malloc(bytes + 1);
    assert_non_null(copy);
    if (bytes > 0) {
        world->backend->functions->download(world->backend, copy, address, bytes);
    }
    return copy;
}

// ---- Colliders ----

static inline MoteQuaternion turn(MoteVec3 unit_axis, float radians)
{
    const float s = sinf(0.5f * radians);
    MoteQuaternion q = {unit_axis.x * s, unit_axis.y * s, unit_axis.z * s, cosf(0.5f * radians)};
    return q;
}

// The collider in the world's row `row`.
static inline MoteColliderId collider_id(const MoteWorld *world, uint32_t row)
{
    MoteColliderId ids[64];
    const uint32_t count = mote_world_collider_ids(world, ids, 64);
    assert_true(row < count && count <= 64);
    return ids[row];
}

// Gives it another motion where it is.
static inline MoteResult set_motion(MoteWorld *world, uint32_t row, MoteVec3 velocity, MoteVec3 angular_velocity)
{
    return mote_world_set_collider_motion(world, collider_id(world, row), NULL, velocity, angular_velocity);
}

// A collider that does not move, without friction and restitution.
static inline MoteCollider still_collider(MoteColliderKind kind, MoteVec3 position, MoteVec3 half_size, float radius)
{
    MoteCollider collider = mote_default_collider();
    collider.kind = kind;
    collider.half_size = half_size;
    collider.radius = radius;
    collider.from.position = collider.to.position = position;
    return collider;
}

static inline MoteCollider box_container(MoteVec3 centre, MoteVec3 half_size)
{
    MoteCollider collider = still_collider(MOTE_COLLIDER_BOX, centre, half_size, 0.0f);
    collider.inside_out = true;
    return collider;
}

// Water at one end of a tank, its corner at the origin, that is one spacing deeper than the block's nz: columns
// collapse to the other end. Returns the number of particles.
static inline uint32_t build_dam_break(MoteWorld *world, uint32_t nx, uint32_t ny, uint32_t nz)
{
    const float d = mote_world_settings(world).spacing;
    const MoteVec3 half = {0.5f * d * (float)(3 * nx), 0.5f * d * (float)(2 * ny), 0.5f * d * (float)(nz + 1)};
    const MoteCollider tank = box_container(half, half);
    expect_ok(mote_world_set_colliders(world, &tank, 1));
    return add_block(world, (MoteVec3){0.5f * d, 0.5f * d, 0.5f * d}, nx, ny, nz);
}

// ---- Neighbours by brute force ----

// The particles nearer than the support to particle i, itself excluded, ascending, in the solver's own arithmetic.
static inline uint32_t brute_force_neighbours(const vec4 *points, uint32_t count, float smoothing_radius_squared,
                                              uint32_t i, uint32_t *list)
{
    uint32_t found = 0;
    for (uint32_t j = 0; j < count; j++) {
        const float x = points[i].x - points[j].x, y = points[i].y - points[j].y, z = points[i].z - points[j].z;
        if (x * x + y * y + z * z < smoothing_radius_squared && j != i) {
            list[found++] = j;
        }
    }
    return found;
}

#endif
