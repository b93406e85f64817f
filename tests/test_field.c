// SPDX-License-Identifier: MIT
// Distance fields of meshes: their distances, and what particles do that meet them.
#include "backends.h"
#include "meshes.h"

#include "geometry/field.h"
#include "geometry/surface.h"
#include "kernels/kernels.h"

static const MoteVec3 NOWHERE = {0, 0, 0};

static MoteField *make_field(const MoteFieldOptions *options)
{
    MoteField *field = NULL;
    expect_ok(mote_field_create(options, &field));
    return field;
}

// Adds the field to the world, which keeps it, and returns a still collider of it.
static MoteCollider add_field(MoteWorld *world, const MoteFieldOptions *options)
{
    MoteField *field = make_field(options);
    MoteCollider collider = still_collider(MOTE_COLLIDER_FIELD, NOWHERE, NOWHERE, 0.0f);
    expect_ok(mote_world_add_field(world, field, &collider.data));
    mote_field_destroy(field);
    return collider;
}

// What the kernels say of a point, on the CPU: the buffers of the "cpu" backend are host memory.
static vec4 felt(const MoteWorld *world, uint32_t field, MoteVec3 p)
{
    return field_distance(&world->view, field, v3(p.x, p.y, p.z));
}

// ---- Exact distances ----

typedef double Exact(double x, double y, double z);

static double exact_sphere(double x, double y, double z)
{
    return sqrt(x * x + y * y + z * z) - 0.5;
}

static double exact_box(double x, double y, double z)
{
    const double q[3] = {fabs(x) - 0.5, fabs(y) - 0.3, fabs(z) - 0.4};
    const double out[3] = {fmax(q[0], 0), fmax(q[1], 0), fmax(q[2], 0)};
    return sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]) + fmin(fmax(q[0], fmax(q[1], q[2])), 0.0);
}

static double exact_torus(double x, double y, double z)
{
    const double ring = sqrt(x * x + z * z) - 0.5;
    return sqrt(ring * ring + y * y) - 0.2;
}

typedef struct KnownMesh {
    const char *name;
    TestMesh mesh;
    Exact *exact;
} KnownMesh;

static void slope_of(Exact *exact, MoteVec3 p, double out[3])
{
    const double h = 1e-4;
    out[0] = (exact(p.x + h, p.y, p.z) - exact(p.x - h, p.y, p.z)) / (2 * h);
    out[1] = (exact(p.x, p.y + h, p.z) - exact(p.x, p.y - h, p.z)) / (2 * h);
    out[2] = (exact(p.x, p.y, p.z + h) - exact(p.x, p.y, p.z - h)) / (2 * h);
}

// Whether the exact normal is about the same a cell further in every direction: no edge is near.
static bool is_smooth(Exact *exact, MoteVec3 p, float cell)
{
    double here[3], there[3];
    slope_of(exact, p, here);
    for (int n = 0; n < 27; n++) {
        const MoteVec3 q = {p.x + cell * (float)(n / 9 - 1), p.y + cell * (float)(n / 3 % 3 - 1),
                            p.z + cell * (float)(n % 3 - 1)};
        slope_of(exact, q, there);
        if (here[0] * there[0] + here[1] * there[1] + here[2] * there[2] < 0.95) {
            return false;
        }
    }
    return true;
}

static void compare_distances(const TestBackend *backend, const KnownMesh *known, uint32_t mode)
{
    static const char *const modes[] = {"inside", "outside", "shell"};
    const float cell = 0.03f;
    MoteFieldOptions options = field_of(&known->mesh, mode, cell);
    options.offset = mode == MOTE_FIELD_INSIDE ? 0.0f : 0.05f;
    const double sign = mode == MOTE_FIELD_OUTSIDE ? -1.0 : 1.0;
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(backend, &settings);
    const MoteCollider collider = add_field(world, &options);
    double worst = 0.0, worst_normal = 1.0;
    int compared = 0;
    for (int n = 0; n < 20000; n++) {
        const MoteVec3 p = random_in_box(NOWHERE, 0.8f);
        const double d = known->exact(p.x, p.y, p.z);
        const double wanted = (mode == MOTE_FIELD_SHELL ? fabs(d) : sign * d) - options.offset;
        const vec4 found = felt(world, collider.data, p);
        expect_near(v3_length(v3_from_v4(found)), 1.0, 1e-5, "the length of a normal");
        // Outside the mesh the band is 4 cells beyond the offset surface, 16 of a container; inside it is all of it,
        // but a shell has none.
        const double outer = mode == MOTE_FIELD_OUTSIDE ? d - 12.0 * cell
                             : mode == MOTE_FIELD_SHELL ? wanted
                                                        : d - options.offset;
        if (outer > 4.0 * cell) {
            assert_true(sign * found.w > 3.0 * cell);
            assert_true(sign * found.w < sign * wanted + 0.5 * cell); // sphere tracing may go so far
            continue;
        }
        compared++;
        worst = fmax(worst, fabs(found.w - wanted));
        if (d > (mode == MOTE_FIELD_SHELL ? 1.0 : 0.0) * cell && d < 2.0 * cell && is_smooth(known->exact, p, cell)) {
            double slope[3];
            slope_of(known->exact, p, slope);
            worst_normal = fmin(worst_normal, sign * (found.x * slope[0] + found.y * slope[1] + found.z * slope[2]));
        }
    }
    printf("%s, %s: %d points in the band, largest error %.3f cells, normals within %.2f degrees\n", known->name,
           modes[mode], compared, worst / (double)cell, acos(fmin(worst_normal, 1.0)) * 180.0 / MESH_PI);
    assert_true(compared > 2000);
    assert_true(worst < 0.5 * (double)cell);
    assert_true(worst_normal > 0.98);
    mote_world_destroy(world);
}

static void distances_are_exact_to_half_a_cell(void **state)
{
    KnownMesh rows[] = {
        {"sphere", mesh_sphere(0.5, 60), exact_sphere},
        {"box", mesh_box((MoteVec3){0.5f, 0.3f, 0.4f}), exact_box},
        {"torus", mesh_torus(0.5, 0.2, 80), exact_torus},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (uint32_t mode = MOTE_FIELD_INSIDE; mode <= MOTE_FIELD_SHELL; mode++) {
            compare_distances(*state, &rows[r], mode);
        }
        mesh_free(&rows[r].mesh);
    }
}

// ---- The walk down the tree ----

// Every voxel of the box and around it, as the kernels read it and as NanoVDB does, for distances and triangles.
static void voxels_are_nanovdb_s(void **state)
{
    (void)state;
    TestMesh mesh = mesh_torus(0.5, 0.2, 60);
    for (uint32_t i = 0; i < mesh.position_count; i++) {
        mesh.positions[i].x -= 0.3f; // not about the origin: tiles of the root on both sides
    }
    const GridOptions options = {.name = "torus",
                                 .mode = MOTE_FIELD_INSIDE,
                                 .cell_size = 0.02f,
                                 .band = 3.0f,
                                 .interior = 4.0f,
                                 .with_closest = true};
    FieldGrids grids;
    expect_ok(
        grids_from_mesh(&options, mesh.positions, mesh.position_count, mesh.triangles, mesh.triangle_count, &grids));
    const GridBlob *const blobs[] = {&grids.distances, &grids.closest};
    uint64_t compared = 0, in_leaves = 0, known = 0;
    for (int b = 0; b < 2; b++) {
        uint64_t root_bytes;
        memcpy(&root_bytes, blobs[b]->words + 174, 8);
        const uint root = (uint)(168 + root_bytes / 4);
        const SolverData view = {.field_words = blobs[b]->words};
        for (int x = -80; x < 60; x++) {
            for (int y = -30; y < 30; y++) {
                for (int z = -60; z < 60; z++) {
                    const uvec2 probe = grid_probe(&view, root, (uint)x, (uint)y, (uint)z);
                    const uint bits = grid_bits(&view, probe, (uint)x, (uint)y, (uint)z);
                    assert_int_equal(bits, grid_voxel_bits(blobs[b], x, y, z));
                    compared++;
                    in_leaves += probe.x != 0;
                    known += b == 1 && (int32_t)bits >= 0;
                }
            }
        }
        const int far[4][3] = {{5000, 1, 1}, {-5000, 1, -9000}, {1, 1 << 20, 1}, {100, 100, 100}};
        for (int k = 0; k < 4; k++) {
            const uint x = (uint)far[k][0], y = (uint)far[k][1], z = (uint)far[k][2];
            assert_int_equal(grid_bits(&view, grid_probe(&view, root, x, y, z), x, y, z),
                             grid_voxel_bits(blobs[b], far[k][0], far[k][1], far[k][2]));
        }
    }
    assert_true(in_leaves > 100000 && in_leaves < compared && known > 20000);
    grids_free(&grids);
    mesh_free(&mesh);
}

// ---- Contacts ----

// Water in a bowl of two cells' thickness: none gets out or into the wall.
static void a_bowl_holds_water(void **state)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.03f;
    TestMesh bowl = mesh_bowl(0.3, 0.34, 24);
    MoteWorld *world = make_world(*state, &settings);
    const MoteFieldOptions options = field_of(&bowl, MOTE_FIELD_INSIDE, 0.02f);
    const MoteCollider collider = add_field(world, &options);
    expect_ok(mote_world_set_colliders(world, &collider, 1));
    const uint32_t count = add_block(world, (MoteVec3){-0.12f, -0.2f, -0.12f}, 9, 6, 9);
    for (int step = 0; step < 160; step++) {
        run_steps(world, 1, 1.0f / 120.0f);
    }
    const MoteParticleView view = read_view(world);
    assert_int_equal(view.count, count);
    double lowest = 0.0, outermost = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const float *p = view.positions + 4 * (size_t)i;
        const double r = sqrt((double)p[0] * p[0] + (double)p[1] * p[1] + (double)p[2] * p[2]);
        lowest = fmin(lowest, p[1]);
        outermost = fmax(outermost, r);
        assert_true(p[1] < 0.0f && r < 0.3);
    }
    assert_true(lowest < -0.25 && outermost > 0.25); // it has come to the bottom
    mote_world_destroy(world);
    mesh_free(&bowl);
}

// Grains at any speed against a wall two cells thick, from many sides.
static void nothing_tunnels_through_a_wall(void **state)
{
    MoteSettings settings = mote_default_settings();
    settings.max_displacement = 0.0f;
    settings.gravity = NOWHERE;
    const float cell = 0.05f;
    TestMesh wall = mesh_box((MoteVec3){1.0f, cell, 1.0f});
    for (uint32_t mode = MOTE_FIELD_INSIDE; mode <= MOTE_FIELD_SHELL; mode += 2) {
        MoteWorld *world = make_world(*state, &settings);
        const MoteFieldOptions options = field_of(&wall, mode, cell);
        MoteCollider collider = add_field(world, &options);
        collider.from.rotation = collider.to.rotation = turn((MoteVec3){0.6f, 0.0f, 0.8f}, 0.4f);
        expect_ok(mote_world_set_colliders(world, &collider, 1));
        const vec4 q =
            v4(collider.to.rotation.x, collider.to.rotation.y, collider.to.rotation.z, collider.to.rotation.w);
        for (int i = 0; i < 100; i++) {
            const float speed = powf(10.0f, random_float(0.5f, 3.2f));
            const vec3 from =
                rotate(q, v3(random_float(-0.4f, 0.4f), random_float(0.2f, 1.0f), random_float(-0.4f, 0.4f)));
            const vec3 along = rotate(q, v3(random_float(-0.3f, 0.3f), -1.0f, random_float(-0.3f, 0.3f)));
            add_grain(world, (MoteVec3){from.x, from.y, from.z},
                      (MoteVec3){along.x * speed, along.y * speed, along.z * speed});
        }
        for (int step = 0; step < 3; step++) {
            run_steps(world, 1, 1.0f / 60.0f);
            const MoteParticleView view = read_view(world);
            for (uint32_t i = 0; i < view.count; i++) {
                const float *p = view.positions + 4 * (size_t)i;
                const vec3 local = rotate_back(q, v3(p[0], p[1], p[2]));
                if (fabsf(local.x) < 1.0f && fabsf(local.z) < 1.0f) { // it may well go round it
                    assert_true(local.y > cell);
                }
            }
        }
        mote_world_destroy(world);
    }
    mesh_free(&wall);
}

// The same run on the portable CPU, the emulated CUDA backend and Vulkan: the same bits.
static void backends_sample_the_same_bits(void **state)
{
    (void)state;
    TestMesh torus = mesh_torus(0.4, 0.15, 40), bowl = mesh_bowl(0.8, 0.9, 20);
    uint64_t hashes[3];
    assert_int_equal(keep_vulkan(&test_backends[3].options), 0);
    for (int b = 0; b < 3; b++) {
        MoteSettings settings = mote_default_settings();
        MoteWorld *world = make_world(&test_backends[1 + b], &settings);
        const MoteFieldOptions options[] = {field_of(&torus, MOTE_FIELD_SHELL, 0.04f),
                                            field_of(&bowl, MOTE_FIELD_INSIDE, 0.04f)};
        MoteCollider colliders[2] = {add_field(world, &options[0]), add_field(world, &options[1])};
        colliders[0].from.position.y = colliders[0].to.position.y = -0.2f;
        colliders[1].static_friction = colliders[1].kinetic_friction = 0.3f;
        expect_ok(mote_world_set_colliders(world, colliders, 2));
        add_block(world, (MoteVec3){-0.3f, 0.3f, -0.3f}, 12, 6, 12);
        run_steps(world, 60, 1.0f / 120.0f);
        hashes[b] = read_hash(world);
        mote_world_destroy(world);
    }
    assert_true(hashes[0] == hashes[1]);
    assert_true(hashes[0] == hashes[2] || vulkan_may_differ(3));
    mesh_free(&torus);
    mesh_free(&bowl);
}

// ---- The nearest triangle ----

// A disc that turns under grains takes them along by friction, whether its pose turns or its vertices say so.
static void a_turning_field_carries(void **state)
{
    const double profile[4][2] = {{0.0, -0.1}, {1.0, -0.1}, {1.0, 0.0}, {0.0, 0.0}};
    TestMesh disc = mesh_turned(profile, 4, 48);
    MoteVec3 *velocities = calloc(disc.position_count, sizeof *velocities);
    const float rate = 0.5f, dt = 1.0f / 120.0f; // rad/s
    for (uint32_t i = 0; i < disc.position_count; i++) {
        velocities[i] = (MoteVec3){rate * disc.positions[i].z, 0.0f, -rate * disc.positions[i].x};
    }
    for (int animated = 0; animated < 2; animated++) {
        const MoteSettings settings = mote_default_settings();
        MoteWorld *world = make_world(*state, &settings);
        MoteFieldOptions options = field_of(&disc, MOTE_FIELD_INSIDE, 0.04f);
        options.velocities = animated != 0 ? velocities : NULL;
        MoteCollider collider = add_field(world, &options);
        collider.static_friction = collider.kinetic_friction = 1.0f;
        const float height = settings.collision_distance * settings.spacing;
        for (int i = 0; i < 5; i++) {
            add_grain(world, (MoteVec3){0.1f + 0.15f * (float)i, height, 0.0f}, NOWHERE);
        }
        for (int step = 0; step < 120; step++) {
            if (animated == 0) {
                collider.from.rotation = turn((MoteVec3){0, 1, 0}, rate * dt * (float)step);
                collider.to.rotation = turn((MoteVec3){0, 1, 0}, rate * dt * (float)(step + 1));
            }
            expect_ok(mote_world_set_colliders(world, &collider, 1));
            run_steps(world, 1, dt);
        }
        const MoteParticleView view = read_view(world);
        for (uint32_t i = 0; i < view.count; i++) { // 0.5 rad in a second, less what it slid at first
            const float *p = view.positions + 4 * (size_t)i;
            const double angle = atan2(-(double)p[2], (double)p[0]);
            expect_near(angle, 0.5, animated != 0 ? 0.05 : 0.03, "the angle a grain was carried");
            expect_near(sqrt((double)p[0] * p[0] + (double)p[2] * p[2]), 0.1 + 0.15 * view.ids[i], 0.02,
                        "the radius it stayed at");
        }
        mote_world_destroy(world);
    }
    free(velocities);
    mesh_free(&disc);
}

// A closed slab whose upper side has texture coordinates (x, z) from 0 to 1 over 2 m x 2 m.
static TestMesh textured_slab(void)
{
    TestMesh slab = mesh_box((MoteVec3){1.0f, 0.1f, 1.0f});
    for (uint32_t i = 0; i < 8; i++) {
        slab.uvs[2 * i] = 0.5f + 0.5f * slab.positions[i].x;
        slab.uvs[2 * i + 1] = 0.5f + 0.5f * slab.positions[i].z;
    }
    return slab;
}

// Half the slab is ice: a grain on it slides as if there were no friction, one on the other half decelerates by mu g.
static void friction_comes_from_a_texture(void **state)
{
    TestMesh slab = textured_slab();
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(*state, &settings);
    const float friction[2] = {0.0f, 0.5f}; // two rows: z below and above 0
    MoteFieldOptions options = field_of(&slab, MOTE_FIELD_INSIDE, 0.05f);
    options.uvs = slab.uvs;
    options.friction = friction;
    options.friction_width = 1;
    options.friction_height = 2;
    MoteCollider collider = add_field(world, &options);
    collider.static_friction = collider.kinetic_friction = 0.4f;
    expect_ok(mote_world_set_colliders(world, &collider, 1));
    const float height = 0.1f + settings.collision_distance * settings.spacing;
    const uint32_t on_ice = add_grain(world, (MoteVec3){-0.7f, height, -0.5f}, (MoteVec3){1, 0, 0});
    add_grain(world, (MoteVec3){-0.7f, height, 0.5f}, (MoteVec3){1, 0, 0});
    run_steps(world, 96, 1.0f / 240.0f); // 0.4 s
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < 2; i++) {
        const double wanted = view.ids[i] == on_ice ? 1.0 : 1.0 - 0.4 * 0.5 * 9.81 * 0.4;
        expect_near(view.velocities[4 * i], wanted, 0.05, "the speed of a sliding grain");
    }
    mote_world_destroy(world);
    mesh_free(&slab);
}

// A grain that rests on the slab wets the texel under it, by a particle-second each second, the same on every backend.
static void particles_wet_what_they_touch(void **state)
{
    TestMesh slab = textured_slab();
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(*state, &settings);
    MoteFieldOptions options = field_of(&slab, MOTE_FIELD_INSIDE, 0.05f);
    options.uvs = slab.uvs;
    options.wet_width = 8;
    options.wet_height = 4;
    MoteCollider collider = add_field(world, &options);
    expect_ok(mote_world_set_colliders(world, &collider, 1));
    const float height = 0.1f + settings.collision_distance * settings.spacing;
    add_grain(world, (MoteVec3){0.4f, height, -0.7f}, NOWHERE);          // u 0.7, v 0.15: texel 5 of row 0
    add_grain(world, (MoteVec3){-0.9f, height, 0.6f}, NOWHERE);          // u 0.05, v 0.8: texel 0 of row 3
    add_grain(world, (MoteVec3){0.4f, 2.0f, 0.6f}, (MoteVec3){0, 5, 0}); // never touches
    run_steps(world, 60, 1.0f / 120.0f);
    float texels[32], none;
    expect_ok(mote_world_wet_map(world, collider.data, 8, 4, texels));
    for (int t = 0; t < 32; t++) {
        expect_near(texels[t], t == 5 || t == 24 ? 0.5 : 0.0, 0.01, "particle-seconds of a texel");
    }
    // Another pose keeps the map; another size of map is refused.
    MoteField *same = make_field(&options);
    expect_ok(mote_world_set_field(world, collider.data, same));
    mote_field_destroy(same);
    expect_ok(mote_world_wet_map(world, collider.data, 8, 4, texels));
    expect_near(texels[5], 0.5, 0.01, "particle-seconds after another pose");
    options.wet_width = 9;
    MoteField *other = make_field(&options);
    expect_error(mote_world_set_field(world, collider.data, other), MOTE_ERROR_INPUT,
                 "9 x 4 texels cannot replace one with 8 x 4");
    mote_field_destroy(other);
    expect_error(mote_world_wet_map(world, collider.data, 4, 4, &none), MOTE_ERROR_INPUT,
                 "8 x 4 texels, asked for 4 x 4");
    expect_error(mote_world_wet_map(world, 7, 4, 4, &none), MOTE_ERROR_INPUT,
                 "field 7, expected less than the world's 1");
    mote_world_destroy(world);
    mesh_free(&slab);
}

// ---- Containers, depth, other poses ----

// Everything but the inside of a torus is solid: particles from anywhere come in and stay.
static void a_container_takes_everything_in(void **state)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.05f;
    TestMesh torus = mesh_torus(0.5, 0.2, 48);
    for (int turned = 0; turned < 2; turned++) { // as its own mode, and as a collider turned inside out
        MoteWorld *world = make_world(*state, &settings);
        MoteFieldOptions options = field_of(&torus, turned != 0 ? MOTE_FIELD_INSIDE : MOTE_FIELD_OUTSIDE, 0.03f);
        options.band = 16; // what a container has by default: more than the radius of the torus's hole
        MoteCollider collider = add_field(world, &options);
        collider.inside_out = turned != 0;
        expect_ok(mote_world_set_colliders(world, &collider, 1));
        MoteVec3 points[200];
        for (int i = 0; i < 200; i++) {
            points[i] = random_in_box(NOWHERE, i % 4 == 0 ? 20.0f : 0.8f);
        }
        add_points(world, points, 200, 0);
        run_steps(world, 60, 1.0f / 60.0f);
        const MoteParticleView view = read_view(world);
        for (uint32_t i = 0; i < view.count; i++) {
            const float *p = view.positions + 4 * (size_t)i;
            assert_true(exact_torus(p[0], p[1], p[2]) < -0.01);
        }
        mote_world_destroy(world);
    }
    mesh_free(&torus);
}

// However deep inside, a particle finds out, and without speed (UPP section 4.4).
static void the_deepest_particle_gets_out(void **state)
{
    MoteSettings settings = mote_default_settings();
    settings.gravity = NOWHERE;
    settings.stabilization_iterations = 2;
    TestMesh sphere = mesh_sphere(0.5, 40);
    MoteWorld *world = make_world(*state, &settings);
    const MoteFieldOptions options = field_of(&sphere, MOTE_FIELD_INSIDE, 0.02f);
    const MoteCollider collider = add_field(world, &options);
    expect_ok(mote_world_set_colliders(world, &collider, 1));
    MoteVec3 points[100] = {{0, 0, 0}};
    for (int i = 1; i < 100; i++) {
        points[i] = random_in_box(NOWHERE, 0.28f);
    }
    add_points(world, points, 100, 0);
    run_steps(world, 3, 1.0f / 60.0f);
    const MoteParticleView view = read_view(world);
    for (uint32_t i = 0; i < view.count; i++) {
        const float *p = view.positions + 4 * (size_t)i, *v = view.velocities + 4 * (size_t)i;
        assert_true(exact_sphere(p[0], p[1], p[2]) > 0.0 && exact_sphere(p[0], p[1], p[2]) < 0.2);
        assert_true(sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) < 0.1f * 0.5f * 60.0f);
    }
    mote_world_destroy(world);
    mesh_free(&sphere);
}

// Fields change places in memory when one grows: what particles feel does not, nor after a snapshot is restored.
static void fields_can_be_replaced(void **state)
{
    TestMesh small = mesh_sphere(0.2, 20), large = mesh_sphere(0.5, 40);
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(*state, &settings);
    const MoteFieldOptions few = field_of(&small, MOTE_FIELD_INSIDE, 0.05f),
                           many = field_of(&large, MOTE_FIELD_INSIDE, 0.03f);
    MoteCollider first = add_field(world, &few), second = add_field(world, &few);
    second.from.position.x = second.to.position.x = 2.0f;
    first.static_friction = second.static_friction = 1.0f; // not to slide off the top
    const MoteCollider colliders[2] = {first, second};
    expect_ok(mote_world_set_colliders(world, colliders, 2));
    MoteField *grown = make_field(&many);
    expect_ok(mote_world_set_field(world, first.data, grown));
    assert_true(mote_field_info(grown).voxels > 10000 && mote_field_info(grown).bounds_max.x > 0.5f);
    mote_field_destroy(grown);
    add_grain(world, (MoteVec3){0, 1, 0}, NOWHERE);
    add_grain(world, (MoteVec3){2, 1, 0}, NOWHERE);
    WorldSnapshot snapshot;
    expect_ok(world_snapshot_take(world, &snapshot));
    double lowest[2] = {2, 2};
    for (int round = 0; round < 2; round++) {
        for (int step = 0; step < 30; step++) {
            run_steps(world, 1, 1.0f / 60.0f);
            const MoteParticleView view = read_view(world);
            for (uint32_t i = 0; i < 2; i++) {
                lowest[view.ids[i]] = fmin(lowest[view.ids[i]], view.positions[4 * i + 1]);
            }
        }
        const double margin = settings.collision_distance * settings.spacing;
        expect_near(lowest[0], 0.5 + margin, 0.01, "where a grain comes to rest on the larger sphere");
        expect_near(lowest[1], 0.2 + margin, 0.01, "where a grain comes to rest on the smaller one");
        expect_ok(world_snapshot_restore(world, &snapshot));
    }
    world_snapshot_free(&snapshot);
    expect_ok(mote_world_clear_fields(world));
    expect_error(mote_world_set_colliders(world, &first, 1), MOTE_ERROR_INPUT,
                 "collider 0 refers to field 0, expected less than the world's 0");
    mote_world_destroy(world);
    mesh_free(&small);
    mesh_free(&large);
}

// ---- Files ----

static void files_give_the_same_distances(void **state)
{
    const char *path = MOTE_BINARY_DIR "/test_field.vdb";
    TestMesh torus = mesh_torus(0.5, 0.2, 40);
    MoteFieldOptions options = field_of(&torus, MOTE_FIELD_INSIDE, 0.03f);
    MoteField *made = make_field(&options);
    expect_ok(mote_field_save(made, path));
    mote_field_destroy(made);
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(*state, &settings);
    const MoteCollider from_mesh = add_field(world, &options);
    MoteFieldOptions file = {.path = path, .grid = "surface"};
    const MoteCollider from_file = add_field(world, &file);
    file.grid = NULL;
    file.mode = MOTE_FIELD_OUTSIDE;
    const MoteCollider turned = add_field(world, &file);
    for (int n = 0; n < 5000; n++) {
        const MoteVec3 p = random_in_box(NOWHERE, 0.9f);
        const vec4 a = felt(world, from_mesh.data, p), b = felt(world, from_file.data, p),
                   c = felt(world, turned.data, p);
        assert_true(memcmp(&a, &b, sizeof a) == 0);
        expect_near(c.w, -a.w, 1e-6, "the distance of the same file as a container");
    }
    mote_world_destroy(world);
    MoteField *none = NULL;
    file.grid = "density";
    expect_error(mote_field_create(&file, &none), MOTE_ERROR_INPUT,
                 "no level set of floats named density, found: surface");
    file.path = MOTE_BINARY_DIR "/no_such_file.vdb";
    expect_error(mote_field_create(&file, &none), MOTE_ERROR_IO, "no_such_file.vdb: is no file that can be read");
    // Cut short anywhere, or with other bytes in its header.
    FILE *whole = fopen(path, "rb");
    assert_non_null(whole);
    static unsigned char bytes[1 << 20];
    const size_t size = fread(bytes, 1, sizeof bytes, whole);
    fclose(whole);
    assert_true(size > 1000);
    file.grid = NULL;
    file.path = MOTE_BINARY_DIR "/test_field_broken.vdb";
    for (int n = 0; n < 12; n++) {
        FILE *broken = fopen(file.path, "wb");
        assert_non_null(broken);
        fwrite(bytes, 1, n < 10 ? size * (size_t)n / 10 : size, broken);
        if (n >= 10) {
            fseek(broken, n == 10 ? 0 : 4, SEEK_SET);
            fputs("nonsense", broken);
        }
        fclose(broken);
        assert_int_not_equal(mote_field_create(&file, &none), MOTE_OK);
        assert_null(none);
    }
    remove(file.path);
    remove(path);
    mesh_free(&torus);
}

// ---- Refusals ----

static void meshes_that_cannot_be(void **state)
{
    (void)state;
    MoteField *field = NULL;
    TestMesh box = mesh_box((MoteVec3){1, 1, 1});
    MoteFieldOptions options = field_of(&box, MOTE_FIELD_INSIDE, 0.1f);
    options.name = "crate";
    MoteFieldOptions bad = options;
    bad.triangle_count = 0;
    expect_error(mote_field_create(&bad, &field), MOTE_ERROR_INPUT, "crate: is empty (8 vertices, 0 triangles)");
    bad = options;
    bad.mode = 3;
    expect_error(mote_field_create(&bad, &field), MOTE_ERROR_INPUT, "crate: field mode 3");
    for (int n = 0; n < 4; n++) {
        const float sizes[] = {0.0f, -1.0f, NAN, INFINITY};
        bad = options;
        bad.cell_size = sizes[n];
        expect_error(mote_field_create(&bad, &field), MOTE_ERROR_INPUT, "expected a number above 0");
    }
    bad = options;
    bad.cell_size = 1e-3f;
    expect_error(mote_field_create(&bad, &field), MOTE_ERROR_INPUT, "about 8.12e+09 cells");
    bad.mode = MOTE_FIELD_SHELL;
    expect_error(mote_field_create(&bad, &field), MOTE_ERROR_INPUT, "expected at most 134217728 cells");
    bad.cell_size = 1e-30f;
    expect_error(mote_field_create(&bad, &field), MOTE_ERROR_INPUT, "choose larger cells");
    bad = options;
    bad.mode = MOTE_FIELD_SHELL;
    bad.offset = 0.05f;
    expect_error(mote_field_create(&bad, &field), MOTE_ERROR_INPUT, "a shell with an offset of 0.05 m");
    bad = options;
    bad.wet_width = bad.wet_height = 4;
    expect_error(mote_field_create(&bad, &field), MOTE_ERROR_INPUT, "has no texture coordinates");
    // Open: without its last face, one that is hardly so, and one that is cut apart but whole.
    bad = options;
    bad.triangle_count = 10;
    expect_error(mote_field_create(&bad, &field), MOTE_ERROR_INPUT, "crate: is open: 4 of its edges");
    expect_error(mote_field_create(&bad, &field), MOTE_ERROR_INPUT, "use mode shell");
    bad.mode = MOTE_FIELD_SHELL;
    expect_ok(mote_field_create(&bad, &field));
    mote_field_destroy(field);
    // Vertices that are not numbers, or not there.
    box.positions[3].y = NAN;
    expect_error(mote_field_create(&options, &field), MOTE_ERROR_INPUT, "crate: vertex 3 is (1, nan, -1)");
    box.positions[3].y = 1.0f;
    const uint32_t before = box.triangles[4];
    box.triangles[4] = 8;
    expect_error(mote_field_create(&options, &field), MOTE_ERROR_INPUT,
                 "triangle 1 refers to vertex 8, expected less than 8");
    box.triangles[4] = before;
    assert_null(field);
    // A million triangles without area, and then with one that has.
    TestMesh many = mesh_with_room(3, 1000000);
    many.position_count = 3;
    many.positions[1].x = many.positions[2].y = 1.0f;
    for (uint32_t t = 0; t < 1000000; t++) {
        mesh_add_triangle(&many, t % 2, t % 2, 1);
    }
    MoteFieldOptions flat = field_of(&many, MOTE_FIELD_SHELL, 0.1f);
    expect_error(mote_field_create(&flat, &field), MOTE_ERROR_INPUT, "none of its 1000000 triangles has an area");
    many.triangles[2999999] = 2;
    many.triangles[2999998] = 1;
    many.triangles[2999997] = 0;
    flat.mode = MOTE_FIELD_INSIDE;
    expect_error(mote_field_create(&flat, &field), MOTE_ERROR_INPUT, "3 of its edges");
    mesh_free(&many);
    mesh_free(&box);
}

// Two boxes that run through each other, a third that hangs on one by an edge alone, triangles facing either way: the
// inside is still the union.
static void broken_meshes_have_an_inside(void **state)
{
    TestMesh mesh = mesh_with_room(24, 36);
    const float shift[3][3] = {{0, 0, 0}, {0.5f, 0.3f, 0.2f}, {-0.8f, 0.8f, 0.0f}};
    for (uint32_t b = 0; b < 3; b++) {
        TestMesh box = mesh_box((MoteVec3){0.4f, 0.4f, 0.4f});
        for (uint32_t t = 0; t < 12; t++) {
            const uint32_t *c = box.triangles + 3 * (size_t)t;
            mesh_add_triangle(&mesh, 8 * b + c[0], 8 * b + c[t % 3 == 0 ? 1 : 2], 8 * b + c[t % 3 == 0 ? 2 : 1]);
        }
        for (uint32_t i = 0; i < 8; i++) {
            const MoteVec3 p = box.positions[i];
            mesh.positions[8 * b + i] = (MoteVec3){p.x + shift[b][0], p.y + shift[b][1], p.z + shift[b][2]};
        }
        mesh_free(&box);
    }
    mesh.position_count = 24;
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = make_world(*state, &settings);
    const float cell = 0.04f;
    const MoteFieldOptions options = field_of(&mesh, MOTE_FIELD_INSIDE, cell);
    const MoteCollider collider = add_field(world, &options);
    int inside = 0;
    for (int n = 0; n < 20000; n++) {
        const MoteVec3 p = random_in_box(NOWHERE, 1.4f);
        double d = INFINITY;
        for (int b = 0; b < 3; b++) {
            const float x = fabsf(p.x - shift[b][0]), y = fabsf(p.y - shift[b][1]), z = fabsf(p.z - shift[b][2]);
            d = fmin(d, fmaxf(x, fmaxf(y, z)) - 0.4f);
        }
        if (fabs(d) > cell) {
            assert_true((felt(world, collider.data, p).w < 0.0f) == (d < 0.0));
            inside += d < 0.0;
        }
    }
    assert_true(inside > 1000);
    mote_world_destroy(world);
    mesh_free(&mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BACKEND(distances_are_exact_to_half_a_cell, "portable cpu", 1),
        cmocka_unit_test(voxels_are_nanovdb_s),
        ON_EVERY_BACKEND(a_bowl_holds_water),
        ON_EVERY_BACKEND(nothing_tunnels_through_a_wall),
        cmocka_unit_test(backends_sample_the_same_bits),
        ON_EVERY_BACKEND(a_container_takes_everything_in),
        ON_EVERY_BACKEND(the_deepest_particle_gets_out),
        ON_EVERY_BACKEND(fields_can_be_replaced),
        ON_BACKEND(files_give_the_same_distances, "portable cpu", 1),
        cmocka_unit_test(meshes_that_cannot_be),
        ON_BACKEND(broken_meshes_have_an_inside, "portable cpu", 1),
        ON_EVERY_BACKEND(a_turning_field_carries),
        ON_EVERY_BACKEND(friction_comes_from_a_texture),
        ON_EVERY_BACKEND(particles_wet_what_they_touch),
    };
    static const char *const long_tests[] = {"distances_are_exact_to_half_a_cell", NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, NULL, NULL);
}
