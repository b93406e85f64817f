// SPDX-License-Identifier: MIT
// Particles that particles make on the device: how many, where, with which ids; the same however a run is run.
#include "solid_fixture.h"

enum { CLOUD = 0, RAIN = 1 };

static const float DT = 1.0f / 100.0f;

static MoteSettings spawn_settings(void)
{
    MoteSettings settings = mote_default_settings();
    settings.spacing = 0.1f;
    settings.vorticity = settings.viscosity = 0.0f;
    settings.density_mode = MOTE_DENSITY_UNILATERAL; // drops do not cling to what they fall from
    return settings;
}

// `count` pinned particles half a metre apart that rain, each `rate` drops a second.
static MoteWorld *make_rain(const MoteBackendOptions *options, const MoteSettings *settings, uint32_t count, float rate)
{
    MoteWorld *world = NULL;
    expect_ok(mote_world_create(settings, options, &world));
    const MoteMaterial materials[] = {{.static_friction = 0.5f}, {.combine = MOTE_COMBINE_AVERAGE}};
    expect_ok(mote_world_set_materials(world, materials, 2));
    MoteVec3 *positions = malloc(count * sizeof *positions);
    assert_non_null(positions);
    for (uint32_t i = 0; i < count; i++) {
        positions[i] = (MoteVec3){0.5f * (float)(i % 10), 10, 0.5f * (float)(i / 10)};
    }
    const MoteParticles cloud = {.count = count, .positions = positions, .phase = MOTE_PHASE(MOTE_KIND_BODY, CLOUD)};
    expect_ok(mote_world_add_particles(world, &cloud, NULL));
    free(positions);
    const MoteSource source = {.material = CLOUD,
                               .phase = MOTE_PHASE(MOTE_KIND_LIQUID, RAIN),
                               .rate = rate,
                               .mass = mote_world_particle_mass(world, 1000.0f),
                               .distance = settings->spacing};
    expect_ok(mote_world_set_sources(world, &source, 1));
    return world;
}

static int compare_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

// Ids from 0 on without a gap: nothing was removed.
static void expect_all_ids(MoteWorld *world)
{
    const MoteParticleView view = read_view(world);
    uint32_t *ids = malloc(view.count * sizeof *ids);
    assert_non_null(ids);
    memcpy(ids, view.ids, view.count * sizeof *ids);
    qsort(ids, view.count, sizeof *ids, compare_u32);
    for (uint32_t i = 0; i < view.count; i++) {
        assert_int_equal(ids[i], i);
    }
    assert_int_equal(world->tally.next_id, view.count);
    assert_int_equal(world->removed, 0);
    free(ids);
}

// In n steps a source makes n rate dt drops, rounded up or down, which begin one distance below it, at rest as it is.
static void sources_keep_their_rate(void **state)
{
    const TestBackend *backend = *state;
    MoteSettings settings = spawn_settings();
    enum { SOURCES = 40, STEPS = 50 };
    MoteWorld *world = make_rain(&backend->options, &settings, SOURCES, 5.0f);
    expect_ok(mote_world_add_channel(world, "mark", 2));
    uint32_t before = SOURCES;
    for (uint32_t step = 0; step < STEPS; step++) { // one after the other, so that each drop is seen when it is new
        expect_ok(mote_world_step(world, DT));
        const MoteParticleView view = read_view(world);
        float *marks = malloc(2 * view.count * sizeof *marks);
        assert_non_null(marks);
        expect_ok(mote_world_read_channel(world, "mark", marks));
        for (uint32_t i = 0; i < view.count; i++) {
            const float *p = view.positions + 4 * i, *v = view.velocities + 4 * i;
            if (view.ids[i] >= before) {
                expect_near(p[1], 10.0 - 0.1, 1e-6, "where a drop begins");
                expect_near(fmod(p[0] + 1e-4, 0.5), 1e-4, 1e-5, "x of a drop");
                expect_near(p[3] * mote_world_particle_mass(world, 1000.0f), 1.0, 1e-6, "its mass");
                assert_true(v[0] == 0.0f && v[1] == 0.0f && v[2] == 0.0f && v[3] == 0.0f);
                assert_int_equal(view.phases[i], MOTE_PHASE(MOTE_KIND_LIQUID, RAIN));
                assert_true(marks[2 * i] == 0.0f && marks[2 * i + 1] == 0.0f);
            }
            marks[2 * i] = marks[2 * i + 1] = 7.0f; // what is left in the slots of later ones
        }
        expect_ok(mote_world_write_channel(world, "mark", marks));
        free(marks);
        before = view.count;
    }
    const double each = STEPS * 5.0 * (double)DT; // 2.5
    const uint32_t made = mote_world_particle_count(world) - SOURCES;
    assert_true(made >= SOURCES * floor(each) && made <= SOURCES * ceil(each));
    expect_near(made, SOURCES * each, 0.15 * SOURCES * each, "drops");
    expect_all_ids(world);
    mote_world_destroy(world);
}

// However many steps the host leaves to the device, nothing is lost and all is the same; failed speculations of the
// room are made good.
static void many_steps_are_the_same_as_one_by_one(void **state)
{
    const TestBackend *backend = *state;
    MoteSettings settings = spawn_settings();
    enum { SOURCES = 100, STEPS = 96 };
    MoteWorld *one = make_rain(&backend->options, &settings, SOURCES, 4.0f);
    MoteWorld *many = make_rain(&backend->options, &settings, SOURCES, 4.0f);
    run_steps(one, STEPS, DT);
    expect_ok(mote_world_steps(many, DT, STEPS, NULL));
    const uint64_t waits = mote_world_host_waits(many);
    assert_true(mote_world_particle_count(one) > 2 * SOURCES);
    assert_int_equal(mote_world_particle_count(one), mote_world_particle_count(many));
    assert_int_equal(read_hash(one), read_hash(many));
    expect_all_ids(one);
    expect_all_ids(many);
    if (many->backend->functions->speculates) {
        assert_true(strcmp(backend->options.backend, "vulkan") != 0 || waits < STEPS / 6); // not one or more a step
        many->last_spawns = 0; // a cloudburst that nobody expected
        const uint64_t wrong = many->misspeculations;
        const MoteSource burst = {.material = CLOUD,
                                  .phase = MOTE_PHASE(MOTE_KIND_LIQUID, RAIN),
                                  .rate = 30.0f,
                                  .mass = mote_world_particle_mass(many, 1000.0f),
                                  .distance = settings.spacing};
        expect_ok(mote_world_set_sources(one, &burst, 1));
        expect_ok(mote_world_set_sources(many, &burst, 1));
        run_steps(one, 40, DT);
        expect_ok(mote_world_steps(many, DT, 40, NULL));
        assert_true(many->misspeculations > wrong);
        assert_int_equal(read_hash(one), read_hash(many));
        expect_all_ids(many);
    }
    mote_world_destroy(one);
    mote_world_destroy(many);
}

// Drops that a kill volume takes while others are made, particles that come from outside, and a snapshot in between.
static void rain_that_drains_away_resumes(void **state)
{
    const TestBackend *backend = *state;
    MoteSettings settings = spawn_settings();
    MoteWorld *worlds[3];
    for (uint32_t k = 0; k < 3; k++) {
        const MoteBackendOptions other =
            backend->options.threads > 0
                ? (MoteBackendOptions){.backend = "cpu", .threads = 3, .portable = backend->options.portable}
            : vulkan_may_differ((int)(backend - test_backends)) ? backend->options
                                                                : test_backends[1].options;
        worlds[k] = make_rain(k == 2 ? &other : &backend->options, &settings, 60, 6.0f);
        const MoteCollider drain =
            still_collider(MOTE_COLLIDER_PLANE, (MoteVec3){0, 9.5f, 0}, (MoteVec3){0, 0, 0}, 0.0f);
        expect_ok(mote_world_set_kill_volumes(worlds[k], &drain, 1));
        expect_ok(mote_world_steps(worlds[k], DT, 50, NULL));
        const MoteVec3 more[] = {{-1, 12, 0}, {-1, 12.1f, 0}};
        add_points(worlds[k], more, 2, MOTE_PHASE(MOTE_KIND_LIQUID, RAIN));
    }
    assert_true(worlds[0]->removed > 50 && mote_world_particle_count(worlds[0]) > 100);
    WorldSnapshot snapshot;
    expect_ok(world_snapshot_take(worlds[0], &snapshot));
    expect_ok(mote_world_steps(worlds[1], DT, 3, NULL)); // elsewhere
    expect_ok(world_snapshot_restore(worlds[1], &snapshot));
    for (uint32_t k = 0; k < 3; k++) {
        expect_ok(mote_world_steps(worlds[k], DT, 45, NULL));
    }
    for (uint32_t k = 1; k < 3; k++) {
        assert_int_equal(read_hash(worlds[k]), read_hash(worlds[0]));
        assert_int_equal(worlds[k]->removed, worlds[0]->removed);
        assert_int_equal(worlds[k]->tally.next_id, worlds[0]->tally.next_id);
    }
    // Each id is of a particle that is there or was removed.
    assert_int_equal(worlds[0]->tally.next_id, mote_world_particle_count(worlds[0]) + worlds[0]->removed);
    world_snapshot_free(&snapshot);
    for (uint32_t k = 0; k < 3; k++) {
        mote_world_destroy(worlds[k]);
    }
}

// Sources that vanish leave a world that has none.
static void the_last_source_may_go(void **state)
{
    const TestBackend *backend = *state;
    MoteSettings settings = spawn_settings();
    MoteWorld *world = make_rain(&backend->options, &settings, 20, 6.0f);
    expect_ok(mote_world_steps(world, DT, 20, NULL));
    const MoteCollider all = still_collider(MOTE_COLLIDER_SPHERE, (MoteVec3){0, 10, 0}, (MoteVec3){0, 0, 0}, 100.0f);
    expect_ok(mote_world_set_kill_volumes(world, &all, 1));
    expect_ok(mote_world_steps(world, DT, 20, NULL));
    assert_int_equal(mote_world_particle_count(world), 0);
    assert_int_equal(world->removed, world->tally.next_id);
    mote_world_destroy(world);
}

static void wrong_sources_are_refused(void **state)
{
    const TestBackend *backend = *state;
    MoteSettings settings = spawn_settings();
    MoteWorld *world = make_rain(&backend->options, &settings, 1, 1.0f);
    const MoteSource good = {.material = CLOUD, .phase = MOTE_PHASE(MOTE_KIND_LIQUID, RAIN), .rate = 1, .mass = 1};
    MoteSource bad = good;
    bad.material = 2;
    expect_error(mote_world_set_sources(world, &bad, 1), MOTE_ERROR_INPUT,
                 "source 0 has material 2, expected one of 2");
    bad = good;
    bad.mass = 0.0f;
    expect_error(mote_world_set_sources(world, &bad, 1), MOTE_ERROR_INPUT, "particles of 0 kg");
    bad = good;
    bad.rate = -1.0f;
    expect_error(mote_world_set_sources(world, &bad, 1), MOTE_ERROR_INPUT, "rate -1 1/s");
    bad = good;
    bad.phase = MOTE_PHASE(7, 0);
    expect_error(mote_world_set_sources(world, &bad, 1), MOTE_ERROR_INPUT, "MoteParticleKind");
    assert_int_equal(world->view.source_count, 2);
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(sources_keep_their_rate),       ON_EVERY_BACKEND(many_steps_are_the_same_as_one_by_one),
        ON_EVERY_BACKEND(rain_that_drains_away_resumes), ON_EVERY_BACKEND(the_last_source_may_go),
        ON_EVERY_BACKEND(wrong_sources_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
