// SPDX-License-Identifier: MIT
// test_ids.c - colliders and bodies that come and go by their ids, defaults, reading into the caller's arrays, and
// callbacks around steps.
#include "solid_fixture.h"

#include "mote_interop.h"
#include "solver/snapshot.h"

static const float DT = 0.005f; // s
static const MoteVec3 FAR = {400.0f, 300.0f, -350.0f};

static MoteSettings ids_settings(void)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.1f;
    settings.gravity = (MoteVec3){0, -10, 0};
    return settings;
}

static MoteColliderId add_collider(MoteWorld *world, MoteShape shape)
{
    MoteColliderId id = {0};
    expect_ok(mote_world_add_collider(world, &shape, &id));
    assert_true(id.generation != 0 && mote_world_has_collider(world, id));
    return id;
}

static MoteShape ball(MoteVec3 position, float radius, float mass)
{
    MoteShape shape = still_shape(MOTE_SHAPE_SPHERE, position, (MoteVec3){0, 0, 0}, radius);
    shape.mass = mass;
    return shape;
}

static MoteBodyId add_cube(MoteWorld *world, uint32_t side, MoteVec3 corner)
{
    MoteVec3 positions[1000];
    const float d = mote_world_settings(world).spacing;
    MoteBody body = mote_default_body();
    body.count = side * side * side;
    body.positions = positions;
    for (uint32_t i = 0; i < body.count; i++) {
        positions[i] = (MoteVec3){corner.x + d * (float)(i % side), corner.y + d * (float)(i / side % side),
                                  corner.z + d * (float)(i / side / side)};
    }
    MoteBodyId id = {0};
    expect_ok(mote_world_add_body(world, &body, NULL, &id));
    assert_true(id.generation != 0 && mote_world_has_body(world, id));
    return id;
}

static void expect_same_motion(const MoteShapeState *a, const MoteShapeState *b)
{
    assert_memory_equal(&a->pose, &b->pose, sizeof a->pose);
    assert_memory_equal(&a->velocity, &b->velocity, sizeof a->velocity);
    assert_memory_equal(&a->angular_velocity, &b->angular_velocity, sizeof a->angular_velocity);
    assert_memory_equal(&a->force, &b->force, sizeof a->force);
    assert_memory_equal(&a->torque, &b->torque, sizeof a->torque);
}

// ---- Colliders ----

static void stale_collider_ids_are_refused(void **state)
{
    const MoteSettings settings = ids_settings();
    MoteWorld *world = make_world(*state, &settings);
    const MoteColliderId a = add_collider(world, mote_default_collider());
    const MoteColliderId b = add_collider(world, ball(FAR, 1.0f, 2.0f));
    const MoteShape shape = mote_default_collider();
    MoteShapeState found;
    expect_ok(mote_world_remove_collider(world, a));
    assert_false(mote_world_has_collider(world, a));
    const MoteColliderId c = add_collider(world, ball(FAR, 3.0f, 4.0f));
    assert_int_equal(c.index, a.index); // used again, under another generation
    assert_true(c.generation != a.generation);
    const MoteColliderId stale[] = {a, {b.index, c.generation}, {77, 1}};
    for (int i = 0; i < 3; i++) {
        const char *text = "is not in the world: it was removed";
        expect_error(mote_world_set_collider(world, stale[i], &shape), MOTE_ERROR_INPUT, text);
        expect_error(mote_world_remove_collider(world, stale[i]), MOTE_ERROR_INPUT, text);
        expect_error(mote_world_read_collider(world, stale[i], &found), MOTE_ERROR_INPUT, text);
        expect_error(mote_world_set_shape_motion(world, stale[i], NULL, FAR, FAR), MOTE_ERROR_INPUT, text);
    }
    expect_error(mote_world_remove_collider(world, (MoteColliderId){0}), MOTE_ERROR_INPUT, "names none");
    expect_ok(mote_world_read_collider(world, c, &found));
    expect_near(found.mass, 4.0, 1e-6, "mass of the new collider");
    MoteColliderId ids[4];
    assert_int_equal(mote_world_collider_ids(world, ids, 4), 2);
    assert_true(ids[0].generation == b.generation && ids[1].generation == c.generation);
    // A whole set keeps the ids of the places that stay, and ends the others'.
    expect_ok(mote_world_set_shapes(world, &shape, 1));
    assert_true(mote_world_has_collider(world, b) && !mote_world_has_collider(world, c));
    MoteShape bad = shape;
    bad.restitution = 2.0f;
    MoteColliderId none = b;
    expect_error(mote_world_add_collider(world, &bad, &none), MOTE_ERROR_INPUT, "restitution 2");
    assert_int_equal(none.generation, 0);
    assert_int_equal(mote_world_collider_ids(world, NULL, 0), 1);
    mote_world_destroy(world);
}

// A rigid cube, grains and a ball that has a mass, on the ground.
static MoteColliderId fill(MoteWorld *world)
{
    add_collider(world, flat_ground(0.5f));
    const MoteColliderId id = add_collider(world, ball((MoteVec3){0, 0.7f, 0}, 0.2f, 3.0f));
    add_cube(world, 3, (MoteVec3){0.6f, 0.05f, 0});
    const MoteVec3 grains[] = {
        {0, 0.05f, 0}, {0.1f, 0.05f, 0}, {0, 0.05f, 0.1f}, {0.1f, 0.05f, 0.1f}, {0.05f, 0.2f, 0}};
    add_grains(world, grains, NULL, 5, 0);
    return id;
}

// Colliders that are far away change no bit of anything, whether they are there, come or go, before others in their
// order or behind them: what holds the cube on the ground goes on, too.
static void far_colliders_change_nothing(void **state)
{
    const MoteSettings settings = ids_settings();
    MoteWorld *alone = make_world(*state, &settings), *world = make_world(*state, &settings);
    const MoteColliderId one = fill(alone);
    const MoteColliderId far_wall = add_collider(world, still_shape(MOTE_SHAPE_BOX, FAR, (MoteVec3){1, 1, 1}, 0.0f));
    const MoteColliderId far_ball = add_collider(world, ball((MoteVec3){-FAR.x, FAR.y, 0}, 0.5f, 1.0f));
    const MoteColliderId other = fill(world);
    MoteShapeState a, b;
    MoteColliderId late = {0};
    for (int part = 0; part < 4; part++) {
        run_steps(alone, 15, DT);
        run_steps(world, 15, DT);
        assert_int_equal(read_hash(alone), read_hash(world));
        expect_ok(mote_world_read_collider(alone, one, &a));
        expect_ok(mote_world_read_collider(world, other, &b));
        expect_same_motion(&a, &b);
        const MoteStatistics x = read_statistics(alone), y = read_statistics(world);
        assert_true(x.kinetic_energy == y.kinetic_energy && x.potential_energy == y.potential_energy);
        if (part == 0) {
            expect_ok(mote_world_remove_collider(world, far_wall));
        } else if (part == 1) {
            late = add_collider(world, ball(FAR, 0.3f, 1.0f));
            expect_ok(mote_world_remove_collider(world, far_ball));
        } else if (part == 2) {
            expect_ok(mote_world_remove_collider(world, late));
        }
        expect_ok(mote_world_read_collider(world, other, &b)); // also before the next step
        expect_same_motion(&a, &b);
    }
    MoteProbe probe; // the ball is asked about where it is, not where it was added
    const MoteVec3 above = {a.pose.position.x, a.pose.position.y + 0.5f, a.pose.position.z};
    add_collider(world, ball(FAR, 0.3f, 1.0f));
    expect_ok(mote_world_probe(world, &above, 1, &probe));
    expect_near(probe.distance, 0.3, 1e-5, "distance from the ball");
    mote_world_destroy(alone);
    mote_world_destroy(world);
}

// Without the ground a grain falls as the solver's Euler steps do: by g dt^2 n (n + 1) / 2.
static void what_lay_on_a_removed_collider_falls(void **state)
{
    const MoteSettings settings = ids_settings();
    MoteWorld *world = make_world(*state, &settings);
    const MoteColliderId ground = add_collider(world, mote_default_collider());
    const uint32_t grain = add_grain(world, (MoteVec3){0, 0.05f, 0}, (MoteVec3){0, 0, 0});
    run_steps(world, 20, DT);
    const float rest = find_particle(world, grain).position.y;
    expect_near(rest, 0.05, 1e-4, "height on the ground");
    MoteShape lift = mote_default_collider(); // a millimetre up in the next step
    lift.to.position.y = 0.001f;
    expect_ok(mote_world_set_collider(world, ground, &lift));
    run_steps(world, 1, DT);
    expect_near(find_particle(world, grain).position.y, 0.051, 1e-4, "height on the lifted ground");
    lift.from = lift.to;
    expect_ok(mote_world_set_collider(world, ground, &lift));
    run_steps(world, 40, DT);
    const float start = find_particle(world, grain).position.y, speed = find_particle(world, grain).velocity.y;
    expect_ok(mote_world_remove_collider(world, ground));
    run_steps(world, 20, DT);
    const double fallen = 10.0 * (double)DT * DT * 20 * 21 / 2 - 20.0 * DT * speed;
    expect_near(start - find_particle(world, grain).position.y, fallen, 1e-5, "fall without the ground");
    mote_world_destroy(world);
}

// ---- Bodies ----

static void stale_body_ids_are_refused(void **state)
{
    const MoteSettings settings = ids_settings();
    MoteWorld *world = make_world(*state, &settings);
    const MoteBodyId a = add_cube(world, 2, (MoteVec3){0, 1, 0}), b = add_cube(world, 3, (MoteVec3){2, 1, 0});
    MoteBodyState before, found;
    expect_ok(mote_world_read_body(world, a, &before));
    assert_int_equal(before.present, 8);
    expect_ok(mote_world_remove_body(world, a));
    assert_int_equal(mote_world_body_count(world), 1);
    assert_int_equal(mote_world_particle_count(world), 27);
    expect_error(mote_world_read_body(world, a, &found), MOTE_ERROR_INPUT, "is not in the world: it was removed");
    const MoteBodyId c = add_cube(world, 2, (MoteVec3){4, 1, 0}); // fits where the first was
    assert_true(c.index == a.index && c.generation != a.generation);
    assert_false(mote_world_has_body(world, a));
    expect_error(mote_world_remove_body(world, a), MOTE_ERROR_INPUT, "it was removed");
    expect_error(mote_world_remove_body(world, (MoteBodyId){0}), MOTE_ERROR_INPUT, "names none");
    expect_error(mote_world_remove_body(world, (MoteBodyId){9, b.generation}), MOTE_ERROR_INPUT, "not in the world");
    expect_ok(mote_world_read_body(world, c, &found));
    assert_int_equal(found.first_member, before.first_member);
    assert_true(found.group != before.group); // what still has the old group is not part of it
    expect_near(found.pose.position.x, 4.05, 1e-6, "place of the new body");
    MoteBodyState rows[4];
    expect_ok(mote_world_read_bodies(world, rows, 4));
    assert_true(rows[0].id.generation == c.generation && rows[1].id.generation == b.generation);
    mote_world_destroy(world);
}

static void removed_bodies_leave_the_others_alone(void **state)
{
    const MoteSettings settings = ids_settings();
    MoteWorld *worlds[2];
    MoteBodyId ids[2][3];
    for (int w = 0; w < 2; w++) {
        worlds[w] = make_world(*state, &settings);
        add_collider(worlds[w], flat_ground(0.5f));
        for (int i = 0; i < 3; i++) {
            ids[w][i] = add_cube(worlds[w], 3, (MoteVec3){5.0f * (float)i, 0.2f, 0.02f * (float)i});
        }
        run_steps(worlds[w], 20, DT);
    }
    expect_ok(mote_world_remove_body(worlds[1], ids[1][1]));
    for (int part = 0; part < 2; part++) {
        run_steps(worlds[0], 30, DT);
        run_steps(worlds[1], 30, DT);
        for (int i = 0; i < 3; i += 2) {
            MoteBodyState a, b;
            expect_ok(mote_world_read_body(worlds[0], ids[0][i], &a));
            expect_ok(mote_world_read_body(worlds[1], ids[1][i], &b));
            assert_int_equal(b.present, 27);
            assert_memory_equal(&a.pose, &b.pose, sizeof a.pose);
            assert_memory_equal(&a.velocity, &b.velocity, sizeof a.velocity);
        }
        add_cube(worlds[1], 2, (MoteVec3){5.0f, 0.2f, 9.0f}); // of other sizes: at the end
    }
    mote_world_destroy(worlds[0]);
    mote_world_destroy(worlds[1]);
}

// Bodies that come and go for ever take no more memory than those that are there.
static void rows_are_used_again(void **state)
{
    const MoteSettings settings = ids_settings();
    MoteWorld *world = make_world(*state, &settings);
    add_collider(world, flat_ground(0.5f));
    add_cube(world, 4, (MoteVec3){3, 0.05f, 0});
    MoteBodyId last[2] = {add_cube(world, 3, (MoteVec3){0, 0.05f, 0}), add_cube(world, 2, (MoteVec3){0, 0.05f, 2})};
    run_steps(world, 2, DT);
    const uint64_t bytes = read_statistics(world).memory_bytes;
    const uint32_t members = world->view.member_count, clusters = world->view.cluster_count;
    for (int i = 0; i < 40; i++) {
        expect_ok(mote_world_remove_body(world, last[i % 2]));
        run_steps(world, 1, DT);
        // The same sizes, or both at the tables' end: any sizes fit there.
        last[i % 2] = add_cube(world, i % 2 == 0 ? 3 : 2, (MoteVec3){0, 0.05f, i % 2 == 0 ? 0.0f : 2.0f});
        run_steps(world, 1, DT);
        assert_int_equal(world->view.member_count, members);
        assert_int_equal(world->view.cluster_count, clusters);
    }
    expect_ok(mote_world_remove_body(world, last[0]));
    expect_ok(mote_world_remove_body(world, last[1]));
    add_cube(world, 1, (MoteVec3){0, 0.05f, 0}); // takes the end of the tables back
    assert_int_equal(world->view.member_count, 64 + 1);
    assert_true(read_statistics(world).memory_bytes < bytes + bytes / 4);
    mote_world_destroy(world);
}

// In the rows of one that lay on the ground: nothing of what held that holds the new one.
static void bodies_in_old_rows_begin_anew(void **state)
{
    const MoteSettings settings = ids_settings();
    MoteWorld *world = make_world(*state, &settings);
    add_collider(world, flat_ground(0.5f));
    const MoteVec3 corner = {0, 0.04f, 0}; // a little too low, so that it is held at once
    MoteBodyState first, second;
    MoteBodyId id = add_cube(world, 3, corner);
    run_steps(world, 3, DT);
    expect_ok(mote_world_read_body(world, id, &first));
    run_steps(world, 40, DT);
    expect_ok(mote_world_remove_body(world, id));
    const uint32_t index = id.index;
    id = add_cube(world, 3, corner);
    assert_int_equal(id.index, index);
    run_steps(world, 3, DT);
    expect_ok(mote_world_read_body(world, id, &second));
    assert_memory_equal(&first.pose, &second.pose, sizeof first.pose);
    assert_memory_equal(&first.velocity, &second.velocity, sizeof first.velocity);
    mote_world_destroy(world);
}

static MoteWorld *make_cubes(const TestBackend *backend, MoteBodyId ids[3])
{
    const MoteSettings settings = ids_settings();
    MoteWorld *world = make_world(backend, &settings);
    add_collider(world, flat_ground(0.5f));
    for (int i = 0; i < 3; i++) {
        ids[i] = add_cube(world, 3, (MoteVec3){0.15f * (float)i, 0.05f + 0.4f * (float)i, 0.02f * (float)i});
    }
    return world;
}

// A snapshot after a removal goes on bit for bit, in the same world and in one that still has the body; one from before
// brings it back under its id.
static void snapshots_survive_removals(void **state)
{
    MoteBodyId ids[3], other_ids[3];
    MoteWorld *world = make_cubes(*state, ids), *other = make_cubes(*state, other_ids);
    WorldSnapshot before, after;
    run_steps(world, 25, DT);
    expect_ok(world_snapshot_take(world, &before));
    run_steps(world, 10, DT);
    const uint64_t whole = read_hash(world);
    expect_ok(world_snapshot_restore(world, &before));
    expect_ok(mote_world_remove_body(world, ids[1]));
    run_steps(world, 5, DT);
    expect_ok(world_snapshot_take(world, &after));
    run_steps(world, 20, DT);
    const uint64_t fewer = read_hash(world);
    expect_ok(world_snapshot_restore(world, &after));
    assert_false(mote_world_has_body(world, ids[1]));
    run_steps(world, 20, DT);
    assert_int_equal(read_hash(world), fewer);
    expect_ok(world_snapshot_restore(other, &after));
    run_steps(other, 20, DT);
    assert_int_equal(read_hash(other), fewer);
    expect_ok(world_snapshot_restore(world, &before));
    assert_true(mote_world_has_body(world, ids[1]));
    run_steps(world, 10, DT);
    assert_int_equal(read_hash(world), whole);
    world_snapshot_free(&before);
    world_snapshot_free(&after);
    mote_world_destroy(world);
    mote_world_destroy(other);
}

// ---- Defaults and checks ----

static void defaults_are_valid(void **state)
{
    const TestBackend *backend = *state;
    const MoteSettings settings = mote_default_settings();
    MoteBackendOptions options = mote_default_backend_options();
    assert_string_equal(options.backend, "auto");
    MoteWorld *world = NULL;
    expect_ok(mote_world_create(&settings, &backend->options, &world));
    for (int kind = MOTE_SHAPE_PLANE; kind <= MOTE_SHAPE_CAPSULE; kind++) {
        MoteShape collider = mote_default_collider();
        collider.kind = (MoteShapeKind)kind;
        collider.from.position.y = collider.to.position.y = -1.0f;
        add_collider(world, collider);
    }
    const MoteMaterial material = mote_default_material();
    expect_ok(mote_world_set_materials(world, &material, 1));
    MoteParticles particles = mote_default_particles();
    expect_ok(mote_world_add_particles(world, &particles, NULL));
    assert_int_equal(mote_world_particle_count(world), 0);
    const MoteVec3 place = {0, 3, 0};
    particles.count = 1;
    particles.positions = &place;
    expect_ok(mote_world_add_particles(world, &particles, NULL));
    MoteBody body = mote_default_body();
    body.count = 1;
    body.positions = &(MoteVec3){1, 3, 0};
    expect_ok(mote_world_add_body(world, &body, NULL, NULL));
    MoteFieldOptions options_of_field = mote_default_field_options();
    const MoteVec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const uint32_t triangles[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    options_of_field.positions = corners;
    options_of_field.position_count = 4;
    options_of_field.triangles = triangles;
    options_of_field.triangle_count = 4;
    MoteField *field = NULL;
    expect_ok(mote_field_create(&options_of_field, &field));
    mote_field_destroy(field);
    run_steps(world, 2, DT);
    mote_world_destroy(world);
}

static void wrong_enums_are_refused(void **state)
{
    MoteSettings settings = ids_settings();
    MoteWorld *world = make_world(*state, &settings);
    MoteShape shape = mote_default_collider();
    shape.kind = (MoteShapeKind)99;
    expect_error(mote_world_add_collider(world, &shape, NULL), MOTE_ERROR_INPUT, "kind 99");
    MoteMaterial material = mote_default_material();
    material.combine = (MoteCombine)12;
    expect_error(mote_world_set_materials(world, &material, 1), MOTE_ERROR_INPUT, "combine 12");
    settings.friction_model = (MoteFrictionModel)5;
    expect_error(mote_world_set_settings(world, &settings), MOTE_ERROR_INPUT, "friction_model is 5");
    MoteFieldOptions options = mote_default_field_options();
    options.mode = (MoteFieldMode)8;
    MoteField *field = NULL;
    expect_error(mote_field_create(&options, &field), MOTE_ERROR_INPUT, "field mode 8");
    float none = 0.0f;
    expect_error(mote_world_read_forces(world, (MoteForceKind)9, &none), MOTE_ERROR_INPUT, "kind 9");
    mote_world_destroy(world);
}

static void reading_needs_room(void **state)
{
    const MoteSettings settings = ids_settings();
    MoteWorld *world = make_world(*state, &settings);
    add_block(world, (MoteVec3){0, 0, 0}, 3, 3, 3);
    uint32_t ids[27];
    float velocities[4 * 27];
    MoteParticleView view = {.capacity = 26, .ids = ids};
    expect_error(mote_world_read(world, &view), MOTE_ERROR_INPUT, "room to read 26 particles");
    assert_int_equal(view.count, 27); // what it takes
    view.capacity = 27;
    view.velocities = velocities;
    expect_ok(mote_world_read(world, &view));
    uint32_t seen = 0;
    for (int i = 0; i < 27; i++) {
        seen |= 1u << ids[i];
        velocities[4 * i] = 1.0f;
    }
    assert_int_equal(seen, (1u << 27) - 1);
    const double height = read_statistics(world).centre_of_mass[1];
    expect_ok(mote_world_write(world, &(MoteParticleView){.count = 27, .velocities = velocities}));
    expect_near(read_statistics(world).momentum[0], read_statistics(world).mass, 1e-3, "momentum that was written");
    assert_true(read_statistics(world).centre_of_mass[1] == height);
    mote_world_destroy(world);
}

// ---- Callbacks ----

typedef struct Calls {
    uint32_t before, after, fail_at;
    float push; // m/s that a step gives
    const char *backend;
} Calls;

static MoteResult push_all(void *context, MoteWorld *world, const MoteStepArrays *arrays)
{
    Calls *calls = context;
    assert_string_equal(arrays->backend, calls->backend);
    assert_int_equal(arrays->step, calls->before);
    assert_int_equal(calls->after, calls->before);
    assert_int_equal(arrays->particle_count, mote_world_particle_count(world));
    assert_true(arrays->time_step == DT);
    assert_true((strcmp(arrays->backend, "cpu") == 0) == (arrays->memory == MOTE_MEMORY_HOST));
    assert_true((strcmp(arrays->backend, "vulkan") == 0) == (arrays->device != NULL));
    calls->before++;
    const size_t bytes = 16 * (size_t)arrays->particle_count;
    float *velocities = arrays->memory == MOTE_MEMORY_HOST ? arrays->velocities : malloc(bytes);
    if (velocities != arrays->velocities) {
        expect_ok(mote_world_copy_out(world, velocities, arrays->velocities, bytes));
    }
    for (uint32_t i = 0; i < arrays->particle_count; i++) {
        velocities[4 * i] += calls->push;
    }
    if (velocities != arrays->velocities) {
        expect_ok(mote_world_copy_in(world, arrays->velocities, velocities, bytes));
        free(velocities);
    }
    return calls->fail_at == calls->before ? MOTE_ERROR_INPUT : MOTE_OK;
}

// What the callback sees is what is read afterwards.
static MoteResult look_at_all(void *context, MoteWorld *world, const MoteStepArrays *arrays)
{
    Calls *calls = context;
    assert_int_equal(arrays->step, calls->after);
    calls->after++;
    assert_int_equal(calls->after, calls->before);
    const uint32_t n = arrays->particle_count;
    const MoteParticleView view = read_view(world);
    assert_int_equal(view.count, n);
    uint32_t *ids = malloc(n * 4 + 1), *phases = malloc(n * 4 + 1);
    float *places = malloc(n * 16 + 1);
    expect_ok(mote_world_copy_out(world, ids, arrays->ids, n * 4));
    expect_ok(mote_world_copy_out(world, phases, arrays->phases, n * 4));
    assert_memory_equal(ids, view.ids, n * 4);
    assert_memory_equal(phases, view.phases, n * 4);
    expect_ok(mote_world_copy_out(world, places, arrays->positions, n * 16));
    assert_memory_equal(places, view.positions, n * 16);
    expect_ok(mote_world_copy_out(world, places, arrays->predicted, n * 16));
    for (uint32_t i = 0; i < n; i++) {
        assert_memory_equal(places + 4 * i, view.positions + 4 * i, 12);
    }
    free(ids);
    free(phases);
    free(places);
    return MOTE_OK;
}

static MoteResult do_nothing(void *context, MoteWorld *world, const MoteStepArrays *arrays)
{
    (void)world;
    (void)arrays;
    ++*(uint32_t *)context;
    return MOTE_OK;
}

// A force of the user's own on particles in free fall: after n steps of a push u, the way is u dt n (n + 1) / 2.
static void callbacks_push_particles(void **state)
{
    const TestBackend *backend = *state;
    const MoteSettings settings = ids_settings();
    MoteWorld *world = make_world(backend, &settings);
    add_block(world, (MoteVec3){0, 0, 0}, 2, 2, 2);
    run_steps(world, 3, DT);
    const MoteStatistics start = read_statistics(world);
    Calls calls = {.push = 0.02f, .backend = backend->options.backend, .before = 3, .after = 3};
    mote_world_set_step_callbacks(world, push_all, look_at_all, &calls);
    uint32_t done = 0;
    expect_ok(mote_world_steps(world, DT, 40, &done));
    assert_true(done == 40 && calls.before == 43 && calls.after == 43);
    const MoteStatistics end = read_statistics(world);
    expect_near(end.momentum[0] - start.momentum[0], 0.02 * 40 * end.mass, 1e-4 * end.mass, "momentum along x");
    expect_near(end.centre_of_mass[0] - start.centre_of_mass[0], 0.02 * DT * 40 * 41 / 2, 1e-5, "way along x");
    calls.fail_at = 50;
    expect_error(mote_world_steps(world, DT, 40, &done), MOTE_ERROR_INPUT, "the callback before step 49");
    assert_int_equal(done, 6);
    mote_world_set_step_callbacks(world, NULL, NULL, NULL);
    calls.before = 0;
    run_steps(world, 2, DT);
    assert_int_equal(calls.before, 0);
    mote_world_destroy(world);
}

// Steps one by one for callbacks are the same steps: with kill volumes, and lists that grow.
static void callbacks_change_no_bit(void **state)
{
    uint64_t hashes[2];
    for (int called = 0; called < 2; called++) {
        const MoteSettings settings = ids_settings();
        MoteWorld *world = make_world(*state, &settings);
        build_dam_break(world, 4, 6, 4);
        const MoteShape hole = still_shape(MOTE_SHAPE_SPHERE, (MoteVec3){0.9f, 0.1f, 0.2f}, (MoteVec3){0, 0, 0}, 0.2f);
        expect_ok(mote_world_set_kill_volumes(world, &hole, 1));
        uint32_t calls = 0;
        if (called == 1) {
            mote_world_set_step_callbacks(world, do_nothing, do_nothing, &calls);
        }
        expect_ok(mote_world_steps(world, DT, 80, NULL));
        assert_int_equal(calls, 160 * called);
        assert_true(mote_world_particle_count(world) < 4 * 6 * 4);
        hashes[called] = read_hash(world);
        mote_world_destroy(world);
    }
    assert_int_equal(hashes[0], hashes[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(stale_collider_ids_are_refused),
        ON_EVERY_BACKEND(far_colliders_change_nothing),
        ON_EVERY_BACKEND(what_lay_on_a_removed_collider_falls),
        ON_EVERY_BACKEND(stale_body_ids_are_refused),
        ON_EVERY_BACKEND(removed_bodies_leave_the_others_alone),
        ON_EVERY_BACKEND(rows_are_used_again),
        ON_EVERY_BACKEND(bodies_in_old_rows_begin_anew),
        ON_EVERY_BACKEND(snapshots_survive_removals),
        ON_EVERY_BACKEND(defaults_are_valid),
        ON_BACKEND(wrong_enums_are_refused, "cpu", 0),
        ON_EVERY_BACKEND(reading_needs_room),
        ON_EVERY_BACKEND(callbacks_push_particles),
        ON_EVERY_BACKEND(callbacks_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
