// SPDX-License-Identifier: MIT
// Rays, volumes and sums: what they find of colliders and particles against answers in closed form and by brute force.
#define VULKAN_VALIDATE true
#include "backends.h"

#include "mote_forces.h"

static const MoteVec3 NOWHERE = {0, 0, 0};

static MoteRayHit cast(MoteWorld *world, MoteVec3 origin, MoteVec3 direction)
{
    const MoteRay ray = {.origin = origin, .direction = direction};
    MoteRayHit hit;
    expect_ok(mote_world_cast_rays(world, &ray, 1, &hit));
    return hit;
}

static void expect_hit(MoteRayHit hit, uint32_t collider, double distance, MoteVec3 normal, double tolerance)
{
    assert_int_equal(hit.collider, collider);
    assert_int_equal(hit.particle, MOTE_NONE);
    assert_int_equal(hit.body, MOTE_NONE);
    expect_near(hit.distance, distance, tolerance, "distance");
    expect_near(hit.normal.x, normal.x, 10 * tolerance, "normal's x");
    expect_near(hit.normal.y, normal.y, 10 * tolerance, "normal's y");
    expect_near(hit.normal.z, normal.z, 10 * tolerance, "normal's z");
}

static void expect_miss(MoteRayHit hit)
{
    assert_int_equal(hit.collider, MOTE_NONE);
    assert_int_equal(hit.particle, MOTE_NONE);
    assert_true(isinf(hit.distance));
    assert_true(hit.normal.x == 0.0f && hit.normal.y == 0.0f && hit.normal.z == 0.0f);
}

static MoteWorld *world_with(void **state, const MoteCollider *colliders, uint32_t count)
{
    const MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    MoteWorld *world = make_world(*state, &settings);
    expect_ok(mote_world_set_colliders(world, colliders, count));
    return world;
}

// Down, along and away from a plane and a turned box; the nearer of two; not beyond its length.
static void rays_meet_planes_and_boxes(void **state)
{
    MoteCollider colliders[2] = {still_collider(MOTE_COLLIDER_PLANE, (MoteVec3){0, -1, 0}, NOWHERE, 0),
                                 still_collider(MOTE_COLLIDER_BOX, (MoteVec3){5, 0, 0}, (MoteVec3){1, 0.5f, 0.5f}, 0)};
    colliders[1].from.rotation = colliders[1].to.rotation = turn((MoteVec3){0, 1, 0}, 0.78539816f);
    MoteWorld *world = world_with(state, colliders, 2);
    const MoteVec3 up = {0, 1, 0};
    expect_hit(cast(world, NOWHERE, (MoteVec3){0, -7, 0}), 0, 1.0, up, 1e-6);
    expect_hit(cast(world, NOWHERE, (MoteVec3){1, -0.001f, 0}), 1, 5.0 - sqrt(0.5),
               (MoteVec3){-0.70710678f, 0, -0.70710678f}, 2e-5);
    expect_hit(cast(world, (MoteVec3){0, 0, 20}, (MoteVec3){100, -0.1f, 0}), 0, sqrt(1e6 + 1), up, 2e-2);
    expect_miss(cast(world, NOWHERE, up));
    expect_miss(cast(world, NOWHERE, (MoteVec3){0, 0, 1}));
    expect_hit(cast(world, (MoteVec3){0, -3, 0}, up), 0, 0.0, up, 1e-6); // begins inside
    MoteRay ray = {.direction = {0, -1, 0}, .max_distance = 0.99f};
    MoteRayHit hit;
    expect_ok(mote_world_cast_rays(world, &ray, 1, &hit));
    assert_int_equal(hit.collider, MOTE_NONE);
    expect_near(hit.distance, 0.99, 1e-6, "length of the ray");
    ray.max_distance = 1.01f;
    expect_ok(mote_world_cast_rays(world, &ray, 1, &hit));
    assert_int_equal(hit.collider, 0);
    ray.skip_colliders = true;
    ray.max_distance = 0.0f;
    expect_ok(mote_world_cast_rays(world, &ray, 1, &hit));
    expect_miss(hit);
    mote_world_destroy(world);
}

static void rays_meet_round_colliders(void **state)
{
    MoteCollider colliders[2] = {still_collider(MOTE_COLLIDER_SPHERE, (MoteVec3){0, 0, -4}, NOWHERE, 1.0f),
                                 still_collider(MOTE_COLLIDER_CAPSULE, (MoteVec3){4, 0, 0}, (MoteVec3){0, 2, 0}, 0.5f)};
    MoteWorld *world = world_with(state, colliders, 2);
    const float s = 0.6f, c = 0.8f;
    expect_hit(cast(world, (MoteVec3){s, 0, 0}, (MoteVec3){0, 0, -1}), 0, 3.2, (MoteVec3){s, 0, c}, 1e-5);
    expect_miss(cast(world, (MoteVec3){1.01f, 0, 0}, (MoteVec3){0, 0, -1}));
    expect_hit(cast(world, (MoteVec3){0.5f, 0, -4}, (MoteVec3){0, 0, -1}), 0, 0.0, (MoteVec3){1, 0, 0}, 1e-5);
    // The side of the capsule, its cap from above, and its cap aslant.
    expect_hit(cast(world, (MoteVec3){0, 1.5f, 0.3f}, (MoteVec3){1, 0, 0}), 1, 3.6, (MoteVec3){-c, 0, s}, 1e-5);
    expect_hit(cast(world, (MoteVec3){4, 9, 0.3f}, (MoteVec3){0, -1, 0}), 1, 6.6, (MoteVec3){0, c, s}, 1e-5);
    expect_hit(cast(world, (MoteVec3){0, 2.4f, 0}, (MoteVec3){1, 0, 0}), 1, 3.7, (MoteVec3){-s, c, 0}, 1e-5);
    expect_miss(cast(world, (MoteVec3){0, 2.6f, 0}, (MoteVec3){1, 0, 0}));
    mote_world_destroy(world);
}

// A container is met from inside, and begun inside its wall from outside.
static void rays_meet_containers_from_inside(void **state)
{
    MoteCollider ball = still_collider(MOTE_COLLIDER_SPHERE, NOWHERE, NOWHERE, 2.0f);
    ball.inside_out = true;
    const MoteCollider colliders[2] = {box_container(NOWHERE, (MoteVec3){3, 1, 3}), ball};
    MoteWorld *world = world_with(state, colliders, 2);
    expect_hit(cast(world, NOWHERE, (MoteVec3){0, 1, 0}), 0, 1.0, (MoteVec3){0, -1, 0}, 1e-6);
    expect_hit(cast(world, (MoteVec3){1, 0, 0}, (MoteVec3){1, 0, 0}), 1, 1.0, (MoteVec3){-1, 0, 0}, 1e-6);
    assert_true(cast(world, (MoteVec3){0, 5, 0}, (MoteVec3){0, -1, 0}).distance == 0.0f);
    mote_world_destroy(world);
}

// A hull and a field of the same cube, turned: the same hits, exactly and to a part of a cell.
static void rays_meet_hulls_and_fields(void **state)
{
    MoteWorld *world = world_with(state, NULL, 0);
    MoteVec3 corners[8];
    for (int i = 0; i < 8; i++) {
        corners[i] = (MoteVec3){i & 1 ? 1.0f : -1.0f, i & 2 ? 1.0f : -1.0f, i & 4 ? 1.0f : -1.0f};
    }
    const uint32_t triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                    2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    const MoteFieldOptions options = {
        .positions = corners, .position_count = 8, .triangles = triangles, .triangle_count = 12, .cell_size = 0.05f};
    MoteField *field = NULL;
    expect_ok(mote_field_create(&options, &field));
    MoteCollider collider = still_collider(MOTE_COLLIDER_HULL, (MoteVec3){0, 0, -5}, NOWHERE, 0);
    collider.from.rotation = collider.to.rotation = turn((MoteVec3){0, 1, 0}, 0.5f);
    expect_ok(mote_world_add_hull(world, corners, 8, &collider.data));
    const uint32_t hull = collider.data;
    expect_ok(mote_world_add_field(world, field, &collider.data));
    const uint32_t number = collider.data;
    for (int i = 0; i < 2; i++) {
        collider.kind = i == 0 ? MOTE_COLLIDER_HULL : MOTE_COLLIDER_FIELD;
        collider.data = i == 0 ? hull : number;
        expect_ok(mote_world_set_colliders(world, &collider, 1));
        const double tolerance = i == 0 ? 2e-5 : 2e-3;
        // The face whose normal is (sin 0.5, 0, cos 0.5) goes through the axis at 1 / cos 0.5 before the centre.
        const MoteVec3 normal = {sinf(0.5f), 0, cosf(0.5f)};
        expect_hit(cast(world, (MoteVec3){0, 0.3f, 0}, (MoteVec3){0, 0, -1}), 0, 5.0 - 1.0 / cos(0.5), normal,
                   tolerance);
        expect_hit(cast(world, (MoteVec3){0, 4, -5.2f}, (MoteVec3){0, -1, 0}), 0, 3.0, (MoteVec3){0, 1, 0}, tolerance);
        expect_miss(cast(world, (MoteVec3){0, 1.1f, 0}, (MoteVec3){0, 0, -1}));
        expect_miss(cast(world, NOWHERE, (MoteVec3){0, 0, 1}));
    }
    mote_field_destroy(field);
    mote_world_destroy(world);
}

// ---- Particles ----

// Many rays at a cloud of particles before a wall: the nearest by brute force, and none where a wall is in front.
static void rays_meet_particles(void **state)
{
    const MoteCollider wall = still_collider(MOTE_COLLIDER_BOX, (MoteVec3){0, 0, -1.5f}, (MoteVec3){0.4f, 5, 0.05f}, 0);
    MoteWorld *world = world_with(state, &wall, 1);
    enum { COUNT = 1500, RAYS = 300 };
    static MoteVec3 points[COUNT];
    for (int i = 0; i < COUNT; i++) {
        points[i] = random_in_box((MoteVec3){0, 0, -2}, 1.0f);
    }
    const uint32_t first = add_points(world, points, COUNT, MOTE_PHASE_FLUID);
    expect_ok(mote_world_step(world, 1e-3f)); // sorts them
    static MoteRay rays[RAYS];
    static MoteRayHit hits[RAYS];
    for (int i = 0; i < RAYS; i++) {
        rays[i] = (MoteRay){.origin = random_in_box((MoteVec3){0, 0, 1}, 0.5f), .particle_radius = 0.04f};
        const MoteVec3 to = random_in_box((MoteVec3){0, 0, -2}, 1.2f), from = rays[i].origin;
        rays[i].direction = (MoteVec3){to.x - from.x, to.y - from.y, to.z - from.z};
    }
    expect_ok(mote_world_cast_rays(world, rays, RAYS, hits));
    const MoteParticleView view = read_view(world);
    uint32_t of_particles = 0, of_walls = 0;
    for (int i = 0; i < RAYS; i++) {
        const double d[3] = {(double)rays[i].direction.x, (double)rays[i].direction.y, (double)rays[i].direction.z};
        const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        MoteRay blind = rays[i];
        blind.skip_particles = true;
        MoteRayHit at_wall;
        expect_ok(mote_world_cast_rays(world, &blind, 1, &at_wall));
        double nearest = (double)at_wall.distance;
        uint32_t id = MOTE_NONE;
        for (uint32_t k = 0; k < view.count; k++) {
            const float *p = view.positions + 4 * (size_t)k;
            const double o[3] = {(double)p[0] - (double)rays[i].origin.x, (double)p[1] - (double)rays[i].origin.y,
                                 (double)p[2] - (double)rays[i].origin.z};
            const double along = (o[0] * d[0] + o[1] * d[1] + o[2] * d[2]) / length;
            const double apart = o[0] * o[0] + o[1] * o[1] + o[2] * o[2] - along * along;
            const double t = along - sqrt(fmax(0.04 * 0.04 - apart, 0.0));
            if (apart < 0.04 * 0.04 && t < nearest) {
                nearest = t;
                id = view.ids[k];
            }
        }
        if (id == MOTE_NONE && isinf(nearest)) {
            assert_true(isinf(hits[i].distance));
        } else {
            expect_near(hits[i].distance, nearest, 1e-3, "distance"); // a ray that grazes a particle may miss it
        }
        if (id != MOTE_NONE) {
            assert_int_equal(hits[i].particle, id);
            assert_int_equal(hits[i].collider, MOTE_NONE);
            const MoteVec3 n = hits[i].normal;
            expect_near((double)(n.x * n.x + n.y * n.y + n.z * n.z), 1.0, 1e-4, "squared length of the normal");
            of_particles++;
        } else {
            of_walls += hits[i].collider == 0;
        }
    }
    print_message("%u rays hit particles, %u the wall\n", of_particles, of_walls);
    assert_true(of_particles > 100 && of_walls > 30 && first == 0);

    // Straight at one: its own radius before it, half a spacing by default.
    const MoteRay straight = {.origin = {3, 0, 0}, .direction = {-1, 0, 0}};
    const uint32_t lone = add_grain(world, (MoteVec3){2, 0.03f, 0}, NOWHERE);
    MoteRayHit hit;
    expect_ok(mote_world_cast_rays(world, &straight, 1, &hit));
    assert_int_equal(hit.particle, lone);
    expect_near(hit.distance, 1.0 - 0.04, 1e-5, "distance");
    expect_near(hit.normal.x, 0.8, 1e-4, "normal's x");
    expect_near(hit.normal.y, -0.6, 1e-4, "normal's y");
    expect_ok(mote_world_remove_particles(world, &lone, 1));
    expect_ok(mote_world_cast_rays(world, &straight, 1, &hit));
    assert_int_equal(hit.particle, MOTE_NONE);
    mote_world_destroy(world);
}

static void rays_know_bodies(void **state)
{
    MoteWorld *world = world_with(state, NULL, 0);
    add_grain(world, (MoteVec3){0, 5, 0}, NOWHERE);
    for (uint32_t b = 0; b < 3; b++) {
        MoteVec3 positions[8];
        for (int i = 0; i < 8; i++) {
            positions[i] =
                (MoteVec3){(float)b + 0.1f * (float)(i & 1), 0.1f * (float)(i >> 1 & 1), 0.1f * (float)(i >> 2)};
        }
        const MoteBody body = {.count = 8, .positions = positions, .mass = 1.0f, .stiffness = 1.0f};
        expect_ok(mote_world_add_body(world, &body, NULL, NULL));
    }
    expect_ok(mote_world_step(world, 1e-3f));
    const MoteRayHit hit = cast(world, (MoteVec3){1.02f, 0, -2}, (MoteVec3){0, 0, 1});
    assert_int_equal(hit.body, 1);
    assert_int_equal(hit.particle, 9); // its first
    assert_int_equal(cast(world, (MoteVec3){0, 5, -2}, (MoteVec3){0, 0, 1}).body, MOTE_NONE);
    mote_world_destroy(world);
}

// ---- Volumes ----

// Balls, turned boxes and a container against a loop over all particles: how many, and which.
static void volumes_list_what_is_inside(void **state)
{
    MoteWorld *world = world_with(state, NULL, 0);
    add_block(world, (MoteVec3){-0.75f, -0.75f, -0.75f}, 16, 16, 16);
    expect_ok(mote_world_step(world, 1e-3f));
    enum { VOLUMES = 100, ROOM = 64 };
    static MoteCollider volumes[VOLUMES];
    for (int i = 0; i < VOLUMES; i++) {
        const MoteVec3 at = random_in_box(NOWHERE, 1.0f);
        volumes[i] = i % 2 == 0 ? still_collider(MOTE_COLLIDER_SPHERE, at, NOWHERE, random_float(0.05f, 0.4f))
                                : still_collider(MOTE_COLLIDER_BOX, at, (MoteVec3){0.2f, 0.1f, 0.3f}, 0);
        volumes[i].to.rotation = volumes[i].from.rotation = turn((MoteVec3){0, 0.6f, 0.8f}, random_float(0, 3));
    }
    volumes[7].inside_out = true;
    static uint32_t counts[VOLUMES], ids[VOLUMES * ROOM], again[VOLUMES * ROOM];
    expect_ok(mote_world_overlap(world, volumes, VOLUMES, counts, ids, ROOM));
    expect_ok(mote_world_overlap(world, volumes, VOLUMES, counts, again, ROOM));
    const MoteParticleView view = read_view(world);
    uint32_t whole = 0;
    for (uint32_t v = 0; v < VOLUMES; v++) {
        const MoteCollider *volume = &volumes[v];
        const vec4 q = v4(volume->to.rotation.x, volume->to.rotation.y, volume->to.rotation.z, volume->to.rotation.w);
        uint32_t inside = 0;
        bool listed[4096] = {false};
        for (uint32_t i = 0; i < view.count; i++) {
            const float *f = view.positions + 4 * (size_t)i;
            const MoteVec3 c = volume->to.position;
            const vec3 p = rotate_back(q, v3(f[0] - c.x, f[1] - c.y, f[2] - c.z));
            const bool in_box = fabsf(p.x) < 0.2f && fabsf(p.y) < 0.1f && fabsf(p.z) < 0.3f;
            const bool in = volume->kind == MOTE_COLLIDER_BOX ? in_box : v3_length(p) < volume->radius;
            listed[view.ids[i]] = in != volume->inside_out;
            inside += in != volume->inside_out;
        }
        assert_int_equal(counts[v], inside);
        const uint32_t found = inside < ROOM ? inside : ROOM;
        whole += inside > 0 && inside <= ROOM;
        for (uint32_t k = 0; k < found; k++) {
            assert_true(listed[ids[v * ROOM + k]]);
            assert_true(k == 0 || ids[v * ROOM + k] > ids[v * ROOM + k - 1]);
            assert_int_equal(ids[v * ROOM + k], again[v * ROOM + k]);
        }
    }
    assert_true(whole > 30 && counts[7] > ROOM);
    mote_world_destroy(world);
}

// ---- Sums ----

// A rod of 5 unit masses that moves and turns, 100 m from the origin, and one particle of it.
static void sums_are_those_of_mechanics(void **state)
{
    MoteWorld *world = world_with(state, NULL, 0);
    MoteVec3 positions[5], velocities[5];
    for (int i = 0; i < 5; i++) {
        positions[i] = (MoteVec3){100.0f + 0.5f * (float)i, 2, 3};
        velocities[i] = (MoteVec3){1, 0.5f + 2.0f * 0.5f * (float)(i - 2), 0}; // 2 rad/s about z
    }
    const MoteParticles rod = {.count = 5,
                               .positions = positions,
                               .velocities = velocities,
                               .mass = 2.0f,
                               .phase = MOTE_PHASE(MOTE_KIND_GRAIN, 77)};
    uint32_t first;
    expect_ok(mote_world_add_particles(world, &rod, &first));
    add_block(world, NOWHERE, 10, 10, 10);
    MoteParticleSums sums;
    expect_ok(mote_world_sum_particles(world, &(MoteParticleFilter){.one_group = true, .group = 77}, &sums));
    assert_int_equal(sums.count, 5);
    expect_near(sums.mass, 10.0, 1e-5, "mass");
    expect_near(sums.centre.x, 101.0, 1e-5, "centre");
    expect_near(sums.velocity.y, 0.5, 1e-5, "velocity");
    const double inertia = 2.0 * 2 * (0.25 + 1.0);
    expect_near(sums.inertia[0], 0.0, 1e-5, "inertia about the rod");
    expect_near(sums.inertia[2], inertia, 1e-4, "inertia");
    expect_near(sums.inertia[3], 0.0, 1e-4, "deviation moment");
    expect_near(sums.angular_momentum.z, 2.0 * inertia, 1e-4, "angular momentum");
    expect_ok(mote_world_sum_particles(world, &(MoteParticleFilter){.one_particle = true, .id = first + 3}, &sums));
    assert_int_equal(sums.count, 1);
    assert_int_equal(sums.phase, MOTE_PHASE(MOTE_KIND_GRAIN, 77));
    expect_near(sums.centre.x, 101.5, 0.0, "position");
    expect_ok(mote_world_sum_particles(world, &(MoteParticleFilter){0}, &sums));
    assert_int_equal(sums.count, 1005);
    assert_int_equal(sums.phase, 0);
    expect_ok(mote_world_sum_particles(world, &(MoteParticleFilter){.one_particle = true, .id = 5000}, &sums));
    assert_int_equal(sums.count, 0);
    assert_true(sums.mass == 0.0f);
    mote_world_destroy(world);
}

// A question changes nothing of a run, and is answered where there is nothing.
static void questions_change_nothing(void **state)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.1f;
    uint64_t hashes[2];
    for (int i = 0; i < 2; i++) {
        MoteWorld *world = make_world(*state, &settings);
        const MoteRay ray = {.origin = {0, 5, 0}, .direction = {0, -1, 0}};
        const MoteCollider volume = still_collider(MOTE_COLLIDER_SPHERE, NOWHERE, NOWHERE, 1.0f);
        MoteRayHit hit;
        MoteParticleSums sums;
        uint32_t count = 9, ids[8];
        expect_ok(mote_world_cast_rays(world, &ray, 1, &hit));
        expect_miss(hit);
        expect_ok(mote_world_overlap(world, &volume, 1, &count, ids, 8));
        assert_int_equal(count, 0);
        build_dam_break(world, 6, 6, 4);
        for (int s = 0; s < 4; s++) {
            run_steps(world, 3, 1.0f / 240.0f);
            if (i == 1) {
                expect_ok(mote_world_cast_rays(world, &ray, 1, &hit));
                expect_ok(mote_world_overlap(world, &volume, 1, &count, ids, 8));
                expect_ok(mote_world_sum_particles(world, &(MoteParticleFilter){0}, &sums));
                assert_int_equal(sums.count, 144);
            }
        }
        hashes[i] = read_hash(world);
        const MoteRay bad[2] = {{.direction = {0, 1, 0}}, {.origin = {0, NAN, 0}, .direction = {0, 1, 0}}};
        MoteRayHit found[2];
        expect_error(mote_world_cast_rays(world, bad, 2, found), MOTE_ERROR_INPUT, "ray 1");
        mote_world_destroy(world);
    }
    assert_true(hashes[0] == hashes[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(rays_meet_planes_and_boxes),
        ON_EVERY_BACKEND(rays_meet_round_colliders),
        ON_EVERY_BACKEND(rays_meet_containers_from_inside),
        ON_EVERY_BACKEND(rays_meet_hulls_and_fields),
        ON_EVERY_BACKEND(rays_meet_particles),
        ON_EVERY_BACKEND(rays_know_bodies),
        ON_EVERY_BACKEND(volumes_list_what_is_inside),
        ON_EVERY_BACKEND(sums_are_those_of_mechanics),
        ON_EVERY_BACKEND(questions_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
