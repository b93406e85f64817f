// SPDX-License-Identifier: MIT
// Spray, foam and bubbles: how they move against closed forms; that none is lost or made twice; that runs repeat for
// any threads, batches and backends, and resume; and what scenes say of them.
#define VULKAN_VALIDATE false // hundreds of steps

#include "backends.h"
#include "simulation_fixture.h"

#include "mote_diffuse.h"

static const float DT = 1.0f / 240.0f;

// ---- Tools -------------------------------------------------------------------------------------------------

static MoteFoam still_foam(uint32_t capacity)
{
    MoteFoam foam = mote_default_foam();
    foam.amount = 0.0f;
    foam.capacity = capacity;
    foam.life = 10.0f;
    foam.spray_drag = 0.0f;
    return foam;
}

// What is good until the next call.
static MoteDiffuse read_diffuse(MoteWorld *world)
{
    static MoteDiffuse kept;
    MoteDiffuseCounts counts;
    expect_ok(mote_world_diffuse_counts(world, &counts));
    if (counts.present > kept.capacity) {
        kept.capacity = counts.present;
        kept.positions = realloc(kept.positions, 16 * (size_t)kept.capacity);
        kept.velocities = realloc(kept.velocities, 16 * (size_t)kept.capacity);
        kept.ids = realloc(kept.ids, 4 * (size_t)kept.capacity);
        kept.smoke = realloc(kept.smoke, 16 * (size_t)kept.capacity);
    }
    expect_ok(mote_world_read_diffuse(world, &kept));
    assert_int_equal(kept.count, counts.present);
    return kept;
}

static uint64_t hash_diffuse(MoteWorld *world)
{
    const MoteDiffuse all = read_diffuse(world);
    uint64_t hash = 1469598103934665603u;
    const struct {
        const void *bytes;
        size_t size;
    } parts[] = {{all.positions, 16}, {all.velocities, 16}, {all.ids, 4}, {all.smoke, 16}};
    for (size_t k = 0; k < 4; k++) {
        for (size_t i = 0; i < parts[k].size * all.count; i++) {
            hash = (hash ^ ((const uint8_t *)parts[k].bytes)[i]) * 1099511628211u;
        }
    }
    return hash;
}

static void add_passive(MoteWorld *world, const MoteVec3 *places, uint32_t count, MoteVec3 velocity, float life)
{
    float *positions = malloc(32 * (size_t)count);
    assert_non_null(positions);
    float *velocities = positions + 4 * (size_t)count;
    for (uint32_t i = 0; i < count; i++) {
        const float p[4] = {places[i].x, places[i].y, places[i].z, life};
        const float v[4] = {velocity.x, velocity.y, velocity.z, 1.0f};
        memcpy(positions + 4 * (size_t)i, p, sizeof p);
        memcpy(velocities + 4 * (size_t)i, v, sizeof v);
    }
    const MoteDiffuse some = {.count = count, .positions = positions, .velocities = velocities};
    expect_ok(mote_world_add_diffuse(world, &some));
    free(positions);
}

// ---- Motion ------------------------------------------------------------------------------------------------

// Foam, and bubbles, of a liquid that moves evenly go with it.
static void foam_goes_with_a_uniform_flow(void **state)
{
    enum { COUNT = 64, STEPS = 96 };
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    MoteWorld *world = make_world(*state, &settings);
    const MoteVec3 flow = {1.5f, -0.25f, 0.75f};
    const uint32_t particles = add_block(world, (MoteVec3){0, 0, 0}, 12, 12, 12);
    MoteParticleView view;
    expect_ok(read_particles(world, &view));
    for (uint32_t i = 0; i < particles; i++) {
        memcpy(view.velocities + 4 * (size_t)i, &flow, sizeof flow);
    }
    expect_ok(mote_world_write(world, &view));
    const MoteFoam foam = still_foam(COUNT);
    expect_ok(mote_world_set_foam(world, &foam));
    MoteVec3 places[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        places[i] = random_in_box((MoteVec3){0.55f, 0.55f, 0.55f}, 0.5f);
        places[i].y = i % 2 == 0 ? 1.13f : places[i].y; // foam on the surface, bubbles below
    }
    add_passive(world, places, COUNT, (MoteVec3){0, 0, 0}, 5.0f);
    expect_ok(mote_world_step(world, DT)); // in which bubbles do not yet have the liquid's velocity
    const MoteDiffuse begin = read_diffuse(world);
    float *before = malloc(16 * COUNT);
    assert_non_null(before);
    memcpy(before, begin.positions, 16 * COUNT);
    bool was_foam[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        was_foam[i] = fabsf(begin.velocities[4 * i] - flow.x) < 1e-4f;
    }
    expect_ok(mote_world_steps(world, DT, STEPS, NULL));
    const MoteDiffuse end = read_diffuse(world);
    assert_int_equal(end.count, COUNT);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        kept += was_foam[i];
        for (int k = 0; k < 3; k++) {
            const double way = (double)(&flow.x)[k] * STEPS * (double)DT;
            expect_near(end.velocities[4 * i + (uint32_t)k], (&flow.x)[k], 1e-4, "velocity");
            if (was_foam[i]) {
                expect_near(end.positions[4 * i + (uint32_t)k] - before[4 * i + (uint32_t)k], way, 5e-5, "way");
            }
        }
    }
    assert_true(kept > 8);
    free(before);
    mote_world_destroy(world);
}

// Alone it follows a parabola, exactly.
static void spray_follows_a_parabola(void **state)
{
    enum { STEPS = 120 };
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    settings.gravity = (MoteVec3){0.5f, -9.81f, 0};
    MoteWorld *world = make_world(*state, &settings);
    add_block(world, (MoteVec3){2.5f, 2, 0}, 2, 2, 2); // beyond its reach
    const MoteFoam foam = still_foam(4);
    expect_ok(mote_world_set_foam(world, &foam));
    add_passive(world, &(MoteVec3){0, 2, 0}, 1, (MoteVec3){1, 4, -2}, 5.0f);
    expect_ok(mote_world_steps(world, DT, STEPS, NULL));
    const double t = STEPS * (double)DT;
    const MoteDiffuse end = read_diffuse(world);
    assert_int_equal(end.count, 1);
    expect_near(end.positions[0], t + 0.25 * t * t, 1e-5, "x");
    expect_near(end.positions[1], 2.0 + 4.0 * t - 0.5 * 9.81 * t * t, 1e-5, "y");
    expect_near(end.positions[2], -2.0 * t, 1e-5, "z");
    expect_near(end.positions[3], 5.0, 1e-6, "life: spray does not age");
    expect_near(end.velocities[3], 0.0, 1e-2, "class");
    mote_world_destroy(world);
}

// With the liquid where there is some, straight on elsewhere; it ages, and dies when its life is over.
static void smoke_drifts_and_ages(void **state)
{
    enum { COUNT = 4, STEPS = 96 };
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    MoteWorld *world = make_world(*state, &settings);
    const MoteVec3 flow = {1.5f, 0.25f, 0.0f};
    const uint32_t particles = add_block(world, (MoteVec3){0, 0, 0}, 12, 12, 12);
    MoteParticleView view;
    expect_ok(read_particles(world, &view));
    for (uint32_t i = 0; i < particles; i++) {
        memcpy(view.velocities + 4 * (size_t)i, &flow, sizeof flow);
    }
    expect_ok(mote_world_write(world, &view));
    const MoteFoam foam = still_foam(8);
    expect_ok(mote_world_set_foam(world, &foam));
    add_passive(world, &(MoteVec3){30, 1, 0}, 1, (MoteVec3){0, 1, 0}, 5.0f); // spray, far away from the liquid: lost
    // In the liquid; beyond its reach; one that dies; one that has no end.
    float positions[4 * COUNT] = {0.55f, 0.55f, 0.55f, 5, 30, 1, 0, 5, 0.5f, 0.6f, 0.5f, 0.2f, 0.6f, 0.5f, 0.5f, 0.1f};
    float velocities[4 * COUNT] = {0, 0, 0, 3, 1, 2, 0, 3, 0, 0, 0, 3, 0, 0, 0, 3};
    float smoke[4 * COUNT] = {1, 6, 300, 0.5f, 0, 5, 0, 1, 0, 0.2f, 0, 1, 0, 0, 10, 2};
    const MoteDiffuse some = {.count = COUNT, .positions = positions, .velocities = velocities, .smoke = smoke};
    expect_ok(mote_world_add_diffuse(world, &some));
    expect_ok(mote_world_steps(world, DT, STEPS, NULL));
    MoteDiffuse end = read_diffuse(world);
    const double t = STEPS * (double)DT;
    assert_int_equal(end.count, 3);
    const double places[3][3] = {
        {0.55 + 1.5 * t, 0.55 + 0.25 * t, 0.55}, {30.0 + t, 1.0 + 2.0 * t, 0.0}, {0.6 + 1.5 * t, 0.5 + 0.25 * t, 0.5}};
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t was = i < 2 ? i : 3;
        for (uint32_t k = 0; k < 3; k++) { // a step until it has the flow's velocity
            expect_near(end.positions[4 * i + k], places[i][k], 1e-2, "place of smoke");
        }
        assert_true(end.velocities[4 * i + 3] == 3.0f);
        expect_near(end.smoke[4 * i], (double)smoke[4 * was] + t, 1e-5, "age");
        expect_near(end.positions[4 * i + 3], (double)positions[4 * was + 3] - (was < 3 ? t : 0.0), 1e-5, "life");
        assert_memory_equal(end.smoke + 4 * i + 1, smoke + 4 * was + 1, 12);
    }
    smoke[3] = -1.0f;
    expect_error(mote_world_add_diffuse(world, &some), MOTE_ERROR_INPUT, "an amount not below 0");
    smoke[3] = 1.0f;
    velocities[3] = 2.5f;
    expect_error(mote_world_add_diffuse(world, &some), MOTE_ERROR_INPUT, "class 2.5, expected 0 to 2, or 3 for smoke");
    mote_world_destroy(world);
}

// Spray that the air slows down: v = v0 e^(-kt).
static void drag_slows_spray(void **state)
{
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    MoteWorld *world = make_world(*state, &settings);
    MoteFoam foam = still_foam(1);
    foam.spray_drag = 2.0f;
    expect_ok(mote_world_set_foam(world, &foam));
    add_passive(world, &(MoteVec3){0, 0, 0}, 1, (MoteVec3){3, 0, 0}, 5.0f);
    run_steps(world, 240, DT);
    const MoteDiffuse end = read_diffuse(world);
    expect_near(end.velocities[0], 3.0 * exp(-2.0), 1e-4, "speed");
    expect_near(end.positions[0], 1.5 * (1.0 - exp(-2.0)), 1e-4, "way"); // the trapezium rule, at dt k = 1/120
    mote_world_destroy(world);
}

// The liquid of step n: turned about y by the step's angle, with the velocities that lead to the next one.
static void turn_liquid(MoteWorld *world, const MoteVec3 *starts, uint32_t step, double angle)
{
    MoteParticleView view;
    expect_ok(read_particles(world, &view));
    for (uint32_t i = 0; i < view.count; i++) {
        const MoteVec3 s = starts[view.ids[i]];
        const double a = step * angle, b = (step + 1) * angle;
        const double x = s.x * cos(a) + s.z * sin(a), z = s.z * cos(a) - s.x * sin(a);
        float *p = view.positions + 4 * (size_t)i, *v = view.velocities + 4 * (size_t)i;
        p[0] = (float)x;
        p[2] = (float)z;
        v[0] = (float)((s.x * cos(b) + s.z * sin(b) - x) / (double)DT);
        v[2] = (float)((s.z * cos(b) - s.x * sin(b) - z) / (double)DT);
    }
    expect_ok(mote_world_write(world, &view));
}

// On a liquid that turns like a solid, once a second, the radius of foam grows by less than 0.2 % in a turn.
static void foam_keeps_its_radius_on_a_turning_liquid(void **state)
{
    enum { SIDE = 18, LAYERS = 5, COUNT = 24, STEPS = 240 };
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    MoteWorld *world = make_world(*state, &settings);
    const uint32_t particles = add_block(world, (MoteVec3){-0.85f, 0, -0.85f}, SIDE, LAYERS, SIDE);
    MoteVec3 *starts = malloc(particles * sizeof *starts);
    assert_non_null(starts);
    MoteParticleView view;
    expect_ok(read_particles(world, &view));
    for (uint32_t i = 0; i < particles; i++) {
        memcpy(&starts[view.ids[i]], view.positions + 4 * (size_t)i, sizeof *starts);
    }
    const MoteFoam foam = still_foam(COUNT);
    expect_ok(mote_world_set_foam(world, &foam));
    const double pi = 3.14159265358979323846;
    for (uint32_t i = 0; i < COUNT; i++) {
        const double r = 0.15 + 0.45 * i / COUNT, speed = 2.0 * pi * r, a = 2.3 * i;
        const MoteVec3 place = {(float)(r * cos(a)), 0.47f, (float)(r * sin(a))};
        add_passive(world, &place, 1, (MoteVec3){(float)(speed * sin(a)), 0, (float)(-speed * cos(a))}, 5.0f);
    }
    for (uint32_t n = 0; n < STEPS; n++) {
        turn_liquid(world, starts, n, 2.0 * pi * (double)DT);
        expect_ok(mote_world_step(world, DT));
    }
    const MoteDiffuse end = read_diffuse(world);
    assert_int_equal(end.count, COUNT);
    double worst = 0.0, mean = 0.0;
    for (uint32_t i = 0; i < COUNT; i++) {
        const double r = 0.15 + 0.45 * i / COUNT;
        const double drift = hypot(end.positions[4 * i], end.positions[4 * i + 2]) / r - 1.0;
        worst = fmax(worst, fabs(drift) * r); // m
        mean += drift / COUNT;
        expect_near(end.velocities[4 * i + 3], 1.0, 1e-3, "class");
    }
    // Single ones wander around lattice points, by a few hundredths of a spacing and no more; none of it adds up.
    print_message("radius: %.3f spacings at worst, %.3f %% on average\n", worst / 0.1, 100.0 * mean);
    assert_true(worst < 0.08 * 0.1 && fabs(mean) < 0.002);
    free(starts);
    mote_world_destroy(world);
}

// Bubbles rise at buoyancy g / drag; spray that falls on a collider stays on it, ages and goes.
static void bubbles_rise_and_spray_lands(void **state)
{
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    MoteWorld *world = make_world(*state, &settings);
    add_block(world, (MoteVec3){0, 0, 0}, 10, 30, 10); // without gravity, and weightless, it stays
    MoteFoam foam = still_foam(2);
    foam.buoyancy = 2.0f;
    foam.bubble_drag = 60.0f;
    expect_ok(mote_world_set_foam(world, &foam));
    const MoteCollider floor_plane = {
        .kind = MOTE_COLLIDER_PLANE, .from = {{0, -1, 0}, {0, 0, 0, 1}}, .to = {{0, -1, 0}, {0, 0, 0, 1}}};
    expect_ok(mote_world_set_colliders(world, &floor_plane, 1));
    add_passive(world, &(MoteVec3){0.45f, 0.5f, 0.45f}, 1, (MoteVec3){0, 0, 0}, 5.0f);
    add_passive(world, &(MoteVec3){3, -0.9f, 0}, 1, (MoteVec3){1, -2, 0}, 0.5f);
    MoteParticleView view;
    for (uint32_t n = 0; n < 120; n++) { // the liquid falls by a step of gravity, again and again
        expect_ok(read_particles(world, &view));
        for (uint32_t i = 0; i < view.count; i++) {
            view.velocities[4 * i] = view.velocities[4 * i + 1] = view.velocities[4 * i + 2] = 0.0f;
        }
        expect_ok(mote_world_write(world, &view));
        settings.gravity = (MoteVec3){0, -1, 0};
        expect_ok(mote_world_set_settings(world, &settings));
        expect_ok(mote_world_step(world, DT));
    }
    MoteDiffuse end = read_diffuse(world);
    assert_int_equal(end.count, 2);
    expect_near(end.velocities[1], 2.0 / 60.0 - (double)DT, 3e-4, "rising speed");
    expect_near(end.velocities[3], 2.0, 1e-2, "class");
    assert_true(end.positions[5] > -1.0f && end.positions[5] < -0.98f);
    expect_near(end.positions[7], 0.5 - 105.0 * (double)DT, 20.0 * (double)DT, "life on the floor");
    run_steps(world, 40, DT);
    end = read_diffuse(world);
    assert_int_equal(end.count, 1);
    MoteDiffuseCounts counts;
    expect_ok(mote_world_diffuse_counts(world, &counts));
    assert_int_equal(counts.dead, 1);
    mote_world_destroy(world);
}

// ---- Spawning ----------------------------------------------------------------------------------------------

static const char DAM[] =
    "{\"solver\": {\"spacing\": 0.1, \"substeps\": %d, \"vorticity\": 3}, \"materials\": {\"water\": {}},"
    " \"fluids\": [{\"position\": [-0.6, 0.8, 0], \"size\": [0.8, 1.6, 0.8]}],"
    " \"colliders\": [{\"shape\": \"box\", \"inside_out\": true, \"position\": [0, 2, 0], \"size\": [2, 4, 0.8]}],"
    " \"foam\": {\"amount\": %g, \"capacity\": %d, \"life\": %g, \"speed\": 4}}";

static Running start_dam(const MoteBackendOptions *options, int substeps, double amount, int capacity, double life)
{
    char json[1024];
    snprintf(json, sizeof json, DAM, substeps, amount, capacity, life);
    Running running = {.scene = fixture_scene("dam.json", json)};
    expect_ok(mote_simulation_create(running.scene, options, &running.simulation));
    running.world = mote_simulation_world(running.simulation);
    return running;
}

static MoteDiffuseCounts counts_of(const Running *running)
{
    MoteDiffuseCounts counts;
    expect_ok(mote_world_diffuse_counts(mote_simulation_world(running->simulation), &counts));
    return counts;
}

// Spawned - dead = present, at any time; ids are given once.
static void counts_are_exact(void **state)
{
    const TestBackend *backend = *state;
    Running running = start_dam(&backend->options, 4, 0.5, 20000, 0.2);
    MoteWorld *world = mote_simulation_world(running.simulation);
    MoteDiffuseCounts counts = {0};
    for (uint32_t n = 0; n < 5; n++) {
        fixture_advance(&running, 9);
        counts = counts_of(&running);
        const MoteDiffuse all = read_diffuse(world);
        uint8_t *seen = calloc(counts.spawned + 1, 1);
        assert_non_null(seen);
        for (uint32_t i = 0; i < all.count; i++) {
            assert_true(all.positions[4 * i + 3] > 0.0f && all.ids[i] < counts.spawned && seen[all.ids[i]]++ == 0);
        }
        free(seen);
        assert_int_equal(counts.dropped, 0);
        assert_int_equal(counts.present, counts.spawned - counts.dead);
    }
    assert_true(counts.spawned > 100 && counts.dead > 20);
    fixture_stop(&running);
}

// What finds no slot is counted and left out; slots that are free again are used.
static void a_full_world_drops_and_says_so(void **state)
{
    const TestBackend *backend = *state;
    Running running = start_dam(&backend->options, 4, 1.0, 50, 0.2);
    fixture_advance(&running, 45);
    const MoteDiffuseCounts counts = counts_of(&running);
    assert_true(counts.dropped > 50 && counts.present <= 50 && counts.spawned > 50);
    assert_int_equal(counts.present, counts.spawned - counts.dead);
    fixture_stop(&running);
}

// A block of liquid that is kept where it is, while its particles have velocities of their own: what it makes in half a
// second.
static double made_by_churning(const TestBackend *backend, uint32_t steps)
{
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    MoteWorld *world = make_world(backend, &settings);
    const uint32_t particles = add_block(world, (MoteVec3){0, 0, 0}, 8, 8, 8);
    MoteFoam foam = mote_default_foam();
    foam.capacity = 30000;
    foam.speed = 4.0f;
    foam.amount = 0.1f;
    expect_ok(mote_world_set_foam(world, &foam));
    MoteVec3 starts[512], churning[512];
    assert_int_equal(particles, 512);
    MoteParticleView view;
    expect_ok(read_particles(world, &view));
    for (uint32_t i = 0; i < particles; i++) {
        const uint32_t id = view.ids[i];
        memcpy(&starts[id], view.positions + 4 * (size_t)i, sizeof *starts);
        churning[id] = (MoteVec3){2.0f * sinf(7.1f * (float)id), 2.0f * sinf(5.3f * (float)id), 2.0f};
    }
    const float dt = 0.5f / (float)steps;
    for (uint32_t n = 0; n < steps; n++) {
        expect_ok(read_particles(world, &view));
        for (uint32_t i = 0; i < particles; i++) {
            memcpy(view.positions + 4 * (size_t)i, &starts[view.ids[i]], sizeof *starts);
            memcpy(view.velocities + 4 * (size_t)i, &churning[view.ids[i]], sizeof *churning);
        }
        expect_ok(mote_world_write(world, &view));
        expect_ok(mote_world_step(world, dt));
    }
    MoteDiffuseCounts counts;
    expect_ok(mote_world_diffuse_counts(world, &counts));
    assert_int_equal(counts.dropped, 0);
    mote_world_destroy(world);
    return counts.spawned;
}

// The number that is made does not depend on the time step.
static void totals_do_not_depend_on_the_time_step(void **state)
{
    const double totals[] = {made_by_churning(*state, 60), made_by_churning(*state, 120),
                             made_by_churning(*state, 240)};
    const double mean = (totals[0] + totals[1] + totals[2]) / 3.0;
    print_message("spawned in steps of 1/120, 1/240, 1/480 s: %g, %g, %g\n", totals[0], totals[1], totals[2]);
    assert_true(mean > 1000.0);
    for (int k = 0; k < 3; k++) {
        expect_near(totals[k], mean, 0.1 * mean, "spawned");
    }
}

// ---- Repeating ---------------------------------------------------------------------------------------------

static uint64_t hash_after(const MoteBackendOptions *options, uint32_t frames)
{
    Running running = start_dam(options, 4, 0.5, 3000, 0.2);
    fixture_advance(&running, frames);
    assert_true(counts_of(&running).dead > 20);
    const uint64_t hash = hash_diffuse(mote_simulation_world(running.simulation));
    fixture_stop(&running);
    return hash;
}

static void runs_repeat_on_all_backends(void **state)
{
    (void)state;
    enum { FRAMES = 45 };
    MoteBackendOptions options = {.backend = "cpu", .threads = 1};
    const uint64_t fast = hash_after(&options, FRAMES);
    options.portable = true;
    const uint64_t portable = hash_after(&options, FRAMES);
    for (uint32_t threads = 2; threads <= 5; threads += 3) {
        options = (MoteBackendOptions){.backend = "cpu", .threads = threads};
        assert_int_equal(hash_after(&options, FRAMES), fast);
    }
    assert_int_equal(hash_after(&test_backends[2].options, FRAMES), portable);
    if (!vulkan_may_differ(3)) {
        assert_int_equal(hash_after(&test_backends[3].options, FRAMES), portable);
    }
}

// A run that is saved and loaded goes on bit for bit.
static void a_saved_run_resumes(void **state)
{
    const TestBackend *backend = *state;
    Running whole = start_dam(&backend->options, 4, 0.5, 3000, 0.5);
    fixture_advance(&whole, 32);
    expect_ok(mote_simulation_save(whole.simulation, fixture_path("dam.state")));
    fixture_advance(&whole, 10);
    Running rest = start_dam(&backend->options, 4, 0.5, 3000, 0.5);
    expect_ok(mote_simulation_load(rest.simulation, fixture_path("dam.state")));
    fixture_advance(&rest, 10);
    const MoteDiffuseCounts a = counts_of(&whole), b = counts_of(&rest);
    assert_memory_equal(&a, &b, sizeof a);
    assert_true(a.present > 50);
    assert_int_equal(hash_diffuse(mote_simulation_world(whole.simulation)),
                     hash_diffuse(mote_simulation_world(rest.simulation)));
    fixture_stop(&whole);
    fixture_stop(&rest);
}

// The liquid does not notice its foam.
static void foam_changes_no_bit_of_the_liquid(void **state)
{
    const TestBackend *backend = *state;
    uint64_t hashes[2];
    for (int k = 0; k < 2; k++) {
        Running running = start_dam(&backend->options, 4, k == 0 ? 0.0 : 0.5, 3000, 0.5);
        fixture_advance(&running, 25);
        hashes[k] = fixture_hash(&running);
        fixture_stop(&running);
    }
    assert_int_equal(hashes[0], hashes[1]);
}

// ---- Mistakes ----------------------------------------------------------------------------------------------

static void mistakes_are_told(void **state)
{
    MoteSettings settings = measuring_settings(3, 0.1f, 2.0f);
    MoteWorld *world = make_world(*state, &settings);
    const float place[4] = {0, 0, 0, 1}, dead[4] = {0, 0, 0, 0};
    MoteDiffuse one = {.count = 1, .positions = (float *)(uintptr_t)place};
    expect_error(mote_world_add_diffuse(world, &one), MOTE_ERROR_INPUT, "without room for them");
    MoteFoam foam = still_foam(3);
    foam.air_upper = 0.5f * foam.air_lower;
    expect_error(mote_world_set_foam(world, &foam), MOTE_ERROR_INPUT, "air_upper");
    foam = still_foam(3);
    expect_ok(mote_world_set_foam(world, &foam));
    expect_ok(mote_world_add_diffuse(world, &one));
    one.positions = (float *)(uintptr_t)dead;
    expect_error(mote_world_add_diffuse(world, &one), MOTE_ERROR_INPUT, "life above 0");
    expect_error(mote_world_read_diffuse(world, &(MoteDiffuse){0}), MOTE_ERROR_INPUT, "room for 0");
    mote_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_EVERY_BACKEND(foam_goes_with_a_uniform_flow),
        ON_EVERY_BACKEND(spray_follows_a_parabola),
        ON_EVERY_BACKEND(smoke_drifts_and_ages),
        ON_EVERY_BACKEND(drag_slows_spray),
        ON_EVERY_BACKEND(foam_keeps_its_radius_on_a_turning_liquid),
        ON_EVERY_BACKEND(bubbles_rise_and_spray_lands),
        ON_EVERY_BACKEND(counts_are_exact),
        ON_EVERY_BACKEND(a_full_world_drops_and_says_so),
        ON_CPU_AND_CUDA(totals_do_not_depend_on_the_time_step),
        ON_BACKEND(runs_repeat_on_all_backends, "all", 3),
        ON_CPU_AND_GPUS(a_saved_run_resumes),
        ON_CPU_AND_GPUS(foam_changes_no_bit_of_the_liquid),
        ON_EVERY_BACKEND(mistakes_are_told),
    };
    static const char *const long_tests[] = {"runs_repeat_on_all_backends", "totals_do_not_depend_on_the_time_step",
                                             NULL};
    return run_long_suite(tests, sizeof tests / sizeof tests[0], long_tests, fixture_open, fixture_close);
}
